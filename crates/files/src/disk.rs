//! Where files are: on the real disk, on one whose calls fail as a test says, or in memory.
//!
//! Rooms that keep state name paths and offsets; [`Disk`] and [`DiskFile`] do the calls, say which path failed, and tell a
//! full disk from other failures. With [`Disk::simulated`] the same code runs over a [`SimulatedDisk`], which can be killed, lose power and rot. Every call that changes
//! something on the real disk passes `Faults` first, which lets a test stop the world after any number of changes, as a crash would, or fill the disk.
//!
//! Not here: what is in the files, and when to write them.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

use crate::own_file;
use crate::replacement::sync_folder;
use crate::simulated::{Inode, SimulatedDisk};

/// Suffix of a file that is being written and has no standing yet.
pub const TEMPORARY_SUFFIX: &str = ".tmp";

/// A call on a file that failed.
#[derive(Debug)]
pub struct DiskError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

impl DiskError {
    /// Whether more room on the disk would have let the call succeed.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(
            self.source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }
}

impl fmt::Display for DiskError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        if self.is_full() {
            write!(formatter, "the disk is full at {path}")
        } else {
            write!(formatter, "cannot read or write {path}")
        }
    }
}

impl Error for DiskError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // That the disk is full is told already.
        (!self.is_full()).then_some(&self.source)
    }
}

type Result<T> = std::result::Result<T, DiskError>;

/// Where files are: the real disk, or one on which tests let changes fail.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    medium: Medium,
}

#[derive(Clone, Debug, Default)]
enum Medium {
    #[default]
    Real,
    Faulty(Arc<Faults>),
    Simulated(SimulatedDisk),
}

/// How many more changes a disk under test lets pass, and what happens then. Such a disk does not wait for the hardware: a process that
/// ends, unlike a machine that does, leaves all that it wrote.
#[derive(Debug)]
struct Faults {
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
    #[must_use]
    pub fn for_tests() -> Disk {
        Disk::faulty(u64::MAX, false)
    }

    /// A disk that stops for ever after `changes` changes; the last write is torn in the middle.
    #[must_use]
    pub fn crashing_after(changes: u64) -> Disk {
        Disk::faulty(changes, false)
    }

    /// A disk that is full after `changes` writes, until [`Disk::make_room`].
    #[must_use]
    pub fn full_after(changes: u64) -> Disk {
        Disk::faulty(changes, true)
    }

    fn faulty(changes: u64, full: bool) -> Disk {
        let faults = Faults {
            changes_left: AtomicU64::new(changes),
            full: AtomicBool::new(full),
        };
        Disk {
            medium: Medium::Faulty(Arc::new(faults)),
        }
    }

    /// A disk in memory.
    #[must_use]
    pub fn simulated(disk: SimulatedDisk) -> Disk {
        Disk {
            medium: Medium::Simulated(disk),
        }
    }

    /// Lets `changes` more changes pass.
    pub fn make_room(&self, changes: u64) {
        if let Medium::Faulty(faults) = &self.medium {
            faults.changes_left.store(changes, Ordering::Relaxed);
        }
    }

    fn change(&self, path: &Path, change: Change) -> Result<()> {
        match &self.medium {
            Medium::Faulty(faults) => at(path, faults.check(change)),
            // A simulated disk has faults of its own.
            Medium::Real | Medium::Simulated(_) => Ok(()),
        }
    }

    fn in_memory(&self) -> Option<&SimulatedDisk> {
        match &self.medium {
            Medium::Simulated(disk) => Some(disk),
            Medium::Real | Medium::Faulty(_) => None,
        }
    }

    /// Whether a call that makes something durable reaches the hardware.
    fn syncs(&self) -> bool {
        matches!(self.medium, Medium::Real)
    }

