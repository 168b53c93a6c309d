//! The wish box: wishes that a stopped archive keeps for its next start, in `state/wishes.jsonl`.
//!
//! `tell` puts wishes in while it holds the archive's lock, so no crawl is running or begins; the next start takes them out (`engine::commands`) and
//! empties the box only when what it did is durable. A kill in between grants them again, which does no harm.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::CrawlError;
use crate::error::AtPath as _;
use crate::wish::Wish;

const NAME: &str = "wishes.jsonl";

/// Keeps wishes until the next start. When this returns they survive a power failure.
pub(crate) fn put(state: &Path, wishes: &[Wish]) -> Result<(), CrawlError> {
    let path = state.join(NAME);
    append(state, &path, wishes).at(&path)
}

fn append(state: &Path, path: &Path, wishes: &[Wish]) -> io::Result<()> {
    let mut file = junkai_files::append(path)?;
    let mut lines = Vec::new();
    // A line that a power failure tore would spoil the next one.
    if !ends_a_line(&file)? {
        lines.push(b'\n');
    }
    for wish in wishes {
        serde_json::to_writer(&mut lines, wish)?;
        lines.push(b'\n');
    }
    file.write_all(&lines)?;
    file.sync_all()?;
    File::open(state)?.sync_all()
}

/// Whether a file is empty, or ends with a whole line. Its last byte tells: there may be many wishes before.
fn ends_a_line(file: &File) -> io::Result<bool> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else {
        return Ok(true);
    };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte == *b"\n")
}

/// The wishes that are kept, in the order in which they came. A line that was torn was never promised, and is passed over.
pub(crate) fn look(state: &Path) -> Result<Vec<Wish>, CrawlError> {
    let path = state.join(NAME);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).at(&path),
    };
    let text = String::from_utf8_lossy(&bytes);
    Ok(text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}

/// Empties the box: everything in it was granted, and that is durable.
pub(crate) fn empty(state: &Path) -> Result<(), CrawlError> {
    let path = state.join(NAME);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at(&path),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(seed: &str) -> Wish {
        Wish::Add {
            seeds: vec![seed.to_owned()],
        }
    }

    #[test]
    fn wishes_come_out_in_the_order_in_which_they_went_in() {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(look(state.path()).unwrap(), []);
        put(state.path(), &[add("a"), add("b")]).unwrap();
        put(state.path(), &[add("c")]).unwrap();
        assert_eq!(look(state.path()).unwrap(), [add("a"), add("b"), add("c")]);
        empty(state.path()).unwrap();
        empty(state.path()).unwrap();
        assert_eq!(look(state.path()).unwrap(), []);
    }

    #[test]
    fn a_torn_line_takes_no_other_wish_with_it() {
        let state = tempfile::tempdir().unwrap();
        put(state.path(), &[add("a"), add("b")]).unwrap();
        let path = state.path().join(NAME);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        put(state.path(), &[add("c")]).unwrap();
        assert_eq!(look(state.path()).unwrap(), [add("a"), add("c")]);
    }
}
