//! The backlog against a naive one: random histories, ends of all kinds, full and damaged disks.

use std::time::Duration;

use proptest::prelude::*;

use super::lengths::SegmentLength;
use super::*;
use junkai_frontier::Time;

const SECOND: u64 = 1_000_000;
const START: Time = Time::from_micros(1_700_000_000 * SECOND);

/// A driver that keeps nothing of a visit.
struct Nothing;

impl Outcomes for Nothing {
    type Error = BacklogError;

    fn write(&mut self, _entries: EntriesWritten) -> Result<(), BacklogError> {
        Ok(())
    }
}

fn config(segment_bytes: u64) -> BacklogConfig {
    BacklogConfig {
        segment_bytes,
        ..BacklogConfig::default()
    }
}

fn entry(number: u64, due: Time) -> Entry {
    Entry {
        url: format!("https://www.example.org/{number}"),
        via: "https://www.example.org/".to_owned(),
        hops: "L".to_owned(),
        depth: 1,
        due,
        ..Entry::default()
    }
}

fn number(entry: &Entry) -> u64 {
    let (_, number) = entry.url.rsplit_once('/').unwrap();
    number.parse().unwrap()
}

fn after(seconds: u64) -> Time {
    START + Duration::from_secs(seconds)
}

fn new_backlog(dir: &Path) -> Backlog {
    let nothing = Lengths::default();
    let opened = Backlog::open_on(
        Disk::for_tests(),
        dir,
        &BacklogConfig::default(),
        Tails::Keep(&nothing),
    );
    opened.unwrap().0
}

/// Everything that was spilled.
fn drain_spilled(backlog: &mut Backlog) -> Vec<(Ticket, Entry)> {
    let mut entries = Vec::new();
    while let Some(entry) = backlog.next_spilled().unwrap() {
        entries.push(entry);
    }
    entries
}

fn graded(number: u64, priority: u8) -> Entry {
    Entry {
        priority,
        ..entry(number, START)
    }
}

/// Spills an entry with each of these priorities, numbered from 0.
fn spill(backlog: &mut Backlog, priorities: &[u8]) {
    for (number, priority) in (0..).zip(priorities) {
        let ticket = backlog.append_held(&graded(number, 0)).unwrap();
        backlog.spill(ticket, &graded(number, *priority)).unwrap();
    }
}

/// Everything that `next` gives at `now`.
fn drain(backlog: &mut Backlog, now: Time) -> Vec<(Ticket, Entry)> {
    let mut entries = Vec::new();
    while let Some(entry) = next(backlog, now) {
        entries.push(entry);
    }
    entries
}

/// What `next` gives at `now`, asked as often as it says that there may be more.
fn next(backlog: &mut Backlog, now: Time) -> Option<(Ticket, Entry)> {
    for _ in 0..100 {
        let handed_out = backlog.next(now).unwrap();
        let is_sorting = backlog.next_due().is_some_and(|due| due <= now);
        if handed_out.is_some() || !is_sorting {
            return handed_out;
        }
    }
    panic!("it promises more, and gives nothing");
}

fn numbers(entries: &[(Ticket, Entry)]) -> Vec<u64> {
    entries.iter().map(|(_, entry)| number(entry)).collect()
}

fn scanned(backlog: &Backlog) -> Vec<u64> {
    let mut found = Vec::new();
    backlog.scan(|entry| found.push(number(entry))).unwrap();
    found.sort_unstable();
    found
}

#[test]
fn what_was_just_appended_is_handed_out_in_order_and_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    for number in 0..3 {
        backlog.append(&entry(number, START), START).unwrap();
    }
    assert_eq!(backlog.waiting(), 3);
    let handed_out = drain(&mut backlog, START);
    assert_eq!(numbers(&handed_out), [0, 1, 2]);
    assert_eq!(handed_out[0].1, entry(0, START));
    assert_eq!(backlog.waiting(), 0);
    assert_eq!(backlog.next_due(), None);
    backlog.append(&entry(3, START), START).unwrap();
    backlog.flush(&mut Nothing).unwrap();
    backlog.append(&entry(4, START), START).unwrap();
    assert_eq!(numbers(&drain(&mut backlog, START)), [3, 4]);
}

#[test]
fn nothing_is_handed_out_before_its_time_and_the_oldest_comes_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    let times = [40_000_000, 3600, 100, 5, 86_400, 7];
    for seconds in times {
        backlog
            .append(&entry(seconds, after(seconds)), START)
            .unwrap();
    }
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let mut order = Vec::new();
    let mut now = START;
    while let Some(due) = backlog.next_due() {
        assert!(now <= due.max(now));
        now = now.max(due);
        for (_, entry) in drain(&mut backlog, now) {
            assert!(entry.due <= now, "{} is early", entry.url);
            assert!(
                now <= entry.due + Duration::from_secs(1),
                "{} is late",
                entry.url
            );
            order.push(number(&entry));
        }
    }
    assert_eq!(order, sorted);
}

#[test]
fn what_was_deferred_for_a_pace_can_be_brought_forward_and_a_retry_cannot() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    for seconds in [7, 3600, 86_400] {
        backlog
            .append(&entry(seconds, after(seconds)), START)
            .unwrap();
        let retry = Entry {
            tries: 1,
            ..entry(seconds + 1, after(seconds + 1))
        };
        backlog.append(&retry, START).unwrap();
    }
    backlog.bring_forward();
    // What is deferred from now on has its own time.
    backlog.append(&entry(50, after(50)), START).unwrap();
    assert_eq!(numbers(&drain(&mut backlog, START)), [7, 3600, 86_400]);
    assert_eq!(numbers(&drain(&mut backlog, after(60))), [8, 50]);
    assert_eq!(
        numbers(&drain(&mut backlog, after(100_000))),
        [3601, 86_401]
    );
}

#[test]
fn what_failed_is_brought_forward_where_somebody_wants_it_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    let retry = |number| Entry {
        tries: 1,
        ..entry(number, after(number))
    };
    backlog.append(&retry(60), START).unwrap();
    backlog.bring_failed_forward();
    // What fails from now on has its own time.
    backlog.append(&retry(3600), START).unwrap();
    assert_eq!(numbers(&drain(&mut backlog, START)), [60]);
    assert_eq!(numbers(&drain(&mut backlog, after(4000))), [3600]);
}

#[test]
fn due_buckets_and_the_row_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    for number in 0..3 {
        backlog.append(&entry(number, after(3)), START).unwrap();
        backlog.append(&entry(10 + number, START), START).unwrap();
    }
    let handed_out = drain(&mut backlog, after(100));
    assert_eq!(numbers(&handed_out), [0, 10, 1, 11, 2, 12]);
}

