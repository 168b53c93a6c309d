//! People and a crawl: what `add`, `revisit`, `pause`, `resume` and `scope` ask for is done, whether the crawl runs, is stopped, or is killed.

use std::fs;
use std::time::Duration;

use junkai_crawler::LogEvent;
use junkai_testweb::TestWebConfig;
use serde_json::Value;

use crate::support::{Dice, Finished, Running, Stage, junkai, run, wait_until};

/// Four hosts on servers of their own, which link to each other.
fn web() -> TestWebConfig {
    TestWebConfig {
        hosts: 4,
        addresses: 4,
        pages: 24,
        page_bytes: 2000,
        seeds: 1,
        ..TestWebConfig::default()
    }
}

/// Tells the stage's crawl something.
fn tell(stage: &Stage, command: &str, arguments: &[&str]) -> Finished {
    let mut told = junkai();
    told.arg(command).arg("--archive").arg(stage.archive());
    told.args(arguments);
    run(told)
}

/// The same, as a program reads it.
fn told(stage: &Stage, command: &str, arguments: &[&str]) -> Value {
    let told = tell(stage, command, &[arguments, &["--json"]].concat()).expect(0);
    serde_json::from_str(&told.out).unwrap_or_else(|error| panic!("{error}: {}", told.all()))
}

/// A crawl of the host of the seed alone that goes on.
fn one_host(stage: &Stage) -> Running {
    let mut crawl = stage.crawl_on();
    crawl.args(["--scope", "host", "--interval", "0s", "--quiet"]);
    crawl.arg(stage.url("host0.test", "/"));
    Running::start(crawl)
}

/// The same to its end.
fn one_host_once(stage: &Stage) {
    let mut crawl = stage.crawl();
    crawl.args(["--scope", "host", "--interval", "0s", "--quiet"]);
    crawl.arg(stage.url("host0.test", "/"));
    run(crawl).expect(0);
}

/// The archive once more, without a word of what to crawl, to its end.
fn again(stage: &Stage) -> Running {
    let mut crawl = stage.crawl();
    crawl.args(["--scope", "host", "--interval", "0s", "--quiet"]);
    Running::start(crawl)
}

/// Answers to visits of pages of this host.
fn answers(stage: &Stage, host: &str) -> Vec<LogEvent<'static>> {
    let start = stage.url(host, "/");
    let is_page = |event: &LogEvent<'_>| {
        0 < event.status && event.url.starts_with(&start) && !event.url.ends_with("/robots.txt")
    };
    stage.events().into_iter().filter(is_page).collect()
}

fn visits(stage: &Stage, url: &str) -> usize {
    let events = stage.events();
    let answered = events.iter().filter(|event| 0 < event.status);
    answered.filter(|event| event.url == url).count()
}

#[test]
fn a_running_crawl_takes_new_seeds_and_visits_them() {
    let stage = Stage::new(web(), "");
    let seed = stage.url("host0.test", "/");
    let crawl = one_host(&stage);
    wait_until("the seed is visited", || 0 < visits(&stage, &seed));

    let other = stage.url("host1.test", "/");
    let answer = told(&stage, "add", &[&other, &other, &seed]);
    assert_eq!(answer["when"], "now", "{answer}");
    assert_eq!(
        (&answer["done"], &answer["already"]),
        (&1.into(), &1.into())
    );
    wait_until("the new seed is visited, and its host", || {
        0 < visits(&stage, &other) && 1 < answers(&stage, "host1.test").len()
    });

    let wrong = tell(&stage, "add", &["http://"]).expect(4);
    assert!(wrong.out.contains("not done"), "{}", wrong.all());
    assert!(crawl.kill());
}

#[test]
fn a_stopped_archive_keeps_commands_until_they_are_carried_out_whatever_kills_it() {
    let stage = Stage::new(web(), "[crawl]\ncheckpoint_every = \"100ms\"\n");
    one_host_once(&stage);
    let seed = stage.url("host0.test", "/");
    let other = stage.url("host1.test", "/");
    assert_eq!(visits(&stage, &seed), 1);

    let added = tell(&stage, "add", &[&other]).expect(0);
    assert!(added.out.contains("no crawl is running"), "{}", added.all());
    let asked = told(&stage, "revisit", &[&seed]);
    assert_eq!(asked["when"], "next-start", "{asked}");
    assert_eq!(told(&stage, "stats", &[])["wishes"], 2);

    // Killed while it opens, while it carries out, and after.
    let mut dice = Dice::new();
    for _ in 0..15 {
        let crawl = again(&stage);
        std::thread::sleep(dice.time_below(Duration::from_millis(150)));
        crawl.kill();
    }
    again(&stage).wait().expect(0);
    assert_eq!(told(&stage, "stats", &[])["wishes"], 0);
    assert!(!stage.archive().join("state/wishes.jsonl").exists());
    assert!(1 < answers(&stage, "host1.test").len());
    // A kill between a visit's line in the log and its acknowledgement repeats it; a command that were carried out at each start would show.
    let visits_now = visits(&stage, &seed);
    assert!((2..=3).contains(&visits_now), "{visits_now}");
    again(&stage).wait().expect(0);
    assert_eq!(visits(&stage, &seed), visits_now, "carried out once");
}

