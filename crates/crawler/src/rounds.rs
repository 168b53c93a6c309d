//! The frontier's thread: owns what decides (known URLs, waiting visits, the ring and its leases) and goes round.
//!
//! [`Rounds::round`] is the picture of `ARCHITECTURE.md` as code; read it first. Orders go to the crew, reports come back.
//!
//! Nothing lost: what a round learned is written in this order: new URLs, what servers asked for, log lines (their captures are in
//! the archive already) and what pages said of their sites, states of known pages, acknowledgements of visits that ended; `outcomes` says why, and keeps it so. A kill
//! between two of them repeats a visit at most; what a power failure costs is told in `manifest`.

mod discovery;
mod focus;
mod intake;
mod revisits;
mod settling;
mod turns;
mod wishes;

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use hashbrown::HashSet;
use junkai_frontier::{Command, Event, HostPaces, Scheduler, Time};
use junkai_store::seen::Seen;
use junkai_weburl::{Canonicalizer, Fingerprint};

use crate::CrawlError;
use crate::checkpoint::{Books, Checkpoints};
use crate::clock::{Clock, counted};
use crate::crew::Crew;
use crate::first_pages::{FailedSeed, FirstPages};
use crate::focus::{FocusBooks, Unwanted};
use crate::hosts::Hosts;
use crate::known::KnownPages;
use crate::log::Logs;
use crate::losses::Losses;
use crate::neighbours::Neighbours;
use crate::opening::Opening;
use crate::outage::Outage;
use crate::outcomes::Outcomes;
use crate::patience;
use crate::paused::Paused;
use crate::progress::{Progress, Snapshot, Stop};
use crate::rules::Rules;
use crate::scope::ScopeRules;
use crate::servers::Servers;
use crate::settings::Settings;
use crate::shortage::Shortage;
use crate::sitemaps::Sitemaps;
use crate::told::Told;
use crate::visit::Visit;
use crate::waiting_room::WaitingRoom;

/// The longest sleep of the frontier's thread: how late a stop or a new minute is noticed.
const NAP_MAX: Duration = Duration::from_millis(200);
/// Log lines and acknowledgements that wait in memory, in bytes: with more of them a round writes down before its end. What one report adds to them comes on top.
const UNWRITTEN_BYTES_MAX: usize = 1 << 20;

/// Everything that the frontier's thread owns.
pub(crate) struct Rounds {
    settings: Arc<Settings>,
    clock: Clock,
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
    crew: Crew,
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
    /// Where no visit starts, by the wish of people.
    paused: Paused,
    /// Other crawls on this machine, where they can be seen.
    neighbours: Option<Neighbours>,
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
    /// The archive's folder.
    archive: PathBuf,
    /// The archive is ours as long as this is open.
    _lock: File,
}

impl Rounds {
    /// One round of both loops: what has ended comes in, what is due goes out.
    pub(crate) fn round(&mut self) -> Result<(), CrawlError> {
        self.known.begin_round();
        self.scheduler.set_concurrency_max(self.starts_allowed());
        self.take_in_reports(self.nap())?; // page → links → seen? → waiting room; leases and rules learn
        self.refill()?; // waiting room → address → ring
        self.tick()?; // ring → lease → worker
        self.write_down()?; // new URLs, what servers asked for, log lines, states of pages, acknowledgements
        self.checkpoint()
    }

    /// A round that starts nothing new.
    pub(crate) fn wind_down(&mut self) -> Result<(), CrawlError> {
        self.is_winding_down = true;
        self.scheduler.set_concurrency_max(self.starts_allowed());
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
        if let Err(error) = self.rules.save(&self.archive.join("state")) {
            tracing::warn!(%error, "the rules of robots.txt files could not be kept; they will be asked for again");
        }
        self.know_what_waits()?;
        self.save_experience()?;
        self.room.put_all_aside()?;
        self.write_down()?;
        self.servers.close(&self.scheduler, &self.paces)?;
        let (checkpoints, mut books) = self.books();
        checkpoints.finish(&mut books)?;
        Ok(self.progress.snapshot())
    }

    /// What was left out or lost, in this run and all before it.
    pub(crate) fn losses(&self) -> Losses {
        self.checkpoints.losses()
    }

    /// How long to wait for a report: until the ring has something to start, or a known page is due. Not at all where a round could not look at all pages that may
    /// wait too long.
    fn nap(&self) -> Duration {
        if self.known.has_more_to_recall() {
            return Duration::ZERO;
        }
        let now = self.clock.now();
        // One that is due by now has been asked for a moment ago: it waits for room in the ring.
        let known = self.known.next_due_after(now);
        let wakes = [self.scheduler.next_wake(), known];
        let due = wakes
            .into_iter()
            .flatten()
            .map(|wake| self.clock.real(wake.saturating_duration_since(now)))
            .min();
        due.unwrap_or(NAP_MAX).min(NAP_MAX)
    }

