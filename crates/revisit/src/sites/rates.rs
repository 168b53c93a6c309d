//! How often the pages of a site change, taken together: a prior for its next page.
//!
//! The prior Gamma(*a*₀, *b*₀) is the empirical-Bayes one, by online expectation maximisation (Cappé and Moulines, "On-line
//! expectation–maximization algorithm for latent data models", JRSS B 71(3), 2009): of each revisited page the expectations
//! E *λ* = *a*/*b* and E ln *λ* = *ψ*(*a*) − ln *b* are averaged. Then *a*₀/*b*₀ is the mean of the former, and *a*₀ solves
//! ln *a*₀ − *ψ*(*a*₀) = ln(mean of E *λ*) − mean of E ln *λ*, by the approximation of Minka, "Estimating a Gamma
//! distribution", 2002, which is within 1.5 %.
//!
//! # Departures
//! A page counts by the time that a visit covers, not by the visit: all pages alike, however often they are visited.

use std::time::Duration;

use crate::belief::Belief;
use crate::codec::{Reader, put_double};
use crate::estimator::Prior;

/// Averages over pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rates {
    /// In page-days.
    weight: f64,
    /// Mean of E *λ*, in changes per second.
    mean: f64,
    /// Mean of E ln *λ*.
    mean_ln: f64,
}

const DAY_SECONDS: f64 = 86_400.0;

/// Before anything is known, a page changes every 60 days on average.
const RATE_AT_FIRST: f64 = 1.0 / (60.0 * DAY_SECONDS);
/// And some pages change far more often than most.
const SHAPE_AT_FIRST: f64 = 0.5;
/// What is taken for known of all sites before anything is, in page-days.
const WEIGHT_AT_FIRST: f64 = 100.0;
/// What all sites together count beside one of them, in page-days.
const WEIGHT_OF_ALL: f64 = 200.0;
/// What was seen counts no more than this, in page-days, so that the new keeps its say.
const WEIGHT_MAX: f64 = 10_000.0;

impl Rates {
    /// What is taken for known of all sites.
    pub(super) fn at_first() -> Rates {
        Rates {
            weight: WEIGHT_AT_FIRST,
            mean: RATE_AT_FIRST,
            mean_ln: expected_ln(RATE_AT_FIRST, SHAPE_AT_FIRST),
        }
    }

    /// Of a site of which nothing is known.
    pub(super) fn blank() -> Rates {
        Rates {
            weight: 0.0,
            ..Rates::at_first()
        }
    }

    /// A page that was revisited after `gap` is now believed to change so often.
    pub(super) fn take_in(&mut self, belief: &Belief, gap: Duration) {
        let weight = gap.as_secs_f64() / DAY_SECONDS;
        let all = self.weight + weight;
        if all <= 0.0 {
            return;
        }
        let part = weight / all;
        self.mean += part * (belief.rate - self.mean);
        self.mean_ln += part * (expected_ln(belief.rate, belief.shape) - self.mean_ln);
        self.weight = all.min(WEIGHT_MAX);
    }

    /// These, and those of all sites for as much as they count.
    pub(super) fn drawn_to(&self, all: &Rates) -> Rates {
        let part = WEIGHT_OF_ALL / (self.weight + WEIGHT_OF_ALL);
        Rates {
            weight: self.weight,
            mean: self.mean + part * (all.mean - self.mean),
            mean_ln: self.mean_ln + part * (all.mean_ln - self.mean_ln),
        }
    }

    /// The Gamma distribution that fits them.
    pub(super) fn prior(&self) -> Prior {
        let spread = (self.mean.ln() - self.mean_ln).max(1e-6);
        let root = ((spread - 3.0).powi(2) + 24.0 * spread).sqrt();
        Prior::new(self.mean, (3.0 - spread + root) / (12.0 * spread))
    }

