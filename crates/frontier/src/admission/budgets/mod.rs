//! By budgets of sites: the more others link to a site, the more of its pages are visited in a round.
//!
//! STAR and BEAST of Lee, Leonard, Wang, Loguinov, "`IRLbot`: Scaling to 6 Billion Pages and Beyond", WWW 2008, "Spam and Reputation" and
//! "Politeness and Budgets". Pages go to a row of queues: of each site as many as its budget to the next queue, as many again to
//! the one after it, and so on; what finds no queue is left over. When the queues are drained, what was left over is distributed
//! anew, over twice as many.
//!
//! Departures: all is in memory; the site is the host; the budget is reckoned when a page is put in a queue, from what is known by then;
//! the queues of a round are 2²⁰ at most.
//!
//! **Memory is not bounded**: every page that was found and not visited waits here, and every site, and with
//! [`Degree::DistinctHosts`] every pair of linked hosts, is kept. A call costs the same however many wait, but for the
//! [`next`](Admission::next) that begins a round: it reads all that was left over.
//!
//! # Notation
//! *Bₓ*: the budget of a site; *dₓ*: its degree; *j*: `queues`; *Q* with the index *F*: `left_over`.

mod config;
mod sites;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub use self::config::{BudgetConfig, Degree};
use self::sites::Sites;
use super::{Admission, Candidate, Source};

/// The most queues of a round that doubling leads to.
const QUEUES_MAX: u32 = 1 << 20;

/// Hands out rounds of pages in which each site has its budget. Takes in everything.
#[derive(Clone, Debug)]
pub struct Budgets<V> {
    sites: Sites,
    /// The queue that is being emptied.
    open: VecDeque<Candidate<V>>,
    /// Its number; queues are numbered on through all rounds.
    open_number: usize,
    /// The queues that follow it; none of them is empty.
    row: VecDeque<VecDeque<Candidate<V>>>,
    /// The number of the last queue of this round.
    last_number: usize,
    left_over: VecDeque<Candidate<V>>,
    /// Queues of the next round.
    queues: u32,
    is_doubling: bool,
    len: usize,
}

impl<V> Budgets<V> {
    /// An empty waiting room.
    #[must_use]
    pub fn new(config: BudgetConfig) -> Budgets<V> {
        Budgets {
            sites: Sites::new(config),
            open: VecDeque::new(),
            open_number: 0,
            row: VecDeque::new(),
            last_number: 0,
            left_over: VecDeque::new(),
            queues: config.queues.get(),
            is_doubling: config.is_doubling,
            len: 0,
        }
    }

    /// Memory taken, in bytes, without what the visits own elsewhere.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let places = self.row.iter().map(VecDeque::capacity).sum::<usize>()
            + self.open.capacity()
            + self.left_over.capacity();
        places * size_of::<Candidate<V>>()
            + self.row.capacity() * size_of::<VecDeque<Candidate<V>>>()
            + self.sites.bytes()
    }

    /// Puts a page in the first queue after the open one in which its site has some of its budget left, or leaves it over.
    fn place(&mut self, candidate: Candidate<V>) {
        let slot = self.sites.entry(candidate.host);
        let budget = self.sites.budget(slot);
        let site = self.sites.site(slot);
        if site.queue <= self.open_number {
            site.queue = self.open_number + 1;
            site.filled = 0;
        }
        if budget <= site.filled {
            site.queue += 1;
            site.filled = 0;
        }
        // A site that has gone beyond the last queue stays there until the round is over, even if its budget rises.
        if self.last_number < site.queue {
            self.left_over.push_back(candidate);
            return;
        }
        site.filled += 1;
        let index = site.queue - self.open_number - 1;
        // A site fills its queues one after the other, so no more than one is missing.
        if self.row.len() == index {
            self.row.push_back(VecDeque::new());
        }
        self.row[index].push_back(candidate);
    }

    /// Distributes what was left over to the queues of a new round.
    fn begin_round(&mut self) {
        self.open_number = self.last_number;
        self.last_number += self.queues as usize;
        if self.is_doubling {
            self.queues = self.queues.saturating_mul(2).min(QUEUES_MAX);
        }
        for candidate in std::mem::take(&mut self.left_over) {
            self.place(candidate);
        }
    }
}

impl<V> Admission<V> for Budgets<V> {
    /// Learns that the host is linked to; the page itself gains nothing.
    fn gain(&mut self, source: &Source, host: u64) -> f32 {
        self.sites.link(source.host, host);
        0.0
    }

    /// Nothing that waits can be raised, so nobody need know whether it waits.
    fn raise(&mut self, _fingerprint: u64, _gain: f32) -> bool {
        false
    }

    /// Takes in every page: nobody has to make room.
    fn offer(&mut self, candidate: Candidate<V>) -> Option<Candidate<V>> {
        self.place(candidate);
        self.len += 1;
        None
    }

    fn next(&mut self) -> Option<Candidate<V>> {
        if self.open.is_empty() {
            let is_drained = self.row.is_empty();
            if is_drained && !self.left_over.is_empty() {
                self.begin_round();
            }
            self.open = self.row.pop_front()?;
            self.open_number += 1;
        }
        let candidate = self.open.pop_front()?;
        self.len -= 1;
        Some(candidate)
    }

    fn release(&mut self, _host: u64) {}

    fn len(&self) -> usize {
        self.len
    }

    fn room(&self) -> usize {
        usize::MAX - self.len
    }
}
