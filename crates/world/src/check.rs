//! What must hold, whatever goes wrong: politeness as servers see it, and nothing lost.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use hashbrown::{HashMap, HashSet};
use junkai_engine::CrawlError;
use junkai_engine::annotation::GIVEN_UP;
use junkai_engine::opening::Opening;
use junkai_files::Disk;
use junkai_frontier::Time;
use junkai_weburl::Fingerprint;
use serde::Deserialize;

use crate::captures::SimulatedCaptures;

/// What a run showed that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What was promised.
    pub promise: &'static str,
    /// What happened instead.
    pub what: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.promise, self.what)
    }
}

pub(crate) fn broken(promise: &'static str, what: String) -> Broken {
    Broken { promise, what }
}

/// What servers see.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    servers: BTreeMap<IpAddr, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    is_busy: bool,
    last_end: Option<Duration>,
    /// Until when it asked to be left alone, and what the crawl's clock showed when it did.
    rest_until: Duration,
    rest_asked: Time,
}

impl Judge {
    /// A visit starts.
    pub(crate) fn start(
        &mut self,
        server: IpAddr,
        at: Duration,
        interval: Duration,
    ) -> Result<(), Broken> {
        const PROMISE: &str = "politeness";
        let seen = self.servers.entry(server).or_default();
        if seen.is_busy {
            return Err(broken(
                PROMISE,
                format!("{server}: two visits at a time, at {at:?}"),
            ));
        }
        if let Some(end) = seen.last_end
            && at < end + interval
        {
            let gap = at.saturating_sub(end);
            return Err(broken(
                PROMISE,
                format!("{server}: {gap:?} after the last visit, not {interval:?}, at {at:?}"),
            ));
        }
        if at < seen.rest_until {
            let until = seen.rest_until;
            return Err(broken(
                PROMISE,
                format!(
                    "{server} asked to be left alone until {until:?}, and is visited at {at:?}"
                ),
            ));
        }
        seen.is_busy = true;
        Ok(())
    }

    /// A visit ends.
    pub(crate) fn end(&mut self, server: IpAddr, at: Duration, rest: Option<(Duration, Time)>) {
        let seen = self.servers.entry(server).or_default();
        seen.is_busy = false;
        seen.last_end = Some(at);
        if let Some((rest, now)) = rest {
            seen.rest_until = seen.rest_until.max(at + rest);
            seen.rest_asked = now;
        }
    }

    /// A process ended: what servers asked for since this moment, beyond the usual interval, may be forgotten.
    pub(crate) fn forgive_since(&mut self, checkpoint: Option<Time>) {
        for seen in self.servers.values_mut() {
            if checkpoint.is_none_or(|checkpoint| checkpoint <= seen.rest_asked) {
                seen.rest_until = Duration::ZERO;
            }
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// By itself: the machine goes on.
    Process,
    /// With the machine's power, after a checkpoint of this time, if there was one.
    Power(Option<Time>),
}

/// The URLs that the engine was told of, and since when.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Told, and written: with the crawl's time when it was told.
    promised: HashMap<String, Time>,
    /// Told, and not written yet.
    told: HashMap<String, Time>,
    /// Ever told.
    ever: HashSet<String>,
}

impl Ledger {
    /// The engine was told of a URL.
    pub(crate) fn told(&mut self, url: &str, now: Time) {
        if !self.promised.contains_key(url) {
            self.ever.get_or_insert_with(url, str::to_owned);
            self.told.entry_ref(url).or_insert(now);
        }
    }

    /// All that was told is written.
    pub(crate) fn written(&mut self) {
        self.promised.extend(self.told.drain());
    }

