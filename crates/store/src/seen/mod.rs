//! Says whether a URL is known: an exact set of 64-bit fingerprints, on disk, within a memory budget.
//!
//! New keys gather in a table in memory. [`Seen::flush`] writes them as a sorted, immutable run; merges join runs of about the same
//! size, so that there are few. A question asks the table, a small cache of keys lately found, and then each run: its filter
//! first, and where that says "maybe" one block of 1 KiB on disk. So "known" is always read from a stored key, never guessed.
//! Read [`Seen`] first; then `run` for the files and `config` for where the memory goes.
//!
//! Invariants: a key is in the table or in one run, never in two; the memory that is held stays within `memory_bytes`; `RUNS` names only
//! runs that are whole and durable.
//!
//! Not here: what was inserted since the last flush does not survive a crash. The caller inserts it again from its own log, the
//! [`backlog`](crate::backlog), and must have made that log durable *before* it flushes: else a URL could be known, but never visited. The
//! [`Mark`] that is stored with a flush says where in that log to begin.
//!
//! One thread owns a `Seen`; a merge runs beside it.

mod block;
mod cache;
mod config;
mod error;
mod filter;
mod manifest;
mod memory;
mod merge;
mod run;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::HashSet;
use serde::Serialize;

use cache::Cache;
use config::Shares;
use junkai_files::disk::Disk;
use manifest::Manifest;
use run::Run;
use writer::RunWriter;

pub use config::SeenConfig;
pub use error::SeenError;
pub use memory::SeenStats;
pub use merge::{MergeJob, Merged};

/// A number that the caller stores with a flush and finds again on opening: how far in its log all keys are flushed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Mark(pub u64);

/// The set of known URLs, by their fingerprints.
#[derive(Debug)]
pub struct Seen {
    disk: Disk,
    dir: PathBuf,
    shares: Shares,
    merge_width: usize,
    /// Keys that are in no run yet.
    memtable: HashSet<u64>,
    cache: Cache,
    /// In the order in which they are asked.
    runs: Vec<Run>,
    manifest: Manifest,
    /// Shared with the merge that is under way, if one is.
    merge_token: Arc<()>,
    /// Keys of a batch that memory could not answer, with their place in it.
    pending: Vec<(u64, usize)>,
    repaired: u64,
}

/// Keys that are looked up together. Sorted, neighbours share parts of filters and pages; larger chunks gain little.
const CHUNK_KEYS: usize = 16 * 1024;

impl Seen {
    /// Opens the set in `dir`, or makes an empty one there. What a crash left behind is removed.
    ///
    /// # Errors
    /// If a file is damaged: the set never guesses.
    pub fn open(dir: &Path, config: &SeenConfig) -> Result<Seen, SeenError> {
        Seen::open_on(Disk::default(), dir, config)
    }

    /// The same, on a disk that may be in memory.
    ///
    /// # Errors
    /// If a file is damaged: the set never guesses.
    pub fn open_on(disk: Disk, dir: &Path, config: &SeenConfig) -> Result<Seen, SeenError> {
        disk.create_dir(dir)?;
        let manifest = read_or_start_manifest(&disk, dir)?;
        remove_leftovers(&disk, dir, &manifest)?;
        let runs = manifest.runs.iter().map(|id| Run::open(&disk, dir, *id));
        let runs = runs.collect::<Result<_, _>>()?;
        let shares = Shares::of(config);
        let mut seen = Seen {
            disk,
            dir: dir.to_owned(),
            shares,
            merge_width: config.merge_width.max(2),
            memtable: HashSet::with_capacity(shares.memtable_keys),
            cache: Cache::new(shares.cache_slots),
            runs,
            manifest,
            merge_token: Arc::new(()),
            pending: Vec::new(),
            repaired: 0,
        };
        seen.fit_memory()?;
        Ok(seen)
    }

