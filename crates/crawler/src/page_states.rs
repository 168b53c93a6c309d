//! The states of known pages, for people: each of them, one of them, and all together. Reads only: a crawl may be running.
//!
//! Walks the time queue from front to back, because it knows no look-up by URL; nothing is held in memory but counts. What the planner has learned of
//! sites and servers is of the last checkpoint.

use std::cmp::Ordering;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use junkai_engine::partition::Partition;
use junkai_files::Folder;
use junkai_frontier::{ServerKey, Time};
use junkai_revisit::{PageState, Planner, ServerReport, Source};
use junkai_store::time_queue::{self, RecordRef, SpanStats};
use junkai_weburl::{Canonicalizer, PageUrl};
use serde::Serialize;

use crate::ArchiveFolder;
use crate::clock::{Clock, timestamp};
use crate::manifest::Manifest;
use crate::platform::machine;
use crate::settings::Settings;
use crate::span::span;
use crate::stats::size_of_files;
use crate::visit::Purpose;
use crate::{CrawlError, planner_file};

/// Overloaded servers that are listed, the worst first.
const OVERLOADED_MAX: usize = 20;
/// Records between two calls of whoever shows progress.
const PROGRESS_EVERY: u64 = 1 << 18;
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
/// Upper ends of the classes in which intervals are counted.
const INTERVALS: [Duration; 11] = [
    HOUR,
    Duration::from_hours(6),
    DAY,
    Duration::from_hours(3 * 24),
    Duration::from_hours(7 * 24),
    Duration::from_hours(14 * 24),
    Duration::from_hours(30 * 24),
    Duration::from_hours(90 * 24),
    Duration::from_hours(180 * 24),
    Duration::from_hours(300 * 24),
    Duration::MAX,
];

/// A known page, and when it is visited next.
#[derive(Clone, Debug, Serialize)]
pub struct KnownPage {
    /// The page.
    pub url: String,
    /// When it is due.
    pub due: Timestamp,
    /// When it was last visited.
    pub last_visit: Timestamp,
    /// When it was last found changed; none if it never was.
    pub last_change: Option<Timestamp>,
    /// Time between two visits, in seconds.
    pub interval_seconds: f64,
    /// Visits so far.
    pub visits: u32,
    /// Those that found a change.
    pub changes: u32,
    /// Visits in a row that did not find it.
    pub misses: u8,
    /// Signals of a change since its last visit.
    pub signals: u8,
    /// How often it is believed to change, per day.
    pub changes_a_day: f64,
    /// The chance that it has changed by now.
    pub chance: f64,
    /// Links from a seed; where something is wanted, from its site's first page.
    pub depth: u16,
    /// The key of its server.
    pub server: ServerKey,
    /// Why it is visited when it is.
    pub why: String,
}

/// A known page that was looked for.
pub(crate) struct FoundPage {
    pub(crate) page: KnownPage,
    /// What it is visited for.
    pub(crate) purpose: Purpose,
}

/// What the states of all known pages come to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StateStats {
    /// Known pages.
    pub records: u64,
    /// Of these, the ones whose state cannot be read.
    pub damaged: u64,
    /// Bytes on disk, all together.
    pub bytes: u64,
    /// Bytes of the buckets.
    pub bucket_bytes: u64,
    /// Bytes for each page in a bucket's file.
    pub bytes_a_page: f64,
    /// Bytes of the journal, which holds what changed of late, and of files that are about to go.
    pub journal_bytes: u64,
    /// The buckets by how much time they cover.
    pub spans: Vec<SpanStats>,
    /// Pages whose time has come.
    pub overdue: u64,
    /// Pages due within an hour from now.
    pub due_in_hour: u64,
    /// Pages due within a day.
    pub due_in_day: u64,
    /// Pages due within a week.
    pub due_in_week: u64,
    /// When the first page is due.
    pub next_due: Option<Timestamp>,
    /// Pages by the time between two visits.
    pub intervals: Vec<IntervalCount>,
    /// Visits a day that all these intervals ask for.
    pub visits_a_day: f64,
    /// The most that the settings allow.
    pub visits_a_day_max: Option<f64>,
    /// What a visit must be worth: the expected number of changes since the last one at which a page is visited.
    pub price: f64,
    /// Servers with known pages.
    pub servers: u32,
    /// Servers whose pages ask for more visits than they can bear, the worst first.
    pub overloaded: Vec<OverloadedServer>,
    /// How often every page is to be visited at least, in seconds (`revisit.at_least`).
    pub at_least_seconds: Option<f64>,
    /// How many servers have a pace that does not allow that.
    pub servers_behind: u64,
    /// The first of these, the worst first.
    pub behind: Vec<ServerBehind>,
}

