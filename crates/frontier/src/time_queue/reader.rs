//! Reads the files of buckets in large pieces.

use std::io;
use std::path::{Path, PathBuf};

use super::bucket_file;
use super::packing::Unpacker;
use super::ticket::BucketNumber;
use crate::disk::{Disk, DiskError, DiskFile};

/// Reads files in large pieces; remembers the last piece and the last file.
#[derive(Debug)]
pub(super) struct Reader {
    disk: Disk,
    dir: PathBuf,
    pub(super) unpacker: Unpacker,
    file: Option<(BucketNumber, DiskFile)>,
    pub(super) piece: Vec<u8>,
    pub(super) piece_offset: u64,
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
            piece: Vec::new(),
            piece_offset: 0,
            reads: 0,
            read_bytes: 0,
        })
    }

    /// The `length` bytes at the beginning of a stretch, fewer where the file ends before. The rest of the stretch is read on the way.
    pub(super) fn bytes(&mut self, at: Stretch, length: usize) -> Result<&[u8], DiskError> {
        let piece_end = self.piece_offset + self.piece.len() as u64;
        let is_same = self
            .file
            .as_ref()
            .is_some_and(|(bucket, _)| *bucket == at.bucket);
        let is_there =
            is_same && self.piece_offset <= at.offset && at.offset + length as u64 <= piece_end;
        if !is_there {
            self.fill(at, length)?;
        }
        let start = usize::try_from(at.offset - self.piece_offset).unwrap_or(usize::MAX);
        let bytes = self.piece.get(start..).unwrap_or_default();
        Ok(&bytes[..length.min(bytes.len())])
    }

    fn fill(&mut self, at: Stretch, length: usize) -> Result<(), DiskError> {
        self.piece.clear();
        self.piece_offset = at.offset;
        let file = match self.file.take() {
            Some((bucket, file)) if bucket == at.bucket => file,
            Some(_) | None => match self.disk.open(&bucket_file::path(&self.dir, at.bucket)) {
                Err(error) if error.source.kind() == io::ErrorKind::NotFound => return Ok(()),
                opened => opened?,
            },
        };
        let ahead = usize::try_from(at.bytes).unwrap_or(length).max(length);
        self.piece.resize(ahead, 0);
        let read = file.read_up_to(&mut self.piece, at.offset)?;
        self.piece.truncate(read);
        self.file = Some((at.bucket, file));
        self.reads += 1;
        self.read_bytes += read as u64;
        Ok(())
    }

    /// Closes a file that is to be removed.
    pub(super) fn forget(&mut self, bucket: BucketNumber) {
        if self.file.as_ref().is_some_and(|(open, _)| *open == bucket) {
            self.file = None;
            self.piece.clear();
        }
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.piece.capacity()
    }
}

/// A part of a bucket's file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) bucket: BucketNumber,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}
