//! *δ*, by how much one more fetch of a site is expected to lower the probability of misjudging it.
//!
//! Kato et al. (2022) ("Collecting statistical data by focused crawling"), section 3, equations 8 to 10: the site is taken for what its mean
//! probability says, the next mean is predicted as normal around the present one, and *δ* is the error now less the expected error then.
//!
//! # Notation
//! *θ̂*: `mean` of a site's probabilities; *t*: its fetches; *V*: the variance of a label, *θ̂*(1 − *θ̂*); *s*² = *V*/*t*: the predicted
//! variance of the mean; *k* = |*θ̂* − ½|/*s*; *φ*, *Φ*: density and distribution of the standard normal.
//!
//! # Departures
//! Equation 10 is printed as an integral over 0..1 of a normal distribution that has mass outside, and then *δ* is negative for many sites;
//! the paper's proof that it is not holds for the whole line. So [`delta`] integrates over the whole line, which has the closed form
//! *δ* = 2*s*(*φ*(*k*) − *k*(1 − *Φ*(*k*))). [`literal`] and [`renormalised`] are the other readings, for the lab.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::Evidence;
use super::policy::Rule;

/// The paper's policy: the site of the greatest *δ*.
#[derive(Debug)]
pub(crate) struct Delta {
    pub(crate) reading: Reading,
    pub(crate) threshold: f64,
}

/// Over what equation 10 is integrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The whole line: ours, and what the proof needs.
    WholeLine,
    /// 0 to 1, as printed; for a threshold of ½.
    Literal,
    /// 0 to 1, scaled to a mass of 1; for a threshold of ½.
    Renormalised,
}

impl Rule for Delta {
    fn is_gain(&self) -> bool {
        true
    }

    fn worth(&self, evidence: &Evidence) -> f64 {
        let mean = evidence.mean().unwrap_or(0.5);
        let spread = (mean * (1.0 - mean) / f64::from(evidence.fetches().max(1))).sqrt();
        match self.reading {
            Reading::WholeLine => 2.0 * expected_crossing((mean - self.threshold).abs(), spread),
            Reading::Literal => literal(mean, spread),
            Reading::Renormalised => renormalised(mean, spread),
        }
    }
}

/// *δ* in closed form, for a threshold of ½ and any spread of the predicted mean: never negative, 0 for a spread of 0 unless more is to
/// be gained.
#[must_use]
pub fn delta(mean: f64, spread: f64) -> f64 {
    2.0 * expected_crossing((mean - 0.5).abs(), spread)
}

/// The expected distance by which a normal draw of this spread passes a point at this `distance` from its mean:
/// *s*(*φ*(*k*) − *k*(1 − *Φ*(*k*))) with *k* = `distance`/*s*.
///
/// For great *k* the two terms cancel; then it is *s* *φ*(*k*)(1 − *k* *R*(*k*)), with Mills' ratio *R* by its continued fraction.
#[must_use]
pub fn expected_crossing(distance: f64, spread: f64) -> f64 {
    if !(0.0 < spread && distance < f64::INFINITY) {
        return 0.0;
    }
    spread * crossing(distance / spread)
}

/// From here on the continued fraction is exact to twelve digits.
const FRACTION_FROM: f64 = 4.0;

/// *φ*(*k*) − *k*(1 − *Φ*(*k*)), for *k* ≥ 0.
fn crossing(k: f64) -> f64 {
    let density = density(k);
    if k < FRACTION_FROM {
        return (density - k * upper_tail(k)).max(0.0);
    }
    // R(k) = 1/(k + r) with r = 1/(k + 2/(k + 3/(k + …))), so 1 − k R(k) = r/(k + r), in which nothing cancels.
    let rest = (1..=60)
        .rev()
        .fold(0.0, |rest, term| f64::from(term) / (k + rest));
    density * rest / (k + rest)
}

/// *φ*.
pub(crate) fn density(k: f64) -> f64 {
    libm::exp(-0.5 * k * k) / (2.0 * PI).sqrt()
}

/// 1 − *Φ*.
pub(crate) fn upper_tail(k: f64) -> f64 {
    0.5 * libm::erfc(k * FRAC_1_SQRT_2)
}

/// *δ* with equation 10 as printed: the integral stops at 0 and 1, and what lies outside is neither error nor success. Often negative.
#[must_use]
pub fn literal(mean: f64, spread: f64) -> f64 {
    error(mean)
        - if 0.0 < spread {
            cut_error(mean, spread)
        } else {
            error(mean)
        }
}

/// *δ* with the normal distribution cut to 0..1 and scaled to a mass of 1. Often negative.
#[must_use]
pub fn renormalised(mean: f64, spread: f64) -> f64 {
    if spread <= 0.0 {
        return 0.0;
    }
    let mass = upper_tail(-mean / spread) - upper_tail((1.0 - mean) / spread);
    error(mean) - cut_error(mean, spread) / mass
}

/// Equation 8: the probability of misjudging a site of this mean.
fn error(mean: f64) -> f64 {
    mean.min(1.0 - mean)
}

