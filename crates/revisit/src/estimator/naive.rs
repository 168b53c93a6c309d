//! Changes that were seen, by the time in which they were: what comes to mind first.
//!
//! It is biased downwards, for several changes between two visits count as one (Cho and Garcia-Molina, "Estimating
//! Frequency of Change", ACM TOIT 3(3), 2003, section 4.1). Here to be compared with.
//!
//! Departures: while no change was seen, half a change is taken for seen, so that the rate is above zero.

use super::{Estimator, Evidence, Prior};
use crate::belief::Belief;

/// The estimator; it has no settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Naive;

/// What is kept for a page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NaiveMemory {
    /// Gaps in which a change was found.
    pub changes: f32,
    /// All gaps together, in seconds.
    pub time: f32,
}

impl Estimator for Naive {
    type Memory = NaiveMemory;

    fn begin(&self, _prior: &Prior) -> NaiveMemory {
        NaiveMemory::default()
    }

    fn learn(&self, memory: &mut NaiveMemory, evidence: &Evidence, _prior: &Prior) {
        match *evidence {
            Evidence::Same { gap } => memory.time += gap.as_secs_f32(),
            Evidence::Changed { gap } | Evidence::ChangedAt { gap, .. } => {
                memory.time += gap.as_secs_f32();
                memory.changes += 1.0;
            }
            Evidence::Aged { .. } | Evidence::Told { .. } => {}
        }
    }

    fn belief(&self, memory: &NaiveMemory, prior: &Prior) -> Belief {
        if memory.time <= 0.0 {
            return Belief::point(prior.rate);
        }
        Belief::point(f64::from(memory.changes.max(0.5)) / f64::from(memory.time))
    }
}
