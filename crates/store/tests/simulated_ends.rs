//! The three stores together on a simulated disk, as a crawl uses them, ended again and again: by a kill at any call that changes something, by power failures that
//! lose or tear what was not synced, with a disk that is full meanwhile. Each run follows from one number.
//!
//! After every end the stores are opened as the next start opens them. Whatever was given to the system before a kill, or promised by a manifest before a power
//! failure, is there; a URL that is known waits or has a state; what waits or has a state is known; nothing is there twice.
//!
//! The test is tested by planted mistakes of whoever drives the stores: each of them is found.
#![expect(clippy::unwrap_used, reason = "all of it is a test")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use junkai_chance::Chance;
use junkai_files::{Disk, SimulatedDisk};
use junkai_frontier::Time;
use junkai_store::backlog::{
    self, Backlog, BacklogConfig, BacklogError, EntriesWritten, Entry, Outcomes, Position,
};
use junkai_store::seen::{Mark, Seen, SeenConfig, SeenError};
use junkai_store::time_queue::{self, Record, TimeQueue, TimeQueueConfig, TimeQueueError};
use serde::{Deserialize, Serialize};

const RUNS: u64 = 300;
/// A planted mistake is found within so many runs.
const RUNS_MAX: u64 = 200;
const LIVES: u32 = 6;
const STEPS: u32 = 120;

#[test]
fn whatever_ends_a_run_nothing_is_lost() {
    let (mut kills, mut failures, mut pages) = (0, 0, 0);
    for number in 0..RUNS {
        let mut run = Run::new(number, Mistake::None);
        if let Err(lost) = run.run() {
            panic!("run {number}: {lost}");
        }
        kills += run.kills;
        failures += run.power_failures;
        pages += run.pages;
    }
    assert!(RUNS < kills && RUNS < failures, "{kills} {failures}");
    assert!(20 * RUNS < pages, "{pages}");
}

#[test]
fn every_planted_mistake_is_found() {
    for mistake in [
        Mistake::NoSync,
        Mistake::ManifestBeforeSync,
        Mistake::AcknowledgedBeforeTheState,
        Mistake::SeenBeforeManifest,
        Mistake::TailsKeptAfterPowerFailure,
        Mistake::NothingReplayed,
    ] {
        let found = (0..RUNS_MAX).find(|number| Run::new(*number, mistake).run().is_err());
        assert!(found.is_some(), "{mistake:?} is not found");
    }
}

#[test]
fn rot_is_noticed_or_harmless_and_nothing_is_made_up() {
    let mut noticed = 0;
    for number in 0..RUNS {
        let mut run = Run::new(number, Mistake::None);
        run.run().unwrap();
        let mut files = run.simulated.files();
        // The manifest of this test has no checksum.
        files.retain(|(path, _)| !path.ends_with("MANIFEST"));
        let (path, length) = run.chance.pick(&files).clone();
        if length == 0 {
            continue;
        }
        let (byte, bit) = (run.chance.index(length), run.chance.below(8));
        assert!(run.simulated.flip_bit(&path, byte, bit));
        match run.open(false) {
            Ok(_) => {}
            Err(Ended::Killed) => unreachable!("nobody kills it"),
            // Told as damage by the store, or as something that is missing: it is not believed.
            Err(Ended::Wrong(_)) => noticed += 1,
        }
        let invented = run.current.waiting.iter().chain(&run.current.known);
        assert!(invented.into_iter().all(|page| *page < run.pages));
    }
    assert!(RUNS / 10 < noticed, "{noticed}");
}

/// What whoever drives the stores does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    NoSync,
    ManifestBeforeSync,
    AcknowledgedBeforeTheState,
    SeenBeforeManifest,
    TailsKeptAfterPowerFailure,
    NothingReplayed,
}

#[derive(Default, Deserialize, Serialize)]
struct Manifest {
    backlog: backlog::Lengths,
    queue: time_queue::Lengths,
}

/// What must be there after an end.
#[derive(Clone, Default)]
struct Promised {
    waiting: BTreeSet<u64>,
    known: BTreeSet<u64>,
}

struct Stores {
    seen: Seen,
    backlog: Backlog,
    queue: TimeQueue,
}

struct Run {
    mistake: Mistake,
    chance: Chance,
    simulated: SimulatedDisk,
    disk: Disk,
    folder: PathBuf,
    now: Time,
    pages: u64,
    /// What was found and has no state, and what has one, as the process knows it.
    current: Promised,
    /// The same, when everything was last given to the system, and when a manifest was last durable.
    flushed: Promised,
    durable: Promised,
    kills: u64,
    power_failures: u64,
}

/// Why a life ended, or what is wrong.
#[derive(Debug)]
enum Ended {
    Killed,
    Wrong(String),
}