#[test]
fn a_large_coarse_bucket_is_sorted_in_bounded_steps() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    let count = 5000;
    for number in 0..count {
        let due = after(100_000) + Duration::from_millis(number);
        backlog.append(&entry(number, due), START).unwrap();
    }
    let opens = backlog.next_due().unwrap();
    assert!(backlog.next(opens).unwrap().is_none());
    assert_eq!(
        backlog.next_due(),
        Some(Time::EPOCH),
        "there is more to sort"
    );
    assert!(drain(&mut backlog, opens).is_empty());
    assert_eq!(backlog.waiting(), count);
    assert_eq!(drain(&mut backlog, after(100_010)).len() as u64, count);
}

#[test]
fn thousands_of_buckets_take_no_open_files_and_little_memory() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    let mut now = START;
    for number in 0..2000 {
        backlog
            .append(&entry(number, after(8 * number + 1000)), now)
            .unwrap();
        now = now + Duration::from_millis(100);
    }
    backlog.flush(&mut Nothing).unwrap();
    let counters = backlog.account.memory_bytes() as u64;
    assert!(
        backlog.size().memory_bytes < counters + 100_000,
        "{:?}",
        backlog.stats()
    );
    assert!(backlog.lanes.due.cursor.is_none());
}

#[test]
fn what_is_held_is_handed_out_in_the_next_life_only() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    let held = |number| graded(number, 7);
    let first = backlog.append_held(&held(0)).unwrap();
    let _kept = backlog.append_held(&held(1)).unwrap();
    backlog.append(&entry(2, START), START).unwrap();
    assert_eq!(backlog.waiting(), 1);
    assert_eq!(backlog.stats().in_hand, 2);
    assert_eq!(numbers(&drain(&mut backlog, START)), [2]);
    assert_eq!(backlog.next_due(), None);
    backlog.ack(first);
    backlog.flush(&mut Nothing).unwrap();
    let mut backlog = new_backlog(dir.path());
    assert_eq!(backlog.waiting(), 2);
    // Behind what the last life held, this one appends nothing that would be handed out.
    let _kept = backlog.append_held(&held(3)).unwrap();
    let handed_out = drain(&mut backlog, START);
    assert_eq!(numbers(&handed_out), [1, 2]);
    assert_eq!(handed_out[0].1, held(1), "the priority is kept");
}

#[test]
fn what_was_spilled_comes_back_by_grade_and_within_a_class_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    spill(&mut backlog, &[4, 20, 5, 0, 200, 21, 31]);
    assert_eq!((backlog.waiting(), backlog.stats().spilled), (7, 7));
    assert_eq!(backlog.next_due(), None, "nothing comes due by itself");
    assert!(backlog.next(after(1000)).unwrap().is_none());
    let (_best, best) = backlog.next_spilled().unwrap().unwrap();
    assert_eq!(number(&best), 4);
    // Better ones that come later go first.
    let ticket = backlog.append_held(&graded(7, 0)).unwrap();
    backlog.spill(ticket, &graded(7, 255)).unwrap();
    assert_eq!(numbers(&drain_spilled(&mut backlog)), [6, 7, 1, 5, 0, 2, 3]);
    assert_eq!((backlog.waiting(), backlog.stats().spilled), (0, 0));
    backlog.flush(&mut Nothing).unwrap();
    let mut backlog = new_backlog(dir.path());
    assert_eq!((backlog.waiting(), backlog.stats().spilled), (8, 8));
    assert_eq!(
        numbers(&drain_spilled(&mut backlog)),
        [4, 6, 7, 1, 5, 0, 2, 3]
    );
}

#[test]
fn many_classes_take_one_open_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    let priorities: Vec<u8> = (0..=u8::MAX).collect();
    spill(&mut backlog, &priorities);
    backlog.flush(&mut Nothing).unwrap();
    for _ in 0..200 {
        assert!(backlog.next_spilled().unwrap().is_some());
        spill(&mut backlog, &[0, 255]);
        backlog.flush(&mut Nothing).unwrap();
        assert!(backlog.next_spilled().unwrap().is_some());
        let cursors = backlog.lanes.spilled.values().flat_map(|lane| &lane.cursor);
        assert!(cursors.filter(|cursor| cursor.is_open()).count() <= 1);
    }
}

