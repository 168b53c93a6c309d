//! The estimator that the configuration names, and what it keeps for a page.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Estimator, Evidence, Gamma, GammaMemory, Naive, NaiveMemory, Prior, Seed, SeedMemory,
    TypicalGap,
};
use crate::belief::Belief;

/// How the rate of a page's changes is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EstimatorKind {
    /// Two numbers per page, with a prior for each site and forgetting.
    #[default]
    Gamma,
    /// Equation 4 of seed 002 with the geometric mean, as the seed has it.
    SeedGeometricMean,
    /// Equation 4 with the mean changed gap.
    SeedMean,
    /// Equation 4 with the shortest changed gap.
    SeedShortest,
    /// Changes by time.
    Naive,
}

/// One of the estimators that a crawl can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chosen {
    /// Two numbers per page.
    Gamma(Gamma),
    /// Equation 4 of seed 002.
    Seed(Seed),
    /// Changes by time.
    Naive(Naive),
}

/// What the estimator keeps for a page; it says itself whose it is, so a crawl may change its estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Memory {
    /// Of [`Gamma`].
    Gamma(GammaMemory),
    /// Of [`Seed`], whichever gap it takes for typical.
    Seed(SeedMemory),
    /// Of [`Naive`].
    Naive(NaiveMemory),
}

impl Chosen {
    /// The estimator of this kind.
    #[must_use]
    pub fn new(kind: EstimatorKind, forgetting: Option<Duration>) -> Chosen {
        let seed = |typical| Chosen::Seed(Seed { typical });
        match kind {
            EstimatorKind::Gamma => Chosen::Gamma(Gamma { forgetting }),
            EstimatorKind::SeedGeometricMean => seed(TypicalGap::GeometricMean),
            EstimatorKind::SeedMean => seed(TypicalGap::Mean),
            EstimatorKind::SeedShortest => seed(TypicalGap::Shortest),
            EstimatorKind::Naive => Chosen::Naive(Naive),
        }
    }

    /// The memory in this estimator's own form: what another one left behind becomes what can be known of it.
    fn own(&self, memory: &Memory, prior: &Prior) -> Memory {
        match (self, memory) {
            (Chosen::Gamma(_), Memory::Gamma(_))
            | (Chosen::Seed(_), Memory::Seed(_))
            | (Chosen::Naive(_), Memory::Naive(_)) => *memory,
            (Chosen::Gamma(gamma), Memory::Seed(seed)) => gamma_of_seed(*gamma, seed, prior),
            (Chosen::Gamma(gamma), Memory::Naive(naive)) => gamma_of_naive(*gamma, *naive, prior),
            (Chosen::Seed(_) | Chosen::Naive(_), _) => self.begin(prior),
        }
    }
}

/// Gaps of the mean length take the place of those that the seed did not keep.
fn gamma_of_seed(gamma: Gamma, seed: &SeedMemory, prior: &Prior) -> Memory {
    let naive = NaiveMemory {
        changes: seed.changed_gaps,
        time: seed.changed_time + seed.stable_time,
    };
    gamma_of_naive(gamma, naive, prior)
}

/// The distribution after as many changes in as much time.
fn gamma_of_naive(gamma: Gamma, naive: NaiveMemory, prior: &Prior) -> Memory {
    let mut memory = gamma.begin(prior);
    memory.shape += naive.changes;
    memory.seconds += naive.time;
    Memory::Gamma(memory)
}

impl Estimator for Chosen {
    type Memory = Memory;

    fn begin(&self, prior: &Prior) -> Memory {
        match self {
            Chosen::Gamma(gamma) => Memory::Gamma(gamma.begin(prior)),
            Chosen::Seed(seed) => Memory::Seed(seed.begin(prior)),
            Chosen::Naive(naive) => Memory::Naive(naive.begin(prior)),
        }
    }

    fn learn(&self, memory: &mut Memory, evidence: &Evidence, prior: &Prior) {
        *memory = self.own(memory, prior);
        match (self, memory) {
            (Chosen::Gamma(gamma), Memory::Gamma(memory)) => gamma.learn(memory, evidence, prior),
            (Chosen::Seed(seed), Memory::Seed(memory)) => seed.learn(memory, evidence, prior),
            (Chosen::Naive(naive), Memory::Naive(memory)) => naive.learn(memory, evidence, prior),
            (Chosen::Gamma(_) | Chosen::Seed(_) | Chosen::Naive(_), _) => {
                unreachable!("the memory is the estimator's own")
            }
        }
    }

    fn belief(&self, memory: &Memory, prior: &Prior) -> Belief {
        match (self, self.own(memory, prior)) {
            (Chosen::Gamma(gamma), Memory::Gamma(memory)) => gamma.belief(&memory, prior),
            (Chosen::Seed(seed), Memory::Seed(memory)) => seed.belief(&memory, prior),
            (Chosen::Naive(naive), Memory::Naive(memory)) => naive.belief(&memory, prior),
            (Chosen::Gamma(_) | Chosen::Seed(_) | Chosen::Naive(_), _) => {
                unreachable!("the memory is the estimator's own")
            }
        }
    }
}
