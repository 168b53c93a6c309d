//! The one file that says what counts: every change is appended to it, and every other file is read as far as it says.
//!
//! A row of frames: checksum (4 bytes), length (4), entries. An entry is never divided, and what must happen together is in one frame. When the file
//! has grown long, a new *generation* of it is begun that says by itself what there is; the old one stays until the crawl's manifest names
//! the new. The checksum covers the generation and the place, so that zeros, a torn end or bytes of another file are never taken for a frame.

use std::path::Path;

use super::TimeQueueError;
use super::contents::Contents;
use super::entry::Entry;
use super::record::TEXT_BYTES_MAX;
use crate::bucketed::Series;
use crate::coding::Input;
use junkai_files::disk::{Disk, DiskFile};

/// The files of a journal, a generation each.
pub(super) const FILES: Series = Series {
    prefix: "journal-",
    suffix: "",
};
const HEADER_BYTES: usize = 8;
/// A frame is closed when it is as long as this.
const FRAME_BYTES: usize = 64 << 10;
/// The longest frame: one step more than that, with a record and some small entries.
const FRAME_BYTES_MAX: usize = FRAME_BYTES + 4 * TEXT_BYTES_MAX;
/// What waits to be written is written when it is as long as this.
const PENDING_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Journal {
    pub(super) generation: u64,
    /// Bytes in the file.
    pub(super) written: u64,
    /// Bytes that the file had when this generation began.
    begun_bytes: u64,
    /// Bytes that were given to the system since the opening, in all generations.
    pub(super) given_bytes: u64,
    /// Frames that follow those in the file; the last one may be open.
    pending: Vec<u8>,
    /// Where the open frame begins.
    frame: Option<usize>,
    file: Option<DiskFile>,
    pub(super) is_dirty: bool,
}

impl Journal {
    /// A journal that continues behind the first `written` bytes of its file.
    pub(super) fn at(generation: u64, written: u64, begun_bytes: u64) -> Journal {
        Journal {
            generation,
            written,
            begun_bytes,
            given_bytes: 0,
            pending: Vec::new(),
            frame: None,
            file: None,
            is_dirty: true,
        }
    }

    /// The next generation, on disk, which begins with all that there is. Replaces this one, with all that this one has not written.
    pub(super) fn begin(
        &mut self,
        contents: &Contents,
        disk: &Disk,
        dir: &Path,
    ) -> Result<(), TimeQueueError> {
        let mut next = Journal::at(self.generation + 1, 0, 0);
        contents.tell(&mut |entry| {
            next.push(entry);
            next.end_step();
            if next.is_full() {
                next.write(disk, dir)?;
            }
            Ok(())
        })?;
        next.write(disk, dir)?;
        next.begun_bytes = next.written;
        next.given_bytes += self.given_bytes;
        *self = next;
        Ok(())
    }

    /// Appends an entry, in memory.
    pub(super) fn push(&mut self, entry: &Entry) {
        if self.frame.is_none() {
            self.frame = Some(self.pending.len());
            self.pending.extend_from_slice(&[0; HEADER_BYTES]);
        }
        entry.encode(&mut self.pending);
    }

    /// Says that the entries before and behind this point need not be in one frame.
    pub(super) fn end_step(&mut self) {
        if self
            .frame
            .is_some_and(|start| start + FRAME_BYTES <= self.pending.len())
        {
            self.close_frame();
        }
    }

    fn close_frame(&mut self) {
        let Some(start) = self.frame.take() else {
            return;
        };
        let length = self.pending.len() - start - HEADER_BYTES;
        let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
        self.pending[start + 4..start + 8].copy_from_slice(&length);
        let at = self.written + start as u64;
        let sum = checksum(self.generation, at, &self.pending[start + 4..]);
        self.pending[start..start + 4].copy_from_slice(&sum.to_le_bytes());
    }

    /// Whether what is pending should be written before more is appended.
    pub(super) fn is_full(&self) -> bool {
        PENDING_BYTES <= self.pending.len()
    }

