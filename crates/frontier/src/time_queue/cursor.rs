//! Reads a bucket's file front to back: one run of it, or all of them.

use std::io;
use std::path::{Path, PathBuf};

use super::TimeQueueError;
use super::block::{self, Block, BlockHeader, Units};
use super::contents::{self, BucketFile, FILE_HEADER_BYTES};
use super::packing::Unpacker;
use super::record::RecordRef;
use super::run::{self, RunHeader};
use super::ticket::{BucketNumber, Place};
use crate::disk::{Disk, DiskError, DiskFile};
use crate::time::Time;

/// Bytes that are read at once where all of a file is read, if there are as many.
const FILE_READ_BYTES: u64 = 256 << 10;
/// The same where one of many runs is read: a block and a little more, for other runs are read before this one goes on.
const RUN_READ_BYTES: u64 = 40 << 10;

/// Why a record cannot be read.
#[derive(Debug)]
pub(super) enum ReadFault {
    /// The system refused.
    Disk(DiskError),
    /// The file does not hold what was written to it. The cursor is behind the damage.
    Damage(Damage),
}

/// Records that cannot be read any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damage {
    /// Where in the file.
    pub(super) offset: u64,
    /// The first record that is lost, and the first behind it that is not.
    pub(super) first: u32,
    pub(super) end: u32,
}

/// Reads files in large pieces; remembers the last piece and the last file.
#[derive(Debug)]
pub(super) struct Reader {
    disk: Disk,
    dir: PathBuf,
    unpacker: Unpacker,
    file: Option<(BucketNumber, DiskFile)>,
    piece: Vec<u8>,
    piece_offset: u64,
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
    fn bytes(&mut self, at: Stretch, length: usize) -> Result<&[u8], DiskError> {
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
            Some(_) | None => match self.disk.open(&contents::path(&self.dir, at.bucket)) {
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
struct Stretch {
    bucket: BucketNumber,
    offset: u64,
    bytes: u64,
}

/// Where the runs of a bucket begin: offset, and the index of the first record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunPlace {
    pub(super) offset: u64,
    pub(super) index: u32,
    pub(super) header: RunHeader,
}

#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) bucket: BucketNumber,
    /// When its next record may be handed out, or the bucket's opening: who is picked first.
    pub(super) key: Time,
    /// The next block, or run.
    offset: u64,
    /// Where the cursor stops, and the index of the record behind.
    end: u64,
    end_index: u32,
    /// The same of the present run.
    run_end: u64,
    run_end_index: u32,
    pub(super) units: Units,
    /// The record behind the present one.
    next_index: u32,
    block: Block,
    /// Whether the present record is still to be dealt with.
    pub(super) is_at_record: bool,
    /// Whether it reads all runs, one after another.
    pub(super) is_of_file: bool,
}

impl Cursor {
    /// A cursor before the first record of a bucket's file.
    pub(super) fn of_file(bucket: BucketNumber, file: &BucketFile) -> Cursor {
        Cursor {
            bucket,
            key: file.bucket.opens,
            offset: FILE_HEADER_BYTES as u64,
            end: file.size.bytes,
            end_index: file.size.records,
            run_end: FILE_HEADER_BYTES as u64,
            run_end_index: 0,
            units: Units {
                unit: 1,
                tick: 1,
                first: 0,
            },
            next_index: 0,
            block: Block::default(),
            is_at_record: false,
            is_of_file: true,
        }
    }

    /// A cursor before the first record of a run.
    pub(super) fn of_run(bucket: BucketNumber, run: &RunPlace) -> Cursor {
        let end = run.offset + run.header.bytes;
        let end_index = run.index + run.header.records;
        Cursor {
            bucket,
            key: run.header.units.end_of(run.header.units.first),
            offset: run.offset + run::HEADER_BYTES as u64,
            end,
            end_index,
            run_end: end,
            run_end_index: end_index,
            units: run.header.units,
            next_index: run.index,
            block: Block::default(),
            is_at_record: false,
            is_of_file: false,
        }
    }

    /// Goes to the next record; false behind the last.
    pub(super) fn advance(&mut self, reader: &mut Reader) -> Result<bool, ReadFault> {
        self.is_at_record = false;
        while self.block.left() == 0 {
            if self.next_index == self.end_index {
                self.block.release();
                return Ok(false);
            }
            if self.next_index == self.run_end_index {
                self.enter_run(reader)?;
            }
            self.enter_block(reader)?;
        }
        if self.block.advance(self.units).is_none() {
            let end = self.next_index + 1 + self.block.left();
            let end = end.min(self.run_end_index);
            self.block.release();
            return Err(self.skip_to(end, self.offset));
        }
        self.next_index += 1;
        self.is_at_record = true;
        Ok(true)
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Cursor>() + self.block.memory_bytes()
    }

    /// Where the present record is.
    pub(super) fn place(&self) -> Place {
        Place {
            bucket: self.bucket,
            index: self.next_index.saturating_sub(1),
        }
    }

    /// The unit of the present record.
    pub(super) fn unit(&self) -> u64 {
        self.block.unit()
    }

    /// The present record, if there is one.
    pub(super) fn record(&self) -> Option<RecordRef<'_>> {
        self.is_at_record.then(|| self.block.record())
    }

    fn read_bytes(&self) -> u64 {
        if self.is_of_file {
            FILE_READ_BYTES
        } else {
            RUN_READ_BYTES
        }
    }

