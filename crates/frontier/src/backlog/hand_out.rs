//! Hands out what is due: reads open buckets and the row of due entries front to back.

use std::collections::VecDeque;

use super::calendar::Bucket;
use super::cursor::Cursor;
use super::ticket::SegmentId;
use super::{Backlog, BacklogError, Entry, Ticket};
use crate::time::Time;

/// Segments that are being read, one after another.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) segments: VecDeque<SegmentId>,
    pub(super) cursor: Option<Cursor>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneName {
    Due,
    Now,
}

/// Entries that one call moves from a coarse bucket to finer ones, so that no call takes long.
const MOVES_MAX: usize = 1024;

impl Backlog {
    /// Hands out an entry that is due: by turns from the oldest open bucket, and from those that were due when they were appended. `None`
    /// with a [`next_due`](Backlog::next_due) that has come means: a large bucket is being sorted, call again.
    ///
    /// # Errors
    /// [`BacklogError::Damaged`] tells of entries that cannot be read; the next call goes on behind them. Other errors change nothing.
    pub fn next(&mut self, now: Time) -> Result<Option<(Ticket, Entry)>, BacklogError> {
        for _ in 0..2 {
            let lane = if self.is_due_turn {
                LaneName::Due
            } else {
                LaneName::Now
            };
            self.is_due_turn = !self.is_due_turn;
            let handed_out = self.next_of(lane, now)?;
            if handed_out.is_some() {
                return Ok(handed_out);
            }
        }
        Ok(None)
    }

    fn next_of(
        &mut self,
        name: LaneName,
        now: Time,
    ) -> Result<Option<(Ticket, Entry)>, BacklogError> {
        let mut moves = 0;
        while moves < MOVES_MAX {
            if name == LaneName::Due && self.due.segments.is_empty() {
                self.open_bucket(now);
            }
            let lane = match name {
                LaneName::Due => &mut self.due,
                LaneName::Now => &mut self.now,
            };
            let Some(&id) = lane.segments.front() else {
                return Ok(None);
            };
            let segment = &self.segments[&id];
            let cursor = lane.cursor.get_or_insert_with(|| Cursor::new(id));
            let peeked = match cursor.peek(segment, &self.disk, &self.dir) {
                Ok(peeked) => peeked,
                Err(error) => return Err(self.skip_damage(name, error)),
            };
            let Some(peeked) = peeked else {
                if self.appending.get(&Bucket::Now) == Some(&id) {
                    return Ok(None);
                }
                lane.segments.pop_front();
                lane.cursor = None;
                continue;
            };
            if segment.is_done(peeked.index) {
                cursor.advance(&peeked);
                continue;
            }
            let index = peeked.index;
            let ticket = Ticket { segment: id, index };
            if peeked.stored.entry.due <= now {
                cursor.advance(&peeked);
                self.waiting -= 1;
                self.in_hand += 1;
                return Ok(Some((ticket, peeked.stored.entry)));
            }
            self.append_replacing(&peeked.stored.entry, now, Some(&ticket))?;
            self.finish(id, index);
            if let Some(cursor) = &mut self.lane(name).cursor {
                cursor.advance(&peeked);
            }
            moves += 1;
        }
        Ok(None)
    }

    fn lane(&mut self, name: LaneName) -> &mut Lane {
        match name {
            LaneName::Due => &mut self.due,
            LaneName::Now => &mut self.now,
        }
    }

    /// Lines up the segments of the oldest bucket that has come.
    fn open_bucket(&mut self, now: Time) {
        if let Some((&bucket @ Bucket::Later { opens, .. }, _)) = self.closed.first_key_value()
            && opens <= now
        {
            self.appending.remove(&bucket);
            let segments = self.closed.remove(&bucket).unwrap_or_default();
            self.due.segments.extend(segments);
        }
    }

    /// After a failed read: if the file is damaged, leaves out what cannot be read.
    fn skip_damage(&mut self, name: LaneName, error: BacklogError) -> BacklogError {
        let BacklogError::Damaged { path, offset, .. } = error else {
            return error;
        };
        let mut lost = 0;
        let cursor = self.lane(name).cursor.take();
        if let Some(cursor) = cursor
            && let Some(segment) = self.segments.get_mut(&cursor.segment)
        {
            let (end, end_offset) = segment.end_of_file();
            for index in cursor.index..end {
                if segment.finish(index) {
                    self.acks.push(cursor.segment, index);
                    lost += 1;
                }
            }
            self.waiting -= u64::from(lost);
            self.lane(name).cursor = Some(Cursor::at(cursor.segment, end, end_offset));
        }
        BacklogError::Damaged {
            path,
            offset,
            entries: lost,
        }
    }

    /// When [`next`](Backlog::next) may have something to hand out; a moment in the past means at once. `None`: nothing waits.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        let is_reading = |lane: &Lane| match (&lane.cursor, lane.segments.front()) {
            (_, None) => false,
            (Some(cursor), Some(id)) if lane.segments.len() == 1 => {
                cursor.index < self.segments[id].entries
            }
            (_, Some(_)) => true,
        };
        if is_reading(&self.due) || is_reading(&self.now) {
            return Some(Time::EPOCH);
        }
        self.closed.keys().find_map(|bucket| match bucket {
            Bucket::Now => None,
            Bucket::Later { opens, .. } => Some(*opens),
        })
    }
}
