//! Damage: bits of the state are flipped between two runs. What can be read is crawled to its end, what cannot is counted and told, and what the program
//! says to do about it helps.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use junkai_store::backlog;
use junkai_testweb::TestWebConfig;
use serde_json::Value;

use crate::support::{Finished, Stage, files, junkai, run};

const PAGES_FIRST: &str = "60";

/// A web of which some pages were visited and many wait.
fn begun() -> Stage {
    let web = TestWebConfig {
        hosts: 4,
        addresses: 4,
        pages: 1000,
        page_bytes: 4000,
        links_per_page: 20,
        seeds: 4,
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    let finished = crawl(&stage, &["--pages", PAGES_FIRST]).expect(0);
    assert_eq!(summary(&finished)["ended"], "pages-reached");
    stage
}

/// A run of the crawl to its end, or as far as the flags say.
fn crawl(stage: &Stage, flags: &[&str]) -> Finished {
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "0s", "--json"]);
    crawl.args(flags);
    run(crawl)
}

fn summary(finished: &Finished) -> Value {
    let last = finished.out.lines().last().unwrap_or_default();
    let line: Value = serde_json::from_str(last).unwrap_or_else(|_| panic!("{}", finished.all()));
    line["summary"].clone()
}

fn waiting(stage: &Stage) -> BTreeSet<String> {
    let mut waiting = BTreeSet::new();
    backlog::look(&stage.archive().join("state/backlog"), |entry| {
        waiting.insert(entry.url.clone());
    })
    .unwrap();
    waiting
}

/// How often each page of the web was asked for.
fn visits(stage: &Stage) -> BTreeMap<String, usize> {
    let pages: BTreeSet<String> = stage.web.pages().collect();
    let mut visits = BTreeMap::new();
    for seen in stage.exchanges() {
        if pages.contains(&seen.url) {
            *visits.entry(seen.url).or_default() += 1;
        }
    }
    visits
}

fn largest(folder: &Path, suffix: &str) -> PathBuf {
    let mut found = files(folder);
    found.retain(|path| path.to_string_lossy().ends_with(suffix));
    found.sort_by_key(|path| fs::metadata(path).unwrap().len());
    found.pop().unwrap()
}

/// Flips a few bits in the middle of a file.
fn flip_bits(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    for at in [middle, middle + 1, middle + 7] {
        bytes[at] ^= 0x04;
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn damaged_waiting_visits_are_passed_over_counted_and_found_again_as_the_summary_says() {
    let stage = begun();
    let waited = waiting(&stage);
    flip_bits(&largest(&stage.archive().join("state/backlog"), ".segment"));

    let finished = crawl(&stage, &[]).expect(4);
    let ended = summary(&finished);
    let lost = ended["progress"]["visits_lost"].as_u64().unwrap();
    let reported: BTreeSet<String> = stage
        .events()
        .iter()
        .map(|event| event.url.to_string())
        .collect();
    let missing: Vec<&String> = waited.difference(&reported).collect();
    assert_eq!(missing.len() as u64, lost, "{missing:#?}");
    println!("{lost} of {} waiting visits are lost", waited.len());
    assert!(!missing.is_empty() && missing.len() < waited.len() / 2);
    assert!(visits(&stage).values().all(|visits| *visits == 1));
    let stats = said(&stage, &["stats"]);
    assert!(stats.contains("LOST"), "{stats}");

    // A further run has nothing to tell, and does not find them by itself.
    crawl(&stage, &[]).expect(0);
    // What the summary says to do.
    let seen = stage.archive().join("state/seen");
    fs::rename(seen, stage.path("seen-aside")).unwrap();
    for number in 0..4 {
        let host = format!("host{number}.test");
        said(&stage, &["revisit", "--host", &host]);
    }
    let finished = crawl(&stage, &[]).expect(0);
    assert!(finished.err.contains("made anew"), "{}", finished.all());
    let events = stage.events();
    for url in missing {
        let is_reported = events.iter().any(|event| event.url == *url);
        assert!(is_reported, "{url} is not found again");
    }
    assert_eq!(visits(&stage).len(), stage.web.pages().count());
}

#[test]
fn a_damaged_set_of_known_urls_is_made_anew_as_the_message_says() {
    let stage = begun();
    let seen = stage.archive().join("state/seen");
    let run = largest(&seen, ".run");
    let bytes = fs::metadata(&run).unwrap().len();
    fs::OpenOptions::new()
        .write(true)
        .open(&run)
        .unwrap()
        .set_len(bytes - 1)
        .unwrap();
    let refused = crawl(&stage, &[]).expect(1);
    assert!(
        refused.err.contains("`state/seen` aside"),
        "{}",
        refused.all()
    );
    fs::rename(&seen, stage.path("seen-aside")).unwrap();
    crawl(&stage, &[]).expect(0);
    assert_every_page_was_visited_once(&stage);
}

#[test]
fn without_its_damaged_manifest_a_crawl_goes_on_as_the_message_says() {
    let stage = begun();
    let manifest = stage.archive().join("state/MANIFEST");
    flip_bits(&manifest);
    let refused = crawl(&stage, &[]).expect(1);
    assert!(refused.err.contains("move it aside"), "{}", refused.all());
    fs::rename(&manifest, stage.path("manifest-aside")).unwrap();
    crawl(&stage, &[]).expect(0);
    assert_every_page_was_visited_once(&stage);
}

fn assert_every_page_was_visited_once(stage: &Stage) {
    let visited = visits(stage);
    assert_eq!(visited.len(), stage.web.pages().count());
    let again: Vec<_> = visited.iter().filter(|(_, visits)| **visits != 1).collect();
    assert!(again.is_empty(), "{again:#?}");
}

fn said(stage: &Stage, arguments: &[&str]) -> String {
    let mut command = junkai();
    command
        .args(arguments)
        .arg("--archive")
        .arg(stage.archive());
    run(command).expect(0).out
}
