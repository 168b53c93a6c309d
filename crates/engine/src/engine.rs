//! The engine: everything that decides what the crawl does next, as one state machine that is told the time.
//!
//! The driver (`rounds` in the crawler) works with it in the manner of a protocol library: it tells the engine what has happened ([`Engine::handle`]), lets waiting visits in
//! ([`Engine::refill`], [`Engine::tick`]), and carries out the orders that come of it ([`Engine::poll_order`]); [`Engine::next_wake`] says until when nothing is to
//! be done. The stages are in the modules below: `intake` (what visits brought), `discovery` (new URLs), `turns` (from waiting to an order), `settling` and
//! `revisits` (what becomes of a visit and its page), `focus`, `commands` (what people ask for).
//!
//! Invariants: no thread, socket, channel or clock is reached from here. Files are, through the stores that it owns. Two engines that are told the same at the same
//! times, over the same stores, give the same orders.
//!
//! Nothing lost: what was learned is written in this order: new URLs, what servers asked for, log lines (their captures are in
//! the archive already) and what pages said of their sites, states of known pages, acknowledgements of visits that ended; `outcomes` says why, and keeps it so. A kill
//! between two of them repeats a visit at most; what a power failure costs is told in `manifest`.

mod commands;
mod discovery;
mod focus;
mod intake;
mod revisits;
mod settling;
mod turns;

use std::collections::VecDeque;
use std::sync::{Arc, RwLock};

use hashbrown::HashSet;
use junkai_frontier::{Command, Event, HostPaces, Scheduler, Time};
use junkai_store::seen::Seen;
use junkai_weburl::{Canonicalizer, Fingerprint};

use crate::CrawlError;
use crate::checkpoint::{Books, Checkpoints};
use crate::first_pages::{FailedSeed, FirstPages};
use crate::focus::{FocusBooks, Unwanted};
use crate::hosts::Hosts;
use crate::known::KnownPages;
use crate::log::Logs;
use crate::losses::Losses;
use crate::opening::Opening;
use crate::outage::Outage;
use crate::outcomes::Outcomes;
use crate::patience;
use crate::paused::Paused;
use crate::platform::{ArchiveFolder, Platform};
use crate::progress::{Progress, Snapshot};
use crate::rules::Rules;
use crate::scope::ScopeRules;
use crate::servers::Servers;
use crate::settings::Settings;
use crate::shortage::Shortage;
use crate::sitemaps::Sitemaps;
use crate::told::Told;
use crate::visit::{EndedVisit, Order, Resolution, Start, Visit};
use crate::waiting_room::WaitingRoom;

/// Log lines and acknowledgements that wait in memory, in bytes: with more of them a round writes down before its end. What one report adds to them comes on top.
const UNWRITTEN_BYTES_MAX: usize = 1 << 20;

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
    /// When it was last told of something.
    now: Time,
    settings: Arc<Settings>,
    progress: Arc<Progress>,
    canonical: Canonicalizer,
    scope: Arc<RwLock<ScopeRules>>,
    rules: Arc<Rules>,
    seen: Seen,
    room: WaitingRoom,
    known: KnownPages,
    /// Whether the next visit to be handed out is of a known page, if one is due.
    is_turn_of_known: bool,
    hosts: Hosts,
    scheduler: Scheduler<Visit>,
    /// Hosts that ask for more rest than their server.
    paces: HostPaces,
    servers: Servers,
    logs: Logs,
    checkpoints: Checkpoints,
    /// What the driver is to do next.
    orders: VecDeque<Order>,
    /// Visits in flight that the system's limits are enough for.
    visits_max: usize,
    /// What the scheduler asked for and was not carried out yet; empty between stages.
    commands: Vec<Command<Visit>>,
    /// Visits that gave their turn back and line up anew: their host moved; empty between rounds.
    moved: Vec<Visit>,
    /// Where overflow is discarded: URLs that wait in the backlog and are not known, because they may find no room.
    unplaced: HashSet<u64>,
    /// Of such URLs, those that were not even taken in.
    no_room: u64,
    /// Whether it was told that too much waits.
    is_refusing: bool,
    /// Pages whose visit is with a worker, for whoever asks.
    in_flight: HashSet<Fingerprint>,
    /// Known pages that somebody asked for out of turn and that were not visited since.
    asked: HashSet<Fingerprint>,
    /// What focus writes down, where something is wanted.
    focus_books: Option<FocusBooks>,
    /// Sites that are left alone, because they do not hold what is wanted.
    unwanted: Unwanted,
    /// Where no visit starts, by command.
    paused: Paused,
    /// Whether our own network is down.
    outage: Outage,
    /// Whether our own machine is short of something.
    shortage: Shortage,
    /// Whether the crawl gets anywhere.
    first_pages: FirstPages,
    /// What was told of hosts.
    told: Told,
    /// Whether a sitemap was found, where that matters.
    sitemaps: Sitemaps,
    /// Bytes that the visits of this run have received, as far as they were reported.
    bytes_received: u64,
    /// The crawl is about to end: nothing more is started.
    is_winding_down: bool,
    platform: Platform,
    archive: ArchiveFolder,
}