/// A server whose pace does not allow its pages to be visited as often as `revisit.at_least` says.
#[derive(Clone, Debug, Serialize)]
pub struct ServerBehind {
    /// Its key.
    pub server: ServerKey,
    /// One of its pages.
    pub page: Option<String>,
    /// Known pages.
    pub pages: u64,
    /// Least time between two visits to known pages, in seconds.
    pub pace_seconds: f64,
    /// In how many seconds each page can be visited once.
    pub once_each_seconds: f64,
}

/// How many pages have intervals of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct IntervalCount {
    /// The longest interval of the class, in seconds; none for the last class.
    pub seconds_max: Option<u64>,
    /// The pages.
    pub pages: u64,
}

/// A server whose pages ask for more than it can bear, and what that costs.
#[derive(Clone, Debug, Serialize)]
pub struct OverloadedServer {
    /// Its key.
    pub server: ServerKey,
    /// Known pages.
    pub pages: u64,
    /// How many times its capacity they ask for.
    pub overload: f64,
    /// Least time between two visits to known pages, in seconds.
    pub pace_seconds: f64,
    /// Visits that relief has saved since the crawl began.
    pub visits_saved: f64,
    /// Versions that it is expected to have cost.
    pub versions_lost: f64,
}

/// The states of an archive's known pages.
pub struct PageStates {
    partitions: Vec<OfPartition>,
    settings: Settings,
    canonical: Canonicalizer,
    now: Time,
}

/// The states of one partition's pages.
struct OfPartition {
    queue: PathBuf,
    planner: Planner,
}

impl OfPartition {
    /// Looks at the partition whose state is here.
    fn open(state: &Folder, settings: &Settings) -> Result<OfPartition, CrawlError> {
        let mut planner = settings.planner();
        if let Some(learned) = planner_file::load(state)?
            && let Err(error) = planner.restore(&learned)
        {
            tracing::warn!(%error, "what was learned of sites and servers cannot be read");
        }
        let queue = state.file("time_queue");
        Ok(OfPartition { queue, planner })
    }
}

impl PageStates {
    /// Looks at the archive in `folder`.
    ///
    /// # Errors
    /// If it is no archive, or cannot be read.
    pub fn open(folder: &Path, settings: &Settings) -> Result<PageStates, CrawlError> {
        let archive = ArchiveFolder::existing(folder)?;
        let (mut partitions, mut last) = (Vec::new(), Time::EPOCH);
        for state in archive.states()? {
            partitions.push(OfPartition::open(&state, settings)?);
            let manifest = Manifest::load(&state)?;
            last = last.max(manifest.map_or(Time::EPOCH, |manifest| manifest.now));
        }
        Ok(PageStates {
            now: Clock::start(&machine(), &settings.clock, last).now(),
            canonical: Canonicalizer::new(&settings.canonical),
            settings: settings.clone(),
            partitions,
        })
    }

    /// Who plans the visits of a page.
    fn planner_of(&self, url: &PageUrl) -> &Planner {
        let count = u16::try_from(self.partitions.len()).ok();
        let count = count.and_then(NonZeroU16::new).unwrap_or(NonZeroU16::MIN);
        &self.partitions[usize::from(Partition::owner(count, url))].planner
    }

