//! Promise 4, nothing lost: kill the process at any instruction, and the next start goes on. What was reported is in the
//! archive and in its index; what was known is visited in the end; at most what was in flight is visited again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use junkai_crawler::{LogEvent, Settings, explain};
use junkai_testweb::TestWebConfig;
use junkai_weburl::Canonicalizer;
use serde_json::Value;

use crate::support::{
    Dice, Running, Stage, assert_warcio_accepts, files, index_lines, junkai, python, run,
    wait_until,
};

const KILLS: usize = 200;
/// Fewer where the same is asked of another order: what differs is the waiting room alone.
const KILLS_IN_ORDER: usize = 60;
const CONCURRENCY: usize = 8;

/// How long a run lives at most.
const LIFE_MAX: Duration = Duration::from_millis(300);

/// Small WARC files and frequent checkpoints: kills fall into closing, opening and syncing too.
const BUSY: &str = r#"
[crawl]
checkpoint_every = "100ms"
concurrency = 8
workers = 2

# Only politeness needs it, and every life would begin by waiting for it.
[politeness]
abort_slack = "0s"

[archive]
rollover_bytes = 200000

"#;

#[test]
fn whatever_moment_it_is_killed_at_the_crawl_loses_nothing() {
    kill_and_crawl_to_the_end(&Trial::new(KILLS, BUSY));
}

#[test]
fn while_people_speak_to_a_link_rich_crawl_with_small_buffers_it_loses_nothing() {
    let small = format!("{BUSY}[backlog]\nbuffer_bytes = 1000\nsegment_bytes = 50000\n");
    kill_and_crawl_to_the_end(&Trial {
        links_per_page: 150,
        is_spoken_to: true,
        ..Trial::new(KILLS_IN_ORDER, &small)
    });
}

#[test]
fn what_stands_in_an_order_or_was_spilled_outlives_kills_too() {
    // Room for a tenth of the pages: most are spilled, and still every host has some in the order.
    let narrow = BUSY.replace("[crawl]", "[crawl]\ncandidates = 400\nlookahead = 64");
    kill_and_crawl_to_the_end(&Trial {
        order: "worth",
        ..Trial::new(KILLS_IN_ORDER, &narrow)
    });
}

/// A crawl that is killed again and again.
struct Trial<'a> {
    kills: usize,
    config: &'a str,
    order: &'a str,
    links_per_page: u32,
    /// Whether somebody asks for pages that are known and not visited yet, in every life.
    is_spoken_to: bool,
}

impl Trial<'_> {
    fn new(kills: usize, config: &str) -> Trial<'_> {
        Trial {
            kills,
            config,
            order: "fifo",
            links_per_page: 12,
            is_spoken_to: false,
        }
    }
}

fn kill_and_crawl_to_the_end(trial: &Trial<'_>) {
    let mut dice = Dice::new();
    let web = TestWebConfig {
        hosts: 24,
        addresses: 24,
        pages: 4000,
        page_bytes: 2000,
        links_per_page: trial.links_per_page,
        seeds: 2,
        // A bound on how fast pages can be had, so that no machine is done before the last kill.
        latency: Duration::from_millis(30),
        change_interval: Duration::ZERO,
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, trial.config);
    let crawl = || {
        let mut crawl = stage.crawl();
        crawl.args(stage.web.seeds());
        crawl.args(["--scope", "any", "--interval", "0s", "--quiet"]);
        crawl.args(["--order", trial.order]);
        crawl
    };
    let mut kills = 0;
    for life in 0..trial.kills {
        let before = stage.web.counters().requests;
        let running = Running::start(crawl());
        if life % 2 == 1 {
            // Every other kill falls into the crawl itself, however long the opening takes; the others anywhere.
            wait_until("the crawl visits a server", || {
                before < stage.web.counters().requests
            });
        }
        let asking = (trial.is_spoken_to && life % 2 == 1).then(|| {
            let mut add = junkai();
            add.arg("add").arg("--archive").arg(stage.archive());
            add.args(stage.web.pages().skip(life * 50).take(50));
            Running::start(add)
        });
        std::thread::sleep(dice.time_below(LIFE_MAX));
        kills += usize::from(running.kill());
        if let Some(asking) = asking {
            // Of a crawl that was killed meanwhile, the archive keeps what is asked for.
            asking.wait().expect(0);
        }
    }
    assert_eq!(
        kills, trial.kills,
        "there is more to crawl than these lives can visit"
    );
    let reported_before = stage.events();
    run(crawl()).expect(0);

    let events = stage.events();
    assert!(
        reported_before.len() < events.len(),
        "the last run had something left to do"
    );
    assert_reports_are_kept(&stage, &events);
    assert_every_page_is_reported(&stage, &events);
    assert_both_logs_agree(&stage, &events);
    assert_every_page_is_captured(&stage);
    assert_only_what_was_in_flight_is_repeated(&stage);
    assert_every_page_has_one_state(&stage);
}

