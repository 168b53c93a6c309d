//! Hands out what is due: reads open buckets, the row of due entries and what was spilled, each front to back.

use std::collections::{BTreeMap, VecDeque};

use super::account::Weight;
use super::calendar::Bucket;
use super::class::Class;
use super::cursor::{Cursor, Damage, Peeked, ReadFault, Source};
use super::segment;
use super::ticket::SegmentId;
use super::{Backlog, BacklogError, Entry, Ticket};
use junkai_frontier::Time;

/// Segments that are being read, one after another.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) segments: VecDeque<SegmentId>,
    pub(super) cursor: Option<Cursor>,
}

/// Everything that is being read.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Buckets that opened, and what was in hand when the process ended.
    pub(super) due: Lane,
    /// What was due when it was appended.
    pub(super) now: Lane,
    /// What was spilled; a lane is made with its first segment.
    pub(super) spilled: BTreeMap<Class, Lane>,
    /// Of these the one whose file is open.
    spilled_open: Option<Class>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneName {
    Due,
    Now,
    Spilled(Class),
}

impl Lanes {
    fn of(&mut self, name: LaneName) -> &mut Lane {
        match name {
            LaneName::Due => &mut self.due,
            LaneName::Now => &mut self.now,
            LaneName::Spilled(class) => self.spilled.entry(class).or_default(),
        }
    }

    /// Lets the lane that was read from before this one close its file.
    fn keep_open(&mut self, class: Class) {
        let before = self
            .spilled_open
            .replace(class)
            .filter(|before| *before != class);
        if let Some(before) = before
            && let Some(cursor) = &mut self.of(LaneName::Spilled(before)).cursor
        {
            cursor.rest();
        }
    }

    /// Puts a segment of what was spilled behind the others of its class.
    pub(super) fn line_up_spilled(&mut self, class: Class, id: SegmentId) {
        self.of(LaneName::Spilled(class)).segments.push_back(id);
    }

    /// Leaves a segment out.
    pub(super) fn leave_out(&mut self, id: SegmentId) {
        let row = [&mut self.due, &mut self.now];
        for lane in row.into_iter().chain(self.spilled.values_mut()) {
            lane.segments.retain(|other| *other != id);
            if lane.cursor.as_ref().is_some_and(|at| at.segment == id) {
                lane.cursor = None;
            }
        }
    }
}

impl LaneName {
    /// The bucket whose entries may follow behind the last that was read.
    fn bucket(self) -> Option<Bucket> {
        match self {
            LaneName::Due => None,
            LaneName::Now => Some(Bucket::Now),
            LaneName::Spilled(class) => Some(Bucket::Spilled(class)),
        }
    }
}

/// The entry that comes next in a lane.
struct First {
    segment: SegmentId,
    peeked: Peeked,
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

    /// Hands out an entry that was [spilled](Backlog::spill): the best class of priorities first, first in first out within it.
    ///
    /// # Errors
    /// As [`next`](Backlog::next).
    pub fn next_spilled(&mut self) -> Result<Option<(Ticket, Entry)>, BacklogError> {
        if self.spilled == 0 {
            return Ok(None);
        }
        for class in Class::best_first() {
            if !self.lanes.spilled.contains_key(&class) {
                continue;
            }
            let name = LaneName::Spilled(class);
            let Some(first) = self.first_of(name)? else {
                continue;
            };
            self.spilled -= 1;
            self.lanes.keep_open(class);
            return Ok(Some(self.hand_out(name, first)));
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
            if name == LaneName::Due && self.lanes.due.segments.is_empty() {
                self.open_bucket(now);
            }
            let Some(first) = self.first_of(name)? else {
                if name == LaneName::Due && self.has_open_bucket(now) {
                    continue;
                }
                return Ok(None);
            };
            let entry = &first.peeked.stored.entry;
            let may_be_early = entry.tries == 0 || self.are_failed_early;
            let is_early = may_be_early && self.early.contains(&first.segment);
            if entry.due <= now || is_early {
                return Ok(Some(self.hand_out(name, first)));
            }
            let ticket = first.ticket();
            let bucket = self.calendar.bucket(entry.due, now);
            let _moved = self.append_to(bucket, entry, Some(&ticket))?;
            self.finish(&ticket);
            self.step_over(name, &first.peeked);
            moves += 1;
        }
        Ok(None)
    }

