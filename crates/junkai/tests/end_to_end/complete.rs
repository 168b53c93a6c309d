//! Complete: a site of real pages is crawled to the last URL that links lead to, none missed and none fetched twice.
//!
//! The ground truth is `reachable.py`, which reads the files with the HTML parser of Python's library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use junkai_testweb::{FolderConfig, TestWebConfig};

use crate::support::{Stage, python, run};

const HOST: &str = "manual.test";

#[test]
fn a_manual_is_crawled_to_its_last_page_and_nothing_is_fetched_twice() {
    let folder = manual();
    let web = TestWebConfig {
        hosts: 0,
        folders: vec![FolderConfig {
            host: HOST.to_owned(),
            path: folder.clone(),
        }],
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "host", "--interval", "0s", "--quiet"]);
    let crawled = run(crawl).expect(0);
    assert!(
        crawled.out.contains("The crawl is complete"),
        "{}",
        crawled.all()
    );

    let mut fetched: BTreeMap<String, usize> = BTreeMap::new();
    for seen in stage.exchanges() {
        *fetched.entry(seen.url).or_default() += 1;
    }
    assert_eq!(fetched.remove(&stage.url(HOST, "/robots.txt")), Some(1));
    let reachable = reachable(&folder, &stage.url(HOST, ""));
    assert!(800 < reachable.len(), "the manual is there");
    let missed: Vec<&String> = reachable
        .iter()
        .filter(|url| !fetched.contains_key(*url))
        .collect();
    assert!(missed.is_empty(), "missed: {missed:#?}");
    let made_up: Vec<&String> = fetched
        .keys()
        .filter(|url| !reachable.contains(url))
        .collect();
    assert!(made_up.is_empty(), "no link leads to {made_up:#?}");
    fetched.retain(|_, times| *times != 1);
    assert!(fetched.is_empty(), "fetched more than once: {fetched:#?}");
}

/// The pages of the documentation package.
fn manual() -> PathBuf {
    let docs = std::env::var_os("JUNKAI_DOCS").expect(
        "JUNKAI_DOCS must name the unpacked Debian package apache2-doc: run `cargo xtask test`, which sets it up",
    );
    Path::new(&docs).join("usr/share/doc/apache2-doc/manual")
}

/// What links lead to, sorted.
fn reachable(folder: &Path, origin: &str) -> Vec<String> {
    let mut oracle = python();
    oracle.args(["-c", include_str!("reachable.py")]);
    oracle.arg(folder).arg(origin);
    let found = run(oracle).expect(0);
    let mut urls: Vec<String> = found.out.lines().map(str::to_owned).collect();
    urls.sort_unstable();
    urls
}
