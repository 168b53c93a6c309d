//! A crawl that never stops: it comes back to each page at the pace at which the page changes, gives up what is gone, finds what is
//! new, goes as the lab predicts, sleeps when there is nothing to do, and takes a clock that was set for what it is.

use std::collections::BTreeMap;
use std::iter;
use std::time::Duration;

use junkai_crawler::Settings;
use junkai_lab::revisit::{ChangingWeb, Setting, predict};
use junkai_simulation::graph::Page;
use junkai_simulation::graph::history::{
    Event, EventKind, GeneratorConfig, History, MeanGaps, UnixSeconds, generate,
};

use crate::changing::{Changing, DAY, HOUR, Habits, STOPPED, Scene, Tally, Visited};
use crate::support::{Running, wait_until};

const BEGIN: UnixSeconds = UnixSeconds(1_700_000_000);
/// How often all threads of a crawl that has nothing to do wake together, in a second: for the screen, the control socket, the clock.
const WAKINGS_A_SECOND_MAX: u64 = 15;
/// By how much the pace of visits may be off from what was seen of a page, as a logarithm: a quarter more or less.
const PACE_OFF_MAX: f64 = 0.25;

/// Two months in a minute. Pages change every two days at most, which is two seconds: what a busy machine makes of an exchange
/// does not matter, and what remains is measured and told to the lab.
#[test]
fn a_live_crawl_captures_and_wastes_as_many_visits_as_the_lab_predicts() {
    let population = generate(
        &GeneratorConfig {
            pages: 500,
            from: BEGIN,
            span: 75 * DAY,
            mean_gaps: MeanGaps::LogUniform {
                least: 2 * DAY,
                most: 30 * DAY,
            },
            ..GeneratorConfig::default()
        },
        7,
    );
    let scene = Scene {
        history: population.unwrap().history,
        speed: DAY.as_secs_f64(),
        // So many that no server's pace holds up its pages, even if a busy machine's exchanges last for hours of this clock.
        hosts: 64,
        config: "[revisit]\nfirst_min = \"1day\"\nfirst_max = \"3days\"\n",
        habits: Habits::default(),
    };
    let changing = Changing::crawled(&scene, 62 * DAY, DAY / 4);

    let visits = changing.visits();
    let live = Tally::of(&visits);
    let predicted = predicted(&changing, &visits);
    println!("live: {live:?}, predicted: {predicted:?}");
    assert!(1000.0 < predicted.captured, "there is something to compare");
    for (what, live, predicted) in [
        ("captured", live.captured as f64, predicted.captured),
        ("wasted", live.wasted as f64, predicted.wasted),
    ] {
        let difference = (live - predicted).abs() / predicted;
        assert!(
            difference <= 0.1,
            "{what}: {live} live, {predicted} predicted"
        );
    }
    let verdict = changing.verdict();
    assert!(verdict.is_polite(), "{verdict}");
}

/// What the lab predicts, on average.
#[derive(Debug)]
struct Predicted {
    captured: f64,
    wasted: f64,
}

/// What the lab predicts for the web as it was from each page's first visit to the last visit of all.
///
/// What is beside the pages of the history is visited too, and teaches the crawl how often the site changes; it is not counted.
fn predicted(changing: &Changing, visits: &BTreeMap<Page, Vec<Visited>>) -> Predicted {
    const RUNS: u64 = 10;
    let all = visits.values().flatten();
    let end = all.map(|visit| visit.at).max().unwrap();
    let history = &changing.history;
    let added = |at| Event {
        at,
        kind: EventKind::Added,
    };
    let told = visits.iter().flat_map(|(&page, visits)| {
        let first = visits[0].at;
        let later = history.events(page).iter();
        let later = later.filter(move |event| first < event.at && event.at <= end);
        let events = iter::once(added(first)).chain(later.copied());
        events.map(move |event| (history.path(page), event))
    });
    let beside = changing.beside();
    let still = beside.iter().map(|(url, &at)| (url.as_str(), added(at)));
    let seen = History::from_events("seen".to_owned(), told.chain(still)).unwrap();
    let web = ChangingWeb::new(seen);
    let settings: Settings = toml::from_str(&changing.config).unwrap();
    let setting = Setting {
        // A visit is late by half of this on average.
        resolution: 2 * changing.lateness(),
        ..Setting::new(settings.revisit)
    };
    let mut predicted = Predicted {
        captured: 0.0,
        wasted: 0.0,
    };
    for seed in 0..RUNS {
        let setting = Setting {
            seed,
            ..setting.clone()
        };
        for page in &predict(&web, &setting).pages[..visits.len()] {
            predicted.captured += f64::from(page.captured) / RUNS as f64;
            predicted.wasted += f64::from(page.wasted) / RUNS as f64;
        }
    }
    predicted
}

