//! The waiting room against a list of what went in: nothing lost, nothing twice, every turn given back.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use junkai_frontier::admission::Order;
use junkai_store::backlog::{EntriesWritten, Lengths, Outcomes, Tails};
use proptest::prelude::*;

use super::*;
use crate::testing::platform;
use crate::visit::{Discovered, OutOfTurn, asked_entry, robots_entry};

/// Nothing is kept of a visit.
struct Nothing;

impl Outcomes for Nothing {
    type Error = BacklogError;

    fn write(&mut self, _entries: EntriesWritten) -> Result<(), BacklogError> {
        Ok(())
    }
}

const CANDIDATES: usize = 6;
const HOSTS: u64 = 4;
/// The clock stands still.
const NOW: Time = Time::from_micros(1_700_000_000_000_000);
const LATER: Duration = Duration::from_hours(1);

fn page(number: u64) -> PageUrl {
    let text = format!("http://h{}.example/{number}", number % HOSTS);
    let canonical = Canonicalizer::new(&Settings::default().canonical);
    canonical.parse(&text).unwrap()
}

fn number(visit: &Visit) -> u64 {
    let (_, number) = visit.url.as_str().rsplit_once('/').unwrap();
    number.parse().unwrap()
}

fn found(number: u64) -> Discovered {
    Discovered {
        url: page(number),
        hop: Some('L'),
        depth: 1,
        purpose: Purpose::Page,
        link_estimate: None,
    }
}

/// Visits of each host that are out, by what admission was told.
type Turns = Arc<Mutex<BTreeMap<u64, usize>>>;

/// An order whose hand-outs and releases are counted.
struct Counted {
    order: Box<dyn Admission<Visit> + Send>,
    turns: Turns,
}

impl Admission<Visit> for Counted {
    fn gain(&mut self, source: &Source, host: u64) -> f32 {
        self.order.gain(source, host)
    }

    fn raise(&mut self, fingerprint: u64, gain: f32) -> bool {
        self.order.raise(fingerprint, gain)
    }

    fn offer(&mut self, candidate: Candidate<Visit>) -> Option<Candidate<Visit>> {
        assert!(matches!(
            candidate.visit.receipt,
            Receipt::Waiting {
                is_handed_out: false,
                ..
            }
        ));
        self.order.offer(candidate)
    }

    fn next(&mut self) -> Option<Candidate<Visit>> {
        let next = self.order.next()?;
        *self.turns.lock().unwrap().entry(next.host).or_default() += 1;
        Some(next)
    }

    fn take_out(&mut self) -> Option<Candidate<Visit>> {
        self.order.take_out()
    }

    fn release(&mut self, host: u64) {
        let mut turns = self.turns.lock().unwrap();
        let out = turns.get_mut(&host).expect("a host that was handed out");
        *out = out.checked_sub(1).expect("no turn is given back twice");
        drop(turns);
        self.order.release(host);
    }

    fn len(&self) -> usize {
        self.order.len()
    }

    fn room(&self) -> usize {
        self.order.room()
    }
}

fn open(folder: &Path, order: Order, turns: &Turns) -> WaitingRoom {
    let mut settings = Settings::default();
    settings.crawl.order = order;
    settings.crawl.candidates = NonZeroUsize::new(CANDIDATES).unwrap();
    let nothing = Lengths::default();
    let (backlog, _) = Backlog::open(folder, &settings.backlog, Tails::Keep(&nothing)).unwrap();
    let progress = Arc::new(Progress::default());
    let mut room = WaitingRoom::new(backlog, None, &settings, progress, platform().machine);
    if let Standing::Order(order) = room.standing {
        room.standing = Standing::Order(Box::new(Counted {
            order,
            turns: Arc::clone(turns),
        }));
    }
    room
}

#[derive(Clone, Copy, Debug)]
enum Op {
    TakeIn { is_seed: bool },
    Raise { page: u64 },
    Refill { entries_max: usize },
    Next,
    Done { at: usize },
    Defer { at: usize, is_long: bool },
    Kill { order: Order },
    Stop { order: Order },
}

fn order() -> impl Strategy<Value = Order> {
    prop::sample::select(Order::ALL.to_vec())
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => any::<bool>().prop_map(|is_seed| Op::TakeIn { is_seed }),
        4 => (0_u64..40).prop_map(|page| Op::Raise { page }),
        2 => (0_usize..9).prop_map(|entries_max| Op::Refill { entries_max }),
        5 => Just(Op::Next),
        4 => any::<usize>().prop_map(|at| Op::Done { at }),
        2 => any::<(usize, bool)>().prop_map(|(at, is_long)| Op::Defer { at, is_long }),
        1 => order().prop_map(|order| Op::Kill { order }),
        1 => order().prop_map(|order| Op::Stop { order }),
    ]
}