/// Errors of all stores, told apart by what helps.
trait Refusal {
    fn is_full(&self) -> bool;
    fn text(&self) -> String;
}

impl Refusal for BacklogError {
    fn is_full(&self) -> bool {
        matches!(self, BacklogError::Disk(error) if error.is_full())
    }
    fn text(&self) -> String {
        self.to_string()
    }
}

impl Refusal for TimeQueueError {
    fn is_full(&self) -> bool {
        matches!(self, TimeQueueError::Disk(error) if error.is_full())
    }
    fn text(&self) -> String {
        self.to_string()
    }
}

impl Refusal for SeenError {
    fn is_full(&self) -> bool {
        matches!(self, SeenError::Disk(error) if error.is_full())
    }
    fn text(&self) -> String {
        self.to_string()
    }
}

impl Refusal for junkai_files::DiskError {
    fn is_full(&self) -> bool {
        junkai_files::DiskError::is_full(self)
    }
    fn text(&self) -> String {
        self.source.to_string()
    }
}

/// Writes the states of pages before acknowledgements are.
struct States<'a> {
    queue: &'a mut TimeQueue,
    is_forgotten: bool,
}

#[derive(Debug)]
enum Unwritten {
    Backlog(BacklogError),
    Queue(TimeQueueError),
}

impl From<BacklogError> for Unwritten {
    fn from(error: BacklogError) -> Unwritten {
        Unwritten::Backlog(error)
    }
}

impl Refusal for Unwritten {
    fn is_full(&self) -> bool {
        match self {
            Unwritten::Backlog(error) => error.is_full(),
            Unwritten::Queue(error) => error.is_full(),
        }
    }
    fn text(&self) -> String {
        match self {
            Unwritten::Backlog(error) => error.text(),
            Unwritten::Queue(error) => error.text(),
        }
    }
}

impl Outcomes for States<'_> {
    type Error = Unwritten;

    fn write(&mut self, _entries: EntriesWritten) -> Result<(), Unwritten> {
        if self.is_forgotten {
            return Ok(());
        }
        self.queue.flush().map_err(Unwritten::Queue)
    }
}

impl Run {
    fn new(number: u64, mistake: Mistake) -> Run {
        let simulated = SimulatedDisk::default();
        Run {
            mistake,
            chance: Chance::new(number),
            disk: Disk::simulated(simulated.clone()),
            simulated,
            folder: PathBuf::from("/state"),
            now: Time::from_micros(1_700_000_000_000_000),
            pages: 0,
            current: Promised::default(),
            flushed: Promised::default(),
            durable: Promised::default(),
            kills: 0,
            power_failures: 0,
        }
    }

    fn run(&mut self) -> Result<(), String> {
        let mut was_power_lost = false;
        for life in 0..LIVES {
            let lived = self
                .open(was_power_lost)
                .and_then(|mut stores| self.live(&mut stores));
            match lived {
                Err(Ended::Wrong(what)) => return Err(format!("life {life}: {what}")),
                // It was killed, or goes on to the end of its steps and stops as it stands: that is a kill, too.
                Err(Ended::Killed) | Ok(()) => self.kills += 1,
            }
            self.simulated.make_room();
            self.simulated.restart();
            was_power_lost = self.chance.is(0.5);
            if was_power_lost {
                self.power_failures += 1;
                self.simulated.lose_power(&mut self.chance);
            }
        }
        match self.open(was_power_lost) {
            Err(Ended::Wrong(what)) => Err(format!("at the end: {what}")),
            Err(Ended::Killed) | Ok(_) => Ok(()),
        }
    }

    /// Opens the stores as a start does, and compares what they hold with what they must.
    fn open(&mut self, was_power_lost: bool) -> Result<Stores, Ended> {
        let state = self.folder.clone();
        self.attempt(|run| run.disk.create_dir(&state))?;
        let manifest = self.attempt(|run| run.disk.read(&state.join("MANIFEST")))?;
        let manifest: Manifest = manifest
            .map(|bytes| serde_json::from_slice(&bytes).unwrap())
            .unwrap_or_default();
        let is_cut = was_power_lost && self.mistake != Mistake::TailsKeptAfterPowerFailure;
        let backlog = self.attempt(|run| {
            let lengths = &manifest.backlog;
            let tails = if is_cut {
                backlog::Tails::Cut(lengths)
            } else {
                backlog::Tails::Keep(lengths)
            };
            Backlog::open_on(run.disk.clone(), &state.join("backlog"), &small(), tails)
        })?;
        let queue = self.attempt(|run| {
            let lengths = &manifest.queue;
            let tails = if is_cut {
                time_queue::Tails::Cut(lengths)
            } else {
                time_queue::Tails::Keep(lengths)
            };
            let config = queue_config();
            TimeQueue::open_on(run.disk.clone(), &state.join("time_queue"), &config, tails)
        })?;
        let seen = self.attempt(|run| {
            let config = SeenConfig {
                memory_bytes: 1 << 20,
                ..SeenConfig::default()
            };
            Seen::open_on(run.disk.clone(), &state.join("seen"), &config)
        })?;
        let mut stores = Stores {
            seen,
            backlog: backlog.0,
            queue: queue.0,
        };
        if self.mistake != Mistake::NothingReplayed {
            self.replay(&mut stores)?;
        }
        self.check(&stores, was_power_lost)?;
        Ok(stores)
    }

