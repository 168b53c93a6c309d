//! Reads the entries of a catalogue one after the other.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::{CatalogueError, Entry, LINES_FILE, failed};

/// A longer line is none of ours.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// The entries of a catalogue, sorted by URL.
pub struct Lines {
    path: PathBuf,
    file: Option<BufReader<File>>,
    damaged: u64,
}

impl Lines {
    /// Opens the catalogue in `folder`; one that is not there is empty.
    ///
    /// # Errors
    /// If it is there and cannot be opened.
    pub fn open(folder: &Path) -> Result<Self, CatalogueError> {
        let path = folder.join(LINES_FILE);
        let file = match File::open(&path) {
            Ok(file) => Some(BufReader::new(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed("read", &path, error)),
        };
        Ok(Self {
            path,
            file,
            damaged: 0,
        })
    }

    /// The next entry; lines that are none are passed over and counted.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, CatalogueError> {
        let Some(file) = &mut self.file else {
            return Ok(None);
        };
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = file
                .by_ref()
                .take(LINE_BYTES_MAX)
                .read_until(b'\n', &mut line)
                .map_err(|source| failed("read", &self.path, source))?;
            if length == 0 {
                return Ok(None);
            }
            match serde_json::from_slice(&line) {
                Ok(entry) => return Ok(Some(entry)),
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(_) => self.damaged += 1,
            }
        }
    }

    /// Lines that were no entries, so far.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.damaged
    }
}
