//! Joins runs of about the same size into one, beside the thread that asks.
//!
//! `Seen::next_merge` chooses and hands out a [`MergeJob`]; the driver runs it where it likes; `Seen::install` takes the result. Until then
//! the old runs answer. Memory: one block of each run, and one partition under construction; filters go to disk and are loaded on
//! installation, after those of the old runs are gone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::sync::Arc;

use super::SeenError;
use super::run::Run;
use super::writer::RunWriter;
use crate::disk::Disk;

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
                None => drop(std::collections::binary_heap::PeekMut::pop(head)),
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
