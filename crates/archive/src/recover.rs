//! Repairs what a crash left: cuts torn records off, makes missing index lines, closes what was open.
//!
//! Runs once at start, before any writer of the archive. An open WARC file is read from its last indexed record on (all
//! before it was whole when the line was written), and cut after its last whole record. If more than a torn record
//! follows that, it is set aside rather than lost. A closed file is never changed; if it cannot be right, that is reported.
//!
//! After a loss of power any write since the last sync may be missing, whatever came after it. So nothing that an open index file says is believed: its WARC file
//! is read from its start, and indexed anew.

use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use crate::cdxj::Entry;
use crate::indexer::{IndexFileError, line_of};
use crate::layout::{
    INDEX_SUFFIX, Layout, OPEN_SUFFIX, UNFINISHED_SUFFIX, index_name, is_warc, names,
    parse_index_name, stem,
};
use crate::open_warc::{INDEX_PART_BYTES, seal};
use crate::read_error::ReadError;
use crate::reader::Reader;
use crate::recovery::{ClosedFile, RecoverError, Recovery};
use crate::segment::{Segment, write_sorted};

/// What the name of a file ends with that holds what could not be read.
const DAMAGED_EXTENSION: &str = "damaged";

/// Repairs the archive at `root` after the end of its writers, however they ended. No writer may be at work on it.
pub fn recover(root: &Path) -> Result<Recovery, RecoverError> {
    repair(root, Trust::Lines)
}

/// The same, after the machine may have lost what was not synced.
pub fn recover_after_power_loss(root: &Path) -> Result<Recovery, RecoverError> {
    repair(root, Trust::Nothing)
}

/// What is believed of an open index file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// A line was written after its record.
    Lines,
    /// Any part of it may be missing, and any record that it names.
    Nothing,
}

fn repair(root: &Path, trust: Trust) -> Result<Recovery, RecoverError> {
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
                OpenWarc::find(&layout, closed, trust)?.repair(&mut recovery)?;
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
            match trust {
                Trust::Lines => at(&layout.indexes().join(&name), seal)?,
                Trust::Nothing => index_again(&layout, sealed)?,
            }
            recovery.sealed.push(sealed.to_owned());
        }
    }
    Ok(recovery)
}

/// Makes the lines of an open index file anew, from its WARC file, which was closed already; if that is gone, so is what they told of.
fn index_again(layout: &Layout, sealed: &str) -> Result<(), RecoverError> {
    let owner = parse_index_name(sealed).map(|(owner, _)| owner);
    let is_owner = |name: &String| is_warc(name) && Some(stem(name)) == owner;
    let Some(name) = listed(&layout.archive())?.into_iter().find(is_owner) else {
        let open = layout.indexes().join(format!("{sealed}{OPEN_SUFFIX}"));
        return at(&open, |path| fs::remove_file(path));
    };
    let mut warc = OpenWarc::find(layout, &name, Trust::Nothing)?;
    warc.path = layout.archive().join(&name);
    let mut parts = Parts::of(&warc);
    at(&warc.path, |_| warc.scan(None, &mut parts))?;
    at(&layout.indexes(), |_| parts.finish(Vec::new()))?;
    warc.remove_open_indexes()
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
    fn find(layout: &'a Layout, name: &'a str, trust: Trust) -> Result<Self, RecoverError> {
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
            if trust == Trust::Nothing {
                if index.ends_with(OPEN_SUFFIX) {
                    warc.open_indexes.push(path);
                }
                continue;
            }
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
        let mut lines = std::mem::take(&mut self.lines);
        let known = lines.len();
        lines.retain(|line| {
            self.extent(line)
                .is_some_and(|(offset, size)| offset.saturating_add(size) <= length)
        });
        let last = lines
            .iter()
            .filter_map(|line| self.extent(line))
            .map(|(offset, _)| offset)
            .max();
        self.last_indexed = self.last_indexed.max(last);

        let mut parts = Parts::of(&self);
        let mut scan = at(&self.path, |_| self.scan(self.last_indexed, &mut parts))?;
        if scan.end.is_none() && self.last_indexed.is_some() {
            // Even the last indexed record is not whole: nothing that the index says can be trusted.
            lines.clear();
            scan = at(&self.path, |_| self.scan(None, &mut parts))?;
        }
        let made = parts.made;
        let kept = lines.len();
        let Some(end) = scan.end else {
            at(&self.path, |path| fs::remove_file(path))?;
            self.remove_open_indexes()?;
            recovery.removed.push(self.name.to_owned());
            return Ok(());
        };
        if !scan.is_torn && end < length && at(&self.path, |path| set_aside(path, end))? {
            recovery.damaged.push(format!(
                "{} is damaged at offset {end}: what followed, {} bytes, is set aside in {}.{DAMAGED_EXTENSION}",
                self.name,
                length - end,
                self.name,
            ));
        }
        at(&self.path, |path| cut(path, end))?;
        at(&self.layout.indexes(), |_| parts.finish(lines))?;
        self.remove_open_indexes()?;
        let archive = self.layout.archive();
        at(&self.path, |path| fs::rename(path, archive.join(self.name)))?;
        at(&archive, junkai_files::sync_folder)?;
        recovery.closed.push(ClosedFile {
            file: self.name.to_owned(),
            bytes_cut: length - end,
            lines_made: made,
            lines_dropped: (known - kept) as u64,
        });
        Ok(())
    }

    /// Reads the file from its last indexed record, or else from its start, as far as it is whole.
    fn scan(&self, last_indexed: Option<u64>, parts: &mut Parts<'_>) -> io::Result<Scan> {
        let mut end = None;
        let mut reader = match Reader::<File>::open_at(&self.path, last_indexed.unwrap_or(0)) {
            Ok(reader) => reader,
            Err(error) => return Scan::stopped(end, error),
        };
        loop {
            let record = match reader.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(Scan { end, is_torn: true }),
                Err(error) => return Scan::stopped(end, error),
            };
            let is_new = last_indexed != Some(record.head().offset);
            match line_of(record, self.name) {
                Ok(listed) if listed.is_terminated => {
                    end = Some(listed.end);
                    if let Some(line) = listed.line.filter(|_| is_new) {
                        parts.push(line.into_bytes())?;
                    }
                }
                Ok(_) => return Ok(Scan { end, is_torn: true }),
                Err(IndexFileError::Read(error)) => return Scan::stopped(end, error),
                Err(IndexFileError::Field { .. } | IndexFileError::Write(_)) => {
                    return Ok(Scan {
                        end,
                        is_torn: false,
                    });
                }
            }
        }
    }

    fn remove_open_indexes(&self) -> Result<(), RecoverError> {
        self.open_indexes
            .iter()
            .try_for_each(|index| at(index, |path| fs::remove_file(path)))
    }
}

