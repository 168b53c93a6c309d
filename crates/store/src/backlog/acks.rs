//! The log of entries that are done with.
//!
//! Frames of ranges: segment, first entry, number of entries. When the log has grown long, a new generation of it is written that says the same
//! in few ranges; the old one stays until the crawl's manifest names the new.

use std::path::Path;

use super::BacklogError;
use super::frame;
use super::ticket::SegmentId;
use crate::bucketed::Series;
use crate::coding::{Input, put_number};
use junkai_files::disk::Disk;

/// The files of a log, a generation each.
pub(super) const FILES: Series = Series {
    prefix: "acks-",
    suffix: "",
};
/// Ranges in one frame: below the frame's limit even if each number takes its longest form.
const RANGES_PER_FRAME: usize = 2048;
/// A log that is shorter is not worth writing again.
const COMPACT_BYTES_MIN: u64 = 256 << 10;

/// Some neighbouring entries of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) segment: SegmentId,
    pub(super) first: u32,
    pub(super) count: u32,
}

#[derive(Debug)]
pub(super) struct AckLog {
    pub(super) generation: u64,
    /// Bytes in the file.
    pub(super) written: u64,
    /// Bytes that it had when this generation began.
    compact_bytes: u64,
    pending: Vec<Range>,
    is_dirty: bool,
}

impl AckLog {
    /// A log that continues behind the first `written` bytes of its file.
    pub(super) fn new(generation: u64, written: u64) -> AckLog {
        AckLog {
            generation,
            written,
            compact_bytes: written,
            pending: Vec::new(),
            is_dirty: true,
        }
    }

    pub(super) fn push(&mut self, segment: SegmentId, index: u32) {
        if let Some(last) = self.pending.last_mut()
            && last.segment == segment
            && last.first + last.count == index
        {
            last.count += 1;
            return;
        }
        self.pending.push(Range {
            segment,
            first: index,
            count: 1,
        });
    }

    /// Bytes of what is pending.
    pub(super) fn pending_bytes(&self) -> usize {
        self.pending.len() * size_of::<Range>()
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.pending.capacity() * size_of::<Range>()
    }

    /// Writes what is pending. On failure it stays pending.
    pub(super) fn write(&mut self, disk: &Disk, dir: &Path) -> Result<(), BacklogError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let bytes = encode(self.generation, self.pending.iter().copied())?;
        let file = disk.open_for_writing(&FILES.path(dir, self.generation))?;
        self.written = file.append_at(&bytes, self.written)?;
        self.pending.clear();
        self.is_dirty = true;
        Ok(())
    }

    /// Makes what was written durable.
    pub(super) fn sync(&mut self, disk: &Disk, dir: &Path) -> Result<(), BacklogError> {
        if self.is_dirty && 0 < self.written {
            let path = FILES.path(dir, self.generation);
            disk.open_for_writing(&path)?.sync()?;
            self.is_dirty = false;
        }
        Ok(())
    }

    /// Whether most of the log may be said more shortly.
    pub(super) fn is_long(&self) -> bool {
        COMPACT_BYTES_MIN.max(4 * self.compact_bytes) <= self.written
    }

    /// The next generation, on disk and durable, which says that `ranges` are done with. Replaces this one.
    pub(super) fn compact(
        &mut self,
        ranges: impl Iterator<Item = Range>,
        disk: &Disk,
        dir: &Path,
    ) -> Result<(), BacklogError> {
        let generation = self.generation + 1;
        let bytes = encode(generation, ranges)?;
        disk.replace(&FILES.path(dir, generation), &bytes)?;
        *self = AckLog::new(generation, bytes.len() as u64);
        self.is_dirty = false;
        Ok(())
    }
}

fn encode(
    generation: u64,
    mut ranges: impl Iterator<Item = Range>,
) -> Result<Vec<u8>, BacklogError> {
    let mut bytes = Vec::new();
    loop {
        let mut taken = ranges.by_ref().take(RANGES_PER_FRAME).peekable();
        if taken.peek().is_none() {
            return Ok(bytes);
        }
        frame::encode(generation, &mut bytes, |out| {
            for range in taken {
                put_number(range.segment.0, out);
                put_number(u64::from(range.first), out);
                put_number(u64::from(range.count), out);
            }
        })?;
    }
}

/// What was found in a log's bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) ranges: Vec<Range>,
    /// Bytes up to the end of the last whole frame; a torn end follows.
    pub(super) bytes: u64,
    /// Of these, the ones that cannot be read: what they say is done with comes back, and is visited again.
    pub(super) damaged_bytes: u64,
}

