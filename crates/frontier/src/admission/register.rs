//! Things that are found by their key, and by a small number that stays theirs while they are in.
//!
//! The policies keep waiting pages, and the hosts that these are on, in a [`Register`] each, and thread them on lists
//! ([`chains`](super::chains)) by their [`Slot`].
//!
//! Invariants: a key is in at most once; a slot is given again only after its thing was taken out.
//! Not here: any order. The table is asked, never walked, and its hash is fixed: the same calls give the same run. Keys that differ in few bits, as the lab's
//! numbers do, are mixed, so that they fall far apart.

use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

use hashbrown::HashTable;
use junkai_chance::mix;

/// The most things that a register has numbers for.
pub(super) const SLOTS_MAX: usize = u32::MAX as usize;

/// The number of a thing in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(NonZeroU32);

impl Slot {
    /// The slot at this place of a register, if it has a number.
    fn at(index: usize) -> Option<Slot> {
        let number = u32::try_from(index).ok()?.checked_add(1)?;
        NonZeroU32::new(number).map(Slot)
    }

    /// Its place in the tables that are kept by slot.
    pub(super) const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// What has a key of its own.
pub(super) trait Keyed {
    /// The key: a fingerprint.
    fn key(&self) -> u64;
}

/// Things by key and by slot, each found in constant time.
///
/// Only a table that is full costs more: it is copied to one of twice the size, so that all copying together is linear in the calls.
#[derive(Clone, Debug)]
pub(super) struct Register<T> {
    things: Vec<Option<T>>,
    free: Vec<Slot>,
    slots: HashTable<Slot>,
}

impl<T: Keyed> Register<T> {
    pub(super) const fn new() -> Register<T> {
        Register {
            things: Vec::new(),
            free: Vec::new(),
            slots: HashTable::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The slot of the thing with this key.
    pub(super) fn find(&self, key: u64) -> Option<Slot> {
        self.slots
            .find(mix(key), |&slot| self[slot].key() == key)
            .copied()
    }

    /// Takes in a thing whose key is not in.
    ///
    /// # Panics
    /// If [`SLOTS_MAX`] things are in.
    pub(super) fn insert(&mut self, thing: T) -> Slot {
        let key = thing.key();
        debug_assert!(self.find(key).is_none(), "key {key:x} is in already");
        let slot = if let Some(slot) = self.free.pop() {
            self.things[slot.index()] = Some(thing);
            slot
        } else {
            let Some(slot) = Slot::at(self.things.len()) else {
                panic!("more than {SLOTS_MAX} things");
            };
            self.things.push(Some(thing));
            slot
        };
        let things = &self.things;
        self.slots
            .insert_unique(mix(key), slot, |&slot| mix(thing_at(things, slot).key()));
        slot
    }

    /// Takes out the thing in this slot.
    pub(super) fn remove(&mut self, slot: Slot) -> T {
        let Some(thing) = self.things[slot.index()].take() else {
            panic!("{slot:?} is vacant");
        };
        let entry = self
            .slots
            .find_entry(mix(thing.key()), |&found| found == slot);
        let Ok(entry) = entry else {
            panic!("{slot:?} is not in the table");
        };
        entry.remove();
        self.free.push(slot);
        thing
    }

    /// Memory taken, in bytes, without what the things own elsewhere.
    pub(super) fn bytes(&self) -> usize {
        self.things.capacity() * size_of::<Option<T>>()
            + self.free.capacity() * size_of::<Slot>()
            + self.slots.allocation_size()
    }
}

/// The thing in a slot that is taken; that a slot is vacant would be a mistake of the policy.
impl<T> Index<Slot> for Register<T> {
    type Output = T;

    fn index(&self, slot: Slot) -> &T {
        thing_at(&self.things, slot)
    }
}

impl<T> IndexMut<Slot> for Register<T> {
    fn index_mut(&mut self, slot: Slot) -> &mut T {
        match &mut self.things[slot.index()] {
            Some(thing) => thing,
            None => panic!("{slot:?} is vacant"),
        }
    }
}

fn thing_at<T>(things: &[Option<T>], slot: Slot) -> &T {
    match &things[slot.index()] {
        Some(thing) => thing,
        None => panic!("{slot:?} is vacant"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Keyed for u64 {
        fn key(&self) -> u64 {
            *self
        }
    }

    #[test]
    fn a_thing_is_found_by_key_and_by_slot_until_it_is_taken_out() {
        let mut register = Register::new();
        let slots: Vec<Slot> = (0..1000).map(|key| register.insert(key)).collect();
        for (key, &slot) in (0..1000).zip(&slots) {
            assert_eq!(register.find(key), Some(slot));
            assert_eq!(register[slot], key);
        }
        assert_eq!(register.remove(slots[7]), 7);
        assert_eq!(register.find(7), None);
        assert_eq!(register.len(), 999);
        assert_eq!(register.insert(5000), slots[7], "the slot is used again");
        assert_eq!(register.find(5000), Some(slots[7]));
    }

    #[test]
    #[should_panic(expected = "vacant")]
    fn a_vacant_slot_cannot_be_read() {
        let mut register = Register::new();
        let slot = register.insert(1);
        register.remove(slot);
        let _ = register[slot];
    }

    #[test]
    fn an_absent_slot_takes_no_room() {
        assert_eq!(size_of::<Option<Slot>>(), size_of::<u32>());
    }

    #[test]
    fn every_slot_has_a_number() {
        assert_eq!(Slot::at(0).map(Slot::index), Some(0));
        assert_eq!(
            Slot::at(SLOTS_MAX - 1).map(Slot::index),
            Some(SLOTS_MAX - 1)
        );
        assert_eq!(Slot::at(SLOTS_MAX), None);
    }
}
