//! What workers have captured, on the simulated disk: a line for each capture, with a checksum, as a WARC file has a record.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashSet;
use junkai_engine::CrawlError;
use junkai_engine::partition::Partition;
use junkai_engine::platform::{Captures, EarlierPage};
use junkai_engine::settings::Settings;
use junkai_files::{Disk, Folder};
use junkai_revisit::Version;
use junkai_store::time_queue::TimeQueue;
use junkai_weburl::PageUrl;
use xxhash_rust::xxh3::xxh3_64;

/// Where captures are.
pub(crate) const FILE: &str = "/archive/captures";

/// The captures.
#[derive(Debug)]
pub(crate) struct SimulatedCaptures {
    disk: Disk,
    path: PathBuf,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    length: u64,
    /// The captured pages by their URLs.
    urls: HashSet<String>,
}

impl SimulatedCaptures {
    pub(crate) fn new(disk: Disk) -> SimulatedCaptures {
        SimulatedCaptures {
            disk,
            path: PathBuf::from(FILE),
            kept: Mutex::default(),
        }
    }

    /// Whether the page was captured.
    pub(crate) fn has(&self, url: &str) -> bool {
        self.kept().urls.contains(url)
    }

    /// The pages that were captured.
    pub(crate) fn urls(&self) -> HashSet<String> {
        self.kept().urls.clone()
    }

    /// Keeps a capture. When this returns, a kill does not undo it.
    pub(crate) fn keep(&self, url: &str) -> Result<(), CrawlError> {
        let line = format!("{:016x} {url}\n", xxh3_64(url.as_bytes()));
        let mut kept = self.kept();
        let file = self.disk.open_for_writing(&self.path)?;
        if let Err(error) = file.write_at(line.as_bytes(), kept.length) {
            file.set_len(kept.length)?;
            return Err(error.into());
        }
        kept.length += line.len() as u64;
        kept.urls.insert(url.to_owned());
        Ok(())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The URL of a whole line.
fn url_of(line: &[u8]) -> Option<&str> {
    let (checksum, url) = str::from_utf8(line).ok()?.split_once(' ')?;
    (checksum == format!("{:016x}", xxh3_64(url.as_bytes()))).then_some(url)
}

impl Captures for SimulatedCaptures {
    fn recover(&self, _is_after_power_failure: bool) -> Result<Option<String>, CrawlError> {
        let bytes = self.disk.read(Path::new(FILE))?.unwrap_or_default();
        let mut kept = Kept::default();
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let Some(url) = line.strip_suffix(b"\n").and_then(url_of) else {
                break;
            };
            kept.length += line.len() as u64;
            kept.urls.insert(url.to_owned());
        }
        if kept.length < bytes.len() as u64 {
            let file = self.disk.open_for_writing(&self.path)?;
            file.set_len(kept.length)?;
        }
        *self.kept() = kept;
        Ok(None)
    }

    fn have_pages(&self, _settings: &Settings) -> Result<Option<bool>, CrawlError> {
        let has_any = !self.kept().urls.is_empty();
        Ok(has_any.then_some(true))
    }

    fn last_statuses(&self, pages: &[&PageUrl]) -> Result<Vec<Option<u16>>, CrawlError> {
        let status = |page: &&PageUrl| self.has(page.as_str()).then_some(200);
        Ok(pages.iter().map(status).collect())
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
