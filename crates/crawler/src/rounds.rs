//! The frontier's thread of a partition: drives its [`Engine`] under the wall clock. Reports of the workers go in, orders go out to them.
//!
//! [`Rounds::round`] is the picture of `ARCHITECTURE.md` as code; read it first. What may be visited and when is the engine's to decide; here is what it takes to do it:
//! the clock, the workers' channels, and what is shared with other partitions and other crawls of this machine ([`Node`]).

use std::collections::VecDeque;
use std::fs::File;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use junkai_engine::first_pages::Outlook;
use junkai_engine::{Busy, Engine, Input};
use junkai_frontier::{EndReport, Time};

use crate::CrawlError;
use crate::clock::Clock;
use crate::crew::Line;
use crate::neighbours::Wait;
use crate::node::{Node, Standing};
use crate::opening::Opening;
use crate::platform::counted;
use crate::progress::{Progress, Snapshot, Stop};
use crate::report::{Report, What};
use crate::visit::{Confirmation, EndedVisit, Order, Start};

/// How long an orderly stop waits for what is in flight.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// The longest sleep of the frontier's thread: how late a stop or a new minute is noticed.
const NAP_MAX: Duration = Duration::from_millis(200);
/// Reports taken in per round at most, so that starts are not kept waiting.
const REPORTS_PER_ROUND: usize = 1024;
/// A server that another crawl visits is asked for again after this time, or a step of the ring if that is longer.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// What clocks that are read one after the other may differ by; more costs another look.
const CLOCK_MARGIN: Duration = Duration::from_millis(1);

/// The engine of a partition, and all that it takes to carry out its orders.
pub(crate) struct Rounds {
    clock: Clock,
    engine: Engine,
    line: Line,
    node: Arc<Node>,
    progress: Arc<Progress>,
    /// What other partitions had no room for yet.
    unsent: VecDeque<(u16, Input)>,
    /// Batches of links that were taken in since the node was last told how this partition stands.
    batches: u64,
    /// The archive is ours as long as this is open.
    _lock: Arc<File>,
}

