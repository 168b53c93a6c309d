//! The set against a naive one: random histories, crashes between any two steps, damaged files.

use hashbrown::HashSet as Oracle;
use proptest::prelude::*;

use super::*;

fn small() -> SeenConfig {
    SeenConfig {
        memory_bytes: 1 << 20,
        merge_width: 2,
    }
}

fn key(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn merge_all(seen: &mut Seen) {
    while let Some(job) = seen.next_merge() {
        let merged = job.run().unwrap();
        seen.install(merged).unwrap();
    }
}

#[derive(Clone, Debug)]
enum Op {
    Insert(u64),
    Batch(Vec<u64>),
    Flush,
    Merge,
    Reopen,
    Crash,
}

fn op() -> impl Strategy<Value = Op> {
    // Few distinct numbers, so that many are met again.
    let number = 0_u64..3000;
    prop_oneof![
        4 => number.clone().prop_map(Op::Insert),
        6 => prop::collection::vec(number, 0..300).prop_map(Op::Batch),
        3 => Just(Op::Flush),
        2 => Just(Op::Merge),
        1 => Just(Op::Reopen),
        1 => Just(Op::Crash),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn it_answers_as_a_plain_set_does(ops in prop::collection::vec(op(), 1..60), clustered: bool) {
        let key = |number| if clustered { number } else { key(number) };
        let dir = tempfile::tempdir().unwrap();
        let mut seen = Seen::open_on(Disk::for_tests(), dir.path(), &small()).unwrap();
        let (mut known, mut durable) = (Oracle::new(), Oracle::new());
        let mut new = Vec::new();
        for op in ops {
            match op {
                Op::Insert(number) => {
                    prop_assert_eq!(seen.insert(key(number)).unwrap(), known.insert(key(number)));
                }
                Op::Batch(numbers) => {
                    let keys: Vec<u64> = numbers.into_iter().map(key).collect();
                    seen.insert_batch(&keys, &mut new).unwrap();
                    let expected: Vec<bool> = keys.iter().map(|key| known.insert(*key)).collect();
                    prop_assert_eq!(&new, &expected);
                }
                Op::Flush => {
                    seen.flush(Mark(known.len() as u64)).unwrap();
                    durable.clone_from(&known);
                }
                Op::Merge => merge_all(&mut seen),
                Op::Reopen => {
                    seen.flush(Mark(known.len() as u64)).unwrap();
                    durable.clone_from(&known);
                    drop(seen);
                    seen = Seen::open_on(Disk::for_tests(), dir.path(), &small()).unwrap();
                }
                Op::Crash => {
                    drop(seen);
                    seen = Seen::open_on(Disk::for_tests(), dir.path(), &small()).unwrap();
                    known.clone_from(&durable);
                }
            }
            prop_assert_eq!(seen.len(), known.len() as u64);
        }
        for number in 0..3000 {
            prop_assert_eq!(seen.contains(key(number)).unwrap(), known.contains(&key(number)));
        }
    }
}

#[test]
fn a_flush_is_asked_for_before_memory_runs_out() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = Seen::open_on(Disk::for_tests(), dir.path(), &small()).unwrap();
    let mut new = Vec::new();
    let room = seen.room() as u64;
    let keys: Vec<u64> = (0..room).map(key).collect();
    seen.insert_batch(&keys, &mut new).unwrap();
    assert_eq!(seen.room(), 0);
    assert!(matches!(
        seen.insert(key(room)),
        Err(SeenError::NeedsFlush { keys: 1 })
    ));
    assert!(seen.contains(key(0)).unwrap());
    seen.flush(Mark(1)).unwrap();
    assert!(seen.insert(key(room)).unwrap());
    assert_eq!(seen.len(), room + 1);
}

/// Fills the set with several times more keys than its memory has filters for.
fn fill(seen: &mut Seen, count: u64) {
    let mut new = Vec::new();
    for start in (0..count).step_by(1000) {
        if seen.room() < 1000 {
            seen.flush(Mark(start)).unwrap();
            merge_all(seen);
        }
        let keys: Vec<u64> = (start..start + 1000).map(key).collect();
        seen.insert_batch(&keys, &mut new).unwrap();
        assert!(new.iter().all(|new| *new));
    }
}

#[test]
fn memory_stays_within_the_budget_and_answers_stay_exact() {
    let dir = tempfile::tempdir().unwrap();
    let config = small();
    let mut seen = Seen::open_on(Disk::for_tests(), dir.path(), &config).unwrap();
    let count = 1_000_000;
    fill(&mut seen, count);
    let stats = seen.stats();
    assert!(stats.memory_bytes <= config.memory_bytes, "{stats:?}");
    assert!(
        stats.filter_bits < 8 * stats.keys,
        "the biggest run must lack filters: {stats:?}"
    );
    assert!(stats.runs <= 8, "{stats:?}");
    for number in (0..count).step_by(997) {
        assert!(seen.contains(key(number)).unwrap());
        assert!(!seen.contains(key(count + number)).unwrap());
    }
}

#[test]
fn without_an_index_blocks_are_bisected() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = Seen::open_on(Disk::for_tests(), dir.path(), &small()).unwrap();
    fill(&mut seen, 20_000);
    seen.flush(Mark(0)).unwrap();
    seen.shares.run_bytes = 0;
    seen.fit_memory().unwrap();
    assert_eq!(seen.stats().filter_bits, 0);
    for number in 0..20_000 {
        assert!(seen.contains(key(number)).unwrap(), "{number}");
    }
    for number in 20_000..30_000 {
        assert!(!seen.contains(key(number)).unwrap(), "{number}");
    }
}

