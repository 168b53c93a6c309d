//! Hands out what is due: opens the buckets whose time has come, and reads them front to back.

use super::cursor::{Cursor, Damage, ReadFault};
use super::entry::{Entry, Range};
use super::ticket::BucketNumber;
use super::{Record, Ticket, TimeQueue, TimeQueueError, contents, run_places};
use crate::time::Time;

/// Steps that one call makes without handing out, so that no call takes long.
const STEPS_MAX: usize = 4096;
/// Runs that are read beside each other. A bucket with more of them is not worked off where it is: its records are written again to finer buckets.
pub(super) const OPEN_RUNS_MAX: usize = 512;

/// What came of looking at a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It is due.
    Due,
    /// It is due at another time than the one before.
    Later,
    /// It was not due, and waits in a finer bucket now.
    Moved,
    /// There was none.
    End,
}

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
            let Some(mut cursor) = self.pick(now)? else {
                return Ok(None);
            };
            match self.step(&mut cursor, now) {
                Ok(Step::Due) => {
                    let ticket = Ticket(cursor.place());
                    if let Some(found) = cursor.record() {
                        record.assign(found);
                    }
                    cursor.is_at_record = false;
                    self.current = Some(cursor);
                    self.waiting -= 1;
                    self.in_hand += 1;
                    return Ok(Some(ticket));
                }
                Ok(Step::Later) => self.line_up_cursor(cursor),
                Ok(Step::Moved) => self.current = Some(cursor),
                Ok(Step::End) => {}
                Err(error) => {
                    self.current = Some(cursor);
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// When [`next`](TimeQueue::next) may have something to hand out; a moment in the past means at once. `None`: nothing waits.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        if self.current.is_some() {
            return Some(Time::EPOCH);
        }
        let reading = self.reading.first_key_value().map(|((key, _), _)| *key);
        let closed = self.closed.first().map(|(bucket, _)| bucket.opens);
        reading.into_iter().chain(closed).min()
    }

    /// The cursor whose turn it is, if that has come.
    fn pick(&mut self, now: Time) -> Result<Option<Cursor>, TimeQueueError> {
        if let Some(cursor) = self.current.take() {
            return Ok(Some(cursor));
        }
        // A bucket's records are due when it opens, or later.
        while let Some((bucket, number)) = self.closed.first().copied()
            && bucket.opens <= now
            && self.is_first(bucket.opens)
        {
            self.open_bucket(number, now)?;
        }
        let first = self.reading.first_entry();
        let first = first.filter(|first| first.key().0 <= now);
        Ok(first.map(std::collections::btree_map::OccupiedEntry::remove))
    }

    fn is_first(&self, opens: Time) -> bool {
        let first = self.reading.first_key_value();
        first.is_none_or(|((key, _), _)| opens <= *key)
    }

    /// Lines up what there is to read in a bucket. Its records are all in the file then.
    fn open_bucket(&mut self, number: BucketNumber, now: Time) -> Result<(), TimeQueueError> {
        self.write_run(number, now)?;
        let Some(file) = self.contents.buckets.get(&number) else {
            return Ok(());
        };
        let is_fine = file.bucket.span <= self.calendar.unit();
        let has_few_runs = self.reading.len() + file.size.runs as usize <= self.open_runs_max;
        let mut runs = None;
        if self.calendar.is_sorted_inside() && !is_fine && has_few_runs {
            runs = run_places::find(number, file, &mut self.reader)?;
        }
        let whole = Cursor::of_file(number, file);
        let key = (file.bucket, number);
        let is_empty = file.left() == 0;
        self.closed.remove(&key);
        if is_empty {
            self.retire(number);
            return Ok(());
        }
        match runs {
            None => self.line_up_cursor(whole),
            Some(runs) => {
                for run in &runs {
                    self.line_up_cursor(Cursor::of_run(number, run));
                }
            }
        }
        Ok(())
    }

    fn line_up_cursor(&mut self, cursor: Cursor) {
        let key = (cursor.key, self.next_cursor);
        self.next_cursor += 1;
        self.reading.insert(key, cursor);
    }

    /// Deals with a cursor's next record.
    fn step(&mut self, cursor: &mut Cursor, now: Time) -> Result<Step, TimeQueueError> {
        if !cursor.is_at_record && !self.advance(cursor)? {
            return Ok(Step::End);
        }
        let Some(file) = self.contents.buckets.get(&cursor.bucket) else {
            return Ok(Step::End);
        };
        let Some(record) = cursor.record() else {
            return Ok(Step::End);
        };
        if record.due < file.bucket.opens {
            return Ok(Step::Due);
        }
        let passed = cursor.units.end_of(cursor.unit());
        if cursor.is_of_file {
            if passed <= now {
                return Ok(Step::Due);
            }
            let place = cursor.place();
            self.insert(record, Some(place), now)?;
            self.journal.end_step();
            self.finish(place);
            self.traffic.moved_records += 1;
            cursor.is_at_record = false;
            return Ok(Step::Moved);
        }
        if cursor.key < passed {
            cursor.key = passed;
            return Ok(Step::Later);
        }
        Ok(Step::Due)
    }

    /// Goes to the next record that is not done with; false if there is none.
    fn advance(&mut self, cursor: &mut Cursor) -> Result<bool, TimeQueueError> {
        loop {
            match cursor.advance(&mut self.reader) {
                Ok(false) => return Ok(false),
                Ok(true) => {}
                Err(ReadFault::Disk(error)) => return Err(error.into()),
                Err(ReadFault::Damage(damage)) => return Err(self.give_up(cursor.bucket, damage)),
            }
            let file = self.contents.buckets.get(&cursor.bucket);
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
            let file = self.contents.buckets.get(&bucket);
            if file.is_some_and(|file| !file.is_done(index)) {
                let range = Range {
                    bucket,
                    first: index,
                    count: 1,
                };
                self.journal.push(&Entry::Done { range });
                self.journal.end_step();
                self.finish(super::Place { bucket, index });
                lost += 1;
            }
        }
        self.waiting -= u64::from(lost);
        TimeQueueError::Damaged {
            path: contents::path(&self.dir, bucket),
            offset: damage.offset,
            records: lost,
        }
    }
}