/// A waiting room, and what is known of it.
struct Pair {
    folder: tempfile::TempDir,
    room: WaitingRoom,
    turns: Turns,
    taken_in: u64,
    out: Vec<Visit>,
    done: BTreeSet<u64>,
    /// Deferred until long after the test.
    deferred: BTreeSet<u64>,
    /// Its places were filled since it was opened.
    is_filled: bool,
}

impl Pair {
    fn new(order: Order) -> Pair {
        let folder = tempfile::tempdir().unwrap();
        let turns = Turns::default();
        Pair {
            room: open(folder.path(), order, &turns),
            folder,
            turns,
            taken_in: 0,
            out: Vec::new(),
            done: BTreeSet::new(),
            deferred: BTreeSet::new(),
            is_filled: order != Order::Fifo,
        }
    }

    fn source(&self) -> Source {
        Source {
            host: self.taken_in % HOSTS,
            priority: 1.0,
            links: 7,
        }
    }

    fn apply(&mut self, op: Op) {
        let source = self.source();
        match op {
            Op::TakeIn { is_seed } => {
                let found = found(self.taken_in);
                let source = (!is_seed).then_some(&source);
                let entry = found.entry("http://h0.example/", "L", NOW);
                self.room
                    .take_in(entry, &found, source.map_or(Gain::OfSeed, Gain::From), NOW)
                    .unwrap();
                self.taken_in += 1;
            }
            Op::Raise { page: number } => self.room.raise(&page(number), Gain::From(&source)),
            Op::Refill { entries_max } => {
                self.room.refill(entries_max, NOW).unwrap();
                self.is_filled = self.room.is_ordered;
            }
            Op::Next => self.next(),
            Op::Done { at } if !self.out.is_empty() => {
                let visit = self.out.swap_remove(at % self.out.len());
                assert!(self.done.insert(number(&visit)));
                self.room.done(visit);
            }
            Op::Defer { at, is_long } if !self.out.is_empty() => {
                let visit = self.out.swap_remove(at % self.out.len());
                if is_long {
                    self.deferred.insert(number(&visit));
                }
                let wait = if is_long { LATER } else { Duration::ZERO };
                self.room.defer(visit, NOW + wait, NOW).unwrap();
            }
            Op::Done { .. } | Op::Defer { .. } => {}
            Op::Stop { order } => {
                self.room.spill_all(NOW).unwrap();
                self.apply(Op::Kill { order });
            }
            Op::Kill { order } => {
                self.room.backlog().flush(&mut Nothing).unwrap();
                self.out.clear();
                self.turns.lock().unwrap().clear();
                self.room = open(self.folder.path(), order, &self.turns);
                self.is_filled = false;
            }
        }
    }

    fn next(&mut self) {
        let Some(visit) = self.room.next(NOW).unwrap() else {
            return;
        };
        let number = number(&visit);
        assert!(number < self.taken_in);
        assert!(!self.done.contains(&number), "{number} comes twice");
        assert!(!self.deferred.contains(&number), "{number} comes early");
        let mut out = self.out.iter();
        assert!(out.all(|other| other.url != visit.url), "{number} is out");
        self.out.push(visit);
    }

    fn check(&mut self) {
        let turns: usize = self.turns.lock().unwrap().values().sum();
        assert_eq!(
            turns,
            self.out.len(),
            "as many turns as visits that are out"
        );
        assert!(self.room.admission().len() <= self.room.candidates_max);
        self.check_places();
        let stats = self.room.stats();
        let left = self.taken_in - self.done.len() as u64;
        assert_eq!(stats.waiting + stats.in_hand, left, "nothing is lost");
    }
}

