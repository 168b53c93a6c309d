//! Reads one segment front to back: first what is in the file, in large pieces, then what is still in memory.

use std::path::Path;

use super::BacklogError;
use super::entry::{self, Stored};
use super::frame::{self, FRAME_BYTES_MAX};
use super::segment::{self, HEADER_BYTES, Segment};
use super::ticket::SegmentId;
use crate::disk::{Disk, DiskFile};

/// Bytes of one read: holds at least one whole frame.
const READ_BYTES: usize = 2 * FRAME_BYTES_MAX;

#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) segment: SegmentId,
    /// Opened with the first read of the file, if there is one.
    file: Option<DiskFile>,
    /// The next entry, and where it begins.
    pub(super) index: u32,
    pub(super) offset: u64,
    buffer: Vec<u8>,
    /// Where in the file the buffer begins.
    buffer_offset: u64,
}

impl Cursor {
    /// A cursor before the first entry.
    pub(super) fn new(segment: SegmentId) -> Cursor {
        Cursor::at(segment, 0, HEADER_BYTES as u64)
    }

    /// A cursor before entry `index`, which begins at `offset`.
    pub(super) fn at(segment: SegmentId, index: u32, offset: u64) -> Cursor {
        Cursor {
            segment,
            file: None,
            index,
            offset,
            buffer: Vec::new(),
            buffer_offset: 0,
        }
    }

    /// The entry at the cursor, which stays there; nothing behind the last.
    ///
    /// # Errors
    /// [`BacklogError::Damaged`] if what was written is not there.
    pub(super) fn peek(
        &mut self,
        segment: &Segment,
        disk: &Disk,
        dir: &Path,
    ) -> Result<Option<Peeked>, BacklogError> {
        if self.index == segment.entries {
            return Ok(None);
        }
        let peeked = self.peek_frame(segment, disk, dir)?;
        peeked.map(Some).ok_or_else(|| BacklogError::Damaged {
            path: segment::path(dir, segment.id),
            offset: self.offset,
            entries: segment.entries - self.index,
        })
    }

    /// The entry at the cursor, if there is a whole and right frame, however many the segment should have.
    pub(super) fn peek_frame(
        &mut self,
        segment: &Segment,
        disk: &Disk,
        dir: &Path,
    ) -> Result<Option<Peeked>, BacklogError> {
        let index = self.index;
        let bytes = self.bytes(segment, disk, dir)?;
        let Some(payload) = frame::decode(segment.id.0, bytes) else {
            return Ok(None);
        };
        let length = (frame::HEADER_BYTES + payload.len()) as u64;
        let stored = entry::decode(payload, segment.base);
        Ok(stored.map(|stored| Peeked {
            stored,
            index,
            length,
        }))
    }

    /// Steps over what was peeked.
    pub(super) fn advance(&mut self, peeked: &Peeked) {
        assert_eq!(self.index, peeked.index, "the cursor moved since the peek");
        self.index += 1;
        self.offset += peeked.length;
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
    }

    /// What begins at the cursor: at least the next frame.
    fn bytes<'a>(
        &'a mut self,
        segment: &'a Segment,
        disk: &Disk,
        dir: &Path,
    ) -> Result<&'a [u8], BacklogError> {
        if let Some(behind) = self.offset.checked_sub(segment.written) {
            let start = usize::try_from(behind).unwrap_or(usize::MAX);
            return Ok(segment.pending.get(start..).unwrap_or_default());
        }
        let buffer_end = self.buffer_offset + self.buffer.len() as u64;
        let in_file = segment.written - self.offset;
        let wanted = in_file.min(FRAME_BYTES_MAX as u64);
        let is_there = self.buffer_offset <= self.offset && self.offset + wanted <= buffer_end;
        if !is_there {
            self.fill(segment, disk, dir)?;
        }
        let start = usize::try_from(self.offset - self.buffer_offset).unwrap_or(usize::MAX);
        Ok(self.buffer.get(start..).unwrap_or_default())
    }

    fn fill(&mut self, segment: &Segment, disk: &Disk, dir: &Path) -> Result<(), BacklogError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => disk.open(&segment::path(dir, segment.id))?,
        };
        let in_file = segment.written - self.offset;
        let length = in_file.min(READ_BYTES as u64);
        self.buffer
            .resize(usize::try_from(length).unwrap_or(READ_BYTES), 0);
        let read = file.read_up_to(&mut self.buffer, self.offset)?;
        self.buffer.truncate(read);
        self.buffer_offset = self.offset;
        self.file = Some(file);
        Ok(())
    }
}

/// An entry that a cursor stands before.
#[derive(Debug)]
pub(super) struct Peeked {
    pub(super) stored: Stored,
    pub(super) index: u32,
    length: u64,
}
