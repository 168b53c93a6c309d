//! `junkai changes`: what is new, changed and gone is told as the web changed, by the log of a crawl that goes on.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use junkai_testweb::{FolderConfig, TestWebConfig};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Finished, Running, Stage, junkai, run, wait_until};

const HOST: &str = "site.test";
/// Hours of the crawl's clock, and of the web's, in a second: pages are visited every hour or two.
const SPEED: f64 = 3600.0;
const OFTEN: &str = "[revisit]\nfirst_min = \"1h\"\nfirst_max = \"1h\"\ninterval_min = \"1h\"\ninterval_spread_min = \"1h\"\ninterval_max = \"2h\"\n";

fn changes(stage: &Stage, arguments: &[&str]) -> Finished {
    let mut command = junkai();
    command
        .args(["changes", "--archive"])
        .arg(stage.archive())
        .args(arguments);
    run(command)
}

/// What is told of each page, by its path.
fn told(stage: &Stage, arguments: &[&str]) -> BTreeMap<String, String> {
    let out = changes(stage, &[arguments, &["--json"]].concat())
        .expect(0)
        .out;
    let lines = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    lines
        .map(|line| {
            let path = text(&line["url"]).splitn(4, '/').nth(3).unwrap().to_owned();
            (path, text(&line["what"]))
        })
        .collect()
}

/// A site in a folder that changes while we look.
struct Site {
    folder: TempDir,
    stage: Stage,
}

impl Site {
    fn new() -> Site {
        let folder = tempfile::tempdir().unwrap();
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let origin = since_1970.as_secs_f64().floor();
        let web = TestWebConfig {
            hosts: 0,
            folders: vec![FolderConfig {
                host: HOST.to_owned(),
                path: folder.path().to_owned(),
            }],
            clock_speed: SPEED,
            clock_origin: Some(origin),
            ..TestWebConfig::default()
        };
        let clock = format!("[clock]\nspeed = {SPEED:?}\norigin = {origin:?}\n");
        let stage = Stage::new(web, &[OFTEN, &clock].concat());
        Site { folder, stage }
    }

    fn home(&self, names: &[&str]) {
        let links = names
            .iter()
            .map(|name| format!("<a href={name}.html>{name}</a> "));
        let home: String = links.collect();
        fs::write(self.folder.path().join("index.html"), home).unwrap();
    }

    fn page(&self, name: &str, text: &str) {
        let text = format!("<html><body><p>{}</p></body></html>", text.repeat(100));
        fs::write(self.folder.path().join(format!("{name}.html")), text).unwrap();
    }

    /// Crawls until the log says of each path that a visit found such a change, or any visit at all.
    fn crawl_until(&self, expected: &[(&str, &str)]) {
        let mut crawl = self.stage.crawl_on();
        crawl.arg(self.stage.url(HOST, "/"));
        crawl.args(["--scope", "any", "--interval", "0s", "--quiet"]);
        let crawl = Running::start(crawl);
        wait_until("all of it is seen", || {
            let events = self.stage.events();
            expected.iter().all(|(path, change)| {
                events.iter().any(|event| {
                    let found = event.change.as_deref().unwrap_or_default();
                    event.url.ends_with(path) && found.starts_with(change)
                })
            })
        });
        crawl.interrupt();
        crawl.wait().expect(11);
    }
}

#[test]
fn pages_that_are_new_changed_and_gone_are_told_once() {
    let site = Site::new();
    let stage = &site.stage;
    site.home(&["still", "changes", "goes"]);
    for name in ["still", "changes", "goes"] {
        site.page(name, &format!("This is the page {name}. "));
    }
    site.crawl_until(&[
        ("/still.html", "same"),
        ("/changes.html", "same"),
        ("/goes.html", "same"),
    ]);
    let first = told(stage, &["--since", "10years"]);
    assert_eq!(first.len(), 4, "{first:?}");
    assert!(first.values().all(|what| what == "new"), "{first:?}");

    let last = stage.events().iter().map(|event| event.time).max();
    let since = (last.unwrap() + Duration::from_millis(1)).to_string();
    site.home(&["still", "changes", "goes", "new"]);
    site.page("new", "Something new. ");
    site.page(
        "changes",
        "Quite another text by now, and not a word is left. ",
    );
    fs::remove_file(site.folder.path().join("goes.html")).unwrap();
    site.crawl_until(&[
        ("/", "changed"),
        ("/changes.html", "changed"),
        ("/goes.html", "gone"),
        ("/new.html", ""),
    ]);

    let second = told(stage, &["--since", &since]);
    let expected = [
        ("", "changed"),
        ("changes.html", "changed"),
        ("goes.html", "gone"),
        ("new.html", "new"),
    ];
    let expected = expected.map(|(path, what)| (path.to_owned(), what.to_owned()));
    assert_eq!(second, BTreeMap::from(expected));
    assert_eq!(
        told(stage, &["--since", "10years", "--until", &since]),
        first
    );
    assert!(told(stage, &["--since", "10years", "--host", "other.test"]).is_empty());
    assert_eq!(told(stage, &["--since", &since, "--host", HOST]), second);
    let table = changes(stage, &["--since", &since]).expect(0).out;
    assert!(table.contains("1 new, 2 changed, 1 gone, in "), "{table}");
    let is_gone = |line: &str| line.starts_with("gone ") && line.ends_with("/goes.html");
    assert!(table.lines().any(is_gone), "{table}");
}

#[test]
fn a_span_without_time_and_a_folder_without_archive_are_refused_with_a_hint() {
    let site = Site::new();
    site.home(&[]);
    site.crawl_until(&[("/", "")]);
    let wrong = changes(&site.stage, &["--since", "1h", "--until", "2h"]).expect(2);
    assert!(wrong.err.contains("how long ago"), "{}", wrong.all());
    let mut nowhere = junkai();
    nowhere.args(["changes", "--archive", "/nowhere"]);
    assert!(run(nowhere).expect(1).err.contains("junkai crawl URL"));
}
