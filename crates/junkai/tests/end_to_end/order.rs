//! Orders: whichever page comes first, every page comes once; and links decide which.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU32;
use std::process::Command;
use std::time::Duration;

use junkai_testweb::{GraphConfig, TestWebConfig};

use crate::support::{Stage, junkai, run};

const ORDERS: [&str; 4] = ["fifo", "in-degree", "site-budgets", "worth"];

/// So little room that most pages are spilled and come back.
const NARROW: &str = "[crawl]\ncandidates = 20\nlookahead = 4\n";

fn web() -> TestWebConfig {
    TestWebConfig {
        hosts: 12,
        addresses: 6,
        pages: 400,
        page_bytes: 1500,
        links_per_page: 15,
        change_interval: Duration::ZERO,
        ..TestWebConfig::default()
    }
}

fn crawl(stage: &Stage, order: &str) -> Command {
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "0s", "--quiet"]);
    crawl.args(["--order", order]);
    crawl
}

/// The pages that servers were asked for, in the order of starts; robots.txt is none.
fn visited(stage: &Stage) -> Vec<String> {
    let urls = stage.exchanges().into_iter().map(|seen| seen.url);
    urls.filter(|url| !url.ends_with("/robots.txt")).collect()
}

fn assert_every_page_came_once(stage: &Stage) {
    let mut visits: BTreeMap<String, usize> = BTreeMap::new();
    for url in visited(stage) {
        *visits.entry(url).or_default() += 1;
    }
    for page in stage.web.pages() {
        assert!(visits.contains_key(&page), "{page} is lost");
    }
    visits.retain(|_, times| *times != 1);
    assert!(visits.is_empty(), "visited more than once: {visits:#?}");
}

#[test]
fn every_order_comes_to_every_page_once() {
    for order in ORDERS {
        let stage = Stage::new(web(), NARROW);
        let crawled = run(crawl(&stage, order)).expect(0);
        let told = crawled.all();
        assert!(told.contains("The crawl is complete"), "{order}: {told}");
        assert_every_page_came_once(&stage);
    }
}

#[test]
fn a_crawl_may_go_on_in_another_order() {
    let stage = Stage::new(web(), NARROW);
    for order in ["worth", "fifo", "in-degree", "site-budgets", "worth"] {
        let mut part = crawl(&stage, order);
        part.args(["--pages", "40"]);
        run(part).expect(0);
    }
    run(crawl(&stage, "fifo")).expect(0);
    assert_every_page_came_once(&stage);
}

/// `source target`, in the order of the documents. Page 4 is found with the first links, and nothing else links to it; 5 and 6 are
/// linked to by 1 and 2, 7 and 8 by two pages each.
const EDGES: &str = "0 1\n0 2\n0 3\n0 4\n0 5\n1 6\n1 5\n2 6\n2 5\n3 8\n5 7\n5 8\n6 7\n";

/// While a visit is in flight the next one is in the ring already. So who is chosen when a visit starts is chosen by the links of
/// all visits before it.
const STRICT: &str = "[crawl]\nconcurrency = 1\nworkers = 1\nlookahead = 1\n";

#[test]
fn a_page_with_more_links_overtakes_those_that_were_found_before_it() {
    check("fifo", [0, 1, 2, 3, 4, 5, 6, 8, 7]);
    check("in-degree", [0, 1, 2, 5, 6, 3, 7, 8, 4]);
}

fn check(order: &str, expected: [u32; 9]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.tsv");
    fs::write(&path, EDGES).unwrap();
    let web = TestWebConfig {
        hosts: 0,
        addresses: 1,
        graph: Some(GraphConfig {
            path,
            urls: None,
            pages_per_host: NonZeroU32::new(100).unwrap(),
        }),
        ..web()
    };
    let stage = Stage::new(web, STRICT);
    run(crawl(&stage, order)).expect(0);
    let page = |node: u32| stage.url("h0.graph.test", &format!("/p{node}"));
    assert_eq!(visited(&stage), expected.map(page), "{order}");
}

#[test]
fn what_waits_for_its_turn_is_explained_and_the_order_is_told() {
    let stage = Stage::new(web(), NARROW);
    let mut part = crawl(&stage, "worth");
    part.args(["--pages", "10"]);
    run(part).expect(0);
    let visited = visited(&stage);
    let (mut waiting, mut lines) = (0, String::new());
    for page in stage.web.pages().filter(|page| !visited.contains(page)) {
        let mut explain = junkai();
        explain.arg("explain").arg("--archive").arg(stage.archive());
        explain.arg(&page);
        let told = run(explain).expect(0).out;
        let next = told.lines().last().unwrap_or_default();
        waiting += usize::from(next.contains("when its turn comes in the order `worth`"));
        lines += next;
        if waiting == 3 {
            break;
        }
    }
    assert_eq!(waiting, 3, "{lines}");
    let mut stats = junkai();
    stats.arg("stats").arg("--archive").arg(stage.archive());
    let told = run(stats).expect(0).out;
    assert!(told.contains("order: worth"), "{told}");
}

#[test]
fn an_order_that_keeps_everything_does_not_go_with_discarding() {
    let stage = Stage::new(web(), "");
    let mut refused = crawl(&stage, "worth");
    refused.args(["--overflow", "discard"]);
    let told = run(refused);
    assert_ne!(told.code, Some(0));
    assert!(told.err.contains("overflow = \"defer\""), "{}", told.all());
    assert!(visited(&stage).is_empty());
}

#[test]
fn a_seed_that_failed_and_is_asked_for_twice_is_tried_once_more() {
    let stage = Stage::new(web(), "[crawl]\nretries_max = 0\n");
    // Nobody listens there.
    let seed = "http://host0.test:1/nobody";
    for times in [1, 2] {
        let mut crawl = stage.crawl();
        crawl.args(["--scope", "any", "--interval", "0s", "--quiet"]);
        crawl.args(["--order", "worth"]).args(vec![seed; times]);
        run(crawl);
    }
    let tries = stage.events().into_iter().filter(|event| event.url == seed);
    assert_eq!(tries.count(), 2, "one in each run");
}
