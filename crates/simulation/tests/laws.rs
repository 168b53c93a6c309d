//! What holds of every simulated crawl, whatever the graph; and crawls that an obvious program repeats.

use std::collections::{BTreeSet, VecDeque};

use junkai_graph::{Cache, HostCut, Hosts, Links, Page, WebGraph, reachable, unwatched};
use junkai_simulation::crawl::{Run, Trial, simulate};
use junkai_simulation::policy::Policy;
use junkai_simulation::subject::Subject;
use proptest::prelude::*;

/// Policies that visit every page that can be reached.
const COMPLETE: [&str; 12] = [
    "bfs",
    "irlbot",
    "beast",
    "in-degree",
    "in-degree:3,aside",
    "in-degree:3,welcome",
    "worth,at-once",
    "worth:4,aside,at-once",
    "worth",
    "worth:4,aside,concurrency=2,lookahead=1",
    "worth:2,welcome,latency-ms=0,slots=64,keys=2",
    "worth:5,welcome,count,spread=0,robots",
];

/// Policies that forget pages.
const FORGETFUL: [&str; 6] = [
    "one-step-ring:4x2",
    "one-step-ring:7x4,max",
    "one-step-ring:16x8,plain",
    "ring:64x4",
    "in-degree:3,discard",
    "worth:4,discard",
];

