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
    /// The variance of a mean within its cell.
    blur: Weights,
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
            blur: zero,
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
            grid.blur[cell] = (to - from) * (to - from) / 12.0;
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
            *weight = if below < -NEGLIGIBLE {
                0.0
            } else {
                libm::exp(below)
            };
            sum += *weight;
        }
        for weight in &mut weights {
            *weight /= sum;
        }
        weights
    }

    /// What these weights say of the site.
    pub(crate) fn belief(&self, weights: &Weights) -> Belief {
        let mut belief = Belief {
            mean: 0.0,
            variance: 0.0,
            noise: 0.0,
        };
        let mut blur = 0.0;
        let mut square = 0.0;
        let mut sum = 0.0;
        for (cell, weight) in weights.iter().enumerate() {
            sum += weight;
            belief.mean += weight * self.mean[cell];
            square += weight * self.mean[cell] * self.mean[cell];
            belief.noise += weight * self.noise[cell];
            blur += weight * self.blur[cell];
        }
        belief.mean /= sum;
        belief.noise /= sum;
        belief.variance = (square / sum - belief.mean * belief.mean).max(0.0) + blur / sum;
        belief
    }
}

/// What is believed of a site's mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Belief {
    /// Its expectation.
    pub(crate) mean: f64,
    /// Its variance.
    pub(crate) variance: f64,
    /// The variance of what one fetch more tells of it.
    pub(crate) noise: f64,
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

    #[test]
    fn what_is_turned_round_is_believed_turned_round() {
        let one = GRID.belief(&GRID.posterior(&flat(), &evidence(&[0.1, 0.35, 0.6])));
        let other = GRID.belief(&GRID.posterior(&flat(), &evidence(&[0.9, 0.65, 0.4])));
        assert!((one.mean + other.mean - 1.0).abs() < 1e-9);
        assert!((one.variance - other.variance).abs() < 1e-9);
        assert!((one.noise - other.noise).abs() < 1e-9);
    }

    #[test]
    fn many_equal_pages_make_sure_and_extremes_do_no_harm() {
        let many = GRID.belief(&GRID.posterior(&flat(), &evidence(&[0.7; 400])));
        assert!((many.mean - 0.7).abs() < 0.02, "{many:?}");
        assert!(many.variance < 1e-3);
        for extreme in [0.0, 1.0] {
            let sure = GRID.belief(&GRID.posterior(&flat(), &evidence(&vec![extreme; 5000])));
            assert!((sure.mean - extreme).abs() < 0.05, "{sure:?}");
            assert!(0.0 < sure.variance && 0.0 < sure.noise);
        }
        let nothing = GRID.belief(&GRID.posterior(&flat(), &Evidence::default()));
        assert!((nothing.mean - 0.5).abs() < 1e-9);
        assert!((nothing.variance - 1.0 / 12.0).abs() < 1e-3, "{nothing:?}");
    }
}
