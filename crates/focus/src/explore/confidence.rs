//! Upper confidence bounds: a site is worth its mean, or its probable error, plus what its few fetches leave open.
//!
//! Auer, Cesa-Bianchi and Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", Machine Learning 47, 2002, section 2, UCB1: the
//! mean plus √(2 ln *t*/*n*), after *t* fetches in all and *n* of the site. It looks for the best site, not for the line between good and
//! bad; on the probability of misjudging, it does.
//!
//! # Departures
//! ln *t* changes with every fetch, and with it the worth of all sites. It is brought up to date when *t* has grown by a hundredth, at once
//! for the site on top and for the others in turn, so that a choice costs O(log *n*).

use super::Evidence;
use super::policy::{Population, Rule};

/// By what share the fetches grow before all bounds are brought up to date.
const GROWTH: f64 = 0.01;

/// What the bound is put on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The site's probability.
    Mean,
    /// The probability of misjudging it.
    Error,
}

/// UCB1, and its like on the error.
#[derive(Debug)]
pub(crate) struct Confidence {
    target: Target,
    log_of_fetches: f64,
    next_fetches: f64,
}

impl Confidence {
    pub(crate) fn new(target: Target) -> Confidence {
        Confidence {
            target,
            log_of_fetches: 0.0,
            next_fetches: 0.0,
        }
    }
}

impl Rule for Confidence {
    fn learn(&mut self, population: &Population<'_>) -> bool {
        let fetches = population.fetches as f64;
        let is_due = self.next_fetches <= fetches;
        if is_due {
            self.log_of_fetches = libm::log(fetches.max(1.0));
            self.next_fetches = fetches * (1.0 + GROWTH);
        }
        is_due
    }

    fn worth(&self, evidence: &Evidence) -> f64 {
        let mean = evidence.mean().unwrap_or(0.5);
        let open = (2.0 * self.log_of_fetches / f64::from(evidence.fetches().max(1))).sqrt();
        match self.target {
            Target::Mean => mean + open,
            // An error is at most ½, so it can be off by half as much.
            Target::Error => mean.min(1.0 - mean) + 0.5 * open,
        }
    }
}
