//! Lines of a text file, through gzip or zstd if it is compressed, with their numbers.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use crate::GraphError;

/// Bytes of the longest line that is taken for one: far more than any URL that a crawler keeps.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 10;

/// Reads a file line by line. A line ends with LF or CR LF, which do not belong to it.
pub(crate) struct Lines {
    path: PathBuf,
    input: Box<dyn BufRead>,
    consumed: Rc<Cell<u64>>,
    size: u64,
    number: u64,
    line: Vec<u8>,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self, GraphError> {
        Self::try_open(path).map_err(|source| GraphError::Read {
            path: path.to_owned(),
            source,
        })
    }

    fn try_open(path: &Path) -> io::Result<Self> {
        const BUFFER_BYTES: usize = 256 << 10;
        const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let consumed = Rc::new(Cell::new(0));
        let counted = Counted {
            input: file,
            count: Rc::clone(&consumed),
        };
        let mut raw = BufReader::with_capacity(BUFFER_BYTES, counted);
        let start = raw.fill_buf()?;
        let input: Box<dyn BufRead> = if start.starts_with(&GZIP_MAGIC) {
            let decoder = MultiGzDecoder::new(raw);
            Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
        } else if start.starts_with(&zstd::zstd_safe::MAGICNUMBER.to_le_bytes()) {
            // The library's own bound on the window, 128 MiB, holds for what a file may ask for.
            let decoder = zstd::Decoder::with_buffer(raw)?;
            Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
        } else {
            Box::new(raw)
        };
        Ok(Self {
            path: path.to_owned(),
            input,
            consumed,
            size,
            number: 0,
            line: Vec::new(),
        })
    }

    /// The next line with its number, counted from 1.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>, GraphError> {
        self.line.clear();
        // One byte more than allowed, and the line's end.
        let limit = LINE_BYTES_MAX as u64 + 2;
        let read = (&mut self.input)
            .take(limit)
            .read_until(b'\n', &mut self.line)
            .map_err(|source| GraphError::ReadLine {
                path: self.path.clone(),
                line: self.number,
                source,
            })?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if LINE_BYTES_MAX < line.len() {
            return Err(GraphError::LongLine {
                path: self.path.clone(),
                line: self.number,
                bytes_max: LINE_BYTES_MAX,
            });
        }
        Ok(Some((self.number, line)))
    }

    /// Bytes of the file read so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed.get()
    }

    /// Bytes of the file.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }
}

/// The beginning of a line, for a message.
pub(crate) fn shortened(line: &[u8]) -> String {
    const CHARACTERS_MAX: usize = 60;
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * CHARACTERS_MAX)]);
    let mut short: String = text.chars().take(CHARACTERS_MAX).collect();
    if short.len() < line.len() && CHARACTERS_MAX <= short.chars().count() {
        short.push('…');
    }
    short
}

struct Counted {
    input: File,
    count: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn lines(bytes: &[u8]) -> Result<Vec<String>, GraphError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let mut lines = Lines::open(file.path())?;
        let mut list = Vec::new();
        while let Some((number, line)) = lines.next()? {
            list.push(String::from_utf8_lossy(line).into_owned());
            assert_eq!(number, list.len() as u64);
        }
        assert_eq!(lines.consumed(), lines.size());
        Ok(list)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn lines_lose_their_ends_and_nothing_else() {
        assert_eq!(lines(b"a\r\n\n b \nc").unwrap(), ["a", "", " b ", "c"]);
        assert_eq!(lines(b"").unwrap(), [""; 0]);
        assert_eq!(lines(b"\n").unwrap(), [""]);
    }

    #[test]
    fn gzip_is_told_by_its_first_bytes_and_may_have_several_members() {
        let two = [gzip(b"a\nb"), gzip(b"c\n")].concat();
        assert_eq!(lines(&two).unwrap(), ["a", "bc"]);
    }

    #[test]
    fn cut_gzip_tells_the_last_whole_line() {
        let whole = gzip("0 1\n".repeat(10_000).as_bytes());
        let error = lines(&whole[..whole.len() - 4]).unwrap_err();
        assert!(
            matches!(error, GraphError::ReadLine { line: 10_000, .. }),
            "{error}"
        );
    }

    #[test]
    fn a_line_without_end_is_not_read_into_memory() {
        let exact = vec![b'x'; LINE_BYTES_MAX];
        assert_eq!(lines(&exact).unwrap()[0].len(), LINE_BYTES_MAX);
        assert_eq!(lines(&[&exact[..], b"\r\n"].concat()).unwrap().len(), 1);
        let error = lines(&[b"a\n", &exact[..], b"yz"].concat()).unwrap_err();
        assert!(
            matches!(error, GraphError::LongLine { line: 2, .. }),
            "{error}"
        );
    }

    #[test]
    fn a_message_shows_the_beginning_of_a_line() {
        assert_eq!(shortened(b"abc"), "abc");
        let long = shortened("ü".repeat(100).as_bytes());
        assert_eq!(long, format!("{}…", "ü".repeat(60)));
        assert_eq!(shortened(b"\xff"), "\u{fffd}");
    }
}
