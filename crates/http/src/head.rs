//! The head of a response, as an index into the bytes that came over the wire.
//!
//! Order, spelling and repetition of header fields survive. [`TextHead`](crate::TextHead) is the other way to read a head: leniently, as text, for stored ones.

use std::mem::MaybeUninit;
use std::ops::Range;

use bytes::Bytes;

use crate::chunked::{ChunkDecoder, Progress};

/// Header fields of a usual response. A head with more of them is read as well, as far as its bytes are allowed, but not as quickly.
pub const FIELDS_USUAL: usize = 256;
/// Most header fields that can be asked for; those after them are kept with the head's bytes, where they cost a tenth of an index.
const FIELDS_INDEXED_MAX: usize = 4096;

/// Whether `Location` in an answer of this status names what to ask for instead (RFC 9110, section 15.4).
#[must_use]
pub fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// The head of a response.
#[derive(Clone, Debug)]
pub struct Head {
    bytes: Bytes,
    index: HeadIndex,
}

impl Head {
    /// Joins an index to the response that it was made of.
    #[must_use]
    pub fn new(response: &Bytes, index: HeadIndex) -> Self {
        Self {
            bytes: response.slice(..index.length),
            index,
        }
    }

    /// The status code.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.index.status
    }

    /// The reason phrase, which may be empty.
    #[must_use]
    pub fn reason(&self) -> &[u8] {
        &self.bytes[self.index.reason.clone()]
    }

    /// The header fields in the order and spelling in which they came, without blanks around them.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let slice = |range: &Range<usize>| &self.bytes[range.clone()];
        let fields = self.index.fields.iter();
        fields.map(move |field| (slice(&field.name), slice(&field.value)))
    }

    /// All values of a header field, in order.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.fields()
            .filter(move |field| field.0.eq_ignore_ascii_case(name.as_bytes()))
            .map(|field| field.1)
    }

    /// The first value of a header field.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&[u8]> {
        self.fields()
            .find(|field| field.0.eq_ignore_ascii_case(name.as_bytes()))
            .map(|field| field.1)
    }

    /// The bytes of the head, the empty line included.
    #[must_use]
    pub fn as_bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The number of bytes before the body.
    #[must_use]
    pub fn length(&self) -> usize {
        self.index.length
    }

    /// Length of the message in a response that may go on after it.
    #[must_use]
    pub fn message_length(&self, response: &[u8]) -> usize {
        match self.index.extent(response) {
            Progress::Complete(length) => self.index.length + length,
            Progress::Partial | Progress::Malformed(_) => response.len(),
        }
    }

    /// How the body's end is marked.
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.index.framing
    }
}

/// How the end of a body is marked (RFC 9112, section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// There is no body, whatever the fields say: 1xx, 204, 304.
    Empty,
    /// So many bytes.
    Length(u64),
    /// Chunked transfer coding.
    Chunked,
    /// The body ends where the connection ends.
    Close,
}

/// Where the parts of a head are, as offsets into the response.
#[derive(Clone, Debug)]
pub struct HeadIndex {
    /// The status code.
    pub status: u16,
    /// Whether the status line names HTTP/1.0.
    pub http_1_0: bool,
    reason: Range<usize>,
    fields: Vec<Field>,
    /// Bytes of the head, the empty line included.
    pub length: usize,
    /// How the body's end is marked.
    pub framing: Framing,
    /// Whether it has more fields than usual.
    pub has_more_fields: bool,
}

#[derive(Clone, Debug)]
struct Field {
    name: Range<usize>,
    value: Range<usize>,
}

/// What the captured bytes begin with.
#[derive(Debug)]
pub enum Start {
    /// A whole head of a final response, after so many bytes of interim ones.
    Head {
        /// Bytes before the head.
        interim: usize,
        /// The head.
        head: HeadIndex,
    },
    /// The beginning of a head, perhaps.
    Partial,
    /// Something else.
    Malformed,
}

/// Finds the head of the final response; interim responses before it are passed over.
#[must_use]
pub fn find_head(bytes: &[u8]) -> Start {
    let mut interim = 0;
    loop {
        // Some servers send an empty line too much; httparse passes over it, and so must we.
        let newlines = bytes[interim..].iter();
        interim += newlines
            .take_while(|byte| matches!(byte, b'\r' | b'\n'))
            .count();
        match parse_head(&bytes[interim..]) {
            Ok(Some(head)) if is_interim(head.status) => interim += head.length,
            Ok(Some(head)) => return Start::Head { interim, head },
            Ok(None) => return Start::Partial,
            Err(_) => return Start::Malformed,
        }
    }
}

/// Whether another response follows; after a 101 there is another protocol instead.
fn is_interim(status: u16) -> bool {
    (100..200).contains(&status) && status != 101
}

