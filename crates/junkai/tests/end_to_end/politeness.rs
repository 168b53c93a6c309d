//! Promise 1, politeness: whatever happens, a server is left alone for the interval after each visit. The servers
//! themselves are the witnesses, and the access log's judge decides.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use junkai_crawler::LogEvent;
use junkai_testweb::{Exchange, TestWebConfig};

use crate::support::{Dice, Running, Stage, run, wait_until};

const INTERVAL: Duration = Duration::from_millis(200);

/// How often the crawl is killed.
const KILLS: usize = 6;

/// How long a run goes on at most between its first visit and its kill.
const LIFE_MAX: Duration = Duration::from_millis(1500);

/// Servers that struggle are tried again soon, and names that move are asked for again soon, so that much happens in little time; the interval is the
/// flag's.
const HASTY: &str = r#"
[crawl]
retry_delay = "300ms"
checkpoint_every = "200ms"

[dns]
ttl_min = "1s"

[politeness]
interval_max = "1s"
backoff_first = "400ms"
backoff_max = "1s"

[fetch]
first_byte_timeout = "800ms"
total_timeout = "2s"
max_body_bytes = "256KiB"
"#;

/// One host in eight makes trouble; every address is shared by five hosts, so that troublemakers have neighbours.
const TROUBLE: [&str; 22] = [
    "host1.test=slow-first-byte:300ms",
    "host2.test=slow-first-byte:5s",
    "host3.test=slow-body:8000",
    "host4.test=reset",
    "host5.test=reset:500",
    "host6.test=truncated",
    "host7.test=moving-address:1s",
    "host8.test=moving-address:300ms",
    "host9.test=429:1s:every=2",
    "host11.test=503:1s:date:every=2",
    "host12.test=robots-status:503",
    "host13.test=robots-status:404",
    "host14.test=robots-html",
    "host15.test=redirect-loop:3",
    "host16.test=garbage",
    "host17.test=endless-body",
    "host18.test=endless-headers",
    "host19.test=dns-slow:300ms",
    "host21.test=dns-servfail",
    "host22.test=wrong-length:+100",
    "host23.test=wrong-length:-100",
    "host24.test=gzip-bomb:100",
];

#[test]
fn a_crawl_that_is_killed_again_and_again_never_presses_a_server() {
    let mut dice = Dice::new();
    let web = TestWebConfig {
        hosts: 200,
        addresses: 40,
        pages: 4000,
        page_bytes: 4000,
        seeds: 200,
        crawl_delay_percent: 10,
        misbehaviours: TROUBLE.iter().map(|rule| rule.parse().unwrap()).collect(),
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, HASTY);
    let crawl = || {
        let mut crawl = stage.crawl();
        crawl.args(stage.web.seeds());
        crawl.args(["--scope", "any", "--interval", "200ms", "--quiet"]);
        crawl
    };
    for _ in 0..KILLS {
        let before = stage.web.counters().requests;
        let life = Running::start(crawl());
        wait_until("the crawl visits a server", || {
            before < stage.web.counters().requests
        });
        std::thread::sleep(dice.time_below(LIFE_MAX));
        assert!(
            life.kill(),
            "there is more to crawl than one life can visit"
        );
    }
    let before = stage.exchanges().len();
    let last = Running::start(crawl());
    let mut lacking = Vec::new();
    wait_until("the last run has visited servers, and all was seen", || {
        let exchanges = stage.exchanges();
        let still = lacking_of(&exchanges, &stage.events());
        if still != lacking {
            println!("{} exchanges, lacking {still:?}", exchanges.len());
            lacking = still;
        }
        before < exchanges.len() && lacking.is_empty()
    });
    last.interrupt();
    last.wait().expect(11);

    let verdict = stage.verdict(INTERVAL);
    println!("{verdict}");
    assert!(verdict.is_polite(), "{verdict}");
}