    /// What the archive's clock shows.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        timestamp(self.now)
    }

    /// Shows every known page, in the order of the files: about that in which they are due.
    ///
    /// # Errors
    /// If the states cannot be read.
    pub fn each(&self, mut show: impl FnMut(KnownPage)) -> Result<(), CrawlError> {
        self.walk(|record| {
            if let Some(page) = self.known_page(&record) {
                show(page);
            }
        })
    }

    /// Finds one page; `progress` is told now and then how many were looked at.
    pub(crate) fn find(
        &self,
        url: &PageUrl,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<FoundPage>, CrawlError> {
        let (mut found, mut looked_at) = (None, 0);
        self.walk(|record| {
            looked_at += 1;
            if looked_at % PROGRESS_EVERY == 0 {
                progress(looked_at);
            }
            if record.url == url.as_str() {
                let purpose = PageState::decode(record.body).map(|state| Purpose::of_state(&state));
                found = self.known_page(&record).zip(purpose);
            }
        })?;
        Ok(found.map(|(page, purpose)| FoundPage { page, purpose }))
    }

    /// What is known of the server of a page, in words.
    #[must_use]
    pub fn server_in_words(&self, page: &KnownPage) -> String {
        let url = self.canonical.parse(&page.url);
        let planner = url.map_or(&self.partitions[0].planner, |url| self.planner_of(&url));
        let report = planner.servers().report(page.server);
        let pages = match report.pages {
            1 => "its only known page asks".to_owned(),
            pages => format!("its {pages} known pages ask"),
        };
        let seconds = |per_second: f64| Duration::try_from_secs_f64(1.0 / per_second).ok();
        let every = |per_second: f64| {
            seconds(per_second).map_or_else(
                || "no visit".to_owned(),
                |wait| format!("a visit every {}", span(wait)),
            )
        };
        let verdict = if report.is_overloaded() {
            format!(
                "overloaded {:.1} times, which has cost about {:.0} versions and saved {:.0} visits",
                report.overload(),
                report.cost.versions_lost,
                report.cost.visits_saved
            )
        } else {
            "well within what it can bear".to_owned()
        };
        let behind = planner.behind(&report).map(|once_each| {
            format!(
                "; its pace allows each page a visit every {}, and not as often as revisit.at_least says",
                span(once_each)
            )
        });
        format!(
            "{pages} for {}, it can bear {} ({}): {verdict}{}",
            every(report.load),
            every(report.capacity),
            self.pace_in_words(&report),
            behind.unwrap_or_default()
        )
    }

    /// Which settings say how many visits a server can bear for its known pages.
    fn pace_in_words(&self, report: &ServerReport) -> String {
        let servers = &self.settings.revisit.servers;
        let (name, floor) = if servers.large_pages <= report.pages {
            ("revisit.servers.interval_large", servers.interval_large)
        } else {
            ("revisit.servers.interval", servers.interval)
        };
        let pace = span(report.pace);
        let interval = match report.pace.cmp(&floor) {
            Ordering::Less => format!("{name}, shortened to {pace} for revisit.at_least"),
            Ordering::Equal => format!("{name} = {pace}"),
            Ordering::Greater => {
                format!("{pace} between two, by how long its visits take and crawl.concurrency")
            }
        };
        let share = servers.known_share;
        format!("{interval}; known pages have a share of {share}, revisit.servers.known_share")
    }

    /// What the sources of a page's site are worth, in words.
    #[must_use]
    pub fn signals_in_words(&self, page: &KnownPage) -> Option<String> {
        let url = self.canonical.parse(&page.url).ok()?;
        let sources = [
            (Source::LastModified, "Last-Modified"),
            (Source::Sitemap, "sitemaps"),
            (Source::Feed, "feeds"),
        ];
        let told = sources.iter().filter_map(|(source, name)| {
            let trust = self.planner_of(&url).trust(&url, *source);
            // Without a record there is nothing to tell.
            (0.0 < trust.credit).then(|| {
                format!(
                    "{name} told {:.0} % of changes and {:.0} % of what {name} told was true",
                    100.0 * trust.recall,
                    100.0 * trust.precision
                )
            })
        });
        let told: Vec<String> = told.collect();
        let since = match page.signals {
            0 => String::new(),
            1 => "one signal since the last visit; ".to_owned(),
            signals => format!("{signals} signals since the last visit; "),
        };
        (!told.is_empty() || !since.is_empty()).then(|| format!("{since}{}", told.join("; ")))
    }

    /// Counts all of them.
    ///
    /// # Errors
    /// If the states cannot be read.
    pub fn stats(&self) -> Result<StateStats, CrawlError> {
        let mut counts = StateStats::default();
        let (mut pages, mut first) = ([0; INTERVALS.len()], None);
        self.walk(|record| {
            counts.records += 1;
            counts.count_due(record.due, self.now);
            first = Some(first.map_or(record.due, |first: Time| first.min(record.due)));
            match PageState::decode(record.body) {
                Some(state) => pages[class_of(state.interval)] += 1,
                None => counts.damaged += 1,
            }
        })?;
        for folder in self.queues() {
            counts.bytes += size_of_files(folder)?.1;
            for more in time_queue::look_at_spans(folder)? {
                add_span(&mut counts.spans, more);
            }
        }
        counts.spans.sort_by_key(|span| span.span);
        counts.bucket_bytes = counts.spans.iter().map(|span| span.bytes).sum();
        counts.journal_bytes = counts.bytes.saturating_sub(counts.bucket_bytes);
        let filed: u64 = counts.spans.iter().map(|span| span.filed).sum();
        counts.bytes_a_page = counts.bucket_bytes as f64 / filed.max(1) as f64;
        counts.next_due = first.map(timestamp);
        let class = |(most, pages): (&Duration, u64)| IntervalCount {
            seconds_max: (*most != Duration::MAX).then_some(most.as_secs()),
            pages,
        };
        counts.intervals = INTERVALS.iter().zip(pages).map(class).collect();
        counts.visits_a_day_max = self.settings.revisit.visits_a_day;
        for planner in self.planners() {
            let servers = planner.servers();
            counts.visits_a_day += servers.total().per_second() * DAY.as_secs_f64();
            counts.price = planner.agenda().price().depth().max(counts.price);
            counts.servers += servers.count();
            let overloaded = servers.overloaded(OVERLOADED_MAX);
            let overloaded = overloaded.iter().map(OverloadedServer::of);
            counts.overloaded.extend(overloaded);
        }
        counts
            .overloaded
            .sort_by(|left, right| right.overload.total_cmp(&left.overload));
        counts.overloaded.truncate(OVERLOADED_MAX);
        self.count_behind(&mut counts)?;
        Ok(counts)
    }

    /// Names the servers whose pace does not allow what `revisit.at_least` says.
    fn count_behind(&self, counts: &mut StateStats) -> Result<(), CrawlError> {
        let at_least = self.settings.revisit.at_least;
        counts.at_least_seconds = at_least.map(|at_least| at_least.as_secs_f64());
        let behind = |planner: &Planner, report: ServerReport| {
            let once_each = planner.behind(&report)?;
            Some(ServerBehind {
                server: report.server,
                page: None,
                pages: report.pages,
                pace_seconds: report.pace.as_secs_f64(),
                once_each_seconds: once_each.as_secs_f64(),
            })
        };
        if at_least.is_none() {
            return Ok(());
        }
        for planner in self.planners() {
            let reports = planner.servers().reports();
            let reports = reports.filter_map(|report| behind(planner, report));
            counts.behind.extend(reports);
        }
        counts.servers_behind = counts.behind.len() as u64;
        let slow = |server: &ServerBehind| server.once_each_seconds;
        counts
            .behind
            .sort_by(|left, right| slow(right).total_cmp(&slow(left)));
        counts.behind.truncate(OVERLOADED_MAX);
        let mut unnamed = counts.behind.len();
        if unnamed == 0 {
            return Ok(());
        }
        self.walk(|record| {
            if unnamed == 0 {
                return;
            }
            let state = PageState::decode(record.body);
            let of = |it: &&mut ServerBehind| {
                it.page.is_none()
                    && state
                        .as_ref()
                        .is_some_and(|state| state.server == it.server)
            };
            if let Some(server) = counts.behind.iter_mut().find(of) {
                server.page = Some(record.url.to_owned());
                unnamed -= 1;
            }
        })
    }

    fn planners(&self) -> impl Iterator<Item = &Planner> {
        self.partitions.iter().map(|partition| &partition.planner)
    }

    /// The folders of the time queues that are there.
    fn queues(&self) -> impl Iterator<Item = &Path> {
        let queues = self.partitions.iter().map(|partition| &*partition.queue);
        queues.filter(|queue| queue.is_dir())
    }

    fn walk(&self, mut show: impl FnMut(RecordRef)) -> Result<(), CrawlError> {
        for queue in self.queues() {
            time_queue::look(queue, &mut show)?;
        }
        Ok(())
    }

    fn known_page(&self, record: &RecordRef) -> Option<KnownPage> {
        let state = PageState::decode(record.body)?;
        let url = self.canonical.parse(record.url).ok()?;
        let explanation = self.planner_of(&url).explain(&state, &url, self.now);
        Some(KnownPage {
            url: record.url.to_owned(),
            due: timestamp(record.due),
            last_visit: timestamp(state.last_visit),
            last_change: state.changed.map(timestamp),
            interval_seconds: state.interval.as_secs_f64(),
            visits: state.visits,
            changes: state.changes,
            misses: state.misses,
            signals: state.signals,
            changes_a_day: explanation.belief.rate * DAY.as_secs_f64(),
            chance: explanation.chance,
            depth: state.depth,
            server: state.server,
            why: explanation.to_string(),
        })
    }
}

