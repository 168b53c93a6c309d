//! Explained: what happened to a URL, why, and when it will be visited next. Reads only: a crawl may be running.
//!
//! The sources, in order: the settings (scope), the archived robots.txt, the event log, the index, the waiting visits and the states of known pages
//! on disk, what servers asked for, and what people commanded. Scans where it must: it is for a person who asks, not for the crawl.

use std::collections::VecDeque;
use std::io::{BufRead as _, Read};
use std::num::NonZeroU16;
use std::path::Path;

use jiff::Timestamp;
use junkai_archive::{Entry, Index, Layout, Reader, logs};
use junkai_engine::live::delay_in_words;
use junkai_engine::partition::Partition;
use junkai_fetch::robots::{Because, Robots};
use junkai_files::Folder;
use junkai_frontier::admission::{Order, priority_of_byte};
use junkai_frontier::{ServerState, server_key};
use junkai_store::backlog;
use junkai_weburl::{Canonicalizer, PageUrl};
use serde::Serialize;

use crate::ArchiveFolder;
use crate::CrawlError;
use crate::annotation::JOINED;
use crate::clock;
use crate::error::AtPath as _;
use crate::focus::Unwanted;
use crate::log::{EVENTS, Event};
use crate::page_states::{KnownPage, PageStates};
use crate::paused::Paused;
use crate::scope::{Found, ScopeRules};
use crate::servers::{self, Restored};
use crate::settings::Settings;
use crate::visit::{OutOfTurn, is_discard_marker, status};
use crate::{Live, control};

/// How much waits, and how much may.
#[derive(Clone, Copy, Debug)]
struct Full {
    bytes: u64,
    setting: &'static str,
}

/// Events of one URL that are shown, the latest.
const EVENTS_MAX: usize = 10;
/// The longest stored robots.txt that is read back: as much as is ever parsed, with its headers.
const ROBOTS_BYTES_MAX: u64 = 1 << 20;

/// Everything that is known of a URL.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Its canonical form.
    pub url: String,
    /// The scope rule that decides.
    pub scope: String,
    /// What the archived robots.txt says, with the line, or why it could not be had; none if there is no robots.txt in the archive and none was tried.
    pub robots: Option<String>,
    /// Whether the crawl knows it.
    pub known: bool,
    /// Where it waits, if it does.
    pub waiting: Option<Waiting>,
    /// What visits came to, the latest last.
    pub visits: Vec<Event<'static>>,
    /// Its captures, from the index.
    pub captures: Vec<Entry>,
    /// Its state, if it is visited again and again.
    pub page: Option<KnownPage>,
    /// What its server can bear, and what its known pages ask for, in words.
    pub bears: Option<String>,
    /// What the sources of its site have said of changes, in words.
    pub signals: Option<String>,
    /// What its server asked for, if anything.
    pub server: Option<ServerState>,
    /// What its host asks for, in words, if anything.
    pub host: Option<String>,
    /// What the crawl that is running says of it; none if none is.
    pub live: Option<Live>,
    /// Why no visit to it starts, if people commanded so.
    pub paused: Option<String>,
    /// When it is visited next, in words.
    pub next_visit: String,
}

/// A visit that waits.
#[derive(Clone, Debug, Serialize)]
pub struct Waiting {
    /// Not before this time.
    pub due: Timestamp,
    /// Tries that failed so far.
    pub tries: u8,
    /// Links from the seed; where something is wanted, from its site's first page.
    pub depth: u16,
    /// How it was reached.
    pub hops: String,
    /// The page that led to it.
    pub via: String,
    /// Where links decide who comes next: about what those to it were worth when this was written down, when it was found or spilled.
    pub worth: Option<f32>,
}

