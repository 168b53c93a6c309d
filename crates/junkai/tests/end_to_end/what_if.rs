//! What is asked of one's own crawl: what another schedule would have made of it, and what one of any size takes.

#[path = "../../../lab/tests/support/repetition.rs"]
mod repetition;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use junkai_testweb::TestWebConfig;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Finished, Stage, junkai, run};

/// A folder to work in.
struct Bench(TempDir);

impl Bench {
    fn new() -> Bench {
        Bench(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `junkai …`, as typed in the folder.
    fn junkai(&self, arguments: &str) -> Command {
        let mut command = junkai();
        command.current_dir(self.0.path());
        command.args(arguments.split(' '));
        command
    }

    fn say(&self, arguments: &str) -> Finished {
        run(self.junkai(arguments))
    }
}

/// The command that a run says repeats it, without the program's name.
fn repeated(finished: &Finished) -> &str {
    let command = repetition::repeated(&finished.out, "junkai");
    command.unwrap_or_else(|| panic!("{}", finished.all()))
}

#[test]
fn a_plan_is_made_under_either_name() {
    let bench = Bench::new();
    let plan = bench.say("plan --assume").expect(0).out;
    assert!(plan.contains("What this rests on"), "{plan}");
    assert!(!plan.contains("seed 0"), "{plan}");
    assert_eq!(bench.say("lab plan --assume").expect(0).out, plan);
    for command in ["plan", "what-if"] {
        let help = bench.say(&format!("{command} --help")).expect(0).out;
        assert!(help.contains(&format!("  junkai {command}")), "{help}");
    }
}

/// Crawls in an order, and compares how long that took by the log with what is predicted for the same order and pace.
#[test]
fn what_if_predicts_the_crawl_that_was_made() {
    /// A machine that is busy with other tests is slower at some moments than at others. A latency that is supposed, and not taken from the log, is off by far more.
    const TOLERANCE: f64 = 0.35;
    for order in ["fifo", "worth"] {
        let web = TestWebConfig {
            hosts: 4,
            addresses: 2,
            pages: 30,
            page_bytes: 2000,
            seeds: 1,
            latency: Duration::from_millis(30),
            ..TestWebConfig::default()
        };
        let stage = Stage::new(web, "");
        let mut crawl = stage.crawl();
        crawl.args(stage.web.seeds());
        crawl.args(["--scope", "any", "--quiet", "--order", order]);
        crawl.args(["--interval", "100ms"]);
        run(crawl).expect(0);
        let bench = Bench::new();
        let mut command = bench.junkai("what-if --json --out out");
        command.arg("--archive").arg(stage.archive());
        let outcome: Value = serde_json::from_str(&run(command).expect(0).out).unwrap();
        let table = &outcome["tables"][0];
        let titles = table["columns"].as_array().unwrap();
        let rows = table["rows"].as_array().unwrap();
        for title in ["time to 50 %", "time to 100 %"] {
            let place = titles.iter().position(|name| name == title).unwrap();
            let seconds = |label: &str| {
                let row = rows.iter().find(|row| row[0] == label).unwrap();
                row[place].as_f64().unwrap()
            };
            let (was, predicted) = (seconds("as crawled"), seconds(order));
            let is_near = (predicted - was).abs() < TOLERANCE * was;
            assert!(
                is_near,
                "{order}, {title}: {was} s, {predicted} s predicted"
            );
        }
        let findings = outcome["findings"].to_string();
        let told = format!("for {order}, the order in which it was made");
        assert!(findings.contains(&told), "{findings}");
    }
}

#[test]
fn what_if_answers_from_an_archive_with_its_own_seeds_and_servers() {
    let web = TestWebConfig {
        hosts: 6,
        addresses: 3,
        pages: 60,
        page_bytes: 2000,
        seeds: 1,
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "0s", "--quiet"]);
    run(crawl).expect(0);

    let bench = Bench::new();
    let ask = |flags: &str| {
        let mut command = bench.junkai("what-if");
        command.arg("--archive").arg(stage.archive());
        command.args(flags.split_whitespace());
        run(command)
    };
    let told = ask("--interval 2s").expect(0);
    for text in [
        "1 seed of the crawl",
        "and 3 servers",
        "as crawled",
        "best possible",
        "site-budgets",
    ] {
        assert!(told.out.contains(text), "{text}\n{}", told.all());
    }
    let first = repetition::contents(&stage.archive().join("reports/what-if"));
    assert_eq!(first.len(), 7, "{:?}", first.keys());
    let orders = String::from_utf8(first[Path::new("orders.csv")].clone()).unwrap();
    assert_eq!(orders.lines().count(), 7, "{orders}");

    // The command that is printed gives the same answer.
    let again = bench
        .say(&format!("{} --out again", repeated(&told)))
        .expect(0);
    assert_eq!(repeated(&again), repeated(&told));
    assert!(
        repetition::contents(&bench.path("again/what-if")) == first,
        "the bytes differ"
    );

    // Twice the interval takes about twice the time.
    let seconds = |flags: &str| {
        let outcome: Value = serde_json::from_str(&ask(flags).expect(0).out).unwrap();
        let table = &outcome["tables"][0];
        let columns = table["columns"].as_array().unwrap();
        let place = columns
            .iter()
            .position(|name| name == "time to 100 %")
            .unwrap();
        table["rows"][1][place].as_f64().unwrap()
    };
    let fast = seconds("--order worth --json --out fast --interval 2s");
    let slow = seconds("--order worth --json --out slow --interval 4s");
    assert!((1.5..2.1).contains(&(slow / fast)), "{fast} s, {slow} s");

    let wrong = ask("--order best").expect(2);
    assert!(
        wrong.err.contains("fifo, in-degree, site-budgets, worth"),
        "{}",
        wrong.all()
    );
    let nowhere = bench.say("lab what-if --archive nowhere").expect(1);
    assert!(
        nowhere.err.contains("no archive at nowhere"),
        "{}",
        nowhere.all()
    );
}
