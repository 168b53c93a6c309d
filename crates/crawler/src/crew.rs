//! The crew: the workers' threads, and the bounded channels to and from them.
//!
//! The frontier's thread of each partition has a [`Line`]: it gives errands and takes reports. Errands never block it: visits in flight and names
//! asked for are bounded, and the channels have room for all of them. Reports may block a worker; that is the brake.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded, never};
use junkai_engine::partition::Partition;
use junkai_fetch::{Access, Resources};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{self, Sender};

use crate::ArchiveFolder;
use crate::CrawlError;
use crate::control;
use crate::descriptors::Descriptors;
use crate::node::Mailboxes;
use crate::opening::Opening;
use crate::progress::Progress;
use crate::report::{Errand, Report, What};
use crate::settings::Settings;
use crate::unread::Unread;
use crate::worker::{LARGE_PDFS, LinkRoom, Shared, Worker};

/// Reports that may wait for the frontier's thread.
const REPORTS_MAX: usize = 4096;

/// The workers.
#[derive(Debug)]
pub(crate) struct Crew {
    threads: Vec<Thread>,
    /// Visits in flight that the system's limits are enough for.
    pub(crate) visits_max: usize,
    /// Where the workers report to.
    pub(crate) mailboxes: Mailboxes,
}

/// The thread of a worker.
type Thread = JoinHandle<Result<(), CrawlError>>;

/// A partition's way to the workers and back.
#[derive(Debug)]
pub(crate) struct Line {
    partition: Partition,
    errands: Vec<Sender<Errand>>,
    reports: Receiver<Report>,
}

impl Crew {
    /// Starts the workers; each opens its own WARC file with its first capture. With it come the lines of the partitions, of which `opening` is one.
    pub(crate) fn start(
        archive: &Path,
        opening: &Opening,
        settings: &Arc<Settings>,
        progress: &Arc<Progress>,
        access: Option<Arc<Access>>,
    ) -> Result<(Crew, Vec<Line>), CrawlError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = settings.crawl.workers.map_or(cores, usize::from);
        let descriptors = Descriptors::share_out(count)?;
        tell_of_fewer_visits(&descriptors, settings);
        let state = ArchiveFolder::real(archive).state();
        let resources = Resources::new(&settings.fetch, state.path(), descriptors.network);
        let partitions = settings.partitions();
        let (senders, reports): (Vec<_>, Vec<_>) = Partition::all(partitions)
            .map(|_| bounded(REPORTS_MAX))
            .unzip();
        let mailboxes = Mailboxes::new(senders, settings);
        let shared = Shared {
            settings: Arc::clone(settings),
            scope: Arc::clone(&opening.scope),
            rules: Arc::clone(&opening.rules),
            progress: Arc::clone(progress),
            clock: opening.clock.clone(),
            judge: opening.focus.as_ref().map(|focus| Arc::clone(&focus.judge)),
            unread: Arc::new(Unread::new(archive)),
            large_bodies: Arc::new(Semaphore::new(1)),
            large_pdfs: Arc::new(Semaphore::new(LARGE_PDFS)),
            link_room: LinkRoom::new(count, settings.backlog.page_bytes_max),
            mailboxes: mailboxes.clone(),
            resources,
            access,
            names_max: descriptors.names_of_worker,
        };
        let asked = control::listen(state.path(), &mailboxes, &shared.resources);
        if let Err(error) = asked {
            tracing::warn!(%error, "nobody can ask this crawl what it is doing");
        }
        // Every visit in flight and every name asked for may be with one worker.
        let errands_max = settings.crawl.concurrency.get()
            + settings.ring.waiting_max
            + 3 * usize::from(partitions.get());
        let mut errands = Vec::new();
        let mut crew = Crew {
            threads: Vec::new(),
            visits_max: (descriptors.visits / usize::from(partitions.get())).max(1),
            mailboxes,
        };
        for number in 0..count {
            let (thread, give) = start_worker(number, shared.clone(), archive, errands_max)?;
            crew.threads.push(thread);
            errands.push(give);
        }
        let lines = Partition::all(partitions).zip(reports);
        let lines = lines.map(|(partition, reports)| Line {
            partition,
            errands: errands.clone(),
            reports,
        });
        Ok((crew, lines.collect()))
    }

    /// Waits until every worker has closed its files. To be called when all lines are closed: then the errands have ended.
    pub(crate) fn dismiss(self) -> Result<(), CrawlError> {
        for thread in self.threads {
            thread.join().map_err(|_| CrawlError::Worker {
                reason: "a worker panicked".to_owned(),
            })??;
        }
        Ok(())
    }
}

impl Line {
    /// Gives an errand to the worker that `number` falls on.
    ///
    /// # Errors
    /// If that worker has ended: there is room for every errand.
    pub(crate) fn give(&self, number: usize, what: What) -> Result<(), CrawlError> {
        let worker = number % self.errands.len();
        let partition = self.partition.number();
        self.errands[worker]
            .try_send(Errand { partition, what })
            .map_err(|_| CrawlError::Worker {
                reason: format!("worker {worker} has ended"),
            })
    }

    /// The next report, after waiting for it at most so long.
    pub(crate) fn report_within(&self, patience: Duration) -> Result<Option<Report>, CrawlError> {
        match self.reports.recv_timeout(patience) {
            Ok(report) => Ok(Some(report)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(CrawlError::Worker {
                reason: "all workers have ended".to_owned(),
            }),
        }
    }

    /// Ends the errands of this partition. Nobody listens any more: a worker that would wait for room to report must not wait for ever.
    pub(crate) fn close(&mut self) {
        self.errands.clear();
        self.reports = never();
    }
}

/// Starts a worker, and waits until it is ready.
fn start_worker(
    number: usize,
    shared: Shared,
    archive: &Path,
    errands_max: usize,
) -> Result<(Thread, Sender<Errand>), CrawlError> {
    let (give, errands) = mpsc::channel(errands_max);
    let archive = archive.to_owned();
    let (ready, started) = std::sync::mpsc::sync_channel(1);
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| CrawlError::Thread { source })?;
        runtime.block_on(async {
            match Worker::new(number, shared, &archive) {
                Ok(worker) => {
                    // Whoever waits for this may have gone; then the errands end at once.
                    let _gone = ready.send(Ok(()));
                    worker.run(errands).await
                }
                Err(error) => {
                    let _gone = ready.send(Err(error));
                    Ok(())
                }
            }
        })
    };
    let thread = std::thread::Builder::new().name(format!("worker-{number}"));
    let thread = thread.spawn(work);
    let thread = thread.map_err(|source| CrawlError::Thread { source })?;
    started.recv().map_err(|_| CrawlError::Worker {
        reason: "a worker did not start".to_owned(),
    })??;
    Ok((thread, give))
}

/// Says so where the system allows fewer open files than the visits at a time that are configured need.
fn tell_of_fewer_visits(descriptors: &Descriptors, settings: &Settings) {
    if descriptors.visits < settings.crawl.concurrency.get() {
        tracing::warn!(
            "at most {} visits at a time, not {}: the system allows {} open files (ulimit -n)",
            descriptors.visits,
            settings.crawl.concurrency,
            descriptors.allowed,
        );
    }
}
