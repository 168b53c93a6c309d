//! A model of the engine, ten times as fast: for variants of the crawler's orders that no settings make, and to measure what an order costs by itself.
//!
//! It has the engine's order of events and its parts that choose (admission, ring, leases), and page numbers instead of URLs, files and logs. Where settings do make the policy,
//! engine and model visit the same pages in the same order at the same times; the tests of `crawl` hold it to that.
//!
//! The order of events is that of a round. For each visit that ended: it gives its lease back, its links come in, its host is released, pages are handed to the ring. Then
//! what was deferred and is due stands in the order again, pages are handed to the ring, what is due starts, and pages are handed to the ring in its place.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use junkai_frontier::admission::{priority_byte, priority_of_byte};
use junkai_frontier::{
    Command, EndReport, Event, Overflow, PolitenessConfig, RingConfig, Scheduler, ServerKey, Time,
    VisitKind, server_key,
};
use junkai_graph::WebGraph;

use super::deferred::Deferred;
use super::discovery::{Discovery, HandedOut};
use super::engine::NAP_MAX;
use super::engine::web::address_of;
use super::{Run, Ticker, Trial};
use crate::policy::{CrawlOrder, Evicted, RingSetup, Setup};

/// How long the rules of a host hold that has none.
const RULES_LIFE: Duration = Duration::from_hours(24);
/// Commands of the scheduler that wait to be carried out while pages are handed out.
const COMMANDS_MAX: usize = 256;
/// Pages that are handed out at a time.
const HAND_OUTS_MAX: usize = 4096;

pub(super) fn crawl(
    trial: &Trial<'_>,
    setup: &Setup,
    ring: &RingSetup,
    progress: &mut dyn FnMut(u64),
) -> Run {
    let mut crawl = Model::new(trial, setup, ring);
    let mut ticker = Ticker { sink: progress };
    crawl.round();
    while !crawl.run.is_over(trial)
        && let Some(now) = crawl.next_event()
    {
        crawl.now = now;
        crawl.take_in_ended(trial, &mut ticker);
        crawl.round();
    }
    crawl.run
}

struct Model<'a> {
    web: &'a WebGraph,
    setup: RingSetup,
    is_ordered: bool,
    latencies: &'a [Duration],
    discovery: Discovery<'a>,
    scheduler: Scheduler<HandedOut>,
    now: Time,
    /// Visits in flight, the one that ends first on top.
    flights: BinaryHeap<Reverse<Flight>>,
    started: u64,
    /// Visits whose turn was deferred to a moment beyond the ring.
    deferred: Deferred,
    /// Pages whose turn was deferred once: they keep their place in line.
    was_deferred: Vec<bool>,
    /// Until when the rules of each host hold, once its robots.txt was asked for.
    rules_until: Vec<Option<Time>>,
    /// When the last visit to each server ended, for the check of the promise.
    ended_at: Vec<Option<Time>>,
    commands: Vec<Command<HandedOut>>,
    run: Run,
}

/// A visit in flight.
#[derive(Clone, Copy, Debug)]
struct Flight {
    ends: Time,
    /// Ties are broken by who started first.
    number: u64,
    key: ServerKey,
    visit: HandedOut,
    is_robots: bool,
}

