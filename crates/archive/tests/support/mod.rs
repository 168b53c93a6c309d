//! Captures of every kind, made here, for the tests of this room.
#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use jiff::Timestamp;
use junkai_archive::{
    ArchiveConfig, Capture, Compression, Provenance, Resource, RevisitOf, RevisitProfile, Stored,
    Truncated, Writer,
};

/// An exchange that owns its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) uri: String,
    pub(crate) date: Timestamp,
    pub(crate) address: IpAddr,
    pub(crate) request: Vec<u8>,
    pub(crate) response: Vec<u8>,
    pub(crate) head_length: usize,
    pub(crate) payload: Vec<u8>,
    pub(crate) truncated: Option<Truncated>,
    pub(crate) metadata: Vec<(&'static str, String)>,
}

impl Exchange {
    pub(crate) fn new(number: u32, uri: &str, head: &str, body: &[u8]) -> Self {
        let mut response = head.as_bytes().to_vec();
        response.extend_from_slice(body);
        Self {
            uri: uri.to_owned(),
            date: date(number),
            address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            request: format!(
                "GET {uri} HTTP/1.1\r\nHost: example.org\r\nUser-Agent: junkai\r\n\r\n"
            )
            .into_bytes(),
            response,
            head_length: head.len(),
            payload: body.to_vec(),
            truncated: None,
            metadata: vec![
                ("via", "https://example.org/\r\nevil: yes".to_owned()),
                ("fetchTimeMs", number.to_string()),
            ],
        }
    }

    pub(crate) fn capture<'a>(&'a self, revisit: Option<RevisitOf<'a>>) -> Capture<'a> {
        Capture {
            target_uri: &self.uri,
            date: self.date,
            address: self.address,
            protocol: &["http/1.1", "tls/1.3"],
            cipher: Some("TLS_AES_128_GCM_SHA256"),
            request: &self.request,
            response: &self.response,
            head_length: self.head_length,
            payload: &self.payload,
            payload_digest: None,
            truncated: self.truncated,
            identified_payload_type: Some("text/html"),
            metadata: &self.metadata,
            revisit,
        }
    }
}

pub(crate) fn date(number: u32) -> Timestamp {
    Timestamp::from_microsecond(1_768_469_412_345_678 + i64::from(number) * 1_000_000).unwrap()
}

pub(crate) fn chunked(payload: &[u8], size: usize) -> Vec<u8> {
    let mut body = Vec::new();
    for chunk in payload.chunks(size) {
        body.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        body.extend_from_slice(chunk);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"0\r\n\r\n");
    body
}

/// A page that differs from all others.
pub(crate) fn page(number: u32) -> Exchange {
    let body = format!(
        "<title>Page {number}</title>{}",
        format!("<p>paragraph {number}</p>").repeat(40)
    );
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    Exchange::new(
        number,
        &format!("https://example.org/page/{number}"),
        &head,
        body.as_bytes(),
    )
}

/// A page in chunks.
pub(crate) fn chunked_page(number: u32, size: usize) -> Exchange {
    let payload = "<p>in chunks</p>\r\n".repeat(50).into_bytes();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut exchange = Exchange::new(
        number,
        "https://example.org/chunked",
        head,
        &chunked(&payload, size),
    );
    exchange.payload = payload;
    exchange
}

/// Path, head and body of responses that are not as they should be, or not what is usual.
const ODD: &[(&str, &str, &[u8])] = &[
    ("/moved", "HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n", b""),
    ("/no-type", "HTTP/1.1 200 OK\r\n\r\n", b"\x00\x01\xff"),
    (
        "/no-reason",
        "HTTP/1.1 404\r\nContent-Type:\r\n\r\n",
        b"gone",
    ),
    ("/no-status", "HTTP/1.1\r\n\r\n", b"what?"),
    (
        "/bare-lf",
        "HTTP/1.1 200 OK\nContent-Type: a/b\n\n",
        b"\r\n\r\nWARC/1.1\r\n",
    ),
    (
        "/leading-line",
        "\r\nHTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\n",
        b"body",
    ),
    (
        "/blank-line",
        "HTTP/1.1 200 OK\r\n \r\nContent-Type: a/b\r\n\r\n",
        b"body",
    ),
    (
        "/folded",
        "HTTP/1.1 200 OK\r\nContent-Type: text/\r\n plain\r\n\r\n",
        b"b",
    ),
    (
        "/accent",
        "HTTP/1.1 200 \u{e9}t\u{e9}\r\nContent-Type: t\u{e9}xt/x\r\n\r\n",
        b"b",
    ),
    ("/?b=2&a=1#x", "HTTP/1.1 200 OK\r\n\r\n", b"query"),
    (
        "/A%20b/%E3%81%82?Q=%22\"\\",
        "HTTP/1.1 200 OK\r\n\r\n",
        b"q",
    ),
    ("/garbage", "", b"\x16\x03\x01garbage without a head"),
    ("/empty", "", b""),
    (
        "/icy",
        "ICY 200 OK\r\ncontent-type: audio/mpeg\r\n\r\n",
        b"noise",
    ),
];

