//! The captures of a URL, in an archive or in single files, and their bytes.
//!
//! [`Captures::of`] lists them; one that repeats the payload of another names that one, which [`Captures::original`] finds; and
//! [`Captures::copy_body`] writes what it holds, as a stream.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use junkai_http::{TextHead, content};
use thiserror::Error;

use crate::cdxj::{Entry, surt};
use crate::digest::is_same;
use crate::index::{Index, IndexError};
use crate::indexer::{
    IndexFileError, is_http_url, is_listed, line_of, read_http_head, timestamp_of,
};
use crate::layout::Layout;
use crate::read_error::{ReadError, read_error};
use crate::reader::{Reader, Record};
use crate::walk::{Walker, walk};

/// What the index calls a capture whose payload is elsewhere.
const REVISIT: &str = "warc/revisit";
/// Bytes that are copied at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Why a capture cannot be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The index cannot be read.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The file that the index names is not there.
    #[error("{file} is not in the archive, though its index names it")]
    NoFile {
        /// The file.
        file: String,
    },
    /// The file cannot be read.
    #[error("cannot read {file}")]
    Read {
        /// The file.
        file: String,
        /// The cause.
        source: ReadError,
    },
    /// What was read cannot be written.
    #[error("cannot write what was captured")]
    Write(#[source] io::Error),
}

/// How a body is given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyForm {
    /// As it was sent, with its transfer and content encodings.
    AsSent,
    /// As its reader wants it.
    Decoded,
}

/// The captures of an archive, as they were when it was opened, or of files.
#[derive(Debug)]
pub struct Captures {
    source: Source,
}

#[derive(Debug)]
enum Source {
    Archive { layout: Layout, index: Index },
    Files(Vec<PathBuf>),
}

impl Captures {
    /// Those of the archive at `root`.
    ///
    /// # Errors
    /// If its index cannot be read.
    pub fn of_archive(root: &Path) -> Result<Self, CaptureError> {
        let source = Source::Archive {
            layout: Layout::new(root),
            index: Index::open(root)?,
        };
        Ok(Self { source })
    }

    /// Those of WARC and ARC files, which are read through for each URL.
    #[must_use]
    pub fn of_files(files: Vec<PathBuf>) -> Self {
        Self {
            source: Source::Files(files),
        }
    }

    /// The captures of a URL, oldest first. If there are none, those of URLs that differ as little as the keys of an index tell:
    /// in case, in `www.`, in http and https.
    ///
    /// # Errors
    /// If the index or a file cannot be read.
    pub fn of(&self, url: &str) -> Result<Vec<Entry>, CaptureError> {
        let mut entries = match &self.source {
            Source::Archive { index, .. } => index.lookup(url)?.collect::<Result<Vec<_>, _>>()?,
            Source::Files(files) => in_files(files, url)?,
        };
        // What a metadata record says of a page is no capture of it.
        if entries.iter().any(|entry| entry.status.is_some()) {
            entries.retain(|entry| entry.status.is_some() || is_revisit(entry));
        }
        if entries.iter().any(|entry| entry.url == url) {
            entries.retain(|entry| entry.url == url);
        }
        Ok(entries)
    }

    /// The capture that holds the payload of this one: itself, unless it repeats another; none if that cannot be found.
    ///
    /// # Errors
    /// If the index or a file cannot be read.
    pub fn original(&self, entry: &Entry) -> Result<Option<Entry>, CaptureError> {
        if !is_revisit(entry) {
            return Ok(Some(entry.clone()));
        }
        let (url, date) = self.read(entry, |record| {
            let head = record.head();
            let url = head
                .field("WARC-Refers-To-Target-URI")
                .unwrap_or(&entry.url);
            let date = head.field("WARC-Refers-To-Date").and_then(timestamp_of);
            Ok((url.trim_matches(['<', '>']).to_owned(), date))
        })?;
        let is_digest = |other: &Entry| match (&other.digest, &entry.digest) {
            (Some(one), Some(two)) => one == two || is_same(one, two),
            _ => false,
        };
        let candidates = self.of(&url)?.into_iter().filter(|other| {
            let is_named = is_digest(other) || date.as_ref() == Some(&other.timestamp);
            let is_assumed = entry.digest.is_none() && other.timestamp <= entry.timestamp;
            !is_revisit(other) && (is_named || is_assumed)
        });
        let rank = |other: &Entry| {
            let is_date = date.as_ref() == Some(&other.timestamp);
            (is_date, is_digest(other), other.timestamp.clone())
        };
        Ok(candidates.max_by_key(rank))
    }

