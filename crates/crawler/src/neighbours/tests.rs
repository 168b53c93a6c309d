use std::os::unix::fs::PermissionsExt as _;

use super::*;

const INTERVAL: Duration = Duration::from_secs(5);
const HOLD_MAX: Duration = Duration::from_hours(1);
const NO_HOLD: Duration = Duration::ZERO;

fn at(seconds: u64) -> Duration {
    Duration::from_secs(1000 + seconds)
}

fn server(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn crawl_in(folder: &tempfile::TempDir) -> Neighbours {
    Neighbours::open(folder.path().join("junkai"), HOLD_MAX).unwrap()
}

#[test]
fn a_server_has_one_visitor_at_a_time_and_rests_in_between() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = crawl_in(&folder);
    let mut two = crawl_in(&folder);
    let (here, there) = (server("192.0.2.1:80"), server("192.0.2.2:80"));
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    assert_eq!(two.start(here, INTERVAL, || at(1)), Err(Wait::Busy));
    assert_eq!(two.start(there, INTERVAL, || at(1)), Ok(()));
    one.end(here, Some(at(2)), NO_HOLD);
    let wait = Wait::Rest(Duration::from_secs(4));
    assert_eq!(two.start(here, INTERVAL, || at(3)), Err(wait));
    assert_eq!(
        two.start(server("192.0.2.1:443"), INTERVAL, || at(3)),
        Err(wait)
    );
    assert_eq!(two.start(here, INTERVAL, || at(7)), Ok(()));
    // A crawl with a shorter interval goes by its own.
    two.end(here, Some(at(8)), NO_HOLD);
    assert_eq!(one.start(here, Duration::from_secs(1), || at(9)), Ok(()));
}

#[test]
fn a_visit_that_a_kill_cut_off_has_ended_when_that_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let mut killed = crawl_in(&folder);
    let mut other = crawl_in(&folder);
    let here = server("192.0.2.1:80");
    assert_eq!(killed.start(here, INTERVAL, || at(0)), Ok(()));
    drop(killed);
    assert_eq!(
        other.start(here, INTERVAL, || at(60)),
        Err(Wait::Rest(INTERVAL))
    );
    assert_eq!(
        other.start(here, INTERVAL, || at(62)),
        Err(Wait::Rest(Duration::from_secs(3)))
    );
    assert_eq!(other.start(here, INTERVAL, || at(65)), Ok(()));
}

#[test]
fn a_visit_that_was_not_made_costs_nobody_more_than_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = crawl_in(&folder);
    let here = server("192.0.2.1:80");
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    one.end(here, None, NO_HOLD);
    let mut two = crawl_in(&folder);
    assert_eq!(
        two.start(here, INTERVAL, || at(4)),
        Err(Wait::Rest(Duration::from_secs(1)))
    );
    assert_eq!(two.start(here, INTERVAL, || at(5)), Ok(()));
}

#[test]
fn from_its_own_visits_a_crawl_keeps_its_distance_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = crawl_in(&folder);
    let here = server("192.0.2.1:80");
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    one.end(here, Some(at(1)), NO_HOLD);
    assert_eq!(one.start(here, INTERVAL, || at(1)), Ok(()));
}

#[test]
fn times_of_before_the_last_boot_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = crawl_in(&folder);
    let here = server("192.0.2.1:80");
    assert_eq!(one.start(here, INTERVAL, || at(1_000_000)), Ok(()));
    one.end(here, Some(at(1_000_000)), NO_HOLD);
    let mut two = crawl_in(&folder);
    assert_eq!(two.start(here, INTERVAL, || at(0)), Ok(()));
}

#[test]
fn a_visit_that_ends_while_another_crawl_reads_the_clock_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
    let here = server("192.0.2.1:80");
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    one.end(here, Some(at(2)), NO_HOLD);
    // A clock that was read a little too early.
    let wait = Wait::Rest(Duration::from_secs(6));
    assert_eq!(two.start(here, INTERVAL, || at(1)), Err(wait));
    // It is read, for the last time, when the slot is locked.
    let is_locked = std::cell::Cell::new(false);
    let clock = || {
        let byte = visit_byte(slot_of(here));
        let is_ours = one.lock(byte, libc::F_WRLCK).unwrap();
        if is_ours {
            one.lock(byte, libc::F_UNLCK).unwrap();
        }
        is_locked.set(!is_ours);
        at(7)
    };
    assert_eq!(two.start(here, INTERVAL, clock), Ok(()));
    assert!(is_locked.get());
}