    fn replay(&mut self, stores: &mut Stores) -> Result<(), Ended> {
        let mark = Position(stores.seen.mark().0);
        let mut found = BTreeSet::new();
        self.attempt(|_| {
            let seen = |entry: &Entry| {
                found.insert(number_of(&entry.url));
            };
            stores.backlog.replay_since(mark, seen)
        })?;
        for number in found {
            self.attempt(|_| stores.seen.insert(number))?;
        }
        Ok(())
    }

    fn check(&mut self, stores: &Stores, was_power_lost: bool) -> Result<(), Ended> {
        let promised = if was_power_lost {
            self.durable.clone()
        } else {
            self.flushed.clone()
        };
        let mut waiting = BTreeSet::new();
        self.attempt(|_| {
            stores.backlog.scan(|entry| {
                waiting.insert(number_of(&entry.url));
            })
        })?;
        let (mut known, mut twice) = (BTreeSet::new(), None);
        self.attempt(|_| {
            stores.queue.scan(|record| {
                let number = number_of(record.url);
                if !known.insert(number) {
                    twice = Some(number);
                }
            })
        })?;
        let wrong = |what: String| Err(Ended::Wrong(what));
        if let Some(number) = twice {
            return wrong(format!("page {number} has two states"));
        }
        if let Some(number) = promised.known.difference(&known).next() {
            return wrong(format!("the state of page {number} is lost"));
        }
        let mut lost = promised.waiting.difference(&waiting);
        if let Some(number) = lost.find(|number| !known.contains(number)) {
            return wrong(format!("waiting page {number} is lost"));
        }
        for number in 0..self.pages {
            let is_seen = self.attempt(|_| stores.seen.contains(number))?;
            let is_there = waiting.contains(&number) || known.contains(&number);
            if is_seen != is_there {
                return wrong(format!(
                    "page {number}: seen {is_seen}, waits {}, known {}",
                    waiting.contains(&number),
                    known.contains(&number)
                ));
            }
        }
        self.current = Promised { waiting, known };
        self.flushed = self.current.clone();
        if was_power_lost {
            self.durable = self.current.clone();
        }
        Ok(())
    }

    fn live(&mut self, stores: &mut Stores) -> Result<(), Ended> {
        if self.chance.is(0.8) {
            self.simulated
                .kill_after(self.chance.below_large(u64::from(STEPS)));
        }
        for _ in 0..STEPS {
            match self.chance.below(12) {
                0..=2 => self.find(stores)?,
                3..=5 => self.visit(stores)?,
                6 => self.defer(stores)?,
                7 => self.revisit(stores)?,
                8 => self.flush(stores)?,
                9 => self.checkpoint(stores, false)?,
                10 if self.chance.is(0.3) => self.checkpoint(stores, true)?,
                10 if self.chance.is(0.3) => self.simulated.fill(),
                _ => self.now = self.now + Duration::from_mins(u64::from(self.chance.below(300))),
            }
        }
        Ok(())
    }

    fn find(&mut self, stores: &mut Stores) -> Result<(), Ended> {
        for _ in 0..=self.chance.below(30) {
            let number = self.pages;
            self.pages += 1;
            self.attempt(|_| stores.seen.insert(number))?;
            let due = self.now + Duration::from_mins(u64::from(self.chance.below(200)));
            let entry = entry(number, due);
            self.attempt(|run| stores.backlog.append(&entry, run.now))?;
            self.current.waiting.insert(number);
        }
        Ok(())
    }

    fn visit(&mut self, stores: &mut Stores) -> Result<(), Ended> {
        for _ in 0..=self.chance.below(40) {
            let next = self.attempt(|run| stores.backlog.next(run.now))?;
            let Some((ticket, entry)) = next else {
                return Ok(());
            };
            let number = number_of(&entry.url);
            if !self.current.known.contains(&number) {
                let record = self.record(number);
                self.attempt(|run| stores.queue.put(&record, run.now))?;
                self.current.known.insert(number);
            }
            stores.backlog.ack(ticket);
            self.current.waiting.remove(&number);
        }
        Ok(())
    }

