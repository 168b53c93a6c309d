//! A start from very many seeds costs each of them a few steps, not a look at all the others: with work that grows with the square of their number none of
//! these would come to its first visit.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use junkai_testweb::TestWebConfig;
use serde_json::Value;

use crate::support::{Stage, junkai, run};

const SEEDS: usize = 300_000;

/// A web with two sites, and a file of seeds that begins with theirs; the others have no address.
fn stage(focus_sites: usize) -> Stage {
    let stage = Stage::new(
        TestWebConfig {
            hosts: if focus_sites == 0 { 2 } else { 0 },
            focus_sites,
            change_interval: Duration::ZERO,
            ..TestWebConfig::default()
        },
        "[crawl]\nretries_max = 0\n",
    );
    let mut seeds = stage.web.seeds().join("\n");
    for number in seeds.lines().count()..SEEDS {
        // Writing to a string cannot fail.
        write!(seeds, "\nhttp://site{number}.test/").unwrap();
    }
    fs::write(stage.path("seeds.txt"), seeds).unwrap();
    stage
}

fn known(stage: &Stage) -> usize {
    let mut stats = junkai();
    stats.args(["stats", "--json", "--archive"]);
    stats.arg(stage.archive());
    let stats: Value = serde_json::from_str(&run(stats).expect(0).out).unwrap();
    usize::try_from(stats["known"].as_u64().unwrap()).unwrap()
}

fn scope_reaches_around(stage: &Stage) -> usize {
    let seeds = fs::read_to_string(stage.archive().join("state/seeds.txt")).unwrap();
    seeds.lines().count()
}

#[test]
fn a_crawl_starts_from_very_many_seeds_and_starts_again() {
    let stage = stage(0);
    let mut crawl = stage.crawl();
    crawl.arg("-i").arg(stage.path("seeds.txt"));
    crawl.args(["--pages", "1", "--interval", "10ms"]);
    run(crawl).expect(0);
    assert!(SEEDS <= known(&stage));
    assert_eq!(scope_reaches_around(&stage), SEEDS);

    // Every seed is in the archive's own settings, in the file, known, and waiting.
    let mut again = junkai();
    again.arg("crawl").arg("--archive").arg(stage.archive());
    again.arg("-i").arg(stage.path("seeds.txt"));
    again.args(["--pages", "1", "--once"]);
    run(again).expect(0);
    assert_eq!(scope_reaches_around(&stage), SEEDS);
}

#[test]
fn exploring_starts_from_very_many_sites() {
    let stage = stage(2);
    let mut explore = junkai();
    explore
        .args(["focus", "explore", "--archive"])
        .arg(stage.archive());
    explore.arg("--config").arg(stage.path("junkai.toml"));
    explore.arg("-i").arg(stage.path("seeds.txt"));
    explore.args(["--dns", &stage.web.dns().to_string()]);
    explore.args(["--allow", "127.0.0.0/8", "--interval", "10ms"]);
    explore.args(["--fetches", "1", "--json"]);
    let explored = run(explore).expect(0);
    let verdicts = explored
        .out
        .lines()
        .filter(|line| line.contains("\"site\""));
    assert_eq!(verdicts.count(), SEEDS, "each site has a verdict");
    assert!(SEEDS <= known(&stage));
}