#[test]
fn damage_to_what_was_spilled_is_reported_once_and_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    for _ in 0..5 {
        spill(&mut backlog, &[9; 10]);
        backlog.flush(&mut Nothing).unwrap();
    }
    let id = backlog.appending[&Bucket::Spilled(Class::of(9))];
    let path = segment::path(dir.path(), id);
    let disk = Disk::for_tests();
    let bytes = disk.read(&path).unwrap().unwrap();
    let middle = bytes.len() / 2;
    let file = disk.open_for_writing(&path).unwrap();
    file.write_at(&[bytes[middle] ^ 1], middle as u64).unwrap();
    let (mut handed_out, mut lost) = (0, 0);
    for _ in 0..60 {
        match backlog.next_spilled() {
            Ok(Some(_)) => handed_out += 1,
            Ok(None) => {}
            Err(BacklogError::Damaged { entries, .. }) => lost += entries,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((handed_out, lost), (40, 10));
    assert_eq!((backlog.waiting(), backlog.stats().spilled), (0, 0));
}

/// One entry of the naive backlog.
#[derive(Clone, Debug)]
struct Item {
    number: u64,
    due: Time,
    /// It was due when it was appended.
    is_now: bool,
    /// It was spilled.
    spilled: Option<Class>,
    is_in_hand: bool,
    is_done: bool,
    position: u64,
}

/// The naive backlog: a list.
#[derive(Clone, Debug, Default)]
struct Model {
    items: Vec<Item>,
}

impl Model {
    fn append(&mut self, number: u64, due: Time, now: Time, position: u64) {
        self.items.push(Item {
            number,
            due,
            is_now: due <= now,
            spilled: None,
            is_in_hand: false,
            is_done: false,
            position,
        });
    }

    /// In hand at once; the next life finds it behind nobody in particular.
    fn append_held(&mut self, number: u64, now: Time, position: u64) {
        self.append(number, now, now, position);
        let item = self.find(number);
        item.is_now = false;
        item.is_in_hand = true;
    }

    fn spill(&mut self, number: u64, priority: u8, position: u64) {
        let item = self.find(number);
        item.is_done = true;
        let due = item.due;
        self.append(number, due, due, position);
        let item = self.find(number);
        item.is_now = false;
        item.spilled = Some(Class::of(priority));
    }

    /// Who of those that were spilled comes next.
    fn first_spilled(&self) -> Option<u64> {
        let spilled = self.waiting().filter(|item| item.spilled.is_some()).rev();
        spilled
            .max_by_key(|item| item.spilled)
            .map(|item| item.number)
    }

    fn find(&mut self, number: u64) -> &mut Item {
        let mut items = self.items.iter_mut().rev();
        items.find(|item| item.number == number).unwrap()
    }

    fn waiting(&self) -> impl DoubleEndedIterator<Item = &Item> {
        self.items
            .iter()
            .filter(|item| !item.is_done && !item.is_in_hand)
    }

    /// What a new life of the process finds.
    fn reborn(&self) -> Model {
        let mut model = self.clone();
        for item in &mut model.items {
            item.is_in_hand = false;
        }
        model
    }

    fn left(&self) -> Vec<u64> {
        let left = self.items.iter().filter(|item| !item.is_done);
        let mut left: Vec<u64> = left.map(|item| item.number).collect();
        left.sort_unstable();
        left
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Append {
        delay: u64,
    },
    AppendHeld,
    Next {
        count: usize,
    },
    NextSpilled {
        count: usize,
    },
    Ack {
        at: usize,
    },
    Replace {
        at: usize,
        delay: u64,
    },
    Spill {
        at: usize,
        priority: u8,
    },
    Pass {
        seconds: u64,
    },
    Flush,
    Checkpoint {
        with_seen: bool,
        is_synced_again: bool,
    },
    Kill,
    PowerLoss,
}

fn op() -> impl Strategy<Value = Op> {
    let delay = prop_oneof![Just(0), 1_u64..20, 1_u64..100_000];
    prop_oneof![
        8 => delay.clone().prop_map(|delay| Op::Append { delay }),
        4 => Just(Op::AppendHeld),
        5 => (1_usize..8).prop_map(|count| Op::Next { count }),
        2 => (1_usize..4).prop_map(|count| Op::NextSpilled { count }),
        4 => (any::<usize>(), 0_u8..40).prop_map(|(at, priority)| Op::Spill { at, priority }),
        5 => any::<usize>().prop_map(|at| Op::Ack { at }),
        2 => (any::<usize>(), delay).prop_map(|(at, delay)| Op::Replace { at, delay }),
        2 => prop_oneof![0_u64..5, 0_u64..50_000].prop_map(|seconds| Op::Pass { seconds }),
        2 => Just(Op::Flush),
        2 => any::<(bool, bool)>().prop_map(|(with_seen, is_synced_again)| Op::Checkpoint { with_seen, is_synced_again }),
        1 => Just(Op::Kill),
        1 => Just(Op::PowerLoss),
    ]
}

/// A backlog and its model, side by side.
struct Pair {
    dir: tempfile::TempDir,
    backlog: Backlog,
    segment_bytes: u64,
    now: Time,
    next_number: u64,
    hands: Vec<(Ticket, u64)>,
    model: Model,
    /// As of the last flush, and of the last manifest.
    written: Model,
    durable: Model,
    manifest: Lengths,
    seen: Position,
}

impl Pair {
    fn new(segment_bytes: u64) -> Pair {
        let dir = tempfile::tempdir().unwrap();
        let manifest = Lengths::default();
        let tails = Tails::Cut(&manifest);
        let (backlog, _) =
            Backlog::open_on(Disk::for_tests(), dir.path(), &config(segment_bytes), tails).unwrap();
        Pair {
            dir,
            backlog,
            segment_bytes,
            now: START,
            next_number: 0,
            hands: Vec::new(),
            model: Model::default(),
            written: Model::default(),
            durable: Model::default(),
            manifest,
            seen: Position::default(),
        }
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Append { delay } => {
                let number = self.next_number;
                self.next_number += 1;
                let due = self.now + Duration::from_secs(delay);
                let position = self.backlog.position().0;
                self.backlog.append(&entry(number, due), self.now).unwrap();
                self.model.append(number, due, self.now, position);
            }
            Op::AppendHeld => {
                let number = self.next_number;
                self.next_number += 1;
                let position = self.backlog.position().0;
                let ticket = self.backlog.append_held(&entry(number, self.now)).unwrap();
                self.model.append_held(number, self.now, position);
                self.hands.push((ticket, number));
            }
            Op::Next { count } => (0..count).for_each(|_| self.next()),
            Op::NextSpilled { count } => (0..count).for_each(|_| self.next_spilled()),
            Op::Spill { at, priority } if !self.hands.is_empty() => {
                let (ticket, number) = self.hands.swap_remove(at % self.hands.len());
                let due = self.model.find(number).due;
                let position = self.backlog.position().0;
                let spilled = Entry {
                    priority,
                    ..entry(number, due)
                };
                self.backlog.spill(ticket, &spilled).unwrap();
                self.model.spill(number, priority, position);
            }
            Op::Ack { at } if !self.hands.is_empty() => {
                let (ticket, number) = self.hands.swap_remove(at % self.hands.len());
                self.backlog.ack(ticket);
                self.model.find(number).is_done = true;
            }
            Op::Replace { at, delay } if !self.hands.is_empty() => {
                let (ticket, number) = self.hands.swap_remove(at % self.hands.len());
                let due = self.now + Duration::from_secs(delay);
                self.model.find(number).is_done = true;
                let position = self.backlog.position().0;
                self.backlog
                    .replace(ticket, &entry(number, due), self.now)
                    .unwrap();
                self.model.append(number, due, self.now, position);
            }
            Op::Ack { .. } | Op::Replace { .. } | Op::Spill { .. } => {}
            Op::Pass { seconds } => self.now = self.now + Duration::from_secs(seconds),
            Op::Flush => self.flush(),
            Op::Checkpoint {
                with_seen,
                is_synced_again,
            } => {
                self.checkpoint(with_seen, is_synced_again);
            }
            Op::Kill => self.reopen(true),
            Op::PowerLoss => self.reopen(false),
        }
    }

    fn next(&mut self) {
        let handed_out = next(&mut self.backlog, self.now);
        let Some((ticket, entry)) = handed_out else {
            // A bucket of the finest span is read when its span has passed.
            let late = |item: &&Item| item.due + Duration::from_secs(1) < self.now;
            let mut not_spilled = self.model.waiting().filter(|item| item.spilled.is_none());
            assert!(not_spilled.find(late).is_none());
            return;
        };
        let first = self.model.waiting().find(|item| item.is_now);
        let first = first.map(|item| item.number);
        let number = number(&entry);
        let item = self.model.find(number);
        assert!(
            !item.is_in_hand && !item.is_done,
            "{number} is handed out twice"
        );
        assert_eq!(entry.due, item.due);
        assert!(item.due <= self.now, "{number} is handed out early");
        assert!(
            !item.is_now || first == Some(number),
            "{number} before {first:?}"
        );
        item.is_in_hand = true;
        self.hands.push((ticket, number));
    }

    fn next_spilled(&mut self) {
        let handed_out = self.backlog.next_spilled().unwrap();
        let first = self.model.first_spilled();
        assert_eq!(handed_out.as_ref().map(|(_, entry)| number(entry)), first);
        if let Some((ticket, entry)) = handed_out {
            let item = self.model.find(number(&entry));
            item.is_in_hand = true;
            assert_eq!(
                (entry.due, Some(Class::of(entry.priority))),
                (item.due, item.spilled)
            );
            self.hands.push((ticket, item.number));
        }
    }

    fn flush(&mut self) {
        self.backlog.flush(&mut Nothing).unwrap();
        self.written = self.model.clone();
    }

    /// A manifest of a first sync becomes durable, perhaps after a second sync.
    fn checkpoint(&mut self, with_seen: bool, is_synced_again: bool) {
        self.manifest = self.backlog.sync(&mut Nothing).unwrap();
        self.written = self.model.clone();
        self.durable = self.model.clone();
        if with_seen {
            self.seen = self.backlog.position();
        }
        if is_synced_again {
            (0..3).for_each(|_| self.next());
            for (ticket, number) in self.hands.drain(..) {
                self.backlog.ack(ticket);
                self.model.find(number).is_done = true;
            }
            self.backlog.sync(&mut Nothing).unwrap();
            self.written = self.model.clone();
        }
        self.backlog.checkpointed(self.seen).unwrap();
    }

    fn reopen(&mut self, is_kill: bool) {
        let (model, tails) = if is_kill {
            (&self.written, Tails::Keep(&self.manifest))
        } else {
            (&self.durable, Tails::Cut(&self.manifest))
        };
        self.model = model.reborn();
        let config = config(self.segment_bytes);
        let (backlog, report) =
            Backlog::open_on(Disk::for_tests(), self.dir.path(), &config, tails).unwrap();
        self.backlog = backlog;
        self.hands.clear();
        self.written = self.model.clone();
        assert_eq!(report.lost, 0);
        let mut replayed = Vec::new();
        let visit = |entry: &Entry| replayed.push(number(entry));
        self.backlog.replay_since(self.seen, visit).unwrap();
        for item in self
            .model
            .items
            .iter()
            .filter(|item| self.seen.0 <= item.position)
        {
            assert!(
                replayed.contains(&item.number),
                "{} is not replayed",
                item.number
            );
        }
    }

    fn check(&self) {
        assert_eq!(self.backlog.waiting(), self.model.waiting().count() as u64);
        let spilled = self.model.waiting().filter(|item| item.spilled.is_some());
        assert_eq!(self.backlog.stats().spilled, spilled.count() as u64);
        assert_eq!(self.backlog.stats().in_hand, self.hands.len() as u64);
        assert_eq!(scanned(&self.backlog), self.model.left());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn nothing_is_lost_doubled_early_or_out_of_order(
        ops in prop::collection::vec(op(), 1..120), segment_bytes in prop_oneof![Just(200_u64), Just(1 << 20)],
    ) {
        let mut pair = Pair::new(segment_bytes);
        for op in ops {
            pair.apply(op);
            pair.check();
        }
    }
}

/// What a life that may end at any change did: entries whose flush succeeded, those that were done with before it, and the last manifest.
#[derive(Debug, Default)]
struct Life {
    manifest: Lengths,
    flushed: Vec<u64>,
    /// Done with, and flushed.
    done: Vec<u64>,
    /// Perhaps done with: acknowledged, but the flush did not come back.
    touched: Vec<u64>,
}

fn live(disk: Disk, dir: &Path, life: &mut Life) -> Result<(), BacklogError> {
    let (mut backlog, _) = Backlog::open_on(disk, dir, &config(300), Tails::Keep(&life.manifest))?;
    for round in 0..4 {
        let now = after(round * 1000);
        let mut appended = Vec::new();
        for number in round * 10..round * 10 + 10 {
            let delay = [0, 3, 2000, 9000][usize::try_from(number % 4).unwrap()];
            backlog.append(&entry(number, now + Duration::from_secs(delay)), now)?;
            appended.push(number);
        }
        for number in 100 + round * 10..100 + round * 10 + 4 {
            let ticket = backlog.append_held(&entry(number, now))?;
            appended.push(number);
            match number % 4 {
                0 => {
                    life.touched.push(number);
                    backlog.ack(ticket);
                }
                1 => {}
                _ => backlog
                    .spill(ticket, &graded(number, 10))
                    .map_err(|refused| refused.source)?,
            }
        }
        if let Some((ticket, given)) = backlog.next_spilled()? {
            backlog
                .spill(ticket, &graded(number(&given), 20))
                .map_err(|refused| refused.source)?;
        }
        for turn in 0..6 {
            let Some((ticket, given)) = backlog.next(now)? else {
                continue;
            };
            if turn % 3 == 2 {
                let later = entry(number(&given), after(50_000));
                backlog
                    .replace(ticket, &later, now)
                    .map_err(|refused| refused.source)?;
            } else {
                life.touched.push(number(&given));
                backlog.ack(ticket);
            }
        }
        backlog.flush(&mut Nothing)?;
        life.flushed.append(&mut appended);
        life.done.append(&mut life.touched);
        let lengths = backlog.sync(&mut Nothing)?;
        life.manifest = lengths;
        backlog.checkpointed(backlog.position())?;
    }
    Ok(())
}

#[test]
fn a_crash_between_any_two_changes_loses_and_doubles_nothing() {
    for changes in 0.. {
        let dir = tempfile::tempdir().unwrap();
        let mut life = Life::default();
        let ended = live(Disk::crashing_after(changes), dir.path(), &mut life).is_ok();
        let mut looked = Vec::new();
        look(dir.path(), |entry| looked.push(number(entry))).unwrap();
        let (mut backlog, report) =
            Backlog::open(dir.path(), &config(300), Tails::Keep(&life.manifest)).unwrap();
        assert_eq!(report.lost, 0, "after {changes}");
        let found = scanned(&backlog);
        looked.sort_unstable();
        assert_eq!(looked, found, "looking on sees the same after {changes}");
        let mut handed_out = numbers(&drain(&mut backlog, after(1_000_000)));
        handed_out.extend(numbers(&drain_spilled(&mut backlog)));
        handed_out.sort_unstable();
        assert_eq!(handed_out, found, "after {changes}");
        assert!(
            found.is_sorted_by(|left, right| left < right),
            "{found:?} after {changes}"
        );
        for number in &life.flushed {
            let may_be_missing = life.done.contains(number) || life.touched.contains(number);
            assert!(
                may_be_missing || found.contains(number),
                "{number} is lost after {changes}"
            );
        }
        for number in &life.done {
            assert!(
                !found.contains(number),
                "{number} came back after {changes}"
            );
        }
        if ended {
            assert!(40 < changes, "only {changes} changes were tried");
            return;
        }
    }
}

/// The entries that one who looks on finds waiting.
fn looked(dir: &Path) -> Vec<u64> {
    let mut found = Vec::new();
    look(dir, |entry| found.push(number(entry))).unwrap();
    found.sort_unstable();
    found
}

/// A driver that notes what is on disk when it is asked to write, and may refuse.
struct LooksFirst<'a> {
    dir: &'a Path,
    found: Vec<Vec<u64>>,
    refuses: bool,
}

impl Outcomes for LooksFirst<'_> {
    type Error = BacklogError;

    fn write(&mut self, _entries: EntriesWritten) -> Result<(), BacklogError> {
        self.found.push(looked(self.dir));
        if self.refuses {
            let path = self.dir.to_owned();
            let source = std::io::ErrorKind::StorageFull.into();
            return Err(DiskError { path, source }.into());
        }
        Ok(())
    }
}