    /// Moves what is due out of the ring, to the workers.
    fn tick(&mut self) -> Result<(), CrawlError> {
        self.scheduler
            .step(self.clock.now(), Event::Tick, &mut self.commands);
        self.carry_out()?;
        self.hand_out_in_order()?;
        self.follow_moved()
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
        let borne = self.shortage.visits_max(self.clock.now());
        let borne = borne.unwrap_or(usize::MAX);
        wanted.min(self.crew.visits_max).min(borne)
    }

    /// Hands what the round learned to the operating system, in the order that loses nothing.
    fn write_down(&mut self) -> Result<(), CrawlError> {
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

    fn checkpoint(&mut self) -> Result<(), CrawlError> {
        self.servers
            .shorten_when_long(&self.scheduler, &self.paces)?;
        self.known.drop_old_notes(self.clock.now());
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
        patience::wait_for_room(&self.progress, error)
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
        progress.now.set(self.clock.now().as_micros());
        progress.pages_known.set(self.known.len());
        progress
            .next_due
            .set(self.known.next_due().map_or(0, Time::as_micros));
        progress.deferred.set(counters.deferred);
        progress.discarded.set(counters.discarded + self.no_room);
        progress.put_off.set(counters.put_off);
        if let Some(neighbours) = &mut self.neighbours {
            let waiting = neighbours.waiting(counted());
            progress.servers_waited_for.set(waiting);
        }
    }

    /// Whether nothing is left to visit: every page was visited once, and no known page is due.
    pub(crate) fn is_complete(&self) -> bool {
        let backlog = self.room.stats();
        let is_known_due = self
            .known
            .next_due()
            .is_some_and(|due| due <= self.clock.now());
        backlog.waiting == 0
            && backlog.in_hand == 0
            && self.known.in_hand() == 0
            && !is_known_due
            && !self.has_visits_in_flight()
    }

    /// Whether a new crawl has nothing to hope for: every seed has failed.
    pub(crate) fn is_out_of_reach(&self) -> bool {
        let backlog = self.room.stats();
        let waiting = backlog.waiting + backlog.in_hand;
        !self.has_visits_in_flight() && self.first_pages.are_out_of_reach(waiting)
    }

    /// Whether a crawl that goes by sitemaps alone has found none, and has nowhere left to look.
    pub(crate) fn is_without_sitemap(&self) -> bool {
        let backlog = self.room.stats();
        self.sitemaps.are_missing()
            && backlog.waiting + backlog.in_hand == 0
            && !self.has_visits_in_flight()
    }

    /// Where a sitemap was looked for in vain.
    pub(crate) fn sitemaps_tried(&self) -> &[FailedSeed] {
        self.sitemaps.tried()
    }

    pub(crate) fn failed_seeds(&self) -> Vec<FailedSeed> {
        self.first_pages.failed_by_log(&self.archive)
    }

    /// The crawl ends because every seed has failed: those that were to be tried again count as errors.
    pub(crate) fn give_seeds_up(&self) {
        self.progress.errors.add(self.first_pages.tried_again());
    }

    pub(crate) fn pages_known(&self) -> u64 {
        self.known.len()
    }

    pub(crate) fn has_visits_in_flight(&self) -> bool {
        0 < self.scheduler.in_flight()
    }

    pub(crate) fn pages(&self) -> u64 {
        self.progress.pages.read()
    }

    /// Whether as many bytes were received as were asked for.
    pub(crate) fn are_bytes_reached(&self) -> bool {
        let bytes_max = self.settings.crawl.bytes_max;
        bytes_max.is_some_and(|bytes_max| bytes_max.as_u64() <= self.bytes_received)
    }

    pub(crate) fn stop(&self) -> Stop {
        self.progress.stop()
    }

    pub(crate) fn settings(&self) -> &Settings {
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

impl Rounds {
    /// Takes over what was opened, restores the servers' leases, and offers the seeds.
    pub(crate) fn new(
        opening: Opening,
        crew: Crew,
        progress: Arc<Progress>,
    ) -> Result<Rounds, CrawlError> {
        let settings = Arc::clone(&opening.settings);
        let clock = opening.clock.clone();
        let now = clock.now();
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
        let mut rounds = Rounds {
            canonical: Canonicalizer::new(&settings.canonical),
            hosts: Hosts::new(settings.ring.keys),
            room: WaitingRoom::new(
                opening.backlog,
                order,
                &settings,
                clock.clone(),
                Arc::clone(&progress),
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
            neighbours: Neighbours::of_crawl(&settings),
            outage: Outage::default(),
            shortage: Shortage::default(),
            first_pages,
            told: Told::default(),
            sitemaps: opening.sitemaps,
            bytes_received: 0,
            is_winding_down: false,
            archive: opening.archive,
            _lock: opening.lock,
            settings,
            clock,
            progress,
            scheduler,
            paces,
            crew,
        };
        rounds.show_paused();
        rounds.show_wanted_sites();
        rounds.reach_wanted_sites();
        rounds.admit_seeds(opening.seeds)?;
        rounds.write_down()?;
        rounds.empty_wish_box(opening.wishes)?;
        Ok(rounds)
    }
}
