//! A file that takes the place of another one.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::own_file;

/// What is behind the name of a file's successor while that is written.
const SUFFIX: &str = ".new";

/// The successor of a file while it is written: [`finish`](Self::finish) makes it durable and gives it the name; without that it is removed again.
#[derive(Debug)]
pub struct Replacement {
    file: File,
    beside: PathBuf,
    path: PathBuf,
    is_finished: bool,
}

impl Replacement {
    /// Begins to write the successor of `path`, beside it.
    ///
    /// # Errors
    /// If the file beside it cannot be made.
    pub fn begin(path: &Path) -> io::Result<Self> {
        Self::begin_with_suffix(path, SUFFIX)
    }

    /// The same, with another suffix behind its name, for folders in which a crash's leftovers are known by it.
    ///
    /// # Errors
    /// If the file beside it cannot be made.
    pub fn begin_with_suffix(path: &Path, suffix: &str) -> io::Result<Self> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        let beside = PathBuf::from(beside);
        Ok(Self {
            file: own_file::create(&beside)?,
            beside,
            path: path.to_owned(),
            is_finished: false,
        })
    }

    /// Where it is written: the name to tell when writing fails.
    #[must_use]
    pub fn beside(&self) -> &Path {
        &self.beside
    }

    /// The file, for whoever needs it as such.
    ///
    /// # Errors
    /// If the operating system has no second handle to give.
    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Puts it in the place of the other file; when this returns, that is durable.
    ///
    /// # Errors
    /// If it cannot be made durable or renamed: the other file is as it was.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.beside, &self.path)?;
        self.is_finished = true;
        self.path.parent().map_or(Ok(()), sync_folder)
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Replacement {
    /// What was not finished, on a full disk for example, gives its room back.
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        match fs::remove_file(&self.beside) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(path = %self.beside.display(), %error, "an unfinished file is left");
            }
        }
    }
}

/// Puts bytes in the place of a file: it is whole at every moment, and durable when this returns.
///
/// # Errors
/// If they cannot be written: the file is as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes))
}

/// The same, with what `write` writes.
///
/// # Errors
/// If `write` fails or the file cannot be written: the file is as it was.
pub fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut replacement = Replacement::begin(path)?;
    write(&mut replacement.file)?;
    replacement.finish()
}

/// Makes new, renamed and removed names in a folder durable. A name without a folder is in the current one.
///
/// # Errors
/// If the folder cannot be opened or synced.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_the_old_or_the_new_one_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, b"one").unwrap();
        let mut next = Replacement::begin(&path).unwrap();
        next.write_all(b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        next.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let failed = replace_with(&path, |file| {
            file.write_all(b"thr")?;
            Err(io::Error::other("no more room"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_written_where_a_link_leads() {
        let folder = tempfile::tempdir().unwrap();
        let (precious, path) = (folder.path().join("precious"), folder.path().join("file"));
        fs::write(&precious, "precious").unwrap();
        symlink(&precious, folder.path().join("file.new")).unwrap();
        symlink(&precious, &path).unwrap();
        replace(&path, b"ours").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ours");
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
    }
}
