//! What the tests of all policies share: random calls on which two rooms must agree, and crawls of small random graphs.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::{Admission, Candidate, Source};

thread_local! {
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

/// Counts a change of a list.
pub(super) fn count_step() {
    STEPS.set(STEPS.get() + 1);
}

/// Changes of lists that a call takes.
pub(super) fn steps_of<T>(call: impl FnOnce() -> T) -> u32 {
    STEPS.set(0);
    call();
    STEPS.get()
}

/// Pages that random calls speak of; few, so that calls meet.
const PAGES: u64 = 24;
/// Hosts that these pages are on.
const HOSTS: u64 = 5;

/// A call of a waiting room.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    /// Tells of a link from a page of this priority, and raises or offers the page by what the link is worth.
    Link { from_priority: f32, page: u64 },
    /// Offers a page of a priority of its own.
    Offer { page: u64, priority: f32 },
    /// Raises a page by this much.
    Raise { page: u64, gain: f32 },
    /// Takes the next page.
    Next,
    /// Releases a host, whether it has a visit in hand or not.
    Release { host: u64 },
}

/// The host that a page of random calls is on.
fn host_of(page: u64) -> u64 {
    page % HOSTS
}

/// Any calls, of few pages and with worths that often are equal, and sometimes absurd.
pub(super) fn calls() -> impl Strategy<Value = Vec<Call>> {
    let priority = prop_oneof![
        8 => (0_u8..12).prop_map(f32::from),
        4 => 0.0_f32..2.0,
        1 => prop::sample::select(vec![-1.0, f32::NAN, f32::INFINITY, f32::MAX, 1e-30, 300_000.0]),
    ];
    let page = 0..PAGES;
    let call = prop_oneof![
        3 => (priority.clone(), page.clone()).prop_map(|(from_priority, page)| Call::Link { from_priority, page }),
        3 => (page.clone(), priority.clone()).prop_map(|(page, priority)| Call::Offer { page, priority }),
        2 => (page, priority).prop_map(|(page, gain)| Call::Raise { page, gain }),
        2 => Just(Call::Next),
        2 => (0..HOSTS).prop_map(|host| Call::Release { host }),
    ];
    prop::collection::vec(call, 0..120)
}

/// Makes the same calls of a room and of its naive version: they must answer alike. What holds for every order is checked on the
/// way. Returns how things stand in the end.
pub(super) fn check_agreement(
    room: &mut impl Admission<usize>,
    naive: &mut impl Admission<usize>,
    calls: &[Call],
) -> Result<Standing, TestCaseError> {
    let room_max = room.len() + room.room();
    let mut standing = Standing::default();
    for (serial, &call) in (0..).zip(calls) {
        let offered = match call {
            Call::Link {
                from_priority,
                page,
            } => {
                let source = Source {
                    host: serial as u64 % HOSTS,
                    priority: from_priority,
                    links: u32::try_from(serial % 4).unwrap(),
                };
                let gain = room.gain(&source, host_of(page));
                prop_assert_eq!(gain.to_bits(), naive.gain(&source, host_of(page)).to_bits());
                prop_assert!(gain.is_finite() && 0.0 <= gain);
                let is_waiting = room.raise(page, gain);
                prop_assert_eq!(is_waiting, naive.raise(page, gain));
                (!is_waiting).then_some((page, gain))
            }
            Call::Offer { page, priority } => Some((page, priority)),
            Call::Raise { page, gain } => {
                prop_assert_eq!(room.raise(page, gain), naive.raise(page, gain));
                None
            }
            Call::Next => {
                let handed_out = room.next();
                prop_assert_eq!(&handed_out, &naive.next());
                standing.hand_out(handed_out)?;
                None
            }
            Call::Release { host } => {
                room.release(host);
                naive.release(host);
                standing.release(host);
                None
            }
        };
        if let Some((page, priority)) = offered {
            let candidate = Candidate {
                fingerprint: page,
                host: host_of(page),
                priority,
                visit: serial,
            };
            let evicted = room.offer(candidate.clone());
            prop_assert_eq!(
                evicted.as_ref().map(|evicted| evicted.visit),
                naive.offer(candidate).map(|evicted| evicted.visit)
            );
            standing.offer(serial, page, evicted)?;
        }
        prop_assert_eq!(room.len(), standing.waiting.len(), "nothing is lost");
        prop_assert_eq!(room.len() + room.room(), room_max);
        prop_assert_eq!(room.len(), naive.len());
        prop_assert_eq!(room.is_empty(), standing.waiting.is_empty());
    }
    Ok(standing)
}

