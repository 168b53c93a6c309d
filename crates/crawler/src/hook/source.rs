//! The changes that were not delivered yet, read from the event log behind a cursor.
//!
//! The log is one or more files, of which the last grows; a file that is rotated gets another name. So the cursor names a file by its first line, which never changes, and a place in it.
//! Files that somebody moved away are passed over, which is told: what they said is not delivered.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use junkai_archive::Index;
use junkai_archive::logs::log_files;
use junkai_engine::line_file::end_of_last_line;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::ArchiveFolder;
use crate::CrawlError;
use crate::changes::{LINE_BYTES_MAX, PageChange, change_of, may_be_change, was_there};
use crate::error::AtPath as _;
use crate::log::{EVENTS, Event};

/// Bytes of a batch at most; the change that goes beyond is its last.
const BATCH_BYTES_MAX: usize = 4 << 20;
/// Bytes of the log that are looked through for what is pending; of more it is only said that there is more.
const PENDING_BYTES_MAX: u64 = 64 << 20;
/// The log.
const NAME: &str = "events.jsonl";

/// How far the log was delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Cursor {
    /// What stands for the first line of the file; none if nothing was read yet.
    file: Option<u64>,
    /// The place behind the last line that was delivered, or says nothing.
    at: u64,
    /// When the visit of that line ended.
    time: Option<Timestamp>,
}

/// Changes that go together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// A line for each.
    pub(super) lines: Vec<u8>,
    pub(super) changes: usize,
}

/// A change as a hook hears of it.
#[derive(Serialize)]
struct Told<'a> {
    /// The same whenever this change is delivered.
    id: &'a str,
    #[serde(flatten)]
    change: &'a PageChange,
}

/// The log behind a cursor.
#[derive(Debug)]
pub(super) struct Source {
    archive: PathBuf,
    /// Up to where it was read.
    cursor: Cursor,
    open: Option<File>,
    /// Of a file that is not there any more, everything up to this time was delivered.
    passed: Option<Timestamp>,
    /// How often the file of the cursor was not there any more.
    pub(super) gaps: u64,
}

fn whole_lines(file: &File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    end_of_last_line(length, |part, at| file.read_exact_at(part, at))
}

impl Cursor {
    /// Behind all that the log has.
    pub(super) fn at_end(archive: &Path) -> io::Result<Cursor> {
        for path in log_files(archive, NAME)?.iter().rev() {
            let file = File::open(path)?;
            if let Some(id) = first_line(&file)? {
                return Ok(Cursor {
                    file: Some(id),
                    at: whole_lines(&file)?,
                    time: None,
                });
            }
        }
        Ok(Cursor::default())
    }
}

impl Source {
    pub(super) fn new(archive: &Path, cursor: Cursor) -> Source {
        Source {
            archive: archive.to_owned(),
            cursor,
            open: None,
            passed: None,
            gaps: 0,
        }
    }

