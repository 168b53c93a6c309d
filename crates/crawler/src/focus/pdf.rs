//! Text of PDF files, by poppler's `pdftotext` where that is installed: a program of its own, within bounds of time, memory and output.
//!
//! Files are hostile: whatever the program does, it does it under limits that the shell sets before it starts, without the network's help, and what it
//! prints is cut off. Called when the catalogue is written, never by a worker.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Seconds of CPU time, and kilobytes of memory, that the program may take for one file.
const CPU_SECONDS_MAX: u32 = 20;
const MEMORY_KILOBYTES_MAX: u32 = 1 << 20;
/// Bytes of text that are taken from one file.
const TEXT_BYTES_MAX: u64 = 8 << 20;
/// The name of the program.
const PROGRAM: &str = "pdftotext";

/// Turns PDF into text.
#[derive(Debug)]
pub(super) struct PdfReader {
    program: PathBuf,
}

impl PdfReader {
    /// The program on the path; none if it is not installed.
    pub(super) fn find() -> Option<PdfReader> {
        let folders = std::env::var_os("PATH")?;
        let mut programs = std::env::split_paths(&folders).map(|folder| folder.join(PROGRAM));
        let program = programs.find(|program| program.is_file())?;
        Some(PdfReader { program })
    }

    /// The text of a file, columns kept apart; none if there is none.
    pub(super) fn text(&self, pdf: &[u8]) -> Option<String> {
        let mut child = self.start().ok()?;
        let mut input = child.stdin.take()?;
        let output = child.stdout.take()?;
        let mut text = Vec::new();
        let is_read = std::thread::scope(|scope| {
            // A program that stops reading breaks the pipe, which ends this; its output is what counts.
            scope.spawn(move || input.write_all(pdf).is_ok());
            let is_read = output.take(TEXT_BYTES_MAX).read_to_end(&mut text).is_ok();
            // What it would print beyond the bound nobody reads.
            let _ended = child.kill();
            is_read
        });
        let _status = child.wait();
        let text = String::from_utf8_lossy(&text).into_owned();
        (is_read && !text.trim().is_empty()).then_some(text)
    }

    fn start(&self) -> std::io::Result<Child> {
        let limits = format!(
            "ulimit -t {CPU_SECONDS_MAX}; ulimit -v {MEMORY_KILOBYTES_MAX}; exec \"$0\" -q -layout -enc UTF-8 - -"
        );
        Command::new("sh")
            .args(["-c", &limits])
            .arg(&self.program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A program that does as it likes with what it is given.
    fn program(script: &str) -> (PdfReader, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(PROGRAM);
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        (PdfReader { program }, folder)
    }

    #[test]
    fn what_the_program_prints_is_the_text() {
        let (reader, _folder) = program("cat");
        let text = reader.text(b"year  births\n2020  12").unwrap();
        assert_eq!(text, "year  births\n2020  12");
    }

    #[test]
    fn a_program_that_fails_or_says_nothing_gives_no_text() {
        const SCRIPTS: [&str; 3] = ["exit 1", "exec < /dev/null; echo", "kill -9 $$"];
        for script in SCRIPTS {
            let (reader, _folder) = program(script);
            assert_eq!(reader.text(&vec![0; 100_000]), None, "{script}");
        }
    }

    #[test]
    fn a_program_that_never_stops_printing_is_cut_off() {
        let (reader, _folder) = program("yes births");
        let text = reader.text(b"%PDF").unwrap();
        assert_eq!(text.len() as u64, TEXT_BYTES_MAX);
    }
}
