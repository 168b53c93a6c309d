//! The scheduler against a model that remembers everything, and what it must do case by case.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;

use super::*;

const KEYS: u32 = 4;
const SECOND: Duration = Duration::from_secs(1);
const MILLI: Duration = Duration::from_millis(1);

fn key(number: u32) -> ServerKey {
    ServerKey::new(number)
}

fn politeness() -> PolitenessConfig {
    PolitenessConfig {
        interval: SECOND,
        ..PolitenessConfig::default()
    }
}

fn ring_config() -> RingConfig {
    RingConfig {
        slots: 64,
        keys: KEYS,
        ..RingConfig::default()
    }
}

/// A driver that carries out commands at once and remembers all that happened.
struct Driver {
    scheduler: Scheduler<u32>,
    now: Time,
    politeness: PolitenessConfig,
    step_length: Duration,
    concurrency_max: usize,
    offered: u32,
    /// Visits to known pages.
    revisits: BTreeSet<u32>,
    /// All fetches ever made.
    fetches: Vec<Fetch>,
    /// The fetch that each started visit led to.
    started: BTreeMap<u32, usize>,
    deferred: BTreeMap<u32, (ServerKey, Time)>,
    discarded: Vec<u32>,
    /// Before which moment a server must not be visited, by each rule that ever applied.
    not_before: BTreeMap<ServerKey, Vec<Time>>,
}

#[derive(Clone, Copy, Debug)]
struct Fetch {
    key: ServerKey,
    at: Time,
    /// The end from which the interval counts; none while in flight.
    end: Option<Time>,
    /// Whether the server noticed anything.
    is_seen: bool,
}

impl Driver {
    fn new(ring: &RingConfig, overflow: Overflow, concurrency_max: usize) -> Driver {
        Driver::with_politeness(ring, politeness(), overflow, concurrency_max)
    }

    fn with_politeness(
        ring: &RingConfig,
        politeness: PolitenessConfig,
        overflow: Overflow,
        concurrency_max: usize,
    ) -> Driver {
        Driver {
            scheduler: Scheduler::new(
                ring,
                politeness.clone(),
                overflow,
                concurrency_max,
                Time::EPOCH,
            ),
            now: Time::EPOCH,
            step_length: ring.step_length(politeness.interval),
            politeness,
            concurrency_max,
            offered: 0,
            revisits: BTreeSet::new(),
            fetches: Vec::new(),
            started: BTreeMap::new(),
            deferred: BTreeMap::new(),
            discarded: Vec::new(),
            not_before: BTreeMap::new(),
        }
    }

    fn step(&mut self, event: Event<u32>) {
        let mut commands = Vec::new();
        self.scheduler.step(self.now, event, &mut commands);
        for command in commands {
            match command {
                Command::Start { visit, key, at } => self.start(visit, key, at),
                Command::Defer { visit, key, due } => {
                    assert!(self.now < due, "a deferred visit comes back later");
                    assert!(self.deferred.insert(visit, (key, due)).is_none());
                }
                Command::Discard { visit } => self.discarded.push(visit),
            }
        }
        self.check_books();
    }

    /// Checks promise 1 against the full history.
    fn start(&mut self, visit: u32, key: ServerKey, at: Time) {
        assert!(self.now <= at, "a start lies in the past");
        assert!(
            at < self.now + self.step_length,
            "a start is more than a step ahead"
        );
        let interval = self.politeness.interval;
        for earlier in self.fetches.iter().filter(|earlier| earlier.key == key) {
            let end = earlier.end.expect("two visits in flight to one server");
            assert!(
                !earlier.is_seen || end + interval <= at,
                "visited at {at}, after {end}"
            );
        }
        for not_before in self.not_before.get(&key).into_iter().flatten() {
            assert!(
                *not_before <= at,
                "visited at {at}, during a hold until {not_before}"
            );
        }
        let is_new = self.started.insert(visit, self.fetches.len()).is_none();
        assert!(is_new, "visit {visit} started twice");
        self.fetches.push(Fetch {
            key,
            at,
            end: None,
            is_seen: true,
        });
    }

