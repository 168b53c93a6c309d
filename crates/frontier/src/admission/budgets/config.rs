//! The settings of the order by budgets.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

const LEAST: NonZeroU32 = NonZeroU32::new(10).unwrap();
const MOST: NonZeroU32 = NonZeroU32::new(10_000).unwrap();
const QUEUES: NonZeroU32 = NonZeroU32::new(2).unwrap();
const TOP_SITES: NonZeroU32 = NonZeroU32::new(10_000).unwrap();
const MOST_OF_ONE_QUEUE: NonZeroU32 = NonZeroU32::new(1000).unwrap();

/// How many pages of a site are visited in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetConfig {
    /// Budget of a site that nobody links to. Default 10.
    pub least: NonZeroU32,
    /// Budget of the most linked site; others are in between, in proportion to their degree. Default 10000.
    pub most: NonZeroU32,
    /// How many of the most linked sites get more than the least; those that are level with the first beyond them do not.
    /// Default: all.
    pub top_sites: Option<NonZeroU32>,
    /// Queues of the first round. Default 2.
    pub queues: NonZeroU32,
    /// Whether each round has twice the queues of the one before. Default true: a page that is left over is then read
    /// again a number of times that is logarithmic in the rounds.
    pub is_doubling: bool,
    /// What counts as a link to a site. Default `distinct-hosts`.
    pub degree: Degree,
}

/// What counts towards the degree of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Degree {
    /// Every link from another host.
    Links,
    /// Every other host that links to it, once.
    #[default]
    DistinctHosts,
}

impl BudgetConfig {
    /// As published: distinct sites count, and only the 10,000 most linked get more than the least.
    #[must_use]
    pub fn published() -> BudgetConfig {
        BudgetConfig {
            top_sites: Some(TOP_SITES),
            ..BudgetConfig::default()
        }
    }

    /// As Morimoto et al. (2011) describes it: one queue, budgets up to 1,000 by links from other hosts, and all that is left over read
    /// again in each round.
    #[must_use]
    pub fn one_queue() -> BudgetConfig {
        BudgetConfig {
            least: LEAST,
            most: MOST_OF_ONE_QUEUE,
            top_sites: None,
            queues: NonZeroU32::MIN,
            is_doubling: false,
            degree: Degree::Links,
        }
    }
}

impl Default for BudgetConfig {
    fn default() -> BudgetConfig {
        BudgetConfig {
            least: LEAST,
            most: MOST,
            top_sites: None,
            queues: QUEUES,
            is_doubling: true,
            degree: Degree::DistinctHosts,
        }
    }
}