    /// Whether there are enough changes since it began for a new generation to pay.
    pub(super) fn is_long(&self, changes_max: u64) -> bool {
        let bytes = self.written + self.pending.len() as u64;
        changes_max.max(4 * self.begun_bytes) <= bytes - self.begun_bytes
    }

    /// Gives what is pending to the system. On failure it stays pending.
    pub(super) fn write(&mut self, disk: &Disk, dir: &Path) -> Result<(), TimeQueueError> {
        self.close_frame();
        if self.pending.is_empty() {
            return Ok(());
        }
        let path = || FILES.path(dir, self.generation);
        let file = match self.file.take() {
            Some(file) => file,
            None if self.written == 0 => disk.create(&path())?,
            None => disk.open_for_writing(&path())?,
        };
        self.written = file.append_at(&self.pending, self.written)?;
        self.file = Some(file);
        self.given_bytes += self.pending.len() as u64;
        self.pending.clear();
        self.is_dirty = true;
        Ok(())
    }

    /// Makes what was written durable.
    pub(super) fn sync(&mut self, disk: &Disk, dir: &Path) -> Result<(), TimeQueueError> {
        if self.is_dirty && 0 < self.written {
            let path = FILES.path(dir, self.generation);
            disk.open_for_writing(&path)?.sync()?;
            self.is_dirty = false;
        }
        Ok(())
    }

    /// Bytes, written and not.
    pub(super) fn bytes(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.pending.capacity()
    }
}

/// What was found in a journal's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Replayed {
    /// Bytes of whole frames.
    pub(super) bytes: u64,
    /// Of these, the ones with which the generation began; nothing if that was not completed.
    pub(super) begun_bytes: Option<u64>,
}

/// Shows the entries of a journal's file, at most the first `bytes_max` bytes and up to the first frame that is not whole. `apply` has
/// the place of the entry's frame, and says whether the entry makes sense; a frame with one that does not is not shown further, and ends the reading.
pub(super) fn replay(
    file: &DiskFile,
    generation: u64,
    bytes_max: u64,
    mut apply: impl FnMut(u64, &Entry) -> bool,
) -> Result<Replayed, TimeQueueError> {
    let mut replayed = Replayed::default();
    let mut frame = Vec::new();
    loop {
        let at = replayed.bytes;
        if !read_frame(file, generation, at, &mut frame)? {
            return Ok(replayed);
        }
        let end = at + frame.len() as u64;
        if bytes_max < end {
            return Ok(replayed);
        }
        let mut input = Input(&frame[HEADER_BYTES..]);
        while !input.0.is_empty() {
            let Some(entry) = Entry::decode(&mut input).filter(|entry| apply(at, entry)) else {
                return Ok(replayed);
            };
            if matches!(entry, Entry::Whole { .. }) {
                replayed.begun_bytes = Some(end);
            }
        }
        replayed.bytes = end;
    }
}

/// Reads the frame at `at`; false if there is no whole and right one.
fn read_frame(
    file: &DiskFile,
    generation: u64,
    at: u64,
    frame: &mut Vec<u8>,
) -> Result<bool, TimeQueueError> {
    let mut header = [0; HEADER_BYTES];
    if file.read_up_to(&mut header, at)? < HEADER_BYTES {
        return Ok(false);
    }
    let word = |at: usize| {
        let word = header[at..at + 4].try_into();
        word.map_or(0, u32::from_le_bytes)
    };
    let length = word(4) as usize;
    if length == 0 || FRAME_BYTES_MAX < length {
        return Ok(false);
    }
    frame.resize(HEADER_BYTES + length, 0);
    let read = file.read_up_to(frame, at)?;
    Ok(read == frame.len() && checksum(generation, at, &frame[4..]) == word(0))
}

fn checksum(generation: u64, at: u64, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&generation.to_le_bytes());
    hasher.update(&at.to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}
