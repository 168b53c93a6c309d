//! Many queues over the same slots: push, pop at either end and take out of the middle, each in constant time.
//!
//! The links are kept by slot in one table, [`Chains`]; a queue itself is only its two ends, a [`List`]. A slot is in at most
//! one list of a table; whoever needs a thing in two lists keeps two tables.
//!
//! Not here: what is in the slots ([`register`](super::register)).

use super::register::Slot;

/// The two ends of a queue of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    ends: Option<Ends>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends {
    first: Slot,
    last: Slot,
}

impl List {
    pub(super) const fn is_empty(self) -> bool {
        self.ends.is_none()
    }

    /// The slot that came first.
    pub(super) fn first(self) -> Option<Slot> {
        self.ends.map(|ends| ends.first)
    }

    /// The slot that came last.
    pub(super) fn last(self) -> Option<Slot> {
        self.ends.map(|ends| ends.last)
    }
}

/// The neighbours of a slot in its list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Links {
    previous: Option<Slot>,
    next: Option<Slot>,
}

/// The links of all slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    links: Vec<Links>,
}

impl Chains {
    /// Puts a slot, which is in no list, at the end of this one.
    pub(super) fn push_back(&mut self, list: &mut List, slot: Slot) {
        #[cfg(test)]
        super::testing::count_step();
        if self.links.len() <= slot.index() {
            self.links.resize(slot.index() + 1, Links::default());
        }
        self.links[slot.index()] = Links {
            previous: list.last(),
            next: None,
        };
        let first = match list.ends {
            Some(ends) => {
                self.links[ends.last.index()].next = Some(slot);
                ends.first
            }
            None => slot,
        };
        list.ends = Some(Ends { first, last: slot });
    }

    /// Takes a slot out of the list that it is in, which must be this one.
    pub(super) fn unlink(&mut self, list: &mut List, slot: Slot) {
        #[cfg(test)]
        super::testing::count_step();
        let Links { previous, next } = std::mem::take(&mut self.links[slot.index()]);
        if let Some(previous) = previous {
            self.links[previous.index()].next = next;
        }
        if let Some(next) = next {
            self.links[next.index()].previous = previous;
        }
        list.ends = list.ends.and_then(|ends| {
            let is_first = ends.first == slot;
            let is_last = ends.last == slot;
            Some(Ends {
                first: if is_first { next? } else { ends.first },
                last: if is_last { previous? } else { ends.last },
            })
        });
    }

    /// Memory taken, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.links.capacity() * size_of::<Links>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::super::register::Register;
    use super::*;
    use proptest::prelude::*;

    fn slots(count: u64) -> Vec<Slot> {
        let mut register = Register::new();
        (0..count).map(|key| register.insert(key)).collect()
    }

    proptest! {
        #[test]
        fn lists_behave_as_queues_of_which_any_member_can_leave(
            operations in prop::collection::vec((0_usize..8, 0_usize..3, 0_u8..4), 0..200),
        ) {
            let slots = slots(8);
            let mut chains = Chains::default();
            let mut lists = [List::default(); 3];
            let mut models: [VecDeque<Slot>; 3] = Default::default();
            for (slot, list, operation) in operations {
                let slot = slots[slot];
                let home = models.iter().position(|model| model.contains(&slot));
                match (operation, home) {
                    (0 | 1, None) => {
                        chains.push_back(&mut lists[list], slot);
                        models[list].push_back(slot);
                    }
                    (0 | 1, Some(home)) => {
                        chains.unlink(&mut lists[home], slot);
                        models[home].retain(|&other| other != slot);
                    }
                    (2, _) => {
                        let first = lists[list].first();
                        prop_assert_eq!(first, models[list].pop_front());
                        if let Some(first) = first {
                            chains.unlink(&mut lists[list], first);
                        }
                    }
                    _ => {
                        let last = lists[list].last();
                        prop_assert_eq!(last, models[list].pop_back());
                        if let Some(last) = last {
                            chains.unlink(&mut lists[list], last);
                        }
                    }
                }
                for (list, model) in lists.iter().zip(&models) {
                    prop_assert_eq!(list.is_empty(), model.is_empty());
                    prop_assert_eq!(list.first(), model.front().copied());
                    prop_assert_eq!(list.last(), model.back().copied());
                }
            }
        }
    }
}
