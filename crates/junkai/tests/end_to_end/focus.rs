//! Focus, from seeds to search: on a web of sites of which a tenth hold data files, among decoys in two languages, exploring finds these sites, collecting brings their
//! files, searching finds them; politely, and through kills.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use std::time::Duration;

use junkai_testweb::TestWebConfig;
use serde::Deserialize;
use serde_json::Value;

use crate::support::{Dice, Running, Stage, junkai, run, wait_until};

const SITES: usize = 200;
/// Pages fetched by exploring, for each site.
const FETCHES_PER_SITE: usize = 6;
const INTERVAL: Duration = Duration::from_millis(20);

const CONFIG: &str = r#"
[crawl]
checkpoint_every = "200ms"
retry_delay = "100ms"

[politeness]
abort_slack = "0s"
"#;

/// What is so of a site.
#[derive(Deserialize)]
struct Truth {
    site: String,
    holds: bool,
    files: Vec<FileTruth>,
}

#[derive(Deserialize)]
struct FileTruth {
    url: String,
    title: String,
}

/// A web of sites, and what is so of them.
struct FocusStage {
    stage: Stage,
    truths: Vec<Truth>,
}

impl FocusStage {
    fn new(sites: usize) -> FocusStage {
        let still = TestWebConfig {
            change_interval: Duration::ZERO,
            ..TestWebConfig::default()
        };
        FocusStage::with(sites, still, CONFIG)
    }

    fn with(sites: usize, web: TestWebConfig, config: &str) -> FocusStage {
        let folder = tempfile::tempdir().unwrap();
        let truth = folder.path().join("truth.jsonl");
        let web = TestWebConfig {
            hosts: 0,
            focus_sites: sites,
            addresses: u32::try_from(sites).unwrap(),
            truth: Some(truth.clone()),
            ..web
        };
        let stage = Stage::in_folder(folder, web, config);
        let truths = fs::read_to_string(truth).unwrap();
        let truths = truths
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        fs::write(stage.path("seeds.txt"), stage.web.seeds().join("\n")).unwrap();
        FocusStage {
            truths: truths.collect(),
            stage,
        }
    }

    /// A command of focus that crawls this web.
    fn command(&self, name: &str) -> Command {
        let mut command = junkai();
        command.args(["focus", name, "--archive"]);
        command.arg(self.stage.archive());
        command.arg("--config").arg(self.stage.path("junkai.toml"));
        command.args(["--dns", &self.stage.web.dns().to_string()]);
        command.args(["--allow", "127.0.0.0/8", "--interval", "20ms", "--json"]);
        command
    }

    fn explore(&self) -> Command {
        let mut command = self.command("explore");
        command.arg("-i").arg(self.stage.path("seeds.txt"));
        let fetches = self.truths.len() * FETCHES_PER_SITE;
        command.args(["--fetches", &fetches.to_string()]);
        command
    }

    /// Lines of a file that focus wrote.
    fn lines(&self, name: &str) -> Vec<Value> {
        let path = self.stage.archive().join("focus").join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// How well the sites were told apart.
    fn sites_found(&self) -> Found {
        let verdicts = self.lines("sites.jsonl");
        let taken = verdicts.iter().filter(|verdict| verdict["holds"] == true);
        let taken = taken.map(|verdict| verdict["site"].as_str().unwrap().to_owned());
        let wanted = self.truths.iter().filter(|truth| truth.holds);
        Found::new(
            taken.collect(),
            wanted.map(|truth| truth.site.clone()).collect(),
        )
    }

    /// The wanted files of some sites.
    fn files_of(&self, sites: &BTreeSet<String>) -> BTreeSet<String> {
        let truths = self.truths.iter();
        let truths = truths.filter(|truth| sites.contains(&truth.site));
        let files = truths.flat_map(|truth| &truth.files);
        files.map(|file| file.url.clone()).collect()
    }

    /// How many of the wanted files are in the catalogue, and how many others.
    fn files_found(&self) -> Found {
        let entries = self.lines("catalogue.jsonl");
        let taken = entries
            .iter()
            .map(|entry| entry["url"].as_str().unwrap().to_owned());
        let wanted = self.truths.iter().flat_map(|truth| &truth.files);
        Found::new(
            taken.collect(),
            wanted.map(|file| file.url.clone()).collect(),
        )
    }
}

/// What was taken for wanted, and what is.
struct Found {
    taken: BTreeSet<String>,
    wanted: BTreeSet<String>,
}

impl Found {
    fn new(taken: BTreeSet<String>, wanted: BTreeSet<String>) -> Found {
        Found { taken, wanted }
    }

    fn right(&self) -> f64 {
        self.taken.intersection(&self.wanted).count() as f64
    }

    fn recall(&self) -> f64 {
        self.right() / self.wanted.len() as f64
    }