/// What has not been seen yet: that all servers were visited, gave every kind of answer between them, a name was found where it had moved to, and a page was
/// fetched with what it needs.
fn lacking_of(exchanges: &[Exchange], events: &[LogEvent<'_>]) -> Vec<String> {
    let servers: BTreeSet<IpAddr> = exchanges.iter().map(|seen| seen.address).collect();
    let has_moved = |host: &str| {
        let of_host = exchanges.iter().filter(|seen| seen.host == host);
        let addresses: BTreeSet<IpAddr> = of_host.map(|seen| seen.address).collect();
        1 < addresses.len()
    };
    let has_moved = ["host7.test", "host8.test"].into_iter().any(has_moved);
    let has_requisite = events.iter().any(|event| event.hops.ends_with('E'));
    let mut seen = vec![
        ("all servers".to_owned(), servers.len() == 40),
        ("a name that has moved".to_owned(), has_moved),
        ("a requisite".to_owned(), has_requisite),
    ];
    for status in [0, 200, 302, 404, 429, 503] {
        let was_said = exchanges.iter().any(|seen| seen.status == status);
        seen.push((format!("the answer {status}"), was_said));
    }
    let lacking = seen.into_iter().filter(|(_, was_seen)| !was_seen);
    lacking.map(|(what, _)| what).collect()
}

#[test]
fn two_names_on_one_address_share_its_interval() {
    let web = TestWebConfig {
        hosts: 2,
        addresses: 1,
        pages: 12,
        seeds: 2,
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "200ms", "--quiet"]);
    crawl.args(["--pages", "10"]);
    run(crawl).expect(0);

    let verdict = stage.verdict(INTERVAL);
    assert!(verdict.is_polite(), "{verdict}");
    assert_eq!(verdict.servers, 1);
    let exchanges = stage.exchanges();
    for host in ["host0.test", "host1.test"] {
        let of_host = |seen: &&Exchange| seen.host == host;
        assert!(2 <= exchanges.iter().filter(of_host).count(), "{host}");
    }
}

#[test]
fn the_first_page_waits_for_robots_txt_and_for_the_interval_after_it() {
    let web = TestWebConfig {
        hosts: 8,
        addresses: 4,
        pages: 80,
        seeds: 8,
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "200ms", "--quiet"]);
    crawl.args(["--pages", "24"]);
    run(crawl).expect(0);

    let mut first: BTreeMap<String, String> = BTreeMap::new();
    for seen in stage.exchanges() {
        first.entry(seen.host).or_insert(seen.url);
    }
    assert_eq!(first.len(), 8);
    for (host, url) in first {
        assert_eq!(url, stage.url(&host, "/robots.txt"));
    }
    let verdict = stage.verdict(INTERVAL);
    assert!(verdict.is_polite(), "{verdict}");
}

