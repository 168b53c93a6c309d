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
use crate::time::Time;

/// The records of an open bucket that were not in its file, in the order in which they are handed out.
#[derive(Debug)]
pub(super) struct Sealed {
    sorted: Gathered,
    /// The how-many-eth each of them was when they were put.
    positions: Vec<u32>,
}

impl Sealed {
    /// Sorts what a bucket has in memory by units of time.
    pub(super) fn new(bucket: Bucket, unit: u64, gathered: &Gathered) -> Sealed {
        Sealed::sorted(bucket, unit, gathered, 0..)
    }

    /// Sorts what was read of a bucket's file; each record has its index there.
    pub(super) fn of(bucket: Bucket, unit: u64, gathered: &Gathered, indices: &[u32]) -> Sealed {
        Sealed::sorted(bucket, unit, gathered, indices.iter().copied())
    }

    fn sorted(
        bucket: Bucket,
        unit: u64,
        gathered: &Gathered,
        positions: impl Iterator<Item = u32>,
    ) -> Sealed {
        let keys = gathered.offsets().map(|offset| {
            let due = gathered.record(offset).0;
            (unit_of(bucket, due, unit), offset)
        });
        let mut order: Vec<(u64, u32, u32)> = positions
            .zip(keys)
            .map(|(position, (unit, offset))| (unit, position, offset))
            .collect();
        order.sort_unstable();
        let mut sorted = Gathered::with_room_for(gathered);
        for (_, _, offset) in &order {
            sorted.push(gathered, *offset);
        }
        Sealed {
            sorted,
            positions: order.iter().map(|(_, position, _)| *position).collect(),
        }
    }

    pub(super) fn records(&self) -> u32 {
        u32::try_from(self.positions.len()).unwrap_or(u32::MAX)
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.sorted.memory_bytes() + self.positions.capacity() * size_of::<u32>()
    }

    /// All records, in the order in which they were put.
    pub(super) fn in_order(&self) -> Vec<RecordRef<'_>> {
        let mut records: Vec<_> = self.positions.iter().zip(self.sorted.records()).collect();
        records.sort_unstable_by_key(|(position, _)| **position);
        records.into_iter().map(|(_, record)| record).collect()
    }
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
    /// The next record: which one, and where it begins.
    next: u32,
    offset: u32,
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
            offset: 0,
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
        while let Some(position) = sealed.positions.get(self.next as usize) {
            let (due, url, body) = sealed.sorted.record(self.offset);
            let place = Place {
                bucket: self.bucket,
                index: self.base + position,
            };
            let is_done = file.is_done(place.index);
            let passed = unit_of(file.bucket, due, self.unit).saturating_add(1);
            let passed = Time::from_micros(passed.saturating_mul(self.unit));
            if !is_done && self.key < passed {
                self.key = passed;
                return Step::Later;
            }
            self.next += 1;
            self.offset = Gathered::behind(self.offset, url.len() + body.len());
            if !is_done {
                // It was a text when it was put.
                let url = std::str::from_utf8(url).unwrap_or_default();
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
