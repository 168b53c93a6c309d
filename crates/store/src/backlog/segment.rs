//! One append-only file of entries, the part of it that is still in memory, and which of its entries are done with.
//!
//! A segment belongs to one bucket. It is appended to until it is full, read front to back once its bucket is open, and removed when
//! every entry is acknowledged. The file begins with a header (number, bucket), then come blocks. Files of earlier versions have frames of one entry each
//! instead, and what these are relative to in the header: they are read to their end, and not appended to.

use std::path::{Path, PathBuf};

use super::BacklogError;
use super::block::OpenBlock;
use super::calendar::Bucket;
use super::class::Class;
use super::entry::{Base, Entry};
use super::ticket::{SegmentId, Ticket};
use crate::bitmap::Bitmap;
use crate::bucketed::{Series, header};
use crate::packing::Packer;
use junkai_files::disk::Disk;
use junkai_frontier::Time;

/// The files of segments.
pub(super) const FILES: Series = Series {
    prefix: "",
    suffix: ".segment",
};
const MAGIC: [u8; 8] = *b"jkback02";
const MAGIC_OF_FRAMES: [u8; 8] = *b"jkback01";
/// The longest header.
pub(super) const HEADER_BYTES_MAX: usize = header::bytes(5);

/// The name of segment `id` in its directory.
pub(super) fn path(dir: &Path, id: SegmentId) -> PathBuf {
    FILES.path(dir, id.0)
}

/// The number in the name of a segment's file.
pub(super) fn id_of(name: &str) -> Option<SegmentId> {
    FILES.number_of(name).map(SegmentId)
}

/// What follows the header of a segment's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Blocks, as they are written today.
    Blocks,
    /// A frame for each entry, relative to this.
    Frames { base: Base },
}

impl Format {
    /// Bytes of the header.
    pub(super) fn header_bytes(self) -> usize {
        match self {
            Format::Blocks => header::bytes(3),
            Format::Frames { .. } => HEADER_BYTES_MAX,
        }
    }
}

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) id: SegmentId,
    pub(super) bucket: Bucket,
    pub(super) format: Format,
    /// One more than the sequence number of the last entry.
    pub(super) next_sequence: u64,
    /// Entries, written and not.
    pub(super) entries: u32,
    /// Bytes in the file.
    pub(super) written: u64,
    /// Blocks that follow those in the file.
    pub(super) pending: Vec<u8>,
    /// The block that follows these.
    pub(super) open: OpenBlock,
    /// Entries of both.
    pending_entries: u32,
    /// Written to since it was last made durable.
    pub(super) is_dirty: bool,
    /// Cut back or damaged once: its old numbers of entries must not be given again, because acknowledgements may name them. Or of an earlier version.
    pub(super) is_sealed: bool,
    done: Bitmap,
}

impl Segment {
    /// A segment without a file.
    pub(super) fn new(id: SegmentId, bucket: Bucket) -> Segment {
        let mut segment = Segment::empty(id, bucket, Format::Blocks);
        segment.written = 0;
        let (opens, span) = encode_bucket(bucket);
        segment.pending = header::encode(MAGIC, [id.0, opens, span]);
        segment
    }

    /// A segment of whose file only the header is known, or not even that.
    fn empty(id: SegmentId, bucket: Bucket, format: Format) -> Segment {
        Segment {
            id,
            bucket,
            format,
            next_sequence: 0,
            entries: 0,
            written: format.header_bytes() as u64,
            pending: Vec::new(),
            open: OpenBlock::default(),
            pending_entries: 0,
            is_dirty: true,
            is_sealed: format != Format::Blocks,
            done: Bitmap::default(),
        }
    }

    /// A segment without entries, from its file's header; nothing if that is not whole and right.
    pub(super) fn from_header(id: SegmentId, bytes: &[u8]) -> Option<Segment> {
        let (told, format) = if let Some(told) = header::decode(MAGIC, bytes) {
            (told, Format::Blocks)
        } else {
            let [number, opens, span, sequence, due] = header::decode(MAGIC_OF_FRAMES, bytes)?;
            let due = Time::from_micros(due);
            let base = Base { sequence, due };
            ([number, opens, span], Format::Frames { base })
        };
        let [number, opens, span] = told;
        let bucket = decode_bucket(opens, span).filter(|_| number == id.0)?;
        Some(Segment::empty(id, bucket, format))
    }

    /// A segment without entries whose header is damaged. Where its entries waited is not known any more: what is due is handed out with what was in hand
    /// at the end of the last life, and the rest put where its time is.
    pub(super) fn without_header(id: SegmentId, format: Format) -> Segment {
        let mut segment = Segment::empty(id, Bucket::Held, format);
        segment.is_sealed = true;
        segment
    }