    /// Known URLs.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.memtable.len() as u64 + self.runs.iter().map(Run::keys).sum::<u64>()
    }

    /// Whether no URL is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many keys may be inserted before a flush is needed.
    #[must_use]
    pub fn room(&self) -> usize {
        self.shares.memtable_keys - self.memtable.len()
    }

    /// What the caller stored with the last flush that succeeded, in this life or an earlier one.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.manifest.mark
    }

    /// Whether `key` is known.
    pub fn contains(&self, key: u64) -> Result<bool, SeenError> {
        if self.memtable.contains(&key) || self.cache.contains(key) {
            return Ok(true);
        }
        for run in &self.runs {
            if run.contains(key, &mut 0)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes `key` known; true if it was new. For many keys, [`Seen::insert_batch`] is faster.
    ///
    /// # Errors
    /// [`SeenError::NeedsFlush`] when there is no [`room`](Seen::room); or what reading brought. The key is not inserted then.
    pub fn insert(&mut self, key: u64) -> Result<bool, SeenError> {
        self.check_room(1)?;
        if self.contains(key)? {
            return Ok(false);
        }
        self.memtable.insert(key);
        Ok(true)
    }

    /// Takes back a key that was new: it was inserted since the last flush, and is not known after all.
    pub fn take_back(&mut self, key: u64) {
        self.memtable.remove(&key);
    }

    /// Makes `keys` known; `new` is cleared and filled with one answer for each: true if it was new. Of equal keys in a batch the
    /// first is new.
    ///
    /// # Errors
    /// [`SeenError::NeedsFlush`] when there is no [`room`](Seen::room) for as many keys; or what reading brought. `new` is then as long as the part of
    /// the batch that was done: that part stays inserted, and the rest is untouched.
    pub fn insert_batch(&mut self, keys: &[u64], new: &mut Vec<bool>) -> Result<(), SeenError> {
        new.clear();
        self.check_room(keys.len())?;
        for chunk in keys.chunks(CHUNK_KEYS) {
            let mut pending = std::mem::take(&mut self.pending);
            let answered = self.insert_chunk(chunk, &mut pending, new);
            self.pending = pending;
            answered?;
        }
        Ok(())
    }

    fn insert_chunk(
        &mut self,
        keys: &[u64],
        pending: &mut Vec<(u64, usize)>,
        new: &mut Vec<bool>,
    ) -> Result<(), SeenError> {
        pending.clear();
        pending.extend(keys.iter().enumerate().filter_map(|(place, &key)| {
            let is_known = self.cache.contains(key) || self.memtable.contains(&key);
            (!is_known).then_some((key, place))
        }));
        pending.sort_unstable();
        for run in &self.runs {
            let mut hint = 0;
            let mut kept = 0;
            for at in 0..pending.len() {
                let (key, _) = pending[at];
                if run.contains(key, &mut hint)? {
                    self.cache.put(key);
                } else {
                    pending[kept] = pending[at];
                    kept += 1;
                }
            }
            pending.truncate(kept);
        }
        let start = new.len();
        new.resize(start + keys.len(), false);
        for &(key, place) in &*pending {
            new[start + place] = self.memtable.insert(key);
        }
        Ok(())
    }

    fn check_room(&self, keys: usize) -> Result<(), SeenError> {
        if self.room() < keys {
            return Err(SeenError::NeedsFlush { keys });
        }
        Ok(())
    }

    /// Writes what is in memory as a run; afterwards every key is durable. Stores `mark` with it.
    ///
    /// Before this the caller must have made durable whatever it needs to know of the keys itself (see the module).
    ///
    /// # Errors
    /// The keys stay in memory, and the flush may be tried again.
    pub fn flush(&mut self, mark: Mark) -> Result<(), SeenError> {
        if self.memtable.is_empty() && mark == self.manifest.mark {
            return Ok(());
        }
        let mut manifest = self.manifest.clone();
        manifest.mark = mark;
        let mut flushed = None;
        if !self.memtable.is_empty() {
            let id = manifest.next;
            self.write_memtable(id)?;
            flushed = Some(Run::open(&self.disk, &self.dir, id)?);
            manifest.next += 1;
            manifest.runs.push(id);
        }
        manifest.write(&self.disk, &self.dir)?;
        self.manifest = manifest;
        self.runs.extend(flushed);
        self.memtable.clear();
        self.fit_memory()
    }

    fn write_memtable(&self, id: u64) -> Result<(), SeenError> {
        let mut keys: Vec<u64> = self.memtable.iter().copied().collect();
        keys.sort_unstable();
        let mut writer = RunWriter::create(&self.disk, &self.dir, id, self.shares.partition_keys)?;
        for key in keys {
            writer.push(key)?;
        }
        writer.finish()
    }
}

/// Whether `key` is known to the set in `dir`, as of its last flush; changes nothing there: for looking on beside a live crawl.
///
/// # Errors
/// As for [`Seen::open`]; also if a merge replaces the runs again and again while they are read.
pub fn look(dir: &Path, key: u64) -> Result<bool, SeenError> {
    let disk = Disk::default();
    let mut tries_left = LOOK_TRIES_MAX;
    loop {
        tries_left -= 1;
        match look_once(&disk, dir, key) {
            // The run was merged between reading `RUNS` and opening it.
            Err(SeenError::Disk(error))
                if error.source.kind() == std::io::ErrorKind::NotFound && 0 < tries_left => {}
            answer => return answer,
        }
    }
}

const LOOK_TRIES_MAX: u32 = 5;

fn look_once(disk: &Disk, dir: &Path, key: u64) -> Result<bool, SeenError> {
    let manifest = Manifest::read(disk, dir)?.unwrap_or_default();
    for id in manifest.runs {
        if Run::open(disk, dir, id)?.contains(key, &mut 0)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read_or_start_manifest(disk: &Disk, dir: &Path) -> Result<Manifest, SeenError> {
    if let Some(manifest) = Manifest::read(disk, dir)? {
        return Ok(manifest);
    }
    let is_run = |name: &String| name.ends_with(run::SUFFIX);
    if disk.list(dir)?.iter().any(is_run) {
        let path = manifest::path(dir);
        return Err(SeenError::ManifestMissing { path });
    }
    let manifest = Manifest::default();
    manifest.write(disk, dir)?;
    Ok(manifest)
}

/// Removes runs that no manifest names: of a flush or merge that a crash cut short, or already merged.
fn remove_leftovers(disk: &Disk, dir: &Path, manifest: &Manifest) -> Result<(), SeenError> {
    let live: Vec<PathBuf> = manifest.runs.iter().map(|id| run::path(dir, *id)).collect();
    for name in disk.list(dir)? {
        let path = dir.join(&name);
        let is_ours =
            name.ends_with(run::SUFFIX) || name.ends_with(junkai_files::disk::TEMPORARY_SUFFIX);
        if is_ours && !live.contains(&path) {
            disk.remove(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
