//! The archive's lock: whoever holds it is the only one who writes the state. The kernel gives it back however its holder ends.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::ArchiveFolder;
use crate::CrawlError;
use crate::error::AtPath as _;

/// How long a crawl waits for the lock: `tell` holds it as long as it takes to make a few lines durable.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Takes the lock of the archive in `folder`.
///
/// # Errors
/// If another crawl has it.
pub(crate) fn take(folder: &Path) -> Result<File, CrawlError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(lock) = try_take(folder)? {
            return Ok(lock);
        }
        if deadline <= Instant::now() {
            let archive = folder.to_owned();
            return Err(CrawlError::InUse { archive });
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Takes the lock, if nobody has it.
pub(crate) fn try_take(folder: &Path) -> Result<Option<File>, CrawlError> {
    let path = ArchiveFolder::real(folder).state().file("LOCK");
    let file = junkai_files::change(&path).at(&path)?;
    match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(std::io::Error::from(error)).at(&path),
    }
}
