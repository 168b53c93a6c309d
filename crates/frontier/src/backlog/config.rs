//! How waiting visits are laid out on disk.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Waiting visits on disk. Table `[backlog]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BacklogConfig {
    /// The finest span of time that is told apart. Default 1 s. A visit is handed out at most this much after it is due, never
    /// before; finer spans mean more and smaller files. At least 1 ms.
    #[serde(with = "humantime_serde")]
    pub resolution: Duration,
    /// Memory for visits that are not yet written, in bytes. Default 8388608 (8 MiB), over all files together.
    pub buffer_bytes: u64,
    /// A file is closed for appending at this size, in bytes. Default 67108864 (64 MiB). Space is given back a whole file at a time.
    pub segment_bytes: u64,
}

impl Default for BacklogConfig {
    fn default() -> BacklogConfig {
        BacklogConfig {
            resolution: Duration::from_secs(1),
            buffer_bytes: 8 << 20,
            segment_bytes: 64 << 20,
        }
    }
}