/// Explains a URL in the light of the archive in `folder`. The states of known pages are looked through one by one; `progress` is told now and then
/// how many were.
///
/// # Errors
/// If it is no archive, or cannot be read.
pub fn explain(
    folder: &Path,
    settings: &Settings,
    url: &PageUrl,
    progress: &mut dyn FnMut(u64),
) -> Result<Explanation, CrawlError> {
    let archive = ArchiveFolder::existing(folder)?;
    let state = archive.state();
    let index = Index::open(folder)?;
    let visits = visits(folder, url)?;
    let is_visit = |event: &&Event<'_>| !event.annotations.iter().any(|word| word == JOINED);
    let last = visits.iter().rfind(is_visit);
    let captures = captures(&index, settings, url)?;
    let count = archive.partitions_begun()?.unwrap_or(NonZeroU16::MIN);
    let owner = usize::from(Partition::owner(count, url));
    let partition = &archive.partitions(count)[owner];
    let (waiting, full) = waiting(partition, settings, url)?;
    let mut restored = servers::restored(partition, settings.ring.keys)?;
    let mut all = Vec::new();
    for state in archive.partitions(count) {
        all.push(servers::restored(&state, settings.ring.keys)?);
    }
    restored.servers = servers::of_all_partitions(all.iter());
    let server = server(&restored, settings, last);
    let host = host(&restored, settings, url);
    let robots = robots(folder, &index, settings, url)?;
    let live = control::ask(state.path(), url.as_str());
    let address = last.and_then(|event| event.server);
    let paused = Paused::load(&state)?.reason(url.host(), address);
    let paused = paused.or(Unwanted::load(folder, settings)?.reason(url));
    let states = PageStates::open(folder, settings)?;
    let found = states.find(url, progress)?;
    let purpose = found.as_ref().map(|found| found.purpose.clone());
    let page = found.map(|found| found.page);
    let depth = waiting.as_ref().map(|waiting| waiting.depth);
    let depth = depth.or(page.as_ref().map(|page| page.depth));
    let depth = depth.unwrap_or_else(|| depth_of(last));
    let early = page.as_ref().and_then(|page| noted_in_words(page, last));
    let early = early.unwrap_or_default();
    let next_visit = match &page {
        // A visit out of turn comes before.
        Some(page) if waiting.is_none() && turn_of(live.as_ref()).is_none() => {
            revisit_in_words(page, states.now())
        }
        None if waiting.is_none() && last.is_none() => unknown_in_words(full),
        _ => next_visit(
            settings.crawl.order,
            live.as_ref(),
            waiting.as_ref(),
            server.as_ref(),
            last,
        ),
    };
    let hops = waiting.as_ref().map(|waiting| &*waiting.hops);
    let hops = hops.or(visits.first().map(|event| &*event.hops));
    let reached = match purpose {
        Some(purpose) => Found::of(&purpose, depth),
        None => reached(hops.unwrap_or_default(), depth, settings),
    };
    Ok(Explanation {
        scope: scope(&state, settings, url, reached)?,
        known: waiting.is_some() || page.is_some() || !visits.is_empty(),
        next_visit: next_visit + &early + &but_paused(paused.as_deref()),
        paused,
        bears: page.as_ref().map(|page| states.server_in_words(page)),
        signals: page.as_ref().and_then(|page| states.signals_in_words(page)),
        page,
        live,
        url: url.as_str().to_owned(),
        robots,
        waiting,
        visits,
        captures,
        server,
        host,
    })
}

fn but_paused(reason: Option<&str>) -> String {
    reason.map_or_else(String::new, |reason| format!("; but {reason}"))
}

/// The captures of the page itself: the index folds case and more, and other pages may share its key.
fn captures(index: &Index, settings: &Settings, url: &PageUrl) -> Result<Vec<Entry>, CrawlError> {
    let canonical = Canonicalizer::new(&settings.canonical);
    let all = index.lookup(url.as_str())?;
    let mut captures = all.collect::<Result<Vec<Entry>, _>>()?;
    captures.retain(|entry| canonical.parse(&entry.url).is_ok_and(|other| other == *url));
    Ok(captures)
}

fn scope(
    state: &Folder,
    settings: &Settings,
    url: &PageUrl,
    reached: Found,
) -> Result<String, CrawlError> {
    let scope = ScopeRules::in_force(state, settings)?;
    let seeds = servers::earlier_seeds(state)?;
    let found = if seeds.iter().any(|seed| seed == url.as_str()) {
        Found::Seed
    } else {
        reached
    };
    Ok(scope.decide(url, found).to_string())
}

/// How a URL was found, by the letters of its first visit.
fn reached(hops: &str, depth: u16, settings: &Settings) -> Found {
    // A redirect is followed for what led to it.
    match hops.trim_end_matches('R').chars().next_back() {
        Some('E') => Found::Requisite,
        Some('M') if settings.crawl.sitemaps_only => Found::Sitemap,
        _ => Found::Link(depth),
    }
}

