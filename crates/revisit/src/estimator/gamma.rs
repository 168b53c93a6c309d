//! Two numbers per page that remember all its visits: a Gamma distribution, filtered.
//!
//! Assumed-density filtering (Maybeck, *Stochastic Models, Estimation and Control* 2, 1982, chapter 12; Minka, doctoral thesis,
//! MIT, 2001, chapter 3) of a Poisson rate under one-bit observations. It works from the first visit, has no singular
//! cases, and neither the unevenness of gaps nor their number biases it, as they do Tamura and Kitsuregawa's (2007) equation 4.
//!
//! # Notation
//! *λ*: changes per second, believed to be Gamma(*a*, *b*); *a*: `shape`; *b*: `seconds`; *t*: the gap; *s*: the age of
//! the last change; *r* = *b* / (*b* + *t*); *τ*: `forgetting`; (*a*₀, *b*₀): the prior.
//!
//! No change within *t*: the posterior is Gamma(*a*, *b* + *t*), exactly. A change within *t*: the posterior is proportional
//! to *λ*ᵃ⁻¹(e⁻ᵇᵡ − e⁻⁽ᵇ⁺ᵗ⁾ᵡ), with moments
//! *m*₁ = (*a*/*b*)(1 − *r*ᵃ⁺¹)/(1 − *r*ᵃ) and *m*₂ = (*a*(*a*+1)/*b*²)(1 − *r*ᵃ⁺²)/(1 − *r*ᵃ);
//! the Gamma distribution with these takes its place: *a* ← *m*₁²/*v*, *b* ← *m*₁/*v*, *v* = *m*₂ − *m*₁².
//! A last change of known age *s*: its likelihood is *λ*e⁻ᵡˢ, so the posterior is Gamma(*a* + 1, *b* + *s*), exactly.
//! If the age is true with a chance below one, the moments of both posteriors are mixed.
//! Before each update, for pages change their habits: (*a*, *b*) ← *ρ*(*a*, *b*) + (1 − *ρ*)(*a*₀, *b*₀), *ρ* = e⁻ᵗᐟᵗ.

use std::time::Duration;

use super::{Estimator, Evidence, Prior, within};
use crate::belief::Belief;

/// The filter; its settings are for all pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    /// The time in which what was seen loses all but 1/e of its weight; none to remember for ever.
    pub forgetting: Option<Duration>,
}

/// What is kept for a page: its Gamma distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaMemory {
    /// *a*: above zero.
    pub shape: f32,
    /// *b*, in seconds: above zero.
    pub seconds: f32,
}

/// A distribution in full precision, while it is worked on.
#[derive(Clone, Copy)]
struct Distribution {
    shape: f64,
    seconds: f64,
}

/// Mean and mean square.
#[derive(Clone, Copy)]
struct Moments {
    first: f64,
    second: f64,
}

/// Shapes are kept within these bounds. A million changes leave nothing to be learnt; below the lowest, powers
/// underflow.
const SHAPES: (f64, f64) = (1e-3, 1e6);

/// Scales are kept within these bounds: from a millisecond to thirty thousand years.
const SECONDS: (f64, f64) = (1e-3, 1e12);

impl Estimator for Gamma {
    type Memory = GammaMemory;

    fn begin(&self, prior: &Prior) -> GammaMemory {
        Distribution::of_prior(prior).kept()
    }

    fn learn(&self, memory: &mut GammaMemory, evidence: &Evidence, prior: &Prior) {
        let before = Distribution::of_memory(*memory);
        let after = match *evidence {
            Evidence::Same { gap } => self.forgotten(before, gap, prior).unchanged(gap),
            Evidence::Changed { gap } => {
                let posterior = self.forgotten(before, gap, prior).changed(gap);
                Distribution::matching(posterior)
            }
            Evidence::ChangedAt { gap, age, trust } => {
                let prior = self.forgotten(before, gap, prior);
                let exact = prior.changed_at(age.min(gap)).moments();
                Distribution::matching(exact.mixed(trust, prior.changed(gap)))
            }
            Evidence::Aged { age, trust } => {
                let exact = before.changed_at(age).moments();
                Distribution::matching(exact.mixed(trust, before.moments()))
            }
            Evidence::Told { every, trust } => Distribution {
                shape: before.shape + trust,
                seconds: before.seconds + trust * every.as_secs_f64(),
            },
        };
        *memory = after.kept();
    }

