//! Collecting from a statistical office: data files that no page was seen to link to are asked for where like pages name theirs alike, and then fewer fetches
//! bring most of them; politely, within robots.txt, and through kills. Sites are taken from their home pages on, and depth counts from there.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use junkai_testweb::{FolderConfig, TestWebConfig};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Dice, Running, Stage, junkai, run, wait_until};

const INTERVAL: Duration = Duration::from_millis(20);
/// Every site is taken to hold what is wanted: these sites are small.
const CONFIG: &str = r#"
[crawl]
checkpoint_every = "200ms"
retry_delay = "100ms"

[politeness]
abort_slack = "0s"

[focus]
threshold = 0.0
"#;
const OFFICE: &str = "office.test";
const AREAS: usize = 12;
const PLACES_PER_AREA: usize = 15;
/// One place in so many has a page, but no file.
const WITHOUT_FILE_EVERY: usize = 31;

/// A web of folders, and an archive.
pub(crate) struct Folders {
    pub(crate) stage: Stage,
}

impl Folders {
    /// Serves these hosts; `fill` writes the files of each into its folder.
    pub(crate) fn new(hosts: &[&str], fill: impl Fn(&str, &Path)) -> Folders {
        let folder = TempDir::new().unwrap();
        let folders = hosts.iter().map(|host| {
            let path = folder.path().join(host);
            fs::create_dir(&path).unwrap();
            fill(host, &path);
            FolderConfig {
                host: (*host).to_owned(),
                path,
            }
        });
        let web = TestWebConfig {
            hosts: 0,
            folders: folders.collect(),
            ..TestWebConfig::default()
        };
        Folders {
            stage: Stage::in_folder(folder, web, CONFIG),
        }
    }

    /// A command of focus that crawls this web into this archive.
    pub(crate) fn command(&self, name: &str, archive: &str) -> Command {
        let mut command = junkai();
        command.args(["focus", name, "--archive"]);
        command.arg(self.stage.path(archive));
        command.arg("--config").arg(self.stage.path("junkai.toml"));
        command.args(["--dns", &self.stage.web.dns().to_string()]);
        command.args(["--allow", "127.0.0.0/8", "--interval", "20ms", "--json"]);
        command
    }

    pub(crate) fn collect(&self, archive: &str) -> Command {
        let mut command = self.command("collect", archive);
        command.args(["--site", &self.stage.url(OFFICE, "/")]);
        command
    }

