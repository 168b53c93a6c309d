//! Makes the time queue durable, and gives back the space of files that nobody needs any more.

use super::{Lengths, TimeQueue, TimeQueueError, bucket_file};

/// So many files are made durable one by one; more of them together, with all that the file system holds.
const SYNCED_EACH_MAX: usize = 8;

impl TimeQueue {
    /// Gives every change to the system. It survives a kill, not a power loss. Until then no change counts: what a state stands for, such as a log line, can be
    /// written before it.
    ///
    /// # Errors
    /// What was not written stays in memory; the call may be repeated.
    pub fn flush(&mut self) -> Result<(), TimeQueueError> {
        if let Some(since) = self.journal_due {
            self.begin_journal(since)?;
            self.journal_due = None;
        }
        self.journal.write(&self.disk, &self.dir)
    }

    /// Whether so many changes wait in memory that the next call should be [`flush`](TimeQueue::flush).
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.journal.is_full()
    }

    /// What a manifest must name: all that was given to the system, for one who makes the whole file system durable before that is written, so that a disk
    /// that is busy holds up nobody here.
    #[must_use]
    pub fn lengths(&self) -> Lengths {
        Lengths {
            generation: self.journal.generation,
            bytes: self.journal.written,
        }
    }

    /// Makes everything durable, and says what the crawl's manifest must name.
    ///
    /// # Errors
    /// What was not written stays in memory; the call may be repeated.
    pub fn sync(&mut self) -> Result<Lengths, TimeQueueError> {
        self.flush()?;
        if SYNCED_EACH_MAX < self.dirty.len() {
            self.disk.sync_all(&self.dir)?;
            self.dirty.clear();
        }
        while let Some(number) = self.dirty.first().copied() {
            let has_file = self.contents.buckets.get(number);
            if has_file.is_some_and(|file| 0 < file.size.bytes) {
                let path = bucket_file::path(&self.dir, number);
                self.disk.open_for_writing(&path)?.sync()?;
            }
            self.dirty.remove(&number);
        }
        self.journal.sync(&self.disk, &self.dir)?;
        if self.has_new_files {
            self.disk.sync_dir(&self.dir)?;
            self.has_new_files = false;
        }
        Ok(self.lengths())
    }

    /// Says that the manifest with the lengths of a [`sync`](TimeQueue::sync) is durable.
    ///
    /// The manifest must be of a sync after the call before this one; further syncs may have followed it. So what is out of use by now
    /// is surely not named by the manifest of the next call, and only then its space is given back.
    pub fn checkpointed(&mut self) -> Result<(), TimeQueueError> {
        Ok(self
            .retired
            .checkpointed(&self.disk, &self.dir, |_, _| {})?)
    }
}
