//! A robots.txt that is elsewhere is obeyed like any other: it is asked for where it is, and nothing that it disallows is
//! fetched, whatever host it is at, whoever shares it, and however often the crawl begins anew.

use std::time::Duration;

use junkai_testweb::{Exchange, TestWebConfig};

use crate::support::{Running, Stage, run, wait_until};

const INTERVAL: Duration = Duration::from_millis(50);

/// Three hosts of ten pages, each at an address of its own; some links lead to `/private/`.
fn web(rules: &[&str]) -> TestWebConfig {
    TestWebConfig {
        hosts: 3,
        addresses: 3,
        pages: 30,
        size_exponent: 0.0,
        page_bytes: 4000,
        seeds: 3,
        misbehaviours: rules.iter().map(|rule| rule.parse().unwrap()).collect(),
        ..TestWebConfig::default()
    }
}

/// Crawls the hosts to their end.
fn crawl(stage: &Stage, hosts: &[&str]) -> std::process::Command {
    let mut crawl = stage.crawl();
    crawl.args(hosts.iter().map(|host| stage.url(host, "/")));
    crawl.args(["--scope", "host", "--interval", "50ms", "--quiet"]);
    // Not reached: the crawl is complete long before, unless it goes in circles.
    crawl.args(["--for", "1m"]);
    crawl
}

fn crawl_to_its_end(stage: &Stage, hosts: &[&str]) {
    let crawled = run(crawl(stage, hosts)).expect(0);
    assert!(
        crawled.out.contains("The crawl is complete"),
        "{}",
        crawled.all()
    );
    assert_rules_are_kept(stage, hosts);
}

/// The hosts were visited to their last page, and what the redirected file disallows was left alone because of it.
fn assert_rules_are_kept(stage: &Stage, hosts: &[&str]) {
    let events = stage.events();
    for host in hosts {
        for page in stage.web.pages_of(host) {
            let visits = events.iter().filter(|event| event.url == page);
            let statuses: Vec<i32> = visits.map(|event| event.status).collect();
            assert_eq!(statuses, [200], "{page}");
        }
        let at_private = stage.url(host, "/private/");
        let mut denied = events
            .iter()
            .filter(|event| event.url.starts_with(&at_private))
            .peekable();
        assert!(
            denied.peek().is_some(),
            "there are links to {at_private} that can be followed"
        );
        for event in denied {
            assert_eq!(event.status, -9998, "{event:#?}");
            assert!(event.result.contains("Disallow: /private/"), "{event:#?}");
        }
    }
    for seen in stage.exchanges() {
        assert!(!seen.url.contains("/private/"), "{seen:?}");
    }
    let verdict = stage.verdict(INTERVAL);
    assert!(verdict.is_polite(), "{verdict}");
}

/// How often a host's robots.txt was asked for.
fn robots_visits(stage: &Stage, host: &str) -> usize {
    let robots = stage.url(host, "/robots.txt");
    let exchanges = stage.exchanges();
    exchanges.iter().filter(|seen| seen.url == robots).count()
}

#[test]
fn rules_at_another_host_are_kept_though_that_host_is_out_of_scope() {
    let stage = Stage::new(web(&["host0.test=robots-redirect:host1.test"]), "");
    crawl_to_its_end(&stage, &["host0.test"]);
    let elsewhere: Vec<Exchange> = stage
        .exchanges()
        .into_iter()
        .filter(|seen| seen.host != "host0.test")
        .collect();
    let [robots] = &elsewhere[..] else {
        panic!("one visit elsewhere, for the rules: {elsewhere:#?}")
    };
    assert_eq!(robots.url, stage.url("host1.test", "/robots.txt"));
    assert_eq!(robots_visits(&stage, "host0.test"), 1);
}

#[test]
fn a_chain_of_redirects_is_followed_over_two_hosts() {
    let rules = [
        "host0.test=robots-redirect:host1.test",
        "host1.test=robots-redirect:host2.test",
    ];
    let stage = Stage::new(web(&rules), "");
    crawl_to_its_end(&stage, &["host0.test"]);
    for host in ["host0.test", "host1.test", "host2.test"] {
        assert_eq!(robots_visits(&stage, host), 1, "{host}");
    }
}

#[test]
fn two_origins_share_the_rules_of_a_third_that_has_them_too() {
    let rules = [
        "host0.test=robots-redirect:host2.test",
        "host1.test=robots-redirect:host2.test",
    ];
    let stage = Stage::new(web(&rules), "");
    crawl_to_its_end(&stage, &["host0.test", "host1.test", "host2.test"]);
    assert_eq!(robots_visits(&stage, "host2.test"), 3);
}

#[test]
fn rules_from_elsewhere_are_kept_after_a_stop_and_asked_for_again_after_a_kill() {
    let rules = ["host0.test=robots-redirect:host1.test"];
    let stage = Stage::new(web(&rules), "");
    let mut first = crawl(&stage, &["host0.test"]);
    first.args(["--pages", "2"]);
    run(first).expect(0);
    crawl_to_its_end(&stage, &["host0.test"]);
    assert_eq!(robots_visits(&stage, "host0.test"), 1);
    assert_eq!(robots_visits(&stage, "host1.test"), 1);

    // Killed while the rules are on their way: the next run has two visits that fetch them.
    let stage = Stage::new(web(&rules), "");
    let life = Running::start(crawl(&stage, &["host0.test"]));
    wait_until("the redirect is reported", || !stage.events().is_empty());
    assert!(life.kill());
    crawl_to_its_end(&stage, &["host0.test"]);
}

#[test]
fn a_crawl_delay_from_elsewhere_is_for_the_host_that_sent_there() {
    let web = TestWebConfig {
        crawl_delay_percent: 100,
        ..web(&["host0.test=robots-redirect:host1.test"])
    };
    let stage = Stage::new(web, "");
    let mut crawl = crawl(&stage, &["host0.test"]);
    crawl.args(["--pages", "3"]);
    run(crawl).expect(0);
    let exchanges = stage.exchanges();
    let of_host: Vec<&Exchange> = exchanges
        .iter()
        .filter(|seen| seen.host == "host0.test")
        .collect();
    assert_eq!(of_host.len(), 4, "robots.txt and three pages");
    for pair in of_host.windows(2) {
        let pause = pair[1].start.seconds_since(pair[0].end);
        assert!(1.0 <= pause, "{pause} s before {}", pair[1].url);
    }
}
