//! One append-only file of entries, the part of it that is still in memory, and which of its entries are done with.
//!
//! A segment belongs to one bucket. It is appended to until it is full, read front to back once its bucket is open, and removed when
//! every entry is acknowledged. The file begins with a header (number, bucket, base), then come frames.

use std::path::{Path, PathBuf};

use super::BacklogError;
use super::calendar::Bucket;
use super::class::Class;
use super::entry::{self, Base, Entry};
use super::frame;
use super::ticket::{SegmentId, Ticket};
use crate::bitmap::Bitmap;
use crate::disk::Disk;
use crate::time::Time;

const MAGIC: [u8; 8] = *b"jkback01";
pub(super) const HEADER_BYTES: usize = 52;
pub(super) const SUFFIX: &str = ".segment";

/// The name of segment `id` in its directory.
pub(super) fn path(dir: &Path, id: SegmentId) -> PathBuf {
    dir.join(format!("{:010}{SUFFIX}", id.0))
}

/// The number in the name of a segment's file.
pub(super) fn id_of(name: &str) -> Option<SegmentId> {
    name.strip_suffix(SUFFIX)?.parse().ok().map(SegmentId)
}

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) id: SegmentId,
    pub(super) bucket: Bucket,
    pub(super) base: Base,
    /// One more than the sequence number of the last entry.
    pub(super) next_sequence: u64,
    /// Entries, written and not.
    pub(super) entries: u32,
    /// Bytes in the file.
    pub(super) written: u64,
    /// Frames that follow those in the file.
    pub(super) pending: Vec<u8>,
    pending_entries: u32,
    /// Written to since it was last made durable.
    pub(super) is_dirty: bool,
    /// Cut back once: its old numbers of entries must not be given again, because acknowledgements may name them.
    pub(super) is_sealed: bool,
    done: Bitmap,
}

impl Segment {
    pub(super) fn new(id: SegmentId, bucket: Bucket, base: Base) -> Segment {
        let mut segment = Segment {
            id,
            bucket,
            base,
            next_sequence: base.sequence,
            entries: 0,
            written: 0,
            pending: Vec::new(),
            pending_entries: 0,
            is_dirty: true,
            is_sealed: false,
            done: Bitmap::default(),
        };
        segment.encode_header();
        segment
    }

    fn encode_header(&mut self) {
        let (opens, span) = encode_bucket(self.bucket);
        self.pending.extend_from_slice(&MAGIC);
        for number in [
            self.id.0,
            opens,
            span,
            self.base.sequence,
            self.base.due.as_micros(),
        ] {
            self.pending.extend_from_slice(&number.to_le_bytes());
        }
        let checksum = crc32fast::hash(&self.pending);
        self.pending.extend_from_slice(&checksum.to_le_bytes());
    }

    /// A segment without entries, from its file's header; nothing if that is not whole and right.
    pub(super) fn from_header(id: SegmentId, bytes: &[u8]) -> Option<Segment> {
        let header = bytes.get(..HEADER_BYTES)?;
        let number = |at: usize| {
            let word = header[8 + 8 * at..16 + 8 * at].try_into();
            word.map_or(0, u64::from_le_bytes)
        };
        let checksum = crc32fast::hash(&header[..HEADER_BYTES - 4]).to_le_bytes();
        let is_right =
            header[..8] == MAGIC && header[HEADER_BYTES - 4..] == checksum && number(0) == id.0;
        if !is_right {
            return None;
        }
        let bucket = decode_bucket(number(1), number(2))?;
        let base = Base {
            sequence: number(3),
            due: Time::from_micros(number(4)),
        };
        let mut segment = Segment::new(id, bucket, base);
        segment.pending.clear();
        segment.written = HEADER_BYTES as u64;
        Some(segment)
    }

    /// Appends an entry in memory; tells by how many bytes that grew.
    pub(super) fn append(
        &mut self,
        entry: &Entry,
        sequence: u64,
        replaces: Option<&Ticket>,
    ) -> Result<usize, BacklogError> {
        let base = self.base;
        let length = frame::encode(self.id.0, &mut self.pending, |out| {
            entry::encode(entry, sequence, replaces, base, out);
        })?;
        self.next_sequence = sequence + 1;
        self.entries += 1;
        self.pending_entries += 1;
        Ok(length)
    }

