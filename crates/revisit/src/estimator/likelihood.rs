//! The rate under which what was seen is most likely: exact, and the yardstick of the others.
//!
//! Seed 002, equation 2: Σ *tᵢ* / (e^(*λtᵢ*) − 1) = *T*ₛ, the sum over the gaps in which a change was found. The left
//! side falls from infinity to zero, so there is one solution if any gap had a change and any had none. It is found by
//! bisection on ln *λ*. Departures: none; the singular cases are answered as the seed does.
//!
//! # Notation
//! *tᵢ*: `changed_gaps`; *T*ₛ: `stable_seconds`.

use super::seed::singular_rate;
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
    let shortest = changed_gaps.iter().copied().fold(f64::MAX, f64::min);
    let longest = changed_gaps.iter().copied().fold(0.0, f64::max);
    // Equation 4 with the longest and the shortest gap is below and above the solution.
    let logarithm = (changed_seconds / stable_seconds).ln_1p();
    let mut below = (logarithm / longest).ln() - 1.0;
    let mut above = (logarithm / shortest).ln() + 1.0;
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(below, above);
        let rate = middle.exp();
        let expected: f64 = changed_gaps
            .iter()
            .map(|gap| gap / (rate * gap).exp_m1())
            .sum();
        if stable_seconds < expected {
            below = middle;
        } else {
            above = middle;
        }
    }
    f64::midpoint(below, above).exp()
}

/// Halvings of a span of ln *λ* that is a few hundred at most: its end is below the resolution of `f64`.
const BISECTIONS: u32 = 64;
