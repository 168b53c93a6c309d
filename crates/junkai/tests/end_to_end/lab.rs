//! `junkai lab` starts the program of the experiments where it is installed, and says how to get it where it is not.
//!
//! A script stands in for that program: what it does itself is tested in its own room.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::{Finished, junkai, run};

/// A copy of the program, in a folder beside which nothing else is installed.
struct Installed(TempDir);

impl Installed {
    fn new() -> Installed {
        let folder = tempfile::tempdir().unwrap();
        for name in ["own", "path"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        // By a process of its own: a program that another test's child still has open for writing cannot be started.
        let mut copy = Command::new("cp");
        copy.arg(junkai().get_program());
        copy.arg(folder.path().join("own/junkai"));
        run(copy).expect(0);
        Installed(folder)
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn lab(&self, words: &[&str]) -> Finished {
        let mut command = Command::new(self.folder("own/junkai"));
        command.env_remove("RUST_LOG");
        command.env("PATH", self.folder("path")).args(words);
        run(command)
    }
}

/// Writes a script in the place of the experiments: it says its name and what it was given, and ends with a code of its own.
fn write_script(folder: &Path, name: &str) {
    let text = format!("#!/bin/sh\necho {name} \"$#\" \"$@\"\nexit 7\n");
    let mut shell = Command::new("sh");
    shell.args(["-c", "printf %s \"$1\" > \"$2\" && chmod +x \"$2\"", "sh"]);
    shell.arg(text).arg(folder.join("junkai-lab"));
    run(shell).expect(0);
}

#[test]
fn the_experiments_are_started_where_they_are_installed() {
    let installed = Installed::new();
    let missing = installed.lab(&["lab", "ring"]).expect(2);
    for text in ["junkai-lab", "cargo install", "junkai what-if"] {
        assert!(missing.err.contains(text), "{}", missing.all());
    }
    write_script(&installed.folder("path"), "in-path");
    let told = installed.lab(&["lab", "ring", "a graph", "--seed", "3", "--help"]);
    assert_eq!(
        told.expect(7).out,
        "in-path 5 ring a graph --seed 3 --help\n"
    );
    assert_eq!(installed.lab(&["lab"]).expect(7).out, "in-path 0\n");
    assert_eq!(
        installed.lab(&["lab", "--help"]).expect(7).out,
        "in-path 1 --help\n"
    );
    write_script(&installed.folder("own"), "beside");
    assert_eq!(
        installed.lab(&["lab", "report"]).expect(7).out,
        "beside 1 report\n"
    );
}