impl Engine {
    /// A round begins: bounds on what one round may do are counted anew.
    pub fn begin_round(&mut self, now: Time) {
        self.now = now;
        self.known.begin_round();
        self.scheduler.set_concurrency_max(self.starts_allowed());
    }

    /// Takes in what has happened.
    pub fn handle(&mut self, now: Time, input: Input) -> Result<(), CrawlError> {
        self.now = now;
        match input {
            Input::Ended(ended) => self.visit_ended(*ended)?,
            Input::Resolved { host, answer } => {
                for waiter in self.hosts.answer(host, answer, now) {
                    self.host_answered(waiter)?;
                }
            }
            Input::Busy(busy) => self.wait_for_others(busy),
        }
        self.write_down_when_much()
    }

    /// The next thing to be done; none if nothing is, before more happens or the next step of the ring comes.
    pub fn poll_order(&mut self, now: Time) -> Result<Option<Order>, CrawlError> {
        self.now = now;
        self.carry_out()?;
        self.follow_moved()?;
        Ok(self.orders.pop_front())
    }

    /// Moves what is due out of the ring.
    pub fn tick(&mut self, now: Time) -> Result<(), CrawlError> {
        self.now = now;
        self.scheduler.step(now, Event::Tick, &mut self.commands);
        self.carry_out()?;
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
        let wakes = [self.scheduler.next_wake(), known];
        wakes.into_iter().flatten().min()
    }

    /// From now on nothing more is started.
    pub fn wind_down(&mut self, now: Time) {
        self.now = now;
        self.is_winding_down = true;
        self.scheduler.set_concurrency_max(self.starts_allowed());
    }

    /// Writes everything down, with a last checkpoint. What is in flight is visited again.
    pub fn close(mut self, now: Time) -> Result<Snapshot, CrawlError> {
        self.now = now;
        if let Err(error) = self.rules.save(&self.archive.state()) {
            tracing::warn!(%error, "the rules of robots.txt files could not be kept; they will be asked for again");
        }
        self.know_what_waits()?;
        self.save_experience()?;
        self.room.spill_all(now)?;
        self.write_down()?;
        self.servers.close(&self.scheduler, &self.paces)?;
        let (checkpoints, mut books) = self.books();
        checkpoints.finish(&mut books)?;
        Ok(self.progress.snapshot())
    }

    /// What was left out or lost, in this run and all before it.
    #[must_use]
    pub fn losses(&self) -> Losses {
        self.checkpoints.losses()
    }

    /// How many visits may be in flight: none at the end, while the disk is full or the crawl is paused, and no more than pages are still asked for.
    fn starts_allowed(&self) -> usize {
        let is_over = self.is_winding_down || self.are_bytes_reached();
        if is_over || self.progress.is_disk_full() || self.paused.all.is_some() {
            return 0;
        }
        let most = self.visits_max();
        let pages_max = self.settings.crawl.pages_max;
        let pages_left = pages_max.map(|pages_max| pages_max.saturating_sub(self.pages()));
        let left = [pages_left, self.fetches_left()]
            .into_iter()
            .flatten()
            .min();
        left.and_then(|left| usize::try_from(left).ok())
            .map_or(most, |left| most.min(left))
    }

