//! The files of an archive's logs: the one that grows, and those that were rotated because they had grown long or old.
//!
//! A rotated file has the time of its rotation behind its name, as `events.jsonl.20260102T030405Z`: by name they stand in the order in which they were written, and
//! nobody writes to them again. They may be moved or deleted; what they told is then unknown to `junkai explain`, `junkai changes` and the lab.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::Layout;

/// The name that a log file gets when it is rotated.
#[must_use]
pub fn rotated_name(path: &Path, now: Timestamp) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(now.strftime(".%Y%m%dT%H%M%SZ").to_string());
    name.into()
}

/// All that an archive's log says, from the first line to the last; nothing if there is none. `name` is `events.jsonl` or `crawl.log`.
///
/// # Errors
/// If a file cannot be opened.
pub fn read_log(archive: &Path, name: &str) -> io::Result<BufReader<Log>> {
    Ok(BufReader::with_capacity(1 << 16, Log::open(archive, name)?))
}

/// The files of a log as one.
#[derive(Debug)]
pub struct Log {
    /// Each with the place of its first byte.
    files: Vec<(u64, File)>,
    bytes: u64,
    at: u64,
}

impl Log {
    /// Opens all files of a log; what is appended from now on is not seen.
    ///
    /// # Errors
    /// If a file cannot be opened.
    pub fn open(archive: &Path, name: &str) -> io::Result<Log> {
        let (mut files, mut bytes) = (Vec::new(), 0);
        for path in log_files(archive, name)? {
            let file = File::open(path)?;
            let start = bytes;
            bytes += file.metadata()?.len();
            files.push((start, file));
        }
        Ok(Log {
            files,
            bytes,
            at: 0,
        })
    }

    /// Bytes of all files together.
    #[must_use]
    pub fn byte_count(&self) -> u64 {
        self.bytes
    }
}

impl Read for Log {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let behind = self.files.partition_point(|(start, _)| *start <= self.at);
        let end = match self.files.get(behind) {
            Some((start, _)) => *start,
            None => self.bytes,
        };
        let left = usize::try_from(end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let Some((start, file)) = behind.checked_sub(1).map(|number| &self.files[number]) else {
            return Ok(0);
        };
        let count = file.read_at(&mut buffer[..wanted], self.at - start)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Log {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        let at = match place {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(offset) => self.bytes.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.at.checked_add_signed(offset),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// The files of a log, the oldest first.
///
/// # Errors
/// If the folder cannot be read.
pub fn log_files(archive: &Path, name: &str) -> io::Result<Vec<PathBuf>> {
    let folder = match fs::read_dir(Layout::new(archive).logs()) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let (mut rotated, mut growing) = (Vec::new(), None);
    for file in folder {
        let file = file?;
        let file_name = file.file_name();
        match file_name.to_str().and_then(|it| it.strip_prefix(name)) {
            Some("") => growing = Some(file.path()),
            Some(time) if is_time(time) => rotated.push(file.path()),
            Some(_) | None => {}
        }
    }
    rotated.sort();
    rotated.extend(growing);
    Ok(rotated)
}

/// Whether this is what [`rotated_name`] appends.
fn is_time(ending: &str) -> bool {
    let is_digit_or = |(at, byte): (usize, u8)| match at {
        0 => byte == b'.',
        9 => byte == b'T',
        16 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    ending.len() == 17 && ending.bytes().enumerate().all(is_digit_or)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_rotated_are_read_before_the_one_that_grows() {
        let archive = tempfile::tempdir().unwrap();
        let logs = archive.path().join("logs");
        let read = || {
            let mut text = String::new();
            let mut log = read_log(archive.path(), "events.jsonl").unwrap();
            log.read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!(read(), "");
        fs::create_dir(&logs).unwrap();
        let growing = logs.join("events.jsonl");
        let rotated = |seconds| rotated_name(&growing, Timestamp::from_second(seconds).unwrap());
        fs::write(rotated(1_800_000_000), "2\n").unwrap();
        fs::write(rotated(1_700_000_000), "1\n").unwrap();
        fs::write(&growing, "3\n").unwrap();
        for other in [
            "events.jsonl.gz",
            "events.jsonl.20260102T0304x5Z",
            "crawl.log",
        ] {
            fs::write(logs.join(other), "x\n").unwrap();
        }
        assert_eq!(read(), "1\n2\n3\n");
        let mut log = Log::open(archive.path(), "events.jsonl").unwrap();
        for at in 0..=log.byte_count() {
            log.seek(SeekFrom::Start(at)).unwrap();
            let mut rest = String::new();
            log.read_to_string(&mut rest).unwrap();
            assert_eq!(rest, "1\n2\n3\n"[usize::try_from(at).unwrap()..]);
        }
        assert_eq!(log.seek(SeekFrom::Current(-2)).unwrap(), 4);
        fs::remove_file(growing).unwrap();
        assert_eq!(read(), "1\n2\n");
    }
}
