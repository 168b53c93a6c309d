//! The sets that are compared: ours, and two key-value stores used as sets.
//!
//! The stores get the same memory for their caches, and may lose what came after the last million on a crash, as ours
//! loses what came after the last flush. Their settings are the best of those that were tried.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use fjall::config::{CompressionPolicy, HashRatioPolicy, PinningPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use junkai_store::seen::{Mark, Seen, SeenConfig};
use redb::{Durability, ReadableTable as _, TableDefinition};

use crate::cpu;

/// Keys that a store may lose on a crash.
const SYNC_EVERY: usize = 1_000_000;

/// A set of fingerprints on disk.
pub(super) trait KnownSet {
    /// Makes `keys` known; `new` says which were not.
    fn insert_batch(&mut self, keys: &[u64], new: &mut Vec<bool>) -> Result<()>;

    /// The way in for keys that come in their order, if there is one.
    fn loader(&mut self) -> Option<&mut dyn Load> {
        None
    }

    /// Makes everything durable, and finishes what was deferred.
    fn settle(&mut self) -> Result<()>;

    /// CPU time spent on merging so far, where it is known.
    fn merging(&self) -> Duration;

    /// Bytes held in memory, as the set itself tells.
    fn memory_bytes(&self) -> u64;

    /// The folder or file that holds it.
    fn folder(&self) -> &Path;

    /// How many files or runs there are.
    fn files(&self) -> usize;

    /// Bytes of all its files.
    fn disk_bytes(&self) -> Result<u64> {
        size_of(self.folder())
    }
}

/// A set that is filled faster when the keys come in their order.
pub(super) trait Load {
    /// Makes them known, while nothing is known yet.
    fn load(&mut self, sorted: &[u64]) -> Result<()>;
}

/// Bytes of all files in a folder and the folders in it.
fn size_of(path: &Path) -> Result<u64> {
    if path.is_file() {
        return Ok(path.metadata()?.len());
    }
    let mut sum = 0;
    for entry in fs::read_dir(path)? {
        sum += size_of(&entry?.path())?;
    }
    Ok(sum)
}

/// Ours. Merges run between two batches, so that their cost is told apart.
pub(super) struct Ours {
    seen: Seen,
    folder: PathBuf,
    merging: Duration,
}

impl Ours {
    pub(super) fn open(folder: &Path, memory_bytes: u64) -> Result<Ours> {
        let config = SeenConfig {
            memory_bytes,
            ..SeenConfig::default()
        };
        Ok(Ours {
            seen: Seen::open(folder, &config)?,
            folder: folder.to_owned(),
            merging: Duration::ZERO,
        })
    }

    fn flush(&mut self) -> Result<()> {
        self.seen.flush(Mark(0))?;
        let (cost, merged) = cpu::cost_to_all_of(|| self.merge());
        self.merging += cost;
        merged
    }

    fn merge(&mut self) -> Result<()> {
        while let Some(job) = self.seen.next_merge() {
            self.seen.install(job.run()?)?;
        }
        Ok(())
    }
}

impl KnownSet for Ours {
    fn insert_batch(&mut self, keys: &[u64], new: &mut Vec<bool>) -> Result<()> {
        if self.seen.room() < keys.len() {
            self.flush()?;
        }
        Ok(self.seen.insert_batch(keys, new)?)
    }

    fn settle(&mut self) -> Result<()> {
        self.flush()
    }

    fn merging(&self) -> Duration {
        self.merging
    }

    fn memory_bytes(&self) -> u64 {
        self.seen.stats().memory_bytes
    }

    fn folder(&self) -> &Path {
        &self.folder
    }

    fn files(&self) -> usize {
        usize::try_from(self.seen.stats().runs).unwrap_or(usize::MAX)
    }
}

/// An LSM tree in Rust.
pub(super) struct Fjall {
    database: Database,
    keys: Keyspace,
    folder: PathBuf,
    unsynced: usize,
}

