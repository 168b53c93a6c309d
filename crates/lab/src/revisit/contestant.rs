//! Who competes: a policy with an estimator, or a bound that no policy can know.

use std::fmt;

use junkai_revisit::{EstimatorKind, PolicyKind, RevisitConfig, ServersConfig};

/// A way to choose the pages to visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contestant {
    /// All pages alike, the oldest visit first: the floor.
    Uniform,
    /// Tamura and Kitsuregawa (2007): equation 4 with the geometric mean.
    IntervalGeometricMean,
    /// Tamura and Kitsuregawa's (2007) rule with the mean changed gap.
    IntervalMean,
    /// Tamura and Kitsuregawa's (2007) rule with the rate of maximum likelihood.
    IntervalLikelihood,
    /// Ours: the index, with the estimator that the crawler has by default.
    Index,
    /// The index with the Gamma filter.
    IndexGamma,
    /// Ours with freshness as its aim.
    IndexFresh,
    /// The index with the true mean rate of each page: the ceiling of those who must believe in a rate.
    Hindsight,
}

impl Contestant {
    /// All of them, the floor first and the ceiling last.
    pub const ALL: [Contestant; 8] = [
        Contestant::Uniform,
        Contestant::IntervalGeometricMean,
        Contestant::IntervalMean,
        Contestant::IntervalLikelihood,
        Contestant::Index,
        Contestant::IndexGamma,
        Contestant::IndexFresh,
        Contestant::Hindsight,
    ];

    /// The settings of the planner that plays it; no server is ever overloaded.
    #[must_use]
    pub fn config(self) -> RevisitConfig {
        let (policy, estimator) = match self {
            Contestant::Uniform => (PolicyKind::Uniform, EstimatorKind::default()),
            Contestant::IntervalGeometricMean => {
                (PolicyKind::ChangeInterval, EstimatorKind::GapGeometricMean)
            }
            Contestant::IntervalMean | Contestant::IntervalLikelihood => {
                (PolicyKind::ChangeInterval, EstimatorKind::GapMean)
            }
            Contestant::IndexGamma => (PolicyKind::Index, EstimatorKind::Gamma),
            Contestant::Index | Contestant::IndexFresh | Contestant::Hindsight => {
                (PolicyKind::Index, EstimatorKind::default())
            }
        };
        let servers = ServersConfig {
            relief: Vec::new(),
            ..ServersConfig::default()
        };
        RevisitConfig {
            policy,
            estimator,
            servers,
            objective: if self == Contestant::IndexFresh {
                0.0
            } else {
                1.0
            },
            ..RevisitConfig::default()
        }
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Contestant::Uniform => "uniform",
            Contestant::IntervalGeometricMean => "change interval, geometric mean",
            Contestant::IntervalMean => "change interval, mean",
            Contestant::IntervalLikelihood => "change interval, most likely",
            Contestant::Index => "index",
            Contestant::IndexGamma => "index, gamma",
            Contestant::IndexFresh => "index for freshness",
            Contestant::Hindsight => "hindsight",
        })
    }
}
