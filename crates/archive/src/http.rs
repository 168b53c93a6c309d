//! Takes a stored HTTP message apart: head, body, payload, content.
//!
//! The *body* is what was sent after the head; the *payload* is the body without chunks; the *content* is the payload
//! without its content encoding. All of it is as lenient as the web demands, and what is decompressed is bounded.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

pub use crate::chunked::{ChunkedEnd, Dechunked, dechunk};
use crate::head::Head;

/// Content encodings that may be nested in one message.
pub(crate) const ENCODINGS_MAX: usize = 4;

/// Takes apart an HTTP message as `request` and `response` records hold it.
#[must_use]
pub fn message(bytes: &[u8]) -> Message<'_> {
    let head = Head::parse(bytes);
    let body = &bytes[head.length..];
    Message { head, body }
}

/// A stored HTTP message.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    head: Head<'a>,
    body: &'a [u8],
}

/// A payload without its content encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content<'a> {
    /// The bytes, as far as they go.
    pub bytes: Cow<'a, [u8]>,
    /// Whether that is all: neither damaged, nor cut short, nor more than was asked for.
    pub is_whole: bool,
}

impl<'a> Message<'a> {
    /// The first line: the status line of a response.
    #[must_use]
    pub fn first_line(&self) -> &str {
        &self.head.first_line
    }

    /// The status of a response.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.head.status()?.parse().ok()
    }

    /// Names and values, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.head
            .fields
            .iter()
            .map(|(name, value)| (&**name, &**value))
    }

    /// The value of the first field of that name, in any case.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.head.field(name)
    }

    /// Length of the head, with the empty line.
    #[must_use]
    pub fn head_length(&self) -> usize {
        self.head.length
    }

    /// What was sent after the head.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Whether the body says that it is in chunks.
    #[must_use]
    pub fn is_chunked(&self) -> bool {
        is_chunked(&self.head)
    }

    /// The body without chunks. A body that only says that it is in chunks is taken as it is.
    #[must_use]
    pub fn payload(&self) -> Cow<'a, [u8]> {
        if !self.is_chunked() {
            return Cow::Borrowed(self.body);
        }
        let decoded = dechunk(self.body);
        let is_nothing = decoded.payload.is_empty() && decoded.end != ChunkedEnd::Whole;
        if is_nothing {
            Cow::Borrowed(self.body)
        } else {
            Cow::Owned(decoded.payload)
        }
    }

    /// The payload without its content encoding, at most `bytes_max` of it. An encoding that is not known, or that the
    /// payload does not have, leaves it as it is.
    #[must_use]
    pub fn content(&self, bytes_max: usize) -> Content<'a> {
        let codings = content_codings(&self.head);
        let mut content = Content {
            bytes: self.payload(),
            is_whole: true,
        };
        if ENCODINGS_MAX < codings.len() {
            content.is_whole = false;
            return content;
        }
        for coding in codings.iter().rev() {
            let Some(decoded) = decode(coding, &content.bytes, bytes_max) else {
                content.is_whole = false;
                break;
            };
            content.is_whole &= decoded.is_whole;
            content.bytes = decoded.bytes;
        }
        if bytes_max < content.bytes.len() {
            content.is_whole = false;
            content.bytes.to_mut().truncate(bytes_max);
        }
        content
    }
}

/// The content encodings that a head names, in lower case and the order in which they were applied.
pub(crate) fn content_codings(head: &Head<'_>) -> Vec<String> {
    let codings = head
        .fields
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("content-encoding"));
    codings
        .flat_map(|(_, value)| value.split(','))
        .map(|coding| coding.trim().to_ascii_lowercase())
        .filter(|coding| !coding.is_empty() && coding != "identity")
        .collect()
}

/// Whether a head says that the body is in chunks.
pub(crate) fn is_chunked(head: &Head<'_>) -> bool {
    let mut codings = head
        .fields
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("transfer-encoding"));
    let last = codings
        .next_back()
        .and_then(|(_, value)| value.rsplit(',').next());
    last.is_some_and(|coding| coding.trim().eq_ignore_ascii_case("chunked"))
}

/// Undoes one content coding; `None` if nothing comes out of it.
fn decode(coding: &str, bytes: &[u8], bytes_max: usize) -> Option<Content<'static>> {
    let decoded = match coding {
        "gzip" | "x-gzip" => read_bounded(MultiGzDecoder::new(bytes), bytes_max),
        // RFC 9110 says zlib; many servers send bare deflate.
        "deflate" => {
            let zlib = read_bounded(ZlibDecoder::new(bytes), bytes_max);
            if zlib.bytes.is_empty() {
                read_bounded(DeflateDecoder::new(bytes), bytes_max)
            } else {
                zlib
            }
        }
        "br" => read_bounded(
            brotli_decompressor::Decompressor::new(bytes, 8192),
            bytes_max,
        ),
        "zstd" => read_bounded(zstd::Decoder::with_buffer(bytes).ok()?, bytes_max),
        _ => return None,
    };
    let is_nothing = decoded.bytes.is_empty() && !decoded.is_whole;
    (!is_nothing).then_some(decoded)
}

