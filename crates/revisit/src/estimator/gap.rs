//! Equation 4 of Tamura and Kitsuregawa (2007): the change interval from four numbers per page.
//!
//! Tamura and Kitsuregawa (2007) (the incremental crawler), equations 2–4. With changed gaps of one length the equation is the exact
//! maximum-likelihood solution. With others it is not: the geometric mean with the shortest gap, the paper's choice, grows
//! a bias without bound, because the shortest gap ever seen only gets shorter.
//!
//! # Notation
//! *T*: time in all, `changed_time` + `stable_time`; *T*ₛ: `stable_time`, in gaps without a change; *m*: `changed_gaps`;
//! *t̄*: the typical changed gap.
//!
//! Departures: the paper leaves the factor of its back-off open; it is 2.

use std::time::Duration;

use super::{Estimator, Evidence, Prior};
use crate::belief::Belief;

/// How the change interval follows from what was seen: *λ* = ln(*T* / *T*ₛ) / *t̄*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GapEstimator {
    /// What is taken for the typical changed gap.
    pub typical: TypicalGap,
}

/// What is taken for the typical gap in which a change was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypicalGap {
    /// The shortest.
    Shortest,
    /// The mean.
    Mean,
    /// The geometric mean of the two above: the paper's choice.
    GeometricMean,
}

/// What is kept for a page, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GapMemory {
    /// Sum of the gaps in which a change was found.
    pub changed_time: f32,
    /// Sum of the others.
    pub stable_time: f32,
    /// Gaps in which a change was found.
    pub changed_gaps: f32,
    /// The shortest of them; zero while there is none.
    pub shortest: f32,
    /// The gap before the last visit.
    pub last: f32,
}

/// When nothing or everything changed, the last gap is made this many times as long or as short.
pub(super) const BACK_OFF: f64 = 2.0;

/// Gaps shorter than this count as this long, so that logarithms and quotients stay numbers.
const GAP_SECONDS_MIN: f32 = 1e-3;

impl Estimator for GapEstimator {
    type Memory = GapMemory;

    fn begin(&self, _prior: &Prior) -> GapMemory {
        GapMemory::default()
    }

    fn learn(&self, memory: &mut GapMemory, evidence: &Evidence, _prior: &Prior) {
        match *evidence {
            Evidence::Same { gap } => {
                memory.last = kept(gap);
                memory.stable_time += kept(gap);
            }
            Evidence::Changed { gap } | Evidence::ChangedAt { gap, .. } => {
                let gap = kept(gap);
                let is_first = memory.changed_gaps < 1.0;
                memory.shortest = if is_first {
                    gap
                } else {
                    gap.min(memory.shortest)
                };
                memory.last = gap;
                memory.changed_time += gap;
                memory.changed_gaps += 1.0;
            }
            // The paper knows visits only.
            Evidence::Aged { .. } | Evidence::Told { .. } => {}
        }
    }

    fn belief(&self, memory: &GapMemory, prior: &Prior) -> Belief {
        let [changed_time, stable_time, changed_gaps, shortest, last] = [
            memory.changed_time,
            memory.stable_time,
            memory.changed_gaps,
            memory.shortest,
            memory.last,
        ]
        .map(f64::from);
        if let Some(rate) = singular_rate(changed_gaps, stable_time, last, prior) {
            return Belief::point(rate);
        }
        let mean = changed_time / changed_gaps;
        let typical = match self.typical {
            TypicalGap::Shortest => shortest,
            TypicalGap::Mean => mean,
            TypicalGap::GeometricMean => (shortest * mean).sqrt(),
        };
        Belief::point((changed_time / stable_time).ln_1p() / typical)
    }
}

/// The rate where no maximum exists: the prior's before the first revisit, then by the paper's back-off.
pub(super) fn singular_rate(
    changed_gaps: f64,
    stable_time: f64,
    last_gap: f64,
    prior: &Prior,
) -> Option<f64> {
    if last_gap <= 0.0 {
        Some(prior.rate)
    } else if changed_gaps < 1.0 {
        Some(1.0 / (BACK_OFF * last_gap))
    } else if stable_time <= 0.0 {
        Some(BACK_OFF / last_gap)
    } else {
        None
    }
}

fn kept(gap: Duration) -> f32 {
    gap.as_secs_f32().max(GAP_SECONDS_MIN)
}
