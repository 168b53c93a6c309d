//! The short-term queue: gives each visit a step at which its server may be visited, in constant time.
//!
//! The scheduler places visits and takes them when their step has come. Read [`Ring`] first; [`OneStepRing`] is the rule of
//! Morimoto et al. (2011) to the letter, for the lab's comparisons.
//!
//! After the O(1) scheduler of Morimoto et al. (2011), algorithms 2 and 3. Departures: each server has a stride of its own
//! instead of 2; a server starts at its own phase within a step instead of all at once; nothing waits for the slowest
//! download, because a lease at dispatch has the last word.
//!
//! # Notation
//! *B*: `slots`; *H*: `keys`; *N\[r\]*: `next_step`; *t*: `now_step`; *T*: the step length.
//!
//! Not here: whether the server may be visited when the step has come (`lease`).

mod config;
mod one_step;
mod wheel;

use std::time::Duration;

pub use self::config::RingConfig;
pub use self::one_step::{Discarded, OneStepRing, OneStepRingConfig, OneStepRule};
pub(crate) use self::wheel::{Entry, Wheel};
use crate::server::ServerKey;
use crate::time::{Time, micros_rounded_up};

/// Steps of equal length since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps {
    length_us: u64,
}

impl Steps {
    /// Steps of `length`, within a microsecond and what keeps phases within 64 bits: 71 minutes.
    pub(crate) fn new(length: Duration) -> Steps {
        Steps {
            length_us: micros_rounded_up(length).clamp(1, u64::from(u32::MAX)),
        }
    }

    /// The step that `time` lies in.
    pub(crate) fn step_of(self, time: Time) -> u64 {
        time.as_micros() / self.length_us
    }

    /// The moment when `step` begins.
    pub(crate) fn start_of(self, step: u64) -> Time {
        Time::from_micros(step.saturating_mul(self.length_us))
    }

    /// How many steps `duration` takes, begun ones counted whole.
    pub(crate) fn count_in(self, duration: Duration) -> u64 {
        micros_rounded_up(duration).div_ceil(self.length_us)
    }
}

/// The part of the ring that is kept for visits that come back: one in eight steps, the last ones.
///
/// A step was promised to them at the pace of that time. If their server has become slower, its steps are taken further
/// ahead than was foreseen, and they still must find one.
const KEPT_DIVISOR: u64 = 8;

/// Visits that wait for their step: each of the servers gets one step per stride.
#[derive(Clone, Debug)]
pub struct Ring<V> {
    wheel: Wheel<V>,
    servers: Box<[ServerTurns]>,
    steps: Steps,
}

/// Which steps of one server are taken.
#[derive(Clone, Copy, Debug)]
struct ServerTurns {
    /// The first step that is free.
    next_step: u64,
    /// The first step that is not promised to a visit outside of the ring.
    promised_until: u64,
    /// Behind the last step that a new page has taken.
    new_until: u64,
    /// Steps from one visit to the next.
    stride: u32,
    revisits: RevisitTurns,
}

/// Which steps of one server are taken by known pages.
#[derive(Clone, Copy, Debug, Default)]
struct RevisitTurns {
    /// The first step that they may take.
    next_step: u64,
    /// The first step that is not promised to one of them outside of the ring.
    promised_until: u64,
    /// Least steps from one to the next.
    stride_min: u32,
}

/// A visit whose step has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due<V> {
    /// The server to visit.
    pub key: ServerKey,
    /// What to visit.
    pub visit: V,
    /// The step that it was placed at.
    pub step: u64,
}

/// The visit has no step within the ring, and is given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Full<V> {
    /// What was to be placed.
    pub visit: V,
    /// The first step that its server has free.
    pub step: u64,
}

impl<V> Ring<V> {
    /// An empty ring at `now`; each server's stride is 1.
    ///
    /// # Panics
    /// If there are no keys.
    #[must_use]
    pub fn new(config: &RingConfig, step_length: Duration, now: Time) -> Ring<V> {
        assert!(0 < config.keys, "there must be at least one server key");
        let steps = Steps::new(step_length);
        let turns = ServerTurns {
            next_step: 0,
            promised_until: 0,
            new_until: 0,
            stride: 1,
            revisits: RevisitTurns::default(),
        };
        Ring {
            wheel: Wheel::new(config.slots, steps.step_of(now)),
            servers: vec![turns; config.keys as usize].into(),
            steps,
        }
    }