fn parse_head(bytes: &[u8]) -> Result<Option<HeadIndex>, httparse::Error> {
    let mut fields = [const { MaybeUninit::uninit() }; FIELDS_USUAL];
    let mut response = httparse::Response::new(&mut []);
    match lenient_parser().parse_response_with_uninit_headers(&mut response, bytes, &mut fields) {
        Ok(status) => Ok(index(bytes, status, &response)),
        Err(httparse::Error::TooManyHeaders) => parse_long_head(bytes),
        Err(error) => Err(error),
    }
}

/// A head with more fields than usual: with room for as many as there are lines.
fn parse_long_head(bytes: &[u8]) -> Result<Option<HeadIndex>, httparse::Error> {
    let lines = memchr::memchr_iter(b'\n', bytes).count();
    let mut fields = vec![httparse::EMPTY_HEADER; lines];
    let mut response = httparse::Response::new(&mut fields);
    let status = lenient_parser().parse_response(&mut response, bytes)?;
    Ok(index(bytes, status, &response))
}

/// Where the parts of a head are, if it is whole.
fn index(
    bytes: &[u8],
    status: httparse::Status<usize>,
    response: &httparse::Response<'_, '_>,
) -> Option<HeadIndex> {
    let httparse::Status::Complete(length) = status else {
        return None;
    };
    let start = bytes.as_ptr().addr();
    let range = |part: &[u8]| {
        // An empty part may point anywhere.
        let from = part.as_ptr().addr().wrapping_sub(start);
        if from + part.len() <= length {
            from..from + part.len()
        } else {
            0..0
        }
    };
    let (status, version) = (response.code.unwrap_or(0), response.version.unwrap_or(1));
    Some(HeadIndex {
        status,
        http_1_0: version == 0,
        reason: range(response.reason.unwrap_or("").as_bytes()),
        framing: framing_of(status, response.headers),
        fields: response
            .headers
            .iter()
            .take(FIELDS_INDEXED_MAX)
            .map(|header| Field {
                name: range(header.name.as_bytes()),
                value: range(header.value),
            })
            .collect(),
        length,
        has_more_fields: FIELDS_USUAL < response.headers.len(),
    })
}

/// As tolerant as browsers are; `fetch` sets hyper to the same.
fn lenient_parser() -> httparse::ParserConfig {
    let mut parser = httparse::ParserConfig::default();
    parser
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .ignore_invalid_headers_in_responses(true);
    parser
}

fn framing_of(status: u16, headers: &[httparse::Header<'_>]) -> Framing {
    if matches!(status, 100..200 | 204 | 304) {
        return Framing::Empty;
    }
    let values = |name: &'static str| {
        let named = move |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case(name);
        headers.iter().filter(named).map(|header| header.value)
    };
    let codings = values("transfer-encoding").flat_map(list_items);
    if let Some(last) = codings.last() {
        if last.eq_ignore_ascii_case(b"chunked") {
            return Framing::Chunked;
        }
        return Framing::Close;
    }
    // Repeated lengths that differ are hyper's to refuse; then the first one is as good as any.
    let mut lengths = values("content-length").flat_map(list_items);
    let number = |text: &[u8]| str::from_utf8(text).ok()?.parse::<u64>().ok();
    lengths
        .find_map(number)
        .map_or(Framing::Close, Framing::Length)
}

impl HeadIndex {
    /// How far the body has come that follows this head in `response`.
    #[must_use]
    pub fn extent(&self, response: &[u8]) -> Progress {
        let body = &response[self.length..];
        match self.framing {
            Framing::Empty => Progress::Complete(0),
            Framing::Close => Progress::Complete(body.len()),
            Framing::Length(length) => match usize::try_from(length) {
                Ok(length) if length <= body.len() => Progress::Complete(length),
                Ok(_) | Err(_) => Progress::Partial,
            },
            Framing::Chunked => ChunkDecoder::default().feed(body, |_| {}),
        }
    }
}

