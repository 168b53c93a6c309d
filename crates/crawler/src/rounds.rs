//! The frontier's thread: drives the [`Engine`] under the wall clock. Reports of the workers go in, orders go out to them.
//!
//! [`Rounds::round`] is the picture of `ARCHITECTURE.md` as code; read it first. What may be visited and when is the engine's to decide; here is what it takes to do it:
//! the clock, the workers' channels, and the servers that are shared with other crawls of this machine.

use std::fs::File;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use junkai_frontier::{EndReport, Time};

use crate::CrawlError;
use crate::clock::Clock;
use crate::crew::Crew;
use junkai_engine::{Busy, Engine, Input};

use crate::neighbours::{Neighbours, Wait};
use crate::opening::Opening;
use crate::platform::counted;
use crate::progress::{Progress, Snapshot, Stop};
use crate::report::Report;
use crate::visit::{EndedVisit, Order};

/// The longest sleep of the frontier's thread: how late a stop or a new minute is noticed.
const NAP_MAX: Duration = Duration::from_millis(200);
/// Reports taken in per round at most, so that starts are not kept waiting.
const REPORTS_PER_ROUND: usize = 1024;
/// A server that another crawl visits is asked for again after this time, or a step of the ring if that is longer.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// What clocks that are read one after the other may differ by; more costs another look.
const CLOCK_MARGIN: Duration = Duration::from_millis(1);

/// The engine, and all that it takes to carry out its orders.
pub(crate) struct Rounds {
    clock: Clock,
    engine: Engine,
    crew: Crew,
    /// Other crawls on this machine, where they can be seen.
    neighbours: Option<Neighbours>,
    progress: Arc<Progress>,
    /// The archive is ours as long as this is open.
    _lock: Arc<File>,
}

impl Rounds {
    /// Takes over what was opened.
    pub(crate) fn new(
        opening: Opening,
        lock: Arc<File>,
        crew: Crew,
        progress: Arc<Progress>,
    ) -> Result<Rounds, CrawlError> {
        let clock = opening.clock.clone();
        let neighbours = Neighbours::of_crawl(&opening.settings);
        let visits_max = crew.visits_max;
        let engine = Engine::new(opening, visits_max, Arc::clone(&progress), clock.now())?;
        Ok(Rounds {
            clock,
            engine,
            crew,
            neighbours,
            progress,
            _lock: lock,
        })
    }

    /// One round of both loops: what has ended comes in, what is due goes out.
    pub(crate) fn round(&mut self) -> Result<(), CrawlError> {
        self.engine.begin_round(self.clock.now());
        self.take_in_reports(self.nap())?; // page → links → seen? → waiting room; leases and rules learn
        self.engine.refill(self.clock.now())?; // waiting room → address → ring
        self.engine.tick(self.clock.now())?; // ring → lease → order
        self.carry_out_orders()?; // order → worker
        self.write_down()?; // new URLs, what servers asked for, log lines, states of pages, acknowledgements
        self.engine.checkpoint(self.clock.now())
    }

    /// A round that starts nothing new.
    pub(crate) fn wind_down(&mut self) -> Result<(), CrawlError> {
        self.engine.wind_down(self.clock.now());
        self.take_in_reports(NAP_MAX)?;
        self.write_down()
    }

    /// Lets the workers close their files, and writes the last checkpoint.
    pub(crate) fn close(mut self) -> Result<Snapshot, CrawlError> {
        // What is reported from here on was not taken in: it is visited again.
        self.crew.dismiss()?;
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.leave(counted());
        }
        self.engine.close(self.clock.now())
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether a focused crawl has nothing more to learn, or to collect.
    pub(crate) fn is_goal_reached(&mut self) -> bool {
        self.engine.is_goal_reached(self.clock.now())
    }

    /// Whether nothing is left to visit: every page was visited once, and no known page is due.
    pub(crate) fn is_complete(&self) -> bool {
        self.engine.is_complete(self.clock.now())
    }

    pub(crate) fn stop(&self) -> Stop {
        self.progress.stop()
    }

    /// How long to wait for a report: until the engine has something to do.
    fn nap(&self) -> Duration {
        let now = self.clock.now();
        let due = self.engine.next_wake(now);
        let due = due.map(|wake| self.clock.real(wake.saturating_duration_since(now)));
        due.unwrap_or(NAP_MAX).min(NAP_MAX)
    }

