//! A file of lines that grows at its end: whole lines survive a kill, a torn one is cut off at the next opening.

use std::path::{Path, PathBuf};

use junkai_files::{Disk, DiskError, DiskFile};

use crate::CrawlError;

/// A file of lines, with those that are not on disk yet.
#[derive(Debug)]
pub struct LineFile {
    disk: Disk,
    path: PathBuf,
    file: DiskFile,
    /// Bytes of whole lines on disk.
    length: u64,
    buffer: Vec<u8>,
}

impl LineFile {
    /// Where to write the next lines.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Bytes that are not on disk yet.
    #[must_use]
    pub fn unwritten_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Bytes of whole lines on disk.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Opens or creates the file, cutting off a torn last line.
    pub fn open(disk: &Disk, path: &Path) -> Result<LineFile, CrawlError> {
        let file = disk.open_for_writing(path)?;
        let length = whole_lines(&file)?;
        if length < file.length()? {
            file.set_len(length)?;
        }
        Ok(LineFile {
            disk: disk.clone(),
            path: path.to_owned(),
            file,
            length,
            buffer: Vec::new(),
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The disk that it is on.
    #[must_use]
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Gives what was written another name, and begins anew. Lines in the buffer go to the new file.
    pub fn rotate(&mut self, name: &Path) -> Result<(), CrawlError> {
        self.disk.rename(&self.path, name)?;
        let buffer = std::mem::take(&mut self.buffer);
        *self = LineFile::open(&self.disk, &self.path)?;
        self.buffer = buffer;
        Ok(())
    }

    /// Cuts the file back to an earlier length.
    pub fn cut_to(&mut self, length: u64) -> Result<(), CrawlError> {
        if length < self.length {
            self.file.set_len(length)?;
            self.length = length;
        }
        Ok(())
    }

    /// Hands the buffer to the operating system; if that fails the buffer stays, and the file is as it was.
    pub fn flush(&mut self) -> Result<(), CrawlError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.file.write_at(&self.buffer, self.length) {
            self.file.set_len(self.length)?;
            return Err(error.into());
        }
        self.length += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

fn whole_lines(file: &DiskFile) -> Result<u64, DiskError> {
    end_of_last_line(file.length()?, |part, at| file.read_exact_at(part, at))
}

/// Bytes up to and including the last line end of a file of this length, which `read_exact_at` reads.
///
/// # Errors
/// If reading fails.
pub fn end_of_last_line<E>(
    length: u64,
    read_exact_at: impl Fn(&mut [u8], u64) -> Result<(), E>,
) -> Result<u64, E> {
    let mut end = length;
    let mut block = [0u8; 4096];
    while 0 < end {
        let start = end.saturating_sub(block.len() as u64);
        let part = &mut block[..usize::try_from(end - start).unwrap_or(0)];
        read_exact_at(part, start)?;
        if let Some(at) = part.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}
