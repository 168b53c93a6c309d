//! First come, first served: breadth first.

use std::collections::VecDeque;

use super::{Admission, Candidate, Source};

/// Hands out pages in the order in which they came; who comes to a full room is turned away.
#[derive(Clone, Debug)]
pub struct Fifo<V> {
    waiting: VecDeque<Candidate<V>>,
    waiting_max: usize,
}

impl<V> Fifo<V> {
    /// An empty waiting room for this many pages.
    #[must_use]
    pub fn new(waiting_max: usize) -> Fifo<V> {
        Fifo {
            waiting: VecDeque::new(),
            waiting_max,
        }
    }
}

impl<V> Admission<V> for Fifo<V> {
    fn gain(&mut self, _source: &Source, _host: u64) -> f32 {
        0.0
    }

    /// Nothing that waits can be raised, so nobody need know whether it waits.
    fn raise(&mut self, _fingerprint: u64, _gain: f32) -> bool {
        false
    }

    fn offer(&mut self, candidate: Candidate<V>) -> Option<Candidate<V>> {
        if self.waiting.len() < self.waiting_max {
            self.waiting.push_back(candidate);
            None
        } else {
            Some(candidate)
        }
    }

    fn next(&mut self) -> Option<Candidate<V>> {
        self.waiting.pop_front()
    }

    fn release(&mut self, _host: u64) {}

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn room(&self) -> usize {
        self.waiting_max - self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(visit: u64) -> Candidate<u64> {
        Candidate {
            fingerprint: visit,
            host: 0,
            priority: 0.0,
            visit,
        }
    }

    #[test]
    fn first_come_first_served_and_no_more_than_fit() {
        let mut fifo = Fifo::new(2);
        assert_eq!(fifo.offer(candidate(1)), None);
        assert_eq!(fifo.offer(candidate(2)), None);
        assert_eq!(fifo.offer(candidate(3)), Some(candidate(3)));
        assert_eq!((fifo.len(), fifo.room()), (2, 0));
        assert_eq!(fifo.next(), Some(candidate(1)));
        assert_eq!(fifo.next(), Some(candidate(2)));
        assert_eq!(fifo.next(), None);
        assert!(fifo.is_empty());
    }
}
