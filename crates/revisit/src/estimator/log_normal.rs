//! Two numbers per page that remember all its visits, and take no scale of time for granted: a log-normal distribution,
//! filtered.
//!
//! Rates of change span seven powers of ten. A Gamma prior that fits a site of slow pages holds a page that changes every
//! hour for all but impossible, and hundreds of visits go by before it gives in. Here the *logarithm* of the rate is
//! believed to be normal: a change where none was expected moves it by a factor, as the seed's back-off does, and the
//! more visits there were, the less.
//!
//! Assumed-density filtering (Minka, doctoral thesis, MIT, 2001, chapter 3) in ln *λ*: after each visit the normal
//! distribution with the mean and the variance of the exact posterior takes its place. All likelihoods are log-concave in
//! ln *λ*, so the posterior has one peak; it is found by Newton's method, and the moments by Gauss–Hermite quadrature around
//! it (Liu and Pierce, "A note on Gauss–Hermite quadrature", Biometrika 81(3), 1994).
//!
//! Between visits ln *λ* is an Ornstein–Uhlenbeck process around the site's mean, for pages change their habits: what was
//! learnt fades with the time constant *τ*, and the site's prior is what remains.
//!
//! # Notation
//! *x* = ln *λ*, *λ* in changes per second, believed to be N(*μ*, *σ*²); *μ*: `ln_rate`; *σ*: `spread`; *t*: the gap; *s*: the
//! age of the last change; *τ*: `forgetting`; *ρ* = e^(−*t*/*τ*).
//! No change: e^(−*λt*); a change: 1 − e^(−*λt*); the last one *s* ago: *λ*e^(−*λs*).
//! Fading: *μ* ← *μ*₀ + *ρ*(*μ* − *μ*₀), *σ*² ← *σ*₀² + *ρ*²(*σ*² − *σ*₀²).
//!
//! Departures: none.

use std::time::Duration;

use super::{Estimator, Evidence, Prior, within};
use crate::belief::Belief;

/// The filter; its settings are for all pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    /// The time in which what was learnt fades to 1/e; none to remember for ever.
    pub forgetting: Option<Duration>,
}

/// What is kept for a page: its distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormalMemory {
    /// *μ*.
    pub ln_rate: f32,
    /// *σ*: above zero.
    pub spread: f32,
}

/// A distribution in full precision, while it is worked on.
#[derive(Clone, Copy, Debug)]
struct Normal {
    mean: f64,
    variance: f64,
}

/// What was seen, as a likelihood of *x*.
#[derive(Clone, Copy)]
enum Likelihood {
    /// No change within so many seconds.
    Same(f64),
    /// A change within so many seconds.
    Changed(f64),
    /// The last change so many seconds ago.
    Aged(f64),
}

/// A change every millisecond, and one in a million years.
const LN_RATES: (f64, f64) = (-31.0, 7.0);
const SPREADS: (f64, f64) = (1e-3, 5.0);
/// Newton's method is at its end after a few steps; from far away it needs one for each unit of *x*.
const STEPS_MAX: u32 = 100;

/// Nodes and weights of Gauss–Hermite quadrature for the standard normal distribution, one side of nine.
const CENTRE_WEIGHT: f64 = 0.406_349_206_349_206_35;
const NODES: [(f64, f64); 4] = [
    (1.023_255_663_789_132_5, 0.244_097_502_894_939_1),
    (2.076_847_978_677_83, 0.049_916_406_765_217_88),
    (3.205_429_002_856_470_4, 0.002_789_141_321_231_769),
    (4.512_745_863_399_783, 0.000_022_345_844_007_746_58),
];

impl Estimator for LogNormal {
    type Memory = LogNormalMemory;

    fn begin(&self, prior: &Prior) -> LogNormalMemory {
        Normal::of_prior(prior).kept()
    }

    fn learn(&self, memory: &mut LogNormalMemory, evidence: &Evidence, prior: &Prior) {
        let before = Normal::of_memory(*memory);
        let after = match *evidence {
            Evidence::Same { gap } => self
                .faded(before, gap, prior)
                .given(Likelihood::Same(seconds(gap))),
            Evidence::Changed { gap } => self
                .faded(before, gap, prior)
                .given(Likelihood::Changed(seconds(gap))),
            Evidence::ChangedAt { gap, age, trust } => {
                let before = self.faded(before, gap, prior);
                let dated = before.given(Likelihood::Aged(seconds(age.min(gap))));
                dated.mixed(trust, before.given(Likelihood::Changed(seconds(gap))))
            }
            Evidence::Aged { age, trust } => {
                let dated = before.given(Likelihood::Aged(seconds(age)));
                dated.mixed(trust, before)
            }
            Evidence::Told { every, trust } => {
                let told = before.given(Likelihood::Aged(seconds(every)));
                told.mixed(trust, before)
            }
        };
        *memory = after.kept();
    }

