//! The settings of one crawl: what `junkai.toml` says, table by table.
//!
//! Each room owns the struct of its table; [`Settings`] only collects them. Read once at start-up and checked by
//! [`Settings::mistakes`]; nothing else reads files, flags or environment variables, but for secrets, which settings only name ([`Access`]).

mod bounds;

use std::num::{NonZeroU16, NonZeroU32, NonZeroUsize};
use std::time::Duration;

use bytesize::ByteSize;
use junkai_archive::ArchiveConfig;
use junkai_fetch::{Access, AddressGuard, DnsConfig, FetchConfig, Identity};
use junkai_frontier::admission::Order;
use junkai_frontier::{Overflow, PolitenessConfig, RingConfig};
use junkai_page::LinkOptions;
use junkai_revisit::{Planner, RevisitConfig};
use junkai_store::backlog::BacklogConfig;
use junkai_store::seen::SeenConfig;
use junkai_store::time_queue::TimeQueueConfig;
use junkai_weburl::CanonicalConfig;
use serde::{Deserialize, Serialize};

pub use self::bounds::Bounds;
use crate::clock::ClockConfig;
use crate::focus::FocusConfig;
use crate::hook_config::HookConfig;
use crate::log::LogConfig;
use crate::scope::{ScopeConfig, ScopeRules};
use crate::span::span;

/// Every setting of a crawl. The file `junkai.toml` in the archive holds the settings in force.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What to crawl and when to stop.
    pub crawl: CrawlConfig,
    /// Which discovered URLs belong to the crawl.
    pub scope: ScopeConfig,
    /// Who visits: shown to every server.
    pub identity: Identity,
    /// Which addresses may be visited.
    pub addresses: AddressGuard,
    /// How hard one server may be pressed.
    pub politeness: PolitenessConfig,
    /// How bytes are fetched, and their bounds.
    pub fetch: FetchConfig,
    /// How names become addresses.
    pub dns: DnsConfig,
    /// Which links of a page count.
    pub links: LinkOptions,
    /// When two URLs are the same page.
    pub canonical: CanonicalConfig,
    /// How captures are kept.
    pub archive: ArchiveConfig,
    /// The short-term queue.
    pub ring: RingConfig,
    /// The set of known URLs.
    pub seen: SeenConfig,
    /// The waiting visits on disk.
    pub backlog: BacklogConfig,
    /// When to come back to known pages.
    pub revisit: RevisitConfig,
    /// The states of known pages on disk.
    pub time_queue: TimeQueueConfig,
    /// What is wanted, for `junkai focus`.
    pub focus: FocusConfig,
    /// Who is told when pages change.
    pub hook: HookConfig,
    /// When log files are rotated.
    pub logs: LogConfig,
    /// The clock, for demonstrations and tests.
    pub clock: ClockConfig,
}

