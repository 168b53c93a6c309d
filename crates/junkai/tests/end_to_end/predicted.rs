//! The lab predicts what the crawler does: a live crawl of a served graph visits its pages in the order of the simulated one.
//!
//! One visit is in flight at a time and one is booked ahead, so nothing depends on how fast the machine is: not who is found first,
//! nor who is linked most when a place falls free. With several in flight the order depends on when each ends, and a real machine does not repeat that: there the
//! simulated clock decides, and the tests of `simulation` compare its engine and its model visit by visit.

use std::fs;
use std::num::NonZeroU32;
use std::time::Duration;

use junkai_simulation::crawl::{Run, Trial, is_by_engine, simulate, simulate_by_model};
use junkai_simulation::graph::{
    HostCut, LoadOptions, Page, PageRankConfig, WebGraph, load, pagerank, reachable, unwatched,
};
use junkai_simulation::policy::Policy;
use junkai_simulation::value::Value;
use junkai_testweb::{GraphConfig, TestWebConfig};

use crate::support::{Stage, run};

const PAGES: u32 = 160;
const PAGES_PER_HOST: u32 = 20;
const ADDRESSES: u32 = 3;
const LATENCY: Duration = Duration::from_millis(15);

/// What is asked of the crawler and of the lab.
struct Case {
    order: &'static str,
    policy: &'static str,
    candidates: u32,
    interval_ms: u32,
}

#[test]
fn a_crawl_goes_as_the_lab_predicts() {
    for case in [
        Case {
            order: "in-degree",
            policy: "in-degree:1000",
            candidates: 1000,
            interval_ms: 0,
        },
        Case {
            order: "in-degree",
            policy: "in-degree:15",
            candidates: 15,
            interval_ms: 0,
        },
        Case {
            order: "worth",
            policy: "worth:1000",
            candidates: 1000,
            interval_ms: 0,
        },
        Case {
            order: "worth",
            policy: "worth:15",
            candidates: 15,
            interval_ms: 0,
        },
        Case {
            order: "worth",
            policy: "worth:40",
            candidates: 40,
            interval_ms: 20,
        },
        Case {
            order: "site-budgets",
            policy: "beast",
            candidates: 1000,
            interval_ms: 0,
        },
        Case {
            order: "site-budgets",
            policy: "beast:15",
            candidates: 15,
            interval_ms: 0,
        },
    ] {
        check(&case);
    }
}

fn check(case: &Case) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.tsv");
    fs::write(&path, edges()).unwrap();
    let web = TestWebConfig {
        hosts: 0,
        addresses: ADDRESSES,
        latency: LATENCY,
        change_interval: Duration::ZERO,
        graph: Some(GraphConfig {
            path: path.clone(),
            urls: None,
            pages_per_host: NonZeroU32::new(PAGES_PER_HOST).unwrap(),
        }),
        ..TestWebConfig::default()
    };
    let config = format!(
        "[crawl]\nconcurrency = 1\nworkers = 1\nlookahead = 1\ncandidates = {}\nsitemaps = false\n",
        case.candidates
    );
    let stage = Stage::new(web, &config);
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--quiet", "--order", case.order]);
    crawl.args(["--interval", &format!("{}ms", case.interval_ms)]);
    run(crawl).expect(0);

    let visited: Vec<String> = stage
        .exchanges()
        .into_iter()
        .map(|seen| seen.url)
        .filter(|url| !url.ends_with("/robots.txt"))
        .collect();
    let url = |page: Page| {
        let host = format!("h{}.graph.test", page / PAGES_PER_HOST);
        stage.url(&host, &format!("/p{page}"))
    };
    let graph = graph(&path);
    let seed = graph
        .links
        .pages()
        .find(|&page| stage.web.seeds().contains(&url(page)))
        .unwrap();
    for (by, simulate) in [
        ("the engine", simulate as Simulate),
        ("the model", simulate_by_model),
    ] {
        let predicted = predict(case, &graph, seed, simulate);
        let predicted: Vec<String> = predicted.into_iter().map(url).collect();
        assert!(100 < predicted.len(), "most of the graph can be reached");
        assert_eq!(
            visited, predicted,
            "{} with {} candidates, predicted by {by}",
            case.order, case.candidates
        );
    }
}

/// A web in which some pages are linked often and most are not, the same in each run.
fn edges() -> String {
    let mut state = 11_u64;
    let mut below = |end: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        u32::try_from((state >> 33) % u64::from(end)).unwrap()
    };
    let mut edges = Vec::new();
    for page in 0..PAGES {
        for _ in 0..below(9) {
            // The lower of three: low numbers are popular.
            let target = (0..3).map(|_| below(PAGES)).min().unwrap();
            edges.push((page, target));
        }
        edges.push((page, (page + 1) % PAGES));
    }
    let lines = edges
        .into_iter()
        .map(|(source, target)| format!("{source} {target}\n"));
    lines.collect()
}

fn graph(path: &std::path::Path) -> WebGraph {
    let options = LoadOptions {
        cut: Some(HostCut::EqualBlocks(PAGES_PER_HOST)),
        ..LoadOptions::default()
    };
    let mut graph = load(path, &options, &mut unwatched).unwrap();
    // As testweb gives hosts their addresses: by turns.
    let servers: Vec<String> = (0..ADDRESSES).map(|server| format!("s{server}")).collect();
    graph.hosts = graph
        .hosts
        .with_servers(|host, _| Some(servers[(host % ADDRESSES) as usize].as_str()));
    graph
}

/// What predicts a crawl.
type Simulate = fn(&Trial<'_>, &Value, &mut dyn FnMut(u64)) -> Run;

fn predict(case: &Case, graph: &WebGraph, seed: Page, simulate: Simulate) -> Vec<Page> {
    let policy: Policy = format!(
        "{},aside,concurrency=1,lookahead=1,interval-ms={},step-ms={},latency-ms={},robots",
        case.policy,
        case.interval_ms,
        (case.interval_ms / 10).max(1),
        LATENCY.as_millis(),
    )
    .parse()
    .unwrap();
    assert!(is_by_engine(&policy), "the crawler can be told to do so");
    let trial = Trial {
        web: graph,
        seeds: &[seed],
        policy: &policy,
        pages_max: u32::MAX,
        latencies: &[],
    };
    let ranks = pagerank(&graph.links, &PageRankConfig::default(), &mut unwatched);
    let value = Value::of_reachable(&ranks, &reachable(&graph.links, &[seed]));
    simulate(&trial, &value, &mut |_| {}).order
}