#[test]
fn acknowledgements_are_written_behind_entries_and_outcomes() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    for number in 0..2 {
        backlog.append(&entry(number, START), START).unwrap();
    }
    let (first, _) = next(&mut backlog, START).unwrap();
    backlog.ack(first);
    let mut driver = LooksFirst {
        dir: dir.path(),
        found: Vec::new(),
        refuses: true,
    };
    assert!(backlog.flush(&mut driver).is_err());
    assert!(backlog.written(&mut driver).is_err());
    assert!(backlog.sync(&mut driver).is_err());
    assert_eq!(
        looked(dir.path()),
        [0, 1],
        "what is refused is not acknowledged"
    );
    driver.refuses = false;
    backlog.flush(&mut driver).unwrap();
    assert_eq!(
        driver.found,
        vec![vec![0, 1]; 4],
        "all entries are there first"
    );
    assert_eq!(looked(dir.path()), [1]);
    assert_eq!(backlog.unwritten_ack_bytes(), 0);
}

#[test]
fn a_full_buffer_writes_entries_and_no_acknowledgement() {
    let dir = tempfile::tempdir().unwrap();
    let mut small = config(2000);
    small.buffer_bytes = 500;
    let nothing = Lengths::default();
    let (mut backlog, _) =
        Backlog::open_on(Disk::for_tests(), dir.path(), &small, Tails::Keep(&nothing)).unwrap();
    for number in 0..100 {
        backlog.append(&entry(number, START), START).unwrap();
        if let Some((ticket, _)) = next(&mut backlog, START) {
            backlog.ack(ticket);
        }
    }
    let found = looked(dir.path());
    assert!(80 < found.len(), "{} entries are written", found.len());
    assert_eq!(found, (0..found.len() as u64).collect::<Vec<_>>());
    backlog.flush(&mut Nothing).unwrap();
    assert_eq!(looked(dir.path()), [0; 0]);
}