    /// Appends an entry in memory; tells by how many bytes that grew.
    pub(super) fn append<T: AsRef<str>>(
        &mut self,
        entry: &Entry<T>,
        sequence: u64,
        replaces: Option<&Ticket>,
        packer: &mut Packer,
    ) -> Result<usize, BacklogError> {
        if self.open.is_full() {
            self.close_block(packer);
        }
        let length = self.open.push(entry, sequence, replaces)?;
        self.next_sequence = sequence + 1;
        self.entries += 1;
        self.pending_entries += 1;
        Ok(length)
    }

    fn close_block(&mut self, packer: &mut Packer) {
        let first = self.entries - self.open.entries();
        self.open.close(self.id, first, packer, &mut self.pending);
    }

    /// Where the open block begins.
    pub(super) fn open_offset(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Bytes, written and not.
    pub(super) fn bytes(&self) -> u64 {
        self.open_offset() + self.open.bytes() as u64
    }

    /// Writes what is in memory. On failure the file is as long as before, and all of it stays in memory.
    pub(super) fn write(
        &mut self,
        disk: &Disk,
        dir: &Path,
        packer: &mut Packer,
    ) -> Result<(), BacklogError> {
        self.close_block(packer);
        if self.pending.is_empty() {
            return Ok(());
        }
        let file = disk.open_for_writing(&path(dir, self.id))?;
        self.written = file.append_at(&self.pending, self.written)?;
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

    /// Entries in the file.
    pub(super) fn entries_in_file(&self) -> u32 {
        self.entries - self.pending_entries
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.pending.capacity() + self.open.memory_bytes() + self.done.memory_bytes()
    }
}

/// A bucket without a span is told by what would else be the time of its opening.
const NOW: u64 = 0;
const HELD: u64 = 1;
const SPILLED: u64 = 2;

/// Two numbers that stand for a bucket: opening and span.
fn encode_bucket(bucket: Bucket) -> (u64, u64) {
    match bucket {
        Bucket::Now => (NOW, 0),
        Bucket::Held => (HELD, 0),
        Bucket::Spilled(class) => (SPILLED + u64::from(class.number()), 0),
        Bucket::Later { opens, span } => (opens.as_micros(), span),
    }
}

fn decode_bucket(opens: u64, span: u64) -> Option<Bucket> {
    match (opens, span) {
        (NOW, 0) => Some(Bucket::Now),
        (HELD, 0) => Some(Bucket::Held),
        (spilled, 0) => Class::from_number(spilled - SPILLED).map(Bucket::Spilled),
        (opens, span) => Some(Bucket::Later {
            opens: Time::from_micros(opens),
            span,
        }),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[test]
    fn every_bucket_reads_back() {
        let later = Bucket::Later {
            opens: Time::from_micros(1),
            span: 1,
        };
        let spilled = Class::best_first().map(Bucket::Spilled);
        for bucket in [Bucket::Now, Bucket::Held, later]
            .into_iter()
            .chain(spilled)
        {
            let (opens, span) = encode_bucket(bucket);
            assert_eq!(decode_bucket(opens, span), Some(bucket));
        }
        assert_eq!(decode_bucket(u64::MAX, 0), None);
    }

    /// The header that earlier versions wrote.
    pub(in crate::backlog) fn header_of_frames(id: u64, bucket: Bucket, base: Base) -> Vec<u8> {
        let (opens, span) = encode_bucket(bucket);
        let numbers = [id, opens, span, base.sequence, base.due.as_micros()];
        header::encode(MAGIC_OF_FRAMES, numbers)
    }

    #[test]
    fn a_header_of_either_format_reads_back_and_a_damaged_one_does_not() {
        let bucket = Bucket::Later {
            opens: Time::from_micros(77),
            span: 3,
        };
        let base = Base {
            sequence: 9,
            due: Time::from_micros(8),
        };
        let blocks = Segment::new(SegmentId(4), bucket).pending;
        let frames = header_of_frames(4, bucket, base);
        for (header, format) in [(blocks, Format::Blocks), (frames, Format::Frames { base })] {
            assert_eq!(header.len(), format.header_bytes());
            let read = Segment::from_header(SegmentId(4), &header).unwrap();
            assert_eq!(
                (read.bucket, read.format, read.entries),
                (bucket, format, 0)
            );
            assert!(Segment::from_header(SegmentId(5), &header).is_none());
            for at in 0..header.len() {
                assert!(Segment::from_header(SegmentId(4), &header[..at]).is_none());
                let mut flipped = header.clone();
                flipped[at] ^= 4;
                assert!(Segment::from_header(SegmentId(4), &flipped).is_none());
            }
        }
    }
}
