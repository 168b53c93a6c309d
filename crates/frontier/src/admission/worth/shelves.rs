//! The waiting pages, by level and by host and level, each in the order in which they came to their level.
//!
//! A page is in two lists: of all pages of its level, for eviction, and of those on its host, for hand-out. Invariant: a list of a host
//! that is in the table is not empty.

use hashbrown::HashTable;
use junkai_chance::mix;

use super::super::chains::{Chains, List};
use super::super::levels::lowest;
use super::super::priority;
use super::super::register::Slot;

/// Where a page stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The slot of its host.
    pub(super) host: Slot,
    /// Its level.
    pub(super) level: u8,
}

/// The pages of one host and level.
#[derive(Clone, Debug)]
struct Shelf {
    place: Place,
    list: List,
}

/// Lists of pages by level, and by host and level.
#[derive(Clone, Debug)]
pub(super) struct Shelves {
    of_all: Chains,
    levels: [List; priority::LEVELS as usize],
    /// A bit for each level whose list is not empty.
    taken: u64,
    of_hosts: Chains,
    by_host: HashTable<Shelf>,
}

impl Shelves {
    pub(super) fn new() -> Shelves {
        Shelves {
            of_all: Chains::default(),
            levels: [List::default(); priority::LEVELS as usize],
            taken: 0,
            of_hosts: Chains::default(),
            by_host: HashTable::new(),
        }
    }

    /// Puts a page behind those of its level.
    pub(super) fn push(&mut self, place: Place, page: Slot) {
        self.of_all
            .push_back(&mut self.levels[usize::from(place.level)], page);
        self.taken |= 1 << place.level;
        let entry = self
            .by_host
            .entry(
                hash(place),
                |shelf| shelf.place == place,
                |shelf| hash(shelf.place),
            )
            .or_insert_with(|| Shelf {
                place,
                list: List::default(),
            });
        self.of_hosts.push_back(&mut entry.into_mut().list, page);
    }

    /// Takes a page out from its place; says whether its host has others of its level.
    pub(super) fn remove(&mut self, place: Place, page: Slot) -> bool {
        let level = &mut self.levels[usize::from(place.level)];
        self.of_all.unlink(level, page);
        if level.is_empty() {
            self.taken &= !(1 << place.level);
        }
        let found = self
            .by_host
            .find_entry(hash(place), |shelf| shelf.place == place);
        let Ok(mut entry) = found else {
            panic!("{page:?} is not at {place:?}");
        };
        let list = &mut entry.get_mut().list;
        self.of_hosts.unlink(list, page);
        let has_others = !list.is_empty();
        if !has_others {
            entry.remove();
        }
        has_others
    }

    /// The page that came to this place first.
    pub(super) fn first(&self, place: Place) -> Option<Slot> {
        self.by_host
            .find(hash(place), |shelf| shelf.place == place)?
            .list
            .first()
    }

    /// The lowest level that has pages.
    pub(super) fn lowest(&self) -> Option<usize> {
        lowest(self.taken)
    }

    /// The page that came to this level last.
    pub(super) fn last(&self, level: usize) -> Option<Slot> {
        self.levels[level].last()
    }

    /// Memory taken, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.of_all.bytes() + self.of_hosts.bytes() + self.by_host.allocation_size()
    }
}

fn hash(place: Place) -> u64 {
    mix((place.host.index() as u64) << 8 | u64::from(place.level))
}

#[cfg(test)]
mod tests {
    use super::super::super::register::Register;
    use super::*;

    #[test]
    fn a_shelf_that_is_empty_is_not_kept() {
        let mut slots = Register::new();
        let [host, one, other] = [0, 1, 2].map(|key: u64| slots.insert(key));
        let place = Place { host, level: 5 };
        let mut shelves = Shelves::new();
        shelves.push(place, one);
        shelves.push(place, other);
        assert_eq!(shelves.first(place), Some(one));
        assert_eq!(shelves.last(5), Some(other));
        assert!(shelves.remove(place, one), "the other is left");
        assert_eq!(
            (shelves.first(place), shelves.lowest()),
            (Some(other), Some(5))
        );
        assert!(!shelves.remove(place, other));
        assert_eq!((shelves.first(place), shelves.lowest()), (None, None));
        assert!(shelves.by_host.is_empty());
    }
}
