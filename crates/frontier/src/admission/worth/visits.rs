//! How often hosts were visited, in memory of a fixed size.
//!
//! A counter for each hash of a host: those that share one are taken for one host.

use junkai_chance::mix;

/// Counters of visits by host.
#[derive(Clone, Debug)]
pub(super) struct Visits {
    counters: Box<[u32]>,
}

impl Visits {
    /// Counters at zero; a power of two of them.
    pub(super) fn new(counters: usize) -> Visits {
        assert!(counters.is_power_of_two(), "{counters} counters");
        Visits {
            counters: vec![0; counters].into(),
        }
    }

    /// Counts a visit to this host.
    pub(super) fn count(&mut self, host: u64) {
        let index = self.index(host);
        self.counters[index] = self.counters[index].saturating_add(1);
    }

    /// Half doublings of the visits to this host: ⌊2 · log₂(1 + visits)⌋, from 0 to 64.
    pub(super) fn half_doublings(&self, host: u64) -> u32 {
        let visits = u128::from(self.counters[self.index(host)]) + 1;
        // The logarithm of a square is twice that of its root.
        (visits * visits).ilog2()
    }

    /// Memory taken, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.counters)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the mask leaves no more bits than the table's length has"
    )]
    fn index(&self, host: u64) -> usize {
        mix(host) as usize & (self.counters.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_doublings_are_those_of_the_visits() {
        let mut visits = Visits::new(64);
        let mut seen = vec![];
        for _ in 0..17 {
            seen.push(visits.half_doublings(7));
            visits.count(7);
        }
        assert_eq!(seen, [0, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8]);
        assert_eq!(visits.half_doublings(8), 0, "another host's are its own");
    }

    #[test]
    fn a_counter_that_is_full_stays_so() {
        let mut visits = Visits::new(1);
        visits.counters[0] = u32::MAX;
        visits.count(1);
        assert_eq!(visits.half_doublings(2), 64, "one counter for all");
    }
}
