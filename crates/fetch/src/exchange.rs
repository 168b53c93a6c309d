//! What one visit to a server brought back: the bytes that went out, the bytes that came in, and
//! how it ended.

use std::cell::OnceCell;
use std::fmt;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use junkai_http::{
    ChunkDecoder, Decoded, Framing, Head, HeadIndex, Progress, Start, decode, find_head,
};
use tokio::sync::OwnedSemaphorePermit;

use crate::failure::{Failure, Truncation};
use crate::link::Captured;
use crate::resources::Resources;
use crate::retry_after;
use crate::spool::SpoolFile;
use crate::stock::Share;

/// One request and what came of it.
///
/// [`Client::fetch`](crate::Client::fetch) always gives one, also when nothing could be sent.
#[derive(Debug)]
pub struct Exchange {
    /// When it began.
    pub started: SystemTime,
    /// How long its phases took.
    pub timing: Timing,
    /// The server, once connected.
    pub remote: Option<SocketAddr>,
    /// Whether a kept connection was used.
    pub reused: bool,
    /// The protocol that was spoken, once that is known.
    pub protocol: Option<Protocol>,
    /// The TLS session, if any.
    pub tls: Option<Arc<TlsSession>>,
    /// The request, byte for byte, but for secrets. For HTTP/2: a message of the same meaning.
    pub request: Bytes,
    /// The names of the request's fields whose values are secret, and replaced in `request`.
    pub redacted: Option<String>,
    /// The final response, byte for byte: interim responses before it and bytes after its end are
    /// left out. For HTTP/2: a message of the same meaning, without transfer coding.
    pub response: Bytes,
    /// The head of the response, if a whole one came.
    pub head: Option<Head>,
    /// Why the response is shorter than the server meant it to be, if a head came and it is.
    pub truncated: Option<Truncation>,
    /// What is not as the standard has it in an answer that was understood nevertheless.
    pub irregular: Option<String>,
    /// How it ended.
    pub end: End,
    payload: OnceCell<Bytes>,
    /// The response where it was too large for memory when it came, until it is brought in.
    file: Option<SpoolFile>,
    /// The part of what memory there is for answers, and for work on large ones.
    share: Option<Share>,
    work: Option<OwnedSemaphorePermit>,
}

/// How an exchange ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With a whole response.
    Complete,
    /// Otherwise. There may be a head and a part of the body nevertheless.
    Failed(Failure),
}

/// How long after its start an exchange reached each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Connected, TLS handshake included; zero for a kept connection.
    pub connected: Option<Duration>,
    /// First byte of the answer.
    pub first_byte: Option<Duration>,
    /// The end.
    pub ended: Duration,
}

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
    /// HTTP/2
    Http2,
}

impl Protocol {
    /// The protocol that a status line names.
    pub(crate) fn of_head(head: &HeadIndex) -> Self {
        if head.http_1_0 {
            Self::Http10
        } else {
            Self::Http11
        }
    }

    /// The name, as for `WARC-Protocol`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http10 => "http/1.0",
            Self::Http11 => "http/1.1",
            Self::Http2 => "h2",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What was agreed in a TLS handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSession {
    /// The version, as for `WARC-Protocol`: `tls/1.3`.
    pub version: &'static str,
    /// The cipher suite by its IANA name, as for `WARC-Cipher-Suite`.
    pub cipher: String,
    /// What is wrong with the certificate, where that is tolerated.
    pub problem: Option<String>,
}

impl Exchange {
    /// An exchange in which nothing has happened yet.
    pub(crate) fn start() -> Self {
        Self {
            started: SystemTime::now(),
            timing: Timing::default(),
            remote: None,
            reused: false,
            protocol: None,
            tls: None,
            request: Bytes::new(),
            redacted: None,
            response: Bytes::new(),
            head: None,
            truncated: None,
            irregular: None,
            end: End::Complete,
            payload: OnceCell::new(),
            file: None,
            share: None,
            work: None,
        }
    }

    /// Takes in what came over a connection.
    pub(crate) fn take_in(&mut self, captured: Captured) {
        self.request = captured.request;
        self.protocol = captured.protocol;
        self.irregular = captured.irregular;
        let taken = captured.response;
        self.head = captured.head.map(|index| Head::new(&taken.bytes, index));
        self.share = Some(taken.share);
        self.file = taken.file;
        if self.file.is_none() {
            self.keep_message(taken.bytes);
        }
    }

    /// Brings a response into memory that was too large for it when it came, as soon as there is memory to work on it.
    pub(crate) async fn bring_in(&mut self, resources: &Resources) {
        let Some(file) = self.file.take() else {
            return;
        };
        let length = usize::try_from(file.length()).unwrap_or(usize::MAX);
        self.work = resources.memory_to_work(length).await;
        match file.read_all() {
            Ok(response) => self.keep_message(response.into()),
            Err(error) => {
                self.head = None;
                self.truncated = None;
                self.end = End::Failed(Failure::Short(error.to_string()));
            }
        }
    }

