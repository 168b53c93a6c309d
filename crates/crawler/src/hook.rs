//! Hooks: tells a program, or an HTTP server, of the operator when pages change.
//!
//! Each has a thread of its own, which reads the event log behind a cursor (`source`), hands over batches, tries again when that fails, and keeps its cursor in `state/`. The frontier's thread
//! knows nothing of it: it writes its log as ever, and at the end of a run gives the hooks a few seconds for what is left.
//!
//! At least once: the cursor is moved and kept after a batch was taken. A kill between the two delivers the batch again, under the same identifiers.

mod program;
mod source;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use junkai_engine::hook_config::HookConfig;
use junkai_fetch::Poster;
use junkai_files::Disk;
use serde::{Deserialize, Serialize};
use url::Url;

use self::source::{Batch, Cursor, Source};
use crate::ArchiveFolder;
use crate::error::AtPath as _;
use crate::log::EVENTS;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::{CrawlError, small_file};

/// Between two looks at the log, where nothing is new.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long the end of a crawl waits for what is left to deliver.
const FINISH_PATIENCE: Duration = Duration::from_secs(5);
/// The wait before a batch is tried again, doubled each time up to the longest.
const BACKOFF_FIRST: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_mins(5);
/// Characters of an error that are kept.
const ERROR_CHARS_MAX: usize = 500;
/// The media type of lines of JSON.
const JSON_LINES: &str = "application/x-ndjson";

/// What one hook has come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HookReport {
    /// `run` or `post`.
    pub hook: &'static str,
    /// Changes that were delivered, in all runs.
    pub delivered: u64,
    /// Of these, in this run.
    pub delivered_now: u64,
    /// Changes that wait for delivery; one or the other may turn out to be none.
    pub pending: u64,
    /// Whether more than these wait: not the whole log was looked through.
    pub more_pending: bool,
    /// Deliveries that failed, in all runs.
    pub failures: u64,
    /// How often a log file was gone before all of it was delivered.
    pub gaps: u64,
    /// When a delivery failed last, and why.
    pub error: Option<HookError>,
}

/// A delivery that failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct HookError {
    /// When.
    pub time: Timestamp,
    /// Why.
    pub reason: String,
}

/// What an archive keeps of a hook.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Kept {
    cursor: Cursor,
    delivered: u64,
    failures: u64,
    gaps: u64,
    error: Option<HookError>,
}

/// To whom changes are delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Run,
    Post,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::Run, Kind::Post];

    fn name(self) -> &'static str {
        match self {
            Kind::Run => "run",
            Kind::Post => "post",
        }
    }

    fn file(self, archive: &Path) -> PathBuf {
        let state = ArchiveFolder::real(archive).state();
        state.file(&format!("hook-{}.json", self.name()))
    }
}

/// The hooks of a running crawl.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    threads: Vec<(Arc<Ending>, JoinHandle<HookReport>)>,
}

impl Hooks {
    /// Starts a thread for each hook of the settings.
    pub(crate) fn start(
        archive: &Path,
        settings: &Settings,
        progress: &Arc<Progress>,
    ) -> Result<Hooks, CrawlError> {
        let mut hooks = Hooks::default();
        for (kind, receiver) in receivers(archive, settings)? {
            let ending = Arc::new(Ending::default());
            let delivery = Delivery {
                kept: Kept::open(archive, kind)?,
                kind,
                archive: archive.to_owned(),
                config: settings.hook.clone(),
                receiver,
                ending: Arc::clone(&ending),
                progress: Arc::clone(progress),
                delivered_now: 0,
                failures_in_a_row: 0,
            };
            let thread = std::thread::Builder::new()
                .name(format!("hook {}", kind.name()))
                .spawn(|| delivery.run())
                .map_err(|source| CrawlError::Thread { source })?;
            hooks.threads.push((ending, thread));
        }
        Ok(hooks)
    }

    /// Lets the hooks deliver what is left, for a few seconds, and says what they came to.
    pub(crate) fn finish(&mut self) -> Result<Vec<HookReport>, CrawlError> {
        self.finish_by(Instant::now() + FINISH_PATIENCE)
    }

    fn finish_by(&mut self, deadline: Instant) -> Result<Vec<HookReport>, CrawlError> {
        for (ending, _) in &self.threads {
            ending.end_by(deadline);
        }
        let threads = self.threads.drain(..);
        let reports = threads.map(|(_, thread)| {
            thread.join().map_err(|_| CrawlError::Bug {
                what: "the thread of a hook panicked".to_owned(),
            })
        });
        reports.collect()
    }
}

#[cfg(test)]
impl Hooks {
    /// A hook whose thread has panicked.
    pub(crate) fn broken() -> Hooks {
        let thread = std::thread::spawn(|| panic!("the hook of a test is broken"));
        Hooks {
            threads: vec![(Arc::new(Ending::default()), thread)],
        }
    }
}

