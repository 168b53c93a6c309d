//! Our policy: what a fetch of a site may cost at most, by a model that is learned from all sites.
//!
//! The paper asks the site whose verdict is expected to gain most by one more fetch, and predicts the next mean from that site's mean
//! alone. Here the prediction is Bayesian: a site's Beta distribution is one of a grid (`belief`), and all sites together teach how common
//! each is, and so how much a fetch tells (`prior`).
//!
//! One fetch may be worth nothing where ten would overturn a verdict, and ten are not made if the first three settle it. So a site is worth
//! the price of a fetch at which it would be as well to stop (`reservation`), and no site starves.
//!
//! # Notation
//! *π*: the share of sites above the line.
//!
//! # The operating point
//! To miss a site counts a little more than to take one in vain: the line lies a little below the threshold ([`COST_OF_MISSING`]). As sites
//! are chosen by the same line, this finds more sites at hardly any cost in right verdicts.
//!
//! Where few sites hold what is wanted, the most probable verdict after few fetches is nearly always no, and nothing would be found. So
//! cells above the line gain by (1 − *π*)/*π* to a power that falls as the evidence grows ([`BALANCE`]), and a little in any case
//! ([`ADVANTAGE`]). This tilts what is believed for choosing and for `holds`; the stated probabilities are not tilted. The constants were
//! set in the lab (`junkai lab focus-sim`), on the populations that it shows but on other draws of them than those that it starts from.

use super::belief::{GRID, Weights};
use super::policy::{Population, Rule};
use super::prior::Prior;
use super::reservation::price;
use super::{Evidence, Verdict};

/// To miss a site costs so much more than to take one in vain.
const COST_OF_MISSING: f64 = 1.012;
/// The advantage of cells above the line where both kinds of sites are as common.
const ADVANTAGE: f64 = 1.08;
/// How much of the rarity of sites makes up for itself, 0 not at all and 1 fully, before anything is seen.
const BALANCE: f64 = 1.165;
/// With so many fetches for each site it is half of that: the surer verdicts are, the less is made up for.
const BALANCE_HALVED_AT: f64 = 7.0;
/// The power of the fetches with which it fades.
const BALANCE_FADES: f64 = 1.5;
/// The greatest advantage that rarity gives.
const TILT_MAX: f64 = 1e3;
/// The prior is learned anew when the fetches have grown by this factor, or second fetches have doubled.
const GROWTH: f64 = 1.25;
/// The least fetches, and then the least second fetches, that the prior is learned from.
const FETCHES_MIN: u64 = 32;

/// Optimal stopping with an empirical prior.
#[derive(Debug)]
pub(crate) struct Foresight {
    /// Sites above it are taken to hold.
    line: f64,
    prior: Prior,
    /// Whether the prior was told, and is not learned.
    is_informed: bool,
    tilt: f64,
    next_fetches: u64,
    next_second_fetches: u64,
}

impl Foresight {
    pub(crate) fn new(threshold: f64) -> Foresight {
        Foresight {
            line: threshold / (threshold + COST_OF_MISSING * (1.0 - threshold)),
            prior: Prior::vague(),
            is_informed: false,
            tilt: 1.0,
            next_fetches: FETCHES_MIN,
            next_second_fetches: FETCHES_MIN,
        }
    }

    /// Told how many sites have about a mean and a concentration.
    pub(crate) fn informed(threshold: f64, density: &dyn Fn(f64, f64) -> f64) -> Foresight {
        Foresight {
            prior: Prior::known(density),
            is_informed: true,
            ..Foresight::new(threshold)
        }
    }

    /// Gives the cells above the line their advantage; returns by how much the weights grew.
    fn tilt(&self, weights: &mut Weights) -> f64 {
        let mut sum = 0.0;
        for (cell, weight) in weights.iter_mut().enumerate() {
            if self.line <= GRID.mean[cell] {
                *weight *= self.tilt;
            }
            sum += *weight;
        }
        sum
    }
}

impl Rule for Foresight {
    fn is_gain(&self) -> bool {
        true
    }

    fn learn(&mut self, population: &Population<'_>) -> bool {
        let second_fetches = population.fetches.saturating_sub(population.seen);
        let is_due =
            self.next_fetches <= population.fetches || self.next_second_fetches <= second_fetches;
        if !is_due {
            return false;
        }
        if !self.is_informed {
            self.prior.learn(population.sites);
        }
        let share = self.prior.share_above(self.line).clamp(1e-9, 1.0 - 1e-9);
        let per_site = population.fetches as f64 / population.seen.max(1) as f64;
        let balance = BALANCE / (1.0 + libm::pow(per_site / BALANCE_HALVED_AT, BALANCE_FADES));
        self.tilt =
            (ADVANTAGE * libm::pow((1.0 - share) / share, balance)).clamp(1.0 / TILT_MAX, TILT_MAX);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and saturates"
        )]
        let grown = (population.fetches as f64 * GROWTH) as u64;
        self.next_fetches = grown.max(FETCHES_MIN);
        self.next_second_fetches = (2 * second_fetches).max(FETCHES_MIN);
        true
    }

    fn worth(&self, evidence: &Evidence) -> f64 {
        let mut weights = GRID.posterior(self.prior.log_weights(), evidence);
        let importance = self.tilt(&mut weights);
        // A mistake that is avoided is one wrong verdict less and one right verdict more.
        2.0 * importance * price(&GRID.doubt(&weights, self.line))
    }

    fn verdict(&self, evidence: &Evidence, _threshold: f64) -> Verdict {
        let mut weights = GRID.posterior(self.prior.log_weights(), evidence);
        let mean = GRID.mean_of(&weights);
        self.tilt(&mut weights);
        let holds = self.line <= GRID.mean_of(&weights);
        Verdict {
            holds,
            is_proven: false,
            mean,
            error_probability: if holds { 1.0 - mean } else { mean },
            fetches: evidence.fetches(),
        }
    }
}