/// Known pages come back after seconds, and change as fast: kills fall into handing out, settling and writing down their states.
const RESTLESS: &str = r#"
[revisit]
first_min = "1s"
first_max = "3s"
interval_min = "1s"
interval_max = "4s"
interval_spread_min = "2s"

[revisit.servers]
interval = "0s"
interval_large = "0s"

[time_queue]
resolution = "1s"
buffer_bytes = 65536
"#;

#[test]
fn whatever_moment_it_is_killed_at_every_known_page_has_one_state() {
    let mut dice = Dice::new();
    let web = TestWebConfig {
        hosts: 8,
        addresses: 8,
        pages: 300,
        page_bytes: 1000,
        links_per_page: 10,
        seeds: 2,
        change_interval: Duration::from_secs(2),
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, &format!("{BUSY}{RESTLESS}"));
    let crawl = |mut crawl: std::process::Command| {
        crawl.args(stage.web.seeds());
        crawl.args(["--scope", "any", "--interval", "0s", "--quiet"]);
        crawl
    };
    run(crawl(stage.crawl())).expect(0);
    let known = states(&stage);
    assert_every_page_has_one_state(&stage);
    for _ in 0..KILLS_IN_ORDER {
        let before = stage.web.counters().requests;
        let running = Running::start(crawl(stage.crawl_on()));
        wait_until("a known page is visited again", || {
            before < stage.web.counters().requests
        });
        std::thread::sleep(dice.time_below(LIFE_MAX));
        assert!(running.kill(), "a crawl does not end by itself");
        let after = states(&stage);
        assert!(
            known.keys().eq(after.keys()),
            "the same pages are known as before"
        );
        assert!(after.values().all(|count| *count == 1), "each once");
    }
    let revisits = stage
        .events()
        .iter()
        .filter(|event| event.change.is_some())
        .count();
    assert!(KILLS_IN_ORDER < revisits, "{revisits} revisits");
}

/// How many states the time queue holds for each page.
fn states(stage: &Stage) -> BTreeMap<String, usize> {
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    let queue = stage.archive().join("state/time_queue");
    junkai_store::time_queue::look(&queue, |record| {
        *states.entry(record.url.to_owned()).or_default() += 1;
    })
    .unwrap();
    states
}

/// A page that was had is known, once.
fn assert_every_page_has_one_state(stage: &Stage) {
    let states = states(stage);
    for page in stage.web.pages() {
        assert_eq!(states.get(&page), Some(&1), "{page}");
    }
    let doubled: Vec<&String> = states
        .iter()
        .filter(|(_, count)| 1 < **count)
        .map(|(page, _)| page)
        .collect();
    assert!(doubled.is_empty(), "{doubled:?}");
}