impl Drop for Hooks {
    /// A crawl that failed waits for nobody; what is left is delivered at the next start.
    fn drop(&mut self) {
        for (ending, _) in &self.threads {
            ending.end_by(Instant::now());
        }
    }
}

/// What the hooks of an archive have come to, by what it keeps of them.
pub(crate) fn reports(archive: &Path) -> Result<Vec<HookReport>, CrawlError> {
    let mut reports = Vec::new();
    for kind in Kind::ALL {
        let file = kind.file(archive);
        if file.exists() {
            let kept: Kept = small_file::load(&Disk::default(), &file)?;
            reports.push(kept.report(archive, kind, 0)?);
        }
    }
    Ok(reports)
}

impl Kept {
    /// What is kept of a hook; one that is new to an archive hears of what happens from now on.
    fn open(archive: &Path, kind: Kind) -> Result<Kept, CrawlError> {
        let file = kind.file(archive);
        if file.exists() {
            return small_file::load(&Disk::default(), &file);
        }
        let kept = Kept {
            cursor: Cursor::at_end(archive).at(archive.join(EVENTS))?,
            ..Kept::default()
        };
        small_file::store(&Disk::default(), &file, &kept)?;
        Ok(kept)
    }

    fn report(
        &self,
        archive: &Path,
        kind: Kind,
        delivered_now: u64,
    ) -> Result<HookReport, CrawlError> {
        let (pending, more_pending) = Source::new(archive, self.cursor.clone()).pending()?;
        Ok(HookReport {
            hook: kind.name(),
            delivered: self.delivered,
            delivered_now,
            pending,
            more_pending,
            failures: self.failures,
            gaps: self.gaps,
            error: self.error.clone(),
        })
    }
}

/// Who takes a batch.
enum Receiver {
    Program(program::Program),
    Server {
        poster: Poster,
        url: Url,
        runtime: tokio::runtime::Runtime,
    },
}

fn receivers(archive: &Path, settings: &Settings) -> Result<Vec<(Kind, Receiver)>, CrawlError> {
    let config = &settings.hook;
    let mut receivers = Vec::new();
    if let Some((name, arguments)) = config.run.split_first() {
        let program = program::Program::new(name, arguments, archive);
        receivers.push((Kind::Run, Receiver::Program(program)));
    }
    if let Some(post) = &config.post {
        let wrong = |mistake: String| CrawlError::Settings {
            mistakes: vec![format!("hook.post: {mistake}")],
        };
        let server = Receiver::Server {
            poster: Poster::new(&settings.fetch, &settings.identity)
                .map_err(|error| wrong(error.to_string()))?,
            url: Url::parse(post).map_err(|error| wrong(error.to_string()))?,
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|source| CrawlError::Thread { source })?,
        };
        receivers.push((Kind::Post, server));
    }
    Ok(receivers)
}

impl Receiver {
    /// Hands a batch over, in no longer than the time that is given, or until the crawl cannot wait any more.
    fn take(&mut self, lines: &[u8], timeout: Duration, ending: &Ending) -> Result<(), String> {
        match self {
            Receiver::Program(program) => program.take(lines, timeout, ending),
            Receiver::Server {
                poster,
                url,
                runtime,
            } => runtime.block_on(async {
                let body = lines.to_vec().into();
                let posted = poster.post(url, JSON_LINES, body);
                let posted = tokio::time::timeout(timeout, posted);
                let status = tokio::select! {
                    posted = posted => posted,
                    () = ending.is_over() => return Err("the crawl ended before an answer".to_owned()),
                };
                match status {
                    Ok(Ok(200..300)) => Ok(()),
                    Ok(Ok(status)) => Err(format!("the answer was {status}")),
                    Ok(Err(error)) => Err(in_words(&error)),
                    Err(_) => Err(format!("no answer within {timeout:?}")),
                }
            }),
        }
    }
}

/// An error with its causes.
fn in_words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// The thread of one hook.
struct Delivery {
    kind: Kind,
    archive: PathBuf,
    config: HookConfig,
    kept: Kept,
    receiver: Receiver,
    ending: Arc<Ending>,
    progress: Arc<Progress>,
    delivered_now: u64,
    failures_in_a_row: u32,
}

impl Delivery {
    /// Delivers until the crawl ends, and then what is left as far as there is time.
    fn run(mut self) -> HookReport {
        // Our own files may be out of reach for a while: no descriptor is left, the disk is full.
        while let Err(error) = self.deliver_all() {
            self.failed(&in_words(&error));
            if self.ending.is_asked() {
                break;
            }
            self.back_off();
        }
        let report = self
            .kept
            .report(&self.archive, self.kind, self.delivered_now);
        if let Receiver::Server { runtime, .. } = self.receiver {
            // Dropped, it would wait for a name that is still looked up, however long that takes.
            runtime.shutdown_background();
        }
        report.unwrap_or_else(|error| HookReport {
            hook: self.kind.name(),
            delivered: self.kept.delivered,
            delivered_now: self.delivered_now,
            pending: 0,
            more_pending: true,
            failures: self.kept.failures,
            gaps: self.kept.gaps,
            error: Some(HookError {
                time: Timestamp::now(),
                reason: in_words(&error),
            }),
        })
    }