impl<'a> Model<'a> {
    fn new(trial: &Trial<'a>, setup: &Setup, ring: &RingSetup) -> Model<'a> {
        let mut run = Run::promising(ring.interval);
        let is_ordered = setup.order != CrawlOrder::Fifo;
        let overflow = match setup.evicted {
            Evicted::Discarded => Overflow::Discard,
            Evicted::Spilled | Evicted::SpilledAndWelcome => Overflow::Defer,
        };
        let config = RingConfig {
            step: Some(ring.step.unwrap_or(ring.interval)),
            slots: ring.slots,
            keys: ring.keys,
            waiting_max: if is_ordered {
                usize::MAX
            } else {
                ring.lookahead
            },
        };
        let politeness = PolitenessConfig {
            interval: ring.interval,
            ..PolitenessConfig::default()
        };
        Model {
            web: trial.web,
            setup: *ring,
            is_ordered,
            latencies: trial.latencies,
            discovery: Discovery::new(trial, setup, &mut run),
            scheduler: Scheduler::new(&config, politeness, overflow, ring.concurrency, Time::EPOCH),
            now: Time::EPOCH,
            flights: BinaryHeap::new(),
            started: 0,
            deferred: Deferred::new(),
            was_deferred: vec![false; trial.web.links.page_count() as usize],
            rules_until: vec![None; trial.web.hosts.count() as usize],
            ended_at: vec![None; ring.keys as usize],
            commands: Vec::new(),
            run,
        }
    }

    /// When something happens next.
    fn next_event(&self) -> Option<Time> {
        let ends = self.flights.peek().map(|flight| flight.0.ends);
        let nap = (!self.deferred.is_empty()).then(|| self.now + NAP_MAX);
        [ends, nap, self.scheduler.next_wake()]
            .into_iter()
            .flatten()
            .min()
            .map(|next| next.max(self.now))
    }

    /// Takes in the visits that have ended by now.
    fn take_in_ended(&mut self, trial: &Trial<'_>, ticker: &mut Ticker<'_>) {
        while let Some(flight) = self.flights.peek().map(|flight| flight.0)
            && flight.ends <= self.now
            && !self.run.is_over(trial)
        {
            self.flights.pop();
            self.ended_at[flight.key.index()] = Some(flight.ends);
            self.tell(Event::Ended {
                key: flight.key,
                at: flight.ends,
                report: EndReport::Answered {
                    duration: self.latency_of(flight.visit),
                },
            });
            if flight.is_robots {
                let host = self.web.hosts.host(flight.visit.page) as usize;
                self.rules_until[host] = Some(flight.ends + RULES_LIFE);
                self.tell(Event::Again {
                    visit: flight.visit,
                    key: flight.key,
                    kind: VisitKind::First,
                });
                self.hand_out_in_order();
                continue;
            }
            self.discovery.take_in_links(flight.visit, &mut self.run);
            self.discovery.release(flight.visit.page);
            self.hand_out_in_order();
            let stored = self.discovery.len() + self.scheduler.waiting();
            self.run.visited(flight.visit.page, stored);
            self.run.ended.push(flight.ends);
            ticker.at(self.run.order.len());
        }
        self.carry_out();
    }

    /// Lets what was deferred stand in the order again, hands pages to the ring, and starts what is due.
    fn round(&mut self) {
        for _ in 0..HAND_OUTS_MAX {
            let Some(visit) = self.deferred.next(self.now) else {
                break;
            };
            self.discovery.offer_again(visit, &mut self.run);
        }
        self.hand_out();
        self.carry_out();
        self.tell(Event::Tick);
        self.carry_out();
        self.hand_out_in_order();
        self.carry_out();
    }

    /// Fills a place that fell free with the best that is known by now; first come, first served waits for the round.
    fn hand_out_in_order(&mut self) {
        if self.is_ordered {
            self.hand_out();
        }
    }

    fn hand_out(&mut self) {
        for _ in 0..HAND_OUTS_MAX {
            if self.setup.lookahead <= self.scheduler.waiting() {
                break;
            }
            let Some(visit) = self.discovery.next(&mut self.run) else {
                break;
            };
            let (key, kind) = (self.key_of(visit), VisitKind::First);
            self.tell(if self.was_deferred[visit.page as usize] {
                Event::Return { visit, key, kind }
            } else {
                Event::Offer { visit, key, kind }
            });
            if COMMANDS_MAX <= self.commands.len() {
                self.carry_out();
            }
        }
    }

    fn tell(&mut self, event: Event<HandedOut>) {
        self.scheduler.step(self.now, event, &mut self.commands);
    }

    /// Does what the scheduler asked for.
    fn carry_out(&mut self) {
        // The list goes back at the end, so that its memory serves every round.
        let mut commands = std::mem::take(&mut self.commands);
        for command in commands.drain(..) {
            match command {
                Command::Start { visit, key, at } => self.start(visit, key, at),
                Command::Defer { visit, due, .. } => self.defer(visit, due),
                Command::Discard { visit } => {
                    self.discovery.release(visit.page);
                    self.discovery.forget(visit.page, &mut self.run);
                }
            }
        }
        self.commands = commands;
    }

    /// As the backlog keeps it: with the worth of its grade, until the span of time is over in which it is due.
    fn defer(&mut self, mut visit: HandedOut, due: Time) {
        self.discovery.release(visit.page);
        self.was_deferred[visit.page as usize] = true;
        visit.worth = priority_of_byte(priority_byte(visit.worth));
        self.deferred.put(visit, due, self.now);
    }

    fn start(&mut self, visit: HandedOut, key: ServerKey, at: Time) {
        if let Some(ended) = self.ended_at[key.index()] {
            let gap = at.as_micros().saturating_sub(ended.as_micros());
            self.run.pace.note(gap);
        }
        let host = self.web.hosts.host(visit.page) as usize;
        let has_rules = self.rules_until[host].is_some_and(|until| at < until);
        let is_robots = self.setup.has_robots && !has_rules;
        self.started += 1;
        self.flights.push(Reverse(Flight {
            ends: at + self.latency_of(visit),
            number: self.started,
            key,
            visit,
            is_robots,
        }));
    }

    fn latency_of(&self, visit: HandedOut) -> Duration {
        let server = self.web.hosts.server(self.web.hosts.host(visit.page));
        let measured = self.latencies.get(server as usize);
        measured.copied().unwrap_or(self.setup.latency)
    }

    fn key_of(&self, visit: HandedOut) -> ServerKey {
        let server = self.web.hosts.server(self.web.hosts.host(visit.page));
        server_key(address_of(server), self.setup.keys)
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
