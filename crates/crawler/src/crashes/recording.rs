//! Records what a crawl asks the system to do to its files, by strace.
//!
//! The crawl runs in a process of its own: this test binary again, told by an environment variable what it is. Every call is recorded with its data and the moment
//! at which it began; calls of several threads are put into one row by that.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::test_disk::Call;

/// Tells the child which archive it crawls into.
const CHILD: &str = "JUNKAI_CRASHES_CHILD";
/// Every call that changes a file or a folder, or makes a change durable.
const CALLS: &str = "openat,open,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,copy_file_range,sendfile,\
    rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,sync_file_range,syncfs,sync";

/// The archive, in the process that is to crawl into it.
pub(super) fn archive_of_child() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// A crawl that is being recorded.
pub(super) struct Recording {
    strace: Child,
    traces: tempfile::TempDir,
    archive: PathBuf,
}

impl Recording {
    /// Starts the test of this name as a child, which finds out by [`archive_of_child`] that it is to crawl.
    pub(super) fn start(test: &str, archive: &Path) -> Recording {
        let traces = tempfile::tempdir().unwrap();
        let strace = std::env::var_os("JUNKAI_STRACE").expect(
            "JUNKAI_STRACE must name the program strace: run `cargo xtask test`, which sets it up",
        );
        let strace = Command::new(strace)
            .args(["-f", "-ff", "--seccomp-bpf", "-y", "-xx", "-s", "16777216"])
            .args([
                "--timestamps=unix,ns",
                "-e",
                &format!("trace={CALLS}"),
                "-o",
            ])
            .arg(traces.path().join("thread"))
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(CHILD, archive)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Recording {
            strace,
            traces,
            archive: archive.to_owned(),
        }
    }

    /// Waits for the end of the crawl; what it asked for, in order.
    pub(super) fn calls(mut self) -> Vec<Call> {
        let status = self.strace.wait().unwrap();
        assert!(status.success(), "the recorded crawl failed: {status}");
        let mut lines = Vec::new();
        for entry in fs::read_dir(self.traces.path()).unwrap() {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            lines.extend(text.lines().map(str::to_owned));
        }
        // All moments have the same number of digits.
        lines.sort_unstable();
        lines
            .iter()
            .filter_map(|line| parse(line, &self.archive))
            .collect()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // It has ended by itself, or a failed test leaves it behind.
        if self.strace.kill().is_ok() {
            let _ended = self.strace.wait();
        }
    }
}

/// The call that a line tells of, if it succeeded and changed something below `root`.
fn parse(line: &str, root: &Path) -> Option<Call> {
    let (_moment, call) = line.split_once(' ')?;
    // All strings are in hexadecimal digits: no character in them means anything here.
    let (name, rest) = call.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(") = ")?;
    if result.starts_with('-') || result.starts_with('?') {
        return None;
    }
    let arguments: Vec<&str> = arguments.split(", ").collect();
    let below = |text: &str| path_in(text).and_then(|path| below(&path, root));
    let first = below(arguments.first().copied().unwrap_or_default());
    match name {
        "openat" => {
            let flags = arguments[2];
            let path = below(result)?;
            let is_made = flags.contains("O_CREAT");
            is_made.then(|| Call::Open {
                path,
                is_emptied: flags.contains("O_TRUNC"),
            })
        }
        "write" | "pwrite64" => {
            let mut bytes = unhex(arguments[1]);
            bytes.truncate(result.parse().unwrap());
            Some(Call::Write {
                path: first?,
                at: arguments.get(3).map(|at| at.parse().unwrap()),
                bytes,
            })
        }
        "ftruncate" => Some(Call::SetLength {
            path: first?,
            length: arguments[1].parse().unwrap(),
        }),
        "rename" => Some(Call::Rename {
            from: first?,
            to: below(arguments[1])?,
        }),
        "unlink" => Some(Call::Remove { path: first? }),
        "mkdir" => Some(Call::MakeFolder { path: first? }),
        "fsync" | "fdatasync" => Some(Call::Sync { path: first? }),
        "syncfs" => Some(Call::SyncAll),
        other => {
            let touches = arguments.iter().any(|argument| below(argument).is_some());
            assert!(!touches, "the test disk does not know of {other}: {line}");
            None
        }
    }
}

/// The path that an argument names: in quotes, or behind the number of a descriptor.
fn path_in(argument: &str) -> Option<PathBuf> {
    if argument.ends_with("(deleted)") {
        return None;
    }
    let path = match argument.split_once('<') {
        Some((_, path)) => path.strip_suffix('>')?,
        None => argument,
    };
    String::from_utf8(unhex(path)).ok().map(PathBuf::from)
}

fn below(path: &Path, root: &Path) -> Option<PathBuf> {
    path.strip_prefix(root).ok().map(Path::to_owned)
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.trim_matches('"').split("\\x").skip(1);
    digits
        .map(|digits| u8::from_str_radix(digits, 16).unwrap())
        .collect()
}

#[test]
fn lines_of_strace_are_understood() {
    let hex = |text: &str| -> String {
        let digits = text.bytes().map(|byte| format!("\\x{byte:02x}"));
        digits.collect()
    };
    let parse = |call: &str| {
        let told = parse(&format!("1794819551.748058895 {call}"), Path::new("/a"));
        told.map(|call| format!("{call:?}"))
    };
    let (file, other) = (hex("/a/b"), hex("/c/b"));
    let write = format!("pwrite64(3<{file}>, \"{}\", 3, 100) = 2", hex("x, "));
    assert_eq!(
        parse(&write).unwrap(),
        r#"Write { path: "b", at: Some(100), bytes: [120, 44] }"#
    );
    assert_eq!(
        parse(&format!("rename(\"{file}\", \"{}\") = 0", hex("/a/d"))).unwrap(),
        r#"Rename { from: "b", to: "d" }"#
    );
    let open = format!(
        "openat(AT_FDCWD<{}>, \"{file}\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3<{file}>",
        hex("/")
    );
    assert_eq!(
        parse(&open).unwrap(),
        r#"Open { path: "b", is_emptied: true }"#
    );
    assert_eq!(parse(&format!("write(3<{other}>, \"\", 0) = 0")), None);
    assert_eq!(parse(&format!("fsync(3<{file}>(deleted)) = 0")), None);
    assert_eq!(
        parse(&format!(
            "mkdir(\"{file}\", 0777) = -1 EEXIST (File exists)"
        )),
        None
    );
    assert_eq!(parse("+++ exited with 0 +++"), None);
}
