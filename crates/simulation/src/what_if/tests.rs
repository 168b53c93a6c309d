//! Crawls that were made, and what else could have been made of them.

use std::time::Duration;

use junkai_frontier::Overflow;
use junkai_graph::generate::{Generator, GeneratorConfig};
use junkai_graph::{HostCut, Hosts, Links, unwatched};

use super::*;
use crate::outcome::Cell;

fn schedule() -> Schedule {
    Schedule {
        interval: Duration::from_secs(5),
        step: Duration::from_millis(500),
        latency: Duration::from_millis(500),
        concurrency: 512,
        slots: 1024,
        keys: 65_536,
        waiting_max: 100_000,
        candidates: 100_000,
        lookahead: 4096,
        overflow: Overflow::Defer,
    }
}

fn what_if() -> WhatIf {
    WhatIf {
        schedule: schedule(),
        orders: Order::ALL.to_vec(),
        visits: vec![2],
        made_in: None,
        command: "junkai lab what-if --archive a".to_owned(),
    }
}

/// Pages by URL, with their links by number.
fn crawled(pages: &[(&str, &[Page])], captured: u32, seeds: &[&str]) -> Crawled {
    let lists: Vec<&[Page]> = pages.iter().map(|page| page.1).collect();
    let urls = pages.iter().map(|page| page.0).collect();
    Crawled {
        web: WebGraph {
            name: "small".to_owned(),
            links: Links::from_lists(&lists),
            hosts: Hosts::from_urls(&urls),
            urls: Some(urls),
            cut: HostCut::Urls,
        },
        captured,
        seeds: seeds.iter().map(|&seed| seed.to_owned()).collect(),
        logged: None,
    }
}

fn answer(crawled: Crawled, what_if: &WhatIf) -> Outcome {
    run(
        &ready(crawled, &Cache::none(), &mut unwatched),
        what_if,
        &|_| (),
    )
}

fn cell<'a>(outcome: &'a Outcome, order: &str, column: &str) -> &'a Cell {
    let table = &outcome.tables[0];
    let row = table
        .rows
        .iter()
        .find(|row| row[0] == Cell::Text(order.to_owned()));
    let place = table.columns.iter().position(|head| head.title == column);
    &row.unwrap()[place.unwrap_or_else(|| panic!("{column} in {:?}", table.columns))]
}

#[test]
fn crawls_begin_at_the_seeds_and_at_what_no_link_leads_to() {
    let pages: [(&str, &[Page]); 6] = [
        ("http://a.test/", &[1]),
        ("http://a.test/1", &[0]),
        ("http://b.test/unlinked", &[3]),
        ("http://b.test/3", &[4]),
        ("http://c.test/seed", &[]),
        ("http://d.test/never-captured", &[]),
    ];
    let found = |seeds: &[&str]| EntryPoints::find(&crawled(&pages, 5, seeds));
    let by_seeds = found(&["http://c.test/seed", "http://a.test/1", "http://x.test/"]);
    assert_eq!(by_seeds.pages, [1, 4, 2]);
    assert_eq!((by_seeds.seeds, by_seeds.others()), (2, 1));
    let told = "2 seeds of the crawl and 1 page to which nothing that was captured before leads";
    assert_eq!(by_seeds.to_string(), told);
    assert_eq!(found(&[]).pages, [0, 2]);
}

#[test]
fn a_page_that_no_link_shows_is_found_with_the_first_of_its_host() {
    let pages: [(&str, &[Page]); 5] = [
        ("http://a.test/", &[1]),
        ("http://b.test/", &[]),
        ("http://b.test/sitemap.xml", &[3]),
        ("http://b.test/3", &[]),
        ("http://b.test/feed.xml", &[3]),
    ];
    let crawled = crawled(&pages, 5, &["http://a.test/"]);
    let entry_points = EntryPoints::find(&crawled);
    assert_eq!(entry_points.pages, [0]);
    let with_host = [2, 4].map(|page| WithHost { page, first: 1 });
    assert_eq!(entry_points.with_host, with_host);
    let ready = ready(crawled, &Cache::none(), &mut unwatched);
    assert_eq!(ready.subject.web.links.successors(1), [2, 4]);
    assert_eq!(ready.subject.value.reachable(), 5);
    let outcome = run(&ready, &what_if(), &|_| ());
    // It is no link, and worth nothing to what it leads to.
    assert!(
        outcome.findings[0].contains("with 3 links"),
        "{:?}",
        outcome.findings
    );
    assert_eq!(cell(&outcome, "worth", "gaps too short"), &Cell::Count(0));
    let unlinked = ready.subject.value.of(2);
    assert!((unlinked - ready.subject.value.of(0)).abs() < 1e-9);
}

