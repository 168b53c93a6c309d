//! The planner as its callers see it: pages visited for months in a few lines.

use std::time::Duration;

use junkai_frontier::{ServerKey, Time};
use junkai_weburl::{CanonicalConfig, Canonicalizer, PageUrl};

use super::*;
use crate::sighting::Hints;
use crate::version::{Digest, Place};

const DAY: Duration = Duration::from_hours(24);
const SERVER: ServerKey = ServerKey::new(3);

fn page(text: &str) -> PageUrl {
    Canonicalizer::new(&CanonicalConfig::default())
        .parse(text)
        .unwrap()
}

fn version(number: u8, at: Time) -> Version {
    Version {
        digest: Digest::new(&[number; 20]).unwrap(),
        indexed: None,
        content: None,
        unread: None,
        captured: at,
        etag: None,
        last_modified: None,
    }
}

/// A page that is visited whenever it is due, and what comes of it.
struct Course {
    planner: Planner,
    page: PageUrl,
    state: PageState,
    next: Next,
    visits: u32,
}

impl Course {
    fn begin(config: &RevisitConfig) -> Course {
        let mut planner = Planner::new(config, 16);
        let page = page("https://example.org/page");
        let at = Time::EPOCH + 365 * DAY;
        let sighting = seen(&page, at, Found::Page(version(0, at)));
        let (state, next) = planner.first_visit(&sighting, Draw::new(1 << 60));
        Course {
            planner,
            page,
            state,
            next,
            visits: 1,
        }
    }

    fn due(&self) -> Time {
        match self.next {
            Next::At(at) => at,
            Next::GiveUp(why) => panic!("given up: {why:?}"),
        }
    }

    /// Visits the page when it is due.
    fn visit(&mut self, found: impl FnOnce(Time) -> Found, hints: Hints) -> Change {
        let at = self.due();
        let mut sighting = seen(&self.page, at, found(at));
        sighting.hints = hints;
        let draw = Draw::of_visit(self.page.fingerprint(), self.visits);
        self.visits += 1;
        let judgement = self.planner.revisited(&mut self.state, &sighting, draw);
        self.next = judgement.next;
        judgement.change
    }

    fn visit_version(&mut self, number: u8) -> Change {
        self.visit(|at| Found::Page(version(number, at)), Hints::default())
    }
}

fn seen(page: &PageUrl, at: Time, found: Found) -> Sighting<'_> {
    Sighting {
        at,
        page,
        server: SERVER,
        took: Duration::from_millis(300),
        found,
        hints: Hints::default(),
    }
}

#[test]
fn the_second_visit_comes_within_a_week() {
    let config = RevisitConfig::default();
    let page = page("https://example.org/");
    for visit in 0..100 {
        let mut planner = Planner::new(&config, 16);
        let sighting = seen(&page, Time::EPOCH, Found::Page(version(0, Time::EPOCH)));
        let draw = Draw::of_visit(page.fingerprint(), visit);
        let (state, next) = planner.first_visit(&sighting, draw);
        assert!(state.interval <= config.first_max, "{:?}", state.interval);
        assert_eq!(next, Next::At(Time::EPOCH + state.interval));
        assert_eq!(planner.servers().load(SERVER).pages(), 1);
    }
}

#[test]
fn a_page_that_always_changes_is_visited_ever_more_often_and_a_still_one_ever_less() {
    let mut busy = Course::begin(&RevisitConfig::default());
    let mut still = Course::begin(&RevisitConfig::default());
    for number in 1..=40 {
        assert_eq!(
            busy.visit_version(number),
            Change::Changed { similarity: None }
        );
        assert_eq!(still.visit_version(0), Change::Same(Sameness::Payload));
    }
    assert!(busy.state.interval < DAY, "{:?}", busy.state.interval);
    assert!(
        150 * DAY < still.state.interval,
        "{:?}",
        still.state.interval
    );
    assert!(still.state.interval <= 400 * DAY);
    assert_eq!((busy.state.visits, busy.state.changes), (41, 40));
    assert_eq!((still.state.visits, still.state.changes), (41, 0));
    assert_eq!(still.state.changed, None);
}

#[test]
fn without_a_budget_no_page_is_left_alone_for_longer_than_the_settings_say() {
    let mut still = Course::begin(&RevisitConfig {
        interval_spread_min: 18 * DAY / 24,
        interval_max: DAY,
        ..RevisitConfig::default()
    });
    for _ in 0..20 {
        still.visit_version(0);
        assert!(still.state.interval <= DAY, "{:?}", still.state.interval);
    }
}

