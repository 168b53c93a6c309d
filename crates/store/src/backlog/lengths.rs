//! How long each file was when it was last made durable: the backlog's part of the crawl's manifest.

use serde::{Deserialize, Serialize};

use super::ticket::{Position, SegmentId};

/// The files of a backlog and their lengths at one moment. From [`sync`](super::Backlog::sync), by way of the crawl's manifest, to the next
/// [`open`](super::Backlog::open).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lengths {
    pub(super) segments: Vec<SegmentLength>,
    pub(super) acks: AckLength,
    pub(super) next_segment: u64,
    pub(super) position: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SegmentLength {
    pub(super) id: SegmentId,
    pub(super) bytes: u64,
    pub(super) entries: u32,
    pub(super) next_sequence: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AckLength {
    pub(super) generation: u64,
    pub(super) bytes: u64,
}

impl Lengths {
    pub(super) fn of(&self, id: SegmentId) -> Option<&SegmentLength> {
        let at = self.segments.binary_search_by_key(&id, |length| length.id);
        at.ok().map(|at| &self.segments[at])
    }
}

/// What to believe of a backlog's files beyond the lengths that the manifest names.
pub type Tails<'a> = crate::bucketed::Tails<'a, Lengths>;

/// What was found, and repaired, on opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recovery {
    /// Entries that wait to be handed out.
    pub waiting: u64,
    /// Entries beyond the manifest's lengths that were kept.
    pub kept: u64,
    /// Bytes that were cut: torn ends, or all beyond the manifest.
    pub cut_bytes: u64,
    /// Files that were removed whole because nothing in them counts.
    pub removed_files: u64,
    /// Entries that were not done with and cannot be read any more, as far as opening finds that. Never from a kill or a power loss: somebody damaged the files.
    pub lost: u64,
    /// Bytes of acknowledgements that cannot be read any more: what they say is done with is visited once more.
    pub acks_lost_bytes: u64,
}
