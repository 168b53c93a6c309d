//! Judges a WARC file: structure, lengths, digests, ids.
//!
//! Memory: 16 bytes for each record, for the ids; blocks are read as streams.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;
use sha1::{Digest as _, Sha1};

use crate::chunked::Decoder;
use crate::digest::{Digester, algorithm_of, is_same};
use crate::head::Head;
use crate::indexer::read_http_head;
use crate::read_error::{ReadError, read_error};
use crate::reader::{Reader, Record};
use crate::record_head::RecordHead;

/// As many problems of one file are told; the rest is counted.
const PROBLEMS_MAX: usize = 1000;

/// What was found in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The file.
    pub file: String,
    /// Whole records.
    pub records: u64,
    /// Digests that were computed and found right.
    pub digests: u64,
    /// What is wrong, in the order of the file; the first thousand.
    pub problems: Vec<Problem>,
    /// How many problems there are.
    pub problem_count: u64,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where the record starts.
    pub offset: u64,
    /// What is wrong with it.
    pub message: String,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problem_count == 0
    }

    fn add(&mut self, offset: u64, message: impl Into<String>) {
        self.problem_count += 1;
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(Problem {
                offset,
                message: message.into(),
            });
        }
    }
}

/// Reads a file to its end, or as far as it can be read, and reports what is wrong with it.
///
/// # Errors
/// Only if the file cannot be read at all; damage is in the report.
pub fn check(path: &Path) -> io::Result<Report> {
    let mut report = Report {
        file: path.display().to_string(),
        ..Report::default()
    };
    match check_records(path, &mut report) {
        Ok(()) => Ok(report),
        Err(ReadError::Io(error)) => Err(error),
        Err(error) => {
            report.add(error.offset(), error.with_cause());
            Ok(report)
        }
    }
}

fn check_records(path: &Path, report: &mut Report) -> Result<(), ReadError> {
    let mut ids = HashSet::new();
    let mut reader = Reader::<File>::open(path)?;
    while let Some(mut record) = reader.next_record()? {
        let offset = record.head().offset;
        check_head(record.head(), report);
        if let Some(id) = record.head().field("WARC-Record-ID")
            && !ids.insert(short_hash(id))
        {
            report.add(offset, format!("the id {id} was used before"));
        }
        check_digests(&mut record, report).map_err(|error| read_error(error, offset))?;
        let span = record.finish()?;
        if !span.is_terminated {
            report.add(offset, "the record does not end with two line ends");
        }
        report.records += 1;
    }
    Ok(())
}

fn check_head(head: &RecordHead, report: &mut Report) {
    for name in ["WARC-Type", "WARC-Record-ID", "WARC-Date"] {
        if head.field(name).is_none_or(str::is_empty) {
            report.add(head.offset, format!("{name} is missing"));
        }
    }
    let needs_uri = matches!(
        head.record_type(),
        "response" | "resource" | "request" | "revisit" | "conversion" | "continuation"
    );
    if needs_uri && head.field("WARC-Target-URI").is_none() {
        report.add(head.offset, "WARC-Target-URI is missing");
    }
}

/// Reads the block, and compares the digests that the record names.
fn check_digests<R: Read>(record: &mut Record<'_, R>, report: &mut Report) -> io::Result<()> {
    let head = record.head().clone();
    let block = Expected::of(&head, "WARC-Block-Digest", report);
    // The payload of a revisit is elsewhere, that of a segment goes on elsewhere.
    let has_payload =
        head.record_type() != "revisit" && head.field("WARC-Segment-Number").is_none();
    let payload = has_payload
        .then(|| Expected::of(&head, "WARC-Payload-Digest", report))
        .flatten();

    let is_http = matches!(head.record_type(), "request" | "response")
        && head
            .field("Content-Type")
            .is_some_and(|text| text.trim().starts_with("application/http"));
    let start = if is_http {
        read_http_head(record)?
    } else {
        Vec::new()
    };
    let http = Head::parse(&start);
    let mut sums = Sums {
        block: block.as_ref().map(Expected::digester),
        body: payload.as_ref().map(Expected::digester),
        payload: payload
            .as_ref()
            .filter(|_| crate::http::is_chunked(&http))
            .map(Expected::digester),
        chunks: Decoder::default(),
    };
    sums.block(&start);
    sums.body(&start[http.length.min(start.len())..]);
    let mut buffer = [0; 16 << 10];
    loop {
        let count = record.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        sums.block(&buffer[..count]);
        sums.body(&buffer[..count]);
    }
    if let Some(expected) = block {
        expected.compare(head.offset, [sums.block, None], report);
    }
    if let Some(expected) = payload {
        expected.compare(head.offset, [sums.body, sums.payload], report);
    }
    Ok(())
}