#[test]
fn what_a_running_crawl_answered_survives_its_kill() {
    let stage = Stage::new(web(), "");
    one_host_once(&stage);
    let seed = stage.url("host0.test", "/");
    let other = stage.url("host1.test", "/");
    let crawl = one_host(&stage);
    wait_until("the crawl can be asked", || {
        told(&stage, "pause", &["--all"])["when"] == "now"
    });
    assert_eq!(told(&stage, "add", &[&other])["done"], 1);
    assert_eq!(told(&stage, "revisit", &[&seed])["done"], 1);
    assert_eq!(told(&stage, "scope", &["--exclude", "/never/"])["done"], 1);
    assert!(crawl.kill());

    let crawl = one_host(&stage);
    wait_until("the next crawl can be asked, and is paused", || {
        let paused = told(&stage, "pause", &["--all"]);
        paused["when"] == "now" && paused["already"] == 1
    });
    assert_eq!(visits(&stage, &seed), 1);
    told(&stage, "resume", &["--all"]);
    wait_until("both commands are carried out", || {
        1 < visits(&stage, &seed) && 0 < visits(&stage, &other)
    });
    assert!(crawl.kill());
    again(&stage).wait().expect(0);
    // A kill between a visit's line in the log and its acknowledgement repeats it.
    assert!((2..=3).contains(&visits(&stage, &seed)));
    assert!((1..=2).contains(&visits(&stage, &other)));
    let shown = tell(&stage, "scope", &[]).expect(0);
    assert!(shown.out.contains("/never/"), "{}", shown.all());
}

#[test]
fn a_known_page_is_visited_out_of_turn_once_however_often_it_is_asked_for() {
    let stage = Stage::new(web(), "");
    one_host_once(&stage);
    let pages: Vec<String> = answers(&stage, "host0.test")
        .iter()
        .filter(|event| event.status == 200)
        .map(|event| event.url.to_string())
        .collect();
    let crawl = one_host(&stage);
    wait_until("the crawl can be asked", || {
        told(&stage, "pause", &["--all"])["when"] == "now"
    });
    let answer = told(&stage, "revisit", &[&pages[0], &pages[0]]);
    assert_eq!(
        (&answer["done"], &answer["when"]),
        (&1.into(), &"now".into())
    );
    let answer = told(&stage, "revisit", &[&pages[0]]);
    assert_eq!(
        (&answer["done"], &answer["already"]),
        (&0.into(), &1.into())
    );
    // By the index: what was asked for already is not asked for twice.
    let answer = told(&stage, "revisit", &["--host", "host0.test"]);
    assert_eq!(answer["already"], 1, "{answer}");
    let asked = 1 + answer["done"].as_u64().unwrap();
    assert!(pages.len() as u64 <= asked, "{answer}");
    told(&stage, "resume", &["--all"]);
    wait_until("all are visited again", || {
        pages.iter().all(|page| 2 <= visits(&stage, page))
    });
    // It may be asked for again from now on.
    let answer = told(&stage, "revisit", &["--prefix", &pages[0], "--limit", "1"]);
    assert_eq!(answer["done"], 1, "{answer}");
    wait_until("it is visited a third time", || {
        3 <= visits(&stage, &pages[0])
    });
    assert!(crawl.kill());
    for event in stage
        .events()
        .iter()
        .filter(|event| event.url == pages[0])
        .skip(1)
    {
        assert_eq!(event.hops, "A", "{event:?}");
    }

    let unknown = stage.url("host0.test", "/nobody/knows");
    let refused = tell(&stage, "revisit", &[&unknown]).expect(4);
    assert!(refused.out.contains("junkai add"), "{}", refused.all());
    tell(&stage, "revisit", &["--host", "host9.test"]).expect(4);
    tell(&stage, "revisit", &[]).expect(2);
}

#[test]
fn a_paused_host_is_not_visited_over_restarts_and_loses_nothing() {
    let stage = Stage::new(web(), "");
    one_host_once(&stage);
    tell(&stage, "pause", &["HOST1.test"]).expect(0);
    let other = stage.url("host1.test", "/");
    let third = stage.url("host2.test", "/");
    tell(&stage, "add", &[&other, &third]).expect(0);

    for _ in 0..2 {
        let before = answers(&stage, "host2.test").len();
        let crawl = one_host(&stage);
        wait_until("the other host is visited", || {
            0 < before || !answers(&stage, "host2.test").is_empty()
        });
        wait_until("the paused seed is found waiting", || {
            let told = told(&stage, "explain", &[&other]);
            told["waiting"].is_object() && told["live"].is_object()
        });
        let explained = told(&stage, "explain", &[&other]);
        let words = explained["paused"].as_str().unwrap();
        assert!(words.contains("host host1.test is paused"), "{explained}");
        assert!(explained["next_visit"].as_str().unwrap().contains("paused"));
        assert!(crawl.kill());
    }
    assert!(answers(&stage, "host1.test").is_empty());
    let stats = told(&stage, "stats", &[]);
    assert!(stats["paused"]["hosts"]["host1.test"].is_u64(), "{stats}");
    let shown = tell(&stage, "pause", &[]).expect(0);
    assert_eq!(shown.out, "host host1.test\n");

    let crawl = one_host(&stage);
    wait_until("the crawl can be told", || {
        told(&stage, "resume", &["host1.test"])["when"] == "now"
    });
    wait_until("what was paused is visited", || 0 < visits(&stage, &other));
    assert!(crawl.kill());
    let resumed = tell(&stage, "resume", &["host1.test"]).expect(0);
    assert!(resumed.out.contains("not paused"), "{}", resumed.all());
}

