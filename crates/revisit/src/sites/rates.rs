//! How often the pages of a site change, taken together: a prior for its next page.
//!
//! The prior is the empirical-Bayes one, by online expectation maximisation (Cappé and Moulines, "On-line
//! expectation–maximization algorithm for latent data models", JRSS B 71(3), 2009): of each revisited page the expectations
//! of ln *λ* and of its square are averaged; they are the mean and the variance of the prior's logarithm.
//!
//! # Notation
//! *w*: the days that a revisit covers, its weight; *n* = (Σ*w*)² / Σ*w*²: `visits`, the number of equal weights that would say as much
//! (Kish, *Survey Sampling*, 1965, section 11.7).
//!
//! # Departures
//! A page counts by the time that a visit covers, not by the visit: all pages alike, however often they are visited. What is
//! known is weighed in visits all the same: a site whose pages are visited once a year is not known by one of them, nor forgotten
//! within a day.

use std::time::Duration;

use crate::belief::Belief;
use crate::codec::{Reader, put_double};
use crate::estimator::Prior;

/// Averages over the pages of a site, or of all sites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteRates {
    /// Σ*w*, in days.
    weight: f64,
    /// Σ*w*².
    weight_square: f64,
    /// Mean of ln *λ*, *λ* in changes per second.
    ln_rate: f64,
    /// Mean of its square.
    ln_rate_square: f64,
}

const DAY_SECONDS: f64 = 86_400.0;

/// Before anything is known, half of the pages change less often than this.
const DAYS_AT_FIRST: f64 = 90.0;
/// And two thirds of them within a factor of five of it.
const SPREAD_AT_FIRST: f64 = 1.6;
/// What all sites together count beside one of them, and what is taken for granted beside all sites, in visits.
const VISITS_OF_ALL: f64 = 20.0;
/// What was seen fades after so many visits, so that the new keeps its say.
const VISITS_MAX: f64 = 10_000.0;
/// Pages of a site are never taken for more alike than this, nor for more unlike.
const VARIANCES: (f64, f64) = (0.1, 8.0);
/// Of a sound average of logarithms, and of their squares.
const LN_RATE_MAX: f64 = 100.0;
const LN_RATE_SQUARE_MAX: f64 = 1e4;

impl SiteRates {
    /// Before anything is seen: what is taken for granted.
    #[must_use]
    pub fn at_first() -> SiteRates {
        let ln_rate = -(DAYS_AT_FIRST * DAY_SECONDS).ln();
        SiteRates {
            weight: 0.0,
            weight_square: 0.0,
            ln_rate,
            ln_rate_square: ln_rate * ln_rate + SPREAD_AT_FIRST * SPREAD_AT_FIRST,
        }
    }

    /// A page that was revisited after `gap` is now believed to change so often.
    pub fn take_in(&mut self, belief: &Belief, gap: Duration) {
        let kept = 1.0 - 1.0 / VISITS_MAX;
        let weight = gap.as_secs_f64() / DAY_SECONDS;
        let all = kept * self.weight + weight;
        if all <= 0.0 {
            return;
        }
        let part = weight / all;
        let ln_rate = belief.ln_rate();
        let square = ln_rate * ln_rate + belief.ln_variance();
        self.ln_rate += part * (ln_rate - self.ln_rate);
        self.ln_rate_square += part * (square - self.ln_rate_square);
        self.weight = all;
        self.weight_square = kept * kept * self.weight_square + weight * weight;
    }

    /// These, and others for as much as they count beside: those of all sites beside a site's, what is taken for granted beside
    /// those of all sites.
    #[must_use]
    pub fn drawn_to(&self, others: &SiteRates) -> SiteRates {
        let part = VISITS_OF_ALL / (self.visits() + VISITS_OF_ALL);
        let drawn = |own: f64, other: f64| own + part * (other - own);
        SiteRates {
            ln_rate: drawn(self.ln_rate, others.ln_rate),
            ln_rate_square: drawn(self.ln_rate_square, others.ln_rate_square),
            ..*self
        }
    }

    /// *n*: visits of equal weight that would say as much.
    fn visits(&self) -> f64 {
        if 0.0 < self.weight_square {
            self.weight * self.weight / self.weight_square
        } else {
            0.0
        }
    }

