//! The engine: everything that decides what the crawl does next, as one state machine that is told the time.
//!
//! The driver (`rounds` in the crawler) works with it in the manner of a protocol library: it tells the engine what has happened ([`Engine::handle`]), lets waiting visits in
//! ([`Engine::refill`], [`Engine::tick`]), and carries out the orders that come of it ([`Engine::poll_order`]); [`Engine::next_wake`] says until when nothing is to
//! be done.
//!
//! The stages are types in the modules below, each with its own part of the state: `discovery` (which URLs are new), `dispatch` (from a waiting visit to an order), `settling`
//! with `revisits` (what becomes of a visit and its page), `other_partitions` (the other partitions). A stage takes inputs and returns what it wants done, as a `Step` or another plain
//! value; what all are told is `shared`. They meet in methods of `Engine` alone: `flow` (reports, hand-outs, and the loop that carries out steps; read that first), `taking_in`
//! (seeds and links), `focus`, `commands` (what people ask for), `writing`.
//!
//! Invariants: no stage holds or calls another one. No thread, socket, channel or clock is reached from here. Files are, through the stores that it owns. Two engines that
//! are told the same at the same times, over the same stores, give the same orders.
//!
//! Nothing lost: what was learned is written in this order: new URLs, what servers asked for, log lines (their captures are in
//! the archive already) and what pages said of their sites, states of known pages, acknowledgements of visits that ended; `outcomes` says why, and keeps it so. A kill
//! between two of them repeats a visit at most; what a power failure costs is told in `manifest`.

mod asked;
mod commands;
mod discovery;
mod dispatch;
mod flow;
mod focus;
mod limits;
mod objections;
mod origin;
mod other_partitions;
mod revisits;
mod settling;
mod shared;
mod step;
mod taking_in;
#[cfg(test)]
mod testing;
mod writing;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use junkai_frontier::{ServerKey, ServerState, Time};
use junkai_weburl::Canonicalizer;

use self::asked::AskedPages;
use self::discovery::Discovery;
use self::dispatch::Dispatch;
use self::limits::Limits;
use self::objections::Objections;
use self::other_partitions::OtherPartitions;
use self::settling::Settling;
use self::shared::Shared;
use self::writing::Shown;
use crate::CrawlError;
use crate::checkpoint::Checkpoints;
use crate::first_pages::{FailedSeed, FirstPages, Outlook};
use crate::focus::FocusBooks;
use crate::known::KnownPages;
use crate::live::Live;
use crate::losses::Losses;
use crate::opening::Opening;
use crate::outbox::Links;
use crate::partition::Partition;
use crate::platform::{ArchiveFolder, Platform};
use crate::progress::{Progress, Snapshot};
use crate::servers::Servers;
use crate::settings::Settings;
use crate::told::Told;
use crate::visit::{EndedVisit, Order, Resolution, Start};
use crate::waiting_room::WaitingRoom;

/// What has happened outside of the engine.
#[derive(Debug)]
pub enum Input {
    /// A visit ended, one way or another.
    Ended(Box<EndedVisit>),
    /// A host has an address, or has none.
    Resolved {
        /// The host.
        host: Box<str>,
        /// Where it is.
        answer: Resolution,
    },
    /// A visit that was ordered was not made: its server is another crawl's of this machine, or is to be left alone.
    Busy(Busy),
    /// Another partition found links to pages of this one.
    Links(Links),
    /// A checkpoint of the partition that a batch of links was sent to holds it.
    Confirmed {
        /// The batch.
        batch: u64,
    },
}

/// A visit that has to wait for others.
#[derive(Debug)]
pub struct Busy {
    /// The visit.
    pub start: Box<Start>,
    /// When to ask again.
    pub until: Time,
    /// Whether the server asked another crawl for rest, or failed it.
    pub is_hold: bool,
}

