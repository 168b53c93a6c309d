//! Makes the backlog durable, and gives back the space of files that nobody needs any more.

use super::acks::{self, Range};
use super::lengths::{AckLength, Lengths, SegmentLength};
use super::segment::{self, Segment};
use super::ticket::SegmentId;
use super::{Backlog, BacklogError, Outcomes, Position};

impl Backlog {
    /// Makes everything durable, and says what the crawl's manifest must name.
    ///
    /// # Errors
    /// What was not written stays in memory; the call may be repeated.
    pub fn sync<O: Outcomes>(&mut self, outcomes: &mut O) -> Result<Lengths, O::Error> {
        let lengths = self.written(outcomes)?;
        for segment in self.segments.values_mut() {
            segment.sync(&self.disk, &self.dir)?;
        }
        self.acks.sync(&self.disk, &self.dir)?;
        if self.has_new_files {
            self.disk.sync_dir(&self.dir).map_err(BacklogError::from)?;
            self.has_new_files = false;
        }
        Ok(lengths)
    }

    /// Gives everything to the system, and says what a manifest must name, for one who makes the whole file system durable before that is written: so a
    /// disk that is busy holds up nobody here.
    ///
    /// # Errors
    /// What was not written stays in memory; the call may be repeated.
    pub fn written<O: Outcomes>(&mut self, outcomes: &mut O) -> Result<Lengths, O::Error> {
        self.flush(outcomes)?;
        self.retire();
        if self.acks.is_long() {
            let old = self.acks.generation;
            let ranges = self.segments.values().flat_map(|segment| {
                segment.done_ranges().map(|(first, count)| Range {
                    segment: segment.id,
                    first,
                    count,
                })
            });
            self.acks.compact(ranges, &self.disk, &self.dir)?;
            self.retired.insert(acks::FILES, old);
        }
        Ok(self.lengths())
    }

    fn lengths(&self) -> Lengths {
        let is_named = |segment: &&Segment| !self.retired.contains(segment::FILES, segment.id.0);
        let named = self.segments.values().filter(is_named);
        let segments = named.map(|segment| SegmentLength {
            id: segment.id,
            bytes: segment.written,
            entries: segment.entries,
            next_sequence: segment.next_sequence,
        });
        Lengths {
            segments: segments.collect(),
            acks: AckLength {
                generation: self.acks.generation,
                bytes: self.acks.written,
            },
            next_segment: self.next_segment,
            position: self.position(),
        }
    }

    /// Segments whose entries are all done with, and which are only kept until `seen` has flushed these, as of the last
    /// [`written`](Backlog::written). Who finds few new pages must flush before its table is full, or they pile up.
    #[must_use]
    pub fn kept_for_seen(&self) -> usize {
        self.kept_for_seen
    }

    /// Their bytes on disk. Where URLs are long, that is much before the table of `seen` is full.
    #[must_use]
    pub fn kept_for_seen_bytes(&self) -> u64 {
        self.kept_for_seen_bytes
    }

    /// Takes out of use the segments that nobody needs any more.
    fn retire(&mut self) {
        self.kept_for_seen = 0;
        self.kept_for_seen_bytes = 0;
        for (id, segment) in &self.segments {
            let is_empty = segment.entries == 0;
            let is_kept = self.seen_position < segment.next_sequence && !is_empty;
            let is_left = 0 < segment.left();
            if is_kept && !is_left {
                self.kept_for_seen += 1;
                self.kept_for_seen_bytes += segment.written;
            }
            if is_left || is_kept || self.retired.contains(segment::FILES, id.0) {
                continue;
            }
            self.retired.insert(segment::FILES, id.0);
            if self.appending.get(&segment.bucket) == Some(id) {
                self.appending.remove(&segment.bucket);
            }
            self.lanes.leave_out(*id);
        }
    }

    /// Says that the manifest with the lengths of a [`sync`](Backlog::sync) is durable, and up to which position `seen` has flushed all entries.
    ///
    /// The manifest must be of a sync after the call before this one; further syncs may have followed it. So what is out of use by now
    /// is surely not named by the manifest of the next call, and only then its space is given back.
    pub fn checkpointed(&mut self, seen: Position) -> Result<(), BacklogError> {
        self.seen_position = seen.0;
        let segments = &mut self.segments;
        let retired = &mut self.retired;
        Ok(
            retired.checkpointed(&self.disk, &self.dir, |files, number| {
                if files == segment::FILES {
                    segments.remove(&SegmentId(number));
                }
            })?,
        )
    }
}
