//! An outage of the crawl's own network: visits are held and go on afterwards, and no page is charged.

use std::collections::BTreeSet;
use std::time::UNIX_EPOCH;

use junkai_crawler::LogEvent;
use junkai_testweb::{TestWeb, TestWebConfig};

use crate::changing::STOPPED;
use crate::support::{Running, Stage, wait_until};

/// Each has an address of its own.
const HOSTS: usize = 24;
/// A minute, for which visits are held at least, passes in a fifth of a second.
const CLOCK_SPEED: f64 = 300.0;
/// Visits that are held before the network is back.
const HELD: usize = 40;

fn is_held(event: &LogEvent<'_>) -> bool {
    event.annotations.iter().any(|word| word == "held")
}

#[test]
fn an_outage_of_our_own_is_sat_out_and_charged_to_no_page() {
    let origin = UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    let web = TestWebConfig {
        hosts: HOSTS,
        addresses: 24,
        pages: 40 * HOSTS as u64,
        change_interval: std::time::Duration::ZERO,
        clock_speed: CLOCK_SPEED,
        clock_origin: Some(origin),
        ..TestWebConfig::default()
    };
    let clock = format!("[clock]\nspeed = {CLOCK_SPEED:?}\norigin = {origin:?}\n");
    let mut stage = Stage::new(web.clone(), &clock);
    let again = TestWebConfig {
        http_port: stage.web.http_port(),
        dns_port: stage.web.dns().port(),
        log: Some(stage.path("access-later.log")),
        ..web
    };
    let pages: BTreeSet<String> = stage.web.pages().collect();

    let mut command = stage.crawl_on();
    command.args(["--scope", "any"]).args(stage.web.seeds());
    let mut crawl = Running::start(command);
    let mut wait_for = |what: &str, stage: &Stage, holds: &dyn Fn(&[LogEvent<'_>]) -> bool| {
        wait_until(what, || {
            assert!(crawl.is_running(), "{}", crawl.printed());
            holds(&stage.events())
        });
    };
    wait_for("pages of all hosts were visited", &stage, &|events| {
        let answered = events.iter().filter(|event| event.status == 200);
        10 * HOSTS <= answered.count()
    });
    let elsewhere = TestWebConfig {
        hosts: 1,
        pages: 1,
        addresses: 1,
        ..TestWebConfig::default()
    };
    let elsewhere = TestWeb::start(elsewhere).unwrap();
    std::mem::replace(&mut stage.web, elsewhere).stop();
    wait_for("visits are held", &stage, &|events| {
        HELD <= events.iter().filter(|event| is_held(event)).count()
    });
    stage.web = TestWeb::start(again).unwrap();
    wait_for("every page was visited", &stage, &|events| {
        let answered = events.iter().filter(|event| event.status == 200);
        let answered: BTreeSet<&str> = answered.map(|event| &*event.url).collect();
        pages.iter().all(|page| answered.contains(page.as_str()))
    });
    crawl.interrupt();
    crawl.wait().expect(STOPPED);
    let events = stage.events();
    let given_up = events
        .iter()
        .filter(|event| event.result.contains("given up"));
    assert_eq!(given_up.count(), 0, "no page is to blame");
}