/// Equation 10: ∫ *z* over 0..½ and ∫ (1 − *z*) over ½..1, both by ∫ *z* *P*(*z*) = *θ̂* Δ*Φ* − *s* Δ*φ*.
fn cut_error(mean: f64, spread: f64) -> f64 {
    let at = |z: f64| (z - mean) / spread;
    let mass = |from: f64, to: f64| upper_tail(at(from)) - upper_tail(at(to));
    let moment =
        |from: f64, to: f64| mean * mass(from, to) + spread * (density(at(from)) - density(at(to)));
    moment(0.0, 0.5) + mass(0.5, 1.0) - moment(0.5, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Simpson's rule over so many steps.
    fn integral(from: f64, to: f64, steps: u32, function: impl Fn(f64) -> f64) -> f64 {
        let width = (to - from) / f64::from(steps);
        let weight = |step: u32| match step {
            _ if step == 0 || step == steps => 1.0,
            _ if step.is_multiple_of(2) => 2.0,
            _ => 4.0,
        };
        let term = |step: u32| weight(step) * function(from + width * f64::from(step));
        (0..=steps).map(term).sum::<f64>() * width / 3.0
    }

    /// Equations 8 and 10 by numbers: the error now, less the expected error over the given span.
    fn by_integration(mean: f64, spread: f64, span: [f64; 2]) -> f64 {
        let probability = |z: f64| density((z - mean) / spread) / spread;
        let below = integral(span[0].min(0.5), 0.5, 20_000, |z| z * probability(z));
        let above = integral(0.5, span[1].max(0.5), 20_000, |z| {
            (1.0 - z) * probability(z)
        });
        error(mean) - below - above
    }

    #[test]
    fn the_closed_form_is_the_integral() {
        for mean in [0.0, 0.05, 0.3, 0.499, 0.5, 0.7, 1.0] {
            for spread in [0.01, 0.1, 0.25, 0.5] {
                let span = [mean - 12.0 * spread, mean + 12.0 * spread];
                let difference = delta(mean, spread) - by_integration(mean, spread, span);
                assert!(difference.abs() < 1e-9, "{mean} {spread}: {difference}");
                let difference = literal(mean, spread) - by_integration(mean, spread, [0.0, 1.0]);
                assert!(difference.abs() < 1e-9, "{mean} {spread}: {difference}");
            }
        }
    }

    #[test]
    fn the_other_readings_are_negative_where_the_specification_says_so() {
        let spread = (0.05_f64 * 0.95).sqrt();
        assert!(
            (literal(0.05, spread) + 0.061).abs() < 5e-4,
            "{}",
            literal(0.05, spread)
        );
        let renormalised = renormalised(0.05, spread);
        assert!((renormalised + 0.138).abs() < 5e-4, "{renormalised}");
        assert!(0.0 < delta(0.05, spread));
    }

    #[test]
    fn the_two_branches_meet() {
        let cancelling = |k: f64| density(k) - k * upper_tail(k);
        let (below, above) = (FRACTION_FROM - 1e-9, FRACTION_FROM);
        assert!((crossing(below) / crossing(above) - 1.0).abs() < 1e-7);
        for step in 0..40 {
            let k = FRACTION_FROM + 0.05 * f64::from(step);
            let difference = crossing(k) - cancelling(k);
            assert!(difference.abs() < 1e-15, "{k}: {difference}");
        }
    }

    proptest! {
        #[test]
        fn delta_is_never_negative_and_never_more_than_the_error(
            mean in 0.0..=1.0_f64, fetches in 1..u32::MAX, share in 0.0..=1.0_f64,
        ) {
            let spread = (share * mean * (1.0 - mean) / f64::from(fetches)).sqrt();
            let delta = delta(mean, spread);
            prop_assert!((0.0..=spread).contains(&delta), "{}", delta);
        }

        #[test]
        fn a_nearer_mean_and_a_greater_spread_are_worth_more(
            distance in 0.0..0.5_f64, nearer in 0.0..1.0_f64, spread in 1e-6..1.0_f64, narrower in 0.01..1.0_f64,
        ) {
            let worth = expected_crossing(distance, spread);
            prop_assert!(worth <= expected_crossing(nearer * distance, spread));
            prop_assert!(expected_crossing(distance, narrower * spread) <= worth * (1.0 + 1e-9));
        }
    }

    #[test]
    fn nothing_is_undefined_at_the_ends() {
        for (mean, spread) in [
            (0.0, 0.0),
            (1.0, 0.0),
            (0.5, 0.0),
            (0.0, f64::MIN_POSITIVE),
            (f64::NAN, 0.1),
            (0.5, f64::NAN),
        ] {
            for worth in [delta(mean, spread), expected_crossing(mean, spread)] {
                assert!(worth.abs() < 1e-300, "{mean} {spread}: {worth}");
            }
        }
        assert!((delta(0.5, 0.1) - 0.2 * density(0.0)).abs() < 1e-15);
    }
}
