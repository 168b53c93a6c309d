//! Reads the records of a WARC or ARC file, one after the other, in bounded memory.
//!
//! WARC 1.0 and 1.1 and ARC 1 and 2, as it is or with a gzip member or zstd frame for each record; which of them, the first record says. A [`Record`] is read as a stream; its
//! [`Record::finish`] says where it was. Blocks may be of any size; heads are bounded.
//!
//! This is our own reader because recovery must know exactly where each member ends and whether the last one is whole to
//! its final byte, and because a record must be able to leave its thread, which those of fastwarc 2 cannot.
//!
//! Not here: going on after damage ([`crate::walk()`]); HTTP (`junkai_http`).

use std::fs::File;
use std::io::{self, BufRead as _, Read, Seek as _, SeekFrom, Write};
use std::path::Path;

use junkai_http::TextHead;

use crate::arc::ArcLine;
use crate::member::{Input, Member};
use crate::read_error::{HEAD_BYTES_MAX, ReadError, read_error};
use crate::record::TERMINATOR;
use crate::record_head::{Format, RecordHead, Span};

/// Reads the records of one file.
pub struct Reader<R> {
    /// `None` after an error and at the end: nothing can be read on.
    member: Option<Member<R>>,
    /// What the records were so far; none before the first.
    format: Option<Format>,
    /// The record that is being read, and what is left of its block.
    current: Option<Current>,
}

#[derive(Clone, Copy)]
struct Current {
    offset: u64,
    remaining: u64,
    /// Decoded bytes up to the end of the block: what the length of a plain record is.
    length: u64,
}

impl Reader<File> {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::open_at(path, 0)
    }

    /// Opens a file at the record that starts at `offset`.
    pub fn open_at(path: &Path, offset: u64) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(ReadError::Io)?;
        Self::of_file_at(file, offset)
    }

    /// Reads an open file from the record that starts at `offset`.
    pub(crate) fn of_file_at(mut file: File, offset: u64) -> Result<Self, ReadError> {
        file.rewind().map_err(ReadError::Io)?;
        let mut start = Reader::new(file.try_clone().map_err(ReadError::Io)?)?;
        if offset == 0 {
            return Ok(start);
        }
        file.seek(SeekFrom::Start(offset)).map_err(ReadError::Io)?;
        let input = Input::new(file, offset);
        start.member = start.member.take().map(|member| member.moved_to(input));
        Ok(start)
    }
}

impl<R: Read> Reader<R> {
    /// Reads from the start of a WARC file.
    pub fn new(source: R) -> Result<Self, ReadError> {
        let member = Member::detect(Input::new(source, 0)).map_err(|error| read_error(error, 0))?;
        Ok(Self {
            member: Some(member),
            format: None,
            current: None,
        })
    }

    /// The next record; `None` at the end of the file, and after an error.
    pub fn next_record(&mut self) -> Result<Option<Record<'_, R>>, ReadError> {
        if self.current.is_some() {
            self.finish_current()?;
        }
        match self.start_record() {
            Ok(Some((head, bytes))) => Ok(Some(Record {
                reader: self,
                head,
                bytes,
            })),
            Ok(None) => Ok(None),
            Err(error) => {
                self.member = None;
                Err(error)
            }
        }
    }

    fn start_record(&mut self) -> Result<Option<(RecordHead, Vec<u8>)>, ReadError> {
        let Some(member) = &mut self.member else {
            return Ok(None);
        };
        let offset = member.position();
        let at = |error| read_error(error, offset);
        if !member.start().map_err(at)? {
            return Ok(None);
        }
        let (head, bytes) = read_head(member, self.format, offset)?;
        self.format = Some(head.format());
        self.current = Some(Current {
            offset,
            remaining: head.content_length,
            length: (bytes.len() as u64).saturating_add(head.content_length),
        });
        Ok(Some((head, bytes)))
    }

    fn read_block(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (Some(member), Some(current)) = (&mut self.member, &mut self.current) else {
            return Ok(0);
        };
        let wanted = usize::try_from(current.remaining)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        if wanted == 0 {
            return Ok(0);
        }
        let count = member.read(&mut buffer[..wanted])?;
        if count == 0 {
            return Err(member.early_end());
        }
        current.remaining -= count as u64;
        Ok(count)
    }

    fn finish_current(&mut self) -> Result<Span, ReadError> {
        let Some(current) = self.current else {
            unreachable!("a record is finished once")
        };
        let span = self.skip_to_end(current);
        self.current = None;
        if span.is_err() {
            self.member = None;
        }
        span
    }

    fn skip_to_end(&mut self, current: Current) -> Result<Span, ReadError> {
        let offset = current.offset;
        let mut buffer = [0; 8192];
        while self
            .read_block(&mut buffer)
            .map_err(|error| read_error(error, offset))?
            != 0
        {}
        let Some(member) = &mut self.member else {
            return Err(ReadError::Torn { offset });
        };
        let format = self.format.unwrap_or(Format::Warc);
        let end = member
            .end(format)
            .map_err(|error| read_error(error, offset))?;
        let rest = end.rest.trim_ascii_start();
        let (is_next, is_terminated) = match format {
            Format::Warc => (rest.starts_with(b"WARC/"), end.rest == TERMINATOR),
            Format::Arc => (ArcLine::could_begin(rest), rest.is_empty()),
        };
        if is_next && !member.is_plain() {
            return Err(ReadError::NotPerRecord { offset });
        }
        let position = member.position();
        Ok(Span {
            offset,
            length: if member.is_plain() {
                current.length
            } else {
                position - offset
            },
            end: position,
            is_terminated,
        })
    }
}

