//! One compressed member after the other, each from its first byte to its last.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

use crate::arc::ArcLine;
use crate::record_head::Format;

/// A buffered source that knows how far it was read.
pub(crate) struct Input<R> {
    source: BufReader<R>,
    position: u64,
    /// What was read and is to be read once more.
    again: Vec<u8>,
}

impl<R: Read> Input<R> {
    pub(crate) fn new(source: R, position: u64) -> Self {
        Self {
            source: BufReader::with_capacity(64 << 10, source),
            position,
            again: Vec::new(),
        }
    }

    /// Takes back what was read last.
    fn unread(&mut self, bytes: Vec<u8>) {
        debug_assert!(self.again.is_empty(), "only the last bytes are taken back");
        self.position -= bytes.len() as u64;
        self.again = bytes;
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = if self.again.is_empty() {
            self.source.read(buffer)?
        } else {
            let count = (&self.again[..]).read(buffer)?;
            self.again.drain(..count);
            count
        };
        self.position += count as u64;
        Ok(count)
    }
}

impl<R: Read> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.again.is_empty() {
            self.source.fill_buf()
        } else {
            Ok(&self.again)
        }
    }

    fn consume(&mut self, count: usize) {
        if self.again.is_empty() {
            self.source.consume(count);
        } else {
            self.again.drain(..count);
        }
        self.position += count as u64;
    }
}

/// A source that is read member by member; a plain file is one without compression.
pub(crate) struct Member<R> {
    /// `None` only while it is being changed, and after an error in that.
    state: Option<State<R>>,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Plain,
    Gzip,
    /// With the dictionary of the file, if it has one.
    Zstd(Vec<u8>),
}

enum State<R> {
    /// Before a member.
    Between(Input<R>),
    Plain(Input<R>),
    Gzip(Box<BufReader<GzDecoder<Input<R>>>>),
    Zstd(Box<BufReader<zstd::Decoder<'static, Input<R>>>>),
}

/// The end of a member.
pub(crate) struct End {
    /// What followed the block, as far as it matters.
    pub(crate) rest: Vec<u8>,
}

/// As many bytes after a block are looked at; the standard has four.
const REST_BYTES_MAX: usize = 64;
/// Longest remainder of a line after a block.
const REMAINDER_BYTES_MAX: u64 = 64 << 10;
/// Largest dictionary of a `.warc.zst` file.
const DICTIONARY_BYTES_MAX: u64 = 16 << 20;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The same with the one method of compression that there is.
const GZIP_BEGINNING: [u8; 3] = [0x1f, 0x8b, 8];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Frame that holds the dictionary (the proposed `.warc.zst` standard).
const DICTIONARY_MAGIC: [u8; 4] = [0x5d, 0x2a, 0x4d, 0x18];

impl<R: Read> Member<R> {
    /// Finds out how a file is compressed, from its first bytes.
    pub(crate) fn detect(mut input: Input<R>) -> io::Result<Self> {
        let start = input.fill_buf()?;
        let kind = if start.starts_with(&GZIP_MAGIC) {
            Kind::Gzip
        } else if start.starts_with(&ZSTD_MAGIC) {
            Kind::Zstd(Vec::new())
        } else if start.starts_with(&DICTIONARY_MAGIC) {
            Kind::Zstd(read_dictionary(&mut input)?)
        } else {
            Kind::Plain
        };
        Ok(Self {
            state: Some(State::Between(input)),
            kind,
        })
    }

    /// The same file at another place.
    pub(crate) fn moved_to(self, input: Input<R>) -> Self {
        Self {
            state: Some(State::Between(input)),
            kind: self.kind,
        }
    }

    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.kind, Kind::Plain)
    }

    /// The bytes with which every member begins; none in a plain file.
    pub(crate) fn beginning(&self) -> Option<&'static [u8]> {
        match self.kind {
            Kind::Plain => None,
            Kind::Gzip => Some(&GZIP_BEGINNING),
            Kind::Zstd(_) => Some(&ZSTD_MAGIC),
        }
    }

    /// What it means that a record goes on where its member ends: in a plain file that the file was cut.
    pub(crate) fn early_end(&self) -> io::Error {
        match self.kind {
            Kind::Plain => io::ErrorKind::UnexpectedEof.into(),
            Kind::Gzip | Kind::Zstd(_) => {
                io::Error::new(io::ErrorKind::InvalidData, "its member ends before it does")
            }
        }
    }

    /// How far the file was read; between members exactly where the next one starts.
    pub(crate) fn position(&self) -> u64 {
        match &self.state {
            Some(State::Between(input) | State::Plain(input)) => input.position,
            Some(State::Gzip(reader)) => reader.get_ref().get_ref().position,
            Some(State::Zstd(reader)) => reader.get_ref().get_ref().position,
            None => 0,
        }
    }

    /// Starts the next member; `false` at the end of the file.
    pub(crate) fn start(&mut self) -> io::Result<bool> {
        let Some(State::Between(mut input)) = self.state.take() else {
            return Err(io::Error::other(
                "the member before was not read to its end",
            ));
        };
        if input.fill_buf()?.is_empty() {
            self.state = Some(State::Between(input));
            return Ok(false);
        }
        self.state = Some(match &self.kind {
            Kind::Plain => State::Plain(input),
            Kind::Gzip => State::Gzip(Box::new(BufReader::new(GzDecoder::new(input)))),
            Kind::Zstd(dictionary) => {
                let decoder = zstd::Decoder::with_dictionary(input, dictionary)?;
                State::Zstd(Box::new(BufReader::new(decoder.single_frame())))
            }
        });
        Ok(true)
    }

    /// Reads a member to its end, which checks it, and stands before the next one.
    pub(crate) fn end(&mut self, format: Format) -> io::Result<End> {
        let mut rest = Vec::new();
        let input = match self.state.take() {
            Some(State::Plain(mut input)) => {
                take_separator(&mut input, format, &mut rest)?;
                input
            }
            Some(State::Gzip(mut reader)) => {
                drain(&mut reader, &mut rest)?;
                reader.into_inner().into_inner()
            }
            Some(State::Zstd(mut reader)) => {
                drain(&mut reader, &mut rest)?;
                reader.into_inner().finish()
            }
            Some(State::Between(input)) => input,
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
        };
        self.state = Some(State::Between(input));
        Ok(End { rest })
    }
}

