//! What can be said of one server, for people and for the lab.

use std::time::Duration;

use junkai_frontier::ServerKey;

use crate::price::Pressure;
use crate::relief::ReliefCost;

/// What known pages ask of a server, and what it can bear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerReport {
    /// Which server.
    pub server: ServerKey,
    /// Known pages.
    pub pages: u64,
    /// *L*: visits per second that are planned for them.
    pub load: f64,
    /// Visits per second that it can bear for them.
    pub capacity: f64,
    /// Least time between two of them.
    pub pace: Duration,
    /// Mean time that a visit keeps a connection.
    pub fetch_mean: Duration,
    /// Longest time of late.
    pub fetch_max: Duration,
    /// *S*/*C*: servers that share one visit in flight; 1 at least.
    pub servers_per_visit: f64,
    /// How far its visits are held back.
    pub pressure: Pressure,
    /// What holding back has cost since the crawl began.
    pub cost: ReliefCost,
}

impl ServerReport {
    /// *R* = (1/*L*)/max *e*: how many times as long as a visit takes it is until the next; none without pages or visits.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let seconds_per_fetch = self.fetch_max.as_secs_f64();
        let is_known = 0.0 < self.load && 0.0 < seconds_per_fetch;
        is_known.then(|| 1.0 / self.load / seconds_per_fetch)
    }

    /// Whether the paper's condition *R* ≥ *S*/*C* holds.
    #[must_use]
    pub fn is_feasible(&self) -> bool {
        self.ratio()
            .is_none_or(|ratio| self.servers_per_visit <= ratio)
    }

    /// Whether its pages ask, or would ask if they were not held back, for more than it can bear.
    #[must_use]
    pub fn is_overloaded(&self) -> bool {
        1.0 < self.overload()
    }

    /// How many times its capacity its pages ask for, or would ask for if they were not held back.
    #[must_use]
    pub fn overload(&self) -> f64 {
        self.load / self.capacity * self.pressure.factor()
    }
}
