//! Draws from the Gamma distribution, which says how many new data files a page of an arm may bring.

use crate::explore::Chance;

/// A draw from the Gamma distribution of this shape and rate.
///
/// Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables", ACM TOMS 26(3), 2000, figure 1 and section 6 (shapes below 1).
/// Departures: after `TRIES_MAX` rejections, each of which has a probability below 0.05, the mean is returned.
///
/// # Panics
/// If the shape or the rate is not positive.
pub(super) fn draw(shape: f64, rate: f64, chance: Chance<'_>) -> f64 {
    const TRIES_MAX: u32 = 64;
    assert!(0.0 < shape && 0.0 < rate, "shape {shape}, rate {rate}");
    if shape < 1.0 {
        let unit = positive(chance);
        return draw(shape + 1.0, rate, chance) * unit.powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    for _ in 0..TRIES_MAX {
        let normal = normal(chance);
        let base = 1.0 + c * normal;
        if base <= 0.0 {
            continue;
        }
        let cube = base.powi(3);
        if positive(chance).ln() < 0.5 * normal.powi(2) + d - d * cube + d * cube.ln() {
            return d * cube / rate;
        }
    }
    shape / rate
}

/// A draw from the normal distribution (Box and Muller, 1958).
fn normal(chance: Chance<'_>) -> f64 {
    let radius = (-2.0 * positive(chance).ln()).sqrt();
    radius * (std::f64::consts::TAU * chance()).cos()
}

/// Above 0, at most 1.
fn positive(chance: Chance<'_>) -> f64 {
    1.0 - chance()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::chance;

    #[test]
    fn mean_and_variance_are_those_of_the_distribution() {
        const DRAWS: u32 = 40_000;
        for (shape, rate) in [(0.3, 1.0), (1.0, 2.0), (4.0, 0.5)] {
            let mut chance = chance(7);
            let draws: Vec<f64> = (0..DRAWS).map(|_| draw(shape, rate, &mut chance)).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(DRAWS);
            let squares = draws.iter().map(|draw| (draw - mean).powi(2));
            let variance = squares.sum::<f64>() / f64::from(DRAWS);
            assert!(
                (mean * rate / shape - 1.0).abs() < 0.05,
                "mean {mean} of {shape}"
            );
            assert!(
                (variance * rate * rate / shape - 1.0).abs() < 0.1,
                "{variance} of {shape}"
            );
            assert!(draws.iter().all(|draw| 0.0 <= *draw && draw.is_finite()));
        }
    }
}
