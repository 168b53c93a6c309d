//! Reads a bucket's file front to back: one run of it, or all of them.

use super::block::{self, Block, BlockHeader, Units};
use super::bucket_file::{BucketFile, FILE_HEADER_BYTES};
use super::reader::{Piece, RUN_READ_BYTES_MIN, Reader, Stretch};
use super::record::RecordRef;
use super::run;
use super::run_places::{self, RunLimit, RunPlace, RunStart};
use super::ticket::{BucketNumber, Place};
use junkai_files::disk::DiskError;
use junkai_frontier::Time;

/// Bytes that are read at once where all of a file is read, if there are as many.
pub(super) const FILE_READ_BYTES: u64 = 256 << 10;

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
    /// What was read behind it.
    piece: Piece,
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
            piece: Piece::default(),
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
            piece: Piece::default(),
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
                self.piece.release();
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
        size_of::<Cursor>() + self.block.memory_bytes() + self.piece.memory_bytes()
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

    fn read_bytes(&self, reader: &Reader) -> u64 {
        if self.is_of_file {
            FILE_READ_BYTES
        } else {
            reader.run_read_bytes
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
            read_bytes: self.read_bytes(reader),
        };
        let header = run_places::read_header(at, limit, reader, &mut self.piece);
        let Some(header) = header.map_err(ReadFault::Disk)? else {
            let (index, offset) = self.run_behind(limit, reader).map_err(ReadFault::Disk)?;
            // There the next run is entered.
            self.run_end_index = index;
            return Err(self.skip_to(index, offset));
        };
        self.run_end = self.offset + header.bytes;
        self.run_end_index = self.next_index + header.records;
        self.units = header.units;
        self.offset += run::HEADER_BYTES as u64;
        Ok(())
    }

    /// Where to go on behind a run whose header is damaged: its blocks say how many records they have, and behind the last of them another run begins.
    fn run_behind(
        &mut self,
        limit: RunLimit,
        reader: &mut Reader,
    ) -> Result<(u32, u64), DiskError> {
        let (bucket, mut index) = (self.bucket, self.next_index);
        let mut offset = self.offset + run::HEADER_BYTES as u64;
        while offset < self.end {
            let at = Stretch {
                bucket,
                offset,
                bytes: (self.end - offset).min(limit.read_bytes),
            };
            let bytes = reader.bytes(&mut self.piece, at, block::HEADER_BYTES)?;
            let block = BlockHeader::decode(Place { bucket, index }, bytes)
                .filter(|block| block.records <= self.end_index - index);
            if let Some(block) = block {
                index += block.records;
                offset += (block::HEADER_BYTES + block.payload_bytes()) as u64;
                continue;
            }
            let start = RunStart {
                bucket,
                offset,
                index,
            };
            let next = run_places::read_header(start, limit, reader, &mut self.piece)?;
            if next.is_some() && self.next_index < index {
                return Ok((index, offset));
            }
            break;
        }
        Ok((self.end_index, self.end))
    }

    fn enter_block(&mut self, reader: &mut Reader) -> Result<(), ReadFault> {
        let place = Place {
            bucket: self.bucket,
            index: self.next_index,
        };
        let at = Stretch {
            bucket: self.bucket,
            offset: self.offset,
            bytes: self
                .end
                .saturating_sub(self.offset)
                .min(self.read_bytes(reader)),
        };
        let bytes = reader.bytes(&mut self.piece, at, block::HEADER_BYTES);
        let bytes = bytes.map_err(ReadFault::Disk)?;
        let room = self.run_end_index - self.next_index;
        let header = BlockHeader::decode(place, bytes).filter(|header| header.records <= room);
        let Some(header) = header else {
            return Err(self.skip_to(self.run_end_index, self.run_end));
        };
        let length = block::HEADER_BYTES + header.payload_bytes();
        // The piece may be read anew, and then begins with the header too.
        let bytes = reader.bytes(&mut self.piece, at, length);
        let bytes = bytes.map_err(ReadFault::Disk)?;
        let payload = bytes.get(block::HEADER_BYTES..length);
        let units = self.units;
        let loaded = payload.and_then(|payload| {
            self.block
                .load(&header, payload, &mut reader.unpacker, units)
        });
        let end = self.offset + length as u64;
        let is_shared_by_many = !self.is_of_file && reader.run_read_bytes <= RUN_READ_BYTES_MIN;
        if is_shared_by_many || self.end <= end {
            self.piece.release();
        }
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
