//! The checkpoint: one small file that names how much of every other file is safely on disk.
//!
//! `MANIFEST` is replaced atomically (write aside, sync, rename, sync the folder). A start compares it with what it
//! finds: after a plain kill the files may be longer, and whole records beyond the manifest are kept, because the
//! kernel still held them; after a restart of the machine everything is cut back to the manifest. The boot identifier
//! tells the two apart; where the system does not name it, a restart is assumed. A new archive has a manifest that promises nothing before its first visit.
//!
//! Not here: what the lengths mean to each store; they cut their own files.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use junkai_files::Folder;
use junkai_frontier::Time;
use junkai_store::backlog::Lengths;
use junkai_store::time_queue;
use junkai_weburl::CanonicalConfig;
use serde::{Deserialize, Serialize};

use crate::losses::Losses;

const FORMAT: u32 = 1;
const NAME: &str = "MANIFEST";

/// What one checkpoint promises.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Manifest {
    /// Version of this layout.
    pub format: u32,
    /// Which start of the machine wrote it.
    pub boot: String,
    /// Whether it is the last of an orderly end: nothing happened after it.
    #[serde(default)]
    pub is_last: bool,
    /// What the crawl's clock showed.
    #[serde(default)]
    pub now: Time,
    /// Lengths of the backlog's files.
    pub backlog: Lengths,
    /// Lengths of the outbox's files, where there are several partitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outbox: Option<Lengths>,
    /// Length of the time queue's journal.
    #[serde(default)]
    pub time_queue: time_queue::Lengths,
    /// Number of server keys: the persisted holds are meant for it.
    pub keys: u32,
    /// How URLs are made canonical: what the known ones were compared by.
    pub canonical: CanonicalConfig,
    /// URLs known.
    pub known: u64,
    /// Visits waiting.
    pub waiting: u64,
    /// Known pages, which have a state in the time queue.
    #[serde(default)]
    pub pages_known: u64,
    /// How often every one of them is planned to be visited at least: the `revisit.at_least` by which all have their times.
    #[serde(default)]
    pub timed_by: Option<Duration>,
    /// What was left out and lost so far.
    #[serde(default)]
    pub losses: Losses,
    /// Bytes of `crawl.log` and `events.jsonl`.
    pub log_lengths: [u64; 2],
    /// How often these files had been rotated.
    #[serde(default)]
    pub log_rotations: u64,
}

/// Why a checkpoint cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The file is there and cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The manifest.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The checksum or the form is wrong.
    #[error(
        "{path} is damaged: {reason}; restore it from a copy, or move it aside: the next start then takes the other files of `state/` as they are, as after a \
         kill, and loses nothing of them"
    )]
    Damaged {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It could not be written.
    #[error("cannot write {path}")]
    Write {
        /// The manifest.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl Manifest {
    /// The format that this version writes.
    #[must_use]
    pub fn format() -> u32 {
        FORMAT
    }

    /// Reads the checkpoint below `state`, if there is one.
    ///
    /// # Errors
    /// If the file cannot be read, or is not what was written.
    pub fn load(state: &Folder) -> Result<Option<Manifest>, ManifestError> {
        let path = state.file(NAME);
        let read = state.read(NAME).map_err(|error| ManifestError::Read {
            path: error.path,
            source: error.source,
        });
        let Some(bytes) = read? else {
            return Ok(None);
        };
        let damaged = |reason: &str| ManifestError::Damaged {
            path: path.clone(),
            reason: reason.to_owned(),
        };
        let text = str::from_utf8(&bytes).map_err(|_| damaged("it is no text"))?;
        let (checksum, body) = text
            .split_once('\n')
            .ok_or_else(|| damaged("it has no checksum line"))?;
        if checksum != format!("{:08x}", crc32fast::hash(body.as_bytes())) {
            return Err(damaged("its checksum does not match"));
        }
        let manifest: Manifest =
            serde_json::from_str(body).map_err(|error| damaged(&error.to_string()))?;
        if manifest.format != FORMAT {
            return Err(damaged(&format!(
                "format {} is not {FORMAT}",
                manifest.format
            )));
        }
        Ok(Some(manifest))
    }

    /// Puts this checkpoint in the place of the one before, or leaves that one whole.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn store(&self, state: &Folder) -> Result<(), ManifestError> {
        let path = state.file(NAME);
        let written = serde_json::to_string(self).map_err(io::Error::from);
        let replaced = written.and_then(|body| {
            let checksum = crc32fast::hash(body.as_bytes());
            let text = format!("{checksum:08x}\n{body}");
            let replaced = state.replace(NAME, text.as_bytes());
            replaced.map_err(|error| error.source)
        });
        replaced.map_err(|source| ManifestError::Write { path, source })
    }

    /// Whether the machine has surely been up since this checkpoint was written: not where the system does not name its starts.
    #[must_use]
    pub fn is_of_boot(&self, boot: &str) -> bool {
        !self.boot.is_empty() && self.boot == boot
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            format: FORMAT,
            boot: "this".to_owned(),
            is_last: false,
            now: Time::from_micros(5),
            backlog: Lengths::default(),
            time_queue: time_queue::Lengths::default(),
            keys: 64,
            canonical: CanonicalConfig::default(),
            known: 7,
            waiting: 3,
            pages_known: 0,
            timed_by: None,
            losses: Losses::default(),
            log_lengths: [10, 20],
            log_rotations: 0,
            outbox: None,
        }
    }

    #[test]
    fn what_is_stored_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let state = Folder::real(folder.path());
        assert!(Manifest::load(&state).unwrap().is_none());
        manifest().store(&state).unwrap();
        let loaded = Manifest::load(&state).unwrap().unwrap();
        assert_eq!((loaded.known, loaded.log_lengths), (7, [10, 20]));
        assert!(loaded.is_of_boot("this"));
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let state = Folder::real(folder.path());
        manifest().store(&state).unwrap();
        let path = state.file(NAME);
        let bytes = fs::read(&path).unwrap();
        for place in 0..bytes.len() {
            for bit in [1, 0x80] {
                let mut changed = bytes.clone();
                changed[place] ^= bit;
                fs::write(&path, &changed).unwrap();
                let loaded = Manifest::load(&state);
                let is_told = matches!(loaded, Err(ManifestError::Damaged { .. }));
                assert!(is_told, "byte {place}: {loaded:?}");
            }
        }
    }

    #[test]
    fn a_manifest_of_another_boot_is_told_apart() {
        let other = Manifest {
            boot: "another".to_owned(),
            ..manifest()
        };
        assert!(!other.is_of_boot("this"));
    }

    #[test]
    fn a_system_that_does_not_name_its_starts_may_have_been_restarted() {
        let unnamed = Manifest {
            boot: String::new(),
            ..manifest()
        };
        assert!(!unnamed.is_of_boot(""));
        assert!(!manifest().is_of_boot(""));
        assert!(!unnamed.is_of_boot("this"));
    }
}
