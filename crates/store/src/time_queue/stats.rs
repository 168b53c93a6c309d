//! What the time queue holds, takes and does.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::TimeQueue;
use super::contents::Contents;

/// What the time queue holds and takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TimeQueueStats {
    /// Records, waiting and in hand.
    pub records: u64,
    /// Records that wait to be handed out.
    pub waiting: u64,
    /// Records that were handed out and not yet put back or removed.
    pub in_hand: u64,
    /// Records that are in memory and in the journal, and not yet in their bucket's file.
    pub buffered: u64,
    /// Notes of visits out of turn.
    pub early: u64,
    /// Buckets that are waiting or being read.
    pub buckets: u64,
    /// Bytes of their files.
    pub bucket_bytes: u64,
    /// Bytes of the journal.
    pub journal_bytes: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
    /// The buckets by how much time they cover, the finest first.
    pub spans: Vec<SpanStats>,
    /// What has been written and read since the opening.
    pub traffic: Traffic,
}

/// All buckets that cover the same length of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SpanStats {
    /// How much time each covers.
    pub span: Duration,
    /// How many there are.
    pub buckets: u64,
    /// Times that something was appended to them.
    pub runs: u64,
    /// Records in them that are not done with.
    pub records: u64,
    /// Records in their files, done with or not: what their bytes are for. The others are in the journal.
    pub filed: u64,
    /// Bytes of their files.
    pub bytes: u64,
}

/// What went to and from the disk since the opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Appends to buckets.
    pub writes: u64,
    /// Records that were written to buckets.
    pub written_records: u64,
    /// Of these, the ones that were written again because their bucket had too many runs to be read at once, or by the layout.
    pub moved_records: u64,
    /// Bytes that were written to buckets.
    pub written_bytes: u64,
    /// Bytes that were written to the journal.
    pub journal_bytes: u64,
    /// Reads of buckets.
    pub reads: u64,
    /// Bytes that were read.
    pub read_bytes: u64,
}

impl TimeQueue {
    /// What the time queue holds, takes and does.
    #[must_use]
    pub fn stats(&self) -> TimeQueueStats {
        let spans = spans(&self.contents);
        let files = self.contents.buckets.values();
        let bits: usize = files
            .map(super::bucket_file::BucketFile::memory_bytes)
            .sum();
        let cursors = self.line.iter().chain(&self.current);
        let notes = self.contents.early.values().map(|note| note.len() + 24);
        let memory = self.contents.buffers.memory_bytes()
            + self.journal.memory_bytes()
            + self.writer.memory_bytes()
            + cursors.map(super::Open::memory_bytes).sum::<usize>()
            + self.recall.memory_bytes()
            + notes.sum::<usize>()
            + bits;
        TimeQueueStats {
            records: self.waiting + self.in_hand,
            waiting: self.waiting,
            in_hand: self.in_hand,
            buffered: self.contents.records_in_memory(),
            early: self.contents.early.len() as u64,
            buckets: self.contents.buckets.len() as u64,
            bucket_bytes: spans.iter().map(|span| span.bytes).sum(),
            journal_bytes: self.journal.bytes(),
            memory_bytes: memory as u64,
            spans,
            traffic: Traffic {
                journal_bytes: self.journal.given_bytes,
                reads: self.reader.reads,
                read_bytes: self.reader.read_bytes,
                ..self.traffic
            },
        }
    }
}

/// The buckets by how much time they cover, the finest first.
pub(super) fn spans(contents: &Contents) -> Vec<SpanStats> {
    let mut spans = BTreeMap::new();
    for file in contents.buckets.values() {
        if file.left() == 0 {
            // It is done with, and goes when the next manifest does not name it.
            continue;
        }
        let span: &mut SpanStats = spans.entry(file.bucket.span).or_default();
        span.span = Duration::from_micros(file.bucket.span);
        span.buckets += 1;
        span.runs += u64::from(file.size.runs);
        span.records += u64::from(file.left());
        span.filed += u64::from(file.size.records);
        span.bytes += file.size.bytes;
    }
    spans.into_values().collect()
}