    fn belief(&self, memory: &LogNormalMemory, _prior: &Prior) -> Belief {
        let now = Normal::of_memory(*memory);
        Belief::of_logarithm(now.mean, now.variance)
    }
}

impl LogNormal {
    fn faded(&self, before: Normal, gap: Duration, prior: &Prior) -> Normal {
        let Some(forgetting) = self.forgetting else {
            return before;
        };
        let kept = (-gap.as_secs_f64() / forgetting.as_secs_f64().max(1.0)).exp();
        let prior = Normal::of_prior(prior);
        Normal {
            mean: prior.mean + kept * (before.mean - prior.mean),
            variance: prior.variance + kept * kept * (before.variance - prior.variance),
        }
    }
}

impl LogNormalMemory {
    /// The memory that holds a belief.
    #[must_use]
    pub fn of_belief(belief: &Belief) -> LogNormalMemory {
        Normal {
            mean: belief.ln_rate(),
            variance: belief.ln_variance(),
        }
        .kept()
    }
}

impl Normal {
    fn of_prior(prior: &Prior) -> Normal {
        Normal {
            mean: prior.ln_rate(),
            variance: prior.ln_variance(),
        }
    }

    fn of_memory(memory: LogNormalMemory) -> Normal {
        Normal {
            mean: within(memory.ln_rate.into(), LN_RATES),
            variance: within(memory.spread.into(), SPREADS).powi(2),
        }
    }

    fn kept(self) -> LogNormalMemory {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "seven digits are kept of a number within bounds"
        )]
        LogNormalMemory {
            ln_rate: within(self.mean, LN_RATES) as f32,
            spread: within(self.variance.sqrt(), SPREADS) as f32,
        }
    }

    /// The normal distribution with the moments of the posterior.
    fn given(self, likelihood: Likelihood) -> Normal {
        let ln_density =
            |x: f64| likelihood.ln(x) - (x - self.mean).powi(2) / (2.0 * self.variance);
        let (peak, width) = self.peak(likelihood);
        let top = ln_density(peak);
        let (mut all, mut first, mut second) = (CENTRE_WEIGHT, 0.0, 0.0);
        for (node, weight) in NODES {
            for node in [node, -node] {
                // The quadrature's own density is divided out.
                let ratio = ln_density(peak + width * node) - top + node * node / 2.0;
                let part = weight * ratio.exp();
                all += part;
                first += part * node;
                second += part * node * node;
            }
        }
        let mean = first / all;
        Normal {
            mean: peak + width * mean,
            variance: width * width * (second / all - mean * mean),
        }
    }

    /// Where the posterior is highest, and how wide it is there.
    fn peak(self, likelihood: Likelihood) -> (f64, f64) {
        let mut x = self.mean;
        let mut curvature = 1.0 / self.variance;
        for _ in 0..STEPS_MAX {
            let (slope, bend) = likelihood.derivatives(x);
            curvature = 1.0 / self.variance - bend;
            let step = (slope - (x - self.mean) / self.variance) / curvature;
            // Far from the peak an exponential likelihood is no parabola: no step is longer than a few units.
            x += step.clamp(-3.0, 3.0);
            if step.abs() < 1e-6 {
                break;
            }
        }
        (x, curvature.sqrt().recip())
    }

    /// This one with a chance of `trust`, otherwise the other.
    fn mixed(self, trust: f64, other: Normal) -> Normal {
        let apart = self.mean - other.mean;
        let distrust = 1.0 - trust;
        Normal {
            mean: other.mean + trust * apart,
            variance: trust * self.variance
                + distrust * other.variance
                + trust * distrust * apart * apart,
        }
    }
}

impl Likelihood {
    fn ln(self, x: f64) -> f64 {
        match self {
            Likelihood::Same(seconds) => -seconds * x.exp(),
            Likelihood::Changed(seconds) => (-(-seconds * x.exp()).exp_m1()).ln(),
            Likelihood::Aged(seconds) => x - seconds * x.exp(),
        }
    }

    /// First and second derivative of its logarithm; the second is never positive.
    fn derivatives(self, x: f64) -> (f64, f64) {
        match self {
            Likelihood::Same(seconds) => {
                let expected = seconds * x.exp();
                (-expected, -expected)
            }
            Likelihood::Aged(seconds) => {
                let expected = seconds * x.exp();
                (1.0 - expected, -expected)
            }
            Likelihood::Changed(seconds) => {
                let expected = seconds * x.exp();
                // y / (eʸ − 1), which is one at zero.
                let slope = if expected < 1e-9 {
                    1.0
                } else {
                    expected / expected.exp_m1()
                };
                // slope · (1 − y·eʸ/(eʸ − 1)) = slope · (1 − y − slope)
                let bend = slope * (1.0 - expected - slope);
                (slope, bend.min(0.0))
            }
        }
    }
}

/// A gap in seconds, within what a page can live: a millisecond to a million years.
fn seconds(gap: Duration) -> f64 {
    within(gap.as_secs_f64(), (1e-3, 3e13))
}
