//! Goes over the records of a WARC file from end to end, past what is damaged.
//!
//! A damaged record ends what a [`Reader`] can read. The walk then looks for the next place where a record may begin and
//! goes on there, so that one bad byte costs one record and not the rest of the file.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use junkai_archive::{ReadError, Reader, Record};

/// Places from which a damaged file is tried again. Each try may read to the end of the file: this bounds the time that a
/// hostile one takes.
const TRIES_MAX: usize = 256;

/// Gives every whole record to `take`, and every damage to `damaged`. What `take` returns as an error is a damage as well.
pub(super) fn walk(
    path: &Path,
    mut take: impl FnMut(Record<'_, File>) -> Result<(), ReadError>,
    mut damaged: impl FnMut(&ReadError),
) {
    let mut start = 0;
    for _ in 0..TRIES_MAX {
        let mut taken = 0_u64;
        let Err(error) = walk_from(path, start, |record| {
            taken += 1;
            take(record)
        }) else {
            return;
        };
        // At a place that only looked like a record nothing is lost but the look.
        let was_guess = 0 < start && taken == 0 && error.offset() == start;
        if !was_guess {
            damaged(&error);
        }
        match next_start(path, error.offset().max(start) + 1) {
            Ok(Some(next)) if !matches!(error, ReadError::Io(_) | ReadError::Arc) => start = next,
            _ => return,
        }
    }
}

fn walk_from(
    path: &Path,
    start: u64,
    mut take: impl FnMut(Record<'_, File>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut reader = Reader::open_at(path, start)?;
    while let Some(record) = reader.next_record()? {
        take(record)?;
    }
    Ok(())
}

/// Reads the block of a record and checks that the record is whole.
pub(super) fn block_of(mut record: Record<'_, File>) -> Result<Vec<u8>, ReadError> {
    let offset = record.head().offset;
    let mut block = Vec::new();
    record
        .read_to_end(&mut block)
        .map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => ReadError::Torn { offset },
            _ => ReadError::Damaged { offset, source },
        })?;
    record.finish()?;
    Ok(block)
}

/// The next place, from `from` on, where a record may begin: by the first bytes of the file, those of a gzip member, a zstd
/// frame, or a plain record.
fn next_start(path: &Path, from: u64) -> io::Result<Option<u64>> {
    const CHUNK_BYTES: usize = 64 << 10;
    const BEGINNINGS: [&[u8]; 2] = [&[0x1f, 0x8b, 0x08], &[0x28, 0xb5, 0x2f, 0xfd]];
    let mut file = File::open(path)?;
    let mut first = Vec::new();
    (&mut file).take(8).read_to_end(&mut first)?;
    let beginning = BEGINNINGS
        .into_iter()
        .find(|beginning| first.starts_with(beginning))
        .unwrap_or(b"WARC/1.");
    file.seek(SeekFrom::Start(from))?;
    let mut place = from;
    let mut window = Vec::new();
    loop {
        let kept = window.len();
        (&mut file)
            .take(CHUNK_BYTES as u64)
            .read_to_end(&mut window)?;
        if window.len() == kept {
            return Ok(None);
        }
        let found = window
            .windows(beginning.len())
            .position(|bytes| bytes == beginning);
        if let Some(at) = found {
            return Ok(Some(place + at as u64));
        }
        // A beginning may lie across the boundary of two chunks.
        let passed = window.len().saturating_sub(beginning.len() - 1);
        window.drain(..passed);
        place += passed as u64;
    }
}
