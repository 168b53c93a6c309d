//! Reads the files of buckets in large pieces.

use std::io;
use std::path::{Path, PathBuf};

use super::bucket_file;
use super::ticket::BucketNumber;
use crate::packing::Unpacker;
use junkai_files::disk::{Disk, DiskError, DiskFile};

/// The least that is read at once of one of many runs: a block and a little more.
pub(super) const RUN_READ_BYTES_MIN: u64 = 40 << 10;

/// Reads files in large pieces; remembers the last file.
#[derive(Debug)]
pub(super) struct Reader {
    disk: Disk,
    dir: PathBuf,
    pub(super) unpacker: Unpacker,
    file: Option<(BucketNumber, DiskFile)>,
    /// Bytes that are read at once of a run.
    pub(super) run_read_bytes: u64,
    pub(super) reads: u64,
    pub(super) read_bytes: u64,
}

impl Reader {
    pub(super) fn new(disk: Disk, dir: &Path) -> io::Result<Reader> {
        Ok(Reader {
            disk,
            dir: dir.to_owned(),
            unpacker: Unpacker::new()?,
            file: None,
            run_read_bytes: RUN_READ_BYTES_MIN,
            reads: 0,
            read_bytes: 0,
        })
    }

    /// The `length` bytes at the beginning of a stretch, fewer where the file ends before. The rest of the stretch is read on the way, and stays in the piece, which
    /// is of this file alone.
    pub(super) fn bytes<'a>(
        &mut self,
        piece: &'a mut Piece,
        at: Stretch,
        length: usize,
    ) -> Result<&'a [u8], DiskError> {
        if piece.at(at.offset, length).len() < length {
            self.fill(piece, at, length)?;
        }
        Ok(piece.at(at.offset, length))
    }

    fn fill(&mut self, piece: &mut Piece, at: Stretch, length: usize) -> Result<(), DiskError> {
        piece.bytes.clear();
        piece.offset = at.offset;
        let file = match self.file.take() {
            Some((bucket, file)) if bucket == at.bucket => file,
            Some(_) | None => {
                let path = bucket_file::path(&self.dir, at.bucket);
                let Some(file) = self.disk.open_if_there(&path)? else {
                    return Ok(());
                };
                file
            }
        };
        let ahead = usize::try_from(at.bytes).unwrap_or(length).max(length);
        piece.bytes.resize(ahead, 0);
        let read = file.read_up_to(&mut piece.bytes, at.offset)?;
        piece.bytes.truncate(read);
        self.file = Some((at.bucket, file));
        self.reads += 1;
        self.read_bytes += read as u64;
        Ok(())
    }

    /// Closes a file that is to be removed.
    pub(super) fn forget(&mut self, bucket: BucketNumber) {
        if self.file.as_ref().is_some_and(|(open, _)| *open == bucket) {
            self.file = None;
        }
    }
}

/// What was read of a file and is not needed yet.
#[derive(Debug, Default)]
pub(super) struct Piece {
    bytes: Vec<u8>,
    /// Where in the file it begins.
    offset: u64,
}

impl Piece {
    /// So many bytes from an offset on, or as many as are here.
    pub(super) fn at(&self, offset: u64, length: usize) -> &[u8] {
        let start = offset.checked_sub(self.offset);
        let start = start.and_then(|start| usize::try_from(start).ok());
        let rest = start.and_then(|start| self.bytes.get(start..));
        let rest = rest.unwrap_or_default();
        &rest[..length.min(rest.len())]
    }

    /// Gives the memory back.
    pub(super) fn release(&mut self) {
        self.bytes = Vec::new();
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}

/// A part of a bucket's file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) bucket: BucketNumber,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}
