//! What comes in: reports of the workers, and the URLs that they found.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use junkai_archive::Index;
use junkai_fetch::{DnsFailure, DnsProblem};
use junkai_frontier::backlog::{BacklogError, Entry, NotReplaced};
use junkai_frontier::{EndReport, Event, Overflow, Place, Time};
use junkai_weburl::{Fingerprint, PageUrl};

use super::Rounds;
use crate::CrawlError;
use crate::control::Live;
use crate::hosts::Whereabouts;
use crate::log::{self, WarcPlace};
use crate::visit::{
    Discovered, EndedVisit, Fate, Outcome, Purpose, Report, Visit, returning, robots_entry, status,
    timestamp_of,
};

/// Reports taken in per round at most, so that starts are not kept waiting.
const REPORTS_PER_ROUND: usize = 1024;
/// A server that asks for rest is tried again this many times as often as one that fails: it said that it will be back.
const OVERLOAD_PATIENCE: u8 = 4;
/// URLs that are looked up together: fewer than fit in the smallest table.
const DISCOVERED_AT_A_TIME: usize = 4096;
/// The wait between two tries is doubled at most so often.
const DOUBLINGS_MAX: u8 = 10;

impl Rounds {
    /// Offers the seeds that were not known yet.
    pub(super) fn admit_seeds(&mut self, seeds: Vec<PageUrl>) -> Result<(), CrawlError> {
        for seed in &seeds {
            self.widen_scope(seed);
        }
        let seed = |url| Discovered {
            url,
            hop: None,
            depth: 0,
            purpose: Purpose::Page,
        };
        let seeds: Vec<Discovered> = seeds.into_iter().map(seed).collect();
        self.discover(&seeds, "", "")?;
        self.try_failed_seeds_again(&seeds)
    }

    /// A seed that was given up in an earlier run is tried again: somebody asks for it again.
    fn try_failed_seeds_again(&mut self, seeds: &[Discovered]) -> Result<(), CrawlError> {
        let index = Index::open(&self.archive)?;
        let mut failed = BTreeSet::new();
        for seed in seeds {
            if index.latest(seed.url.as_str())?.is_none() {
                failed.insert(seed.url.as_str());
            }
        }
        if !failed.is_empty() {
            // What waits is tried anyway.
            self.backlog.flush()?;
            self.backlog.scan(|entry| {
                failed.remove(entry.url.as_str());
            })?;
        }
        let now = self.clock.now();
        for seed in seeds
            .iter()
            .filter(|seed| failed.contains(seed.url.as_str()))
        {
            self.append(&returning(seed.entry("", "", now)))?;
        }
        Ok(())
    }

    /// Takes in what the workers report, after waiting for the first report at most `patience`.
    pub(super) fn take_in_reports(&mut self, patience: Duration) -> Result<(), CrawlError> {
        let mut report = self.crew.report_within(patience)?;
        for _ in 0..REPORTS_PER_ROUND {
            match report {
                Some(Report::Ended(ended)) => self.visit_ended(*ended)?,
                Some(Report::Resolved { host, answer }) => {
                    for waiter in self.hosts.answer(host, answer, self.clock.now()) {
                        self.host_answered(waiter)?;
                    }
                }
                Some(Report::Asked { url, reply }) => {
                    // Whoever asked may have gone.
                    let _gone = reply.send(self.live(&url));
                }
                Some(Report::Broken(reason)) => return Err(CrawlError::Worker { reason }),
                None => break,
            }
            report = self.crew.report_within(Duration::ZERO)?;
        }
        self.carry_out()?;
        self.follow_moved()
    }

