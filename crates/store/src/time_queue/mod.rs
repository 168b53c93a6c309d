//! The long-term queue: the states of all known pages, on disk, each where its time is.
//!
//! Tamura and Kitsuregawa's study of the time resolution of a large web archive (Tamura and Kitsuregawa, 2010, in Japanese): page states in buckets by due time, a write buffer for each bucket, a due bucket read once, front to
//! back, and no look-up by URL. The revisit loop goes round it: [`next`](TimeQueue::next) hands out the state of a page that is due, the page is visited, and
//! [`put_back`](TimeQueue::put_back) puts the new state where its next visit is. Read [`TimeQueue`] first, then `layout` for where a state waits, `opening` and
//! `run` for how it lies there and is read, and `journal` for what survives.
//!
//! **Who fills and who empties it.** The driver puts a page in after its first visit and takes what is due while the ring has room. A record that was
//! handed out is still on disk until its [`Ticket`] is given back. A page that is visited out of turn keeps its place; what was found is
//! [noted](TimeQueue::note_early), and joined with the state when that surfaces.
//!
//! **Checkpoints** are those of the backlog: [`sync`](TimeQueue::sync); write the crawl's manifest with the [`Lengths`]; [`checkpointed`](TimeQueue::checkpointed).
//!
//! Departures from the paper: buckets get coarser with distance, and are sorted inside, so that a minute's resolution costs hardly more than a day's; a state is in
//! the journal before it leaves its old bucket (the paper may lose what is only in a buffer), and may therefore be handed out from memory, without having
//! been in its bucket's file; when memory is used up, the largest buffers are written, not the nearest, because large runs are what reading and writing
//! gain from, and half of the memory at a time.
//!
//! Invariants: a record is handed out once in a life of the process, never before it is due, and again in the next life unless it was replaced or
//! given up; no change counts before the driver's flush, which is when it may have written what the change stands for; every change is in the journal or in none of the files; a file is removed only when all of it is done with and the manifest
//! does not name it. Memory: the buffers, of which a quarter at most is with open buckets; some hundred blocks of open buckets and what was read
//! behind them, or as much of them as a whole; a bit for each record of open buckets, the notes, some hundred bytes for each bucket; and the changes since the last
//! flush, which the driver bounds by [`is_full`](TimeQueue::is_full).
//!
//! Not here: what a state means, when a page is next visited, and which server it is on.

mod block;
mod bucket_file;
mod buckets;
mod buffers;
mod checkpoint;
mod closed;
mod config;
mod contents;
mod cursor;
mod early;
mod entry;
mod error;
mod hand_out;
mod journal;
mod lately;
mod layout;
mod lengths;
mod line;
mod opening;
mod reader;
mod recall;
mod record;
mod recovery;
mod run;
mod run_places;
mod scan;
mod sealed;
mod stats;
mod ticket;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::bucketed::Retired;
use closed::Closed;
use contents::Contents;
use journal::Journal;
use junkai_files::disk::{Disk, DiskError};
use junkai_frontier::Time;
use line::{Line, Open};
use reader::Reader;
use recall::Recall;
use ticket::{BucketNumber, Place};
use write::Writer;

pub use config::{Layout, TimeQueueConfig};
pub use error::{NotReplaced, TimeQueueError};
pub use lately::put_since;
pub use layout::{Bucket, Calendar};
pub use lengths::{Lengths, Recovery, Tails};
pub use record::{Record, RecordRef};
pub use scan::{look, look_at_spans};
pub use stats::{SpanStats, TimeQueueStats, Traffic};
pub use ticket::Ticket;

/// The states of all known pages, on disk.
#[derive(Debug)]
pub struct TimeQueue {
    disk: Disk,
    dir: PathBuf,
    buffer_bytes_max: u64,
    early_max: usize,
    open_runs_max: usize,
    calendar: Calendar,
    contents: Contents,
    journal: Journal,
    /// The journal has grown long: when that was noticed. The next flush begins a new one.
    journal_due: Option<Time>,
    writer: Writer,
    reader: Reader,
    closed: Closed,
    /// What is read in open buckets, by the time of the next record there.
    line: Line,
    /// Of these the first, while it is.
    current: Option<Open>,
    recall: Recall,
    /// Memory of open buckets whose records are handed out from there.
    sealed_bytes: u64,
    /// Notes that are joined with the record in hand here.
    joining: BTreeMap<Place, u64>,
    /// Files that were written to since they were last made durable.
    dirty: BTreeSet<BucketNumber>,
    has_new_files: bool,
    retired: Retired,
    waiting: u64,
    in_hand: u64,
    traffic: Traffic,
}

impl TimeQueue {
    /// Opens the time queue in `dir`, or makes an empty one there. `tails` says what to believe of what the manifest does not name.
    pub fn open(
        dir: &Path,
        config: &TimeQueueConfig,
        tails: Tails,
    ) -> Result<(TimeQueue, Recovery), TimeQueueError> {
        TimeQueue::open_on(Disk::default(), dir, config, tails)
    }

    /// The same, on a disk that may be in memory.
    ///
    /// # Errors
    /// If a file cannot be read or mended.
    pub fn open_on(
        disk: Disk,
        dir: &Path,
        config: &TimeQueueConfig,
        tails: Tails,
    ) -> Result<(TimeQueue, Recovery), TimeQueueError> {
        disk.create_dir(dir)?;
        let mut loaded = recovery::load(&disk, dir, config.page_bytes_within(), tails)?;
        loaded.repairs.make(&disk, dir)?;
        if !loaded.has_journal {
            loaded.journal.begin(&loaded.contents, &disk, dir)?;
        }
        let in_memory = |source| DiskError {
            path: dir.to_owned(),
            source,
        };
        let mut queue = TimeQueue {
            writer: Writer::new().map_err(in_memory)?,
            reader: Reader::new(disk.clone(), dir).map_err(in_memory)?,
            disk,
            dir: dir.to_owned(),
            buffer_bytes_max: config.buffer_bytes.min(write::BUFFER_BYTES_MAX),
            early_max: config.early_max as usize,
            open_runs_max: opening::OPEN_RUNS_MAX,
            calendar: Calendar::new(config),
            waiting: loaded.report.waiting,
            contents: loaded.contents,
            journal: loaded.journal,
            journal_due: None,
            closed: Closed::default(),
            line: Line::default(),
            current: None,
            recall: Recall::default(),
            sealed_bytes: 0,
            joining: BTreeMap::new(),
            dirty: BTreeSet::new(),
            has_new_files: true,
            retired: loaded.retired,
            in_hand: 0,
            traffic: Traffic::default(),
        };
        queue.line_up();
        Ok((queue, loaded.report))
    }

    /// Puts the buckets that were found where they are opened from; those that are done with go.
    fn line_up(&mut self) {
        let mut empty = Vec::new();
        for (number, file) in self.contents.buckets.in_order() {
            if file.left() == 0 {
                empty.push(number);
            } else {
                self.closed.insert(file.bucket, number);
                self.dirty.insert(number);
            }
        }
        for number in empty {
            self.retire(number);
        }
    }

    /// Records, waiting and in hand.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.waiting + self.in_hand
    }

    /// Records that wait to be handed out.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.waiting
    }
}

#[cfg(test)]
mod tests;