#[test]
fn a_paused_server_pauses_every_host_that_lives_there() {
    let config = TestWebConfig {
        addresses: 1,
        ..web()
    };
    let stage = Stage::new(config, "");
    one_host_once(&stage);
    let address = stage.events().iter().find_map(|event| event.server);
    let address = address.unwrap().to_string();
    tell(&stage, "pause", &[&address]).expect(0);
    let other = stage.url("host1.test", "/");
    tell(&stage, "add", &[&other]).expect(0);
    let before = stage.web.counters().requests;
    let crawl = one_host(&stage);
    wait_until("the seed waits", || {
        let told = told(&stage, "explain", &[&other]);
        told["waiting"].is_object() && told["live"].is_object()
    });
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(stage.web.counters().requests, before);
    told(&stage, "resume", &[&address]);
    wait_until("it is visited", || 0 < visits(&stage, &other));
    assert!(crawl.kill());
}

#[test]
fn a_paused_crawl_stays_up_and_starts_nothing() {
    let stage = Stage::new(web(), "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "100ms", "--json"]);
    let mut crawl = Running::start(crawl);
    wait_until("something is visited", || 2 < stage.events().len());
    assert_eq!(told(&stage, "pause", &["--all"])["when"], "now");
    wait_until("the crawl shows that it is paused", || {
        let printed = crawl.printed();
        let last = printed.lines().last().unwrap_or_default();
        last.contains("\"all_paused\":true") && last.contains("\"in_flight\":0")
    });
    let before = stage.web.counters().requests;
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(stage.web.counters().requests, before);
    assert!(crawl.is_running());
    told(&stage, "resume", &["--all"]);
    crawl.wait().expect(0);
    for page in stage.web.pages() {
        assert_eq!(visits(&stage, &page), 1, "{page}");
    }
}

#[test]
fn scope_changes_while_the_crawl_runs_and_what_falls_out_is_dismissed() {
    let stage = Stage::new(web(), "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "200ms", "--quiet"]);
    let crawl = Running::start(crawl);
    wait_until("something is visited", || 2 < stage.events().len());
    told(&stage, "pause", &["--all"]);
    let answer = told(&stage, "scope", &["--exclude", "//host[23]\\.test"]);
    assert_eq!(
        (&answer["done"], &answer["when"]),
        (&1.into(), &"now".into())
    );
    let moment = stage.events().len();
    told(&stage, "resume", &["--all"]);
    crawl.wait().expect(0);
    let events = stage.events();
    let excluded = |event: &&LogEvent<'_>| {
        event.url.contains("//host2.test") || event.url.contains("//host3.test")
    };
    let later: Vec<_> = events[moment..].iter().filter(excluded).collect();
    assert!(!later.is_empty(), "pages that waited are dismissed");
    let dismissed = later.iter().filter(|event| event.status == -5000);
    for event in dismissed.clone() {
        assert!(event.result.contains("exclude"), "{event:?}");
    }
    // A visit in flight at the moment of the command may still have ended.
    assert!(later.len() - dismissed.count() <= 2, "{later:#?}");

    let shown = tell(&stage, "scope", &[]).expect(0);
    assert!(shown.out.contains("//host[23]\\.test"), "{}", shown.all());
    let dropped = told(&stage, "scope", &["--drop", "//host[23]\\.test"]);
    assert_eq!(dropped["when"], "next-start", "{dropped}");
    let added = tell(&stage, "add", &[&stage.url("host2.test", "/")]).expect(0);
    assert!(added.out.contains("added 1 seed"), "{}", added.all());
    let wrong = tell(&stage, "scope", &["--include", "("]).expect(4);
    assert!(wrong.out.contains("regular expression"), "{}", wrong.all());
}

#[test]
fn where_there_is_no_archive_a_hint_says_how_to_begin_one() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["add", "revisit", "pause", "resume", "scope"] {
        let mut told = junkai();
        told.arg(command).arg("--archive").arg(folder.path());
        if command == "add" || command == "revisit" {
            told.arg("http://a.test/");
        }
        let refused = run(told).expect(1);
        assert!(
            refused.err.contains("junkai crawl URL"),
            "{}",
            refused.all()
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