    /// Where a URL's visit is at this moment.
    fn live(&self, url: &str) -> Live {
        let now = self.clock.now();
        let host = self
            .canonical
            .parse(url)
            .map(|url| url.host().to_owned())
            .unwrap_or_default();
        let server = match self.hosts.find(&host, now) {
            Whereabouts::At(_, key) => Some(self.scheduler.explain(key)),
            Whereabouts::Nowhere(_) | Whereabouts::Unknown => None,
        };
        if self.in_flight.contains(&Fingerprint::of(url)) {
            return Live::new("in flight", None, server);
        }
        match self.scheduler.find(|visit| visit.url.as_str() == url) {
            Some(Place::InRing { turn }) => {
                Live::new("in the ring", Some(timestamp_of(turn)), server)
            }
            Some(Place::Ready) => Live::new(
                "its slot has come: it starts when fewer visits are in flight",
                None,
                server,
            ),
            Some(Place::InLine) => Live::new(
                "its slot has come: it starts when its server's lease is free",
                None,
                server,
            ),
            None => Live::new("not in the ring", None, server),
        }
    }

    /// Learns everything from a visit that ended: the lease, the links, the log.
    fn visit_ended(&mut self, mut ended: EndedVisit) -> Result<(), CrawlError> {
        let now = self.clock.now();
        self.in_flight.remove(&ended.visit.url.fingerprint());
        // Before the lease is given back: the page that came in may be the last one asked for.
        self.count(&ended);
        self.scheduler.set_concurrency_max(self.starts_allowed());
        let (key, at) = (ended.key, ended.ended.min(now));
        let before = self.scheduler.server_state(key);
        if let Some(delay) = ended.crawl_delay {
            // The largest wish of all hosts on this server.
            let interval = delay.max(before.interval_told);
            self.scheduler.step(
                now,
                Event::SetInterval { key, interval },
                &mut self.commands,
            );
        }
        let report = ended.end;
        self.scheduler
            .step(now, Event::Ended { key, at, report }, &mut self.commands);
        if self.scheduler.server_state(key) != before {
            self.servers.note(&self.scheduler, key);
        }
        if let Some((origin, target)) = ended.rules_elsewhere.take() {
            self.append(&robots_entry(&target, &origin, now))?;
        }
        let links = std::mem::take(&mut ended.links);
        self.discover(&links, ended.visit.url.as_str(), &ended.visit.hops)?;
        self.settle(ended, now)
    }

    /// Decides what becomes of the visit, and logs it.
    fn settle(&mut self, ended: EndedVisit, now: Time) -> Result<(), CrawlError> {
        let made = Made {
            started: ended.started,
            ended: ended.ended,
            worker: ended.worker,
            address: Some(ended.address),
        };
        match ended.fate {
            Fate::Done => {
                self.note(&ended.visit, &ended.outcome, made);
                self.backlog.ack(ended.visit.ticket);
                Ok(())
            }
            Fate::AnotherTurn => {
                self.note(&ended.visit, &ended.outcome, made);
                let again = Event::Again {
                    visit: ended.visit,
                    key: ended.key,
                };
                self.scheduler.step(now, again, &mut self.commands);
                Ok(())
            }
            Fate::Later(wait) => self.put_away(ended.visit, now + wait),
            Fate::Retry { not_before } => {
                let tries_max = match ended.end {
                    EndReport::Overloaded { .. } => self
                        .settings
                        .crawl
                        .retries_max
                        .saturating_mul(OVERLOAD_PATIENCE),
                    _ => self.settings.crawl.retries_max,
                };
                let tries = Tries {
                    max: tries_max,
                    not_before,
                };
                self.retry(ended.visit, ended.outcome, made, tries)
            }
        }
    }

    /// Tries again later, or gives up.
    fn retry(
        &mut self,
        mut visit: Visit,
        mut outcome: Outcome,
        made: Made,
        tries: Tries,
    ) -> Result<(), CrawlError> {
        if tries.max <= visit.tries {
            self.progress.errors.add(1);
            if 0 < visit.tries {
                let tries = u16::from(visit.tries) + 1;
                outcome.result = format!("given up after {tries} tries: {}", outcome.result);
            }
            self.note(&visit, &outcome, made);
            self.becomes_known(&visit)?;
            self.backlog.ack(visit.ticket);
            return Ok(());
        }
        self.progress.retried.add(1);
        outcome.annotations.push("retry".to_owned());
        self.note(&visit, &outcome, made);
        let wait = self.settings.crawl.retry_delay * (1 << visit.tries.min(DOUBLINGS_MAX));
        visit.tries += 1;
        self.put_away(visit, self.clock.now() + wait.max(tries.not_before))
    }

