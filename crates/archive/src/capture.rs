//! What goes into the archive, and what comes back when it is there.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;

/// One exchange to be kept; borrowed, so that nothing is copied.
#[derive(Clone, Copy, Debug)]
pub struct Capture<'a> {
    /// The URL that was asked for.
    pub target_uri: &'a str,
    /// When the exchange began. Kept to the microsecond.
    pub date: Timestamp,
    /// The address that was asked.
    pub address: IpAddr,
    /// Protocols, lowest version of each layer first, such as `http/1.1` and `tls/1.3`.
    pub protocol: &'a [&'a str],
    /// The cipher suite of the connection, if it had one.
    pub cipher: Option<&'a str>,
    /// The request as sent. Empty: no `request` record is written.
    pub request: &'a [u8],
    /// The final response as it came over the wire, head and body; no interim responses, no bytes after its end.
    pub response: &'a [u8],
    /// Length of the head in `response`, with the empty line.
    pub head_length: usize,
    /// The body without its transfer encoding (chunks), but with its content encoding.
    pub payload: &'a [u8],
    /// Its digest by the writer's algorithm, where it is known already.
    pub payload_digest: Option<&'a str>,
    /// Why the response is not whole, if it is not.
    pub truncated: Option<Truncated>,
    /// The type that the payload was found to have, whatever its header says.
    pub identified_payload_type: Option<&'a str>,
    /// Fields of the `metadata` record, in order: `via`, `hopsFromSeed`, `fetchTimeMs`, `outlink` and so on.
    pub metadata: &'a [(&'a str, String)],
    /// The earlier capture that makes the body superfluous: only the head is kept, in a `revisit` record.
    pub revisit: Option<RevisitOf<'a>>,
}

/// An earlier capture with the same payload.
#[derive(Clone, Copy, Debug)]
pub struct RevisitOf<'a> {
    /// How it is known that the payload is the same.
    pub profile: RevisitProfile,
    /// URL of the earlier capture.
    pub target_uri: &'a str,
    /// Date of the earlier capture, to the microsecond.
    pub date: Timestamp,
    /// Record id of the earlier capture, if still known.
    pub record_id: Option<&'a str>,
    /// The digest by which the index knows the earlier capture: its [`Stored::indexed_digest`]. Required by WARC where
    /// the profile is [`RevisitProfile::IdenticalPayloadDigest`].
    pub digest: Option<&'a str>,
}

/// How it is known that a payload did not change (WARC 1.1, section 6.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisitProfile {
    /// Its digest is the same.
    IdenticalPayloadDigest,
    /// The server says so (status 304).
    ServerNotModified,
}

impl RevisitProfile {
    /// The identifier in `WARC-Profile`.
    pub(crate) fn uri(self) -> &'static str {
        match self {
            Self::IdenticalPayloadDigest => {
                "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
            }
            Self::ServerNotModified => {
                "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
            }
        }
    }
}

/// Why a response is not whole (WARC 1.1, section 5.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncated {
    /// It exceeded the largest size.
    Length,
    /// It exceeded the longest time.
    Time,
    /// The connection broke.
    Disconnect,
    /// Another or unknown reason.
    Unspecified,
}

impl Truncated {
    /// The word in `WARC-Truncated`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Time => "time",
            Self::Disconnect => "disconnect",
            Self::Unspecified => "unspecified",
        }
    }
}

/// Bytes to be kept that did not come by HTTP, such as a DNS answer (`dns:example.org`, `text/dns`).
#[derive(Clone, Copy, Debug)]
pub struct Resource<'a> {
    /// What the bytes are of.
    pub target_uri: &'a str,
    /// When they were had. Kept to the microsecond.
    pub date: Timestamp,
    /// The address that they came from, if any.
    pub address: Option<IpAddr>,
    /// Their media type.
    pub content_type: &'a str,
    /// The bytes.
    pub block: &'a [u8],
}

/// A record that is on disk and in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Name of the WARC file, as it will be once closed.
    pub file: Arc<str>,
    /// Offset of the `response`, `revisit` or `resource` record in it.
    pub offset: u64,
    /// Length of the record, compressed.
    pub length: u64,
    /// Its `WARC-Record-ID`, with angle brackets.
    pub record_id: String,
    /// Digest of the payload: what to compare with the next capture's. Of the decoded body, so that it does not depend on
    /// how the server cuts its chunks.
    pub payload_digest: String,
    /// The digest by which the index knows the record: what [`RevisitOf::digest`] must name. The same as
    /// `payload_digest` unless the body was chunked (crate documentation, "Payload digests").
    pub indexed_digest: Option<String>,
    /// The line of the index, without the line feed.
    pub cdxj: String,
}
