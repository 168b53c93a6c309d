//! Who gets a scarce turn: the order in which known pages go from the backlog to the ring.
//!
//! The crawler fills it from the backlog and empties it into the scheduler as there is room. Policies differ in what they
//! value; what they share is [`Admission`].

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use crate::time::Time;

/// A visit that asks to be admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate<V> {
    /// Which page it is, by the fingerprint of its canonical URL: policies may value a page that is offered often.
    pub fingerprint: u64,
    /// What to visit.
    pub visit: V,
}

/// A bounded waiting room with an order of its own.
pub trait Admission<V> {
    /// Takes in a candidate; returns the visit that had to make room for it, which may be its own.
    fn offer(&mut self, candidate: Candidate<V>, now: Time) -> Option<V>;

    /// Takes out the visit that comes next.
    fn next(&mut self, now: Time) -> Option<V>;

    /// Visits that wait.
    fn len(&self) -> usize;

    /// Whether no visit waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// First come, first served; who comes to a full room is turned away.
#[derive(Clone, Debug)]
pub struct Fifo<V> {
    waiting: VecDeque<V>,
    waiting_max: NonZeroUsize,
}

impl<V> Fifo<V> {
    /// An empty waiting room for this many visits.
    #[must_use]
    pub fn new(waiting_max: NonZeroUsize) -> Fifo<V> {
        Fifo {
            waiting: VecDeque::new(),
            waiting_max,
        }
    }
}

impl<V> Admission<V> for Fifo<V> {
    fn offer(&mut self, candidate: Candidate<V>, _now: Time) -> Option<V> {
        if self.waiting.len() < self.waiting_max.get() {
            self.waiting.push_back(candidate.visit);
            None
        } else {
            Some(candidate.visit)
        }
    }

    fn next(&mut self, _now: Time) -> Option<V> {
        self.waiting.pop_front()
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(visit: u64) -> Candidate<u64> {
        Candidate {
            fingerprint: visit,
            visit,
        }
    }

    #[test]
    fn first_come_first_served_and_no_more_than_fit() {
        let mut fifo = Fifo::new(NonZeroUsize::new(2).unwrap());
        assert_eq!(fifo.offer(candidate(1), Time::EPOCH), None);
        assert_eq!(fifo.offer(candidate(2), Time::EPOCH), None);
        assert_eq!(fifo.offer(candidate(3), Time::EPOCH), Some(3));
        assert_eq!(fifo.len(), 2);
        assert_eq!(fifo.next(Time::EPOCH), Some(1));
        assert_eq!(fifo.next(Time::EPOCH), Some(2));
        assert_eq!(fifo.next(Time::EPOCH), None);
        assert!(fifo.is_empty());
    }
}