#[test]
fn the_capture_that_is_referred_to_is_the_one_in_full() {
    let mut course = Course::begin(&RevisitConfig::default());
    let first = course.state.last_visit;
    course.visit_version(0);
    course.visit(|_| Found::NotModified, Hints::default());
    assert_eq!(course.state.version.as_ref().unwrap().captured, first);
    course.visit_version(1);
    let version = course.state.version.as_ref().unwrap();
    assert_eq!(version.captured, course.state.last_visit);
}

#[test]
fn a_page_that_is_gone_is_visited_rarely_and_given_up_by_the_rule() {
    let config = RevisitConfig {
        gone_visits_max: 5,
        gone_time_min: 30 * DAY,
        ..RevisitConfig::default()
    };
    let mut course = Course::begin(&config);
    course.visit_version(0);
    let seen = course.state.seen;
    let mut interval = course.state.interval;
    let mut misses = 0;
    while let Next::At(at) = course.next {
        assert!(misses < 5 || at.saturating_duration_since(seen) < 31 * DAY * 100);
        assert_eq!(
            course.visit(|_| Found::Gone, Hints::default()),
            Change::Gone
        );
        misses += 1;
        if let Next::At(_) = course.next {
            assert_eq!(course.state.interval, (2 * interval).min(400 * DAY));
            interval = course.state.interval;
        }
    }
    assert_eq!(course.next, Next::GiveUp(GiveUp::Gone));
    assert!(5 <= misses);
    let missing = course.state.last_visit.saturating_duration_since(seen);
    assert!(30 * DAY <= missing);
    assert_eq!(course.planner.servers().load(SERVER).pages(), 0);
}

#[test]
fn a_page_that_comes_back_resumes() {
    let mut course = Course::begin(&RevisitConfig::default());
    course.visit_version(0);
    let before = course.state.interval;
    for _ in 0..3 {
        course.visit(|_| Found::Failed, Hints::default());
    }
    assert_eq!(course.state.misses, 3);
    assert_eq!(course.state.interval, 8 * before);
    assert_eq!(course.visit_version(0), Change::Same(Sameness::Payload));
    assert_eq!(course.state.misses, 0);
    assert_eq!(course.state.seen, course.state.last_visit);
    assert_eq!(course.planner.servers().load(SERVER).pages(), 1);
}

#[test]
fn a_server_that_is_down_for_a_month_loses_no_page() {
    let mut course = Course::begin(&RevisitConfig::default());
    course.visit_version(0);
    let seen = course.state.seen;
    while course.due().saturating_duration_since(seen) < 179 * DAY {
        course.visit(|_| Found::Failed, Hints::default());
        assert!(matches!(course.next, Next::At(_)));
    }
    for _ in 0..5 {
        if let Next::At(_) = course.next {
            course.visit(|_| Found::Failed, Hints::default());
        }
    }
    assert_eq!(course.next, Next::GiveUp(GiveUp::Failed));
}

#[test]
fn a_page_that_was_never_there_is_not_kept() {
    let mut planner = Planner::new(&RevisitConfig::default(), 16);
    let page = page("https://example.org/");
    for (found, next) in [
        (Found::Gone, Next::GiveUp(GiveUp::Gone)),
        (Found::Moved, Next::GiveUp(GiveUp::Moved)),
    ] {
        let sighting = seen(&page, Time::EPOCH, found);
        assert_eq!(planner.first_visit(&sighting, Draw::new(0)).1, next);
    }
    assert_eq!(planner.servers().load(SERVER).pages(), 0);
    let failed = seen(&page, Time::EPOCH, Found::Failed);
    let (mut state, next) = planner.first_visit(&failed, Draw::new(0));
    let Next::At(at) = next else {
        panic!("a server that fails once is tried again");
    };
    let there = seen(&page, at, Found::Page(version(0, at)));
    let judgement = planner.revisited(&mut state, &there, Draw::new(0));
    assert_eq!(judgement.change, Change::First);
    assert_eq!(state.version, Some(version(0, at)));
}

