//! Exported: the graph that `junkai export graph` makes of an archive has exactly the links that the crawl followed.
//!
//! The ground truth is what the web serves, and what the log says of each visit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use std::process::Command;

use junkai_simulation::graph::{LoadOptions, WebGraph, load, unwatched};
use junkai_testweb::{FolderConfig, GraphConfig, TestWebConfig};
use serde_json::Value;

use crate::support::{Finished, Stage, junkai, run};

const PAGES: u32 = 60;
const PAGES_PER_HOST: u32 = 7;

/// Links of each page in the order of the page: a circle through most pages in strides, a few that jump, loops, and pages
/// without links.
fn served() -> BTreeMap<u32, Vec<u32>> {
    let circle = PAGES - 3;
    (0..circle)
        .map(|page| {
            let mut targets = vec![
                (page * page + 5) % PAGES,
                (page + 11) % circle,
                page / 2,
                PAGES - 1 - page % 3,
            ];
            if page % 5 == 0 {
                targets.push(page);
            }
            let mut seen = BTreeSet::new();
            targets.retain(|target| seen.insert(*target));
            (page, targets)
        })
        .collect()
}

fn graph_web(folder: &Path) -> TestWebConfig {
    let mut edges = String::new();
    for (source, targets) in served() {
        for target in targets {
            writeln!(edges, "{source}\t{target}").unwrap();
        }
    }
    let path = folder.join("edges.tsv");
    fs::write(&path, edges).unwrap();
    TestWebConfig {
        hosts: 0,
        addresses: 4,
        page_bytes: 2000,
        graph: Some(GraphConfig {
            path,
            urls: None,
            pages_per_host: NonZeroU32::new(PAGES_PER_HOST).unwrap(),
        }),
        ..TestWebConfig::default()
    }
}

/// A crawl of everything, one visit after another: so the order of captures is that of visits.
fn crawl(stage: &Stage, seeds: &[String]) {
    let mut crawl = stage.crawl();
    crawl.args(seeds);
    crawl.args(["--scope", "any", "--interval", "0s", "--quiet"]);
    crawl.args(["--concurrency", "1", "--workers", "1"]);
    run(crawl).expect(0);
}

fn export(archive: &Path, flags: &[&str]) -> Command {
    let mut export = junkai();
    export.args(["export", "graph"]).arg(archive).args(flags);
    export
}

fn loaded(folder: &Path) -> WebGraph {
    load(folder, &LoadOptions::default(), &mut unwatched).unwrap()
}

fn url(graph: &WebGraph, page: u32) -> &str {
    graph.urls.as_ref().unwrap().get(page)
}

/// The URLs that a page links to, in order.
fn targets(graph: &WebGraph, page: u32) -> Vec<&str> {
    let targets = graph.links.successors(page).iter();
    targets.map(|&target| url(graph, target)).collect()
}

#[test]
fn the_exported_graph_of_a_crawl_is_the_graph_that_was_served() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::new(graph_web(folder.path()), "");
    crawl(&stage, &stage.web.seeds());
    let exported = run(export(&stage.archive(), &["--json"])).expect(0);
    let summary: Value = serde_json::from_str(&exported.out).unwrap();
    assert_eq!(
        (&summary["pages"], &summary["captured"]),
        (&PAGES.into(), &PAGES.into())
    );
    assert_eq!(summary["servers"], 4);

    let served_url = |page: u32| {
        let host = format!("h{}.graph.test", page / PAGES_PER_HOST);
        stage.url(&host, &format!("/p{page}"))
    };
    let number_of: BTreeMap<String, u32> =
        (0..PAGES).map(|page| (served_url(page), page)).collect();
    let graph = loaded(&stage.archive().join("exports/graph"));
    let served = served();
    for page in graph.links.pages() {
        let expected: Vec<String> = served
            .get(&number_of[url(&graph, page)])
            .into_iter()
            .flatten()
            .map(|&target| served_url(target))
            .collect();
        assert_eq!(targets(&graph, page), expected, "of {}", url(&graph, page));
    }
    let links: usize = served.values().map(Vec::len).sum();
    assert_eq!(summary["links"], links);

    // Pages are numbered as servers saw them asked for.
    let visits: Vec<String> = stage
        .exchanges()
        .into_iter()
        .map(|seen| seen.url)
        .filter(|url| !url.ends_with("/robots.txt"))
        .collect();
    let numbered: Vec<&str> = graph.urls.as_ref().unwrap().iter().collect();
    assert_eq!(numbered, visits);
    let hosts = loaded(&stage.archive().join("exports/graph/hosts"));
    assert_eq!(hosts.hosts.count(), PAGES.div_ceil(PAGES_PER_HOST));
    assert_eq!(hosts.hosts.server_count(), 4);
}

