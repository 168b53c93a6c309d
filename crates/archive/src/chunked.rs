//! Takes the chunks of a transfer encoding apart (RFC 9112, section 7.1), in pieces of any size.
//!
//! Departures: a line may end with LF alone, and trailers are passed over unread; both are common and harmless. Line
//! lengths are bounded.

use std::mem;

/// Longest line with the size of a chunk, and longest trailer section.
const LINE_BYTES_MAX: usize = 16 << 10;

/// How a chunked body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkedEnd {
    /// With its last chunk and trailers.
    Whole,
    /// Before its last chunk.
    Cut,
    /// With something that is not a chunk.
    Malformed,
}

/// A chunked body without its chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dechunked {
    /// The bytes in the chunks, as far as they go.
    pub payload: Vec<u8>,
    /// How the body ended.
    pub end: ChunkedEnd,
    /// Bytes of the body that were used: what follows belongs to no chunk.
    pub length: usize,
}

/// Takes the chunks of a whole body apart.
#[must_use]
pub fn dechunk(body: &[u8]) -> Dechunked {
    let mut decoder = Decoder::default();
    let mut payload = Vec::new();
    let length = decoder.feed(body, |piece| payload.extend_from_slice(piece));
    Dechunked {
        payload,
        end: decoder.end(),
        length,
    }
}

/// Takes chunks apart as they come.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    state: State,
    /// The line that is being read, which may come in pieces.
    line: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// In the line that tells the size of a chunk.
    #[default]
    Size,
    /// In a chunk, with so many bytes to come.
    Data(u64),
    /// In the line end after a chunk.
    AfterData,
    /// After the last chunk, with so many bytes of trailers read.
    Trailers(usize),
    Done,
    Failed,
}

impl Decoder {
    /// Takes in the next bytes, gives out what is in chunks, and returns how many bytes were used.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut out: impl FnMut(&[u8])) -> usize {
        let mut rest = bytes;
        while !rest.is_empty() && !matches!(self.state, State::Done | State::Failed) {
            if let State::Data(left) = self.state {
                let count = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                let (data, after) = rest.split_at(count);
                out(data);
                rest = after;
                let left = left - count as u64;
                self.state = if left == 0 {
                    State::AfterData
                } else {
                    State::Data(left)
                };
            } else {
                rest = self.take_line(rest);
            }
        }
        bytes.len() - rest.len()
    }

    /// How the body ended, if this was all.
    pub(crate) fn end(&self) -> ChunkedEnd {
        match self.state {
            State::Done => ChunkedEnd::Whole,
            State::Failed => ChunkedEnd::Malformed,
            State::Size | State::Data(_) | State::AfterData | State::Trailers(_) => ChunkedEnd::Cut,
        }
    }

    /// Takes bytes up to the end of a line, and acts on the line if it is whole.
    fn take_line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
        let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        if LINE_BYTES_MAX < self.line.len() + piece.len() {
            self.state = State::Failed;
            return bytes;
        }
        self.line.extend_from_slice(piece);
        if end.is_some() {
            let line = mem::take(&mut self.line);
            self.state = next_state(self.state, line.trim_ascii_end(), line.len());
            if self.state == State::Failed {
                return bytes;
            }
            self.line = line;
            self.line.clear();
        }
        rest
    }
}

fn next_state(state: State, line: &[u8], length: usize) -> State {
    match state {
        State::Size => match chunk_size(line) {
            Some(0) => State::Trailers(0),
            Some(size) => State::Data(size),
            None => State::Failed,
        },
        State::AfterData if line.is_empty() => State::Size,
        State::Trailers(_) if line.is_empty() => State::Done,
        State::Trailers(before) if before + length <= LINE_BYTES_MAX => {
            State::Trailers(before + length)
        }
        State::AfterData | State::Trailers(_) | State::Data(_) | State::Done | State::Failed => {
            State::Failed
        }
    }
}

/// The size at the start of a line; an extension may follow it after a semicolon.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let end = memchr::memchr(b';', line).unwrap_or(line.len());
    let digits = line[..end].trim_ascii();
    let is_hex = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    if !is_hex {
        return None;
    }
    u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(body: &[u8], payload: &[u8], end: ChunkedEnd, length: usize) {
        let expected = Dechunked {
            payload: payload.to_vec(),
            end,
            length,
        };
        assert_eq!(
            dechunk(body),
            expected,
            "{:?}",
            String::from_utf8_lossy(body)
        );
    }

    #[test]
    fn chunks_are_taken_apart() {
        use ChunkedEnd::{Cut, Malformed, Whole};
        check(
            b"4\r\nWiki\r\n5\r\npedia\r\n0\r\n\r\n",
            b"Wikipedia",
            Whole,
            24,
        );
        check(
            b"00A;ext=1\r\n0123456789\r\n0\r\nA: b\r\n\r\nmore",
            b"0123456789",
            Whole,
            34,
        );
        check(b"4 \r\nWiki\r\n0\r\n\r\n", b"Wiki", Whole, 15);
        check(b"4\nWiki\n0\n\n", b"Wiki", Whole, 10);
        check(b"0\r\n\r\n", b"", Whole, 5);
        check(b"", b"", Cut, 0);
        check(b"4\r\nWi", b"Wi", Cut, 5);
        check(b"4\r\nWiki\r\n0\r\n", b"Wiki", Cut, 12);
        check(b"4\r\nWiki5\r\n", b"Wiki", Malformed, 7);
        check(b"<html>\r\n", b"", Malformed, 0);
        check(b"-1\r\n", b"", Malformed, 0);
        check(b"\r\n", b"", Malformed, 0);
        check(b"10000000000000000\r\n", b"", Malformed, 0);
        check(b"ffffffffffffffff\r\nabc", b"abc", Cut, 21);
    }

    #[test]
    fn an_endless_line_is_no_chunk() {
        let mut decoder = Decoder::default();
        for _ in 0..LINE_BYTES_MAX {
            decoder.feed(b"1;", |_| {});
        }
        assert_eq!(decoder.end(), ChunkedEnd::Malformed);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..6), piece in 1_usize..50) {
            let mut body = Vec::new();
            for chunk in &chunks {
                body.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                body.extend_from_slice(chunk);
                body.extend_from_slice(b"\r\n");
            }
            body.extend_from_slice(b"0\r\n\r\n");
            let expected = Dechunked { payload: chunks.concat(), end: ChunkedEnd::Whole, length: body.len() };
            prop_assert_eq!(dechunk(&body), expected);

            let mut decoder = Decoder::default();
            let mut payload = Vec::new();
            for piece in body.chunks(piece) {
                decoder.feed(piece, |data| payload.extend_from_slice(data));
            }
            prop_assert_eq!(payload, chunks.concat());
            prop_assert_eq!(decoder.end(), ChunkedEnd::Whole);
        }
    }
}
