//! In-degree first: the page to which the most visited pages link goes next.
//!
//! Seed 001, "in-degree first search", with the errata corrected. Departures: among equals the one that came to its count
//! first is taken first (the paper is silent); counts end at 2¹⁸ − 1; and the bounded kind, which is ours: when it is full
//! the least linked page makes room, of these the one that came to its count last, which may be the newcomer.
//!
//! A list for each count, and a [`LevelSet`] of the counts that have somebody: whether a page is raised, handed out or evicted,
//! the cost is a few look-ups, at the bottom as at the top.
//!
//! # Notation
//! *D*(*u*): the worth of a waiting page, a whole number of links.

use super::chains::{Chains, List};
use super::grade::bounded;
use super::levels::{LEVELS, LevelSet};
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
    /// An empty waiting room for as many pages as memory holds (2³² − 1 at most): the seed's own.
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

    /// Memory taken, in bytes, without what the visits own elsewhere: about 25 for each page beside the candidate itself
    /// (in a table that doubles as it grows), 8 for each count up to the highest so far, and 33 KiB.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pages.bytes()
            + self.chains.bytes()
            + self.lists.capacity() * size_of::<List>()
            + self.counts.bytes()
    }

    /// Puts a page behind those of its count.
    fn link(&mut self, slot: Slot) {
        let count = index_of(self.pages[slot].worth);
        if self.lists.len() <= count {
            self.lists.resize(count + 1, List::default());
        }
        self.chains.push_back(&mut self.lists[count], slot);
        self.counts.insert(count);
    }

    fn unlink(&mut self, slot: Slot) {
        let count = index_of(self.pages[slot].worth);
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

    /// Adds links, rounded down to a whole number. A page that cannot rise stays where it is among its equals.
    fn raise(&mut self, fingerprint: u64, gain: f32) -> bool {
        let Some(slot) = self.pages.find(fingerprint) else {
            return false;
        };
        let worth = self.pages[slot].worth;
        let raised = whole(worth + whole(gain));
        if worth < raised {
            self.unlink(slot);
            self.pages[slot].worth = raised;
            self.link(slot);
        }
        true
    }

    /// A page that waits already is handed back.
    fn offer(&mut self, mut candidate: Candidate<V>) -> Option<Candidate<V>> {
        if self.pages.find(candidate.fingerprint).is_some() {
            return Some(candidate);
        }
        candidate.worth = whole(candidate.worth);
        let evicted = if self.pages.len() < self.candidates_max {
            None
        } else {
            let least = self.counts.lowest();
            let is_newcomer_least = least.is_none_or(|least| index_of(candidate.worth) <= least);
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

/// A worth as a number of links: whole, from none to the highest count; what is no number is none.
fn whole(worth: f32) -> f32 {
    bounded(worth).min(COUNT_MAX).floor()
}

/// The list for a whole worth.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole worth is from none to the highest count"
)]
fn index_of(whole_worth: f32) -> usize {
    whole_worth as usize
}
