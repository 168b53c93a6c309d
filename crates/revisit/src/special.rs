//! Functions of mathematics that the standard library does not have.
//!
//! Abramowitz and Stegun, *Handbook of Mathematical Functions*, 1964: *ψ* by 6.3.5 and 6.3.18, *ψ*′ by 6.4.6 and 6.4.12.

/// From here on the series are exact to twelve digits.
const SERIES_FROM: f64 = 12.0;

/// *ψ*, the derivative of ln Γ, for arguments above zero.
pub(crate) fn digamma(mut argument: f64) -> f64 {
    let mut shift = 0.0;
    while argument < SERIES_FROM {
        shift -= 1.0 / argument;
        argument += 1.0;
    }
    let square = 1.0 / (argument * argument);
    let series = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0));
    shift + argument.ln() - 0.5 / argument - series
}

/// *ψ*′, the derivative of *ψ*, for arguments above zero.
pub(crate) fn trigamma(mut argument: f64) -> f64 {
    let mut shift = 0.0;
    while argument < SERIES_FROM {
        shift += 1.0 / (argument * argument);
        argument += 1.0;
    }
    let inverse = 1.0 / argument;
    let square = inverse * inverse;
    let series = square * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0));
    shift + inverse * (1.0 + 0.5 * inverse + series)
}

/// The argument at which *ψ*′ has this value, which is above zero.
///
/// Newton's method on 1/*ψ*′, which is convex and nearly straight, so it converges from below in a few steps (Smyth, "Linear
/// models and empirical Bayes methods", 2004, appendix).
pub(crate) fn inverse_trigamma(value: f64) -> f64 {
    let mut argument = 0.5 + 1.0 / value;
    for _ in 0..50 {
        let here = trigamma(argument);
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

    const EULER: f64 = 0.577_215_664_901_532_9;

    #[test]
    fn the_functions_have_their_known_values() {
        let pi_square = std::f64::consts::PI.powi(2);
        for (argument, value) in [
            (1.0, -EULER),
            (0.5, -EULER - 2.0 * 2.0_f64.ln()),
            (2.0, 1.0 - EULER),
            (10.0, 2.251_752_589_066_721),
        ] {
            assert!((digamma(argument) - value).abs() < 1e-9, "{argument}");
        }
        for (argument, value) in [
            (1.0, pi_square / 6.0),
            (0.5, pi_square / 2.0),
            (2.0, pi_square / 6.0 - 1.0),
        ] {
            assert!((trigamma(argument) - value).abs() < 1e-9, "{argument}");
        }
        // ψ″(1) = −2 ζ(3).
        assert!((tetragamma(1.0) + 2.404_113_806_319_188_6).abs() < 1e-8);
    }

    #[test]
    fn the_inverse_is_the_inverse() {
        for exponent in -24..=24 {
            let value = 1.7_f64.powi(exponent);
            let back = trigamma(inverse_trigamma(value));
            assert!((back / value - 1.0).abs() < 1e-8, "{value}: {back}");
        }
    }
}
