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
    /// Bytes of URLs that one page, sitemap or feed may bring in; links beyond that are left out, and counted. Default 16777216 (16 MiB): a sitemap that is
    /// as long as the standard allows, with long URLs.
    pub page_bytes_max: u64,
    /// Bytes that the waiting visits of one host may take, before they are packed; further URLs of it are refused, and counted, until some are visited. They are
    /// taken in when a link to them is found again. Default 268435456 (256 MiB): some three million URLs, half a year's visits at the default pace.
    pub host_bytes_max: u64,
    /// Bytes that all waiting visits together may take, before they are packed; further URLs are refused as those of one host are. Default 34359738368
    /// (32 GiB): some four hundred million URLs, which take about a third of that on disk.
    pub bytes_max: u64,
}

impl Default for BacklogConfig {
    fn default() -> BacklogConfig {
        BacklogConfig {
            resolution: Duration::from_secs(1),
            buffer_bytes: 8 << 20,
            segment_bytes: 64 << 20,
            page_bytes_max: 16 << 20,
            host_bytes_max: 256 << 20,
            bytes_max: 32 << 30,
        }
    }
}