    /// Makes a directory and its parents, unless they exist.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn create_dir(&self, path: &Path) -> Result<()> {
        if let Some(disk) = self.in_memory() {
            return at(path, disk.create_dir(path));
        }
        self.change(path, Change::Other)?;
        at(path, fs::create_dir_all(path))
    }

    /// The names of a directory's entries, sorted.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn list(&self, path: &Path) -> Result<Vec<String>> {
        if let Some(disk) = self.in_memory() {
            return at(path, disk.list(path));
        }
        let mut names = Vec::new();
        for entry in at(path, fs::read_dir(path))? {
            let entry = at(path, entry)?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    /// A whole small file; nothing if it does not exist.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn read(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        let read = match self.in_memory() {
            Some(disk) => disk.read(path),
            None => fs::read(path),
        };
        match read {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => at(path, Err(error)),
        }
    }

    /// Puts `bytes` in the place of a file: a reader, or a crash, finds the old or the new content, whole and durable.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        self.replace_with(path, |file| file.write_all(bytes))
    }

    /// The same with what `write` writes.
    ///
    /// # Errors
    /// If the disk refuses: the file is as it was.
    pub fn replace_with(
        &self,
        path: &Path,
        write: impl FnOnce(&mut DiskWriter<'_>) -> io::Result<()>,
    ) -> Result<()> {
        let temporary = temporary(path);
        let replaced = self
            .write_beside(&temporary, write)
            .and_then(|()| self.rename(&temporary, path));
        if replaced.is_err() && self.remove(&temporary).is_err() {
            // A full disk takes it back; on one that has gone there is nothing to do.
        }
        replaced
    }

    fn write_beside(
        &self,
        temporary: &Path,
        write: impl FnOnce(&mut DiskWriter<'_>) -> io::Result<()>,
    ) -> Result<()> {
        let file = self.create(temporary)?;
        let mut writer = DiskWriter {
            file: &file,
            offset: 0,
        };
        at(temporary, write(&mut writer))?;
        file.sync()
    }

    /// Whether there is a file or folder of this name.
    #[must_use]
    pub fn exists(&self, path: &Path) -> bool {
        match self.in_memory() {
            Some(disk) => disk.exists(path),
            None => path.exists(),
        }
    }

    /// When a file was begun, as far as the file system knows.
    #[must_use]
    pub fn begun(&self, path: &Path) -> Option<SystemTime> {
        if self.in_memory().is_some() {
            return None;
        }
        let metadata = fs::metadata(path);
        metadata
            .and_then(|it| it.created().or_else(|_| it.modified()))
            .ok()
    }

    /// Opens an empty file for writing. Whatever had its name goes first, so that nothing is written where a link leads.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn create(&self, path: &Path) -> Result<DiskFile> {
        self.change(path, Change::Write)?;
        self.opened(path, |disk| disk.create(path), || own_file::create(path))
    }

    /// Opens a file for reading only.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn open(&self, path: &Path) -> Result<DiskFile> {
        self.opened(path, |disk| disk.open(path), || File::open(path))
    }

    /// Opens a file for reading only; none if it is not there.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn open_if_there(&self, path: &Path) -> Result<Option<DiskFile>> {
        match self.open(path) {
            Err(error) if error.source.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Opens a file for reading and writing, made if it does not exist; a symbolic link is an error.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn open_for_writing(&self, path: &Path) -> Result<DiskFile> {
        self.opened(
            path,
            |disk| disk.open_for_writing(path),
            || own_file::change(path),
        )
    }

    fn opened(
        &self,
        path: &Path,
        in_memory: impl FnOnce(&SimulatedDisk) -> io::Result<Inode>,
        real: impl FnOnce() -> io::Result<File>,
    ) -> Result<DiskFile> {
        let open = match self.in_memory() {
            Some(disk) => in_memory(disk).map(|inode| Open::InMemory(disk.clone(), inode)),
            None => real().map(Open::Real),
        };
        Ok(DiskFile {
            open: at(path, open)?,
            path: path.to_owned(),
            disk: self.clone(),
        })
    }

    /// Renames a file, durably.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.change(to, Change::Other)?;
        let renamed = match self.in_memory() {
            Some(disk) => disk.rename(from, to),
            None => fs::rename(from, to),
        };
        at(to, renamed)?;
        to.parent().map_or(Ok(()), |parent| self.sync_dir(parent))
    }

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn remove(&self, path: &Path) -> Result<()> {
        self.change(path, Change::Other)?;
        let removed = match self.in_memory() {
            Some(disk) => disk.remove(path),
            None => fs::remove_file(path),
        };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => at(path, result),
        }
    }

    /// Makes all files of the file system that holds `path` durable, with one call: cheaper than to go from file to file where there are many, even if
    /// others have written there too.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn sync_all(&self, path: &Path) -> Result<()> {
        self.change(path, Change::Other)?;
        if let Some(disk) = self.in_memory() {
            return at(path, disk.sync_all());
        }
        if !self.syncs() {
            return Ok(());
        }
        let sync = |dir: File| rustix::fs::syncfs(&dir).map_err(io::Error::from);
        at(path, File::open(path).and_then(sync))
    }

    /// Makes the entries of a directory durable.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn sync_dir(&self, path: &Path) -> Result<()> {
        self.change(path, Change::Other)?;
        if let Some(disk) = self.in_memory() {
            return at(path, disk.sync_dir());
        }
        if !self.syncs() {
            return Ok(());
        }
        at(path, sync_folder(path))
    }
}

/// A folder, and the disk that it is on.
#[derive(Clone, Debug)]
pub struct Folder {
    disk: Disk,
    path: PathBuf,
}

