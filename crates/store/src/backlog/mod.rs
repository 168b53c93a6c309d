//! Visits that wait for their time, on disk: each is put where its time is.
//!
//! Every admitted URL passes through here. What is due waits in a first-in-first-out row; what is due later waits in the bucket of its time,
//! coarser with distance (see `calendar`). A bucket that opens is read once, front to back. What is due and must wait behind better ones is spilled
//! in a row for each class of priorities. All are rows of append-only files of packed blocks, so all writing and reading is sequential. How much may wait is bounded in bytes
//! (see `account`). Read [`Backlog`] first, then `segment` and `block` for a file and `recovery` for what survives.
//!
//! **Who fills and who empties it.** The driver appends what admission let in and what the scheduler deferred; it takes entries with
//! [`next`](Backlog::next) while the ring has room. An entry that was handed out is still on disk until its [`Ticket`] is acknowledged, after the visit's
//! outcome is safe, or replaced, when the visit is deferred or spilled. A driver that has its own idea of who comes next appends with
//! [`append_held`](Backlog::append_held): such an entry is in hand from the first, and is on disk for the next life only.
//!
//! **As the log of `seen`.** The order of a checkpoint is: [`sync`](Backlog::sync); write the crawl's manifest with the [`Lengths`]; [`Seen::flush`](crate::seen::Seen::flush) with
//! the [`position`](Backlog::position) that the backlog had at the sync (as often as wanted, not each time); [`checkpointed`](Backlog::checkpointed) with the mark of `seen`.
//! After a start, [`replay_since`](Backlog::replay_since) that mark inserts again what `seen` had only in memory.
//!
//! Invariants: an entry is handed out once in a life of the process, never before it is due, and again in the next life unless it was
//! acknowledged; acknowledgements reach the disk behind appended entries and behind the [`Outcomes`] of the visits that they acknowledge; a file is removed only when all of it is acknowledged, `seen` has flushed it,
//! and the manifest does not name it; a damaged place in a file costs the entries of its block and no others. Memory: the write buffer, a bit for each entry of
//! files that are being worked off, three read buffers with a block each, a megabyte of counters, and 16 bytes for each acknowledgement since the last
//! [`flush`](Backlog::flush), which the driver bounds. Three files at most are open between calls.
//!
//! Not here: which server an entry belongs to, and whether it may be visited.

mod account;
mod acks;
mod append;
mod block;
mod calendar;
mod checkpoint;
mod class;
mod config;
mod cursor;
mod entry;
mod error;
mod frame;
mod hand_out;
mod lengths;
mod outcomes;
mod recovery;
mod scan;
mod segment;
mod ticket;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::bucketed::Retired;
use crate::packing::{Packer, Unpacker};
use account::{Account, Weight};
use acks::AckLog;
use calendar::{Bucket, Calendar};
use hand_out::Lanes;
use junkai_files::disk::{Disk, DiskError};
use segment::Segment;
use ticket::SegmentId;

pub use account::{Bound, host_of};
pub use class::Class;
pub use config::BacklogConfig;
pub use entry::Entry;
pub use error::{BacklogError, NotReplaced};
pub use lengths::{Lengths, Recovery, Tails};
pub use outcomes::{EntriesWritten, Outcomes};
pub use scan::look;
pub use ticket::{Position, Ticket};

