//! A crawl by the crawler's own engine: the lab is its driver, as `rounds` is in the crawler, under a virtual clock.
//!
//! The engine has a disk in memory and gives orders; here is what becomes of them. Pages have URLs made of their host's number and their own. Every address is known
//! before it is asked for, every page downloads successfully and takes as long as its server does, and nothing is captured. Where the policy has it so, a host's first turn
//! goes to its robots.txt, which does not exist, and again when the rules are a day old; else nobody asks for rules.
//!
//! The clock jumps from event to event: the end of a visit, or what [`Engine::next_wake`] says, but no further than the frontier's thread of a crawl sleeps. At each there is
//! one round, the same calls in the same order as in `Rounds::round`: reports, refill, tick, orders. What was learned is written down every few thousand visits and not in
//! every round: nobody ends this process, and what is visited does not depend on it.
//!
//! Not here: what the engine cannot be told by settings (`model`), and faults of any kind (`world`).

mod platform;
pub(super) mod web;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytesize::ByteSize;
use junkai_engine::opening::Opening;
use junkai_engine::platform::ArchiveFolder;
use junkai_engine::progress::Progress;
use junkai_engine::rules::{Rules, SAID_HOLDS, Say};
use junkai_engine::scope::Preset;
use junkai_engine::turn::{Spend, spend};
use junkai_engine::visit::{EndedVisit, Fate, HostAsked, Located, Order, Outcome, Start};
use junkai_engine::{CrawlError, Engine, Input, Settings};
use junkai_fetch::Exchange;
use junkai_files::{Disk, SimulatedDisk};
use junkai_frontier::admission::{self, BudgetConfig};
use junkai_frontier::{EndReport, Overflow, Time};
use junkai_weburl::Fingerprint;

use self::platform::VirtualMachine;
use self::web::Pages;
use super::{Run, Ticker, Trial};
use crate::policy::{CrawlOrder, Evicted, RingSetup, Setup};

/// The longest sleep of the frontier's thread in a crawl.
pub(super) const NAP_MAX: Duration = Duration::from_millis(200);
/// How long an address holds: longer than any crawl.
const ADDRESS_HOLDS: Duration = Duration::from_hours(24 * 365 * 100);
/// After so many visits what was logged is thrown away, and files that are worked off are removed.
const VISITS_PER_CHECKPOINT: usize = 1 << 13;
/// Bytes of the set of known URLs for each page, so that it stays in memory.
const SEEN_BYTES_PER_PAGE: u64 = 128;
const SEEN_BYTES_MIN: u64 = 1 << 20;
const SEEN_BYTES_MAX: u64 = 256 << 20;
const FOLDER: &str = "/crawl";

/// The settings by which a crawl goes as the policy says; none if no settings make the crawler do that.
pub(super) fn settings(setup: &Setup, ring: &RingSetup) -> Option<Settings> {
    let order = match setup.order {
        CrawlOrder::Fifo => admission::Order::Fifo,
        CrawlOrder::InDegree => admission::Order::InDegree,
        CrawlOrder::SiteBudgets(config) if config == BudgetConfig::published() => {
            admission::Order::SiteBudgets
        }
        order @ CrawlOrder::Worth { .. } if order == CrawlOrder::worth() => admission::Order::Worth,
        CrawlOrder::SiteBudgets(_) | CrawlOrder::Worth { .. } => return None,
    };
    let mut settings = Settings::default();
    match (order, setup.candidates_max) {
        // What does not fit into the ring waits on disk, as it came.
        (admission::Order::Fifo, None) => settings.ring.waiting_max = ring.lookahead,
        (admission::Order::Fifo, Some(_)) => return None,
        (_, candidates_max) => {
            settings.ring.waiting_max = usize::MAX;
            settings.crawl.candidates = NonZeroUsize::new(candidates_max.unwrap_or(usize::MAX))?;
            settings.crawl.lookahead = NonZeroUsize::new(ring.lookahead)?;
        }
    }
    settings.crawl.overflow = match (order, setup.evicted) {
        (_, Evicted::Spilled) => Overflow::Defer,
        (admission::Order::Fifo, Evicted::Discarded) => Overflow::Discard,
        (_, Evicted::Discarded | Evicted::SpilledAndWelcome) => return None,
    };
    settings.crawl.order = order;
    settings.crawl.concurrency = NonZeroUsize::new(ring.concurrency)?;
    settings.politeness.interval = ring.interval;
    settings.ring.step = Some(ring.step.unwrap_or(ring.interval));
    settings.ring.slots = ring.slots;
    settings.ring.keys = ring.keys;
    Some(settings)
}

