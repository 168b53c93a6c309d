//! A disk in memory, which tells apart what was written and what is durable.
//!
//! What a process sees is always what was written last. [`SimulatedDisk::lose_power`] takes from that what was not synced: names that were made, renamed or removed
//! since the last sync of a folder are kept up to some moment and lost from then on, as a file system with a journal keeps them; of what was written into a file
//! since its last sync, each write is kept, lost or torn on its own. [`SimulatedDisk::kill_after`] ends the process at one call;
//! [`SimulatedDisk::fill`] lets writes fail until there is room; [`SimulatedDisk::flip_bit`] is rot.
//!
//! Everything that is left to chance comes from the caller's generator: the same calls and the same chance leave the same files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use junkai_chance::Chance;

/// The disk. Copies are of the same disk.
#[derive(Clone, Debug, Default)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

/// Files by their paths, which are compared as bytes.
type Names = BTreeMap<OsString, Inode>;

#[derive(Debug, Default)]
struct State {
    folders: BTreeSet<OsString>,
    names: Names,
    contents: BTreeMap<Inode, Contents>,
    /// Files that were changed since they were last made durable, and maybe others.
    changed: BTreeSet<Inode>,
    /// The names that outlive a power failure.
    durable_names: Names,
    /// What happened to names since, in order.
    name_changes: Vec<NameChange>,
    inodes: u64,
    /// Changes until the process ends; none if it does not.
    changes_left: Option<u64>,
    is_killed: bool,
    is_full: bool,
    sabotage: Sabotage,
    /// Where syncs come late: the changes of each file that the last one should have made durable.
    owed: BTreeMap<Inode, usize>,
}

/// Mistakes of a disk, or of whoever uses it, that a simulation makes on purpose to test its checks.
#[derive(Clone, Debug, Default)]
pub struct Sabotage {
    /// A sync of everything does nothing.
    pub syncs_are_lost: bool,
    /// It makes durable what was written before the one before it.
    pub syncs_are_late: bool,
    /// Files whose path contains one of these lose with a kill what was not synced, as if it had waited in the process's memory.
    pub buffered: Vec<&'static str>,
    /// A file with such a path is not replaced, without a word.
    pub not_replaced: Option<&'static str>,
    /// What does not fit on a full disk is dropped without a word.
    pub full_disk_drops: bool,
}

impl Sabotage {
    fn buffers(&self, path: &Path) -> bool {
        let path = path.to_string_lossy();
        self.buffered.iter().any(|part| path.contains(part))
    }
}

/// What stands for a file whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Inode(u64);

#[derive(Debug, Default)]
struct Contents {
    seen: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Unsynced>,
}

#[derive(Clone, Debug)]
enum Unsynced {
    Bytes { offset: usize, bytes: Vec<u8> },
    Length(usize),
}

#[derive(Clone, Debug)]
enum NameChange {
    Made(OsString, Inode),
    Removed(OsString),
    Renamed(OsString, OsString),
}

impl SimulatedDisk {
    /// Ends the process after so many more changes, which are writes, syncs and changes of names: the next one is carried out in part, and every call fails from then on.
    pub fn kill_after(&self, changes: u64) {
        self.state().changes_left = Some(changes);
    }

