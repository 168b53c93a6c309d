//! A timing wheel: a FIFO for each of the next `slots` steps.
//!
//! [`Ring`](super::Ring) fills it with visits and empties it as time passes; the scheduler has a second one for servers whose
//! waiting line must be looked at again. After Varghese and Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987,
//! section 5 (scheme 4, within `MaxInterval`). Departures: a bit map of occupied slots, so that idle time costs nothing.
//!
//! Invariants: an entry's step is after `now_step` and less than `slots` ahead of it, so no two steps share a slot; a bit is
//! set exactly when its slot is not empty.

use std::collections::VecDeque;

use crate::server::ServerKey;

/// What an empty slot keeps of its buffer, in entries: enough to spare the allocator, too little to hoard after a burst.
const ENTRIES_RETAINED: usize = 64;

/// A FIFO of entries for each of the next steps.
#[derive(Clone, Debug)]
pub(crate) struct Wheel<T> {
    slots: Box<[VecDeque<Entry<T>>]>,
    occupied: Box<[u64]>,
    /// The step being emptied: no entry lies before it.
    now_step: u64,
    len: usize,
}

/// What waits in a slot.
#[derive(Clone, Debug)]
pub(crate) struct Entry<T> {
    pub(crate) key: ServerKey,
    pub(crate) item: T,
}

impl<T> Wheel<T> {
    /// An empty wheel at `now_step`; the number of slots is rounded up to a power of two, at least 64.
    pub(crate) fn new(slots: usize, now_step: u64) -> Wheel<T> {
        let slots = slots.next_power_of_two().max(64);
        Wheel {
            slots: (0..slots).map(|_| VecDeque::new()).collect(),
            occupied: vec![0; slots / 64].into(),
            now_step,
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn now_step(&self) -> u64 {
        self.now_step
    }

    /// The first step that is too far ahead.
    pub(crate) fn end_step(&self) -> u64 {
        self.now_step.saturating_add(self.slots.len() as u64)
    }

    /// Appends to the FIFO of `step`.
    pub(crate) fn insert(&mut self, step: u64, entry: Entry<T>) {
        assert!(self.now_step < step, "step {step} has passed");
        assert!(step < self.end_step(), "step {step} is beyond the wheel");
        let slot = self.slot_of(step);
        self.slots[slot].push_back(entry);
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.len += 1;
    }

    /// Takes the first entry of the earliest step up to `target_step`, moving on to that step.
    pub(crate) fn take_due(&mut self, target_step: u64) -> Option<Entry<T>> {
        loop {
            let slot = self.slot_of(self.now_step);
            if let Some(entry) = self.slots[slot].pop_front() {
                self.len -= 1;
                if self.slots[slot].is_empty() {
                    self.close(slot);
                }
                return Some(entry);
            }
            match self.next_occupied_step() {
                Some(step) if step <= target_step => self.now_step = step,
                Some(_) | None => {
                    self.now_step = self.now_step.max(target_step);
                    return None;
                }
            }
        }
    }

    /// The earliest step that has an entry. Looks at one word for each 64 slots that lie idle before it.
    pub(crate) fn next_occupied_step(&self) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let first = self.slot_of(self.now_step);
        let words = self.occupied.len();
        let not_before = u64::MAX << (first % 64);
        for ahead in 0..=words {
            let word = (first / 64 + ahead) % words;
            let visible = match ahead {
                0 => not_before,
                _ if ahead == words => !not_before,
                _ => u64::MAX,
            };
            let bits = self.occupied[word] & visible;
            if bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                let distance = slot.wrapping_sub(first) & (self.slots.len() - 1);
                return Some(self.now_step + distance as u64);
            }
        }
        None
    }