    pub(crate) fn lines(&self, archive: &str, name: &str) -> Vec<Value> {
        let path = self.stage.path(archive).join("focus").join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The files that the catalogue of an archive lists.
    pub(crate) fn listed(&self, archive: &str) -> BTreeSet<String> {
        let entries = self.lines(archive, "catalogue.jsonl");
        let urls = entries.iter().map(|entry| entry["url"].as_str().unwrap());
        urls.map(str::to_owned).collect()
    }

    /// The paths that the web was asked for at a host from this exchange on, robots.txt left out, each with its status.
    pub(crate) fn asked(&self, host: &str, from: usize) -> Vec<(String, u16)> {
        let origin = self.stage.url(host, "");
        let exchanges = self.stage.exchanges();
        let seen = exchanges[from..].iter();
        seen.filter(|seen| seen.host == host && !seen.url.ends_with("/robots.txt"))
            .map(|seen| (seen.url.replace(&origin, ""), seen.status))
            .collect()
    }
}

/// The name of a place, as pages and lists show it; one in 29 is one of which robots.txt keeps the file out.
fn place(number: usize) -> String {
    const FIRST: [&str; 8] = [
        "Amber", "Birch", "Cedar", "Dover", "Eller", "Firth", "Glen", "Haven",
    ];
    let prefix = if number % 29 == 5 { "Z" } else { "" };
    format!("{prefix}{}{number} Valley", FIRST[number % FIRST.len()])
}

/// A name as addresses have it.
fn address(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}

/// A table of numbers by year, one row for each name.
pub(crate) fn table(title: &str, names: &[String]) -> String {
    let mut text = format!("{title},2018,2019,2020,2021,2022\n");
    for (row, name) in names.iter().enumerate() {
        text += name;
        for year in 0..5 {
            write!(text, ",{}", 40_000 + 137 * row * (year + 3) + 911 * year).unwrap();
        }
        text += "\n";
    }
    text
}

pub(crate) fn html(title: &str, links: &[String]) -> String {
    let items = links.iter().map(|link| {
        let text = link.rsplit('/').next().unwrap_or_default();
        format!("<li><a href=\"{link}\">{text}</a></li>\n")
    });
    let items: String = items.collect();
    format!(
        "<html><head><title>{title}</title></head><body><h1>{title}</h1><p>Population statistics by place and year.</p><ul class=\"list\">\n{items}</ul></body></html>"
    )
}

/// Whether a place has a file.
fn has_file(number: usize) -> bool {
    number % WITHOUT_FILE_EVERY != 3
}

/// An office with a page for each area, which lists its places, a page for each place with its table, and a list of places for each area.
fn fill_office(_host: &str, folder: &Path) {
    for part in ["areas", "lists", "places", "tables"] {
        fs::create_dir(folder.join(part)).unwrap();
    }
    let write = |name: String, text: String| fs::write(folder.join(name), text).unwrap();
    write(
        "robots.txt".to_owned(),
        "User-agent: *\nDisallow: /tables/z\n".to_owned(),
    );
    let areas: Vec<String> = (0..AREAS)
        .map(|area| format!("/areas/area-{area}.html"))
        .collect();
    write("index.html".to_owned(), html("Statistical office", &areas));
    for area in 0..AREAS {
        let numbers = area * PLACES_PER_AREA..(area + 1) * PLACES_PER_AREA;
        let names: Vec<String> = numbers.clone().map(place).collect();
        let mut links: Vec<String> = names
            .iter()
            .map(|name| format!("/places/{}.html", address(name)))
            .collect();
        links.push(format!("/lists/area-{area}.csv"));
        write(format!("areas/area-{area}.html"), html("Area", &links));
        write(format!("lists/area-{area}.csv"), table("Place", &names));
        for (number, name) in numbers.zip(&names) {
            let file = format!("/tables/{}.csv", address(name));
            let links = if has_file(number) {
                vec![file.clone()]
            } else {
                Vec::new()
            };
            write(format!("places/{}.html", address(name)), html(name, &links));
            if has_file(number) {
                let ages = ["0 to 14", "15 to 64", "65 and over"].map(str::to_owned);
                write(file[1..].to_owned(), table("Age", &ages));
            }
        }
    }
}

/// The paths of the office's files that may be fetched.
fn files_of_office() -> BTreeSet<String> {
    let places = (0..AREAS * PLACES_PER_AREA).filter(|number| has_file(*number));
    let tables = places.map(|number| format!("/tables/{}.csv", address(&place(number))));
    let tables = tables.filter(|path| !path.starts_with("/tables/z"));
    let lists = (0..AREAS).map(|area| format!("/lists/area-{area}.csv"));
    tables.chain(lists).collect()
}

/// Fetches until nine tenths of the files were had.
fn fetches_for_most(asked: &[(String, u16)], files: &BTreeSet<String>) -> usize {
    let mut had = BTreeSet::new();
    for (fetches, (path, _)) in (1..).zip(asked) {
        if files.contains(path) {
            had.insert(path);
        }
        if files.len() * 9 <= had.len() * 10 {
            return fetches;
        }
    }
    panic!("{} of {} files were had", had.len(), files.len());
}

#[test]
fn guessed_addresses_save_fetches_and_keep_to_the_rules() {
    let office = Folders::new(&[OFFICE], fill_office);
    let files = files_of_office();
    let mut plain = office.collect("plain");
    plain.arg("--no-guess");
    run(plain).expect(0);
    let without = office.asked(OFFICE, 0);
    assert!(
        without.iter().all(|(_, status)| *status == 200),
        "nothing is guessed"
    );

    let before = office.stage.exchanges().len();
    run(office.collect("guessed")).expect(0);
    let with = office.asked(OFFICE, before);
    let [without_most, with_most] = [&without, &with].map(|asked| fetches_for_most(asked, &files));
    let missed = with.iter().filter(|(_, status)| *status == 404).count();
    println!(
        "fetches for 90 % of {} files: {without_most} without guesses, {with_most} with; {missed} guesses missed",
        files.len()
    );
    assert!(
        with_most * 3 <= without_most * 2,
        "{with_most} of {without_most}"
    );
    // One in thirty of the places has no file.
    assert!(missed * 10 <= files.len(), "{missed} guesses missed");

    for (path, _) in without.iter().chain(&with) {
        assert!(
            !path.starts_with("/tables/z"),
            "robots.txt keeps {path} out"
        );
    }
    let distinct: BTreeSet<&String> = with.iter().map(|(path, _)| path).collect();
    assert_eq!(distinct.len(), with.len(), "nothing is fetched twice");
    let absolute = |path: &String| office.stage.url(OFFICE, path);
    let wanted: BTreeSet<String> = files.iter().map(absolute).collect();
    assert_eq!(office.listed("plain"), wanted);
    assert_eq!(office.listed("guessed"), wanted);
    let verdict = office.stage.verdict(INTERVAL);
    assert!(verdict.is_polite(), "{verdict}");
    assert_a_guess_is_explained(&office);
}

fn assert_a_guess_is_explained(office: &Folders) {
    let archive = office.stage.path("guessed");
    let events = crate::support::events(&archive);
    let guessed = events.iter().find(|event| event.hops.ends_with('I'));
    let guessed = guessed.expect("a guess was made");
    assert!(
        guessed.via.contains("/places/") || guessed.via.contains("/areas/"),
        "{}",
        guessed.via
    );
    let mut explain = junkai();
    explain
        .arg("explain")
        .arg(&*guessed.url)
        .arg("--archive")
        .arg(&archive);
    let explained = run(explain).expect(0);
    let words = format!(
        "no page was seen to link to it; it was inferred from {}",
        guessed.via
    );
    assert!(explained.out.contains(&words), "{}", explained.all());
}

const KILLS: usize = 5;

#[test]
fn guesses_survive_kills() {
    let mut dice = Dice::new();
    let office = Folders::new(&[OFFICE], fill_office);
    for _ in 0..KILLS {
        let before = office.stage.web.counters().requests;
        let mut running = Running::start(office.collect("killed"));
        // Any number below sixty, more or less.
        let pages = 5 + dice.time_below(Duration::from_mins(1)).as_secs();
        wait_until("some pages are visited", || {
            before + pages <= office.stage.web.counters().requests || !running.is_running()
        });
        running.kill();
    }
    run(office.collect("killed")).expect(0);
    let absolute = |path: &String| office.stage.url(OFFICE, path);
    let wanted: BTreeSet<String> = files_of_office().iter().map(absolute).collect();
    assert_eq!(office.listed("killed"), wanted, "nothing is lost");
    let asked = office.asked(OFFICE, 0);
    let distinct: BTreeSet<&String> = asked.iter().map(|(path, _)| path).collect();
    assert!(
        asked.len() <= distinct.len() + KILLS,
        "a kill repeats the one visit that was out, no more: {} of {}",
        asked.len(),
        distinct.len()
    );
    assert!(asked.iter().all(|(path, _)| !path.starts_with("/tables/z")));
    let verdict = office.stage.verdict(INTERVAL);
    assert!(verdict.is_polite(), "{verdict}");
}

/// The pages of a chain, each of which links to the next.
const CHAIN: usize = 8;

/// Two sites: one that leads into the depth of the other, which is a chain of pages from its home page on.
fn fill_chain(host: &str, folder: &Path) {
    let write = |name: &str, text: String| fs::write(folder.join(name), text).unwrap();
    let next = |number: usize| vec![format!("/{}.html", number + 1)];
    write("index.html", html(host, &next(0)));
    for number in 1..=CHAIN {
        write(&format!("{number}.html"), html("A page", &next(number)));
    }
}

#[test]
fn a_site_is_explored_from_its_home_page_and_depth_counts_from_there() {
    let web = Folders::new(&["near.test", "far.test"], fill_chain);
    let link = web.stage.url("far.test", "/6.html");
    let page = web.stage.path("near.test").join("3.html");
    fs::write(page, html("A page", std::slice::from_ref(&link))).unwrap();

    let mut explore = web.command("explore", "archive");
    explore.args(["--sites-from-crawl", "--fetches", "6"]);
    explore.arg(web.stage.url("near.test", "/"));
    run(explore).expect(0);
    let far = web.asked("far.test", 0);
    assert_eq!(far[0].0, "/", "{far:?}");
    let evidence = web.lines("archive", "evidence.jsonl");
    let home = evidence
        .iter()
        .find(|line| line["site"] == "far.test")
        .unwrap();
    assert_eq!(home["depth"], 0, "{home}");
    let mut explain = junkai();
    explain.arg("explain").arg(web.stage.url("far.test", "/"));
    explain.arg("--archive").arg(web.stage.path("archive"));
    let explained = run(explain).expect(0);
    assert!(
        explained.out.contains(&format!("inferred from {link}")),
        "{}",
        explained.all()
    );

    let mut collect = web.command("collect", "archive");
    collect.args(["--depth", "3"]);
    run(collect).expect(0);
    let asked: BTreeSet<String> = web
        .asked("far.test", 0)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    for (path, is_asked) in [
        ("/1.html", true),
        ("/2.html", true),
        ("/3.html", true),
        ("/4.html", false),
    ] {
        assert_eq!(asked.contains(path), is_asked, "{path}: {asked:?}");
    }
    // What another site links to is taken to be one link from the home page.
    for (path, is_asked) in [("/6.html", true), ("/8.html", true), ("/9.html", false)] {
        assert_eq!(asked.contains(path), is_asked, "{path}: {asked:?}");
    }
    let verdict = web.stage.verdict(INTERVAL);
    assert!(verdict.is_polite(), "{verdict}");
}