#[test]
fn a_crawl_delay_lengthens_the_interval_and_outlives_a_kill() {
    let web = TestWebConfig {
        hosts: 2,
        addresses: 2,
        pages: 40,
        seeds: 2,
        crawl_delay_percent: 100,
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    let crawl = |pages: &str| {
        let mut crawl = stage.crawl();
        crawl.args(stage.web.seeds());
        crawl.args(["--scope", "any", "--interval", "100ms", "--quiet"]);
        crawl.args(["--pages", pages]);
        crawl
    };
    let life = Running::start(crawl("1000"));
    wait_until("each server was visited twice", || {
        4 <= stage.events().len()
    });
    assert!(life.kill());
    run(crawl("6")).expect(0);

    // The hosts ask for one second; the crawl was only told 100 ms.
    let verdict = stage.verdict(Duration::from_secs(1));
    assert!(verdict.is_polite(), "{verdict}");
    assert!(10 <= verdict.exchanges, "{verdict}");
}

#[test]
fn an_interval_longer_than_an_address_holds_is_kept_and_the_crawl_ends() {
    const INTERVAL: Duration = Duration::from_secs(2);
    let web = TestWebConfig {
        hosts: 1,
        addresses: 1,
        pages: 2,
        ttl: Duration::from_secs(1),
        ..TestWebConfig::default()
    };
    let stage = Stage::new(
        web,
        "[crawl]\nsitemaps = false\n\n[dns]\nttl_min = \"1s\"\n",
    );
    let mut crawl = stage.crawl();
    crawl.args(stage.web.pages());
    crawl.args(["--scope", "page", "--no-requisites"]);
    crawl.args(["--interval", "2s", "--quiet"]);
    // Not reached, unless visits never start because their address is always too old.
    crawl.args(["--for", "30s"]);
    let crawled = run(crawl).expect(0);
    assert!(
        crawled.out.contains("The crawl is complete"),
        "{}",
        crawled.all()
    );
    let verdict = stage.verdict(INTERVAL);
    assert!(verdict.is_polite(), "{verdict}");
    assert_eq!(verdict.exchanges, 3, "robots.txt and two pages: {verdict}");
}

#[test]
fn a_server_that_asked_for_rest_has_it_across_a_kill() {
    const REST: Duration = Duration::from_secs(4);
    for (form, status) in [("503:4s:every=3", 503), ("429:4s:date:every=3", 429)] {
        let web = TestWebConfig {
            hosts: 1,
            addresses: 1,
            pages: 20,
            misbehaviours: vec![format!("host0.test={form}").parse().unwrap()],
            ..TestWebConfig::default()
        };
        let stage = Stage::new(web, "[crawl]\nretry_delay = \"10ms\"\n");
        let crawl = |pages: &str| {
            let mut crawl = stage.crawl();
            crawl.args(stage.web.seeds());
            crawl.args(["--interval", "50ms", "--quiet", "--pages", pages]);
            crawl
        };
        let life = Running::start(crawl("1000"));
        wait_until("the refusal is reported", || {
            stage.events().iter().any(|event| event.status == status)
        });
        assert!(life.kill());
        run(crawl("2")).expect(0);

        let after = starts_after(&stage.exchanges(), u16::try_from(status).unwrap());
        assert!(!after.is_empty(), "{form}: it was visited again");
        for seconds in after {
            assert!(REST.as_secs_f64() <= seconds, "{form}: {seconds} s later");
        }
    }
}

#[test]
fn a_host_that_asks_for_rest_with_any_answer_has_it() {
    const REST_SECONDS: f64 = 2.0;
    let web = TestWebConfig {
        hosts: 2,
        addresses: 1,
        pages: 8,
        size_exponent: 0.0,
        seeds: 2,
        misbehaviours: vec!["host0.test=retry-after:2s".parse().unwrap()],
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.pages());
    crawl.args(["--scope", "page", "--interval", "50ms", "--quiet"]);
    run(crawl).expect(0);
    let exchanges = stage.exchanges();
    let of = |host: &str| -> Vec<&Exchange> {
        exchanges.iter().filter(|seen| seen.host == host).collect()
    };
    let resting = of("host0.test");
    assert!(5 <= resting.len(), "robots.txt and four pages");
    for pair in resting.windows(2).skip(1) {
        let pause = pair[1].start.seconds_since(pair[0].end);
        assert!(REST_SECONDS <= pause, "{pause} s before {}", pair[1].url);
    }
    // The neighbour is visited to its last page while the other rests.
    let last = of("host1.test").last().map(|seen| seen.start);
    assert!(last < resting.last().map(|seen| seen.start));
}

/// For each answer of this status: seconds until the same address was asked again.
fn starts_after(exchanges: &[Exchange], status: u16) -> Vec<f64> {
    let mut refused: BTreeMap<IpAddr, &Exchange> = BTreeMap::new();
    let mut gaps = Vec::new();
    for seen in exchanges {
        if let Some(refusal) = refused.remove(&seen.address) {
            gaps.push(seen.start.seconds_since(refusal.end));
        }
        if seen.status == status {
            refused.insert(seen.address, seen);
        }
    }
    gaps
}
