//! Keeps what the set holds in memory within its budget, and counts it.

use serde::Serialize;

use super::run::{AidKind, Run};
use super::{Seen, SeenError};

/// What the set holds and takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SeenStats {
    /// Known URLs.
    pub keys: u64,
    /// Of these, in memory only.
    pub unflushed: u64,
    /// Sorted runs on disk.
    pub runs: u64,
    /// Bytes held in memory: table, cache, indexes and filters.
    pub memory_bytes: u64,
    /// Bytes of all runs on disk.
    pub disk_bytes: u64,
    /// Bits of all filters in memory.
    pub filter_bits: u64,
    /// Filters and indexes that were damaged on disk and made again, since opening.
    pub repaired: u64,
}

impl Seen {
    /// What the set holds and takes.
    #[must_use]
    pub fn stats(&self) -> SeenStats {
        let sum = |each: &dyn Fn(&Run) -> usize| self.runs.iter().map(each).sum::<usize>();
        let filter_bytes = sum(&|run| run.aid_bytes(AidKind::Filter));
        let memory_bytes = self.memtable.allocation_size()
            + self.cache.bytes()
            + filter_bytes
            + sum(&|run| run.aid_bytes(AidKind::Index) + run.table_bytes());
        SeenStats {
            keys: self.len(),
            unflushed: self.memtable.len() as u64,
            runs: self.runs.len() as u64,
            memory_bytes: memory_bytes as u64,
            disk_bytes: self.runs.iter().map(Run::file_bytes).sum(),
            filter_bits: filter_bytes as u64 * 8,
            repaired: self.repaired,
        }
    }

    /// Loads the filters and indexes that fit the budget, drops those that do not, and puts the runs in the order of asking.
    ///
    /// Indexes come first, they are small and spare most; then filters, from the smallest run up: the biggest run, which most keys
    /// that are known must be read from anyway, is the first to go without. Runs with filters are asked first, the biggest of them
    /// before the others, because most keys are there.
    pub(super) fn fit_memory(&mut self) -> Result<(), SeenError> {
        self.runs.sort_by_key(|run| (run.keys(), run.id()));
        let mut used: usize = self.runs.iter().map(Run::table_bytes).sum();
        for kind in [AidKind::Index, AidKind::Filter] {
            for run in &mut self.runs {
                for partition in 0..run.partition_count() {
                    let with_it = used + run.aid_cost(partition, kind);
                    let fits = with_it <= self.shares.run_bytes;
                    run.want(partition, kind, fits);
                    used = if fits { with_it } else { used };
                }
            }
        }
        for run in &mut self.runs {
            self.repaired += run.load_wanted()?;
        }
        self.runs.reverse();
        self.runs.sort_by_key(|run| !run.is_filtered());
        Ok(())
    }
}
