//! Joins runs of about the same size into one, beside the thread that asks.
//!
//! `Seen::next_merge` chooses and hands out a [`MergeJob`]; the driver runs it where it likes; `Seen::install` takes the result. Until then
//! the old runs answer. Memory: one block of each run, and one partition under construction; filters go to disk and are loaded on
//! installation, after those of the old runs are gone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, binary_heap::PeekMut};
use std::path::PathBuf;
use std::sync::Arc;

use super::run::{self, Run};
use super::writer::RunWriter;
use super::{Seen, SeenError};
use junkai_files::disk::Disk;

/// Runs to be merged: owns all that it needs.
#[derive(Debug)]
pub struct MergeJob {
    pub(super) disk: Disk,
    pub(super) dir: PathBuf,
    pub(super) output: u64,
    pub(super) inputs: Vec<u64>,
    pub(super) partition_keys: usize,
    /// Tells `Seen` that the job, or its result, is still about.
    pub(super) token: Arc<()>,
}

/// A merged run on disk, not yet in use.
#[derive(Debug)]
pub struct Merged {
    pub(super) output: u64,
    pub(super) inputs: Vec<u64>,
    pub(super) _token: Arc<()>,
}

impl MergeJob {
    /// How many runs become one.
    #[must_use]
    pub fn width(&self) -> usize {
        self.inputs.len()
    }

    /// Writes the merged run. Takes long: call it on a thread of its own.
    ///
    /// A job that fails has changed nothing; the next `next_merge` offers the same runs again.
    pub fn run(self) -> Result<Merged, SeenError> {
        let mut sources = Vec::with_capacity(self.inputs.len());
        let mut heads = BinaryHeap::with_capacity(self.inputs.len());
        for (at, id) in self.inputs.iter().enumerate() {
            let mut source = Source::new(Run::open(&self.disk, &self.dir, *id)?);
            if let Some(key) = source.next()? {
                heads.push(Reverse((key, at)));
            }
            sources.push(source);
        }
        let mut writer =
            RunWriter::create(&self.disk, &self.dir, self.output, self.partition_keys)?;
        let mut last = None;
        while let Some(mut head) = heads.peek_mut() {
            let Reverse((key, at)) = *head;
            // A key is in one run only; should it be in two, one is enough.
            if last != Some(key) {
                writer.push(key)?;
                last = Some(key);
            }
            match sources[at].next()? {
                Some(next) => *head = Reverse((next, at)),
                None => drop(PeekMut::pop(head)),
            }
        }
        writer.finish()?;
        Ok(Merged {
            output: self.output,
            inputs: self.inputs,
            _token: self.token,
        })
    }
}

impl Seen {
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
        let mut classes = BTreeMap::<u32, Vec<u64>>::new();
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
}

/// A run, read front to back.
struct Source {
    run: Run,
    partition: usize,
    block: usize,
    keys: Vec<u64>,
    at: usize,
}

impl Source {
    fn new(run: Run) -> Source {
        Source {
            run,
            partition: 0,
            block: 0,
            keys: Vec::new(),
            at: 0,
        }
    }

    fn next(&mut self) -> Result<Option<u64>, SeenError> {
        while self.at == self.keys.len() {
            if self.partition == self.run.partition_count() {
                return Ok(None);
            }
            self.keys.clear();
            self.at = 0;
            if self
                .run
                .read_keys(self.partition, self.block, &mut self.keys)?
            {
                self.block += 1;
            } else {
                self.partition += 1;
                self.block = 0;
            }
        }
        let key = self.keys[self.at];
        self.at += 1;
        Ok(Some(key))
    }
}
