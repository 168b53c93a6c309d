//! The files of this room: the one module that touches them.
//!
//! `seen`, `backlog` and `time_queue` name paths and offsets; [`Disk`] and [`DiskFile`] do the calls, say which path failed, and tell a
//! full disk from other failures. Every call that changes something passes [`Faults`] first, which lets a test stop the world
//! after any number of changes, as a crash would, or fill the disk.
//!
//! Not here: what is in the files, and when to write them.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "what is on disk needs files; this module holds all of it"
)]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Suffix of a file that is being written and has no standing yet.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// A call on a file that failed.
#[derive(Debug)]
pub(crate) struct DiskError {
    pub(crate) path: PathBuf,
    pub(crate) source: io::Error,
}

impl DiskError {
    /// Whether more room on the disk would have let the call succeed.
    pub(crate) fn is_full(&self) -> bool {
        matches!(
            self.source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }
}

type Result<T> = std::result::Result<T, DiskError>;

/// Where files are: the real disk, or one on which tests let changes fail.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    faults: Option<Arc<Faults>>,
}

/// How many more changes a disk under test lets pass, and what happens then. Such a disk does not wait for the hardware: a process that
/// ends, unlike a machine that does, leaves all that it wrote.
#[derive(Debug)]
pub(crate) struct Faults {
    changes_left: AtomicU64,
    /// A full disk refuses writes only, and may be emptied; a crashed one refuses all.
    full: AtomicBool,
}

impl Faults {
    fn check(&self, change: Change) -> io::Result<()> {
        let full = self.full.load(Ordering::Relaxed);
        if full && change == Change::Other {
            return Ok(());
        }
        let left = self.changes_left.load(Ordering::Relaxed);
        if left == 0 {
            let kind = if full {
                io::ErrorKind::StorageFull
            } else {
                io::ErrorKind::Other
            };
            return Err(io::Error::new(kind, "injected fault"));
        }
        self.changes_left.store(left - 1, Ordering::Relaxed);
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Write,
    Other,
}

impl Disk {
    /// A disk that works.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Disk {
        Disk::faulty(u64::MAX, false)
    }

    /// A disk that stops for ever after `changes` changes; the last write is torn in the middle.
    #[cfg(test)]
    pub(crate) fn crashing_after(changes: u64) -> Disk {
        Disk::faulty(changes, false)
    }

    /// A disk that is full after `changes` writes, until [`Disk::make_room`].
    #[cfg(test)]
    pub(crate) fn full_after(changes: u64) -> Disk {
        Disk::faulty(changes, true)
    }

    #[cfg(test)]
    fn faulty(changes: u64, full: bool) -> Disk {
        Disk {
            faults: Some(Arc::new(Faults {
                changes_left: AtomicU64::new(changes),
                full: AtomicBool::new(full),
            })),
        }
    }

    /// Lets `changes` more changes pass.
    #[cfg(test)]
    pub(crate) fn make_room(&self, changes: u64) {
        if let Some(faults) = &self.faults {
            faults.changes_left.store(changes, Ordering::Relaxed);
        }
    }

    fn change(&self, path: &Path, change: Change) -> Result<()> {
        match &self.faults {
            None => Ok(()),
            Some(faults) => at(path, faults.check(change)),
        }
    }

    /// Makes a directory and its parents, unless they exist.
    pub(crate) fn create_dir(&self, path: &Path) -> Result<()> {
        self.change(path, Change::Other)?;
        at(path, fs::create_dir_all(path))
    }

    /// The names of a directory's entries, sorted.
    #[expect(clippy::unused_self, reason = "all file access goes through a disk")]
    pub(crate) fn list(&self, path: &Path) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in at(path, fs::read_dir(path))? {
            let entry = at(path, entry)?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    /// A whole small file; nothing if it does not exist.
    #[expect(clippy::unused_self, reason = "all file access goes through a disk")]
    pub(crate) fn read(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        match fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => at(path, Err(error)),
        }
    }