    /// How many visits may be in flight at most: as the settings, the system's limits and what it is short of allow.
    fn visits_max(&self) -> usize {
        let wanted = self.settings.crawl.concurrency.get();
        let borne = self.shortage.visits_max(self.now);
        let borne = borne.unwrap_or(usize::MAX);
        wanted.min(self.visits_max).min(borne)
    }

    /// Hands what the round learned to the operating system, in the order that loses nothing.
    pub fn write_down(&mut self) -> Result<(), CrawlError> {
        while let Err(error) = self.write_in_order() {
            self.wait_for_room(error)?;
        }
        self.show_progress();
        Ok(())
    }

    fn write_in_order(&mut self) -> Result<(), CrawlError> {
        let (_, mut books) = self.books();
        books.backlog.flush(&mut books.outcomes)
    }

    /// Writes down in the middle of a round when much waits for that: a round may come to very many ends, as where robots.txt keeps a whole host out.
    fn write_down_when_much(&mut self) -> Result<(), CrawlError> {
        let unwritten = self.logs.unwritten_bytes() + self.room.backlog().unwritten_ack_bytes();
        if UNWRITTEN_BYTES_MAX <= unwritten || self.known.is_full() {
            self.write_down()?;
        }
        Ok(())
    }

    /// The checkpoints, and all that they make durable.
    fn books(&mut self) -> (&mut Checkpoints, Books<'_>) {
        let books = Books {
            seen: &mut self.seen,
            backlog: self.room.backlog(),
            outcomes: Outcomes {
                servers: &mut self.servers,
                logs: &mut self.logs,
                focus: self.focus_books.as_mut(),
                known: &mut self.known,
            },
        };
        (&mut self.checkpoints, books)
    }

    /// Makes durable what was written, when that is due.
    pub fn checkpoint(&mut self, now: Time) -> Result<(), CrawlError> {
        self.now = now;
        self.servers
            .shorten_when_long(&self.scheduler, &self.paces)?;
        self.known.drop_old_notes(self.now);
        let progress = Arc::clone(&self.progress);
        loop {
            let (checkpoints, mut books) = self.books();
            match checkpoints.when_due(&mut books, &progress) {
                Ok(()) => return Ok(()),
                Err(error) => self.wait_for_room(error)?,
            }
        }
    }

    /// Sees to it that this many keys fit into the table of the seen set; a flush needs a checkpoint first.
    fn make_room_in_seen(&mut self, keys: usize) -> Result<(), CrawlError> {
        if keys <= self.seen.room() {
            return Ok(());
        }
        self.checkpoint_at_once()
    }

    /// Writes everything down, and makes it durable before anything else happens.
    fn checkpoint_at_once(&mut self) -> Result<(), CrawlError> {
        loop {
            let (checkpoints, mut books) = self.books();
            match checkpoints.at_once(&mut books) {
                Ok(()) => return Ok(()),
                Err(error) => self.wait_for_room(error)?,
            }
        }
    }

    /// Where overflow is discarded: what still waits for a place is known to the next run, which cannot discard it.
    fn know_what_waits(&mut self) -> Result<(), CrawlError> {
        for fingerprint in std::mem::take(&mut self.unplaced) {
            self.make_room_in_seen(1)?;
            self.seen.insert(fingerprint)?;
        }
        Ok(())
    }

    fn wait_for_room(&self, error: CrawlError) -> Result<(), CrawlError> {
        patience::wait_for_room(&*self.platform.machine, &self.progress, error)
    }

    fn show_progress(&mut self) {
        let counters = self.scheduler.counters();
        let progress = &self.progress;
        progress.known.set(self.seen.len());
        let backlog = self.room.stats();
        progress.waiting.set(backlog.waiting + backlog.in_hand);
        progress.waiting_bytes.set(backlog.waiting_bytes);
        progress.in_flight.set(self.scheduler.in_flight() as u64);
        progress.hosts.set(self.hosts.len() as u64);
        progress.now.set(self.now.as_micros());
        progress.pages_known.set(self.known.len());
        progress
            .next_due
            .set(self.known.next_due().map_or(0, Time::as_micros));
        progress.deferred.set(counters.deferred);
        progress.discarded.set(counters.discarded + self.no_room);
        progress.put_off.set(counters.put_off);
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
    }