    /// The distribution that fits them.
    #[must_use]
    pub fn prior(&self) -> Prior {
        let variance = self.ln_rate_square - self.ln_rate * self.ln_rate;
        let variance = variance.clamp(VARIANCES.0, VARIANCES.1);
        Prior::of_logarithm(self.ln_rate, variance)
    }

    pub(super) fn encode_into(&self, out: &mut Vec<u8>) {
        for number in [
            self.weight,
            self.weight_square,
            self.ln_rate,
            self.ln_rate_square,
        ] {
            put_double(out, number);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Option<SiteRates> {
        let rates = SiteRates {
            weight: reader.double()?,
            weight_square: reader.double()?,
            ln_rate: reader.double()?,
            ln_rate_square: reader.double()?,
        };
        let is_sound = (0.0..f64::INFINITY).contains(&rates.weight)
            && (0.0..f64::INFINITY).contains(&rates.weight_square)
            && rates.ln_rate.abs() < LN_RATE_MAX
            && (0.0..LN_RATE_SQUARE_MAX).contains(&rates.ln_rate_square);
        is_sound.then_some(rates)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn the_prior_before_anything_is_known_is_the_stated_one() {
        let prior = SiteRates::at_first().prior();
        assert!((prior.ln_rate() + (90.0 * DAY_SECONDS).ln()).abs() < 1e-6);
        assert!((prior.ln_variance().sqrt() - SPREAD_AT_FIRST).abs() < 1e-6);
    }

    #[test]
    fn pages_that_are_alike_make_a_narrow_prior_and_others_a_wide_one() {
        let prior_of = |rates: [f64; 2]| {
            let mut all = SiteRates::at_first();
            for _ in 0..1000 {
                for rate in rates {
                    all.take_in(&Belief::point(rate / DAY_SECONDS), DAY);
                }
            }
            all.prior()
        };
        let alike = prior_of([0.9, 1.1]);
        assert!(
            (alike.ln_rate() + DAY_SECONDS.ln()).abs() < 0.01,
            "{alike:?}"
        );
        assert!(alike.ln_variance() < 0.11, "{alike:?}");
        let unlike = prior_of([0.01, 1.0]);
        let expected = (100.0_f64.ln() / 2.0).powi(2);
        assert!((unlike.ln_variance() - expected).abs() < 1e-6, "{unlike:?}");
    }

    #[test]
    fn a_site_counts_for_itself_once_much_is_known_of_it() {
        let all = SiteRates::at_first();
        let mut site = SiteRates::at_first();
        let hourly = Belief::point(1.0 / 3600.0);
        site.take_in(&hourly, 200 * DAY);
        let early = site.drawn_to(&all).prior().ln_rate();
        for _ in 0..10_000 {
            site.take_in(&hourly, DAY);
        }
        let late = site.drawn_to(&all).prior().ln_rate();
        // One visit counts as one, however long its gap: a twenty-first part of what is known.
        let part = (early - all.ln_rate) / (hourly.ln_rate() - all.ln_rate);
        assert!((part - 1.0 / 21.0).abs() < 1e-6, "{part}");
        assert!((late - hourly.ln_rate()).abs() < 0.2);
    }

    #[test]
    fn rare_visits_to_many_pages_do_not_forget_within_a_day() {
        let (slow, fast) = (Belief::point(1e-9), Belief::point(1e-5));
        let mut site = SiteRates::at_first();
        for _ in 0..5000 {
            site.take_in(&slow, 200 * DAY);
        }
        for _ in 0..50 {
            site.take_in(&fast, 200 * DAY);
        }
        assert!((site.ln_rate - slow.ln_rate()).abs() < 0.1 * (1e4_f64).ln());
    }

    proptest! {
        #[test]
        fn a_prior_is_sound_whatever_was_taken_in(
            pages in prop::collection::vec((-30.0_f64..2.0, -3.0_f64..8.0, 0_u64..40_000_000), 0..200),
        ) {
            let mut rates = SiteRates::at_first();
            for (ln_rate, ln_shape, gap) in pages {
                let belief = Belief { rate: ln_rate.exp(), shape: ln_shape.exp() };
                rates.take_in(&belief, Duration::from_secs(gap));
                let prior = rates.drawn_to(&SiteRates::at_first()).prior();
                prop_assert!(0.0 < prior.rate && prior.rate.is_finite());
                prop_assert!(0.0 < prior.shape && prior.shape.is_finite());
            }
        }
    }
}
