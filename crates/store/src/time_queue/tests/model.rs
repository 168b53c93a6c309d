//! A naive time queue beside a real one: what the real one may hold after any kind of end.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::super::*;
use super::{START, next, number, record_of};
use junkai_frontier::Time;

/// Due time and version of a page's state.
type State = (Time, u64);

/// What should be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) records: BTreeMap<u64, State>,
    early: BTreeMap<u64, Vec<u8>>,
}

#[derive(Clone, Debug)]
enum Change {
    Set(u64, State),
    Joined(u64, State),
    Remove(u64),
    Note(u64, Vec<u8>),
}

impl Model {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Set(number, state) => {
                self.records.insert(*number, *state);
            }
            Change::Joined(number, state) => {
                self.records.insert(*number, *state);
                self.early.remove(number);
            }
            Change::Remove(number) => {
                self.records.remove(number);
                self.early.remove(number);
            }
            Change::Note(number, note) => {
                self.early.insert(*number, note.clone());
            }
        }
    }

    /// What a queue holds.
    fn of(queue: &TimeQueue) -> Model {
        let mut model = Model::default();
        let mut doubled = BTreeSet::new();
        let scanned = queue.scan(|record| {
            let number = number(record.url);
            let version = super::version(record.body);
            if model
                .records
                .insert(number, (record.due, version))
                .is_some()
            {
                doubled.insert(number);
            }
        });
        scanned.unwrap();
        assert!(doubled.is_empty(), "doubled: {doubled:?}");
        let notes = queue.contents.early.iter();
        model.early = notes
            .map(|(number, note)| (*number, note.to_vec()))
            .collect();
        model
    }
}

/// A queue, its model, and the changes that a kill may take back.
pub(super) struct Pair {
    pub(super) queue: TimeQueue,
    pub(super) now: Time,
    config: TimeQueueConfig,
    open_runs_max: usize,
    dir: PathBuf,
    /// At the last flush, and since.
    flushed: Model,
    changes: Vec<Change>,
    /// As of the manifest, and of the last sync.
    manifest: (Lengths, Model),
    synced: Option<(Lengths, Model)>,
    hand: BTreeMap<u64, Ticket>,
    versions: u64,
}

/// How a life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Kill,
    PowerLoss,
}

impl Pair {
    pub(super) fn new(
        disk: Disk,
        dir: &Path,
        config: &TimeQueueConfig,
        open_runs_max: usize,
    ) -> Result<Pair, TimeQueueError> {
        let nothing = Lengths::default();
        let (mut queue, _) = TimeQueue::open_on(disk, dir, config, Tails::Keep(&nothing))?;
        queue.open_runs_max = open_runs_max;
        Ok(Pair {
            queue,
            now: START,
            config: config.clone(),
            open_runs_max,
            dir: dir.to_owned(),
            flushed: Model::default(),
            changes: Vec::new(),
            manifest: (Lengths::default(), Model::default()),
            synced: None,
            hand: BTreeMap::new(),
            versions: 0,
        })
    }

    /// What should be there now.
    pub(super) fn model(&self) -> Model {
        let mut model = self.flushed.clone();
        for change in &self.changes {
            model.apply(change);
        }
        model
    }

    fn new_state(&mut self, interval: Duration) -> State {
        self.versions += 1;
        let due = self.queue.calendar.kept(self.now + interval, self.now);
        (due, self.versions)
    }

    pub(super) fn put(&mut self, number: u64, interval: Duration) -> Result<(), TimeQueueError> {
        let (due, version) = self.new_state(interval);
        let record = record_of(number, due, version);
        self.queue.put(&record, self.now)?;
        self.changes.push(Change::Set(number, (due, version)));
        Ok(())
    }

    /// Takes the next due record in hand; its number.
    pub(super) fn take(&mut self) -> Result<Option<u64>, TimeQueueError> {
        let mut steps = 0;
        let (ticket, found) = loop {
            if let Some(handed_out) = self.queue.next(self.now)? {
                break handed_out;
            }
            if self.queue.next_due().is_none_or(|due| self.now < due) {
                return Ok(None);
            }
            steps += 1;
            assert!(steps < 1000, "it promises more, and gives nothing");
        };
        let number = number(&found.url);
        assert!(found.due <= self.now, "{number} is early");
        let known = self.model().records[&number];
        let version = super::version(&found.body);
        assert_eq!((found.due, version), known, "{number}");
        assert!(self.hand.insert(number, ticket).is_none(), "{number} twice");
        Ok(Some(number))
    }

