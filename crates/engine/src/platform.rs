//! What an engine runs on: a disk, the machine's clocks, and the captures of its archive.
//!
//! `junkai-crawler` has the real ones; `junkai-lab simulate` has simulated ones, which fail as it says.

use std::fmt::Debug;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use junkai_archive::layout;
use junkai_files::{Disk, Folder};
use junkai_page::content::{self, Boilerplate, Content};
use junkai_revisit::Version;
use junkai_store::time_queue::TimeQueue;
use junkai_weburl::PageUrl;

use crate::CrawlError;
use crate::partition::Partition;
use crate::settings::Settings;

/// Where the states of partitions are, below `state/`.
pub(crate) const PARTITIONS: &str = "partitions";
/// How many there are, below `state/`, if there are several.
const PARTITION_COUNT: &str = "PARTITIONS";

/// What an engine runs on.
#[derive(Clone, Debug)]
pub struct Platform {
    /// Where the archive's folder is.
    pub disk: Disk,
    /// The machine.
    pub machine: Arc<dyn Machine>,
    /// What workers have captured.
    pub captures: Arc<dyn Captures>,
}

/// A machine: its clocks, and what can be done beside the engine.
pub trait Machine: Debug + Send + Sync {
    /// What the wall clock shows, since the Unix epoch. It may be set back and forward.
    fn wall(&self) -> Duration;

    /// What the machine has counted since its boot, sleep included. It never goes backwards.
    fn counted(&self) -> Duration;

    /// What names this start of the machine; empty where the system does not say.
    fn boot(&self) -> String;

    /// Waits before a write is tried again on a full disk.
    fn wait(&self, time: Duration);

    /// Bytes free on the disk that has this folder, if the system says so.
    fn free_bytes(&self, folder: &Path) -> Option<u64>;

    /// Begins to do something beside the engine.
    ///
    /// # Errors
    /// If the system lets no further thread start.
    fn begin(&self, name: &str, work: Work) -> Result<Box<dyn Task>, CrawlError>;
}

/// Something to be done beside the engine.
pub type Work = Box<dyn FnOnce() + Send>;

/// Something that is done beside the engine.
pub trait Task: Debug + Send {
    /// Whether it is done.
    fn is_finished(&self) -> bool;

    /// Waits until it is done. False if it panicked.
    fn wait(self: Box<Self>) -> bool;
}

/// The captures of an archive, as far as an engine asks for them.
pub trait Captures: Debug + Send + Sync {
    /// Repairs what a kill or a power failure left, and says what that was.
    ///
    /// # Errors
    /// If the files cannot be read or mended.
    fn recover(&self, is_after_power_failure: bool) -> Result<Option<String>, CrawlError>;

    /// Whether there is a capture of a page that came as it should; none if there is no capture at all.
    ///
    /// # Errors
    /// If the index cannot be read.
    fn have_pages(&self, settings: &Settings) -> Result<Option<bool>, CrawlError>;

    /// For each of these pages, the HTTP status of its last capture, if it was captured.
    ///
    /// # Errors
    /// If the index cannot be read.
    fn last_statuses(&self, pages: &[&PageUrl]) -> Result<Vec<Option<u16>>, CrawlError>;

    /// A page as it was captured, if nobody has read what it said; none if it has so many bytes or more.
    fn page(&self, url: &PageUrl, version: &Version, bytes_max: usize) -> Option<EarlierPage>;

    /// Makes the set of known URLs of a partition, whose state is in `state`, anew from what was visited, and says so in a sentence; none if it leaves
    /// that to the engine, which begins with an empty one.
    ///
    /// # Errors
    /// If the archive's files cannot be read, or the set cannot be written.
    fn make_seen(
        &self,
        state: &Folder,
        partition: Partition,
        settings: &Settings,
        known: &TimeQueue,
    ) -> Result<Option<String>, CrawlError>;

    /// Puts files of the index together, where there are many.
    fn tidy(&self);
}

/// A page as it was captured earlier.
#[derive(Debug)]
pub struct EarlierPage {
    /// Without transfer and content codings.
    pub body: Vec<u8>,
    /// As the server declared it.
    pub content_type: Option<String>,
}

impl EarlierPage {
    /// What it said. A parser that panics finds nothing.
    pub fn content(&self, boilerplate: &mut Boilerplate, url: &PageUrl) -> Option<Content> {
        let content_type = self.content_type.as_deref();
        let read = || content::of(boilerplate, &self.body, content_type, url.as_url());
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(read))
            .ok()
            .flatten()
    }
}

/// The result of something that is done beside the engine.
#[derive(Debug)]
pub struct Beside<T> {
    result: Arc<Mutex<Option<T>>>,
    task: Box<dyn Task>,
}

impl<T: Send + 'static> Beside<T> {
    /// Begins it.
    ///
    /// # Errors
    /// If the system lets no further thread start.
    pub fn begin(
        machine: &dyn Machine,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Beside<T>, CrawlError> {
        let result = Arc::new(Mutex::new(None));
        let place = Arc::clone(&result);
        let work = move || {
            let done = work();
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        };
        let task = machine.begin(name, Box::new(work))?;
        Ok(Beside { result, task })
    }

    /// Whether it is done.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Waits for the result; none if it panicked.
    pub fn wait(self) -> Option<T> {
        let is_done = self.task.wait();
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.take().filter(|_| is_done)
    }
}