    /// Every visit that came in is in one place.
    fn check_books(&self) {
        let in_flight = self.in_flight().count();
        assert!(in_flight <= self.concurrency_max);
        assert_eq!(self.scheduler.in_flight(), in_flight);
        let gone = self.started.len() + self.deferred.len() + self.discarded.len();
        assert_eq!(self.scheduler.waiting() + gone, self.offered as usize);
    }

    fn fetch_of(&self, visit: u32) -> Fetch {
        self.fetches[self.started[&visit]]
    }

    fn in_flight(&self) -> impl Iterator<Item = (u32, Fetch)> {
        let fetches = self
            .started
            .iter()
            .map(|(id, fetch)| (*id, self.fetches[*fetch]));
        fetches.filter(|(_, fetch)| fetch.end.is_none())
    }

    fn offer(&mut self, key: ServerKey) {
        let visit = self.offered;
        self.offered += 1;
        self.step(Event::Offer {
            visit,
            key,
            kind: self.kind_of(visit),
        });
    }

    fn offer_revisit(&mut self, key: ServerKey) {
        self.revisits.insert(self.offered);
        self.offer(key);
    }

    fn kind_of(&self, visit: u32) -> VisitKind {
        if self.revisits.contains(&visit) {
            VisitKind::Revisit
        } else {
            VisitKind::First
        }
    }

    fn end(&mut self, visit: u32, report: EndReport) {
        let fetch = &mut self.fetches[self.started[&visit]];
        let key = fetch.key;
        let at = self.now.max(fetch.at);
        self.now = at;
        let mut end = at;
        match report {
            EndReport::Answered { .. } | EndReport::Failed => {}
            EndReport::Unvisited => fetch.is_seen = false,
            EndReport::Aborted => end = at + self.politeness.abort_slack,
            EndReport::Overloaded { retry_after } => {
                let hold = retry_after.unwrap_or(self.politeness.backoff_first);
                self.not_before.entry(key).or_default().push(at + hold);
            }
        }
        fetch.end = Some(end);
        self.step(Event::Ended { key, at, report });
    }

    /// The visit's turn goes to another fetch, which has ended now; the visit itself waits again.
    fn end_of_another_fetch(&mut self, visit: u32) {
        let key = self.fetch_of(visit).key;
        self.end(visit, EndReport::Answered { duration: MILLI });
        self.started.remove(&visit);
        self.step(Event::Again {
            visit,
            key,
            kind: self.kind_of(visit),
        });
    }

    /// The visit finds its host at another server when its turn has come.
    fn move_to(&mut self, visit: u32, key: ServerKey) {
        self.end(visit, EndReport::Unvisited);
        self.started.remove(&visit);
        self.step(Event::Moved {
            visit,
            key,
            kind: self.kind_of(visit),
        });
    }

    fn hold(&mut self, key: ServerKey, until: Time) {
        self.not_before.entry(key).or_default().push(until);
        self.step(Event::Hold { key, until });
    }

    /// Gives back the deferred visits that are due, whether there is room for them or not.
    fn give_back(&mut self) {
        let due = self
            .deferred
            .iter()
            .filter(|(_, (_, due))| *due <= self.now);
        let due: Vec<u32> = due.map(|(visit, _)| *visit).collect();
        for visit in due {
            self.give_back_one(visit);
        }
    }

    fn give_back_one(&mut self, visit: u32) {
        let (key, _) = self.deferred.remove(&visit).unwrap();
        self.step(Event::Return {
            visit,
            key,
            kind: self.kind_of(visit),
        });
    }

    /// The deferred visit that is due first, if there is room for one.
    fn next_to_give_back(&self) -> Option<(Time, u32)> {
        let due = self
            .deferred
            .iter()
            .map(|(visit, (_, due))| (*due, *visit))
            .min();
        due.filter(|_| 0 < self.scheduler.room())
    }

