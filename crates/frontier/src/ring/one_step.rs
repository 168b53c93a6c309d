//! The scheduler of Morimoto et al. (2011) to the letter, so that the lab can reproduce its figures and measure ours against it.
//!
//! Morimoto et al. (2011), algorithms 2 and 3, with the errata corrected: the step begins when the interval *has* passed; the parity rule
//! is that of the text, not of the listing; a batch is taken out of its queue; a booking beyond the queues is refused also
//! after a reset. Departures: none. The caller keeps the set of inserted URLs; a discarded URL must not get into it.
//!
//! # Notation
//! *B*: `slots`; *H*: `residues`; *T*: `interval`; *N\[r\]*: `next_step`; *t*: `now_step`; *τ*: `returned_at`.
//!
//! Invariants: bookings of one residue are at least two steps apart; a batch has at most one visit of each residue; a
//! residue has at most ⌊*B* / 2⌋ bookings.
//!
//! Not here: waiting until all downloads of a batch have ended. Whoever takes the next batch earlier gives up the interval
//! between the end of one visit and the start of the next, and keeps it only from start to start.

use std::collections::VecDeque;
use std::time::Duration;

use crate::time::Time;

/// The two parameters of the memory, the interval, and the rule for residues that are idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneStepRingConfig {
    /// *B*: queues, that is steps that can be booked ahead; at least 2.
    pub slots: usize,
    /// *H*: residue classes that servers fall into; even.
    pub residues: u32,
    /// *T*: the least time from one batch to the next.
    pub interval: Duration,
    /// Where an idle residue begins.
    pub rule: OneStepRule,
}

/// At which step a residue that is idle gets its next booking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneStepRule {
    /// The first step to come that has the parity of the residue: a batch has at most *H* / 2 visits.
    Text,
    /// The very next step: less to wait, and batches of up to *H* visits.
    Max,
}

/// The queues of Morimoto et al. (2011).
#[derive(Clone, Debug)]
pub struct OneStepRing<V> {
    config: OneStepRingConfig,
    queues: Box<[VecDeque<V>]>,
    next_step: Box<[u64]>,
    now_step: u64,
    returned_at: Time,
    len: usize,
}

/// There was no queue for this visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discarded<V>(pub V);

impl<V> OneStepRing<V> {
    /// Empty queues; the first batch can be had one interval after `now`.
    ///
    /// # Panics
    /// If there are fewer than two slots, or if the number of residues is odd or zero.
    #[must_use]
    pub fn new(config: OneStepRingConfig, now: Time) -> OneStepRing<V> {
        assert!(2 <= config.slots, "the paper needs two queues or more");
        assert!(0 < config.residues, "there must be residues");
        assert!(
            config.residues.is_multiple_of(2),
            "the number of residues must be even"
        );
        OneStepRing {
            config,
            queues: (0..config.slots).map(|_| VecDeque::new()).collect(),
            next_step: (0..u64::from(config.residues))
                .map(|residue| residue & 1)
                .collect(),
            now_step: 0,
            returned_at: now,
            len: 0,
        }
    }

    /// Books a step for a visit to a server of this residue, and returns the step.
    ///
    /// # Panics
    /// If there is no such residue.
    pub fn enqueue(&mut self, residue: u32, visit: V) -> Result<u64, Discarded<V>> {
        let mut step = self.next_step[residue as usize];
        if step <= self.now_step {
            step = match self.config.rule {
                OneStepRule::Text => self.now_step + 2 - ((self.now_step ^ u64::from(residue)) & 1),
                OneStepRule::Max => self.now_step + 1,
            };
        }
        if self.now_step + self.config.slots as u64 <= step {
            return Err(Discarded(visit));
        }
        let queue = self.queue_of(step);
        self.queues[queue].push_back(visit);
        self.next_step[residue as usize] = step + 2;
        self.len += 1;
        Ok(step)
    }

    /// Goes on to the next step and takes its batch, or none if the interval has not passed yet.
    pub fn next(&mut self, now: Time) -> Option<Vec<V>> {
        if now < self.next_at() {
            return None;
        }
        self.now_step += 1;
        self.returned_at = now;
        let queue = self.queue_of(self.now_step);
        let batch = Vec::from(std::mem::take(&mut self.queues[queue]));
        self.len -= batch.len();
        Some(batch)
    }

    /// When the next batch can be had.
    #[must_use]
    pub fn next_at(&self) -> Time {
        self.returned_at + self.config.interval
    }

    /// The step of the last batch.
    #[must_use]
    pub fn now_step(&self) -> u64 {
        self.now_step
    }

