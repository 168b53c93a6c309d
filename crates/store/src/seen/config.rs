//! How much memory the set of known URLs may take, and what it is spent on.

use serde::{Deserialize, Serialize};

/// The set of known URLs. Table `[seen]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeenConfig {
    /// Memory that the set may take. Default `256MiB`: filters for 10⁸ known URLs. With more URLs than that a
    /// question costs a read of the disk more often; the memory stays within the budget. At least 1 MiB is taken; at most 1 TiB.
    #[serde(with = "junkai_size::bytes")]
    pub memory_bytes: u64,
    /// How many sorted runs of about the same size are left standing before they are merged into one. Default 4: fewer runs to
    /// ask, at about log₄ rewrites of each URL. From 2 to 64.
    pub merge_width: usize,
}

impl Default for SeenConfig {
    fn default() -> SeenConfig {
        SeenConfig {
            memory_bytes: 256 << 20,
            merge_width: 4,
        }
    }
}

/// Bytes for one slot of the memtable: the key and the control byte of the table, and at 7/8 load the sorted copy that a flush makes.
const MEMTABLE_SLOT_BYTES: usize = 16;
/// Bytes for each key of a partition while its filter is built, rounded up: the keys, their hashes in peeling order, the table
/// of hashes and counts, the queue, the filter, the blocks.
const PARTITION_SCRATCH_BYTES: usize = 48;
const PARTITION_KEYS_MAX: usize = 1 << 18;
const MEMORY_MIN: usize = 1 << 20;

/// The budget, divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    /// Keys that the memtable holds before it must be flushed.
    pub(super) memtable_keys: usize,
    /// Slots of the cache of confirmed keys.
    pub(super) cache_slots: usize,
    /// Keys of one partition of a run.
    pub(super) partition_keys: usize,
    /// Bytes for the filters and indexes of all runs.
    pub(super) run_bytes: usize,
}

impl Shares {
    /// A quarter for the memtable, a sixteenth for the cache, an eighth for building a partition in a flush and in a merge at
    /// the same time, and the rest for filters and indexes.
    pub(super) fn of(config: &SeenConfig) -> Shares {
        let memory = usize::try_from(config.memory_bytes)
            .unwrap_or(usize::MAX)
            .max(MEMORY_MIN);
        let memtable_slots = power_of_two_within(memory / 4 / MEMTABLE_SLOT_BYTES);
        let partition_keys =
            power_of_two_within(memory / 8 / (2 * PARTITION_SCRATCH_BYTES)).min(PARTITION_KEYS_MAX);
        Shares {
            memtable_keys: memtable_slots / 8 * 7,
            cache_slots: power_of_two_within(memory / 16 / size_of::<u64>()),
            partition_keys,
            run_bytes: memory / 16 * 9,
        }
    }
}

fn power_of_two_within(limit: usize) -> usize {
    assert!(0 < limit, "no power of two is within nothing");
    1 << limit.ilog2()
}
