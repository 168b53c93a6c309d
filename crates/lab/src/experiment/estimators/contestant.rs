//! The estimators that compete, all told the same.

use std::time::Duration;

use junkai_revisit::Belief;
use junkai_revisit::estimator::{
    Estimator, Evidence, Gamma, GapEstimator, Likelihood, LogNormal, Naive, Prior, TypicalGap,
};

/// One of the estimators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contestant {
    /// The exact maximum-likelihood solution, which remembers every gap.
    Likelihood,
    /// Equation 4 as the paper has it.
    GapGeometricMean,
    /// Equation 4 with the mean changed gap.
    GapMean,
    /// Equation 4 with the shortest.
    GapShortest,
    /// Changes by time.
    Naive,
    /// The Gamma filter.
    Gamma,
    /// Ours.
    LogNormal,
}

impl Contestant {
    pub(super) const ALL: [Contestant; 7] = [
        Contestant::Likelihood,
        Contestant::GapGeometricMean,
        Contestant::GapMean,
        Contestant::GapShortest,
        Contestant::Naive,
        Contestant::Gamma,
        Contestant::LogNormal,
    ];

    pub(super) const OURS: Contestant = Contestant::LogNormal;

    /// The readings of the paper's equation.
    pub(super) const EQUATION_4: [Contestant; 3] = [
        Contestant::GapGeometricMean,
        Contestant::GapMean,
        Contestant::GapShortest,
    ];

    pub(super) fn index(self) -> usize {
        self as usize
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Contestant::Likelihood => "exact likelihood",
            Contestant::GapGeometricMean => "eq. 4, geometric mean (the paper)",
            Contestant::GapMean => "eq. 4, mean",
            Contestant::GapShortest => "eq. 4, shortest",
            Contestant::Naive => "naive",
            Contestant::Gamma => "Gamma filter",
            Contestant::LogNormal => "log-normal filter (ours)",
        }
    }

    /// For the names of columns in files.
    pub(super) fn key(self) -> &'static str {
        match self {
            Contestant::Likelihood => "likelihood",
            Contestant::GapGeometricMean => "seed_geometric_mean",
            Contestant::GapMean => "seed_mean",
            Contestant::GapShortest => "seed_shortest",
            Contestant::Naive => "naive",
            Contestant::Gamma => "gamma",
            Contestant::LogNormal => "log_normal",
        }
    }

    /// This estimator at work on one page.
    pub(super) fn learner(self, prior: &Prior, forgetting: Option<Duration>) -> Box<dyn Learner> {
        let gap = |typical| Learning::boxed(GapEstimator { typical }, prior);
        match self {
            Contestant::Likelihood => Learning::boxed(Likelihood, prior),
            Contestant::GapGeometricMean => gap(TypicalGap::GeometricMean),
            Contestant::GapMean => gap(TypicalGap::Mean),
            Contestant::GapShortest => gap(TypicalGap::Shortest),
            Contestant::Naive => Learning::boxed(Naive, prior),
            Contestant::Gamma => Learning::boxed(Gamma { forgetting }, prior),
            Contestant::LogNormal => Learning::boxed(LogNormal { forgetting }, prior),
        }
    }
}

/// An estimator with the memory of one page, whichever it is.
pub(super) trait Learner: Send {
    fn learn(&mut self, evidence: &Evidence, prior: &Prior);
    fn belief(&self, prior: &Prior) -> Belief;
}

struct Learning<E: Estimator> {
    estimator: E,
    memory: E::Memory,
}

impl<E> Learning<E>
where
    E: Estimator + Send + 'static,
    E::Memory: Send,
{
    fn boxed(estimator: E, prior: &Prior) -> Box<dyn Learner> {
        let memory = estimator.begin(prior);
        Box::new(Learning { estimator, memory })
    }
}

impl<E> Learner for Learning<E>
where
    E: Estimator + Send,
    E::Memory: Send,
{
    fn learn(&mut self, evidence: &Evidence, prior: &Prior) {
        self.estimator.learn(&mut self.memory, evidence, prior);
    }

    fn belief(&self, prior: &Prior) -> Belief {
        self.estimator.belief(&self.memory, prior)
    }
}
