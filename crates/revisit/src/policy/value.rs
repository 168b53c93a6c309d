//! What a visit is worth to a page that has been exposed to change, and the exposure at which it is worth so much.
//!
//! Cho and Garcia-Molina, "Effective Page Refresh Policies for Web Crawlers", ACM TODS 28(4), 2003, section 4: the marginal
//! value of visiting a page that changes as a Poisson process. The same function, times the rate of change, is the
//! marginal value of a visit for the versions that an archive captures.
//!
//! # Notation
//! *x*: `exposure`, changes expected since the last visit; *v* = 1 − (1 + *x*)e⁻ˣ: the result, from 0 to 1.
//!
//! Departures: none.

/// Below this exposure the closed form loses digits by cancellation, and the series takes its place.
const SERIES_BELOW: f64 = 0.5;

/// Terms of the series: the last one is below 1e-18 of the first at the largest exposure that it is used for.
const SERIES_TERMS: u32 = 16;

/// Exposures beyond this are worth one, to the last digit.
pub(crate) const EXPOSURE_MAX: f64 = 50.0;

/// *v* = 1 − (1 + *x*)e⁻ˣ: rises from 0 to 1.
///
/// # Panics
/// If the exposure is negative or no number.
#[must_use]
pub fn visit_value(exposure: f64) -> f64 {
    assert!(0.0 <= exposure, "an exposure of {exposure}");
    if exposure < SERIES_BELOW {
        return series(exposure);
    }
    if EXPOSURE_MAX < exposure {
        return 1.0;
    }
    1.0 - (1.0 + exposure) * (-exposure).exp()
}

/// Σ (−1)ᵏ (*k* − 1) *x*ᵏ / *k*!, from *k* = 2 on.
fn series(exposure: f64) -> f64 {
    let mut power = exposure;
    let mut sum = 0.0;
    for k in 2..2 + SERIES_TERMS {
        power *= -exposure / f64::from(k);
        sum -= f64::from(k - 1) * power;
    }
    sum
}

/// The exposure at which a visit is worth `value`; none if it never is.
#[must_use]
pub fn exposure_worth(value: f64) -> Option<f64> {
    if value.is_nan() || 1.0 <= value {
        return None;
    }
    if value <= 0.0 {
        return Some(0.0);
    }
    // v ≤ x²/2 and v ≤ 1 − e⁻ˣ: so the root lies above both inverses.
    let mut low = (2.0 * value).sqrt().max(-(-value).ln_1p());
    let mut high = EXPOSURE_MAX;
    let mut exposure = low;
    for _ in 0..ROUNDS_MAX {
        let excess = visit_value(exposure) - value;
        if excess < 0.0 {
            low = exposure;
        } else {
            high = exposure;
        }
        // v′ = x e⁻ˣ.
        let newton = exposure - excess / (exposure * (-exposure).exp());
        let next = if low < newton && newton < high {
            newton
        } else {
            f64::midpoint(low, high)
        };
        if (next - exposure).abs() <= exposure * PRECISION {
            return Some(next);
        }
        exposure = next;
    }
    Some(exposure)
}

/// Rounds of Newton's method, kept within the bracket by halving it; a handful is enough.
const ROUNDS_MAX: u32 = 100;
const PRECISION: f64 = 1e-15;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_of_the_closed_form() {
        for (exposure, value) in [
            (0.0, 0.0),
            (1.0, 1.0 - 2.0 / std::f64::consts::E),
            (2.0, 1.0 - 3.0 * (-2.0_f64).exp()),
            (1e9, 1.0),
        ] {
            assert!((visit_value(exposure) - value).abs() < 1e-15);
        }
    }

    #[test]
    fn small_exposures_keep_their_digits() {
        // x²/2 − x³/3 + …: the closed form has no correct digit left at 1e-9.
        for exposure in [1e-12_f64, 1e-9, 1e-6, 1e-3] {
            let expected = exposure * exposure / 2.0 - exposure.powi(3) / 3.0;
            assert!((visit_value(exposure) / expected - 1.0).abs() < exposure);
        }
        let (below, above) = (series(SERIES_BELOW), visit_value(SERIES_BELOW));
        assert!((below - above).abs() < 1e-15);
    }

    #[test]
    fn nothing_is_worth_more_than_one() {
        assert_eq!(exposure_worth(1.0), None);
        assert_eq!(exposure_worth(f64::NAN), None);
        assert_eq!(exposure_worth(-1.0), Some(0.0));
    }

    proptest! {
        #[test]
        fn a_visit_is_worth_more_the_longer_it_waits(low in 0.0..40.0_f64, more in 1e-6..5.0_f64) {
            prop_assert!(visit_value(low) <= visit_value(low + more));
            prop_assert!(visit_value(low + more) <= 1.0);
        }

        #[test]
        fn the_inverse_is_exact(power in -12.0..1.3_f64) {
            let exposure = 10.0_f64.powf(power);
            let back = exposure_worth(visit_value(exposure)).unwrap();
            // Where the value is close to one, it has fewer digits than the exposure.
            let digits = f64::EPSILON / (exposure * exposure * (-exposure).exp()).min(1.0);
            let bound = 1e-9_f64.max(8.0 * digits);
            prop_assert!((back / exposure - 1.0).abs() < bound, "{exposure} {back}");
        }
    }
}