/// A file in which locks work and nothing can be written, as on a full disk.
fn full_file() -> File {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).open("/dev/full").unwrap()
}

#[test]
fn a_file_that_is_full_locks_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
    (one.file, two.file) = (full_file(), full_file());
    // All processes of the machine have this file in common: an address that only this one asks for.
    let here = server(&format!(
        "[2001:db8::{:x}]:80",
        std::process::id() % 0x1_0000
    ));
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    assert!(one.has_warned);
    assert_eq!(two.start(here, INTERVAL, || at(1)), Err(Wait::Busy));
    one.end(here, Some(at(2)), NO_HOLD);
    assert_eq!(two.start(here, INTERVAL, || at(2)), Ok(()));
    two.end(here, None, NO_HOLD);
    assert_eq!(one.start(here, INTERVAL, || at(3)), Ok(()));
}

#[test]
fn a_file_that_cannot_be_locked_hinders_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
    one.file = File::open(folder.path().join("junkai/servers-2")).unwrap();
    let here = server("192.0.2.1:80");
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    assert!(one.has_warned && one.held.is_empty());
    one.end(here, Some(at(1)), NO_HOLD);
    assert_eq!(two.start(here, INTERVAL, || at(1)), Ok(()));
}

#[test]
fn crawls_meet_again_in_a_new_file_when_theirs_was_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
    let (here, there) = (server("192.0.2.1:80"), server("192.0.2.2:80"));
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    fs::remove_dir_all(folder.path().join("junkai")).unwrap();
    assert_eq!(one.start(there, INTERVAL, || at(1)), Ok(()));
    assert_eq!(two.start(here, INTERVAL, || at(1)), Err(Wait::Busy));
    assert_eq!(two.start(there, INTERVAL, || at(1)), Err(Wait::Busy));
    // The rest begins with the end of a visit, or with the start of one that was not made.
    one.end(here, Some(at(2)), NO_HOLD);
    one.end(there, None, NO_HOLD);
    let wait = |seconds| Wait::Rest(Duration::from_secs(seconds));
    assert_eq!(two.start(here, INTERVAL, || at(3)), Err(wait(4)));
    assert_eq!(two.start(there, INTERVAL, || at(3)), Err(wait(3)));
}

#[test]
fn only_a_folder_of_this_user_alone_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("junkai");
    open_file(&path).unwrap();
    let mode = fs::metadata(&path).unwrap().mode();
    assert_eq!(mode & 0o777, 0o700);
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(open_file(&link).is_err());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(open_file(&path).is_err());
}

#[test]
fn on_loopback_a_port_is_a_server() {
    assert_ne!(
        slot_of(server("127.0.0.1:1")),
        slot_of(server("127.0.0.1:2"))
    );
    assert_eq!(
        slot_of(server("192.0.2.1:1")),
        slot_of(server("192.0.2.1:2"))
    );
}

#[test]
fn the_last_visitor_gives_way_to_who_has_waited() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two, mut three) = (crawl_in(&folder), crawl_in(&folder), crawl_in(&folder));
    let here = server("192.0.2.1:80");
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    assert_eq!(two.start(here, INTERVAL, || at(1)), Err(Wait::Busy));
    assert_eq!(three.start(here, INTERVAL, || at(2)), Err(Wait::Busy));
    assert_eq!(two.waiting(at(2)), 1);
    assert!(two.is_waited_for(here) && two.is_news(here) && !two.is_news(here));
    one.end(here, Some(at(3)), NO_HOLD);
    // Their interval is over, and the longer waiter's turn comes first, whoever asks first.
    assert_eq!(one.start(here, INTERVAL, || at(8)), Err(Wait::Busy));
    assert_eq!(three.start(here, INTERVAL, || at(8)), Err(Wait::Busy));
    assert_eq!(two.start(here, INTERVAL, || at(8)), Ok(()));
    assert_eq!(two.waiting(at(8)), 0);
    two.end(here, Some(at(8)), NO_HOLD);
    assert_eq!(one.start(here, INTERVAL, || at(13)), Err(Wait::Busy));
    assert_eq!(three.start(here, INTERVAL, || at(13)), Ok(()));
    three.end(here, Some(at(13)), NO_HOLD);
    assert_eq!(one.start(here, INTERVAL, || at(18)), Ok(()));
}

