//! What a bucket had in memory when its time came: handed out from there, without a detour over the disk.
//!
//! A record in memory is in the journal too, so it may be handed out as it is. From the opening of its bucket on it keeps its place, which is how the
//! journal names it when it is done with. The driver of a large queue has most of its memory filled with what comes again soon, so that this is the
//! way of most records there.

use super::bucket_file::BucketFile;
use super::buffers::Gathered;
use super::layout::Bucket;
use super::line::Step;
use super::record::{Record, RecordRef};
use super::ticket::{BucketNumber, Place};
use junkai_frontier::Time;

/// Records of an open bucket, in the order in which they are handed out.
#[derive(Debug)]
pub(super) struct Sealed {
    records: Gathered,
    order: Vec<Sorted>,
}

/// Where a record is.
#[derive(Clone, Copy, Debug)]
struct Sorted {
    /// Among the bucket's records: counted from its first in memory, or in the file.
    position: u32,
    /// In memory.
    offset: u32,
}

impl Sealed {
    /// Sorts what a bucket has in memory by units of time. A copy, in which neighbours are handed out one after the other.
    pub(super) fn of_memory(bucket: Bucket, unit: u64, gathered: &Gathered) -> Sealed {
        let mut order = sorted(bucket, unit, gathered, 0..);
        let mut records = Gathered::with_room_for(gathered);
        for record in &mut order {
            record.offset = records.push(gathered, record.offset);
        }
        Sealed { records, order }
    }

    /// Sorts what was read of a bucket's file; each record has its index there.
    pub(super) fn of_file(bucket: Bucket, unit: u64, records: Gathered, indices: &[u32]) -> Sealed {
        let order = sorted(bucket, unit, &records, indices.iter().copied());
        Sealed { records, order }
    }

    pub(super) fn records(&self) -> u32 {
        u32::try_from(self.order.len()).unwrap_or(u32::MAX)
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.records.memory_bytes() + self.order.capacity() * size_of::<Sorted>()
    }

    /// All records, in the order in which they were put.
    pub(super) fn in_order(&self) -> Vec<RecordRef<'_>> {
        let mut order = self.order.clone();
        order.sort_unstable_by_key(|record| record.position);
        let records = order.into_iter().map(|record| {
            let (due, url, body) = self.records.record(record.offset);
            let url = text(url);
            RecordRef { url, due, body }
        });
        records.collect()
    }
}

fn sorted(
    bucket: Bucket,
    unit: u64,
    gathered: &Gathered,
    positions: impl Iterator<Item = u32>,
) -> Vec<Sorted> {
    let keys = positions.zip(gathered.offsets()).map(|(position, offset)| {
        let due = gathered.record(offset).0;
        (unit_of(bucket, due, unit), position, offset)
    });
    let mut keys: Vec<(u64, u32, u32)> = keys.collect();
    keys.sort_unstable();
    let order = keys.into_iter();
    order
        .map(|(_, position, offset)| Sorted { position, offset })
        .collect()
}

/// A URL, which was a text when it was put.
#[inline]
fn text(url: &[u8]) -> &str {
    std::str::from_utf8(url).unwrap_or_default()
}

/// Goes through what an open bucket has in memory, unit by unit.
#[derive(Debug)]
pub(super) struct MemoryCursor {
    pub(super) bucket: BucketNumber,
    /// When its next record may be handed out.
    pub(super) key: Time,
    /// By which it is sorted.
    unit: u64,
    /// What was read of the bucket's file; if nothing, the records are those that the bucket has in memory.
    loaded: Option<Box<Sealed>>,
    /// The index of the first record.
    base: u32,
    /// The how-many-eth record is the next one.
    next: usize,
}

impl MemoryCursor {
    /// A cursor before the first record that a bucket has in memory.
    pub(super) fn of_sealed(bucket: BucketNumber, file: &BucketFile, unit: u64) -> MemoryCursor {
        MemoryCursor {
            bucket,
            key: file.bucket.opens,
            unit,
            loaded: None,
            base: file.size.records,
            next: 0,
        }
    }

    /// A cursor before the first record that was read of a bucket's file.
    pub(super) fn of_loaded(
        bucket: BucketNumber,
        file: &BucketFile,
        loaded: Box<Sealed>,
        unit: u64,
    ) -> MemoryCursor {
        MemoryCursor {
            loaded: Some(loaded),
            base: 0,
            ..MemoryCursor::of_sealed(bucket, file, unit)
        }
    }

    /// Hands out the next record that is not done with, as `record`, if its unit is the one that the cursor has come to.
    #[inline]
    pub(super) fn step(&mut self, file: &BucketFile, record: &mut Record) -> Step {
        let Some(sealed) = self.loaded.as_deref().or(file.sealed.as_deref()) else {
            return Step::End;
        };
        while let Some(next) = sealed.order.get(self.next) {
            let (due, url, body) = sealed.records.record(next.offset);
            let place = Place {
                bucket: self.bucket,
                index: self.base + next.position,
            };
            let is_done = file.is_done(place.index);
            let passed = unit_of(file.bucket, due, self.unit).saturating_add(1);
            let passed = Time::from_micros(passed.saturating_mul(self.unit));
            if !is_done && self.key < passed {
                self.key = passed;
                return Step::Later;
            }
            self.next += 1;
            if !is_done {
                let url = text(url);
                record.assign(RecordRef { url, due, body });
                return Step::Due(place);
            }
        }
        Step::End
    }

    /// Memory for what was read.
    pub(super) fn loaded_bytes(&self) -> usize {
        self.loaded
            .as_ref()
            .map_or(0, |loaded| loaded.memory_bytes())
    }
}

/// The unit in which a record may be handed out: what is due before its bucket opens is due when that opens.
#[inline]
fn unit_of(bucket: Bucket, due: Time, unit: u64) -> u64 {
    let opens = bucket.opens.as_micros();
    if due.as_micros() < opens {
        return (opens / unit).saturating_sub(1);
    }
    due.as_micros() / unit
}
