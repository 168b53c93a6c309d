//! The access log: one line of JSON for each exchange, with its start and end as the server saw them.
//!
//! Connections report an [`Exchange`] when it is over; [`AccessLog`] appends it to a buffer that a thread of its own
//! writes out every [`FLUSH_EVERY`]. Lines come in the order in which exchanges end. [`crate::judge()`] reads the file.
//!
//! # What the times mean
//! Both times err to the client's favour, so that the judge never accuses it of what it did not do: `start` is taken
//! after the first byte of the request was read, `end` before the last byte of the answer was handed to the kernel or,
//! where the client went away first, when it was last known to be still there. Only an exchange whose client left before
//! the server had read the request ends late, at its start, by the time that the server took to read it.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::UnixNanos;

/// One request and its answer, as the server saw them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The address that was asked.
    pub address: IpAddr,
    /// The host name in the request, without the port.
    pub host: String,
    /// The method.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// The status that was sent, or 0 when none was.
    pub status: u16,
    /// Bytes sent after the answer's head.
    pub bytes: u64,
    /// When the first byte of the request had been read.
    pub start: UnixNanos,
    /// When the answer was handed over, or the client was last known to be there.
    pub end: UnixNanos,
    /// How it ended.
    pub ending: Ending,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The answer was handed over to the last byte.
    Complete,
    /// The client went away, or the web was stopped, before that.
    ClientGone,
    /// The server broke off on purpose: a misbehaviour.
    BrokenOff,
}

/// How many requests were answered, and how much was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Exchanges that are over.
    pub requests: u64,
    /// Bytes of bodies sent in them.
    pub bytes: u64,
}

/// Buffered lines are written out this often.
pub(crate) const FLUSH_EVERY: Duration = Duration::from_millis(20);

/// A buffer beyond this size is written by the connection that finds it so: the disk is the limit then.
const BUFFER_BYTES_MAX: usize = 16 << 20;

/// Where exchanges are counted and written down.
#[derive(Debug)]
pub(crate) struct AccessLog {
    shared: Arc<Shared>,
    path: Option<PathBuf>,
    writer: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    requests: AtomicU64,
    bytes: AtomicU64,
    lines: Mutex<Lines>,
    stop: Condvar,
}

/// An empty file that no other web writes to.
fn own_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        // As a terminal, or `/dev/null`: there is nothing to write over.
        return Ok(file);
    }
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                "another web writes its log there; name another file",
            ));
        }
        Err(TryLockError::Error(error)) => return Err(error),
    }
    file.set_len(0)?;
    Ok(file)
}

/// Filled by connections, emptied by the writer.
#[derive(Debug, Default)]
struct Lines {
    buffer: Vec<u8>,
    file: Option<File>,
    stopped: bool,
}

impl AccessLog {
    /// Creates the file, if there is to be one, and starts its writer.
    pub(crate) fn create(path: Option<&Path>) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let mut writer = None;
        if let Some(path) = path {
            shared.lines().file = Some(own_file(path)?);
            let shared = Arc::clone(&shared);
            let thread = std::thread::Builder::new().name("testweb-log".into());
            writer = Some(thread.spawn(move || shared.write_until_stopped())?);
        }
        Ok(Self {
            shared,
            path: path.map(Path::to_owned),
            writer,
        })
    }

    /// Takes down one exchange.
    pub(crate) fn record(&self, exchange: &Exchange) {
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
        self.shared
            .bytes
            .fetch_add(exchange.bytes, Ordering::Relaxed);
        if self.path.is_none() {
            return;
        }
        let mut lines = self.shared.lines();
        if let Err(error) = serde_json::to_writer(&mut lines.buffer, exchange) {
            tracing::warn!(%error, url = exchange.url, "exchange not logged");
        }
        lines.buffer.push(b'\n');
        if lines.buffer.len() >= BUFFER_BYTES_MAX {
            lines.write_out();
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            requests: self.shared.requests.load(Ordering::Relaxed),
            bytes: self.shared.bytes.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Writes out what has been recorded so far.
    pub(crate) fn flush(&self) {
        self.shared.lines().write_out();
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.shared.lines().stopped = true;
        self.shared.stop.notify_all();
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the access log's writer panicked");
        }
    }
}

impl Shared {
    /// The lines, even if a connection panicked while it held them: a line is appended whole or its newline closes it.
    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_until_stopped(&self) {
        let mut lines = self.lines();
        while !lines.stopped {
            (lines, _) = self
                .stop
                .wait_timeout(lines, FLUSH_EVERY)
                .unwrap_or_else(PoisonError::into_inner);
            lines.write_out();
        }
    }
}

impl Lines {
    fn write_out(&mut self) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.write_all(&self.buffer) {
            tracing::error!(%error, bytes = self.buffer.len(), "access log lines lost");
        }
        self.buffer.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(start: u64) -> Exchange {
        Exchange {
            address: [127, 1, 0, 1].into(),
            host: "host0.test".into(),
            method: "GET".into(),
            url: "http://host0.test/".into(),
            status: 200,
            bytes: 10,
            start: UnixNanos(start),
            end: UnixNanos(start + 1),
            ending: Ending::Complete,
        }
    }

    #[test]
    fn every_exchange_of_every_thread_is_one_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.jsonl");
        let log = AccessLog::create(Some(&path)).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let log = &log;
                scope.spawn(move || {
                    (0..500).for_each(|i| log.record(&exchange(thread * 1000 + i)));
                });
            }
        });
        assert_eq!(
            log.counters(),
            Counters {
                requests: 2000,
                bytes: 20_000
            }
        );
        drop(log);
        let text = std::fs::read_to_string(path).unwrap();
        let mut starts: Vec<u64> = text
            .lines()
            .map(|line| serde_json::from_str::<Exchange>(line).unwrap().start.0)
            .collect();
        starts.sort_unstable();
        let expected: Vec<u64> = (0..4)
            .flat_map(|t| (0..500).map(move |i| t * 1000 + i))
            .collect();
        assert_eq!(starts, expected);
    }

    #[test]
    fn two_webs_do_not_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.jsonl");
        let first = AccessLog::create(Some(&path)).unwrap();
        let second = AccessLog::create(Some(&path)).unwrap_err();
        assert!(second.to_string().contains("another web"), "{second}");
        drop(first);
        AccessLog::create(Some(&path)).unwrap();
        AccessLog::create(Some(Path::new("/dev/null"))).unwrap();
        AccessLog::create(Some(Path::new("/dev/null"))).unwrap();
    }

    #[test]
    fn without_a_file_exchanges_are_only_counted() {
        let log = AccessLog::create(None).unwrap();
        log.record(&exchange(1));
        assert_eq!(log.counters().requests, 1);
        assert!(log.path().is_none());
    }
}