    /// Lets everything happen in its time, each visit taking `service_time`, until nothing is left to do.
    fn run_to_the_end(&mut self, service_time: Duration) {
        let rounds_max = 40 * (self.offered as usize + 1);
        for _ in 0..rounds_max {
            let next_end = self
                .in_flight()
                .map(|(id, visit)| (visit.at + service_time, id))
                .min();
            let next_due = self.next_to_give_back().map(|(due, _)| due);
            let next_tick = self.scheduler.next_wake();
            let Some(next) = [next_end.map(|(end, _)| end), next_due, next_tick]
                .into_iter()
                .flatten()
                .min()
            else {
                assert_eq!(
                    self.scheduler.waiting(),
                    0,
                    "visits wait, and nothing will happen"
                );
                return;
            };
            self.now = self.now.max(next);
            while let Some((_, visit)) =
                self.next_to_give_back().filter(|(due, _)| *due <= self.now)
            {
                self.give_back_one(visit);
            }
            match next_end {
                Some((end, id)) if end <= self.now => self.end(
                    id,
                    EndReport::Answered {
                        duration: service_time,
                    },
                ),
                Some(_) | None => self.step(Event::Tick),
            }
        }
        panic!("no end after {rounds_max} rounds");
    }
}

#[derive(Clone, Debug)]
enum Op {
    Offer(u32),
    OfferMany(u32, u8),
    OfferRevisit(u32),
    SetRevisitInterval(u32, Duration),
    Wait(Duration),
    End(usize, EndReport),
    EndOfAnotherFetch(usize),
    MoveTo(usize, u32),
    GiveBack,
    Hold(u32, Duration),
    Tick,
}

fn any_duration(max: Duration) -> impl Strategy<Value = Duration> {
    let max = u64::try_from(max.as_micros()).unwrap();
    prop_oneof![
        (0..=max).prop_map(Duration::from_micros),
        (0..=max / 1000).prop_map(Duration::from_micros)
    ]
}

fn any_report() -> impl Strategy<Value = EndReport> {
    prop_oneof![
        4 => any_duration(3 * SECOND).prop_map(|duration| EndReport::Answered { duration }),
        1 => Just(EndReport::Unvisited),
        1 => Just(EndReport::Aborted),
        1 => Just(EndReport::Failed),
        1 => prop::option::of(any_duration(60 * SECOND)).prop_map(|retry_after| EndReport::Overloaded { retry_after }),
    ]
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0..KEYS).prop_map(Op::Offer),
        1 => (0..KEYS, 0_u8..40).prop_map(|(key, count)| Op::OfferMany(key, count)),
        4 => (0..KEYS).prop_map(Op::OfferRevisit),
        1 => (0..KEYS, any_duration(15 * SECOND)).prop_map(|(key, interval)| Op::SetRevisitInterval(key, interval)),
        6 => any_duration(2 * SECOND).prop_map(Op::Wait),
        1 => any_duration(100 * SECOND).prop_map(Op::Wait),
        6 => (any::<usize>(), any_report()).prop_map(|(index, report)| Op::End(index, report)),
        1 => any::<usize>().prop_map(Op::EndOfAnotherFetch),
        2 => (any::<usize>(), 0..KEYS).prop_map(|(index, key)| Op::MoveTo(index, key)),
        2 => Just(Op::GiveBack),
        1 => (0..KEYS, any_duration(20 * SECOND)).prop_map(|(key, length)| Op::Hold(key, length)),
        4 => Just(Op::Tick),
    ]
}

fn pick_in_flight(driver: &Driver, index: usize) -> Option<u32> {
    let in_flight: Vec<u32> = driver.in_flight().map(|(id, _)| id).collect();
    in_flight.get(index.checked_rem(in_flight.len())?).copied()
}