/// A record: its head, and its block to be read.
pub struct Record<'a, R: Read> {
    reader: &'a mut Reader<R>,
    head: RecordHead,
    /// The head as it is in the file.
    bytes: Vec<u8>,
}

impl<R: Read> Record<'_, R> {
    /// The head.
    #[must_use]
    pub fn head(&self) -> &RecordHead {
        &self.head
    }

    /// The head as it is in the file.
    pub(crate) fn head_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes the record as it is in the file, decompressed, and says where it was.
    ///
    /// # Errors
    /// [`ReadError::Io`] where `out` cannot be written, as well.
    pub fn copy_to(mut self, mut out: impl Write) -> Result<Span, ReadError> {
        let offset = self.head.offset;
        out.write_all(&self.bytes).map_err(ReadError::Io)?;
        let mut buffer = [0; 16 << 10];
        loop {
            match self
                .read(&mut buffer)
                .map_err(|error| read_error(error, offset))?
            {
                0 => break,
                count => out.write_all(&buffer[..count]).map_err(ReadError::Io)?,
            }
        }
        let terminator = match self.head.format() {
            Format::Warc => TERMINATOR,
            Format::Arc => b"\n",
        };
        let span = self.finish()?;
        out.write_all(terminator).map_err(ReadError::Io)?;
        Ok(span)
    }

    /// Passes over what is left of the block, checks that the record is whole, and says where it was.
    pub fn finish(self) -> Result<Span, ReadError> {
        self.reader.finish_current()
    }
}

impl<R: Read> Read for Record<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read_block(buffer)
    }
}

/// Reads the head of a record of either format.
fn read_head<R: Read>(
    member: &mut Member<R>,
    format: Option<Format>,
    offset: u64,
) -> Result<(RecordHead, Vec<u8>), ReadError> {
    let mut bytes = Vec::new();
    read_line(member, &mut bytes, offset)?;
    // Some wrote the line feed between records before the record.
    while format != Some(Format::Warc) && bytes.len() < 4 && bytes.trim_ascii().is_empty() {
        read_line(member, &mut bytes, offset)?;
    }
    if could_be_version(&bytes) && format != Some(Format::Arc) {
        return read_warc_head(member, bytes, offset);
    }
    let line = String::from_utf8_lossy(&bytes);
    let line = line.trim_start_matches(['\r', '\n']);
    match ArcLine::parse(line).filter(|_| format != Some(Format::Warc)) {
        Some(line) => {
            let head = line.head(offset).ok_or(ReadError::Length { offset })?;
            Ok((head, bytes))
        }
        None => Err(not_a_record(offset, line)),
    }
}

