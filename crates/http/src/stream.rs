//! The body of a stored HTTP message as a stream: as it was sent, or as its reader wants it, without chunks and content encodings.
//!
//! [`Message::content`](crate::Message::content) does the same in memory. As lenient: a body that is not encoded as its head says is given as it is.

use std::io::{self, BufReader, Cursor, Read};

use crate::chunked::{ChunkDecoder, Progress};
use crate::coding::{CODINGS_MAX, Coding, names};
use crate::text_head::TextHead;

/// Bytes that are taken apart at a time.
const PIECE_BYTES: usize = 16 << 10;
/// Bytes by which a coding is recognised.
const MAGIC_BYTES: u64 = 4;

/// The content of a body that follows a head.
pub fn content<'a>(head: &TextHead<'_>, body: impl Read + 'a) -> Box<dyn Read + 'a> {
    let mut content: Box<dyn Read + 'a> = if head.is_chunked() {
        Box::new(Unchunked::new(body))
    } else {
        Box::new(body)
    };
    let names = names(head.values("content-encoding"));
    if CODINGS_MAX < names.len() {
        return content;
    }
    for name in names.into_iter().rev() {
        let Some(coding) = Coding::named(name) else {
            break;
        };
        content = match decoded(coding, content) {
            Ok(decoded) => decoded,
            Err(as_it_is) => return as_it_is,
        };
    }
    content
}

/// Undoes one coding, if it is there.
fn decoded<'a>(
    coding: Coding,
    mut source: Box<dyn Read + 'a>,
) -> Result<Box<dyn Read + 'a>, Box<dyn Read + 'a>> {
    let mut start = Vec::new();
    // An error comes again, or is the end of what can be read.
    let _again = source.by_ref().take(MAGIC_BYTES).read_to_end(&mut start);
    let magic = start.clone();
    let source = Cursor::new(start).chain(BufReader::with_capacity(PIECE_BYTES, source));
    coding.reader(&magic, source)
}

/// A body without its chunks.
struct Unchunked<R> {
    source: R,
    decoder: ChunkDecoder,
    /// What is ready to be read, from `at` on.
    ready: Vec<u8>,
    at: usize,
    state: Chunks,
    /// What was read before the first chunk.
    begun: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Chunks {
    Unseen,
    Seen,
    /// The body only says that it has some.
    Absent,
}

impl<R: Read> Unchunked<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            decoder: ChunkDecoder::default(),
            ready: Vec::new(),
            at: 0,
            state: Chunks::Unseen,
            begun: Vec::new(),
        }
    }

    /// Makes more bytes ready; none at the end.
    fn advance(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.at = 0;
        while self.ready.is_empty() {
            let mut piece = Vec::new();
            (&mut self.source)
                .take(PIECE_BYTES as u64)
                .read_to_end(&mut piece)?;
            let is_end = piece.is_empty();
            match self.state {
                Chunks::Absent => self.ready = piece,
                Chunks::Seen => {
                    self.decoder
                        .take_apart(&piece, |bytes| self.ready.extend_from_slice(bytes));
                }
                Chunks::Unseen => self.look(&piece),
            }
            let is_over =
                self.state == Chunks::Seen && self.decoder.progress() != Progress::Partial;
            if is_over {
                self.pass_over_rest();
            }
            if is_end || is_over {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Looks for the first chunk. The decoder bounds its line, and so what is kept until it shows whether there is one.
    fn look(&mut self, piece: &[u8]) {
        self.begun.extend_from_slice(piece);
        self.decoder
            .take_apart(piece, |bytes| self.ready.extend_from_slice(bytes));
        let progress = self.decoder.progress();
        if !self.ready.is_empty() || matches!(progress, Progress::Complete(_)) {
            self.state = Chunks::Seen;
            self.begun = Vec::new();
        } else if piece.is_empty() || matches!(progress, Progress::Malformed(_)) {
            self.state = Chunks::Absent;
            self.ready = std::mem::take(&mut self.begun);
        }
    }

    /// What follows the last chunk belongs to nothing, and is read in vain.
    fn pass_over_rest(&mut self) {
        let _unread = io::copy(&mut self.source, &mut io::sink());
    }
}

impl<R: Read> Read for Unchunked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.ready.len() {
            self.advance()?;
        }
        let count = (&self.ready[self.at..]).read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write as _;

    fn read(fields: &str, body: &[u8]) -> Vec<u8> {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
        let mut bytes = Vec::new();
        content(&TextHead::parse(head.as_bytes()), body)
            .read_to_end(&mut bytes)
            .unwrap();
        bytes
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn chunked(bytes: &[u8], size: usize) -> Vec<u8> {
        let mut body = Vec::new();
        for chunk in bytes.chunks(size) {
            write!(body, "{:x}\r\n", chunk.len()).unwrap();
            body.extend_from_slice(chunk);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"0\r\n\r\nbehind");
        body
    }

    #[test]
    fn bodies_are_given_as_their_reader_wants_them() {
        let text = b"text, text and text".repeat(5000);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&text).unwrap();
        let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        bare.write_all(&text).unwrap();
        let zstd = zstd::encode_all(&text[..], 1).unwrap();
        for (coding, packed) in [
            ("gzip", gzip(&text)),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", bare.finish().unwrap()),
            ("zstd", zstd.clone()),
            ("zstd, gzip", gzip(&zstd)),
            ("gzip", text.clone()),
            ("unknown", text.clone()),
            ("identity", text.clone()),
        ] {
            let encoding = format!("Content-Encoding: {coding}\r\n");
            assert!(read(&encoding, &packed) == text, "{coding}");
            let fields = format!("{encoding}Transfer-Encoding: chunked\r\n");
            for size in [1, 7, 100_000] {
                assert!(
                    read(&fields, &chunked(&packed, size)) == text,
                    "{coding} {size}"
                );
            }
            assert!(read(&fields, &packed) == text, "{coding}, no chunks");
        }
    }

    proptest! {
        #[test]
        fn any_body_is_read_as_it_is_in_memory(body: Vec<u8>, is_chunked: bool) {
            let fields = if is_chunked { "Transfer-Encoding: chunked\r\n" } else { "" };
            let whole = [format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes(), &body].concat();
            let expected = crate::message(&whole).payload().into_owned();
            prop_assert_eq!(read(fields, &body), expected);
        }
    }
}
