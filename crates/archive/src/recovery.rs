//! What a repair of an archive found and did.

use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::Serialize;
use thiserror::Error;

/// Why an archive cannot be repaired.
#[derive(Debug, Error)]
#[error("cannot repair {path}")]
pub struct RecoverError {
    /// The file.
    pub path: PathBuf,
    /// The cause.
    pub source: io::Error,
}

/// What was repaired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recovery {
    /// WARC files that were open, and are closed now.
    pub closed: Vec<ClosedFile>,
    /// Files that were open and held no whole record, and were removed.
    pub removed: Vec<String>,
    /// Index files that were left unsealed by a file that was closed already.
    pub sealed: Vec<String>,
    /// What cannot be right and was left alone, a sentence each.
    pub damaged: Vec<String>,
}

/// A WARC file that was open, and is closed now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClosedFile {
    /// Its name.
    pub file: String,
    /// Bytes of torn records that were cut off.
    pub bytes_cut: u64,
    /// Index lines that were missing and were made.
    pub lines_made: u64,
    /// Index lines whose record is not there and that were dropped.
    pub lines_dropped: u64,
}

impl Recovery {
    /// Whether there was nothing to repair and nothing to report.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("the archive was closed properly");
        }
        let mut sentences = Vec::new();
        for closed in &self.closed {
            let ClosedFile {
                file,
                bytes_cut,
                lines_made,
                lines_dropped,
            } = closed;
            sentences.push(format!(
                "closed {file}: {bytes_cut} torn bytes cut off, {lines_made} index lines made, {lines_dropped} dropped"
            ));
        }
        sentences.extend(
            self.removed
                .iter()
                .map(|name| format!("removed {name}, which held no whole record")),
        );
        sentences.extend(
            self.sealed
                .iter()
                .map(|name| format!("sealed the index {name}")),
        );
        sentences.extend(self.damaged.iter().cloned());
        f.write_str(&sentences.join("; "))
    }
}
