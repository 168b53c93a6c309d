//! Takes records in: each goes to the journal and to the buffer of its bucket, and from there, with many others, to the bucket's file.

use std::io;
use std::time::Duration;

use super::bucket_file::{self, BucketFile};
use super::buffers::Gathered;
use super::entry::{Entry, FileSize, Range};
use super::layout::Bucket;
use super::record::{RecordRef, TEXT_BYTES_MAX};
use super::run::{Chosen, RunPlan, RunWriter};
use super::ticket::{BucketNumber, Place};
use super::{NotReplaced, Ticket, TimeQueue, TimeQueueError, journal};
use junkai_frontier::Time;

/// The largest write buffer: offsets in it take four bytes.
pub(super) const BUFFER_BYTES_MAX: u64 = 2 << 30;
/// A bucket's buffer that is as large as this is written, so that sorting it takes little memory besides.
const RUN_BYTES: usize = 4 << 20;
/// What is read sooner than this is not packed: that would cost more time than the space is worth.
const PACKED_AHEAD: Duration = Duration::from_hours(2 * 24);
/// A new journal is begun when this many times the write buffer's size was written to the old one.
const JOURNAL_PER_BUFFER: u64 = 4;
/// A shorter journal is not worth beginning anew.
const JOURNAL_BYTES_MIN: u64 = 16 << 10;

/// Writes runs; kept for its working memory.
#[derive(Debug)]
pub(super) struct Writer {
    runs: RunWriter,
    pub(super) gathered: Gathered,
    offsets: Vec<u32>,
    bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn new() -> io::Result<Writer> {
        Ok(Writer {
            runs: RunWriter::new()?,
            gathered: Gathered::default(),
            offsets: Vec::new(),
            bytes: Vec::new(),
        })
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.gathered.memory_bytes()
            + self.runs.memory_bytes()
            + self.offsets.capacity() * size_of::<u32>()
            + self.bytes.capacity()
    }
}

impl Writer {
    /// Makes a run of what was gathered for a bucket and is not done with; tells how many records that are.
    fn encode(&mut self, plan: RunPlan, file: &BucketFile) -> u32 {
        self.bytes.clear();
        if file.size.bytes == 0 {
            let header = bucket_file::encode_header(plan.bucket, file.bucket);
            self.bytes.extend_from_slice(&header);
        }
        self.offsets.clear();
        let offsets = (plan.first..).zip(self.gathered.offsets());
        let left = offsets.filter(|(index, _)| !file.is_done(*index));
        self.offsets.extend(left.map(|(_, offset)| offset));
        if self.offsets.is_empty() {
            return 0;
        }
        let chosen = Chosen {
            gathered: &self.gathered,
            offsets: &self.offsets,
        };
        self.runs.write(plan, chosen, &mut self.bytes)
    }
}

