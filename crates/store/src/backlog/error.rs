//! What can go wrong with the waiting visits.

use std::path::PathBuf;

use super::Ticket;
use junkai_files::disk::DiskError;

/// Why waiting visits could not be written or read. What was appended before stays, in memory or on disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BacklogError {
    /// The operating system refused; if there was no room on the disk, the same call succeeds when there is.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A file does not hold what was written to it. The next call goes on behind what cannot be read.
    #[error("{path} is damaged at byte {offset}: {entries} waiting visits are lost")]
    Damaged {
        /// The damaged file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// How many entries cannot be read any more.
        entries: u32,
    },
    /// The visit's texts are longer than 64 KiB together.
    #[error("an entry of {bytes} bytes is too long")]
    EntryTooLong {
        /// Its length when encoded.
        bytes: usize,
    },
}

/// An entry could not take the place of another.
#[derive(Debug, thiserror::Error)]
#[error("an entry could not be deferred")]
pub struct NotReplaced {
    /// The entry that keeps its place.
    pub ticket: Ticket,
    /// Why.
    pub source: BacklogError,
}
