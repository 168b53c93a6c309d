//! A time queue that an earlier version wrote still opens: records in packed and unpacked runs, in the journal, done with and noted.
//!
//! The fixture was made by `write_fixture` of the version in its name.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "files are copied, so that the fixture stays as it is"
)]

use std::path::Path;
use std::time::Duration;

use junkai_frontier::Time;
use junkai_store::time_queue::{Lengths, Record, Tails, TimeQueue, TimeQueueConfig, look};

const START: Time = Time::from_micros(1_700_000_000_000_000);

fn config() -> TimeQueueConfig {
    TimeQueueConfig {
        buffer_bytes: 8 << 10,
        page_bytes: 256,
        ..TimeQueueConfig::default()
    }
}

fn record(number: u64, version: u8) -> Record {
    let due = match number {
        0..150 => 30 + number + number % 6 * 50_000,
        _ => 900_000 + number,
    };
    Record {
        url: format!("https://www.host{}.example/é/{number}", number % 5),
        due: START + Duration::from_secs(due),
        body: vec![version; usize::try_from(number % 40).unwrap()],
    }
}

/// What the fixture holds: 200 pages, of which the first fifty came round once and the next two were given up; one has a note. The last fifty are not
/// due for long.
fn expected() -> Vec<Record> {
    let mut records = Vec::new();
    for number in 0..200 {
        match number {
            0..50 => records.push(Record {
                due: START + Duration::from_secs(400_000 + number),
                ..record(number, 2)
            }),
            50 | 51 => {}
            _ => records.push(record(number, 1)),
        }
    }
    records
}

fn write_fixture(dir: &Path) {
    let opened = TimeQueue::open(dir, &config(), Tails::Keep(&Lengths::default()));
    let (mut queue, _) = opened.unwrap();
    for number in 0..200 {
        queue.put(&record(number, 1), START).unwrap();
    }
    let now = START + Duration::from_mins(5000);
    while let Some((ticket, found)) = queue.next(now).unwrap() {
        let (_, number) = found.url.rsplit_once('/').unwrap();
        let number: u64 = number.parse().unwrap();
        match number {
            0..50 => {
                let back = Record {
                    due: START + Duration::from_secs(400_000 + number),
                    ..record(number, 2)
                };
                queue.put_back(ticket, &back, now).unwrap();
            }
            50 | 51 => queue.remove(ticket),
            // These are in hand when the process ends.
            _ => drop(ticket),
        }
    }
    assert!(queue.note_early(7, b"seen early"));
    queue.flush().unwrap();
}

fn found(dir: &Path) -> Vec<Record> {
    let mut records = Vec::new();
    look(dir, |record| records.push(record.to_record())).unwrap();
    let number = |record: &Record| {
        let (_, number) = record.url.rsplit_once('/').unwrap();
        number.parse::<u64>().unwrap()
    };
    records.sort_by_key(number);
    records
}

#[test]
fn what_earlier_versions_wrote_opens() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    // The second hands out from memory what is in the journal.
    for version in ["time_queue_1", "time_queue_2"] {
        let dir = tempfile::tempdir().unwrap();
        for file in std::fs::read_dir(fixtures.join(version)).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
        }
        check(dir.path());
    }
}

#[test]
fn what_this_version_writes_is_what_the_fixture_holds() {
    let dir = tempfile::tempdir().unwrap();
    write_fixture(dir.path());
    check(dir.path());
}

fn check(dir: &Path) {
    assert_eq!(found(dir), expected());
    let opened = TimeQueue::open(dir, &config(), Tails::Keep(&Lengths::default()));
    let (mut queue, report) = opened.unwrap();
    assert_eq!((report.waiting, report.early), (198, 1));
    assert!(report.from_journal < 198, "{report:?}");
    assert_eq!((report.cut_bytes, report.damaged_files), (0, 0));
    let now = START + Duration::from_hours(500 * 24);
    let mut notes = 0;
    while let Some((ticket, found)) = queue.next(now).unwrap() {
        let fingerprint = if found.url.ends_with("/7") { 7 } else { 0 };
        notes += usize::from(queue.take_early(&ticket, fingerprint).is_some());
        queue.remove(ticket);
    }
    assert_eq!((queue.records(), notes), (0, 1));
}