/// What the latest archived robots.txt of the origin says.
fn robots(
    folder: &Path,
    index: &Index,
    settings: &Settings,
    url: &PageUrl,
) -> Result<Option<String>, CrawlError> {
    let place = format!("{}/robots.txt", url.origin());
    // The index knows no schemes: the robots.txt of http says nothing of https.
    let Ok(page) = Canonicalizer::new(&settings.canonical).parse(&place) else {
        return Ok(None);
    };
    let Some(entry) = captures(index, settings, &page)?.pop() else {
        // What could not be had is in the log alone.
        let tried = visits(folder, &page)?.pop();
        return Ok(
            tried.map(|tried| format!("{place} was tried at {:.0}: {}", tried.time, tried.result))
        );
    };
    let status = entry.status.as_deref().unwrap_or("-");
    if !status.starts_with('2') {
        return Ok(Some(format!(
            "{place} answered {status} at {}",
            entry.timestamp
        )));
    }
    let Some(body) = stored_body(folder, &entry) else {
        return Ok(Some(format!(
            "{place} is archived in {} but cannot be read back",
            entry.filename
        )));
    };
    let robots = Robots::parse(&body, &settings.identity.product);
    let decision = robots.decide(url.path_and_query());
    let verdict = if decision.allow() {
        "allowed"
    } else {
        "not allowed"
    };
    Ok(Some(match decision.because {
        Because::Line(line) => {
            format!("{verdict} by line {} of {place}: {line}", line.number)
        }
        Because::NoRule => format!("{verdict}: no rule of {place} matches"),
        Because::TooManyWildcards => format!("{verdict} by {place}: {}", decision.because),
    }))
}

fn stored_body(folder: &Path, entry: &Entry) -> Option<Vec<u8>> {
    let path = Layout::new(folder).warc(&entry.filename)?;
    let mut reader = Reader::open_at(&path, entry.offset).ok()?;
    let record = reader.next_record().ok()??;
    let mut message = Vec::new();
    record
        .take(ROBOTS_BYTES_MAX)
        .read_to_end(&mut message)
        .ok()?;
    let limit = usize::try_from(ROBOTS_BYTES_MAX).ok()?;
    Some(
        junkai_http::message(&message)
            .content(limit)
            .bytes
            .into_owned(),
    )
}

/// The latest events of a URL.
fn visits(folder: &Path, url: &PageUrl) -> Result<Vec<Event<'static>>, CrawlError> {
    // A cheap look at the text first: most lines are of other pages.
    let needle = serde_json::to_string(url.as_str()).unwrap_or_default();
    let mut latest = VecDeque::new();
    let path = folder.join(EVENTS);
    for line in logs::read_log(folder, "events.jsonl").at(&path)?.lines() {
        let line = line.at(&path)?;
        if !line.contains(&needle) {
            continue;
        }
        if let Ok(event) = serde_json::from_str::<Event<'static>>(&line)
            && event.url == url.as_str()
        {
            latest.push_back(event);
            if EVENTS_MAX < latest.len() {
                latest.pop_front();
            }
        }
    }
    Ok(latest.into())
}

/// Where a URL waits; and whether as much waits as may, so that it would be refused.
fn waiting(
    state: &Folder,
    settings: &Settings,
    url: &PageUrl,
) -> Result<(Option<Waiting>, Option<Full>), CrawlError> {
    let mut found = None;
    let host = backlog::host_of(url.as_str());
    let (mut of_host, mut of_all) = (0, 0);
    backlog::look(&state.file("backlog"), |entry| {
        of_all += entry.bytes() as u64;
        if backlog::host_of(&entry.url) == host {
            of_host += entry.bytes() as u64;
        }
        if entry.url == url.as_str() && !is_discard_marker(entry) {
            found = Some(Waiting {
                due: clock::timestamp(entry.due),
                tries: entry.tries,
                depth: entry.depth,
                hops: entry.hops.clone(),
                via: entry.via.clone(),
                worth: settings
                    .is_ordered()
                    .then(|| priority_of_byte(entry.priority)),
            });
        }
    })?;
    let more = url.as_str().len() as u64;
    let bounds = [
        (
            of_host,
            settings.backlog.host_bytes_max,
            "backlog.host_bytes_max",
        ),
        (of_all, settings.backlog.bytes_max, "backlog.bytes_max"),
    ];
    let full = bounds
        .into_iter()
        .find(|(bytes, bytes_max, _)| *bytes_max < bytes + more)
        .map(|(bytes, _, setting)| Full { bytes, setting });
    Ok((found, full))
}