/// What holds for all crawls of the lab: every page is visited once and none is out of scope, nothing is refused, and files are kept small.
fn for_the_lab(settings: &mut Settings, trial: &Trial<'_>) {
    settings.crawl.once = true;
    settings.crawl.sitemaps = false;
    settings.revisit.enabled = false;
    settings.scope.preset = Preset::Any;
    settings.identity.contact = Some("lab@example.org".to_owned());
    settings.backlog.host_bytes_max = u64::MAX;
    settings.backlog.bytes_max = u64::MAX;
    let pages = u64::from(trial.web.links.page_count());
    settings.seen.memory_bytes =
        (SEEN_BYTES_PER_PAGE * pages).clamp(SEEN_BYTES_MIN, SEEN_BYTES_MAX);
    // Whenever it is asked for.
    settings.crawl.checkpoint_every = Duration::ZERO;
    settings.logs.bytes_max = ByteSize::b(1);
}

/// Crawls.
///
/// # Panics
/// If the engine cannot go on: on a disk without faults that would be a bug in it.
pub(super) fn crawl(
    trial: &Trial<'_>,
    settings: Settings,
    ring: &RingSetup,
    progress: &mut dyn FnMut(u64),
) -> Run {
    if trial.seeds.is_empty() {
        // No archive is opened to crawl nothing.
        return Run::promising(ring.interval);
    }
    let crawled = Driver::new(trial, settings, ring).and_then(|driver| driver.run(trial, progress));
    match crawled {
        Ok(run) => run,
        Err(error) => unreachable!("a crawl without faults goes on: {error}"),
    }
}

struct Driver<'a> {
    pages: Pages<'a>,
    setup: RingSetup,
    latencies: &'a [Duration],
    engine: Engine,
    rules: Arc<Rules>,
    progress: Arc<Progress>,
    disk: SimulatedDisk,
    machine: Arc<VirtualMachine>,
    now: Time,
    /// Visits in flight, the one that ends first on top.
    flights: BinaryHeap<Reverse<Flight>>,
    started: u64,
    /// When the last visit to each server ended, for the check of the promise.
    ended_at: Vec<Option<Time>>,
    run: Run,
}

/// A visit in flight.
#[derive(Debug)]
struct Flight {
    ends: Time,
    /// Ties are broken by who started first.
    number: u64,
    start: Box<Start>,
    /// The robots.txt that its turn is spent on.
    robots: Option<String>,
}