/// The items of a comma-separated list, without the blanks around them.
pub fn list_items(value: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    value
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|item| !item.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head(bytes: &'static [u8]) -> Head {
        let Start::Head { interim, head } = find_head(bytes) else {
            panic!("no head in {:?}", String::from_utf8_lossy(bytes));
        };
        Head::new(&Bytes::from_static(&bytes[interim..]), head)
    }

    #[test]
    fn fields_keep_order_spelling_and_repetition() {
        let head = head(b"HTTP/1.1 200 Okey Dokey\r\nX-b: 1\r\nx-A:  2 \r\nX-B:\r\n\r\nbody");
        assert_eq!(head.status(), 200);
        assert_eq!(head.reason(), b"Okey Dokey");
        let fields: Vec<_> = head.fields().collect();
        assert_eq!(
            fields,
            [(&b"X-b"[..], &b"1"[..]), (b"x-A", b"2"), (b"X-B", b"")]
        );
        assert_eq!(head.values("x-b").collect::<Vec<_>>(), [&b"1"[..], b""]);
        assert_eq!(head.value("X-a"), Some(&b"2"[..]));
        assert_eq!(head.length(), head.as_bytes().len());
    }

    #[test]
    fn interim_responses_are_passed_over_but_a_101_is_final() {
        let two = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
        assert_eq!(head(two).status(), 200);
        assert_eq!(head(two).as_bytes(), &b"HTTP/1.1 200 OK\r\n\r\n"[..]);
        assert_eq!(head(b"HTTP/1.1 101 Switching\r\n\r\n").status(), 101);
    }

    #[test]
    fn a_head_is_read_however_many_fields_it_has() {
        for count in [FIELDS_USUAL, FIELDS_USUAL + 1, 1000, 20_000] {
            let fields: Vec<String> = (1..count)
                .map(|number| format!("X-{number}: {number}\r\n"))
                .collect();
            let mut text = format!("HTTP/1.1 200 OK\r\n{}", fields.concat());
            text += "Content-Length: 4\r\n\r\n";
            let length = text.len();
            let whole = Bytes::from(text + "body");
            let Start::Head { head, .. } = find_head(&whole) else {
                panic!("no head with {count} fields");
            };
            assert_eq!(head.length, length);
            assert_eq!(
                head.framing,
                Framing::Length(4),
                "of {count} fields the last"
            );
            assert_eq!(head.has_more_fields, FIELDS_USUAL < count);
            assert_eq!(head.fields.len(), count.min(FIELDS_INDEXED_MAX));
            let head = Head::new(&whole, head);
            assert_eq!(head.value("x-200"), Some(&b"200"[..]));
            assert!(matches!(find_head(&whole[..length - 1]), Start::Partial));
        }
    }

    #[test]
    fn framing_follows_the_standard() {
        let table: &[(&[u8], Framing)] = &[
            (
                b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
                Framing::Length(5),
            ),
            (
                b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\n",
                Framing::Length(2),
            ),
            (
                b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
                Framing::Chunked,
            ),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n",
                Framing::Chunked,
            ),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
                Framing::Close,
            ),
            (b"HTTP/1.1 200 OK\r\n\r\n", Framing::Close),
            (
                b"HTTP/1.1 204 None\r\nContent-Length: 5\r\n\r\n",
                Framing::Empty,
            ),
            (
                b"HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n",
                Framing::Empty,
            ),
            (
                b"HTTP/1.1 200 OK\nContent-Length: 7\n\n",
                Framing::Length(7),
            ),
            (b"HTTP/1.1 200\r\n\r\n", Framing::Close),
        ];
        for (bytes, framing) in table {
            assert_eq!(
                head(bytes).framing(),
                *framing,
                "{:?}",
                String::from_utf8_lossy(bytes)
            );
        }
    }

    #[test]
    fn odd_heads_are_read_and_other_protocols_are_not() {
        let folded = head(b"HTTP/1.0 200 OK\r\nA : 1\r\n B\r\nnonsense\r\nC: 3\r\n\r\n");
        assert_eq!(folded.value("c"), Some(&b"3"[..]));
        assert!(matches!(find_head(b"ICY 200 OK\r\n\r\n"), Start::Malformed));
        assert!(matches!(find_head(b"<html>"), Start::Malformed));
        assert!(matches!(
            find_head(b"HTTP/1.1 200 OK\r\nA: b"),
            Start::Partial
        ));
        assert!(matches!(find_head(b""), Start::Partial));
    }

    proptest! {
        #[test]
        fn both_ways_to_read_a_head_agree_on_regular_ones(
            status in 200_u16..600,
            fields in prop::collection::vec(("[A-Za-z][A-Za-z-]{0,12}", "[!-~]([ -~]{0,20}[!-~])?"), 0..8),
            is_chunked: bool,
        ) {
            let mut text = format!("HTTP/1.1 {status} Word\r\n");
            for (name, value) in &fields {
                text.extend([name, ": ", value, "\r\n"]);
            }
            if is_chunked {
                text += "Transfer-Encoding: chunked\r\n";
            }
            text += "\r\nbody";
            let bytes = Bytes::from(text);
            let Start::Head { interim, head } = find_head(&bytes) else {
                panic!("{bytes:?}");
            };
            prop_assert_eq!(interim, 0);
            let head = Head::new(&bytes, head);
            let stored = crate::TextHead::parse(&bytes);
            prop_assert_eq!(head.length(), stored.length);
            let status = status.to_string();
            prop_assert_eq!(stored.status(), Some(status.as_str()));
            prop_assert_eq!(head.status().to_string(), status);
            let texts = stored.fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
            prop_assert!(head.fields().eq(texts));
            let may_have_body = !matches!(head.status(), 204 | 304);
            prop_assert_eq!(head.framing() == Framing::Chunked, stored.is_chunked() && may_have_body);
        }
    }
}
