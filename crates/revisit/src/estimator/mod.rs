//! How often a page changes, when visits only tell *whether* it did.
//!
//! An [`Estimator`] learns from [`Evidence`], visit by visit, in a memory of a few numbers that is kept with the page, and
//! says what it believes. [`LogNormal`] is the default, [`Gamma`] its elder sister; [`GapEstimator`] is equation 4 of Tamura and Kitsuregawa (2007), with three readings;
//! [`Naive`] counts; [`Likelihood`] is the exact solution, whose memory grows with the page's changes: the yardstick of
//! the lab and of the tests, not offered to a crawl. [`Chosen`] is the one that the configuration names.
//!
//! Not here: when to come back (`policy`), and what is known of a site's pages together (`sites`).

mod chosen;
mod gamma;
mod gap;
mod likelihood;
mod log_normal;
mod naive;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use chosen::{Chosen, EstimatorKind, Memory};
pub use gamma::{Gamma, GammaMemory};
pub use gap::{GapEstimator, GapMemory, TypicalGap};
pub use likelihood::{Likelihood, LikelihoodMemory, most_likely_rate};
pub use log_normal::{LogNormal, LogNormalMemory};
pub use naive::{Naive, NaiveMemory};

use crate::belief::Belief;

/// Learns how often a page changes.
pub trait Estimator {
    /// What is kept for each page.
    type Memory: Clone;

    /// The memory of a page that was visited once.
    fn begin(&self, prior: &Prior) -> Self::Memory;

    /// Takes in what a visit tells, or what others say.
    fn learn(&self, memory: &mut Self::Memory, evidence: &Evidence, prior: &Prior);

    /// What is believed now.
    fn belief(&self, memory: &Self::Memory, prior: &Prior) -> Belief;
}

/// What one visit, or a hint, tells of a page's changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evidence {
    /// The page is as it was `gap` ago.
    Same {
        /// Time since it was last seen.
        gap: Duration,
    },
    /// The page has changed at least once within `gap`.
    Changed {
        /// Time since it was last seen.
        gap: Duration,
    },
    /// The page has changed within `gap`, the last time `age` ago, as its server says.
    ChangedAt {
        /// Time since it was last seen.
        gap: Duration,
        /// Time since its last change; not above the gap.
        age: Duration,
        /// How far the server is believed: 0 not at all, 1 to the second.
        trust: f64,
    },
    /// Nothing was known before, and the page last changed `age` ago, as its server says.
    Aged {
        /// Time since its last change.
        age: Duration,
        /// How far the server is believed, from 0 to 1.
        trust: f64,
    },
    /// Others say that it changes `every` so often.
    Told {
        /// Time between two changes.
        every: Duration,
        /// How far they are believed: 0 not at all, 1 as much as one change that was seen.
        trust: f64,
    },
}

/// What is believed of a page before its first revisit: what the pages of its site are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// The mean, in changes per second; above zero.
    pub rate: f64,
    /// How alike the pages are: small if some change often and most hardly ever; above zero.
    pub shape: f64,
}

impl Prior {
    /// Rates outside of these bounds are taken for the nearest: a change every ten seconds, one in ten thousand years.
    pub(crate) const RATES: (f64, f64) = (3e-12, 0.1);
    /// Shapes likewise.
    pub(crate) const SHAPES: (f64, f64) = (0.05, 50.0);

    /// A prior within bounds; what is no number counts as the lowest.
    #[must_use]
    pub fn new(rate: f64, shape: f64) -> Prior {
        Prior {
            rate: within(rate, Prior::RATES),
            shape: within(shape, Prior::SHAPES),
        }
    }

    /// The prior whose logarithm has this mean and variance.
    #[must_use]
    pub fn of_logarithm(mean: f64, variance: f64) -> Prior {
        let belief = Belief::of_logarithm(mean, variance);
        Prior::new(belief.rate, belief.shape)
    }

    /// The mean of the rate's logarithm.
    #[must_use]
    pub fn ln_rate(&self) -> f64 {
        self.belief().ln_rate()
    }

    /// The variance of the rate's logarithm.
    #[must_use]
    pub fn ln_variance(&self) -> f64 {
        self.belief().ln_variance()
    }

    /// The prior as a belief.
    #[must_use]
    pub fn belief(&self) -> Belief {
        Belief {
            rate: self.rate,
            shape: self.shape,
        }
    }
}

/// A number within bounds; what is no number becomes the lowest.
fn within(number: f64, (lowest, highest): (f64, f64)) -> f64 {
    number.max(lowest).min(highest)
}
