//! What a time queue holds, as its journal tells it: the buckets, what waits in memory for them, and the notes.
//!
//! The live queue changes it while it writes the journal; recovery and whoever looks on rebuild it from there.

use std::collections::BTreeMap;

use super::TimeQueueError;
use super::bucket_file::BucketFile;
use super::buckets::Buckets;
use super::buffers::{Buffers, Gathered};
use super::entry::{Entry, Range};
use super::record::RecordRef;
use super::ticket::BucketNumber;

#[derive(Debug)]
pub(super) struct Contents {
    pub(super) buckets: Buckets,
    pub(super) buffers: Buffers,
    pub(super) early: BTreeMap<u64, Box<[u8]>>,
    pub(super) next_bucket: BucketNumber,
}

impl Contents {
    pub(super) fn new(page_bytes: u32) -> Contents {
        Contents {
            buckets: Buckets::default(),
            buffers: Buffers::new(page_bytes),
            early: BTreeMap::new(),
            next_bucket: BucketNumber(0),
        }
    }

    /// Takes in what the journal says; false if it makes no sense.
    pub(super) fn apply(&mut self, entry: &Entry) -> bool {
        match *entry {
            Entry::Bucket { number, bucket } => {
                self.next_bucket.0 = self.next_bucket.0.max(number.0.saturating_add(1));
                self.buckets.insert(number, BucketFile::new(bucket))
            }
            Entry::Put {
                bucket,
                replaces,
                record,
            } => {
                self.push(bucket, record)
                    && replaces.is_none_or(|place| self.finish(place.bucket, place.index))
            }
            Entry::Held { bucket, record } => self.push(bucket, record),
            Entry::Gap { bucket } => self.push_done(bucket),
            Entry::Run { bucket, size } => {
                let Some(file) = self.buckets.get_mut(bucket) else {
                    return false;
                };
                let has_grown = file.size.records <= size.records;
                self.buffers.clear(&mut file.chain);
                file.grow(size);
                has_grown
            }
            Entry::Done { range } => self.finish_range(range),
            Entry::Note { fingerprint, note } => {
                self.early.insert(fingerprint, note.into());
                true
            }
            Entry::Joined { fingerprint } => self.early.remove(&fingerprint).is_some(),
            Entry::Whole { next_bucket } => {
                self.next_bucket = self.next_bucket.max(next_bucket);
                true
            }
        }
    }

    /// Appends a record to a bucket's chain; false if there is no such bucket.
    #[inline]
    pub(super) fn push(&mut self, bucket: BucketNumber, record: RecordRef) -> bool {
        let file = self.buckets.get_mut(bucket);
        file.is_some_and(|file| {
            self.buffers.push(&mut file.chain, record);
            true
        })
    }

    /// Keeps the place of a record in memory that is done with.
    fn push_done(&mut self, bucket: BucketNumber) -> bool {
        let nothing = RecordRef {
            url: "",
            due: junkai_frontier::Time::EPOCH,
            body: &[],
        };
        let is_known = self.push(bucket, nothing);
        let file = self.buckets.get_mut(bucket);
        is_known && file.is_some_and(|file| file.finish(file.size.records + file.chain.records - 1))
    }

    fn finish(&mut self, bucket: BucketNumber, index: u32) -> bool {
        self.finish_range(Range {
            bucket,
            first: index,
            count: 1,
        })
    }

    fn finish_range(&mut self, range: Range) -> bool {
        let Some(file) = self.buckets.get_mut(range.bucket) else {
            return false;
        };
        let Some(end) = range.first.checked_add(range.count) else {
            return false;
        };
        let is_right = (range.first..end).all(|index| file.finish(index));
        // Nothing is put into a bucket that is worked off.
        if file.left() == 0
            && let Some(mut file) = self.buckets.remove(range.bucket)
        {
            self.buffers.clear(&mut file.chain);
        }
        is_right
    }

    /// Shows entries that say all of it.
    pub(super) fn tell(
        &self,
        show: &mut dyn FnMut(&Entry) -> Result<(), TimeQueueError>,
    ) -> Result<(), TimeQueueError> {
        let mut gathered = Gathered::default();
        for (number, file) in self.buckets.in_order() {
            let bucket = file.bucket;
            show(&Entry::Bucket { number, bucket })?;
            if 0 < file.size.records {
                show(&Entry::Run {
                    bucket: number,
                    size: file.size,
                })?;
            }
            let told = (file.size.records..).zip(self.in_memory(file, &mut gathered));
            for (index, record) in told {
                show(&if file.is_done(index) {
                    Entry::Gap { bucket: number }
                } else {
                    Entry::Held {
                        bucket: number,
                        record,
                    }
                })?;
            }
            // Last, for a bucket of which all is done with is not there.
            for (first, count) in file.done_in_file() {
                let range = Range {
                    bucket: number,
                    first,
                    count,
                };
                show(&Entry::Done { range })?;
            }
        }
        for (fingerprint, note) in &self.early {
            let fingerprint = *fingerprint;
            show(&Entry::Note { fingerprint, note })?;
        }
        let next_bucket = self.next_bucket;
        show(&Entry::Whole { next_bucket })
    }

    /// The records that a bucket has in memory, in the order in which they were put.
    pub(super) fn in_memory<'a>(
        &self,
        file: &'a BucketFile,
        gathered: &'a mut Gathered,
    ) -> Vec<RecordRef<'a>> {
        if let Some(sealed) = &file.sealed {
            return sealed.in_order();
        }
        self.buffers.gather(&file.chain, gathered);
        gathered.records().collect()
    }

    /// Records, wherever they are.
    pub(super) fn records(&self) -> u64 {
        let files = self.buckets.values();
        files.map(|file| u64::from(file.left())).sum()
    }

    /// Records in memory and in the journal, and not in a file.
    pub(super) fn records_in_memory(&self) -> u64 {
        let files = self.buckets.values();
        files
            .map(|file| u64::from(file.left() - file.left_in_file()))
            .sum()
    }
}