    /// Places a new visit at the first step that is neither taken nor promised, and returns that step. The last eighth of
    /// the ring is kept for visits that come back.
    pub fn place(&mut self, key: ServerKey, visit: V) -> Result<u64, Full<V>> {
        let step = self.next_unpromised_step(key);
        if !self.has_turn(key) {
            return Err(Full { visit, step });
        }
        self.place_at(step, key, visit)
    }

    /// Whether a new visit to this server would find a step.
    #[must_use]
    pub fn has_turn(&self, key: ServerKey) -> bool {
        self.next_unpromised_step(key) < self.wheel.end_step() - self.kept_steps()
    }

    /// Places a visit that was promised a step earlier: at the first step that is not taken.
    pub fn place_promised(&mut self, key: ServerKey, visit: V) -> Result<u64, Full<V>> {
        let step = self.next_step(key);
        self.place_at(step, key, visit)
    }

    /// Places a known page's visit at the first step that the server's known pages have neither taken nor promised. That step may be taken by a new
    /// page: then the lease decides, one of them waits a turn, and new pages have one turn less.
    pub fn place_revisit(&mut self, key: ServerKey, visit: V) -> Result<u64, Full<V>> {
        let step = self.next_unpromised_revisit(key);
        if self.wheel.end_step() - self.kept_steps() <= step {
            return Err(Full { visit, step });
        }
        self.place_revisit_at(step, key, visit)
    }

    /// Places a known page's visit that was promised a step earlier.
    pub fn place_promised_revisit(&mut self, key: ServerKey, visit: V) -> Result<u64, Full<V>> {
        let step = self.next_revisit_step(key);
        self.place_revisit_at(step, key, visit)
    }

    /// When the turn of a waiting visit is, if one is what is looked for. Looks at all of them.
    pub(crate) fn find(&self, is_it: impl Fn(&V) -> bool) -> Option<Time> {
        let (step, entry) = self.wheel.iter().find(|(_, entry)| is_it(&entry.item))?;
        Some(self.start_time(step, entry.key))
    }

    /// Takes the next visit whose step has come, in the order of steps, and of placing within a step.
    pub fn take_due(&mut self, now: Time) -> Option<Due<V>> {
        let Entry { key, item } = self.wheel.take_due(self.steps.step_of(now))?;
        Some(Due {
            key,
            visit: item,
            step: self.wheel.now_step(),
        })
    }

    /// Promises the server's next free step to a visit that waits outside, and returns the moment when the ring will
    /// cover that step: the visit must come back then.
    pub fn promise(&mut self, key: ServerKey) -> Time {
        let step = self.next_unpromised_step(key);
        let turns = &mut self.servers[key.index()];
        turns.promised_until = step.saturating_add(u64::from(turns.stride));
        self.covered_from(step)
    }

    /// The same for a known page's visit.
    pub fn promise_revisit(&mut self, key: ServerKey) -> Time {
        let step = self.next_unpromised_revisit(key);
        let stride = self.revisit_stride(key);
        self.servers[key.index()].revisits.promised_until = step.saturating_add(stride);
        self.covered_from(step)
    }

    /// When the part of the ring that is for all will cover this step.
    fn covered_from(&self, step: u64) -> Time {
        let steps_ahead = self.wheel.slots() as u64 - self.kept_steps();
        let covered_from = step.saturating_add(1).saturating_sub(steps_ahead);
        self.steps
            .start_of(covered_from.max(self.wheel.now_step() + 1))
    }

    /// Leaves the server's free steps before `time` unused.
    pub fn reserve_until(&mut self, key: ServerKey, time: Time) {
        let step = self.steps.step_of(time);
        let turns = &mut self.servers[key.index()];
        turns.next_step = turns.next_step.max(step);
        turns.revisits.next_step = turns.revisits.next_step.max(step);
    }

