//! Hands out what is due: opens the buckets whose time has come, and reads them front to back.

use super::cursor::{Cursor, Damage, ReadFault};
use super::entry::{Entry, Range};
use super::line::{Open, Step};
use super::ticket::{BucketNumber, Place};
use super::{Record, Ticket, TimeQueue, TimeQueueError, bucket_file};
use junkai_frontier::Time;

/// Steps that one call makes without handing out, so that no call takes long.
const STEPS_MAX: usize = 4096;
impl TimeQueue {
    /// Hands out a record that is due, those of the oldest time first. `None` with a [`next_due`](TimeQueue::next_due) that has come means: a
    /// large bucket is being sorted, call again.
    ///
    /// # Errors
    /// [`TimeQueueError::Damaged`] tells of records that cannot be read; the next call goes on behind them. Other errors change nothing.
    pub fn next(&mut self, now: Time) -> Result<Option<(Ticket, Record)>, TimeQueueError> {
        let mut record = Record::default();
        let ticket = self.next_into(now, &mut record)?;
        Ok(ticket.map(|ticket| (ticket, record)))
    }

    /// As [`next`](TimeQueue::next), into a record whose memory is used again.
    ///
    /// # Errors
    /// As [`next`](TimeQueue::next).
    pub fn next_into(
        &mut self,
        now: Time,
        record: &mut Record,
    ) -> Result<Option<Ticket>, TimeQueueError> {
        for _ in 0..STEPS_MAX {
            let Some(mut open) = self.pick(now)? else {
                return Ok(None);
            };
            let stepped = match &mut open {
                Open::OnDisk(cursor) => self.step(cursor, now, record),
                Open::InMemory(cursor) => {
                    // A bucket without a record that counts is not there any more.
                    let file = self.contents.buckets.get(cursor.bucket);
                    Ok(file.map_or(Step::End, |file| cursor.step(file, record)))
                }
            };
            match stepped {
                Ok(Step::Due(place)) => {
                    self.current = Some(open);
                    self.waiting -= 1;
                    self.in_hand += 1;
                    return Ok(Some(Ticket(place)));
                }
                Ok(Step::Later) => self.line.join(open),
                Ok(Step::Moved) => self.current = Some(open),
                Ok(Step::End) => {}
                Err(error) => {
                    self.current = Some(open);
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// When [`next`](TimeQueue::next), or [`next_recalled`](TimeQueue::next_recalled), may have something to hand out; a moment in the past means at once. `None`: nothing waits.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        if self.current.is_some() || self.recall.is_under_way() {
            return Some(Time::EPOCH);
        }
        let reading = self.line.first_key();
        reading.into_iter().chain(self.closed.first_opening()).min()
    }

    /// What is read next, if its turn has come.
    #[inline]
    fn pick(&mut self, now: Time) -> Result<Option<Open>, TimeQueueError> {
        if let Some(open) = self.current.take() {
            return Ok(Some(open));
        }
        // A bucket's records are due when it opens, or later.
        while let Some((bucket, number)) = self.closed.first()
            && bucket.opens <= now
            && self.line.first_key().is_none_or(|key| bucket.opens <= key)
        {
            self.open_bucket(number, now)?;
        }
        Ok(self.line.take(now))
    }

    /// Deals with a cursor's next record.
    fn step(
        &mut self,
        cursor: &mut Cursor,
        now: Time,
        record: &mut Record,
    ) -> Result<Step, TimeQueueError> {
        if !cursor.is_at_record && !self.advance(cursor)? {
            return Ok(Step::End);
        }
        let (Some(found), Some(file)) = (cursor.record(), self.contents.buckets.get(cursor.bucket))
        else {
            return Ok(Step::End);
        };
        let place = cursor.place();
        let passed = cursor.units.end_of(cursor.unit());
        let is_due = if found.due < file.bucket.opens {
            true
        } else if cursor.is_of_file {
            passed <= now
        } else if cursor.key < passed {
            cursor.key = passed;
            return Ok(Step::Later);
        } else {
            true
        };
        if is_due {
            record.assign(found);
            cursor.is_at_record = false;
            return Ok(Step::Due(place));
        }
        self.insert(found, Some(place), now)?;
        self.journal.end_step();
        self.finish(place);
        self.traffic.moved_records += 1;
        cursor.is_at_record = false;
        Ok(Step::Moved)
    }

    /// Goes to the next record that is not done with; false if there is none.
    pub(super) fn advance(&mut self, cursor: &mut Cursor) -> Result<bool, TimeQueueError> {
        loop {
            match cursor.advance(&mut self.reader) {
                Ok(false) => return Ok(false),
                Ok(true) => {}
                Err(ReadFault::Disk(error)) => return Err(error.into()),
                Err(ReadFault::Damage(damage)) => return Err(self.give_up(cursor.bucket, damage)),
            }
            let file = self.contents.buckets.get(cursor.bucket);
            // A bucket without a record that counts is not there any more.
            let Some(file) = file else {
                return Ok(false);
            };
            if !file.is_done(cursor.place().index) {
                return Ok(true);
            }
        }
    }

    /// Takes records that cannot be read for done with, and tells of them.
    fn give_up(&mut self, bucket: BucketNumber, damage: Damage) -> TimeQueueError {
        let mut lost = 0;
        for index in damage.first..damage.end {
            let file = self.contents.buckets.get(bucket);
            if file.is_some_and(|file| !file.is_done(index)) {
                let range = Range {
                    bucket,
                    first: index,
                    count: 1,
                };
                self.journal.push(&Entry::Done { range });
                self.journal.end_step();
                self.finish(Place { bucket, index });
                lost += 1;
            }
        }
        self.waiting -= u64::from(lost);
        TimeQueueError::Damaged {
            path: bucket_file::path(&self.dir, bucket),
            offset: damage.offset,
            records: lost,
        }
    }
}
