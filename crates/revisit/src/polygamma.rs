//! Derivatives of ln Γ that the library of special functions does not have.
//!
//! *ψ*″ by Abramowitz and Stegun, *Handbook of Mathematical Functions*, 1964, equations 6.4.6 and 6.4.14.

use special::Gamma as _;

/// From here on the series is exact to twelve digits.
const SERIES_FROM: f64 = 12.0;

/// The argument at which *ψ*′ has this value, which is above zero.
///
/// Newton's method on 1/*ψ*′, which is convex and nearly straight, so it converges from below in a few steps (Smyth, "Linear
/// models and empirical Bayes methods", 2004, appendix).
pub(crate) fn inverse_trigamma(value: f64) -> f64 {
    let mut argument = 0.5 + 1.0 / value;
    for _ in 0..50 {
        let here = argument.trigamma();
        let step = here * (1.0 - here / value) / tetragamma(argument);
        argument += step;
        if step.abs() < 1e-10 * argument {
            break;
        }
    }
    argument
}

/// *ψ*″, the derivative of *ψ*′, for arguments above zero.
fn tetragamma(mut argument: f64) -> f64 {
    let mut shift = 0.0;
    while argument < SERIES_FROM {
        shift -= 2.0 / argument.powi(3);
        argument += 1.0;
    }
    let inverse = 1.0 / argument;
    let square = inverse * inverse;
    let series = square * (0.5 - square * (1.0 / 6.0 - square / 6.0));
    shift - square * (1.0 + inverse + series)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_derivative_has_its_known_value() {
        // ψ″(1) = −2 ζ(3).
        assert!((tetragamma(1.0) + 2.404_113_806_319_188_6).abs() < 1e-8);
    }

    #[test]
    fn the_inverse_is_the_inverse() {
        for exponent in -24..=24 {
            let value = 1.7_f64.powi(exponent);
            let back = inverse_trigamma(value).trigamma();
            assert!((back / value - 1.0).abs() < 1e-8, "{value}: {back}");
        }
    }
}
