//! Ends of all kinds: kills and power losses at every change on disk, full disks, damage.

use std::time::Duration;

use proptest::prelude::*;

use super::super::*;
use super::model::{End, Pair};
use super::{START, after, config, next, number, open, record};

/// What a driver does in one round; numbers and intervals come from `round`.
fn round(pair: &mut Pair, round: u64) -> Result<(), TimeQueueError> {
    for number in 0..12 {
        let number = round * 12 + number;
        if number < 150 {
            pair.put(number, interval(number, round))?;
        }
    }
    while let Some(number) = pair.take()? {
        match (number + round) % 9 {
            0 => {}
            1 if round.is_multiple_of(5) => pair.remove(number),
            _ => pair.put_back(number, interval(number, round))?,
        }
    }
    pair.note(round * 5 % 150, &round.to_le_bytes());
    if round.is_multiple_of(3) {
        for number in pair.hand() {
            pair.put_back(number, interval(number, round))?;
        }
    }
    pair.flush()?;
    if round % 4 == 1 {
        pair.sync()?;
    }
    if round % 4 == 3 {
        pair.checkpointed()?;
    }
    pair.now = pair.now + Duration::from_secs(977);
    Ok(())
}

fn interval(number: u64, round: u64) -> Duration {
    Duration::from_secs(30 + (number * number * 7919 + round * 104_729) % 40_000)
}

const ROUNDS: u64 = 40;

/// Runs rounds on a disk that stops after `changes`, ends that life, and goes on in the next; false if the disk did not stop.
fn stop_after(changes: u64, end: End, layout: Layout) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let config = TimeQueueConfig {
        buffer_bytes: 4 << 10,
        ..config(layout)
    };
    let disk = Disk::crashing_after(changes);
    let Ok(mut pair) = Pair::new(disk.clone(), dir.path(), &config, 3) else {
        return true;
    };
    let mut rounds = 0..ROUNDS;
    let has_stopped = rounds.any(|number| round(&mut pair, number).is_err());
    let mut pair = pair.end(end, Disk::for_tests()).unwrap();
    for number in ROUNDS..ROUNDS + 3 {
        round(&mut pair, number).unwrap();
    }
    pair.check_to_the_end();
    has_stopped
}

/// Stops at changes 0, `stride`, 2 · `stride` …, as long as there are.
fn stop_everywhere(end: End, layout: Layout, stride: usize) {
    let mut changes = (0..).step_by(stride);
    let stopped = changes
        .by_ref()
        .take_while(|changes| stop_after(*changes, end, layout));
    let points = stopped.count();
    assert!(100 < points, "{layout:?}, {end:?}: only {points} points");
}

#[test]
fn a_kill_at_any_change_on_disk_loses_and_doubles_nothing() {
    stop_everywhere(End::Kill, Layout::Graded, 2);
}

#[test]
fn a_power_loss_at_any_change_on_disk_goes_back_to_the_manifest() {
    stop_everywhere(End::PowerLoss, Layout::Graded, 2);
}

#[test]
fn a_kill_while_records_move_down_loses_and_doubles_nothing() {
    stop_everywhere(End::Kill, Layout::Hierarchical, 2);
}

#[test]
fn a_power_loss_while_records_move_down_goes_back_to_the_manifest() {
    stop_everywhere(End::PowerLoss, Layout::Hierarchical, 2);
}

#[derive(Clone, Debug)]
enum Op {
    Put(u64),
    Take(usize),
    PutBack(u64),
    Remove,
    Note(u64),
    Flush,
    Sync,
    Checkpointed,
    Pass(u64),
    End(bool),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0_u64..2_000_000).prop_map(Op::Put),
        4 => (1_usize..30).prop_map(Op::Take),
        5 => (0_u64..200_000).prop_map(Op::PutBack),
        1 => Just(Op::Remove),
        1 => (0_u64..60).prop_map(Op::Note),
        2 => Just(Op::Flush),
        1 => Just(Op::Sync),
        1 => Just(Op::Checkpointed),
        4 => (1_u64..100_000).prop_map(Op::Pass),
        1 => any::<bool>().prop_map(Op::End),
    ]
}