    fn precision(&self) -> f64 {
        self.right() / self.taken.len().max(1) as f64
    }
}

#[test]
fn sites_with_data_files_are_found_collected_and_searched() {
    let focus = FocusStage::new(SITES);
    run(focus.explore()).expect(0);
    let evidence = focus.lines("evidence.jsonl").len();
    println!("{evidence} fetches");
    assert!(SITES <= evidence, "every site is asked");
    assert!(evidence <= SITES * FETCHES_PER_SITE, "the budget is kept");
    let sites = focus.sites_found();
    println!(
        "sites: recall {:.3}, precision {:.3}",
        sites.recall(),
        sites.precision()
    );
    // Over the webs of eight seeds: every site and every file, none in vain, with 2.2 to 2.5 fetches a site.
    assert!(0.95 <= sites.recall(), "{:?}", sites.taken);
    assert!(0.95 <= sites.precision(), "{:?}", sites.taken);

    run(focus.command("collect")).expect(0);
    let files = focus.files_found();
    println!(
        "files: recall {:.3}, precision {:.3}",
        files.recall(),
        files.precision()
    );
    assert!(
        0.9 <= files.recall(),
        "{} of {}",
        files.taken.len(),
        files.wanted.len()
    );
    let collected = focus.files_of(&sites.taken);
    let missing: Vec<&String> = collected.difference(&files.taken).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(0.95 <= files.precision(), "{:?}", files.taken);

    assert_files_can_be_found(&focus, &files);
    assert_a_site_is_explained(&focus);
    let verdict = focus.stage.verdict(INTERVAL);
    assert!(verdict.is_polite(), "{verdict}");

    // What the archive has is not fetched again, and what was guessed in vain is not guessed again.
    let before = focus.stage.events().len();
    run(focus.command("collect")).expect(0);
    assert!(
        focus.stage.events()[before..].is_empty(),
        "{:?}",
        focus.stage.events().last()
    );
    assert_eq!(focus.files_found().taken, files.taken);
}

#[test]
fn sites_that_links_lead_to_are_explored_too() {
    let focus = FocusStage::new(SITES_KILLED);
    let mut explore = focus.command("explore");
    explore
        .arg("--sites-from-crawl")
        .arg(&focus.stage.web.seeds()[0]);
    let fetches = SITES_KILLED * FETCHES_PER_SITE;
    explore.args(["--fetches", &fetches.to_string()]);
    run(explore).expect(0);
    let evidence = focus.lines("evidence.jsonl");
    assert_eq!(evidence.len(), fetches, "the budget is kept");
    let explored: BTreeSet<&str> = evidence
        .iter()
        .map(|line| line["site"].as_str().unwrap())
        .collect();
    assert_eq!(
        explored.len(),
        SITES_KILLED,
        "every site was found by links"
    );
    // As many links from home as the tree of sites is deep would be six; each site counts from its own.
    let homes = evidence.iter().filter(|line| line["depth"] == 0);
    assert_eq!(homes.count(), SITES_KILLED);
    let sites = focus.sites_found();
    assert!(0.8 <= sites.recall(), "{:?}", sites.taken);
    assert!(0.9 <= sites.precision(), "{:?}", sites.taken);

    // The archive remembers what it was begun with.
    let mut further = junkai();
    further.args(["focus", "explore", "--json", "--archive"]);
    further.arg(focus.stage.archive());
    let fetches = fetches + SITES_KILLED;
    further.args(["--fetches", &fetches.to_string()]);
    run(further).expect(0);
    assert_eq!(focus.lines("evidence.jsonl").len(), fetches, "it goes on");
    let verdict = focus.stage.verdict(INTERVAL);
    assert!(verdict.is_polite(), "{verdict}");
}

/// Searching for the words of a file's title finds a file of that title.
fn assert_files_can_be_found(focus: &FocusStage, files: &Found) {
    let titles: BTreeMap<&str, &str> = focus
        .truths
        .iter()
        .flat_map(|truth| &truth.files)
        .map(|file| (file.url.as_str(), file.title.as_str()))
        .collect();
    for url in files.taken.intersection(&files.wanted).step_by(37) {
        let mut search = junkai();
        search.args([
            "focus",
            "search",
            titles[url.as_str()],
            "--json",
            "--archive",
        ]);
        search.arg(focus.stage.archive());
        let found = run(search).expect(0);
        let has_title = found.out.lines().any(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let found = line["url"].as_str().unwrap_or_default();
            titles.get(found) == titles.get(url.as_str())
        });
        assert!(has_title, "{url}: {}", found.out);
    }
}