impl Fjall {
    pub(super) fn open(folder: &Path, memory_bytes: u64) -> Result<Fjall> {
        let database = Database::builder(folder).cache_size(memory_bytes).open()?;
        // Eight bytes that look drawn by lot cannot be compressed.
        let options = || {
            KeyspaceCreateOptions::default()
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::None))
                .data_block_hash_ratio_policy(HashRatioPolicy::all(0.75))
                .filter_block_pinning_policy(PinningPolicy::all(true))
                .index_block_pinning_policy(PinningPolicy::all(true))
        };
        Ok(Fjall {
            keys: database.keyspace("known", options)?,
            database,
            folder: folder.to_owned(),
            unsynced: 0,
        })
    }
}

impl KnownSet for Fjall {
    fn insert_batch(&mut self, keys: &[u64], new: &mut Vec<bool>) -> Result<()> {
        new.clear();
        let mut batch = self.database.batch();
        for key in keys {
            let key = key.to_be_bytes();
            let is_new = !self.keys.contains_key(key)?;
            if is_new {
                batch.insert(&self.keys, key, b"");
            }
            new.push(is_new);
        }
        batch.commit()?;
        self.unsynced += keys.len();
        if SYNC_EVERY <= self.unsynced {
            self.settle()?;
        }
        Ok(())
    }

    fn loader(&mut self) -> Option<&mut dyn Load> {
        Some(self)
    }

    fn settle(&mut self) -> Result<()> {
        self.unsynced = 0;
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }

    fn merging(&self) -> Duration {
        self.database.time_compacting()
    }

    fn memory_bytes(&self) -> u64 {
        self.database.cache_size() + self.database.write_buffer_size()
    }

    fn folder(&self) -> &Path {
        &self.folder
    }

    fn files(&self) -> usize {
        self.keys.table_count()
    }
}

impl Load for Fjall {
    fn load(&mut self, sorted: &[u64]) -> Result<()> {
        let mut ingestion = self.keys.start_ingestion()?;
        for key in sorted {
            ingestion.write(key.to_be_bytes(), b"")?;
        }
        Ok(ingestion.finish()?)
    }
}

/// A B-tree in Rust.
pub(super) struct Redb {
    database: redb::Database,
    file: PathBuf,
    memory_bytes: u64,
    unsynced: usize,
}

const KNOWN: TableDefinition<u64, ()> = TableDefinition::new("known");

impl Redb {
    pub(super) fn open(file: &Path, memory_bytes: u64) -> Result<Redb> {
        let database = redb::Database::builder()
            .set_cache_size(usize::try_from(memory_bytes)?)
            .create(file)?;
        Ok(Redb {
            database,
            file: file.to_owned(),
            memory_bytes,
            unsynced: 0,
        })
    }

    fn commit(&mut self, durability: Durability, keys: &[u64], new: &mut Vec<bool>) -> Result<()> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(durability)?;
        {
            let mut table = transaction.open_table(KNOWN)?;
            for key in keys {
                let is_new = table.get(key)?.is_none();
                if is_new {
                    table.insert(key, ())?;
                }
                new.push(is_new);
            }
        }
        Ok(transaction.commit()?)
    }
}

impl KnownSet for Redb {
    fn insert_batch(&mut self, keys: &[u64], new: &mut Vec<bool>) -> Result<()> {
        new.clear();
        self.unsynced += keys.len();
        let durability = if SYNC_EVERY <= self.unsynced {
            self.unsynced = 0;
            Durability::Immediate
        } else {
            Durability::None
        };
        self.commit(durability, keys, new)
    }

    fn loader(&mut self) -> Option<&mut dyn Load> {
        Some(self)
    }

    fn settle(&mut self) -> Result<()> {
        self.unsynced = 0;
        self.commit(Durability::Immediate, &[], &mut Vec::new())
    }

    fn merging(&self) -> Duration {
        Duration::ZERO
    }

    fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    fn folder(&self) -> &Path {
        &self.file
    }

    fn files(&self) -> usize {
        1
    }
}

impl Load for Redb {
    fn load(&mut self, sorted: &[u64]) -> Result<()> {
        for keys in sorted.chunks(SYNC_EVERY) {
            self.commit(Durability::Immediate, keys, &mut Vec::new())?;
        }
        Ok(())
    }
}
