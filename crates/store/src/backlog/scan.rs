//! Shows entries without taking them: to fill `seen` again, and to explain what waits.
//!
//! What is damaged is left out; `Backlog::next` is the one to report that.

use std::collections::BTreeMap;
use std::path::Path;

use super::cursor::{Cursor, ReadFault, Source};
use super::entry::{Entry, Stored};
use super::segment::Segment;
use super::ticket::SegmentId;
use super::{Backlog, BacklogError, Lengths, Position, Tails, recovery};
use crate::packing::Unpacker;
use junkai_files::disk::{Disk, DiskError};

impl Backlog {
    /// Shows every entry that was appended at or after `position` and whose file is still there, done with or not. Answers how many cannot be read, because their
    /// file was damaged.
    pub fn replay_since(
        &self,
        position: Position,
        mut visit: impl FnMut(&Entry),
    ) -> Result<u64, BacklogError> {
        let mut damaged = 0;
        let mut unpacker = unpacker(&self.dir)?;
        let source = &mut Source {
            disk: &self.disk,
            dir: &self.dir,
            unpacker: &mut unpacker,
        };
        for segment in self.segments.values() {
            if position.0 < segment.next_sequence {
                damaged += read_whole(segment, source, |_, stored| {
                    if position.0 <= stored.sequence {
                        visit(&stored.entry);
                    }
                })?;
            }
        }
        Ok(damaged)
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
    let mut unpacker = unpacker(dir)?;
    let source = &mut Source {
        disk,
        dir,
        unpacker: &mut unpacker,
    };
    for segment in segments.values() {
        if 0 < segment.left() {
            read_whole(segment, source, |index, stored| {
                if !segment.is_done(index) {
                    visit(&stored.entry);
                }
            })?;
        }
    }
    Ok(())
}

/// Shows all entries of a file that can be read. Answers how many cannot.
fn read_whole(
    segment: &Segment,
    source: &mut Source,
    mut visit: impl FnMut(u32, &Stored),
) -> Result<u64, BacklogError> {
    let mut damaged = 0;
    let mut cursor = Cursor::new(segment);
    loop {
        match cursor.peek(segment, source) {
            Ok(Some(peeked)) => {
                visit(peeked.index, &peeked.stored);
                cursor.advance(&peeked);
            }
            Ok(None) => return Ok(damaged),
            Err(ReadFault::Damage(lost)) => damaged += u64::from(lost.end - lost.first),
            Err(ReadFault::Disk(error)) => return Err(error.into()),
        }
    }
}

/// What unpacks blocks, for reading in `dir`.
pub(super) fn unpacker(dir: &Path) -> Result<Unpacker, DiskError> {
    Unpacker::new().map_err(|source| DiskError {
        path: dir.to_owned(),
        source,
    })
}