    fn deliver_all(&mut self) -> Result<(), CrawlError> {
        let mut source = Source::new(&self.archive, self.kept.cursor.clone());
        let gaps_before = self.kept.gaps;
        loop {
            let is_last = self.ending.is_asked();
            let batch = self.gather(&mut source)?;
            self.kept.gaps = gaps_before + source.gaps;
            if 0 < batch.changes && !self.hand_over(&batch) {
                return Ok(());
            }
            // Only now: what went before is delivered.
            self.kept.cursor = source.cursor().clone();
            self.kept.delivered += batch.changes as u64;
            self.delivered_now += batch.changes as u64;
            if 0 < batch.changes || is_last {
                small_file::store(&Disk::default(), &self.kind.file(&self.archive), &self.kept)?;
            }
            // What was logged before the end was asked for has been read.
            if is_last && batch.changes == 0 || self.ending.is_past() {
                return Ok(());
            }
        }
    }

    /// The next batch; an empty one if the crawl ends.
    fn gather(&self, source: &mut Source) -> Result<Batch, CrawlError> {
        let mut batch = Batch::default();
        let mut begun = Instant::now();
        loop {
            let is_asked = self.ending.is_asked();
            let is_full = source.fill(&mut batch, self.config.batch_max.get())?;
            if batch.changes == 0 {
                begun = Instant::now();
            }
            let is_old = 0 < batch.changes && self.config.batch_time <= begun.elapsed();
            if is_full || is_old || is_asked {
                return Ok(batch);
            }
            self.ending.asked_within(LOOK_EVERY);
        }
    }

    /// Hands a batch over, however often that takes; false if the crawl ends before.
    fn hand_over(&mut self, batch: &Batch) -> bool {
        loop {
            let was_asked = self.ending.is_asked();
            let timeout = self.config.timeout;
            match self.receiver.take(&batch.lines, timeout, &self.ending) {
                Ok(()) => {
                    self.failures_in_a_row = 0;
                    return true;
                }
                Err(reason) => self.failed(&reason),
            }
            // At the end once is enough.
            if was_asked || self.ending.is_past() {
                return false;
            }
            self.back_off();
        }
    }

    /// Waits, the longer the more deliveries failed in a row, or until the crawl ends.
    fn back_off(&self) {
        const DOUBLINGS_MAX: u32 = 16;
        let doublings = self.failures_in_a_row.saturating_sub(1);
        let wait = BACKOFF_FIRST * (1 << doublings.min(DOUBLINGS_MAX));
        self.ending.asked_within(wait.min(BACKOFF_MAX));
    }

    /// Writes down that a delivery failed, and tells of the first of a row.
    fn failed(&mut self, reason: &str) {
        let reason: String = reason.chars().take(ERROR_CHARS_MAX).collect();
        let hook = self.kind.name();
        if self.failures_in_a_row == 0 {
            tracing::warn!(
                "hook.{hook}: {reason}; changes are kept, and delivered when it works again"
            );
        }
        self.progress.tell_of(&format!("hook.{hook}"), &reason);
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        self.kept.failures += 1;
        self.kept.error = Some(HookError {
            time: Timestamp::now(),
            reason,
        });
        if let Err(error) =
            small_file::store(&Disk::default(), &self.kind.file(&self.archive), &self.kept)
        {
            tracing::warn!(%error, "what became of a hook cannot be written down");
        }
    }
}

/// When a hook has to end: as soon as all is delivered, and at a deadline.
#[derive(Debug, Default)]
struct Ending {
    deadline: Mutex<Option<Instant>>,
    changed: Condvar,
}

impl Ending {
    fn end_by(&self, deadline: Instant) {
        *self.lock() = Some(deadline);
        self.changed.notify_all();
    }

    fn is_asked(&self) -> bool {
        self.lock().is_some()
    }

    fn is_past(&self) -> bool {
        self.lock()
            .is_some_and(|deadline| deadline <= Instant::now())
    }

    /// Waits until the end is asked for, at most so long.
    fn asked_within(&self, patience: Duration) {
        let wait = self
            .changed
            .wait_timeout_while(self.lock(), patience, |deadline| deadline.is_none());
        drop(wait);
    }

    /// Waits until the deadline.
    async fn is_over(&self) {
        while !self.is_past() {
            tokio::time::sleep(LOOK_EVERY / 4).await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
