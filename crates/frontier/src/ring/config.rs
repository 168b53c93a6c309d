//! The settings of the ring.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The shortest step: what a timer of the operating system can be trusted with.
const STEP_MIN: Duration = Duration::from_millis(1);
/// The longest step that can be set.
const STEP_SET_MAX: Duration = Duration::from_hours(1);
/// The longest step chosen by itself: a new visit waits for the next step, and nobody likes to wait for long.
const STEP_MAX: Duration = Duration::from_secs(1);
/// Steps to an interval, when the step is chosen by itself: a stride is then at most a tenth longer than needed.
const STEPS_PER_INTERVAL: u32 = 10;

/// The short-term queue of visits. Table `[ring]`.
///
/// Memory is bounded by these numbers, not by how many URLs exist: about 120 bytes for each key, at most 64 retained
/// entries for each slot, and at most twice an entry for each waiting visit. An entry is the visit and 8 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RingConfig {
    /// Length of a step, within 1 ms and 1 h. Default: none, that is a tenth of the interval between visits, within 1 ms and 1 s.
    #[serde(with = "humantime_serde")]
    pub step: Option<Duration>,
    /// Steps that the ring covers, rounded up to a power of two, from 64 to 16777216. Default 1024: with steps of half a second, the
    /// next 8 minutes. A server gets at most `slots × step / interval` waiting visits; the rest is deferred. The last
    /// eighth is kept for deferred visits that come back.
    pub slots: usize,
    /// Server keys: how many servers have a pace of their own. Default 65536; servers that share a key share its pace. From 1 to 16777216.
    pub keys: u32,
    /// Visits that wait in memory at most. Default 100000; beyond it every new visit overflows. From 1 to 100000000.
    pub waiting_max: usize,
}

impl RingConfig {
    /// The length of a step, where servers are visited at this interval.
    #[must_use]
    pub fn step_length(&self, interval: Duration) -> Duration {
        match self.step {
            Some(step) => step.clamp(STEP_MIN, STEP_SET_MAX),
            None => (interval / STEPS_PER_INTERVAL).clamp(STEP_MIN, STEP_MAX),
        }
    }
}

impl Default for RingConfig {
    fn default() -> RingConfig {
        RingConfig {
            step: None,
            slots: 1024,
            keys: 65_536,
            waiting_max: 100_000,
        }
    }
}
