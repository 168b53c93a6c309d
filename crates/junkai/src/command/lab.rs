//! `junkai lab`: starts `junkai-lab`, the experiments, as cargo does with subcommands that are installed beside it.
//!
//! The experiments are a program of their own, so that who crawls does not install them. What is asked of one's own archive is no experiment:
//! [`what_if`](super::what_if) and [`plan`](super::plan) are commands of this program, and [`without_lab`] lets them be typed as commands of the lab too.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::exit::{Ending, bad_command_line};

/// The program of the experiments.
const PROGRAM: &str = "junkai-lab";

/// Commands that may be typed after `lab`, and are this program's.
const OWN: [&str; 2] = ["what-if", "plan"];

/// What `junkai lab` takes: whatever `junkai-lab` does.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// An experiment and what it takes; `junkai lab --help` lists them.
    #[arg(
        value_name = "EXPERIMENT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    words: Vec<OsString>,
}

/// Becomes `junkai-lab`: it has the terminal, gets the signals, and its exit code is this command's.
///
/// # Errors
/// If it is not installed, or cannot be started.
pub(crate) fn run(arguments: &Arguments, verbose: u8) -> Result<Ending> {
    let own = env::current_exe().ok();
    let folders = env::var_os("PATH").unwrap_or_default();
    let Some(program) = found(own.as_deref(), &folders) else {
        return Err(bad_command_line(not_installed(own.as_deref())));
    };
    let mut lab = Command::new(&program);
    lab.args(&arguments.words);
    lab.args((0..verbose).map(|_| "--verbose"));
    // It only returns if it fails.
    let error = lab.exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}

/// The command line without `lab` where that stands before a command of this program.
pub(crate) fn without_lab(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_flag = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let Some(first) = words.iter().skip(1).position(|word| !is_flag(word)) else {
        return words;
    };
    let place = 1 + first;
    let is_own = |word: &OsString| OWN.iter().any(|own| word == own);
    if words[place] == "lab" && words.get(place + 1).is_some_and(is_own) {
        words.remove(place);
    }
    words
}

/// Where the program is: beside this one, else in a folder of `PATH`.
fn found(own: Option<&Path>, folders: &OsStr) -> Option<PathBuf> {
    let beside = own.and_then(Path::parent).map(Path::to_owned);
    let mut places = beside.into_iter().chain(env::split_paths(folders));
    places.find_map(|folder| {
        let program = folder.join(PROGRAM);
        program.is_file().then_some(program)
    })
}

fn not_installed(own: Option<&Path>) -> String {
    let beside = own
        .and_then(Path::parent)
        .map_or_else(String::new, |folder| format!("in {} or ", folder.display()));
    format!(
        "the experiments are a program of their own, {PROGRAM}, which is not {beside}in PATH; \
         in junkai's sources, `cargo install --path crates/lab --profile dist` installs it. \
         `junkai what-if` and `junkai plan` do not need it"
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn without(words: &str) -> String {
        let words = words.split(' ').map(OsString::from).collect();
        let words: Vec<String> = without_lab(words)
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect();
        words.join(" ")
    }

    #[test]
    fn questions_about_an_archive_may_be_asked_in_the_lab() {
        for (typed, taken) in [
            ("junkai lab what-if -a x", "junkai what-if -a x"),
            ("junkai -v lab plan", "junkai -v plan"),
            ("junkai lab ring plan", "junkai lab ring plan"),
            ("junkai lab --help", "junkai lab --help"),
            ("junkai lab", "junkai lab"),
            ("junkai get lab plan", "junkai get lab plan"),
            ("junkai plan", "junkai plan"),
            ("junkai", "junkai"),
        ] {
            assert_eq!(without(typed), taken);
        }
    }

    #[test]
    fn the_program_beside_this_one_comes_before_those_in_path() {
        let folder = tempfile::tempdir().unwrap();
        let in_folder = |name: &str| folder.path().join(name);
        for name in ["own", "first", "second", "empty"] {
            fs::create_dir(in_folder(name)).unwrap();
        }
        let own = in_folder("own").join("junkai");
        let path = env::join_paths(["empty", "first", "second"].map(in_folder)).unwrap();
        assert_eq!(found(Some(&own), &path), None);
        fs::write(in_folder("second").join(PROGRAM), "").unwrap();
        assert_eq!(
            found(Some(&own), &path),
            Some(in_folder("second").join(PROGRAM))
        );
        fs::write(in_folder("first").join(PROGRAM), "").unwrap();
        assert_eq!(found(None, &path), Some(in_folder("first").join(PROGRAM)));
        fs::write(in_folder("own").join(PROGRAM), "").unwrap();
        assert_eq!(
            found(Some(&own), &path),
            Some(in_folder("own").join(PROGRAM))
        );
    }

    #[test]
    fn where_it_is_not_installed_it_is_said_how_to_get_it() {
        let said = not_installed(Some(Path::new("/opt/bin/junkai")));
        for text in ["cargo install", "/opt/bin or in PATH", "junkai what-if"] {
            assert!(said.contains(text), "{text}: {said}");
        }
    }
}
