//! The keys that were lately found in a run, so that the links which every page of a site repeats cost no read.
//!
//! Direct-mapped: a key has one slot, and the last comer keeps it. A key is never forgotten by the runs, so an entry is never stale.

#[derive(Debug)]
pub(super) struct Cache {
    slots: Box<[u64]>,
    shift: u32,
}

/// 2⁶⁴ divided by the golden ratio: spreads keys over slots, whatever bits they differ in.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// What an empty slot holds. This one key is not cached.
const EMPTY: u64 = 0;

impl Cache {
    pub(super) fn new(slots: usize) -> Cache {
        assert!(slots.is_power_of_two(), "{slots} slots");
        assert!(1 < slots, "a shift by all 64 bits is not defined");
        Cache {
            slots: vec![EMPTY; slots].into(),
            shift: 64 - slots.ilog2(),
        }
    }

    pub(super) fn contains(&self, key: u64) -> bool {
        key != EMPTY && self.slots[self.slot(key)] == key
    }

    pub(super) fn put(&mut self, key: u64) {
        let slot = self.slot(key);
        self.slots[slot] = key;
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.slots)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the shift leaves as many bits as there are slots"
    )]
    fn slot(&self, key: u64) -> usize {
        (key.wrapping_mul(SPREAD) >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_put_is_contained() {
        let mut cache = Cache::new(4);
        for key in [0, 1, u64::MAX] {
            assert!(!cache.contains(key));
        }
        cache.put(7);
        assert!(cache.contains(7));
        for key in 0..1000 {
            cache.put(key);
            assert_eq!(cache.contains(key), key != EMPTY);
        }
        assert!((0..1000).filter(|key| cache.contains(*key)).count() <= 4);
    }
}
