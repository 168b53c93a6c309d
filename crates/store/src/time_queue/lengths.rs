//! How far the journal was durable: the time queue's part of the crawl's manifest.

use serde::{Deserialize, Serialize};

/// A moment in the history of a time queue. From [`sync`](super::TimeQueue::sync), by way of the crawl's manifest, to the next
/// [`open`](super::TimeQueue::open). The journal up to there says what every other file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lengths {
    /// The journal's file; none before the first.
    pub(super) generation: u64,
    /// Bytes in it.
    pub(super) bytes: u64,
}

/// What to believe of a time queue's files beyond the moment that the manifest names.
pub type Tails<'a> = crate::bucketed::Tails<'a, Lengths>;

/// What was found, and repaired, on opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recovery {
    /// Records that wait to be handed out.
    pub waiting: u64,
    /// Of these, the ones that the journal held and no bucket.
    pub from_journal: u64,
    /// Notes of visits out of turn.
    pub early: u64,
    /// Bytes that were cut: torn ends, or all beyond the manifest.
    pub cut_bytes: u64,
    /// Files that were removed whole because nothing in them counts.
    pub removed_files: u64,
    /// Files of buckets that are shorter than they were, or missing. Never from a kill or a power loss: somebody damaged them. What cannot be read is
    /// counted when its time comes.
    pub damaged_files: u64,
    /// Records that came back from the files of buckets because there is no journal: some of them in states of an earlier time too.
    pub salvaged: u64,
    /// Whether the journal is damaged before the place that the manifest names, so that states of an earlier time came back.
    pub journal_damaged: bool,
}
