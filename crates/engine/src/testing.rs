//! A machine and captures for tests: the wall clock stands still, and work beside the engine is done at once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use junkai_files::{Disk, Folder};
use junkai_revisit::Version;
use junkai_store::time_queue::TimeQueue;
use junkai_weburl::PageUrl;

use crate::CrawlError;
use crate::partition::Partition;
use crate::platform::{Captures, EarlierPage, Machine, Platform, Task, Work};
use crate::settings::Settings;

/// A machine whose clocks stand still, unless a test moves them.
#[derive(Debug)]
pub struct TestMachine {
    /// What the wall clock shows.
    pub wall: Mutex<Duration>,
    /// What was counted since the boot.
    pub counted: Mutex<Duration>,
    /// This start of the machine.
    pub boot: Mutex<String>,
}

impl Default for TestMachine {
    fn default() -> TestMachine {
        TestMachine {
            wall: Mutex::new(Duration::from_secs(1_700_000_000)),
            counted: Mutex::new(Duration::from_hours(1)),
            boot: Mutex::new("this".to_owned()),
        }
    }
}

impl Machine for TestMachine {
    fn wall(&self) -> Duration {
        *self.wall.lock().unwrap()
    }

    fn counted(&self) -> Duration {
        *self.counted.lock().unwrap()
    }

    fn boot(&self) -> String {
        self.boot.lock().unwrap().clone()
    }

    fn wait(&self, time: Duration) {
        *self.counted.lock().unwrap() += time;
    }

    fn free_bytes(&self, _folder: &Path) -> Option<u64> {
        None
    }

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

/// Captures by their URLs.
#[derive(Debug, Default)]
pub struct TestCaptures {
    /// What each page said.
    pub bodies: Mutex<BTreeMap<String, String>>,
}

impl Captures for TestCaptures {
    fn recover(&self, _is_after_power_failure: bool) -> Result<Option<String>, CrawlError> {
        Ok(None)
    }

    fn have_pages(&self, _settings: &Settings) -> Result<Option<bool>, CrawlError> {
        Ok(None)
    }

    fn last_statuses(&self, pages: &[&PageUrl]) -> Result<Vec<Option<u16>>, CrawlError> {
        Ok(vec![None; pages.len()])
    }

    fn page(&self, url: &PageUrl, version: &Version, bytes_max: usize) -> Option<EarlierPage> {
        version.unread?;
        let bodies = self.bodies.lock().unwrap();
        let body = bodies
            .get(url.as_str())
            .filter(|body| body.len() < bytes_max);
        body.map(|body| EarlierPage {
            body: body.clone().into_bytes(),
            content_type: Some("text/html".to_owned()),
        })
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

/// The real disk with such a machine and no capture.
#[must_use]
pub fn platform() -> Platform {
    Platform {
        disk: Disk::default(),
        machine: Arc::new(TestMachine::default()),
        captures: Arc::new(TestCaptures::default()),
    }
}