/// Why nothing is planned for a URL that is not known.
fn unknown_in_words(full: Option<Full>) -> String {
    let why = full.map_or_else(String::new, |Full { bytes, setting }| {
        format!(
            "; {bytes} bytes of visits wait already, as many as {setting} allows: a link to it is left out until some of them are made"
        )
    });
    format!("none is planned: the crawl does not know it{why}")
}

fn server(
    restored: &Restored,
    settings: &Settings,
    last: Option<&Event<'_>>,
) -> Option<ServerState> {
    let key = server_key(last?.server?, settings.ring.keys);
    restored
        .servers
        .iter()
        .find(|state| state.key == key)
        .copied()
}

/// What the page's host asks for beside its server, as it was written down last.
fn host(restored: &Restored, settings: &Settings, url: &PageUrl) -> Option<String> {
    let host = restored
        .hosts
        .iter()
        .find(|host| *host.host == *url.host())?;
    let delay = delay_in_words(&host.asks, &settings.politeness);
    let asks = delay.map(|delay| format!("its robots.txt asks for {delay}"));
    let free_at = clock::timestamp(host.free_at);
    let rests = (Timestamp::now() < free_at).then(|| format!("it rests until {free_at:.0}"));
    let told: Vec<String> = [asks, rests].into_iter().flatten().collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// How deep a visit was, by its hops: links and list entries count.
fn depth_of(event: Option<&Event<'_>>) -> u16 {
    let hops = event.map_or("", |event| &event.hops);
    u16::try_from(
        hops.bytes()
            .filter(|hop| matches!(hop, b'L' | b'M'))
            .count(),
    )
    .unwrap_or(u16::MAX)
}

fn next_visit(
    order: Order,
    live: Option<&Live>,
    waiting: Option<&Waiting>,
    server: Option<&ServerState>,
    last: Option<&Event<'_>>,
) -> String {
    if let Some(turn) = turn_of(live) {
        return format!("at {turn:.1}, its turn in the ring");
    }
    match (waiting, last) {
        (Some(waiting), _) => {
            let held = server
                .map(|server| clock::timestamp(server.hold_until))
                .filter(|held| waiting.due < *held);
            match (held, waiting.worth) {
                (Some(held), _) => {
                    format!("not before {held:.0}: its server asked to be left alone until then")
                }
                (None, Some(worth)) => format!(
                    "from {:.0} on, when its turn comes in the order `{order}`; its links were worth {worth:.4} when last written down",
                    waiting.due
                ),
                (None, None) => format!("when its turn comes, from {:.0} on", waiting.due),
            }
        }
        (None, Some(last)) => match last.status {
            status::ROBOTS_DENIED => "none is planned: robots.txt keeps it out".to_owned(),
            status if status <= 0 => {
                "none is planned: it was given up; name it as a seed to try again".to_owned()
            }
            _ => "none is planned: it was visited, and either is gone for good or this crawl visits each page once; `junkai revisit` asks for it"
                .to_owned(),
        },
        (None, None) => unknown_in_words(None),
    }
}

fn turn_of(live: Option<&Live>) -> Option<Timestamp> {
    live.and_then(|live| live.turn)
}

/// What a visit out of turn means, as long as the page's state does not know of it.
fn noted_in_words(page: &KnownPage, last: Option<&Event<'_>>) -> Option<String> {
    let last = last.filter(|last| page.last_visit.as_second() < last.time.as_second())?;
    let has = |word: &str| last.annotations.iter().any(|annotation| annotation == word);
    let why = if has(OutOfTurn::Signalled.word()) {
        "a sitemap or feed said that it had changed"
    } else if has(OutOfTurn::Asked.word()) {
        "it was asked for"
    } else {
        return None;
    };
    Some(format!(
        "; it was visited out of turn at {:.0}, because {why}: that counts as a visit when its own turn comes, which may then be deferred",
        last.time
    ))
}

/// When a known page is visited next.
fn revisit_in_words(page: &KnownPage, now: Timestamp) -> String {
    if page.due <= now {
        format!(
            "as soon as its server's turn comes: it has been due since {:.0}",
            page.due
        )
    } else {
        format!("at {:.0}, or soon after", page.due)
    }
}