/// Reads the whole frames of a log, past those that are damaged.
pub(super) fn decode(generation: u64, bytes: &[u8]) -> Decoded {
    let mut decoded = Decoded::default();
    let mut at = 0;
    while let Some(start) = find_frame(generation, bytes, at) {
        decoded.damaged_bytes += (start - at) as u64;
        at = start;
        let Some(payload) = frame::decode(generation, &bytes[start..]) else {
            break;
        };
        let mut input = Input(payload);
        while !input.0.is_empty()
            && let Some(range) = decode_range(&mut input)
        {
            decoded.ranges.push(range);
        }
        at += frame::HEADER_BYTES + payload.len();
        decoded.bytes = at as u64;
    }
    decoded
}

/// Where the first right frame at or behind `at` begins. What follows a frame that is not right is most often found by its length.
fn find_frame(generation: u64, bytes: &[u8], at: usize) -> Option<usize> {
    let is_right = |place: &usize| {
        let rest = bytes.get(*place..).unwrap_or_default();
        frame::decode(generation, rest).is_some()
    };
    let by_length = bytes.get(at..).and_then(frame::told_length);
    let by_length = by_length.map(|length| at + length);
    let mut likely = [Some(at), by_length].into_iter().flatten();
    likely
        .find(is_right)
        .or_else(|| (at + 1..bytes.len()).find(is_right))
}

fn decode_range(input: &mut Input) -> Option<Range> {
    Some(Range {
        segment: SegmentId(input.number()?),
        first: u32::try_from(input.number()?).ok()?,
        count: u32::try_from(input.number()?).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_range_and_a_torn_log_keeps_its_whole_frames() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::default();
        let mut log = AckLog::new(3, 0);
        for index in [0, 1, 2, 7, 8] {
            log.push(SegmentId(5), index);
        }
        log.write(&disk, dir.path()).unwrap();
        let whole = log.written;
        log.push(SegmentId(6), 0);
        log.write(&disk, dir.path()).unwrap();
        let bytes = disk.read(&FILES.path(dir.path(), 3)).unwrap().unwrap();
        let range = |segment, first, count| Range {
            segment: SegmentId(segment),
            first,
            count,
        };
        let decoded = decode(3, &bytes);
        let all = [range(5, 0, 3), range(5, 7, 2), range(6, 0, 1)];
        assert_eq!(decoded.ranges, all);
        assert_eq!(decoded.bytes, bytes.len() as u64);
        let decoded = decode(3, &bytes[..bytes.len() - 1]);
        assert_eq!(decoded.ranges, all[..2]);
        assert_eq!((decoded.bytes, decoded.damaged_bytes), (whole, 0));
    }

    #[test]
    fn a_damaged_frame_is_passed_over_and_counted() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::default();
        let mut log = AckLog::new(3, 0);
        let mut ends = Vec::new();
        for index in 0..3 {
            log.push(SegmentId(5), 2 * index);
            log.write(&disk, dir.path()).unwrap();
            ends.push(usize::try_from(log.written).unwrap());
        }
        let bytes = disk.read(&FILES.path(dir.path(), 3)).unwrap().unwrap();
        for at in 0..bytes.len() {
            let hit = ends.iter().position(|end| at < *end).unwrap();
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            let decoded = decode(3, &flipped);
            let told: Vec<u32> = decoded.ranges.iter().map(|range| range.first).collect();
            let kept = [0, 2, 4].into_iter().enumerate();
            let kept = kept.filter(|(frame, _)| *frame != hit);
            assert_eq!(told, kept.map(|(_, first)| first).collect::<Vec<_>>());
            // The last one may as well be torn.
            let frame_bytes = bytes.len() / 3;
            let damaged = if hit == 2 { 0 } else { frame_bytes as u64 };
            assert_eq!(decoded.damaged_bytes, damaged, "byte {at}");
        }
    }

    #[test]
    fn a_compacted_log_says_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::default();
        let ranges: Vec<Range> = (0..5000)
            .map(|number| Range {
                segment: SegmentId(u64::MAX - number),
                first: u32::MAX,
                count: u32::MAX,
            })
            .collect();
        let mut log = AckLog::new(0, 0);
        log.compact(ranges.iter().copied(), &disk, dir.path())
            .unwrap();
        let bytes = disk.read(&FILES.path(dir.path(), 1)).unwrap().unwrap();
        let decoded = decode(1, &bytes);
        assert_eq!((decoded.ranges, decoded.bytes), (ranges, log.written));
        assert_eq!(decoded.damaged_bytes, 0);
    }
}
