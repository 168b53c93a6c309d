//! Which captures exist: one look-up over all files of the index, while they are written.
//!
//! [`Index::open`] takes a snapshot of the directory; it costs a few opened files, so open one anew to see later captures.
//! Sealed files are searched by bisection on disk; the open file of each writer, at most a few megabytes, is read through.
//! [`crate::merge`] keeps the number of sealed files small.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::cdxj::{Entry, EntryError, surt};
use crate::layout::{INDEX_SUFFIX, Layout, OPEN_SUFFIX, names};
use crate::segment::{Cursor, KeyRange, Segment};

/// Files may be sealed or merged between listing and opening; so often the listing is made again.
const LISTINGS_MAX: u32 = 16;

/// Why the index cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IndexError {
    /// A file cannot be read.
    #[error("cannot read the index {path}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A line is not one of an index.
    #[error("bad line in the index: `{line}`")]
    Line {
        /// The line.
        line: String,
        /// The cause.
        source: EntryError,
    },
}

/// A snapshot of the index of an archive.
#[derive(Debug)]
pub struct Index {
    segments: Vec<Segment>,
}

impl Index {
    /// Opens the index of the archive at `root`.
    pub fn open(root: &Path) -> Result<Self, IndexError> {
        let directory = Layout::new(root).indexes();
        let failed = |source| IndexError::Io {
            path: directory.clone(),
            source,
        };
        for _ in 0..LISTINGS_MAX {
            match open_segments(&directory) {
                Ok(segments) => return Ok(Self { segments }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(io::Error::other(
            "its files change too fast to be listed",
        )))
    }

    /// The captures of a URL, oldest first.
    pub fn lookup(&self, url: &str) -> Result<Matches, IndexError> {
        let key = surt(url);
        self.range(format!("{key} ").into_bytes()..format!("{key}!").into_bytes())
    }

    /// The captures of a URL whose 14-digit time lies between two times, both included. The times may be cut short:
    /// from `2025` to `2026` is two years.
    pub fn between(&self, url: &str, from: &str, to: &str) -> Result<Matches, IndexError> {
        let key = surt(url);
        let mut end = format!("{key} {to}").into_bytes();
        end.push(0xff);
        self.range(format!("{key} {from}").into_bytes()..end)
    }

    /// The newest capture of a URL.
    pub fn latest(&self, url: &str) -> Result<Option<Entry>, IndexError> {
        self.lookup(url)?.last().transpose()
    }

    /// The captures whose SURT begins with `prefix`, in the order of SURT and time: `org,example)/docs/`, `org,example`.
    pub fn prefix(&self, prefix: &str) -> Result<Matches, IndexError> {
        let mut end = prefix.as_bytes().to_vec();
        end.push(0xff);
        self.range(prefix.as_bytes().to_vec()..end)
    }

    /// All captures, in the order of SURT and time.
    pub fn iter(&self) -> Result<Matches, IndexError> {
        self.prefix("")
    }

    fn range(&self, range: KeyRange) -> Result<Matches, IndexError> {
        let mut matches = Matches {
            cursors: Vec::new(),
            heads: BinaryHeap::new(),
            last: Vec::new(),
        };
        for segment in &self.segments {
            let cursor = segment
                .lines(&range)
                .map_err(|source| io_error(&segment.path, source))?;
            matches.add(cursor, segment.path.clone())?;
        }
        Ok(matches)
    }
}

fn open_segments(directory: &Path) -> io::Result<Vec<Segment>> {
    let names = names(directory)?;
    let is_index = |name: &String| {
        name.strip_suffix(OPEN_SUFFIX)
            .unwrap_or(name)
            .ends_with(INDEX_SUFFIX)
    };
    names
        .into_iter()
        .filter(is_index)
        .map(|name| Segment::open(directory.join(name)))
        .collect()
}

fn io_error(path: &Path, source: io::Error) -> IndexError {
    IndexError::Io {
        path: path.to_owned(),
        source,
    }
}

/// Lines of several files as one sorted sequence in which equal lines are one.
pub struct Matches {
    cursors: Vec<(Cursor, PathBuf)>,
    /// The next line of each cursor that has one.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    last: Vec<u8>,
}

impl Matches {
    pub(crate) fn over(segments: &[Segment]) -> Result<Self, IndexError> {
        let mut matches = Self {
            cursors: Vec::new(),
            heads: BinaryHeap::new(),
            last: Vec::new(),
        };
        for segment in segments {
            let all = Vec::new()..vec![0xff];
            let cursor = segment
                .lines(&all)
                .map_err(|source| io_error(&segment.path, source))?;
            matches.add(cursor, segment.path.clone())?;
        }
        Ok(matches)
    }

    fn add(&mut self, cursor: Cursor, path: PathBuf) -> Result<(), IndexError> {
        self.cursors.push((cursor, path));
        self.advance(self.cursors.len() - 1)
    }

    fn advance(&mut self, at: usize) -> Result<(), IndexError> {
        let (cursor, path) = &mut self.cursors[at];
        if let Some(line) = cursor.next().map_err(|source| io_error(path, source))? {
            self.heads.push(Reverse((line, at)));
        }
        Ok(())
    }

    /// The next line as it is in the file, without its line feed.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, IndexError> {
        while let Some(Reverse((line, at))) = self.heads.pop() {
            self.advance(at)?;
            if line != self.last {
                self.last.clone_from(&line);
                return Ok(Some(line));
            }
        }
        Ok(None)
    }
}

impl Iterator for Matches {
    type Item = Result<Entry, IndexError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = match self.next_line() {
            Ok(line) => line?,
            Err(error) => return Some(Err(error)),
        };
        let line = String::from_utf8_lossy(&line);
        Some(Entry::parse(&line).map_err(|source| IndexError::Line {
            line: line.into_owned(),
            source,
        }))
    }
}
