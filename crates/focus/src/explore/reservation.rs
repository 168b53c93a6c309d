//! The reservation price of a site: what a fetch of it may cost at most, if one may stop after any fetch.
//!
//! To learn on which side of the threshold a site's mean lies, at a price for each fetch, is a problem of optimal stopping: go on while
//! what is believed lies nearer to the threshold than a boundary that narrows as the belief does. Chernoff, "Sequential Tests for the Mean
//! of a Normal Distribution", Fourth Berkeley Symposium, 1961. The price at which a site lies *on* the boundary is its index, as in Gittins,
//! "Bandit Processes and Dynamic Allocation Indices", JRSS B 41(2), 1979: who always fetches from the site of the highest price has, at every
//! budget, gone on with each site exactly as long as the best rule for that budget's price would have.
//!
//! The boundary is the fit to Chernoff's of Chernoff and Petkau, "Numerical Solutions for Bayes Sequential Decision Problems", SIAM Journal
//! on Scientific and Statistical Computing 7(1), 1986, as used by Chick and Frazier, "Sequential Sampling with Economics of Selection
//! Procedures", Management Science 58(3), 2012.
//!
//! # Notation
//! *d*: `distance` of the believed mean from the threshold; *τ*: `deviation` of the belief; *V*: `noise`, the variance of what one fetch
//! tells; *c*: the price; *b*: the boundary for *c* = *V* = 1, a function of the variance *s*; *k* = *d*/*τ*. In other units the boundary
//! is (*cV*)^⅓ *b*(*s*) with *s* = *τ*²/(*cV*)^⅔, so that *c* = *τ*³/(*V* *s*^{3/2}) where *b*(*s*)/√*s* = *k*.
//!
//! # Departures
//! Chernoff's fetches are infinitely small. Whole ones narrow the boundary by 0.583 standard deviations of what the next one moves the mean
//! (Chernoff, "Sequential Tests for the Mean of a Normal Distribution IV", Annals of Mathematical Statistics 36(1), 1965); so *d* counts as so much more.
//! At *d* = 0 the price is then what one fetch is expected to gain.
//!
//! The belief is not normal: a site whose pages seem to agree may be one whose pages do not, and then its mean may be anywhere. What matters
//! is how probably, and how far, the mean lies beyond the threshold. So *τ* is that of the normal distribution with the same distance and
//! the same expected regret, and *V* is that of the sites that would be regretted.

use std::f64::consts::PI;
use std::sync::LazyLock;

use super::belief::Doubt;
use super::delta::expected_crossing;

/// By how many standard deviations of a step whole fetches narrow the boundary.
const WHOLE_FETCHES: f64 = 0.583;
/// *b*(*s*)/*s*² where *s* is small.
const SMALL: f64 = 0.233;
/// Steps of the table of divisors for each standard deviation of distance.
const TABLE_STEPS: u32 = 32;
/// The table ends at so many standard deviations, beyond which no fetch is worth anything that numbers can express.
const TABLE_END: u32 = 38;

/// The table of deviations goes from here in ln(distance/regret); before it the distance counts for nothing.
const DOUBT_FROM: f64 = -8.0;
/// So far, beyond which the regret counts for nothing.
const DOUBT_SPAN: u32 = 68;
/// Steps of that table for each unit.
const DOUBT_STEPS: u32 = 16;

/// What a fetch may cost at most, in units of the mean.
pub(crate) fn price(doubt: &Doubt) -> f64 {
    let deviation = deviation(doubt.distance, doubt.regret);
    normal_price(doubt.distance, deviation, doubt.noise)
}

/// The same for a normal belief of this deviation.
fn normal_price(distance: f64, deviation: f64, noise: f64) -> f64 {
    if !(0.0 < deviation && 0.0 < noise && distance < f64::INFINITY) {
        return 0.0;
    }
    let variance = deviation * deviation;
    let step = (variance / (variance + noise)).sqrt();
    let deviations = distance / deviation + WHOLE_FETCHES * step;
    let divisor = interpolated(&DIVISORS, deviations * f64::from(TABLE_STEPS));
    divisor.map_or(0.0, |log| {
        deviation * variance / (noise * deviations * libm::exp(log))
    })
}

