//! One immutable sorted file of keys, and what is kept of it in memory.
//!
//! A run is a row of partitions. Each holds its blocks, then the first key of each block (the index), then a filter, and starts
//! at a multiple of the block size; so that what must be in memory to build or load one is bounded, however big the run. After the
//! partitions come a table with a row for each, and a trailer. Index and filter are aids: where the budget or the disk denies them,
//! answers come from the blocks alone, more slowly; damaged ones are made again from the blocks.
//!
//! Written by [`RunWriter`](super::writer::RunWriter), read by `Seen` (single keys) and by merges (front to back).

use std::path::{Path, PathBuf};

use super::SeenError;
use super::block::{BLOCK_BYTES, Block, Buffer, Place};
use super::filter::Filter;
use junkai_files::disk::{Disk, DiskFile};

pub(super) const MAGIC: [u8; 8] = *b"jkseen01";
pub(super) const ROW_BYTES: usize = 36;
pub(super) const TRAILER_BYTES: usize = 40;

/// How the name of a run ends.
pub(super) const SUFFIX: &str = ".run";

/// The name of run `id` in its directory.
pub(super) fn path(dir: &Path, id: u64) -> PathBuf {
    dir.join(format!("{id:08}{SUFFIX}"))
}

/// A run that is open for questions.
#[derive(Debug)]
pub(super) struct Run {
    id: u64,
    file: DiskFile,
    file_bytes: u64,
    keys: u64,
    /// The first key of each partition: asked before anything else, so kept apart.
    first_keys: Box<[u64]>,
    partitions: Box<[Partition]>,
}

#[derive(Debug)]
struct Partition {
    row: Row,
    index: Aid<Box<[u64]>>,
    filter: Aid<Filter>,
}

/// Something in memory that makes answers faster.
#[derive(Debug)]
enum Aid<T> {
    /// The budget has no room for it.
    Unwanted,
    /// There is room; it is yet to be read.
    Wanted,
    Loaded(T),
}

/// A kind of [`Aid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AidKind {
    /// Finds the block of a key; without it, blocks are bisected on disk.
    Index,
    /// Spares the read for most keys that are not there.
    Filter,
}

/// One row of a run's table: where a partition is and how to check its aids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) offset: u64,
    pub(super) first_key: u64,
    pub(super) keys: u32,
    pub(super) blocks: u32,
    pub(super) filter_bytes: u32,
    pub(super) index_checksum: u32,
    pub(super) filter_checksum: u32,
}

impl Row {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.first_key.to_le_bytes());
        for number in [
            self.keys,
            self.blocks,
            self.filter_bytes,
            self.index_checksum,
            self.filter_checksum,
        ] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn decode(bytes: &[u8]) -> Row {
        Row {
            offset: long(bytes, 0),
            first_key: long(bytes, 8),
            keys: short(bytes, 16),
            blocks: short(bytes, 20),
            filter_bytes: short(bytes, 24),
            index_checksum: short(bytes, 28),
            filter_checksum: short(bytes, 32),
        }
    }

    fn index_offset(&self) -> u64 {
        self.block_offset(self.blocks as usize)
    }

    fn index_bytes(&self) -> usize {
        self.blocks as usize * size_of::<u64>()
    }

    fn filter_offset(&self) -> u64 {
        self.index_offset() + self.index_bytes() as u64
    }

    fn block_offset(&self, block: usize) -> u64 {
        self.offset + (block * BLOCK_BYTES) as u64
    }
}