/// All that decides, and what it decides by.
pub struct Engine {
    shared: Shared,
    canonical: Canonicalizer,
    discovery: Discovery,
    dispatch: Dispatch,
    settling: Settling,
    other_partitions: OtherPartitions,
    room: WaitingRoom,
    known: KnownPages,
    /// Whether the next visit to be handed out is of a known page, if one is due.
    is_turn_of_known: bool,
    servers: Servers,
    checkpoints: Checkpoints,
    /// What the driver is to do next.
    orders: VecDeque<Order>,
    limits: Limits,
    /// Known pages that somebody asked for out of turn and that were not visited since.
    asked: AskedPages,
    /// What focus writes down, where something is wanted.
    focus_books: Option<FocusBooks>,
    /// What was last shown of this engine.
    shown: Shown,
    platform: Platform,
    archive: ArchiveFolder,
}

impl Engine {
    /// A round begins: bounds on what one round may do are counted anew.
    pub fn begin_round(&mut self, now: Time) {
        self.shared.now = now;
        self.known.begin_round();
        self.dispatch.set_concurrency_max(self.starts_allowed());
    }

    /// Takes in what has happened.
    pub fn handle(&mut self, now: Time, input: Input) -> Result<(), CrawlError> {
        self.shared.now = now;
        match input {
            Input::Ended(ended) => self.visit_ended(*ended)?,
            Input::Resolved { host, answer } => {
                for waiter in self.dispatch.answer(host, answer, now) {
                    let step = self.dispatch.go_on(waiter, &mut self.shared);
                    self.carry_out(step)?;
                }
            }
            Input::Busy(busy) => self.dispatch.wait_for_others(busy, &mut self.shared),
            Input::Links(links) => self.take_in_links(&links)?,
            Input::Confirmed { batch } => {
                self.other_partitions.confirmed(batch);
            }
        }
        self.write_down_when_much()
    }

    /// The next thing to be done; none if nothing is, before more happens or the next step of the ring comes.
    pub fn poll_order(&mut self, now: Time) -> Result<Option<Order>, CrawlError> {
        self.shared.now = now;
        self.run_commands()?;
        self.follow_moved()?;
        if let Some(order) = self.orders.pop_front() {
            return Ok(Some(order));
        }
        self.other_partitions
            .next(self.checkpoints.durable(), &self.shared)
    }

    /// Moves what is due out of the ring.
    pub fn tick(&mut self, now: Time) -> Result<(), CrawlError> {
        self.shared.now = now;
        self.dispatch.tick(now);
        self.run_commands()?;
        self.hand_out_in_order()
    }

    /// When the engine has something to do even if nothing happens: the ring has something to start, or a known page is due; now, where a round could not look at
    /// all pages that may wait too long.
    #[must_use]
    pub fn next_wake(&self, now: Time) -> Option<Time> {
        if self.known.has_more_to_recall() {
            return Some(now);
        }
        // One that is due by now has been asked for a moment ago: it waits for room in the ring.
        let known = self.known.next_due_after(now);
        let wakes = [self.dispatch.scheduler().next_wake(), known];
        wakes.into_iter().flatten().min()
    }

    /// From now on nothing more is started.
    pub fn wind_down(&mut self, now: Time) {
        self.shared.now = now;
        self.limits.is_winding_down = true;
        self.dispatch.set_concurrency_max(self.starts_allowed());
    }

    /// Writes everything down, with a last checkpoint. What is in flight is visited again.
    pub fn close(mut self, now: Time) -> Result<Snapshot, CrawlError> {
        self.shared.now = now;
        if self.other_partitions.partition.is_first()
            && let Err(error) = self.shared.rules.save(&self.archive.state())
        {
            tracing::warn!(%error, "the rules of robots.txt files could not be kept; they will be asked for again");
        }
        self.know_what_waits()?;
        self.save_experience()?;
        self.room.spill_all(now)?;
        self.write_down()?;
        self.dispatch.write_to(&mut self.servers)?;
        let (checkpoints, mut books) = self.books();
        checkpoints.finish(&mut books)?;
        Ok(self.shared.progress.snapshot())
    }

    /// What was left out or lost, in this run and all before it.
    #[must_use]
    pub fn losses(&self) -> Losses {
        self.checkpoints.losses()
    }