impl<'a> Driver<'a> {
    fn new(
        trial: &Trial<'a>,
        mut settings: Settings,
        ring: &RingSetup,
    ) -> Result<Driver<'a>, CrawlError> {
        let pages = Pages::new(trial.web, &settings.canonical);
        for_the_lab(&mut settings, trial);
        settings.crawl.seeds = trial.seeds.iter().map(|&seed| pages.text(seed)).collect();
        let disk = SimulatedDisk::default();
        let machine = Arc::new(VirtualMachine::default());
        let platform = platform::platform(&disk, &machine);
        let progress = Arc::new(Progress::default());
        let folder = Path::new(FOLDER);
        ArchiveFolder::new(platform.disk.clone(), folder).make()?;
        let opening = Opening::of(&platform, folder, &settings, &progress)?;
        let rules = Arc::clone(&opening.rules);
        let now = opening.clock.now();
        let mut engine = Engine::new(opening, usize::MAX, Arc::clone(&progress), now)?;
        for host in 0..trial.web.hosts.count() {
            engine.handle(now, resolved(&pages, web::host_name(host).into()))?;
        }
        Ok(Driver {
            pages,
            setup: *ring,
            latencies: trial.latencies,
            engine,
            rules,
            progress,
            disk,
            machine,
            now,
            flights: BinaryHeap::new(),
            started: 0,
            ended_at: vec![None; ring.keys as usize],
            run: Run::promising(ring.interval),
        })
    }

    fn run(mut self, trial: &Trial<'_>, progress: &mut dyn FnMut(u64)) -> Result<Run, CrawlError> {
        let mut ticker = Ticker { sink: progress };
        self.round(trial, &mut ticker)?;
        while !self.run.is_over(trial) && !self.is_complete() {
            self.now = self.next_event();
            self.machine.set(self.now);
            self.round(trial, &mut ticker)?;
        }
        self.engine.write_down()?;
        self.run.spilled = self.engine.spilled();
        self.run.discarded = self.progress.discarded.read();
        Ok(self.run)
    }

    /// Whether nothing is left to visit. The engine is asked only when it might be so: its answer takes longer the more files there are.
    fn is_complete(&self) -> bool {
        self.flights.is_empty()
            && self.engine.next_wake(self.now).is_none()
            && self.engine.is_complete(self.now)
    }

    /// When something happens next. Without visits that wait on disk for their time, nothing happens at the end of a nap.
    fn next_event(&mut self) -> Time {
        let ends = self.flights.peek().map(|flight| flight.0.ends);
        let wake = self.engine.next_wake(self.now);
        let naps = self.engine.next_read().is_some() || (ends.is_none() && wake.is_none());
        let nap = naps.then(|| self.now + NAP_MAX);
        let next = [ends, wake, nap].into_iter().flatten().min();
        next.unwrap_or(self.now).max(self.now)
    }

    /// A round, as the frontier's thread makes it.
    fn round(&mut self, trial: &Trial<'_>, ticker: &mut Ticker<'_>) -> Result<(), CrawlError> {
        let now = self.now;
        self.engine.begin_round(now);
        self.take_in_reports(trial, ticker)?;
        self.engine.refill(now)?;
        self.engine.tick(now)?;
        self.carry_out_orders()?;
        Ok(())
    }

    /// Reports the visits that have ended by now.
    fn take_in_reports(
        &mut self,
        trial: &Trial<'_>,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), CrawlError> {
        while self
            .flights
            .peek()
            .is_some_and(|flight| flight.0.ends <= self.now)
            && !self.run.is_over(trial)
            && let Some(Reverse(flight)) = self.flights.pop()
        {
            self.report(flight, ticker)?;
        }
        self.carry_out_orders()
    }

    fn report(&mut self, flight: Flight, ticker: &mut Ticker<'_>) -> Result<(), CrawlError> {
        let key = flight.start.key;
        self.ended_at[key.index()] = Some(flight.ends);
        if flight.robots.is_some() {
            let ended = self.rules_came(flight);
            return self.engine.handle(self.now, Input::Ended(Box::new(ended)));
        }
        let page = web::page_of(&flight.start.visit.url);
        let links = self.pages.links(page, flight.start.visit.depth);
        self.run.links += links.len() as u64;
        let ends = flight.ends;
        let mut ended = self.ended(flight, Fate::Done);
        ended.links = links;
        self.engine
            .handle(self.now, Input::Ended(Box::new(ended)))?;
        let stored = self.engine.waiting_in_memory();
        self.run.visited(page, stored);
        self.run.ended.push(ends);
        ticker.at(self.run.order.len());
        if self.run.order.len().is_multiple_of(VISITS_PER_CHECKPOINT) {
            self.tidy_up()?;
        }
        Ok(())
    }

    /// What comes of a turn that went to a robots.txt, which does not exist.
    fn rules_came(&mut self, mut flight: Flight) -> EndedVisit {
        const NO_RULES: &[u8] = b"HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n";
        let robots = flight.robots.take().unwrap_or_default();
        let (now, visit) = (flight.ends, &mut flight.start.visit);
        let url = self.pages.parse(&robots);
        self.rules.begin(url.origin());
        let exchange = Exchange::from_response(NO_RULES);
        let learned = self.rules.learn(url.origin(), url.as_url(), &exchange, now);
        if self.rules.ask(&visit.url, now) == Say::Allowed {
            visit.allowed_until = Some(now + SAID_HOLDS);
        }
        let asked = learned.has_rules.then(|| HostAsked {
            host: url.host().into(),
            origin: Fingerprint::of(url.origin()).0,
            delay: learned.crawl_delay,
        });
        let mut ended = self.ended(flight, Fate::AnotherTurn);
        ended.asked = asked;
        ended.outcome.status = 404;
        ended.outcome.instead = Some(robots);
        ended
    }

    fn ended(&self, flight: Flight, fate: Fate) -> EndedVisit {
        let duration = self.latency_of(&flight.start);
        let Start {
            visit,
            key,
            address,
            at,
        } = *flight.start;
        EndedVisit {
            visit,
            key,
            address,
            started: at,
            ended: flight.ends,
            end: EndReport::Answered { duration },
            fate,
            asked: None,
            retry_after: None,
            found: None,
            said: None,
            list: None,
            signals: Vec::new(),
            links: Vec::new(),
            link_room: None,
            leads_to_new: false,
            rules_elsewhere: None,
            outcome: Outcome {
                status: 200,
                ..Outcome::default()
            },
            worker: 0,
        }
    }

    fn carry_out_orders(&mut self) -> Result<(), CrawlError> {
        while let Some(order) = self.engine.poll_order(self.now)? {
            match order {
                Order::Visit(start) => self.start(start),
                Order::Resolve(host) => {
                    self.engine.handle(self.now, resolved(&self.pages, host))?;
                }
                Order::Links(_) | Order::Confirm(_) => {
                    unreachable!("there is one partition");
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, start: Box<Start>) {
        if let Some(ended) = self.ended_at[start.key.index()] {
            let gap = start.at.as_micros().saturating_sub(ended.as_micros());
            self.run.pace.note(gap);
        }
        let robots = if self.setup.has_robots {
            match spend(&start.visit, &self.rules, start.at) {
                Spend::Rules(robots) => Some(robots),
                Spend::Page => None,
                Spend::Nothing { .. } => unreachable!("no host has rules"),
            }
        } else {
            None
        };
        self.started += 1;
        self.flights.push(Reverse(Flight {
            ends: start.at + self.latency_of(&start),
            number: self.started,
            start,
            robots,
        }));
    }

    fn latency_of(&self, start: &Start) -> Duration {
        let measured = self.latencies.get(web::server_at(start.address) as usize);
        measured.copied().unwrap_or(self.setup.latency)
    }

    /// Keeps the disk in memory small: what was worked off is removed, and what was logged is thrown away.
    fn tidy_up(&mut self) -> Result<(), CrawlError> {
        self.engine.write_down()?;
        self.engine.checkpoint(self.now)?;
        let disk = Disk::simulated(self.disk.clone());
        let logs = Path::new(FOLDER).join("logs");
        for name in disk.list(&logs)? {
            if !matches!(name.as_str(), "crawl.log" | "events.jsonl") {
                disk.remove(&logs.join(name))?;
            }
        }
        disk.sync_dir(&logs)?;
        // Files without a name are kept until the next process starts.
        self.disk.restart();
        Ok(())
    }
}

/// The address of a host, which is known at once.
fn resolved(pages: &Pages<'_>, host: Box<str>) -> Input {
    let located = Located {
        address: pages.address(&host),
        holds: ADDRESS_HOLDS,
    };
    Input::Resolved {
        host,
        answer: Ok(located),
    }
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        (self.ends, self.number) == (other.ends, other.number)
    }
}

impl Eq for Flight {}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.ends, self.number).cmp(&(other.ends, other.number))
    }
}
