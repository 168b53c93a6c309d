//! Repairs what a crash left: cuts torn records off, makes missing index lines, closes what was open.
//!
//! Runs once at start, before any writer of the archive. An open WARC file is read from its last indexed record on (all
//! before it was whole when the line was written), and cut after its last whole record. A closed file is never changed; if
//! it cannot be right, that is reported.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use crate::cdxj::Entry;
use crate::indexer::{IndexFileError, line_of};
use crate::layout::{
    INDEX_SUFFIX, Layout, OPEN_SUFFIX, UNFINISHED_SUFFIX, index_name, is_warc, names,
    parse_index_name, stem, sync_directory,
};
use crate::reader::{ReadError, Reader};
use crate::segment::{Segment, write_sorted};
use crate::writer::{INDEX_PART_BYTES, seal};

/// Why an archive cannot be repaired.
#[derive(Debug, Error)]
#[error("cannot repair {path}")]
pub struct RecoverError {
    /// The file.
    pub path: PathBuf,
    /// The cause.
    pub source: io::Error,
}

/// What was repaired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recovery {
    /// WARC files that were open, and are closed now.
    pub closed: Vec<ClosedFile>,
    /// Files that were open and held no whole record, and were removed.
    pub removed: Vec<String>,
    /// Index files that were left unsealed by a file that was closed already.
    pub sealed: Vec<String>,
    /// What cannot be right and was left alone, a sentence each.
    pub damaged: Vec<String>,
}

/// A WARC file that was open, and is closed now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClosedFile {
    /// Its name.
    pub file: String,
    /// Bytes of torn records that were cut off.
    pub bytes_cut: u64,
    /// Index lines that were missing and were made.
    pub lines_made: u64,
    /// Index lines whose record is not there and that were dropped.
    pub lines_dropped: u64,
}

impl Recovery {
    /// Whether there was nothing to repair and nothing to report.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("the archive was closed properly");
        }
        let mut sentences = Vec::new();
        for closed in &self.closed {
            let ClosedFile {
                file,
                bytes_cut,
                lines_made,
                lines_dropped,
            } = closed;
            sentences.push(format!(
                "closed {file}: {bytes_cut} torn bytes cut off, {lines_made} index lines made, {lines_dropped} dropped"
            ));
        }
        sentences.extend(
            self.removed
                .iter()
                .map(|name| format!("removed {name}, which held no whole record")),
        );
        sentences.extend(
            self.sealed
                .iter()
                .map(|name| format!("sealed the index {name}")),
        );
        sentences.extend(self.damaged.iter().cloned());
        f.write_str(&sentences.join("; "))
    }
}

/// Repairs the archive at `root`. No writer may be at work on it.
pub fn recover(root: &Path) -> Result<Recovery, RecoverError> {
    let layout = Layout::new(root);
    let mut recovery = Recovery::default();
    for name in listed(&layout.indexes())? {
        if name.ends_with(UNFINISHED_SUFFIX) {
            at(&layout.indexes().join(&name), |path| fs::remove_file(path))?;
        }
    }
    for name in listed(&layout.archive())? {
        match name.strip_suffix(OPEN_SUFFIX) {
            Some(closed) if is_warc(closed) => {
                OpenWarc::find(&layout, closed)?.repair(&mut recovery)?
            }
            _ if is_warc(&name) => recovery
                .damaged
                .extend(damage(&layout.archive().join(&name))),
            _ => {}
        }
    }
    for name in listed(&layout.indexes())? {
        if let Some(sealed) = name
            .strip_suffix(OPEN_SUFFIX)
            .filter(|name| name.ends_with(INDEX_SUFFIX))
        {
            at(&layout.indexes().join(&name), seal)?;
            recovery.sealed.push(sealed.to_owned());
        }
    }
    Ok(recovery)
}

/// A WARC file that a crash left open, with what the index knows of it.
struct OpenWarc<'a> {
    layout: &'a Layout,
    /// Its name once closed.
    name: &'a str,
    path: PathBuf,
    /// Its open index files; there is at most one, unless someone else put files there.
    open_indexes: Vec<PathBuf>,
    /// Lines of those.
    lines: Vec<Vec<u8>>,
    /// Offset of the last record that is known to the index.
    last_indexed: Option<u64>,
    /// Number for the next index file.
    next_part: u32,
}

impl<'a> OpenWarc<'a> {
    fn find(layout: &'a Layout, name: &'a str) -> Result<Self, RecoverError> {
        let path = layout.archive().join(format!("{name}{OPEN_SUFFIX}"));
        let mut warc = Self {
            layout,
            name,
            path,
            open_indexes: Vec::new(),
            lines: Vec::new(),
            last_indexed: None,
            next_part: 0,
        };
        for index in listed(&layout.indexes())? {
            let closed = index.strip_suffix(OPEN_SUFFIX).unwrap_or(&index);
            let Some((_, part)) =
                parse_index_name(closed).filter(|(owner, _)| *owner == stem(name))
            else {
                continue;
            };
            warc.next_part = warc.next_part.max(part + 1);
            let path = layout.indexes().join(&index);
            let lines = at(&path, |path| Segment::open(path.to_owned())?.all_lines())?;
            if index.ends_with(OPEN_SUFFIX) {
                warc.open_indexes.push(path);
                warc.lines.extend(lines);
            } else {
                let last = lines
                    .iter()
                    .filter_map(|line| warc.extent(line))
                    .map(|(offset, _)| offset)
                    .max();
                warc.last_indexed = warc.last_indexed.max(last);
            }
        }
        Ok(warc)
    }

