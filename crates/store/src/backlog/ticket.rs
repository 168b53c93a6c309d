//! Names for things in the backlog: files, entries that were handed out, places in its history.

use serde::{Deserialize, Serialize};

use super::account::Weight;

/// The number of a file. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SegmentId(pub(super) u64);

/// Stands for one entry that was handed out, until it is acknowledged or replaced: the receipt that its holder owes.
///
/// It cannot be copied, so an entry is acknowledged once. If it is dropped, the entry is handed out again after the next start.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
#[must_use = "an entry that is not acknowledged is handed out again after the next start"]
pub struct Ticket {
    pub(super) segment: SegmentId,
    pub(super) index: u32,
    /// What it adds to what waits.
    pub(super) weight: Weight,
}

/// A place in the history of a backlog: the number of entries that were appended before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub u64);