#[test]
fn one_server_takes_its_visits_one_after_another() {
    let pages: [(&str, &[Page]); 3] = [
        ("http://a.test/", &[1, 2]),
        ("http://a.test/1", &[]),
        ("http://a.test/2", &[]),
    ];
    let outcome = answer(crawled(&pages, 3, &["http://a.test/"]), &what_if());
    for order in Order::ALL {
        // robots.txt and three pages: three intervals, four visits, and at most one step of waiting for each.
        let Cell::Seconds(all) = cell(&outcome, order.name(), "time to 100 %") else {
            panic!("{order} is done");
        };
        assert!((17.0..=19.0).contains(all), "{order} takes {all} s");
        assert_eq!(
            cell(&outcome, order.name(), "gaps too short"),
            &Cell::Count(0)
        );
    }
    assert_eq!(outcome.tables[1].rows[0][3], Cell::Seconds(17.0));
    let bound = outcome
        .findings
        .iter()
        .find(|finding| finding.contains("bounds this"));
    assert!(bound.unwrap().contains("a.test"), "{bound:?}");
}

#[test]
fn what_the_crawl_did_is_a_line_of_its_own() {
    // The page that everybody links to was captured last.
    let pages: [(&str, &[Page]); 6] = [
        ("http://a.test/", &[1, 2, 3, 4, 5]),
        ("http://b.test/", &[5]),
        ("http://c.test/", &[5]),
        ("http://d.test/", &[5]),
        ("http://e.test/", &[5]),
        ("http://f.test/", &[0]),
    ];
    let outcome = answer(crawled(&pages, 6, &["http://a.test/"]), &what_if());
    let share = |order: &str| match cell(&outcome, order, "share after 2 visits") {
        Cell::Share(share) => *share,
        other => panic!("{other:?}"),
    };
    assert!(share(AS_CRAWLED) < share(BEST_POSSIBLE));
    assert_eq!(cell(&outcome, AS_CRAWLED, "time to 100 %"), &Cell::None);
    assert_eq!(outcome.tables[0].rows.len(), 6);
    for table in &outcome.tables {
        assert!(
            table
                .rows
                .iter()
                .all(|row| row.len() == table.columns.len())
        );
    }
    assert!(
        outcome
            .findings
            .iter()
            .any(|finding| finding.contains("the crawl had"))
    );
}

#[test]
fn an_empty_archive_has_an_answer_too() {
    let outcome = answer(crawled(&[], 0, &["http://a.test/"]), &what_if());
    assert!(
        outcome.findings[0].contains("0 captured pages"),
        "{:?}",
        outcome.findings
    );
    assert_eq!(outcome.figures.len(), 2);
}

#[test]
fn pages_that_were_never_captured_count_when_they_are_there() {
    let pages: [(&str, &[Page]); 3] = [
        ("http://a.test/", &[1, 2]),
        ("http://b.test/", &[]),
        ("http://c.test/only-linked", &[]),
    ];
    let outcome = answer(crawled(&pages, 2, &[]), &what_if());
    assert!(outcome.findings[0].contains("3 known pages, 2 of them captured"));
    let Cell::Share(all) = cell(&outcome, "worth", "share after 2 visits") else {
        panic!("two pages are visited");
    };
    assert!(*all < 1.0);
}

#[test]
fn the_same_question_has_the_same_answer_byte_for_byte() {
    let web = Generator::new(GeneratorConfig::new(3000, 7)).collect(&mut unwatched);
    let crawled = Crawled {
        captured: web.links.page_count(),
        web,
        seeds: Vec::new(),
        logged: None,
    };
    let mut what_if = what_if();
    what_if.schedule.candidates = 100;
    let told = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let outcome = pool.install(|| answer(crawled.clone(), &what_if));
        let tables: Vec<String> = outcome
            .tables
            .iter()
            .map(crate::outcome::Table::csv)
            .collect();
        let figures: Vec<String> = outcome
            .figures
            .iter()
            .map(|figure| figure.chart.svg())
            .collect();
        (serde_json::to_string(&outcome).unwrap(), tables, figures)
    };
    assert_eq!(told(1), told(2));
}
