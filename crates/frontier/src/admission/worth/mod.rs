//! By worth: the best page of the best host goes next, where a host loses rank as it is visited.
//!
//! The priority of a page is estimated from the links that lead to it, each of which carries a share of the priority of the page that it is
//! on: `PageRank`, reckoned while crawling, after Abiteboul, Preda, Cobéna, "Adaptive On-Line Page Importance Computation", WWW 2003.
//! Departures: a page gives once, when it is visited, what it has by then; links across hosts carry more; and the order is by *levels*
//! of priority, two to each doubling ([`priority`](super::priority)), so that it costs the same however many pages wait.
//!
//! Worth alone would go deep into one host; the ring would hold these pages back, one by one, while others wait. So a host's rank
//! falls with the visits that it has had ([`hosts`]), and it has few in hand at a time.
//!
//! # Order
//! Next is a host of the highest host level, the first to have come to it; and of its pages one of the highest level, the first to have
//! come to it. When full, a page of the lowest level makes room, the last to have come to it, which may be the newcomer.
//!
//! # Cost
//! No call has a loop: it is a few look-ups in tables and words of bits, and eight changes of lists at most. Memory is bounded by `candidates_max`, and by the
//! visits in hand: see [`Worth::bytes`].

mod config;
mod hosts;
mod shelves;
#[cfg(test)]
mod tests;
mod visits;

pub use self::config::{Gain, WorthConfig};
use self::hosts::Hosts;
use self::shelves::{Place, Shelves};
use self::visits::Visits;
use super::priority::{bounded, level_of};
use super::register::{Keyed, Register, SLOTS_MAX, Slot};
use super::{Admission, Candidate, Source};

/// Hands out the best page of the best host; when full, evicts the worst page.
#[derive(Clone, Debug)]
pub struct Worth<V> {
    config: WorthConfig,
    pages: Register<Page<V>>,
    shelves: Shelves,
    hosts: Hosts,
}

/// A page that waits.
#[derive(Clone, Debug)]
struct Page<V> {
    candidate: Candidate<V>,
    place: Place,
}

impl<V> Keyed for Page<V> {
    fn key(&self) -> u64 {
        self.candidate.fingerprint
    }
}

impl<V> Worth<V> {
    /// An empty waiting room.
    #[must_use]
    pub fn new(config: WorthConfig) -> Worth<V> {
        let visits = Visits::new(config.counters());
        let hosts = Hosts::new(visits, config.spread, config.in_hand_max);
        let candidates_max = config.candidates_max.min(SLOTS_MAX);
        Worth {
            config: WorthConfig {
                candidates_max,
                ..config
            },
            pages: Register::new(),
            shelves: Shelves::new(),
            hosts,
        }
    }

    /// Hosts that have pages waiting or visits in hand.
    #[must_use]
    pub fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// Memory taken, in bytes, without what the visits own elsewhere.
    ///
    /// Beside its candidate a page takes from 50 bytes, where hosts have many pages, to 110, where each has but one; up to twice that
    /// just after a table has grown. A counter of visits takes 4.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pages.bytes() + self.shelves.bytes() + self.hosts.bytes()
    }

    /// Takes out a page that waits; its host is settled by the caller.
    fn take(&mut self, slot: Slot) -> Page<V> {
        self.unshelve(slot);
        self.pages.remove(slot)
    }

    fn shelve(&mut self, slot: Slot) {
        let place = self.pages[slot].place;
        self.shelves.push(place, slot);
        self.hosts.add_level(place.host, place.level);
    }

    fn unshelve(&mut self, slot: Slot) {
        let place = self.pages[slot].place;
        let has_others = self.shelves.remove(place, slot);
        if !has_others {
            self.hosts.remove_level(place.host, place.level);
        }
    }

    /// Takes out the page that came last to the lowest level, if that is below this one.
    fn evict_below(&mut self, level: u8) -> Option<Candidate<V>> {
        let lowest = self.shelves.lowest()?;
        if usize::from(level) <= lowest {
            return None;
        }
        let slot = self.shelves.last(lowest)?;
        let evicted = self.take(slot);
        self.hosts.settle(evicted.place.host);
        Some(evicted.candidate)
    }
}

impl<V> Admission<V> for Worth<V> {
    /// (teleport + damping · priority of the source) / its links, and that several times for a link to another host.
    fn gain(&mut self, source: &Source, host: u64) -> f32 {
        match self.config.gain {
            Gain::Count => 1.0,
            Gain::Share => {
                let shared = self.config.teleport + self.config.damping * bounded(source.priority);
                let share = shared / source.links.max(1) as f32;
                let is_cross_host = source.host != host;
                bounded(if is_cross_host {
                    share * self.config.cross_host
                } else {
                    share
                })
            }
        }
    }

    /// A page whose level stays the same keeps its place.
    fn raise(&mut self, fingerprint: u64, gain: f32) -> bool {
        let Some(slot) = self.pages.find(fingerprint) else {
            return false;
        };
        let page = &mut self.pages[slot];
        page.candidate.priority = bounded(page.candidate.priority + bounded(gain));
        let level = level_of(page.candidate.priority);
        let Place {
            host,
            level: before,
        } = page.place;
        if before < level {
            self.unshelve(slot);
            self.pages[slot].place.level = level;
            self.shelve(slot);
            self.hosts.settle(host);
        }
        true
    }

    /// A page that waits already is handed back.
    fn offer(&mut self, mut candidate: Candidate<V>) -> Option<Candidate<V>> {
        if self.pages.find(candidate.fingerprint).is_some() {
            return Some(candidate);
        }
        candidate.priority = bounded(candidate.priority);
        let level = level_of(candidate.priority);
        let mut evicted = None;
        if self.room() == 0 {
            evicted = self.evict_below(level);
            if evicted.is_none() {
                return Some(candidate);
            }
        }
        let host = self.hosts.entry(candidate.host);
        let place = Place { host, level };
        let slot = self.pages.insert(Page { candidate, place });
        self.shelve(slot);
        self.hosts.settle(host);
        evicted
    }

    fn next(&mut self) -> Option<Candidate<V>> {
        let (host, level) = self.hosts.first()?;
        let slot = self.shelves.first(Place { host, level })?;
        let page = self.take(slot);
        self.hosts.hand_out(host);
        Some(page.candidate)
    }

    fn take_out(&mut self) -> Option<Candidate<V>> {
        self.evict_below(u8::MAX)
    }

    fn release(&mut self, host: u64) {
        self.hosts.release(host);
    }

    fn len(&self) -> usize {
        self.pages.len()
    }

    fn room(&self) -> usize {
        self.config.candidates_max - self.pages.len()
    }
}