    /// A visit whose host has no address fails; whether it may be tried again depends on why.
    pub(super) fn without_address(
        &mut self,
        visit: Visit,
        failure: &DnsFailure,
    ) -> Result<(), CrawlError> {
        let now = self.clock.now();
        let made = Made::never(now);
        if visit.purpose == Purpose::Robots
            && let Ok(robots) = self.canonical.parse(&visit.via)
        {
            self.rules.give_up(robots.origin(), now);
        }
        let (status, result) = match &failure.problem {
            DnsProblem::Refused(refused) => (
                status::OUT_OF_SCOPE,
                format!("{refused}; --allow-private or --allow let it pass"),
            ),
            _ => (status::DNS_FAILED, failure.to_string()),
        };
        let outcome = Outcome {
            status,
            result,
            ..Outcome::default()
        };
        let max = if failure.problem.is_temporary() {
            self.settings.crawl.retries_max
        } else {
            0
        };
        self.retry(
            visit,
            outcome,
            made,
            Tries {
                max,
                not_before: failure.ttl,
            },
        )
    }

    /// Logs and acknowledges a visit that is not going to be made.
    pub(super) fn dismiss(&mut self, visit: Visit, outcome: &Outcome) -> Result<(), CrawlError> {
        self.note(&visit, outcome, Made::never(self.clock.now()));
        self.becomes_known(&visit)?;
        self.backlog.ack(visit.ticket);
        Ok(())
    }

    /// Where overflow is discarded: a URL whose visit was settled in another way than by a place is known from now on.
    fn becomes_known(&mut self, visit: &Visit) -> Result<(), CrawlError> {
        let fingerprint = visit.url.fingerprint().0;
        if self.unplaced.remove(&fingerprint) {
            self.make_room_in_seen(1)?;
            self.seen.insert(fingerprint)?;
        }
        Ok(())
    }

    /// Moves a visit to a later place in the backlog.
    pub(super) fn put_away(&mut self, visit: Visit, due: Time) -> Result<(), CrawlError> {
        self.becomes_known(&visit)?;
        let entry = visit.entry(due);
        let mut ticket = visit.ticket;
        while let Err(NotReplaced {
            ticket: kept,
            source,
        }) = self.backlog.replace(ticket, &entry, self.clock.now())
        {
            ticket = kept;
            self.wait_for_room(source.into())?;
        }
        Ok(())
    }

    /// Appends to the backlog, however long it takes until there is room on the disk.
    pub(super) fn append(&mut self, entry: &Entry) -> Result<(), CrawlError> {
        while let Err(error) = self.backlog.append(entry, self.clock.now()) {
            if let BacklogError::EntryTooLong { bytes } = error {
                tracing::warn!(
                    url = entry.url,
                    bytes,
                    "a URL is too long to wait for its turn"
                );
                return Ok(());
            }
            self.wait_for_room(error.into())?;
        }
        Ok(())
    }

    /// Takes in URLs that are in scope: those that were not known go to the backlog.
    fn discover(&mut self, found: &[Discovered], via: &str, hops: &str) -> Result<(), CrawlError> {
        let now = self.clock.now();
        let from_seed = hops.bytes().all(|hop| hop == b'R');
        let mut new = Vec::new();
        for found in found.chunks(DISCOVERED_AT_A_TIME) {
            self.which_are_new(found, &mut new)?;
            for (found, _) in found.iter().zip(&new).filter(|(_, new)| **new) {
                if from_seed && found.hop == Some('R') && found.purpose == Purpose::Page {
                    self.widen_scope(&found.url);
                }
                self.append(&found.entry(via, hops, now))?;
            }
        }
        Ok(())
    }

