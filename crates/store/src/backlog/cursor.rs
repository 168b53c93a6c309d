//! Reads one segment front to back: first what is in the file, in large pieces, then what is still in memory.
//!
//! Where the file does not hold what was written to it, the cursor goes on at the next block that is right, and says which entries lie between.

use std::path::Path;

use super::block::{self, BlockHeader};
use super::entry::{self, Base, Stored};
use super::frame::{self, FRAME_BYTES_MAX};
use super::segment::{self, Format, Segment};
use super::ticket::SegmentId;
use crate::packing::Unpacker;
use junkai_files::disk::{Disk, DiskError, DiskFile};

/// The longest block, or frame.
const UNIT_BYTES_MAX: usize = if block::BYTES_MAX < FRAME_BYTES_MAX {
    FRAME_BYTES_MAX
} else {
    block::BYTES_MAX
};
/// Bytes of one read: holds at least one whole block or frame.
const READ_BYTES: usize = 2 * UNIT_BYTES_MAX;

/// Where segments are read from.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) disk: &'a Disk,
    pub(super) dir: &'a Path,
    pub(super) unpacker: &'a mut Unpacker,
}

/// Why an entry cannot be read.
#[derive(Debug)]
pub(super) enum ReadFault {
    /// The system refused.
    Disk(DiskError),
    /// The file does not hold what was written to it. The cursor is behind the damage.
    Damage(Damage),
}

/// Entries that cannot be read any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damage {
    /// Where in the file.
    pub(super) offset: u64,
    /// The first entry that is lost, and the first behind it that is not.
    pub(super) first: u32,
    pub(super) end: u32,
}

impl From<DiskError> for ReadFault {
    fn from(error: DiskError) -> ReadFault {
        ReadFault::Disk(error)
    }
}

/// How many entries a cursor should find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// As many as the segment says.
    Told,
    /// As many as there are: what is not right, and nothing right behind it, is a torn end.
    Found,
}

#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) segment: SegmentId,
    extent: Extent,
    /// Opened with the first read of the file, if there is one.
    file: Option<DiskFile>,
    /// The next entry.
    pub(super) index: u32,
    /// Where the block begins that it is in, with which entry,
    offset: u64,
    first: u32,
    /// and where in that block's entries it is.
    at: usize,
    /// That block, or the one before.
    block: Entered,
    buffer: Vec<u8>,
    /// Where in the file the buffer begins.
    buffer_offset: u64,
}

/// A block that was read. A frame counts as a block of one entry.
#[derive(Debug, Default)]
struct Entered {
    /// Where it begins; nothing before the first.
    offset: Option<u64>,
    /// Where the next one begins, and the index of its first entry.
    end: u64,
    end_index: u32,
    base: Base,
    payload: Vec<u8>,
}

impl Cursor {
    /// A cursor before the first entry.
    pub(super) fn new(segment: &Segment) -> Cursor {
        let start = segment.format.header_bytes() as u64;
        Cursor::at(segment.id, Extent::Told, 0, start)
    }

    /// A cursor behind all that is known of a segment, to find what follows in its file.
    pub(super) fn of_tail(segment: &Segment) -> Cursor {
        Cursor::at(segment.id, Extent::Found, segment.entries, segment.written)
    }

    fn at(segment: SegmentId, extent: Extent, index: u32, offset: u64) -> Cursor {
        Cursor {
            segment,
            extent,
            file: None,
            index,
            offset,
            first: index,
            at: 0,
            block: Entered::default(),
            buffer: Vec::new(),
            buffer_offset: 0,
        }
    }