fn run(driver: &mut Driver, ops: Vec<Op>) {
    for op in ops {
        match op {
            Op::Offer(number) => driver.offer(key(number)),
            Op::OfferMany(number, count) => (0..count).for_each(|_| driver.offer(key(number))),
            Op::OfferRevisit(number) => driver.offer_revisit(key(number)),
            Op::SetRevisitInterval(number, interval) => {
                let key = key(number);
                driver.step(Event::SetRevisitInterval { key, interval });
            }
            Op::Wait(duration) => driver.now = driver.now + duration,
            Op::End(index, report) => {
                if let Some(visit) = pick_in_flight(driver, index) {
                    driver.end(visit, report);
                }
            }
            Op::EndOfAnotherFetch(index) => {
                if let Some(visit) = pick_in_flight(driver, index) {
                    driver.end_of_another_fetch(visit);
                }
            }
            Op::MoveTo(index, number) => {
                if let Some(visit) = pick_in_flight(driver, index) {
                    driver.move_to(visit, key(number));
                }
            }
            Op::GiveBack => driver.give_back(),
            Op::Hold(number, length) => driver.hold(key(number), driver.now + length),
            Op::Tick => driver.step(Event::Tick),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn whatever_happens_servers_are_treated_politely_and_no_visit_is_lost(
        ops in prop::collection::vec(any_op(), 0..200),
        concurrency_max in 1_usize..5,
        waiting_max in prop_oneof![Just(10_usize), Just(1000)],
        interval in prop_oneof![2 => Just(SECOND), 1 => Just(Duration::ZERO), 1 => Just(7 * MILLI)],
        overflow in prop_oneof![Just(Overflow::Defer), Just(Overflow::Discard)],
    ) {
        let config = RingConfig { waiting_max, ..ring_config() };
        let politeness = PolitenessConfig { interval, ..PolitenessConfig::default() };
        let mut driver = Driver::with_politeness(&config, politeness, overflow, concurrency_max);
        run(&mut driver, ops);
        driver.run_to_the_end(200 * MILLI);
        prop_assert!(driver.deferred.is_empty());
        prop_assert_eq!(driver.started.len() + driver.discarded.len(), driver.offered as usize);
    }

    #[test]
    fn the_same_events_give_the_same_commands(ops in prop::collection::vec(any_op(), 0..100)) {
        let mut one = Driver::new(&ring_config(), Overflow::Defer, 2);
        let mut other = Driver::new(&ring_config(), Overflow::Defer, 2);
        run(&mut one, ops.clone());
        run(&mut other, ops);
        prop_assert_eq!(format!("{:?}", one.fetches), format!("{:?}", other.fetches));
        prop_assert_eq!(one.started, other.started);
        prop_assert_eq!(one.deferred, other.deferred);
    }
}

/// The moments at which the visits to one server started, in milliseconds and the order of offers.
fn starts_ms(driver: &Driver, server: ServerKey) -> Vec<u64> {
    let starts = driver.started.keys().map(|visit| driver.fetch_of(*visit));
    starts
        .filter(|fetch| fetch.key == server)
        .map(|fetch| fetch.at.as_micros() / 1000)
        .collect()
}

#[test]
fn a_lone_visit_starts_in_the_next_step_at_its_servers_phase() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 9);
    driver.offer(key(3));
    assert_eq!(
        driver.scheduler.next_wake(),
        Some(Time::from_micros(100_000))
    );
    driver.run_to_the_end(Duration::ZERO);
    assert_eq!(starts_ms(&driver, key(3)), [175]);
}

#[test]
fn a_server_is_visited_in_the_order_of_offers_one_cycle_apart() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 9);
    (0..5).for_each(|_| driver.offer(key(0)));
    driver.run_to_the_end(200 * MILLI);
    assert_eq!(starts_ms(&driver, key(0)), [100, 1300, 2500, 3700, 4900]);
}

#[test]
fn a_busy_server_is_visited_nearly_as_often_as_allowed() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 9);
    (0..400).for_each(|_| driver.offer(key(1)));
    driver.run_to_the_end(350 * MILLI);
    let starts = starts_ms(&driver, key(1));
    let took = *starts.iter().max().unwrap() - *starts.iter().min().unwrap();
    let ideal = 399 * 1350;
    assert!(ideal <= took, "impolite");
    assert!(
        took <= ideal * 106 / 100,
        "took {took} ms instead of {ideal} ms"
    );
}

#[test]
fn a_visit_that_drags_on_lets_no_crowd_gather() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 9);
    for _ in 0..10_000 {
        driver.now = driver.now + 50 * MILLI;
        driver.offer(key(0));
    }
    assert_eq!(driver.in_flight().count(), 1);
    let turns_in_ring = 64 / 11;
    assert!(
        driver.scheduler.waiting() <= 2 * turns_in_ring,
        "{} wait",
        driver.scheduler.waiting()
    );
}

#[test]
fn deferred_visits_keep_their_order_and_go_ahead_of_new_ones() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 9);
    // Of 64 steps of 100 ms, 56 are for new visits, and these are 11 steps apart.
    (0..20).for_each(|_| driver.offer(key(0)));
    assert_eq!(driver.deferred.len(), 15);
    driver.now = Time::EPOCH + SECOND;
    driver.offer(key(0));
    assert!(
        driver.deferred.contains_key(&20),
        "a new visit does not overtake the deferred ones"
    );
    driver.run_to_the_end(MILLI);
    let starts = starts_ms(&driver, key(0));
    assert!(starts.is_sorted(), "{starts:?}");
    assert_eq!(
        driver.scheduler.counters().deferred,
        16,
        "each comes back once"
    );
}

