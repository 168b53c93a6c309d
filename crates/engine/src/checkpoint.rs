//! Checkpoints: makes what was written durable every few seconds, beside the crawl.
//!
//! The frontier's thread notes how long its files are; work beside it ([`Beside`]) then asks the file system to make everything
//! durable, and only after that names these lengths in the `MANIFEST`. So the manifest never promises what is not on
//! disk, and the crawl never waits for the disk. Merges of the seen set run beside the crawl in the same way.

use std::sync::Arc;
use std::time::Duration;

use junkai_files::Folder;
use junkai_store::backlog::{Backlog, Lengths, Position};
use junkai_store::seen::{Mark, Merged, Seen, SeenError};
use junkai_store::time_queue;

use junkai_weburl::CanonicalConfig;

use crate::CrawlError;
use crate::clock::Clock;
use crate::losses::Losses;
use crate::manifest::Manifest;
use crate::opening::Given;
use crate::outcomes::Outcomes;
use crate::partition::Partition;
use crate::planner_file;
use crate::platform::{ArchiveFolder, Beside, Platform};
use crate::progress::Progress;

/// How often the room on the disk is looked at.
const DISK_LOOK_EVERY: Duration = Duration::from_secs(1);

/// So many files of the backlog at most are kept only because the table of the seen set was not flushed since: a crawl that finds few new pages does not fill it for years.
const SEGMENTS_KEPT_MAX: usize = 32;
/// And so many bytes of them: where URLs are long they fill the disk before the table is full.
const KEPT_BYTES_MAX: u64 = 256 << 20;

/// What a checkpoint makes durable.
pub struct Books<'a> {
    /// The set of known URLs.
    pub seen: &'a mut Seen,
    /// The visits that wait.
    pub backlog: &'a mut Backlog,
    /// What visits came to.
    pub outcomes: Outcomes<'a>,
}

/// What has to be done every few seconds.
#[derive(Debug)]
pub struct Checkpoints {
    platform: Platform,
    archive: ArchiveFolder,
    /// Where the partition's files are.
    state: Folder,
    partition: Partition,
    clock: Clock,
    every: Duration,
    disk_free_min: u64,
    keys: u32,
    canonical: CanonicalConfig,
    /// What was left out and lost in earlier runs.
    losses: Losses,
    progress: Arc<Progress>,
    /// The next checkpoint is the last one.
    is_last: bool,
    /// By what the machine has counted.
    due: Duration,
    disk_look_due: Duration,
    running: Option<Beside<Result<(), CrawlError>>>,
    /// Checkpoints that were begun in this run, and that are durable.
    begun: u64,
    durable: u64,
    /// As it was last shown.
    servers_behind: u64,
    merging: Option<Beside<Result<Merged, SeenError>>>,
}

impl Checkpoints {
    /// Checkpoints of a partition of an archive that is opened at the time that the clock shows.
    #[must_use]
    pub fn new(given: &Given<'_>, partition: Partition, clock: Clock) -> Checkpoints {
        let now = given.platform.machine.counted();
        let settings = &given.settings;
        Checkpoints {
            platform: given.platform.clone(),
            archive: given.archive.clone(),
            state: given.archive.partition(partition),
            partition,
            clock,
            every: settings.crawl.checkpoint_every,
            disk_free_min: settings.crawl.disk_free_min.as_u64(),
            keys: settings.ring.keys,
            canonical: settings.canonical.clone(),
            losses: Losses::default(),
            progress: Arc::clone(given.progress),
            is_last: false,
            due: now,
            disk_look_due: now,
            running: None,
            merging: None,
            begun: 0,
            durable: 0,
            servers_behind: 0,
        }
    }

    /// The next checkpoint is due at once.
    pub fn hurry(&mut self) {
        self.due = Duration::ZERO;
    }

    /// How many checkpoints were begun in this run: what is taken in now will be in the next one.
    #[must_use]
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// How many of these are durable.
    #[must_use]
    pub fn durable(&self) -> u64 {
        self.durable
    }

    /// Takes up what the last run counted.
    pub fn go_on_from(&mut self, manifest: Option<&Manifest>) {
        if let Some(manifest) = manifest {
            self.losses = manifest.losses;
        }
    }

    /// What was left out or lost, in this run and all before it.
    #[must_use]
    pub fn losses(&self) -> Losses {
        // What partitions count together, the first one writes down.
        if self.partition.is_first() {
            self.losses.with(&self.progress)
        } else {
            self.losses
        }
    }

    /// Does what is due.
    pub fn when_due(
        &mut self,
        books: &mut Books<'_>,
        progress: &Progress,
    ) -> Result<(), CrawlError> {
        let now = self.platform.machine.counted();
        if self.disk_look_due <= now {
            self.disk_look_due = now + DISK_LOOK_EVERY;
            self.look_at_disk(progress);
        }
        self.merge(books.seen)?;
        if self.running.as_ref().is_some_and(Beside::is_finished) {
            self.wait_for_running()?;
            books.backlog.checkpointed(Position(books.seen.mark().0))?;
            books.outcomes.checkpointed()?;
            if SEGMENTS_KEPT_MAX < books.backlog.kept_for_seen()
                || KEPT_BYTES_MAX < books.backlog.kept_for_seen_bytes()
            {
                self.at_once(books)?;
            }
        }
        if self.running.is_none() && self.due <= now && !progress.is_disk_full() {
            self.due = now + self.every;
            let wall = self.platform.machine.wall();
            if self.partition.is_first() && books.outcomes.logs.are_over(wall) {
                self.put_logs_away(books)?;
            } else {
                self.begin(books)?;
            }
        }
        Ok(())
    }

