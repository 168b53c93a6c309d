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
mod merge;
mod run;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::HashSet;
use serde::Serialize;

use crate::disk::Disk;
use cache::Cache;
use config::Shares;
use manifest::Manifest;
use run::{AidKind, Run};
use writer::RunWriter;

pub use config::SeenConfig;
pub use error::SeenError;
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

/// What the set holds and takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SeenStats {
    /// Known URLs.
    pub keys: u64,
    /// Of these, in memory only.
    pub unflushed: u64,
    /// Sorted runs on disk.
    pub runs: u64,
    /// Bytes held in memory: table, cache, indexes and filters.
    pub memory_bytes: u64,
    /// Bytes of all runs on disk.
    pub disk_bytes: u64,
    /// Bits of all filters in memory.
    pub filter_bits: u64,
    /// Filters and indexes that were damaged on disk and made again, since opening.
    pub repaired: u64,
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

    fn open_on(disk: Disk, dir: &Path, config: &SeenConfig) -> Result<Seen, SeenError> {
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

    /// The merge that is due, if there is one and none is under way. The driver calls [`MergeJob::run`] on a thread of its own and hands
    /// the result to [`Seen::install`]; a job that is dropped or fails is offered again.
    pub fn next_merge(&mut self) -> Option<MergeJob> {
        if 1 < Arc::strong_count(&self.merge_token) {
            return None;
        }
        let inputs = self.runs_to_merge()?;
        let output = self.manifest.next;
        // The number is taken: a flush during the merge uses the one after it.
        self.manifest.next += 1;
        Some(MergeJob {
            disk: self.disk.clone(),
            dir: self.dir.clone(),
            output,
            inputs,
            partition_keys: self.shares.partition_keys,
            token: Arc::clone(&self.merge_token),
        })
    }

    /// The runs of the smallest size class that is full. A class is one power of the merge width, in units of a full memtable; so
    /// there are at most `merge_width` runs in each of logarithmically many classes.
    fn runs_to_merge(&self) -> Option<Vec<u64>> {
        let unit = self.shares.memtable_keys as u64;
        let mut classes = std::collections::BTreeMap::<u32, Vec<u64>>::new();
        for run in &self.runs {
            let class = (run.keys() / unit).max(1).ilog(self.merge_width as u64);
            classes.entry(class).or_default().push(run.id());
        }
        classes
            .into_values()
            .find(|runs| self.merge_width <= runs.len())
    }

    /// Puts a merged run in the place of those it was made from.
    ///
    /// # Errors
    /// The old runs stay in use; the merge is offered again.
    pub fn install(&mut self, merged: Merged) -> Result<(), SeenError> {
        let Merged { output, inputs, .. } = merged;
        let run = Run::open(&self.disk, &self.dir, output)?;
        let mut manifest = self.manifest.clone();
        manifest.runs.retain(|id| !inputs.contains(id));
        manifest.runs.push(output);
        manifest.write(&self.disk, &self.dir)?;
        self.manifest = manifest;
        self.runs.retain(|old| !inputs.contains(&old.id()));
        self.runs.push(run);
        for id in &inputs {
            // A file that stays is not named by `RUNS` any more; the next opening removes it.
            let _left_behind = self.disk.remove(&run::path(&self.dir, *id));
        }
        self.fit_memory()
    }

    /// What the set holds and takes.
    #[must_use]
    pub fn stats(&self) -> SeenStats {
        let sum = |each: &dyn Fn(&Run) -> usize| self.runs.iter().map(each).sum::<usize>();
        let filter_bytes = sum(&|run| run.aid_bytes(AidKind::Filter));
        let memory_bytes = self.memtable.allocation_size()
            + self.cache.bytes()
            + filter_bytes
            + sum(&|run| run.aid_bytes(AidKind::Index) + run.table_bytes());
        SeenStats {
            keys: self.len(),
            unflushed: self.memtable.len() as u64,
            runs: self.runs.len() as u64,
            memory_bytes: memory_bytes as u64,
            disk_bytes: self.runs.iter().map(Run::file_bytes).sum(),
            filter_bits: filter_bytes as u64 * 8,
            repaired: self.repaired,
        }
    }

    /// Loads the filters and indexes that fit the budget, drops those that do not, and puts the runs in the order of asking.
    ///
    /// Indexes come first, they are small and spare most; then filters, from the smallest run up: the biggest run, which most keys
    /// that are known must be read from anyway, is the first to go without. Runs with filters are asked first, the biggest of them
    /// before the others, because most keys are there.
    fn fit_memory(&mut self) -> Result<(), SeenError> {
        self.runs.sort_by_key(|run| (run.keys(), run.id()));
        let mut used: usize = self.runs.iter().map(Run::table_bytes).sum();
        for kind in [AidKind::Index, AidKind::Filter] {
            for run in &mut self.runs {
                for partition in 0..run.partition_count() {
                    let with_it = used + run.aid_cost(partition, kind);
                    let fits = with_it <= self.shares.run_bytes;
                    run.want(partition, kind, fits);
                    used = if fits { with_it } else { used };
                }
            }
        }
        for run in &mut self.runs {
            self.repaired += run.load_wanted()?;
        }
        self.runs.reverse();
        self.runs.sort_by_key(|run| !run.is_filtered());
        Ok(())
    }
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
        let is_ours = name.ends_with(run::SUFFIX) || name.ends_with(crate::disk::TEMPORARY_SUFFIX);
        if is_ours && !live.contains(&path) {
            disk.remove(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
