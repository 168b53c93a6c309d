use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);
const HOST: &str = "a.test";
const ORIGIN: u64 = 7;
const ANSWERED: EndReport = EndReport::Answered { duration: SECOND };

fn at(seconds: u32) -> Time {
    Time::EPOCH + SECOND * seconds
}

/// Paces of which this host asks for so many seconds, and was visited last at the epoch.
fn asking(seconds: u32) -> HostPaces {
    let mut paces = HostPaces::new(PolitenessConfig::default());
    assert!(paces.told(HOST, ORIGIN, Some(SECOND * seconds), Time::EPOCH));
    paces
}

fn visit(paces: &mut HostPaces, seconds: u32) -> Result<(), Time> {
    paces.start(HOST, VisitKind::First, at(seconds))?;
    paces.end(HOST, at(seconds), ANSWERED);
    Ok(())
}

#[test]
fn a_host_rests_for_as_long_as_it_asks_and_its_neighbours_do_not() {
    let mut paces = asking(10);
    assert_eq!(visit(&mut paces, 9), Err(at(10)));
    assert_eq!(visit(&mut paces, 10), Ok(()));
    assert_eq!(visit(&mut paces, 12), Err(at(20)));
    assert_eq!(paces.start("b.test", VisitKind::First, at(12)), Ok(()));
    assert_eq!(
        paces.line_up("b.test", None, VisitKind::First, at(12)),
        Ok(())
    );
}

#[test]
fn a_delay_that_is_no_longer_asked_for_is_gone() {
    let mut paces = asking(1000);
    assert!(visit(&mut paces, 10).is_err());
    assert!(paces.told(HOST, ORIGIN, None, at(10)));
    assert_eq!(visit(&mut paces, 10), Ok(()));
    assert!(paces.is_empty());
    assert!(
        !paces.told(HOST, ORIGIN, None, at(10)),
        "that is nothing new"
    );
}

#[test]
fn one_origin_does_not_take_back_what_another_asks_for() {
    let mut paces = asking(1000);
    assert!(paces.told(HOST, 8, Some(20 * SECOND), at(1)));
    assert!(paces.told(HOST, ORIGIN, None, at(2)));
    assert_eq!(visit(&mut paces, 10), Err(at(20)));
    for origin in 100..200 {
        paces.told(HOST, origin, Some(30 * SECOND), at(3));
    }
    let asks = paces.state(HOST, at(5)).unwrap().asks;
    assert_eq!(asks.len(), ORIGINS_MAX);
}

#[test]
fn a_delay_beyond_the_setting_counts_as_that_and_one_below_the_interval_not_at_all() {
    let paces = asking(100_000_000);
    assert_eq!(
        paces.state(HOST, at(5)).unwrap().free_at,
        Time::EPOCH + HOUR
    );
    let mut paces = HostPaces::new(PolitenessConfig::default());
    assert!(!paces.told(HOST, ORIGIN, Some(5 * SECOND), at(0)));
    assert!(paces.is_empty());
}

#[test]
fn a_host_that_is_not_known_here_rests_first() {
    let mut paces = HostPaces::new(PolitenessConfig::default());
    let ask = Ask {
        origin: ORIGIN,
        delay: 10 * SECOND,
    };
    let due = paces.line_up(HOST, Some(ask), VisitKind::First, at(50));
    assert_eq!(due, Err(at(60)));
    assert_eq!(
        paces.line_up(HOST, Some(ask), VisitKind::First, at(60)),
        Ok(())
    );
}

#[test]
fn a_second_visit_is_not_let_into_the_line_nor_started() {
    let mut paces = asking(10);
    assert_eq!(paces.line_up(HOST, None, VisitKind::First, at(20)), Ok(()));
    let due = paces.line_up(HOST, None, VisitKind::First, at(20));
    assert_eq!(due, Err(at(30)), "one of them is in the line");
    assert_eq!(paces.start(HOST, VisitKind::First, at(25)), Ok(()));
    assert!(paces.start(HOST, VisitKind::First, at(500)).is_err());
    paces.end(HOST, at(500), EndReport::Unvisited);
    assert_eq!(visit(&mut paces, 500), Ok(()), "nothing was sent to it");
}

#[test]
fn a_host_on_hold_is_left_alone_and_then_forgotten() {
    let mut paces = HostPaces::new(PolitenessConfig::default());
    assert!(paces.hold(HOST, at(100), at(0)));
    assert_eq!(visit(&mut paces, 50), Err(at(100)));
    assert_eq!(visit(&mut paces, 100), Ok(()));
    assert!(paces.is_empty());
}

#[test]
fn what_is_stored_comes_back_and_after_a_crash_the_host_rests_once_more() {
    let mut before = asking(60);
    visit(&mut before, 100).unwrap();
    let stored: Vec<HostState> = before.states(at(130)).collect();
    let mut after = HostPaces::new(PolitenessConfig::default());
    after.restore(&stored[0], false, at(130));
    assert_eq!(visit(&mut after, 140), Err(at(160)));
    assert_eq!(after.states(at(130)).collect::<Vec<_>>(), stored);
    after.start(HOST, VisitKind::First, at(170)).unwrap();
    let in_flight = after.state(HOST, at(180)).unwrap();
    assert_eq!(in_flight.free_at, at(241), "as if it had been cut short");
    after.restore(&stored[0], true, at(200));
    assert_eq!(after.state(HOST, at(200)).unwrap().free_at, at(261));
}

