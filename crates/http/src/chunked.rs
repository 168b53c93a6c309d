//! Chunked bodies (RFC 9112, section 7.1): where they end, and what is in them, in pieces of any size.
//!
//! [`ChunkDecoder`] keeps nothing but the line that is being read, so it does not matter how a body is cut.
//!
//! Departures, all common and harmless: a bare line feed ends a line, blanks may follow a size, trailers are passed over unread. Lines are bounded.

use std::ops::Range;

/// Longest line of a chunk size with its extensions, and longest trailer section.
const LINE_LENGTH_MAX: usize = 16 * 1024;

/// Goes from chunk to chunk of a body that comes in pieces.
///
/// Call [`feed`](Self::feed) or [`take_apart`](Self::take_apart) with one piece after the other.
#[derive(Clone, Debug, Default)]
pub struct ChunkDecoder {
    /// Bytes that were read so far.
    position: usize,
    state: State,
    /// The line that is being read, as far as earlier pieces had it.
    line: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// In a chunk size line.
    #[default]
    Size,
    /// Inside a chunk with so many bytes to come.
    Data(usize),
    /// In the line end after a chunk.
    DataEnd,
    /// In the trailer section, with so many bytes of it read.
    Trailer(usize),
    /// After the message.
    Done,
    /// From this offset on it is not a chunked body.
    Failed(usize),
}

/// How far a chunked body has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The body ends at this offset.
    Complete(usize),
    /// More is to come.
    Partial,
    /// From this offset on it is not a chunked body.
    Malformed(usize),
}

impl ChunkDecoder {
    /// Goes on through the body, and gives out where the payload is, as ranges of the body.
    pub fn feed(&mut self, bytes: &[u8], mut payload: impl FnMut(Range<usize>)) -> Progress {
        let mut rest = bytes;
        loop {
            match self.state {
                State::Done => return Progress::Complete(self.position),
                State::Failed(offset) => return Progress::Malformed(offset),
                State::Size | State::Data(_) | State::DataEnd | State::Trailer(_)
                    if rest.is_empty() =>
                {
                    return Progress::Partial;
                }
                State::Data(left) => {
                    let here = rest.len().min(left);
                    payload(self.position..self.position + here);
                    self.position += here;
                    rest = &rest[here..];
                    self.state = match left - here {
                        0 => State::DataEnd,
                        left => State::Data(left),
                    };
                }
                State::Size | State::DataEnd | State::Trailer(_) => rest = self.take_line(rest),
            }
        }
    }

    /// Like [`feed`](Self::feed), but gives out the payload itself.
    pub fn take_apart(&mut self, bytes: &[u8], mut payload: impl FnMut(&[u8])) -> Progress {
        let before = self.position;
        self.feed(bytes, |range| {
            payload(&bytes[range.start - before..range.end - before]);
        })
    }

    /// How far the body has come with all that was fed.
    #[must_use]
    pub fn progress(&self) -> Progress {
        match self.state {
            State::Done => Progress::Complete(self.position),
            State::Failed(offset) => Progress::Malformed(offset),
            State::Size | State::Data(_) | State::DataEnd | State::Trailer(_) => Progress::Partial,
        }
    }

    /// Takes bytes up to the end of a line, and acts on the line if it is whole.
    fn take_line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let start = self.position - self.line.len();
        let length_max = match self.state {
            // Nothing but its end may follow a chunk.
            State::DataEnd => 2,
            State::Trailer(before) => LINE_LENGTH_MAX - before,
            _ => LINE_LENGTH_MAX,
        };
        let room = length_max - self.line.len();
        let window = &bytes[..bytes.len().min(room)];
        let Some(end) = memchr::memchr(b'\n', window) else {
            self.line.extend_from_slice(window);
            self.position += window.len();
            let is_no_end = self.state == State::DataEnd && self.line != b"\r";
            if window.len() == room || is_no_end {
                self.state = State::Failed(start);
            }
            return &bytes[window.len()..];
        };
        self.position += end + 1;
        let rest = &bytes[end + 1..];
        if self.line.is_empty() {
            self.state = self.state.after_line(&bytes[..end], start);
        } else {
            self.line.extend_from_slice(&bytes[..end]);
            self.state = self.state.after_line(&self.line, start);
            self.line.clear();
        }
        rest
    }
}

impl State {
    /// What follows a line that began at `start`; the line comes without its line feed.
    fn after_line(self, line: &[u8], start: usize) -> State {
        let length = line.len() + 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match self {
            State::Size => match parse_size(line) {
                Some(0) => State::Trailer(0),
                Some(size) => State::Data(size),
                None => State::Failed(start),
            },
            State::DataEnd if line.is_empty() => State::Size,
            State::DataEnd => State::Failed(start),
            State::Trailer(_) if line.is_empty() => State::Done,
            // The line was read within what was left of the section's bound.
            State::Trailer(before) => State::Trailer(before + length),
            State::Data(_) | State::Done | State::Failed(_) => self,
        }
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
        let mut payload = Vec::new();
        let progress = ChunkDecoder::default().feed(body, |piece| {
            payload.extend_from_slice(&body[piece]);
        });
        (progress, payload)
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
            (b"ffffffffffffffff\r\nabc", Progress::Partial, b"abc"),
            (b"4\r\nWiki5\r\n", Progress::Malformed(7), b"Wiki"),
        ];
        for (body, progress, payload) in table {
            let text = String::from_utf8_lossy(body);
            assert_eq!(read(body), (*progress, payload.to_vec()), "{text:?}");
        }
    }

    #[test]
    fn an_endless_line_and_endless_trailers_are_given_up() {
        assert_eq!(read(&[b'0'; LINE_LENGTH_MAX]).0, Progress::Malformed(0));
        let trailers = b"A: b\r\n".repeat(LINE_LENGTH_MAX / 6 + 1);
        let body = [b"0\r\n", &trailers[..]].concat();
        assert!(matches!(read(&body).0, Progress::Malformed(_)));
        let body = [b"0\r\n", &trailers[..LINE_LENGTH_MAX / 2 / 6 * 6], b"\r\n"].concat();
        assert_eq!(read(&body).0, Progress::Complete(body.len()));
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
            let mut decoder = ChunkDecoder::default();
            let mut payload = Vec::new();
            let (all_but_last, last) = body.split_at(body.len() - 1);
            for piece in all_but_last.chunks(step) {
                let progress = decoder.feed(piece, |range| payload.extend_from_slice(&body[range]));
                prop_assert_eq!(progress, Progress::Partial);
            }
            let progress = decoder.feed(last, |range| payload.extend_from_slice(&body[range]));
            prop_assert_eq!(progress, Progress::Complete(body.len()));
            prop_assert_eq!(payload, chunks.concat());
        }

        #[test]
        fn what_is_no_chunked_body_is_so_however_it_is_cut(
            body in prop::collection::vec(prop::sample::select(b"03a\r\n;x".to_vec()), 0..60),
            step in 1_usize..9,
        ) {
            let whole = read(&body);
            let mut decoder = ChunkDecoder::default();
            let mut payload = Vec::new();
            for piece in body.chunks(step) {
                let progress = decoder.take_apart(piece, |bytes| payload.extend_from_slice(bytes));
                prop_assert_eq!(progress, decoder.progress());
            }
            prop_assert_eq!((decoder.progress(), payload), whole);
        }
    }
}
