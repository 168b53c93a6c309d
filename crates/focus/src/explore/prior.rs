//! What sites are like in general, learned from all that were seen: an empirical prior over the cells of the grid.
//!
//! The prior is a product of a distribution of means and one of concentrations, fitted by expectation and maximisation to what was seen
//! of a bounded sample of the sites (Efron, *Large-Scale Inference*, 2010, chapter 1: sites teach about each other), in steps that are
//! extrapolated (Varadhan and Roland, "Simple and Globally Convergent Methods for Accelerating the Convergence of Any EM Algorithm",
//! Scandinavian Journal of Statistics 35, 2008, scheme S3).
//!
//! One probability per site tells nothing of concentrations: then the fit rests on the vague prior, which weighs as much as
//! [`VAGUE_SITES`] sites.
//!
//! # Departures
//! Neighbouring cells share a little of their weight in each step, so that the distributions are smooth; the extrapolation is made on
//! logarithms, bounded, and always followed by a plain step.

use super::Evidence;
use super::belief::{CELLS, CONCENTRATIONS, GRID, MEANS, Weights, points};

/// Sites that a fit looks at, at most: evenly spread over all that were seen.
const SAMPLE: usize = 2048;
/// How many sites the vague prior counts for.
const VAGUE_SITES: f64 = 5.0;
/// The share of a mean's and of a concentration's weight that goes to each neighbour in a step.
const SHARED_MEANS: f64 = 0.05;
const SHARED_CONCENTRATIONS: f64 = 0.003;
/// Extrapolations in a fit, of three steps each.
const ROUNDS: usize = 10;
/// The greatest extrapolation.
const LEAP_MAX: f64 = 20.0;
/// Weights below this count as this in logarithms.
const LEAST: f64 = 1e-12;

/// The prior.
#[derive(Clone, Debug)]
pub(crate) struct Prior {
    parts: Parts,
    log_weights: Box<Weights>,
}

/// A distribution of means, then one of concentrations.
type Parts = [f64; MEANS + CONCENTRATIONS];

impl Prior {
    /// Before anything is seen: any mean is as probable, and any logarithm of a concentration.
    pub(crate) fn vague() -> Prior {
        Prior::of(&vague_parts())
    }

    /// What is known: a density of means and concentrations, up to a factor.
    pub(crate) fn known(density: &dyn Fn(f64, f64) -> f64) -> Prior {
        let mut weights = [0.0; CELLS];
        for (cell, weight) in weights.iter_mut().enumerate() {
            // Points lie evenly in the logarithm of the concentration.
            let of = |(mean, concentration)| density(mean, concentration) * concentration;
            *weight = mean_width(cell / CONCENTRATIONS) * points(cell).map(of).sum::<f64>();
        }
        let sum: f64 = weights.iter().sum();
        let mut parts = [0.0; MEANS + CONCENTRATIONS];
        for (cell, weight) in weights.iter_mut().enumerate() {
            *weight /= sum;
            parts[cell / CONCENTRATIONS] += *weight;
            parts[MEANS + cell % CONCENTRATIONS] += *weight;
        }
        Prior {
            parts,
            log_weights: logs(&weights),
        }
    }

    /// Learns from the sites, starting from what was believed before.
    pub(crate) fn learn(&mut self, sites: &[Evidence]) {
        let likelihoods = likelihoods(sites);
        let mut parts = self.parts;
        for _ in 0..ROUNDS {
            let first = step(&parts, &likelihoods);
            let second = step(&first, &likelihoods);
            parts = step(&leap(&parts, &first, &second), &likelihoods);
        }
        *self = Prior::of(&parts);
    }

    /// The logarithm of each cell's weight.
    pub(crate) fn log_weights(&self) -> &Weights {
        &self.log_weights
    }

    /// The share of sites whose mean is at least the threshold.
    pub(crate) fn share_above(&self, threshold: f64) -> f64 {
        let above = |place: &usize| threshold <= GRID.mean[place * CONCENTRATIONS];
        (0..MEANS)
            .filter(above)
            .map(|place| self.parts[place])
            .sum()
    }

    fn of(parts: &Parts) -> Prior {
        Prior {
            parts: *parts,
            log_weights: logs(&cells(parts)),
        }
    }
}

fn logs(weights: &Weights) -> Box<Weights> {
    Box::new(weights.map(|weight| libm::log(weight.max(f64::MIN_POSITIVE))))
}

fn vague_parts() -> Parts {
    let mut parts = [0.0; MEANS + CONCENTRATIONS];
    for (place, mean) in parts[..MEANS].iter_mut().enumerate() {
        *mean = mean_width(place);
    }
    parts[MEANS..].fill(1.0 / CONCENTRATIONS as f64);
    parts
}

/// The width of a cell's means.
fn mean_width(place: usize) -> f64 {
    GRID.share[place * CONCENTRATIONS] * CONCENTRATIONS as f64
}

fn cells(parts: &Parts) -> Weights {
    let mut weights = [0.0; CELLS];
    for (cell, weight) in weights.iter_mut().enumerate() {
        *weight = parts[cell / CONCENTRATIONS] * parts[MEANS + cell % CONCENTRATIONS];
    }
    weights
}

/// How probable what was seen of each site of the sample is in each cell, up to a factor.
fn likelihoods(sites: &[Evidence]) -> Vec<Weights> {
    let flat = [0.0; CELLS];
    let stride = sites.len().div_ceil(SAMPLE).max(1);
    let seen = sites
        .iter()
        .step_by(stride)
        .filter(|site| 0 < site.fetches());
    seen.map(|site| GRID.posterior(&flat, site)).collect()
}