    /// Takes in what the workers report, after waiting for the first report at most `patience`.
    fn take_in_reports(&mut self, patience: Duration) -> Result<(), CrawlError> {
        let mut report = self.crew.report_within(patience)?;
        for _ in 0..REPORTS_PER_ROUND {
            match report {
                Some(Report::Happened(Input::Ended(ended))) => self.visit_ended(ended)?,
                Some(Report::Happened(input)) => self.engine.handle(self.clock.now(), input)?,
                Some(Report::Asked { url, reply }) => {
                    let neighbours = self.neighbours.as_ref();
                    let is_shared =
                        |server| neighbours.is_some_and(|crawls| crawls.is_waited_for(server));
                    let live = self.engine.live(&url, self.clock.now(), is_shared);
                    // Whoever asked may have gone.
                    let _gone = reply.send(live);
                }
                Some(Report::Command { command, reply }) => {
                    let response = self.engine.command(self.clock.now(), command)?;
                    let _gone = reply.send(response);
                    // To carry one out may take a look through all that waits: starts are not kept waiting for a second.
                    break;
                }
                Some(Report::Broken(reason)) => return Err(CrawlError::Worker { reason }),
                None => break,
            }
            report = self.crew.report_within(Duration::ZERO)?;
        }
        self.carry_out_orders()
    }

    /// A visit has ended: when its server has had the rest that it needs after it, other crawls of this machine may have it.
    fn visit_ended(&mut self, ended: Box<EndedVisit>) -> Result<(), CrawlError> {
        let server = SocketAddr::new(ended.address, ended.visit.url.port());
        let (key, is_visited) = (ended.key, ended.end != EndReport::Unvisited);
        self.engine.handle(self.clock.now(), Input::Ended(ended))?;
        let Some(neighbours) = &mut self.neighbours else {
            return Ok(());
        };
        if is_visited {
            let hold = self.engine.rest_of(key, self.clock.now());
            neighbours.end(server, Some(counted()), hold.unwrap_or_default());
        } else {
            neighbours.end(server, None, Duration::ZERO);
        }
        Ok(())
    }

    /// Has the workers do what the engine wants done. A visit whose server is another crawl's at the moment goes back to the engine.
    fn carry_out_orders(&mut self) -> Result<(), CrawlError> {
        while let Some(order) = self.engine.poll_order(self.clock.now())? {
            match order {
                Order::Visit(start) => match self.is_with_neighbours(start.server(), start.at) {
                    Some((until, is_hold)) => {
                        let busy = Busy {
                            start,
                            until,
                            is_hold,
                        };
                        self.engine.handle(self.clock.now(), Input::Busy(busy))?;
                    }
                    None => self.crew.give(start.key.index(), Order::Visit(start))?,
                },
                Order::Resolve(host) => {
                    self.crew.give(host_worker(&host), Order::Resolve(host))?;
                }
            }
        }
        Ok(())
    }

    /// Until when the server is another crawl's on this machine, or to be left alone because of what it told one (then the second value is true); else it is ours
    /// from now on, for a visit that begins at this time.
    fn is_with_neighbours(&mut self, server: SocketAddr, at: Time) -> Option<(Time, bool)> {
        let interval = self.engine.settings().politeness.interval;
        let clock = &self.clock;
        // In this order, so that the visit does not begin before the time that is told.
        let start = || counted() + at.saturating_duration_since(clock.now());
        let neighbours = self.neighbours.as_mut()?;
        let wait = neighbours.start(server, interval, start).err()?;
        let now = self.clock.now();
        let until = match wait {
            // Later than this step, or it would be asked for again at once.
            Wait::Busy => {
                let step = self.engine.settings().ring.step_length(interval);
                now + step.max(LOOK_AGAIN)
            }
            Wait::Rest(wait) | Wait::Hold(wait) => at.max(now) + wait + CLOCK_MARGIN,
        };
        let is_hold = matches!(wait, Wait::Hold(_));
        if !is_hold && neighbours.is_news(server) {
            tracing::info!(
                "{server}: waiting for another crawl of this machine, which visits this server, too"
            );
        }
        Some((until, is_hold))
    }

    /// Hands what was learned to the operating system, and shows how the crawl goes.
    fn write_down(&mut self) -> Result<(), CrawlError> {
        self.engine.write_down()?;
        if let Some(neighbours) = &mut self.neighbours {
            let waiting = neighbours.waiting(counted());
            self.progress.servers_waited_for.set(waiting);
            let waits = neighbours.waits();
            self.progress.waited_for_others.set(waits.visits);
            let waited_ms = u64::try_from(waits.time.as_millis()).unwrap_or(u64::MAX);
            self.progress.waited_for_others_ms.set(waited_ms);
        }
        Ok(())
    }
}

/// Which worker asks for a host's address; any will do, so the load is spread.
fn host_worker(host: &str) -> usize {
    host.bytes().fold(0, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(usize::from(byte))
    })
}