#[test]
fn where_overflow_is_discarded_what_waits_outlives_a_stop_and_a_kill() {
    let web = TestWebConfig {
        hosts: 2,
        addresses: 2,
        pages: 200,
        page_bytes: 4000,
        seeds: 2,
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "[ring]\nslots = 64\n");
    let crawl = || {
        let mut crawl = stage.crawl();
        crawl.args(stage.web.seeds());
        crawl.args(["--scope", "any", "--interval", "20ms", "--json"]);
        crawl.args(["--overflow", "discard"]);
        crawl
    };
    let mut first = crawl();
    first.args(["--pages", "8"]);
    let stopped = run(first).expect(0);
    let discarded = last_summary(&stopped.out)["progress"]["discarded"].as_u64();
    assert!(0 < discarded.unwrap(), "the ring is too small for all");
    let mut waited = waiting_pages(&stage);
    assert!(!waited.is_empty(), "something was placed and not visited");

    let before = stage.events().len();
    let life = Running::start(crawl());
    wait_until("the next run visits pages", || {
        before + 8 <= stage.events().len()
    });
    assert!(life.kill());
    let visits_before_the_kill = page_visits(&stage);
    waited.extend(waiting_pages(&stage));

    let ended = run(crawl()).expect(0);
    assert_eq!(last_summary(&ended.out)["ended"], "complete");
    let visits = page_visits(&stage);
    for page in &waited {
        assert!(visits.contains_key(page), "{page} is lost");
    }
    // Only the kill may repeat what was in flight, one visit a server.
    assert!(visits_before_the_kill.values().all(|visits| *visits == 1));
    let repeated: usize = visits.values().map(|visits| visits - 1).sum();
    assert!(repeated <= 2, "{repeated} visits were repeated");
}

/// The pages of the web that wait in the archive.
fn waiting_pages(stage: &Stage) -> BTreeSet<String> {
    let settings = Settings::default();
    let canonical = Canonicalizer::new(&settings.canonical);
    let waits = |page: &String| {
        let url = canonical.parse(page).unwrap();
        let told = explain(&stage.archive(), &settings, &url, &mut |_| {}).unwrap();
        told.waiting.is_some()
    };
    stage.web.pages().filter(waits).collect()
}

/// How often each page was visited.
fn page_visits(stage: &Stage) -> BTreeMap<String, usize> {
    let mut visits = BTreeMap::new();
    for seen in stage.exchanges() {
        if is_page(&seen.url) {
            *visits.entry(seen.url).or_default() += 1;
        }
    }
    visits
}

fn last_summary(out: &str) -> Value {
    let line: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    line["summary"].clone()
}

