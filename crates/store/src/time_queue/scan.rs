//! Shows records without taking them: to explain, and to count.
//!
//! What is damaged is left out; `TimeQueue::next` is the one to report that.

use std::path::Path;

use super::buffers::Gathered;
use super::contents::Contents;
use super::cursor::{Cursor, ReadFault};
use super::reader::Reader;
use super::stats::{SpanStats, spans};
use super::{Lengths, RecordRef, Tails, TimeQueue, TimeQueueConfig, TimeQueueError, recovery};
use junkai_files::disk::{Disk, DiskError};

/// How often a directory is read again that changed under the reader's eyes.
const LOOKS_MAX: usize = 5;

impl TimeQueue {
    /// Shows every record: those that wait and those in hand.
    pub fn scan(&self, visit: impl FnMut(RecordRef)) -> Result<(), TimeQueueError> {
        scan(&self.contents, &self.disk, &self.dir, visit)
    }
}

/// Shows every record of the time queue in `dir`, and changes nothing there: for looking on beside a live crawl, as of what that has written. An
/// empty directory has no records.
pub fn look(dir: &Path, visit: impl FnMut(RecordRef)) -> Result<(), TimeQueueError> {
    let disk = Disk::default();
    scan(&contents_beside(&disk, dir)?, &disk, dir, visit)
}

/// The buckets of the time queue in `dir` by how much time they cover, the finest first; as [`look`], it changes nothing there.
pub fn look_at_spans(dir: &Path) -> Result<Vec<SpanStats>, TimeQueueError> {
    Ok(spans(&contents_beside(&Disk::default(), dir)?))
}

/// What is in `dir`, while a live crawl may be writing there.
fn contents_beside(disk: &Disk, dir: &Path) -> Result<Contents, TimeQueueError> {
    let page_bytes = TimeQueueConfig::default().page_bytes;
    let nothing = Lengths::default();
    let load = || recovery::load(disk, dir, page_bytes, Tails::Keep(&nothing));
    let mut loaded = load()?;
    for _ in 1..LOOKS_MAX {
        // A journal or a bucket may have been removed between listing and reading.
        let is_whole = loaded.report.damaged_files == 0 && loaded.has_journal;
        if is_whole {
            break;
        }
        loaded = load()?;
    }
    Ok(loaded.contents)
}

fn scan(
    contents: &Contents,
    disk: &Disk,
    dir: &Path,
    mut visit: impl FnMut(RecordRef),
) -> Result<(), TimeQueueError> {
    let reader = Reader::new(disk.clone(), dir);
    let mut reader = reader.map_err(|source| DiskError {
        path: dir.to_owned(),
        source,
    })?;
    let mut gathered = Gathered::default();
    for (number, file) in contents.buckets.in_order() {
        let mut cursor = Cursor::of_file(number, file);
        while 0 < file.left_in_file() {
            match cursor.advance(&mut reader) {
                Ok(true) => {}
                Ok(false) => break,
                Err(ReadFault::Damage(_)) => continue,
                Err(ReadFault::Disk(error)) => return Err(error.into()),
            }
            if let Some(record) = cursor.record()
                && !file.is_done(cursor.place().index)
            {
                visit(record);
            }
        }
        let in_memory = contents.in_memory(file, &mut gathered);
        for (index, record) in (file.size.records..).zip(in_memory) {
            if !file.is_done(index) {
                visit(record);
            }
        }
    }
    Ok(())
}
