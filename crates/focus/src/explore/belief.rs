//! What a site may be, by what was seen of it: a posterior over a grid of Beta distributions.
//!
//! A site gives probabilities from Beta(*α*, *β*). Its cells are combinations of a mean *α*/(*α* + *β*), closer together near ½ where verdicts
//! turn, and a concentration *α* + *β*, evenly spaced in its logarithm. The likelihood of all that was seen of a site needs only the three
//! sums of its [`Evidence`], so a posterior costs one pass over the cells, however many pages were fetched.
//!
//! The likelihood tells more than the mean of the probabilities does: for *α* = *β* = 0.1 as much as 1.7 fetches for each.

use std::sync::LazyLock;

use special::Gamma as _;

use super::Evidence;
use super::beta::log_beta;

/// How many means there are on the grid.
pub(crate) const MEANS: usize = 32;
/// How many concentrations there are on the grid.
pub(crate) const CONCENTRATIONS: usize = 8;
/// Cells of the grid; the concentrations of one mean lie together.
pub(crate) const CELLS: usize = MEANS * CONCENTRATIONS;

/// The least and the greatest concentration: pages that say nearly 0 or 1 at random, and pages that nearly agree.
const CONCENTRATION_BOUNDS: [f64; 2] = [0.1, 60.0];
/// Means are spaced as this power of their distance from ½.
const SPACING: f64 = 1.3;
/// Cells whose weight is below e to the minus this, relative to the greatest, count as nothing.
const NEGLIGIBLE: f64 = 30.0;

/// A number for each cell.
pub(crate) type Weights = [f64; CELLS];

/// The grid: what each cell stands for.
#[derive(Debug)]
pub(crate) struct Grid {
    /// Its mean.
    pub(crate) mean: Weights,
    /// What it weighs if all means, and all logarithms of concentrations, are as probable.
    pub(crate) share: Weights,
    /// *α* − 1 and *β* − 1, which the sums of logarithms are multiplied with.
    yes: Weights,
    no: Weights,
    /// −ln B(*α*, *β*).
    log_scale: Weights,
    /// The variance that a fetch leaves in the mean, if the concentration is known: the inverse of Fisher's information.
    noise: Weights,
}

/// The one grid.
pub(crate) static GRID: LazyLock<Grid> = LazyLock::new(Grid::new);

impl Grid {
    fn new() -> Grid {
        let zero = [0.0; CELLS];
        let mut grid = Grid {
            mean: zero,
            share: zero,
            yes: zero,
            no: zero,
            log_scale: zero,
            noise: zero,
        };
        for cell in 0..CELLS {
            let place = (cell / CONCENTRATIONS) as f64;
            let (from, to) = (edge(place), edge(place + 1.0));
            let mean = edge(place + 0.5);
            let concentration = concentration(cell % CONCENTRATIONS);
            let (alpha, beta) = (mean * concentration, (1.0 - mean) * concentration);
            grid.mean[cell] = mean;
            grid.share[cell] = (to - from) / CONCENTRATIONS as f64;
            grid.yes[cell] = alpha - 1.0;
            grid.no[cell] = beta - 1.0;
            grid.log_scale[cell] = -log_beta(alpha, beta);
            grid.noise[cell] =
                1.0 / (concentration * concentration * (alpha.trigamma() + beta.trigamma()));
        }
        grid
    }

    /// Weighs the cells by a prior, given as logarithms, and what was seen: weights that sum to 1.
    pub(crate) fn posterior(&self, log_prior: &Weights, evidence: &Evidence) -> Weights {
        let fetches = f64::from(evidence.fetches());
        let (logs, other_logs) = (evidence.sum_of_logs(), evidence.sum_of_other_logs());
        let mut weights = [0.0; CELLS];
        let mut greatest = f64::NEG_INFINITY;
        for (cell, weight) in weights.iter_mut().enumerate() {
            *weight = log_prior[cell]
                + fetches * self.log_scale[cell]
                + self.yes[cell] * logs
                + self.no[cell] * other_logs;
            greatest = greatest.max(*weight);
        }
        let mut sum = 0.0;
        for weight in &mut weights {
            let below = *weight - greatest;
            let power = exponential(below.max(-NEGLIGIBLE));
            *weight = if below < -NEGLIGIBLE { 0.0 } else { power };
            sum += *weight;
        }
        for weight in &mut weights {
            *weight /= sum;
        }
        weights
    }

    /// The expected mean.
    pub(crate) fn mean_of(&self, weights: &Weights) -> f64 {
        let (mut mean, mut sum) = (0.0, 0.0);
        for (cell, weight) in weights.iter().enumerate() {
            sum += weight;
            mean += weight * self.mean[cell];
        }
        mean / sum
    }

    /// How these weights leave it open on which side of the line the mean lies.
    pub(crate) fn doubt(&self, weights: &Weights, line: f64) -> Doubt {
        let expected = self.mean_of(weights);
        let towards = if expected < line { 1.0 } else { -1.0 };
        let (mut regret, mut noise, mut sum) = (0.0, 0.0, 0.0);
        for (cell, weight) in weights.iter().enumerate() {
            sum += weight;
            let wrong = weight * (towards * (self.mean[cell] - line)).max(0.0);
            regret += wrong;
            noise += wrong * self.noise[cell];
        }
        Doubt {
            distance: (expected - line).abs(),
            regret: regret / sum,
            noise: if 0.0 < regret { noise / regret } else { 0.0 },
        }
    }
}