impl StateStats {
    fn count_due(&mut self, due: Time, now: Time) {
        self.overdue += u64::from(due <= now);
        let within = |span: Duration| u64::from(now < due && due <= now + span);
        self.due_in_hour += within(HOUR);
        self.due_in_day += within(DAY);
        self.due_in_week += within(7 * DAY);
    }
}

impl OverloadedServer {
    fn of(report: &ServerReport) -> OverloadedServer {
        OverloadedServer {
            server: report.server,
            pages: report.pages,
            overload: report.overload(),
            pace_seconds: report.pace.as_secs_f64(),
            visits_saved: report.cost.visits_saved,
            versions_lost: report.cost.versions_lost,
        }
    }
}

/// Adds the buckets of one partition to those of all.
fn add_span(spans: &mut Vec<SpanStats>, more: SpanStats) {
    match spans.iter_mut().find(|span| span.span == more.span) {
        Some(span) => {
            span.buckets += more.buckets;
            span.runs += more.runs;
            span.records += more.records;
            span.filed += more.filed;
            span.bytes += more.bytes;
        }
        None => spans.push(more),
    }
}

/// The class in which an interval is counted.
fn class_of(interval: Duration) -> usize {
    INTERVALS.partition_point(|most| *most < interval)
}

#[cfg(test)]
mod tests {
    use junkai_revisit::{Digest, Draw, Found, Hints, Next, Sighting, Version};
    use junkai_store::time_queue::{Lengths, Record, Tails, TimeQueue};

