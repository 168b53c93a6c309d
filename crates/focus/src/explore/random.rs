//! Policies that leave it to chance or to the order of the sites: the paper's baseline, turns, and *ε*-greedy.

use super::policy::{Rule, Sites};
use super::{Chance, Evidence};

/// Any site, each as probable: the baseline of Kato et al. (2022).
#[derive(Debug)]
pub(crate) struct Uniform;

impl Rule for Uniform {
    fn worth(&self, _evidence: &Evidence) -> f64 {
        1.0
    }

    fn choose(&self, sites: &dyn Sites, chance: Chance<'_>) -> Option<u32> {
        any(sites, chance)
    }
}

/// The site with the fewest fetches; among equals the first.
#[derive(Debug)]
pub(crate) struct Turns;

impl Rule for Turns {
    fn worth(&self, evidence: &Evidence) -> f64 {
        1.0 / f64::from(evidence.fetches().max(1))
    }
}

/// The site of the highest mean, or with probability *ε* any.
///
/// Sutton and Barto, *Reinforcement Learning*, second edition, 2018, section 2.2.
#[derive(Debug)]
pub(crate) struct Greedy {
    /// *ε*.
    pub(crate) exploring: f64,
}

impl Rule for Greedy {
    fn worth(&self, evidence: &Evidence) -> f64 {
        evidence.mean().unwrap_or(1.0)
    }

    fn choose(&self, sites: &dyn Sites, chance: Chance<'_>) -> Option<u32> {
        if chance() < self.exploring {
            any(sites, chance)
        } else {
            sites.best()
        }
    }
}

/// Any site that can be asked.
fn any(sites: &dyn Sites, chance: Chance<'_>) -> Option<u32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "cuts the fraction off, and saturates"
    )]
    let place = (chance() * sites.count() as f64) as usize;
    sites.at(place.min(sites.count().saturating_sub(1)))
}