    /// Where the record of a line is said to be; `None` if it is not a line of this file.
    fn extent(&self, line: &[u8]) -> Option<(u64, u64)> {
        let entry = Entry::parse(str::from_utf8(line).ok()?).ok()?;
        (entry.filename == self.name).then_some((entry.offset, entry.length))
    }

    fn repair(mut self, recovery: &mut Recovery) -> Result<(), RecoverError> {
        let length = at(&self.path, |path| Ok(fs::metadata(path)?.len()))?;
        let known = self.lines.len();
        let fits = |warc: &Self, line: &[u8]| {
            warc.extent(line)
                .is_some_and(|(offset, size)| offset.saturating_add(size) <= length)
        };
        let mut lines = std::mem::take(&mut self.lines);
        lines.retain(|line| fits(&self, line));
        let last = lines
            .iter()
            .filter_map(|line| self.extent(line))
            .map(|(offset, _)| offset)
            .max();
        self.last_indexed = self.last_indexed.max(last);

        let mut scan = at(&self.path, |_| self.scan(self.last_indexed))?;
        if scan.is_empty() && self.last_indexed.is_some() {
            // Even the last indexed record is not whole: nothing that the index says can be trusted.
            lines.clear();
            scan = at(&self.path, |_| self.scan(None))?;
        }
        let kept = lines.len();
        let made = scan.lines.len();
        lines.append(&mut scan.lines);
        if scan.is_empty() {
            at(&self.path, |path| fs::remove_file(path))?;
            self.remove_open_indexes()?;
            recovery.removed.push(self.name.to_owned());
            return Ok(());
        }
        at(&self.path, |path| cut(path, scan.end))?;
        self.write_index(lines)?;
        self.remove_open_indexes()?;
        let archive = self.layout.archive();
        at(&self.path, |path| fs::rename(path, archive.join(self.name)))?;
        at(&archive, sync_directory)?;
        recovery.closed.push(ClosedFile {
            file: self.name.to_owned(),
            bytes_cut: length - scan.end,
            lines_made: made as u64,
            lines_dropped: (known - kept) as u64,
        });
        Ok(())
    }

    /// Reads the file from its last indexed record, or else from its start, as far as it is whole.
    fn scan(&self, last_indexed: Option<u64>) -> io::Result<Scan> {
        let start = last_indexed.unwrap_or(0);
        let mut scan = Scan {
            start,
            end: start,
            lines: Vec::new(),
        };
        let mut reader = match Reader::<File>::open_at(&self.path, start) {
            Ok(reader) => reader,
            Err(error) => return scan.stopped_by(error),
        };
        loop {
            let record = match reader.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(scan),
                Err(error) => return scan.stopped_by(error),
            };
            let is_new = last_indexed != Some(record.head().offset);
            match line_of(record, self.name) {
                Ok(listed) if listed.is_terminated => {
                    scan.end = listed.end;
                    scan.lines
                        .extend(listed.line.filter(|_| is_new).map(String::into_bytes));
                }
                Ok(_) | Err(IndexFileError::Field { .. } | IndexFileError::Write(_)) => {
                    return Ok(scan);
                }
                Err(IndexFileError::Read(error)) => return scan.stopped_by(error),
            }
        }
    }

    fn write_index(&self, mut lines: Vec<Vec<u8>>) -> Result<(), RecoverError> {
        let mut part = self.next_part;
        while !lines.is_empty() {
            let mut size = 0;
            let fitting = lines.iter().take_while(|line| {
                size += line.len() as u64;
                size <= INDEX_PART_BYTES
            });
            let count = fitting.count().max(1);
            let rest = lines.split_off(count);
            let path = self
                .layout
                .indexes()
                .join(index_name(stem(self.name), part));
            at(&path, |path| write_sorted(path, lines))?;
            lines = rest;
            part += 1;
        }
        Ok(())
    }

    fn remove_open_indexes(&self) -> Result<(), RecoverError> {
        self.open_indexes
            .iter()
            .try_for_each(|index| at(index, |path| fs::remove_file(path)))
    }
}

/// What a file holds from a place on.
struct Scan {
    start: u64,
    /// End of the last whole record.
    end: u64,
    /// Lines of records that were not indexed.
    lines: Vec<Vec<u8>>,
}

impl Scan {
    fn is_empty(&self) -> bool {
        self.end == self.start
    }

    /// A file that cannot be read is not one that is torn: it must not be cut.
    fn stopped_by(self, error: ReadError) -> io::Result<Self> {
        match error {
            ReadError::Io(error) => Err(error),
            _ => Ok(self),
        }
    }
}

fn cut(path: &Path, length: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(length)?;
    file.sync_all()
}

/// What is wrong with a closed file, as far as its first record tells.
fn damage(path: &Path) -> Option<String> {
    let first = Reader::<File>::open(path).and_then(|mut reader| match reader.next_record()? {
        Some(record) => record.finish().map(Some),
        None => Ok(None),
    });
    match first {
        Ok(Some(_)) => None,
        Ok(None) => Some(format!("{} is closed, but empty", path.display())),
        Err(error) => Some(format!(
            "{} is closed, but damaged: {error}",
            path.display()
        )),
    }
}

fn listed(directory: &Path) -> Result<Vec<String>, RecoverError> {
    at(directory, names)
}

fn at<T>(path: &Path, action: impl FnOnce(&Path) -> io::Result<T>) -> Result<T, RecoverError> {
    action(path).map_err(|source| RecoverError {
        path: path.to_owned(),
        source,
    })
}