/// Who waits, and what is in hand, by an outsider's books.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// Pages by the serial number of the offer.
    waiting: BTreeMap<usize, u64>,
    /// Visits in hand by host, where there are any.
    pub(super) in_hand: BTreeMap<u64, u32>,
    /// The most that any host had in hand.
    pub(super) in_hand_most: u32,
}

impl Standing {
    /// Hosts that have pages waiting or visits in hand.
    pub(super) fn hosts(&self) -> BTreeSet<u64> {
        let waiting = self.waiting.values().map(|&page| host_of(page));
        waiting.chain(self.in_hand.keys().copied()).collect()
    }

    fn offer(
        &mut self,
        serial: usize,
        page: u64,
        evicted: Option<Candidate<usize>>,
    ) -> TestCaseResult {
        self.waiting.insert(serial, page);
        if let Some(evicted) = evicted {
            let left = self.waiting.remove(&evicted.visit);
            prop_assert_eq!(left, Some(evicted.fingerprint), "who leaves was there");
        }
        let pages: BTreeSet<u64> = self.waiting.values().copied().collect();
        prop_assert_eq!(pages.len(), self.waiting.len(), "a page waits at most once");
        Ok(())
    }

    fn hand_out(&mut self, candidate: Option<Candidate<usize>>) -> TestCaseResult {
        if let Some(candidate) = candidate {
            let left = self.waiting.remove(&candidate.visit);
            prop_assert_eq!(left, Some(candidate.fingerprint), "who goes has waited");
            let in_hand = self.in_hand.entry(candidate.host).or_default();
            *in_hand += 1;
            self.in_hand_most = self.in_hand_most.max(*in_hand);
        }
        Ok(())
    }

    fn release(&mut self, host: u64) {
        if let Some(in_hand) = self.in_hand.get_mut(&host) {
            *in_hand -= 1;
            if *in_hand == 0 {
                self.in_hand.remove(&host);
            }
        }
    }
}

/// A small web.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// The distinct pages that each page links to.
    pub(super) links: Vec<Vec<usize>>,
    /// The host of each page.
    pub(super) hosts: Vec<u64>,
    pub(super) seeds: Vec<usize>,
}

/// Any graph of up to 40 pages on up to 6 hosts, with a taste for pages of low number, so that in-degrees differ.
pub(super) fn graphs() -> impl Strategy<Value = Graph> {
    (1_usize..40).prop_flat_map(|pages| {
        let target = (0..pages, 0..pages).prop_map(|(one, other)| one.min(other));
        let links = prop::collection::vec(prop::collection::vec(target, 0..7), pages);
        let hosts = prop::collection::vec(0_u64..6, pages);
        let seeds = prop::collection::vec(0..pages, 1..4);
        (links, hosts, seeds).prop_map(|(mut links, hosts, mut seeds)| {
            for targets in &mut links {
                keep_first(targets);
            }
            keep_first(&mut seeds);
            Graph {
                links,
                hosts,
                seeds,
            }
        })
    })
}

fn keep_first(pages: &mut Vec<usize>) {
    let mut seen = BTreeSet::new();
    pages.retain(|&page| seen.insert(page));
}

/// Crawls a graph as the driver does, a visit at a time; returns the pages in the order of their visits. What is
/// evicted may reappear.
pub(super) fn crawl(graph: &Graph, room: &mut impl Admission<usize>) -> Vec<usize> {
    let mut known: BTreeSet<usize> = graph.seeds.iter().copied().collect();
    let mut order = vec![];
    let candidate = |page: usize, priority: f32| Candidate {
        fingerprint: page as u64,
        host: graph.hosts[page],
        priority,
        visit: page,
    };
    for &seed in &graph.seeds {
        if let Some(evicted) = room.offer(candidate(seed, 1.0)) {
            known.remove(&evicted.visit);
        }
    }
    while let Some(visited) = room.next() {
        order.push(visited.visit);
        let links = &graph.links[visited.visit];
        let source = Source {
            host: visited.host,
            priority: visited.priority,
            links: u32::try_from(links.len()).unwrap(),
        };
        for &page in links {
            let gain = room.gain(&source, graph.hosts[page]);
            if !room.raise(page as u64, gain)
                && known.insert(page)
                && let Some(evicted) = room.offer(candidate(page, gain))
            {
                known.remove(&evicted.visit);
            }
        }
        room.release(visited.host);
    }
    order
}

/// The pages that can be reached from the seeds.
pub(super) fn reachable(graph: &Graph) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = graph.seeds.clone();
    while let Some(page) = open.pop() {
        if reached.insert(page) {
            open.extend(&graph.links[page]);
        }
    }
    reached
}