    /// How many visits may be in flight.
    fn starts_allowed(&self) -> usize {
        if self.dispatch.objections.paused.all.is_some() {
            return 0;
        }
        let borne = self.settling.visits_borne(self.shared.now);
        self.limits
            .starts_allowed(borne, self.fetches_left(), &self.shared)
    }

    /// Whether nothing is left to visit: every page was visited once, and no known page is due.
    #[must_use]
    pub fn is_complete(&self, now: Time) -> bool {
        let backlog = self.room.stats();
        let is_known_due = self.known.next_due().is_some_and(|due| due <= now);
        backlog.waiting == 0
            && backlog.in_hand == 0
            && self.known.in_hand() == 0
            && !is_known_due
            && !self.has_visits_in_flight()
            && !self.has_links_to_send()
    }

    /// What a new crawl can hope for from this partition.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        let backlog = self.room.stats();
        let waiting = backlog.waiting + backlog.in_hand;
        if self.has_visits_in_flight() || self.has_links_to_send() {
            return Outlook::Hope;
        }
        self.shared.first_pages.outlook(waiting)
    }

    /// Whether a crawl that goes by sitemaps alone has found none, and has nowhere left to look.
    #[must_use]
    pub fn is_without_sitemap(&self) -> bool {
        let backlog = self.room.stats();
        self.settling.sitemaps.are_missing()
            && backlog.waiting + backlog.in_hand == 0
            && !self.has_visits_in_flight()
    }

    /// Where a sitemap was looked for in vain.
    #[must_use]
    pub fn sitemaps_tried(&self) -> &[FailedSeed] {
        self.settling.sitemaps.tried()
    }

    /// If no page has come: seeds that failed, and why, as far as that is known from the log.
    #[must_use]
    pub fn failed_seeds(&self) -> Vec<FailedSeed> {
        self.shared.first_pages.failed_by_log(self.archive.path())
    }

    /// Whether a page has come to this partition, in this run or before it.
    #[must_use]
    pub fn has_pages(&self) -> bool {
        self.shared.first_pages.have_come()
    }

    /// The crawl ends because every seed has failed: those that were to be tried again count as errors.
    pub fn give_seeds_up(&self) {
        self.shared
            .progress
            .errors
            .add(self.shared.first_pages.tried_again());
    }

    /// Pages that have a state.
    #[must_use]
    pub fn pages_known(&self) -> u64 {
        self.known.len()
    }

    /// Whether a visit was ordered and has not ended.
    #[must_use]
    pub fn has_visits_in_flight(&self) -> bool {
        0 < self.dispatch.scheduler().in_flight()
    }

    /// Whether links wait to be sent to other partitions.
    #[must_use]
    pub fn has_links_to_send(&self) -> bool {
        self.other_partitions.has_links_to_send()
    }

    /// Visits that wait in memory: for a place in the ring, for an address, or in the ring.
    #[must_use]
    pub fn waiting_in_memory(&mut self) -> usize {
        self.room.in_memory()
            + self.dispatch.hosts().waiting()
            + self.dispatch.scheduler().waiting()
    }

    /// When the next of the visits that wait on disk may be read, those that were spilled left out; the epoch if one is being read. [`next_wake`](Self::next_wake) does
    /// not tell: a driver looks again every so often.
    #[must_use]
    pub fn next_read(&mut self) -> Option<Time> {
        self.room.backlog().next_due()
    }

    /// Times that a visit was spilled in this run.
    #[must_use]
    pub fn spilled(&self) -> u64 {
        self.room.spilled()
    }

    /// Pages visited in this run.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.shared.progress.pages.read()
    }

    /// Whether as many bytes were received as were asked for.
    #[must_use]
    pub fn are_bytes_reached(&self) -> bool {
        self.limits.are_bytes_reached(&self.shared)
    }

    /// Bytes that were received in this run.
    #[must_use]
    pub fn bytes_received(&self) -> u64 {
        self.limits.bytes_received
    }

    /// How a server stands after a visit that ended at `ended`: nobody may visit it before `hold_until`.
    #[must_use]
    pub fn server_after(&self, key: ServerKey, ended: Time) -> ServerState {
        let rested = ended + self.shared.settings.politeness.interval;
        let scheduler = self.dispatch.scheduler();
        let free_at = scheduler.explain(key).free_at;
        ServerState {
            hold_until: free_at.map_or(rested, |free_at| free_at.max(rested)),
            ..scheduler.server_state(key)
        }
    }

    /// Takes over how a server stands by what other partitions know.
    pub fn adopt_server(&mut self, state: &ServerState) {
        self.dispatch.adopt_server(state);
    }

    /// The server of a URL, if that is known.
    #[must_use]
    pub fn server_of(&self, url: &str, now: Time) -> Option<ServerKey> {
        let url = self.canonical.parse(url).ok()?;
        self.dispatch.server_of(url.host(), now)
    }

    /// For how long a server rests from now on, if that is longer than the usual interval, by which every crawl of this machine goes itself.
    #[must_use]
    pub fn rest_of(&self, key: ServerKey, now: Time) -> Option<Duration> {
        let free_at = self.dispatch.scheduler().explain(key).free_at?;
        let rest = free_at.saturating_duration_since(now);
        (self.shared.settings.politeness.interval < rest).then_some(rest)
    }

    /// Where a URL's visit is at this moment. `is_shared` says of which servers we wait for other crawls.
    pub fn live(&self, url: &str, now: Time, is_shared: impl Fn(SocketAddr) -> bool) -> Live {
        let parsed = self.canonical.parse(url).ok();
        let origin = parsed.as_ref().map(|url| (url.host(), url.port()));
        self.dispatch.live(url, origin, now, is_shared)
    }

    /// Which partition of the crawl this is.
    #[must_use]
    pub fn partition(&self) -> Partition {
        self.other_partitions.partition
    }

    /// The settings of this run, with the partition's share of what is bounded.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }
}

