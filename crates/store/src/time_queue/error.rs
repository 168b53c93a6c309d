//! What can go wrong with page states on disk.

use std::path::PathBuf;

use super::Ticket;
use junkai_files::disk::DiskError;

/// Why page states could not be written or read. What was put before stays, in memory or on disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TimeQueueError {
    /// The operating system refused; if there was no room on the disk, the same call succeeds when there is.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A file does not hold what was written to it. The next call goes on behind the damage.
    #[error("{path} is damaged at byte {offset}: {records} page states are lost")]
    Damaged {
        /// The damaged file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// How many records cannot be read any more.
        records: u32,
    },
    /// The URL, the state or the note is longer than allowed.
    #[error("a record with a part of {bytes} bytes is too long")]
    TooLong {
        /// The length of the longest part.
        bytes: usize,
    },
}

/// A record could not take the place of another.
#[derive(Debug, thiserror::Error)]
#[error("a page state could not be put back")]
pub struct NotReplaced {
    /// The record that keeps its place.
    pub ticket: Ticket,
    /// Why.
    pub source: TimeQueueError,
}
