//! What has to be done to a folder so that it holds what was read of it, and no more.

use std::path::{Path, PathBuf};

use junkai_files::disk::{Disk, DiskError};

/// Repairs that are due. To plan them changes nothing, so that one who only looks on can read a folder, too.
#[derive(Debug, Default)]
pub(crate) struct Repairs {
    planned: Vec<Repair>,
    /// Bytes that are cut.
    pub(crate) cut_bytes: u64,
    /// Files that are removed whole.
    pub(crate) removed_files: u64,
}

#[derive(Debug)]
enum Repair {
    Cut { path: PathBuf, bytes: u64 },
    Remove { path: PathBuf },
}

impl Repairs {
    /// Cuts a file of `file_bytes` down to its first `bytes`, if it is longer.
    pub(crate) fn cut(&mut self, path: PathBuf, bytes: u64, file_bytes: u64) {
        if bytes < file_bytes {
            self.cut_bytes += file_bytes - bytes;
            self.planned.push(Repair::Cut { path, bytes });
        }
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, path: PathBuf) {
        self.removed_files += 1;
        self.planned.push(Repair::Remove { path });
    }

    /// Brings the folder to the state that was read.
    pub(crate) fn make(&self, disk: &Disk, dir: &Path) -> Result<(), DiskError> {
        if self.planned.is_empty() {
            return Ok(());
        }
        for repair in &self.planned {
            match repair {
                Repair::Cut { path, bytes } => disk.open_for_writing(path)?.set_len(*bytes)?,
                Repair::Remove { path } => disk.remove(path)?,
            }
        }
        disk.sync_dir(dir)
    }
}
