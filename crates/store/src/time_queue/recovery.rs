//! Finds out what is in a time queue's directory after any kind of end.
//!
//! Loading changes nothing: it says what to repair, and opening does it. The journal says what counts; of other files, what it does not name is cut or
//! removed, unless an older manifest may still name it.

use std::path::Path;

use super::TimeQueueError;
use super::bucket_file;
use super::contents::Contents;
use super::journal::{self, Journal, Replayed};
use super::lengths::{Lengths, Recovery, Tails};
use super::run_places;
use crate::bucketed::{Repairs, Retired};
use junkai_files::disk::{self, Disk};

/// A directory's content, read but not repaired.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) contents: Contents,
    pub(super) journal: Journal,
    /// Whether there is a journal that counts.
    pub(super) has_journal: bool,
    pub(super) retired: Retired,
    pub(super) report: Recovery,
    pub(super) repairs: Repairs,
}

/// Reads the directory.
pub(super) fn load(
    disk: &Disk,
    dir: &Path,
    page_bytes: u32,
    tails: Tails,
) -> Result<Loaded, TimeQueueError> {
    let names = disk.list(dir)?;
    let generations: Vec<u64> = names
        .iter()
        .filter_map(|name| journal::FILES.number_of(name))
        .collect();
    let mut loaded = Loaded {
        contents: Contents::new(page_bytes),
        journal: Journal::at(0, 0, 0),
        has_journal: false,
        retired: Retired::default(),
        report: Recovery::default(),
        repairs: Repairs::default(),
    };
    loaded.load_journal(disk, dir, &generations, tails)?;
    if !loaded.has_journal {
        let last = generations.last().copied().unwrap_or(0);
        loaded.journal.generation = last.max(tails.lengths().generation);
        loaded.salvage(disk, dir, &names, tails)?;
    }
    for generation in generations {
        loaded.judge_journal(dir, generation, tails);
    }
    for name in &names {
        if name.ends_with(disk::TEMPORARY_SUFFIX) {
            loaded.repairs.remove(dir.join(name));
        } else if let Some(number) = bucket_file::number_of(name) {
            loaded.judge_bucket(disk, dir, number, tails)?;
        }
    }
    loaded.count(&names);
    Ok(loaded)
}

impl Loaded {
    /// Takes in the journal that counts: the one that the manifest names, or the newest that was begun completely.
    fn load_journal(
        &mut self,
        disk: &Disk,
        dir: &Path,
        generations: &[u64],
        tails: Tails,
    ) -> Result<(), TimeQueueError> {
        let page_bytes = self.contents.buffers.page_bytes();
        let (candidates, bytes_max, named) = match tails {
            Tails::Keep(lengths) => (generations.to_vec(), u64::MAX, lengths),
            Tails::Cut(lengths) => (vec![lengths.generation], lengths.bytes, lengths),
        };
        for generation in candidates.into_iter().rev().filter(|number| 0 < *number) {
            let path = journal::FILES.path(dir, generation);
            let Some(file) = disk.open_if_there(&path)? else {
                continue;
            };
            let mut contents = Contents::new(page_bytes);
            let replayed = journal::replay(&file, generation, bytes_max, |_, entry| {
                contents.apply(entry)
            })?;
            if let Some(begun_bytes) = replayed.begun_bytes {
                let file_bytes = file.length()?;
                self.contents = contents;
                self.has_journal = true;
                self.journal = Journal::at(generation, replayed.bytes, begun_bytes);
                self.repairs.cut(path, replayed.bytes, file_bytes);
                self.report.journal_damaged = is_behind(generation, replayed, named);
                return Ok(());
            }
        }
        self.report.journal_damaged = 0 < named.generation;
        Ok(())
    }

    /// Without a journal, takes in what bucket files say of themselves. Every record that was ever there comes back, in each of the states in which it
    /// waited: nothing is lost, and some pages may be visited more than once.
    fn salvage(
        &mut self,
        disk: &Disk,
        dir: &Path,
        names: &[String],
        tails: Tails,
    ) -> Result<(), TimeQueueError> {
        let is_certain = match tails {
            Tails::Keep(_) => true,
            // What no manifest names was never promised.
            Tails::Cut(lengths) => 0 < lengths.generation,
        };
        for number in names.iter().filter_map(|name| bucket_file::number_of(name)) {
            if !is_certain {
                break;
            }
            let salvaged = run_places::salvage(number, disk, dir)?;
            let Some(file) = salvaged else {
                continue;
            };
            self.report.salvaged += u64::from(file.left());
            self.contents.buckets.insert(number, file);
            let next = number.0.saturating_add(1);
            self.contents.next_bucket.0 = self.contents.next_bucket.0.max(next);
        }
        Ok(())
    }

    /// Says what becomes of a journal's file.
    fn judge_journal(&mut self, dir: &Path, generation: u64, tails: Tails) {
        if generation == self.journal.generation && self.has_journal {
            return;
        }
        let is_named = tails.are_kept() && generation < self.journal.generation;
        if is_named {
            self.retired.insert(journal::FILES, generation);
        } else {
            self.repairs.remove(journal::FILES.path(dir, generation));
        }
    }

    /// Says what becomes of a bucket's file.
    fn judge_bucket(
        &mut self,
        disk: &Disk,
        dir: &Path,
        number: super::BucketNumber,
        tails: Tails,
    ) -> Result<(), TimeQueueError> {
        let path = bucket_file::path(dir, number);
        let Some(known) = self.contents.buckets.get_mut(number) else {
            // An older manifest may name what the newest journal does not know any more.
            let may_be_named = number < self.contents.next_bucket;
            if may_be_named && tails.are_kept() {
                self.retired.insert(bucket_file::FILES, number.0);
            } else {
                self.repairs.remove(path);
            }
            return Ok(());
        };
        known.has_file = true;
        let (known_bytes, left) = (known.size.bytes, known.left_in_file());
        let Some(file) = disk.open_if_there(&path)? else {
            // For one who looks on: a live crawl removed it since it was listed.
            return Ok(());
        };
        let file_bytes = file.length()?;
        if file_bytes < known_bytes && 0 < left {
            self.report.damaged_files += 1;
        }
        self.repairs.cut(path, known_bytes, file_bytes);
        Ok(())
    }

    fn count(&mut self, names: &[String]) {
        let is_missing = |number: &super::BucketNumber| {
            let path = bucket_file::path(Path::new(""), *number);
            let name = path.to_string_lossy().into_owned();
            names.binary_search(&name).is_err()
        };
        let buckets = self.contents.buckets.in_order().into_iter();
        let missing =
            buckets.filter(|(number, file)| 0 < file.left_in_file() && is_missing(number));
        self.report.damaged_files += missing.count() as u64;
        self.report.cut_bytes = self.repairs.cut_bytes;
        self.report.removed_files = self.repairs.removed_files;
        self.report.waiting = self.contents.records();
        self.report.from_journal = self.contents.records_in_memory();
        self.report.early = self.contents.early.len() as u64;
    }
}

/// Whether less was found than the manifest names.
fn is_behind(generation: u64, replayed: Replayed, named: &Lengths) -> bool {
    (generation, replayed.bytes) < (named.generation, named.bytes)
}
