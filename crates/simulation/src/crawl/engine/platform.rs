//! What the engine runs on in the lab: a disk in memory, the virtual clock, and captures that hold nothing.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use junkai_engine::partition::Partition;
use junkai_engine::platform::{Captures, EarlierPage, Machine, Task, Work};
use junkai_engine::{CrawlError, Platform, Settings};
use junkai_files::{Disk, Folder, SimulatedDisk};
use junkai_frontier::Time;
use junkai_revisit::Version;
use junkai_store::time_queue::TimeQueue;
use junkai_weburl::PageUrl;

/// A machine whose clocks all show the virtual time, which begins at the epoch.
#[derive(Debug, Default)]
pub(super) struct VirtualMachine {
    micros: AtomicU64,
}

impl VirtualMachine {
    pub(super) fn set(&self, now: Time) {
        self.micros.store(now.as_micros(), Ordering::Relaxed);
    }
}

impl Machine for VirtualMachine {
    fn wall(&self) -> Duration {
        Duration::from_micros(self.micros.load(Ordering::Relaxed))
    }

    fn counted(&self) -> Duration {
        self.wall()
    }

    fn boot(&self) -> String {
        "the only one".to_owned()
    }

    fn wait(&self, _time: Duration) {
        unreachable!("a disk in memory that nobody fills has room");
    }

    fn free_bytes(&self, _folder: &Path) -> Option<u64> {
        None
    }

    /// Does it at once, so that nothing depends on threads.
    fn begin(&self, _name: &str, work: Work) -> Result<Box<dyn Task>, CrawlError> {
        work();
        Ok(Box::new(Done))
    }
}

#[derive(Debug)]
struct Done;

impl Task for Done {
    fn is_finished(&self) -> bool {
        true
    }

    fn wait(self: Box<Self>) -> bool {
        true
    }
}

#[derive(Debug)]
struct NoCaptures;

impl Captures for NoCaptures {
    fn recover(&self, _is_after_power_failure: bool) -> Result<Option<String>, CrawlError> {
        Ok(None)
    }

    fn have_pages(&self, _settings: &Settings) -> Result<Option<bool>, CrawlError> {
        Ok(None)
    }

    fn last_statuses(&self, pages: &[&PageUrl]) -> Result<Vec<Option<u16>>, CrawlError> {
        Ok(vec![None; pages.len()])
    }

    fn page(&self, _url: &PageUrl, _version: &Version, _bytes_max: usize) -> Option<EarlierPage> {
        None
    }

    fn make_seen(
        &self,
        _state: &Folder,
        _partition: Partition,
        _settings: &Settings,
        _known: &TimeQueue,
    ) -> Result<Option<String>, CrawlError> {
        Ok(None)
    }

    fn tidy(&self) {}
}

/// The platform of one crawl.
pub(super) fn platform(disk: &SimulatedDisk, machine: &Arc<VirtualMachine>) -> Platform {
    Platform {
        disk: Disk::simulated(disk.clone()),
        machine: Arc::clone(machine) as Arc<_>,
        captures: Arc::new(NoCaptures),
    }
}