/// A digest that a record names and that can be computed.
struct Expected {
    field: &'static str,
    text: String,
    algorithm: crate::config::DigestAlgorithm,
}

impl Expected {
    fn of(head: &RecordHead, field: &'static str, report: &mut Report) -> Option<Self> {
        let text = head.field(field)?;
        let Some(algorithm) = algorithm_of(text) else {
            report.add(
                head.offset,
                format!("{field} has an unknown algorithm: {text}"),
            );
            return None;
        };
        Some(Self {
            field,
            text: text.to_owned(),
            algorithm,
        })
    }

    fn digester(&self) -> Digester {
        Digester::new(self.algorithm)
    }

    /// One of the digests must be the expected one: tools disagree whether a payload has its chunks.
    fn compare(&self, offset: u64, found: [Option<Digester>; 2], report: &mut Report) {
        let is_right = found
            .into_iter()
            .flatten()
            .any(|digester| is_same(&self.text, &digester.finish()));
        if is_right {
            report.digests += 1;
        } else {
            report.add(offset, format!("{} is wrong: {}", self.field, self.text));
        }
    }
}

/// Digests of a record that is being read.
struct Sums {
    block: Option<Digester>,
    /// What follows the HTTP head, as sent.
    body: Option<Digester>,
    /// The same without chunks.
    payload: Option<Digester>,
    chunks: Decoder,
}

impl Sums {
    fn block(&mut self, bytes: &[u8]) {
        if let Some(digester) = &mut self.block {
            digester.update(bytes);
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if let Some(digester) = &mut self.body {
            digester.update(bytes);
        }
        if let Some(digester) = &mut self.payload {
            self.chunks.feed(bytes, |piece| digester.update(piece));
        }
    }
}

fn short_hash(id: &str) -> [u8; 16] {
    let hash = Sha1::digest(id.as_bytes());
    let mut short = [0; 16];
    short.copy_from_slice(&hash[..16]);
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn check_text(text: &str) -> Report {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        check(file.path()).unwrap()
    }

    fn record(fields: &str, block: &str) -> String {
        format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: 2026-01-15T09:30:12Z\r\nWARC-Target-URI: http://example.org/\r\n\
             Content-Type: application/http;msgtype=response\r\n{fields}Content-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    }

    const CHUNKED: &str =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";

    // Python: base64.b32encode(hashlib.sha1(b"abc").digest()), and of b"3\r\nabc\r\n0\r\n\r\n".
    #[test]
    fn a_payload_digest_with_or_without_chunks_is_right() {
        for digest in [
            "VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5",
            "EZMCEYKLYMOWXPIGFLXFT3WW62PQVRQP",
        ] {
            let fields =
                format!("WARC-Record-ID: <urn:a>\r\nWARC-Payload-Digest: sha1:{digest}\r\n");
            let report = check_text(&record(&fields, CHUNKED));
            assert_eq!(
                (report.problems, report.digests, report.records),
                (Vec::new(), 1, 1),
                "{digest}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_offset() {
        let id = "WARC-Record-ID: <urn:a>\r\n";
        let wrong = "WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\nWARC-Payload-Digest: md5:00\r\n";
        let first = record(id, CHUNKED);
        let text = format!(
            "{first}{}{}",
            record(&format!("{id}{wrong}"), CHUNKED),
            "garbage"
        );
        let report = check_text(&text);
        let offset = first.len() as u64;
        let messages: Vec<_> = report
            .problems
            .iter()
            .map(|problem| &*problem.message)
            .collect();
        assert_eq!(report.problem_count, 4, "{messages:?}");
        assert_eq!(report.records, 2);
        assert!(
            report.problems[..3]
                .iter()
                .all(|problem| problem.offset == offset),
            "{:?}",
            report.problems
        );
        assert_eq!(messages[0], "the id <urn:a> was used before");
        assert!(messages[1].contains("unknown algorithm"), "{messages:?}");
        assert!(
            messages[2].contains("WARC-Block-Digest is wrong"),
            "{messages:?}"
        );
        assert!(messages[3].contains("but `garbage`"), "{messages:?}");
    }

    #[test]
    fn missing_fields_are_told() {
        let report = check_text("WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n");
        let messages: Vec<_> = report
            .problems
            .into_iter()
            .map(|problem| problem.message)
            .collect();
        assert_eq!(
            messages,
            [
                "WARC-Type is missing",
                "WARC-Record-ID is missing",
                "WARC-Date is missing",
                "the record does not end with two line ends"
            ]
        );
    }
}
