//! The frontier's thread: owns what decides (known URLs, waiting visits, the ring and its leases) and goes round.
//!
//! [`Rounds::round`] is the picture of `ARCHITECTURE.md` as code; read it first. Orders go to the crew, reports come back.
//!
//! Nothing lost: what a round learned is written in this order: what servers asked for, log lines (their captures are in
//! the archive already) and what pages said of their sites, new URLs, states of known pages, acknowledgements of visits that ended. A kill between two of them repeats a visit at
//! most; what a power failure costs is told in `manifest`.

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
use junkai_frontier::seen::Seen;
use junkai_frontier::{Command, Event, Scheduler, Time};
use junkai_weburl::{Canonicalizer, Fingerprint};

use crate::CrawlError;
use crate::checkpoint::{Books, Checkpoints};
use crate::clock::Clock;
use crate::crew::Crew;
use crate::focus::{FocusBooks, Unwanted};
use crate::hosts::Hosts;
use crate::known::KnownPages;
use crate::log::Logs;
use crate::opening::Opening;
use crate::outage::Outage;
use crate::patience;
use crate::paused::Paused;
use crate::progress::{Progress, Snapshot, Stop};
use crate::rules::Rules;
use crate::scope::ScopeRules;
use crate::servers::Servers;
use crate::settings::Settings;
use crate::visit::Visit;
use crate::waiting_room::WaitingRoom;

/// The longest sleep of the frontier's thread: how late a stop or a new minute is noticed.
const NAP_MAX: Duration = Duration::from_millis(200);

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
    servers: Servers,
    logs: Logs,
    checkpoints: Checkpoints,
    crew: Crew,
    /// What the scheduler asked for and was not carried out yet; empty between stages.
    commands: Vec<Command<Visit>>,
    /// Visits that gave their turn back and line up anew: their host moved, or its interval grew; empty between rounds.
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
    books: Option<FocusBooks>,
    /// Sites that are left alone, because they do not hold what is wanted.
    unwanted: Unwanted,
    /// Where no visit starts, by the wish of people.
    paused: Paused,
    /// Whether our own network is down.
    outage: Outage,
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
        self.scheduler.set_concurrency_max(self.starts_allowed());
        self.take_in_reports(self.nap())?; // page → links → seen? → waiting room; leases and rules learn
        self.refill()?; // waiting room → address → ring
        self.tick()?; // ring → lease → worker
        self.write_down()?; // what servers asked for, log lines, new URLs, acknowledgements
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
        if let Err(error) = self.rules.save(&self.archive.join("state")) {
            tracing::warn!(%error, "the rules of robots.txt files could not be kept; they will be asked for again");
        }
        self.know_what_waits()?;
        self.save_experience()?;
        self.room.put_all_aside()?;
        self.write_down()?;
        self.checkpoints.finish(&mut Books {
            seen: &mut self.seen,
            backlog: self.room.backlog(),
            known: &mut self.known,
            logs: &self.logs,
        })?;
        Ok(self.progress.snapshot())
    }

    /// How long to wait for a report: until the ring has something to start, or a known page is due.
    fn nap(&self) -> Duration {
        let now = self.clock.now();
        // One that is due by now has been asked for a moment ago: it waits for room in the ring.
        let known = self.known.next_due().filter(|due| now < *due);
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
        if self.is_winding_down || self.progress.is_disk_full() || self.paused.all.is_some() {
            return 0;
        }
        let most = self.settings.crawl.concurrency.get();
        let pages_max = self.settings.crawl.pages_max;
        let pages_left = pages_max.map(|pages_max| pages_max.saturating_sub(self.pages()));
        let left = [pages_left, self.fetches_left()]
            .into_iter()
            .flatten()
            .min();
        left.and_then(|left| usize::try_from(left).ok())
            .map_or(most, |left| most.min(left))
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
        self.servers.flush()?;
        self.logs.flush()?;
        if let Some(books) = &mut self.books {
            books.flush()?;
        }
        self.room.backlog().flush_entries()?;
        self.known.queue().flush()?;
        self.room.backlog().flush()?;
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<(), CrawlError> {
        self.servers.shorten_when_long(&self.scheduler)?;
        self.known.drop_old_notes(self.clock.now());
        while let Err(error) = self.checkpoints.when_due(
            &mut Books {
                seen: &mut self.seen,
                backlog: self.room.backlog(),
                known: &mut self.known,
                logs: &self.logs,
            },
            &self.progress,
        ) {
            self.wait_for_room(error)?;
        }
        Ok(())
    }

    /// Sees to it that this many keys fit into the table of the seen set; a flush needs a checkpoint first.
    fn make_room_in_seen(&mut self, keys: usize) -> Result<(), CrawlError> {
        if keys <= self.seen.room() {
            return Ok(());
        }
        self.checkpoint_at_once()
    }

    /// Makes everything that was written down durable before anything else happens.
    fn checkpoint_at_once(&mut self) -> Result<(), CrawlError> {
        while let Err(error) = self.checkpoints.at_once(&mut Books {
            seen: &mut self.seen,
            backlog: self.room.backlog(),
            known: &mut self.known,
            logs: &self.logs,
        }) {
            self.wait_for_room(error)?;
        }
        Ok(())
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

    fn show_progress(&self) {
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

    pub(crate) fn has_visits_in_flight(&self) -> bool {
        0 < self.scheduler.in_flight()
    }

    pub(crate) fn pages(&self) -> u64 {
        self.progress.pages.read()
    }

    pub(crate) fn stop(&self) -> Stop {
        self.progress.stop()
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }
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
        let mut scheduler = Scheduler::new(
            &settings.ring,
            settings.politeness.clone(),
            settings.crawl.overflow,
            settings.crawl.concurrency.get(),
            now,
        );
        if opening.is_resumed {
            scheduler.restore(opening.servers.restored().iter().copied());
        }
        let (books, order) = match opening.focus {
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
            books,
            unwanted: opening.unwanted,
            paused: opening.paused,
            outage: Outage::default(),
            is_winding_down: false,
            archive: opening.archive,
            _lock: opening.lock,
            settings,
            clock,
            progress,
            scheduler,
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