    /// Up to where it was read.
    pub(super) fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// Adds to a batch what the log has, until the batch is full; answers whether it is.
    pub(super) fn fill(
        &mut self,
        batch: &mut Batch,
        changes_max: usize,
    ) -> Result<bool, CrawlError> {
        let is_full =
            |batch: &Batch| changes_max <= batch.changes || BATCH_BYTES_MAX <= batch.lines.len();
        let archive = self.archive.clone();
        let mut index = None;
        let mut was_there = |event: &Event<'_>| match &index {
            Some(index) => was_there(index, event),
            None => was_there(index.insert(Index::open(&archive)?), event),
        };
        while !is_full(batch) {
            let more = self.read_lines(|line, event| {
                if let Some(change) = change_of(event, &mut was_there)? {
                    batch.add(line, &change);
                }
                Ok(!is_full(batch))
            })?;
            if !more {
                break;
            }
        }
        Ok(is_full(batch))
    }

    /// How many changes there are behind the cursor, as far as the lines say so themselves, and whether there is more than was looked through.
    pub(super) fn pending(mut self) -> Result<(u64, bool), CrawlError> {
        let (mut count, mut bytes) = (0, 0);
        loop {
            let more = self.read_lines(|line, event| {
                count += u64::from(may_be_change(event));
                bytes += line.len() as u64;
                Ok(bytes < PENDING_BYTES_MAX)
            })?;
            if PENDING_BYTES_MAX <= bytes {
                return Ok((count, true));
            }
            if !more {
                return Ok((count, false));
            }
        }
    }

    /// Gives the whole lines of the file at hand to `take`, until it has enough; answers whether there may be more.
    fn read_lines(
        &mut self,
        mut take: impl FnMut(&[u8], &Event<'_>) -> Result<bool, CrawlError>,
    ) -> Result<bool, CrawlError> {
        let path = self.archive.join(EVENTS);
        if self.open.is_none() && !self.find().at(&path)? {
            return Ok(false);
        }
        let Some(file) = &self.open else {
            return Ok(false);
        };
        let mut source = BufReader::with_capacity(1 << 16, At(file, self.cursor.at));
        let mut line = Vec::new();
        loop {
            line.clear();
            source
                .by_ref()
                .take(LINE_BYTES_MAX)
                .read_until(b'\n', &mut line)
                .at(&path)?;
            let is_cut = line.len() as u64 == LINE_BYTES_MAX;
            if !line.ends_with(b"\n") && !is_cut {
                // The end, or a line that is being written.
                break;
            }
            self.cursor.at += line.len() as u64;
            let Ok(event) = serde_json::from_slice::<Event<'_>>(&line) else {
                continue;
            };
            if self.passed.is_some_and(|passed| event.time <= passed) {
                continue;
            }
            self.passed = None;
            self.cursor.time = Some(event.time);
            if !take(&line, &event)? {
                return Ok(true);
            }
        }
        self.follow().at(&path)
    }

    /// Opens the file of the cursor; false if there is none to open yet.
    fn find(&mut self) -> io::Result<bool> {
        let mut first = None;
        for path in log_files(&self.archive, NAME)? {
            let Some((file, id)) = opened(&path)? else {
                continue;
            };
            if self.cursor.file == Some(id) {
                // After a power failure the log may be shorter than it was: then those visits are made again.
                self.cursor.at = self.cursor.at.min(file.metadata()?.len());
                self.open = Some(file);
                return Ok(true);
            }
            first = first.or(Some((file, id)));
        }
        let Some((file, id)) = first else {
            return Ok(false);
        };
        if self.cursor.file.is_some() {
            self.gaps += 1;
            self.passed = self.cursor.time;
            tracing::warn!(
                "the log file that a hook was reading is not there any more: changes that only it told of are not delivered"
            );
        }
        self.cursor.file = Some(id);
        self.cursor.at = 0;
        self.open = Some(file);
        Ok(true)
    }

    /// At the end of a file: goes on to the next one, if it was rotated.
    pub(super) fn follow(&mut self) -> io::Result<bool> {
        let Some(file) = &self.open else {
            return Ok(false);
        };
        let this = file.metadata()?;
        let growing = fs::metadata(ArchiveFolder::real(&self.archive).logs().file(NAME));
        let is_this = |other: &fs::Metadata| (other.dev(), other.ino()) == (this.dev(), this.ino());
        if growing.as_ref().is_ok_and(is_this) {
            return Ok(false);
        }
        // Put away, it does not grow any more: what was written after the end was seen and before that is still to be read. A line that is not whole never will be.
        if self.cursor.at < whole_lines(file)? {
            return Ok(true);
        }
        let mut is_behind = false;
        for path in log_files(&self.archive, NAME)? {
            if is_behind && let Some((file, id)) = opened(&path)? {
                self.cursor.file = Some(id);
                self.cursor.at = 0;
                self.open = Some(file);
                return Ok(true);
            }
            is_behind |= fs::metadata(&path).as_ref().is_ok_and(is_this);
        }
        if !is_behind {
            // It was moved away; all of it was read.
            self.open = None;
            self.cursor.at = 0;
            self.passed = self.cursor.time;
            self.cursor.file = None;
            return Ok(growing.is_ok_and(|growing| 0 < growing.len()));
        }
        Ok(false)
    }
}

impl Batch {
    fn add(&mut self, line: &[u8], change: &PageChange) {
        let id = format!("{:032x}", xxh3_128(line));
        let told = Told { id: &id, change };
        // A struct of strings and numbers always serialises.
        if serde_json::to_writer(&mut self.lines, &told).is_ok() {
            self.lines.push(b'\n');
            self.changes += 1;
        }
    }
}

/// A log file, and what stands for it; none if it has no whole line, or was renamed a moment ago.
fn opened(path: &Path) -> io::Result<Option<(File, u64)>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(first_line(&file)?.map(|id| (file, id)))
}

/// What stands for the first line of a file; none if that is not whole yet.
fn first_line(file: &File) -> io::Result<Option<u64>> {
    let mut line = Vec::new();
    BufReader::new(At(file, 0).take(LINE_BYTES_MAX)).read_until(b'\n', &mut line)?;
    Ok(line.ends_with(b"\n").then(|| xxh3_64(&line)))
}

/// A file from a place on.
struct At<'a>(&'a File, u64);

impl io::Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read_at(buffer, self.1)?;
        self.1 += count as u64;
        Ok(count)
    }
}
