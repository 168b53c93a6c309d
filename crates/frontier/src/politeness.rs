//! The settings of politeness: how hard one server may be pressed.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How hard one server may be pressed. Table `[politeness]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolitenessConfig {
    /// Least time from the end of one visit to a server to the start of the next. Default 5 s, as archives do. For a host whose
    /// robots.txt asks for more (`Crawl-delay`) it is longer, for as long as the file says so; its neighbours at the same address are not
    /// slowed down by it.
    #[serde(with = "humantime_serde")]
    pub interval: Duration,
    /// Longest interval that we choose for ourselves while a server struggles. Default 5 min.
    #[serde(with = "humantime_serde")]
    pub interval_max: Duration,
    /// How long a server is left alone after its first 429 or 503 without `Retry-After`; doubled each time. Default 30 s.
    #[serde(with = "humantime_serde")]
    pub backoff_first: Duration,
    /// Longest time that a server is left alone without having asked for it. Default 1 h.
    #[serde(with = "humantime_serde")]
    pub backoff_max: Duration,
    /// Longest `Crawl-delay` of a host that is obeyed to the second; what is longer counts as this. Default 1 hour, so that a host that asks
    /// for a year is still asked whether it means it. At most 12 hours: robots.txt is asked for again each day, and a page comes between.
    #[serde(with = "humantime_serde")]
    pub crawl_delay_max: Duration,
    /// Longest `Retry-After` that is obeyed to the second; what is longer counts as this. Default 1 day. With 429 and 503 it is the server
    /// that rests, because both tell of its load; with any other status it is the host that says so.
    #[serde(with = "humantime_serde")]
    pub retry_after_max: Duration,
    /// Added to the interval after an exchange that we cut short, because the server may notice it later than we do.
    /// Default 1 s.
    #[serde(with = "humantime_serde")]
    pub abort_slack: Duration,
}

impl Default for PolitenessConfig {
    fn default() -> PolitenessConfig {
        PolitenessConfig {
            interval: Duration::from_secs(5),
            interval_max: Duration::from_mins(5),
            backoff_first: Duration::from_secs(30),
            backoff_max: Duration::from_hours(1),
            crawl_delay_max: Duration::from_hours(1),
            retry_after_max: Duration::from_hours(24),
            abort_slack: Duration::from_secs(1),
        }
    }
}