    /// The process was ended: what was not written may be gone. After a power failure, so may be what is younger than the last checkpoint.
    pub(crate) fn ended(&mut self, end: End) {
        self.told.clear();
        match end {
            End::Process => {}
            End::Power(Some(checkpoint)) => self.promised.retain(|_, told| *told < checkpoint),
            End::Power(None) => self.promised.clear(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ever.len()
    }
}

/// The last line of each page in the log for programs.
#[derive(Debug, Default)]
pub(crate) struct Log {
    read: u64,
    last: HashMap<String, Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    status: i32,
    is_given_up: bool,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    status: i32,
    #[serde(borrow)]
    annotations: Vec<Cow<'a, str>>,
}

impl Log {
    /// Reads what is new; all of it, if the log was cut.
    pub(crate) fn read(&mut self, disk: &Disk, is_cut: bool) -> Result<(), CrawlError> {
        if is_cut {
            *self = Log::default();
        }
        let path = Path::new("/logs/events.jsonl");
        let bytes = disk.read(path)?.unwrap_or_default();
        let from = usize::try_from(self.read).unwrap_or_default();
        for line in bytes
            .get(from..)
            .unwrap_or_default()
            .split(|&byte| byte == b'\n')
        {
            if let Ok(line) = serde_json::from_slice::<Line<'_>>(line) {
                let is_given_up = line.annotations.iter().any(|word| word == GIVEN_UP);
                let last = Last {
                    status: line.status,
                    is_given_up,
                };
                self.last.insert(line.url.into_owned(), last);
            }
        }
        self.read = bytes.len() as u64;
        Ok(())
    }
}

/// Looks at an archive that was just opened: whether all is there that was promised. Where files rot something may be lost: answers what, to begin with.
pub(crate) fn check_opened(
    openings: &[Opening],
    ledger: &mut Ledger,
    log: &Log,
    captures: &SimulatedCaptures,
    may_lose: bool,
) -> Result<Result<Option<String>, Broken>, CrawlError> {
    const LOST: &str = "nothing lost";
    let mut waiting = HashSet::new();
    let mut posted = HashSet::new();
    let mut states = HashSet::new();
    for opening in openings {
        opening.backlog.scan(|entry| {
            waiting.insert(entry.url.clone());
        })?;
        opening.known.queue().scan(|record| {
            states.insert(record.url.to_owned());
        })?;
        if let Some(outbox) = &opening.outbox {
            outbox.scan(|entry| {
                posted.insert(entry.url.clone());
            })?;
        }
    }
    let is_known = |url: &str| {
        let fingerprint = Fingerprint::of(url).0;
        let mut found = openings
            .iter()
            .map(|opening| opening.seen.contains(fingerprint));
        found.try_fold(false, |any, one| Ok::<bool, CrawlError>(any || one?))
    };
    let mut lost = Vec::new();
    for (url, since) in &ledger.promised {
        let is_known = is_known(url)?;
        let is_there = waiting.contains(url) || states.contains(url);
        let why = match log.last.get(url) {
            _ if posted.contains(url) => None,
            _ if !is_known => Some("it is not known any more"),
            _ if is_there => None,
            None => Some("it neither waits nor was it visited"),
            Some(line) if line.status == 200 && !line.is_given_up => {
                Some("it was captured, has no state and does not wait")
            }
            Some(_) => None,
        };
        if let Some(why) = why {
            lost.push((url.clone(), format!("{url}, told at {since:?}: {why}")));
        }
    }
    for (url, last) in &log.last {
        if 0 < last.status && last.status != 429 && !captures.has(url) {
            lost.push((
                url.clone(),
                format!("the log reports a capture of {url}, and the archive has none"),
            ));
        }
    }
    lost.sort();
    match lost.first() {
        Some((_, what)) if !may_lose => return Ok(Err(broken(LOST, what.clone()))),
        _ => {}
    }
    let what = lost.first().map(|(_, what)| what.clone());
    for (url, _) in lost {
        ledger.promised.remove(&url);
    }
    for number in 0..16 {
        let url = format!("http://h0.example/never-{number}");
        if is_known(&url)? {
            let what = format!("{url} is known");
            return Ok(Err(broken("the seen set is exact", what)));
        }
    }
    Ok(Ok(what))
}