#[test]
fn small_changes_add_up_to_one_that_counts() {
    use junkai_page::content::{Content, Sketch};
    let mut known = version(0, Time::EPOCH);
    let content = |fingerprint: u32, sketch: u128| {
        Some(Content {
            fingerprint,
            own: fingerprint,
            sketch: Sketch::from_bits(sketch),
        })
    };
    known.content = content(1, 5);
    let mut edited = version(1, Time::EPOCH + DAY);
    edited.content = content(2, 7);
    take_over(&mut known, &edited, Change::ALittle { similarity: 0.99 });
    assert_eq!(known.digest, edited.digest);
    assert_eq!(known.captured, edited.captured);
    assert_eq!(
        known.content,
        content(1, 5),
        "what changes are counted from"
    );
    let similarity = Some(0.5);
    take_over(&mut known, &edited, Change::Changed { similarity });
    assert_eq!(known.content, content(2, 7));
}

#[test]
fn what_nobody_has_read_stays_so_until_other_bytes_are_found() {
    use junkai_page::content::{Content, Sketch};
    let place = |offset| Some(Place { file: 7, offset });
    let mut known = version(0, Time::EPOCH);
    known.unread = place(1);
    take_over(
        &mut known,
        &version(0, Time::EPOCH + DAY),
        Change::Same(Sameness::Payload),
    );
    assert_eq!(known.unread, place(1), "the same bytes, elsewhere");
    let mut read = version(1, Time::EPOCH + 2 * DAY);
    read.content = Some(Content {
        fingerprint: 1,
        own: 1,
        sketch: Sketch::from_bits(5),
    });
    let changed = Change::Changed { similarity: None };
    take_over(&mut known, &read, changed);
    assert_eq!((known.unread, known.content), (None, read.content));
    // What was read is compared with, whatever comes.
    let mut unread = version(2, Time::EPOCH + 3 * DAY);
    unread.unread = place(2);
    take_over(&mut known, &unread, changed);
    assert_eq!((known.unread, known.content), (place(2), None));
}

#[test]
fn a_site_whose_dates_prove_true_is_taken_at_its_word() {
    let mut course = Course::begin(&RevisitConfig::default());
    // The page is half an hour old at every visit.
    let dated = |at: Time| {
        let modified = at.as_micros() - 1_800_000_000;
        let number = u8::try_from(at.as_micros() / 1000 % 251).unwrap();
        Found::Page(Version {
            last_modified: Some(Time::from_micros(modified - modified % 1_000_000)),
            ..version(number, at)
        })
    };
    let first_trust = course.planner.trust(&course.page, Source::LastModified);
    assert!(first_trust.credit < 1e-9);
    for _ in 0..30 {
        course.visit(dated, Hints::default());
    }
    let trust = course.planner.trust(&course.page, Source::LastModified);
    assert!(0.8 < trust.credit, "{trust:?}");
    assert!(
        course.state.interval < DAY / 6,
        "{:?}",
        course.state.interval
    );
    let age = course
        .state
        .last_visit
        .saturating_duration_since(course.state.changed.unwrap());
    assert!((Duration::from_mins(29)..Duration::from_mins(31)).contains(&age));
}

#[test]
fn a_server_that_dates_every_page_now_is_not_believed() {
    let mut course = Course::begin(&RevisitConfig::default());
    for number in 1..30 {
        course.visit(
            |at| {
                Found::Page(Version {
                    last_modified: Some(at),
                    ..version(number, at)
                })
            },
            Hints::default(),
        );
    }
    let trust = course.planner.trust(&course.page, Source::LastModified);
    assert!(trust.credit < 0.05, "{trust:?}");
}

#[test]
fn signals_are_followed_while_they_prove_true() {
    let mut course = Course::begin(&RevisitConfig::default());
    let advice = |course: &Course| {
        course
            .planner
            .signal(&course.page, Source::Sitemap, Draw::new(u64::MAX))
    };
    assert_eq!(advice(&course), Advice::VisitNow, "a new source is tried");
    for _ in 0..10 {
        let changed = Time::from_micros(course.due().as_micros() - 7_000_000);
        let hints = Hints {
            sitemap: Some(changed),
            ..Hints::default()
        };
        course.visit(|at| Found::Page(version(0, at)), hints);
    }
    assert_eq!(advice(&course), Advice::LeaveIt, "ten false alarms");
    let lucky = Draw::new(0);
    let trial = course.planner.signal(&course.page, Source::Sitemap, lucky);
    assert_eq!(trial, Advice::VisitNow, "some are tried all the same");
}

