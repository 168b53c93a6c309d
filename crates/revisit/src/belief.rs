//! What is believed of how often a page changes.
//!
//! Estimators make a [`Belief`] of what was found; policies plan by it.
//!
//! # Notation
//! *λ*: changes per second; *a*: `shape` of a Gamma distribution of *λ*, *b* = *a* / `rate` its scale, in seconds.

use std::time::Duration;

use special::Gamma as _;

use crate::polygamma::inverse_trigamma;

/// How often a page changes, as a Gamma distribution.
///
/// A point estimate is the limit of an infinite shape: all of its arithmetic holds there too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Belief {
    /// The mean: changes per second; above zero.
    pub rate: f64,
    /// How sure it is: about the number of changes that were seen; above zero, infinite for a point estimate.
    pub shape: f64,
}

impl Belief {
    /// A rate that is taken for certain.
    #[must_use]
    pub const fn point(rate: f64) -> Belief {
        Belief {
            rate,
            shape: f64::INFINITY,
        }
    }

    /// The Gamma distribution whose logarithm has this mean and variance: *ψ*(*a*) − ln *b* and *ψ*′(*a*).
    #[must_use]
    pub fn of_logarithm(mean: f64, variance: f64) -> Belief {
        let shape = inverse_trigamma(variance);
        Belief {
            rate: shape * (mean - shape.digamma()).exp(),
            shape,
        }
    }

    /// The mean of the rate's logarithm.
    #[must_use]
    pub fn ln_rate(&self) -> f64 {
        if self.shape.is_finite() {
            self.shape.digamma() - (self.shape / self.rate).ln()
        } else {
            self.rate.ln()
        }
    }

    /// The variance of the rate's logarithm.
    #[must_use]
    pub fn ln_variance(&self) -> f64 {
        if self.shape.is_finite() {
            self.shape.trigamma()
        } else {
            0.0
        }
    }

    /// The chance of at least one change within `gap`: 1 − (*b* / (*b* + *t*))ᵃ, or 1 − e⁻ᵡᵗ for a point.
    #[must_use]
    pub fn chance(&self, gap: Duration) -> f64 {
        let expected = self.rate * gap.as_secs_f64();
        let exponent = if self.shape.is_finite() {
            self.shape * (expected / self.shape).ln_1p()
        } else {
            expected
        };
        -(-exponent).exp_m1()
    }

    /// The mean time between two changes at the mean rate.
    #[must_use]
    pub fn change_interval(&self) -> Duration {
        seconds(1.0 / self.rate)
    }
}

/// A duration of so many seconds: the longest one if they are too many, none if they are negative or no number.
pub(crate) fn seconds(seconds: f64) -> Duration {
    if 0.0 < seconds {
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    } else {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn a_point_is_the_limit_of_a_sure_distribution() {
        let rate = 1.0 / DAY.as_secs_f64();
        let sure = Belief { rate, shape: 1e9 };
        let point = Belief::point(rate);
        for gap in [DAY / 1000, DAY, 30 * DAY] {
            assert!((sure.chance(gap) - point.chance(gap)).abs() < 1e-6);
        }
        assert!((point.chance(DAY) - (1.0 - (-1.0_f64).exp())).abs() < 1e-12);
    }

    #[test]
    fn a_wide_belief_expects_less_of_a_long_gap() {
        let rate = 1.0 / DAY.as_secs_f64();
        let wide = Belief { rate, shape: 0.5 };
        // 1 − (b / (b + t))ᵃ with b = a / λ = half a day.
        assert!((wide.chance(DAY) - (1.0 - (1.0 / 3.0_f64).sqrt())).abs() < 1e-12);
        assert!(wide.chance(DAY) < Belief::point(rate).chance(DAY));
    }

    #[test]
    fn a_page_that_hardly_changes_has_a_long_interval() {
        assert_eq!(Belief::point(0.0).change_interval(), Duration::MAX);
        assert_eq!(Belief::point(0.5).change_interval(), Duration::from_secs(2));
    }
}