    fn enter_run(&mut self, reader: &mut Reader) -> Result<(), ReadFault> {
        let at = RunStart {
            bucket: self.bucket,
            offset: self.offset,
            index: self.next_index,
        };
        let limit = RunLimit {
            end: self.end,
            end_index: self.end_index,
            read_bytes: self.read_bytes(),
        };
        let Some(header) = read_run_header(at, limit, reader).map_err(ReadFault::Disk)? else {
            return Err(self.skip_to(self.end_index, self.end));
        };
        self.run_end = self.offset + header.bytes;
        self.run_end_index = self.next_index + header.records;
        self.units = header.units;
        self.offset += run::HEADER_BYTES as u64;
        Ok(())
    }

    fn enter_block(&mut self, reader: &mut Reader) -> Result<(), ReadFault> {
        let place = Place {
            bucket: self.bucket,
            index: self.next_index,
        };
        let at = Stretch {
            bucket: self.bucket,
            offset: self.offset,
            bytes: self.end.saturating_sub(self.offset).min(self.read_bytes()),
        };
        let bytes = reader.bytes(at, block::HEADER_BYTES);
        let bytes = bytes.map_err(ReadFault::Disk)?;
        let room = self.run_end_index - self.next_index;
        let header = BlockHeader::decode(place, bytes).filter(|header| header.records <= room);
        let Some(header) = header else {
            return Err(self.skip_to(self.run_end_index, self.run_end));
        };
        let length = block::HEADER_BYTES + header.payload_bytes();
        // The piece may be read anew, and then begins with the header too.
        reader.bytes(at, length).map_err(ReadFault::Disk)?;
        let start = usize::try_from(at.offset - reader.piece_offset).unwrap_or(usize::MAX);
        let payload = reader
            .piece
            .get(start + block::HEADER_BYTES..start + length);
        let units = self.units;
        let loaded = payload.and_then(|payload| {
            self.block
                .load(&header, payload, &mut reader.unpacker, units)
        });
        let end = self.offset + length as u64;
        if loaded.is_none() {
            return Err(self.skip_to(self.next_index + header.records, end));
        }
        self.offset = end;
        Ok(())
    }

    /// Leaves out what cannot be read.
    fn skip_to(&mut self, index: u32, offset: u64) -> ReadFault {
        let damage = Damage {
            offset: self.offset,
            first: self.next_index,
            end: index,
        };
        self.next_index = index;
        self.offset = offset;
        ReadFault::Damage(damage)
    }
}

/// Where a run should begin.
#[derive(Clone, Copy, Debug)]
struct RunStart {
    bucket: BucketNumber,
    offset: u64,
    index: u32,
}

/// Where it must end, at most.
#[derive(Clone, Copy, Debug)]
struct RunLimit {
    end: u64,
    end_index: u32,
    /// How much to read with it.
    read_bytes: u64,
}

fn read_run_header(
    at: RunStart,
    limit: RunLimit,
    reader: &mut Reader,
) -> Result<Option<RunHeader>, DiskError> {
    let stretch = Stretch {
        bucket: at.bucket,
        offset: at.offset,
        bytes: limit.end.saturating_sub(at.offset).min(limit.read_bytes),
    };
    let place = Place {
        bucket: at.bucket,
        index: at.index,
    };
    let bytes = reader.bytes(stretch, run::HEADER_BYTES)?;
    let header = RunHeader::decode(place, bytes);
    Ok(header.filter(|header| {
        header.bytes <= limit.end.saturating_sub(at.offset)
            && header.records <= limit.end_index - at.index
    }))
}

/// Finds the runs of a bucket's file. If one is damaged, nothing: then only reading front to back tells what is lost.
pub(super) fn runs(
    bucket: BucketNumber,
    file: &BucketFile,
    reader: &mut Reader,
) -> Result<Option<Vec<RunPlace>>, DiskError> {
    let mut runs = Vec::new();
    let mut at = RunStart {
        bucket,
        offset: FILE_HEADER_BYTES as u64,
        index: 0,
    };
    while at.index < file.size.records {
        let limit = RunLimit {
            end: file.size.bytes,
            end_index: file.size.records,
            read_bytes: run::HEADER_BYTES as u64,
        };
        let Some(header) = read_run_header(at, limit, reader)? else {
            return Ok(None);
        };
        runs.push(RunPlace {
            offset: at.offset,
            index: at.index,
            header,
        });
        at.offset += header.bytes;
        at.index += header.records;
    }
    Ok(Some(runs))
}

/// What the file of a bucket says of itself, as far as it is right; nothing if it has no records.
pub(super) fn salvage(
    bucket: BucketNumber,
    disk: &Disk,
    dir: &Path,
) -> Result<Option<BucketFile>, TimeQueueError> {
    let reader = Reader::new(disk.clone(), dir);
    let mut reader = reader.map_err(|source| TimeQueueError::Io {
        path: dir.to_owned(),
        source,
    })?;
    let file_bytes = match disk.open(&contents::path(dir, bucket)) {
        // For one who looks on: a live crawl removed it since it was listed.
        Err(error) if error.source.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?.len()?,
    };
    let header = Stretch {
        bucket,
        offset: 0,
        bytes: FILE_HEADER_BYTES as u64,
    };
    let bytes = reader.bytes(header, FILE_HEADER_BYTES)?;
    let Some(key) = contents::decode_header(bucket, bytes) else {
        return Ok(None);
    };
    let mut file = BucketFile::new(key);
    file.size.bytes = FILE_HEADER_BYTES as u64;
    loop {
        let at = RunStart {
            bucket,
            offset: file.size.bytes,
            index: file.size.records,
        };
        let limit = RunLimit {
            end: file_bytes,
            end_index: u32::MAX,
            read_bytes: run::HEADER_BYTES as u64,
        };
        let Some(header) = read_run_header(at, limit, &mut reader)? else {
            return Ok((0 < file.size.records).then_some(file));
        };
        file.size.bytes += header.bytes;
        file.size.records += header.records;
        file.size.runs += 1;
    }
}
