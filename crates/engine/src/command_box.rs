//! The command box: commands that a stopped archive keeps for its next start, in `state/wishes.jsonl`.
//!
//! `tell` puts commands in while it holds the archive's lock, so no crawl is running or begins; the next start takes them out (`engine::commands`) and
//! empties the box only when what it did is durable. After a kill in between they are carried out again, which does no harm.

use std::io;

use junkai_files::Folder;

use crate::CrawlError;
use crate::command::UserCommand;
use crate::error::AtPath as _;

const NAME: &str = "wishes.jsonl";

/// Keeps commands until the next start. When this returns they survive a power failure.
pub fn put(state: &Folder, commands: &[UserCommand]) -> Result<(), CrawlError> {
    let path = state.file(NAME);
    let file = state.disk().open_for_writing(&path)?;
    let length = file.length()?;
    let mut lines = Vec::new();
    // A line that a power failure tore would spoil the next one.
    let mut last = [b'\n'];
    if 0 < length {
        file.read_exact_at(&mut last, length - 1)?;
    }
    if last != *b"\n" {
        lines.push(b'\n');
    }
    for command in commands {
        serde_json::to_writer(&mut lines, command)
            .map_err(io::Error::from)
            .at(&path)?;
        lines.push(b'\n');
    }
    file.write_at(&lines, length)?;
    file.sync()?;
    Ok(state.disk().sync_dir(state.path())?)
}

/// The commands that are kept, in the order in which they came. A line that was torn was never promised, and is passed over.
pub fn look(state: &Folder) -> Result<Vec<UserCommand>, CrawlError> {
    let bytes = state.read(NAME)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    Ok(text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}

/// Empties the box: everything in it was carried out, and that is durable.
pub fn empty(state: &Folder) -> Result<(), CrawlError> {
    let file = state.file(NAME);
    if state.disk().exists(&file) {
        state.disk().remove(&file)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn add(seed: &str) -> UserCommand {
        UserCommand::Add {
            seeds: vec![seed.to_owned()],
        }
    }

    #[test]
    fn commands_come_out_in_the_order_in_which_they_went_in() {
        let folder = tempfile::tempdir().unwrap();
        let state = Folder::real(folder.path());
        assert_eq!(look(&state).unwrap(), []);
        put(&state, &[add("a"), add("b")]).unwrap();
        put(&state, &[add("c")]).unwrap();
        assert_eq!(look(&state).unwrap(), [add("a"), add("b"), add("c")]);
        empty(&state).unwrap();
        empty(&state).unwrap();
        assert_eq!(look(&state).unwrap(), []);
    }

    #[test]
    fn a_torn_line_takes_no_other_command_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = Folder::real(folder.path());
        put(&state, &[add("a"), add("b")]).unwrap();
        let path = state.file(NAME);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        put(&state, &[add("c")]).unwrap();
        assert_eq!(look(&state).unwrap(), [add("a"), add("c")]);
    }
}