    /// Puts `bytes` in the place of a file: a reader, or a crash, finds the old or the new content, whole and durable.
    pub(crate) fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let temporary = temporary(path);
        let file = self.create(&temporary)?;
        file.write_at(bytes, 0)?;
        file.sync()?;
        self.rename(&temporary, path)
    }

    /// Opens an empty file for writing. Whatever had its name goes first, so that nothing is written where a link leads.
    pub(crate) fn create(&self, path: &Path) -> Result<DiskFile> {
        self.change(path, Change::Write)?;
        self.opened(path, junkai_files::create(path))
    }

    /// Opens a file for reading only.
    pub(crate) fn open(&self, path: &Path) -> Result<DiskFile> {
        self.opened(path, File::open(path))
    }

    /// Opens a file for reading and writing, made if it does not exist; a symbolic link is an error.
    pub(crate) fn open_for_writing(&self, path: &Path) -> Result<DiskFile> {
        self.opened(path, junkai_files::change(path))
    }

    fn opened(&self, path: &Path, file: io::Result<File>) -> Result<DiskFile> {
        Ok(DiskFile {
            file: at(path, file)?,
            path: path.to_owned(),
            disk: self.clone(),
        })
    }

    /// Renames a file, durably.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.change(to, Change::Other)?;
        at(to, fs::rename(from, to))?;
        to.parent().map_or(Ok(()), |parent| self.sync_dir(parent))
    }

    /// Removes a file, if it exists.
    pub(crate) fn remove(&self, path: &Path) -> Result<()> {
        self.change(path, Change::Other)?;
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => at(path, result),
        }
    }

    /// Makes all files of the file system that holds `path` durable, with one call: cheaper than to go from file to file where there are many, even if
    /// others have written there too.
    pub(crate) fn sync_all(&self, path: &Path) -> Result<()> {
        self.change(path, Change::Other)?;
        if self.faults.is_some() {
            return Ok(());
        }
        let sync = |dir: File| rustix::fs::syncfs(&dir).map_err(io::Error::from);
        at(path, File::open(path).and_then(sync))
    }

    /// Makes the entries of a directory durable.
    pub(crate) fn sync_dir(&self, path: &Path) -> Result<()> {
        self.change(path, Change::Other)?;
        if self.faults.is_some() {
            return Ok(());
        }
        at(path, junkai_files::sync_folder(path))
    }
}

/// One open file.
#[derive(Debug)]
pub(crate) struct DiskFile {
    file: File,
    path: PathBuf,
    disk: Disk,
}

impl DiskFile {
    /// Where the file is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes in the file.
    pub(crate) fn len(&self) -> Result<u64> {
        Ok(at(&self.path, self.file.metadata())?.len())
    }

    /// Fills `buffer` from `offset`; a shorter file is an error.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        at(&self.path, self.file.read_exact_at(buffer, offset))
    }

    /// Reads at `offset` as much as there is, up to the length of `buffer`.
    pub(crate) fn read_up_to(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self
                .file
                .read_at(&mut buffer[filled..], offset + filled as u64)
            {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return at(&self.path, Err(error)),
            }
        }
        Ok(filled)
    }

    /// Writes all of `bytes` at `offset`. After a failure any part of them may be there.
    pub(crate) fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        if let Err(fault) = self.disk.change(&self.path, Change::Write) {
            // A write that fails or is cut by a crash leaves a part of itself, as on a real disk.
            at(
                &self.path,
                self.file.write_all_at(&bytes[..bytes.len() / 2], offset),
            )?;
            return Err(fault);
        }
        at(&self.path, self.file.write_all_at(bytes, offset))
    }

    /// Cuts (or extends) the file.
    pub(crate) fn set_len(&self, length: u64) -> Result<()> {
        self.disk.change(&self.path, Change::Other)?;
        at(&self.path, self.file.set_len(length))
    }

    /// Makes content and length durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.disk.change(&self.path, Change::Other)?;
        if self.disk.faults.is_some() {
            return Ok(());
        }
        at(&self.path, self.file.sync_data())
    }

    /// Tells the system that reads will be scattered, so that it does not read ahead.
    pub(crate) fn expect_scattered_reads(&self) {
        // Advice only: a file system that does not take it still reads right.
        let _refused = rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::Random);
    }
}

/// The name under which `path` is written before it is renamed into place.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(TEMPORARY_SUFFIX);
    PathBuf::from(name)
}

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|source| DiskError {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_written_where_a_link_leads() {
        let folder = tempfile::tempdir().unwrap();
        let (precious, link) = (folder.path().join("precious"), folder.path().join("link"));
        fs::write(&precious, "precious").unwrap();
        symlink(&precious, &link).unwrap();
        let disk = Disk::default();
        assert!(disk.open_for_writing(&link).is_err());
        disk.create(&link).unwrap().write_at(b"ours", 0).unwrap();
        symlink(&precious, temporary(&link)).unwrap();
        disk.replace(&link, b"ours again").unwrap();
        assert_eq!(fs::read(&link).unwrap(), b"ours again");
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
    }
}