#[test]
fn a_waiter_that_was_killed_costs_no_more_than_its_mark_lasts() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut killed) = (crawl_in(&folder), crawl_in(&folder));
    let here = server("192.0.2.1:80");
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    assert_eq!(killed.start(here, INTERVAL, || at(0)), Err(Wait::Busy));
    drop(killed);
    one.end(here, Some(at(1)), NO_HOLD);
    let last = WAITER_LASTS.as_secs();
    assert_eq!(one.start(here, INTERVAL, || at(last)), Err(Wait::Busy));
    assert_eq!(one.start(here, INTERVAL, || at(last + 1)), Ok(()));
    one.end(here, Some(at(last + 1)), NO_HOLD);
    let slot = one.read(slot_of(here)).unwrap();
    assert_eq!(
        slot.waited_until,
        Duration::ZERO,
        "nobody looks into the line any more"
    );
}

#[test]
fn a_crawl_that_ends_in_order_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
    let here = server("192.0.2.1:80");
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    assert_eq!(two.start(here, INTERVAL, || at(0)), Err(Wait::Busy));
    one.end(here, Some(at(1)), NO_HOLD);
    two.leave(at(2));
    assert_eq!(one.start(here, INTERVAL, || at(6)), Ok(()));
}

/// The turns of crawls of one server in this time, each with its interval, which they also keep from their own visits, as leases do. Visits take no time.
fn turns(intervals: &[Duration], time: Duration) -> Vec<u32> {
    const STEP: Duration = Duration::from_millis(50);
    let folder = tempfile::tempdir().unwrap();
    let here = server("192.0.2.1:80");
    let mut crawls: Vec<_> = intervals
        .iter()
        .map(|interval| (crawl_in(&folder), *interval, at(0), 0))
        .collect();
    let mut now = at(0);
    while now < at(0) + time {
        for (crawl, interval, free, turns) in &mut crawls {
            if *free <= now && crawl.start(here, *interval, || now).is_ok() {
                crawl.end(here, Some(now), NO_HOLD);
                *free = now + *interval;
                *turns += 1;
            }
        }
        now += STEP;
    }
    crawls.into_iter().map(|(.., turns)| turns).collect()
}

#[test]
fn each_of_two_crawls_has_half_of_its_own_pace() {
    for (short_ms, long_ms) in [(300, 2000), (1000, 30_000), (5000, 5000), (4000, 5000)] {
        let intervals = [short_ms, long_ms].map(Duration::from_millis);
        let time = 20 * intervals[1];
        let turns = turns(&intervals, time);
        for (interval, turns) in intervals.iter().zip(&turns) {
            let alone = time.as_secs_f64() / interval.as_secs_f64();
            // A step is lost here and there, and one turn at the end.
            let least = 0.45 * alone - 1.0;
            assert!(least <= f64::from(*turns), "{intervals:?}: {turns:?}");
        }
    }
}

#[test]
fn while_a_crawl_waits_each_other_has_one_turn() {
    let intervals = [300, 2000, 2000, 700].map(Duration::from_millis);
    let turns = turns(&intervals, Duration::from_mins(2));
    let all: Duration = intervals.iter().sum();
    for (interval, turns) in intervals.iter().zip(&turns) {
        // Its own rest; then one visit of each, with the rest before it.
        let cycle = (*interval + all).as_secs_f64();
        // Steps are lost here and there.
        let least = 0.9 * 120.0 / cycle;
        assert!(least <= f64::from(*turns), "{interval:?}: {turns:?}");
    }
}