#[test]
fn a_full_disk_loses_nothing_and_all_calls_succeed_later() {
    for writes in 0..12 {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::full_after(writes);
        let nothing = Lengths::default();
        let mut small = config(2000);
        small.buffer_bytes = 500;
        let (mut backlog, _) =
            Backlog::open_on(disk.clone(), dir.path(), &small, Tails::Keep(&nothing)).unwrap();
        let mut refusals = 0;
        for number in 0..100 {
            let waiting = entry(number, after(number * 50 % 777));
            while let Err(error) = backlog.append(&waiting, START) {
                assert!(
                    matches!(&error, BacklogError::Disk(error) if error.is_full()),
                    "{error}"
                );
                refusals += 1;
                disk.make_room(2);
            }
        }
        assert!(0 < refusals);
        disk.make_room(0);
        assert!(matches!(
            backlog.sync(&mut Nothing),
            Err(BacklogError::Disk(error)) if error.is_full()
        ));
        disk.make_room(1000);
        let manifest = backlog.sync(&mut Nothing).unwrap();
        drop(backlog);
        let (backlog, report) = Backlog::open(dir.path(), &small, Tails::Cut(&manifest)).unwrap();
        assert_eq!(report.cut_bytes, 0);
        assert_eq!(scanned(&backlog), (0..100).collect::<Vec<_>>());
    }
}

/// A directory with 200 entries in many files of several blocks each, flushed.
fn two_hundred() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let nothing = Lengths::default();
    let (mut backlog, _) = Backlog::open_on(
        Disk::for_tests(),
        dir.path(),
        &config(1000),
        Tails::Keep(&nothing),
    )
    .unwrap();
    for number in 0..200 {
        backlog
            .append(&entry(number, after(number % 7 * 1000)), START)
            .unwrap();
        if number % 20 == 19 {
            backlog.flush(&mut Nothing).unwrap();
        }
    }
    dir
}

/// The blocks of a segment's bytes: where each ends, and the first entry behind it.
fn blocks(id: SegmentId, bytes: &[u8]) -> Vec<(usize, u32)> {
    let mut end = segment::Format::Blocks.header_bytes();
    let mut blocks = Vec::new();
    while let Some(header) = block::BlockHeader::decode(id, &bytes[end..]) {
        end += header.bytes();
        blocks.push((end, header.end()));
    }
    blocks
}

/// Flips a bit of a file.
fn flip(path: &Path, at: usize, bit: u8) {
    let disk = Disk::for_tests();
    let bytes = disk.read(path).unwrap().unwrap();
    let file = disk.open_for_writing(path).unwrap();
    file.write_at(&[bytes[at] ^ 1 << bit], at as u64).unwrap();
}

/// Everything that is handed out at `now`, or was spilled, past all damage, and how many entries that cost.
fn drain_past_damage(backlog: &mut Backlog, now: Time) -> (Vec<u64>, u64) {
    let (mut handed_out, mut lost) = (Vec::new(), 0);
    let mut idle = 0;
    while idle < 3 {
        let next = match idle {
            2 => backlog.next_spilled(),
            _ => backlog.next(now),
        };
        idle += 1;
        match next {
            Ok(Some((_, entry))) => {
                handed_out.push(number(&entry));
                idle = 0;
            }
            Ok(None) if backlog.next_due().is_some_and(|due| due <= now) => idle = 0,
            Ok(None) => {}
            Err(BacklogError::Damaged { entries, .. }) => {
                lost += u64::from(entries);
                idle = 0;
            }
            Err(other) => panic!("{other}"),
        }
    }
    handed_out.sort_unstable();
    (handed_out, lost)
}

/// A directory whose entries 0..200 were appended in many flushes, to the row and to later buckets, or spilled, and every third one acknowledged; the manifest;
/// and the entries of each block.
struct Worked {
    dir: tempfile::TempDir,
    manifest: Lengths,
    left: Vec<u64>,
}

