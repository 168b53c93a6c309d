//! In-degree first: the page to which the most visited pages link goes next.
//!
//! Matsukubo and Hayashi (2003), "in-degree first search", with the errata corrected. Departures: among equals the one that came to its count
//! first is taken first (the paper is silent); counts end at 2¹⁸ − 1; and the bounded kind, which is ours: when it is full
//! the least linked page makes room, of these the one that came to its count last, which may be the newcomer.
//!
//! A list for each count, and a [`LevelSet`] of the counts that have somebody: whether a page is raised, handed out or evicted,
//! the cost is a few look-ups, at the bottom as at the top.
//!
//! # Notation
//! *D*(*u*): the priority of a waiting page, a whole number of links.

use super::chains::{Chains, List};
use super::levels::{LEVELS, LevelSet};
use super::priority::bounded;
use super::register::{Keyed, Register, SLOTS_MAX, Slot};
use super::{Admission, Candidate, Source};

/// The highest count of links; beyond it all are equal.
const COUNT_MAX: f32 = (LEVELS - 1) as f32;

/// Hands out the most linked page; when full, evicts the least linked.
#[derive(Clone, Debug)]
pub struct InDegree<V> {
    pages: Register<Candidate<V>>,
    chains: Chains,
    /// The pages of each count, in the order in which they came to it. As long as the highest count so far.
    lists: Vec<List>,
    /// The counts whose list is not empty.
    counts: LevelSet,
    candidates_max: usize,
}

impl<V> Keyed for Candidate<V> {
    fn key(&self) -> u64 {
        self.fingerprint
    }
}

impl<V> InDegree<V> {
    /// An empty waiting room for as many pages as memory holds (2³² − 1 at most): the paper's own.
    #[must_use]
    pub fn unbounded() -> InDegree<V> {
        InDegree::bounded(SLOTS_MAX)
    }

    /// An empty waiting room for this many pages.
    #[must_use]
    pub fn bounded(candidates_max: usize) -> InDegree<V> {
        InDegree {
            pages: Register::new(),
            chains: Chains::default(),
            lists: Vec::new(),
            counts: LevelSet::new(),
            candidates_max: candidates_max.min(SLOTS_MAX),
        }
    }

    /// Memory taken, in bytes, without what the visits own elsewhere: from 18 to 32 for each page beside the candidate
    /// itself, up to twice that just after a table has grown, 8 for each count up to the highest so far, and 33 KiB.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pages.bytes()
            + self.chains.bytes()
            + self.lists.capacity() * size_of::<List>()
            + self.counts.bytes()
    }

    /// Puts a page behind those of its count.
    fn link(&mut self, slot: Slot) {
        let count = index_of(self.pages[slot].priority);
        if self.lists.len() <= count {
            self.lists.resize(count + 1, List::default());
        }
        self.chains.push_back(&mut self.lists[count], slot);
        self.counts.insert(count);
    }

    fn unlink(&mut self, slot: Slot) {
        let count = index_of(self.pages[slot].priority);
        self.chains.unlink(&mut self.lists[count], slot);
        if self.lists[count].is_empty() {
            self.counts.remove(count);
        }
    }

    fn take(&mut self, slot: Slot) -> Candidate<V> {
        self.unlink(slot);
        self.pages.remove(slot)
    }
}

impl<V> Admission<V> for InDegree<V> {
    fn gain(&mut self, _source: &Source, _host: u64) -> f32 {
        1.0
    }

    /// Adds links, rounded up to a whole number. A page that cannot rise stays where it is among its equals.
    fn raise(&mut self, fingerprint: u64, gain: f32) -> bool {
        let Some(slot) = self.pages.find(fingerprint) else {
            return false;
        };
        let priority = self.pages[slot].priority;
        let raised = whole(priority + whole(gain));
        if priority < raised {
            self.unlink(slot);
            self.pages[slot].priority = raised;
            self.link(slot);
        }
        true
    }