    /// Leaves as many of the server's turns to come unused as visits to it wait outside of the ring and go first.
    pub fn reserve_turns(&mut self, key: ServerKey, turns: usize) {
        let now_step = self.wheel.now_step();
        let server = &mut self.servers[key.index()];
        let steps = u64::from(server.stride).saturating_mul(turns as u64);
        let free = now_step.saturating_add(steps).saturating_add(1);
        server.next_step = server.next_step.max(free);
        server.revisits.next_step = server.revisits.next_step.max(free);
    }

    /// Whether the ring covers the turn behind so many of the server's.
    #[must_use]
    pub fn covers_turns(&self, key: ServerKey, turns: usize) -> bool {
        let stride = u64::from(self.servers[key.index()].stride);
        let steps = stride.saturating_mul(turns as u64);
        self.wheel.now_step().saturating_add(steps) < self.wheel.end_step()
    }

    /// Spaces the server's visits so that one of this length, interval included, ends before the next step comes.
    pub fn set_cycle(&mut self, key: ServerKey, cycle: Duration) {
        let stride = u32::try_from(self.steps.count_in(cycle))
            .unwrap_or(u32::MAX)
            .max(1);
        self.servers[key.index()].stride = stride;
    }

    /// Keeps visits of the server's known pages at least this far apart.
    pub fn set_revisit_interval(&mut self, key: ServerKey, interval: Duration) {
        let stride = u32::try_from(self.steps.count_in(interval)).unwrap_or(u32::MAX);
        self.servers[key.index()].revisits.stride_min = stride;
    }

    /// Steps from one visit of the server to the next.
    #[must_use]
    pub fn stride(&self, key: ServerKey) -> u32 {
        self.servers[key.index()].stride
    }

    /// The first step that the server has free.
    #[must_use]
    pub fn next_step(&self, key: ServerKey) -> u64 {
        self.servers[key.index()]
            .next_step
            .max(self.wheel.now_step() + 1)
    }

    /// The step that is being dispatched.
    #[must_use]
    pub fn now_step(&self) -> u64 {
        self.wheel.now_step()
    }

    /// The first step that the ring does not cover yet.
    #[must_use]
    pub fn end_step(&self) -> u64 {
        self.wheel.end_step()
    }

    /// When a visit to this server starts, if it is placed at `step`: servers are spread evenly over the step.
    #[must_use]
    pub fn start_time(&self, step: u64, key: ServerKey) -> Time {
        self.steps.start_of(step) + self.phase(key)
    }

    /// How long after the begin of a step this server's visits start: `key / keys` of the step.
    #[must_use]
    pub fn phase(&self, key: ServerKey) -> Duration {
        let micros = self.steps.length_us * u64::from(key.number()) / self.servers.len() as u64;
        Duration::from_micros(micros)
    }

