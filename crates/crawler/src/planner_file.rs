//! What the planner has learned of sites and servers, in `state/planner`: saved with each checkpoint, checksummed.
//!
//! After a kill the planner goes on from the last checkpoint; the states of pages, which matter, are in the time queue.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::CrawlError;
use crate::error::AtPath as _;

const NAME: &str = "planner";
const CHECKSUM_BYTES: usize = 4;

/// Puts what was learned in the place of what was learned before.
pub(crate) fn store(state: &Path, learned: &[u8]) -> Result<(), CrawlError> {
    let path = state.join(NAME);
    let stored = junkai_files::replace_with(&path, |file| {
        file.write_all(&crc32fast::hash(learned).to_le_bytes())?;
        file.write_all(learned)
    });
    stored.at(&path)
}

/// What was learned; nothing if there is no such file, or it is damaged.
pub(crate) fn load(state: &Path) -> Result<Option<Vec<u8>>, CrawlError> {
    let path = state.join(NAME);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).at(&path),
    };
    let Some((checksum, learned)) = bytes.split_at_checked(CHECKSUM_BYTES) else {
        return Ok(None);
    };
    let is_whole = checksum == crc32fast::hash(learned).to_le_bytes();
    if !is_whole {
        tracing::warn!("what was learned of sites and servers cannot be read; it is learned anew");
    }
    Ok(is_whole.then(|| learned.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_loaded_and_damage_is_noticed() {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(load(state.path()).unwrap(), None);
        store(state.path(), b"learned").unwrap();
        assert_eq!(
            load(state.path()).unwrap().as_deref(),
            Some(&b"learned"[..])
        );
        let path = state.path().join(NAME);
        let bytes = fs::read(&path).unwrap();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            fs::write(&path, &changed).unwrap();
            assert_eq!(load(state.path()).unwrap(), None, "byte {place}");
        }
        fs::write(&path, b"abc").unwrap();
        assert_eq!(load(state.path()).unwrap(), None);
    }
}
