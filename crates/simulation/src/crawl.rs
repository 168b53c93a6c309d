//! A crawl of a web graph under a virtual clock, by the crawler's own engine.
//!
//! [`simulate`] runs a [`Trial`] and gives a [`Run`]: which page was visited when, how many waited in memory, how close
//! two visits to one server came. Every page downloads successfully.
//!
//! | policy | crawled by |
//! | --- | --- |
//! | one that settings of a crawl make | `engine`: the engine that crawls, on a disk in memory |
//! | a variant of these that no settings make, with a ring | `model`, which does as the engine does, visit by visit |
//! | an order alone, without ring and clock | `one_by_one` |
//! | the ring of Morimoto et al. (2011) | `one_step` |
//!
//! Not here: what a page is worth to the researcher (`value`); a policy never sees it, except the ceiling
//! [`Policy::Opt`].

mod deferred;
mod discovery;
mod engine;
mod model;
mod one_by_one;
mod one_step;
mod spilled;

use std::time::Duration;

use junkai_engine::Settings;
use junkai_frontier::Time;
use junkai_graph::{Page, WebGraph};

use crate::policy::{Policy, RingSetup, Setup};
use crate::value::Value;

/// One crawl to simulate.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// The web.
    pub web: &'a WebGraph,
    /// Where the crawl begins, in this order.
    pub seeds: &'a [Page],
    /// How to crawl.
    pub policy: &'a Policy,
    /// Pages to visit at most.
    pub pages_max: u32,
    /// How long a visit to each server takes; those beyond take as long as the policy says.
    pub latencies: &'a [Duration],
}

/// What a crawl did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The pages, as they were visited.
    pub order: Vec<Page>,
    /// After each visit, how many pages waited in memory.
    pub stored: Vec<u32>,
    /// When each visit ended; empty where no clock runs: a policy without the crawler's own ring has only an order.
    pub ended: Vec<Time>,
    /// Times that a page found no room and was forgotten.
    pub discarded: u64,
    /// Times that a page found no room and was spilled.
    pub spilled: u64,
    /// Links that were followed.
    pub links: u64,
    /// How close visits to one server came.
    pub pace: Pace,
}

/// How close visits to one server came: politeness, as the servers would have measured it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// The least gap that was promised, in the unit of the run: steps for Morimoto et al. (2011), microseconds for ours; zero where
    /// nothing is promised.
    pub promised: u64,
    /// The least gap that there was between two visits to one server; none if no server was visited twice.
    pub least: Option<u64>,
    /// Gaps that were shorter than promised.
    pub violations: u64,
}

impl Pace {
    fn promising(promised: u64) -> Pace {
        Pace {
            promised,
            ..Pace::default()
        }
    }

    fn note(&mut self, gap: u64) {
        self.least = Some(self.least.map_or(gap, |least| least.min(gap)));
        self.violations += u64::from(gap < self.promised);
    }
}

impl Run {
    /// The most pages that waited in memory.
    #[must_use]
    pub fn stored_max(&self) -> u32 {
        self.stored.iter().copied().max().unwrap_or(0)
    }

    /// A crawl in which servers are promised this interval.
    fn promising(interval: Duration) -> Run {
        let micros = u64::try_from(interval.as_micros()).unwrap_or(u64::MAX);
        Run {
            pace: Pace::promising(micros),
            ..Run::default()
        }
    }

    fn visited(&mut self, page: Page, stored: usize) {
        self.order.push(page);
        self.stored.push(u32::try_from(stored).unwrap_or(u32::MAX));
    }

    fn is_over(&self, trial: &Trial<'_>) -> bool {
        trial.pages_max as usize <= self.order.len()
    }
}

/// Crawls. The `value` of pages is for [`Policy::Opt`] alone; `progress` hears now and then how many pages were visited.
pub fn simulate(trial: &Trial<'_>, value: &Value, progress: &mut dyn FnMut(u64)) -> Run {
    match by_engine(trial.policy) {
        Some((settings, ring)) => engine::crawl(trial, settings, ring, progress),
        None => simulate_by_model(trial, value, progress),
    }
}

/// The same without the engine, whose crawls a model repeats in a tenth of the time: to measure what an order costs by itself.
pub fn simulate_by_model(trial: &Trial<'_>, value: &Value, progress: &mut dyn FnMut(u64)) -> Run {
    match trial.policy {
        Policy::Opt => best_first(trial, value),
        Policy::OneStepRing(setup) => one_step::crawl(trial, *setup, progress),
        Policy::Crawl(
            setup @ Setup {
                ring: Some(ring), ..
            },
        ) => model::crawl(trial, setup, ring, progress),
        Policy::Crawl(setup) => one_by_one::crawl(trial, setup, progress),
    }
}

/// Whether it is the engine that crawls by this policy: if settings make the crawler do so.
#[must_use]
pub fn is_by_engine(policy: &Policy) -> bool {
    by_engine(policy).is_some()
}

fn by_engine(policy: &Policy) -> Option<(Settings, &RingSetup)> {
    let Policy::Crawl(setup) = policy else {
        return None;
    };
    let ring = setup.ring.as_ref()?;
    Some((engine::settings(setup, ring)?, ring))
}

/// The ceiling: all pages that can be reached, the most valuable first.
fn best_first(trial: &Trial<'_>, value: &Value) -> Run {
    let mut order = value.best_first();
    order.truncate(trial.pages_max as usize);
    Run {
        stored: vec![0; order.len()],
        order,
        ..Run::default()
    }
}

/// Tells of progress now and then.
struct Ticker<'a> {
    sink: &'a mut dyn FnMut(u64),
}

impl Ticker<'_> {
    /// Visits between two reports.
    const EVERY: usize = 1 << 13;

    fn at(&mut self, visits: usize) {
        if visits.is_multiple_of(Self::EVERY) {
            (self.sink)(visits as u64);
        }
    }
}

/// Spreads numbers over 64 bits, one to one: the prototype's hash, so that its residues are ours.
fn mix(number: u32) -> u64 {
    let mut hash = u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash ^ (hash >> 32)
}
