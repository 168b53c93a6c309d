//! The scheduling core: events in, commands out.
//!
//! The crawler drives it under the wall clock and the lab under a virtual one; [`Scheduler::step`] is all there is to it.
//! A visit goes this way, and costs the same on each part of it however many wait:
//!
//! ```text
//!            Offer                 step comes            lease free
//!  driver ──────────► ring ──────────────────► ready ─────────────────► Start
//!    ▲ │  Return                                 ▲ │
//!    │ └─────────                     lease free │ │ lease denied
//!    │                                           │ ▼
//!    └───────────────── Defer ◄───────────────  line of its server
//!        no turn within the ring
//! ```
//!
//! Read [`Event`] and [`Command`] first, then `Scheduler::pump`.
//!
//! Invariants: promise 1, politeness (asserted in `lease`); a visit that came in is waiting, or went out in exactly one
//! command; a line that is not empty is looked at again, by a planned wake, by the end of the visit in flight, or because
//! one of its server's visits is ready.
//!
//! Not here: what a visit is (`V` is never looked into), where deferred visits stay, and anything that takes time.
//!
//! ```
//! use junkai_frontier::{
//!     Command, Event, Overflow, PolitenessConfig, RingConfig, Scheduler, ServerKey, Time, VisitKind,
//! };
//!
//! let now = Time::EPOCH;
//! let mut scheduler =
//!     Scheduler::new(&RingConfig::default(), PolitenessConfig::default(), Overflow::Defer, 100, now);
//! let mut commands = Vec::new();
//! let offer = Event::Offer { visit: "a page", key: ServerKey::new(0), kind: VisitKind::First };
//! scheduler.step(now, offer, &mut commands);
//! assert!(commands.is_empty(), "its turn has not come");
//!
//! let wake = scheduler.next_wake().unwrap();
//! scheduler.step(wake, Event::Tick, &mut commands);
//! assert_eq!(commands, [Command::Start { visit: "a page", key: ServerKey::new(0), at: wake }]);
//! ```

mod event;
mod lines;
mod report;

use std::collections::VecDeque;

use tracing::trace;

pub use self::event::{Command, EndReport, Event, Overflow, VisitKind};
use self::lines::Lines;
pub use self::report::{Counters, Standing};
use crate::lease::{Leases, ServerState};
use crate::politeness::PolitenessConfig;
use crate::ring::{Entry, Ring, RingConfig, Wheel};
use crate::server::ServerKey;
use crate::time::Time;

/// Decides which visit starts when.
#[derive(Clone, Debug)]
pub struct Scheduler<V> {
    ring: Ring<Booked<V>>,
    /// Visits whose step has come. Filled by `collect_due` and `tend`, emptied by `pump`.
    ready: VecDeque<Ready<V>>,
    /// Visits whose server was not free. Filled by `wait_in_line`, emptied by `tend`.
    lines: Lines<Booked<V>>,
    /// When to look at lines again; at most one wake for each server.
    wakes: Wheel<()>,
    is_wake_planned: Box<[bool]>,
    leases: Leases,
    overflow: Overflow,
    concurrency_max: usize,
    waiting_max: usize,
    now: Time,
    counters: Counters,
}

/// A visit, and which half of its server's turns it takes.
#[derive(Clone, Debug)]
struct Booked<V> {
    visit: V,
    kind: VisitKind,
}

#[derive(Clone, Debug)]
struct Ready<V> {
    key: ServerKey,
    booked: Booked<V>,
    /// The server's phase in the step that the visit was placed at.
    not_before: Time,
}

/// Where a waiting visit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a slot of the ring.
    InRing {
        /// When its turn is.
        turn: Time,
    },
    /// Its step has come; it starts as soon as fewer visits are in flight.
    Ready,
    /// Its step has come, and its server's lease is not free yet.
    InLine,
}

