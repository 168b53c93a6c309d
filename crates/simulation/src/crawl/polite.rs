//! A crawl with the crawler's own ring and leases: the servers' pace decides when, the admission policy who.
//!
//! The virtual clock jumps from event to event: the end of a visit, or a step of the ring at which something is due. What
//! happens at one moment happens in the order of the crawler's rounds: visits that ended give their lease back, their
//! links come in, their hosts are released; then pages are handed to the ring, and what is due starts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use junkai_frontier::{
    Command, EndReport, Event, Overflow, PolitenessConfig, RingConfig, Scheduler, ServerKey, Time,
    VisitKind,
};
use junkai_graph::WebGraph;

use super::discovery::{Discovery, HandedOut};
use super::{Pace, Run, Ticker, Trial, mix};
use crate::policy::{Evicted, RingSetup, Setup};

pub(super) fn crawl(
    trial: &Trial<'_>,
    setup: &Setup,
    ring: &RingSetup,
    progress: &mut dyn FnMut(u64),
) -> Run {
    let mut crawl = PoliteCrawl::new(trial, setup, ring);
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

struct PoliteCrawl<'a> {
    web: &'a WebGraph,
    setup: RingSetup,
    latencies: &'a [Duration],
    discovery: Discovery<'a>,
    scheduler: Scheduler<HandedOut>,
    now: Time,
    /// Visits in flight, the one that ends first on top.
    flights: BinaryHeap<Reverse<Flight>>,
    started: u64,
    /// Visits whose turn was deferred to a moment beyond the ring.
    deferred: BinaryHeap<Reverse<Deferred>>,
    /// Pages whose turn was deferred once: they keep their place in line.
    was_deferred: Vec<bool>,
    /// Hosts whose robots.txt was fetched.
    has_rules: Vec<bool>,
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

/// A visit that waits until the ring covers its turn.
#[derive(Clone, Copy, Debug)]
struct Deferred {
    due: Time,
    number: u64,
    visit: HandedOut,
}

impl<'a> PoliteCrawl<'a> {
    fn new(trial: &Trial<'a>, setup: &Setup, ring: &RingSetup) -> PoliteCrawl<'a> {
        let mut run = Run {
            pace: Pace::promising(micros(ring.interval)),
            ..Run::default()
        };
        let overflow = match setup.evicted {
            Evicted::Discarded => Overflow::Discard,
            Evicted::Spilled | Evicted::SpilledAndWelcome => Overflow::Defer,
        };
        let config = RingConfig {
            step: Some(ring.step.unwrap_or(ring.interval)),
            slots: ring.slots,
            keys: ring.keys,
            waiting_max: usize::MAX,
        };
        let politeness = PolitenessConfig {
            interval: ring.interval,
            ..PolitenessConfig::default()
        };
        PoliteCrawl {
            web: trial.web,
            setup: *ring,
            latencies: trial.latencies,
            discovery: Discovery::new(trial, setup, &mut run),
            scheduler: Scheduler::new(&config, politeness, overflow, ring.concurrency, Time::EPOCH),
            now: Time::EPOCH,
            flights: BinaryHeap::new(),
            started: 0,
            deferred: BinaryHeap::new(),
            was_deferred: vec![false; trial.web.links.page_count() as usize],
            has_rules: vec![!ring.has_robots; trial.web.hosts.count() as usize],
            ended_at: vec![None; ring.keys as usize],
            commands: Vec::new(),
            run,
        }
    }

    /// When something happens next.
    fn next_event(&self) -> Option<Time> {
        let ends = self.flights.peek().map(|flight| flight.0.ends);
        let due = self.deferred.peek().map(|deferred| deferred.0.due);
        [ends, due, self.scheduler.next_wake()]
            .into_iter()
            .flatten()
            .min()
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
                self.tell(Event::Again {
                    visit: flight.visit,
                    key: flight.key,
                    kind: VisitKind::First,
                });
                continue;
            }
            self.discovery.take_in_links(flight.visit, &mut self.run);
            self.discovery.release(flight.visit.page);
            let stored = self.discovery.len() + self.scheduler.waiting();
            self.run.visited(flight.visit.page, stored);
            self.run.ended.push(flight.ends);
            ticker.at(self.run.order.len());
        }
    }

    /// Hands pages to the ring and starts what is due, until nothing more happens at this moment.
    fn round(&mut self) {
        while let Some(due) = self.deferred.peek().map(|deferred| deferred.0)
            && due.due <= self.now
        {
            self.deferred.pop();
            self.discovery.offer_again(due.visit, &mut self.run);
        }
        loop {
            let started = self.started;
            while self.scheduler.waiting() < self.setup.lookahead
                && let Some(visit) = self.discovery.next(&mut self.run)
            {
                let key = self.key_of(visit);
                self.tell(if self.was_deferred[visit.page as usize] {
                    Event::Return {
                        visit,
                        key,
                        kind: VisitKind::First,
                    }
                } else {
                    Event::Offer {
                        visit,
                        key,
                        kind: VisitKind::First,
                    }
                });
            }
            self.tell(Event::Tick);
            if self.started == started {
                return;
            }
        }
    }

    /// Tells the scheduler, and does what it asks for.
    fn tell(&mut self, event: Event<HandedOut>) {
        // The list goes back at the end, so that its memory serves every event.
        let mut commands = std::mem::take(&mut self.commands);
        self.scheduler.step(self.now, event, &mut commands);
        for command in commands.drain(..) {
            match command {
                Command::Start { visit, key, at } => self.start(visit, key, at),
                Command::Defer { visit, due, .. } => {
                    self.discovery.release(visit.page);
                    self.was_deferred[visit.page as usize] = true;
                    self.started += 1;
                    let number = self.started;
                    self.deferred.push(Reverse(Deferred { due, number, visit }));
                }
                Command::Discard { visit } => {
                    self.discovery.release(visit.page);
                    self.discovery.forget(visit.page, &mut self.run);
                }
            }
        }
        self.commands = commands;
    }

    fn start(&mut self, visit: HandedOut, key: ServerKey, at: Time) {
        if let Some(ended) = self.ended_at[key.index()] {
            let gap = at.as_micros().saturating_sub(ended.as_micros());
            self.run.pace.note(gap);
        }
        let host = self.web.hosts.host(visit.page) as usize;
        let is_robots = !std::mem::replace(&mut self.has_rules[host], true);
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
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a remainder of division by a u32"
        )]
        ServerKey::new((mix(server) % u64::from(self.setup.keys)) as u32)
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

macro_rules! order_by_time {
    ($record:ty, $time:ident) => {
        impl PartialEq for $record {
            fn eq(&self, other: &Self) -> bool {
                (self.$time, self.number) == (other.$time, other.number)
            }
        }
        impl Eq for $record {}
        impl PartialOrd for $record {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $record {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                (self.$time, self.number).cmp(&(other.$time, other.number))
            }
        }
    };
}

order_by_time!(Flight, ends);
order_by_time!(Deferred, due);