    use super::*;

    #[test]
    fn every_interval_has_a_class() {
        for (interval, class) in [
            (Duration::ZERO, 0),
            (HOUR, 0),
            (HOUR + Duration::from_secs(1), 1),
            (DAY, 2),
            (Duration::MAX, INTERVALS.len() - 1),
        ] {
            assert_eq!(class_of(interval), class, "{interval:?}");
        }
    }

    /// An archive in which so many pages were visited once, ten days ago.
    fn archive(pages: u64) -> (tempfile::TempDir, Vec<PageUrl>) {
        let settings = Settings::default();
        let folder = tempfile::tempdir().unwrap();
        let queue = folder.path().join("state/time_queue");
        std::fs::create_dir_all(&queue).unwrap();
        let mut planner = Planner::new(&settings.revisit, settings.ring.keys);
        let nothing = Lengths::default();
        let (mut queue, _) =
            TimeQueue::open(&queue, &settings.time_queue, Tails::Keep(&nothing)).unwrap();
        let canonical = Canonicalizer::new(&settings.canonical);
        let real = Clock::start(&machine(), &settings.clock, Time::EPOCH).now();
        let at = Time::from_micros(real.as_micros() - 10 * 86_400 * 1_000_000);
        let mut urls = Vec::new();
        for number in 0..pages {
            let url = canonical
                .parse(&format!("https://a.example/{number}"))
                .unwrap();
            let sighting = Sighting {
                at,
                page: &url,
                server: ServerKey::new(3),
                took: Duration::from_secs(1),
                found: Found::Page(Version {
                    digest: Digest::new(&number.to_le_bytes()).unwrap(),
                    indexed: None,
                    content: None,
                    unread: None,
                    captured: at,
                    etag: None,
                    last_modified: None,
                }),
                hints: Hints::default(),
            };
            let draw = Draw::of_visit(url.fingerprint(), 0);
            let (state, next) = planner.first_visit(&sighting, draw);
            let Next::At(due) = next else { continue };
            let record = Record {
                url: url.as_str().to_owned(),
                due,
                body: state.encode(),
            };
            queue.put(&record, at).unwrap();
            urls.push(url);
        }
        queue.flush().unwrap();
        planner_file::store(&ArchiveFolder::real(folder.path()).state(), &planner.save()).unwrap();
        (folder, urls)
    }

