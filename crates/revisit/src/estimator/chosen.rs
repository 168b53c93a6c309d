//! The estimator that the configuration names, and what it keeps for a page.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Estimator, Evidence, Gamma, GammaMemory, GapEstimator, GapMemory, LogNormal, LogNormalMemory,
    Naive, NaiveMemory, Prior, TypicalGap,
};
use crate::belief::Belief;

/// How the rate of a page's changes is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EstimatorKind {
    /// Three numbers per page, with a prior for each site and forgetting; takes no scale of time for granted.
    #[default]
    LogNormal,
    /// Two numbers per page; exact while nothing changes, slow to believe in a page that changes far more often
    /// than its site.
    Gamma,
    /// Equation 4 of Tamura and Kitsuregawa (2007) with the geometric mean, as the paper has it.
    #[serde(rename = "seed-geometric-mean")]
    GapGeometricMean,
    /// Equation 4 with the mean changed gap.
    #[serde(rename = "seed-mean")]
    GapMean,
    /// Equation 4 with the shortest changed gap.
    #[serde(rename = "seed-shortest")]
    GapShortest,
    /// Changes by time.
    Naive,
}

/// One of the estimators that a crawl can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chosen {
    /// Three numbers per page, in logarithms.
    LogNormal(LogNormal),
    /// Two numbers per page.
    Gamma(Gamma),
    /// Equation 4 of Tamura and Kitsuregawa (2007).
    Gap(GapEstimator),
    /// Changes by time.
    Naive(Naive),
}

/// What the estimator keeps for a page; it says itself whose it is, so a crawl may change its estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Memory {
    /// Of [`LogNormal`].
    LogNormal(LogNormalMemory),
    /// Of [`Gamma`].
    Gamma(GammaMemory),
    /// Of [`GapEstimator`], whichever gap it takes for typical.
    Gap(GapMemory),
    /// Of [`Naive`].
    Naive(NaiveMemory),
}

impl Chosen {
    /// The estimator of this kind.
    #[must_use]
    pub fn new(kind: EstimatorKind, forgetting: Option<Duration>) -> Chosen {
        let gap = |typical| Chosen::Gap(GapEstimator { typical });
        match kind {
            EstimatorKind::LogNormal => Chosen::LogNormal(LogNormal { forgetting }),
            EstimatorKind::Gamma => Chosen::Gamma(Gamma { forgetting }),
            EstimatorKind::GapGeometricMean => gap(TypicalGap::GeometricMean),
            EstimatorKind::GapMean => gap(TypicalGap::Mean),
            EstimatorKind::GapShortest => gap(TypicalGap::Shortest),
            EstimatorKind::Naive => Chosen::Naive(Naive),
        }
    }

    /// The memory in this estimator's own form: what another one left behind becomes what can be known of it.
    fn own(&self, memory: &Memory, prior: &Prior) -> Memory {
        match (self, memory) {
            (Chosen::LogNormal(_), Memory::LogNormal(_))
            | (Chosen::Gamma(_), Memory::Gamma(_))
            | (Chosen::Gap(_), Memory::Gap(_))
            | (Chosen::Naive(_), Memory::Naive(_)) => *memory,
            (Chosen::LogNormal(_), _) => {
                Memory::LogNormal(LogNormalMemory::of_belief(&distribution(memory, prior)))
            }
            (Chosen::Gamma(_), _) => {
                Memory::Gamma(GammaMemory::of_belief(&distribution(memory, prior)))
            }
            // Counts cannot be had of a distribution: they begin anew.
            (Chosen::Gap(_) | Chosen::Naive(_), _) => self.begin(prior),
        }
    }
}

/// What any estimator's memory tells of the rate. Of counts it is the Gamma distribution after as many changes in as much
/// time, though several changes within one gap are counted as one.
fn distribution(memory: &Memory, prior: &Prior) -> Belief {
    let counted = |changes: f32, time: f32| {
        let shape = prior.shape + f64::from(changes);
        let seconds = prior.shape / prior.rate + f64::from(time);
        Belief {
            rate: shape / seconds,
            shape,
        }
    };
    match memory {
        Memory::LogNormal(own) => LogNormal { forgetting: None }.belief(own, prior),
        Memory::Gamma(own) => Gamma { forgetting: None }.belief(own, prior),
        Memory::Gap(own) => counted(own.changed_gaps, own.changed_time + own.stable_time),
        Memory::Naive(own) => counted(own.changes, own.time),
    }
}

impl Estimator for Chosen {
    type Memory = Memory;

    fn begin(&self, prior: &Prior) -> Memory {
        match self {
            Chosen::LogNormal(own) => Memory::LogNormal(own.begin(prior)),
            Chosen::Gamma(gamma) => Memory::Gamma(gamma.begin(prior)),
            Chosen::Gap(gap) => Memory::Gap(gap.begin(prior)),
            Chosen::Naive(naive) => Memory::Naive(naive.begin(prior)),
        }
    }

    fn learn(&self, memory: &mut Memory, evidence: &Evidence, prior: &Prior) {
        *memory = self.own(memory, prior);
        match (self, memory) {
            (Chosen::LogNormal(own), Memory::LogNormal(memory)) => {
                own.learn(memory, evidence, prior);
            }
            (Chosen::Gamma(gamma), Memory::Gamma(memory)) => gamma.learn(memory, evidence, prior),
            (Chosen::Gap(gap), Memory::Gap(memory)) => gap.learn(memory, evidence, prior),
            (Chosen::Naive(naive), Memory::Naive(memory)) => naive.learn(memory, evidence, prior),
            (_, _) => {
                unreachable!("the memory is the estimator's own")
            }
        }
    }

    fn belief(&self, memory: &Memory, prior: &Prior) -> Belief {
        match (self, self.own(memory, prior)) {
            (Chosen::LogNormal(own), Memory::LogNormal(memory)) => own.belief(&memory, prior),
            (Chosen::Gamma(gamma), Memory::Gamma(memory)) => gamma.belief(&memory, prior),
            (Chosen::Gap(gap), Memory::Gap(memory)) => gap.belief(&memory, prior),
            (Chosen::Naive(naive), Memory::Naive(memory)) => naive.belief(&memory, prior),
            (_, _) => {
                unreachable!("the memory is the estimator's own")
            }
        }
    }
}