/// The deviation of the normal belief with this regret.
fn deviation(distance: f64, regret: f64) -> f64 {
    if !(0.0 < regret && 0.0 <= distance) {
        return 0.0;
    }
    let doubt = libm::log(distance / regret);
    if doubt < DOUBT_FROM {
        return regret / expected_crossing(0.0, 1.0);
    }
    let place = (doubt - DOUBT_FROM) * f64::from(DOUBT_STEPS);
    interpolated(&DISTANCES, place).map_or(0.0, |deviations| distance / deviations)
}

/// At how many deviations the distance is so many times the regret, by the logarithm of that.
static DISTANCES: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let of_place = |place: u32| {
        let times = libm::exp(DOUBT_FROM + f64::from(place) / f64::from(DOUBT_STEPS));
        let is_below = |deviations: f64| deviations < times * expected_crossing(deviations, 1.0);
        halved([0.0, f64::from(TABLE_END)], is_below)
    };
    (0..=DOUBT_SPAN * DOUBT_STEPS).map(of_place).collect()
});

/// ln(*s*^{3/2}/*k*), by *k*.
static DIVISORS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let of_place = |place: u32| log_divisor(f64::from(place) / f64::from(TABLE_STEPS));
    (0..=TABLE_END * TABLE_STEPS).map(of_place).collect()
});

/// Solves *b*(*s*)/√*s* = *k* for ln(*s*^{3/2}/*k*).
fn log_divisor(deviations: f64) -> f64 {
    if deviations <= SMALL {
        return -libm::log(SMALL);
    }
    let is_below = |log: f64| {
        let variance = libm::exp(log);
        boundary(variance) < deviations * variance.sqrt()
    };
    1.5 * halved([0.0, 400.0], is_below) - libm::log(deviations)
}

/// Where a condition ceases to hold, by halving.
fn halved([mut low, mut high]: [f64; 2], holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The value at a place between two of the table; none beyond its end.
fn interpolated(table: &[f64], place: f64) -> Option<f64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "cuts the fraction off, and saturates"
    )]
    let before = place as usize;
    let (low, high) = (table.get(before)?, table.get(before.checked_add(1)?)?);
    let share = place - before as f64;
    Some(low + share * (high - low))
}