/// Reads the rest of a head whose first line is read: up to and with the first line of white space.
fn read_warc_head<R: Read>(
    member: &mut Member<R>,
    mut bytes: Vec<u8>,
    offset: u64,
) -> Result<(RecordHead, Vec<u8>), ReadError> {
    loop {
        let line_start = bytes.len();
        read_line(member, &mut bytes, offset)?;
        if bytes[line_start..].trim_ascii().is_empty() {
            break;
        }
    }
    let head = TextHead::parse(&bytes);
    if !is_version(&head.first_line) {
        return Err(not_a_record(offset, &head.first_line));
    }
    let content_length = head
        .field("Content-Length")
        .and_then(|text| text.trim().parse().ok());
    let head = RecordHead {
        offset,
        version: head.first_line.into_owned(),
        fields: head
            .fields
            .into_iter()
            .map(|(k, v)| (k.into_owned(), v.into_owned()))
            .collect(),
        content_length: content_length.ok_or(ReadError::Length { offset })?,
    };
    Ok((head, bytes))
}

/// Reads one more line of a head.
fn read_line<R: Read>(
    member: &mut Member<R>,
    bytes: &mut Vec<u8>,
    offset: u64,
) -> Result<(), ReadError> {
    let line_start = bytes.len();
    let room = HEAD_BYTES_MAX - line_start;
    member
        .by_ref()
        .take(room as u64)
        .read_until(b'\n', bytes)
        .map_err(|error| read_error(error, offset))?;
    let line = &bytes[line_start..];
    if line.ends_with(b"\n") {
        return Ok(());
    }
    // What cannot become a record is told as what it is, not as one that is torn.
    if line_start == 0 && !could_be_version(line) && !ArcLine::could_begin(line) {
        return Err(not_a_record(offset, &String::from_utf8_lossy(line)));
    }
    if bytes.len() == HEAD_BYTES_MAX {
        return Err(ReadError::HeadTooLong { offset });
    }
    Err(read_error(member.early_end(), offset))
}

fn could_be_version(line: &[u8]) -> bool {
    let length = line.len().min(5);
    line[..length].eq_ignore_ascii_case(&b"WARC/"[..length])
}

fn is_version(line: &str) -> bool {
    ["WARC/1.1", "WARC/1.0", "WARC/0.17", "WARC/0.18"]
        .iter()
        .any(|version| line.eq_ignore_ascii_case(version))
}

