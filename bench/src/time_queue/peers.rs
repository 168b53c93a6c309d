//! Key-value stores that keep page states by due time.
//!
//! The key is the due time and a fingerprint of the URL, so that what is due is one range at the front; the value is URL and state. A cycle reads that range,
//! deletes it and writes the new states, in one transaction or batch a unit of time. Until a checkpoint nothing waits for the disk, which all of them
//! allow; at a checkpoint all of it does. Each has the settings that are best for this among those that were tried: fjall compresses (LZ4, its default);
//! redb has the same memory for its cache; LMDB maps its file, with all of the system's cache at its disposal, and is told not to read ahead.

use std::fs;
use std::ops::Bound;
use std::path::Path;

use anyhow::{Context as _, Result};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use heed::types::Bytes;
use heed::{EnvFlags, EnvOpenOptions};
use junkai_frontier::Time;
use junkai_simulation::update_cycle::{Store, StoreError, Visit};
use junkai_store::time_queue::Record;
use redb::{Durability, ReadableTable as _, TableDefinition};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a key: the due time and the fingerprint.
const KEY_BYTES: usize = 16;
/// Bytes that LMDB's file may come to have; only what is used takes space.
const MAP_BYTES: usize = 256 << 30;

/// A key.
type Key = [u8; KEY_BYTES];

fn key_of(record: &Record) -> Key {
    let mut key = [0; KEY_BYTES];
    key[..8].copy_from_slice(&record.due.as_micros().to_be_bytes());
    key[8..].copy_from_slice(&xxh3_64(record.url.as_bytes()).to_be_bytes());
    key
}

/// The first key that is not due at `now`.
fn end_of(now: Time) -> Key {
    let mut key = [0; KEY_BYTES];
    key[..8].copy_from_slice(&(now.as_micros() + 1).to_be_bytes());
    key
}

fn write_value(record: &Record, value: &mut Vec<u8>) {
    value.clear();
    let length = u16::try_from(record.url.len()).unwrap_or(u16::MAX);
    value.extend_from_slice(&length.to_le_bytes());
    value.extend_from_slice(record.url.as_bytes());
    value.extend_from_slice(&record.body);
}

fn read_record(key: &[u8], value: &[u8]) -> Result<Record> {
    let (due, _) = key.split_first_chunk().context("a key is cut")?;
    let (length, rest) = value.split_first_chunk().context("a value is cut")?;
    let (url, body) = rest
        .split_at_checked(usize::from(u16::from_le_bytes(*length)))
        .context("a value is cut")?;
    Ok(Record {
        url: String::from_utf8(url.to_vec())?,
        due: Time::from_micros(u64::from_be_bytes(*due)),
        body: body.to_vec(),
    })
}

/// States that are due, out of a store: each with the key that it had.
type Due = Vec<(Key, Record)>;

/// Where the next range of due states begins. All before it are gone; without it a store would go over their graves each time.
#[derive(Default)]
struct Front(Key);

impl Front {
    /// Moves on behind what was due at `now`, of which at most `most` were taken.
    fn pass(&mut self, now: Time, most: u64, due: &Due) {
        match due.last() {
            Some((last, _)) if most <= due.len() as u64 => self.0 = *last,
            Some(_) | None => self.0 = end_of(now),
        }
    }
}

fn whole_key(key: &[u8]) -> Result<Key> {
    key.try_into().context("a key has another length")
}

/// An LSM tree in Rust.
pub(super) struct Fjall {
    database: Database,
    states: Keyspace,
    front: Front,
    value: Vec<u8>,
}

impl Fjall {
    pub(super) fn open(folder: &Path, memory_bytes: u64) -> Result<Fjall> {
        let database = Database::builder(folder).cache_size(memory_bytes).open()?;
        Ok(Fjall {
            states: database.keyspace("states", KeyspaceCreateOptions::default)?,
            database,
            front: Front::default(),
            value: Vec::new(),
        })
    }

    fn due(&self, now: Time, most: u64) -> Result<Due> {
        let mut due = Vec::new();
        for guard in self
            .states
            .range(self.front.0..end_of(now))
            .take(count(most))
        {
            let (key, value) = guard.into_inner()?;
            due.push((whole_key(&key)?, read_record(&key, &value)?));
        }
        Ok(due)
    }
}

impl Store for Fjall {
    fn put(&mut self, records: &[Record], _now: Time) -> Result<(), StoreError> {
        let mut batch = self.database.batch();
        for record in records {
            write_value(record, &mut self.value);
            batch.insert(&self.states, key_of(record), &self.value[..]);
        }
        Ok(batch.commit()?)
    }

    fn cycle(&mut self, now: Time, most: u64, visit: &mut Visit<'_>) -> Result<u64, StoreError> {
        let mut due = self.due(now, most)?;
        self.front.pass(now, most, &due);
        let mut batch = self.database.batch();
        for (key, record) in &mut due {
            visit(record)?;
            // Each key is written once and removed once, which is what a weak removal asks for.
            batch.remove_weak(&self.states, *key);
            write_value(record, &mut self.value);
            batch.insert(&self.states, key_of(record), &self.value[..]);
        }
        batch.commit()?;
        Ok(due.len() as u64)
    }