    /// Whether the process has been ended.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.state().is_killed
    }

    /// From now on these mistakes are made.
    pub fn sabotage(&self, sabotage: Sabotage) {
        self.state().sabotage = sabotage;
    }

    /// A new process begins, which nothing ends yet. It finds what was written.
    pub fn restart(&self) {
        let mut state = self.state();
        state.lose_buffered();
        state.changes_left = None;
        state.is_killed = false;
        state.drop_nameless();
    }

    /// The machine loses its power: some of what was not synced is gone, and what is left is durable.
    pub fn lose_power(&self, chance: &mut Chance) {
        let mut state = self.state();
        let mut names = std::mem::take(&mut state.durable_names);
        let kept = chance.index(state.name_changes.len() + 1);
        for change in state.name_changes.drain(..).take(kept) {
            change.apply(&mut names);
        }
        state.names.clone_from(&names);
        state.durable_names = names;
        state.drop_nameless();
        for contents in state.contents.values_mut() {
            contents.lose_power(chance);
        }
    }

    /// From now on writes fail, until there is [room](Self::make_room).
    pub fn fill(&self) {
        self.state().is_full = true;
    }

    /// Writes succeed again.
    pub fn make_room(&self) {
        self.state().is_full = false;
    }

    /// Flips one bit of a file, in what is seen and what is durable. False if the file has no such byte.
    #[must_use]
    pub fn flip_bit(&self, path: &Path, byte: usize, bit: u32) -> bool {
        let mut state = self.state();
        let Some(contents) = state
            .names
            .get(path.as_os_str())
            .copied()
            .and_then(|inode| state.contents.get_mut(&inode))
        else {
            return false;
        };
        let mask = 1 << (bit % u8::BITS);
        if let Some(byte) = contents.durable.get_mut(byte) {
            *byte ^= mask;
        }
        match contents.seen.get_mut(byte) {
            Some(byte) => {
                *byte ^= mask;
                true
            }
            None => false,
        }
    }

    /// All files and their lengths, in the order of their names.
    #[must_use]
    pub fn files(&self) -> Vec<(PathBuf, usize)> {
        let state = self.state();
        let length = |inode| state.contents.get(inode).map_or(0, |file| file.seen.len());
        let files = state.names.iter();
        files
            .map(|(path, inode)| (PathBuf::from(path), length(inode)))
            .collect()
    }

    pub(crate) fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.changing()?;
        for folder in path.ancestors() {
            state.folders.insert(folder.into());
        }
        Ok(())
    }

    pub(crate) fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let state = self.reading()?;
        if !state.folders.contains(path.as_os_str()) {
            return Err(ErrorKind::NotFound.into());
        }
        let files = state.names.keys();
        let below = files.chain(&state.folders).map(Path::new);
        let inside = below.filter(|name| name.parent() == Some(path));
        let names = inside.filter_map(|name| name.file_name());
        Ok(names
            .map(|name| name.to_string_lossy().into_owned())
            .collect())
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        let state = self.state();
        let path = path.as_os_str();
        state.names.contains_key(path) || state.folders.contains(path)
    }

    /// A whole file.
    pub(crate) fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let inode = self.open(path)?;
        let mut state = self.reading()?;
        Ok(state.file(inode)?.seen.clone())
    }

    pub(crate) fn open(&self, path: &Path) -> io::Result<Inode> {
        let state = self.reading()?;
        let inode = state.names.get(path.as_os_str()).copied();
        inode.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Opens a file, made if it is not there.
    pub(crate) fn open_for_writing(&self, path: &Path) -> io::Result<Inode> {
        match self.open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => self.create(path),
            opened => opened,
        }
    }

    /// Makes an empty file in the place of whatever had its name.
    pub(crate) fn create(&self, path: &Path) -> io::Result<Inode> {
        let mut state = self.changing()?;
        if state.is_full {
            return Err(ErrorKind::StorageFull.into());
        }
        let is_in_folder = path
            .parent()
            .is_none_or(|folder| state.folders.contains(folder.as_os_str()));
        if !is_in_folder {
            return Err(ErrorKind::NotFound.into());
        }
        state.inodes += 1;
        let inode = Inode(state.inodes);
        state.contents.insert(inode, Contents::default());
        state.change_name(NameChange::Made(path.into(), inode));
        Ok(inode)
    }

    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.changing()?;
        let is_lost = state.sabotage.not_replaced;
        if is_lost.is_some_and(|part| to.to_string_lossy().contains(part)) {
            return Ok(());
        }
        if !state.names.contains_key(from.as_os_str()) {
            return Err(ErrorKind::NotFound.into());
        }
        state.change_name(NameChange::Renamed(from.into(), to.into()));
        Ok(())
    }

    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.changing()?;
        if !state.names.contains_key(path.as_os_str()) {
            return Err(ErrorKind::NotFound.into());
        }
        state.change_name(NameChange::Removed(path.into()));
        Ok(())
    }

    /// Makes the names of a folder durable. As in a file system with a journal, that takes all changes of names before it along.
    pub(crate) fn sync_dir(&self) -> io::Result<()> {
        let mut state = self.changing()?;
        state.sync_names();
        Ok(())
    }

    /// Makes everything durable.
    pub(crate) fn sync_all(&self) -> io::Result<()> {
        let mut state = self.changing()?;
        if state.sabotage.syncs_are_lost {
            return Ok(());
        }
        if state.sabotage.syncs_are_late {
            state.sync_what_was_owed();
            return Ok(());
        }
        state.sync_names();
        for inode in std::mem::take(&mut state.changed) {
            if let Some(contents) = state.contents.get_mut(&inode) {
                contents.sync();
            }
        }
        Ok(())
    }

    /// Makes one file durable: what it holds, and its name.
    pub(crate) fn sync(&self, inode: Inode) -> io::Result<()> {
        let mut state = self.changing()?;
        state.file(inode)?.sync();
        Ok(())
    }

    pub(crate) fn length(&self, inode: Inode) -> io::Result<u64> {
        let mut state = self.reading()?;
        Ok(state.file(inode)?.seen.len() as u64)
    }

    /// Reads as much as there is.
    pub(crate) fn read_at(
        &self,
        inode: Inode,
        buffer: &mut [u8],
        offset: u64,
    ) -> io::Result<usize> {
        let mut state = self.reading()?;
        let bytes = &state.file(inode)?.seen;
        let from = usize::try_from(offset).map_or(bytes.len(), |offset| offset.min(bytes.len()));
        let count = buffer.len().min(bytes.len() - from);
        buffer[..count].copy_from_slice(&bytes[from..from + count]);
        Ok(count)
    }

    /// Writes; where the process is ended, or the disk is full, the first half is written.
    pub(crate) fn write_at(&self, inode: Inode, bytes: &[u8], offset: u64) -> io::Result<()> {
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let refused = match self.changing() {
            Ok(mut state) if !state.is_full => {
                state.file_to_change(inode)?.write(bytes, offset);
                return Ok(());
            }
            Ok(state) if state.sabotage.full_disk_drops => return Ok(()),
            Ok(_) => ErrorKind::StorageFull.into(),
            Err(error) => error,
        };
        let mut state = self.state();
        // The call at which the process ends is carried out in part; later ones are not made at all.
        if state.changes_left == Some(0) || state.is_full {
            state.changes_left = state.changes_left.map(|_| u64::MAX);
            let half = &bytes[..bytes.len() / 2];
            state.file_to_change(inode)?.write(half, offset);
        }
        Err(refused)
    }

    pub(crate) fn set_len(&self, inode: Inode, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(io::Error::other)?;
        let mut state = self.changing()?;
        let file = state.file_to_change(inode)?;
        file.seen.resize(length, 0);
        file.unsynced.push(Unsynced::Length(length));
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reading(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state();
        if state.is_killed {
            return Err(killed());
        }
        Ok(state)
    }

    fn changing(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        if state.is_killed {
            return Err(killed());
        }
        match &mut state.changes_left {
            Some(0) => {
                state.is_killed = true;
                return Err(killed());
            }
            Some(left) => *left -= 1,
            None => {}
        }
        Ok(state)
    }
}

