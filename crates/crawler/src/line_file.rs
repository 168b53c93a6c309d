//! A file of lines that grows at its end: whole lines survive a kill, a torn one is cut off at the next opening.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::CrawlError;
use crate::error::AtPath as _;

/// A file of lines, with those that are not on disk yet.
#[derive(Debug)]
pub(crate) struct LineFile {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines on disk.
    length: u64,
    buffer: Vec<u8>,
}

impl LineFile {
    /// Where to write the next lines.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Bytes that are not on disk yet.
    pub(crate) fn unwritten_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Bytes of whole lines on disk.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Opens or creates the file, cutting off a torn last line.
    pub(crate) fn open(path: &Path) -> Result<LineFile, CrawlError> {
        let file = junkai_files::append(path).at(path)?;
        let length = whole_lines(&file).at(path)?;
        file.set_len(length).at(path)?;
        Ok(LineFile {
            path: path.to_owned(),
            file,
            length,
            buffer: Vec::new(),
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives what was written another name, and begins anew. Lines in the buffer go to the new file.
    pub(crate) fn put_away(&mut self, name: &Path) -> Result<(), CrawlError> {
        fs::rename(&self.path, name).at(&self.path)?;
        let buffer = std::mem::take(&mut self.buffer);
        *self = LineFile::open(&self.path)?;
        self.buffer = buffer;
        Ok(())
    }

    /// Cuts the file back to an earlier length.
    pub(crate) fn cut_to(&mut self, length: u64) -> Result<(), CrawlError> {
        if length < self.length {
            self.file.set_len(length).at(&self.path)?;
            self.length = length;
        }
        Ok(())
    }

    /// Hands the buffer to the operating system; if that fails the buffer stays, and the file is as it was.
    pub(crate) fn flush(&mut self) -> Result<(), CrawlError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.file.write_all(&self.buffer) {
            self.file.set_len(self.length).at(&self.path)?;
            return Err(error).at(&self.path);
        }
        self.length += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// Length up to and including the last line end.
pub(crate) fn whole_lines(file: &File) -> io::Result<u64> {
    use std::os::unix::fs::FileExt;
    let mut end = file.metadata()?.len();
    let mut block = [0u8; 4096];
    while 0 < end {
        let start = end.saturating_sub(block.len() as u64);
        let part = &mut block[..usize::try_from(end - start).unwrap_or(0)];
        file.read_exact_at(part, start)?;
        if let Some(at) = part.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}