/// What to crawl and when to stop. Table `[crawl]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in the configuration file"
)]
pub struct CrawlConfig {
    /// URLs to start from; seeds on the command line come on top. Default none.
    pub seeds: Vec<String>,
    /// Stop after this many pages have been visited in one run; robots.txt does not count. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages_max: Option<u64>,
    /// Stop after so many bytes have been received in one run, robots.txt and answers that failed included: `"10GB"`. What the archive takes of them on disk is less,
    /// as it is compressed. From then on no visit is started; those that are in flight are finished, so up to `concurrency` answers (each at most
    /// `fetch.max_body_bytes`) come on top. Default: no limit.
    #[serde(
        with = "junkai_size::bytes::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub bytes_max: Option<ByteSize>,
    /// Stop after this time in one run. Default: no limit.
    #[serde(with = "humantime_serde", skip_serializing_if = "Option::is_none")]
    pub run_time_max: Option<Duration>,
    /// End when every page in scope has been visited once. Default false: the crawl goes on, finds new pages, and comes back to each page at the
    /// pace at which it changes.
    pub once: bool,
    /// Visits in flight over all servers together; each server has at most one. Default 512; from 1 to 65536.
    pub concurrency: NonZeroUsize,
    /// Partitions that the sites of the crawl are shared out among, by hash; each is decided for by a thread of its own, with files of its own. Default: as many as
    /// the archive was begun with, which cannot change; for a new one 1, which is right up to some 10000 pages a second. From 1 to 256. The bounds on visits in
    /// flight, on what waits and on most tables in memory are for all partitions together; each takes some 14 MB of its own besides, and makes its own checkpoints. Not for `junkai focus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partitions: Option<NonZeroU16>,
    /// Threads that fetch, parse and compress. Default: one for each core; from 1 to 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<NonZeroUsize>,
    /// In which order known pages are visited. Default "fifo".
    ///
    /// "fifo": as they are found; right when everything will be visited anyway. "in-degree": first the page to which the most
    /// visited pages link; finds the authorities of a subject or of few hosts. "site-budgets": as `IRLbot`, each site has visits by
    /// how many others link to it; to compare with: its table of sites grows with the sites that are found, so memory is not bounded. "worth":
    /// first the page that is worth the most by what links to it, while hosts give way to others as they are visited; right when there is more to
    /// visit than time. May change from run to run; what links have earned a candidate outlives a stop, not a kill.
    pub order: Order,
    /// Where the order is not "fifo": pages that stand in it, in memory, at most. Default 100000, about 50 MB; from 1 to 100000000. The rest is
    /// spilled to disk by its worth, and links that are found meanwhile do not count for it.
    pub candidates: NonZeroUsize,
    /// Where the order is not "fifo": visits that wait in the ring for their server's turn, at most. Default 4096; from 1 to 16777216. The smaller, the
    /// more exactly the order is followed; the larger, the further ahead servers are booked. "in-degree" and "site-budgets" know no
    /// servers: where most pages are on few of them, choose a few dozen, or else "worth", which books one visit a host.
    pub lookahead: NonZeroUsize,
    /// A visit that finds no room in the ring is deferred to its own time on disk, or discarded (it may be found again). Default "defer".
    pub overflow: Overflow,
    /// Whether the crawls of one user on one machine share their pace: a server is visited by one of them at a time, and each keeps its interval from the last
    /// visit of the others, too. Default true.
    pub share_pace: bool,
    /// Further tries after a failure that may pass (time-outs, resets, DNS trouble). Default 2.
    pub retries_max: u8,
    /// Wait before the first retry; doubled for each further one. Default 1 minute.
    #[serde(with = "humantime_serde")]
    pub retry_delay: Duration,
    /// Take sitemaps named in robots.txt, and feeds, as sources of links. Default true.
    pub sitemaps: bool,
    /// Find pages from sitemaps and feeds alone: links of pages are not followed, but what pages need to be shown is fetched (`links.requisites`). The sitemaps are
    /// those that robots.txt names, or `/sitemap.xml` of a host whose robots.txt names none, and seeds that are sitemaps or feeds; they are read wherever they lie,
    /// the pages that they list are subject to `[scope]`. An index leads to sitemaps at its own host and at hosts in scope, over at most three indexes in a row; one that is a seed
    /// to any host. A crawl that finds none ends and says where it looked. Default false.
    pub sitemaps_only: bool,
    /// Memory for the rules of robots.txt files. Default `64MiB`, enough for some hundred thousand usual files. What has not been used for longest
    /// makes way, and is asked for again. From 8 MiB to 1 TiB.
    #[serde(with = "junkai_size::bytes")]
    pub robots_memory: ByteSize,
    /// Whether links marked `nofollow` (by `rel` or a robots meta tag) are left alone. Default true.
    pub respect_nofollow: bool,
    /// Whether captures of pages that say `noarchive` are left out of the archive. Default true.
    pub respect_noarchive: bool,
    /// Keep a page whose payload repeats that of a recent capture as a revisit record, without the body. Default true.
    pub dedupe: bool,
    /// The longest time between two checkpoints. Default 10 s: what a power failure may cost.
    #[serde(with = "humantime_serde")]
    pub checkpoint_every: Duration,
    /// Pause while the archive's disk has less free space than this. Default `256MiB`.
    #[serde(with = "junkai_size::bytes")]
    pub disk_free_min: ByteSize,
}

