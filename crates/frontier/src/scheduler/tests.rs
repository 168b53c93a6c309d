//! The scheduler against a model that remembers everything, and what it must do case by case.

use std::collections::BTreeMap;

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
    concurrency_max: usize,
    offered: u32,
    started: BTreeMap<u32, Visit>,
    deferred: BTreeMap<u32, (ServerKey, Time)>,
    discarded: Vec<u32>,
    intervals: BTreeMap<ServerKey, Duration>,
    /// Before which moment a server must not be visited, by each rule that ever applied.
    not_before: BTreeMap<ServerKey, Vec<Time>>,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    key: ServerKey,
    at: Time,
    /// The end from which the interval counts; none while in flight.
    end: Option<Time>,
    /// Whether the server noticed anything.
    is_seen: bool,
}

impl Driver {
    fn new(ring: &RingConfig, overflow: Overflow, concurrency_max: usize) -> Driver {
        let politeness = politeness();
        Driver {
            scheduler: Scheduler::new(
                ring,
                politeness.clone(),
                overflow,
                concurrency_max,
                Time::EPOCH,
            ),
            now: Time::EPOCH,
            politeness,
            concurrency_max,
            offered: 0,
            started: BTreeMap::new(),
            deferred: BTreeMap::new(),
            discarded: Vec::new(),
            intervals: BTreeMap::new(),
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
        let interval = self
            .intervals
            .get(&key)
            .copied()
            .unwrap_or_default()
            .max(self.politeness.interval);
        for earlier in self.started.values().filter(|earlier| earlier.key == key) {
            let end = earlier.end.expect("two visits in flight to one server");
            assert!(
                !earlier.is_seen || end + interval <= at,
                "visited {at}, after {end}"
            );
        }
        for not_before in self.not_before.get(&key).into_iter().flatten() {
            assert!(
                *not_before <= at,
                "visited at {at}, during a hold until {not_before}"
            );
        }
        let is_new = self
            .started
            .insert(
                visit,
                Visit {
                    key,
                    at,
                    end: None,
                    is_seen: true,
                },
            )
            .is_none();
        assert!(is_new, "visit {visit} started twice");
    }

    /// Every visit that came in is in one place.
    fn check_books(&self) {
        let in_flight = self.in_flight().count();
        assert!(in_flight <= self.concurrency_max);
        assert_eq!(self.scheduler.in_flight(), in_flight);
        let gone = self.started.len() + self.deferred.len() + self.discarded.len();
        assert_eq!(self.scheduler.waiting() + gone, self.offered as usize);
    }

    fn in_flight(&self) -> impl Iterator<Item = (u32, Visit)> {
        self.started
            .iter()
            .filter(|(_, visit)| visit.end.is_none())
            .map(|(id, visit)| (*id, *visit))
    }

    fn offer(&mut self, key: ServerKey) {
        let visit = self.offered;
        self.offered += 1;
        self.step(Event::Offer { visit, key });
    }

    fn end(&mut self, visit: u32, report: EndReport) {
        let at = self.now.max(self.started[&visit].at);
        self.now = at;
        let mut end = at;
        let visit = self.started.get_mut(&visit).unwrap();
        let key = visit.key;
        match report {
            EndReport::Answered { .. } | EndReport::Failed => {}
            EndReport::Unvisited => visit.is_seen = false,
            EndReport::Aborted => end = at + self.politeness.abort_slack,
            EndReport::Overloaded { retry_after } => {
                let hold = retry_after
                    .unwrap_or(self.politeness.backoff_first)
                    .min(self.politeness.retry_after_max);
                self.not_before.entry(key).or_default().push(at + hold);
            }
        }
        visit.end = Some(end);
        self.step(Event::Ended { key, at, report });
    }

    fn hold(&mut self, key: ServerKey, until: Time) {
        self.not_before.entry(key).or_default().push(until);
        self.step(Event::Hold { key, until });
    }

    fn set_interval(&mut self, key: ServerKey, interval: Duration) {
        self.intervals.insert(key, interval);
        self.step(Event::SetInterval { key, interval });
    }

    /// Gives back the deferred visits that are due.
    fn give_back(&mut self) {
        let due: Vec<u32> = self
            .deferred
            .iter()
            .filter(|(_, (_, due))| *due <= self.now)
            .map(|(id, _)| *id)
            .collect();
        for visit in due {
            let (key, _) = self.deferred.remove(&visit).unwrap();
            self.step(Event::Return { visit, key });
        }
    }

    /// Lets everything happen in its time, each visit taking `service_time`, until nothing is left to do.
    fn run_to_the_end(&mut self, service_time: Duration) {
        let rounds_max = 40 * (self.offered as usize + 1);
        for _ in 0..rounds_max {
            let next_end = self
                .in_flight()
                .map(|(id, visit)| (visit.at + service_time, id))
                .min();
            let next_due = self.deferred.values().map(|(_, due)| *due).min();
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
            self.give_back();
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
    Wait(Duration),
    End(usize, EndReport),
    GiveBack,
    Hold(u32, Duration),
    SetInterval(u32, Duration),
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
        6 => any_duration(2 * SECOND).prop_map(Op::Wait),
        1 => any_duration(100 * SECOND).prop_map(Op::Wait),
        6 => (any::<usize>(), any_report()).prop_map(|(index, report)| Op::End(index, report)),
        2 => Just(Op::GiveBack),
        1 => (0..KEYS, any_duration(20 * SECOND)).prop_map(|(key, length)| Op::Hold(key, length)),
        1 => (0..KEYS, any_duration(15 * SECOND)).prop_map(|(key, interval)| Op::SetInterval(key, interval)),
        4 => Just(Op::Tick),
    ]
}

fn run(driver: &mut Driver, ops: Vec<Op>) {
    for op in ops {
        match op {
            Op::Offer(number) => driver.offer(key(number)),
            Op::OfferMany(number, count) => (0..count).for_each(|_| driver.offer(key(number))),
            Op::Wait(duration) => driver.now = driver.now + duration,
            Op::End(index, report) => {
                let in_flight: Vec<u32> = driver.in_flight().map(|(id, _)| id).collect();
                if !in_flight.is_empty() {
                    driver.end(in_flight[index % in_flight.len()], report);
                }
            }
            Op::GiveBack => driver.give_back(),
            Op::Hold(number, length) => driver.hold(key(number), driver.now + length),
            Op::SetInterval(number, interval) => driver.set_interval(key(number), interval),
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
        overflow in prop_oneof![Just(Overflow::Defer), Just(Overflow::Discard)],
    ) {
        let config = RingConfig { waiting_max, ..ring_config() };
        let mut driver = Driver::new(&config, overflow, concurrency_max);
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
        prop_assert_eq!(format!("{:?}", one.started), format!("{:?}", other.started));
        prop_assert_eq!(one.deferred, other.deferred);
    }
}