impl TimeQueue {
    /// Puts in a page that was not here, in memory until the next [`flush`](TimeQueue::flush). What is due by now is due when the present unit of
    /// time has passed.
    ///
    /// # Errors
    /// The record was not put; the call may be repeated.
    pub fn put<'a>(
        &mut self,
        record: impl Into<RecordRef<'a>>,
        now: Time,
    ) -> Result<(), TimeQueueError> {
        let record = self.kept(record.into(), now)?;
        self.insert(record, None, now)?;
        self.journal.end_step();
        self.waiting += 1;
        Ok(())
    }

    /// Puts a record in the place of one that was handed out, as one step: neither a kill nor a full disk can leave both or none. A note that was
    /// [taken](TimeQueue::take_early) for it goes in the same step.
    ///
    /// # Errors
    /// Nothing was changed, and the ticket comes back.
    pub fn put_back<'a>(
        &mut self,
        ticket: Ticket,
        record: impl Into<RecordRef<'a>>,
        now: Time,
    ) -> Result<(), NotReplaced> {
        let kept = self.kept(record.into(), now);
        let inserted = kept.and_then(|record| self.insert(record, Some(ticket.0), now));
        if let Err(source) = inserted {
            return Err(NotReplaced { ticket, source });
        }
        self.settle(ticket.0);
        self.waiting += 1;
        Ok(())
    }

    /// Gives up the page that was handed out.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the receipt is given up, so that it cannot be used twice"
    )]
    pub fn remove(&mut self, ticket: Ticket) {
        let Place { bucket, index } = ticket.0;
        self.journal.push(&Entry::Done {
            range: Range {
                bucket,
                first: index,
                count: 1,
            },
        });
        self.settle(ticket.0);
    }

    /// Takes a record out of hand whose end is in the journal.
    fn settle(&mut self, place: Place) {
        if let Some(fingerprint) = self.joining.remove(&place)
            && self.contents.early.remove(&fingerprint).is_some()
        {
            self.journal.push(&Entry::Joined { fingerprint });
        }
        self.journal.end_step();
        self.in_hand -= 1;
        self.finish(place);
    }

    /// Marks a record as done with.
    pub(super) fn finish(&mut self, place: Place) {
        let Some(file) = self.contents.buckets.get_mut(place.bucket) else {
            panic!("{place:?} is done with, and its bucket is not there");
        };
        assert!(file.finish(place.index), "{place:?} is done with twice");
        if file.left() == 0 && !self.closed.contains(file.bucket, place.bucket) {
            self.retire(place.bucket);
        }
    }

    /// Takes a bucket out of use.
    pub(super) fn retire(&mut self, number: BucketNumber) {
        let Some(mut file) = self.contents.buckets.remove(number) else {
            return;
        };
        self.contents.buffers.clear(&mut file.chain);
        if let Some(sealed) = &file.sealed {
            self.sealed_bytes -= sealed.memory_bytes() as u64;
        }
        if file.has_file {
            self.dirty.remove(&number);
            self.reader.forget(number);
            self.retired.insert(bucket_file::FILES, number.0);
        }
    }

    /// A record as it is kept.
    fn kept<'a>(&self, record: RecordRef<'a>, now: Time) -> Result<RecordRef<'a>, TimeQueueError> {
        let bytes = record.longest();
        if TEXT_BYTES_MAX < bytes {
            return Err(TimeQueueError::TooLong { bytes });
        }
        let due = self.calendar.kept(record.due, now);
        Ok(RecordRef { due, ..record })
    }

    /// Appends a record to the journal and to its bucket's buffer; the step is not ended.
    pub(super) fn insert(
        &mut self,
        record: RecordRef,
        replaces: Option<Place>,
        now: Time,
    ) -> Result<(), TimeQueueError> {
        self.make_room(now)?;
        let bucket = self.bucket_number(self.calendar.bucket_of(record.due, now));
        let file = self.contents.buckets.get(bucket);
        if file.is_some_and(|file| RUN_BYTES <= file.chain.bytes) {
            self.write_run(bucket, now)?;
        }
        self.journal.push(&Entry::Put {
            bucket,
            replaces,
            record,
        });
        let is_pushed = self.contents.push(bucket, record);
        assert!(is_pushed, "{bucket:?} takes records, and is not there");
        Ok(())
    }

    /// The number of a bucket that is not open; it begins to exist if need be.
    fn bucket_number(&mut self, bucket: Bucket) -> BucketNumber {
        if let Some(number) = self.closed.find(bucket) {
            return number;
        }
        let number = self.contents.next_bucket;
        self.contents.next_bucket.0 += 1;
        let file = BucketFile::new(bucket);
        self.contents.buckets.insert(number, file);
        self.closed.insert(bucket, number);
        self.journal.push(&Entry::Bucket { number, bucket });
        number
    }

    /// Sees to it that a record more fits into memory.
    #[inline]
    fn make_room(&mut self, now: Time) -> Result<(), TimeQueueError> {
        let used = self.contents.buffers.used_bytes() + self.sealed_bytes;
        if self.buffer_bytes_max <= used {
            self.write_buffers(now)?;
        }
        let changes_max = JOURNAL_PER_BUFFER * self.buffer_bytes_max;
        if self.journal.is_long(changes_max.max(JOURNAL_BYTES_MIN)) {
            self.journal_due = Some(now);
        }
        Ok(())
    }

    /// Writes buffers to their buckets until half of the memory is free: the largest first, because large runs are what writing and reading gain from. Those
    /// of the buckets that open next come last, for what stays in memory until then is never written at all.
    fn write_buffers(&mut self, now: Time) -> Result<(), TimeQueueError> {
        let room = (self.buffer_bytes_max / 2).saturating_sub(self.sealed_bytes);
        let (mut others, mut nearest) = (Vec::new(), Vec::new());
        let mut kept_bytes = 0;
        for (_, number) in self.closed.iter() {
            let Some(file) = self.contents.buckets.get(number) else {
                continue;
            };
            let bytes = self.contents.buffers.used_by(&file.chain);
            kept_bytes += bytes;
            if kept_bytes <= room / 4 * 3 {
                nearest.push(number);
            } else if 0 < bytes {
                others.push((std::cmp::Reverse(bytes), number));
            }
        }
        others.sort_unstable();
        let others = others.into_iter().map(|(_, number)| number);
        for number in others.chain(nearest.into_iter().rev()) {
            if self.contents.buffers.used_bytes() <= room {
                break;
            }
            self.write_run(number, now)?;
        }
        Ok(())
    }

    /// Begins a journal that says by itself what there is.
    pub(super) fn begin_journal(&mut self, now: Time) -> Result<(), TimeQueueError> {
        // What stays in memory is written to the new one.
        self.write_buffers(now)?;
        // The old one is complete, for whoever reads in it what happened since a manifest.
        self.journal.write(&self.disk, &self.dir)?;
        let old = self.journal.generation;
        self.journal.begin(&self.contents, &self.disk, &self.dir)?;
        self.has_new_files = true;
        self.retired.insert(journal::FILES, old);
        Ok(())
    }

    /// Appends what a bucket has in memory to its file.
    pub(super) fn write_run(
        &mut self,
        number: BucketNumber,
        now: Time,
    ) -> Result<(), TimeQueueError> {
        let Some(file) = self.contents.buckets.get_mut(number) else {
            return Ok(());
        };
        if file.chain.records == 0 {
            return Ok(());
        }
        let is_packed = now + PACKED_AHEAD < file.bucket.opens;
        let plan = RunPlan {
            bucket: number,
            first: file.size.records,
            unit: self.calendar.unit_within(file.bucket.span),
            tick: self.calendar.tick(),
            is_packed,
        };
        self.contents
            .buffers
            .gather(&file.chain, &mut self.writer.gathered);
        let records = self.writer.encode(plan, file);
        let bytes = &self.writer.bytes;
        if 0 < records {
            self.has_new_files |= !file.has_file;
            file.has_file = true;
            let path = bucket_file::path(&self.dir, number);
            let on_disk = self.disk.open_for_writing(&path)?;
            let file_bytes = on_disk.append_at(bytes, file.size.bytes)?;
            self.traffic.writes += 1;
            self.traffic.written_bytes += bytes.len() as u64;
            self.traffic.written_records += u64::from(records);
            self.dirty.insert(number);
            file.grow(FileSize {
                bytes: file_bytes,
                records: file.size.records + records,
                runs: file.size.runs + 1,
            });
        } else {
            file.grow(file.size);
        }
        self.contents.buffers.clear(&mut file.chain);
        self.journal.push(&Entry::Run {
            bucket: number,
            size: file.size,
        });
        self.journal.end_step();
        Ok(())
    }
}