#[test]
fn what_is_known_outlives_a_stop() {
    let config = RevisitConfig::default();
    let mut course = Course::begin(&config);
    for number in 0..20 {
        course.visit_version(number / 2);
    }
    let saved = course.planner.save();
    let mut restored = Planner::new(&config, 16);
    restored.restore(&saved).unwrap();
    assert_eq!(restored.save(), saved);
    let explain = |planner: &Planner| {
        let text = planner.explain(&course.state, &course.page, course.due());
        text.to_string()
    };
    assert_eq!(explain(&restored), explain(&course.planner));
    let load = restored.servers().load(SERVER).pages();
    assert_eq!(load, 1);

    let mut other = Planner::new(&config, 16);
    let fresh = other.save();
    assert_eq!(
        other.restore(&[9]),
        Err(RestoreError::UnknownFormat { format: 9 })
    );
    for cut in 0..saved.len() {
        assert!(other.restore(&saved[..cut]).is_err(), "cut at {cut}");
    }
    assert_eq!(other.save(), fresh, "what is damaged changes nothing");
}

#[test]
fn an_explanation_says_why() {
    let mut course = Course::begin(&RevisitConfig::default());
    let explain = |course: &Course| {
        course
            .planner
            .explain(&course.state, &course.page, course.due())
    };
    assert_eq!(explain(&course).reason, Reason::FirstRevisit);
    course.visit_version(0);
    course.visit_version(1);
    let explanation = explain(&course);
    assert_eq!((explanation.visits, explanation.changes), (3, 1));
    assert!(explanation.to_string().contains("changed at 1 of 3 visits"));
    course.visit(|_| Found::Gone, Hints::default());
    assert_eq!(explain(&course).reason, Reason::Missing { misses: 1 });
}

#[test]
fn the_same_visits_make_the_same_plans() {
    let run = || {
        let mut course = Course::begin(&RevisitConfig::default());
        let intervals: Vec<Duration> = (0..60)
            .map(|number| {
                course.visit_version(number / 7);
                course.state.interval
            })
            .collect();
        (intervals, course.state.encode(), course.planner.save())
    };
    assert_eq!(run(), run());
}

/// What a look at the page shows a quarter of the way to its visit, with what a sitemap says of it, if it says that it changed just now.
fn look_early(course: &Course, is_told: bool) -> Look {
    let mut course_after = (course.planner.clone(), course.state.clone());
    let at = course.state.last_visit + course.state.interval / 4;
    let changed = Time::from_micros(at.as_micros() - 60_000_000);
    let looking = Looking {
        page: &course.page,
        at,
        hints: Hints {
            sitemap: is_told.then_some(changed),
            ..Hints::default()
        },
    };
    let draw = Draw::of_visit(course.page.fingerprint(), course.visits - 1);
    course_after.0.look(&mut course_after.1, &looking, draw)
}

fn with_budget() -> RevisitConfig {
    RevisitConfig {
        visits_a_day: Some(0.05),
        ..RevisitConfig::default()
    }
}

#[test]
fn a_page_that_waits_is_visited_when_a_list_that_proved_true_tells_of_a_change() {
    let mut honest = Course::begin(&with_budget());
    for number in 1..40 {
        let changed = honest.state.last_visit + honest.state.interval / 2;
        let is_new = number % 2 == 0;
        let hints = Hints {
            sitemap: Some(if is_new {
                changed
            } else {
                honest.state.last_visit
            }),
            ..Hints::default()
        };
        honest.visit(|at| Found::Page(version(number / 2, at)), hints);
    }
    assert!(matches!(look_early(&honest, false), Look::Again(_)));
    assert_eq!(look_early(&honest, true), Look::Visit);

    let mut wolf = Course::begin(&with_budget());
    for _ in 1..20 {
        let changed = wolf.state.last_visit + wolf.state.interval / 2;
        let hints = Hints {
            sitemap: Some(changed),
            ..Hints::default()
        };
        wolf.visit(|at| Found::Page(version(0, at)), hints);
    }
    assert!(matches!(look_early(&wolf, true), Look::Again(_)));
}