    /// The first entry of a lane that is not done with; it stays there.
    fn first_of(&mut self, name: LaneName) -> Result<Option<First>, BacklogError> {
        loop {
            let lane = self.lanes.of(name);
            let Some(&id) = lane.segments.front() else {
                return Ok(None);
            };
            let segment = &self.segments[&id];
            let cursor = lane.cursor.get_or_insert_with(|| Cursor::new(segment));
            let mut source = Source {
                disk: &self.disk,
                dir: &self.dir,
                unpacker: &mut self.unpacker,
            };
            let peeked = match cursor.peek(segment, &mut source) {
                Ok(peeked) => peeked,
                Err(ReadFault::Disk(error)) => return Err(error.into()),
                Err(ReadFault::Damage(damage)) => match self.give_up(name, id, damage) {
                    Some(error) => return Err(error),
                    None => continue,
                },
            };
            let Some(peeked) = peeked else {
                let appending = name.bucket().and_then(|bucket| self.appending.get(&bucket));
                if appending == Some(&id) {
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
            return Ok(Some(First {
                segment: id,
                peeked,
            }));
        }
    }

    fn hand_out(&mut self, name: LaneName, first: First) -> (Ticket, Entry) {
        self.step_over(name, &first.peeked);
        self.waiting -= 1;
        self.in_hand += 1;
        (first.ticket(), first.peeked.stored.entry)
    }

    fn step_over(&mut self, name: LaneName, peeked: &Peeked) {
        if let Some(cursor) = &mut self.lanes.of(name).cursor {
            cursor.advance(peeked);
        }
    }

    fn has_open_bucket(&self, now: Time) -> bool {
        let next = self.closed.first_key_value();
        matches!(next, Some((Bucket::Later { opens, .. }, _)) if *opens <= now)
    }

    /// Lines up the segments of the oldest bucket that has come.
    fn open_bucket(&mut self, now: Time) {
        if self.has_open_bucket(now)
            && let Some((bucket, segments)) = self.closed.pop_first()
        {
            self.appending.remove(&bucket);
            self.lanes.due.segments.extend(segments);
        }
    }

    /// Opens every bucket before its time. What was deferred because of the pace of its server is handed out and finds a time by today's pace; what failed, and
    /// is to be tried again, keeps its time.
    pub fn bring_forward(&mut self) {
        for (bucket, segments) in std::mem::take(&mut self.closed) {
            self.appending.remove(&bucket);
            self.early.extend(&segments);
            self.lanes.due.segments.extend(segments);
        }
    }

    /// The same, with what failed: somebody wants it tried again at once.
    pub fn bring_failed_forward(&mut self) {
        self.are_failed_early = true;
        self.bring_forward();
    }

    /// Takes entries that cannot be read for done with, and tells of them, unless they were done with before.
    fn give_up(&mut self, name: LaneName, id: SegmentId, damage: Damage) -> Option<BacklogError> {
        let mut lost = 0;
        if let Some(segment) = self.segments.get_mut(&id) {
            for index in damage.first..damage.end {
                if segment.finish(index) {
                    self.acks.push(id, index);
                    lost += 1;
                }
            }
        }
        self.waiting -= u64::from(lost);
        if let LaneName::Spilled(_) = name {
            self.spilled -= u64::from(lost);
        }
        (0 < lost).then(|| BacklogError::Damaged {
            path: segment::path(&self.dir, id),
            offset: damage.offset,
            entries: lost,
        })
    }

    /// When [`next`](Backlog::next) may have something to hand out; a moment in the past means at once. `None`: nothing waits but
    /// what was spilled.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        let is_reading = |lane: &Lane| match (&lane.cursor, lane.segments.front()) {
            (_, None) => false,
            (Some(cursor), Some(id)) if lane.segments.len() == 1 => {
                cursor.index < self.segments[id].entries
            }
            (_, Some(_)) => true,
        };
        if is_reading(&self.lanes.due) || is_reading(&self.lanes.now) {
            return Some(Time::EPOCH);
        }
        let next = self.closed.first_key_value();
        next.and_then(|(bucket, _)| match bucket {
            Bucket::Later { opens, .. } => Some(*opens),
            Bucket::Now | Bucket::Held | Bucket::Spilled(_) => None,
        })
    }
}

impl First {
    fn ticket(&self) -> Ticket {
        Ticket {
            segment: self.segment,
            index: self.peeked.index,
            weight: Weight::of(&self.peeked.stored.entry),
        }
    }
}
