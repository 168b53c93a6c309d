//! Text of PDF files, by poppler's `pdftotext` where that is installed: a program of its own, within bounds of time, memory and output.
//!
//! Files are hostile: whatever the program does, it does it under limits that the shell sets before it starts, in a group of processes that is killed at the
//! end, and what it prints is cut off. Nothing of the environment is handed on. Blocks until the program is done or out of time: a worker calls it on
//! a thread beside its own.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// The name of the program.
const PROGRAM: &str = "pdftotext";
/// Files that the program may have open.
const OPEN_FILES_MAX: u32 = 64;

/// Turns PDF into text.
#[derive(Debug)]
pub(super) struct PdfReader {
    program: PathBuf,
    limits: Limits,
}

/// What the program may take for one file.
#[derive(Clone, Copy, Debug)]
struct Limits {
    cpu_seconds: u32,
    /// Of address space.
    memory_kilobytes: u32,
    /// From its start to its end.
    time: Duration,
    /// Of text that is taken from it.
    text_bytes: u64,
}

const LIMITS: Limits = Limits {
    cpu_seconds: 20,
    memory_kilobytes: 512 << 10,
    time: Duration::from_mins(1),
    text_bytes: 8 << 20,
};

impl PdfReader {
    /// The program on the path; none if it is not installed.
    pub(super) fn find() -> Option<PdfReader> {
        let folders = std::env::var_os("PATH")?;
        let mut programs = std::env::split_paths(&folders).map(|folder| folder.join(PROGRAM));
        let program = programs.find(|program| program.is_file())?;
        Some(PdfReader {
            program,
            limits: LIMITS,
        })
    }

    /// The text of a file, columns kept apart; none if there is none, or it takes too long.
    pub(super) fn text(&self, pdf: &[u8]) -> Option<String> {
        let mut child = self.start().ok()?;
        let group = Pid::from_child(&child);
        let text = match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => self.exchange(pdf, input, output, group),
            _ => None,
        };
        let _status = child.wait();
        let text = String::from_utf8_lossy(&text?).into_owned();
        (!text.trim().is_empty()).then_some(text)
    }

    /// Writes the file and reads the text, until the program has said all that is taken from it or its time is over; then it is killed.
    fn exchange(
        &self,
        pdf: &[u8],
        mut input: ChildStdin,
        output: ChildStdout,
        group: Pid,
    ) -> Option<Vec<u8>> {
        let (done, is_done) = mpsc::channel();
        let text_bytes = self.limits.text_bytes;
        std::thread::scope(|scope| {
            // A program that stops reading breaks the pipe, which ends this; its output is what counts.
            scope.spawn(move || input.write_all(pdf).is_ok());
            let reader = scope.spawn(move || {
                let mut text = Vec::new();
                let is_read = output.take(text_bytes).read_to_end(&mut text).is_ok();
                // Nobody waits for it any more when the time is over.
                let _late = done.send(());
                is_read.then_some(text)
            });
            let is_in_time = is_done.recv_timeout(self.limits.time).is_ok();
            // It may have ended by itself; what it has started goes with it, so that the pipes are closed.
            let _ended = kill_process_group(group, Signal::KILL);
            let text = reader.join().ok().flatten();
            text.filter(|_| is_in_time)
        })
    }

    /// Starts the program. Where a limit cannot be set, it does not start.
    fn start(&self) -> std::io::Result<Child> {
        let Limits {
            cpu_seconds,
            memory_kilobytes,
            ..
        } = self.limits;
        let limited = format!(
            "ulimit -t {cpu_seconds} && ulimit -v {memory_kilobytes} && ulimit -f 0 && ulimit -c 0 && ulimit -n {OPEN_FILES_MAX} \
             && exec \"$0\" -q -layout -enc UTF-8 - -"
        );
        Command::new("/bin/sh")
            .args(["-c", &limited])
            .arg(&self.program)
            .env_clear()
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
    }
}

#[cfg(test)]
mod tests;
