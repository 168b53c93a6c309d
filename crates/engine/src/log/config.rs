//! When files of the logs are rotated: the settings.

use std::time::Duration;

use bytesize::ByteSize;
use serde::{Deserialize, Serialize};

/// When files of the two logs are rotated. Table `[logs]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// A log file that is longer is rotated: it is renamed, with the time behind its name, and a new one is begun. Default `1GiB`.
    #[serde(with = "junkai_size::bytes")]
    pub bytes_max: ByteSize,
    /// A log file that is older is rotated likewise, unless it is empty. Default: not by age.
    #[serde(with = "humantime_serde", skip_serializing_if = "Option::is_none")]
    pub age_max: Option<Duration>,
}

impl Default for LogConfig {
    fn default() -> LogConfig {
        LogConfig {
            bytes_max: ByteSize::gib(1),
            age_max: None,
        }
    }
}

impl LogConfig {
    /// Whether a file of this length, begun then, is to be rotated.
    pub(super) fn is_over(&self, length: u64, begun: Duration, now: Duration) -> bool {
        let age = now.saturating_sub(begun);
        let is_old = self.age_max.is_some_and(|age_max| age_max < age);
        0 < length && (self.bytes_max.as_u64() < length || is_old)
    }
}
