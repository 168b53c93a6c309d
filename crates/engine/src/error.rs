//! Why a crawl cannot go on. What the web does wrong is not here: that is an outcome, and recorded.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use junkai_archive::{IndexError, RecoverError, WriteError};
use junkai_files::DiskError;
use junkai_focus::catalogue::CatalogueError;
use junkai_focus::learn::ModelError;
use junkai_store::backlog::BacklogError;
use junkai_store::seen::SeenError;
use junkai_store::time_queue::TimeQueueError;

use crate::manifest::ManifestError;

/// Why a crawl cannot start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrawlError {
    /// The settings are wrong.
    #[error("the settings are wrong:\n  {}", mistakes.join("\n  "))]
    Settings {
        /// Every mistake, in words.
        mistakes: Vec<String>,
    },
    /// A public address was about to be visited by nobody.
    #[error(
        "{url} is at the public address {address}, and nobody could reach you about it; \
         say who you are with --contact you@example.org (or identity.contact in junkai.toml)"
    )]
    NoContact {
        /// The page that was about to be visited.
        url: String,
        /// Where it is.
        address: IpAddr,
    },
    /// There is neither a seed nor an earlier run.
    #[error("nothing to crawl: name a seed, as in `junkai crawl https://example.org`")]
    NothingToCrawl,
    /// Another process crawls into this archive.
    #[error("{archive} is in use by another crawl; wait for it to end, or use another --archive")]
    InUse {
        /// The archive.
        archive: PathBuf,
    },
    /// A crawl has the archive, and does not say what became of a command.
    #[error(
        "a crawl is using {archive} and did not answer; it may be opening or closing it: try again in a moment, which does no harm"
    )]
    NoAnswer {
        /// The archive.
        archive: PathBuf,
    },
    /// A running crawl did not understand a command.
    #[error("the running crawl refuses: {reason}")]
    Refused {
        /// Its words.
        reason: String,
    },
    /// A small file of the state is not what was written.
    #[error(
        "{path} is damaged: {reason}; mend it by hand, or remove it and give its commands again"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no archive.
    #[error("{archive} is not an archive: it has no `state` folder")]
    NoArchive {
        /// The folder that was named.
        archive: PathBuf,
    },
    /// The system lets too few files be open.
    #[error(
        "the system allows {allowed} open files, and {needed} are needed at least: raise the limit (`ulimit -n {needed}`), or take fewer --workers"
    )]
    OpenFiles {
        /// Files that may be open.
        allowed: usize,
        /// Files that must be.
        needed: usize,
    },
    /// The network cannot be used at all.
    #[error("the network cannot be used: {reason}")]
    Network {
        /// Why.
        reason: String,
    },
    /// A worker cannot go on.
    #[error("a worker cannot go on: {reason}")]
    Worker {
        /// Why.
        reason: String,
    },
    /// The system lets no further thread start.
    #[error("cannot start a thread; take fewer --workers, or let the system allow more")]
    Thread {
        /// Why.
        source: io::Error,
    },
    /// A mistake in junkai itself.
    #[error("a mistake in junkai: {what}; please report it")]
    Bug {
        /// What should not have happened.
        what: String,
    },
    /// The checkpoint cannot be read or written.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The states of known pages cannot be kept.
    #[error(transparent)]
    TimeQueue(#[from] TimeQueueError),
    /// The waiting visits cannot be read or written.
    #[error(transparent)]
    Backlog(#[from] BacklogError),
    /// The set of known URLs cannot be read or written.
    #[error("the set of known URLs cannot be used{}", what_helps(source))]
    Seen {
        /// Why.
        #[from]
        source: SeenError,
    },
    /// A capture cannot be kept.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The archive could not be repaired.
    #[error(transparent)]
    Recover(#[from] RecoverError),
    /// The index cannot be read.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The model that knows what is wanted cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The settings name another model than the archive was explored with.
    #[error(
        "{named} is another model than this archive was explored with ({name:?}, kept in {kept}), and what the two say of pages does not mix; \
         explore into another --archive, or go on without --model (and without focus.model in junkai.toml)"
    )]
    OtherModel {
        /// The model that was named.
        named: PathBuf,
        /// The archive's own.
        kept: PathBuf,
        /// What that finds.
        name: String,
    },
    /// The catalogue cannot be read or written.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// A file or folder of the archive cannot be used.
    #[error("cannot use {path}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Names the file that a failed call was about: an [`io::Error`] does not, so none becomes a [`CrawlError`] without.
pub trait AtPath<T> {
    /// The result, or an error that names the file.
    fn at(self, path: impl AsRef<Path>) -> Result<T, CrawlError>;
}

impl From<DiskError> for CrawlError {
    fn from(error: DiskError) -> CrawlError {
        CrawlError::File {
            path: error.path,
            source: error.source,
        }
    }
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, path: impl AsRef<Path>) -> Result<T, CrawlError> {
        self.map_err(|source| CrawlError::File {
            path: path.as_ref().to_owned(),
            source,
        })
    }
}

/// What helps when the set of known URLs is not what was written.
fn what_helps(error: &SeenError) -> &'static str {
    match error {
        SeenError::Damaged { .. } | SeenError::ManifestMissing { .. } => {
            "; move the folder `state/seen` aside: the next start makes it anew from the logs, the index and the other files of `state/`"
        }
        _ => "",
    }
}

impl CrawlError {
    /// Whether waiting for room on the disk helps.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        match self {
            CrawlError::Backlog(error) => {
                matches!(error, BacklogError::Disk(error) if error.is_full())
            }
            CrawlError::TimeQueue(error) => {
                matches!(error, TimeQueueError::Disk(error) if error.is_full())
            }
            CrawlError::Seen { source } => {
                matches!(source, SeenError::Disk(error) if error.is_full())
            }
            CrawlError::Write(error) => matches!(error, WriteError::DiskFull { .. }),
            CrawlError::Manifest(ManifestError::Write { source, .. })
            | CrawlError::File { source, .. } => {
                matches!(
                    source.kind(),
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
                )
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use junkai_files::Folder;

    use super::*;
    use crate::command_box;
    use crate::log::Logs;
    use crate::paused::Paused;
    use crate::servers;

    /// A folder where a file should be cannot be read, whoever asks.
    #[test]
    fn an_error_about_a_file_names_it() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::real(temporary.path());
        let check = |name: &str, error: CrawlError| {
            let text = error.to_string();
            assert!(text.starts_with("cannot use "), "{text}");
            assert!(text.ends_with(name), "{text} is about {name}");
        };
        for name in ["paused.json", "seeds.txt", "wishes.jsonl", "crawl.log"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        check("paused.json", Paused::load(&folder).unwrap_err());
        check("seeds.txt", servers::earlier_seeds(&folder).unwrap_err());
        check("wishes.jsonl", command_box::look(&folder).unwrap_err());
        let logs = Logs::open(&folder, &crate::LogConfig::default(), 0, Duration::ZERO);
        check("crawl.log", logs.unwrap_err());
    }
}
