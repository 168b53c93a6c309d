//! The policies by name, and what they have in common.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::confidence::{Confidence, Target};
use super::delta::{Delta, Reading};
use super::foresight::Foresight;
use super::knowledge::{Gradient, Optimistic, OptimisticNormal};
use super::random::{Greedy, Turns, Uniform};
use super::thompson::Thompson;
use super::threshold::{Apt, Lsa};
use super::{Chance, Evidence, Settings, Verdict};

/// How the next site is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Ours: what a fetch may cost at most, by a model that is learned from all sites.
    #[default]
    Foresight,
    /// The paper's *δ* in closed form.
    Delta,
    /// *δ* as printed, often negative. For the lab.
    DeltaLiteral,
    /// *δ* with the normal distribution cut and scaled. For the lab.
    DeltaRenormalised,
    /// Any site, each as probable: the paper's baseline.
    Random,
    /// One after the other.
    RoundRobin,
    /// The site of the highest mean, or any with probability 0.1.
    EpsilonGreedy,
    /// The highest upper confidence bound of the mean: UCB1.
    Ucb,
    /// The highest upper confidence bound of the probability of misjudging.
    UcbError,
    /// Thompson sampling on the means.
    Thompson,
    /// Thresholding bandit of Locatelli and others, 2016.
    Apt,
    /// Thresholding bandit of Tao and others, 2019.
    Lsa,
    /// Knowledge gradient: *δ* with the spread of one more fetch.
    KnowledgeGradient,
    /// Optimistic knowledge gradient of Chen and others, 2013.
    OptimisticGradient,
    /// The same with a normal posterior.
    OptimisticNormal,
}

impl Policy {
    /// All of them, ours first.
    pub const ALL: [Policy; 15] = [
        Policy::Foresight,
        Policy::Delta,
        Policy::DeltaLiteral,
        Policy::DeltaRenormalised,
        Policy::Random,
        Policy::RoundRobin,
        Policy::EpsilonGreedy,
        Policy::Ucb,
        Policy::UcbError,
        Policy::Thompson,
        Policy::Apt,
        Policy::Lsa,
        Policy::KnowledgeGradient,
        Policy::OptimisticGradient,
        Policy::OptimisticNormal,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Policy::Foresight => "foresight",
            Policy::Delta => "delta",
            Policy::DeltaLiteral => "delta-literal",
            Policy::DeltaRenormalised => "delta-renormalised",
            Policy::Random => "random",
            Policy::RoundRobin => "round-robin",
            Policy::EpsilonGreedy => "epsilon-greedy",
            Policy::Ucb => "ucb",
            Policy::UcbError => "ucb-error",
            Policy::Thompson => "thompson",
            Policy::Apt => "apt",
            Policy::Lsa => "lsa",
            Policy::KnowledgeGradient => "knowledge-gradient",
            Policy::OptimisticGradient => "optimistic-gradient",
            Policy::OptimisticNormal => "optimistic-normal",
        }
    }

    pub(crate) fn rule(self, settings: Settings) -> Box<dyn Rule> {
        let threshold = settings.threshold;
        match self {
            Policy::Foresight => Box::new(Foresight::new(threshold)),
            Policy::Delta => Box::new(Delta {
                reading: Reading::WholeLine,
                threshold,
            }),
            Policy::DeltaLiteral => Box::new(Delta {
                reading: Reading::Literal,
                threshold,
            }),
            Policy::DeltaRenormalised => Box::new(Delta {
                reading: Reading::Renormalised,
                threshold,
            }),
            Policy::Random => Box::new(Uniform),
            Policy::RoundRobin => Box::new(Turns),
            Policy::EpsilonGreedy => Box::new(Greedy {
                exploring: EXPLORING,
            }),
            Policy::Ucb => Box::new(Confidence::new(Target::Mean)),
            Policy::UcbError => Box::new(Confidence::new(Target::Error)),
            Policy::Thompson => Box::new(Thompson),
            Policy::Apt => Box::new(Apt { threshold }),
            Policy::Lsa => Box::new(Lsa { threshold }),
            Policy::KnowledgeGradient => Box::new(Gradient { threshold }),
            Policy::OptimisticGradient => Box::new(Optimistic),
            Policy::OptimisticNormal => Box::new(OptimisticNormal { threshold }),
        }
    }
}

/// *ε* of *ε*-greedy.
const EXPLORING: f64 = 0.1;

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

/// What a policy decides: what a fetch of a site is worth, who comes next, and what a site is taken for.
pub(crate) trait Rule: fmt::Debug + Send + Sync {
    /// What one more fetch of a site with this evidence is worth. Asked only of sites that were seen.
    fn worth(&self, evidence: &Evidence) -> f64;

    /// Told after every answer how all sites stand. True if the worth of every site may have changed, so that all are asked for again; that
    /// must come to pass a logarithmic number of times in all.
    fn learn(&mut self, _population: &Population<'_>) -> bool {
        false
    }

    /// Chooses among the sites that can be asked; the one worth most, unless the policy is of another mind.
    fn choose(&self, sites: &dyn Sites, _chance: Chance<'_>) -> Option<u32> {
        sites.best()
    }

    /// Whether the worth is an expected gain, so that nothing is left to learn when it is 0 for all sites.
    fn is_gain(&self) -> bool {
        false
    }

    /// What a site with this evidence is taken for: by the mean of its probabilities, unless the policy knows better.
    fn verdict(&self, evidence: &Evidence, threshold: f64) -> Verdict {
        let mean = evidence.mean().unwrap_or(threshold);
        let holds = threshold <= mean;
        Verdict {
            holds,
            is_proven: false,
            mean,
            error_probability: if holds { 1.0 - mean } else { mean },
            fetches: evidence.fetches(),
        }
    }
}

/// How all sites stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Population<'a> {
    /// What was seen of each.
    pub(crate) sites: &'a [Evidence],
    /// How many were fetched from at least once.
    pub(crate) seen: u64,
    /// Fetches of all.
    pub(crate) fetches: u64,
}

/// The sites that can be asked now.
pub(crate) trait Sites {
    /// The one worth most; among equals the lowest number.
    fn best(&self) -> Option<u32>;
    /// How many there are.
    fn count(&self) -> usize;
    /// The one at this place of an order without meaning.
    fn at(&self, place: usize) -> Option<u32>;
    /// What was seen of one.
    fn evidence(&self, site: u32) -> &Evidence;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_is_found_by_its_name() {
        for policy in Policy::ALL {
            assert_eq!(policy.name().parse::<Policy>().unwrap(), policy);
            let json = serde_json::to_string(&policy).unwrap();
            assert_eq!(json, format!("\"{policy}\""));
        }
        assert!("best".parse::<Policy>().is_err());
    }
}