impl Run {
    /// Opens run `id` of a directory: reads its table, but no aid yet.
    pub(super) fn open(disk: &Disk, dir: &Path, id: u64) -> Result<Run, SeenError> {
        let file = disk.open(&path(dir, id))?;
        file.expect_scattered_reads();
        let file_bytes = file.length()?;
        let damaged = |offset, what| SeenError::Damaged {
            path: file.path().to_owned(),
            offset,
            what,
        };
        let Some(trailer_offset) = file_bytes.checked_sub(TRAILER_BYTES as u64) else {
            return Err(damaged(0, "it is too short for a run"));
        };
        let mut trailer = [0; TRAILER_BYTES];
        file.read_exact_at(&mut trailer, trailer_offset)?;
        let table_offset = long(&trailer, 16);
        let partitions = short(&trailer, 32) as usize;
        let is_sound = trailer[..8] == MAGIC
            && long(&trailer, 8) == id
            && table_offset.checked_add((partitions * ROW_BYTES) as u64) == Some(trailer_offset);
        if !is_sound {
            return Err(damaged(trailer_offset, "it does not end as a run does"));
        }
        let mut table = vec![0; partitions * ROW_BYTES];
        file.read_exact_at(&mut table, table_offset)?;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&table);
        hasher.update(&trailer[..TRAILER_BYTES - 4]);
        if hasher.finalize() != short(&trailer, 36) {
            return Err(damaged(table_offset, "the table's checksum is wrong"));
        }
        let rows: Vec<Row> = table.chunks_exact(ROW_BYTES).map(Row::decode).collect();
        Ok(Run {
            id,
            file_bytes,
            keys: long(&trailer, 24),
            first_keys: rows.iter().map(|row| row.first_key).collect(),
            partitions: rows.into_iter().map(Partition::new).collect(),
            file,
        })
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn keys(&self) -> u64 {
        self.keys
    }

    pub(super) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    pub(super) fn partition_count(&self) -> usize {
        self.partitions.len()
    }

    /// Memory that the run takes whatever the budget says.
    pub(super) fn table_bytes(&self) -> usize {
        size_of_val(&*self.first_keys) + size_of_val(&*self.partitions)
    }

    /// Memory of the aids that are loaded.
    pub(super) fn aid_bytes(&self, kind: AidKind) -> usize {
        let loaded = self.partitions.iter().filter(|partition| match kind {
            AidKind::Index => matches!(partition.index, Aid::Loaded(_)),
            AidKind::Filter => matches!(partition.filter, Aid::Loaded(_)),
        });
        loaded.map(|partition| partition.aid_cost(kind)).sum()
    }

    /// Whether no partition lacks its filter.
    pub(super) fn is_filtered(&self) -> bool {
        self.partitions
            .iter()
            .all(|partition| matches!(partition.filter, Aid::Loaded(_)))
    }

    /// What an aid of a partition takes in memory.
    pub(super) fn aid_cost(&self, partition: usize, kind: AidKind) -> usize {
        self.partitions[partition].aid_cost(kind)
    }

    /// Marks an aid for loading, or drops it.
    pub(super) fn want(&mut self, partition: usize, kind: AidKind, wanted: bool) {
        let partition = &mut self.partitions[partition];
        match kind {
            AidKind::Index => partition.index.want(wanted),
            AidKind::Filter => partition.filter.want(wanted),
        }
    }

    /// Loads the aids that are wanted; tells how many were damaged and made again.
    pub(super) fn load_wanted(&mut self) -> Result<u64, SeenError> {
        let mut repaired = 0;
        for at in 0..self.partitions.len() {
            let row = self.partitions[at].row;
            if matches!(self.partitions[at].index, Aid::Wanted) {
                let index = self.load_index(row)?;
                repaired += u64::from(index.is_none());
                let index = index.map_or_else(|| self.rebuild_index(row), Ok)?;
                self.partitions[at].index = Aid::Loaded(index);
            }
            if matches!(self.partitions[at].filter, Aid::Wanted) {
                let filter = self.load_filter(row)?;
                repaired += u64::from(filter.is_none());
                let filter = filter.map_or_else(|| self.rebuild_filter(row), |it| Ok(Some(it)))?;
                self.partitions[at].filter = filter.map_or(Aid::Unwanted, Aid::Loaded);
            }
        }
        Ok(repaired)
    }

    /// Whether the run holds `key`. Questions in ascending order are answered fastest.
    pub(super) fn contains(&self, key: u64, hint: &mut usize) -> Result<bool, SeenError> {
        let Some(partition) = self.partition_of(key, hint) else {
            return Ok(false);
        };
        if let Aid::Loaded(filter) = &partition.filter
            && !filter.may_contain(key)
        {
            return Ok(false);
        }
        let mut buffer = [0; size_of::<Buffer>()];
        let row = &partition.row;
        let Aid::Loaded(index) = &partition.index else {
            return self.bisect(row, key, &mut buffer);
        };
        let block = index.partition_point(|first| *first <= key);
        let Some(block) = block.checked_sub(1) else {
            return Ok(false);
        };
        Ok(self.read_block(row, block, &mut buffer)?.contains(key))
    }