/// Reads at most so many bytes.
fn read_bounded(reader: impl Read, bytes_max: usize) -> Content<'static> {
    let mut bytes = Vec::new();
    let mut reader = reader.take(bytes_max as u64 + 1);
    let result: io::Result<usize> = reader.read_to_end(&mut bytes);
    let is_whole = result.is_ok() && bytes.len() <= bytes_max;
    bytes.truncate(bytes_max);
    Content {
        bytes: Cow::Owned(bytes),
        is_whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Write as _;

    fn response(fields: &str, body: &[u8]) -> Vec<u8> {
        let mut bytes = format!("HTTP/1.1 200 OK\r\n{fields}\r\n").into_bytes();
        bytes.extend_from_slice(body);
        bytes
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_chunked_and_compressed_body_is_read() {
        let packed = gzip(b"hello, hello, hello");
        let mut body = format!("{:x}\r\n", packed.len()).into_bytes();
        body.extend_from_slice(&packed);
        body.extend_from_slice(b"\r\n0\r\n\r\n");
        let bytes = response(
            "Transfer-Encoding: Chunked\r\nContent-Encoding: gzip\r\n",
            &body,
        );
        let message = message(&bytes);
        assert_eq!(message.status(), Some(200));
        assert_eq!(message.body(), body);
        assert_eq!(message.payload(), packed);
        assert_eq!(
            message.content(1000),
            Content {
                bytes: b"hello, hello, hello"[..].into(),
                is_whole: true
            }
        );
        assert_eq!(
            message.content(5),
            Content {
                bytes: b"hello"[..].into(),
                is_whole: false
            }
        );
    }

    #[test]
    fn each_content_encoding_is_undone() {
        let text = b"text, text and text";
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(text).unwrap();
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::fast());
        deflate.write_all(text).unwrap();
        let zstd = zstd::encode_all(&text[..], 1).unwrap();
        // Made with Python: brotli.compress(b"text, text and text")
        let brotli = data_encoding::HEXLOWER.decode(BROTLI).unwrap();
        for (coding, packed) in [
            ("gzip", gzip(text)),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", deflate.finish().unwrap()),
            ("zstd", zstd.clone()),
            ("br", brotli),
            ("zstd, gzip", gzip(&zstd)),
            ("identity", text.to_vec()),
        ] {
            let bytes = response(&format!("Content-Encoding: {coding}\r\n"), &packed);
            let expected = Content {
                bytes: text[..].into(),
                is_whole: true,
            };
            assert_eq!(message(&bytes).content(1000), expected, "{coding}");
        }
    }

    const BROTLI: &[u8] = b"1b120000a440584a104952a04c716b20";

    #[test]
    fn what_is_not_as_it_says_is_taken_as_it_is() {
        let bytes = response("Content-Encoding: gzip\r\n", b"plain");
        assert_eq!(
            message(&bytes).content(10),
            Content {
                bytes: b"plain"[..].into(),
                is_whole: false
            }
        );
        let bytes = response("Transfer-Encoding: chunked\r\n", b"plain");
        assert_eq!(message(&bytes).payload(), &b"plain"[..]);
        let bytes = response("Content-Encoding: unknown\r\n", b"plain");
        assert_eq!(
            message(&bytes).content(3),
            Content {
                bytes: b"pla"[..].into(),
                is_whole: false
            }
        );
        assert_eq!(message(b"").status(), None);
    }

    #[test]
    fn a_message_may_have_any_number_of_fields() {
        let fields = (0..1000).map(|number| format!("X-{number}: {number}\r\n"));
        let many = fields.collect::<Vec<_>>().concat();
        let bytes = response(&many, b"body");
        let message = message(&bytes);
        assert!(1000 <= message.fields().count());
        assert_eq!(message.field("x-999"), Some("999"));
        assert_eq!(message.body(), b"body");
    }

    #[test]
    fn a_bomb_is_bounded() {
        let bomb = gzip(&vec![0; 50_000_000]);
        let bytes = response("Content-Encoding: gzip\r\n", &bomb);
        let content = message(&bytes).content(1000);
        assert_eq!((content.bytes.len(), content.is_whole), (1000, false));
    }
}