#[test]
fn a_new_visit_beyond_the_ring_is_discarded_where_so_configured() {
    let mut driver = Driver::new(&ring_config(), Overflow::Discard, 9);
    (0..20).for_each(|_| driver.offer(key(0)));
    assert_eq!(driver.discarded, (5..20).collect::<Vec<_>>());
    assert_eq!(driver.scheduler.counters().overflowed, 15);
}

#[test]
fn after_a_long_sleep_no_server_gets_a_burst() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 9);
    (0..5).for_each(|_| driver.offer(key(0)));
    (0..5).for_each(|_| driver.offer(key(1)));
    driver.now = Time::EPOCH + 3600 * SECOND;
    driver.step(Event::Tick);
    assert_eq!(driver.in_flight().count(), 2);
    assert_eq!(driver.scheduler.waiting(), 8);
    driver.run_to_the_end(MILLI);
    let gaps: Vec<u64> = starts_ms(&driver, key(0))
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .collect();
    assert_eq!(gaps, [1001; 4]);
}

#[test]
fn visits_beyond_the_concurrency_start_in_order_as_others_end() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 1);
    (0..4).for_each(|number| driver.offer(key(number)));
    driver.now = Time::EPOCH + 150 * MILLI;
    driver.step(Event::Tick);
    for visit in 0..4 {
        assert_eq!(
            driver.in_flight().map(|(id, _)| id).collect::<Vec<_>>(),
            [visit]
        );
        driver.end(visit, EndReport::Answered { duration: MILLI });
    }
}

#[test]
fn a_visit_that_gave_its_turn_away_is_the_first_in_line() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 9);
    (0..3).for_each(|_| driver.offer(key(0)));
    driver.now = Time::EPOCH + 100 * MILLI;
    driver.step(Event::Tick);
    driver.end_of_another_fetch(0);
    driver.run_to_the_end(MILLI);
    assert_eq!(driver.fetches.len(), 4);
    let starts = starts_ms(&driver, key(0));
    assert!(starts.is_sorted(), "{starts:?}");
}

#[test]
fn a_visit_whose_host_has_moved_goes_behind_those_whose_turn_has_come_alone() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 9);
    driver.offer(key(0));
    (0..20).for_each(|_| driver.offer(key(1)));
    driver.now = Time::EPOCH + 199 * MILLI;
    driver.step(Event::Tick);
    // The first visit to server 1 is under way; the others have turns to come, or wait for one.
    driver.move_to(0, key(1));
    driver.run_to_the_end(MILLI);
    let starts = starts_ms(&driver, key(1));
    assert_eq!(
        starts.iter().filter(|start| **start < starts[0]).count(),
        1,
        "{starts:?}"
    );
}

#[test]
fn a_host_that_moves_from_one_busy_server_to_the_next_is_visited_in_the_end() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 9);
    for number in 0..KEYS {
        (0..40).for_each(|_| driver.offer(key(number)));
    }
    let moving = driver.offered;
    driver.offer(key(0));
    // It is found elsewhere each time its turn comes, and each server always has more to visit.
    let mut waits = Vec::new();
    let mut since = driver.now;
    while waits.len() < 8 {
        driver.now = driver.now + 100 * MILLI;
        driver.give_back();
        driver.step(Event::Tick);
        let ended: Vec<u32> = driver.in_flight().map(|(visit, _)| visit).collect();
        for visit in ended {
            if visit != moving {
                let server = driver.fetch_of(visit).key;
                driver.end(visit, EndReport::Answered { duration: MILLI });
                driver.offer(server);
                continue;
            }
            let next = key((driver.fetch_of(visit).key.number() + 1) % KEYS);
            waits.push(driver.now.saturating_duration_since(since));
            since = driver.now;
            driver.move_to(visit, next);
        }
    }
    let (first, later) = waits.split_first().unwrap();
    assert!(20 * SECOND < *first, "the servers are busy: {first:?}");
    assert!(
        later.iter().all(|wait| *wait < 4 * SECOND),
        "a move costs a turn or two, not the whole wait again: {waits:?}"
    );
}

