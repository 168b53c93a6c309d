//! Who gets a scarce turn: the order in which known pages go to the ring.
//!
//! A bounded waiting room between discovery and the ring. The driver (the crawler, or the lab) tells it of every link, offers
//! it the pages that were not known, and takes from it as the ring has room. Policies differ in what a link is worth and in
//! whom they hand out next; what they share is [`Admission`].
//!
//! ```text
//!  link ──► gain ──► raise ── waits here: done
//!                      │ no
//!                      ▼
//!  new page ─────────► offer ──► next ──► ring ──► visit over: release
//!                      │
//!                      └─► evicted: spilled to disk by its priority, or discarded
//! ```
//!
//! Read [`Admission`] first, then [`Fifo`]. [`InDegree`] and [`Worth`] thread the waiting pages on lists, one for each level
//! (`register`, `chains`, `levels`); [`Budgets`] has queues. [`Order`] names them for settings.
//!
//! Invariants: a page waits at most once; no more wait than fit; each call costs the same however many wait (one that costs
//! more says so).
//!
//! Not here: which server a page is on, and when it may be visited ([`scheduler`](crate::scheduler)).

mod budgets;
mod chains;
mod fifo;
mod in_degree;
mod levels;
mod order;
mod priority;
mod register;
#[cfg(test)]
mod testing;
mod worth;

pub use budgets::{BudgetConfig, Budgets, Degree};
pub use fifo::Fifo;
pub use in_degree::InDegree;
pub use order::{Order, UnknownOrder};
pub use priority::{priority_byte, priority_of_byte};
pub use worth::{Gain, Worth, WorthConfig};

/// A page that waits, or wants to, for a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate<V> {
    /// Which page it is: the fingerprint of its canonical URL.
    pub fingerprint: u64,
    /// Which host it is on: the fingerprint of the host's name.
    pub host: u64,
    /// Its priority, by the links to it as far as they are known.
    pub priority: f32,
    /// What to visit.
    pub visit: V,
}

/// The visited page on which a link was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// The fingerprint of its host's name.
    pub host: u64,
    /// Its priority when it was handed out.
    pub priority: f32,
    /// How many pages it links to.
    pub links: u32,
}

/// With fewer candidates than this, some of those that were spilled come back: the last quarter of the room is kept for who
/// is found next.
#[must_use]
pub fn filled_from_spilled(candidates_max: usize) -> usize {
    candidates_max - candidates_max / 4
}

/// A bounded waiting room with an order of its own.
pub trait Admission<V> {
    /// What a link from `source` adds to the priority of a page on `host`. Policies that learn from links learn here, so it is
    /// called once for each link.
    fn gain(&mut self, source: &Source, host: u64) -> f32;

    /// Adds to the priority of a page, if it waits here; says whether it does.
    fn raise(&mut self, fingerprint: u64, gain: f32) -> bool;

    /// Takes in a page that does not wait here; returns the page that had to make room, which may be the same.
    fn offer(&mut self, candidate: Candidate<V>) -> Option<Candidate<V>>;

    /// Takes in a page, where no more than `candidates_max` may wait, whatever bound the policy has of its own: who comes to a full
    /// room without one is turned away.
    fn offer_within(
        &mut self,
        candidate: Candidate<V>,
        candidates_max: usize,
    ) -> Option<Candidate<V>> {
        let is_full = candidates_max <= self.len();
        if is_full && 0 < self.room() {
            return Some(candidate);
        }
        self.offer(candidate)
    }

    /// Takes out the page that comes next; none if none waits, or none of those that wait may go now.
    fn next(&mut self) -> Option<Candidate<V>>;

    /// Takes out any page that waits, for a driver that closes. A policy that holds pages back gives those, too.
    fn take_out(&mut self) -> Option<Candidate<V>> {
        self.next()
    }

    /// Learns that a visit to a host is over or will not be made: the host may get another.
    fn release(&mut self, host: u64);

    /// Pages that wait.
    fn len(&self) -> usize;

    /// How many more fit.
    fn room(&self) -> usize;

    /// Whether no page waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
