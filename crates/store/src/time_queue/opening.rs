//! Opens a bucket whose time has come: says how its records are read.
//!
//! What it has in memory is handed out from there. What is in its file is read run by run, all of them beside each other, or as a whole into memory,
//! whichever takes less of that; so many small runs are read with a few large reads. Where neither fits, the records are written again, to finer buckets.

use super::buffers::Gathered;
use super::cursor::{Cursor, FILE_READ_BYTES, ReadFault};
use super::line::Open;
use super::reader::RUN_READ_BYTES_MIN;
use super::run_places::{self, RunPlace};
use super::sealed::{MemoryCursor, Sealed};
use super::ticket::BucketNumber;
use super::{TimeQueue, TimeQueueError};
use junkai_frontier::Time;

/// Runs that are read beside each other.
pub(super) const OPEN_RUNS_MAX: usize = 512;
/// What a run takes while it is read; a bucket that was read as a whole counts as many runs as its bytes are these.
const OPEN_RUN_BYTES: u64 = 64 << 10;
/// What open buckets have in memory takes at most this part of the write buffers' size, and that of one bucket this part.
const SEALED_PART: u64 = 4;
/// What is read of runs at a time, all of them together, is this part, or as much as their blocks need. A run that was read when fewer were open
/// keeps its larger piece until it is used up, so that about three times as much may be held for a while.
const READ_AHEAD_PART: u64 = 4;
const SEALED_BUCKET_PART: u64 = 12;

/// How a bucket's file is read.
enum Way {
    /// Nothing is there.
    Empty,
    /// Run by run, beside each other.
    ByRun(Vec<RunPlace>),
    /// All of it is in memory.
    Loaded(Box<Sealed>),
    /// Front to back. What is not due is written again.
    FrontToBack,
}

impl TimeQueue {
    /// Lines up what there is to read in a bucket.
    pub(super) fn open_bucket(
        &mut self,
        number: BucketNumber,
        now: Time,
    ) -> Result<(), TimeQueueError> {
        if !self.may_be_sealed(number) {
            self.write_run(number, now)?;
        }
        let way = self.way_to_read(number)?;
        let Some(file) = self.contents.buckets.get(number) else {
            return Ok(());
        };
        self.closed.remove(file.bucket, number);
        if file.left() == 0 {
            self.retire(number);
            return Ok(());
        }
        match way {
            Way::Empty => {}
            Way::ByRun(runs) => {
                for run in &runs {
                    let cursor = Box::new(Cursor::of_run(number, run));
                    self.line.join(Open::OnDisk(cursor));
                }
            }
            Way::Loaded(loaded) => {
                let unit = self.calendar.unit_within(file.bucket.span);
                let cursor = MemoryCursor::of_loaded(number, file, loaded, unit);
                self.line.join(Open::InMemory(cursor));
            }
            Way::FrontToBack => {
                let cursor = Box::new(Cursor::of_file(number, file));
                self.line.join(Open::OnDisk(cursor));
            }
        }
        self.seal(number);
        self.share_read_ahead();
        Ok(())
    }

    /// The fewer runs are read beside each other, the more of each at a time, and the less often.
    fn share_read_ahead(&mut self) {
        let runs = self.line.len().max(1) as u64;
        let each = self.buffer_bytes_max / READ_AHEAD_PART / runs;
        self.reader.run_read_bytes = each.clamp(RUN_READ_BYTES_MIN, FILE_READ_BYTES);
    }

    /// Whether what a bucket has in memory can be handed out from there: it is worked off where it is, and there is room for it, which it may take for as
    /// long as it is open.
    fn may_be_sealed(&self, number: BucketNumber) -> bool {
        let Some(file) = self.contents.buckets.get(number) else {
            return false;
        };
        let is_worked_off =
            self.calendar.is_sorted_inside() || file.bucket.span <= self.calendar.unit();
        let bytes = file.chain.bytes as u64;
        let is_small = bytes <= self.buffer_bytes_max / SEALED_BUCKET_PART;
        let has_room = self.sealed_bytes + bytes <= self.buffer_bytes_max / SEALED_PART;
        is_worked_off && is_small && has_room
    }

    /// Lines up what an open bucket has in memory.
    fn seal(&mut self, number: BucketNumber) {
        let Some(file) = self.contents.buckets.get_mut(number) else {
            return;
        };
        if file.chain.records == 0 {
            return;
        }
        let gathered = &mut self.writer.gathered;
        self.contents.buffers.gather(&file.chain, gathered);
        self.contents.buffers.clear(&mut file.chain);
        let unit = self.calendar.unit_within(file.bucket.span);
        let sealed = Box::new(Sealed::of_memory(file.bucket, unit, gathered));
        self.sealed_bytes += sealed.memory_bytes() as u64;
        file.sealed = Some(sealed);
        let cursor = MemoryCursor::of_sealed(number, file, unit);
        self.line.join(Open::InMemory(cursor));
    }

    /// How to read a bucket's file.
    fn way_to_read(&mut self, number: BucketNumber) -> Result<Way, TimeQueueError> {
        let Some(file) = self.contents.buckets.get(number) else {
            return Ok(Way::Empty);
        };
        if file.size.records == 0 {
            return Ok(Way::Empty);
        }
        let is_fine = file.bucket.span <= self.calendar.unit();
        if is_fine || !self.calendar.is_sorted_inside() {
            return Ok(Way::FrontToBack);
        }
        let loaded: u64 = self.line.iter().map(Open::loaded_bytes).sum();
        let taken = self.line.len() as u64 + loaded / OPEN_RUN_BYTES;
        let as_runs = u64::from(file.size.runs);
        let as_whole = 1 + file.size.bytes / OPEN_RUN_BYTES;
        if (self.open_runs_max as u64) < taken + as_runs.min(as_whole) {
            return Ok(Way::FrontToBack);
        }
        let way = if as_runs <= as_whole {
            run_places::find(number, file, &mut self.reader)?.map(Way::ByRun)
        } else {
            self.load(number)?
                .map(|loaded| Way::Loaded(Box::new(loaded)))
        };
        // What is damaged is told of by reading front to back.
        Ok(way.unwrap_or(Way::FrontToBack))
    }

    /// Reads all of a bucket's file that is not done with; nothing if it is damaged.
    fn load(&mut self, number: BucketNumber) -> Result<Option<Sealed>, TimeQueueError> {
        let Some(file) = self.contents.buckets.get(number) else {
            return Ok(None);
        };
        let bytes = Gathered::bytes_of(file.size.bytes, file.size.records);
        let mut gathered = Gathered::with_room(bytes);
        let mut indices = Vec::with_capacity(file.left_in_file() as usize);
        let mut cursor = Cursor::of_file(number, file);
        loop {
            match cursor.advance(&mut self.reader) {
                Ok(true) => {}
                Ok(false) => break,
                Err(ReadFault::Damage(_)) => return Ok(None),
                Err(ReadFault::Disk(error)) => return Err(error.into()),
            }
            let index = cursor.place().index;
            if let Some(record) = cursor.record()
                && !file.is_done(index)
            {
                gathered.append(record);
                indices.push(index);
            }
        }
        let unit = self.calendar.unit_within(file.bucket.span);
        Ok(Some(Sealed::of_file(file.bucket, unit, gathered, &indices)))
    }
}
