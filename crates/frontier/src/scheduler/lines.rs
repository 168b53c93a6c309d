//! Waiting lines: visits whose step has come while their server was not free, one FIFO per server.
//!
//! The scheduler fills a line when a lease is denied and empties it when the lease is free again. All lines share one
//! arena, so a line costs nothing while it is empty.

use std::num::NonZeroU32;

use crate::server::ServerKey;

/// A place in the arena: its index plus one.
type Place = NonZeroU32;

/// One FIFO of visits per server.
#[derive(Clone, Debug)]
pub(crate) struct Lines<V> {
    servers: Box<[Line]>,
    arena: Vec<Waiting<V>>,
    /// The first vacant place; vacant places are chained by `next`.
    vacant: Option<Place>,
    len: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Line {
    first: Option<Place>,
    last: Option<Place>,
    len: u32,
}

#[derive(Clone, Debug)]
struct Waiting<V> {
    /// None while the place is vacant.
    visit: Option<V>,
    next: Option<Place>,
}

impl<V> Lines<V> {
    pub(crate) fn new(keys: u32) -> Lines<V> {
        Lines {
            servers: vec![Line::default(); keys as usize].into(),
            arena: Vec::new(),
            vacant: None,
            len: 0,
        }
    }

    /// Visits in all lines.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Visits in one server's line.
    pub(crate) fn len_of(&self, key: ServerKey) -> usize {
        self.servers[key.index()].len as usize
    }

    pub(crate) fn is_empty(&self, key: ServerKey) -> bool {
        self.servers[key.index()].first.is_none()
    }

    /// Everything that stands in a line, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &V> {
        self.arena.iter().filter_map(|place| place.visit.as_ref())
    }

    /// Puts a visit at the end of its server's line.
    pub(crate) fn push_back(&mut self, key: ServerKey, visit: V) {
        let place = self.occupy(visit, None);
        let line = &mut self.servers[key.index()];
        line.len += 1;
        match line.last.replace(place) {
            Some(last) => self.arena[index(last)].next = Some(place),
            None => line.first = Some(place),
        }
    }

    /// Puts a visit at the head of its server's line.
    pub(crate) fn push_front(&mut self, key: ServerKey, visit: V) {
        let place = self.occupy(visit, self.servers[key.index()].first);
        let line = &mut self.servers[key.index()];
        line.len += 1;
        line.first = Some(place);
        line.last = line.last.or(Some(place));
    }

    /// Takes the visit at the head of the server's line.
    pub(crate) fn pop_front(&mut self, key: ServerKey) -> Option<V> {
        let line = &mut self.servers[key.index()];
        let place = line.first?;
        let waiting = &mut self.arena[index(place)];
        line.len -= 1;
        line.first = waiting.next;
        if line.first.is_none() {
            line.last = None;
        }
        waiting.next = self.vacant.replace(place);
        self.len -= 1;
        waiting.visit.take()
    }

    /// Bytes of memory held, apart from what the visits themselves point to.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.servers) + self.arena.capacity() * size_of::<Waiting<V>>()
    }

    fn occupy(&mut self, visit: V, next: Option<Place>) -> Place {
        self.len += 1;
        let waiting = Waiting {
            visit: Some(visit),
            next,
        };
        if let Some(place) = self.vacant {
            let vacated = std::mem::replace(&mut self.arena[index(place)], waiting);
            self.vacant = vacated.next;
            return place;
        }
        self.arena.push(waiting);
        #[expect(
            clippy::expect_used,
            reason = "as many visits as fit in memory are fewer than four billion"
        )]
        u32::try_from(self.arena.len())
            .ok()
            .and_then(Place::new)
            .expect("places fit in 32 bits")
    }
}

fn index(place: Place) -> usize {
    place.get() as usize - 1
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Op {
        PushBack(u32),
        PushFront(u32),
        PopFront(u32),
    }

    fn any_op() -> impl Strategy<Value = Op> {
        prop_oneof![
            2 => (0_u32..3).prop_map(Op::PushBack),
            1 => (0_u32..3).prop_map(Op::PushFront),
            3 => (0_u32..3).prop_map(Op::PopFront),
        ]
    }

    proptest! {
        #[test]
        fn each_line_is_a_queue_of_its_own(ops in prop::collection::vec(any_op(), 0..200)) {
            let mut lines = Lines::new(3);
            let mut model: [VecDeque<usize>; 3] = Default::default();
            let mut longest = 0;
            for (visit, op) in ops.into_iter().enumerate() {
                match op {
                    Op::PushBack(number) => {
                        lines.push_back(ServerKey::new(number), visit);
                        model[number as usize].push_back(visit);
                    }
                    Op::PushFront(number) => {
                        lines.push_front(ServerKey::new(number), visit);
                        model[number as usize].push_front(visit);
                    }
                    Op::PopFront(number) => {
                        let popped = lines.pop_front(ServerKey::new(number));
                        prop_assert_eq!(popped, model[number as usize].pop_front());
                    }
                }
                for (number, line) in (0..).zip(&model) {
                    prop_assert_eq!(lines.len_of(ServerKey::new(number)), line.len());
                    prop_assert_eq!(lines.is_empty(ServerKey::new(number)), line.is_empty());
                }
                let waiting = model.iter().map(VecDeque::len).sum();
                longest = longest.max(waiting);
                prop_assert_eq!(lines.len(), waiting);
                prop_assert_eq!(lines.arena.len(), longest, "vacant places are used again");
            }
        }
    }
}
