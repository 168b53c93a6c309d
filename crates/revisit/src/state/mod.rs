//! What is kept of a known page between two visits.
//!
//! The time queue holds it as opaque bytes beside the page's URL; [`PageState::encode`] makes them. The planner alone
//! changes it; the driver reads `version` to ask conditionally, and owns `depth` and `kind`.

mod encoding;
#[cfg(test)]
mod tests;

use std::time::Duration;

use junkai_frontier::{ServerKey, Time};

use crate::estimator::Memory;
use crate::version::Version;

/// The numbers kept for a known page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageState {
    /// The last visit, whatever came of it.
    pub last_visit: Time,
    /// The last visit that found the page there, or the first visit while none did.
    pub seen: Time,
    /// The last change that is known of: the visit that found it, or the time that a trusted server told.
    pub changed: Option<Time>,
    /// From the last visit to the next, in whole seconds; what the page adds to its server's load.
    pub interval: Duration,
    /// Visits so far, the first included.
    pub visits: u32,
    /// Visits that found a change.
    pub changes: u32,
    /// Visits in a row that found the page gone, moved or nothing at all.
    pub misses: u8,
    /// Signals since the last visit that it has changed.
    pub signals: u8,
    /// The estimator's own numbers.
    pub memory: Memory,
    /// What the page was when it was last seen; none while it never was.
    pub version: Option<Version>,
    /// The server that its load is counted for.
    pub server: ServerKey,
    /// How much a version of it is worth, beside 1 for an ordinary page.
    pub worth: f32,
    /// Links from a seed; the driver's.
    pub depth: u16,
    /// What it is besides a page (a feed, a sitemap); the driver's.
    pub kind: u8,
}

impl PageState {
    /// When the next visit is due.
    #[must_use]
    pub fn due(&self) -> Time {
        self.last_visit + self.interval
    }
}