/// One step of expectation and maximisation.
fn step(parts: &Parts, likelihoods: &[Weights]) -> Parts {
    let prior = cells(parts);
    let mut counts = cells(&vague_parts()).map(|weight| weight * VAGUE_SITES);
    for likelihood in likelihoods {
        let mut sum = 0.0;
        for cell in 0..CELLS {
            sum += likelihood[cell] * prior[cell];
        }
        if f64::MIN_POSITIVE < sum {
            for cell in 0..CELLS {
                counts[cell] += likelihood[cell] * prior[cell] / sum;
            }
        }
    }
    let mut next = [0.0; MEANS + CONCENTRATIONS];
    for (cell, count) in counts.iter().enumerate() {
        next[cell / CONCENTRATIONS] += count;
        next[MEANS + cell % CONCENTRATIONS] += count;
    }
    smooth(&mut next);
    normalise(&mut next);
    next
}

/// Lets neighbours share, means by their density.
fn smooth(parts: &mut Parts) {
    let (means, concentrations) = parts.split_at_mut(MEANS);
    for (place, mean) in means.iter_mut().enumerate() {
        *mean /= mean_width(place);
    }
    share(means, SHARED_MEANS);
    for (place, mean) in means.iter_mut().enumerate() {
        *mean *= mean_width(place);
    }
    share(concentrations, SHARED_CONCENTRATIONS);
}

fn share(values: &mut [f64], part: f64) {
    let mut before = values[0];
    for place in 0..values.len() {
        let here = values[place];
        let after = values.get(place + 1).copied().unwrap_or(here);
        values[place] = (1.0 - 2.0 * part) * here + part * (before + after);
        before = here;
    }
}

fn normalise(parts: &mut Parts) {
    let (means, concentrations) = parts.split_at_mut(MEANS);
    for distribution in [means, concentrations] {
        let sum: f64 = distribution.iter().sum();
        for value in distribution {
            *value /= sum;
        }
    }
}

/// Extrapolates from where a step started, where it led, and where the next one led.
fn leap(start: &Parts, first: &Parts, second: &Parts) -> Parts {
    let log = |parts: &Parts| parts.map(|value| libm::log(value.max(LEAST)));
    let (start, first, last) = (log(start), log(first), log(second));
    let (mut way, mut bend) = (0.0, 0.0);
    for place in 0..start.len() {
        let step = first[place] - start[place];
        let change = last[place] - first[place] - step;
        way += second[place] * step * step;
        bend += second[place] * change * change;
    }
    let length = (way / bend.max(f64::MIN_POSITIVE))
        .sqrt()
        .clamp(1.0, LEAP_MAX);
    let mut leaped = [0.0; MEANS + CONCENTRATIONS];
    for (place, value) in leaped.iter_mut().enumerate() {
        let step = first[place] - start[place];
        let change = last[place] - first[place] - step;
        let log = start[place] + 2.0 * length * step + length * length * change;
        *value = libm::exp(log.clamp(libm::log(LEAST), 0.0));
    }
    normalise(&mut leaped);
    leaped
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sites of two kinds with pages about 0.2 and 0.8, one in four of the second.
    fn sites(count: u32, pages: u32) -> Vec<Evidence> {
        let site = |number: u32| {
            let mut evidence = Evidence::default();
            for page in 0..pages {
                let noise = f64::from((number * 31 + page * 17) % 21) / 100.0 - 0.1;
                let about = if number.is_multiple_of(4) { 0.8 } else { 0.2 };
                evidence.add(about + noise);
            }
            evidence
        };
        (0..count).map(site).collect()
    }

    #[test]
    fn the_share_of_sites_above_the_threshold_is_learned() {
        let mut prior = Prior::vague();
        assert!((prior.share_above(0.5) - 0.5).abs() < 1e-9);
        prior.learn(&sites(2000, 5));
        let share = prior.share_above(0.5);
        assert!((share - 0.25).abs() < 0.03, "{share}");
    }

    #[test]
    fn pages_that_agree_make_high_concentrations_probable() {
        let mut prior = Prior::vague();
        prior.learn(&sites(500, 5));
        let [low, high] = [0..CONCENTRATIONS / 2, CONCENTRATIONS / 2..CONCENTRATIONS]
            .map(|places| places.map(|place| prior.parts[MEANS + place]).sum::<f64>());
        assert!(4.0 * low < high, "{low} {high}");
    }

    #[test]
    fn a_prior_stays_a_distribution_whatever_was_seen() {
        let mut extreme = Evidence::default();
        for _ in 0..1000 {
            extreme.add(1.0);
        }
        for seen in [
            vec![],
            vec![Evidence::default()],
            vec![extreme; 3],
            sites(10_000, 1),
        ] {
            let mut prior = Prior::vague();
            prior.learn(&seen);
            let sum: f64 = cells(&prior.parts).iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            assert!(prior.log_weights().iter().all(|log| log.is_finite()));
        }
    }

    #[test]
    fn extrapolating_never_ends_below_where_plain_steps_end() {
        let seen = likelihoods(&sites(300, 2));
        let likelihood = |parts: &Parts| {
            let prior = cells(parts);
            let of_site = |site: &Weights| {
                site.iter()
                    .zip(&prior)
                    .map(|(one, other)| one * other)
                    .sum::<f64>()
                    .ln()
            };
            seen.iter().map(of_site).sum::<f64>()
        };
        let mut plain = vague_parts();
        for _ in 0..3 * ROUNDS {
            plain = step(&plain, &seen);
        }
        let mut prior = Prior::vague();
        prior.learn(&sites(300, 2));
        assert!(
            likelihood(&plain) - 0.5 <= likelihood(&prior.parts),
            "{} {}",
            likelihood(&plain),
            likelihood(&prior.parts)
        );
    }
}