    /// A page that waits already is handed back.
    fn offer(&mut self, mut candidate: Candidate<V>) -> Option<Candidate<V>> {
        if self.pages.find(candidate.fingerprint).is_some() {
            return Some(candidate);
        }
        candidate.priority = whole(candidate.priority);
        let evicted = if self.pages.len() < self.candidates_max {
            None
        } else {
            let least = self.counts.lowest();
            let is_newcomer_least = least.is_none_or(|least| index_of(candidate.priority) <= least);
            if is_newcomer_least {
                return Some(candidate);
            }
            least.and_then(|least| self.lists[least].last())
        };
        let evicted = evicted.map(|slot| self.take(slot));
        let slot = self.pages.insert(candidate);
        self.link(slot);
        evicted
    }

    fn next(&mut self) -> Option<Candidate<V>> {
        let most = self.counts.highest()?;
        let slot = self.lists[most].first()?;
        Some(self.take(slot))
    }

    fn release(&mut self, _host: u64) {}

    fn len(&self) -> usize {
        self.pages.len()
    }

    fn room(&self) -> usize {
        self.candidates_max - self.pages.len()
    }
}

/// A priority as a number of links: whole, from none to the highest count; what is no number is none. Rounded up, because what comes
/// back from disk has the least priority of its byte: three links come back as 2.8.
fn whole(priority: f32) -> f32 {
    bounded(priority).min(COUNT_MAX).ceil()
}

