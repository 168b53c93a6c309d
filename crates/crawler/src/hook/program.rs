//! A program of the operator that takes a batch of changes on its standard input.
//!
//! Nothing it does can hold the crawl: its input is a file in memory, its standard error is read as it comes and only the end of it kept, and it is killed with all that it
//! started in its process group when its time is over.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, Read as _, Seek as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, OFlags, fcntl_setfl, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};

use super::Ending;

/// Bytes of what it writes to standard error that are kept: the last ones.
const COMPLAINT_BYTES_MAX: usize = 2048;
/// Between two looks at whether it has ended: short ones first.
const LOOK_FIRST: Duration = Duration::from_millis(1);
const LOOK_MAX: Duration = Duration::from_millis(50);

/// How a program is started.
pub(super) struct Program {
    name: OsString,
    arguments: Vec<OsString>,
    archive: PathBuf,
}

impl Program {
    pub(super) fn new(name: &str, arguments: &[String], archive: &Path) -> Program {
        Program {
            name: name.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            archive: std::path::absolute(archive).unwrap_or_else(|_| archive.to_owned()),
        }
    }

    /// Starts it with the lines as its input, and waits until it has taken them.
    pub(super) fn take(
        &self,
        lines: &[u8],
        timeout: Duration,
        ending: &Ending,
    ) -> Result<(), String> {
        let name = self.name.display();
        let (mut child, mut complaints) = self
            .start(lines)
            .map_err(|error| format!("cannot start {name}: {error}"))?;
        let deadline = Instant::now() + timeout;
        let mut look = LOOK_FIRST;
        let ended = loop {
            complaints.read();
            match child.try_wait() {
                Ok(Some(status)) => break Ok(status),
                Err(error) => break Err(error.to_string()),
                Ok(None) => {}
            }
            if deadline <= Instant::now() {
                break Err(format!("it took longer than {timeout:?}"));
            }
            if ending.is_past() {
                break Err("the crawl ended before it did".to_owned());
            }
            std::thread::sleep(look);
            look = (look * 2).min(LOOK_MAX);
        };
        complaints.read();
        match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{name}: {}{complaints}", how(status))),
            Err(reason) => {
                end(&mut child);
                Err(format!("{name}: {reason}{complaints}"))
            }
        }
    }

    fn start(&self, lines: &[u8]) -> io::Result<(Child, Complaints)> {
        let mut input = File::from(memfd_create("changes", MemfdFlags::CLOEXEC)?);
        input.write_all(lines)?;
        input.rewind()?;
        let (reader, writer) = io::pipe()?;
        fcntl_setfl(&reader, OFlags::NONBLOCK)?;
        let child = Command::new(&self.name)
            .args(&self.arguments)
            .env("JUNKAI_ARCHIVE", &self.archive)
            .stdin(input)
            // What is on the screen is the crawl's.
            .stdout(Stdio::null())
            .stderr(writer)
            // Ctrl-C is for the crawl.
            .process_group(0)
            .spawn()?;
        Ok((child, Complaints::new(reader)))
    }
}

/// Kills it, and what it started.
fn end(child: &mut Child) {
    let _gone = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _gone = child.kill();
    let _ended = child.wait();
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// The end of what a program writes to standard error.
struct Complaints {
    reader: PipeReader,
    last: Vec<u8>,
}

impl Complaints {
    fn new(reader: PipeReader) -> Complaints {
        Complaints {
            reader,
            last: Vec::new(),
        }
    }

    /// Reads what is there, a bounded part of it: whoever writes without end is not listened to without end.
    fn read(&mut self) {
        const READS_MAX: usize = 64;
        let mut buffer = [0; 4096];
        for _ in 0..READS_MAX {
            match self.reader.read(&mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(count) => self.last.extend_from_slice(&buffer[..count]),
            }
            let excess = self.last.len().saturating_sub(COMPLAINT_BYTES_MAX);
            self.last.drain(..excess);
        }
    }
}

impl std::fmt::Display for Complaints {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match String::from_utf8_lossy(&self.last).trim() {
            "" => Ok(()),
            last => write!(out, ": {last}"),
        }
    }
}