    /// Bytes, written and not.
    pub(super) fn bytes(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Writes what is pending. On failure the file is as long as before, and all of it stays pending.
    pub(super) fn write(&mut self, disk: &Disk, dir: &Path) -> Result<(), BacklogError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let file = disk.open_for_writing(&path(dir, self.id))?;
        if let Err(error) = file.write_at(&self.pending, self.written) {
            // What a failed write left would pass for a torn end; if it cannot be cut now, the next write covers it.
            let _ends_torn = file.set_len(self.written);
            return Err(error.into());
        }
        self.written += self.pending.len() as u64;
        self.pending.clear();
        self.pending.shrink_to_fit();
        self.pending_entries = 0;
        self.is_dirty = true;
        Ok(())
    }

    /// Makes what was written durable.
    pub(super) fn sync(&mut self, disk: &Disk, dir: &Path) -> Result<(), BacklogError> {
        if self.is_dirty && 0 < self.written {
            disk.open_for_writing(&path(dir, self.id))?.sync()?;
            self.is_dirty = false;
        }
        Ok(())
    }

    /// Marks an entry as done with; true if it was not before. An entry that does not exist is not.
    pub(super) fn finish(&mut self, index: u32) -> bool {
        index < self.entries && self.done.set(index)
    }

    pub(super) fn is_done(&self, index: u32) -> bool {
        self.done.contains(index)
    }

    /// Entries that are not done with.
    pub(super) fn left(&self) -> u32 {
        self.entries - self.done.count()
    }

    /// The entries that are done with, as ranges: first and number.
    pub(super) fn done_ranges(&self) -> impl Iterator<Item = (u32, u32)> {
        self.done.ranges(self.entries)
    }

    /// The end of what is in the file: the index of the entry behind it, and its offset.
    pub(super) fn end_of_file(&self) -> (u32, u64) {
        (self.entries - self.pending_entries, self.written)
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.pending.capacity() + self.done.memory_bytes()
    }
}

/// A bucket without a span is told by what would else be the time of its opening.
const NOW: u64 = 0;
const HELD: u64 = 1;
const ASIDE: u64 = 2;

/// Two numbers that stand for a bucket: opening and span.
fn encode_bucket(bucket: Bucket) -> (u64, u64) {
    match bucket {
        Bucket::Now => (NOW, 0),
        Bucket::Held => (HELD, 0),
        Bucket::Aside(class) => (ASIDE + u64::from(class.number()), 0),
        Bucket::Later { opens, span } => (opens.as_micros(), span),
    }
}

fn decode_bucket(opens: u64, span: u64) -> Option<Bucket> {
    match (opens, span) {
        (NOW, 0) => Some(Bucket::Now),
        (HELD, 0) => Some(Bucket::Held),
        (aside, 0) => Class::from_number(aside - ASIDE).map(Bucket::Aside),
        (opens, span) => Some(Bucket::Later {
            opens: Time::from_micros(opens),
            span,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bucket_reads_back() {
        let later = Bucket::Later {
            opens: Time::from_micros(1),
            span: 1,
        };
        let aside = Class::best_first().map(Bucket::Aside);
        for bucket in [Bucket::Now, Bucket::Held, later].into_iter().chain(aside) {
            let (opens, span) = encode_bucket(bucket);
            assert_eq!(decode_bucket(opens, span), Some(bucket));
        }
        assert_eq!(decode_bucket(u64::MAX, 0), None);
    }

    #[test]
    fn a_header_reads_back_and_a_damaged_one_does_not() {
        let bucket = Bucket::Later {
            opens: Time::from_micros(77),
            span: 3,
        };
        let base = Base {
            sequence: 9,
            due: Time::from_micros(8),
        };
        let segment = Segment::new(SegmentId(4), bucket, base);
        assert_eq!(segment.pending.len(), HEADER_BYTES);
        let read = Segment::from_header(SegmentId(4), &segment.pending).unwrap();
        assert_eq!((read.bucket, read.base, read.entries), (bucket, base, 0));
        assert!(Segment::from_header(SegmentId(5), &segment.pending).is_none());
        for at in 0..HEADER_BYTES {
            let mut flipped = segment.pending.clone();
            flipped[at] ^= 4;
            assert!(Segment::from_header(SegmentId(4), &flipped).is_none());
        }
    }
}