#[test]
fn a_line_of_moved_visits_is_no_longer_than_the_ring() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 999);
    driver.offer(key(1));
    driver.now = Time::EPOCH + 199 * MILLI;
    driver.step(Event::Tick);
    for visit in 1..100 {
        driver.offer(key(0));
        while !driver.started.contains_key(&visit) {
            driver.now = driver.now + 100 * MILLI;
            driver.give_back();
            driver.step(Event::Tick);
        }
        driver.move_to(visit, key(1));
    }
    let turns_in_ring = 64 / 11;
    assert!(
        driver.scheduler.waiting() <= 2 * turns_in_ring,
        "{} wait",
        driver.scheduler.waiting()
    );
    driver.run_to_the_end(MILLI);
}

#[test]
fn after_a_restart_every_server_is_left_alone_for_an_interval() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 9);
    let hold_until = Time::EPOCH + 30 * SECOND;
    driver.hold(key(2), hold_until);
    let stored: Vec<ServerState> = driver.scheduler.server_states().collect();
    assert_eq!(
        stored.iter().map(|state| state.key).collect::<Vec<_>>(),
        [key(2)]
    );

    let mut restarted = Driver::new(&ring_config(), Overflow::Defer, 9);
    restarted.scheduler.restore(stored);
    (0..3).for_each(|number| restarted.offer(key(number)));
    restarted.run_to_the_end(MILLI);
    // The interval, and the slack for connections that were cut.
    assert_eq!(starts_ms(&restarted, key(0)), [2000]);
    assert_eq!(starts_ms(&restarted, key(1)), [2025]);
    assert_eq!(starts_ms(&restarted, key(2)), [30_050]);
}

#[test]
fn it_explains_how_things_stand_with_a_server() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 9);
    driver.offer(key(0));
    driver.now = Time::EPOCH + 100 * MILLI;
    driver.step(Event::Tick);
    let in_flight = driver.scheduler.explain(key(0));
    assert!(in_flight.is_in_flight);
    assert_eq!(in_flight.free_at, None);
    driver.end(
        0,
        EndReport::Overloaded {
            retry_after: Some(7 * SECOND),
        },
    );
    let held = driver.scheduler.explain(key(0));
    assert_eq!(held.free_at, Some(Time::EPOCH + 7100 * MILLI));
    assert_eq!(held.next_turn, Time::EPOCH + 7100 * MILLI);
    assert_eq!(
        (held.interval, held.strikes, held.stride),
        (2 * SECOND, 1, 21)
    );
}

#[test]
fn memory_for_a_hundred_thousand_waiting_visits_is_bounded() {
    let config = RingConfig::default();
    let mut scheduler = Scheduler::<u64>::new(
        &config,
        PolitenessConfig::default(),
        Overflow::Discard,
        9,
        Time::EPOCH,
    );
    let tables = scheduler.bytes();
    let mut commands = Vec::new();
    for visit in 0..200_000_u32 {
        let key = key(visit.wrapping_mul(2_654_435_761) % config.keys);
        scheduler.step(
            Time::EPOCH,
            Event::Offer {
                visit: u64::from(visit),
                key,
                kind: VisitKind::First,
            },
            &mut commands,
        );
    }
    assert_eq!(scheduler.waiting(), config.waiting_max);
    assert_eq!(commands.len(), 100_000, "the rest overflows");
    assert!(
        tables <= 200 * config.keys as usize,
        "{tables} bytes of tables"
    );
    let per_visit = (scheduler.bytes() - tables) / config.waiting_max;
    assert!(per_visit <= 32, "{per_visit} bytes for each waiting visit");
}

/// Turns of a server that the ring of these tests covers: who comes first may book them all.
const TURNS_COVERED: usize = 6;

/// How many of the first `count` fetches of a server were of known pages.
fn revisits_among(driver: &Driver, count: usize) -> usize {
    let mut started: Vec<(usize, u32)> = driver.started.iter().map(|(id, at)| (*at, *id)).collect();
    started.sort_unstable();
    let revisits = started
        .iter()
        .take(count)
        .filter(|(_, visit)| driver.revisits.contains(visit));
    revisits.count()
}