fn worked() -> Worked {
    let dir = tempfile::tempdir().unwrap();
    let nothing = Lengths::default();
    let (mut backlog, _) = Backlog::open_on(
        Disk::for_tests(),
        dir.path(),
        &config(2000),
        Tails::Keep(&nothing),
    )
    .unwrap();
    let mut left = Vec::new();
    for number in 0..200 {
        match number % 3 {
            0 => {
                let ticket = backlog.append_held(&entry(number, START)).unwrap();
                backlog.ack(ticket);
            }
            1 => backlog
                .append(&entry(number, after(number % 2 * 5000)), START)
                .unwrap(),
            _ => spill_one(&mut backlog, number),
        }
        if number % 3 != 0 {
            left.push(number);
        }
        if number % 15 == 14 {
            backlog.flush(&mut Nothing).unwrap();
        }
    }
    let manifest = backlog.sync(&mut Nothing).unwrap();
    Worked {
        dir,
        manifest,
        left,
    }
}

fn spill_one(backlog: &mut Backlog, number: u64) {
    let ticket = backlog.append_held(&graded(number, 0)).unwrap();
    backlog.spill(ticket, &graded(number, 9)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_file_cut_anywhere_keeps_what_is_before_the_cut(file: prop::sample::Index, at: prop::sample::Index) {
        let dir = two_hundred();
        let disk = Disk::for_tests();
        let names = disk.list(dir.path()).unwrap();
        let path = dir.path().join(&names[file.index(names.len())]);
        let bytes = disk.read(&path).unwrap().unwrap();
        let cut = at.index(bytes.len());
        disk.open_for_writing(&path).unwrap().set_len(cut as u64).unwrap();
        let nothing = Lengths::default();
        let open = || Backlog::open_on(disk.clone(), dir.path(), &config(1000), Tails::Keep(&nothing)).unwrap();
        let (mut backlog, _) = open();
        let found = scanned(&backlog);
        let id = segment::id_of(path.file_name().unwrap().to_str().unwrap()).unwrap();
        let blocks = blocks(id, &bytes);
        let (_, all) = *blocks.last().unwrap();
        let whole = blocks.iter().take_while(|(end, _)| *end <= cut).last();
        let behind_the_cut = all - whole.map_or(0, |(_, entries)| *entries);
        prop_assert_eq!(found.len(), 200 - behind_the_cut as usize);
        prop_assert!(found.is_sorted_by(|left, right| left < right));
        // It goes on as if nothing had been.
        backlog.append(&entry(500, START), START).unwrap();
        backlog.flush(&mut Nothing).unwrap();
        let (mut backlog, report) = open();
        prop_assert_eq!(report.cut_bytes, 0);
        prop_assert_eq!(drain(&mut backlog, after(100_000)).len(), found.len() + 1);
    }

    #[test]
    fn a_bit_that_is_flipped_under_a_running_crawl_costs_its_block(file: prop::sample::Index, at: prop::sample::Index, bit in 0_u8..8) {
        let dir = two_hundred();
        let nothing = Lengths::default();
        let (mut backlog, _) = Backlog::open_on(Disk::for_tests(), dir.path(), &config(1000), Tails::Keep(&nothing)).unwrap();
        let names = Disk::for_tests().list(dir.path()).unwrap();
        let path = dir.path().join(&names[file.index(names.len())]);
        let bytes = Disk::for_tests().read(&path).unwrap().unwrap();
        let id = segment::id_of(path.file_name().unwrap().to_str().unwrap()).unwrap();
        let header = segment::Format::Blocks.header_bytes();
        let at = header + at.index(bytes.len() - header);
        let blocks = blocks(id, &bytes);
        let hit = blocks.iter().position(|(end, _)| at < *end).unwrap();
        let before = if hit == 0 { 0 } else { blocks[hit - 1].1 };
        flip(&path, at, bit);
        let (handed_out, lost) = drain_past_damage(&mut backlog, after(100_000));
        prop_assert_eq!(lost, u64::from(blocks[hit].1 - before));
        prop_assert_eq!(handed_out.len() as u64 + lost, 200);
        prop_assert!(handed_out.is_sorted_by(|left, right| left < right));
        // What is lost is not waited for again.
        let manifest = backlog.sync(&mut Nothing).unwrap();
        let (backlog, report) = Backlog::open_on(Disk::for_tests(), dir.path(), &config(1000), Tails::Keep(&manifest)).unwrap();
        prop_assert_eq!((backlog.waiting(), report.lost), (handed_out.len() as u64, 0));
    }

    #[test]
    fn bits_that_are_flipped_between_two_lives_cost_their_blocks_and_nothing_comes_back(
        file: prop::sample::Index, flips in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..8), 1..4), is_cut: bool,
    ) {
        let Worked { dir, manifest, left } = worked();
        let names = Disk::for_tests().list(dir.path()).unwrap();
        let segments: Vec<&String> = names.iter().filter(|name| name.ends_with(segment::FILES.suffix)).collect();
        let path = dir.path().join(segments[file.index(segments.len())]);
        let bytes = Disk::for_tests().read(&path).unwrap().unwrap();
        let id = segment::id_of(path.file_name().unwrap().to_str().unwrap()).unwrap();
        let mut hit = std::collections::BTreeSet::new();
        let blocks = blocks(id, &bytes);
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            flip(&path, at, bit);
            if segment::Format::Blocks.header_bytes() <= at {
                hit.insert(blocks.iter().position(|(end, _)| at < *end).unwrap());
            }
        }
        let at_most: u32 = hit.iter().map(|hit| blocks[*hit].1 - if *hit == 0 { 0 } else { blocks[*hit - 1].1 }).sum();
        let tails = if is_cut { Tails::Cut(&manifest) } else { Tails::Keep(&manifest) };
        let (mut backlog, report) = Backlog::open_on(Disk::for_tests(), dir.path(), &config(2000), tails).unwrap();
        let (handed_out, lost) = drain_past_damage(&mut backlog, after(100_000));
        prop_assert!(handed_out.is_sorted_by(|left, right| left < right), "nothing twice");
        prop_assert!(handed_out.iter().all(|number| left.contains(number)), "nothing comes back");
        prop_assert_eq!(handed_out.len() as u64 + lost + report.lost, left.len() as u64);
        prop_assert!(lost + report.lost <= u64::from(at_most));
        prop_assert_eq!((backlog.waiting(), backlog.stats().spilled), (0, 0));
    }

    #[test]
    fn a_damaged_log_of_acknowledgements_loses_nothing(at: prop::sample::Index, bit in 0_u8..8) {
        let Worked { dir, manifest, left } = worked();
        let path = acks::FILES.path(dir.path(), manifest.acks.generation);
        let bytes = Disk::for_tests().read(&path).unwrap().unwrap();
        flip(&path, at.index(bytes.len()), bit);
        let open = |manifest: &Lengths| Backlog::open_on(Disk::for_tests(), dir.path(), &config(2000), Tails::Keep(manifest)).unwrap();
        let (backlog, report) = open(&manifest);
        prop_assert!(0 < report.acks_lost_bytes);
        prop_assert_eq!(report.lost, 0);
        let found = scanned(&backlog);
        prop_assert!(left.iter().all(|number| found.contains(number)));
        prop_assert!((found.len() as u64) < 200 + 67, "only what one frame says comes back");
    }
}

