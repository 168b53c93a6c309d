//! Which captures exist: one look-up over all files of the index, while they are written.
//!
//! [`Index::open`] takes a snapshot of the directory; it costs a few opened files, so open one anew to see later captures.
//! Sealed files are searched by bisection on disk; the open file of each writer, at most a few megabytes, is read through.
//! [`crate::merge()`] keeps the number of sealed files small.

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
    #[error("bad line in the index {path}: `{line}`")]
    Line {
        /// The file.
        path: PathBuf,
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
    #[expect(
        clippy::iter_not_returning_iterator,
        reason = "to start is to read, which can fail"
    )]
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
        Ok(self.next_head()?.map(|(line, _)| line))
    }

    /// The next line, and the number of its cursor.
    fn next_head(&mut self) -> Result<Option<(Vec<u8>, usize)>, IndexError> {
        while let Some(Reverse((line, at))) = self.heads.pop() {
            self.advance(at)?;
            if line != self.last {
                self.last.clone_from(&line);
                return Ok(Some((line, at)));
            }
        }
        Ok(None)
    }
}

impl Iterator for Matches {
    type Item = Result<Entry, IndexError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (line, at) = match self.next_head() {
            Ok(head) => head?,
            Err(error) => return Some(Err(error)),
        };
        let line = String::from_utf8_lossy(&line);
        Some(Entry::parse(&line).map_err(|source| IndexError::Line {
            path: self.cursors[at].1.clone(),
            line: line.into_owned(),
            source,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdxj::Line;
    use crate::merge::merge;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::fs;
    use tempfile::tempdir;

    /// A capture of page `page` at second `second`.
    fn line(page: u8, second: u8) -> String {
        let url = format!("http://example.org/{}", "x".repeat(usize::from(page)));
        let timestamp = format!("202601150930{second:02}");
        let line = Line {
            url: Some(&url),
            timestamp: &timestamp,
            mime: Some("text/html"),
            status: Some("200"),
            digest: None,
            length: 1,
            offset: 2,
            filename: "f.warc.gz",
        };
        line.text()
    }

    /// Writes files of an index: sealed ones, and every fourth open and unsorted, with a torn line at its end.
    fn write(root: &Path, files: &[Vec<(u8, u8)>]) -> BTreeSet<String> {
        let directory = Layout::new(root).indexes();
        fs::create_dir_all(&directory).unwrap();
        let mut all = BTreeSet::new();
        for (number, captures) in files.iter().enumerate() {
            let mut lines: Vec<String> = captures
                .iter()
                .map(|&(page, second)| line(page, second))
                .collect();
            all.extend(lines.iter().cloned());
            let (suffix, torn) = if number % 4 == 3 {
                (".open", "com,torn)/ 2026")
            } else {
                ("", "")
            };
            if suffix.is_empty() {
                lines.sort_unstable();
            }
            lines.push(torn.to_owned());
            let text = lines.join("\n");
            fs::write(directory.join(format!("f-{number:04}.cdxj{suffix}")), text).unwrap();
        }
        all
    }

    fn texts(mut matches: Matches) -> Vec<String> {
        let mut texts = Vec::new();
        while let Some(line) = matches.next_line().unwrap() {
            texts.push(String::from_utf8(line).unwrap());
        }
        texts
    }

    #[test]
    fn many_look_ups_read_an_open_file_once() {
        let root = tempdir().unwrap();
        let captures: Vec<(u8, u8)> = (0..40).map(|page| (page % 20, page)).collect();
        write(root.path(), &[vec![], vec![], vec![], captures]);
        let index = Index::open(root.path()).unwrap();
        let found = |page: usize| {
            let url = format!("http://example.org/{}", "x".repeat(page));
            index.lookup(&url).unwrap().count()
        };
        assert_eq!(found(3), 2);
        // What is gone from the file cannot be read again.
        let open = Layout::new(root.path()).indexes().join("f-0003.cdxj.open");
        fs::write(open, "").unwrap();
        assert!((0..20).all(|page| found(page) == 2));
        assert_eq!(found(20), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_look_up_finds_what_a_set_of_lines_holds(
            files in prop::collection::vec(prop::collection::vec((0_u8..30, 0_u8..60), 0..20), 0..20),
            page in 0_u8..30, from in 0_u8..60, to in 0_u8..60,
        ) {
            let root = tempdir().unwrap();
            let all = write(root.path(), &files);
            let url = format!("http://example.org/{}", "x".repeat(usize::from(page)));
            let key = format!("{} ", surt(&url));
            for is_merged in [false, true] {
                if is_merged {
                    merge(root.path()).unwrap();
                }
                let index = Index::open(root.path()).unwrap();
                prop_assert_eq!(texts(index.iter().unwrap()), all.iter().cloned().collect::<Vec<_>>());
                let found: Vec<_> = all.iter().filter(|line| line.starts_with(&key)).cloned().collect();
                prop_assert_eq!(texts(index.lookup(&url).unwrap()), found.clone());
                let last = found.last().map(|line| Entry::parse(line).unwrap());
                prop_assert_eq!(index.latest(&url).unwrap(), last);
                let (start, end) = (format!("202601150930{from:02}"), format!("202601150930{to:02}"));
                let within = |line: &&String| {
                    let time = line.split(' ').nth(1).unwrap();
                    *start <= *time && *time <= *end
                };
                let between: Vec<_> = found.iter().filter(within).cloned().collect();
                prop_assert_eq!(texts(index.between(&url, &start, &end).unwrap()), between);
                let prefix = key.trim_end();
                let prefixed: Vec<_> = all.iter().filter(|line| line.starts_with(prefix)).cloned().collect();
                prop_assert_eq!(texts(index.prefix(prefix).unwrap()), prefixed);
            }
        }
    }

    #[test]
    fn a_merge_leaves_few_files() {
        let root = tempdir().unwrap();
        let files: Vec<_> = (0..20).map(|number| vec![(number, 0)]).collect();
        let all = write(root.path(), &files);
        assert_eq!(merge(root.path()).unwrap(), 15);
        assert_eq!(
            fs::read_dir(Layout::new(root.path()).indexes())
                .unwrap()
                .count(),
            6
        );
        assert_eq!(
            texts(Index::open(root.path()).unwrap().iter().unwrap()).len(),
            all.len()
        );
        assert_eq!(merge(root.path()).unwrap(), 0);
    }

    #[test]
    fn an_archive_that_does_not_exist_has_no_captures() {
        let index = Index::open(Path::new("/nonexistent")).unwrap();
        assert_eq!(index.latest("http://example.org/").unwrap(), None);
    }
}