/// What happens to the pages of the next test.
fn paces() -> History {
    let mut told: Vec<(String, Event)> = Vec::new();
    let mut tell = |path: String, hours: u32, kind| {
        let at = BEGIN.after(hours * HOUR);
        told.push((path, Event { at, kind }));
    };
    for page in 0..3 {
        tell(format!("hourly-{page}.html"), 0, EventKind::Added);
        (1..400).for_each(|hour| tell(format!("hourly-{page}.html"), hour, EventKind::Modified));
    }
    for page in 0..5 {
        tell(format!("dead-{page}.html"), 0, EventKind::Added);
    }
    for page in 0..2 {
        tell(format!("gone-{page}.html"), 0, EventKind::Added);
        (1..200).for_each(|hour| tell(format!("gone-{page}.html"), hour, EventKind::Modified));
        tell(format!("gone-{page}.html"), 200, EventKind::Deleted);
    }
    // So often that the pages which list them are worth a visit now and then.
    for page in 0..200 {
        tell(format!("new-{page}.html"), 1 + page, EventKind::Added);
    }
    let told = told.iter().map(|(path, event)| (path.as_str(), *event));
    History::from_events("paces".to_owned(), told).unwrap()
}

#[test]
fn each_page_is_visited_at_its_own_pace_and_what_is_gone_is_given_up() {
    let scene = Scene {
        history: paces(),
        speed: 4.0 * HOUR.as_secs_f64(),
        hosts: 5,
        config: "[revisit]\nfirst_min = \"1h\"\nfirst_max = \"2h\"\ninterval_min = \"10min\"\ngone_visits_max = 3\ngone_time_min = \"4h\"\n",
        habits: Habits::default(),
    };
    let changing = Changing::crawled(&scene, 280 * HOUR, HOUR / 3);

    let visits = changing.visits();
    let of = |kind: &str| -> Vec<&Vec<Visited>> {
        let is_such = |page| changing.history.path(page).starts_with(kind);
        let visits = visits.iter().filter(|&(&page, _)| is_such(page));
        visits.map(|(_, visits)| visits).collect()
    };
    let lately = |visits: &[Visited]| {
        let from = BEGIN.after(220 * HOUR);
        visits.iter().filter(|visit| from <= visit.at).count()
    };
    let hourly: Vec<usize> = of("hourly").iter().map(|visits| lately(visits)).collect();
    let dead: Vec<usize> = of("dead").iter().map(|visits| lately(visits)).collect();
    println!("in 60 hours: hourly {hourly:?}, dead {dead:?}");
    assert_eq!((hourly.len(), dead.len()), (3, 5));
    for (number, visits) in of("hourly").into_iter().enumerate() {
        let path = format!("/hourly-{number}.html");
        let planned = mean_hours_planned(&changing, &path);
        let expected = mean_hours_between_changes(&visits[visits.len() / 2..]);
        println!("{path}: every {planned:.3} hours by the plan, {expected:.3} by what was seen");
        // Changes at an even pace seem to be more than they are: a visit every 1 − 1/e of an hour, and sooner where visits are late.
        assert!(planned < 0.75, "{path}: {planned} hours");
        let off = (planned / expected).ln().abs();
        assert!(
            off < PACE_OFF_MAX,
            "{path}: {planned}, not {expected} hours"
        );
    }
    assert!(hourly.iter().all(|&count| count <= 120), "{hourly:?}");
    assert!(dead.iter().all(|&count| count <= 3), "{dead:?}");

    for visits in of("gone") {
        let missed = visits.iter().filter(|visit| visit.status == 404);
        let missed: Vec<UnixSeconds> = missed.map(|visit| visit.at).collect();
        assert!((3..=8).contains(&missed.len()), "{missed:?}");
        assert!(
            *missed.last().unwrap() < BEGIN.after(270 * HOUR),
            "{missed:?}"
        );
    }
    let events = changing.stage.events();
    let given_up = events
        .iter()
        .rfind(|event| event.url.ends_with("/gone-0.html"))
        .unwrap();
    assert_eq!(given_up.status, 404);
    assert_eq!(given_up.next_visit, None, "{given_up:?}");

    // Those that were there a day after the crawl began can only be found by coming back to a list.
    let late = |page: &&Page| BEGIN.after(DAY) < changing.history.events(**page)[0].at;
    let found = visits.keys().filter(late).count();
    println!("{found} of 176 pages that were added later were found");
    assert!(20 <= found, "{found} of 176 new pages were found");
    let verdict = changing.verdict();
    assert!(verdict.is_polite(), "{verdict}");
}

/// The mean time between a visit to a page and the next as it was planned, in hours, when the page is well known. What a crawl means to do does not depend on
/// how busy the machine is, as what it comes to does.
fn mean_hours_planned(changing: &Changing, path: &str) -> f64 {
    let events = changing.stage.events();
    let of_page: Vec<_> = events
        .iter()
        .filter(|event| event.url.ends_with(path))
        .collect();
    let planned: Vec<f64> = of_page[of_page.len() / 2..]
        .iter()
        .filter_map(|event| Some(event.next_visit?.duration_since(event.time)))
        .map(|planned| planned.as_secs_f64() / HOUR.as_secs_f64())
        .collect();
    planned.iter().sum::<f64>() / planned.len() as f64
}