/// The folder of the crawl's own state in an archive.
const STATE: &str = "state";

/// The folder of an archive: the one place that knows what is where in it.
#[derive(Clone, Debug)]
pub struct ArchiveFolder(Folder);

impl ArchiveFolder {
    /// The archive in this folder.
    #[must_use]
    pub fn new(disk: Disk, path: &Path) -> ArchiveFolder {
        ArchiveFolder(Folder::new(disk, path))
    }

    /// The archive in a folder of the real disk.
    #[must_use]
    pub fn real(path: &Path) -> ArchiveFolder {
        ArchiveFolder::new(Disk::default(), path)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The disk that it is on.
    #[must_use]
    pub fn disk(&self) -> &Disk {
        self.0.disk()
    }

    /// The archive that a crawl has made in a folder of the real disk.
    ///
    /// # Errors
    /// If there is none.
    pub fn existing(path: &Path) -> Result<ArchiveFolder, CrawlError> {
        let folder = ArchiveFolder::real(path);
        if folder.is_there() {
            Ok(folder)
        } else {
            let archive = path.to_owned();
            Err(CrawlError::NoArchive { archive })
        }
    }

    /// Whether a crawl has made one there.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.disk().exists(self.state().path())
    }

    /// A path in the archive as people are told of it: from the archive's folder on.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        let within = path.strip_prefix(self.path()).unwrap_or(path);
        within.display().to_string()
    }

    /// The crawl's own state.
    #[must_use]
    pub fn state(&self) -> Folder {
        self.0.folder(STATE)
    }

    /// The WARC files.
    #[must_use]
    pub fn warcs(&self) -> Folder {
        self.0.folder(layout::WARCS)
    }

    /// The index of the WARC files.
    #[must_use]
    pub fn indexes(&self) -> Folder {
        self.0.folder(layout::INDEXES)
    }

    /// The state of one partition of the crawl.
    #[must_use]
    pub fn partition(&self, partition: Partition) -> Folder {
        if partition.is_whole() {
            return self.state();
        }
        let all = self.state().folder(PARTITIONS);
        all.folder(&partition.number().to_string())
    }

    /// The states of all partitions.
    #[must_use]
    pub fn partitions(&self, count: NonZeroU16) -> Vec<Folder> {
        let all = Partition::all(count);
        all.map(|partition| self.partition(partition)).collect()
    }

    /// The states of all partitions that the crawl was begun with.
    ///
    /// # Errors
    /// If it cannot be read how many these are.
    pub fn states(&self) -> Result<Vec<Folder>, CrawlError> {
        let count = self.partitions_begun()?.unwrap_or(NonZeroU16::MIN);
        Ok(self.partitions(count))
    }

    /// How many partitions the crawl was begun with; none if it was not begun.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn partitions_begun(&self) -> Result<Option<NonZeroU16>, CrawlError> {
        let state = self.state();
        if let Some(count) = state.read(PARTITION_COUNT)? {
            let count = str::from_utf8(&count).ok();
            let count = count.and_then(|count| count.trim().parse().ok());
            return count.map(Some).ok_or_else(|| CrawlError::Settings {
                mistakes: vec![format!(
                    "state/{PARTITION_COUNT} is damaged: write the number of the folders in state/{PARTITIONS} into it"
                )],
            });
        }
        let is_begun = ["MANIFEST", "seen", "backlog"]
            .iter()
            .any(|name| self.disk().exists(&state.file(name)));
        Ok(is_begun.then_some(NonZeroU16::MIN))
    }

    /// The logs.
    #[must_use]
    pub fn logs(&self) -> Folder {
        self.0.folder(layout::LOGS)
    }

    /// What focus has learned.
    #[must_use]
    pub fn focus(&self) -> Folder {
        self.0.folder(crate::focus::FOLDER)
    }

    /// The settings of the archive.
    #[must_use]
    pub fn settings(&self) -> PathBuf {
        self.0.file("junkai.toml")
    }

    /// Makes all folders of an archive.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn make(&self) -> Result<(), CrawlError> {
        for part in [self.warcs(), self.indexes(), self.state(), self.logs()] {
            self.disk().create_dir(part.path())?;
        }
        Ok(())
    }

    /// Makes the folders of so many partitions, where there are several.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn make_partitions(&self, count: NonZeroU16) -> Result<(), CrawlError> {
        if count == NonZeroU16::MIN {
            return Ok(());
        }
        let state = self.state();
        if !self.disk().exists(&state.file(PARTITION_COUNT)) {
            state.replace(PARTITION_COUNT, format!("{count}\n").as_bytes())?;
        }
        self.disk().create_dir(&state.file(PARTITIONS))?;
        for partition in self.partitions(count) {
            self.disk().create_dir(partition.path())?;
        }
        Ok(())
    }
}