/// Every reported capture is the record that it says, in a sound file, and in the index.
fn assert_reports_are_kept(stage: &Stage, events: &[LogEvent<'_>]) {
    let archive = stage.archive();
    let warcs = files(&archive.join("archive"));
    assert_warcio_accepts(&warcs);
    let records = records(&warcs);
    let ids: BTreeSet<&str> = records.values().map(|record| &*record.id).collect();
    assert_eq!(ids.len(), records.len(), "no record id comes twice");
    let index = index(&archive);
    let mut captures = 0;
    for event in events {
        let Some(place) = &event.warc else { continue };
        captures += 1;
        let at = (place.file.to_string(), place.offset);
        let record = records
            .get(&at)
            .unwrap_or_else(|| panic!("{} is reported at {at:?}, where nothing is", event.url));
        assert!(record.is_capture(), "{} at {at:?}", record.kind);
        assert_eq!(record.uri, event.url, "{at:?}");
        let line = index
            .get(&at)
            .unwrap_or_else(|| panic!("{} at {at:?} is not in the index", event.url));
        assert_eq!(line["url"], *event.url, "{at:?}");
        assert_eq!(line["length"], place.length.to_string(), "{at:?}");
        assert_eq!(line["status"], event.status.to_string(), "{at:?}");
    }
    println!("{captures} captures reported, {} records", records.len());
    let captures = records.values().filter(|record| record.is_capture());
    assert_eq!(
        index.len(),
        captures.count(),
        "the index has every capture once, reported or not"
    );
}

/// `crawl.log` is written first: a kill between the two leaves it at most one round ahead.
fn assert_both_logs_agree(stage: &Stage, events: &[LogEvent<'_>]) {
    let log = std::fs::read_to_string(stage.archive().join("logs/crawl.log")).unwrap();
    let told: BTreeSet<&str> = log
        .lines()
        .filter_map(|line| line.split_whitespace().nth(3))
        .collect();
    let reported: BTreeSet<&str> = events.iter().map(|event| &*event.url).collect();
    assert!(reported.is_subset(&told), "an event is not in crawl.log");
    let ahead = told.difference(&reported).count();
    assert!(
        ahead <= KILLS * CONCURRENCY,
        "{ahead} pages are only in crawl.log"
    );
}

/// A kill between a report and its acknowledgement repeats the visit, and so the report: no more than were in flight.
fn assert_every_page_is_reported(stage: &Stage, events: &[LogEvent<'_>]) {
    let pages = || events.iter().filter(|event| is_page(&event.url));
    let reported: BTreeSet<&str> = pages().map(|event| &*event.url).collect();
    let repeated = pages().count() - reported.len();
    assert!(
        repeated <= KILLS * CONCURRENCY,
        "{repeated} pages are reported twice"
    );
    for page in stage.web.pages() {
        assert!(reported.contains(page.as_str()), "{page} is not reported");
    }
}

/// What was found is visited in the end. The index is asked: a kill may come between a capture and its report.
fn assert_every_page_is_captured(stage: &Stage) {
    let index = index(&stage.archive());
    let captured: BTreeSet<&str> = index
        .values()
        .filter(|line| line["status"] == "200")
        .filter_map(|line| line["url"].as_str())
        .collect();
    let missing: Vec<String> = stage
        .web
        .pages()
        .filter(|page| !captured.contains(page.as_str()))
        .collect();
    assert!(missing.is_empty(), "{} lost: {missing:#?}", missing.len());
}

fn assert_only_what_was_in_flight_is_repeated(stage: &Stage) {
    let mut requests: BTreeMap<String, usize> = BTreeMap::new();
    for seen in stage.exchanges() {
        if is_page(&seen.url) {
            *requests.entry(seen.url).or_default() += 1;
        }
    }
    let repeated: usize = requests.values().map(|count| count - 1).sum();
    println!("{repeated} visits repeated after {KILLS} kills");
    assert!(
        repeated <= KILLS * CONCURRENCY,
        "{repeated} visits were repeated"
    );
}

/// robots.txt is asked for anew in each run.
fn is_page(url: &str) -> bool {
    !url.ends_with("/robots.txt")
}

/// A record as warcio reads it.
struct Record {
    kind: String,
    uri: String,
    id: String,
}

impl Record {
    /// Whether the index tells of it.
    fn is_capture(&self) -> bool {
        ["response", "revisit", "resource"].contains(&&*self.kind)
    }
}

/// All records of all files, by file and offset, as warcio reads them.
fn records(warcs: &[PathBuf]) -> BTreeMap<(String, u64), Record> {
    let mut list = python();
    list.args(["-c", include_str!("records.py")]).args(warcs);
    let listed = run(list).expect(0);
    let record = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let place = (text("file"), line["offset"].as_u64().unwrap());
        let record = Record {
            kind: text("kind"),
            uri: text("uri"),
            id: text("id"),
        };
        (place, record)
    };
    listed.out.lines().map(record).collect()
}

/// The fields of every line of the index, by file and offset.
fn index(archive: &Path) -> BTreeMap<(String, u64), Value> {
    let mut index = BTreeMap::new();
    for line in index_lines(archive) {
        let json = line.splitn(3, ' ').nth(2).unwrap_or_default();
        let fields: Value =
            serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {line}"));
        let file = fields["filename"].as_str().unwrap().to_owned();
        let offset = fields["offset"].as_str().unwrap().parse().unwrap();
        let before = index.insert((file, offset), fields);
        assert!(before.is_none(), "two lines for one place: {line}");
    }
    index
}