/// How often a page changes by what visits at these times could see of it, in hours, if its changes come by chance (Cho and Garcia-Molina, "Estimating
/// Frequency of Change", ACM TOIT 3(3), 2003, section 4.2).
fn mean_hours_between_changes(visits: &[Visited]) -> f64 {
    let pairs = visits.windows(2).count() as f64;
    let changed = visits
        .windows(2)
        .filter(|pair| pair[0].version != pair[1].version);
    let changed = changed.count() as f64;
    let span = visits[visits.len() - 1].at.since(visits[0].at);
    let hours_between_visits = span.as_secs_f64() / HOUR.as_secs_f64() / pairs;
    hours_between_visits / ((pairs + 0.5) / (pairs - changed + 0.5)).ln()
}

/// Pages that were there when the history began, and never change.
fn still(pages: u32) -> History {
    let kind = EventKind::Added;
    let paths: Vec<String> = (0..pages).map(|page| format!("{page}.html")).collect();
    let told = paths
        .iter()
        .map(|path| (path.as_str(), Event { at: BEGIN, kind }));
    History::from_events("still".to_owned(), told).unwrap()
}

#[test]
fn a_crawl_with_nothing_to_do_sleeps_and_does_not_end() {
    let changing = Changing::new(Scene {
        history: still(20),
        speed: 1.0,
        hosts: 4,
        config: "",
        habits: Habits::default(),
    });
    let mut crawl = changing.start_with_interval(Duration::from_millis(10));
    wait_until("all pages have been visited", || {
        changing.visits().len() == 20
    });
    // What follows the last visit, such as a checkpoint, is not idleness.
    wakings_in(&crawl, Duration::from_secs(2));
    let exchanges = changing.stage.exchanges().len();
    let seconds = 5;
    let wakings = wakings_in(&crawl, Duration::from_secs(seconds));
    println!("in {seconds} idle seconds the threads of the crawl woke {wakings} times");
    assert!(wakings <= seconds * WAKINGS_A_SECOND_MAX, "{wakings} times");
    assert_eq!(
        changing.stage.exchanges().len(),
        exchanges,
        "nothing is due"
    );
    assert!(crawl.is_running());
    crawl.interrupt();
    crawl.wait().expect(STOPPED);
}

/// Lets a crawl be for a while; how often its threads woke meanwhile.
fn wakings_in(crawl: &Running, while_: Duration) -> u64 {
    let before = wakings(crawl.id());
    std::thread::sleep(while_);
    wakings(crawl.id()) - before
}

/// How often the threads of a process have woken by themselves so far: as often as they went to sleep (proc(5), `voluntary_ctxt_switches`). Unlike
/// processor time it does not depend on how fast the machine is.
fn wakings(process: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let of_task = |task: std::io::Result<std::fs::DirEntry>| -> u64 {
        let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("voluntary_ctxt"));
        line.and_then(|line| line.split_whitespace().nth(1))
            .unwrap()
            .parse()
            .unwrap()
    };
    tasks.map(of_task).sum()
}

/// Pages that all change once a day.
fn daily(pages: u32) -> History {
    let config = GeneratorConfig {
        pages,
        from: BEGIN,
        span: 30 * DAY,
        mean_gaps: MeanGaps::Equal(DAY),
        ..GeneratorConfig::default()
    };
    generate(&config, 3).unwrap().history
}

#[test]
fn a_clock_that_was_set_by_a_day_makes_neither_storm_nor_stall() {
    const PAGES: u32 = 30;
    let changing = Changing::new(Scene {
        history: daily(PAGES),
        speed: 8640.0,
        hosts: 3,
        // Every page is visited every day.
        config: "[revisit]\nfirst_min = \"6h\"\nfirst_max = \"12h\"\ninterval_spread_min = \"18h\"\ninterval_max = \"1day\"\n",
        habits: Habits::default(),
    });
    // Days of the web's clock in which the crawl runs, and the seconds by which its own is set meanwhile.
    let day = DAY.as_secs_f64();
    for (days, set) in [(2, 0.0), (2, day), (2, -day)] {
        std::fs::write(
            changing.stage.path("junkai.toml"),
            changing.config_with_clock_set(set),
        )
        .unwrap();
        let started = changing.now();
        let mut crawl = changing.start();
        changing.wait_for(started.after(days * DAY), &mut crawl);
        crawl.interrupt();
        crawl.wait().expect(STOPPED);
        let visits = changing.visits();
        let all = visits.values().flatten();
        let made: Vec<UnixSeconds> = all
            .map(|visit| visit.at)
            .filter(|at| started <= *at)
            .collect();
        println!("clock set by {set} s: {} visits", made.len());
        // Twice or thrice each, and once for the day that was never lived.
        let (least, most) = (PAGES as usize, 5 * PAGES as usize);
        assert!(
            (least..=most).contains(&made.len()),
            "{} visits",
            made.len()
        );
    }
    let verdict = changing.verdict();
    assert!(verdict.is_polite(), "{verdict}");
}
