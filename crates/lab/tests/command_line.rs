//! The lab on the command line: what it prints and writes, that it can be repeated, and what it says of files that are no graphs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/repetition.rs"]
mod repetition;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Pages of the generated webs: enough for every experiment to have something to tell.
const PAGES: &str = "1500";

/// A folder to work in, which is also where measures may be kept.
struct Bench(TempDir);

impl Bench {
    fn new() -> Bench {
        Bench(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `junkai lab …`, as typed in the folder.
    fn lab(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_junkai-lab"));
        command.env_remove("RUST_LOG").stdin(Stdio::null());
        command.current_dir(self.0.path());
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command.args(arguments.split(' '));
        command
    }

    fn say(&self, arguments: &str) -> Finished {
        let output = self.lab(arguments).output().unwrap();
        Finished {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// What became of a run.
struct Finished {
    /// The exit code; none after a signal.
    code: Option<i32>,
    out: String,
    err: String,
}

impl Finished {
    /// Everything, for the message of a failed assertion.
    fn all(&self) -> String {
        let Finished { code, out, err } = self;
        format!("exit code {code:?}\n{out}\n{err}")
    }

    /// Asserts the exit code.
    fn expect(self, code: i32) -> Finished {
        assert_eq!(self.code, Some(code), "{}", self.all());
        self
    }
}

/// The command that a run says repeats it, without the program's name.
fn repeated(finished: &Finished) -> &str {
    let command = repetition::repeated(&finished.out, "junkai lab");
    command.unwrap_or_else(|| panic!("{}", finished.all()))
}

#[test]
fn graphs_are_generated_and_told_side_by_side() {
    let bench = Bench::new();
    bench
        .say("generate --pages 1500 --seed 3 --out web")
        .expect(0);
    let refused = bench.say("generate --pages 10 --out web").expect(1);
    assert!(refused.err.contains("--force"), "{}", refused.all());
    bench
        .say("generate --pages 1500 --seed 3 --out tight --bvgraph")
        .expect(0);
    let told = bench
        .say("graph web tight --generate 1500 --seed 3")
        .expect(0)
        .out;
    let pages: Vec<&str> = told.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(pages, ["pages", "1,500", "1,500", "1,500"], "{told}");
    assert!(
        told.lines().all(|line| line.chars().count() <= 80),
        "{told}"
    );

    let lines = bench.say("graph web tight --json").expect(0).out;
    let graphs: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(graphs[0]["links"], graphs[1]["links"]);
    assert!(
        bench.path("web/.junkai-graph").is_dir(),
        "measures are kept beside the graph"
    );
}

#[test]
fn measures_are_kept_elsewhere_where_the_graph_cannot_be_written_beside() {
    let bench = Bench::new();
    bench.say("generate --pages 200 --out web").expect(0);
    // A file in its place is in the way of everybody, even of root.
    fs::write(bench.path("web/.junkai-graph"), "").unwrap();
    bench.say("graph web").expect(0);
    assert_eq!(
        fs::read_dir(bench.path("cache/junkai/graphs"))
            .unwrap()
            .count(),
        3
    );
}

#[test]
fn policies_are_compared_and_the_order_of_visits_is_written() {
    let bench = Bench::new();
    bench.say("generate --pages 1500 --out web").expect(0);
    let compared = bench
        .say("crawl web --policy opt bfs one-step-ring:64x64 worth:100,welcome --out results")
        .expect(0);
    for text in [
        "one-step-ring:64x64",
        "worth:100,welcome",
        "2 steps",
        "No server was visited sooner",
    ] {
        assert!(compared.out.contains(text), "{text}\n{}", compared.all());
    }
    let table = compared.out.lines().take_while(|line| !line.is_empty());
    assert!(
        table.into_iter().all(|line| line.chars().count() <= 80),
        "{}",
        compared.out
    );
    let first = repetition::contents(&bench.path("results"));
    let names: Vec<&str> = first.keys().filter_map(|name| name.to_str()).collect();
    let expected = [
        "curve.csv",
        "findings.txt",
        "outcome.json",
        "runs.csv",
        "share.svg",
        "stored.svg",
    ];
    assert_eq!(names, expected.map(|name| format!("crawl/{name}")));

    // The text of a policy that is printed is the policy.
    let outcome: Value = serde_json::from_slice(&first[Path::new("crawl/outcome.json")]).unwrap();
    let parameters = outcome["parameters"].as_array().unwrap();
    let written = parameters
        .iter()
        .find(|one| one["name"] == "policy worth:100,welcome")
        .unwrap();
    let order = |policy: &str, file: &str| {
        bench
            .say(&format!("crawl web --policy {policy} --order-file {file}"))
            .expect(0);
        fs::read_to_string(bench.path(file)).unwrap()
    };
    let short = order("worth:100,welcome", "short.tsv");
    assert_eq!(order(written["value"].as_str().unwrap(), "long.tsv"), short);
    let mut pages: Vec<u32> = short.lines().map(|line| line.parse().unwrap()).collect();
    pages.sort_unstable();
    assert_eq!(pages, (0..1500).collect::<Vec<u32>>());

    let few = bench
        .say("crawl web --policy bfs --pages-max 300 --json")
        .expect(0);
    let outcome: Value = serde_json::from_str(&few.out).unwrap();
    assert_eq!(outcome["tables"][0]["rows"][0][7], 300);
    bench
        .say("crawl web --policy bfs opt --order-file both.tsv")
        .expect(2);
    let wrong = bench.say("crawl web --policy bsf").expect(2);
    assert!(
        wrong.err.contains("one-step-ring:256x256"),
        "{}",
        wrong.all()
    );
}

#[test]
fn every_experiment_writes_the_same_bytes_when_its_command_is_repeated() {
    let bench = Bench::new();
    for experiment in [
        format!("ring --generate {PAGES} --vary slots"),
        format!("in-degree --generate {PAGES} --seed 4 --starts 2"),
        format!("beyond --generate {PAGES}"),
        format!("crawl --generate {PAGES} --policy bfs worth:100"),
    ] {
        let first = bench.say(&format!("{experiment} --out first")).expect(0);
        let command = repeated(&first);
        assert!(command.contains("--generate 1500 --seed "), "{command}");
        let again = bench.say(&format!("{command} --out again")).expect(0);
        assert_eq!(repeated(&again), command);
    }
    let first = repetition::contents(&bench.path("first"));
    assert!(20 < first.len(), "{:?}", first.keys());
    assert!(
        first == repetition::contents(&bench.path("again")),
        "the bytes differ"
    );
}

#[test]
fn focus_goes_the_whole_way_on_sites_of_the_test_web_and_can_be_repeated() {
    let bench = Bench::new();
    let command = "focus-real --repetitions 1 --pages 100 --sites 40";
    let first = bench.say(&format!("{command} --out first")).expect(0);
    for text in ["made sites", "not at hand"] {
        assert!(first.out.contains(text), "{text}\n{}", first.all());
    }
    let again = bench
        .say(&format!("{} --out again", repeated(&first)))
        .expect(0);
    assert_eq!(repeated(&again), repeated(&first));
    let files = repetition::contents(&bench.path("first"));
    for name in ["whole-made.csv", "whole-made.svg", "experience.csv"] {
        assert!(
            files.contains_key(&Path::new("focus-real").join(name)),
            "{name}"
        );
    }
    assert!(
        files == repetition::contents(&bench.path("again")),
        "the bytes differ"
    );
    let nowhere = bench.say("focus-real --site nowhere.tar.zst").expect(1);
    assert!(nowhere.err.contains("nowhere.tar.zst"), "{}", nowhere.all());
}

#[test]
fn the_report_is_one_page_that_needs_no_network() {
    let bench = Bench::new();
    bench.say("generate --pages 800 --out web").expect(0);
    let told = bench.say("report web --quick --out results").expect(0);
    let page = fs::read_to_string(bench.path("results/report.html")).unwrap();
    assert!(told.out.contains("results/report.html"), "{}", told.all());
    for text in [
        "<svg",
        "junkai lab ring web",
        "junkai lab in-degree web",
        "junkai lab beyond web",
        "junkai lab estimators",
        "junkai lab revisit",
        "junkai lab servers",
        "junkai lab time-queue",
        "junkai lab focus-real",
        "junkai lab focus-sim",
    ] {
        assert!(page.contains(text), "{text}");
    }
    for reference in ["src=\"http", "href=\"http", "@import", "<script"] {
        assert!(!page.contains(reference), "{reference}");
    }
    let again = bench
        .say(&format!("{} --out again", repeated(&told)))
        .expect(0);
    drop(again);
    assert!(
        repetition::contents(&bench.path("results")) == repetition::contents(&bench.path("again")),
        "the bytes differ"
    );
}

#[test]
fn what_is_no_graph_is_named_with_the_place_of_the_trouble() {
    let bench = Bench::new();
    bench
        .say("generate --pages 1500 --out tight --bvgraph")
        .expect(0);
    let whole = fs::read(bench.path("tight/graph.graph")).unwrap();
    fs::write(bench.path("cut.graph"), &whole[..whole.len() / 2]).unwrap();
    fs::copy(
        bench.path("tight/graph.properties"),
        bench.path("cut.properties"),
    )
    .unwrap();
    let named = bench.path("named");
    fs::create_dir(&named).unwrap();
    fs::write(named.join("urls.txt"), "http://a.test/\nhttp://b.test/\n").unwrap();
    fs::write(named.join("edges.tsv"), "0\t1\n1\t2\n").unwrap();
    fs::write(bench.path("letter.txt"), "Dear reader,\n").unwrap();
    fs::write(bench.path("broken.tsv.gz"), b"\x1f\x8b\x08 no more").unwrap();
    for (graph, words) in [
        ("cut", vec!["cut.graph is cut short", "page", "of 1500"]),
        ("named", vec!["line 2 of named/edges.tsv", "page 2"]),
        (
            "letter.txt",
            vec!["line 1 of letter.txt", "not two page numbers"],
        ),
        ("broken.tsv.gz", vec!["cannot read broken.tsv.gz"]),
        ("nowhere", vec!["nowhere is no web graph", "edges.tsv"]),
    ] {
        for command in ["graph", "crawl", "ring"] {
            let refused = bench.say(&format!("{command} {graph}")).expect(1);
            for word in &words {
                assert!(refused.err.contains(word), "{word}\n{}", refused.all());
            }
        }
    }
    assert!(
        !bench.path("junkai-lab").exists(),
        "nothing is written in vain"
    );
    bench.say("crawl --generate 0").expect(2);
    bench
        .say("generate --pages 10 --links-per-page 1e9 --out x")
        .expect(2);
}

#[test]
fn the_help_explains_itself_without_the_numbers_of_papers() {
    let bench = Bench::new();
    let overview = bench.say("--help").expect(0).out;
    assert!(overview.contains("Where to begin"), "{overview}");
    let commands = overview
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split(' ').next());
    let commands: Vec<&str> = commands.filter(|name| *name != "help").collect();
    assert_eq!(commands.len(), 14, "{overview}");
    for command in commands {
        let help = bench.say(&format!("{command} --help")).expect(0).out;
        let words = format!("{overview}{help}").to_lowercase();
        for riddle in [
            "seed 0",
            "of the seed",
            "the seed's",
            " ours",
            " our ",
            " theirs",
        ] {
            assert!(!words.contains(riddle), "{command}: {riddle}");
        }
        assert!(help.contains("Examples:"), "{help}");
    }
}

#[test]
fn whole_crawls_are_simulated_and_planted_bugs_are_found() {
    let bench = Bench::new();
    let told = bench.say("simulate --runs 3 --json").expect(0).out;
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["runs"], 3, "{told}");
    let found = bench.say("simulate --runs 20 --bug lease-ends-at-start");
    let found = found.expect(0).out;
    assert!(found.contains("found in run"), "{found}");
    let refused = bench.say("simulate --bug moths").expect(2).err;
    assert!(refused.contains("lease-ends-at-start"), "{refused}");
}
