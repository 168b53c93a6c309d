//! The settings of what servers can bear.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::relief::ReliefKind;

/// What servers can bear, and what is done for those that cannot. Table `[revisit.servers]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServersConfig {
    /// Least time between two visits to one server for the sake of known pages. Default 1 min, as Tamura and Kitsuregawa (2007) has it; new pages, and
    /// visits out of turn that a list told of or somebody asked for, keep `politeness.interval`.
    #[serde(with = "humantime_serde")]
    pub interval: Duration,
    /// The same for a server with at least `large_pages` known pages. Default 5 s, as Tamura and Kitsuregawa (2007) has it: at a minute its pages would
    /// wait for a week.
    #[serde(with = "humantime_serde")]
    pub interval_large: Duration,
    /// Where `revisit.at_least` asks for more visits than the intervals above leave room for, they are shortened as far as it takes, but never below this. Default:
    /// `politeness.interval`, below which no visit starts anyway.
    #[serde(with = "humantime_serde", skip_serializing_if = "Option::is_none")]
    pub interval_least: Option<Duration>,
    /// Known pages from which a server counts as large. Default 10,000.
    pub large_pages: u64,
    /// The share of a server's visits that is for known pages, above 0 and up to 1. Default 0.5: half of them, as Tamura and Kitsuregawa (2007) has it.
    pub known_share: f64,
    /// Visits that the whole crawl has in flight at most, for the paper's condition on its own resources. Default: `crawl.concurrency`; in the lab as many as there
    /// are servers, so that the condition asks nothing.
    pub visits_in_flight: Option<NonZeroU32>,
    /// What is done for servers whose known pages ask for more than they can bear: `price` (the least valuable visits go
    /// first), `stretch` (all intervals are multiplied), `delay` (a time is added to all intervals), `templates` (of pages with similar
    /// URLs one keeps its pace), `content` (only changes of content count), or several of them. Default `["price"]`.
    pub relief: Vec<ReliefKind>,
}

impl Default for ServersConfig {
    fn default() -> ServersConfig {
        ServersConfig {
            interval: Duration::from_mins(1),
            interval_large: Duration::from_secs(5),
            interval_least: None,
            large_pages: 10_000,
            known_share: 0.5,
            visits_in_flight: None,
            relief: vec![ReliefKind::Price],
        }
    }
}