    /// Whether a new crawl has nothing to hope for: every seed has failed.
    #[must_use]
    pub fn is_out_of_reach(&self) -> bool {
        let backlog = self.room.stats();
        let waiting = backlog.waiting + backlog.in_hand;
        !self.has_visits_in_flight() && self.first_pages.are_out_of_reach(waiting)
    }

    /// Whether a crawl that goes by sitemaps alone has found none, and has nowhere left to look.
    #[must_use]
    pub fn is_without_sitemap(&self) -> bool {
        let backlog = self.room.stats();
        self.sitemaps.are_missing()
            && backlog.waiting + backlog.in_hand == 0
            && !self.has_visits_in_flight()
    }

    /// Where a sitemap was looked for in vain.
    #[must_use]
    pub fn sitemaps_tried(&self) -> &[FailedSeed] {
        self.sitemaps.tried()
    }

    /// If no page has come: seeds that failed, and why, as far as that is known from the log.
    #[must_use]
    pub fn failed_seeds(&self) -> Vec<FailedSeed> {
        self.first_pages.failed_by_log(self.archive.path())
    }

    /// The crawl ends because every seed has failed: those that were to be tried again count as errors.
    pub fn give_seeds_up(&self) {
        self.progress.errors.add(self.first_pages.tried_again());
    }

    /// Pages that have a state.
    #[must_use]
    pub fn pages_known(&self) -> u64 {
        self.known.len()
    }

    /// Whether a visit was ordered and has not ended.
    #[must_use]
    pub fn has_visits_in_flight(&self) -> bool {
        0 < self.scheduler.in_flight()
    }

    /// Pages visited in this run.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.progress.pages.read()
    }

    /// Whether as many bytes were received as were asked for.
    #[must_use]
    pub fn are_bytes_reached(&self) -> bool {
        let bytes_max = self.settings.crawl.bytes_max;
        bytes_max.is_some_and(|bytes_max| bytes_max.as_u64() <= self.bytes_received)
    }

    /// The settings of this run.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

fn new_scheduler(settings: &Settings, now: Time) -> Scheduler<Visit> {
    Scheduler::new(
        &settings.ring,
        settings.politeness.clone(),
        settings.crawl.overflow,
        settings.crawl.concurrency.get(),
        now,
    )
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
        let mut scheduler = new_scheduler(&settings, now);
        let mut paces = HostPaces::new(settings.politeness.clone());
        if opening.is_resumed {
            let restored = opening.servers.restored();
            scheduler.restore(restored.servers.iter().copied());
            for host in &restored.hosts {
                paces.restore(host, !restored.was_closed, now);
            }
        }
        let first_pages = FirstPages::of(&opening);
        let (focus_books, order) = match opening.focus {
            Some(focus) => (Some(focus.books), Some(focus.order)),
            None => (None, None),
        };
        let mut engine = Engine {
            now,
            canonical: Canonicalizer::new(&settings.canonical),
            hosts: Hosts::new(settings.ring.keys),
            room: WaitingRoom::new(
                opening.backlog,
                order,
                &settings,
                Arc::clone(&progress),
                Arc::clone(&opening.platform.machine),
            ),
            known: opening.known,
            is_turn_of_known: false,
            scope: opening.scope,
            rules: opening.rules,
            seen: opening.seen,
            servers: opening.servers,
            logs: opening.logs,
            checkpoints: opening.checkpoints,
            commands: Vec::new(),
            moved: Vec::new(),
            unplaced: HashSet::new(),
            no_room: 0,
            is_refusing: false,
            in_flight: HashSet::new(),
            asked: HashSet::new(),
            focus_books,
            unwanted: opening.unwanted,
            paused: opening.paused,
            outage: Outage::default(),
            shortage: Shortage::default(),
            first_pages,
            told: Told::default(),
            sitemaps: opening.sitemaps,
            bytes_received: 0,
            is_winding_down: false,
            platform: opening.platform,
            archive: opening.archive,
            settings,
            progress,
            scheduler,
            paces,
            orders: VecDeque::new(),
            visits_max,
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