/// Responses of every kind that a crawler meets.
pub(crate) fn odd_exchanges() -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = (10..)
        .zip(ODD)
        .map(|(number, (path, head, body))| {
            Exchange::new(number, &format!("http://example.org{path}"), head, body)
        })
        .collect();

    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&b"<p>packed</p>".repeat(100)).unwrap();
    let packed = packed.finish().unwrap();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html;charset=\"x y\"\r\ncontent-encoding: gzip\r\n\r\n";
    exchanges.push(Exchange::new(
        30,
        "http://www.example.org:8080/gzip",
        head,
        &packed,
    ));

    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n";
    let mut in_chunks = Exchange::new(
        31,
        "http://example.org/gzip-chunked",
        head,
        &chunked(&packed, 17),
    );
    in_chunks.payload = packed;
    exchanges.push(in_chunks);

    let head = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n";
    let mut cut = Exchange::new(32, "http://example.org/cut", head, b"short");
    cut.truncated = Some(Truncated::Disconnect);
    cut.address = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));
    exchanges.push(cut);

    let mut endless = Exchange::new(
        33,
        "http://example.org/endless-head",
        "HTTP/1.1 200 OK\r\nX: y\r\n",
        b"",
    );
    endless.truncated = Some(Truncated::Length);
    exchanges.push(endless);

    let mut silent = Exchange::new(
        34,
        "http://example.org/no-request",
        "HTTP/1.0 200 OK\r\n\r\n",
        b"x",
    );
    silent.request.clear();
    exchanges.push(silent);
    exchanges
}

pub(crate) fn config(compression: Compression) -> ArchiveConfig {
    ArchiveConfig {
        compression,
        hostname: "test.example".to_owned(),
        ..ArchiveConfig::default()
    }
}

pub(crate) fn writer(root: &Path, config: &ArchiveConfig) -> Writer {
    let provenance = Provenance {
        software: "junkai/test".to_owned(),
        worker: 3,
        robots: "obey".to_owned(),
        ..Provenance::default()
    };
    Writer::open(root, config, provenance).unwrap()
}

/// Stores everything there is: pages, odd ones, a resource, and revisits of a page and of a chunked one.
pub(crate) fn store_all(writer: &mut Writer) -> Vec<Stored> {
    let mut stored = Vec::new();
    for exchange in (0..5).map(page).chain(odd_exchanges()) {
        stored.push(writer.store(&exchange.capture(None)).unwrap());
    }
    for (original, again, profile) in [
        (page(7), page(7), RevisitProfile::IdenticalPayloadDigest),
        (
            chunked_page(40, 100),
            chunked_page(41, 77),
            RevisitProfile::IdenticalPayloadDigest,
        ),
        (page(8), page(8), RevisitProfile::ServerNotModified),
    ] {
        let first = writer.store(&original.capture(None)).unwrap();
        let mut again = again;
        again.date = date(100 + u32::try_from(stored.len()).unwrap());
        let revisit = RevisitOf {
            profile,
            target_uri: &original.uri,
            date: original.date,
            record_id: Some(&first.record_id),
            digest: first.indexed_digest.as_deref(),
        };
        stored.push(writer.store(&again.capture(Some(revisit))).unwrap());
        stored.push(first);
    }
    let resource = Resource {
        target_uri: "dns:example.org",
        date: date(200),
        address: Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        content_type: "text/dns",
        block: b"20260115093012\nexample.org. 300 IN A 192.0.2.1\n",
    };
    stored.push(writer.store_resource(&resource).unwrap());
    stored
}
