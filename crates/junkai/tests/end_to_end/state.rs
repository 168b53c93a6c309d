//! The known pages, as `junkai state` and `junkai explain` show them, beside a running crawl and after it.

use std::collections::BTreeSet;

use junkai_testweb::TestWebConfig;
use serde_json::Value;

use crate::support::{Running, Stage, junkai, run, wait_until};

fn say(stage: &Stage, arguments: &[&str]) -> String {
    let mut command = junkai();
    command
        .args(arguments)
        .arg("--archive")
        .arg(stage.archive());
    run(command).expect(0).out
}

fn lines(stage: &Stage, arguments: &[&str]) -> Vec<Value> {
    let text = say(stage, &[arguments, &["--json"]].concat());
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// A web of three hosts that was crawled, and goes on being crawled until it is stopped here.
fn crawled() -> Stage {
    let web = TestWebConfig {
        hosts: 3,
        addresses: 3,
        pages: 18,
        page_bytes: 2000,
        seeds: 1,
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    let mut crawl = stage.crawl_on();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "0s", "--quiet"]);
    let mut crawl = Running::start(crawl);
    let pages: BTreeSet<String> = stage.web.pages().collect();
    let known = |stage: &Stage| -> BTreeSet<String> {
        let dumped = lines(stage, &["state", "dump"]).into_iter();
        let urls = dumped.map(|page| page["url"].as_str().unwrap().to_owned());
        urls.collect()
    };
    wait_until("something is visited", || !stage.events().is_empty());
    wait_until("every page is known to the running crawl", || {
        pages.is_subset(&known(&stage))
    });
    assert!(crawl.is_running(), "it has visited everything, and goes on");
    crawl.interrupt();
    crawl.wait().expect(11);
    stage
}

#[test]
fn every_visited_page_is_known_and_its_next_visit_explained() {
    let stage = crawled();
    let dumped = lines(&stage, &["state", "dump"]);
    let stats = &lines(&stage, &["state", "stats"])[0];
    assert_eq!(stats["records"], dumped.len(), "{stats}");
    assert_eq!(
        stats["overdue"], 0,
        "the second visit is at least a day away"
    );
    assert!(0 < stats["due_in_week"].as_u64().unwrap(), "{stats}");
    let spans = stats["spans"].as_array().unwrap();
    let in_buckets: u64 = spans
        .iter()
        .map(|span| span["records"].as_u64().unwrap())
        .sum();
    assert_eq!(in_buckets, dumped.len() as u64, "{stats}");
    let told = say(&stage, &["state", "stats"]);
    assert!(
        told.contains("pages by the time between two visits"),
        "{told}"
    );

    let first = lines(&stage, &["state", "dump", "--limit", "5"]);
    let due = |page: &Value| {
        page["due"]
            .as_str()
            .unwrap()
            .parse::<jiff::Timestamp>()
            .unwrap()
    };
    let mut soonest: Vec<_> = dumped.iter().map(due).collect();
    soonest.sort_unstable();
    assert_eq!(first.iter().map(due).collect::<Vec<_>>(), soonest[..5]);
    let host = stage.url("host1.test", "/");
    let of_host = lines(&stage, &["state", "dump", "--host", "host1.test"]);
    assert!(!of_host.is_empty());
    for page in &of_host {
        assert!(page["url"].as_str().unwrap().starts_with(&host), "{page}");
    }
    assert!(lines(&stage, &["state", "dump", "--due-before", "1m"]).is_empty());
    let table = say(&stage, &["state", "dump", "--limit", "2"]);
    assert_eq!(table.lines().count(), 3, "{table}");

    let page = first[0]["url"].as_str().unwrap();
    let told = &lines(&stage, &["explain", page])[0];
    assert_eq!(told["page"]["visits"], 1, "{told}");
    assert_eq!(told["page"]["due"], first[0]["due"]);
    let next = told["next_visit"].as_str().unwrap();
    assert!(next.starts_with("at 20"), "{next}");
    let told = say(&stage, &["explain", page]);
    assert!(told.contains("believed to change every"), "{told}");
    let bears = "it can bear a visit every 2m (revisit.servers.interval = 1m; known pages have a share of 0.5, revisit.servers.known_share)";
    assert!(told.contains(bears), "{told}");
}
