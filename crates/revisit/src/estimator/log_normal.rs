//! Three numbers per page that remember all its visits, and take no scale of time for granted.
//!
//! Rates of change span seven powers of ten. A Gamma prior that fits a site of slow pages holds a page that changes every
//! hour for all but impossible, and hundreds of visits go by before it gives in. Here the *logarithm* of the rate is normal
//! beforehand: changes where none were expected move it by factors, as the paper's back-off does. What is seen is then taken
//! in by Bayes' rule: a visit without a change and a change whose date is known exactly; after a change somewhere within a
//! gap, a density of this form takes the place of the exact posterior (assumed-density filtering: Minka, doctoral thesis, MIT,
//! 2001, chapter 3): it has the same mean and variance, and as much of its bend as grows with the rate is that of quiet
//! days, because a parabola alone has no skew.
//!
//! Between visits ln *λ* is an Ornstein–Uhlenbeck process around the site's mean, for pages change their habits: what was
//! learnt fades with the time constant *τ*, and the site's prior is what remains.
//!
//! # Notation
//! *x* = ln *λ*, *λ* in changes per day. ln density of *x* = *hx* − *qx*²/2 − *T*e^*x* + constant; *h*: `pull`; *q*: `hold`; *T*:
//! `quiet_days`; *t*: the gap; *s*: the age of the last change; *τ*: `forgetting`; *ρ* = e^(−*t*/*τ*); *m*, *v*: mean and variance.
//! Prior N(*μ*₀, *σ*₀²): *h* = *μ*₀/*σ*₀², *q* = 1/*σ*₀², *T* = 0.
//! No change within *t*: *T* ← *T* + *t*. The last one *s* ago: *h* ← *h* + 1, *T* ← *T* + *s*. A change within *t*: of the density times
//! *L* = 1 − e^(−*t*e^*x*), *T* ← *T* + *c*, where *c* is the slope of the regression of −d²/d*x*² ln *L* on e^*x*, from 0 to *t*/2, and *h* and *q* are
//! those with its moments.
//! Fading: *m* ← *μ*₀ + *ρ*(*m* − *μ*₀), *v*′ = *σ*₀² + *ρ*²(*v* − *σ*₀²), *T* ← *Tv*/*v*′, and *h* and *q* are those with these moments.
//!
//! Departures: the thesis matches all that a density of its family tells; of this one that would be the mean rate too, which is ill-conditioned where
//! the posterior is narrow, so the growth of *T* is the regression's. What is believed in part is taken in with a part of its weight.

use std::time::Duration;

use super::{Estimator, Evidence, Prior, within};
use crate::belief::Belief;

/// The filter; its settings are for all pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    /// The time in which what was learnt fades to 1/e; none to remember for ever.
    pub forgetting: Option<Duration>,
}

/// What is kept for a page: the density of the logarithm of its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormalMemory {
    /// *h*.
    pub pull: f32,
    /// *q*: above zero.
    pub hold: f32,
    /// *T*, in days: not below zero.
    pub quiet_days: f32,
}

/// A density in full precision, while it is worked on.
#[derive(Clone, Copy, Debug)]
struct Density {
    pull: f64,
    hold: f64,
    quiet_days: f64,
}

/// Mean and variance.
#[derive(Clone, Copy, Debug)]
struct Moments {
    mean: f64,
    variance: f64,
}

/// A density in a few points.
struct Points([Point; 9]);

/// Where, and how much of the density.
#[derive(Clone, Copy, Debug)]
struct Point {
    x: f64,
    weight: f64,
}

/// Where a density is highest, and how wide it is there.
struct Peak {
    at: f64,
    width: f64,
}

const DAY_SECONDS: f64 = 86_400.0;

/// A change every millisecond, and one in a million years, as ln of changes per day.
const LN_RATES: (f64, f64) = (-20.0, 18.5);
/// A spread of five, and of a three-hundredth.
const HOLDS: (f64, f64) = (0.04, 1e5);
const PULL_MAX: f64 = 1e7;
const DAYS_MAX: f64 = 1e9;

/// Newton's method is at its end after a few steps; from far away it needs one for every few units of *x*.
const STEPS_MAX: u32 = 60;
const STEP_LONGEST: f64 = 2.0;

/// No node outweighs the peak by more than this, as a logarithm: the density is log-concave, so only rounding could make one.
const RATIO_MAX: f64 = 20.0;

/// Moments are matched to six digits after so many steps.
const MATCHING_STEPS: u32 = 4;

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
        Density::of_prior(prior).kept()
    }

    fn learn(&self, memory: &mut LogNormalMemory, evidence: &Evidence, prior: &Prior) {
        let before = Density::of_memory(*memory);
        let after = match *evidence {
            Evidence::Same { gap } => self.faded(before, gap, prior).unchanged(days(gap)),
            Evidence::Changed { gap } => self.faded(before, gap, prior).changed(days(gap), 1.0),
            Evidence::ChangedAt { gap, age, trust } => self
                .faded(before, gap, prior)
                .changed(days(gap), 1.0 - trust)
                .changed_at(days(age.min(gap)), trust),
            Evidence::Aged { age, trust } => before.changed_at(days(age), trust),
            Evidence::Told { every, trust } => before.changed_at(days(every), trust),
        };
        *memory = after.kept();
    }

    fn belief(&self, memory: &LogNormalMemory, _prior: &Prior) -> Belief {
        let Moments { mean, variance } = Density::of_memory(*memory).moments();
        Belief::of_logarithm(mean - DAY_SECONDS.ln(), variance)
    }
}

