//! The time queue against a naive one: random histories, ends of all kinds, full and damaged disks.

use std::time::Duration;

use super::*;
use crate::time::Time;

const SECOND: u64 = 1_000_000;
const START: Time = Time::from_micros(1_700_000_000 * SECOND);

fn record(number: u64, due: Time) -> Record {
    let body = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    Record {
        url: format!("https://www.host{}.example/page/{number}", number % 7),
        due,
        body: [&body[..], b"state"].concat(),
    }
}

fn number(url: &str) -> u64 {
    let (_, number) = url.rsplit_once('/').unwrap();
    number.parse().unwrap()
}

fn after(seconds: u64) -> Time {
    START + Duration::from_secs(seconds)
}

fn config() -> TimeQueueConfig {
    TimeQueueConfig {
        buffer_bytes: 64 << 10,
        page_bytes: 512,
        ..TimeQueueConfig::default()
    }
}

fn new_queue(dir: &Path, config: &TimeQueueConfig) -> TimeQueue {
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

const LAYOUTS: [Layout; 3] = [Layout::Graded, Layout::Hierarchical, Layout::Flat];

#[test]
fn every_record_comes_at_its_minute_and_goes_round_again() {
    for layout in LAYOUTS {
        let dir = tempfile::tempdir().unwrap();
        let config = TimeQueueConfig { layout, ..config() };
        let mut queue = new_queue(dir.path(), &config);
        let interval = |number: u64| 60 + (number * number * 37) % 300_000;
        for number in 0..3000 {
            queue
                .put(&record(number, after(interval(number))), START)
                .unwrap();
        }
        let mut visits = 0;
        let mut now = START;
        while let Some(due) = queue.next_due().filter(|due| *due <= after(400_000)) {
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
        assert!(3000 < visits, "{layout:?}: {visits}");
        assert_eq!(queue.waiting(), 3000);
        assert_eq!(scanned(&queue), (0..3000).collect::<Vec<_>>());
    }
}
