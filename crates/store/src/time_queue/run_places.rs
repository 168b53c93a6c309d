//! Finds the runs of a bucket's file: by their headers, one behind the other.

use std::path::Path;

use super::TimeQueueError;
use super::bucket_file::{self, BucketFile, FILE_HEADER_BYTES};
use super::reader::{Piece, Reader, Stretch};
use super::run::{self, RunHeader};
use super::ticket::{BucketNumber, Place};
use junkai_files::disk::{Disk, DiskError};

/// Where the runs of a bucket begin: offset, and the index of the first record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunPlace {
    pub(super) offset: u64,
    pub(super) index: u32,
    pub(super) header: RunHeader,
}

/// Where a run should begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunStart {
    pub(super) bucket: BucketNumber,
    pub(super) offset: u64,
    pub(super) index: u32,
}

/// Where it must end, at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunLimit {
    pub(super) end: u64,
    pub(super) end_index: u32,
    /// How much to read with it.
    pub(super) read_bytes: u64,
}

/// The header of a run; nothing if there is none where it should be.
pub(super) fn read_header(
    at: RunStart,
    limit: RunLimit,
    reader: &mut Reader,
    piece: &mut Piece,
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
    let bytes = reader.bytes(piece, stretch, run::HEADER_BYTES)?;
    let header = RunHeader::decode(place, bytes);
    Ok(header.filter(|header| {
        header.bytes <= limit.end.saturating_sub(at.offset)
            && header.records <= limit.end_index - at.index
    }))
}

/// Finds the runs of a bucket's file. If one is damaged, nothing: then only reading front to back tells what is lost.
pub(super) fn find(
    bucket: BucketNumber,
    file: &BucketFile,
    reader: &mut Reader,
) -> Result<Option<Vec<RunPlace>>, DiskError> {
    let mut runs = Vec::new();
    let mut piece = Piece::default();
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
        let Some(header) = read_header(at, limit, reader, &mut piece)? else {
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
    let mut reader = reader.map_err(|source| DiskError {
        path: dir.to_owned(),
        source,
    })?;
    let Some(file) = disk.open_if_there(&bucket_file::path(dir, bucket))? else {
        // For one who looks on: a live crawl removed it since it was listed.
        return Ok(None);
    };
    let file_bytes = file.length()?;
    let header = Stretch {
        bucket,
        offset: 0,
        bytes: FILE_HEADER_BYTES as u64,
    };
    let mut piece = Piece::default();
    let bytes = reader.bytes(&mut piece, header, FILE_HEADER_BYTES)?;
    let Some(key) = bucket_file::decode_header(bucket, bytes) else {
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
        let Some(header) = read_header(at, limit, &mut reader, &mut piece)? else {
            return Ok((0 < file.size.records).then_some(file));
        };
        file.size.bytes += header.bytes;
        file.size.records += header.records;
        file.size.runs += 1;
    }
}
