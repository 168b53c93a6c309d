//! Takes a stored HTTP message apart: head, body, payload, content.
//!
//! The *body* is what was sent after the head; the *payload* is the body without chunks; the *content* is the payload
//! without its content encoding. All of it is as lenient as the web demands, and what is decompressed is bounded.

use std::borrow::Cow;

use crate::chunked::{ChunkDecoder, Progress};
use crate::coding::{Decoded, decode};
use crate::text_head::TextHead;

/// Takes apart an HTTP message as `request` and `response` records hold it.
#[must_use]
pub fn message(bytes: &[u8]) -> Message<'_> {
    let head = TextHead::parse(bytes);
    let body = &bytes[head.length..];
    Message { head, body }
}

/// A stored HTTP message.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    head: TextHead<'a>,
    body: &'a [u8],
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
        self.head.is_chunked()
    }

    /// The body without chunks. A body that only says that it is in chunks is taken as it is.
    #[must_use]
    pub fn payload(&self) -> Cow<'a, [u8]> {
        if !self.is_chunked() {
            return Cow::Borrowed(self.body);
        }
        let mut payload = Vec::new();
        let mut decoder = ChunkDecoder::default();
        let progress = decoder.take_apart(self.body, |bytes| payload.extend_from_slice(bytes));
        let is_nothing = payload.is_empty() && !matches!(progress, Progress::Complete(_));
        if is_nothing {
            Cow::Borrowed(self.body)
        } else {
            Cow::Owned(payload)
        }
    }

    /// The payload without its content codings, at most `bytes_max` of it. A coding that is not known, or that the
    /// payload does not have, leaves it as it is.
    #[must_use]
    pub fn content(&self, bytes_max: usize) -> Decoded<'a> {
        let codings = self.head.values("content-encoding");
        match self.payload() {
            Cow::Borrowed(payload) => decode(payload, codings, bytes_max),
            Cow::Owned(payload) => {
                let Decoded { bytes, problem } = decode(&payload, codings, bytes_max);
                let bytes = match bytes {
                    Cow::Owned(bytes) => bytes,
                    Cow::Borrowed(bytes) => {
                        let length = bytes.len();
                        let mut payload = payload;
                        payload.truncate(length);
                        payload
                    }
                };
                Decoded {
                    bytes: Cow::Owned(bytes),
                    problem,
                }
            }
        }
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

    fn content_of(bytes: &[u8], bytes_max: usize) -> (Vec<u8>, bool) {
        let content = message(bytes).content(bytes_max);
        let is_whole = content.is_whole();
        (content.bytes.into_owned(), is_whole)
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
            content_of(&bytes, 1000),
            (b"hello, hello, hello".to_vec(), true)
        );
        assert_eq!(content_of(&bytes, 5), (b"hello".to_vec(), false));
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
            assert_eq!(content_of(&bytes, 1000), (text.to_vec(), true), "{coding}");
        }
    }

    const BROTLI: &[u8] = b"1b120000a440584a104952a04c716b20";

    #[test]
    fn what_is_not_as_it_says_is_taken_as_it_is() {
        let bytes = response("Content-Encoding: gzip\r\n", b"plain");
        assert_eq!(content_of(&bytes, 10), (b"plain".to_vec(), false));
        let bytes = response("Transfer-Encoding: chunked\r\n", b"plain");
        assert_eq!(message(&bytes).payload(), &b"plain"[..]);
        let bytes = response("Content-Encoding: unknown\r\n", b"plain");
        assert_eq!(content_of(&bytes, 3), (b"pla".to_vec(), false));
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
        let (content, is_whole) = content_of(&bytes, 1000);
        assert_eq!((content.len(), is_whole), (1000, false));
    }
}