impl<V> Scheduler<V> {
    /// A scheduler without visits, at `now`, for servers that were never visited.
    ///
    /// # Panics
    /// If there are no keys, or no visit may be in flight.
    #[must_use]
    pub fn new(
        ring: &RingConfig,
        politeness: PolitenessConfig,
        overflow: Overflow,
        concurrency_max: usize,
        now: Time,
    ) -> Scheduler<V> {
        assert!(
            0 < concurrency_max,
            "at least one visit must be allowed in flight"
        );
        let step_length = ring.step_length(politeness.interval);
        let waiting_max = ring.waiting_max;
        let keys = ring.keys;
        let ring = Ring::new(ring, step_length, now);
        let leases = Leases::new(keys, politeness);
        let mut scheduler = Scheduler {
            ready: VecDeque::new(),
            lines: Lines::new(keys),
            wakes: Wheel::new(ring.slots(), ring.now_step()),
            is_wake_planned: vec![false; keys as usize].into(),
            ring,
            leases,
            overflow,
            concurrency_max,
            waiting_max,
            now,
            counters: Counters::default(),
        };
        for number in 0..keys {
            scheduler.pace(ServerKey::new(number));
        }
        scheduler
    }

    /// Takes in one event at `now` and appends what the driver must do about it.
    ///
    /// Whatever the event, what has fallen due by `now` is dealt with first, so commands may come from any event.
    ///
    /// # Panics
    /// If time runs backwards, or a key is out of range.
    pub fn step(&mut self, now: Time, event: Event<V>, commands: &mut Vec<Command<V>>) {
        assert!(
            self.now <= now,
            "time runs backwards from {} to {now}",
            self.now
        );
        self.now = now;
        self.collect_due(commands);
        match event {
            Event::Offer { visit, key, kind } => self.offer(Booked { visit, kind }, key, commands),
            Event::Return { visit, key, kind } => {
                self.take_back(Booked { visit, kind }, key, commands);
            }
            Event::Again { visit, key, kind } => {
                self.lines.push_front(key, Booked { visit, kind });
                self.tend(key, commands);
            }
            Event::Moved { visit, key, kind } => {
                self.join_line(Booked { visit, kind }, key, commands);
            }
            Event::Ended { key, at, report } => {
                self.leases.end(key, at, report);
                self.pace(key);
                self.tend(key, commands);
            }
            Event::SetRevisitInterval { key, interval } => {
                self.ring.set_revisit_interval(key, interval);
            }
            Event::Hold { key, until } => {
                self.leases.hold(key, until);
                self.pace(key);
            }
            Event::Tick => {}
        }
        self.pump(commands);
    }

    /// Changes how many visits may be in flight from now on; with zero, nothing starts. What is in flight stays so.
    pub fn set_concurrency_max(&mut self, concurrency_max: usize) {
        self.concurrency_max = concurrency_max;
    }

    /// Whether a new visit to this server would be deferred, or discarded, because its turns within the ring are taken.
    #[must_use]
    pub fn is_out_of_turns(&self, key: ServerKey) -> bool {
        !self.ring.has_turn(key) || !self.ring.covers_turns(key, self.lines.len_of(key))
    }

    /// Defers a visit that is not made yet: the moment when it is to [return](Event::Return). For a driver that knows that its server [is out of
    /// turns](Self::is_out_of_turns), and would have to write it down once to offer it, and once more because it is deferred.
    pub fn defer_unseen(&mut self, now: Time, key: ServerKey) -> Time {
        self.now = self.now.max(now);
        self.counters.offered += 1;
        self.counters.overflowed += 1;
        self.make_way_for_line(key);
        self.promise(key, VisitKind::First)
    }

    /// When the next `Tick` is due; none if nothing can happen without an event from outside.
    #[must_use]
    pub fn next_wake(&self) -> Option<Time> {
        let wake = self
            .wakes
            .next_occupied_step()
            .map(|step| self.ring.steps().start_of(step));
        [self.ring.next_due(), wake].into_iter().flatten().min()
    }

