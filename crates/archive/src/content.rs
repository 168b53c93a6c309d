//! The body of a stored HTTP message as a stream: as it was sent, or as its reader wants it, without chunks and content encodings.
//!
//! [`crate::http`] does the same in memory. As lenient: a body that is not encoded as its head says is given as it is.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::chunked::{ChunkedEnd, Decoder};
use crate::head::Head;
use crate::http::{ENCODINGS_MAX, content_codings, is_chunked};

/// Bytes that are taken apart at a time.
const PIECE_BYTES: usize = 16 << 10;
/// Bytes by which an encoding is recognised.
const MAGIC_BYTES: u64 = 4;

/// The content of a body that follows a head.
pub(crate) fn content<'a>(head: &Head<'_>, body: impl Read + 'a) -> Box<dyn Read + 'a> {
    let mut content: Box<dyn Read + 'a> = if is_chunked(head) {
        Box::new(Unchunked::new(body))
    } else {
        Box::new(body)
    };
    let codings = content_codings(head);
    if codings.len() <= ENCODINGS_MAX {
        for coding in codings.iter().rev() {
            let (decoded, is_known) = decoded(coding, content);
            content = decoded;
            if !is_known {
                break;
            }
        }
    }
    content
}

/// Undoes one encoding, if it is one that is known and there.
fn decoded<'a>(coding: &str, source: Box<dyn Read + 'a>) -> (Box<dyn Read + 'a>, bool) {
    let mut source = source;
    let mut start = Vec::new();
    // An error comes again, or is the end of what can be read.
    let _again = source.by_ref().take(MAGIC_BYTES).read_to_end(&mut start);
    let magic = start.clone();
    let source = Cursor::new(start).chain(BufReader::with_capacity(PIECE_BYTES, source));
    match coding {
        "gzip" | "x-gzip" if magic.starts_with(&[0x1f, 0x8b]) => {
            (Box::new(MultiGzDecoder::new(source)), true)
        }
        // RFC 9110 says zlib; many servers send bare deflate.
        "deflate" if is_zlib(&magic) => (Box::new(ZlibDecoder::new(source)), true),
        "deflate" => (Box::new(DeflateDecoder::new(source)), true),
        "br" => (
            Box::new(brotli_decompressor::Decompressor::new(source, PIECE_BYTES)),
            true,
        ),
        "zstd" if magic == [0x28, 0xb5, 0x2f, 0xfd] => zstd_decoded(source),
        _ => (Box::new(source), false),
    }
}

fn zstd_decoded<'a>(source: impl BufRead + 'a) -> (Box<dyn Read + 'a>, bool) {
    match zstd::Decoder::with_buffer(source) {
        Ok(decoder) => (Box::new(decoder), true),
        // Only memory can be missing.
        Err(_) => (Box::new(io::empty()), true),
    }
}

/// Whether bytes begin as RFC 1950, section 2.2, says.
fn is_zlib(bytes: &[u8]) -> bool {
    match bytes {
        [method, flags, ..] => {
            method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)).is_multiple_of(31)
        }
        _ => false,
    }
}

/// A body without its chunks.
struct Unchunked<R> {
    source: R,
    decoder: Decoder,
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
            decoder: Decoder::default(),
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
                        .feed(&piece, |bytes| self.ready.extend_from_slice(bytes));
                }
                Chunks::Unseen => self.look(&piece),
            }
            let is_over = self.state == Chunks::Seen && self.decoder.end() != ChunkedEnd::Cut;
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
            .feed(piece, |bytes| self.ready.extend_from_slice(bytes));
        let end = self.decoder.end();
        if !self.ready.is_empty() || end == ChunkedEnd::Whole {
            self.state = Chunks::Seen;
            self.begun = Vec::new();
        } else if piece.is_empty() || end == ChunkedEnd::Malformed {
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
        content(&Head::parse(head.as_bytes()), body)
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
            let expected = crate::http::message(&whole).payload().into_owned();
            prop_assert_eq!(read(fields, &body), expected);
        }
    }
}