impl Rounds {
    /// Takes over what was opened; the system's limits are enough for `visits_max` visits in flight.
    pub(crate) fn new(
        opening: Opening,
        lock: Arc<File>,
        line: Line,
        node: Arc<Node>,
        visits_max: usize,
        progress: Arc<Progress>,
    ) -> Result<Rounds, CrawlError> {
        let clock = opening.clock.clone();
        let engine = Engine::new(opening, visits_max, Arc::clone(&progress), clock.now())?;
        Ok(Rounds {
            clock,
            engine,
            line,
            node,
            progress,
            unsent: VecDeque::new(),
            batches: 0,
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
        self.engine.checkpoint(self.clock.now())?;
        self.tell_node();
        Ok(())
    }

    /// Rounds until the crawl ends, then those that let end what is in flight.
    pub(crate) fn run(mut self) -> Result<Rounds, CrawlError> {
        while !self.node.has_ended() {
            self.round()?;
        }
        self.finish_what_is_in_flight()?;
        Ok(self)
    }

    /// Waits for what is in flight, as long as that is worth it.
    pub(crate) fn finish_what_is_in_flight(&mut self) -> Result<(), CrawlError> {
        let deadline = Instant::now() + STOP_PATIENCE;
        while self.engine.has_visits_in_flight()
            && Instant::now() < deadline
            && self.stop() != Stop::Now
        {
            self.wind_down()?;
        }
        Ok(())
    }

    /// Tells how this partition stands.
    fn tell_node(&mut self) {
        let is_sent = self.unsent.is_empty() && !self.engine.has_links_to_send();
        let standing = Standing {
            is_complete: is_sent && self.engine.is_complete(self.clock.now()),
            outlook: if is_sent {
                self.engine.outlook()
            } else {
                Outlook::Hope
            },
            is_without_sitemap: is_sent && self.engine.is_without_sitemap(),
            bytes: self.engine.bytes_received(),
        };
        let batches = std::mem::take(&mut self.batches);
        self.node.tell(self.engine.partition(), standing, batches);
    }

    /// A round that starts nothing new.
    pub(crate) fn wind_down(&mut self) -> Result<(), CrawlError> {
        self.engine.wind_down(self.clock.now());
        self.take_in_reports(NAP_MAX)?;
        self.write_down()
    }

    /// Gives the workers no more to do. What is reported from here on was not taken in: it is visited again.
    pub(crate) fn dismiss(&mut self) {
        self.line.close();
    }

    /// Writes the last checkpoint, when the workers have closed their files.
    pub(crate) fn close(self) -> Result<Snapshot, CrawlError> {
        self.engine.close(self.clock.now())
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether a focused crawl has nothing more to learn, or to collect.
    pub(crate) fn is_goal_reached(&mut self) -> bool {
        self.engine.is_goal_reached(self.clock.now())
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
        let mut report = self.line.report_within(patience)?;
        for _ in 0..REPORTS_PER_ROUND {
            match report {
                Some(Report::Happened(Input::Ended(ended))) => self.visit_ended(ended)?,
                Some(Report::Happened(input)) => {
                    self.batches += u64::from(matches!(input, Input::Links(_)));
                    self.engine.handle(self.clock.now(), input)?;
                }
                Some(Report::Asked { url, reply }) => {
                    let server = self.engine.server_of(&url, self.clock.now());
                    if let Some(state) = server.and_then(|key| self.node.server(key)) {
                        self.engine.adopt_server(&state);
                    }
                    let neighbours = self.node.neighbours();
                    let neighbours = neighbours.as_ref();
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
            report = self.line.report_within(Duration::ZERO)?;
        }
        self.carry_out_orders()
    }

    /// A visit has ended: when its server has had the rest that it needs after it, other partitions and other crawls of this machine may have it.
    fn visit_ended(&mut self, ended: Box<EndedVisit>) -> Result<(), CrawlError> {
        let server = SocketAddr::new(ended.address, ended.visit.url.port());
        let (key, at) = (ended.key, ended.ended);
        let is_visited = ended.end != EndReport::Unvisited;
        self.engine.handle(self.clock.now(), Input::Ended(ended))?;
        let state = is_visited.then(|| self.engine.server_after(key, at));
        self.node.end(self.engine.partition(), key, state);
        let mut neighbours = self.node.neighbours();
        let Some(neighbours) = &mut *neighbours else {
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

    /// Has the workers and other partitions do what the engine wants done. A visit whose server is another's at the moment goes back to the engine.
    fn carry_out_orders(&mut self) -> Result<(), CrawlError> {
        self.send_to_partitions(None);
        while let Some(order) = self.engine.poll_order(self.clock.now())? {
            match order {
                Order::Visit(start) => match self.is_with_others(&start) {
                    Some((until, is_hold)) => {
                        let busy = Busy {
                            start,
                            until,
                            is_hold,
                        };
                        self.engine.handle(self.clock.now(), Input::Busy(busy))?;
                    }
                    None => self.line.give(start.key.index(), What::Visit(start))?,
                },
                Order::Resolve(host) => {
                    self.line.give(host_worker(&host), What::Resolve(host))?;
                }
                Order::Links(links) => {
                    self.send_to_partitions(Some((links.to, Input::Links(links))));
                }
                Order::Confirm(Confirmation { to, batch }) => {
                    self.send_to_partitions(Some((to, Input::Confirmed { batch })));
                }
            }
        }
        Ok(())
    }

    /// Sends what waits for other partitions, and one more if there is one, as far as they have room. A batch more than that waits in the engine's outbox.
    fn send_to_partitions(&mut self, next: Option<(u16, Input)>) {
        self.unsent.extend(next);
        for _ in 0..self.unsent.len() {
            let Some((to, input)) = self.unsent.pop_front() else {
                break;
            };
            if let Err(input) = self.node.send(to, input) {
                self.unsent.push_back((to, input));
            }
        }
    }

    /// Until when a visit has to wait for another partition, or for another crawl of this machine; else its server is ours from now on.
    fn is_with_others(&mut self, start: &Start) -> Option<(Time, bool)> {
        let partition = self.engine.partition();
        let started = self
            .node
            .start(partition, start.key, start.at, self.clock.now());
        match started {
            Ok(Some(state)) => self.engine.adopt_server(&state),
            Ok(None) => {}
            Err(until) => return Some((until, false)),
        }
        let wait = self.is_with_neighbours(start.server(), start.at);
        if wait.is_some() {
            self.node.end(partition, start.key, None);
        }
        wait
    }

    /// Until when the server is another crawl's on this machine, or to be left alone because of what it told one (then the second value is true); else it is ours
    /// from now on, for a visit that begins at this time.
    fn is_with_neighbours(&mut self, server: SocketAddr, at: Time) -> Option<(Time, bool)> {
        let interval = self.engine.settings().politeness.interval;
        let clock = &self.clock;
        // In this order, so that the visit does not begin before the time that is told.
        let start = || counted() + at.saturating_duration_since(clock.now());
        let mut neighbours = self.node.neighbours();
        let neighbours = neighbours.as_mut()?;
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
        if let Some(neighbours) = &mut *self.node.neighbours() {
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