    /// The entry at the cursor, which stays there; nothing behind the last.
    pub(super) fn peek(
        &mut self,
        segment: &Segment,
        source: &mut Source,
    ) -> Result<Option<Peeked>, ReadFault> {
        loop {
            if self.extent == Extent::Told && self.index == segment.entries {
                return Ok(None);
            }
            let is_in_open_block =
                self.extent == Extent::Told && self.offset == segment.open_offset();
            let (payload, base) = if is_in_open_block {
                segment.open.payload()
            } else if self.enter(segment, source)? {
                (&self.block.payload[..], self.block.base)
            } else {
                return Ok(None);
            };
            let rest = payload.get(self.at..).unwrap_or_default();
            let index = self.index;
            match block::first_entry(rest) {
                Some((bytes, length)) => match entry::decode(bytes, base) {
                    Some(stored) => {
                        return Ok(Some(Peeked {
                            stored,
                            index,
                            length,
                        }));
                    }
                    None => return Err(self.skip_to(self.block.end_index, self.block.end)),
                },
                // The file has fewer entries than it was promised to have: a disk that lost what it said it had kept.
                None if is_in_open_block => {
                    return Err(self.skip_to(segment.entries, self.offset));
                }
                None if self.index == self.block.end_index => self.go_to(self.block.end),
                None => return Err(self.skip_to(self.block.end_index, self.block.end)),
            }
        }
    }

    /// Steps over what was peeked.
    pub(super) fn advance(&mut self, peeked: &Peeked) {
        assert_eq!(self.index, peeked.index, "the cursor moved since the peek");
        self.index += 1;
        self.at += peeked.length;
    }

    /// Where the block begins that the cursor is in, or before.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether there is a block or frame that is right anywhere in the file, `segment` being all that is known of it.
    pub(super) fn finds_any(
        &mut self,
        segment: &Segment,
        source: &mut Source,
    ) -> Result<bool, DiskError> {
        Ok(match segment.format {
            Format::Blocks => self.find_block(0, segment, source)?.is_some(),
            Format::Frames { base } => self.find_frame(0, base, segment, source)?.is_some(),
        })
    }

    #[cfg(test)]
    pub(super) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Closes the file until the next read.
    pub(super) fn rest(&mut self) {
        self.file = None;
        self.buffer = Vec::new();
        self.buffer_offset = 0;
        self.block = Entered::default();
    }

    /// Reads the block at the cursor, unless that was done; false if there is none.
    fn enter(&mut self, segment: &Segment, source: &mut Source) -> Result<bool, ReadFault> {
        loop {
            if self.block.offset == Some(self.offset) {
                return Ok(true);
            }
            if self.extent == Extent::Found && segment.written <= self.offset {
                return Ok(false);
            }
            let is_entered = match segment.format {
                Format::Blocks => self.enter_block(segment, source)?,
                Format::Frames { base } => self.enter_frame(base, segment, source)?,
            };
            if is_entered {
                return Ok(true);
            }
            let next = match segment.format {
                Format::Blocks => self.block_behind(segment, source)?,
                Format::Frames { base } => self.frame_behind(base, segment, source)?,
            };
            let (index, offset) = match (next, self.extent) {
                (Some(next), _) => next,
                (None, Extent::Told) => (segment.entries_in_file(), segment.written),
                (None, Extent::Found) => return Ok(false),
            };
            if index != self.index {
                return Err(self.skip_to(index, offset));
            }
            assert!(self.offset < offset, "what is in memory is right");
            self.go_to(offset);
        }
    }

    fn enter_block(&mut self, segment: &Segment, source: &mut Source) -> Result<bool, DiskError> {
        let (offset, first) = (self.offset, self.first);
        // Taken out, because the bytes are borrowed from here.
        let mut payload = std::mem::take(&mut self.block).payload;
        let entries_max = self.entries_max(segment);
        let bytes = self.bytes(offset, segment, source)?;
        let header = BlockHeader::decode(segment.id, bytes)
            .filter(|header| header.first == first && header.end() <= entries_max);
        let unpacked = header.and_then(|header| {
            header.unpack(bytes, source.unpacker, &mut payload)?;
            Some(header)
        });
        let Some(header) = unpacked else {
            return Ok(false);
        };
        self.block = Entered {
            offset: Some(offset),
            end: offset + header.bytes() as u64,
            end_index: header.end(),
            base: header.base,
            payload,
        };
        Ok(true)
    }

