//! The rate under which what was seen is most likely: exact, and the yardstick of the others.
//!
//! Tamura and Kitsuregawa (2007), equation 2: Σ *tᵢ* / (e^(*λtᵢ*) − 1) = *T*ₛ, the sum over the gaps in which a change was found. The left
//! side falls from infinity to zero and is convex, so there is one solution if any gap had a change and any had none, and
//! Newton's method climbs to it from any rate below. Departures: none; the singular cases are answered as the paper does.
//!
//! # Notation
//! *tᵢ*: `changed_gaps`; *T*ₛ: `stable_seconds`.

use super::gap::singular_rate;
use super::{Estimator, Evidence, Prior};
use crate::belief::Belief;

/// The estimator; it has no settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Likelihood;

/// All that was seen of a page, in seconds. It grows with every change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LikelihoodMemory {
    /// The gaps in which a change was found.
    pub changed_gaps: Vec<f64>,
    /// The sum of the others.
    pub stable_seconds: f64,
    /// The gap before the last visit.
    pub last: f64,
}

impl Estimator for Likelihood {
    type Memory = LikelihoodMemory;

    fn begin(&self, _prior: &Prior) -> LikelihoodMemory {
        LikelihoodMemory::default()
    }

    fn learn(&self, memory: &mut LikelihoodMemory, evidence: &Evidence, _prior: &Prior) {
        match *evidence {
            Evidence::Same { gap } => {
                memory.last = gap.as_secs_f64();
                memory.stable_seconds += memory.last;
            }
            Evidence::Changed { gap } | Evidence::ChangedAt { gap, .. } => {
                memory.last = gap.as_secs_f64();
                memory.changed_gaps.push(memory.last);
            }
            Evidence::Aged { .. } | Evidence::Told { .. } => {}
        }
    }

    fn belief(&self, memory: &LikelihoodMemory, prior: &Prior) -> Belief {
        let LikelihoodMemory {
            changed_gaps,
            stable_seconds,
            last,
        } = memory;
        let singular = singular_rate(changed_gaps.len() as f64, *stable_seconds, *last, prior);
        let rate = singular.unwrap_or_else(|| most_likely_rate(changed_gaps, *stable_seconds));
        Belief::point(rate)
    }
}

/// The solution of equation 2, in changes per second, to the last digits of `f64`.
///
/// # Panics
/// If there is none: no gap had a change, none had none, or a gap is not above zero.
#[must_use]
pub fn most_likely_rate(changed_gaps: &[f64], stable_seconds: f64) -> f64 {
    assert!(!changed_gaps.is_empty(), "no gap had a change");
    assert!(0.0 < stable_seconds, "every gap had a change");
    assert!(
        changed_gaps.iter().all(|gap| 0.0 < *gap),
        "a gap must be above zero"
    );
    let changed_seconds: f64 = changed_gaps.iter().sum();
    let longest = changed_gaps.iter().copied().fold(0.0, f64::max);
    // Equation 4 with the longest gap is not above the solution.
    let mut rate = (changed_seconds / stable_seconds).ln_1p() / longest;
    for _ in 0..STEPS_MAX {
        let (mut expected, mut slope) = (-stable_seconds, 0.0);
        for gap in changed_gaps {
            let grown = (rate * gap).exp_m1();
            let term = gap / grown;
            expected += term;
            // t² e^y / (e^y − 1)², which vanishes where e^y is too large a number.
            slope += if grown.is_finite() {
                term * term * (1.0 + grown)
            } else {
                0.0
            };
        }
        let step = expected / slope;
        rate += step;
        if step <= 1e-14 * rate {
            break;
        }
    }
    rate
}

/// Far below the solution a step at least doubles the rate; near it, it doubles the right digits.
const STEPS_MAX: u32 = 200;