impl LogNormal {
    fn faded(&self, before: Density, gap: Duration, prior: &Prior) -> Density {
        let Some(forgetting) = self.forgetting else {
            return before;
        };
        let kept = (-gap.as_secs_f64() / forgetting.as_secs_f64().max(1.0)).exp();
        let now = before.moments();
        let (mean, variance) = (prior.ln_rate() + DAY_SECONDS.ln(), prior.ln_variance());
        let faded = Moments {
            mean: mean + kept * (now.mean - mean),
            variance: variance + kept * kept * (now.variance - variance),
        };
        let quiet_days = before.quiet_days * (now.variance / faded.variance).min(1.0);
        Density {
            quiet_days,
            ..before
        }
        .with_moments(faded)
    }
}

impl LogNormalMemory {
    /// The memory that holds a belief.
    #[must_use]
    pub fn of_belief(belief: &Belief) -> LogNormalMemory {
        let mean = belief.ln_rate() + DAY_SECONDS.ln();
        Density::normal(mean, belief.ln_variance()).kept()
    }
}

impl Density {
    fn normal(mean: f64, variance: f64) -> Density {
        let hold = within(1.0 / variance, HOLDS);
        Density {
            pull: mean * hold,
            hold,
            quiet_days: 0.0,
        }
    }

    fn of_prior(prior: &Prior) -> Density {
        Density::normal(prior.ln_rate() + DAY_SECONDS.ln(), prior.ln_variance())
    }

    fn of_memory(memory: LogNormalMemory) -> Density {
        Density {
            pull: within(memory.pull.into(), (-PULL_MAX, PULL_MAX)),
            hold: within(memory.hold.into(), HOLDS),
            quiet_days: within(memory.quiet_days.into(), (0.0, DAYS_MAX)),
        }
    }

    fn kept(self) -> LogNormalMemory {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "seven digits are kept of a number within bounds"
        )]
        LogNormalMemory {
            pull: within(self.pull, (-PULL_MAX, PULL_MAX)) as f32,
            hold: within(self.hold, HOLDS) as f32,
            quiet_days: within(self.quiet_days, (0.0, DAYS_MAX)) as f32,
        }
    }

    fn unchanged(self, gap_days: f64) -> Density {
        Density {
            quiet_days: self.quiet_days + gap_days,
            ..self
        }
    }

    /// A last change that long ago, for as much as it is believed.
    fn changed_at(self, age_days: f64, weight: f64) -> Density {
        Density {
            pull: self.pull + weight,
            quiet_days: self.quiet_days + weight * age_days,
            ..self
        }
    }

    /// At least one change within the gap, for as much as it counts.
    fn changed(self, gap_days: f64, weight: f64) -> Density {
        if weight <= 0.0 {
            return self;
        }
        let likelihood = Changed { gap_days, weight };
        let posterior = self.points(&likelihood);
        let quiet_days = self.quiet_days + likelihood.quiet_days(&posterior);
        Density { quiet_days, ..self }.with_moments(posterior.moments())
    }

    fn moments(self) -> Moments {
        self.points(&Nothing).moments()
    }

    /// The density with this mean and variance that has seen as many quiet days.
    ///
    /// Newton's method in both coefficients of the parabola, from the density whose peak is at the target's mean and as wide;
    /// where no such density exists, it stays near that one.
    fn with_moments(self, target: Moments) -> Density {
        let target = target.within_bounds();
        let expected = self.quiet_days * target.mean.exp();
        // The parabola around the target's mean: its slope there, and its hold.
        let mut slope = expected;
        let mut hold = within(1.0 / target.variance - expected, HOLDS);
        let mut density = self;
        for _ in 0..MATCHING_STEPS {
            density.hold = hold;
            density.pull = slope + hold * target.mean;
            let points = density.points(&Nothing);
            let power = |power| points.mean(|x| (x - target.mean).powi(power));
            let [first, second, third, fourth] = [1, 2, 3, 4].map(power);
            let (mean_off, square_off) = (-first, target.variance - second);
            let variance = second - first * first;
            let skew = third - first * second;
            let tail = fourth - second * second;
            let determinant = variance * tail - skew * skew;
            if !determinant.is_normal() {
                break;
            }
            let slope_step = (tail * mean_off - skew * square_off) / determinant;
            slope = within(slope + slope_step, (-PULL_MAX, PULL_MAX));
            let hold_step = 2.0 * (skew * mean_off - variance * square_off) / determinant;
            hold = within(hold + hold_step.max(-hold / 2.0), HOLDS);
        }
        density
    }

    /// Where this density times a likelihood is highest, and how wide it is there.
    fn peak(self, likelihood: &impl Likelihood) -> Peak {
        let mut at = within(self.pull / self.hold, LN_RATES);
        let mut curvature = self.hold;
        for _ in 0..STEPS_MAX {
            let (slope, bend) = likelihood.derivatives(at);
            let expected = self.quiet_days * at.exp();
            curvature = self.hold + expected - bend;
            let step = (slope + self.pull - self.hold * at - expected) / curvature;
            // Far from the peak an exponential is no parabola.
            at = within(at + step.clamp(-STEP_LONGEST, STEP_LONGEST), LN_RATES);
            if step.abs() < 1e-7 {
                break;
            }
        }
        Peak {
            at,
            width: curvature.sqrt().recip(),
        }
    }

    /// This density times a likelihood in points around its peak, by quadrature (Liu and Pierce, "A note on Gauss–Hermite
    /// quadrature", Biometrika 81(3), 1994).
    fn points(self, likelihood: &impl Likelihood) -> Points {
        let Peak { at, width } = self.peak(likelihood);
        let top = self.ln(at) + likelihood.ln(at);
        let centre = Point {
            x: at,
            weight: CENTRE_WEIGHT,
        };
        let mut points = [centre; 9];
        let sides = NODES
            .iter()
            .flat_map(|&(node, weight)| [(node, weight), (-node, weight)]);
        for (point, (node, weight)) in points[1..].iter_mut().zip(sides) {
            let x = at + width * node;
            // The quadrature's own density is divided out.
            let ratio = self.ln(x) + likelihood.ln(x) - top + node * node / 2.0;
            let weight = weight * ratio.min(RATIO_MAX).exp();
            *point = Point { x, weight };
        }
        let all: f64 = points.iter().map(|point| point.weight).sum();
        for point in &mut points {
            point.weight /= all;
        }
        Points(points)
    }

    /// The logarithm of the density, but for a constant.
    fn ln(self, x: f64) -> f64 {
        self.pull * x - self.hold * x * x / 2.0 - self.quiet_days * x.exp()
    }
}