    /// Everything that waits, with its step; in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Entry<T>)> {
        let first = self.slot_of(self.now_step);
        self.slots
            .iter()
            .enumerate()
            .flat_map(move |(slot, entries)| {
                let distance = slot.wrapping_sub(first) & (self.slots.len() - 1);
                entries
                    .iter()
                    .map(move |entry| (self.now_step + distance as u64, entry))
            })
    }

    /// Bytes of memory held, apart from what the items themselves point to.
    pub(crate) fn bytes(&self) -> usize {
        let buffers: usize = self.slots.iter().map(VecDeque::capacity).sum();
        size_of_val(&*self.slots) + size_of_val(&*self.occupied) + buffers * size_of::<Entry<T>>()
    }

    fn close(&mut self, slot: usize) {
        self.slots[slot].shrink_to(ENTRIES_RETAINED);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "masked to the number of slots, a usize"
    )]
    fn slot_of(&self, step: u64) -> usize {
        step as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Op {
        Insert { ahead: u64 },
        TakeDue { ahead: u64 },
    }

    fn any_op() -> impl Strategy<Value = Op> {
        prop_oneof![
            3 => (1_u64..128).prop_map(|ahead| Op::Insert { ahead }),
            1 => (0_u64..20).prop_map(|ahead| Op::TakeDue { ahead }),
            1 => (0_u64..300).prop_map(|ahead| Op::TakeDue { ahead }),
        ]
    }

    proptest! {
        #[test]
        fn it_gives_what_a_sorted_map_of_queues_gives(
            first_step in prop_oneof![Just(0_u64), 0_u64..1_000_000, Just(u64::MAX - 100_000)],
            ops in prop::collection::vec(any_op(), 0..300),
        ) {
            let mut wheel = Wheel::new(100, first_step);
            prop_assert_eq!(wheel.slots(), 128);
            let mut model: BTreeMap<u64, VecDeque<usize>> = BTreeMap::new();
            let mut now_step = first_step;
            for (item, op) in ops.into_iter().enumerate() {
                match op {
                    Op::Insert { ahead } => {
                        wheel.insert(now_step + ahead, Entry { key: ServerKey::new(7), item });
                        model.entry(now_step + ahead).or_default().push_back(item);
                    }
                    Op::TakeDue { ahead } => {
                        let target_step = now_step + ahead;
                        let later = model.split_off(&(target_step + 1));
                        let due: Vec<usize> = std::mem::replace(&mut model, later).into_values().flatten().collect();
                        let taken: Vec<usize> =
                            std::iter::from_fn(|| wheel.take_due(target_step)).map(|entry| entry.item).collect();
                        prop_assert_eq!(taken, due);
                        now_step = target_step;
                    }
                }
                prop_assert_eq!(wheel.now_step(), now_step);
                prop_assert_eq!(wheel.next_occupied_step(), model.keys().next().copied());
                prop_assert_eq!(wheel.len(), model.values().map(VecDeque::len).sum::<usize>());
            }
        }
    }

    #[test]
    fn a_slot_gives_back_what_a_burst_took() {
        let mut wheel = Wheel::new(64, 0);
        let empty = wheel.bytes();
        for item in 0..100_000_u64 {
            wheel.insert(
                1,
                Entry {
                    key: ServerKey::new(0),
                    item,
                },
            );
        }
        assert_eq!(std::iter::from_fn(|| wheel.take_due(1)).count(), 100_000);
        let retained = wheel.bytes() - empty;
        assert!(
            retained <= 2 * ENTRIES_RETAINED * size_of::<Entry<u64>>(),
            "{retained} bytes"
        );
    }

    #[test]
    #[should_panic(expected = "has passed")]
    fn nothing_is_placed_in_the_step_being_emptied() {
        Wheel::new(64, 5).insert(
            5,
            Entry {
                key: ServerKey::new(0),
                item: (),
            },
        );
    }

    #[test]
    #[should_panic(expected = "beyond the wheel")]
    fn nothing_is_placed_a_whole_turn_ahead() {
        Wheel::new(64, 5).insert(
            69,
            Entry {
                key: ServerKey::new(0),
                item: (),
            },
        );
    }
}
