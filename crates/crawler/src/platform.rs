//! What a crawl runs on: the real disk, the machine's clocks and threads, and the captures of its archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use junkai_archive::Index;
use junkai_engine::partition::Partition;
use junkai_engine::platform::{Captures, EarlierPage, Machine, Platform, Task, Work};
use junkai_files::{Disk, Folder};
use junkai_revisit::Version;
use junkai_store::time_queue::TimeQueue;
use junkai_weburl::PageUrl;
use rustix::time::{ClockId, clock_gettime};

use crate::captured::{has_pages, last_status};
use crate::settings::Settings;
use crate::unread::Unread;
use crate::{CrawlError, seen_again};

/// The platform of the archive in `folder`.
pub(crate) fn platform(folder: &Path) -> Platform {
    Platform {
        disk: Disk::default(),
        machine: machine(),
        captures: Arc::new(ArchivedCaptures {
            archive: folder.to_owned(),
            unread: Unread::new(folder),
        }),
    }
}

/// This machine.
pub(crate) fn machine() -> Arc<dyn Machine> {
    Arc::new(ThisMachine)
}

/// What the machine has counted since its boot, sleep included.
pub(crate) fn counted() -> Duration {
    let counted = clock_gettime(ClockId::Boottime);
    // Neither is negative: the count begins at boot.
    let seconds = u64::try_from(counted.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(counted.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}

/// What the wall clock showed, since the Unix epoch.
pub(crate) fn since_epoch(wall: SystemTime) -> Duration {
    wall.duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[derive(Debug)]
struct ThisMachine;

impl Machine for ThisMachine {
    fn wall(&self) -> Duration {
        since_epoch(SystemTime::now())
    }

    fn counted(&self) -> Duration {
        counted()
    }

    fn boot(&self) -> String {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id");
        id.map(|id| id.trim().to_owned()).unwrap_or_default()
    }

    fn wait(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn free_bytes(&self, folder: &Path) -> Option<u64> {
        let stat = rustix::fs::statvfs(folder).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    fn begin(&self, name: &str, work: Work) -> Result<Box<dyn Task>, CrawlError> {
        let thread = std::thread::Builder::new().name(name.to_owned());
        let thread = thread.spawn(work);
        let thread = thread.map_err(|source| CrawlError::Thread { source })?;
        Ok(Box::new(Thread(thread)))
    }
}

/// Work in a thread of its own.
#[derive(Debug)]
struct Thread(JoinHandle<()>);

impl Task for Thread {
    fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    fn wait(self: Box<Self>) -> bool {
        self.0.join().is_ok()
    }
}

/// The captures of an archive on disk.
#[derive(Debug)]
struct ArchivedCaptures {
    archive: PathBuf,
    unread: Unread,
}

impl Captures for ArchivedCaptures {
    fn recover(&self, is_after_power_failure: bool) -> Result<Option<String>, CrawlError> {
        repair_captures(&self.archive, is_after_power_failure)
    }

    fn have_pages(&self, settings: &Settings) -> Result<Option<bool>, CrawlError> {
        has_pages(&self.archive, settings)
    }

    fn last_statuses(&self, pages: &[&PageUrl]) -> Result<Vec<Option<u16>>, CrawlError> {
        let index = Index::open(&self.archive)?;
        let statuses = pages.iter().map(|page| last_status(&index, page));
        statuses.collect()
    }

    fn page(&self, url: &PageUrl, version: &Version, bytes_max: usize) -> Option<EarlierPage> {
        self.unread.page(url, version, bytes_max)
    }

    fn make_seen(
        &self,
        state: &Folder,
        partition: Partition,
        settings: &Settings,
        known: &TimeQueue,
    ) -> Result<Option<String>, CrawlError> {
        seen_again::make(&self.archive, state.path(), partition, settings, known).map(Some)
    }

    fn tidy(&self) {
        if let Err(error) = junkai_archive::merge(&self.archive) {
            tracing::warn!(%error, "files of the index could not be merged; look-ups take longer until they are");
        }
    }
}

/// Repairs what a crash left of the captures, and says what that was.
fn repair_captures(folder: &Path, is_restarted: bool) -> Result<Option<String>, CrawlError> {
    let mut recovery = if is_restarted {
        junkai_archive::recover_after_power_loss(folder)?
    } else {
        junkai_archive::recover(folder)?
    };
    // A file that was merely open, and whole, is nothing to tell of.
    recovery
        .closed
        .retain(|file| 0 < file.bytes_cut + file.lines_made + file.lines_dropped);
    Ok((!recovery.is_empty()).then(|| recovery.to_string()))
}
