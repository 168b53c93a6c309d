//! Writes one run: takes ascending keys, partition by partition.
//!
//! Memory is that of one partition under construction; what is finished is on disk. The file has its name only when it is whole
//! and durable.

use std::path::{Path, PathBuf};

use super::SeenError;
use super::block::{self, BLOCK_BYTES, Place};
use super::filter::Filter;
use super::run::{self, MAGIC, Row, TRAILER_BYTES};
use junkai_files::disk::{self, Disk, DiskFile};

pub(super) struct RunWriter {
    disk: Disk,
    id: u64,
    path: PathBuf,
    file: DiskFile,
    partition_keys: usize,
    /// Keys of the partition under construction.
    keys: Vec<u64>,
    /// Its bytes, as they will be written.
    bytes: Vec<u8>,
    /// The table so far.
    table: Vec<u8>,
    partitions: u32,
    written: u64,
    total_keys: u64,
}

impl RunWriter {
    pub(super) fn create(
        disk: &Disk,
        dir: &Path,
        id: u64,
        partition_keys: usize,
    ) -> Result<RunWriter, SeenError> {
        let path = run::path(dir, id);
        Ok(RunWriter {
            file: disk.create(&disk::temporary(&path))?,
            disk: disk.clone(),
            id,
            path,
            partition_keys,
            keys: Vec::with_capacity(partition_keys),
            bytes: Vec::new(),
            table: Vec::new(),
            partitions: 0,
            written: 0,
            total_keys: 0,
        })
    }

    /// Adds a key.
    ///
    /// # Panics
    /// If it is not above the one before it.
    pub(super) fn push(&mut self, key: u64) -> Result<(), SeenError> {
        if self.keys.len() == self.partition_keys {
            self.end_partition()?;
        }
        if let Some(last) = self.keys.last() {
            assert!(*last < key, "key {key} came after {last}");
        }
        self.keys.push(key);
        Ok(())
    }

    /// Makes the run whole and durable, and gives it its name.
    pub(super) fn finish(mut self) -> Result<(), SeenError> {
        if !self.keys.is_empty() {
            self.end_partition()?;
        }
        let mut trailer = Vec::with_capacity(TRAILER_BYTES);
        trailer.extend_from_slice(&MAGIC);
        trailer.extend_from_slice(&self.id.to_le_bytes());
        trailer.extend_from_slice(&self.written.to_le_bytes());
        trailer.extend_from_slice(&self.total_keys.to_le_bytes());
        trailer.extend_from_slice(&self.partitions.to_le_bytes());
        self.table.extend_from_slice(&trailer);
        let checksum = crc32fast::hash(&self.table);
        self.table.extend_from_slice(&checksum.to_le_bytes());
        self.file.write_at(&self.table, self.written)?;
        self.file.sync()?;
        self.disk.rename(self.file.path(), &self.path)?;
        Ok(())
    }

    /// Writes the partition under construction: blocks, index, filter, and zeros up to the next block boundary.
    fn end_partition(&mut self) -> Result<(), SeenError> {
        self.bytes.clear();
        let mut index = Vec::new();
        let mut rest = &*self.keys;
        while let Some(first) = rest.first() {
            index.extend_from_slice(&first.to_le_bytes());
            let place = Place {
                run: self.id,
                offset: self.written + self.bytes.len() as u64,
            };
            let count = block::encode(rest, place, &mut self.bytes);
            rest = &rest[count..];
        }
        let mut filter = Vec::new();
        if let Some(built) = Filter::build(&self.keys) {
            built.encode(&mut filter);
        }
        let row = Row {
            offset: self.written,
            first_key: self.keys[0],
            keys: small(self.keys.len()),
            blocks: small(self.bytes.len() / BLOCK_BYTES),
            filter_bytes: small(filter.len()),
            index_checksum: crc32fast::hash(&index),
            filter_checksum: crc32fast::hash(&filter),
        };
        self.bytes.extend_from_slice(&index);
        self.bytes.extend_from_slice(&filter);
        let padded = self.bytes.len().next_multiple_of(BLOCK_BYTES);
        self.bytes.resize(padded, 0);
        self.file.write_at(&self.bytes, self.written)?;
        row.encode(&mut self.table);
        self.partitions += 1;
        self.written += padded as u64;
        self.total_keys += self.keys.len() as u64;
        self.keys.clear();
        Ok(())
    }
}

/// A count within a partition, which holds at most 2¹⁸ keys.
#[expect(clippy::expect_used, reason = "a partition is small by construction")]
fn small(count: usize) -> u32 {
    u32::try_from(count).expect("a partition's counts fit in 32 bits")
}