impl Default for CrawlConfig {
    fn default() -> Self {
        CrawlConfig {
            seeds: Vec::new(),
            pages_max: None,
            bytes_max: None,
            run_time_max: None,
            once: false,
            concurrency: NonZeroUsize::new(512).unwrap_or(NonZeroUsize::MIN),
            partitions: None,
            workers: None,
            order: Order::Fifo,
            candidates: NonZeroUsize::new(100_000).unwrap_or(NonZeroUsize::MIN),
            lookahead: NonZeroUsize::new(4096).unwrap_or(NonZeroUsize::MIN),
            overflow: Overflow::Defer,
            share_pace: true,
            retries_max: 2,
            retry_delay: Duration::from_mins(1),
            sitemaps: true,
            sitemaps_only: false,
            robots_memory: ByteSize::mib(64),
            respect_nofollow: true,
            respect_noarchive: true,
            dedupe: true,
            checkpoint_every: Duration::from_secs(10),
            disk_free_min: ByteSize::mib(256),
        }
    }
}

impl Settings {
    /// Whether visits have an order of their own, and do not just go as they come.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.crawl.order != Order::Fifo || self.focus.aim.is_focused()
    }

    /// How many partitions the crawl has.
    #[must_use]
    pub fn partitions(&self) -> NonZeroU16 {
        self.crawl.partitions.unwrap_or(NonZeroU16::MIN)
    }

    /// The settings of one of its partitions: of what is bounded for all of them together, each has its share.
    #[must_use]
    pub fn of_partition(&self) -> Settings {
        let mut settings = self.clone();
        let count = usize::from(self.partitions().get());
        if count == 1 {
            return settings;
        }
        let share = |of: &mut NonZeroUsize| {
            *of = NonZeroUsize::new(of.get().div_ceil(count)).unwrap_or(NonZeroUsize::MIN);
        };
        let Settings {
            crawl,
            ring,
            seen,
            backlog,
            time_queue,
            dns,
            revisit,
            ..
        } = &mut settings;
        share(&mut crawl.concurrency);
        share(&mut crawl.candidates);
        share(&mut crawl.lookahead);
        ring.waiting_max = ring.waiting_max.div_ceil(count);
        dns.cache_hosts = dns.cache_hosts.div_ceil(count);
        for bytes in [
            &mut seen.memory_bytes,
            &mut backlog.buffer_bytes,
            &mut backlog.bytes_max,
            &mut time_queue.buffer_bytes,
        ] {
            *bytes = bytes.div_ceil(count as u64);
        }
        revisit.sites_max = revisit.sites_max.div_ceil(count);
        revisit.visits_a_day = revisit.visits_a_day.map(|visits| visits / count as f64);
        settings
    }

    /// A planner that knows nothing yet, and how many visits the crawl has in flight.
    #[must_use]
    pub fn planner(&self) -> Planner {
        let mut revisit = self.revisit.clone();
        // The queue hands a page out up to so much later than it is due.
        let resolution = self.time_queue.resolution;
        revisit.at_least = revisit.at_least.map(|most| most.saturating_sub(resolution));
        let in_flight = u32::try_from(self.crawl.concurrency.get()).unwrap_or(u32::MAX);
        let servers = &mut revisit.servers;
        servers.visits_in_flight = servers.visits_in_flight.or(NonZeroU32::new(in_flight));
        let least = Some(self.politeness.interval);
        servers.interval_least = servers.interval_least.or(least);
        Planner::new(&revisit, self.ring.keys)
    }

    /// What a setting that is a number of pieces may be, as in `crawl.concurrency`; none if it is another kind of setting, or has no bounds of its own.
    #[must_use]
    pub fn bounds(name: &str) -> Option<Bounds> {
        Bounds::of(name)
    }

    /// Everything that is wrong with the values, in words that say what to do; empty when all is well.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        if let Err(problems) = ScopeRules::check(&self.scope) {
            mistakes.extend(problems);
        }
        if let Err(error) = self.identity.validate() {
            mistakes.push(format!("[identity]: {error}"));
        }
        if let Some(contact) = &self.identity.contact
            && !(contact.contains('@') || contact.contains("://"))
        {
            mistakes.push(format!(
                "identity.contact = {contact:?}: give an e-mail address (you@example.org) or a URL (https://example.org/bot)"
            ));
        }
        mistakes.extend(Access::mistakes(&self.fetch));
        mistakes.extend(self.archive.mistakes());
        mistakes.extend(self.revisit.mistakes());
        mistakes.extend(self.mistakes_of_queues());
        let at_least_min = self.revisit.interval_min / 9 * 10 + self.time_queue.resolution;
        let is_too_short = |most: Duration| {
            // Else it is a mistake without the queue, and told.
            self.revisit.interval_min <= most / 10 * 9 && most < at_least_min
        };
        if self.revisit.at_least.is_some_and(is_too_short) {
            mistakes.push(format!(
                "revisit.at_least is shorter than {}: pages come back a tenth sooner than at the latest, no sooner than revisit.interval_min ({}) allows, and up to \
                 time_queue.resolution ({}) later than planned",
                span(Duration::from_secs(at_least_min.as_secs() + 1)),
                span(self.revisit.interval_min),
                span(self.time_queue.resolution)
            ));
        }
        mistakes.extend(self.clock.mistakes());
        mistakes.extend(self.focus.mistakes());
        mistakes.extend(self.hook.mistakes());
        if self.crawl.checkpoint_every < Duration::from_millis(100) {
            mistakes.push(format!(
                "crawl.checkpoint_every = {}: must be 100ms or more, or the disk does nothing else",
                span(self.crawl.checkpoint_every)
            ));
        }
        mistakes.extend(bounds::mistakes(self));
        if self.crawl.sitemaps_only && !self.crawl.sitemaps {
            mistakes.push(
                "crawl.sitemaps_only = true finds pages from sitemaps alone, and crawl.sitemaps = false reads none: set one of them"
                    .to_owned(),
            );
        }
        if Duration::from_hours(12) < self.politeness.crawl_delay_max {
            mistakes.push(format!(
                "politeness.crawl_delay_max = {}: must be 0s to 12h, or robots.txt would take every visit",
                span(self.politeness.crawl_delay_max)
            ));
        }
        if self.partitions() != NonZeroU16::MIN && self.focus.aim.is_focused() {
            mistakes.push(
                "crawl.partitions: a focused crawl compares all sites with each other, and has one partition; begin it in an archive of its own"
                    .to_owned(),
            );
        }
        if self.crawl.order != Order::Fifo && self.crawl.overflow == Overflow::Discard {
            mistakes.push(format!(
                "crawl.order = \"{}\" keeps what does not fit on disk by its worth, and crawl.overflow = \"discard\" would forget it: \
                 take overflow = \"defer\", or order = \"fifo\"",
                self.crawl.order
            ));
        }
        mistakes
    }

    /// What is wrong with the times of the queues.
    fn mistakes_of_queues(&self) -> Vec<String> {
        let day = Duration::from_hours(24);
        let queue = &self.time_queue;
        let checks = [
            (
                (Duration::from_secs(1)..=day).contains(&queue.resolution),
                "time_queue.resolution must be 1s to 1day",
            ),
            (
                (2 * day..=3660 * day).contains(&queue.horizon),
                "time_queue.horizon must be 2days to 3660days",
            ),
        ];
        let wrong = checks.into_iter().filter(|(is_right, _)| !is_right);
        wrong.map(|(_, mistake)| mistake.to_owned()).collect()
    }
}