/// Two flushes, a merge and a further flush on a disk that stops after `changes` changes; what was flushed before it stopped.
fn live_until_crash(dir: &Path, changes: u64) -> (u64, bool) {
    let mut flushed = 0;
    let mut live = || -> Result<(), SeenError> {
        let mut seen = Seen::open_on(Disk::crashing_after(changes), dir, &small())?;
        for round in 1..=3 {
            for number in (round - 1) * 100..round * 100 {
                seen.insert(key(number))?;
            }
            seen.flush(Mark(round))?;
            flushed = round;
            if let Some(job) = seen.next_merge() {
                let merged = job.run()?;
                seen.install(merged)?;
            }
        }
        Ok(())
    };
    let ended = live().is_ok();
    (flushed, ended)
}

#[test]
fn a_crash_between_any_two_changes_loses_nothing_flushed() {
    for changes in 0.. {
        let dir = tempfile::tempdir().unwrap();
        let (flushed, ended) = live_until_crash(dir.path(), changes);
        let mut seen = Seen::open_on(Disk::for_tests(), dir.path(), &small()).unwrap();
        // A crash may fall after the new manifest took its place and before the caller heard of it.
        let marked = seen.mark().0;
        assert!(
            marked == flushed || marked == flushed + 1,
            "after {changes}"
        );
        assert_eq!(seen.len(), marked * 100, "after {changes}");
        for number in 0..400 {
            let known = seen.contains(key(number)).unwrap();
            assert_eq!(known, number < marked * 100, "{number} after {changes}");
        }
        let files = seen.disk.list(dir.path()).unwrap();
        assert_eq!(files.len() as u64, 1 + seen.stats().runs, "{files:?}");
        assert!(seen.insert(key(1000)).unwrap());
        seen.flush(Mark(9)).unwrap();
        if ended {
            assert!(20 < changes, "only {changes} changes were tried");
            return;
        }
    }
}

#[test]
fn a_full_disk_loses_nothing_and_the_flush_succeeds_later() {
    for writes in 2..6 {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::full_after(writes);
        let mut seen = Seen::open_on(disk.clone(), dir.path(), &small()).unwrap();
        for number in 0..5000 {
            seen.insert(key(number)).unwrap();
        }
        let refused = seen.flush(Mark(1));
        assert!(
            matches!(&refused, Err(SeenError::Disk(error)) if error.is_full()),
            "{refused:?}"
        );
        assert!(!seen.insert(key(0)).unwrap());
        disk.make_room(1000);
        seen.flush(Mark(1)).unwrap();
        drop(seen);
        let seen = Seen::open_on(Disk::for_tests(), dir.path(), &small()).unwrap();
        assert_eq!(seen.len(), 5000);
    }
}

