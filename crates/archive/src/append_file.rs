//! A file that grows by whole pieces: a piece that cannot be written leaves no trace.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A file to which pieces are appended.
#[derive(Debug)]
pub(crate) struct AppendFile {
    file: File,
    path: PathBuf,
    /// Bytes that belong to whole pieces.
    length: u64,
    /// Whether there may be bytes beyond `length`: a piece failed, and cutting it off failed as well.
    is_torn: bool,
}

impl AppendFile {
    /// Makes a new file.
    pub(crate) fn create(path: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        Ok(Self {
            file,
            path,
            length: 0,
            is_torn: false,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Appends a piece. After an error the file is as it was, or will be made so before the next piece.
    pub(crate) fn append(&mut self, piece: &[u8]) -> io::Result<()> {
        self.mend()?;
        match write_all_at(&self.file, piece, self.length) {
            Ok(()) => {
                self.length += piece.len() as u64;
                Ok(())
            }
            Err(error) => {
                self.cut_to(self.length);
                Err(error)
            }
        }
    }

    /// Takes back what was appended after the file had `length` bytes.
    pub(crate) fn cut_to(&mut self, length: u64) {
        assert!(
            length <= self.length,
            "a cut makes {} no longer",
            self.path.display()
        );
        self.length = length;
        self.is_torn = true;
        // If this fails, the next piece waits until it succeeds, and recovery would cut the file as well.
        if let Err(error) = self.mend() {
            tracing::warn!(path = %self.path.display(), %error, "a failed write is not yet cut off");
        }
    }

    /// Makes what was appended durable.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.mend()?;
        self.file.sync_data()
    }

    fn mend(&mut self) -> io::Result<()> {
        if self.is_torn {
            self.file.set_len(self.length)?;
            self.is_torn = false;
        }
        Ok(())
    }
}

#[cfg(not(test))]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(test)]
use faults::write_all_at;

/// A disk that gets full, for the tests of this thread.
#[cfg(test)]
pub(crate) mod faults {
    use super::{File, io};
    use std::cell::Cell;
    use std::os::unix::fs::FileExt as _;

    thread_local! {
        static ROOM: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// Leaves room for so many more bytes on the disk; `None` is no limit.
    pub(crate) fn set_room(bytes: Option<usize>) {
        ROOM.set(bytes);
    }

    pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        let Some(room) = ROOM.get() else {
            return file.write_all_at(bytes, offset);
        };
        let fitting = bytes.len().min(room);
        file.write_all_at(&bytes[..fitting], offset)?;
        ROOM.set(Some(room - fitting));
        if fitting < bytes.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}