    /// Visits that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no visit waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a remainder of division by a usize"
    )]
    fn queue_of(&self, step: u64) -> usize {
        (step % self.queues.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const INTERVAL: Duration = Duration::from_secs(1);

    fn one_step_ring(slots: usize, residues: u32, rule: OneStepRule) -> OneStepRing<u32> {
        OneStepRing::new(
            OneStepRingConfig {
                slots,
                residues,
                interval: INTERVAL,
                rule,
            },
            Time::EPOCH,
        )
    }

    const RESIDUES: u32 = 4;

    /// The queues beside their full history, against which the properties P1 to P4 of the paper are checked.
    struct Witness {
        ring: OneStepRing<u32>,
        slots: u64,
        rule: OneStepRule,
        now: Time,
        bookings: Vec<Booking>,
    }

    #[derive(Clone, Copy)]
    struct Booking {
        residue: u32,
        step: u64,
    }

    impl Witness {
        fn next(&mut self) {
            let step = self.ring.now_step() + 1;
            self.now = self.now + INTERVAL;
            let batch = self.ring.next(self.now).unwrap();
            let booked = self.bookings.iter().filter(|booking| booking.step == step);
            let booked: Vec<u32> = booked.map(|booking| booking.residue).collect();
            assert_eq!(
                batch, booked,
                "P3: a queue holds the visits of its own step, in the order of booking"
            );
            let is_once = |residue| batch.iter().filter(|&&other| other == residue).count() <= 1;
            assert!((0..RESIDUES).all(is_once), "P1");
        }

        fn enqueue(&mut self, residue: u32) {
            let now_step = self.ring.now_step();
            let earlier: Vec<u64> = self.steps_of(residue).collect();
            match self.ring.enqueue(residue, residue) {
                Ok(step) => {
                    assert!(now_step < step, "P3");
                    assert!(step < now_step + self.slots, "P3");
                    assert!(earlier.iter().all(|earlier| earlier + 2 <= step), "P2");
                    if self.rule == OneStepRule::Text {
                        assert_eq!(
                            step % 2,
                            u64::from(residue) % 2,
                            "even residues use even steps"
                        );
                    }
                    self.bookings.push(Booking { residue, step });
                }
                Err(Discarded(visit)) => {
                    assert_eq!(visit, residue);
                    let free = earlier
                        .last()
                        .map_or(u64::from(residue & 1), |last| last + 2);
                    let is_idle_without_queue = free <= now_step && self.slots <= 2;
                    assert!(
                        now_step + self.slots <= free || is_idle_without_queue,
                        "discarded without need"
                    );
                }
            }
            let pending = self
                .steps_of(residue)
                .filter(|step| now_step < *step)
                .count();
            assert!(pending as u64 <= self.slots / 2, "P4");
        }

        fn steps_of(&self, residue: u32) -> impl Iterator<Item = u64> {
            self.bookings
                .iter()
                .filter(move |booking| booking.residue == residue)
                .map(|booking| booking.step)
        }
    }

    /// Runs operations: none is the next step, a residue is to be enqueued.
    fn check(slots: usize, rule: OneStepRule, operations: impl IntoIterator<Item = Option<u32>>) {
        let ring = one_step_ring(slots, RESIDUES, rule);
        let mut witness = Witness {
            ring,
            slots: slots as u64,
            rule,
            now: Time::EPOCH,
            bookings: Vec::new(),
        };
        for operation in operations {
            match operation {
                None => witness.next(),
                Some(residue) => witness.enqueue(residue),
            }
            let now_step = witness.ring.now_step();
            let waiting = witness
                .bookings
                .iter()
                .filter(|booking| now_step < booking.step)
                .count();
            assert_eq!(witness.ring.len(), waiting);
        }
    }

    #[test]
    fn all_short_sequences_keep_the_properties() {
        for slots in 2..=9 {
            for rule in [OneStepRule::Text, OneStepRule::Max] {
                for code in 0..3_u32.pow(9) {
                    let operations = (0..9).map(|place| match code / 3_u32.pow(place) % 3 {
                        0 => None,
                        residue => Some(residue),
                    });
                    check(slots, rule, operations);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_sequence_keeps_the_properties(
            slots in 2_usize..70,
            rule in prop_oneof![Just(OneStepRule::Text), Just(OneStepRule::Max)],
            operations in prop::collection::vec(prop_oneof![1 => Just(None), 3 => (0_u32..4).prop_map(Some)], 0..600),
        ) {
            check(slots, rule, operations);
        }
    }

    #[test]
    fn a_residue_fills_half_of_the_queues() {
        for slots in 3..=65 {
            let mut ring = one_step_ring(slots, 2, OneStepRule::Max);
            let booked = (0..slots).filter(|_| ring.enqueue(1, 0).is_ok()).count();
            assert_eq!(booked, slots / 2);
        }
    }

    #[test]
    fn a_batch_does_not_come_before_the_interval_has_passed() {
        let mut ring = one_step_ring(8, 2, OneStepRule::Text);
        assert_eq!(ring.enqueue(1, 7), Ok(1));
        assert_eq!(ring.next(Time::from_micros(999_999)), None);
        assert_eq!(ring.next(Time::from_micros(1_500_000)), Some(vec![7]));
        assert_eq!(ring.next_at(), Time::from_micros(2_500_000));
        assert!(ring.is_empty());
    }
}
