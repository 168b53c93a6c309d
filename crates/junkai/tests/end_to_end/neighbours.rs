//! Several crawls of one machine at one server: they take turns, and what the server asks one of them for holds for all.
//!
//! Each crawl has a host of its own at the same address, so that the web's log tells them apart.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use junkai_testweb::{Exchange, TestWebConfig};

use crate::support::{Running, Stage, junkai, run, wait_until};

const INTERVAL: Duration = Duration::from_millis(200);
/// Turns that each crawl is to have.
const TURNS: usize = 8;
/// Turns that another may have in the meantime: five times as many, whatever holds one of them up on a busy machine.
const TURNS_OF_OTHERS_MAX: usize = 5 * TURNS;

/// One server with a host for each crawl, which has more pages than are visited.
fn web(misbehaviours: &[&str]) -> TestWebConfig {
    TestWebConfig {
        hosts: 3,
        addresses: 1,
        pages: 3000,
        size_exponent: 0.0,
        seeds: 3,
        misbehaviours: misbehaviours
            .iter()
            .map(|rule| rule.parse().unwrap())
            .collect(),
        ..TestWebConfig::default()
    }
}

fn host(number: usize) -> String {
    format!("host{number}.test")
}

fn crawl_of(stage: &Stage, number: usize) -> Running {
    let mut command = stage.crawl_into(&stage.path(&host(number)));
    command
        .args(["--scope", "host", "-v"])
        .args(["--interval", "200ms"])
        .arg(stage.url(&host(number), "/"));
    Running::start(command)
}

/// How many visits each crawl has made, from the first at which all have made one.
fn turns(exchanges: &[Exchange], crawls: usize) -> BTreeMap<&str, usize> {
    let mut all = BTreeSet::new();
    let mut counted = BTreeMap::new();
    for seen in exchanges {
        all.insert(seen.host.as_str());
        if all.len() == crawls {
            *counted.entry(seen.host.as_str()).or_default() += 1;
        }
    }
    counted
}

#[test]
fn crawls_that_share_a_server_take_turns_and_say_so() {
    let stage = Stage::new(web(&[]), "");
    let mut crawls: Vec<Running> = (0..3).map(|number| crawl_of(&stage, number)).collect();
    wait_until("a crawl explains that it waits for another", || {
        let mut explain = junkai();
        explain.args(["explain", "--archive"]);
        explain.arg(stage.path(&host(0)));
        explain.arg(stage.url(&host(0), "/"));
        assert!(crawls[0].is_running());
        run(explain)
            .out
            .contains("waiting for another crawl of this machine")
    });
    wait_until("each crawl has had its turns", || {
        let exchanges = stage.exchanges();
        let turns = turns(&exchanges, 3);
        turns.len() == 3 && turns.values().all(|turns| TURNS <= *turns)
    });
    let exchanges = stage.exchanges();
    let turns = turns(&exchanges, 3);
    let most = turns.values().copied().max().unwrap_or_default();
    assert!(most <= TURNS_OF_OTHERS_MAX, "{turns:?}");
    for crawl in crawls {
        crawl.interrupt();
        let said = crawl.wait().expect(11);
        let told = said
            .err
            .matches("waiting for another crawl of this machine, which visits this server")
            .count();
        assert_eq!(told, 1, "once for each server\n{}", said.all());
        assert!(
            said.out
                .contains("waited for another crawl of this machine that visits the same server, "),
            "{}",
            said.all()
        );
    }
    let verdict = stage.verdict(INTERVAL);
    assert!(verdict.is_polite(), "{verdict}");
}

#[test]
fn what_a_server_asks_one_crawl_for_holds_for_all_of_them() {
    const REST_SECONDS: f64 = 3.0;
    // One of the hosts refuses; all of them are at the same server.
    let stage = Stage::new(web(&["host0.test=503:3s:every=3"]), "");
    let crawls: Vec<Running> = (0..3).map(|number| crawl_of(&stage, number)).collect();
    wait_until("a server that refused was visited again, twice", || {
        let refused = |seen: &&Exchange| seen.status == 503;
        let exchanges = stage.exchanges();
        let turns = turns(&exchanges, 3);
        3 <= exchanges.iter().filter(refused).count()
            && turns.len() == 3
            && turns.values().all(|turns| 3 <= *turns)
    });
    let exchanges = stage.exchanges();
    for pair in exchanges.windows(2) {
        let pause = pair[1].start.seconds_since(pair[0].end);
        assert!(
            pair[0].status != 503 || REST_SECONDS <= pause,
            "{} s before {}",
            pause,
            pair[1].url
        );
    }
    let told: String = crawls
        .into_iter()
        .map(|crawl| {
            crawl.interrupt();
            crawl.wait().expect(11).err
        })
        .collect();
    assert!(
        told.contains("the server asked another crawl of this machine for rest"),
        "{told}"
    );
    let verdict = stage.verdict(INTERVAL);
    assert!(verdict.is_polite(), "{verdict}");
}