    fn belief(&self, memory: &GammaMemory, _prior: &Prior) -> Belief {
        let now = Distribution::of_memory(*memory);
        Belief {
            rate: now.shape / now.seconds,
            shape: now.shape,
        }
    }
}

impl Gamma {
    /// What is left of a distribution after `gap`, and the prior in place of the rest.
    fn forgotten(&self, before: Distribution, gap: Duration, prior: &Prior) -> Distribution {
        let Some(forgetting) = self.forgetting else {
            return before;
        };
        let lost = -(-gap.as_secs_f64() / forgetting.as_secs_f64().max(1.0)).exp_m1();
        let prior = Distribution::of_prior(prior);
        Distribution {
            shape: before.shape + lost * (prior.shape - before.shape),
            seconds: before.seconds + lost * (prior.seconds - before.seconds),
        }
    }
}

impl GammaMemory {
    /// The memory that holds a belief; none of a point's certainty is taken over beyond a thousand changes.
    #[must_use]
    pub fn of_belief(belief: &Belief) -> GammaMemory {
        let shape = belief.shape.min(1e3);
        let seconds = shape / belief.rate;
        Distribution { shape, seconds }.kept()
    }
}

impl Distribution {
    fn of_prior(prior: &Prior) -> Distribution {
        Distribution {
            shape: prior.shape,
            seconds: prior.shape / prior.rate,
        }
    }

    fn of_memory(memory: GammaMemory) -> Distribution {
        Distribution {
            shape: within(memory.shape.into(), SHAPES),
            seconds: within(memory.seconds.into(), SECONDS),
        }
    }

    fn kept(self) -> GammaMemory {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "seven digits are kept of a number within bounds"
        )]
        GammaMemory {
            shape: within(self.shape, SHAPES) as f32,
            seconds: within(self.seconds, SECONDS) as f32,
        }
    }

    fn unchanged(self, gap: Duration) -> Distribution {
        Distribution {
            shape: self.shape,
            seconds: self.seconds + gap.as_secs_f64(),
        }
    }

    fn changed_at(self, age: Duration) -> Distribution {
        Distribution {
            shape: self.shape + 1.0,
            seconds: self.seconds + age.as_secs_f64(),
        }
    }

    /// The moments after at least one change within `gap`; a gap of nothing counts as a nanosecond.
    fn changed(self, gap: Duration) -> Moments {
        let gap = gap.as_secs_f64().max(1e-9);
        let ln_ratio = -(gap / self.seconds).ln_1p();
        let complement = |power: f64| -(power * ln_ratio).exp_m1();
        let all = complement(self.shape);
        let mean = self.shape / self.seconds;
        Moments {
            first: mean * (complement(self.shape + 1.0) / all),
            second: mean
                * ((self.shape + 1.0) / self.seconds)
                * (complement(self.shape + 2.0) / all),
        }
    }

    fn moments(self) -> Moments {
        let mean = self.shape / self.seconds;
        Moments {
            first: mean,
            second: mean * (self.shape + 1.0) / self.seconds,
        }
    }

    /// The Gamma distribution with these moments.
    fn matching(moments: Moments) -> Distribution {
        let variance = moments.second - moments.first * moments.first;
        Distribution {
            shape: moments.first * moments.first / variance,
            seconds: moments.first / variance,
        }
    }
}

impl Moments {
    /// These with a chance of `trust`, otherwise those of `other`.
    fn mixed(self, trust: f64, other: Moments) -> Moments {
        let mix = |one: f64, other: f64| trust * one + (1.0 - trust) * other;
        Moments {
            first: mix(self.first, other.first),
            second: mix(self.second, other.second),
        }
    }
}