#[test]
fn what_is_missing_or_cut_short_is_lost_and_the_rest_goes_on() {
    for is_missing in [true, false] {
        let Worked {
            dir,
            manifest,
            left,
        } = worked();
        let disk = Disk::for_tests();
        let (id, bytes) = (manifest.segments[0].id, manifest.segments[0].bytes);
        let path = segment::path(dir.path(), id);
        if is_missing {
            disk.remove(&path).unwrap();
        } else {
            let file = disk.open_for_writing(&path).unwrap();
            file.set_len(bytes / 2).unwrap();
        }
        let (mut backlog, report) = Backlog::open_on(
            disk.clone(),
            dir.path(),
            &config(2000),
            Tails::Keep(&manifest),
        )
        .unwrap();
        assert!(report.cut_bytes < bytes);
        let (handed_out, lost) = drain_past_damage(&mut backlog, after(100_000));
        assert_eq!(lost, 0, "opening told all of it");
        assert_eq!(handed_out.len() as u64 + report.lost, left.len() as u64);
        assert!(handed_out.iter().all(|number| left.contains(number)));
        for _ in 0..3 {
            backlog.sync(&mut Nothing).unwrap();
            backlog.checkpointed(backlog.position()).unwrap();
        }
        assert!(!backlog.segments.contains_key(&id));
    }
}

#[test]
fn waiting_bytes_go_up_and_down_and_are_counted_again_at_opening() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    for number in 0..100 {
        let due = after(number % 2 * 5000);
        backlog.append(&entry(number, due), START).unwrap();
    }
    let all: usize = (0..100).map(|number| entry(number, START).bytes()).sum();
    assert_eq!(backlog.stats().waiting_bytes, all as u64);
    let mut given: Vec<_> = drain(&mut backlog, START);
    assert_eq!(
        backlog.stats().waiting_bytes,
        all as u64,
        "in hand they count"
    );
    let (ticket, first) = given.remove(0);
    backlog.ack(ticket);
    let (ticket, deferred) = given.remove(0);
    backlog.replace(ticket, &deferred, START).unwrap();
    let left = (all - first.bytes()) as u64;
    assert_eq!(backlog.stats().waiting_bytes, left);
    backlog.flush(&mut Nothing).unwrap();
    drop(backlog);
    let mut backlog = new_backlog(dir.path());
    assert_eq!(backlog.stats().waiting_bytes, left);
    for (ticket, _) in drain(&mut backlog, after(100_000)) {
        backlog.ack(ticket);
    }
    assert_eq!(backlog.stats().waiting_bytes, 0);
}

#[test]
fn a_host_and_all_of_them_have_a_bound() {
    let dir = tempfile::tempdir().unwrap();
    let of = |host: u64| Entry {
        url: format!("https://host{host}.example/{}", "x".repeat(1000)),
        ..Entry::default()
    };
    let small = BacklogConfig {
        host_bytes_max: 10_500,
        bytes_max: 31_000,
        ..BacklogConfig::default()
    };
    let nothing = Lengths::default();
    let (mut backlog, _) =
        Backlog::open_on(Disk::for_tests(), dir.path(), &small, Tails::Keep(&nothing)).unwrap();
    let mut taken = [0; 4];
    let mut refused = Vec::new();
    for number in 0..80 {
        let host = number % 4;
        if let Some(bound) = backlog.refuses(&of(host)) {
            refused.push(bound);
        } else {
            backlog.append(&of(host), START).unwrap();
            taken[usize::try_from(host).unwrap()] += 1;
        }
    }
    assert!(
        taken.iter().all(|taken| (7..=10).contains(taken)),
        "{taken:?}"
    );
    assert_eq!(taken.iter().sum::<u32>(), 29);
    assert!(refused.iter().all(|bound| *bound == Bound::All));
    for (ticket, _) in drain(&mut backlog, START) {
        backlog.ack(ticket);
    }
    for _ in 0..20 {
        if backlog.refuses(&of(1)).is_none() {
            backlog.append(&of(1), START).unwrap();
        }
    }
    assert_eq!(backlog.waiting(), 10);
    assert_eq!(backlog.refuses(&of(1)), Some(Bound::Host));
    assert_eq!(backlog.refuses(&of(2)), None);
}

/// A segment as earlier versions wrote it, with entries from `first` on.
fn write_old_segment(dir: &Path, id: u64, bucket: Bucket, entries: &[Entry]) -> SegmentLength {
    let base = entry::Base {
        sequence: 100 * id,
        due: START,
    };
    let mut bytes = segment::tests::header_of_frames(id, bucket, base);
    for (sequence, entry) in (base.sequence..).zip(entries) {
        let encode = |out: &mut Vec<u8>| entry::encode(entry, sequence, None, base, out);
        frame::encode(id, &mut bytes, encode).unwrap();
    }
    let path = segment::path(dir, SegmentId(id));
    Disk::for_tests().replace(&path, &bytes).unwrap();
    SegmentLength {
        id: SegmentId(id),
        bytes: bytes.len() as u64,
        entries: u32::try_from(entries.len()).unwrap(),
        next_sequence: base.sequence + entries.len() as u64,
    }
}

/// A directory of an earlier version with 20 entries that are due and 20 later ones, of which 5 and 6 are acknowledged.
fn old_directory() -> (tempfile::TempDir, Lengths) {
    let dir = tempfile::tempdir().unwrap();
    let later = Bucket::Later {
        opens: after(100),
        span: SECOND,
    };
    let now: Vec<Entry> = (0..20).map(|number| entry(number, START)).collect();
    let then: Vec<Entry> = (20..40).map(|number| entry(number, after(99))).collect();
    let segments = vec![
        write_old_segment(dir.path(), 3, Bucket::Now, &now),
        write_old_segment(dir.path(), 4, later, &then),
    ];
    let mut log = AckLog::new(2, 0);
    log.push(SegmentId(3), 5);
    log.push(SegmentId(3), 6);
    log.write(&Disk::for_tests(), dir.path()).unwrap();
    let manifest = Lengths {
        segments,
        acks: lengths::AckLength {
            generation: 2,
            bytes: log.written,
        },
        next_segment: 5,
        position: Position(420),
    };
    (dir, manifest)
}

