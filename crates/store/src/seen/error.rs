//! What can go wrong with the set of known URLs.

use std::path::PathBuf;

use junkai_files::disk::DiskError;

/// Why the set of known URLs could not answer or change. Nothing was changed by the call that returns it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeenError {
    /// The operating system refused; if there was no room on the disk, the same call succeeds when there is.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A file does not hold what was written to it.
    #[error("{path} is damaged at byte {offset}: {what}")]
    Damaged {
        /// The damaged file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// Which check failed.
        what: &'static str,
    },
    /// There are runs, but not the file that says which of them count.
    #[error("{path} is missing, but there are runs beside it")]
    ManifestMissing {
        /// Where the manifest should be.
        path: PathBuf,
    },
    /// The keys do not fit in memory before the next [`flush`](super::Seen::flush).
    #[error("no room for {keys} more keys in memory: flush first")]
    NeedsFlush {
        /// How many keys were to be inserted.
        keys: usize,
    },
}