/// A directory with one run of 10,000 keys, and the run's bytes.
fn one_run() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = Seen::open_on(Disk::for_tests(), dir.path(), &small()).unwrap();
    for number in 0..10_000 {
        seen.insert(key(number)).unwrap();
    }
    seen.flush(Mark(1)).unwrap();
    let path = run::path(dir.path(), seen.manifest.runs[0]);
    let bytes = seen.disk.read(&path).unwrap().unwrap();
    (dir, path, bytes)
}

#[test]
fn a_flipped_byte_is_repaired_or_reported_never_believed() {
    let (dir, path, bytes) = one_run();
    let (mut reported, mut repaired) = (0, 0);
    for at in (0..bytes.len()).step_by(331) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        Disk::for_tests().replace(&path, &flipped).unwrap();
        let Ok(seen) = Seen::open_on(Disk::for_tests(), dir.path(), &small()) else {
            reported += 1;
            continue;
        };
        repaired += seen.stats().repaired;
        let answers = (0..10_000).map(|number| seen.contains(key(number)));
        let damaged = answers.filter(|answer| match answer {
            Ok(known) => !known,
            Err(SeenError::Damaged { .. }) => {
                reported += 1;
                false
            }
            Err(other) => panic!("{other}"),
        });
        assert_eq!(damaged.count(), 0, "byte {at}: a known key was denied");
    }
    assert!(0 < reported);
    assert!(0 < repaired);
}

#[test]
fn a_truncated_run_is_reported() {
    let (dir, path, bytes) = one_run();
    for length in [0, 10, 39, 40, 1024, bytes.len() / 2, bytes.len() - 1] {
        Disk::for_tests().replace(&path, &bytes[..length]).unwrap();
        let opened = Seen::open_on(Disk::for_tests(), dir.path(), &small());
        assert!(matches!(opened, Err(SeenError::Damaged { .. })), "{length}");
    }
}

#[test]
fn runs_without_their_manifest_are_not_thrown_away() {
    let (dir, path, _) = one_run();
    let disk = Disk::for_tests();
    disk.remove(&manifest::path(dir.path())).unwrap();
    let opened = Seen::open_on(Disk::for_tests(), dir.path(), &small());
    assert!(matches!(opened, Err(SeenError::ManifestMissing { .. })));
    assert!(disk.read(&path).unwrap().is_some());
}

#[test]
fn one_merge_at_a_time_and_a_lost_one_is_offered_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = Seen::open_on(Disk::for_tests(), dir.path(), &small()).unwrap();
    for number in 0..2 {
        seen.insert(key(number)).unwrap();
        seen.flush(Mark(number)).unwrap();
    }
    let job = seen.next_merge().unwrap();
    assert!(seen.next_merge().is_none());
    drop(job);
    let job = seen.next_merge().unwrap();
    // Questions, inserts and flushes go on beside the merge.
    seen.insert(key(2)).unwrap();
    seen.flush(Mark(2)).unwrap();
    let merged = job.run().unwrap();
    assert!(seen.next_merge().is_none());
    seen.install(merged).unwrap();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen.stats().runs, 2);
}

#[test]
fn looking_on_sees_what_is_flushed_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!look(dir.path(), key(1)).unwrap());
    let mut seen = Seen::open_on(Disk::for_tests(), dir.path(), &small()).unwrap();
    for number in 0..2000 {
        seen.insert(key(number)).unwrap();
    }
    seen.flush(Mark(0)).unwrap();
    seen.insert(key(5000)).unwrap();
    let files = seen.disk.list(dir.path()).unwrap();
    for number in (0..4000).step_by(97).chain([5000]) {
        assert_eq!(look(dir.path(), key(number)).unwrap(), number < 2000);
    }
    assert_eq!(seen.disk.list(dir.path()).unwrap(), files);
}
