//! Takes back what waits, ahead of its time: where the settings have changed by which times were chosen, the driver looks at every record once.
//!
//! [`recall`](TimeQueue::recall) sets aside the buckets that there are; [`next_recalled`](TimeQueue::next_recalled) hands their records out, bucket by bucket and
//! front to back, and the driver puts each back where its time is now, in a bucket that is not set aside. Nothing of it is written down: after a kill a
//! record waits where it was, or where it was put, and the driver, who knows by [`is_recalled`](TimeQueue::is_recalled) whether all were dealt with, recalls again.

use super::cursor::Cursor;
use super::ticket::BucketNumber;
use super::{Record, Ticket, TimeQueue, TimeQueueError};
use junkai_frontier::Time;

/// The buckets that were set aside.
#[derive(Debug, Default)]
pub(super) struct Recall {
    buckets: Vec<BucketNumber>,
    /// How many of them were opened.
    opened: usize,
    /// The last one of these, while it is read.
    cursor: Option<Box<Cursor>>,
}

impl Recall {
    /// Whether there is more to hand out.
    pub(super) fn is_under_way(&self) -> bool {
        self.cursor.is_some() || self.opened < self.buckets.len()
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        let cursor = self.cursor.as_ref();
        self.buckets.capacity() * size_of::<BucketNumber>()
            + cursor.map_or(0, |cursor| cursor.memory_bytes())
    }
}

impl TimeQueue {
    /// Sets all that waits aside for [`next_recalled`](TimeQueue::next_recalled). What is put from now on waits as ever.
    ///
    /// # Errors
    /// If what is in memory cannot be written to its buckets; the call may be repeated.
    ///
    /// # Panics
    /// If anything was handed out before.
    pub fn recall(&mut self, now: Time) -> Result<(), TimeQueueError> {
        assert!(
            self.line.len() == 0 && self.current.is_none(),
            "buckets are recalled before any is opened"
        );
        let closed: Vec<_> = self.closed.iter().collect();
        for (bucket, number) in closed {
            // Only closed buckets are written when memory is short.
            self.write_run(number, now)?;
            self.closed.remove(bucket, number);
            self.recall.buckets.push(number);
        }
        Ok(())
    }

    /// Hands out a record that was recalled, whenever it is due; those of the bucket that opens first come first.
    ///
    /// # Errors
    /// As [`next`](TimeQueue::next).
    pub fn next_recalled(&mut self) -> Result<Option<(Ticket, Record)>, TimeQueueError> {
        while let Some(mut cursor) = self.recalled_cursor() {
            let is_at_record = match self.advance(&mut cursor) {
                Ok(is_at_record) => is_at_record,
                Err(error) => {
                    self.recall.cursor = Some(cursor);
                    return Err(error);
                }
            };
            if is_at_record && let Some(found) = cursor.record() {
                let mut record = Record::default();
                record.assign(found);
                let place = cursor.place();
                self.recall.cursor = Some(cursor);
                self.waiting -= 1;
                self.in_hand += 1;
                return Ok(Some((Ticket(place), record)));
            }
        }
        Ok(None)
    }

    /// Whether every record that was recalled has been put back or removed; true if none was recalled.
    #[must_use]
    pub fn is_recalled(&self) -> bool {
        let mut buckets = self.recall.buckets.iter();
        !self.recall.is_under_way()
            && buckets.all(|number| self.contents.buckets.get(*number).is_none())
    }

    /// What is being read, or the next bucket.
    fn recalled_cursor(&mut self) -> Option<Box<Cursor>> {
        if let Some(cursor) = self.recall.cursor.take() {
            return Some(cursor);
        }
        while let Some(number) = self.recall.buckets.get(self.recall.opened).copied() {
            self.recall.opened += 1;
            match self.contents.buckets.get(number) {
                Some(file) if 0 < file.left() => {
                    return Some(Box::new(Cursor::of_file(number, file)));
                }
                Some(_) | None => self.retire(number),
            }
        }
        None
    }
}
