//! What the planner has learned of sites and servers, in `state/planner`: saved with each checkpoint, checksummed.
//!
//! After a kill the planner goes on from the last checkpoint; the states of pages, which matter, are in the time queue.

use junkai_files::Folder;

use crate::CrawlError;

const NAME: &str = "planner";
const CHECKSUM_BYTES: usize = 4;

/// Puts what was learned in the place of what was learned before.
pub fn store(state: &Folder, learned: &[u8]) -> Result<(), CrawlError> {
    let checksum = crc32fast::hash(learned).to_le_bytes();
    Ok(state.replace(NAME, &[&checksum, learned].concat())?)
}

/// What was learned; nothing if there is no such file, or it is damaged.
pub fn load(state: &Folder) -> Result<Option<Vec<u8>>, CrawlError> {
    let Some(bytes) = state.read(NAME)? else {
        return Ok(None);
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
    use std::fs;

    use super::*;

    #[test]
    fn what_is_stored_is_loaded_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let state = Folder::real(folder.path());
        assert_eq!(load(&state).unwrap(), None);
        store(&state, b"learned").unwrap();
        assert_eq!(load(&state).unwrap().as_deref(), Some(&b"learned"[..]));
        let path = state.file(NAME);
        let bytes = fs::read(&path).unwrap();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            fs::write(&path, &changed).unwrap();
            assert_eq!(load(&state).unwrap(), None, "byte {place}");
        }
        fs::write(&path, b"abc").unwrap();
        assert_eq!(load(&state).unwrap(), None);
    }
}