/// How far an open file is whole.
struct Scan {
    /// End of the last whole record; `None` if there is none.
    end: Option<u64>,
    /// Whether what follows is the beginning of a record, as a crash leaves it, and nothing else.
    is_torn: bool,
}

impl Scan {
    fn stopped(end: Option<u64>, error: ReadError) -> io::Result<Self> {
        match error {
            // A file that cannot be read is not one that is torn: it must not be cut.
            ReadError::Io(error) => Err(error),
            ReadError::Torn { .. } => Ok(Self { end, is_torn: true }),
            _ => Ok(Self {
                end,
                is_torn: false,
            }),
        }
    }
}

/// Missing lines of an index, written in sealed files of bounded size as they are made.
struct Parts<'a> {
    warc: &'a OpenWarc<'a>,
    lines: Vec<Vec<u8>>,
    /// Bytes in `lines`.
    size: u64,
    /// Number of the next file.
    next: u32,
    made: u64,
}

impl<'a> Parts<'a> {
    fn of(warc: &'a OpenWarc<'a>) -> Self {
        Self {
            warc,
            lines: Vec::new(),
            size: 0,
            next: warc.next_part,
            made: 0,
        }
    }

    fn push(&mut self, line: Vec<u8>) -> io::Result<()> {
        self.made += 1;
        self.size += line.len() as u64;
        self.lines.push(line);
        if INDEX_PART_BYTES <= self.size {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes what is left, with the lines of the open index file, which is of bounded size itself.
    fn finish(mut self, lines: Vec<Vec<u8>>) -> io::Result<()> {
        self.lines.extend(lines);
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.lines.is_empty() {
            let name = index_name(stem(self.warc.name), self.next);
            write_sorted(
                &self.warc.layout.indexes().join(name),
                std::mem::take(&mut self.lines),
            )?;
            self.next += 1;
            self.size = 0;
        }
        Ok(())
    }
}

/// Copies what follows `offset` to a file beside, unless it is all zeros, as a loss of power leaves them.
fn set_aside(path: &Path, offset: u64) -> io::Result<bool> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let is_zero = BufReader::new(&file)
        .bytes()
        .all(|byte| matches!(byte, Ok(0)));
    if is_zero {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(offset))?;
    let mut aside = junkai_files::create(&path.with_extension(DAMAGED_EXTENSION))?;
    io::copy(&mut file, &mut aside)?;
    aside.sync_all()?;
    Ok(true)
}

fn cut(path: &Path, length: u64) -> io::Result<()> {
    let file = junkai_files::change(path)?;
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
