//! Goes over the records of a file from end to end, past what is damaged.
//!
//! A damaged record ends what a [`Reader`] can read. The walk then looks for the next place where a record may begin and
//! goes on there, so that one bad byte costs one record and not the rest of the file.
//!
//! Bounds: a place that only looks like a record may be read far before that shows. All such reading together is bounded by a
//! multiple of the file's length, so that a hostile file takes time in proportion to its length.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crate::arc::ArcLine;
use crate::member::{Input, Member};
use crate::read_error::{HEAD_BYTES_MAX, ReadError};
use crate::reader::{Reader, Record};
use crate::record_head::Format;

/// So many times the length of a file may be read in vain.
const VAIN_READINGS_MAX: u64 = 8;
/// As many bytes may be read in vain in any file.
const VAIN_BYTES_FREE: u64 = 64 << 20;
/// What it costs to try a place, beside what is read there: buffers are filled.
const TRY_BYTES: u64 = 192 << 10;
/// Bytes that are searched at a time.
const CHUNK_BYTES: usize = 64 << 10;
/// How plain WARC records begin.
const WARC_BEGINNING: &[u8] = b"WARC/";

/// Who is shown the records of a file and what is damaged in it, in the order of the file.
pub trait Walker {
    /// A record begins here; it is whole if it can be read to its end. An error that is returned is a damage.
    ///
    /// # Errors
    /// What reading the record says.
    fn record(&mut self, record: Record<'_, File>) -> Result<(), ReadError>;

    /// Something cannot be read.
    fn damage(&mut self, error: ReadError);
}

/// Shows every record and every damage of a file to a walker.
pub fn walk(path: &Path, walker: &mut impl Walker) {
    let mut start = 0;
    let mut format = None;
    let mut allowance = match File::open(path).and_then(|file| file.metadata()) {
        Ok(metadata) => metadata
            .len()
            .saturating_mul(VAIN_READINGS_MAX)
            .saturating_add(VAIN_BYTES_FREE),
        Err(error) => return walker.damage(ReadError::Io(error)),
    };
    loop {
        let mut taken = 0_u64;
        let Err((error, end)) = walk_from(path, start, |record| {
            taken += 1;
            format.get_or_insert(record.head().format());
            walker.record(record)
        }) else {
            return;
        };
        let offset = error.offset().max(start);
        let is_readable = !matches!(error, ReadError::Io(_));
        // At a place that only looked like a record nothing is lost but the look.
        let was_guess = 0 < start && taken == 0 && error.offset() == start;
        if !was_guess || !is_readable {
            walker.damage(error);
        }
        if !is_readable {
            return;
        }
        let vain = TRY_BYTES + end.saturating_sub(offset);
        let Some(left) = allowance.checked_sub(vain) else {
            return walker.damage(ReadError::GivenUp { offset });
        };
        allowance = left;
        match next_start(path, offset + 1, format) {
            Ok(Some(next)) => start = next,
            Ok(None) => return,
            Err(error) => return walker.damage(ReadError::Io(error)),
        }
    }
}

/// Reads from a place to the end of the file; or else says why not, and how far the file was read.
fn walk_from(
    path: &Path,
    start: u64,
    mut take: impl FnMut(Record<'_, File>) -> Result<(), ReadError>,
) -> Result<(), (ReadError, u64)> {
    let opened = File::open(path).and_then(|file| Ok((file.try_clone()?, file)));
    // Both have one position in the file.
    let (mut observed, file) = opened.map_err(|error| (ReadError::Io(error), start))?;
    let read = || -> Result<(), ReadError> {
        let mut reader = Reader::of_file_at(file, start)?;
        while let Some(record) = reader.next_record()? {
            take(record)?;
        }
        Ok(())
    };
    read().map_err(|error| (error, observed.stream_position().unwrap_or(start)))
}

/// The next place, from `from` on, where a record may begin: by the first bytes of the file, those of a gzip member, a zstd
/// frame, or a plain record.
fn next_start(path: &Path, from: u64, format: Option<Format>) -> io::Result<Option<u64>> {
    let mut file = File::open(path)?;
    let compressed = match Member::detect(Input::new(&mut file, 0)) {
        Ok(member) => member.beginning(),
        // Only a file whose dictionary is damaged has no kind; nothing of it can be read.
        Err(_) => return Ok(None),
    };
    // The byte before tells whether a line begins at `from`.
    let before = from.saturating_sub(1);
    let is_line_based = matches!((compressed, format), (None, Some(Format::Arc)));
    file.seek(SeekFrom::Start(if is_line_based { before } else { from }))?;
    match (compressed, format) {
        (Some(beginning), _) => next_bytes(file, from, beginning),
        (None, Some(Format::Arc)) => next_arc_line(file, before),
        (None, Some(Format::Warc)) => next_bytes(file, from, WARC_BEGINNING),
        (None, None) => {
            let warc = next_bytes(file.try_clone()?, from, WARC_BEGINNING)?;
            file.seek(SeekFrom::Start(before))?;
            let arc = next_arc_line(file.take(warc.map_or(u64::MAX, |at| at - before)), before)?;
            Ok(arc.or(warc))
        }
    }
}

/// Where some bytes are found next.
fn next_bytes(mut file: File, from: u64, wanted: &[u8]) -> io::Result<Option<u64>> {
    let finder = memchr::memmem::Finder::new(wanted);
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
        if let Some(at) = finder.find(&window) {
            return Ok(Some(place + at as u64));
        }
        // They may lie across the boundary of two chunks.
        let passed = window.len().saturating_sub(wanted.len() - 1);
        window.drain(..passed);
        place += passed as u64;
    }
}

/// Where the next line stands, after the one that `from` is in, that begins a record of an ARC file.
fn next_arc_line(source: impl io::Read, from: u64) -> io::Result<Option<u64>> {
    let mut source = BufReader::with_capacity(CHUNK_BYTES, source);
    let mut place = from + source.skip_until(b'\n')? as u64;
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = (&mut source).take(HEAD_BYTES_MAX as u64);
        let count = bounded.read_until(b'\n', &mut line)?;
        if count == 0 {
            return Ok(None);
        }
        if ArcLine::parse(&String::from_utf8_lossy(&line)).is_some() {
            return Ok(Some(place));
        }
        place += count as u64;
        if !line.ends_with(b"\n") {
            place += source.skip_until(b'\n')? as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn record(number: u32) -> Vec<u8> {
        let block = format!("block {number}").repeat(40);
        format!(
            "WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
        .into_bytes()
    }

    fn arc_record(number: u32) -> Vec<u8> {
        let block = format!("block {number} of\nlines").repeat(40);
        let line = format!("http://a.example/{number} 1.2.3.4 20260101000000 text/plain");
        format!("{line} {}\n{block}\n", block.len()).into_bytes()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 1).unwrap()
    }

    /// Offsets of the whole records of a file, and what is damaged.
    #[derive(Default)]
    struct Walked {
        whole: Vec<u64>,
        damages: Vec<String>,
    }

    impl Walker for Walked {
        fn record(&mut self, record: Record<'_, File>) -> Result<(), ReadError> {
            self.whole.push(record.finish()?.offset);
            Ok(())
        }

        fn damage(&mut self, error: ReadError) {
            self.damages.push(error.to_string());
        }
    }

    fn walked(bytes: &[u8]) -> (Vec<u64>, Vec<String>) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let mut walked = Walked::default();
        walk(file.path(), &mut walked);
        (walked.whole, walked.damages)
    }

    #[test]
    fn one_damaged_record_in_the_middle_costs_that_record_in_every_form() {
        type Form = fn(&[u8]) -> Vec<u8>;
        type Made = fn(u32) -> Vec<u8>;
        let plain: Form = <[u8]>::to_vec;
        let kinds: [(Form, Made); 6] = [
            (plain, record),
            (gzip, record),
            (zstd, record),
            (plain, arc_record),
            (gzip, arc_record),
            (zstd, arc_record),
        ];
        for (at, (form, record)) in kinds.into_iter().enumerate() {
            let records: Vec<Vec<u8>> = (0..5).map(|number| form(&record(number))).collect();
            let starts: Vec<u64> = (0..5)
                .map(|number| records[..number].concat().len() as u64)
                .collect();
            let mut bytes = records.concat();
            let first = usize::try_from(starts[2]).unwrap();
            // The head of a plain record, and the data of a compressed one.
            let hurt = if at % 3 == 0 {
                first..first + 9
            } else {
                first + 12..first + 30
            };
            bytes[hurt].fill(0xee);
            let (whole, damages) = walked(&bytes);
            assert_eq!(whole, [starts[0], starts[1], starts[3], starts[4]], "{at}");
            assert_eq!(damages.len(), 1, "{at}: {damages:?}");
        }
    }

    #[test]
    fn one_tear_of_an_arc_file_is_told_once() {
        let whole = [arc_record(0), arc_record(1)].concat();
        let start = arc_record(0).len();
        let line = whole[start..].iter().position(|byte| *byte == b'\n');
        let head_end = start + line.unwrap() + 1;
        for end in [head_end, head_end + 1, whole.len() - 2] {
            let (found, damages) = walked(&whole[..end]);
            assert_eq!(found, [0], "{end}");
            assert_eq!(damages.len(), 1, "{end}: {damages:?}");
        }
    }

    #[test]
    fn a_file_with_a_damaged_beginning_is_walked_as_well() {
        for record in [record, arc_record] {
            let mut bytes = [record(0), record(1)].concat();
            bytes[..9].fill(0xee);
            let (whole, damages) = walked(&bytes);
            assert_eq!(whole, [record(0).len() as u64], "{damages:?}");
            assert_eq!(damages.len(), 1, "{damages:?}");
        }
    }

    #[test]
    fn a_file_that_is_full_of_beginnings_is_given_up() {
        // Each beginning is a member that is torn at the end of the file: stored blocks, one within the other.
        let mut bytes = Vec::new();
        while bytes.len() < 16 << 20 {
            bytes.extend_from_slice(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
            bytes.extend_from_slice(&[0, 0xff, 0xff, 0, 0]);
            bytes.extend(std::iter::repeat_n(b'W', 65_520));
        }
        let (_, damages) = walked(&bytes);
        assert!(damages.len() < 2000, "{}", damages.len());
        // And one whose places are cheap to refute, and too many.
        let many = [0x1f, 0x8b, 8].repeat(1 << 20);
        let (whole, damages) = walked(&many);
        assert!(whole.is_empty());
        let last = damages.last().unwrap();
        assert!(last.contains("too much is damaged"), "{last}");
    }
}
