//! Why the graph of an archive cannot be read or written.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why the graph of an archive cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ArchiveGraphError {
    /// There is neither a crawl's archive nor a WARC file.
    #[error(
        "no archive at {path}: expected a folder that `junkai crawl` made, a folder of WARC files (.warc, .warc.gz, .warc.zst), or one such file"
    )]
    NoArchive {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A folder cannot be listed.
    #[error("cannot list {path}")]
    List {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The archive names more pages than the graph may have.
    #[error(
        "the archive knows more than {pages_max} pages, which is the most that a graph may have"
    )]
    TooManyPages {
        /// The most that is allowed.
        pages_max: u32,
    },
    /// The folder to write to holds something else.
    #[error(
        "{path} holds files that are no exported graph, such as {found}: name another folder, or let it be overwritten"
    )]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// A file in it.
        found: String,
    },
    /// A file cannot be written.
    #[error("cannot write {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The graph of pages cannot be written.
    #[error(transparent)]
    WritePages(#[from] junkai_graph::GraphError),
}
