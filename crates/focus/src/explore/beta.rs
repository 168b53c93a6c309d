//! The Beta distribution, as far as verdicts need it and libraries do not have it without cancellation.
//!
//! The incomplete Beta function by Lentz's evaluation of its continued fraction: *NIST Digital Library of Mathematical Functions*,
//! equation 8.17.22.

use std::f64::consts::LN_2;

/// The probability that a draw from Beta(*a*, *b*) is at least ½, for *a*, *b* > 0.
pub(crate) fn upper_half_of_beta(a: f64, b: f64) -> f64 {
    // By symmetry at ½ the smaller tail is evaluated, in which nothing cancels.
    if a < b {
        lower_tail_at_half(b, a)
    } else {
        1.0 - lower_tail_at_half(a, b)
    }
}

/// The probability that a draw from Beta(*a*, *b*) is below ½, for *a* ≥ *b*, where the fraction converges quickly.
fn lower_tail_at_half(a: f64, b: f64) -> f64 {
    let log_front = -log_beta(a, b) - (a + b) * LN_2 - libm::log(a);
    (libm::exp(log_front) * continued_fraction(a, b)).min(0.5)
}

/// ln B(*a*, *b*).
pub(crate) fn log_beta(a: f64, b: f64) -> f64 {
    libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)
}

/// The fraction of the incomplete Beta function at ½.
#[expect(clippy::many_single_char_names, reason = "as the equation has them")]
fn continued_fraction(a: f64, b: f64) -> f64 {
    const X: f64 = 0.5;
    /// It converges in O(√(a + b)) terms; a thousand are enough for a million fetches.
    const TERMS: u32 = 4000;
    let mut c = 1.0;
    let mut d = 1.0 / (1.0 - (a + b) * X / (a + 1.0));
    let mut fraction = d;
    for term in 1..TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * X / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / (1.0 + even * d);
        c = 1.0 + even / c;
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * X / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / (1.0 + odd * d);
        c = 1.0 + odd / c;
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-14 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_beta_distribution_is_known_for_whole_numbers() {
        // P(at least ½) for Beta(a, b) is P(fewer than a heads in a + b − 1 tosses).
        for (a, b) in [(1_u32, 1_u32), (2, 1), (1, 5), (7, 3), (30, 31), (200, 150)] {
            let tosses = a + b - 1;
            let mut term = 0.5_f64.powi(tosses.cast_signed());
            let mut sum = 0.0;
            for heads in 0..a {
                sum += term;
                term *= f64::from(tosses - heads) / f64::from(heads + 1);
            }
            let difference = upper_half_of_beta(a.into(), b.into()) - sum;
            assert!(difference.abs() < 1e-12, "{a} {b}: {difference}");
        }
    }

    #[test]
    fn the_two_halves_are_one_whole() {
        for (a, b) in [
            (0.3, 0.9),
            (1.5, 1.5),
            (1e5, 1.001e5),
            (2.0, 1e6),
            (1.0, 1.0 + 1e-12),
        ] {
            let sum = upper_half_of_beta(a, b) + upper_half_of_beta(b, a);
            assert!((sum - 1.0).abs() < 1e-12, "{a} {b}: {sum}");
        }
    }
}