#[test]
fn pages_are_looked_at_while_they_wait_only_where_a_budget_moves_the_price() {
    let with = Course::begin(&with_budget());
    let first = with.planner.next_look(&with.state, with.state.last_visit);
    assert!(with.state.last_visit < first && first <= with.state.due());
    let without = Course::begin(&RevisitConfig::default());
    let first = without
        .planner
        .next_look(&without.state, without.state.last_visit);
    assert_eq!(first, without.state.due());
    assert!(matches!(look_early(&without, true), Look::Again(then) if then == without.state.due()));
}

#[test]
fn a_budget_that_grows_is_spent_before_the_visits_that_were_planned_without_it() {
    let mut course = Course::begin(&with_budget());
    course.visit_version(1);
    course.visit_version(1);
    assert!(matches!(look_early(&course, false), Look::Again(_)));
    course.planner.set_visits_a_day(Some(5.0));
    assert_eq!(look_early(&course, false), Look::Visit);
}

#[test]
fn where_all_pages_are_visited_alike_signals_keep_to_the_budget_too() {
    let mut course = Course::begin(&RevisitConfig {
        policy: crate::PolicyKind::Uniform,
        ..with_budget()
    });
    let advice = |course: &Course| {
        let draw = Draw::of_visit(course.page.fingerprint(), 0);
        course.planner.signal(&course.page, Source::Sitemap, draw)
    };
    assert_eq!(advice(&course), Advice::VisitNow);
    let at = course.state.last_visit;
    course.planner.spend(at);
    course.planner.spend(at);
    assert_eq!(advice(&course), Advice::LeaveIt, "two visits in no time");
    let later = at + Duration::from_hours(24 * 60);
    course.planner.spend(later);
    assert_eq!(advice(&course), Advice::VisitNow, "three in sixty days");
}

#[test]
fn a_server_whose_pages_are_all_found_at_once_is_not_pressed_before_they_are_visited_again() {
    const PAGES: u32 = 5000;
    let hour = Duration::from_hours(1);
    let mut agenda = Agenda::new(&RevisitConfig::default(), 16);
    for _ in 0..PAGES {
        agenda.add_first(SERVER, 2 * hour);
    }
    assert!(!agenda.servers().pressure(SERVER).is_some());
    for _ in 0..PAGES {
        let pressure = agenda.servers().pressure(SERVER);
        agenda.remove(SERVER, 2 * hour);
        agenda.add(SERVER, hour.mul_f64(2.0 * pressure.factor()));
    }
    let factor = agenda.servers().pressure(SERVER).factor();
    assert!((1.5..3.0).contains(&factor), "a step in a round: {factor}");
}

#[test]
fn every_page_daily_is_allowed_as_far_as_politeness_goes_and_told_beyond() {
    let mut config: RevisitConfig = toml::from_str("at_least = \"1day\"").unwrap();
    config.servers.interval_least = Some(Duration::from_secs(5));
    let day = DAY.as_secs_f64();
    // At 5 s, half of the visits are 8,640 a day.
    for (pages, pace_seconds, is_behind) in [
        (100, 60.0, false),
        (2000, day * 0.45 / 2000.0, false),
        (7000, day * 0.45 / 7000.0, false),
        (8600, 5.0, false),
        (8700, 5.0, true),
        (100_000, 5.0, true),
    ] {
        let mut course = Course::begin(&config);
        for _ in 1..pages {
            course.planner.remember(&course.state);
        }
        let report = course.planner.servers().report(SERVER);
        let pace = report.pace.as_secs_f64();
        assert!((pace - pace_seconds).abs() < 1e-3, "{pages}: {pace}");
        let behind = course.planner.behind(&report);
        assert_eq!(behind.is_some(), is_behind, "{pages}: {behind:?}");
        let servers = course.planner.servers_behind();
        assert_eq!(servers, u64::from(is_behind), "{pages}");
    }
    // Whoever does not ask for it is not told, and visited as before.
    let mut course = Course::begin(&RevisitConfig::default());
    for _ in 1..8700 {
        course.planner.remember(&course.state);
    }
    let report = course.planner.servers().report(SERVER);
    assert_eq!(report.pace, Duration::from_mins(1));
    assert_eq!(course.planner.servers_behind(), 0);
    // A pace that is longer than what would do is kept to.
    config.servers.interval_least = Some(Duration::from_hours(2));
    let course = Course::begin(&config);
    let report = course.planner.servers().report(SERVER);
    assert_eq!(report.pace, Duration::from_hours(2));
}