/// The visits that wait, on disk.
#[derive(Debug)]
pub struct Backlog {
    disk: Disk,
    dir: PathBuf,
    buffer_bytes_max: u64,
    segment_bytes: u64,
    calendar: Calendar,
    segments: BTreeMap<SegmentId, Segment>,
    /// Where each bucket's next entry is appended.
    appending: BTreeMap<Bucket, SegmentId>,
    /// Buckets that are not open yet.
    closed: BTreeMap<Bucket, Vec<SegmentId>>,
    /// Segments of buckets that were opened before their time.
    early: BTreeSet<SegmentId>,
    /// Whether that holds for entries that failed before, too.
    are_failed_early: bool,
    lanes: Lanes,
    /// Whose turn it is, so that neither starves the other.
    is_due_turn: bool,
    /// Segments with entries that are not written.
    unwritten: BTreeSet<SegmentId>,
    buffered_bytes: u64,
    packer: Packer,
    unpacker: Unpacker,
    /// What waits and what is in hand, in bytes.
    account: Account,
    acks: AckLog,
    retired: Retired,
    has_new_files: bool,
    next_segment: u64,
    position: u64,
    /// Up to here `seen` has flushed.
    seen_position: u64,
    /// Segments that wait for nothing else.
    kept_for_seen: usize,
    /// Their bytes.
    kept_for_seen_bytes: u64,
    waiting: u64,
    /// Of those that wait, the ones that were spilled.
    spilled: u64,
    in_hand: u64,
}

/// What the backlog holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BacklogStats {
    /// Entries that wait to be handed out.
    pub waiting: u64,
    /// Of these, the ones that were spilled.
    #[serde(rename = "aside")]
    pub spilled: u64,
    /// Entries that were handed out and not yet acknowledged.
    pub in_hand: u64,
    /// Bytes of the entries that wait and that are in hand, before they are packed: what the bounds are about.
    pub waiting_bytes: u64,
}

/// What the backlog takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BacklogSize {
    /// Files on disk.
    pub segments: u64,
    /// Bytes on disk, and still to be written there.
    pub disk_bytes: u64,
    /// Bytes of buffers, acknowledgements and counters in memory.
    pub memory_bytes: u64,
}

impl Backlog {
    /// Opens the backlog in `dir`, or makes an empty one there. `tails` says what to believe of what the manifest does not name.
    pub fn open(
        dir: &Path,
        config: &BacklogConfig,
        tails: Tails,
    ) -> Result<(Backlog, Recovery), BacklogError> {
        Backlog::open_on(Disk::default(), dir, config, tails)
    }

    /// The same, on a disk that may be in memory.
    ///
    /// # Errors
    /// If a file cannot be read or mended.
    pub fn open_on(
        disk: Disk,
        dir: &Path,
        config: &BacklogConfig,
        tails: Tails,
    ) -> Result<(Backlog, Recovery), BacklogError> {
        disk.create_dir(dir)?;
        let loaded = recovery::load(&disk, dir, tails)?;
        loaded.repairs.make(&disk, dir)?;
        let report = loaded.report;
        let in_memory = |source| DiskError {
            path: dir.to_owned(),
            source,
        };
        let mut backlog = Backlog {
            packer: Packer::new().map_err(in_memory)?,
            unpacker: Unpacker::new().map_err(in_memory)?,
            account: Account::new(config.host_bytes_max, config.bytes_max),
            disk,
            dir: dir.to_owned(),
            buffer_bytes_max: config.buffer_bytes,
            segment_bytes: config.segment_bytes,
            calendar: Calendar::new(config.resolution),
            segments: loaded.segments,
            appending: BTreeMap::new(),
            closed: BTreeMap::new(),
            early: BTreeSet::new(),
            are_failed_early: false,
            lanes: Lanes::default(),
            is_due_turn: true,
            unwritten: BTreeSet::new(),
            buffered_bytes: 0,
            acks: loaded.acks,
            retired: Retired::default(),
            has_new_files: true,
            next_segment: loaded.next_segment,
            position: loaded.position,
            seen_position: 0,
            kept_for_seen: 0,
            kept_for_seen_bytes: 0,
            waiting: report.waiting,
            spilled: 0,
            in_hand: 0,
        };
        backlog.line_up();
        backlog.count_bytes()?;
        Ok((backlog, report))
    }

