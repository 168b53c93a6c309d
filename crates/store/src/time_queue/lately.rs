//! Which pages joined the time queue lately: for a driver whose own books may be a moment behind after a kill.

use std::path::Path;

use super::entry::Entry;
use super::{Lengths, TimeQueueError, journal};
use junkai_files::disk::Disk;

/// The URLs of records that were put, not put back, since the moment that the manifest names. After a kill, a driver that acknowledges a first visit only
/// after its record is put finds here the visits that it need not make again.
pub fn put_since(disk: &Disk, dir: &Path, named: &Lengths) -> Result<Vec<String>, TimeQueueError> {
    let mut urls = Vec::new();
    for name in disk.list(dir)? {
        // A later generation repeats what the earlier ones put; until a manifest names it, those are still there.
        let generation = journal::FILES
            .number_of(&name)
            .filter(|number| named.generation <= *number);
        let Some(generation) = generation else {
            continue;
        };
        let from = if generation == named.generation {
            named.bytes
        } else {
            0
        };
        let file = disk.open(&journal::FILES.path(dir, generation))?;
        journal::replay(&file, generation, u64::MAX, |at, entry| {
            if let Entry::Put {
                replaces: None,
                record,
                ..
            } = entry
                && from <= at
            {
                urls.push(record.url.to_owned());
            }
            true
        })?;
    }
    Ok(urls)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Record, Tails, TimeQueue, TimeQueueConfig};
    use super::*;
    use junkai_frontier::Time;

    #[test]
    fn what_was_put_since_the_manifest_is_told_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let config = TimeQueueConfig::default();
        let lengths = Lengths::default();
        let tails = Tails::Keep(&lengths);
        let (mut queue, _) = TimeQueue::open(dir.path(), &config, tails).unwrap();
        let record = |url: &str| Record {
            url: url.to_owned(),
            due: Time::from_micros(1),
            body: Vec::new(),
        };
        let now = Time::from_micros(1_000_000_000_000);
        queue.put(&record("http://a.example/"), now).unwrap();
        let named = queue.sync().unwrap();
        assert_eq!(
            put_since(&Disk::default(), dir.path(), &named).unwrap(),
            Vec::<String>::new()
        );
        queue.put(&record("http://b.example/"), now).unwrap();
        let now = now + Duration::from_mins(2);
        let (ticket, first) = queue.next(now).unwrap().unwrap();
        queue.put_back(ticket, &first, now).unwrap();
        queue.flush().unwrap();
        assert_eq!(
            put_since(&Disk::default(), dir.path(), &named).unwrap(),
            ["http://b.example/"]
        );
    }
}
