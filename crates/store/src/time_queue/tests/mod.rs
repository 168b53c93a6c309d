//! The time queue against a naive one: random histories, ends of all kinds, full and damaged disks.

mod ends;
mod model;

use std::time::Duration;

use super::*;
use junkai_frontier::Time;

const SECOND: u64 = 1_000_000;
const START: Time = Time::from_micros(1_700_000_000 * SECOND);
const LAYOUTS: [Layout; 3] = [Layout::Graded, Layout::Hierarchical, Layout::Flat];

/// A page's state; its body tells the version, and is long enough to fill pages.
fn record_of(number: u64, due: Time, version: u64) -> Record {
    let noise = version.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    Record {
        url: format!("https://www.host{}.example/page/{number}", number % 7),
        due,
        body: [&version.to_le_bytes()[..], &noise, &noise].concat(),
    }
}

fn record(number: u64, due: Time) -> Record {
    record_of(number, due, number)
}

fn version(body: &[u8]) -> u64 {
    u64::from_le_bytes(body[..8].try_into().unwrap())
}

fn number(url: &str) -> u64 {
    let (_, number) = url.rsplit_once('/').unwrap();
    number.parse().unwrap()
}

fn after(seconds: u64) -> Time {
    START + Duration::from_secs(seconds)
}

fn config(layout: Layout) -> TimeQueueConfig {
    TimeQueueConfig {
        layout,
        buffer_bytes: 16 << 10,
        page_bytes: 256,
        early_max: 5,
        ..TimeQueueConfig::default()
    }
}

fn open(dir: &Path, config: &TimeQueueConfig) -> TimeQueue {
    let nothing = Lengths::default();
    let opened = TimeQueue::open_on(Disk::for_tests(), dir, config, Tails::Keep(&nothing));
    opened.unwrap().0
}

/// What `next` gives at `now`, asked as often as it says that there may be more.
fn next(queue: &mut TimeQueue, now: Time) -> Option<(Ticket, Record)> {
    for _ in 0..1000 {
        let handed_out = queue.next(now).unwrap();
        let may_have_more = queue.next_due().is_some_and(|due| due <= now);
        if handed_out.is_some() || !may_have_more {
            return handed_out;
        }
    }
    panic!("it promises more, and gives nothing");
}

fn scanned(queue: &TimeQueue) -> Vec<u64> {
    let mut found = Vec::new();
    queue.scan(|record| found.push(number(record.url))).unwrap();
    found.sort_unstable();
    found
}

#[test]
fn every_record_comes_at_its_minute_and_goes_round_again() {
    for (layout, open_runs_max) in LAYOUTS
        .into_iter()
        .zip([512, 512, 512])
        .chain([(Layout::Graded, 0)])
    {
        let dir = tempfile::tempdir().unwrap();
        let config = config(layout);
        let mut queue = open(dir.path(), &config);
        queue.open_runs_max = open_runs_max;
        let interval = |number: u64| 60 + (number * number * 37) % 80_000;
        for number in 0..1000 {
            queue
                .put(&record(number, after(interval(number))), START)
                .unwrap();
        }
        let mut visits = 0;
        let mut now = START;
        while let Some(due) = queue.next_due().filter(|due| *due <= after(120_000)) {
            now = now.max(due);
            while let Some((ticket, found)) = next(&mut queue, now) {
                assert!(found.due <= now, "{layout:?}: {found:?} at {now}");
                let late = now.saturating_duration_since(found.due);
                assert!(late <= config.resolution, "{layout:?}: {found:?} at {now}");
                let number = number(&found.url);
                assert_eq!(found, record(number, found.due));
                let due = now + Duration::from_secs(interval(number));
                queue.put_back(ticket, &record(number, due), now).unwrap();
                visits += 1;
            }
        }
        assert!(1000 < visits, "{layout:?}: {visits}");
        assert_eq!(queue.waiting(), 1000);
        assert_eq!(scanned(&queue), (0..1000).collect::<Vec<_>>());
        let moved = queue.stats().traffic.moved_records;
        let writes_again = layout == Layout::Hierarchical || open_runs_max < 10;
        assert_eq!(0 < moved, writes_again, "{layout:?}: {moved}");
    }
}

#[test]
fn what_is_recalled_is_handed_out_once_whatever_its_time_and_waits_where_it_is_put() {
    const RECORDS: u64 = 1000;
    for layout in LAYOUTS {
        let dir = tempfile::tempdir().unwrap();
        let config = config(layout);
        let mut queue = open(dir.path(), &config);
        for number in 0..RECORDS {
            let due = after(60 + number * number);
            queue.put(&record(number, due), START).unwrap();
        }
        queue.flush().unwrap();
        drop(queue);
        let mut queue = open(dir.path(), &config);
        assert!(queue.is_recalled(), "nothing is under way");
        queue.recall(START).unwrap();
        assert_eq!(queue.next_due(), Some(Time::EPOCH), "there is work to do");
        let mut kept = Vec::new();
        for _ in 0..RECORDS / 2 {
            let (ticket, found) = queue.next_recalled().unwrap().unwrap();
            let number = number(&found.url);
            let soon = record(number, after(30));
            queue.put_back(ticket, &soon, START).unwrap();
            kept.push(number);
        }
        assert!(!queue.is_recalled());
        assert!(queue.next(START).unwrap().is_none(), "nothing is due");
        queue.flush().unwrap();
        // A kill in the middle: what was put waits there, and the rest is recalled again.
        drop(queue);
        let mut queue = open(dir.path(), &config);
        assert_eq!(scanned(&queue), (0..RECORDS).collect::<Vec<_>>());
        queue.recall(START).unwrap();
        let mut seen = Vec::new();
        while let Some((ticket, found)) = queue.next_recalled().unwrap() {
            let number = number(&found.url);
            assert_eq!(found.due == after(30), kept.contains(&number), "{found:?}");
            let soon = record(number, after(30));
            queue.put_back(ticket, &soon, START).unwrap();
            seen.push(number);
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..RECORDS).collect::<Vec<_>>(), "{layout:?}");
        assert!(queue.is_recalled());
        assert_eq!((queue.waiting(), queue.records()), (RECORDS, RECORDS));
        let mut due = 0;
        while next(&mut queue, after(120)).is_some() {
            due += 1;
        }
        assert_eq!(due, RECORDS, "{layout:?}");
    }
}

