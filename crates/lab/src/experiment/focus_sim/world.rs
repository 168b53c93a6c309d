//! Sites as Kato et al. (2022) imagines them: each gives probabilities from its own Beta distribution.
//!
//! The first two populations are section 4.1 of the paper, which does not say from where *α* and *β* are drawn; the third stands in for its
//! real sites (section 4.2), of which one in eight holds what is wanted.
//!
//! A site's label is drawn once. As verdicts do not depend on it, a verdict can also be held against the *probability* of the label,
//! which is the same in expectation and leaves the chance of the labels out of the comparison.

use junkai_chance::{Chance, mix};
use serde::Serialize;

/// Where sites are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Population {
    /// *α* and *β* evenly from 0 to 1: single pages say little.
    Noisy,
    /// *α* and *β* evenly from 0 to 10.
    Clear,
    /// An eighth with means about 0.58, the others about 0.28, both spread by 0.12; *α* + *β* evenly from 1 to 6.
    Skewed,
}

impl Population {
    /// All three.
    pub const ALL: [Population; 3] = [Population::Noisy, Population::Clear, Population::Skewed];

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Population::Noisy => "α, β in U(0, 1)",
            Population::Clear => "α, β in U(0, 10)",
            Population::Skewed => "one in eight",
        }
    }

    /// How many of its sites have about this mean and this sum of *α* and *β*, up to a factor.
    pub(super) fn density(self, mean: f64, concentration: f64) -> f64 {
        // Of α and β the Jacobian is their sum.
        let uniform = |greatest: f64| {
            let is_within = mean.max(1.0 - mean) * concentration < greatest;
            concentration * f64::from(u8::from(is_within))
        };
        match self {
            Population::Noisy => uniform(1.0),
            Population::Clear => uniform(10.0),
            Population::Skewed => {
                let [no, yes] = Site::densities(mean);
                (no + yes) * f64::from(u8::from((1.0..=6.0).contains(&concentration)))
            }
        }
    }

    /// Its name in files.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Population::Noisy => "noisy",
            Population::Clear => "clear",
            Population::Skewed => "skewed",
        }
    }
}

/// One site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    alpha: f64,
    beta: f64,
    /// Whether it holds what is wanted.
    pub(super) label: bool,
    /// How probable that was.
    pub(super) label_probability: f64,
}

impl Site {
    /// The mean of its pages' probabilities.
    pub(super) fn mean(&self) -> f64 {
        self.alpha / (self.alpha + self.beta)
    }

    fn draw(population: Population, chance: &mut Stream) -> Site {
        match population {
            Population::Noisy => Site::uniform(1.0, chance),
            Population::Clear => Site::uniform(10.0, chance),
            Population::Skewed => Site::skewed(chance),
        }
    }

    fn uniform(greatest: f64, chance: &mut Stream) -> Site {
        let mut parameter = || (greatest * chance.unit()).max(PARAMETER_MIN);
        let (alpha, beta) = (parameter(), parameter());
        let label_probability = alpha / (alpha + beta);
        Site {
            alpha,
            beta,
            label: chance.unit() < label_probability,
            label_probability,
        }
    }

    fn skewed(chance: &mut Stream) -> Site {
        let label = chance.unit() < SHARE;
        let drawn = MEANS[usize::from(label)] + SPREAD * chance.normal();
        let mean = drawn.clamp(0.05, 0.95);
        let concentration = 1.0 + 5.0 * chance.unit();
        let [no, yes] = Site::densities(drawn);
        Site {
            alpha: mean * concentration,
            beta: (1.0 - mean) * concentration,
            label,
            label_probability: yes / (yes + no),
        }
    }

    /// How many sites without and with the label have about this mean, up to a factor.
    fn densities(mean: f64) -> [f64; 2] {
        let about = |middle: f64| (-0.5 * ((mean - middle) / SPREAD).powi(2)).exp();
        [(1.0 - SHARE) * about(MEANS[0]), SHARE * about(MEANS[1])]
    }
}

/// Of the skewed population: the share of sites with the label, the means of those without and with it, and their spread.
const SHARE: f64 = 0.125;
const MEANS: [f64; 2] = [0.28, 0.58];
const SPREAD: f64 = 0.12;

/// Smaller parameters of a Beta distribution count as this: beyond it every draw is 0 or 1.
const PARAMETER_MIN: f64 = 1e-3;

/// All sites of a trial.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) population: Population,
    pub(super) sites: Vec<Site>,
    seed: u64,
}

impl World {
    pub(super) fn draw(population: Population, sites: u32, seed: u64) -> World {
        let mut chance = Stream::about(seed, u64::MAX);
        let sites = (0..sites)
            .map(|_| Site::draw(population, &mut chance))
            .collect();
        World {
            population,
            sites,
            seed,
        }
    }

    /// The pages of all sites, in the order in which they would be fetched: the same for every policy.
    pub(super) fn pages(&self) -> Pages<'_> {
        let streams = (0..self.sites.len() as u64).map(|site| Stream::about(self.seed, site));
        Pages {
            world: self,
            streams: streams.collect(),
        }
    }
}

/// The pages of all sites.
#[derive(Clone, Debug)]
pub(super) struct Pages<'a> {
    world: &'a World,
    streams: Vec<Stream>,
}

impl Pages<'_> {
    /// The probability that the site's next page is given.
    pub(super) fn fetch(&mut self, site: usize) -> f64 {
        let Site { alpha, beta, .. } = self.world.sites[site];
        let chance = &mut self.streams[site];
        let (yes, no) = (chance.log_gamma(alpha), chance.log_gamma(beta));
        1.0 / (1.0 + (no - yes).exp())
    }
}

/// A stream of draws: the same for the same two numbers.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    draws: Chance,
}

impl Stream {
    pub(super) fn about(seed: u64, subject: u64) -> Stream {
        Stream {
            draws: Chance::new(mix(seed ^ mix(subject))),
        }
    }

    /// Above 0 and below 1.
    pub(super) fn unit(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        ((self.draws.number() >> 11) as f64 + 0.5) / STEPS
    }

    /// From the standard normal distribution, by Marsaglia's polar method.
    fn normal(&mut self) -> f64 {
        loop {
            let (one, other) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = one * one + other * other;
            if 0.0 < square && square < 1.0 {
                return one * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// The logarithm of a draw from the Gamma distribution, which for small shapes is beyond the range of numbers.
    ///
    /// Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables", ACM TOMS 26(3), 2000.
    fn log_gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.unit().ln() / shape + self.log_gamma(shape + 1.0);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            if self.unit().ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return (d * v).ln();
            }
        }
    }
}