#[test]
fn pages_that_share_a_payload_lead_on_from_where_they_are() {
    let site = tempfile::tempdir().unwrap();
    let filling = "Twins are alike. ".repeat(100);
    let twin = format!("<!DOCTYPE html><p>{filling}<a href=\"next.html\">next</a>");
    for (path, text) in [
        (
            "index.html",
            "<!DOCTYPE html><a href=a/twin.html>a</a><a href=b/twin.html#x>b</a><a rel=nofollow href=never.html>never</a>",
        ),
        ("a/twin.html", &*twin),
        ("b/twin.html", &*twin),
        (
            "a/next.html",
            "<!DOCTYPE html><a href=../index.html>back</a>",
        ),
        (
            "b/next.html",
            "<!DOCTYPE html><a href=../gone.html>gone</a>",
        ),
        ("never.html", "<!DOCTYPE html>"),
    ] {
        let file = site.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let web = TestWebConfig {
        hosts: 0,
        folders: vec![FolderConfig {
            host: "twins.test".to_owned(),
            path: site.path().to_owned(),
        }],
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    crawl(&stage, &[stage.url("twins.test", "/index.html")]);
    let out = stage.path("graph");
    let exported = run(export(
        &stage.archive(),
        &["--out", out.to_str().unwrap(), "--json"],
    ))
    .expect(0);
    let summary: Value = serde_json::from_str(&exported.out).unwrap();
    assert_eq!(summary["report"]["revisits"], 1, "{}", exported.out);
    let graph = loaded(&out);
    let origin = stage.url("twins.test", "");
    let links: BTreeMap<&str, Vec<&str>> = graph
        .links
        .pages()
        .map(|page| (&url(&graph, page)[origin.len()..], targets(&graph, page)))
        .map(|(page, list)| (page, list.iter().map(|url| &url[origin.len()..]).collect()))
        .collect();
    let expected: BTreeMap<&str, Vec<&str>> = BTreeMap::from([
        ("/index.html", vec!["/a/twin.html", "/b/twin.html"]),
        ("/a/twin.html", vec!["/a/next.html"]),
        ("/b/twin.html", vec!["/b/next.html"]),
        ("/a/next.html", vec!["/index.html"]),
        ("/b/next.html", vec!["/gone.html"]),
        ("/gone.html", vec![]),
    ]);
    assert_eq!(links, expected);
}

#[test]
fn every_visit_of_a_crawl_came_by_a_link_and_every_link_was_visited() {
    let web = TestWebConfig {
        hosts: 5,
        addresses: 5,
        pages: 40,
        page_bytes: 4000,
        seeds: 1,
        misbehaviours: [
            "host2.test=redirect-loop:3",
            "host3.test=robots-redirect:host4.test",
        ]
        .map(|rule| rule.parse().unwrap())
        .to_vec(),
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    crawl(&stage, &stage.web.seeds());
    run(export(&stage.archive(), &[])).expect(0);
    let graph = loaded(&stage.archive().join("exports/graph"));
    let links: BTreeSet<(&str, &str)> = graph
        .links
        .pages()
        .flat_map(|page| {
            targets(&graph, page)
                .into_iter()
                .map(move |target| (page, target))
        })
        .map(|(page, target)| (url(&graph, page), target))
        .collect();
    assert!(100 < links.len(), "there is something to compare");

    let events = stage.events();
    let visited: BTreeSet<&str> = events.iter().map(|event| &*event.url).collect();
    for (page, target) in &links {
        assert!(
            visited.contains(target),
            "{page} links to {target}, which was not visited"
        );
    }
    for event in &events {
        // robots.txt files are no pages, and the sitemaps that they name have no page that links to them.
        let is_of_robots = event.hops.ends_with('P') || event.url.ends_with("/sitemap.xml");
        if !event.via.is_empty() && !is_of_robots {
            let link = (&*event.via, &*event.url);
            assert!(
                links.contains(&link),
                "no link {link:?}, hops {}",
                event.hops
            );
        }
    }
}

#[test]
fn the_export_says_what_it_did_and_refuses_what_it_must_not_do() {
    let nowhere = tempfile::tempdir().unwrap();
    let archive = nowhere.path().to_str().unwrap();
    let refused = run(export(nowhere.path(), &[])).expect(1);
    assert!(refused.err.contains("no archive at"), "{}", refused.all());
    assert_eq!(fs::read_dir(nowhere.path()).unwrap().count(), 0);

    // The crawl has come to nothing so far.
    fs::create_dir(nowhere.path().join("archive")).unwrap();
    let empty = run(export(nowhere.path(), &[])).expect(0);
    for text in [
        "exports/graph",
        "pages ",
        "links ",
        "hosts ",
        &format!("junkai what-if --archive {archive}"),
    ] {
        assert!(empty.out.contains(text), "{text}\n{}", empty.all());
    }
    run(export(nowhere.path(), &["--hosts"])).expect(0);

    let occupied = nowhere.path().join("occupied");
    fs::create_dir(&occupied).unwrap();
    fs::write(occupied.join("thesis.tex"), "ten years of work").unwrap();
    let to = |flags: &[&str]| -> Finished {
        let mut command = export(nowhere.path(), flags);
        command.arg("--out").arg(&occupied);
        run(command)
    };
    let refused = to(&[]).expect(1);
    assert!(refused.err.contains("thesis.tex"), "{}", refused.all());
    assert!(refused.err.contains("--force"), "{}", refused.all());
    to(&["--force"]).expect(0);
    to(&["--captured"]).expect(0);
    assert!(occupied.join("thesis.tex").exists());
}
