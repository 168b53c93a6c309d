//! Lists the records of a WARC file as index lines: the same lines that `cdxj-indexer` prints.
//!
//! Listed are `response`, `revisit`, `resource` and `metadata` records, but not those whose type is
//! `application/warc-fields`. The digest is the one that the record names, or else the SHA-1 of what follows the HTTP head.
//! [`crate::recover()`] makes missing lines of the index by this as well.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use junkai_http::{TextHead, without_parameters};
use thiserror::Error;

use crate::cdxj::Line;
use crate::config::DigestAlgorithm;
use crate::digest::Digester;
use crate::read_error::{ReadError, read_error};
use crate::reader::{Reader, Record};
use crate::record_head::RecordHead;

/// Longest HTTP head that is looked at.
const HTTP_HEAD_BYTES_MAX: u64 = 1 << 20;
/// Almost every HTTP head is shorter.
const HTTP_HEAD_BYTES_USUAL: u64 = 16 << 10;

/// Why a file was not listed to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IndexFileError {
    /// The file is not readable, or not from here on.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A record lacks what a line needs.
    #[error("the record at offset {offset} has no valid {field}")]
    Field {
        /// Where the record starts.
        offset: u64,
        /// The field.
        field: &'static str,
    },
    /// The lines cannot be written.
    #[error("cannot write the index")]
    Write(#[source] io::Error),
}

/// Writes a line for each record to be listed, in the order of the file, and returns their number.
///
/// # Errors
/// Where the file is damaged, after the lines of what comes before the damage.
pub fn index_file(path: &Path, mut out: impl Write) -> Result<u64, IndexFileError> {
    let filename = path.file_name().unwrap_or_default().to_string_lossy();
    let mut reader = Reader::<File>::open(path)?;
    let mut count = 0;
    while let Some(record) = reader.next_record()? {
        if let Some(line) = line_of(record, &filename)?.line {
            writeln!(out, "{line}").map_err(IndexFileError::Write)?;
            count += 1;
        }
    }
    Ok(count)
}

/// A record that was read to its end.
pub(crate) struct Listed {
    /// Its line, if it is listed.
    pub(crate) line: Option<String>,
    /// Where the next record starts.
    pub(crate) end: u64,
    /// Whether the record ends as it should.
    pub(crate) is_terminated: bool,
}

/// Reads a record to its end, and makes its line.
pub(crate) fn line_of<R: Read>(
    mut record: Record<'_, R>,
    filename: &str,
) -> Result<Listed, IndexFileError> {
    if !is_listed(record.head()) {
        let span = record.finish()?;
        return Ok(Listed {
            line: None,
            end: span.end,
            is_terminated: span.is_terminated,
        });
    }
    let head = record.head().clone();
    let offset = head.offset;
    let url = head.target_uri();
    let record_type = head.record_type();
    let is_http = matches!(record_type, "response" | "revisit");
    if is_http && url.is_none() {
        return Err(IndexFileError::Field {
            offset,
            field: "WARC-Target-URI",
        });
    }
    let date = head.field("WARC-Date").and_then(timestamp_of);
    let timestamp = date.ok_or(IndexFileError::Field {
        offset,
        field: "WARC-Date",
    })?;

    let has_http = is_http && 0 < head.content_length && url.as_deref().is_some_and(is_http_url);
    let start = if has_http {
        read_http_head(&mut record).map_err(|e| read_error(e, offset))?
    } else {
        Vec::new()
    };
    let http = has_http.then(|| TextHead::parse(&start));
    let digest = match head.field("WARC-Payload-Digest") {
        Some(digest) if !digest.is_empty() => Some(digest.to_owned()),
        _ if record_type == "revisit" => None,
        _ => {
            let payload = http.as_ref().map_or(0, |http| http.length);
            Some(digest_rest(&mut record, &start[payload..]).map_err(|e| read_error(e, offset))?)
        }
    };
    let mime = match record_type {
        "revisit" => Some("warc/revisit"),
        "response" => http.as_ref().and_then(TextHead::media_type),
        _ => head.field("Content-Type").map(without_parameters),
    };
    let span = record.finish()?;
    let line = Line {
        url: url.as_deref(),
        timestamp: &timestamp,
        mime,
        status: http.as_ref().and_then(TextHead::status),
        digest: digest.as_deref(),
        length: span.length,
        offset,
        filename,
    };
    Ok(Listed {
        line: Some(line.text()),
        end: span.end,
        is_terminated: span.is_terminated,
    })
}

pub(crate) fn is_listed(head: &RecordHead) -> bool {
    match head.record_type() {
        "response" | "revisit" => true,
        "resource" | "metadata" => head.field("Content-Type") != Some("application/warc-fields"),
        _ => false,
    }
}

pub(crate) fn is_http_url(url: &str) -> bool {
    ["http:", "https:"].iter().any(|scheme| {
        let start = url.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// Reads at least the HTTP head at the start of a block, unless it is longer than the bound.
pub(crate) fn read_http_head<R: Read>(record: &mut Record<'_, R>) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    record.take(HTTP_HEAD_BYTES_USUAL).read_to_end(&mut start)?;
    if TextHead::parse(&start).length == start.len() {
        record
            .take(HTTP_HEAD_BYTES_MAX - HTTP_HEAD_BYTES_USUAL)
            .read_to_end(&mut start)?;
    }
    Ok(start)
}

fn digest_rest<R: Read>(record: &mut Record<'_, R>, start: &[u8]) -> io::Result<String> {
    let mut digester = Digester::new(DigestAlgorithm::Sha1);
    digester.update(start);
    let mut buffer = [0; 8192];
    loop {
        match record.read(&mut buffer)? {
            0 => return Ok(digester.finish()),
            count => digester.update(&buffer[..count]),
        }
    }
}

/// The 14 digits of a date such as `2026-01-15T09:30:12.345Z`; parts that are missing are zero.
pub(crate) fn timestamp_of(date: &str) -> Option<String> {
    let mut numbers: Vec<&str> = date.split(|c: char| !c.is_ascii_digit()).collect();
    if numbers.last() == Some(&"") {
        numbers.pop();
    }
    if numbers.len() < 3 || 7 < numbers.len() {
        return None;
    }
    let number =
        |at: usize| -> Option<i16> { numbers.get(at).map_or(Some(0), |text| text.parse().ok()) };
    let small = |at: usize| i8::try_from(number(at)?).ok();
    let date = jiff::civil::Date::new(number(0)?, small(1)?, small(2)?).ok()?;
    let time = jiff::civil::Time::new(small(3)?, small(4)?, small(5)?, 0).ok()?;
    Some(date.to_datetime(time).strftime("%Y%m%d%H%M%S").to_string())
}

#[cfg(test)]
mod tests {
    use super::timestamp_of;

    #[test]
    fn dates_become_timestamps_as_warcio_makes_them() {
        for (date, timestamp) in [
            ("2013-12-26T10:11:12Z", Some("20131226101112")),
            ("2013-12-26T10:11:12.456789Z", Some("20131226101112")),
            ("2013-12-26T10:11:12", Some("20131226101112")),
            ("2013-12-26", Some("20131226000000")),
            ("2013-12", None),
            ("2013-13-26T10:11:12Z", None),
            ("2013-12-26T10:11:12.1.2Z", None),
            ("", None),
        ] {
            assert_eq!(timestamp_of(date).as_deref(), timestamp, "{date}");
        }
    }
}
