//! Partitions: a crawl whose sites are shared out among several engines visits the same pages as one, as politely, and survives kills as well.

use std::collections::BTreeSet;
use std::time::Duration;

use junkai_testweb::TestWebConfig;

use crate::support::{Dice, Running, Stage, index_lines, junkai, run, wait_until};

const INTERVAL: Duration = Duration::from_millis(10);

/// How often the crawl of three partitions is killed.
const KILLS: usize = 8;

/// Five hosts share an address, so that the servers of one partition are those of the others.
fn stage() -> Stage {
    let web = TestWebConfig {
        hosts: 40,
        addresses: 8,
        pages: 300,
        page_bytes: 2000,
        ..TestWebConfig::default()
    };
    Stage::new(web, "[crawl]\ncheckpoint_every = \"200ms\"\n")
}

fn crawl(stage: &Stage, archive: &str, partitions: &str) -> std::process::Command {
    let mut crawl = stage.crawl_into(&stage.path(archive));
    crawl.args(["--partitions", partitions, "--scope", "any", "--quiet"]);
    crawl.args(["--interval", "10ms", &stage.web.seeds()[0]]);
    crawl
}

/// What was captured: the URLs with the digests of what was there.
fn captured(stage: &Stage, archive: &str) -> BTreeSet<(String, String)> {
    let field =
        |line: &serde_json::Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let lines = index_lines(&stage.path(archive));
    let lines = lines.iter().map(|line| {
        let json = line.find('{').unwrap();
        let line: serde_json::Value = serde_json::from_str(&line[json..]).unwrap();
        (field(&line, "url"), field(&line, "digest"))
    });
    lines.filter(|(url, _)| !url.starts_with("dns:")).collect()
}

#[test]
fn several_partitions_capture_what_one_does_through_kills_and_as_politely() {
    let mut dice = Dice::new();
    let stage = stage();
    run(crawl(&stage, "one", "1")).expect(0);
    let expected = captured(&stage, "one");
    assert!(300 < expected.len(), "{}", expected.len());
    let fetched_once = stage.exchanges().len();

    for _ in 0..KILLS {
        let before = stage.web.counters().requests;
        let life = Running::start(crawl(&stage, "three", "3"));
        wait_until("the crawl visits a server", || {
            before < stage.web.counters().requests
        });
        std::thread::sleep(dice.time_below(Duration::from_millis(400)));
        life.kill();
    }
    let finished = run(crawl(&stage, "three", "3")).expect(0);
    assert!(
        finished.out.contains("The crawl is complete"),
        "{}",
        finished.all()
    );
    let three = captured(&stage, "three");
    let missed: Vec<_> = expected.difference(&three).collect();
    assert!(missed.is_empty(), "missed: {missed:#?}");
    let more: Vec<_> = three.difference(&expected).collect();
    assert!(more.is_empty(), "captured besides: {more:#?}");
    let fetched_again = stage.exchanges().len() - 2 * fetched_once;
    println!("{fetched_once} exchanges, {fetched_again} more after {KILLS} kills");

    let verdict = stage.verdict(INTERVAL);
    println!("{verdict}");
    assert!(verdict.is_polite(), "{verdict}");
}