    fn checkpoint(&mut self) -> Result<(), StoreError> {
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }
}

/// A B-tree in Rust.
pub(super) struct Redb {
    database: redb::Database,
    front: Front,
    value: Vec<u8>,
}

const STATES: TableDefinition<Key, &[u8]> = TableDefinition::new("states");

impl Redb {
    pub(super) fn open(folder: &Path, memory_bytes: u64) -> Result<Redb> {
        fs::create_dir_all(folder)?;
        let database = redb::Database::builder()
            .set_cache_size(usize::try_from(memory_bytes)?)
            .create(folder.join("states.redb"))?;
        Ok(Redb {
            database,
            front: Front::default(),
            value: Vec::new(),
        })
    }

    fn begin(&self, durability: Durability) -> Result<redb::WriteTransaction> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(durability)?;
        Ok(transaction)
    }
}

impl Store for Redb {
    fn put(&mut self, records: &[Record], _now: Time) -> Result<(), StoreError> {
        let transaction = self.begin(Durability::None)?;
        {
            let mut table = transaction.open_table(STATES)?;
            for record in records {
                write_value(record, &mut self.value);
                table.insert(key_of(record), &self.value[..])?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn cycle(&mut self, now: Time, most: u64, visit: &mut Visit<'_>) -> Result<u64, StoreError> {
        let transaction = self.begin(Durability::None)?;
        let mut due: Due = Vec::new();
        {
            let mut table = transaction.open_table(STATES)?;
            for entry in table.range(self.front.0..end_of(now))?.take(count(most)) {
                let (key, value) = entry?;
                due.push((key.value(), read_record(&key.value(), value.value())?));
            }
            self.front.pass(now, most, &due);
            for (key, record) in &mut due {
                visit(record)?;
                table.remove(*key)?;
                write_value(record, &mut self.value);
                table.insert(key_of(record), &self.value[..])?;
            }
        }
        transaction.commit()?;
        Ok(due.len() as u64)
    }

    fn checkpoint(&mut self) -> Result<(), StoreError> {
        Ok(self.begin(Durability::Immediate)?.commit()?)
    }
}

/// A B-tree in C, mapped into memory.
pub(super) struct Lmdb {
    environment: heed::Env,
    states: heed::Database<Bytes, Bytes>,
    front: Front,
    value: Vec<u8>,
}

impl Lmdb {
    pub(super) fn open(folder: &Path) -> Result<Lmdb> {
        fs::create_dir_all(folder)?;
        let environment = open_map(folder)?;
        let mut transaction = environment.write_txn()?;
        let states = environment.create_database(&mut transaction, None)?;
        transaction.commit()?;
        Ok(Lmdb {
            environment,
            states,
            front: Front::default(),
            value: Vec::new(),
        })
    }
}

/// Without a wait at each commit: [`Store::checkpoint`] waits.
#[expect(unsafe_code, reason = "a file is mapped into memory")]
fn open_map(folder: &Path) -> Result<heed::Env> {
    let mut options = EnvOpenOptions::new();
    options.map_size(MAP_BYTES);
    // SAFETY: these flags only give up what a power failure would spare.
    unsafe { options.flags(EnvFlags::NO_SYNC | EnvFlags::NO_READ_AHEAD) };
    // SAFETY: the folder was made by this process for this store, and nobody else has its file open.
    Ok(unsafe { options.open(folder) }?)
}

impl Store for Lmdb {
    fn put(&mut self, records: &[Record], _now: Time) -> Result<(), StoreError> {
        let mut transaction = self.environment.write_txn()?;
        for record in records {
            write_value(record, &mut self.value);
            self.states
                .put(&mut transaction, &key_of(record), &self.value)?;
        }
        Ok(transaction.commit()?)
    }

    fn cycle(&mut self, now: Time, most: u64, visit: &mut Visit<'_>) -> Result<u64, StoreError> {
        let mut transaction = self.environment.write_txn()?;
        let mut due: Due = Vec::new();
        let end = end_of(now);
        let range = (
            Bound::Included(&self.front.0[..]),
            Bound::Excluded(&end[..]),
        );
        for entry in self.states.range(&transaction, &range)?.take(count(most)) {
            let (key, value) = entry?;
            due.push((whole_key(key)?, read_record(key, value)?));
        }
        self.front.pass(now, most, &due);
        for (key, record) in &mut due {
            visit(record)?;
            self.states.delete(&mut transaction, key)?;
            write_value(record, &mut self.value);
            self.states
                .put(&mut transaction, &key_of(record), &self.value)?;
        }
        transaction.commit()?;
        Ok(due.len() as u64)
    }

    fn checkpoint(&mut self) -> Result<(), StoreError> {
        Ok(self.environment.force_sync()?)
    }
}

fn count(most: u64) -> usize {
    usize::try_from(most).unwrap_or(usize::MAX)
}
