//! Shows entries without taking them: to fill `seen` again, and to explain what waits.
//!
//! Where a file is damaged its rest is left out; `Backlog::next` is the one to report that.

use std::collections::BTreeMap;
use std::path::Path;

use super::cursor::Cursor;
use super::entry::{Entry, Stored};
use super::segment::Segment;
use super::ticket::SegmentId;
use super::{Backlog, BacklogError, Lengths, Position, Tails, recovery};
use crate::disk::Disk;

impl Backlog {
    /// Shows every entry that was appended at or after `position` and whose file is still there, done with or not.
    pub fn replay_since(
        &self,
        position: Position,
        mut visit: impl FnMut(&Entry),
    ) -> Result<(), BacklogError> {
        for segment in self.segments.values() {
            if position.0 < segment.next_sequence {
                read_whole(segment, &self.disk, &self.dir, |_, stored| {
                    if position.0 <= stored.sequence {
                        visit(&stored.entry);
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Shows every entry that is not done with: those that wait and those in hand.
    pub fn scan(&self, visit: impl FnMut(&Entry)) -> Result<(), BacklogError> {
        scan(&self.segments, &self.disk, &self.dir, visit)
    }
}

/// Shows every entry that is not done with in the backlog of `dir`, and changes nothing there: for looking on beside a live crawl, as of
/// what that has written.
pub fn look(dir: &Path, visit: impl FnMut(&Entry)) -> Result<(), BacklogError> {
    let disk = Disk::default();
    let loaded = recovery::load(&disk, dir, Tails::Keep(&Lengths::default()))?;
    scan(&loaded.segments, &disk, dir, visit)
}

fn scan(
    segments: &BTreeMap<SegmentId, Segment>,
    disk: &Disk,
    dir: &Path,
    mut visit: impl FnMut(&Entry),
) -> Result<(), BacklogError> {
    for segment in segments.values() {
        if 0 < segment.left() {
            read_whole(segment, disk, dir, |index, stored| {
                if !segment.is_done(index) {
                    visit(&stored.entry);
                }
            })?;
        }
    }
    Ok(())
}

fn read_whole(
    segment: &Segment,
    disk: &Disk,
    dir: &Path,
    mut visit: impl FnMut(u32, &Stored),
) -> Result<(), BacklogError> {
    let mut cursor = Cursor::new(segment.id);
    while cursor.index < segment.entries
        && let Some(peeked) = cursor.peek_frame(segment, disk, dir)?
    {
        visit(peeked.index, &peeked.stored);
        cursor.advance(&peeked);
    }
    Ok(())
}