#[test]
fn what_sharing_costs_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
    let here = server("192.0.2.1:80");
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    assert_eq!(one.waits(), Waits::default());
    assert_eq!(two.start(here, INTERVAL, || at(1)), Err(Wait::Busy));
    one.end(here, Some(at(2)), NO_HOLD);
    assert!(two.start(here, INTERVAL, || at(3)).is_err());
    assert_eq!(two.waits(), Waits::default(), "it has not begun");
    assert_eq!(two.start(here, INTERVAL, || at(7)), Ok(()));
    let waits = |visits, seconds| Waits {
        visits,
        time: Duration::from_secs(seconds),
    };
    assert_eq!(two.waits(), waits(1, 6));
    two.end(here, Some(at(8)), NO_HOLD);
    assert_eq!(two.start(here, INTERVAL, || at(13)), Ok(()));
    assert_eq!(two.waits(), waits(1, 6), "this one did not wait");
}

#[test]
fn what_a_server_asked_one_crawl_for_all_of_them_obey() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
    let here = server("192.0.2.1:80");
    let hold = Duration::from_mins(1);
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    one.end(here, Some(at(1)), hold);
    let left = |seconds| Err(Wait::Hold(Duration::from_secs(seconds)));
    assert_eq!(two.start(here, INTERVAL, || at(11)), left(50));
    assert_eq!(two.start(here, INTERVAL, || at(60)), left(1));
    assert_eq!(two.start(here, INTERVAL, || at(61)), Ok(()));
    two.end(here, Some(at(62)), NO_HOLD);
    assert_eq!(one.start(here, INTERVAL, || at(67)), Ok(()));
    // No server asks for more than the settings allow.
    one.end(here, Some(at(70)), Duration::from_hours(1000));
    let hour = HOLD_MAX.as_secs();
    assert_eq!(two.start(here, INTERVAL, || at(71)), left(hour - 1));
    // The machine was started anew.
    let early = || Duration::from_secs(5);
    assert_eq!(two.start(here, INTERVAL, early), Ok(()));
}

#[test]
fn a_hold_outlives_a_visit_that_was_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
    let here = server("192.0.2.1:80");
    assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
    one.end(here, Some(at(1)), Duration::from_mins(1));
    // Its own lease would not allow this.
    assert_eq!(one.start(here, INTERVAL, || at(2)), Ok(()));
    one.end(here, None, NO_HOLD);
    let left = Err(Wait::Hold(Duration::from_secs(50)));
    assert_eq!(two.start(here, INTERVAL, || at(11)), left);
}

mod any_crawls {
    use proptest::prelude::*;

    use super::*;

    /// A crawl of one server that asks whenever it was told to, a little late. Times are in milliseconds.
    #[derive(Clone, Debug)]
    struct Habits {
        interval: u64,
        /// How long visits take, in turn.
        visits: Vec<u64>,
        /// How late it asks, in turn.
        late: Vec<u64>,
    }

    fn habits() -> impl Strategy<Value = Habits> {
        (
            1_u64..60_000,
            prop::collection::vec(0_u64..20_000, 1..6),
            prop::collection::vec(0_u64..4000, 1..6),
        )
            .prop_map(|(interval, visits, late)| Habits {
                interval,
                visits,
                late,
            })
    }

    struct Crawl {
        habits: Habits,
        neighbours: Neighbours,
        /// When it does something next: asks, or ends its visit.
        next_ms: u64,
        is_visiting: bool,
        is_waiting: bool,
        /// Others' turns since it has waited.
        turns_of_others: usize,
        asks: usize,
        turns: usize,
    }

    impl Crawl {
        fn interval(&self) -> Duration {
            Duration::from_millis(self.habits.interval)
        }

        fn late_ms(&self) -> u64 {
            self.habits.late[self.asks % self.habits.late.len()]
        }
    }

    /// What the server saw of one crawl after the other.
    struct Seen {
        ended_ms: u64,
        by: usize,
    }

    fn time(ms: u64) -> Duration {
        Duration::from_secs(1000) + Duration::from_millis(ms)
    }