#[test]
fn what_was_recalled_and_is_in_hand_is_not_dealt_with() {
    let dir = tempfile::tempdir().unwrap();
    let mut queue = open(dir.path(), &config(Layout::Graded));
    queue.put(&record(1, after(86_400)), START).unwrap();
    queue.recall(START).unwrap();
    let (ticket, _) = queue.next_recalled().unwrap().unwrap();
    assert!(queue.next_recalled().unwrap().is_none());
    assert!(!queue.is_recalled(), "a kill would leave it where it was");
    queue.remove(ticket);
    assert!(queue.is_recalled());
}

#[test]
fn what_waited_through_a_pause_comes_oldest_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut queue = open(dir.path(), &config(Layout::Graded));
    for number in 0..500 {
        let due = after(60 * ((number * 7919) % 50_000));
        queue.put(&record(number, due), START).unwrap();
    }
    let now = after(60 * 60_000);
    let mut last = Time::EPOCH;
    while let Some((_ticket, record)) = next(&mut queue, now) {
        let minute = Time::from_micros(record.due.as_micros() / (60 * SECOND));
        assert!(last <= minute, "{record:?}");
        last = minute;
    }
    assert_eq!(queue.stats().in_hand, 500);
}

#[test]
fn what_is_due_at_once_comes_when_the_minute_has_passed_and_the_far_future_at_the_horizon() {
    let dir = tempfile::tempdir().unwrap();
    let mut queue = open(dir.path(), &config(Layout::Graded));
    queue.put(&record(1, Time::EPOCH), START).unwrap();
    queue
        .put(&record(2, Time::from_micros(u64::MAX)), START)
        .unwrap();
    assert_eq!(queue.next(START).unwrap(), None);
    let due = queue.next_due().unwrap();
    assert!(START < due && due <= after(60), "{due}");
    assert_eq!(number(&next(&mut queue, due).unwrap().1.url), 1);
    assert_eq!(next(&mut queue, after(399 * 86_400)), None);
    let found = next(&mut queue, after(400 * 86_400 + 60)).unwrap();
    assert_eq!(number(&found.1.url), 2);
    assert_eq!(queue.next(after(500 * 86_400)).unwrap(), None);
    assert_eq!(queue.next_due(), None);
}

#[test]
fn what_is_too_long_is_refused_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut queue = open(dir.path(), &config(Layout::Graded));
    let long = Record {
        body: vec![0; 65_536],
        ..record(1, START)
    };
    let refused = queue.put(&long, START);
    assert!(matches!(
        refused,
        Err(TimeQueueError::TooLong { bytes: 65_536 })
    ));
    queue.put(&record(1, START), START).unwrap();
    let (ticket, _) = next(&mut queue, after(60)).unwrap();
    let refused = queue.put_back(ticket, &long, after(60)).unwrap_err();
    queue.remove(refused.ticket);
    assert_eq!(queue.records(), 0);
}

#[test]
fn one_who_looks_on_sees_what_was_flushed() {
    let dir = tempfile::tempdir().unwrap();
    let mut queue = open(dir.path(), &config(Layout::Graded));
    for number in 0..1000 {
        queue
            .put(&record(number, after(number * 100)), START)
            .unwrap();
    }
    let (_in_hand, _) = next(&mut queue, after(60)).unwrap();
    queue.flush().unwrap();
    queue.put(&record(1000, START), after(60)).unwrap();
    let mut found = Vec::new();
    look(dir.path(), |record| found.push(number(record.url))).unwrap();
    found.sort_unstable();
    assert_eq!(found, (0..1000).collect::<Vec<_>>());
}

#[test]
fn notes_wait_for_their_page_and_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let mut queue = open(dir.path(), &config(Layout::Graded));
    queue.put(&record(1, START), START).unwrap();
    for number in 0..5 {
        assert!(queue.note_early(number, &[7; 3]));
    }
    assert!(!queue.note_early(5, b"no room"));
    assert!(queue.note_early(1, b"newer"));
    assert!(!queue.note_early(1, &vec![0; 65_536]));
    let (ticket, record) = next(&mut queue, after(60)).unwrap();
    assert_eq!(queue.take_early(&ticket, 9), None);
    assert_eq!(queue.take_early(&ticket, 1).as_deref(), Some(&b"newer"[..]));
    assert_eq!(queue.stats().early, 5);
    queue.put_back(ticket, &record, after(60)).unwrap();
    assert_eq!(queue.stats().early, 4);
}

#[test]
fn memory_does_not_grow_with_the_records() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(Layout::Graded);
    let mut queue = open(dir.path(), &config);
    let mut memory = Vec::new();
    for number in 0..60_000 {
        let due = after(1000 + (number * 7919) % 30_000_000);
        queue.put(&record(number, due), START).unwrap();
        if number % 10_000 == 9999 {
            queue.flush().unwrap();
            memory.push(queue.stats().memory_bytes);
        }
    }
    let stats = queue.stats();
    assert_eq!(stats.records, 60_000);
    assert!(stats.bucket_bytes / 60_000 < 90, "{stats:?}");
    assert!(memory[5] <= memory[1] + 100_000, "{memory:?}");
}
