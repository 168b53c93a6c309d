//! One file of the index: sorted and sealed, or open and in the order of writing.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use junkai_files::Replacement;

use crate::layout::{INDEX_SUFFIX, UNFINISHED_SUFFIX};

/// Longest line: a URL of 8 KB appears in it twice, each character at most six times as long.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// A file of the index, held open: it can be read even after a merge has removed its name.
#[derive(Debug)]
pub(crate) struct Segment {
    file: Arc<File>,
    pub(crate) path: PathBuf,
    pub(crate) length: u64,
    is_sorted: bool,
    /// The lines of a file that is not sorted, in order, once somebody has looked for one: so many look-ups read it once.
    sorted: OnceLock<Vec<Vec<u8>>>,
}

/// The lines from `start` on and before `end`, in the order of bytes.
pub(crate) type KeyRange = Range<Vec<u8>>;

impl Segment {
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        let file = File::open(&path)?;
        let length = file.metadata()?.len();
        let is_sorted = path.to_string_lossy().ends_with(INDEX_SUFFIX);
        Ok(Self {
            file: Arc::new(file),
            path,
            length,
            is_sorted,
            sorted: OnceLock::new(),
        })
    }

    /// The lines in `range`, in order.
    pub(crate) fn lines(&self, range: &KeyRange) -> io::Result<Cursor> {
        if self.is_sorted {
            let start = self.lower_bound(&range.start)?;
            Ok(Cursor::File {
                reader: self.reader_at(start),
                end: range.end.clone(),
            })
        } else {
            let lines = self.sorted_lines()?;
            let start = lines.partition_point(|line| *line < range.start);
            let end = lines.partition_point(|line| *line < range.end);
            let found = lines.get(start..end).unwrap_or_default().to_vec();
            Ok(Cursor::Memory(found.into_iter()))
        }
    }

    /// The lines of a file that is not sorted, in order.
    fn sorted_lines(&self) -> io::Result<&[Vec<u8>]> {
        if let Some(lines) = self.sorted.get() {
            return Ok(lines);
        }
        let mut lines = self.all_lines()?;
        lines.sort_unstable();
        Ok(self.sorted.get_or_init(|| lines))
    }

    /// All whole lines, as they come.
    pub(crate) fn all_lines(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut reader = self.reader_at(0);
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut reader)? {
            lines.push(line);
        }
        Ok(lines)
    }

    /// Offset of the first line that is not less than `key`.
    fn lower_bound(&self, key: &[u8]) -> io::Result<u64> {
        // Lines that start before `low` are less; lines that start at or after `high` are not.
        let (mut low, mut high) = (0, self.length);
        while low < high {
            let middle = low + (high - low) / 2;
            let mut reader = self.reader_at(middle.saturating_sub(1));
            let mut start = middle;
            if 0 < middle {
                start = middle - 1 + skip_line(&mut reader)?;
            }
            if high <= start {
                high = middle;
                continue;
            }
            match next_line(&mut reader)? {
                Some(line) if *line < *key => low = start + line.len() as u64 + 1,
                // A torn last line is no line, and so is not less either.
                Some(_) | None => high = middle,
            }
        }
        Ok(low)
    }

    fn reader_at(&self, position: u64) -> BufReader<FileAt> {
        BufReader::new(FileAt {
            file: Arc::clone(&self.file),
            position,
            end: self.length,
        })
    }
}

/// Lines of one segment in order.
pub(crate) enum Cursor {
    File {
        reader: BufReader<FileAt>,
        end: Vec<u8>,
    },
    Memory(std::vec::IntoIter<Vec<u8>>),
}

impl Cursor {
    /// The next line, without its line feed.
    pub(crate) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self {
            Self::File { reader, end } => Ok(next_line(reader)?.filter(|line| *line < *end)),
            Self::Memory(lines) => Ok(lines.next()),
        }
    }
}

/// Reads a file from a place of its own up to the length that it had when it was opened.
pub(crate) struct FileAt {
    file: Arc<File>,
    position: u64,
    end: u64,
}

impl Read for FileAt {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let count = self.file.read_at(&mut buffer[..wanted], self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

/// The next whole line, without its line feed. What is not ended by one is a write that was cut short, and no line.
pub(crate) fn next_line(reader: &mut impl io::BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    reader.take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.pop() == Some(b'\n') {
        return Ok(Some(line));
    }
    if LINE_BYTES_MAX <= line.len() as u64 + 1 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a line of the index is too long",
        ));
    }
    Ok(None)
}

/// Passes over the rest of a line, and returns its length with the line feed.
fn skip_line(reader: &mut impl io::BufRead) -> io::Result<u64> {
    reader.skip_until(b'\n').map(|count| count as u64)
}

/// Writes a sealed segment: durable and whole under its name, or not there.
pub(crate) struct SegmentWriter {
    out: BufWriter<Replacement>,
    last: Vec<u8>,
}

impl SegmentWriter {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let unfinished = Replacement::begin_with_suffix(path, UNFINISHED_SUFFIX)?;
        Ok(Self {
            out: BufWriter::with_capacity(64 << 10, unfinished),
            last: Vec::new(),
        })
    }

    /// Adds the next line in order; a line that equals the one before is the same line.
    pub(crate) fn push(&mut self, line: &[u8]) -> io::Result<()> {
        assert!(*self.last <= *line, "the lines of a segment come in order");
        if *self.last != *line {
            self.out.write_all(line)?;
            self.out.write_all(b"\n")?;
            self.last.clear();
            self.last.extend_from_slice(line);
        }
        Ok(())
    }

    /// Makes the segment durable and gives it its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.out.into_inner()?.finish()
    }
}

/// Writes lines in any order as a sealed segment.
pub(crate) fn write_sorted(path: &Path, mut lines: Vec<Vec<u8>>) -> io::Result<()> {
    lines.sort_unstable();
    let mut writer = SegmentWriter::create(path)?;
    for line in &lines {
        writer.push(line)?;
    }
    writer.finish()
}