impl Folder {
    /// The folder of this path.
    #[must_use]
    pub fn new(disk: Disk, path: &Path) -> Folder {
        Folder {
            disk,
            path: path.to_owned(),
        }
    }

    /// A folder of the real disk.
    #[must_use]
    pub fn real(path: &Path) -> Folder {
        Folder::new(Disk::default(), path)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The disk that it is on.
    #[must_use]
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// A file in it.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A folder in it.
    #[must_use]
    pub fn folder(&self, name: &str) -> Folder {
        Folder::new(self.disk.clone(), &self.path.join(name))
    }

    /// A whole small file in it; nothing if it does not exist.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.disk.read(&self.file(name))
    }

    /// Puts `bytes` in the place of a file in it, whole and durably.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.disk.replace(&self.file(name), bytes)
    }
}

/// Writes a file from its beginning.
#[derive(Debug)]
pub struct DiskWriter<'a> {
    file: &'a DiskFile,
    offset: u64,
}

impl Write for DiskWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write_at(bytes, self.offset);
        written.map_err(|error| error.source)?;
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One open file.
#[derive(Debug)]
pub struct DiskFile {
    open: Open,
    path: PathBuf,
    disk: Disk,
}

#[derive(Debug)]
enum Open {
    Real(File),
    InMemory(SimulatedDisk, Inode),
}

impl Open {
    fn length(&self) -> io::Result<u64> {
        match self {
            Open::Real(file) => Ok(file.metadata()?.len()),
            Open::InMemory(disk, inode) => disk.length(*inode),
        }
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Open::Real(file) => file.read_at(buffer, offset),
            Open::InMemory(disk, inode) => disk.read_at(*inode, buffer, offset),
        }
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Open::Real(file) => file.read_exact_at(buffer, offset),
            Open::InMemory(disk, inode) => {
                if disk.read_at(*inode, buffer, offset)? < buffer.len() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Ok(())
            }
        }
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        match self {
            Open::Real(file) => file.write_all_at(bytes, offset),
            Open::InMemory(disk, inode) => disk.write_at(*inode, bytes, offset),
        }
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        match self {
            Open::Real(file) => file.set_len(length),
            Open::InMemory(disk, inode) => disk.set_len(*inode, length),
        }
    }

    fn sync(&self) -> io::Result<()> {
        match self {
            Open::Real(file) => file.sync_data(),
            Open::InMemory(disk, inode) => disk.sync(*inode),
        }
    }
}

impl DiskFile {
    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes in the file.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn length(&self) -> Result<u64> {
        at(&self.path, self.open.length())
    }

    /// Fills `buffer` from `offset`; a shorter file is an error.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        at(&self.path, self.open.read_exact_at(buffer, offset))
    }

    /// Reads at `offset` as much as there is, up to the length of `buffer`.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn read_up_to(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self
                .open
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
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        if let Err(fault) = self.disk.change(&self.path, Change::Write) {
            // A write that fails or is cut by a crash leaves a part of itself, as on a real disk.
            at(
                &self.path,
                self.open.write_all_at(&bytes[..bytes.len() / 2], offset),
            )?;
            return Err(fault);
        }
        at(&self.path, self.open.write_all_at(bytes, offset))
    }

    /// Writes behind the first `length` bytes of the file, and tells how long it is then.
    ///
    /// # Errors
    /// If the disk refuses. The file is as long as before: what a failed write left would pass for a torn end, and if that cannot be cut now, the next write
    /// covers it.
    pub fn append_at(&self, bytes: &[u8], length: u64) -> Result<u64> {
        if let Err(error) = self.write_at(bytes, length) {
            let _ends_torn = self.set_len(length);
            return Err(error);
        }
        Ok(length + bytes.len() as u64)
    }

    /// Cuts (or extends) the file.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn set_len(&self, length: u64) -> Result<()> {
        self.disk.change(&self.path, Change::Other)?;
        at(&self.path, self.open.set_len(length))
    }

    /// Makes content and length durable.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn sync(&self) -> Result<()> {
        self.disk.change(&self.path, Change::Other)?;
        if let Medium::Faulty(_) = self.disk.medium {
            return Ok(());
        }
        at(&self.path, self.open.sync())
    }

    /// Tells the system that reads will be scattered, so that it does not read ahead.
    pub fn expect_scattered_reads(&self) {
        if let Open::Real(file) = &self.open {
            // Advice only: a file system that does not take it still reads right.
            let _refused = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Random);
        }
    }
}

/// The name under which `path` is written before it is renamed into place.
#[must_use]
pub fn temporary(path: &Path) -> PathBuf {
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