fn not_a_record(offset: u64, found: &str) -> ReadError {
    let found = found
        .trim_end()
        .chars()
        .take(40)
        .flat_map(char::escape_debug)
        .collect();
    ReadError::NotARecord { offset, found }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[u8] = b"WARC/1.0\r\nWARC-Type: a\r\nContent-Length: 3\r\n\r\nabc\r\n\r\nWARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n";

    /// The spans of all records, and the error that ended reading.
    fn spans(bytes: &[u8]) -> (Vec<Span>, Option<ReadError>) {
        let mut spans = Vec::new();
        let mut reader = match Reader::new(bytes) {
            Ok(reader) => reader,
            Err(error) => return (spans, Some(error)),
        };
        loop {
            match reader
                .next_record()
                .map(|record| record.map(Record::finish))
            {
                Ok(Some(Ok(span))) => spans.push(span),
                Ok(None) => return (spans, None),
                Ok(Some(Err(error))) | Err(error) => {
                    assert!(
                        matches!(reader.next_record(), Ok(None)),
                        "nothing follows an error"
                    );
                    return (spans, Some(error));
                }
            }
        }
    }

    #[test]
    fn plain_records_are_read_one_after_the_other() {
        let (spans, error) = spans(TWO);
        assert!(error.is_none());
        let first = Span {
            offset: 0,
            length: 48,
            end: 52,
            is_terminated: true,
        };
        let second = Span {
            offset: 52,
            length: 31,
            end: 87,
            is_terminated: true,
        };
        assert_eq!(spans, [first, second]);
    }

    #[test]
    fn a_length_that_is_a_little_too_small_is_passed_over() {
        let text = String::from_utf8(TWO.to_vec())
            .unwrap()
            .replace("Length: 3", "Length: 2");
        let (spans, error) = spans(text.as_bytes());
        assert!(error.is_none());
        let ends: Vec<_> = spans
            .iter()
            .map(|span| (span.length, span.end, span.is_terminated))
            .collect();
        assert_eq!(ends, [(47, 52, false), (31, 87, true)]);
    }

    #[test]
    fn a_record_is_copied_as_it_is() {
        let mut copy = Vec::new();
        let mut reader = Reader::new(TWO).unwrap();
        while let Some(record) = reader.next_record().unwrap() {
            record.copy_to(&mut copy).unwrap();
        }
        assert_eq!(copy, TWO);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let endless = [b"WARC/1.0\r\nX: ", &vec![b'x'; HEAD_BYTES_MAX][..]].concat();
        let check = |bytes: &[u8], expected: &str| {
            let message = spans(bytes)
                .1
                .map(|error| error.with_cause())
                .unwrap_or_default();
            assert!(
                message.contains(expected),
                "{message:?} has no {expected:?}"
            );
        };
        check(b"", "");
        check(
            b"filedesc://x.arc 0.0.0.0 20260101 text/plain -1\n",
            "no valid length",
        );
        check(b"<html>\n", "no WARC record at offset 0, but `<html>`");
        check(
            b"WARC/2.0\r\n\r\n",
            "no WARC record at offset 0, but `WARC/2.0`",
        );
        check(&endless, "has a head of more than 65536 bytes");
        check(b"WARC/1.0\r\nWARC-Type: a\r\n\r\n", "no valid length");
        check(b"WARC/1.0\r\nContent-Length: -1\r\n\r\n", "no valid length");
        check(b"WARC/1.0\r\nContent-Length: 9\r\n\r\nabc", "torn");
        check(b"WARC/1.0\r\nContent-Le", "torn");
        check(
            b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\nabc\r\n",
            "no WARC record at offset 35, but `abc`",
        );
        check(&[0x1f, 0x8b, 8, 0, 1, 2], "torn");
        check(&[0x1f, 0x8b, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], "damaged");
    }

    const ARC: &[u8] = b"filedesc://x.arc 0.0.0.0 20260101000000 text/plain 4\n1 0\n\nhttp://a.example/ 1.2.3.4 20260101000000 text/html 3\nabc\nhttp://b.example/ 1.2.3.4 20260101000000 text/html 2\nde\n";

    fn texts(bytes: &[u8]) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        let mut reader = Reader::new(bytes).unwrap();
        while let Some(mut record) = reader.next_record().unwrap() {
            let url = record.head().target_uri().unwrap_or_default();
            let mut block = String::new();
            record.read_to_string(&mut block).unwrap();
            texts.push((url, block));
        }
        texts
    }

    #[test]
    fn the_records_of_an_arc_file_are_read_one_after_the_other() {
        let expected = [
            ("", "1 0\n"),
            ("http://a.example/", "abc"),
            ("http://b.example/", "de"),
        ]
        .map(|(url, block)| (url.to_owned(), block.to_owned()));
        assert_eq!(texts(ARC), expected);
        let (spans, error) = spans(ARC);
        assert!(error.is_none());
        assert!(spans.iter().all(|span| span.is_terminated));
        assert_eq!(
            (spans[1].offset, spans[1].length, spans[1].end),
            (58, 56, 115)
        );
        // No line feed between records.
        let text = String::from_utf8(ARC.to_vec()).unwrap();
        assert_eq!(texts(text.replace("abc\n", "abc").as_bytes()), expected);
        // From the middle, and as it is.
        assert_eq!(texts(&ARC[58..]), expected[1..]);
        let mut copy = Vec::new();
        let mut reader = Reader::new(ARC).unwrap();
        while let Some(record) = reader.next_record().unwrap() {
            record.copy_to(&mut copy).unwrap();
        }
        assert_eq!(copy, ARC);
    }

    #[test]
    fn an_arc_file_has_a_member_for_each_record() {
        let gzip = |bytes: &[u8]| {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        };
        let cuts = [&ARC[..58], &ARC[58..115], &ARC[115..]];
        let file: Vec<u8> = cuts.iter().flat_map(|bytes| gzip(bytes)).collect();
        assert_eq!(texts(&file), texts(ARC));
        // The line feed before a record instead of after it.
        let cuts = [&ARC[..57], &ARC[57..114], &ARC[114..]];
        let file: Vec<u8> = cuts.iter().flat_map(|bytes| gzip(bytes)).collect();
        assert_eq!(texts(&file), texts(ARC));
        let (_, error) = spans(&gzip(ARC));
        assert!(
            matches!(error, Some(ReadError::NotPerRecord { offset: 0 })),
            "{error:?}"
        );
    }
}
