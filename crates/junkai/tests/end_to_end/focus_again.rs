//! Focus, one command after another on one archive: what a crawl without focus fetched is listed, a link that was out of bounds is asked for when it no longer is, verdicts
//! stay as exploring made them, another model is refused, and of a site that cannot be reached it is said why.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::collecting::{Folders, html, table};
use crate::support::{junkai, run};
use crate::training::{folder_of_sites, train};

const HOST: &str = "office.test";
const ARCHIVE: &str = "archive";

/// A home page that links to a table and to a chain of pages, with another table at its end.
fn fill(_host: &str, folder: &Path) {
    let write = |name: &str, text: String| fs::write(folder.join(name), text).unwrap();
    let names = ["North", "South", "West"].map(str::to_owned);
    let page = |paths: &[&str]| {
        let links: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        html("Population", &links)
    };
    write("index.html", page(&["/near.csv", "/a.html"]));
    write("a.html", page(&["/b.html"]));
    write("b.html", page(&["/c.html"]));
    write("c.html", page(&["/far.csv"]));
    for file in ["near.csv", "far.csv", "new.csv"] {
        write(file, table("Region", &names));
    }
}

fn folders() -> Folders {
    Folders::new(&[HOST], fill)
}

/// A crawl without focus into the archive.
fn plain(folders: &Folders) -> Command {
    let mut crawl = folders.stage.crawl_into(&folders.stage.path(ARCHIVE));
    crawl.args(["--interval", "20ms", "--quiet"]);
    crawl
}

fn paths(folders: &Folders) -> BTreeSet<String> {
    let listed = folders.listed(ARCHIVE).into_iter();
    let origin = folders.stage.url(HOST, "");
    listed.map(|url| url.replace(&origin, "")).collect()
}