    /// Visits that wait in memory.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.ring.len() + self.ready.len() + self.lines.len()
    }

    /// How many more visits may be offered before all of them overflow.
    #[must_use]
    pub fn room(&self) -> usize {
        self.waiting_max.saturating_sub(self.waiting())
    }

    /// Visits that were started and have not ended.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.leases.in_flight()
    }

    /// What was done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Bytes of memory held, apart from what the visits themselves point to.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let ready = self.ready.capacity() * size_of::<Ready<V>>();
        let tables = self.leases.bytes() + self.is_wake_planned.len();
        self.ring.bytes() + self.lines.bytes() + self.wakes.bytes() + ready + tables
    }

    /// How things stand with one server.
    #[must_use]
    pub fn explain(&self, key: ServerKey) -> Standing {
        let next_step = self.ring.next_unpromised_step(key);
        let free_at = self.leases.free_at(key);
        Standing {
            key,
            is_in_flight: free_at.is_none(),
            free_at,
            next_turn: self.ring.start_time(next_step, key),
            next_step,
            stride: self.ring.stride(key),
            interval: self.leases.interval(key),
            service_time: self.leases.service_time(key),
            hold_until: self.leases.hold_until(key),
            strikes: self.leases.strikes(key),
        }
    }

    /// Where a waiting visit stands, if one is what is looked for. Looks at all of them: for a person who asks.
    pub fn find(&self, is_it: impl Fn(&V) -> bool) -> Option<Place> {
        if let Some(turn) = self.ring.find(|booked| is_it(&booked.visit)) {
            return Some(Place::InRing { turn });
        }
        if self.ready.iter().any(|ready| is_it(&ready.booked.visit)) {
            return Some(Place::Ready);
        }
        self.lines
            .iter()
            .any(|booked| is_it(&booked.visit))
            .then_some(Place::InLine)
    }

    /// What the driver must store of the servers, and [`restore`](Self::restore) after a restart.
    pub fn server_states(&self) -> impl Iterator<Item = ServerState> {
        self.leases.states(self.now)
    }

    /// What the driver must store of one server, when its lease has changed.
    #[must_use]
    pub fn server_state(&self, key: ServerKey) -> ServerState {
        self.leases.state(key)
    }

    /// Goes on after a restart at `now`: servers are as they were stored, and each counts as visited until now, because
    /// the visits that were in flight at the end are not known.
    pub fn restore(&mut self, states: impl IntoIterator<Item = ServerState>) {
        for state in states {
            self.leases.restore(&state);
        }
        self.leases.rest_all(self.now);
        for number in 0..self.ring.keys() {
            self.pace(ServerKey::new(number));
        }
    }

    /// Takes over how a server stands with another scheduler that visits it, too.
    pub fn adopt(&mut self, state: &ServerState) {
        self.leases.restore(state);
        self.pace(state.key);
    }

    /// Moves what has fallen due to the ready visits: put-off visits first, they have waited longer.
    fn collect_due(&mut self, commands: &mut Vec<Command<V>>) {
        let now_step = self.ring.steps().step_of(self.now);
        while let Some(Entry { key, item: () }) = self.wakes.take_due(now_step) {
            self.is_wake_planned[key.index()] = false;
            self.tend(key, commands);
        }
        while let Some(due) = self.ring.take_due(self.now) {
            let not_before = self.ring.start_time(due.step, due.key);
            self.ready.push_back(Ready {
                key: due.key,
                booked: due.visit,
                not_before,
            });
        }
    }

    fn offer(&mut self, booked: Booked<V>, key: ServerKey, commands: &mut Vec<Command<V>>) {
        self.counters.offered += 1;
        self.make_way_for_line(key);
        let placed = match (self.room(), booked.kind) {
            (0, _) => Err(booked),
            (_, VisitKind::First) => self.ring.place(key, booked).map_err(|full| full.visit),
            (_, VisitKind::Revisit) => self
                .ring
                .place_revisit(key, booked)
                .map_err(|full| full.visit),
        };
        let Err(overflowed) = placed else {
            return;
        };
        self.counters.overflowed += 1;
        match (self.overflow, overflowed.kind) {
            // A known page is never forgotten.
            (Overflow::Defer, _) | (_, VisitKind::Revisit) => {
                self.defer(overflowed, key, commands);
            }
            (Overflow::Discard, VisitKind::First) => {
                self.counters.discarded += 1;
                let visit = overflowed.visit;
                commands.push(Command::Discard { visit });
            }
        }
    }

    fn take_back(&mut self, booked: Booked<V>, key: ServerKey, commands: &mut Vec<Command<V>>) {
        self.counters.returned += 1;
        self.make_way_for_line(key);
        let placed = match (self.room(), booked.kind) {
            (0, _) => Err(booked),
            (_, VisitKind::First) => self
                .ring
                .place_promised(key, booked)
                .map_err(|full| full.visit),
            (_, VisitKind::Revisit) => self
                .ring
                .place_promised_revisit(key, booked)
                .map_err(|full| full.visit),
        };
        if let Err(overflowed) = placed {
            self.counters.overflowed += 1;
            self.defer(overflowed, key, commands);
        }
    }

    /// Lets a visit stand in its server's line. A line that is as long as the ring covers takes nobody in: then it is a visit that comes back.
    fn join_line(&mut self, booked: Booked<V>, key: ServerKey, commands: &mut Vec<Command<V>>) {
        if self.room() == 0 || !self.ring.covers_turns(key, self.lines.len_of(key)) {
            return self.take_back(booked, key, commands);
        }
        self.counters.returned += 1;
        self.lines.push_back(key, booked);
        self.tend(key, commands);
    }

    /// Keeps the server's next turns for the visits in its line. So a line cannot grow longer than the ring covers, however
    /// long a visit drags on.
    fn make_way_for_line(&mut self, key: ServerKey) {
        let turns = self.lines.len_of(key);
        if 0 < turns {
            self.ring.reserve_turns(key, turns);
        }
    }

    /// Gives a visit back until the ring covers the next turn that its server has to give.
    fn defer(&mut self, booked: Booked<V>, key: ServerKey, commands: &mut Vec<Command<V>>) {
        let (due, visit) = (self.promise(key, booked.kind), booked.visit);
        trace!(now = %self.now, key = key.number(), %due, "visit deferred");
        commands.push(Command::Defer { visit, key, due });
    }

    /// Promises a server's next turn to a visit that waits outside; the moment when the ring covers it.
    fn promise(&mut self, key: ServerKey, kind: VisitKind) -> Time {
        self.counters.deferred += 1;
        let steps = self.ring.steps();
        // After a late tick the ring may not have caught up with `now` yet.
        let next_step_start = steps.start_of(steps.step_of(self.now) + 1);
        let promised = match kind {
            VisitKind::First => self.ring.promise(key),
            VisitKind::Revisit => self.ring.promise_revisit(key),
        };
        promised.max(next_step_start)
    }

    /// Starts ready visits, first come first served, as long as more may be in flight; lets those wait in line whose server is
    /// not free within this step.
    fn pump(&mut self, commands: &mut Vec<Command<V>>) {
        while self.leases.in_flight() < self.concurrency_max {
            let Some(Ready {
                key,
                booked,
                not_before,
            }) = self.ready.pop_front()
            else {
                return;
            };
            match self.free_within_this_step(key) {
                Some(free_at) => {
                    let at = not_before.max(free_at).max(self.now);
                    self.leases.start(key, at);
                    self.counters.started += 1;
                    let visit = booked.visit;
                    commands.push(Command::Start { visit, key, at });
                }
                None => self.wait_in_line(booked, key, commands),
            }
        }
    }

    fn wait_in_line(&mut self, booked: Booked<V>, key: ServerKey, commands: &mut Vec<Command<V>>) {
        self.counters.put_off += 1;
        self.lines.push_back(key, booked);
        self.tend(key, commands);
    }

    /// Looks at a server's line: makes its first visit ready if the server is free, or sees to it that the line is looked
    /// at again when it is.
    fn tend(&mut self, key: ServerKey, commands: &mut Vec<Command<V>>) {
        if self.lines.is_empty(key) {
            return;
        }
        let Some(free_at) = self.leases.free_at(key) else {
            return;
        };
        let free_step = self.ring.steps().step_of(free_at);
        if free_step <= self.wakes.now_step() {
            if let Some(booked) = self.lines.pop_front(key) {
                self.ready.push_back(Ready {
                    key,
                    booked,
                    not_before: free_at,
                });
            }
        } else if free_step < self.wakes.end_step() {
            if !self.is_wake_planned[key.index()] {
                self.is_wake_planned[key.index()] = true;
                self.wakes.insert(free_step, Entry { key, item: () });
            }
        } else {
            while let Some(booked) = self.lines.pop_front(key) {
                self.defer(booked, key, commands);
            }
        }
    }

    /// The moment from which the server may be visited, if that comes before this step is over.
    fn free_within_this_step(&self, key: ServerKey) -> Option<Time> {
        let free_at = self.leases.free_at(key)?;
        (self.ring.steps().step_of(free_at) <= self.ring.now_step()).then_some(free_at)
    }

    /// Fits the server's turns in the ring to its lease.
    fn pace(&mut self, key: ServerKey) {
        self.ring.set_cycle(key, self.leases.cycle(key));
        if let Some(free_at) = self.leases.free_at(key) {
            self.ring.reserve_until(key, free_at);
        }
    }
}

#[cfg(test)]
mod tests;