#[test]
fn however_many_hosts_ask_memory_is_bounded_and_nobody_is_visited_too_soon() {
    let mut paces = HostPaces::new(PolitenessConfig::default());
    paces.hosts_max = 10;
    let host = |number: u32| format!("host{number}.test");
    for number in 0..10 {
        assert!(paces.told(&host(number), ORIGIN, Some(100 * SECOND), at(number)));
    }
    let ask = Ask {
        origin: ORIGIN,
        delay: 50 * SECOND,
    };
    let due = paces.line_up(&host(10), Some(ask), VisitKind::First, at(50));
    assert_eq!(due, Err(at(50) + NO_ROOM_WAIT));
    assert!(!paces.hold(&host(11), at(500), at(50)));
    assert_eq!(paces.len(), 10);
    // Three have rested: they give way.
    let due = paces.line_up(&host(10), Some(ask), VisitKind::First, at(102));
    assert_eq!(due, Err(at(152)));
    assert_eq!(paces.len(), 8);
}

/// Lets visits of one host come as they are told, each waiting `in_line` for its server, until all are made. Answers the starts, and how
/// often visits were sent away.
fn crawl(
    paces: &mut HostPaces,
    arrivals: &[(Time, VisitKind)],
    in_line: Duration,
) -> (Vec<Time>, usize) {
    let mut coming: BTreeMap<(Time, usize), VisitKind> = BTreeMap::new();
    for (number, (time, kind)) in arrivals.iter().enumerate() {
        coming.insert((*time, number), *kind);
    }
    // Visits in the server's line, by their turns.
    let mut in_ring: BTreeMap<(Time, usize), VisitKind> = BTreeMap::new();
    let (mut starts, mut sent_away) = (Vec::new(), 0);
    loop {
        let (next, turn) = (coming.first_key_value(), in_ring.first_key_value());
        let is_turn = match (next, turn) {
            (None, None) => return (starts, sent_away),
            (Some((next, _)), Some((turn, _))) => turn <= next,
            (next, _) => next.is_none(),
        };
        let from = if is_turn { &mut in_ring } else { &mut coming };
        let ((now, number), kind) = from.pop_first().unwrap();
        let told = if is_turn {
            paces.start(HOST, kind, now)
        } else {
            paces.line_up(HOST, None, kind, now)
        };
        match told {
            Ok(()) if is_turn => {
                starts.push(now);
                paces.end(HOST, now + SECOND / 2, ANSWERED);
            }
            Ok(()) => {
                in_ring.insert((now + in_line, number), kind);
            }
            Err(due) => {
                assert!(now < due, "told to come back at once");
                sent_away += 1;
                coming.insert((due, number), kind);
            }
        }
    }
}

#[test]
fn a_thousand_visits_are_made_one_delay_after_the_other_without_much_ado() {
    let mut paces = asking(10);
    let arrivals = vec![(at(100), VisitKind::First); 1000];
    let (starts, sent_away) = crawl(&mut paces, &arrivals, SECOND / 4);
    let took = starts[999].saturating_duration_since(starts[0]).as_secs();
    assert!(took < 11 * 1000, "{took} s");
    assert!(sent_away < 3500, "{sent_away} times");
}

#[test]
fn known_pages_do_not_wait_for_all_new_ones() {
    let mut paces = asking(60);
    let mut arrivals = vec![(at(100), VisitKind::First); 2000];
    arrivals.extend(vec![(at(200), VisitKind::Revisit); 10]);
    let mut last_revisit = 0;
    let mut coming: BTreeMap<(Time, usize), VisitKind> = BTreeMap::new();
    for (number, (time, kind)) in arrivals.into_iter().enumerate() {
        coming.insert((time, number), kind);
    }
    let mut made = 0;
    while let Some(((now, number), kind)) = coming.pop_first() {
        let told = paces
            .line_up(HOST, None, kind, now)
            .and_then(|()| paces.start(HOST, kind, now));
        match told {
            Ok(()) => {
                paces.end(HOST, now, ANSWERED);
                made += 1;
                if kind == VisitKind::Revisit {
                    last_revisit = made;
                }
            }
            Err(due) => {
                coming.insert((due, number), kind);
            }
        }
    }
    assert_eq!(made, 2010);
    assert!(last_revisit < 100, "the last is visit {last_revisit}");
}

proptest! {
    #[test]
    fn whatever_happens_a_host_is_left_alone_for_its_delay(
        delay in 6_u32..5000,
        in_line in 0_u64..20_000,
        arrivals in prop::collection::vec((0_u32..100_000, any::<bool>()), 1..60),
    ) {
        let mut paces = asking(delay);
        let kind = |is_new| if is_new { VisitKind::First } else { VisitKind::Revisit };
        let arrivals: Vec<_> = arrivals
            .into_iter()
            .map(|(second, is_new)| (at(second), kind(is_new)))
            .collect();
        let (starts, _) = crawl(&mut paces, &arrivals, Duration::from_millis(in_line));
        prop_assert_eq!(starts.len(), arrivals.len(), "nobody is forgotten");
        let delay = (SECOND * delay).min(HOUR);
        prop_assert!(Time::EPOCH + delay <= starts[0]);
        for pair in starts.windows(2) {
            let end = pair[0] + SECOND / 2;
            prop_assert!(end + delay <= pair[1], "{} {}", end, pair[1]);
        }
    }
}
