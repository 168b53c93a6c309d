//! Why a history cannot be read, made or written, and where the trouble is.

use std::fmt;
use std::path::PathBuf;

use crate::GraphError;

/// Bad lines that an error lists; the others are only counted.
pub const BAD_LINES_LISTED_MAX: usize = 20;

/// Why a history cannot be read, made or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] GraphError),
    /// Lines are not events.
    #[error("{path} has {count} lines that are no events (a time, A, M or D, and a path, with tabs between):{}", listed(.first, *.count))]
    BadLines {
        /// The file.
        path: PathBuf,
        /// How many lines are bad.
        count: u64,
        /// The first of them, up to [`BAD_LINES_LISTED_MAX`].
        first: Vec<BadLine>,
    },
    /// There are more pages or events than a history may have.
    #[error("{name} has more than {most} {what}, which are as many as a history may have")]
    TooMany {
        /// The file, or what the history is to be called.
        name: String,
        /// Pages or events.
        what: &'static str,
        /// How many are allowed.
        most: u64,
    },
    /// A history cannot be made as was asked for.
    #[error("{}", .0.join("; "))]
    Settings(Vec<String>),
}

/// A line that is no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: &'static str,
    /// The line, shortened.
    pub text: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, reason, text } = self;
        write!(out, "line {line}: {reason}: {text:?}")
    }
}

fn listed(first: &[BadLine], count: u64) -> String {
    let mut list: Vec<String> = first.iter().map(BadLine::to_string).collect();
    if (list.len() as u64) < count {
        list.push("…".to_owned());
    }
    format!("\n  {}", list.join("\n  "))
}