    fn defer(&mut self, stores: &mut Stores) -> Result<(), Ended> {
        let next = self.attempt(|run| stores.backlog.next(run.now))?;
        let Some((mut ticket, mut entry)) = next else {
            return Ok(());
        };
        entry.due = self.now + Duration::from_hours(1);
        while let Err(refused) = stores.backlog.replace(ticket, &entry, self.now) {
            ticket = refused.ticket;
            self.bear(&refused.source)?;
        }
        Ok(())
    }

    fn revisit(&mut self, stores: &mut Stores) -> Result<(), Ended> {
        for _ in 0..=self.chance.below(8) {
            let next = self.attempt(|run| stores.queue.next(run.now))?;
            let Some((mut ticket, record)) = next else {
                return Ok(());
            };
            let record = self.record(number_of(&record.url));
            while let Err(refused) = stores.queue.put_back(ticket, &record, self.now) {
                ticket = refused.ticket;
                self.bear(&refused.source)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, stores: &mut Stores) -> Result<(), Ended> {
        let is_forgotten = self.mistake == Mistake::AcknowledgedBeforeTheState;
        self.attempt(|_| {
            stores.backlog.flush(&mut States {
                queue: &mut stores.queue,
                is_forgotten,
            })
        })?;
        self.flushed = self.current.clone();
        Ok(())
    }

    /// Makes everything durable; with `is_whole` the table of the seen set is written, too.
    fn checkpoint(&mut self, stores: &mut Stores, is_whole: bool) -> Result<(), Ended> {
        let position = stores.backlog.position();
        if is_whole && self.mistake == Mistake::SeenBeforeManifest {
            self.attempt(|_| stores.seen.flush(Mark(position.0)))?;
        }
        let is_forgotten = self.mistake == Mistake::AcknowledgedBeforeTheState;
        let backlog = self.attempt(|_| {
            stores.backlog.written(&mut States {
                queue: &mut stores.queue,
                is_forgotten,
            })
        })?;
        self.flushed = self.current.clone();
        let manifest = Manifest {
            backlog,
            queue: stores.queue.lengths(),
        };
        let bytes = serde_json::to_vec(&manifest).unwrap();
        let (state, path) = (self.folder.clone(), self.folder.join("MANIFEST"));
        if self.mistake == Mistake::ManifestBeforeSync {
            self.replace(&path, &bytes)?;
        }
        if self.mistake != Mistake::NoSync {
            self.attempt(|run| run.disk.sync_all(&state))?;
        }
        self.replace(&path, &bytes)?;
        self.durable = self.current.clone();
        if is_whole {
            self.attempt(|_| stores.seen.flush(Mark(position.0)))?;
        }
        self.checkpointed(stores)
    }

    fn checkpointed(&mut self, stores: &mut Stores) -> Result<(), Ended> {
        let mark = Position(stores.seen.mark().0);
        self.attempt(|_| stores.backlog.checkpointed(mark))?;
        self.attempt(|_| stores.queue.checkpointed())
    }

    fn replace(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Ended> {
        self.attempt(|run| run.disk.replace(path, bytes))
    }

    fn record(&mut self, number: u64) -> Record {
        let minutes = 10 + u64::from(self.chance.below(3000));
        Record {
            url: url(number),
            due: self.now + Duration::from_mins(minutes),
            body: number.to_le_bytes().to_vec(),
        }
    }

    /// Does something, again and again while the disk is full.
    fn attempt<T, E: Refusal>(
        &mut self,
        mut act: impl FnMut(&mut Run) -> Result<T, E>,
    ) -> Result<T, Ended> {
        loop {
            match act(self) {
                Ok(done) => return Ok(done),
                Err(error) => self.bear(&error)?,
            }
        }
    }

    /// A full disk is emptied; anything else ends the life, and is wrong unless it was killed.
    fn bear(&mut self, error: &impl Refusal) -> Result<(), Ended> {
        if self.simulated.is_killed() {
            return Err(Ended::Killed);
        }
        if error.is_full() {
            self.simulated.make_room();
            return Ok(());
        }
        Err(Ended::Wrong(error.text()))
    }
}

fn small() -> BacklogConfig {
    BacklogConfig {
        buffer_bytes: 1000,
        segment_bytes: 4000,
        ..BacklogConfig::default()
    }
}

fn queue_config() -> TimeQueueConfig {
    TimeQueueConfig {
        buffer_bytes: 8 << 10,
        page_bytes: 256,
        ..TimeQueueConfig::default()
    }
}

fn entry(number: u64, due: Time) -> Entry {
    Entry {
        url: url(number),
        hops: "L".to_owned(),
        due,
        ..Entry::default()
    }
}

fn url(number: u64) -> String {
    format!("http://host{}.example/{number}", number % 5)
}

fn number_of(url: &str) -> u64 {
    let (_, number) = url.rsplit_once('/').unwrap();
    number.parse().unwrap()
}