    /// The next thing that happens. Answers the crawl that began a visit.
    fn go_on(crawls: &mut [Crawl], seen: &mut Option<Seen>) -> Option<usize> {
        let here = server("192.0.2.1:80");
        let next = (0..crawls.len()).min_by_key(|number| crawls[*number].next_ms);
        let number = next.unwrap();
        let is_visited = crawls.iter().any(|crawl| crawl.is_visiting);
        let crawl = &mut crawls[number];
        let now_ms = crawl.next_ms;
        crawl.asks += 1;
        if crawl.is_visiting {
            crawl.neighbours.end(here, Some(time(now_ms)), NO_HOLD);
            crawl.is_visiting = false;
            crawl.next_ms = now_ms + crawl.habits.interval + crawl.late_ms();
            *seen = Some(Seen {
                ended_ms: now_ms,
                by: number,
            });
            return None;
        }
        let interval = crawl.interval();
        let wait_ms = match crawl.neighbours.start(here, interval, || time(now_ms)) {
            Ok(()) => {
                assert!(!is_visited, "two visits at a time");
                if let Some(last) = seen.as_ref().filter(|last| last.by != number) {
                    let rest = now_ms - last.ended_ms;
                    assert!(crawl.habits.interval <= rest, "{rest} ms");
                }
                let visits = &crawl.habits.visits;
                crawl.next_ms = now_ms + visits[crawl.turns % visits.len()];
                crawl.is_visiting = true;
                (crawl.is_waiting, crawl.turns_of_others) = (false, 0);
                crawl.turns += 1;
                return Some(number);
            }
            Err(Wait::Busy) => 50,
            Err(Wait::Rest(wait)) => u64::try_from(wait.as_millis()).unwrap() + 1,
            Err(Wait::Hold(hold)) => panic!("nobody asked for {hold:?}"),
        };
        crawl.is_waiting = true;
        crawl.next_ms = now_ms + wait_ms + crawl.late_ms();
        None
    }

    fn check(habits: Vec<Habits>) {
        let folder = tempfile::tempdir().unwrap();
        let count = habits.len();
        let crawl = |habits: Habits| Crawl {
            neighbours: crawl_in(&folder),
            next_ms: habits.late[0],
            habits,
            is_visiting: false,
            is_waiting: false,
            turns_of_others: 0,
            asks: 0,
            turns: 0,
        };
        let mut crawls: Vec<Crawl> = habits.into_iter().map(crawl).collect();
        let mut seen = None;
        for _ in 0..600 {
            let Some(began) = go_on(&mut crawls, &mut seen) else {
                continue;
            };
            for (number, crawl) in crawls.iter_mut().enumerate() {
                crawl.turns_of_others += usize::from(number != began && crawl.is_waiting);
                let turns = crawl.turns_of_others;
                assert!(turns < count, "{turns} turns of {count} crawls");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn keep_their_distance_and_have_their_turns(habits in prop::collection::vec(habits(), 1..10)) {
            check(habits);
        }
    }

    #[test]
    fn more_than_a_line_has_room_for_have_their_turns_too() {
        let folder = tempfile::tempdir().unwrap();
        let mut crawls: Vec<Neighbours> = (0..30).map(|_| crawl_in(&folder)).collect();
        let here = server("192.0.2.1:80");
        let mut turns = vec![0; crawls.len()];
        for round in 0..300 {
            let now = at(round * INTERVAL.as_secs());
            for (crawl, turns) in crawls.iter_mut().zip(&mut turns) {
                if crawl.start(here, INTERVAL, || now).is_ok() {
                    crawl.end(here, Some(now), NO_HOLD);
                    *turns += 1;
                }
            }
        }
        assert!(turns.iter().all(|turns| 5 <= *turns), "{turns:?}");
    }
}

#[test]
fn what_a_server_on_loopback_asked_for_does_not_hold_the_next_one_at_its_port() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
    let hour = Duration::from_hours(1);
    for (address, waits) in [("127.0.0.1:8080", false), ("192.0.2.1:8080", true)] {
        let here = server(address);
        assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
        one.end(here, Some(at(1)), hour);
        let held = two.start(here, INTERVAL, || at(60));
        assert_eq!(matches!(held, Err(Wait::Hold(_))), waits, "{held:?}");
    }
}
