//! The judge never accuses a client that kept its interval, whatever the servers do, and always one that did not.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::support::{get_bytes, send};
use junkai_testweb::{Ending, Exchange, TestWeb, TestWebConfig, judge};

const INTERVAL: Duration = Duration::from_millis(30);

fn start(log: &Path) -> TestWeb {
    let rules = [
        "host1.test=slow-first-byte:10ms",
        "host2.test=reset:10",
        "host3.test=endless-body",
        "host4.test=slow-body:50",
        "host5.test=garbage",
    ];
    TestWeb::start(TestWebConfig {
        hosts: 6,
        addresses: 1,
        pages: 60,
        misbehaviours: rules.iter().map(|rule| rule.parse().unwrap()).collect(),
        log: Some(log.to_owned()),
        ..TestWebConfig::default()
    })
    .unwrap()
}

#[test]
fn a_client_that_keeps_its_interval_is_never_accused() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.jsonl");
    let web = start(&log);
    for round in 0..4 {
        for host in 0..6 {
            let host = format!("host{host}.test");
            // The endless and the slow are left in the middle; the client's interval counts from then.
            match host.as_str() {
                "host3.test" | "host4.test" => {
                    let mut stream = send(&web, &host, "/", "");
                    stream.read_exact(&mut [0]).unwrap();
                    std::thread::sleep(Duration::from_millis(7 * round));
                    drop(stream);
                }
                // A reset is an error, and as good an end as any.
                _ => drop(get_bytes(&web, &host, "/", "")),
            }
            std::thread::sleep(INTERVAL);
        }
    }
    web.stop();
    let verdict = judge(&log, INTERVAL).unwrap();
    assert_eq!((verdict.exchanges, verdict.servers), (24, 1));
    assert!(verdict.is_polite(), "{verdict}");
    // And the log is not merely lenient: the same exchanges break a longer interval.
    let strict = judge(&log, INTERVAL * 1000).unwrap();
    assert_eq!((strict.violation_count, strict.overlaps), (23, 0));
}

#[test]
fn two_visits_at_a_time_are_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.jsonl");
    let web = start(&log);
    let mut first = send(&web, "host3.test", "/", "");
    // The first visit has certainly begun once its answer has.
    first.read_exact(&mut [0; 100]).unwrap();
    get_bytes(&web, "host0.test", "/", "").unwrap();
    // It is certainly going on after the second when much more of it can be had.
    first.read_exact(&mut vec![0; 32 << 20]).unwrap();
    drop(first);
    web.stop();
    let verdict = judge(&log, Duration::ZERO).unwrap();
    assert_eq!(
        (verdict.violation_count, verdict.overlaps),
        (1, 1),
        "{verdict}"
    );
    assert!(verdict.violations[0].gap_seconds < 0.0);
}

#[test]
fn an_abandoned_exchange_never_ends_after_its_client_left() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.jsonl");
    let web = start(&log);
    let mut departures = Vec::new();
    for milliseconds in [0, 3, 10, 50] {
        let mut stream = send(&web, "host4.test", "/", "");
        stream.read_exact(&mut [0]).unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        drop(stream);
        let after = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        departures.push((before, after));
        std::thread::sleep(Duration::from_millis(20));
    }
    web.stop();
    let text = std::fs::read_to_string(&log).unwrap();
    let mut exchanges: Vec<Exchange> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    exchanges.sort_by_key(|exchange| exchange.start);
    assert_eq!(exchanges.len(), departures.len());
    for (exchange, (before, after)) in exchanges.iter().zip(departures) {
        assert_eq!(exchange.ending, Ending::ClientGone);
        assert!(
            u128::from(exchange.end.0) <= after.as_nanos(),
            "{exchange:?} {before:?} {after:?}"
        );
    }
}