#[test]
fn files_of_an_earlier_version_are_read_to_their_end_and_new_ones_follow() {
    let (dir, manifest) = old_directory();
    let nothing = Lengths::default();
    for (tails, loss) in [(Tails::Keep(&manifest), 0), (Tails::Keep(&nothing), 0)] {
        let (mut backlog, report) =
            Backlog::open_on(Disk::for_tests(), dir.path(), &config(9000), tails).unwrap();
        assert_eq!((report.waiting, report.lost), (38, loss));
        backlog.append(&entry(50, START), START).unwrap();
        let mut replayed = 0;
        backlog
            .replay_since(Position(0), |_| replayed += 1)
            .unwrap();
        assert_eq!(replayed, 41);
        let handed_out = numbers(&drain(&mut backlog, START));
        let expected: Vec<u64> = (0..20).filter(|number| ![5, 6].contains(number)).collect();
        assert_eq!(handed_out, [expected, vec![50]].concat());
        assert_eq!(drain(&mut backlog, after(1000)).len(), 20);
        assert_eq!(backlog.next_segment, 6);
    }
}

#[test]
fn a_flipped_bit_in_a_file_of_an_earlier_version_costs_one_entry() {
    let (_, manifest) = old_directory();
    for at in 0..usize::try_from(manifest.segments[0].bytes).unwrap() {
        let (dir, manifest) = old_directory();
        flip(&segment::path(dir.path(), SegmentId(3)), at, 5);
        let (mut backlog, report) = Backlog::open_on(
            Disk::for_tests(),
            dir.path(),
            &config(9000),
            Tails::Keep(&manifest),
        )
        .unwrap();
        let (handed_out, lost) = drain_past_damage(&mut backlog, after(1000));
        assert!(lost + report.lost <= 1, "{lost} lost at byte {at}");
        assert_eq!(
            handed_out.len() as u64 + lost + report.lost,
            38,
            "byte {at}"
        );
        assert!(handed_out.is_sorted_by(|left, right| left < right));
        assert!(
            !handed_out.contains(&5) && !handed_out.contains(&6),
            "byte {at}"
        );
    }
}

#[test]
fn a_finished_crawl_leaves_no_files_but_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    for number in 0..50 {
        backlog
            .append(&entry(number, after(number * 100)), START)
            .unwrap();
    }
    for (ticket, _) in drain(&mut backlog, after(10_000)) {
        backlog.ack(ticket);
    }
    // The first checkpoint tells what `seen` has, the second leaves the files out, the third gives their space back.
    for _ in 0..3 {
        backlog.sync(&mut Nothing).unwrap();
        backlog.checkpointed(backlog.position()).unwrap();
    }
    assert_eq!(backlog.size().segments, 0);
    assert_eq!(backlog.disk.list(dir.path()).unwrap().len(), 1);
    backlog.append(&entry(60, START), START).unwrap();
    assert_eq!(numbers(&drain(&mut backlog, START)), [60]);
}

#[test]
fn a_file_that_was_cut_is_followed_by_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::for_tests();
    let nothing = Lengths::default();
    let open = || {
        Backlog::open_on(
            disk.clone(),
            dir.path(),
            &config(200),
            Tails::Keep(&nothing),
        )
    };
    let (mut backlog, _) = open().unwrap();
    for number in 0..6 {
        backlog.append(&entry(number, START), START).unwrap();
    }
    backlog.flush(&mut Nothing).unwrap();
    let last = segment::path(dir.path(), *backlog.segments.last_key_value().unwrap().0);
    let file = disk.open_for_writing(&last).unwrap();
    file.set_len(file.length().unwrap() - 1).unwrap();
    let (mut backlog, report) = open().unwrap();
    assert_eq!(report.waiting, 5);
    assert!(0 < report.cut_bytes);
    backlog.append(&entry(6, START), START).unwrap();
    assert_eq!(numbers(&drain(&mut backlog, START)), [0, 1, 2, 3, 4, 6]);
}

#[test]
fn a_file_that_seen_has_not_flushed_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    backlog.append(&entry(1, START), START).unwrap();
    for (ticket, _) in drain(&mut backlog, START) {
        backlog.ack(ticket);
    }
    for _ in 0..3 {
        backlog.sync(&mut Nothing).unwrap();
        backlog.checkpointed(Position(0)).unwrap();
    }
    let mut replayed = Vec::new();
    let visit = |entry: &Entry| replayed.push(number(entry));
    backlog.replay_since(Position(0), visit).unwrap();
    assert_eq!(replayed, [1]);
    assert_eq!(backlog.kept_for_seen(), 1, "who keeps files is told");
    let bytes = backlog.segments.values().map(|segment| segment.written);
    assert_eq!(backlog.kept_for_seen_bytes(), bytes.sum::<u64>());
    for _ in 0..3 {
        backlog.checkpointed(backlog.position()).unwrap();
        backlog.sync(&mut Nothing).unwrap();
    }
    assert_eq!((backlog.kept_for_seen(), backlog.size().segments), (0, 0));
}

#[test]
fn a_long_log_of_acknowledgements_is_written_again_and_says_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let mut backlog = new_backlog(dir.path());
    let count = 200_000;
    for number in 0..count {
        backlog.append(&entry(number, START), START).unwrap();
    }
    // Every other one first: the worst case for ranges.
    let (even, odd): (Vec<_>, Vec<_>) = drain(&mut backlog, START)
        .into_iter()
        .partition(|(_, entry)| number(entry).is_multiple_of(2));
    for (ticket, _) in even {
        backlog.ack(ticket);
    }
    let manifest = backlog.sync(&mut Nothing).unwrap();
    for (ticket, _) in odd.into_iter().take(50_000) {
        backlog.ack(ticket);
    }
    backlog.flush(&mut Nothing).unwrap();
    let again = backlog.sync(&mut Nothing).unwrap();
    assert_eq!((manifest.acks.generation, again.acks.generation), (1, 1));
    assert!(manifest.acks.bytes < again.acks.bytes);
    drop(backlog);
    for (tails, waiting) in [
        (Tails::Keep(&manifest), count / 2 - 50_000),
        (Tails::Cut(&again), count / 2 - 50_000),
    ] {
        let (backlog, _) = Backlog::open_on(
            Disk::for_tests(),
            dir.path(),
            &BacklogConfig::default(),
            tails,
        )
        .unwrap();
        assert_eq!(backlog.waiting(), waiting);
    }
}
