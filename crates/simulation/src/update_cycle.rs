//! One cycle for all stores of page states: time passes; what is due is read, changed by a visit, and put back at its next time.
//!
//! [`UpdateCycle`] drives any [`Store`]: ours (`queue`), and in the benchmarks those of others. It is the experiment of Tamura and Kitsuregawa (2010): state only, no
//! fetching. Every state that comes back is compared with what the page was given before, and a state that comes early or late is noticed, so that a
//! store cannot be fast by being wrong.
//!
//! Not here: what a cycle costs (`measure`), and which stores and settings are compared (the experiments of `lab`).

mod queue;

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use junkai_frontier::Time;
use junkai_store::time_queue::{Record, TimeQueueError};

use crate::population::{Damaged, Population, state};

pub use self::queue::{Durability, QueueStore};

/// Where virtual time begins: the first moment of 2026, when a minute, an hour and a day begin too.
pub const START: Time = Time::from_micros(1_767_225_600_000_000);

/// States between two checkpoints, each of which makes all of them durable: half a minute of a fast crawl.
pub const CHECKPOINT_RECORDS: u64 = 100_000;

/// States that are put into a store at a time when it is filled.
const FILL_BATCH: u64 = 8192;

/// What can go wrong with a store, in its own words.
pub type StoreError = Box<dyn Error + Send + Sync>;

/// What is done to each state that is due.
pub type Visit<'a> = dyn FnMut(&mut Record) -> Result<(), Damaged> + 'a;

/// Where page states are kept.
pub trait Store {
    /// Takes in pages that were not here before; `now` is not after any of their times.
    ///
    /// # Errors
    /// If the store fails.
    fn put(&mut self, records: &[Record], now: Time) -> Result<(), StoreError>;

