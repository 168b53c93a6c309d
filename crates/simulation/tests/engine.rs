//! The engine that crawls and the lab's model of it: the same pages, in the same order, at the same times, with one visit in flight and with many.

use std::time::Duration;

use junkai_graph::generate::{Generator, GeneratorConfig};
use junkai_graph::{Cache, HostCut, Hosts, Links, LoadOptions, WebGraph, load, unwatched};
use junkai_simulation::crawl::{Run, Trial, is_by_engine, simulate, simulate_by_model};
use junkai_simulation::policy::Policy;
use junkai_simulation::subject::Subject;
use proptest::prelude::*;
use proptest::sample::Selector;

/// What each order is tried with: visits in flight and booked ahead.
const IN_FLIGHT: [(usize, usize); 4] = [(1, 1), (4, 4), (64, 64), (64, 5000)];

/// Orders of the crawler, with all memory and with little.
const ORDERS: [&str; 6] = [
    "worth",
    "worth:40",
    "in-degree,polite",
    "in-degree:40,polite",
    "beast,polite",
    "beast:40,polite",
];

/// Paces: the usual one; no pause at all, so that many visits end at one moment; a ring that is too short for what is booked ahead; hosts that are asked for rules, and again
/// the next day.
const PACES: [&str; 4] = [
    "keys=4096",
    "interval-ms=0,step-ms=1,latency-ms=0,keys=64",
    "slots=64,keys=16,interval-ms=5000,step-ms=500",
    "robots,interval-ms=1800000,step-ms=180000,latency-ms=900,keys=64",
];

/// Without an order of its own: what finds no place in the ring is discarded, or deferred.
const RINGS: [&str; 4] = [
    "ring:64x16",
    "ring:1024x256",
    "ring:64x16,aside",
    "ring:1024x256,aside",
];

/// What the crawler has no settings for.
const VARIANTS: [&str; 5] = [
    "worth:40,welcome",
    "worth:40,discard",
    "worth,count",
    "irlbot,polite",
    "bfs:40,polite",
];

fn policies() -> Vec<String> {
    let mut policies: Vec<String> = RINGS.map(str::to_owned).into();
    for order in ORDERS {
        for (concurrency, lookahead) in IN_FLIGHT {
            for pace in PACES {
                policies.push(format!(
                    "{order},concurrency={concurrency},lookahead={lookahead},{pace}"
                ));
            }
        }
    }
    policies
}

fn subject(web: WebGraph) -> Subject {
    Subject::measure(web, &Cache::none(), &mut unwatched)
}

/// Crawls by both, and compares all that came of it.
fn check(subject: &Subject, text: &str, latencies: &[Duration]) {
    let Ok(policy) = text.parse::<Policy>() else {
        panic!("{text} is no policy");
    };
    assert!(is_by_engine(&policy), "{text}");
    let trial = Trial {
        web: &subject.web,
        seeds: &subject.seeds,
        policy: &policy,
        pages_max: u32::MAX,
        latencies,
    };
    let engine = simulate(&trial, &subject.value, &mut |_| {});
    let model = simulate_by_model(&trial, &subject.value, &mut |_| {});
    assert_eq!(engine.pace.violations, 0, "{text}");
    assert_eq!(compared(&engine, text), compared(&model, text), "{text}");
}

/// What both must agree on. In a crawl that takes pages as they come, those that are not in the ring wait on disk; the model has no disk.
fn compared(run: &Run, text: &str) -> Run {
    let mut run = run.clone();
    if text.starts_with("ring") {
        run.stored.clear();
    }
    run
}

#[test]
fn a_generated_web_is_crawled_alike() {
    let subject = subject(Generator::new(GeneratorConfig::new(1200, 7)).collect(&mut unwatched));
    // Every third server is slow, so that visits overtake each other.
    let latencies: Vec<Duration> = (0..subject.web.hosts.count())
        .map(|server| Duration::from_millis(if server % 3 == 0 { 4000 } else { 300 }))
        .collect();
    for text in policies() {
        check(&subject, &text, &[]);
        check(&subject, &text, &latencies);
    }
}

#[test]
fn real_webs_are_crawled_alike() {
    for name in ["california", "cs-stanford"] {
        let Some(path) = junkai_testdata::find(&format!("graphs/{name}")) else {
            return;
        };
        let web = load(&path, &LoadOptions::default(), &mut unwatched).unwrap();
        let subject = subject(web);
        for order in ["worth:1000", "in-degree:1000,polite", "beast,polite"] {
            for (concurrency, lookahead) in IN_FLIGHT {
                let text = format!("{order},concurrency={concurrency},lookahead={lookahead}");
                check(&subject, &text, &[]);
            }
        }
    }
}

#[test]
fn what_no_settings_make_is_left_to_the_model() {
    for text in VARIANTS {
        assert!(!is_by_engine(&text.parse().unwrap()), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_web_is_crawled_alike(web in graphs(), pick in any::<Selector>()) {
        let subject = subject(web);
        let policies = policies();
        for _ in 0..4 {
            check(&subject, pick.select(&policies), &[]);
        }
    }
}

fn graphs() -> impl Strategy<Value = WebGraph> {
    (2_u32..80, 1_u32..12).prop_flat_map(|(pages, hosts)| {
        let links = prop::collection::vec((0..pages, 0..pages), 0..400);
        let hosts = prop::collection::vec(0..hosts, pages as usize);
        (links, hosts).prop_map(move |(links, hosts)| WebGraph {
            name: "random".into(),
            links: Links::from_pairs(pages, &links),
            hosts: Hosts::from_numbers(hosts),
            urls: None,
            cut: HostCut::Given,
        })
    })
}