    /// When the earliest waiting visit falls due.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        self.wheel
            .next_occupied_step()
            .map(|step| self.steps.start_of(step))
    }

    /// Visits that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.wheel.len()
    }

    /// Whether no visit waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wheel.len() == 0
    }

    /// Bytes of memory held, apart from what the visits themselves point to.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.wheel.bytes() + size_of_val(&*self.servers)
    }

    pub(crate) fn steps(&self) -> Steps {
        self.steps
    }

    pub(crate) fn slots(&self) -> usize {
        self.wheel.slots()
    }

    #[expect(clippy::cast_possible_truncation, reason = "made from a u32")]
    pub(crate) fn keys(&self) -> u32 {
        self.servers.len() as u32
    }

    pub(crate) fn next_unpromised_step(&self, key: ServerKey) -> u64 {
        self.next_step(key)
            .max(self.servers[key.index()].promised_until)
    }

    fn next_revisit_step(&self, key: ServerKey) -> u64 {
        let revisits = &self.servers[key.index()].revisits;
        revisits.next_step.max(self.wheel.now_step() + 1)
    }

    fn next_unpromised_revisit(&self, key: ServerKey) -> u64 {
        self.next_revisit_step(key)
            .max(self.servers[key.index()].revisits.promised_until)
    }

    /// Steps from one known page to the next: every other turn while new pages wait, else every turn.
    fn revisit_stride(&self, key: ServerKey) -> u64 {
        let turns = &self.servers[key.index()];
        let do_new_ones_wait =
            self.wheel.now_step() + 1 < turns.new_until.max(turns.promised_until);
        let share = if do_new_ones_wait { 2 } else { 1 };
        (u64::from(turns.stride) * share).max(u64::from(turns.revisits.stride_min))
    }

    fn place_revisit_at(&mut self, step: u64, key: ServerKey, visit: V) -> Result<u64, Full<V>> {
        if self.wheel.end_step() <= step {
            return Err(Full { visit, step });
        }
        let free = self.next_step(key);
        let stride = self.revisit_stride(key);
        self.wheel.insert(step, Entry { key, item: visit });
        let turns = &mut self.servers[key.index()];
        let one_turn = u64::from(turns.stride);
        turns.revisits.next_step = step.saturating_add(stride);
        if step < free {
            // Taken from among those of new pages, which go on one turn later.
            turns.next_step = free.saturating_add(one_turn);
        } else if step - free < one_turn {
            turns.next_step = step.saturating_add(one_turn);
        }
        Ok(step)
    }

    fn kept_steps(&self) -> u64 {
        self.wheel.slots() as u64 / KEPT_DIVISOR
    }

    fn place_at(&mut self, step: u64, key: ServerKey, visit: V) -> Result<u64, Full<V>> {
        if self.wheel.end_step() <= step {
            return Err(Full { visit, step });
        }
        self.wheel.insert(step, Entry { key, item: visit });
        let turns = &mut self.servers[key.index()];
        turns.next_step = step.saturating_add(u64::from(turns.stride));
        turns.new_until = turns.next_step;
        Ok(step)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const STEP: Duration = Duration::from_millis(100);
    const KEYS: u32 = 3;
    const SLOTS: u64 = 64;
    /// Of these, eight are kept for visits that come back.
    const OPEN_SLOTS: u64 = 56;

    fn ring() -> Ring<usize> {
        let config = RingConfig {
            slots: 64,
            keys: KEYS,
            ..RingConfig::default()
        };
        Ring::new(&config, STEP, Time::EPOCH)
    }

    fn key(number: u32) -> ServerKey {
        ServerKey::new(number)
    }

    #[derive(Clone, Debug)]
    enum Op {
        Place(u32),
        PlacePromised(u32),
        Promise(u32),
        SetCycle(u32, Duration),
        ReserveTurns(u32, usize),
        ReserveUntil(u32, u64),
        Wait(u64),
    }

    fn any_op() -> impl Strategy<Value = Op> {
        let number = 0..KEYS;
        prop_oneof![
            6 => number.clone().prop_map(Op::Place),
            2 => number.clone().prop_map(Op::PlacePromised),
            1 => number.clone().prop_map(Op::Promise),
            1 => (number.clone(), 0_u64..3000).prop_map(|(number, ms)| Op::SetCycle(number, Duration::from_millis(ms))),
            1 => (number.clone(), 0_usize..9).prop_map(|(number, turns)| Op::ReserveTurns(number, turns)),
            1 => (number, 0_u64..100).prop_map(|(number, ahead)| Op::ReserveUntil(number, ahead)),
            3 => (0_u64..30).prop_map(Op::Wait),
            1 => (0_u64..200).prop_map(Op::Wait),
        ]
    }

    /// The steps that a server was ever given, and how far apart they had to be.
    #[derive(Clone, Debug)]
    struct History {
        not_before: u64,
        promised_until: u64,
        stride: u64,
    }

    proptest! {
        #[test]
        fn it_places_as_the_definition_says(ops in prop::collection::vec(any_op(), 0..300)) {
            let mut ring = ring();
            let mut now_step = 0;
            let fresh = History { not_before: 0, promised_until: 0, stride: 1 };
            let mut histories: Vec<History> = vec![fresh; KEYS as usize];
            let mut waiting: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
            for (visit, op) in ops.into_iter().enumerate() {
                match op {
                    Op::Place(number) => {
                        let history = &mut histories[number as usize];
                        let expected = history.not_before.max(history.promised_until).max(now_step + 1);
                        if expected < now_step + OPEN_SLOTS {
                            prop_assert_eq!(ring.place(key(number), visit), Ok(expected));
                            history.not_before = expected + history.stride;
                            waiting.entry(expected).or_default().push(visit);
                        } else {
                            prop_assert_eq!(ring.place(key(number), visit), Err(Full { visit, step: expected }));
                        }
                    }
                    Op::PlacePromised(number) => {
                        let history = &mut histories[number as usize];
                        let expected = history.not_before.max(now_step + 1);
                        if expected < now_step + SLOTS {
                            prop_assert_eq!(ring.place_promised(key(number), visit), Ok(expected));
                            history.not_before = expected + history.stride;
                            waiting.entry(expected).or_default().push(visit);
                        } else {
                            let full = Full { visit, step: expected };
                            prop_assert_eq!(ring.place_promised(key(number), visit), Err(full));
                        }
                    }
                    Op::Promise(number) => {
                        let history = &mut histories[number as usize];
                        let step = history.not_before.max(history.promised_until).max(now_step + 1);
                        history.promised_until = step + history.stride;
                        let due_step = ring.promise(key(number)).as_micros() / 100_000;
                        prop_assert!(now_step < due_step);
                        prop_assert!(step < due_step + OPEN_SLOTS, "the ring covers the step when it is due");
                        prop_assert!(due_step == now_step + 1 || due_step + OPEN_SLOTS == step + 1, "and not earlier");
                    }
                    Op::SetCycle(number, cycle) => {
                        ring.set_cycle(key(number), cycle);
                        let stride = u64::try_from(cycle.as_millis().div_ceil(100).max(1)).unwrap();
                        histories[number as usize].stride = stride;
                        prop_assert_eq!(u64::from(ring.stride(key(number))), stride);
                    }
                    Op::ReserveTurns(number, turns) => {
                        ring.reserve_turns(key(number), turns);
                        let history = &mut histories[number as usize];
                        history.not_before = history.not_before.max(now_step + 1 + turns as u64 * history.stride);
                    }
                    Op::ReserveUntil(number, ahead) => {
                        ring.reserve_until(key(number), Time::EPOCH + STEP * u32::try_from(now_step + ahead).unwrap());
                        let history = &mut histories[number as usize];
                        history.not_before = history.not_before.max(now_step + ahead);
                    }
                    Op::Wait(steps) => {
                        now_step += steps;
                        let now = Time::EPOCH + STEP * u32::try_from(now_step).unwrap();
                        let later = waiting.split_off(&(now_step + 1));
                        for (step, visits) in std::mem::replace(&mut waiting, later) {
                            for visit in visits {
                                let due = ring.take_due(now).unwrap();
                                prop_assert_eq!((due.step, due.visit), (step, visit));
                            }
                        }
                        prop_assert_eq!(ring.take_due(now), None);
                    }
                }
                prop_assert_eq!(ring.len(), waiting.values().map(Vec::len).sum::<usize>());
            }
        }
    }

    #[test]
    fn servers_are_spread_evenly_over_a_step() {
        let ring = ring();
        assert_eq!(
            [0, 1, 2].map(|number| ring.phase(key(number)).as_micros()),
            [0, 33_333, 66_666]
        );
        assert_eq!(ring.start_time(10, key(1)), Time::from_micros(1_033_333));
    }

    #[test]
    fn a_cycle_beyond_all_measure_leaves_the_server_one_visit() {
        let mut ring = ring();
        ring.set_cycle(key(0), Duration::MAX);
        assert_eq!(ring.place(key(0), 1), Ok(1));
        assert!(ring.place(key(0), 2).is_err());
        assert!(Time::EPOCH < ring.promise(key(0)));
        ring.reserve_until(key(0), Time::from_micros(u64::MAX));
        ring.reserve_turns(key(0), usize::MAX);
        assert!(ring.place_promised(key(0), 3).is_err());
    }

    #[test]
    fn the_step_follows_the_interval_within_bounds() {
        let config = RingConfig::default();
        let step_ms = |interval_ms| {
            config
                .step_length(Duration::from_millis(interval_ms))
                .as_millis()
        };
        assert_eq!([0, 200, 5000, 60_000].map(step_ms), [1, 20, 500, 1000]);
    }
}