fn run(ops: &[Op], layout: Layout, open_runs_max: usize) {
    let dir = tempfile::tempdir().unwrap();
    let config = TimeQueueConfig {
        buffer_bytes: 2 << 10,
        ..config(layout)
    };
    let mut pair = Pair::new(Disk::for_tests(), dir.path(), &config, open_runs_max).unwrap();
    for (number, op) in (0..).zip(ops) {
        match op {
            Op::Put(seconds) => pair.put(number, Duration::from_secs(*seconds)).unwrap(),
            Op::Take(count) => {
                for _ in 0..*count {
                    pair.take().unwrap();
                }
            }
            Op::PutBack(seconds) => {
                for number in pair.hand().into_iter().take(20) {
                    let seconds = seconds * (number + 1) % 200_000;
                    pair.put_back(number, Duration::from_secs(seconds)).unwrap();
                }
            }
            Op::Remove => pair
                .hand()
                .into_iter()
                .take(2)
                .for_each(|number| pair.remove(number)),
            Op::Note(number) => pair.note(*number, &number.to_le_bytes()),
            Op::Flush => pair.flush().unwrap(),
            Op::Sync => pair.sync().unwrap(),
            Op::Checkpointed => pair.checkpointed().unwrap(),
            Op::Pass(seconds) => pair.now = pair.now + Duration::from_secs(*seconds),
            Op::End(is_kill) => {
                let end = if *is_kill { End::Kill } else { End::PowerLoss };
                pair = pair.end(end, Disk::for_tests()).unwrap();
            }
        }
    }
    pair.check_to_the_end();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_history_is_that_of_the_naive_queue(
        ops in prop::collection::vec(op(), 1..250),
        layout in prop::sample::select(super::LAYOUTS.to_vec()),
        open_runs_max in prop::sample::select(vec![0, 2, 512]),
    ) {
        run(&ops, layout, open_runs_max);
    }
}

#[test]
fn a_full_disk_loses_nothing_and_work_goes_on_when_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::full_after(60);
    let config = config(Layout::Graded);
    let mut pair = Pair::new(disk.clone(), dir.path(), &config, 512).unwrap();
    let mut refused = 0;
    for number in 0..2000 {
        let interval = Duration::from_secs(60 + number * 97);
        while let Err(error) = pair.put(number, interval) {
            assert!(
                matches!(&error, TimeQueueError::Disk(error) if error.is_full()),
                "{error}"
            );
            refused += 1;
            disk.make_room(5);
        }
        if number % 10 == 0 && pair.flush().is_err() {
            refused += 1;
        }
        if number % 100 == 0 {
            pair.now = pair.now + Duration::from_secs(500);
        }
        while let Ok(Some(number)) = pair.take() {
            if pair.put_back(number, interval).is_err() {
                refused += 1;
                disk.make_room(5);
            }
        }
    }
    assert!(20 < refused, "{refused}");
    disk.make_room(u64::MAX);
    for number in pair.hand() {
        pair.put_back(number, Duration::from_mins(9)).unwrap();
    }
    pair.flush().unwrap();
    let pair = pair.end(End::Kill, Disk::for_tests()).unwrap();
    pair.check_to_the_end();
}

/// The one file whose name contains `part`.
fn file(dir: &Path, part: &str) -> PathBuf {
    let names = Disk::for_tests().list(dir).unwrap();
    let mut found = names.iter().filter(|name| name.contains(part));
    let name = found.next().unwrap();
    assert_eq!(found.next(), None);
    dir.join(name)
}

/// A queue with one bucket of 2,000 records in a few blocks, all on disk.
fn one_bucket(dir: &Path) {
    let config = TimeQueueConfig {
        buffer_bytes: 1 << 20,
        ..config(Layout::Flat)
    };
    let mut queue = open(dir, &config);
    for number in 0..2000 {
        queue.put(&record(number, after(10)), START).unwrap();
    }
    let (_ticket, _) = next(&mut queue, after(120)).unwrap();
    queue.flush().unwrap();
}

