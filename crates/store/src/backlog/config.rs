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
    /// Memory for visits that are not yet written. Default `8MiB`, over all files together. At most 64 GiB.
    #[serde(with = "junkai_size::bytes")]
    pub buffer_bytes: u64,
    /// A file is closed for appending at this size. Default `64MiB`. Space is given back a whole file at a time. At most 64 GiB.
    #[serde(with = "junkai_size::bytes")]
    pub segment_bytes: u64,
    /// Bytes of URLs that one page, sitemap or feed may bring in; links beyond that are left out, and counted. Default `16MiB`: a sitemap that is
    /// as long as the standard allows, with long URLs. At least 64 KiB.
    #[serde(with = "junkai_size::bytes")]
    pub page_bytes_max: u64,
    /// Bytes that the waiting visits of one host may take, before they are packed; further URLs of it are refused, and counted, until some are visited. They are
    /// taken in when a link to them is found again. Default `256MiB`: some three million URLs, half a year's visits at the default pace. At least 64 KiB.
    #[serde(with = "junkai_size::bytes")]
    pub host_bytes_max: u64,
    /// Bytes that all waiting visits together may take, before they are packed; further URLs are refused as those of one host are. Default `32GiB`:
    /// some four hundred million URLs, which take about a third of that on disk. At least 64 KiB.
    #[serde(with = "junkai_size::bytes")]
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
