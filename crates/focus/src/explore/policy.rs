//! The policies by name, and what they have in common.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::delta::delta;
use super::{Chance, Evidence};

/// How the next site is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The seed's *δ* in closed form.
    Delta,
    /// Any site, each as probable: the seed's baseline.
    Random,
}

impl Policy {
    /// All of them.
    pub const ALL: [Policy; 2] = [Policy::Delta, Policy::Random];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Policy::Delta => "delta",
            Policy::Random => "random",
        }
    }

    pub(crate) fn rule(self) -> Box<dyn Rule> {
        match self {
            Policy::Delta => Box::new(Delta),
            Policy::Random => Box::new(Random),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// There is no policy of this name.
#[derive(Debug, thiserror::Error)]
#[error("no policy is called `{0}`")]
pub struct UnknownPolicy(pub String);

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(name: &str) -> Result<Policy, UnknownPolicy> {
        let found = Policy::ALL.into_iter().find(|policy| policy.name() == name);
        found.ok_or_else(|| UnknownPolicy(name.to_owned()))
    }
}

/// What a policy decides: what a fetch of a site is worth, and who comes next.
pub(crate) trait Rule: fmt::Debug + Send + Sync {
    /// What one more fetch of a site with this evidence is worth. Asked only of sites that were seen.
    fn worth(&self, evidence: &Evidence) -> f64;

    /// Chooses among the sites that can be asked; the one worth most, unless the policy is of another mind.
    fn choose(&self, sites: &dyn Sites, _chance: Chance<'_>) -> Option<u32> {
        sites.best()
    }
}

/// The sites that can be asked now.
pub(crate) trait Sites {
    /// The one worth most; among equals the lowest number.
    fn best(&self) -> Option<u32>;
    /// How many there are.
    fn count(&self) -> usize;
    /// The one at this place of an order without meaning.
    fn at(&self, place: usize) -> Option<u32>;
}

#[derive(Debug)]
struct Delta;

impl Rule for Delta {
    fn worth(&self, evidence: &Evidence) -> f64 {
        let mean = evidence.mean().unwrap_or(0.5);
        delta(
            mean,
            (mean * (1.0 - mean) / f64::from(evidence.fetches().max(1))).sqrt(),
        )
    }
}

#[derive(Debug)]
struct Random;

impl Rule for Random {
    fn worth(&self, _evidence: &Evidence) -> f64 {
        1.0
    }

    fn choose(&self, sites: &dyn Sites, chance: Chance<'_>) -> Option<u32> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "cuts the fraction off, and saturates"
        )]
        let place = (chance() * sites.count() as f64) as usize;
        sites.at(place)
    }
}