fn set(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[test]
fn what_a_crawl_without_focus_fetched_is_listed_and_so_is_what_it_found_later() {
    let folders = folders();
    let home = folders.stage.url(HOST, "/");
    let mut crawl = plain(&folders);
    crawl.arg(&home);
    run(crawl).expect(0);
    let refused = run(folders.command("collect", ARCHIVE)).expect(1).all();
    assert!(refused.contains("nothing was explored"), "{refused}");
    let before = folders.stage.exchanges().len();
    run(folders.collect(ARCHIVE)).expect(0);
    assert_eq!(paths(&folders), set(&["/near.csv", "/far.csv"]));
    assert_eq!(folders.asked(HOST, before), [], "the archive has it all");
    let files = folders.lines(ARCHIVE, "files.jsonl");
    let far = files.iter().find(|file| file["link_text"] == "far.csv");
    let page = folders.stage.url(HOST, "/c.html");
    assert_eq!(far.unwrap()["page"], page.as_str(), "{files:?}");

    let index = folders.stage.path(HOST).join("index.html");
    fs::write(index, html("Population", &["/new.csv".to_owned()])).unwrap();
    let mut revisit = junkai();
    revisit.args(["revisit", &home, "--archive"]);
    revisit.arg(folders.stage.path(ARCHIVE));
    run(revisit).expect(0);
    run(plain(&folders)).expect(0);
    let before = folders.stage.exchanges().len();
    run(folders.collect(ARCHIVE)).expect(0);
    assert_eq!(paths(&folders), set(&["/near.csv", "/far.csv", "/new.csv"]));
    assert_eq!(folders.asked(HOST, before), [], "the archive has it all");
    let files = folders.lines(ARCHIVE, "files.jsonl");
    assert_eq!(files.len(), 3, "each is noted once: {files:?}");
}

#[test]
fn a_link_that_was_out_of_bounds_is_asked_for_when_it_no_longer_is() {
    let folders = folders();
    let collect = |depth: &str| {
        let mut collect = folders.collect(ARCHIVE);
        collect.args(["--depth", depth]);
        run(collect).expect(0)
    };
    collect("1");
    assert_eq!(paths(&folders), set(&["/near.csv"]));
    let before = folders.stage.exchanges().len();
    let told = collect("20");
    assert!(told.all().contains("scope.depth_max"), "{}", told.all());
    assert_eq!(paths(&folders), set(&["/near.csv", "/far.csv"]));
    let asked: Vec<String> = folders
        .asked(HOST, before)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert_eq!(asked, ["/b.html", "/c.html", "/far.csv"], "each once");
    let before = folders.stage.exchanges().len();
    collect("20");
    assert_eq!(folders.asked(HOST, before), []);
}

#[test]
fn what_exploring_found_beyond_a_bound_is_collected_without_it() {
    let folders = folders();
    let mut explore = folders.command("explore", ARCHIVE);
    explore.args(["--threshold", "0.0", "--fetches", "2"]);
    explore.arg(folders.stage.url(HOST, "/"));
    run(explore).expect(0);
    let mut bounded = folders.command("collect", ARCHIVE);
    bounded.args(["--depth", "0"]);
    run(bounded).expect(0);
    assert_eq!(paths(&folders), set(&[]));
    // By its name alone, it is where exploring found it.
    let mut collect = folders.command("collect", ARCHIVE);
    collect.args(["--site", HOST]);
    let told = run(collect).expect(0);
    assert!(!told.all().contains("nothing of"), "{}", told.all());
    assert_eq!(paths(&folders), set(&["/near.csv", "/far.csv"]));
}

#[test]
fn verdicts_stay_as_exploring_made_them_and_sites_that_cannot_be_reached_are_named() {
    let folders = folders();
    let explore = |threshold: &str| {
        let mut explore = folders.command("explore", ARCHIVE);
        explore.args(["--threshold", threshold, "--fetches", "4"]);
        explore.arg(folders.stage.url(HOST, "/"));
        explore.arg(folders.stage.url("nowhere.invalid", "/"));
        run(explore).expect(0);
        let sites = folders.lines(ARCHIVE, "sites.jsonl");
        let of = |name: &str| sites.iter().find(|site| site["site"] == name).cloned();
        (of(HOST).unwrap(), of("nowhere.invalid").unwrap())
    };
    let collected = || {
        let collect = run(folders.command("collect", ARCHIVE)).expect(0);
        let last = collect.out.lines().last().unwrap();
        let last: Value = serde_json::from_str(last).unwrap();
        last["summary"]["progress"]["focus_sites"].as_u64().unwrap()
    };
    let (here, nowhere) = explore("1.0");
    assert_eq!(
        (&here["holds"], &here["unknown"]),
        (&false.into(), &Value::Null)
    );
    assert_eq!(nowhere["holds"], false);
    assert_eq!(nowhere["fetches"], 0);
    let why = nowhere["unknown"].as_str().unwrap();
    assert!(why.starts_with("http://nowhere.invalid"), "{why}");
    assert_eq!(collected(), 0, "whatever junkai.toml says");
    let (here, _) = explore("0.0");
    assert_eq!(here["holds"], true);
    assert_eq!(collected(), 1);

    let mut explain = junkai();
    explain.args(["focus", "explain", HOST, "--archive"]);
    explain.arg(folders.stage.path(ARCHIVE));
    let explained = run(explain).expect(0);
    let first = explained.out.lines().next().unwrap();
    for part in [
        "is taken to hold",
        "threshold 0)",
        "wrong with probability",
        "by ",
    ] {
        assert!(first.contains(part), "{part}: {first}");
    }
}

#[test]
fn an_archive_keeps_to_the_model_that_it_was_explored_by() {
    let examples = folder_of_sites();
    train(examples.path(), &["labels.csv", "--from", "sites"]).expect(0);
    let model = examples.path().join("labels.model");
    let folders = folders();
    let explore = |archive: &str, has_model: bool| {
        let mut explore = folders.command("explore", archive);
        if has_model {
            explore.arg("--model").arg(&model);
        }
        explore.arg(folders.stage.url(HOST, "/"));
        run(explore)
    };
    explore(ARCHIVE, false).expect(0);
    let before = folders.stage.exchanges().len();
    let refused = explore(ARCHIVE, true).expect(1).all();
    for part in ["labels.model", "wanted.model", "--archive"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    assert_eq!(folders.asked(HOST, before), [], "nothing was fetched");

    explore("births", true).expect(0);
    fs::remove_file(&model).unwrap();
    run(folders.command("collect", "births")).expect(0);
    let absent = explore("other", true).expect(1).all();
    assert!(absent.contains("there is no model"), "{absent}");
}