    pub(super) fn encode_into(&self, out: &mut Vec<u8>) {
        for number in [self.weight, self.mean, self.mean_ln] {
            put_double(out, number);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Rates> {
        let rates = Rates {
            weight: reader.double()?,
            mean: reader.double()?,
            mean_ln: reader.double()?,
        };
        let is_sound =
            (0.0..=WEIGHT_MAX).contains(&rates.weight) && 0.0 < rates.mean && rates.mean < 1e3;
        is_sound.then_some(rates)
    }
}

/// E ln *λ* of a Gamma distribution with this mean and shape.
fn expected_ln(rate: f64, shape: f64) -> f64 {
    if shape.is_finite() {
        digamma(shape) - (shape / rate).ln()
    } else {
        rate.ln()
    }
}

/// *ψ*, the derivative of ln Γ, for arguments above zero: Abramowitz and Stegun, 6.3.5 and 6.3.18.
fn digamma(mut argument: f64) -> f64 {
    let mut shift = 0.0;
    while argument < 8.0 {
        shift -= 1.0 / argument;
        argument += 1.0;
    }
    let square = 1.0 / (argument * argument);
    let series = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0));
    shift + argument.ln() - 0.5 / argument - series
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn the_digamma_function_has_its_known_values() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        for (argument, value) in [
            (1.0, -EULER),
            (0.5, -EULER - 2.0 * 2.0_f64.ln()),
            (2.0, 1.0 - EULER),
            (10.0, 2.251_752_589_066_721),
        ] {
            assert!((digamma(argument) - value).abs() < 1e-9, "{argument}");
        }
    }

    #[test]
    fn the_prior_before_anything_is_known_is_the_stated_one() {
        let prior = Rates::at_first().prior();
        assert!((prior.rate / RATE_AT_FIRST - 1.0).abs() < 1e-9);
        assert!((prior.shape / SHAPE_AT_FIRST - 1.0).abs() < 0.015);
    }

    #[test]
    fn pages_that_are_alike_make_a_narrow_prior_and_others_a_wide_one() {
        let prior_of = |rates: [f64; 2]| {
            let mut all = Rates::blank();
            for _ in 0..1000 {
                for rate in rates {
                    all.take_in(&Belief::point(rate / DAY.as_secs_f64()), DAY);
                }
            }
            all.prior()
        };
        let alike = prior_of([0.9, 1.1]);
        assert!((alike.rate * DAY.as_secs_f64() - 1.0).abs() < 1e-6);
        assert!(10.0 < alike.shape, "{alike:?}");
        let unlike = prior_of([0.001, 2.0]);
        assert!(unlike.shape < 0.5, "{unlike:?}");
    }

    #[test]
    fn a_site_counts_for_itself_once_much_is_known_of_it() {
        let all = Rates::at_first();
        let mut site = Rates::blank();
        let hourly = Belief::point(1.0 / 3600.0);
        site.take_in(&hourly, DAY);
        let early = site.drawn_to(&all).prior().rate;
        for _ in 0..10_000 {
            site.take_in(&hourly, DAY);
        }
        let late = site.drawn_to(&all).prior().rate;
        assert!(RATE_AT_FIRST < early && early < 0.01 * hourly.rate);
        assert!((late / hourly.rate - 1.0).abs() < 0.03);
    }

    proptest! {
        #[test]
        fn a_prior_is_sound_whatever_was_taken_in(
            pages in prop::collection::vec((-30.0_f64..2.0, -3.0_f64..8.0, 0_u64..40_000_000), 0..200),
        ) {
            let mut rates = Rates::blank();
            for (ln_rate, ln_shape, gap) in pages {
                let belief = Belief { rate: ln_rate.exp(), shape: ln_shape.exp() };
                rates.take_in(&belief, Duration::from_secs(gap));
                let prior = rates.drawn_to(&Rates::at_first()).prior();
                prop_assert!(0.0 < prior.rate && prior.rate.is_finite());
                prop_assert!(0.0 < prior.shape && prior.shape.is_finite());
            }
        }
    }
}
