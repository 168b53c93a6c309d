//! Our policy: what one or several fetches of a site are worth, by a model that is learned from all sites.
//!
//! The seed asks the site whose verdict is expected to gain most by one more fetch, and predicts the next mean from that site's mean
//! alone. Here the prediction is Bayesian: a site's Beta distribution is one of a grid (`belief`), and all sites together teach how common
//! each is, and so how much a fetch tells (`prior`). The gain keeps the seed's closed form, with the right spread.
//!
//! One fetch may be worth nothing where ten would overturn a verdict: a site is worth the best of *m* fetches, for each of them.
//! Frazier and Powell, "Paradoxes in Learning and the Marginal Value of Information", Decision Analysis 7(4), 2010: KG(*). So no site
//! starves.
//!
//! # Notation
//! *μ*, *τ*²: `mean` and `variance` of what is believed of a site's mean; *V*: `noise`, the variance of what one fetch tells of it;
//! *s*² = *τ*² · *τ*²/(*τ*² + *V*/*m*): the variance of *μ* after *m* fetches; *c*: the threshold; *π*: the share of sites above it.
//!
//! # Departures
//! The belief of a mean is taken for normal in the gain, as in the seed. Fetches that are looked ahead count less the farther they are
//! ([`TRUST_AHEAD`]).
//!
//! # The operating point
//! Where few sites hold what is wanted, the most probable verdict is nearly always no, and nothing would be found. So to miss a site counts
//! more than to take one in vain: a little more where both kinds are as common ([`COST_OF_MISSING`]), and where such sites are rare by
//! (1 − *π*)/*π* to a power that falls as the evidence grows ([`BALANCE`]). This tilts what is believed for choosing and for `holds`; the
//! stated probabilities are not tilted. The constants were set in the lab (`junkai lab focus-sim`), on the populations that it shows.

use super::belief::{GRID, Weights};
use super::delta::expected_crossing;
use super::policy::{Population, Rule};
use super::prior::Prior;
use super::{Evidence, Verdict};

/// To miss a site costs so much more than to take one in vain, where both kinds are as common.
const COST_OF_MISSING: f64 = 1.15;
/// How much of the rarity of sites makes up for itself, 0 not at all and 1 fully, before anything is seen.
const BALANCE: f64 = 1.035;
/// With so many fetches for each site it is half of that: the surer verdicts are, the less is made up for.
const BALANCE_HALVED_AT: f64 = 21.0;
/// The greatest advantage that rarity gives.
const TILT_MAX: f64 = 1e3;
/// The most fetches that are looked ahead; the steps between are powers of two.
const FETCHES_AHEAD: u32 = 64;
/// What looks twice as far ahead counts so much less: fetches that are planned are not all made if the first ones settle the matter.
const TRUST_AHEAD: f64 = 0.75;
/// The prior is learned anew when the fetches have grown by this factor, or second fetches have doubled.
const GROWTH: f64 = 1.25;
/// The least fetches, and then the least second fetches, that the prior is learned from.
const FETCHES_MIN: u64 = 32;

/// Bayesian look-ahead with an empirical prior.
#[derive(Debug)]
pub(crate) struct Foresight {
    threshold: f64,
    prior: Prior,
    tilt: f64,
    next_fetches: u64,
}

impl Foresight {
    pub(crate) fn new(threshold: f64) -> Foresight {
        Foresight {
            threshold,
            prior: Prior::vague(),
            tilt: 1.0,
            next_fetches: FETCHES_MIN,
        }
    }

    /// Gives the cells above the threshold their advantage; returns by how much the weights grew.
    fn tilt(&self, weights: &mut Weights) -> f64 {
        let mut sum = 0.0;
        for (cell, weight) in weights.iter_mut().enumerate() {
            if self.threshold <= GRID.mean[cell] {
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
        if population.fetches < self.next_fetches {
            return false;
        }
        self.prior.learn(population.sites);
        let share = self
            .prior
            .share_above(self.threshold)
            .clamp(1e-9, 1.0 - 1e-9);
        let per_site = population.fetches as f64 / population.seen.max(1) as f64;
        let balance = BALANCE * BALANCE_HALVED_AT / (BALANCE_HALVED_AT + per_site);
        self.tilt = (COST_OF_MISSING * libm::pow((1.0 - share) / share, balance))
            .clamp(1.0 / TILT_MAX, TILT_MAX);
        let second_fetches = 2 * population.fetches.saturating_sub(population.seen);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and saturates"
        )]
        let grown = (population.fetches as f64 * GROWTH) as u64;
        self.next_fetches = grown.min(population.seen + second_fetches.max(FETCHES_MIN));
        true
    }

    fn worth(&self, evidence: &Evidence) -> f64 {
        let mut weights = GRID.posterior(self.prior.log_weights(), evidence);
        let importance = self.tilt(&mut weights);
        let belief = GRID.belief(&weights);
        let distance = (belief.mean - self.threshold).abs();
        let mut best = 0.0_f64;
        let mut fetches = 1;
        let mut trust = 1.0;
        while fetches <= FETCHES_AHEAD {
            let told = belief.variance / (belief.variance + belief.noise / f64::from(fetches));
            let gain = 2.0 * expected_crossing(distance, (belief.variance * told).sqrt());
            best = best.max(trust * gain / f64::from(fetches));
            fetches *= 2;
            trust *= TRUST_AHEAD;
        }
        importance * best
    }

    fn verdict(&self, evidence: &Evidence, threshold: f64) -> Verdict {
        let mut weights = GRID.posterior(self.prior.log_weights(), evidence);
        let mean = GRID.belief(&weights).mean;
        self.tilt(&mut weights);
        let holds = threshold <= GRID.belief(&weights).mean;
        Verdict {
            holds,
            mean,
            error_probability: if holds { 1.0 - mean } else { mean },
            fetches: evidence.fetches(),
        }
    }
}