impl Pair {
    /// While the order is the same, no place is free that a spilled visit could have.
    fn check_places(&mut self) {
        let is_low = self.room.admission().len() < self.room.candidates_low;
        assert!(!self.is_filled || !is_low || self.room.stats().spilled == 0);
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_or_doubled_and_every_turn_is_given_back(
        first in order(), ops in prop::collection::vec(op(), 1..150),
    ) {
        let mut pair = Pair::new(first);
        for op in ops {
            pair.apply(op);
            pair.check();
        }
        // To the end: whatever waits and is due comes out.
        for _ in 0..2 * pair.taken_in + 2 {
            pair.apply(Op::Refill { entries_max: 8 });
            pair.apply(Op::Next);
            pair.apply(Op::Done { at: 0 });
            pair.check();
        }
        prop_assert!(pair.out.is_empty());
        let visited = pair.done.len() + pair.deferred.len();
        prop_assert_eq!(visited as u64, pair.taken_in);
    }
}

#[test]
fn links_lift_a_page_over_those_that_were_found_before() {
    let mut pair = Pair::new(Order::InDegree);
    for _ in 0..4 {
        pair.apply(Op::TakeIn { is_seed: false });
    }
    pair.apply(Op::Raise { page: 2 });
    pair.apply(Op::Next);
    pair.apply(Op::Next);
    let out: Vec<u64> = pair.out.iter().map(number).collect();
    assert_eq!(out, [2, 0]);
    assert!(pair.out[1].priority < pair.out[0].priority);
}

#[test]
fn robots_txt_waits_for_nobody_and_has_no_turn_to_give_back() {
    let mut pair = Pair::new(Order::Worth);
    for _ in 0..5 {
        pair.apply(Op::TakeIn { is_seed: true });
    }
    let target = page(99);
    let entry = robots_entry(&target, "http://h0.example", NOW);
    pair.room.append(&entry, NOW).unwrap();
    pair.room.refill(1, NOW).unwrap();
    let rules = pair.room.next(NOW).unwrap().unwrap();
    assert_eq!(rules.url, target);
    let Purpose::Robots { origin } = &rules.purpose else {
        panic!("{:?}", rules.purpose);
    };
    assert_eq!(origin.origin(), "http://h0.example");
    pair.room.done(rules);
    assert!(pair.turns.lock().unwrap().is_empty());
}

#[test]
fn a_host_has_its_next_turn_when_the_visit_is_over_or_deferred() {
    let mut pair = Pair::new(Order::Worth);
    for _ in 0..=2 * HOSTS {
        pair.apply(Op::TakeIn { is_seed: true });
    }
    for _ in 0..2 * HOSTS {
        pair.apply(Op::Next);
    }
    assert_eq!(pair.out.len() as u64, HOSTS, "one a host");
    pair.apply(Op::Done { at: 0 });
    pair.apply(Op::Defer {
        at: 0,
        is_long: true,
    });
    pair.apply(Op::Refill { entries_max: 0 });
    for _ in 0..2 * HOSTS {
        pair.apply(Op::Next);
    }
    assert_eq!(pair.out.len() as u64, HOSTS);
}

#[test]
fn what_a_run_with_an_order_spilled_is_visited_by_one_without() {
    let mut pair = Pair::new(Order::Worth);
    for _ in 0..20 {
        pair.apply(Op::TakeIn { is_seed: false });
    }
    assert_eq!(pair.room.stats().spilled, 20 - CANDIDATES as u64);
    pair.apply(Op::Kill { order: Order::Fifo });
    pair.apply(Op::Refill { entries_max: 100 });
    for _ in 0..20 {
        pair.apply(Op::Next);
        pair.apply(Op::Done { at: 0 });
    }
    assert_eq!(pair.done.len(), 20);
}

#[test]
fn without_an_order_entries_have_no_grade() {
    let mut pair = Pair::new(Order::Fifo);
    pair.apply(Op::TakeIn { is_seed: true });
    pair.apply(Op::Refill { entries_max: 1 });
    pair.apply(Op::Next);
    pair.apply(Op::Defer {
        at: 0,
        is_long: true,
    });
    pair.room.backlog().flush(&mut Nothing).unwrap();
    let mut priorities = Vec::new();
    let scanned = pair
        .room
        .backlog()
        .scan(|entry| priorities.push(entry.priority));
    scanned.unwrap();
    assert_eq!(priorities, [0]);
}

#[test]
fn a_page_with_two_entries_on_disk_stands_once() {
    for order in [Order::InDegree, Order::Worth] {
        let folder = tempfile::tempdir().unwrap();
        let mut room = open(folder.path(), order, &Turns::default());
        let found = found(1);
        let entry = found.entry("", "", NOW);
        room.take_in(entry.clone(), &found, Gain::OfSeed, NOW)
            .unwrap();
        room.append_known(entry, NOW).unwrap();
        room.refill(10, NOW).unwrap();
        let visit = room.next(NOW).unwrap().unwrap();
        assert_eq!(number(&visit), 1);
        assert!(room.next(NOW).unwrap().is_none(), "{order}");
        room.done(visit);
        assert_eq!((room.stats().waiting, room.stats().in_hand), (0, 0));
    }
}

#[test]
fn what_links_have_made_of_a_page_outlives_a_stop() {
    for order in [Order::InDegree, Order::Worth] {
        let folder = tempfile::tempdir().unwrap();
        let mut room = open(folder.path(), order, &Turns::default());
        let source = Source {
            host: 0,
            priority: 1.0,
            links: 2,
        };
        for number in [1, 2] {
            let found = found(number);
            let entry = found.entry("", "", NOW);
            room.take_in(entry, &found, Gain::From(&source), NOW)
                .unwrap();
        }
        for _ in 0..8 {
            room.raise(&page(2), Gain::From(&source));
        }
        room.spill_all(NOW).unwrap();
        room.backlog.flush(&mut Nothing).unwrap();
        drop(room);
        let mut room = open(folder.path(), order, &Turns::default());
        room.refill(10, NOW).unwrap();
        assert_eq!(
            room.next(NOW).unwrap().map(|visit| number(&visit)),
            Some(2),
            "{order}"
        );
    }
}

#[test]
fn a_url_that_cannot_be_read_is_counted_and_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut room = open(folder.path(), Order::Fifo, &Turns::default());
    for url in ["no URL at all", page(1).as_str()] {
        let entry = Entry {
            url: url.to_owned(),
            ..Entry::default()
        };
        room.append(&entry, NOW).unwrap();
    }
    room.refill(10, NOW).unwrap();
    let next = room.next(NOW).unwrap().unwrap();
    assert_eq!(number(&next), 1);
    assert_eq!(room.progress.visits_lost.read(), 1);
    room.done(next);
    assert_eq!((room.stats().waiting, room.stats().in_hand), (0, 0));
}