fn graphs() -> impl Strategy<Value = WebGraph> {
    (2_u32..60, 1_u32..9).prop_flat_map(|(pages, hosts)| {
        let links = prop::collection::vec((0..pages, 0..pages), 0..300);
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

fn subject(web: WebGraph) -> Subject {
    Subject::measure(web, &Cache::none(), &mut unwatched)
}

fn crawl(subject: &Subject, policy: &str) -> Run {
    let Ok(policy) = policy.parse::<Policy>() else {
        panic!("{policy} is no policy");
    };
    subject.crawl(&policy, &mut |_| {})
}

fn check_laws(subject: &Subject, policy: &str, run: &Run) {
    let visited: BTreeSet<Page> = run.order.iter().copied().collect();
    assert_eq!(visited.len(), run.order.len(), "{policy}: a page twice");
    let is_reachable = reachable(&subject.web.links, &subject.seeds);
    assert!(
        visited.iter().all(|&page| is_reachable[page as usize]),
        "{policy}: a page that no link leads to"
    );
    assert_eq!(run.stored.len(), run.order.len());
    assert_eq!(run.pace.violations, 0, "{policy}: impolite");
    if let Some(least) = run.pace.least {
        assert!(run.pace.promised <= least, "{policy}: impolite");
    }
    let links: usize = run
        .order
        .iter()
        .map(|&page| subject.web.links.successors(page).len())
        .sum();
    assert_eq!(run.links, links as u64);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_crawl_keeps_the_laws(web in graphs()) {
        let subject = subject(web);
        for policy in COMPLETE.iter().chain(&FORGETFUL) {
            let run = crawl(&subject, policy);
            check_laws(&subject, policy, &run);
            prop_assert_eq!(&run, &crawl(&subject, policy), "the same trial, another run");
        }
    }

    #[test]
    fn what_is_not_discarded_is_visited(web in graphs()) {
        let subject = subject(web);
        for policy in COMPLETE {
            let run = crawl(&subject, policy);
            prop_assert_eq!(run.order.len(), subject.value.reachable() as usize, "{}", policy);
            prop_assert_eq!(run.discarded, 0);
        }
    }

    #[test]
    fn no_more_wait_in_memory_than_allowed(web in graphs()) {
        let subject = subject(web);
        for policy in ["beast:3,aside", "irlbot:3,aside", "in-degree:3,aside", "worth:3,aside,at-once", "worth:3,welcome,at-once", "worth:3,discard,at-once"] {
            prop_assert!(crawl(&subject, policy).stored_max() <= 3, "{}", policy);
        }
        for policy in ["worth:3,aside,concurrency=2,lookahead=2", "worth:3,welcome,concurrency=1,lookahead=2"] {
            prop_assert!(crawl(&subject, policy).stored_max() <= 5, "{}", policy);
        }
    }

    #[test]
    fn breadth_first_is_what_everybody_knows(web in graphs()) {
        let subject = subject(web);
        let mut known = vec![false; subject.web.links.page_count() as usize];
        let mut queue = VecDeque::new();
        for &seed in &subject.seeds {
            known[seed as usize] = true;
            queue.push_back(seed);
        }
        let mut order = Vec::new();
        while let Some(page) = queue.pop_front() {
            order.push(page);
            for &link in subject.web.links.successors(page) {
                if !std::mem::replace(&mut known[link as usize], true) {
                    queue.push_back(link);
                }
            }
        }
        prop_assert_eq!(crawl(&subject, "bfs").order, order);
    }

    #[test]
    fn the_one_step_ring_does_as_the_listing_of_its_paper(web in graphs(), slots in 2_u64..20, half in 1_u64..5) {
        let subject = subject(web);
        let residues = half * 2;
        let expected = listing_of_the_paper(&subject, slots, residues);
        let run = crawl(&subject, &format!("one-step-ring:{slots}x{residues},plain"));
        prop_assert_eq!(run.order, expected.order);
        prop_assert_eq!(run.discarded, expected.discarded);
    }

    #[test]
    fn a_shorter_crawl_is_the_beginning_of_a_longer_one(web in graphs(), pages_max in 1_u32..30) {
        let subject = subject(web);
        for policy in COMPLETE.iter().chain(&FORGETFUL) {
            let policy: Policy = policy.parse().unwrap();
            let trial = Trial { web: &subject.web, seeds: &subject.seeds, policy: &policy, pages_max, latencies: &[] };
            let short = simulate(&trial, &subject.value, &mut |_| {}).order;
            let long = subject.crawl(&policy, &mut |_| {}).order;
            prop_assert_eq!(&short[..], &long[..long.len().min(pages_max as usize)]);
        }
    }
}

struct Listing {
    order: Vec<Page>,
    discarded: u64,
}

/// Algorithms 1 to 3 of Morimoto et al. (2011) with a list for all bookings, word by word.
fn listing_of_the_paper(subject: &Subject, slots: u64, residues: u64) -> Listing {
    let mut next_step: Vec<u64> = (0..residues).map(|residue| residue & 1).collect();
    let mut bookings: Vec<(u64, Page)> = Vec::new();
    let mut inserted = BTreeSet::new();
    let mut order = Vec::new();
    let mut discarded = 0;
    let mut step = 0;
    let mut found: Vec<Page> = subject.seeds.clone();
    loop {
        for page in found.drain(..) {
            if inserted.contains(&page) {
                continue;
            }
            let residue = subject.web.hosts.host(page) as usize % next_step.len();
            let next = &mut next_step[residue];
            let mut booked = *next;
            if booked <= step {
                booked = step + 2 - ((step ^ residue as u64) & 1);
            }
            if step + slots <= booked {
                discarded += 1;
                continue;
            }
            bookings.push((booked, page));
            inserted.insert(page);
            *next = booked + 2;
        }
        // The first of this step's batch, in the order of booking; or a new step.
        match bookings.iter().position(|&(booked, _)| booked == step) {
            Some(place) => {
                let (_, page) = bookings.remove(place);
                order.push(page);
                found = subject.web.links.successors(page).to_vec();
            }
            None if bookings.is_empty() => return Listing { order, discarded },
            None => step += 1,
        }
    }
}

#[test]
fn a_policy_is_written_as_it_is_read() {
    for text in COMPLETE.iter().chain(&FORGETFUL).chain(&["opt"]) {
        let policy: Policy = text.parse().unwrap();
        let written = policy.to_string();
        assert_eq!(written.parse::<Policy>().unwrap(), policy, "{text}");
    }
}

#[test]
fn the_one_step_ring_can_be_asked_for_by_its_old_name() {
    let policy: Policy = "seed-ring:4x2,max".parse().unwrap();
    assert_eq!(policy.to_string(), "one-step-ring:4x2,max");
}

#[test]
fn what_is_no_policy_is_told() {
    for (text, problem) in [
        ("", "there is no \"\""),
        ("ring", "give slots and keys"),
        ("one-step-ring:1x2", "two slots or more"),
        ("one-step-ring:4x3", "even number of residues"),
        ("one-step-ring:4x2,fast", "takes max and plain"),
        ("worth:0", "no positive number"),
        ("worth:9,spread=-1", "not between"),
        ("bfs,spread=1", "are for worth"),
        ("worth,colour=red", "there is no option"),
        ("opt:3", "takes nothing else"),
        ("ring:2147483648x2", "slots and keys at most"),
        ("worth,keys=2147483648", "slots and keys at most"),
    ] {
        let error = text.parse::<Policy>().unwrap_err().to_string();
        assert!(error.contains(problem), "{text}: {error}");
    }
}
