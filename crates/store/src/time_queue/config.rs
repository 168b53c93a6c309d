//! How the states of known pages are laid out on disk.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Page states on disk, each where its time is. Table `[time_queue]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TimeQueueConfig {
    /// How much time a bucket covers. Default `graded`: the further off, the more. `flat` and `hierarchical` are there to be compared with.
    pub layout: Layout,
    /// The finest span of time that is told apart. Default 1 min. A page is handed out at most this much after it is due, never before. From 1 s to 1 day.
    #[serde(with = "humantime_serde")]
    pub resolution: Duration,
    /// The longest time that a page waits. Default 400 days: the longest interval between visits is a little over a year. What is due later is due then. From 2 to 3660 days.
    #[serde(with = "humantime_serde")]
    pub horizon: Duration,
    /// Memory for states that are not yet in their bucket. Default `64MiB`. The more, the fewer and the larger the writes. As much
    /// again may wait in the journal's files, four times over. From 64 KiB to 256 GiB.
    #[serde(with = "junkai_size::bytes")]
    pub buffer_bytes: u64,
    /// That memory is given to buckets in pages of this size at most. Default `4KiB`. From 512 bytes to 1 MiB. Small enough for a page for each
    /// bucket: where the memory is less than a thousand pages, they are smaller.
    #[serde(with = "junkai_size::bytes")]
    pub page_bytes: u32,
    /// Visits out of turn whose finding waits for the page's state, at most. Default 65536. A page beyond that keeps its turn. From 1 to 16777216.
    pub early_max: u32,
}

/// How much time a bucket covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// At most an eighth of the time that is left, or a larger part where write buffers are small: some hundred buckets for 400 days. Inside a bucket states are
    /// sorted by time, so that it is worked off at the finest resolution without being written again.
    #[default]
    Graded,
    /// 60 of the finest, 24 of 60, 30 of 1,440 and the rest of 43,200: at a minute, minutes, hours, days and months. A bucket that opens is written
    /// again to those of the next level.
    Hierarchical,
    /// One span for all, the resolution, as in Tamura and Kitsuregawa (2010).
    Flat,
}

/// The memory has at least as many pages, as long as they are not smaller than the smallest.
const PAGES_MIN: u64 = 1024;

impl TimeQueueConfig {
    /// The size of pages that suits the memory.
    pub(super) fn page_bytes_within(&self) -> u32 {
        let suitable = u32::try_from(self.buffer_bytes / PAGES_MIN).unwrap_or(u32::MAX);
        self.page_bytes.min(suitable)
    }
}

impl Default for TimeQueueConfig {
    fn default() -> TimeQueueConfig {
        TimeQueueConfig {
            layout: Layout::Graded,
            resolution: Duration::from_mins(1),
            horizon: Duration::from_hours(400 * 24),
            buffer_bytes: 64 << 20,
            page_bytes: 4096,
            early_max: 65_536,
        }
    }
}