impl<R: Read> Read for Member<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.state {
            Some(State::Plain(input)) => input.read(buffer),
            Some(State::Gzip(reader)) => reader.read(buffer),
            Some(State::Zstd(reader)) => reader.read(buffer),
            Some(State::Between(_)) | None => Ok(0),
        }
    }
}

impl<R: Read> BufRead for Member<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match &mut self.state {
            Some(State::Plain(input)) => input.fill_buf(),
            Some(State::Gzip(reader)) => reader.fill_buf(),
            Some(State::Zstd(reader)) => reader.fill_buf(),
            Some(State::Between(_)) | None => Ok(&[]),
        }
    }

    fn consume(&mut self, count: usize) {
        match &mut self.state {
            Some(State::Plain(input)) => input.consume(count),
            Some(State::Gzip(reader)) => reader.consume(count),
            Some(State::Zstd(reader)) => reader.consume(count),
            Some(State::Between(_)) | None => {}
        }
    }
}

/// Reads to the end; keeps the beginning of what it reads.
fn drain(reader: &mut impl Read, rest: &mut Vec<u8>) -> io::Result<()> {
    reader
        .by_ref()
        .take(REST_BYTES_MAX as u64)
        .read_to_end(rest)?;
    io::copy(reader, &mut io::sink())?;
    Ok(())
}

/// Takes what separates plain records, and keeps the beginning of it.
///
/// That is line ends; but where the length of a block is a little too small, as some tools wrote it, the rest of its
/// line comes first, and is passed over as warcio does. Records of ARC files may have nothing between them.
fn take_separator<R: Read>(
    input: &mut Input<R>,
    format: Format,
    rest: &mut Vec<u8>,
) -> io::Result<()> {
    let start = input.fill_buf()?;
    let is_remainder = !start.is_empty() && !is_line_end(start[0]) && !start.starts_with(b"WARC/");
    if is_remainder {
        input.take(REMAINDER_BYTES_MAX).read_until(b'\n', rest)?;
        if format == Format::Arc && ArcLine::parse(&String::from_utf8_lossy(rest)).is_some() {
            input.unread(std::mem::take(rest));
            return Ok(());
        }
    }
    loop {
        let bytes = input.fill_buf()?;
        let count = bytes.iter().take_while(|byte| is_line_end(**byte)).count();
        let room = REST_BYTES_MAX.saturating_sub(rest.len());
        rest.extend_from_slice(&bytes[..count.min(room)]);
        let is_done = count < bytes.len() || bytes.is_empty();
        input.consume(count);
        if is_done {
            return Ok(());
        }
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Reads the frame that holds the dictionary, which may itself be compressed.
fn read_dictionary(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut header = [0; 8];
    input.read_exact(&mut header)?;
    let size = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
    let mut dictionary = Vec::new();
    let too_large = || io::Error::new(io::ErrorKind::InvalidData, "the dictionary is too large");
    if DICTIONARY_BYTES_MAX < u64::from(size) {
        return Err(too_large());
    }
    input.take(u64::from(size)).read_to_end(&mut dictionary)?;
    if (dictionary.len() as u64) < u64::from(size) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if !dictionary.starts_with(&ZSTD_MAGIC) {
        return Ok(dictionary);
    }
    let mut plain = Vec::new();
    let decoder = zstd::Decoder::with_buffer(&dictionary[..])?;
    decoder
        .take(DICTIONARY_BYTES_MAX + 1)
        .read_to_end(&mut plain)?;
    if DICTIONARY_BYTES_MAX < plain.len() as u64 {
        return Err(too_large());
    }
    Ok(plain)
}