    /// Hands up to `most` states that are due at `now` to `visit`, one after the other, and puts each back as it was left. Says how many; fewer
    /// than `most` only if no other is due.
    ///
    /// # Errors
    /// If the store or the visit fails.
    fn cycle(&mut self, now: Time, most: u64, visit: &mut Visit<'_>) -> Result<u64, StoreError>;

    /// Makes all that was done so far outlive a power failure.
    ///
    /// # Errors
    /// If the store fails.
    fn checkpoint(&mut self) -> Result<(), StoreError>;
}

/// A cycle that does not go round.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CycleError {
    /// The store failed, or gave back something else than it was given.
    #[error("the store failed")]
    Store(#[source] StoreError),
    /// Whole days passed without a state that is due.
    #[error("nothing is due within {} days", within.as_secs() / 86_400)]
    Stalled {
        /// How long nothing was due.
        within: Duration,
    },
}

/// A run of the time queue cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// There is no place for the queues.
    #[error("cannot use {path}")]
    Folder {
        /// The place.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A queue cannot be opened.
    #[error("cannot open the time queue")]
    Open(#[from] TimeQueueError),
    /// A queue does not do what it should.
    #[error("the time queue does not go round")]
    Cycle(#[from] CycleError),
}

/// The driver of a store.
#[derive(Clone, Debug)]
pub struct UpdateCycle {
    population: Population,
    resolution: Duration,
    checkpoint_records: u64,
    now: Time,
    since_checkpoint: u64,
}

/// What passed through a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// States that were read, changed and put back.
    pub records: u64,
    /// Bytes that these must take, however they are kept.
    pub bytes: u64,
    /// Units of time that passed.
    pub units: u64,
    /// How long after its time a state was handed out, at most.
    pub late_max: Duration,
    /// How long before it.
    pub early_max: Duration,
}

impl UpdateCycle {
    /// A cycle that moves on by `resolution`, and makes a checkpoint after so many states.
    ///
    /// # Panics
    /// If either is zero.
    #[must_use]
    pub fn new(
        population: Population,
        resolution: Duration,
        checkpoint_records: u64,
    ) -> UpdateCycle {
        assert!(!resolution.is_zero(), "time must pass");
        assert!(0 < checkpoint_records, "a checkpoint has records before it");
        UpdateCycle {
            population,
            resolution,
            checkpoint_records,
            now: START,
            since_checkpoint: 0,
        }
    }

    /// The moment that the cycle has come to.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Puts all pages of the population into an empty store. `watch` is told how many are in.
    ///
    /// # Errors
    /// If the store fails.
    pub fn fill(
        &mut self,
        store: &mut dyn Store,
        watch: &mut dyn FnMut(u64),
    ) -> Result<(), CycleError> {
        let mut batch = Vec::new();
        let mut next = 0;
        while next < self.population.pages() {
            let end = self.population.pages().min(next + FILL_BATCH);
            batch.clear();
            batch.extend((next..end).map(|page| {
                let mut record = Record::default();
                self.population.write(page, self.now, &mut record);
                record
            }));
            store.put(&batch, self.now).map_err(CycleError::Store)?;
            self.count(end - next, store)?;
            next = end;
            watch(next);
        }
        store.checkpoint().map_err(CycleError::Store)
    }

    /// Lets time pass, unit by unit, until at least so many states have gone round; all of a unit do. Ends with a checkpoint.
    ///
    /// # Errors
    /// If the store fails, or nothing is due any more.
    pub fn run(&mut self, store: &mut dyn Store, records: u64) -> Result<Round, CycleError> {
        /// The longest interval of the population, and a unit.
        const IDLE_MAX: Duration = Duration::from_hours(366 * 24);
        let mut round = Round::default();
        let mut idle = Duration::ZERO;
        while round.records < records {
            let before = round.records;
            self.now = self.now + self.resolution;
            self.unit(store, &mut round)?;
            round.units += 1;
            if before < round.records {
                idle = Duration::ZERO;
            } else {
                idle += self.resolution;
            }
            if IDLE_MAX < idle {
                return Err(CycleError::Stalled { within: idle });
            }
        }
        store.checkpoint().map_err(CycleError::Store)?;
        self.since_checkpoint = 0;
        Ok(round)
    }

    /// All that is due now.
    fn unit(&mut self, store: &mut dyn Store, round: &mut Round) -> Result<(), CycleError> {
        let now = self.now;
        loop {
            let most = self.checkpoint_records - self.since_checkpoint;
            let handled = store.cycle(now, most, &mut |record| {
                round.bytes += state::bytes(record);
                let (late, early) = (
                    now.saturating_duration_since(record.due),
                    record.due.saturating_duration_since(now),
                );
                round.late_max = round.late_max.max(late);
                round.early_max = round.early_max.max(early);
                state::visit(record, now)
            });
            let handled = handled.map_err(CycleError::Store)?;
            round.records += handled;
            self.count(handled, store)?;
            if handled < most {
                return Ok(());
            }
        }
    }

    fn count(&mut self, records: u64, store: &mut dyn Store) -> Result<(), CycleError> {
        self.since_checkpoint += records;
        if self.checkpoint_records <= self.since_checkpoint {
            store.checkpoint().map_err(CycleError::Store)?;
            self.since_checkpoint = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The slow and obvious store.
    #[derive(Default)]
    struct Naive {
        records: BTreeMap<(Time, String), Vec<u8>>,
        checkpoints: u64,
        is_forgetful: bool,
    }

    impl Store for Naive {
        fn put(&mut self, records: &[Record], now: Time) -> Result<(), StoreError> {
            for record in records {
                assert!(now <= record.due);
                let key = (record.due, record.url.clone());
                self.records.insert(key, record.body.clone());
            }
            Ok(())
        }

        fn cycle(
            &mut self,
            now: Time,
            most: u64,
            visit: &mut Visit<'_>,
        ) -> Result<u64, StoreError> {
            let mut handled = 0;
            while handled < most
                && let Some(entry) = self.records.first_entry()
                && entry.key().0 <= now
            {
                let ((due, url), body) = entry.remove_entry();
                let mut record = Record { due, url, body };
                visit(&mut record)?;
                if self.is_forgetful {
                    record.body[30] ^= 1;
                }
                self.put(&[record], now)?;
                handled += 1;
            }
            Ok(handled)
        }

        fn checkpoint(&mut self) -> Result<(), StoreError> {
            self.checkpoints += 1;
            Ok(())
        }
    }

    const MINUTE: Duration = Duration::from_mins(1);

    fn cycle(pages: u64) -> UpdateCycle {
        UpdateCycle::new(Population::new(pages, 5), MINUTE, 1000)
    }

    #[test]
    fn as_many_go_round_as_the_population_foretells() {
        let pages = 20_000;
        let (mut store, mut cycle) = (Naive::default(), cycle(pages));
        cycle.fill(&mut store, &mut |_| ()).unwrap();
        let round = cycle.run(&mut store, 2000).unwrap();
        let minutes = round.units as f64;
        let foretold = Population::visited_within(MINUTE) * minutes * pages as f64;
        assert!(
            (round.records as f64 / foretold - 1.0).abs() < 0.1,
            "{round:?} {foretold}"
        );
        assert!(round.late_max <= MINUTE && round.early_max == Duration::ZERO);
        assert_eq!(store.records.len() as u64, pages);
        // One for each batch of the filling, one for each thousand, and one at the end of each.
        let in_filling = pages.div_ceil(FILL_BATCH) + 1;
        assert_eq!(store.checkpoints, in_filling + round.records / 1000 + 1);
    }

    #[test]
    fn a_store_that_changes_a_state_is_found_out() {
        let mut store = Naive {
            is_forgetful: true,
            ..Naive::default()
        };
        let mut cycle = cycle(500);
        cycle.fill(&mut store, &mut |_| ()).unwrap();
        let error = cycle.run(&mut store, 5000).unwrap_err();
        assert!(matches!(error, CycleError::Store(_)), "{error}");
    }

    #[test]
    fn an_empty_store_ends_the_cycle() {
        let error = cycle(0).run(&mut Naive::default(), 1).unwrap_err();
        assert!(matches!(error, CycleError::Stalled { .. }), "{error}");
    }
}