    /// Puts the segments that were found where they are read from and appended to.
    fn line_up(&mut self) {
        for (id, segment) in &self.segments {
            if segment.left() == 0 {
                continue;
            }
            // Only the last one of a bucket, or new entries would overtake those behind it; and none that is no longer in hand.
            if segment.is_sealed || segment.bucket == Bucket::Held {
                self.appending.remove(&segment.bucket);
            } else {
                self.appending.insert(segment.bucket, *id);
            }
            match segment.bucket {
                Bucket::Now => self.lanes.now.segments.push_back(*id),
                Bucket::Held => self.lanes.due.segments.push_back(*id),
                Bucket::Spilled(class) => {
                    self.spilled += u64::from(segment.left());
                    self.lanes.line_up_spilled(class, *id);
                }
                later @ Bucket::Later { .. } => self.closed.entry(later).or_default().push(*id),
            }
        }
    }

    /// Counts what waits. It takes a look at all of it: a count that was kept would be wrong after a kill, and wrong for ever.
    fn count_bytes(&mut self) -> Result<(), BacklogError> {
        let mut account = std::mem::replace(&mut self.account, Account::new(0, 0));
        let counted = self.scan(|entry| account.add(Weight::of(entry)));
        self.account = account;
        counted
    }

    /// Says that an entry which was handed out is done with, in memory until the next [`flush`](Backlog::flush).
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the receipt is given up, so that it cannot be used twice"
    )]
    pub fn ack(&mut self, ticket: Ticket) {
        self.in_hand -= 1;
        self.finish(&ticket);
    }

    fn finish(&mut self, ticket: &Ticket) {
        let segment = self.segments.get_mut(&ticket.segment);
        let is_new = segment.is_some_and(|segment| segment.finish(ticket.index));
        assert!(is_new, "{ticket:?} is done with twice");
        self.account.take(ticket.weight);
        self.acks.push(ticket.segment, ticket.index);
    }

    /// Gives what is in memory to the system: entries, then the outcomes of the visits that ended, then acknowledgements. It survives a kill, not a power
    /// loss. There is no other way for an acknowledgement to leave memory.
    ///
    /// # Errors
    /// What was not written stays in memory; the call may be repeated.
    pub fn flush<O: Outcomes>(&mut self, outcomes: &mut O) -> Result<(), O::Error> {
        self.flush_entries()?;
        outcomes.write(EntriesWritten::new())?;
        self.acks.write(&self.disk, &self.dir)?;
        Ok(())
    }

    /// Gives the entries in memory to the system, and not the acknowledgements.
    fn flush_entries(&mut self) -> Result<(), BacklogError> {
        while let Some(id) = self.unwritten.first().copied() {
            if let Some(segment) = self.segments.get_mut(&id) {
                segment.write(&self.disk, &self.dir, &mut self.packer)?;
            }
            self.unwritten.remove(&id);
        }
        self.buffered_bytes = 0;
        Ok(())
    }

    /// The place behind the last entry that was appended.
    #[must_use]
    pub fn position(&self) -> Position {
        Position(self.position)
    }

    /// Acknowledgements that wait for the next [`flush`](Backlog::flush), in bytes of memory.
    #[must_use]
    pub fn unwritten_ack_bytes(&self) -> usize {
        self.acks.pending_bytes()
    }

    /// Entries that wait to be handed out.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// What the backlog holds, without a look at its files.
    #[must_use]
    pub fn stats(&self) -> BacklogStats {
        BacklogStats {
            waiting: self.waiting,
            spilled: self.spilled,
            in_hand: self.in_hand,
            waiting_bytes: self.account.all(),
        }
    }

    /// What the backlog takes, in a look at each of its files.
    #[must_use]
    pub fn size(&self) -> BacklogSize {
        let memory = self.segments.values().map(Segment::memory_bytes);
        let memory_bytes =
            memory.sum::<usize>() + self.acks.memory_bytes() + self.account.memory_bytes();
        BacklogSize {
            segments: self.segments.len() as u64,
            disk_bytes: self.segments.values().map(Segment::bytes).sum::<u64>() + self.acks.written,
            memory_bytes: memory_bytes as u64,
        }
    }
}

#[cfg(test)]
mod tests;