    pub(super) fn put_back(
        &mut self,
        number: u64,
        interval: Duration,
    ) -> Result<(), TimeQueueError> {
        let state = self.new_state(interval);
        let Some(ticket) = self.hand.remove(&number) else {
            return Ok(());
        };
        let note = self.queue.take_early(&ticket, number);
        assert_eq!(note.as_ref(), self.model().early.get(&number));
        let record = record_of(number, state.0, state.1);
        if let Err(error) = self.queue.put_back(ticket, &record, self.now) {
            self.hand.insert(number, error.ticket);
            return Err(error.source);
        }
        let change = match note {
            None => Change::Set(number, state),
            Some(_) => Change::Joined(number, state),
        };
        self.changes.push(change);
        Ok(())
    }

    pub(super) fn remove(&mut self, number: u64) {
        if let Some(ticket) = self.hand.remove(&number) {
            let _note = self.queue.take_early(&ticket, number);
            self.queue.remove(ticket);
            self.changes.push(Change::Remove(number));
        }
    }

    pub(super) fn note(&mut self, number: u64, note: &[u8]) {
        if self.queue.note_early(number, note) {
            self.changes.push(Change::Note(number, note.to_vec()));
        }
    }

    pub(super) fn flush(&mut self) -> Result<(), TimeQueueError> {
        self.queue.flush()?;
        self.flushed = self.model();
        self.changes.clear();
        Ok(())
    }

    pub(super) fn sync(&mut self) -> Result<(), TimeQueueError> {
        let lengths = self.queue.sync()?;
        self.flushed = self.model();
        self.changes.clear();
        self.synced = Some((lengths, self.flushed.clone()));
        Ok(())
    }

    /// The manifest of the last sync is written.
    pub(super) fn checkpointed(&mut self) -> Result<(), TimeQueueError> {
        if let Some(synced) = self.synced.take() {
            self.manifest = synced;
            self.queue.checkpointed()?;
        }
        Ok(())
    }

    pub(super) fn hand(&self) -> Vec<u64> {
        self.hand.keys().copied().collect()
    }

    /// Ends this life, and begins the next one on `disk`. What is there must be what may be there.
    pub(super) fn end(mut self, end: End, disk: Disk) -> Result<Pair, TimeQueueError> {
        let (lengths, at_manifest) = self.manifest.clone();
        drop(self.queue);
        let tails = match end {
            End::Kill => Tails::Keep(&lengths),
            End::PowerLoss => Tails::Cut(&lengths),
        };
        let (mut queue, report) = TimeQueue::open_on(disk, &self.dir, &self.config, tails)?;
        assert!(!report.journal_damaged, "{report:?}");
        assert_eq!(report.damaged_files, 0, "{report:?}");
        queue.open_runs_max = self.open_runs_max;
        let found = Model::of(&queue);
        assert_eq!(queue.waiting(), found.records.len() as u64);
        match end {
            End::PowerLoss => assert_eq!(found, at_manifest),
            End::Kill => {
                let mut model = self.flushed;
                let mut changes = self.changes.iter();
                while model != found {
                    let change = changes.next();
                    assert!(change.is_some(), "it never held\n{found:?}");
                    model.apply(change.unwrap());
                }
            }
        }
        self.hand.clear();
        Ok(Pair {
            queue,
            flushed: found,
            changes: Vec::new(),
            synced: None,
            hand: BTreeMap::new(),
            now: self.now,
            config: self.config,
            open_runs_max: self.open_runs_max,
            dir: self.dir,
            manifest: self.manifest,
            versions: self.versions,
        })
    }

    /// Every record is handed out, once.
    pub(super) fn check_to_the_end(mut self) {
        let model = self.model();
        let mut found: BTreeSet<u64> = self.hand.keys().copied().collect();
        let mut now = self.now + Duration::from_hours(500 * 24);
        now = now.max(self.queue.next_due().unwrap_or(now));
        while let Some((_ticket, record)) = next(&mut self.queue, now) {
            assert!(found.insert(number(&record.url)), "{} twice", record.url);
        }
        assert_eq!(found, model.records.keys().copied().collect());
        assert_eq!(self.queue.waiting(), 0);
    }
}