/// The list for a whole priority.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole priority is from none to the highest count"
)]
fn index_of(whole_worth: f32) -> usize {
    whole_worth as usize
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Graph, calls, check_agreement, crawl, graphs, reachable};
    use super::*;
    use proptest::prelude::*;

    use super::super::{priority_byte, priority_of_byte};

    #[test]
    fn a_count_that_was_on_disk_is_of_the_same_grade() {
        for count in 1_u16..5000 {
            let count = f32::from(count);
            let restored = whole(priority_of_byte(priority_byte(count)));
            assert_eq!(
                priority_byte(restored),
                priority_byte(count),
                "{count} links"
            );
            assert!(restored <= count);
        }
    }

    /// The same by looking at every page, each time.
    struct Naive {
        /// Who waits, with the time at which its count came to what it is.
        waiting: Vec<(Candidate<usize>, u64)>,
        now: u64,
        candidates_max: usize,
    }

    impl Naive {
        fn new(candidates_max: usize) -> Naive {
            Naive {
                waiting: vec![],
                now: 0,
                candidates_max,
            }
        }
    }

    fn links(priority: f32) -> f32 {
        if priority.is_nan() || priority < 0.0 {
            return 0.0;
        }
        priority.ceil().min(262_143.0)
    }

    impl Admission<usize> for Naive {
        fn gain(&mut self, _: &Source, _: u64) -> f32 {
            1.0
        }

        fn raise(&mut self, fingerprint: u64, gain: f32) -> bool {
            self.now += 1;
            for (candidate, since) in &mut self.waiting {
                if candidate.fingerprint == fingerprint {
                    let raised = links(candidate.priority + links(gain));
                    if candidate.priority < raised {
                        candidate.priority = raised;
                        *since = self.now;
                    }
                    return true;
                }
            }
            false
        }

        fn offer(&mut self, mut candidate: Candidate<usize>) -> Option<Candidate<usize>> {
            self.now += 1;
            let is_same =
                |(other, _): &(Candidate<usize>, u64)| other.fingerprint == candidate.fingerprint;
            if self.waiting.iter().any(is_same) {
                return Some(candidate);
            }
            candidate.priority = links(candidate.priority);
            self.waiting.push((candidate, self.now));
            if self.waiting.len() <= self.candidates_max {
                return None;
            }
            let least = (0..self.waiting.len()).min_by(|&one, &other| {
                let ((one, since), (other, other_since)) =
                    (&self.waiting[one], &self.waiting[other]);
                one.priority
                    .total_cmp(&other.priority)
                    .then(other_since.cmp(since))
            });
            least.map(|index| self.waiting.remove(index).0)
        }

        fn next(&mut self) -> Option<Candidate<usize>> {
            let most = (0..self.waiting.len()).max_by(|&one, &other| {
                let ((one, since), (other, other_since)) =
                    (&self.waiting[one], &self.waiting[other]);
                one.priority
                    .total_cmp(&other.priority)
                    .then(other_since.cmp(since))
            });
            most.map(|index| self.waiting.remove(index).0)
        }

        fn release(&mut self, _: u64) {}

        fn len(&self) -> usize {
            self.waiting.len()
        }

        fn room(&self) -> usize {
            self.candidates_max - self.waiting.len()
        }
    }

    /// Matsukubo and Hayashi (2003) by its own words: arrays, and a scan for the highest count at each visit.
    fn in_degree_first(graph: &Graph) -> Vec<usize> {
        #[derive(Clone, Copy)]
        enum State {
            Unknown,
            Waiting { count: u32, since: usize },
            Visited,
        }
        let mut states = vec![State::Unknown; graph.links.len()];
        let mut now = 0;
        for &seed in &graph.seeds {
            states[seed] = State::Waiting {
                count: 1,
                since: now,
            };
            now += 1;
        }
        let mut order = vec![];
        loop {
            let waiting = states
                .iter()
                .enumerate()
                .filter_map(|(page, state)| match state {
                    State::Waiting { count, since } => Some((*count, usize::MAX - since, page)),
                    State::Unknown | State::Visited => None,
                });
            let Some((_, _, page)) = waiting.max() else {
                return order;
            };
            states[page] = State::Visited;
            order.push(page);
            for &target in &graph.links[page] {
                let count = match states[target] {
                    State::Unknown => 1,
                    State::Waiting { count, .. } => count + 1,
                    State::Visited => continue,
                };
                states[target] = State::Waiting { count, since: now };
                now += 1;
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn agrees_call_by_call_with_looking_at_every_page(
            candidates_max in 0_usize..10,
            calls in calls(),
        ) {
            let mut room = InDegree::bounded(candidates_max);
            let mut naive = Naive::new(candidates_max);
            check_agreement(&mut room, &mut naive, &calls)?;
        }

        #[test]
        fn unbounded_visits_a_graph_in_the_order_of_the_seed(graph in graphs()) {
            let order = crawl(&graph, &mut InDegree::unbounded());
            prop_assert_eq!(&order, &in_degree_first(&graph));
            prop_assert_eq!(order.len(), reachable(&graph).len());
        }
    }

    #[test]
    fn counts_beyond_the_highest_are_equal() {
        let mut room = InDegree::unbounded();
        for (page, priority) in [(1, COUNT_MAX), (2, f32::INFINITY), (3, 5.0)] {
            assert!(room.offer(page_of(page, priority)).is_none());
        }
        assert!(room.raise(1, 7.0), "and stays first among its equals");
        let order: Vec<usize> = std::iter::from_fn(|| room.next())
            .map(|next| next.visit)
            .collect();
        assert_eq!(order, [1, 2, 3]);
    }

    #[test]
    fn memory_is_as_documented() {
        let mut room = InDegree::bounded(1 << 16);
        for page in 0..1 << 17 {
            room.offer(page_of(page, 1.0 + (page % 8) as f32));
        }
        assert_eq!(room.len(), 1 << 16);
        let beside = room.bytes() / room.len() - size_of::<Candidate<usize>>();
        assert!(beside <= 32, "{beside} bytes beside the candidate");
    }

    fn page_of(page: usize, priority: f32) -> Candidate<usize> {
        Candidate {
            fingerprint: page as u64,
            host: 0,
            priority,
            visit: page,
        }
    }
}