    /// Which URLs were not known; from now on they are.
    fn which_are_new(
        &mut self,
        found: &[Discovered],
        new: &mut Vec<bool>,
    ) -> Result<(), CrawlError> {
        let fingerprints: Vec<u64> = found
            .iter()
            .map(|found| found.url.fingerprint().0)
            .collect();
        match self.settings.crawl.overflow {
            Overflow::Defer => {
                self.make_room_in_seen(found.len())?;
                self.seen.insert_batch(&fingerprints, new)?;
            }
            // A URL that finds no room must stay unknown: it becomes known when it is placed.
            Overflow::Discard => {
                new.clear();
                for fingerprint in fingerprints {
                    let has_room = self.unplaced.len() < self.settings.ring.waiting_max;
                    let is_new = has_room
                        && !self.seen.contains(fingerprint)?
                        && self.unplaced.insert(fingerprint);
                    new.push(is_new);
                }
            }
        }
        Ok(())
    }

    /// Lets the scope reach around a seed, or around where one redirects to.
    fn widen_scope(&mut self, seed: &PageUrl) {
        if let Ok(mut scope) = self.scope.write()
            && scope.add_root(seed)
        {
            self.servers.note_seed(seed);
        }
    }

    fn count(&mut self, ended: &EndedVisit) {
        let progress = &self.progress;
        if self.servers.is_new(ended.key) {
            progress.servers.add(1);
        }
        if matches!(ended.end, EndReport::Overloaded { .. }) {
            progress.overloaded.add(1);
        }
        if ended.fate != Fate::Done || ended.visit.purpose == Purpose::Robots {
            return;
        }
        match ended.outcome.status {
            status::ROBOTS_DENIED => progress.robots_denied.add(1),
            status if 0 < status => progress.pages.add(1),
            _ => progress.errors.add(1),
        }
    }

    /// Writes the log lines of a visit, or of the robots.txt fetched in its turn.
    fn note(&mut self, visit: &Visit, outcome: &Outcome, made: Made) {
        let (url, hops) = match &outcome.instead {
            Some(robots) => (robots.as_str(), format!("{}P", visit.hops)),
            None => (visit.url.as_str(), visit.hops.to_string()),
        };
        if outcome.status <= 0
            && outcome.status != status::ROBOTS_DENIED
            && !outcome.result.is_empty()
        {
            self.progress.tell_of(url, &outcome.result);
        }
        let duration = made.ended.saturating_duration_since(made.started);
        self.logs.note(&log::Event {
            time: timestamp_of(made.ended),
            status: outcome.status,
            size: outcome.size,
            url: url.into(),
            hops: hops.into(),
            via: Cow::Borrowed(&visit.via),
            mime: outcome.mime.as_deref().map(Cow::Borrowed),
            worker: made.worker,
            started: timestamp_of(made.started),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            digest: outcome.digest.as_deref().map(Cow::Borrowed),
            annotations: outcome
                .annotations
                .iter()
                .map(|text| Cow::Borrowed(text.as_str()))
                .collect(),
            warc: outcome.warc.as_ref().map(|place| WarcPlace {
                file: Cow::Borrowed(&place.file),
                offset: place.offset,
                length: place.length,
            }),
            server: made.address,
            result: Cow::Borrowed(&outcome.result),
        });
    }
}

/// How often and how soon a visit is tried again.
#[derive(Clone, Copy)]
struct Tries {
    max: u8,
    not_before: Duration,
}

/// When, where and by whom a visit was made.
#[derive(Clone, Copy)]
pub(super) struct Made {
    started: Time,
    ended: Time,
    worker: usize,
    address: Option<IpAddr>,
}

impl Made {
    /// A visit that was not made, as of `now`.
    fn never(now: Time) -> Made {
        Made {
            started: now,
            ended: now,
            worker: 0,
            address: None,
        }
    }
}