    /// Keeps the message; what follows it is cut off.
    fn keep_message(&mut self, mut response: Bytes) {
        // What HTTP/2 brought is put together here, and nothing follows it.
        if let Some(head) = &self.head
            && self.protocol != Some(Protocol::Http2)
        {
            response.truncate(head.message_length(&response));
        }
        self.response = response;
    }

    /// Reads a response that was captured elsewhere or earlier, as if it had just come.
    #[must_use]
    pub fn from_response(bytes: &[u8]) -> Self {
        let mut exchange = Self::start();
        let received = bytes.len() as u64;
        match find_head(bytes) {
            Start::Head { interim, head } => {
                let response = &bytes[interim..];
                let length = match head.extent(response) {
                    Progress::Complete(length) => head.length + length,
                    Progress::Partial | Progress::Malformed(_) => {
                        exchange.truncated = Some(Truncation::Disconnect);
                        exchange.end = End::Failed(Failure::Disconnected { received });
                        response.len()
                    }
                };
                exchange.response = Bytes::copy_from_slice(&response[..length]);
                exchange.protocol = Some(Protocol::of_head(&head));
                exchange.head = Some(Head::new(&exchange.response, head));
            }
            Start::Partial => exchange.end = End::Failed(Failure::Disconnected { received }),
            Start::Malformed => {
                exchange.end = End::Failed(Failure::BadResponse("no head".into()));
            }
        }
        exchange
    }

    /// The status code, if a head came.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.head.as_ref().map(Head::status)
    }

    /// Why the exchange failed, if it did.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match &self.end {
            End::Complete => None,
            End::Failed(failure) => Some(failure),
        }
    }

    /// The first value of a header field.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.head.as_ref()?.value(name)
    }

    /// The body as it came over the wire, transfer coding included.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        let start = self.head.as_ref().map_or(self.response.len(), Head::length);
        &self.response[start..]
    }

    /// The body without transfer coding, content coding still on: what a payload digest is of.
    ///
    /// A part of `response` wherever that is possible; chunks are joined once.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        let Some(head) = &self.head else { return &[] };
        match head.framing() {
            Framing::Chunked => self
                .payload
                .get_or_init(|| join_chunks(&self.response.slice(head.length()..))),
            Framing::Empty | Framing::Length(_) | Framing::Close => self.body(),
        }
    }

    /// The body without any coding, at most `limit` bytes of it.
    #[must_use]
    pub fn decoded(&self, limit: usize) -> Decoded<'_> {
        let codings = self
            .head
            .iter()
            .flat_map(|head| head.values("content-encoding"));
        decode(self.payload(), codings, limit)
    }

    /// When the server says that the page was last changed (RFC 9110, section 8.8.2), in any of the three forms of a date.
    #[must_use]
    pub fn last_modified(&self) -> Option<SystemTime> {
        let value = std::str::from_utf8(self.header("last-modified")?).ok()?;
        httpdate::parse_http_date(value.trim()).ok()
    }

    /// The value of `Location`, if this is a redirect that names its target.
    #[must_use]
    pub fn location(&self) -> Option<&[u8]> {
        self.header("location")
            .filter(|_| self.status().is_some_and(junkai_http::is_redirect))
    }

    /// How long the server asks to be left alone from `now` on, at most
    /// [`RETRY_AFTER_MAX`](crate::RETRY_AFTER_MAX).
    #[must_use]
    pub fn retry_after(&self, now: SystemTime) -> Option<Duration> {
        retry_after::parse(self.header("retry-after")?, now)
    }
}

/// The payload of a chunked body; one that is not chunked at all is its own payload.
fn join_chunks(body: &Bytes) -> Bytes {
    let mut first: Option<Range<usize>> = None;
    let mut joined = Vec::new();
    let progress = ChunkDecoder::default().feed(body, |piece| match &first {
        None => first = Some(piece),
        Some(first) => {
            if joined.is_empty() {
                joined.reserve_exact(body.len() - first.start);
                joined.extend_from_slice(&body[first.clone()]);
            }
            joined.extend_from_slice(&body[piece]);
        }
    });
    match first {
        None if matches!(progress, Progress::Malformed(_)) => body.clone(),
        None => Bytes::new(),
        // One chunk is never copied.
        Some(only) if joined.is_empty() => body.slice(only),
        Some(_) => joined.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(fields: &str) -> Exchange {
        let response = Bytes::from(format!("HTTP/1.1 200 OK\r\n{fields}\r\n"));
        let Start::Head { head, .. } = find_head(&response) else {
            panic!("no head in {fields:?}");
        };
        let head = Head::new(&response, head);
        Exchange {
            head: Some(head),
            response,
            ..Exchange::start()
        }
    }

    #[test]
    fn last_modified_is_read_in_every_form() {
        // The example of RFC 9110, section 5.6.7.
        let then = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(784_111_777);
        for (value, modified) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(then)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(then)),
            ("Sun Nov  6 08:49:37 1994", Some(then)),
            ("0", None),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            let exchange = answered(&format!("Last-Modified: {value}\r\n"));
            assert_eq!(exchange.last_modified(), modified, "{value}");
        }
        assert_eq!(answered("").last_modified(), None);
    }
}