    fn enter_frame(
        &mut self,
        base: Base,
        segment: &Segment,
        source: &mut Source,
    ) -> Result<bool, DiskError> {
        let (offset, first) = (self.offset, self.first);
        let mut payload = std::mem::take(&mut self.block).payload;
        let bytes = self.bytes(offset, segment, source)?;
        let Some(entry) = right_frame(base, segment.id, bytes) else {
            return Ok(false);
        };
        let end = offset + (frame::HEADER_BYTES + entry.len()) as u64;
        block::payload_of_one(entry, &mut payload);
        self.block = Entered {
            offset: Some(offset),
            end,
            end_index: first + 1,
            base,
            payload,
        };
        Ok(true)
    }

    /// Where to go on behind a block that is not right: the next entry that may be, and where its block begins.
    fn block_behind(
        &mut self,
        segment: &Segment,
        source: &mut Source,
    ) -> Result<Option<(u32, u64)>, DiskError> {
        let (first, entries_max) = (self.first, self.entries_max(segment));
        let bytes = self.bytes(self.offset, segment, source)?;
        if let Some(header) = BlockHeader::decode(segment.id, bytes)
            && header.first == first
            && header.end() <= entries_max
        {
            let end = self.offset + header.bytes() as u64;
            // A payload that is cut short may be a torn end.
            let is_whole = self.extent == Extent::Told || end < segment.written;
            return Ok(is_whole.then_some((header.end(), end)));
        }
        self.find_block(self.offset + 1, segment, source)
    }

    /// The first block at or behind `from` that has a right header and entries that the cursor has not passed.
    fn find_block(
        &mut self,
        from: u64,
        segment: &Segment,
        source: &mut Source,
    ) -> Result<Option<(u32, u64)>, DiskError> {
        let (index, entries_max) = (self.index, self.entries_max(segment));
        let found = self.search(from, segment, source, |bytes| {
            BlockHeader::decode(segment.id, bytes)
                .filter(|header| index <= header.first && header.end() <= entries_max)
        })?;
        Ok(found.map(|(offset, header)| (header.first, offset)))
    }

    /// The same for frames, which do not say which entry they have. If the length of the frame that is not right leads to another one, one entry is
    /// lost; else as many as are missing between the frames that are left and the number of all.
    fn frame_behind(
        &mut self,
        base: Base,
        segment: &Segment,
        source: &mut Source,
    ) -> Result<Option<(u32, u64)>, DiskError> {
        let bytes = self.bytes(self.offset, segment, source)?;
        if let Some(length) = frame::told_length(bytes) {
            let end = self.offset + length as u64;
            let is_last = end == segment.written && self.extent == Extent::Told;
            let next = self.bytes(end, segment, source)?;
            if is_last || right_frame(base, segment.id, next).is_some() {
                return Ok(Some((self.first + 1, end)));
            }
        }
        let Some(offset) = self.find_frame(self.offset + 1, base, segment, source)? else {
            return Ok(None);
        };
        let least = self.first + 1;
        let index = match self.extent {
            Extent::Found => least,
            Extent::Told => {
                let left = self.count_frames(offset, base, segment, source)?;
                least.max(segment.entries_in_file().saturating_sub(left))
            }
        };
        Ok(Some((index, offset)))
    }

    fn find_frame(
        &mut self,
        from: u64,
        base: Base,
        segment: &Segment,
        source: &mut Source,
    ) -> Result<Option<u64>, DiskError> {
        let found = self.search(from, segment, source, |bytes| {
            right_frame(base, segment.id, bytes).map(|_| ())
        })?;
        Ok(found.map(|(offset, ())| offset))
    }

    /// The frames from `offset` to the end of the file; what is not right between two of them counts as one.
    fn count_frames(
        &mut self,
        mut offset: u64,
        base: Base,
        segment: &Segment,
        source: &mut Source,
    ) -> Result<u32, DiskError> {
        let mut frames = 0;
        while offset < segment.written {
            let bytes = self.bytes(offset, segment, source)?;
            let frame = right_frame(base, segment.id, bytes);
            let length = frame.map(|entry| (frame::HEADER_BYTES + entry.len()) as u64);
            offset = match length {
                Some(length) => offset + length,
                None => self
                    .find_frame(offset + 1, base, segment, source)?
                    .unwrap_or(segment.written),
            };
            frames += 1;
        }
        Ok(frames)
    }