#[test]
fn a_damaged_block_is_told_of_and_passed_over() {
    for (percent, loses_all) in [(0, true), (30, false), (60, false), (99, false)] {
        let dir = tempfile::tempdir().unwrap();
        one_bucket(dir.path());
        let path = file(dir.path(), ".bucket");
        let disk = Disk::for_tests();
        let bytes = disk.read(&path).unwrap().unwrap();
        let at = 40 + percent * (bytes.len() - 40) / 100;
        let bucket = disk.open_for_writing(&path).unwrap();
        bucket.write_at(&[bytes[at] ^ 1], at as u64).unwrap();
        let mut queue = open(dir.path(), &config(Layout::Flat));
        let mut found = 0;
        let mut lost = 0;
        loop {
            match queue.next(after(120)) {
                Ok(Some(_)) => found += 1,
                Ok(None) => break,
                Err(TimeQueueError::Damaged { records, .. }) => lost += records,
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(found + lost, 2000, "byte {at}");
        assert!(0 < lost, "byte {at}");
        // The header of the run is at byte 40: without it nothing of the file is found.
        assert_eq!(found == 0, loses_all, "byte {at}: {found}");
        assert_eq!(queue.records(), u64::from(found));
    }
}

#[test]
fn a_damaged_header_of_a_run_costs_that_run() {
    let dir = tempfile::tempdir().unwrap();
    let small = TimeQueueConfig {
        buffer_bytes: 1 << 16,
        ..config(Layout::Flat)
    };
    let mut queue = open(dir.path(), &small);
    for number in 0..4000 {
        queue.put(&record(number, after(10)), START).unwrap();
    }
    queue.flush().unwrap();
    drop(queue);
    let path = file(dir.path(), ".bucket");
    let bucket = bucket_file::number_of(path.file_name().unwrap().to_str().unwrap()).unwrap();
    let disk = Disk::for_tests();
    let bytes = disk.read(&path).unwrap().unwrap();
    let mut runs = Vec::new();
    let (mut offset, mut index) = (bucket_file::FILE_HEADER_BYTES, 0);
    while let Some(header) = run::RunHeader::decode(Place { bucket, index }, &bytes[offset..]) {
        runs.push((offset, header.records));
        offset += usize::try_from(header.bytes).unwrap();
        index += header.records;
    }
    assert!(2 < runs.len(), "{runs:?}");
    let (at, records) = runs[1];
    let opened = disk.open_for_writing(&path).unwrap();
    opened
        .write_at(&[bytes[at + 9] ^ 1], at as u64 + 9)
        .unwrap();
    let mut queue = open(dir.path(), &small);
    let (mut found, mut lost) = (0, 0);
    while queue.next_due().is_some() {
        match queue.next(after(120)) {
            Ok(Some(_)) => found += 1,
            Ok(None) => {}
            Err(TimeQueueError::Damaged { records, .. }) => lost += records,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((found, lost), (4000 - records, records));
}

#[test]
fn a_missing_or_shortened_file_is_told_of() {
    for is_removed in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        one_bucket(dir.path());
        let disk = Disk::for_tests();
        let path = file(dir.path(), ".bucket");
        if is_removed {
            disk.remove(&path).unwrap();
        } else {
            let bucket = disk.open_for_writing(&path).unwrap();
            bucket.set_len(bucket.length().unwrap() / 10 * 9).unwrap();
        }
        let nothing = Lengths::default();
        let opened = TimeQueue::open_on(
            disk,
            dir.path(),
            &config(Layout::Flat),
            Tails::Keep(&nothing),
        );
        let (mut queue, report) = opened.unwrap();
        assert_eq!((report.waiting, report.damaged_files), (2000, 1));
        let mut lost = 0;
        while queue.next_due().is_some() {
            if let Err(TimeQueueError::Damaged { records, .. }) = queue.next(after(120)) {
                lost += records;
            }
        }
        assert_eq!(lost == 2000, is_removed, "{lost}");
        assert_eq!(queue.stats().in_hand, u64::from(2000 - lost));
    }
}

#[test]
fn a_damaged_journal_is_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(Layout::Graded);
    let mut queue = open(dir.path(), &config);
    for number in 0..50 {
        queue.put(&record(number, after(number)), START).unwrap();
        queue.flush().unwrap();
    }
    let lengths = queue.sync().unwrap();
    drop(queue);
    let disk = Disk::for_tests();
    let path = file(dir.path(), "journal");
    let journal = disk.open_for_writing(&path).unwrap();
    journal.write_at(b"!", lengths.bytes - 700).unwrap();
    for tails in [Tails::Cut(&lengths), Tails::Keep(&lengths)] {
        let (queue, report) = TimeQueue::open_on(disk.clone(), dir.path(), &config, tails).unwrap();
        assert!(report.journal_damaged);
        assert!((30..50).contains(&report.waiting), "{report:?}");
        let mut found = Vec::new();
        queue.scan(|record| found.push(number(record.url))).unwrap();
        assert_eq!(found.len() as u64, report.waiting);
    }
}

#[test]
fn files_of_finished_buckets_and_old_journals_go_after_two_checkpoints() {
    let dir = tempfile::tempdir().unwrap();
    let mut pair = Pair::new(Disk::for_tests(), dir.path(), &config(Layout::Graded), 512).unwrap();
    for number in 0..3000 {
        pair.put(number, Duration::from_secs(number)).unwrap();
    }
    pair.now = after(4000);
    while let Some(number) = pair.take().unwrap() {
        pair.remove(number);
    }
    pair.flush().unwrap();
    let count = || Disk::for_tests().list(dir.path()).unwrap().len();
    let before = count();
    assert!(5 < before, "{before}");
    for _ in 0..2 {
        assert_eq!(count(), before);
        pair.sync().unwrap();
        pair.checkpointed().unwrap();
    }
    assert_eq!(count(), 1);
    let pair = pair.end(End::PowerLoss, Disk::for_tests()).unwrap();
    assert_eq!(pair.model().records.len(), 0);
}

#[test]
fn no_change_counts_before_the_flush_however_many_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let mut queue = open(dir.path(), &config(Layout::Graded));
    let count = || {
        let mut count = 0;
        look(dir.path(), |_| count += 1).unwrap();
        count
    };
    let (mut puts, mut more) = (0, 100);
    while 0 < more {
        let due = after(100 + puts * 50);
        queue.put(&record(puts, due), START).unwrap();
        puts += 1;
        more -= u64::from(queue.is_full());
    }
    assert!(0 < queue.stats().bucket_bytes, "buckets are written");
    assert_eq!(count(), 0);
    queue.flush().unwrap();
    assert!(!queue.is_full());
    assert_eq!(count(), puts);
}

#[test]
fn without_a_journal_the_buckets_still_tell_what_they_hold() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(Layout::Graded);
    let mut queue = open(dir.path(), &config);
    for number in 0..3000 {
        let due = after(100 + number * 50);
        queue.put(&record(number, due), START).unwrap();
    }
    let lengths = queue.sync().unwrap();
    let buffered = queue.stats().buffered;
    drop(queue);
    let disk = Disk::for_tests();
    for name in disk.list(dir.path()).unwrap() {
        if name.starts_with("journal") {
            disk.remove(&dir.path().join(name)).unwrap();
        }
    }
    let opened = TimeQueue::open_on(disk.clone(), dir.path(), &config, Tails::Keep(&lengths));
    let (mut queue, report) = opened.unwrap();
    assert!(report.journal_damaged);
    assert_eq!(report.salvaged, 3000 - buffered);
    assert_eq!(report.waiting, report.salvaged);
    queue.put(&record(9999, START), START).unwrap();
    queue.flush().unwrap();
    drop(queue);
    let opened = TimeQueue::open_on(disk, dir.path(), &config, Tails::Keep(&lengths));
    let (_, again) = opened.unwrap();
    assert!(!again.journal_damaged);
    assert_eq!((again.waiting, again.salvaged), (report.waiting + 1, 0));
}