impl Moments {
    fn within_bounds(self) -> Moments {
        Moments {
            mean: within(self.mean, LN_RATES),
            variance: within(self.variance, (1.0 / HOLDS.1, 1.0 / HOLDS.0)),
        }
    }
}

impl Points {
    /// The mean of a function of *x*.
    fn mean(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.0.iter().map(|point| point.weight * of(point.x)).sum()
    }

    fn moments(&self) -> Moments {
        let mean = self.mean(|x| x);
        let variance = self.mean(|x| (x - mean).powi(2));
        Moments { mean, variance }.within_bounds()
    }
}

/// What a visit tells of *x*, as a log-concave likelihood.
trait Likelihood {
    fn ln(&self, x: f64) -> f64;
    /// First and second derivative of its logarithm; the second is never positive.
    fn derivatives(&self, x: f64) -> (f64, f64);
}

/// No visit was made.
struct Nothing;

impl Likelihood for Nothing {
    fn ln(&self, _x: f64) -> f64 {
        0.0
    }

    fn derivatives(&self, _x: f64) -> (f64, f64) {
        (0.0, 0.0)
    }
}

/// At least one change within so many days, for as much as it counts.
struct Changed {
    gap_days: f64,
    weight: f64,
}

impl Changed {
    /// The quiet days that bend a density as the change does where the posterior is: a regression of the bend on e^*x*.
    ///
    /// Within a gap far shorter than the time between two changes, the change lies half a gap back on average; within a far longer
    /// one it tells nothing. What is bent by more than this is held by the parabola: quiet days are never unlearnt, and would stand
    /// against a rate that later turns out to be far higher.
    fn quiet_days(&self, posterior: &Points) -> f64 {
        let centre = posterior.moments().mean;
        let ratio = |x: f64| (x - centre).exp();
        let mean_ratio = posterior.mean(ratio);
        let off = |x: f64| ratio(x) - mean_ratio;
        let spread = posterior.mean(|x| off(x).powi(2));
        let shared = posterior.mean(|x| -off(x) * self.derivatives(x).1);
        let half = self.weight * self.gap_days / 2.0;
        within(shared / spread / centre.exp(), (0.0, half))
    }
}

impl Likelihood for Changed {
    fn ln(&self, x: f64) -> f64 {
        self.weight * (-(-self.gap_days * x.exp()).exp_m1()).ln()
    }

    fn derivatives(&self, x: f64) -> (f64, f64) {
        let expected = self.gap_days * x.exp();
        // y / (eʸ − 1), which is 1 − y/2 near zero.
        let slope = if expected < 1e-6 {
            1.0 - expected / 2.0
        } else {
            expected / expected.exp_m1()
        };
        // y·eʸ/(eʸ − 1) is y + slope.
        let bend = slope * (1.0 - expected - slope);
        (self.weight * slope, self.weight * bend.min(0.0))
    }
}

/// A gap in days, within what a page can live: from a millisecond on.
fn days(gap: Duration) -> f64 {
    within(gap.as_secs_f64() / DAY_SECONDS, (1e-8, DAYS_MAX))
}