#[test]
fn new_and_known_pages_have_half_of_a_servers_turns_each() {
    // More of each than are looked at, whichever come first: so neither has more because the other has run out.
    for offers in [
        [Driver::offer, Driver::offer_revisit],
        [Driver::offer_revisit, Driver::offer],
    ] {
        let mut driver = Driver::new(&ring_config(), Overflow::Defer, 1);
        for offer in offers {
            for _ in 0..200 {
                offer(&mut driver, key(0));
            }
        }
        driver.run_to_the_end(MILLI);
        assert_eq!(driver.fetches.len(), 400);
        for count in [20, 80, 160] {
            let booked = revisits_among(&driver, TURNS_COVERED);
            let revisits = revisits_among(&driver, TURNS_COVERED + count) - booked;
            assert!(revisits.abs_diff(count / 2) <= 1, "{revisits} of {count}");
        }
    }
}

#[test]
fn turns_that_new_pages_leave_unused_are_lent_to_known_ones_and_back() {
    for offer in [Driver::offer, Driver::offer_revisit] {
        let mut driver = Driver::new(&ring_config(), Overflow::Defer, 1);
        for _ in 0..20 {
            offer(&mut driver, key(0));
        }
        driver.run_to_the_end(MILLI);
        let last = driver.fetches.iter().map(|fetch| fetch.at).max();
        assert!(last < Some(Time::EPOCH + 23 * SECOND), "at {last:?}");
    }
}

#[test]
fn a_known_page_is_deferred_behind_known_ones_alone_and_never_discarded() {
    let mut driver = Driver::new(&ring_config(), Overflow::Discard, 1);
    for _ in 0..100 {
        driver.offer(key(0));
    }
    for _ in 0..20 {
        driver.offer_revisit(key(0));
    }
    assert!(driver.discarded.iter().all(|visit| *visit < 100));
    let last = driver.deferred.values().map(|(_, due)| *due).max();
    // Twenty known pages, every other turn of about a second each.
    assert!(last < Some(Time::EPOCH + 45 * SECOND), "due at {last:?}");
}

#[test]
fn known_pages_keep_the_distance_that_is_set_for_them() {
    let mut driver = Driver::new(&ring_config(), Overflow::Defer, 1);
    let interval = 4 * SECOND;
    driver.step(Event::SetRevisitInterval {
        key: key(0),
        interval,
    });
    for _ in 0..10 {
        driver.offer_revisit(key(0));
    }
    driver.run_to_the_end(MILLI);
    let mut starts: Vec<Time> = driver.fetches.iter().map(|fetch| fetch.at).collect();
    starts.sort_unstable();
    assert!(
        starts
            .windows(2)
            .all(|pair| pair[0] + interval.saturating_sub(driver.step_length) <= pair[1])
    );
}

#[test]
fn a_visit_that_is_deferred_unseen_has_the_turn_that_it_would_have_been_deferred_to() {
    let mut offering: Scheduler<u32> = Scheduler::new(
        &ring_config(),
        politeness(),
        Overflow::Defer,
        9,
        Time::EPOCH,
    );
    let mut other = offering.clone();
    let (mut commands, mut deferred) = (Vec::new(), 0);
    for visit in 0..200 {
        let now = Time::EPOCH + visit * MILLI;
        let key = key(visit % 2);
        let offer = |visit| Event::Offer {
            visit,
            key,
            kind: VisitKind::First,
        };
        commands.clear();
        offering.step(now, offer(visit), &mut commands);
        let due = commands.iter().find_map(|command| match command {
            Command::Defer { due, .. } => Some(*due),
            Command::Start { .. } | Command::Discard { .. } => None,
        });
        if other.is_out_of_turns(key) {
            assert_eq!(Some(other.defer_unseen(now, key)), due);
            deferred += 1;
        } else {
            assert_eq!(due, None, "visit {visit}");
            other.step(now, offer(visit), &mut Vec::new());
        }
    }
    assert!(0 < deferred && deferred < 200);
    assert_eq!(other.counters().deferred, deferred);
    assert_eq!(other.counters().offered, offering.counters().offered);
    assert_eq!(other.counters().overflowed, offering.counters().overflowed);
}