#[test]
fn damaged_visits_are_counted_and_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut room = open(folder.path(), Order::Fifo, &Turns::default());
    for number in 0..30 {
        room.append(&found(number).entry("", "", Time::EPOCH), NOW)
            .unwrap();
        if number % 10 == 9 {
            room.backlog().flush(&mut Nothing).unwrap();
        }
    }
    let segment = std::fs::read_dir(folder.path()).unwrap().next();
    let path = segment.unwrap().unwrap().path();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    room.refill(100, NOW).unwrap();
    let mut numbers = BTreeSet::new();
    while let Some(visit) = room.next(NOW).unwrap() {
        numbers.insert(number(&visit));
        room.done(visit);
    }
    let kept: BTreeSet<u64> = (0..10).chain(20..30).collect();
    assert_eq!(numbers, kept);
    assert_eq!(room.progress.visits_lost.read(), 10);
}

#[test]
fn a_link_is_refused_where_too_much_waits_and_a_seed_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.backlog.host_bytes_max = 300;
    let nothing = Lengths::default();
    let opened = Backlog::open(folder.path(), &settings.backlog, Tails::Keep(&nothing));
    let mut room = WaitingRoom::new(
        opened.unwrap().0,
        None,
        &settings,
        Arc::default(),
        platform().machine,
    );
    let link = |number| {
        let found = found(number);
        let entry = found.entry("http://h0.example/", "", Time::EPOCH);
        entry.with_own_texts()
    };
    let mut taken = 0;
    while room.refuses(&link(0)).is_none() {
        room.append(&link(0), NOW).unwrap();
        taken += 1;
    }
    assert!((3..10).contains(&taken), "{taken}");
    assert_eq!(room.refuses(&link(0)), Some(Bound::Host));
    assert_eq!(room.refuses(&link(1)), None, "another host");
    let seed = found(0);
    let seed = seed.entry("", "", Time::EPOCH);
    assert_eq!(room.refuses(&seed), None);
}

#[test]
fn damage_that_is_found_together_is_told_in_one_line() {
    let mut damage = Damage::default();
    let now = Time::EPOCH + Duration::from_secs(1000);
    assert_eq!(damage.due(now), None);
    for number in 0..40_u32 {
        let file = PathBuf::from(format!("state/{}.segment", number % 2));
        damage.add(file, 3, now + Duration::from_millis(u64::from(number)));
    }
    assert_eq!(damage.due(now + TELL_AFTER / 2), None);
    let told = damage.due(now + TELL_AFTER).unwrap();
    assert!(
        told.ends_with("lost 120, damaged blocks 40, in state/0.segment, state/1.segment"),
        "{told}"
    );
    assert_eq!(damage.take(), None, "it is told once");
}

#[test]
fn a_page_that_is_asked_for_while_it_waits_has_its_first_visit_too() {
    for order in [Order::Fifo, Order::InDegree, Order::Worth] {
        let folder = tempfile::tempdir().unwrap();
        let mut room = open(folder.path(), order, &Turns::default());
        let asked = asked_entry(&page(1), OutOfTurn::Asked, &Purpose::Page, 0, Time::EPOCH);
        room.append_known(asked, NOW).unwrap();
        let found = found(1);
        let first = found.entry("http://h0.example/", "", Time::EPOCH);
        room.append(&first, NOW).unwrap();
        room.refill(10, NOW).unwrap();
        let mut reasons = Vec::new();
        while let Some(visit) = room.next(NOW).unwrap() {
            reasons.push(visit.out_of_turn);
            room.done(visit);
        }
        assert!(reasons.contains(&None), "{order}: {reasons:?}");
    }
}