    /// The first place in the file, at or behind `from`, whose bytes pass a test, and what that found.
    fn search<T>(
        &mut self,
        from: u64,
        segment: &Segment,
        source: &mut Source,
        test: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Option<(u64, T)>, DiskError> {
        let mut at = from;
        while at < segment.written {
            let window = self.bytes(at, segment, source)?;
            let is_last = segment.written <= at + window.len() as u64;
            let starts = if is_last {
                window.len()
            } else {
                window.len().saturating_sub(UNIT_BYTES_MAX)
            };
            for start in 0..starts {
                if let Some(found) = test(&window[start..]) {
                    return Ok(Some((at + start as u64, found)));
                }
            }
            if starts == 0 {
                // The file is shorter than it should be.
                return Ok(None);
            }
            at += starts as u64;
        }
        Ok(None)
    }

    /// Entries that there may be.
    fn entries_max(&self, segment: &Segment) -> u32 {
        match self.extent {
            Extent::Told => segment.entries,
            Extent::Found => u32::MAX,
        }
    }

    /// Leaves out what cannot be read.
    fn skip_to(&mut self, index: u32, offset: u64) -> ReadFault {
        let damage = Damage {
            offset: self.offset,
            first: self.index,
            end: index,
        };
        self.index = index;
        self.go_to(offset);
        ReadFault::Damage(damage)
    }

    /// Goes to the block that begins at `offset` with the next entry.
    fn go_to(&mut self, offset: u64) {
        self.offset = offset;
        self.first = self.index;
        self.at = 0;
    }

    /// What begins at `offset`, in the file or behind it in memory: at least one whole block or frame, if there is one.
    fn bytes<'a>(
        &'a mut self,
        offset: u64,
        segment: &'a Segment,
        source: &Source,
    ) -> Result<&'a [u8], DiskError> {
        if let Some(behind) = offset.checked_sub(segment.written) {
            let start = usize::try_from(behind).unwrap_or(usize::MAX);
            return Ok(segment.pending.get(start..).unwrap_or_default());
        }
        let buffer_end = self.buffer_offset + self.buffer.len() as u64;
        let wanted = (segment.written - offset).min(UNIT_BYTES_MAX as u64);
        let is_there = self.buffer_offset <= offset && offset + wanted <= buffer_end;
        if !is_there {
            self.fill(offset, segment, source)?;
        }
        let start = usize::try_from(offset - self.buffer_offset).unwrap_or(usize::MAX);
        Ok(self.buffer.get(start..).unwrap_or_default())
    }

    fn fill(&mut self, offset: u64, segment: &Segment, source: &Source) -> Result<(), DiskError> {
        self.buffer_offset = offset;
        self.buffer.clear();
        let path = || segment::path(source.dir, segment.id);
        let file = match self.file.take() {
            Some(file) => Some(file),
            None => source.disk.open_if_there(&path())?,
        };
        let Some(file) = file else {
            // Who looks on may find that a live crawl removed it; else it holds nothing that was written to it.
            return Ok(());
        };
        let length = (segment.written - offset).min(READ_BYTES as u64);
        self.buffer
            .resize(usize::try_from(length).unwrap_or(READ_BYTES), 0);
        let read = file.read_up_to(&mut self.buffer, offset)?;
        self.buffer.truncate(read);
        self.file = Some(file);
        Ok(())
    }
}

/// The entry in the frame that `bytes` begin with, if both are right.
fn right_frame(base: Base, segment: SegmentId, bytes: &[u8]) -> Option<&[u8]> {
    /// What the first byte of an entry may be: asked first, for a search asks at every place.
    const FLAGS_MAX: u8 = 3;
    let flags = bytes.get(frame::HEADER_BYTES)?;
    if FLAGS_MAX < *flags {
        return None;
    }
    let payload = frame::decode(segment.0, bytes)?;
    entry::decode(payload, base).map(|_| payload)
}

/// An entry that a cursor stands before.
#[derive(Debug)]
pub(super) struct Peeked {
    pub(super) stored: Stored,
    pub(super) index: u32,
    length: usize,
}