impl Engine {
    /// Takes over what was opened, restores the servers' leases, and offers the seeds.
    pub fn new(
        opening: Opening,
        visits_max: usize,
        progress: Arc<Progress>,
        now: Time,
    ) -> Result<Engine, CrawlError> {
        let settings = Arc::clone(&opening.settings);
        let first_pages = FirstPages::of(&opening);
        let objections = Objections {
            unwanted: opening.unwanted,
            paused: opening.paused,
        };
        let mut dispatch = Dispatch::new(&settings, objections, now);
        if opening.is_resumed {
            dispatch.restore(&opening.server_states, opening.servers.restored(), now);
        }
        let focus = opening.focus.map(|focus| (focus.books, focus.order));
        let (focus_books, order) = focus.unzip();
        let mut engine = Engine {
            canonical: Canonicalizer::new(&settings.canonical),
            discovery: Discovery::new(opening.seen),
            dispatch,
            settling: Settling::new(opening.logs, opening.sitemaps),
            other_partitions: OtherPartitions::new(opening.partition, opening.outbox),
            room: WaitingRoom::new(
                opening.backlog,
                order,
                &settings,
                Arc::clone(&progress),
                Arc::clone(&opening.platform.machine),
            ),
            known: opening.known,
            is_turn_of_known: false,
            servers: opening.servers,
            checkpoints: opening.checkpoints,
            asked: AskedPages::default(),
            focus_books,
            shown: Shown::default(),
            shared: Shared {
                now,
                settings,
                progress,
                scope: opening.scope,
                rules: opening.rules,
                machine: Arc::clone(&opening.platform.machine),
                first_pages,
                told: Told::default(),
            },
            platform: opening.platform,
            archive: opening.archive,
            orders: VecDeque::new(),
            limits: Limits::new(visits_max),
        };
        engine.show_paused();
        engine.show_wanted_sites();
        engine.reach_wanted_sites();
        engine.admit_seeds(opening.seeds)?;
        engine.write_down()?;
        engine.empty_command_box(opening.commands)?;
        Ok(engine)
    }
}