fn assert_a_site_is_explained(focus: &FocusStage) {
    let truth = focus.truths.iter().find(|truth| truth.holds).unwrap();
    let mut explain = junkai();
    explain.args(["focus", "explain", &truth.site, "--json", "--archive"]);
    explain.arg(focus.stage.archive());
    let explained = run(explain).expect(0);
    assert!(!explained.out.trim().is_empty());
    let lines: Vec<Value> = explained
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for line in &lines {
        assert_eq!(line["site"], truth.site.as_str());
    }
    let verdicts = focus.lines("sites.jsonl");
    let verdict = verdicts
        .iter()
        .find(|verdict| verdict["site"] == truth.site.as_str());
    assert_eq!(lines.first(), verdict, "first what it is taken for");
    assert!(1 < lines.len(), "then its pages");
    let mut explain = junkai();
    explain.args(["focus", "explain", &truth.site, "--archive"]);
    explain.arg(focus.stage.archive());
    let explained = run(explain).expect(0);
    let first = explained.out.lines().next().unwrap();
    for part in ["what is wanted", "threshold 0.5", "wrong with probability"] {
        assert!(first.contains(part), "{first}");
    }
}

/// Fewer sites, and a bound on how fast pages can be had: so no machine is done before it is killed.
const SITES_KILLED: usize = 60;
const KILLS: usize = 4;

#[test]
fn exploring_and_collecting_go_on_after_kills() {
    let mut dice = Dice::new();
    // So that it does not end before its budget.
    let worthwhile = "[focus]\nworth_min = 0.0\n";
    let focus = FocusStage::with(SITES_KILLED, TestWebConfig::default(), worthwhile);
    for _ in 0..KILLS {
        kill_in_the_middle(&focus, focus.explore(), &mut dice);
    }
    run(focus.explore()).expect(0);
    let evidence = focus.lines("evidence.jsonl");
    let pages: BTreeSet<&str> = evidence
        .iter()
        .map(|line| line["url"].as_str().unwrap())
        .collect();
    assert_eq!(
        pages.len(),
        SITES_KILLED * FETCHES_PER_SITE,
        "nothing is lost"
    );
    assert_eq!(evidence.len(), pages.len(), "nothing counts twice");

    for _ in 0..KILLS {
        kill_in_the_middle(&focus, focus.command("collect"), &mut dice);
    }
    run(focus.command("collect")).expect(0);
    let files = focus.files_found();
    let wanted = focus.files_of(&focus.sites_found().taken);
    let missing: Vec<&String> = wanted.difference(&files.taken).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let verdict = focus.stage.verdict(INTERVAL);
    assert!(verdict.is_polite(), "{verdict}");
}

/// Kills a run when it has visited some pages; it may be done before.
fn kill_in_the_middle(focus: &FocusStage, command: Command, dice: &mut Dice) {
    let before = focus.stage.web.counters().requests;
    let mut running = Running::start(command);
    // Any number below sixty, more or less.
    let pages = 5 + dice.time_below(Duration::from_mins(1)).as_secs();
    wait_until("some pages are visited", || {
        before + pages <= focus.stage.web.counters().requests || !running.is_running()
    });
    running.kill();
}

/// How much faster than real time the web and the crawl go that keeps files fresh.
const CLOCK_SPEED: f64 = 40_000.0;

#[test]
fn a_crawl_keeps_collected_files_fresh_and_leaves_other_sites_alone() {
    let origin = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    let web = TestWebConfig {
        clock_speed: CLOCK_SPEED,
        clock_origin: Some(origin),
        ..TestWebConfig::default()
    };
    let config = format!("[clock]\nspeed = {CLOCK_SPEED:?}\norigin = {origin:?}\n");
    let focus = FocusStage::with(40, web, &config);
    run(focus.explore()).expect(0);
    run(focus.command("collect")).expect(0);
    let wanted = focus.sites_found().taken;
    let before = focus.stage.exchanges().len();

    let mut crawl = focus.stage.crawl_on();
    crawl.args(["--interval", "20ms", "--quiet"]);
    let crawl = Running::start(crawl);
    let is_file = |url: &str| {
        let ending = url.rsplit('.').next().unwrap_or_default();
        ["csv", "xlsx"].contains(&ending)
    };
    wait_until("a data file has changed", || {
        let events = focus.stage.events();
        events.iter().any(|event| {
            let change = event.change.as_deref().unwrap_or_default();
            is_file(&event.url) && change.starts_with("changed")
        })
    });
    crawl.interrupt();
    assert_eq!(crawl.wait().code, Some(11));
    let visited = focus.stage.exchanges();
    for exchange in &visited[before..] {
        assert!(wanted.contains(&exchange.host), "{}", exchange.host);
    }

    run(focus.command("collect")).expect(0);
    let entries = focus.lines("catalogue.jsonl");
    let versions = |entry: &Value| entry["versions"].as_array().unwrap().len();
    assert!(entries.iter().any(|entry| 1 < versions(entry)));
}