impl State {
    /// Forgets what was buffered in the process that ended.
    fn lose_buffered(&mut self) {
        if self.sabotage.buffered.is_empty() {
            return;
        }
        for (path, inode) in &self.names {
            if self.sabotage.buffers(Path::new(path))
                && let Some(contents) = self.contents.get_mut(inode)
            {
                contents.seen.clone_from(&contents.durable);
                contents.unsynced.clear();
            }
        }
    }

    /// Makes durable what was written before the last call, and no more.
    fn sync_what_was_owed(&mut self) {
        self.sync_names();
        let owed = std::mem::take(&mut self.owed);
        for (inode, contents) in &mut self.contents {
            let owed = owed.get(inode).copied().unwrap_or_default();
            let rest = contents
                .unsynced
                .split_off(owed.min(contents.unsynced.len()));
            contents.sync();
            contents.unsynced = rest;
            self.owed.insert(*inode, contents.unsynced.len());
        }
    }

    fn file(&mut self, inode: Inode) -> io::Result<&mut Contents> {
        let file = self.contents.get_mut(&inode);
        file.ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn file_to_change(&mut self, inode: Inode) -> io::Result<&mut Contents> {
        self.changed.insert(inode);
        self.file(inode)
    }

    fn change_name(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.name_changes.push(change);
    }

    fn sync_names(&mut self) {
        for change in self.name_changes.drain(..) {
            change.apply(&mut self.durable_names);
        }
    }

    /// Gives up the files that have no name, now that no process has them open, unless a power failure could bring the name back.
    fn drop_nameless(&mut self) {
        let names = self.names.values().chain(self.durable_names.values());
        let mut alive: BTreeSet<Inode> = names.copied().collect();
        alive.extend(self.name_changes.iter().filter_map(|change| match change {
            NameChange::Made(_, inode) => Some(*inode),
            NameChange::Removed(_) | NameChange::Renamed(..) => None,
        }));
        self.contents.retain(|inode, _| alive.contains(inode));
    }
}

impl NameChange {
    fn apply(&self, names: &mut Names) {
        match self {
            NameChange::Made(path, inode) => {
                names.insert(path.clone(), *inode);
            }
            NameChange::Removed(path) => {
                names.remove(path);
            }
            NameChange::Renamed(from, to) => {
                if let Some(inode) = names.remove(from) {
                    names.insert(to.clone(), inode);
                }
            }
        }
    }
}

impl Contents {
    fn write(&mut self, bytes: &[u8], offset: usize) {
        put(&mut self.seen, bytes, offset);
        self.unsynced.push(Unsynced::Bytes {
            offset,
            bytes: bytes.to_vec(),
        });
    }

    fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            match change {
                Unsynced::Bytes { offset, bytes } => put(&mut self.durable, &bytes, offset),
                Unsynced::Length(length) => self.durable.resize(length, 0),
            }
        }
    }

    fn lose_power(&mut self, chance: &mut Chance) {
        for change in self.unsynced.drain(..) {
            match (chance.below(3), change) {
                (0, _) => {}
                (1, Unsynced::Bytes { offset, bytes }) => {
                    let kept = chance.index(bytes.len() + 1);
                    put(&mut self.durable, &bytes[..kept], offset);
                }
                (_, Unsynced::Bytes { offset, bytes }) => put(&mut self.durable, &bytes, offset),
                (_, Unsynced::Length(length)) => self.durable.resize(length, 0),
            }
        }
        self.seen.clone_from(&self.durable);
    }
}

fn put(file: &mut Vec<u8>, bytes: &[u8], offset: usize) {
    let end = offset + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[offset..end].copy_from_slice(bytes);
}

fn killed() -> io::Error {
    io::Error::other("the simulated process was killed")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER: &str = "/archive";
    const FILE: &str = "/archive/file";

    fn disk() -> SimulatedDisk {
        let disk = SimulatedDisk::default();
        disk.create_dir(Path::new(FOLDER)).unwrap();
        disk
    }

    fn read(disk: &SimulatedDisk, path: &str) -> Option<Vec<u8>> {
        let file = disk.open(Path::new(path)).ok()?;
        let mut bytes = vec![0; usize::try_from(disk.length(file).unwrap()).unwrap()];
        disk.read_at(file, &mut bytes, 0).unwrap();
        Some(bytes)
    }

    #[test]
    fn what_is_synced_outlives_every_power_failure_and_what_is_not_outlives_some() {
        let (mut kept, mut torn, mut lost, mut nameless) = (0, 0, 0, 0);
        for seed in 0..300 {
            let disk = disk();
            let file = disk.create(Path::new(FILE)).unwrap();
            disk.write_at(file, b"synced", 0).unwrap();
            disk.sync(file).unwrap();
            disk.sync_dir().unwrap();
            disk.write_at(file, b" later", 6).unwrap();
            let other = disk.create(Path::new("/archive/other")).unwrap();
            disk.write_at(other, b"x", 0).unwrap();
            disk.lose_power(&mut Chance::new(seed));
            let bytes = read(&disk, FILE).unwrap();
            assert!(bytes.starts_with(b"synced"));
            match bytes.len() {
                12 => kept += 1,
                6 => lost += 1,
                _ => torn += 1,
            }
            nameless += u32::from(read(&disk, "/archive/other").is_none());
        }
        assert!([kept, torn, lost].into_iter().all(|times| 30 < times));
        assert!((100..200).contains(&nameless), "{nameless}");
    }

    #[test]
    fn a_kill_leaves_what_was_written_and_half_of_the_call_that_it_came_in() {
        let disk = disk();
        let file = disk.create(Path::new(FILE)).unwrap();
        disk.kill_after(1);
        disk.write_at(file, b"whole", 0).unwrap();
        assert!(disk.write_at(file, b"torn", 5).is_err());
        assert!(disk.write_at(file, b"never", 5).is_err());
        assert!(disk.is_killed() && disk.open(Path::new(FILE)).is_err());
        disk.restart();
        assert_eq!(read(&disk, FILE).unwrap(), b"wholeto");
    }

    #[test]
    fn a_full_disk_refuses_writes_until_there_is_room() {
        let disk = disk();
        let file = disk.create(Path::new(FILE)).unwrap();
        disk.fill();
        let refused = disk.write_at(file, b"1234", 0).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::StorageFull);
        disk.remove(Path::new(FILE)).unwrap();
        disk.make_room();
        let file = disk.create(Path::new(FILE)).unwrap();
        disk.write_at(file, b"1234", 0).unwrap();
        assert_eq!(read(&disk, FILE).unwrap(), b"1234");
    }

    #[test]
    fn a_rename_is_lost_or_kept_whole() {
        let (mut old, mut new) = (0, 0);
        for seed in 0..100 {
            let disk = disk();
            for (path, bytes) in [(FILE, b"old"), ("/archive/file.tmp", b"new")] {
                let file = disk.create(Path::new(path)).unwrap();
                disk.write_at(file, bytes, 0).unwrap();
                disk.sync(file).unwrap();
            }
            disk.sync_dir().unwrap();
            disk.rename(Path::new("/archive/file.tmp"), Path::new(FILE))
                .unwrap();
            disk.lose_power(&mut Chance::new(seed));
            match read(&disk, FILE).unwrap().as_slice() {
                b"old" => old += 1,
                b"new" => new += 1,
                other => panic!("{other:?}"),
            }
        }
        assert!(20 < old && 20 < new, "{old} {new}");
    }
}
