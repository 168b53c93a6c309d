//! The crew: the workers' threads, and the bounded channels to and from them.
//!
//! The frontier's thread fills the orders and empties the reports. Orders never block it: visits in flight and names
//! asked for are bounded, and the channels have room for all of them. Reports may block a worker; that is the brake.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded, never};
use junkai_fetch::{Access, Resources};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{self, Sender};

use crate::CrawlError;
use crate::control;
use crate::descriptors::Descriptors;
use crate::opening::Opening;
use crate::progress::Progress;
use crate::report::Report;
use crate::settings::Settings;
use crate::unread::Unread;
use crate::visit::Order;
use crate::worker::{LARGE_PDFS, LinkRoom, Shared, Worker};

/// Reports that may wait for the frontier's thread.
const REPORTS_MAX: usize = 4096;

/// The workers.
#[derive(Debug)]
pub(crate) struct Crew {
    orders: Vec<Sender<Order>>,
    reports: Receiver<Report>,
    threads: Vec<JoinHandle<Result<(), CrawlError>>>,
    /// Visits in flight that the system's limits are enough for.
    pub(crate) visits_max: usize,
}

impl Crew {
    /// Starts the workers; each opens its own WARC file with its first capture.
    pub(crate) fn start(
        archive: &Path,
        opening: &Opening,
        progress: &Arc<Progress>,
        access: Option<Arc<Access>>,
    ) -> Result<Crew, CrawlError> {
        let settings = &opening.settings;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = settings.crawl.workers.map_or(cores, usize::from);
        let descriptors = Descriptors::share_out(count)?;
        tell_of_fewer_visits(&descriptors, settings);
        let state = archive.join("state");
        let resources = Resources::new(&settings.fetch, &state, descriptors.network);
        let (send_report, reports) = bounded(REPORTS_MAX);
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
            reports: send_report,
            resources,
            access,
            names_max: descriptors.names_of_worker,
        };
        let asked = control::listen(&state, &shared.reports, &shared.resources);
        if let Err(error) = asked {
            tracing::warn!(%error, "nobody can ask this crawl what it is doing");
        }
        // Every visit in flight and every name asked for may be with one worker.
        let orders_max = settings.crawl.concurrency.get() + settings.ring.waiting_max + 1;
        let mut crew = Crew {
            orders: Vec::new(),
            reports,
            threads: Vec::new(),
            visits_max: descriptors.visits,
        };
        for number in 0..count {
            let (give, orders) = mpsc::channel(orders_max);
            let (shared, archive) = (shared.clone(), archive.to_owned());
            let (ready, started) = std::sync::mpsc::sync_channel(1);
            let work = move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .map_err(|source| CrawlError::Thread { source })?;
                runtime.block_on(async {
                    let worker = Worker::new(number, shared, &archive);
                    match worker {
                        Ok(worker) => {
                            // Whoever waits for this may have gone; then the orders end at once.
                            let _gone = ready.send(Ok(()));
                            worker.run(orders).await
                        }
                        Err(error) => {
                            let _gone = ready.send(Err(error));
                            Ok(())
                        }
                    }
                })
            };
            crew.threads.push(
                std::thread::Builder::new()
                    .name(format!("worker-{number}"))
                    .spawn(work)
                    .map_err(|source| CrawlError::Thread { source })?,
            );
            crew.orders.push(give);
            started.recv().map_err(|_| CrawlError::Worker {
                reason: "a worker did not start".to_owned(),
            })??;
        }
        Ok(crew)
    }

    /// Gives an order to the worker that `number` falls on.
    ///
    /// # Errors
    /// If that worker has ended: there is room for every order.
    pub(crate) fn give(&self, number: usize, order: Order) -> Result<(), CrawlError> {
        let worker = number % self.orders.len();
        self.orders[worker]
            .try_send(order)
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

    /// Ends the orders and waits until every worker has closed its files.
    pub(crate) fn dismiss(&mut self) -> Result<(), CrawlError> {
        self.orders.clear();
        // Nobody listens any more: a worker that would wait for room to report must not wait for ever.
        self.reports = never();
        for thread in self.threads.drain(..) {
            thread.join().map_err(|_| CrawlError::Worker {
                reason: "a worker panicked".to_owned(),
            })??;
        }
        Ok(())
    }
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
