//! Chunked bodies: where they end, and what is in them.
//!
//! RFC 9112, section 7.1, read leniently, for hyper has already judged what is
//! regular: a bare line feed ends a line, and blanks may follow a size. Nothing is
//! copied until the payload is asked for, and a body of one chunk is never copied.

use std::ops::Range;

/// Longest line of a chunk size with its extensions, and longest trailer line.
const LINE_LENGTH_MAX: usize = 16 * 1024;

/// A reader that goes from chunk to chunk of a body that may still be growing.
///
/// Call [`scan`](Self::scan) with the body so far, as often as wanted: each call goes on where
/// the last one had to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChunkScanner {
    /// Offset of the first byte that is not understood yet.
    position: usize,
    /// Bytes of the current chunk, and its line end, that have not come yet.
    state: State,
    /// The pieces of payload so far; neighbouring pieces are not joined.
    pieces: Vec<Range<usize>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// At a chunk size line.
    #[default]
    Size,
    /// Inside a chunk with so many bytes to come.
    Data(usize),
    /// At the line end after a chunk.
    DataEnd,
    /// In the trailer section.
    Trailer,
    /// After the message.
    Done,
}

/// How far a chunked body has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The body ends at this offset.
    Complete(usize),
    /// More is to come.
    Partial,
    /// From this offset on it is not a chunked body.
    Malformed(usize),
}

impl ChunkScanner {
    /// Goes on through the body, which must begin with what the calls before were given.
    pub(crate) fn scan(&mut self, body: &[u8]) -> Progress {
        loop {
            match self.state {
                State::Size => match line_at(body, self.position) {
                    Line::Whole { text, next } => match parse_size(text) {
                        Some(0) => self.go(State::Trailer, next),
                        Some(size) => self.go(State::Data(size), next),
                        None => return Progress::Malformed(self.position),
                    },
                    Line::Partial => return Progress::Partial,
                    Line::TooLong => return Progress::Malformed(self.position),
                },
                State::Data(left) => {
                    let here = (body.len() - self.position).min(left);
                    self.take(here);
                    if here < left {
                        self.state = State::Data(left - here);
                        return Progress::Partial;
                    }
                    self.state = State::DataEnd;
                }
                State::DataEnd => match &body[self.position..] {
                    [b'\r', b'\n', ..] => self.go(State::Size, self.position + 2),
                    [b'\n', ..] => self.go(State::Size, self.position + 1),
                    [] | [b'\r'] => return Progress::Partial,
                    [..] => return Progress::Malformed(self.position),
                },
                State::Trailer => match line_at(body, self.position) {
                    Line::Whole { text: [], next } => self.go(State::Done, next),
                    Line::Whole { next, .. } => self.position = next,
                    Line::Partial => return Progress::Partial,
                    Line::TooLong => return Progress::Malformed(self.position),
                },
                State::Done => return Progress::Complete(self.position),
            }
        }
    }

    /// The pieces of payload found so far, as ranges of the body.
    pub(crate) fn pieces(&self) -> &[Range<usize>] {
        &self.pieces
    }

    fn go(&mut self, state: State, position: usize) {
        self.state = state;
        self.position = position;
    }

    /// Notes payload at the current position, joined to the piece before if it touches it.
    fn take(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        let piece = self.position..self.position + length;
        self.position = piece.end;
        match self.pieces.last_mut() {
            Some(last) if last.end == piece.start => last.end = piece.end,
            Some(_) | None => self.pieces.push(piece),
        }
    }
}

enum Line<'a> {
    Whole { text: &'a [u8], next: usize },
    Partial,
    TooLong,
}

/// The line that begins at `position`, without its end.
fn line_at(body: &[u8], position: usize) -> Line<'_> {
    let rest = &body[position..];
    let window = &rest[..rest.len().min(LINE_LENGTH_MAX)];
    match window.iter().position(|byte| *byte == b'\n') {
        Some(end) => Line::Whole {
            text: window[..end].strip_suffix(b"\r").unwrap_or(&window[..end]),
            next: position + end + 1,
        },
        None if rest.len() < LINE_LENGTH_MAX => Line::Partial,
        None => Line::TooLong,
    }
}

/// The number before blanks, extensions or the end of the line.
fn parse_size(line: &[u8]) -> Option<usize> {
    let line = line.trim_ascii_start();
    let digits = line
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    let (number, rest) = line.split_at(digits);
    if !matches!(rest.trim_ascii_start(), [] | [b';', ..]) {
        return None;
    }
    usize::from_str_radix(str::from_utf8(number).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(body: &[u8]) -> (Progress, Vec<u8>) {
        let mut scanner = ChunkScanner::default();
        let progress = scanner.scan(body);
        let payload = scanner
            .pieces()
            .iter()
            .flat_map(|piece| body[piece.clone()].to_vec());
        (progress, payload.collect())
    }

    #[test]
    fn bodies_are_read_as_they_come() {
        let table: &[(&[u8], Progress, &[u8])] = &[
            (b"0\r\n\r\n", Progress::Complete(5), b""),
            (b"3\r\nabc\r\n0\r\n\r\n", Progress::Complete(13), b"abc"),
            (
                b"3\r\nabc\r\n0\r\n\r\nHTTP/1.1",
                Progress::Complete(13),
                b"abc",
            ),
            (
                b"00A;ext=1\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
                Progress::Complete(34),
                b"0123456789",
            ),
            (
                b"1 \r\na\r\n2;x=\";\"\r\nbc\r\n000\r\n\r\n",
                Progress::Complete(27),
                b"abc",
            ),
            (b"3\nabc\n0\n\n", Progress::Complete(9), b"abc"),
            (b"3\r\nabc\r\n0\r\n", Progress::Partial, b"abc"),
            (b"5\r\nabc", Progress::Partial, b"abc"),
            (b"", Progress::Partial, b""),
            (b"<html>\n", Progress::Malformed(0), b""),
            (b"\r\n", Progress::Malformed(0), b""),
            (b"3\r\nabcX", Progress::Malformed(6), b"abc"),
            (b"-3\r\nabc", Progress::Malformed(0), b""),
            (b"10000000000000000\r\nabc", Progress::Malformed(0), b""),
        ];
        for (body, progress, payload) in table {
            let text = String::from_utf8_lossy(body);
            assert_eq!(read(body), (*progress, payload.to_vec()), "{text:?}");
        }
    }

    #[test]
    fn an_endless_line_is_given_up() {
        assert_eq!(read(&[b'0'; LINE_LENGTH_MAX]).0, Progress::Malformed(0));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_a_body_is_cut(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..8),
            step in 1_usize..17,
        ) {
            let mut body = Vec::new();
            for chunk in &chunks {
                body.extend(format!("{:x}\r\n", chunk.len()).bytes());
                body.extend(chunk);
                body.extend(b"\r\n");
            }
            body.extend(b"0\r\nTrailer: x\r\n\r\n");
            let mut scanner = ChunkScanner::default();
            for end in (0..body.len()).step_by(step) {
                prop_assert_eq!(scanner.scan(&body[..end]), Progress::Partial);
            }
            prop_assert_eq!(scanner.scan(&body), Progress::Complete(body.len()));
            let pieces = scanner.pieces().iter().flat_map(|piece| body[piece.clone()].to_vec());
            prop_assert_eq!(pieces.collect::<Vec<_>>(), chunks.concat());
        }
    }
}
