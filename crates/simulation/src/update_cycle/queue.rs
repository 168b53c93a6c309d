//! The crawler's own time queue, as a store to be driven.

use std::path::Path;

use junkai_frontier::Time;
use junkai_store::time_queue::{
    Lengths, Record, Recovery, Tails, TimeQueue, TimeQueueConfig, TimeQueueError, TimeQueueStats,
};

use super::{Store, StoreError, Visit};

/// What a checkpoint of the store holds against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A power failure: as a crawl has it.
    PowerFailure,
    /// A kill: all is given to the system, which writes it when it likes, and no file is ever removed. For runs in which only operations are counted.
    Kill,
}

/// A time queue, and what its last checkpoint said.
#[derive(Debug)]
pub struct QueueStore {
    queue: TimeQueue,
    durability: Durability,
    lengths: Lengths,
    /// The record in hand, whose memory is used again.
    record: Record,
}

impl QueueStore {
    /// Opens the queue in `dir`, or makes an empty one there; `lengths` are those of its last checkpoint.
    ///
    /// # Errors
    /// If the queue cannot be opened.
    pub fn open(
        dir: &Path,
        config: &TimeQueueConfig,
        lengths: Lengths,
        durability: Durability,
    ) -> Result<(QueueStore, Recovery), TimeQueueError> {
        let (queue, recovery) = TimeQueue::open(dir, config, Tails::Keep(&lengths))?;
        let store = QueueStore {
            queue,
            durability,
            lengths,
            record: Record::default(),
        };
        Ok((store, recovery))
    }

    /// What the last checkpoint said.
    #[must_use]
    pub fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// What the queue holds, takes and does.
    #[must_use]
    pub fn stats(&self) -> TimeQueueStats {
        self.queue.stats()
    }

    /// Nothing else has to be written first, so memory alone says when.
    fn flush_when_full(&mut self) -> Result<(), StoreError> {
        if self.queue.is_full() {
            self.queue.flush()?;
        }
        Ok(())
    }
}

impl Store for QueueStore {
    fn put(&mut self, records: &[Record], now: Time) -> Result<(), StoreError> {
        for record in records {
            self.queue.put(record, now)?;
            self.flush_when_full()?;
        }
        Ok(())
    }

    fn cycle(&mut self, now: Time, most: u64, visit: &mut Visit<'_>) -> Result<u64, StoreError> {
        let mut handled = 0;
        while handled < most {
            if let Some(ticket) = self.queue.next_into(now, &mut self.record)? {
                visit(&mut self.record)?;
                self.queue.put_back(ticket, &self.record, now)?;
                self.flush_when_full()?;
                handled += 1;
            } else if self.queue.next_due().is_none_or(|due| now < due) {
                break;
            }
            // Else a large bucket is being sorted, and the next call goes on with that.
        }
        Ok(handled)
    }

    fn checkpoint(&mut self) -> Result<(), StoreError> {
        match self.durability {
            Durability::PowerFailure => {
                self.lengths = self.queue.sync()?;
                self.queue.checkpointed()?;
            }
            Durability::Kill => self.queue.flush()?,
        }
        Ok(())
    }
}
