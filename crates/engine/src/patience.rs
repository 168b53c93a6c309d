//! Patience with a full disk: what could not be written is still in memory, and is written when there is room.

use std::time::Duration;

use crate::CrawlError;
use crate::platform::Machine;
use crate::progress::{Progress, Stop};

/// How long to wait before a write is tried again.
const PATIENCE: Duration = Duration::from_millis(500);

/// Waits a while if a full disk is the reason that something was not written.
///
/// # Errors
/// Any other reason ends the crawl, and so does a user who has had enough.
pub fn wait_for_room(
    machine: &dyn Machine,
    progress: &Progress,
    error: CrawlError,
) -> Result<(), CrawlError> {
    if !error.is_disk_full() || progress.stop() != Stop::Never {
        return Err(error);
    }
    progress.wait_for_room(true);
    machine.wait(PATIENCE);
    progress.wait_for_room(false);
    Ok(())
}
