//! The sites that are known, how much each is linked to, and the budget that this gives it (STAR).

use hashbrown::HashTable;

use junkai_chance::mix;

use super::super::register::{Keyed, Register, Slot};
use super::config::{BudgetConfig, Degree};

/// A site, and how far its pages have filled the queues.
#[derive(Clone, Debug)]
pub(super) struct Site {
    key: u64,
    degree: u32,
    /// The queue that gets its next page, unless that queue was opened meanwhile.
    pub(super) queue: usize,
    /// Pages of it that this queue has got.
    pub(super) filled: u64,
}

impl Keyed for Site {
    fn key(&self) -> u64 {
        self.key
    }
}

/// All sites; none is ever forgotten.
#[derive(Clone, Debug)]
pub(super) struct Sites {
    known: Register<Site>,
    /// Hashes of the pairs of hosts that are linked, where distinct hosts are counted.
    pairs: HashTable<u64>,
    degree_max: u32,
    ranks: Ranks,
    least: u64,
    /// What the most linked site gets above the least.
    range: u64,
    degree: Degree,
}

impl Sites {
    pub(super) fn new(config: BudgetConfig) -> Sites {
        let least = u64::from(config.least.get());
        Sites {
            known: Register::new(),
            pairs: HashTable::new(),
            degree_max: 0,
            ranks: Ranks::new(config.top_sites.map(|top| u64::from(top.get()))),
            least,
            range: u64::from(config.most.get()).saturating_sub(least),
            degree: config.degree,
        }
    }

    /// Learns of a link from one host to another.
    pub(super) fn link(&mut self, from: u64, to: u64) {
        if from == to {
            return;
        }
        match self.degree {
            Degree::Links => (),
            Degree::DistinctHosts => {
                if !self.is_new_pair(from, to) {
                    return;
                }
            }
        }
        let slot = self.entry(to);
        let site = &mut self.known[slot];
        site.degree = site.degree.saturating_add(1);
        self.degree_max = self.degree_max.max(site.degree);
        self.ranks.raise(site.degree);
    }

    /// The slot of this site, which is known from now on.
    pub(super) fn entry(&mut self, key: u64) -> Slot {
        match self.known.find(key) {
            Some(slot) => slot,
            None => self.known.insert(Site {
                key,
                degree: 0,
                queue: 0,
                filled: 0,
            }),
        }
    }

    pub(super) fn site(&mut self, slot: Slot) -> &mut Site {
        &mut self.known[slot]
    }

    /// Pages of this site that a queue takes: *Bₓ* = least + ⌊(most − least) · *dₓ* / max *d*⌋.
    pub(super) fn budget(&self, slot: Slot) -> u64 {
        let degree = self.known[slot].degree;
        if degree < self.ranks.threshold {
            return self.least;
        }
        self.least + self.range * u64::from(degree) / u64::from(self.degree_max.max(1))
    }

    /// Memory taken, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.known.bytes()
            + self.pairs.allocation_size()
            + self.ranks.sites_at.capacity() * size_of::<u32>()
    }

    /// Two pairs whose hashes are equal are taken for one: of 10⁹ pairs, with a chance of one in forty.
    fn is_new_pair(&mut self, from: u64, to: u64) -> bool {
        let pair = mix(mix(from).wrapping_add(to));
        let is_known = self.pairs.find(pair, |&known| known == pair).is_some();
        if !is_known {
            self.pairs.insert_unique(pair, pair, |&known| known);
        }
        !is_known
    }
}

/// The degree that it takes to be among the top sites.
///
/// A site rises by one at a time, so the threshold is kept by counting those at or above it; it only ever rises, and never above the
/// highest degree by more than one: all its steps together are no more than the links.
#[derive(Clone, Debug)]
struct Ranks {
    top_sites: Option<u64>,
    /// How many sites have each degree, from 1.
    sites_at: Vec<u32>,
    threshold: u32,
    /// Sites at or above the threshold.
    above: u64,
}

impl Ranks {
    fn new(top_sites: Option<u64>) -> Ranks {
        Ranks {
            top_sites,
            sites_at: Vec::new(),
            threshold: 1,
            above: 0,
        }
    }

    /// Learns that a site has come to this degree from the one below.
    fn raise(&mut self, degree: u32) {
        let Some(top_sites) = self.top_sites else {
            return;
        };
        let index = degree as usize;
        if self.sites_at.len() <= index {
            self.sites_at.resize(index + 1, 0);
        }
        self.sites_at[index - 1] = self.sites_at[index - 1].saturating_sub(1);
        self.sites_at[index] += 1;
        if degree == self.threshold {
            self.above += 1;
        }
        while top_sites < self.above {
            self.above -= u64::from(self.sites_at[self.threshold as usize]);
            self.threshold += 1;
        }
    }
}