    /// The head of the HTTP message that a capture holds, with the empty line that ends it; empty if it holds none.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn http_head(&self, entry: &Entry) -> Result<Vec<u8>, CaptureError> {
        self.read(entry, |mut record| {
            if !has_http(&record) {
                return Ok(Vec::new());
            }
            let mut start =
                read_http_head(&mut record).map_err(|error| read_error(error, entry.offset))?;
            let length = TextHead::parse(&start).length;
            start.truncate(length);
            Ok(start)
        })
    }

    /// Writes the body of a capture that is its own original; says what is wrong with it, if it did not come whole.
    ///
    /// # Errors
    /// If the file cannot be read, or `out` not be written.
    pub fn copy_body(
        &self,
        entry: &Entry,
        form: BodyForm,
        mut out: impl Write,
    ) -> Result<Option<String>, CaptureError> {
        let mut failed = None;
        let damage = self.read(entry, |mut record| {
            let is_http = has_http(&record);
            let start = if is_http {
                read_http_head(&mut record).map_err(|error| read_error(error, entry.offset))?
            } else {
                Vec::new()
            };
            let head = TextHead::parse(&start);
            let body = (&start[head.length..]).chain(&mut record);
            let mut body: Box<dyn Read> = match form {
                BodyForm::Decoded if is_http => content(&head, body),
                BodyForm::Decoded | BodyForm::AsSent => Box::new(body),
            };
            let mut piece = vec![0; PIECE_BYTES];
            loop {
                let count = match body.read(&mut piece) {
                    Ok(0) => break,
                    Ok(count) => count,
                    Err(error) => return Ok(Some(error.to_string())),
                };
                if let Err(error) = out.write_all(&piece[..count]) {
                    failed = Some(error);
                    return Ok(None);
                }
            }
            drop(body);
            record.finish().map(|_| None)
        })?;
        match failed.map_or_else(|| out.flush(), Err) {
            Ok(()) => Ok(damage),
            Err(error) => Err(CaptureError::Write(error)),
        }
    }

    /// Reads the record of a capture.
    fn read<T>(
        &self,
        entry: &Entry,
        read: impl FnOnce(Record<'_, File>) -> Result<T, ReadError>,
    ) -> Result<T, CaptureError> {
        let path = match &self.source {
            Source::Archive { layout, .. } => layout.warc(&entry.filename),
            Source::Files(_) => Some(PathBuf::from(&entry.filename)),
        };
        let path = path.ok_or_else(|| CaptureError::NoFile {
            file: entry.filename.clone(),
        })?;
        let of_record = || {
            let mut reader = Reader::open_at(&path, entry.offset)?;
            let offset = entry.offset;
            read(reader.next_record()?.ok_or(ReadError::Torn { offset })?)
        };
        of_record().map_err(|source| CaptureError::Read {
            file: entry.filename.clone(),
            source,
        })
    }
}

fn is_revisit(entry: &Entry) -> bool {
    entry.mime.as_deref() == Some(REVISIT)
}

fn has_http(record: &Record<'_, File>) -> bool {
    let head = record.head();
    matches!(head.record_type(), "response" | "revisit")
        && 0 < head.content_length
        && head.target_uri().is_some_and(|url| is_http_url(&url))
}