#[test]
fn an_archive_keeps_its_partitions_and_is_explained_and_commanded_as_a_whole() {
    let stage = stage();
    run(crawl(&stage, "three", "3")).expect(0);
    let archive = stage.path("three");
    let ask = |arguments: &[&str]| {
        let mut command = junkai();
        command.args(arguments).arg("--archive").arg(&archive);
        run(command)
    };
    // Without the flag it goes on as it was begun; with another number it is refused.
    let mut again = stage.crawl_into(&archive);
    again.args(["--interval", "10ms", "--quiet"]);
    run(again).expect(0);
    let refused = run(crawl(&stage, "three", "2")).expect(3);
    assert!(
        refused.err.contains("this archive was begun with 3"),
        "{}",
        refused.err
    );
    // Pages of every partition are known.
    let known: BTreeSet<String> = captured(&stage, "three")
        .into_iter()
        .map(|(url, _)| url)
        .filter(|url| url.matches('/').count() == 3)
        .collect();
    let hosts: Vec<&String> = known.iter().filter(|url| url.ends_with('/')).collect();
    assert!(20 < hosts.len(), "{hosts:?}");
    for url in hosts.iter().take(12) {
        let explained = ask(&["explain", url]).expect(0).out;
        assert!(explained.contains("believed to change"), "{explained}");
    }
    let stats = ask(&["stats", "--json"]).expect(0).out;
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(stats["waiting"], 0, "{stats}");
    assert!(
        expected_known(&stage) <= stats["known"].as_u64().unwrap(),
        "{stats}"
    );
    // Commands that were given while no crawl was running reach every partition: pages are visited once more, whoever has them.
    let mut revisit = vec!["revisit"];
    revisit.extend(hosts.iter().take(12).map(|url| url.as_str()));
    ask(&revisit).expect(0);
    let before = stage.exchanges().len();
    let mut again = stage.crawl_into(&archive);
    again.args(["--interval", "10ms", "--quiet"]);
    run(again).expect(0);
    let visited: BTreeSet<String> = stage.exchanges()[before..]
        .iter()
        .map(|exchange| exchange.url.clone())
        .collect();
    for url in hosts.iter().take(12) {
        assert!(visited.contains(*url), "{url}: {visited:#?}");
    }
}

#[test]
fn partitions_together_visit_no_more_pages_than_are_asked_for() {
    let stage = stage();
    let mut crawl = crawl(&stage, "some", "4");
    crawl
        .args(["--pages", "37", "--json"])
        .args(stage.web.seeds());
    let finished = run(crawl).expect(0);
    let summary = finished.out.lines().last().unwrap();
    let summary: serde_json::Value = serde_json::from_str(summary).unwrap();
    let summary = &summary["summary"];
    assert_eq!(summary["ended"], "pages-reached", "{summary}");
    assert_eq!(summary["progress"]["pages"], 37, "{summary}");
    assert_eq!(summary["progress"]["servers"], 8, "{summary}");
}

#[test]
fn a_server_that_fails_has_its_back_off_from_all_partitions_together() {
    let hosts = 6;
    let trouble = (0..hosts).map(|host| format!("host{host}.test=robots-status:503"));
    let web = TestWebConfig {
        hosts,
        addresses: 1,
        seeds: 6,
        misbehaviours: trouble.map(|rule| rule.parse().unwrap()).collect(),
        ..TestWebConfig::default()
    };
    let config = "[politeness]\nbackoff_first = \"100ms\"\nbackoff_max = \"10s\"\n";
    let stage = Stage::new(web, config);
    let mut crawl = stage.crawl_on();
    crawl.args(["--partitions", "3", "--interval", "10ms", "--quiet"]);
    let crawl = Running::start({
        crawl.args(stage.web.seeds());
        crawl
    });
    wait_until("the server was asked six times", || {
        6 <= stage.exchanges().len()
    });
    crawl.interrupt();
    crawl.wait();
    let exchanges = stage.exchanges();
    let gaps = exchanges
        .windows(2)
        .map(|pair| pair[1].start.0.saturating_sub(pair[0].end.0))
        .take(5);
    for (number, gap) in gaps.enumerate() {
        let least = 100_000_000 << number;
        assert!(
            least <= gap,
            "{number}: {gap} ns, not {least}: {exchanges:#?}"
        );
    }
}

#[test]
fn one_good_seed_is_enough_whichever_partition_has_it() {
    let stage = stage();
    let mut crawl = stage.crawl();
    crawl.args(["--partitions", "3", "--interval", "10ms", "--quiet"]);
    crawl.arg(&stage.web.seeds()[0]);
    crawl.args((0..4).map(|number| format!("http://nowhere{number}.test/")));
    let finished = run(crawl).expect(0);
    assert!(
        finished.out.contains("The crawl is complete"),
        "{}",
        finished.all()
    );
}

/// URLs that must be known: all that were captured.
fn expected_known(stage: &Stage) -> u64 {
    let captured = captured(stage, "three");
    let pages = captured
        .iter()
        .filter(|(url, _)| !url.ends_with("/robots.txt"));
    pages.count() as u64
}