    #[test]
    fn every_page_is_shown_found_and_counted_once() {
        let (folder, urls) = archive(50);
        assert_eq!(urls.len(), 50);
        let states = PageStates::open(folder.path(), &Settings::default()).unwrap();
        let mut shown = Vec::new();
        states.each(|page| shown.push(page.url)).unwrap();
        shown.sort_unstable();
        let mut wanted: Vec<String> = urls.iter().map(ToString::to_string).collect();
        wanted.sort_unstable();
        assert_eq!(shown, wanted);

        let page = states.find(&urls[0], &mut |_| {}).unwrap().unwrap().page;
        assert_eq!((page.visits, page.server), (1, ServerKey::new(3)));
        assert!(states.server_in_words(&page).contains("known page"));
        let counts = states.stats().unwrap();
        assert_eq!(counts.records, urls.len() as u64);
        let counted: u64 = counts.intervals.iter().map(|class| class.pages).sum();
        assert_eq!(counted + counts.damaged, counts.records);
        let in_buckets: u64 = counts.spans.iter().map(|span| span.records).sum();
        assert_eq!(in_buckets, counts.records);
        assert!(0 < counts.bytes && 0.0 < counts.visits_a_day);
        assert_eq!(counts.bytes, counts.bucket_bytes + counts.journal_bytes);
    }

    #[test]
    fn an_archive_without_known_pages_has_none() {
        let folder = tempfile::tempdir().unwrap();
        ArchiveFolder::real(folder.path()).make().unwrap();
        let states = PageStates::open(folder.path(), &Settings::default()).unwrap();
        assert_eq!(states.stats().unwrap().records, 0);
    }
}