/// The captures of a URL in files, oldest first; the name of each file is its path.
fn in_files(files: &[PathBuf], url: &str) -> Result<Vec<Entry>, CaptureError> {
    let mut entries = Vec::new();
    for path in files {
        let mut search = Search {
            key: surt(url),
            filename: path.to_string_lossy().into_owned(),
            entries: &mut entries,
            failed: None,
        };
        walk(path, &mut search);
        if let Some(source) = search.failed {
            let file = search.filename;
            return Err(CaptureError::Read { file, source });
        }
    }
    entries.sort_by(|one, two| one.timestamp.cmp(&two.timestamp));
    Ok(entries)
}

/// Looks for the captures of a URL in a file; passes over what is damaged.
struct Search<'a> {
    key: String,
    filename: String,
    entries: &'a mut Vec<Entry>,
    failed: Option<ReadError>,
}

impl Walker for Search<'_> {
    fn record(&mut self, record: Record<'_, File>) -> Result<(), ReadError> {
        let head = record.head();
        let is_wanted = is_listed(head)
            && head
                .target_uri()
                .is_some_and(|target| surt(&target) == self.key);
        if !is_wanted {
            record.finish()?;
            return Ok(());
        }
        match line_of(record, &self.filename) {
            Ok(listed) => {
                let entry = listed.line.and_then(|line| Entry::parse(&line).ok());
                self.entries.extend(entry);
                Ok(())
            }
            Err(IndexFileError::Read(error)) => Err(error),
            // It has no date.
            Err(_) => Ok(()),
        }
    }

    fn damage(&mut self, error: ReadError) {
        if matches!(error, ReadError::Io(_)) {
            self.failed = Some(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME: &str = "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5";

    /// A record of a page at a second, with more fields.
    fn record(kind: &str, url: &str, second: u8, fields: &str, block: &str) -> String {
        format!(
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:{second}>\r\nWARC-Date: 2026-01-15T09:30:{second:02}Z\r\nWARC-Target-URI: {url}\r\n\
             {fields}Content-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    }

    fn answer(body: &str) -> String {
        format!("HTTP/1.1 200 OK\r\nX-Of: {body}\r\n\r\n{body}")
    }

    #[test]
    fn captures_are_found_in_files_past_damage_and_repeat_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc");
        let url = "http://a.example/";
        let digest = format!("WARC-Payload-Digest: {SAME}\r\n");
        let revisit = format!("{digest}WARC-Refers-To-Target-URI: http://b.example/\r\n");
        let text = [
            record("response", "http://b.example/", 1, &digest, &answer("abc")),
            record("response", url, 2, "", &answer("first")),
            "damage\r\n\r\n".to_owned(),
            record("request", url, 2, "", "GET / HTTP/1.1\r\n\r\n"),
            record("metadata", url, 2, "Content-Type: text/plain\r\n", "seen"),
            record("response", url, 3, "", &answer("second")),
            record("revisit", url, 4, &revisit, "HTTP/1.1 203 OK\r\n\r\n"),
        ];
        std::fs::write(&path, text.concat()).unwrap();
        let captures = Captures::of_files(vec![path]);
        let found = captures.of("https://www.a.example").unwrap();
        let times: Vec<&str> = found.iter().map(|entry| &entry.timestamp[8..]).collect();
        assert_eq!(times, ["093002", "093003", "093004"]);
        let bodies: Vec<String> = found
            .iter()
            .map(|entry| {
                let original = captures.original(entry).unwrap().unwrap();
                let mut body = Vec::new();
                let damage = captures.copy_body(&original, BodyForm::Decoded, &mut body);
                assert_eq!(damage.unwrap(), None);
                String::from_utf8(body).unwrap()
            })
            .collect();
        assert_eq!(bodies, ["first", "second", "abc"]);
        let head = captures.http_head(&found[2]).unwrap();
        assert_eq!(head, b"HTTP/1.1 203 OK\r\n\r\n");
        assert!(captures.of("http://c.example/").unwrap().is_empty());
    }
}