/// How a verdict may be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Doubt {
    /// How far the expected mean is from the line.
    pub(crate) distance: f64,
    /// How far beyond the line the mean is expected to be: what it is worth to know all.
    pub(crate) regret: f64,
    /// The variance of what one fetch tells of the mean, where the verdict is wrong.
    pub(crate) noise: f64,
}

/// e to a power from −[`NEGLIGIBLE`] to 0, to seven digits, without a branch: so that the processor takes several cells at once.
///
/// 2 to the nearest whole number is put together from its bits, and the rest is Taylor's series.
#[inline]
fn exponential(power: f64) -> f64 {
    /// Added to a small number it leaves the nearest whole number in the lowest bits.
    const ROUNDING: f64 = 6_755_399_441_055_744.0;
    const ONE: u64 = 1.0_f64.to_bits();
    const EXPONENT_FROM: u32 = f64::MANTISSA_DIGITS - 1;
    let octaves = power * std::f64::consts::LOG2_E;
    let rounded = octaves + ROUNDING;
    let rest = (octaves - (rounded - ROUNDING)) * std::f64::consts::LN_2;
    let series = [5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0]
        .iter()
        .fold(0.0, |sum, factorial| sum * rest + 1.0 / factorial);
    series * f64::from_bits((rounded.to_bits() << EXPONENT_FROM).wrapping_add(ONE))
}

/// The place of a mean between 0 and 1, for places from 0 to [`MEANS`].
fn edge(place: f64) -> f64 {
    let from_middle = 2.0 * place / MEANS as f64 - 1.0;
    0.5 + 0.5 * from_middle.signum() * libm::pow(from_middle.abs(), SPACING)
}

fn concentration(place: usize) -> f64 {
    let [least, greatest] = CONCENTRATION_BOUNDS.map(libm::log);
    libm::exp(least + (greatest - least) * place as f64 / (CONCENTRATIONS - 1) as f64)
}

/// Means and concentrations that are spread evenly over a cell, the concentrations by their logarithm.
pub(crate) fn points(cell: usize) -> impl Iterator<Item = (f64, f64)> {
    const EACH_WAY: usize = 16;
    let within = |point: usize| (point as f64 + 0.5) / EACH_WAY as f64;
    let ratio = concentration(1) / concentration(0);
    (0..EACH_WAY * EACH_WAY).map(move |point| {
        let mean = edge((cell / CONCENTRATIONS) as f64 + within(point / EACH_WAY));
        let off = libm::pow(ratio, within(point % EACH_WAY) - 0.5);
        (mean, concentration(cell % CONCENTRATIONS) * off)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(probabilities: &[f64]) -> Evidence {
        let mut evidence = Evidence::default();
        for probability in probabilities {
            evidence.add(*probability);
        }
        evidence
    }

    fn flat() -> Weights {
        GRID.share.map(libm::log)
    }

    #[test]
    fn the_posterior_is_the_product_of_densities() {
        let probabilities = [0.2, 0.7, 0.45];
        let weights = GRID.posterior(&flat(), &evidence(&probabilities));
        let product = |cell: usize| {
            let (alpha, beta) = (GRID.yes[cell] + 1.0, GRID.no[cell] + 1.0);
            let density = |p: f64| {
                p.powf(alpha - 1.0) * (1.0 - p).powf(beta - 1.0) / log_beta(alpha, beta).exp()
            };
            GRID.share[cell] * probabilities.iter().map(|p| density(*p)).product::<f64>()
        };
        let sum: f64 = (0..CELLS).map(product).sum();
        for (cell, weight) in weights.iter().enumerate() {
            let difference = weight - product(cell) / sum;
            assert!(difference.abs() < 1e-9, "{cell}: {difference}");
        }
    }

    fn doubt(probabilities: &[f64]) -> (f64, Doubt) {
        let weights = GRID.posterior(&flat(), &evidence(probabilities));
        (GRID.mean_of(&weights), GRID.doubt(&weights, 0.5))
    }

    #[test]
    fn what_is_turned_round_is_believed_turned_round() {
        let (mean, one) = doubt(&[0.1, 0.35, 0.6]);
        let (turned, other) = doubt(&[0.9, 0.65, 0.4]);
        assert!((mean + turned - 1.0).abs() < 1e-9);
        assert!((one.regret - other.regret).abs() < 1e-9);
        assert!((one.noise - other.noise).abs() < 1e-9);
    }

    #[test]
    fn many_equal_pages_make_sure_and_extremes_do_no_harm() {
        let (mean, many) = doubt(&[0.7; 400]);
        assert!((mean - 0.7).abs() < 0.02, "{mean}");
        assert!(many.regret < 1e-6, "{many:?}");
        for extreme in [0.0, 1.0] {
            let (mean, sure) = doubt(&vec![extreme; 5000]);
            assert!((mean - extreme).abs() < 0.05, "{mean}");
            assert!((0.0..1e-6).contains(&sure.regret) && 0.0 <= sure.noise);
        }
        // Of a mean that may be anything, half lies beyond ½, by ¼ on average.
        let (mean, nothing) = doubt(&[]);
        assert!((mean - 0.5).abs() < 1e-9);
        assert!((nothing.regret - 0.125).abs() < 1e-3, "{nothing:?}");
    }

    #[test]
    fn the_quick_exponential_has_seven_digits() {
        for step in 0..=3000 {
            let power = -NEGLIGIBLE * f64::from(step) / 3000.0;
            let off = exponential(power) / libm::exp(power) - 1.0;
            assert!(off.abs() < 1e-7, "{power}: {off}");
        }
    }
}