    /// Begins new log files. First all that the old ones have is promised, and nothing is written between that and the new ones: whatever a manifest says of the
    /// files' lengths after a power failure, no line is cut that it promised, and none kept that it did not.
    fn put_logs_away(&mut self, books: &mut Books<'_>) -> Result<(), CrawlError> {
        self.promise(books)?;
        books.outcomes.logs.rotate(self.platform.machine.wall())?;
        self.promise(books)
    }

    /// A checkpoint at once, with the table of the seen set flushed: when that is full, and at the end of a run.
    ///
    /// The order matters: keys may be flushed only when a durable manifest names the log that holds their URLs; else a
    /// power failure would leave them known, and never visited.
    pub fn at_once(&mut self, books: &mut Books<'_>) -> Result<(), CrawlError> {
        self.promise(books)?;
        let position = books.backlog.position();
        books.seen.flush(Mark(position.0))?;
        books.backlog.checkpointed(position)?;
        books.outcomes.checkpointed()?;
        Ok(())
    }

    /// Writes a manifest of everything up to here, and waits until it is durable.
    pub fn promise(&mut self, books: &mut Books<'_>) -> Result<(), CrawlError> {
        self.wait_for_running()?;
        self.begin(books)?;
        self.wait_for_running()
    }

    /// Ends what runs beside the crawl, with a last checkpoint.
    pub fn finish(&mut self, books: &mut Books<'_>) -> Result<(), CrawlError> {
        if let Some(merge) = self.merging.take() {
            install(books.seen, merge)?;
        }
        self.is_last = true;
        self.at_once(books)
    }

    /// Writes the first manifest of an archive. It promises nothing; but from now on a start can tell whether the machine was restarted since, and then
    /// believes nothing of what was written before the first checkpoint.
    pub fn promise_nothing(&self) -> Result<(), CrawlError> {
        Ok(self.manifest().store(&self.state)?)
    }

    /// A manifest that names no file.
    fn manifest(&self) -> Manifest {
        Manifest {
            format: Manifest::format(),
            boot: self.platform.machine.boot(),
            is_last: self.is_last,
            now: self.clock.now(),
            time_queue: time_queue::Lengths::default(),
            backlog: Lengths::default(),
            outbox: None,
            keys: self.keys,
            known: 0,
            waiting: 0,
            pages_known: 0,
            timed_by: None,
            canonical: self.canonical.clone(),
            losses: self.losses(),
            log_lengths: [0, 0],
            log_rotations: 0,
        }
    }

    /// Writes everything down, notes the lengths of all files, and makes them durable beside the crawl.
    fn begin(&mut self, books: &mut Books<'_>) -> Result<(), CrawlError> {
        let backlog = books.backlog.written(&mut books.outcomes)?;
        let waiting = books.backlog.stats();
        let outbox = books.outcomes.outbox.as_mut();
        let outbox = outbox.map(|outbox| outbox.written()).transpose()?;
        let (log_lengths, log_rotations) = books.outcomes.logs.lengths();
        let known = &mut *books.outcomes.known;
        let manifest = Manifest {
            backlog,
            outbox,
            time_queue: known.lengths(),
            known: books.seen.len(),
            waiting: waiting.waiting + waiting.in_hand,
            pages_known: known.len(),
            timed_by: known.timed_by(),
            log_lengths,
            log_rotations,
            ..self.manifest()
        };
        let behind = known.servers_behind();
        self.progress
            .servers_behind
            .change(&mut self.servers_behind, behind);
        let (archive, captures) = (self.archive.clone(), Arc::clone(&self.platform.captures));
        let (state, is_first) = (self.state.clone(), self.partition.is_first());
        let learned = known.learned(self.is_last);
        let work = move || {
            if let Some(learned) = learned {
                planner_file::store(&state, &learned)?;
            }
            archive.disk().sync_all(archive.path())?;
            manifest.store(&state)?;
            if is_first {
                captures.tidy();
            }
            Ok(())
        };
        let machine = &*self.platform.machine;
        self.running = Some(Beside::begin(machine, "checkpoint", work)?);
        self.begun += 1;
        Ok(())
    }

    fn wait_for_running(&mut self) -> Result<(), CrawlError> {
        match self.running.take().map(Beside::wait) {
            Some(Some(result)) => {
                result?;
                self.durable = self.begun;
                Ok(())
            }
            Some(None) => Err(CrawlError::Bug {
                what: "the checkpoint thread panicked".to_owned(),
            }),
            None => Ok(()),
        }
    }

    fn merge(&mut self, seen: &mut Seen) -> Result<(), CrawlError> {
        if self.merging.as_ref().is_some_and(Beside::is_finished)
            && let Some(merge) = self.merging.take()
        {
            install(seen, merge)?;
        }
        if self.merging.is_none()
            && let Some(job) = seen.next_merge()
        {
            let machine = &*self.platform.machine;
            self.merging = Some(Beside::begin(machine, "merge", move || job.run())?);
        }
        Ok(())
    }

    fn look_at_disk(&self, progress: &Progress) {
        let Some(free) = self.platform.machine.free_bytes(self.archive.path()) else {
            return;
        };
        progress.disk_free.set(free);
        let low = free < self.disk_free_min;
        if progress.set_disk_low(low) {
            if low {
                tracing::error!(
                    free,
                    "the disk is nearly full: the crawl pauses until there is room"
                );
            } else {
                tracing::warn!(free, "there is room on the disk again: the crawl goes on");
            }
        }
    }
}

fn install(seen: &mut Seen, merge: Beside<Result<Merged, SeenError>>) -> Result<(), CrawlError> {
    let merged = merge.wait().ok_or_else(|| CrawlError::Bug {
        what: "a merge of the seen set panicked".to_owned(),
    })?;
    seen.install(merged?)?;
    Ok(())
}
