//! What is written when a command is repeated. Shared with the end-to-end tests of `junkai`, which name this file by its path.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// All files below a folder, by their path in it.
pub(crate) fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// The command that a run says repeats it, by what it printed, without the name of this program.
pub(crate) fn repeated<'a>(printed: &'a str, program: &str) -> Option<&'a str> {
    let mut commands = printed
        .lines()
        .filter_map(|line| line.strip_prefix("Repeat with: "));
    commands.find_map(|command| command.strip_prefix(program)?.strip_prefix(' '))
}