/// *b*(*s*).
fn boundary(variance: f64) -> f64 {
    let s = variance;
    if s <= 1.0 {
        SMALL * s * s
    } else if s <= 3.0 {
        s * (-0.023_26 + s * (0.3167 + s * (-0.069_06 + s * 0.005_37)))
    } else if s <= 40.0 {
        0.705 * s.sqrt() * libm::log(s)
    } else {
        0.642 * (s * libm::pow(2.0 * libm::log(s), 1.4) - libm::log(32.0 * PI)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What it is worth to go on at this price, by working back from so many fetches that nothing is left to learn: the slow, obvious way.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "a few hundred points"
    )]
    fn worth_of_going_on(distance: f64, variance: f64, noise: f64, price: f64) -> f64 {
        const FETCHES: u32 = 150;
        const POINTS: i32 = 240;
        const SPAN: f64 = 5.0;
        let width = SPAN * variance.sqrt() / f64::from(POINTS);
        let mean = |point: usize| (point as f64 - f64::from(POINTS)) * width;
        let points = 2 * POINTS as usize + 1;
        let mut after: Vec<f64> = (0..points).map(|point| mean(point).max(0.0)).collect();
        let mut going_on = after.clone();
        for fetch in (0..FETCHES).rev() {
            let left = variance / (1.0 + f64::from(fetch) * variance / noise);
            let step = left / (left + noise).sqrt();
            let reach = ((5.0 * step / width).ceil() as i32).max(1);
            let weights: Vec<f64> = (-reach..=reach)
                .map(|far| libm::exp(-0.5 * (f64::from(far) * width / step).powi(2)))
                .collect();
            let sum: f64 = weights.iter().sum();
            let at = |point: i32| match usize::try_from(point) {
                Ok(point) => after.get(point).copied().unwrap_or_else(|| mean(point)),
                Err(_) => 0.0,
            };
            going_on = (0..points as i32)
                .map(|point| {
                    let expected: f64 = (-reach..=reach)
                        .zip(&weights)
                        .map(|(far, weight)| weight * at(point + far))
                        .sum();
                    expected / sum - price
                })
                .collect();
            after = going_on
                .iter()
                .enumerate()
                .map(|(point, going_on)| going_on.max(mean(point).max(0.0)))
                .collect();
        }
        going_on[POINTS as usize - (distance / width).round() as usize]
    }

    #[test]
    fn at_the_reservation_price_to_go_on_is_worth_as_much_as_to_stop() {
        for (distance, noise) in [
            (0.0, 0.5),
            (0.05, 0.5),
            (0.05, 0.1),
            (0.1, 0.2),
            (0.15, 0.1),
        ] {
            let variance = 0.01_f64;
            let price = normal_price(distance, variance.sqrt(), noise);
            assert!(
                0.0 < worth_of_going_on(distance, variance, noise, 0.85 * price),
                "{distance} {noise}"
            );
            assert!(
                worth_of_going_on(distance, variance, noise, price / 0.85) < 0.0,
                "{distance} {noise}"
            );
        }
    }

    #[test]
    fn who_may_stop_after_any_fetch_pays_more_than_who_must_say_before() {
        for distance in [0.0, 0.02, 0.1, 0.3] {
            let (variance, noise) = (0.01_f64, 0.2);
            for fetches in [1.0, 2.0, 4.0, 16.0, 64.0] {
                let told = variance / (variance + noise / fetches);
                let gain = expected_crossing(distance, (variance * told).sqrt());
                let price = normal_price(distance, variance.sqrt(), noise);
                assert!(
                    gain / fetches < 1.03 * price,
                    "{distance} {fetches}: {gain} {price}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_nearer_less_sure_or_told_more_clearly_is_worth_more(
            distance in 0.0..0.5_f64, nearer in 0.0..1.0_f64, variance in 1e-6..0.25_f64, noise in 1e-4..1.0_f64, clearer in 0.1..1.0_f64,
        ) {
            let price = normal_price(distance, variance.sqrt(), noise);
            prop_assert!(0.0 <= price && price.is_finite());
            prop_assert!(price <= 1.001 * normal_price(nearer * distance, variance.sqrt(), noise));
            prop_assert!(price <= 1.001 * normal_price(distance, variance.sqrt(), clearer * noise));
            prop_assert!(normal_price(distance, (clearer * variance).sqrt(), noise) <= 1.001 * price);
        }
    }

    #[test]
    fn a_normal_belief_has_its_own_deviation() {
        for distance in [0.0, 1e-5, 0.01, 0.1, 0.4] {
            for spread in [0.01, 0.05, 0.2] {
                let found = deviation(distance, expected_crossing(distance, spread));
                let is_beyond = 10.0 * spread < distance;
                assert!(
                    is_beyond || (found / spread - 1.0).abs() < 0.01,
                    "{distance} {spread}: {found}"
                );
            }
        }
    }

    #[test]
    fn nothing_is_undefined_at_the_ends() {
        let of = |distance, regret, noise| {
            price(&Doubt {
                distance,
                regret,
                noise,
            })
        };
        for (distance, regret, noise) in [
            (0.0, 0.0, 0.1),
            (0.5, 1e-300, 0.1),
            (f64::NAN, 0.1, 0.1),
            (0.1, f64::NAN, 0.1),
            (0.1, 0.1, 0.0),
        ] {
            let price = of(distance, regret, noise);
            assert!(price.abs() < 1e-300, "{distance} {regret} {noise}: {price}");
        }
        assert!(0.0 < of(0.0, 0.1, 0.1));
    }
}