    /// The partition whose range `key` is in. The `hint` is where the question before this one was answered.
    fn partition_of(&self, key: u64, hint: &mut usize) -> Option<&Partition> {
        let is_at = |at: usize| {
            self.first_keys.get(at).is_some_and(|first| *first <= key)
                && self.first_keys.get(at + 1).is_none_or(|next| key < *next)
        };
        if !is_at(*hint) {
            let after = self.first_keys.partition_point(|first| *first <= key);
            *hint = after.checked_sub(1)?;
        }
        self.partitions.get(*hint)
    }

    /// Finds the block of a key without an index, by reading the ones it may be in.
    fn bisect(&self, row: &Row, key: u64, buffer: &mut Buffer) -> Result<bool, SeenError> {
        let (mut low, mut high) = (0, row.blocks as usize);
        while low < high {
            let middle = low + (high - low) / 2;
            let block = self.read_block(row, middle, buffer)?;
            if block.contains(key) {
                return Ok(true);
            }
            if block.base() < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(false)
    }

    fn read_block<'a>(
        &self,
        row: &Row,
        block: usize,
        buffer: &'a mut Buffer,
    ) -> Result<Block<'a>, SeenError> {
        let offset = row.block_offset(block);
        self.file
            .read_exact_at(&mut buffer[..BLOCK_BYTES], offset)?;
        let place = Place {
            run: self.id,
            offset,
        };
        Block::new(buffer, place).ok_or_else(|| SeenError::Damaged {
            path: self.file.path().to_owned(),
            offset,
            what: "the block's checksum is wrong",
        })
    }

    /// Appends the keys of one block, for reading front to back; false after the last.
    pub(super) fn read_keys(
        &self,
        partition: usize,
        block: usize,
        keys: &mut Vec<u64>,
    ) -> Result<bool, SeenError> {
        let row = &self.partitions[partition].row;
        if row.blocks as usize <= block {
            return Ok(false);
        }
        let mut buffer = [0; size_of::<Buffer>()];
        keys.extend(self.read_block(row, block, &mut buffer)?.keys());
        Ok(true)
    }

    fn load_index(&self, row: Row) -> Result<Option<Box<[u64]>>, SeenError> {
        let mut bytes = vec![0; row.index_bytes()];
        self.file.read_exact_at(&mut bytes, row.index_offset())?;
        let is_sound = crc32fast::hash(&bytes) == row.index_checksum;
        Ok(is_sound.then(|| bytes.chunks_exact(8).map(|word| long(word, 0)).collect()))
    }

    fn load_filter(&self, row: Row) -> Result<Option<Filter>, SeenError> {
        let mut bytes = vec![0; row.filter_bytes as usize];
        self.file.read_exact_at(&mut bytes, row.filter_offset())?;
        let is_sound = crc32fast::hash(&bytes) == row.filter_checksum;
        Ok(is_sound.then(|| Filter::decode(&bytes)).flatten())
    }

    fn rebuild_index(&self, row: Row) -> Result<Box<[u64]>, SeenError> {
        let mut buffer = [0; size_of::<Buffer>()];
        (0..row.blocks as usize)
            .map(|block| Ok(self.read_block(&row, block, &mut buffer)?.base()))
            .collect()
    }

    fn rebuild_filter(&self, row: Row) -> Result<Option<Filter>, SeenError> {
        let mut buffer = [0; size_of::<Buffer>()];
        let mut keys = Vec::with_capacity(row.keys as usize);
        for block in 0..row.blocks as usize {
            keys.extend(self.read_block(&row, block, &mut buffer)?.keys());
        }
        Ok(Filter::build(&keys))
    }
}

impl Partition {
    fn new(row: Row) -> Partition {
        Partition {
            row,
            index: Aid::Unwanted,
            filter: Aid::Unwanted,
        }
    }

    fn aid_cost(&self, kind: AidKind) -> usize {
        match kind {
            AidKind::Index => self.row.index_bytes(),
            AidKind::Filter => self.row.filter_bytes as usize,
        }
    }
}

impl<T> Aid<T> {
    fn want(&mut self, wanted: bool) {
        if !wanted {
            *self = Aid::Unwanted;
        } else if matches!(self, Aid::Unwanted) {
            *self = Aid::Wanted;
        }
    }
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

fn short(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}
