//! Budgets against obvious versions: the prototype of Morimoto et al. (2011), and queues as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use proptest::prelude::*;

use super::super::testing::{Graph, crawl, graphs, reachable};
use super::*;

/// The rounds of the prototype: each takes of every host, in the order in which they were found, as many pages as its budget;
/// the rest and what is found meanwhile make up the next round.
fn one_queue_rounds(graph: &Graph, least: u64, most: u64) -> Vec<usize> {
    let mut degrees = [0_u64; 6];
    let mut known: BTreeSet<usize> = graph.seeds.iter().copied().collect();
    let mut waiting = graph.seeds.clone();
    let mut order = vec![];
    while !waiting.is_empty() {
        let degree_max = degrees.iter().copied().max().unwrap().max(1);
        let mut counts = [0_u64; 6];
        let mut batch = vec![];
        let mut rest = vec![];
        for page in waiting {
            let host = usize::try_from(graph.hosts[page]).unwrap();
            if counts[host] < least + (most - least) * degrees[host] / degree_max {
                counts[host] += 1;
                batch.push(page);
            } else {
                rest.push(page);
            }
        }
        for page in batch {
            order.push(page);
            for &target in &graph.links[page] {
                if graph.hosts[target] != graph.hosts[page] {
                    degrees[usize::try_from(graph.hosts[target]).unwrap()] += 1;
                }
                if known.insert(target) {
                    rest.push(target);
                }
            }
        }
        waiting = rest;
    }
    order
}

/// Queues in a table by number, and a count for each queue and site.
struct Naive {
    config: BudgetConfig,
    links: Vec<(u64, u64)>,
    queues: BTreeMap<u64, Vec<Candidate<usize>>>,
    filled: BTreeMap<(u64, u64), u64>,
    left_over: Vec<Candidate<usize>>,
    /// Sites that have gone beyond the last queue of the round.
    beyond: BTreeSet<u64>,
    open: u64,
    last: u64,
    rounds: u32,
}

impl Naive {
    fn new(config: BudgetConfig) -> Naive {
        Naive {
            config,
            links: vec![],
            queues: BTreeMap::new(),
            filled: BTreeMap::new(),
            left_over: vec![],
            beyond: BTreeSet::new(),
            open: 0,
            last: 0,
            rounds: 0,
        }
    }

    fn degrees(&self) -> BTreeMap<u64, u64> {
        let mut links: Vec<(u64, u64)> = self
            .links
            .iter()
            .copied()
            .filter(|(from, to)| from != to)
            .collect();
        if self.config.degree == Degree::DistinctHosts {
            links.sort_unstable();
            links.dedup();
        }
        let mut degrees = BTreeMap::new();
        for (_, to) in links {
            *degrees.entry(to).or_default() += 1;
        }
        degrees
    }

    fn budget(&self, host: u64) -> u64 {
        let degrees = self.degrees();
        let degree = degrees.get(&host).copied().unwrap_or(0);
        let not_below = degrees.values().filter(|&&other| degree <= other).count();
        let least = u64::from(self.config.least.get());
        let is_top = self
            .config
            .top_sites
            .is_none_or(|top| not_below <= top.get() as usize);
        let degree_max = degrees.values().copied().max().unwrap_or(1);
        let range = u64::from(self.config.most.get()).saturating_sub(least);
        if is_top {
            least + range * degree / degree_max
        } else {
            least
        }
    }

    fn place(&mut self, candidate: Candidate<usize>) {
        let host = candidate.host;
        let budget = self.budget(host);
        let filled = |queue: u64| self.filled.get(&(host, queue)).copied().unwrap_or(0);
        // A site does not go back to a queue that it has gone beyond, even if its budget has risen since.
        let latest = (self.open + 1..=self.last)
            .rev()
            .find(|&queue| 0 < filled(queue));
        let mut after = latest.unwrap_or(self.open + 1)..=self.last;
        match after.find(|&queue| filled(queue) < budget) {
            Some(queue) if !self.beyond.contains(&host) => {
                *self.filled.entry((host, queue)).or_default() += 1;
                self.queues.entry(queue).or_default().push(candidate);
            }
            _ => {
                self.beyond.insert(host);
                self.left_over.push(candidate);
            }
        }
    }
}

impl Admission<usize> for Naive {
    fn gain(&mut self, source: &Source, host: u64) -> f32 {
        self.links.push((source.host, host));
        0.0
    }

    fn raise(&mut self, _: u64, _: f32) -> bool {
        false
    }

    fn offer(&mut self, candidate: Candidate<usize>) -> Option<Candidate<usize>> {
        self.place(candidate);
        None
    }

    fn next(&mut self) -> Option<Candidate<usize>> {
        let is_drained = self.queues.values().all(Vec::is_empty);
        if is_drained && !self.left_over.is_empty() {
            self.open = self.last;
            self.beyond.clear();
            let doublings = if self.config.is_doubling {
                self.rounds
            } else {
                0
            };
            self.last += u64::from(self.config.queues.get()) << doublings.min(20);
            self.rounds += 1;
            for candidate in std::mem::take(&mut self.left_over) {
                self.place(candidate);
            }
        }
        let (&number, queue) = self
            .queues
            .iter_mut()
            .find(|(_, queue)| !queue.is_empty())?;
        self.open = number;
        Some(queue.remove(0))
    }

    fn release(&mut self, _: u64) {}

    fn len(&self) -> usize {
        self.queues.values().map(Vec::len).sum::<usize>() + self.left_over.len()
    }

    fn room(&self) -> usize {
        usize::MAX - self.len()
    }
}

fn configs() -> impl Strategy<Value = BudgetConfig> {
    let number =
        |range: std::ops::Range<u32>| range.prop_map(|number| NonZeroU32::new(number).unwrap());
    let degree = prop_oneof![Just(Degree::Links), Just(Degree::DistinctHosts)];
    let top_sites = prop::option::of(number(1..4));
    (
        number(1..4),
        number(1..9),
        top_sites,
        number(1..4),
        any::<bool>(),
        degree,
    )
        .prop_map(
            |(least, most, top_sites, queues, is_doubling, degree)| BudgetConfig {
                least,
                most,
                top_sites,
                queues,
                is_doubling,
                degree,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn one_queue_visits_a_graph_in_the_order_of_the_prototype(
        graph in graphs(),
        least in 1_u32..4,
        range in 0_u32..12,
    ) {
        let config = BudgetConfig {
            least: NonZeroU32::new(least).unwrap(),
            most: NonZeroU32::new(least + range).unwrap(),
            ..BudgetConfig::one_queue()
        };
        let order = crawl(&graph, &mut Budgets::new(config));
        prop_assert_eq!(order, one_queue_rounds(&graph, u64::from(least), u64::from(least + range)));
    }

    #[test]
    fn any_budgets_visit_everything_once_as_a_table_of_queues_does(
        graph in graphs(),
        config in configs(),
    ) {
        let order = crawl(&graph, &mut Budgets::new(config));
        prop_assert_eq!(&order, &crawl(&graph, &mut Naive::new(config)));
        let visited: BTreeSet<usize> = order.iter().copied().collect();
        prop_assert_eq!(order.len(), visited.len());
        prop_assert_eq!(visited, reachable(&graph));
    }
}

#[test]
fn the_first_budgets_worth_goes_to_the_next_queue_and_so_on() {
    let mut room = Budgets::new(BudgetConfig {
        least: NonZeroU32::new(2).unwrap(),
        ..BudgetConfig::default()
    });
    for page in 0..10 {
        room.offer(page_of(page, u64::from(page == 9)));
    }
    let order: Vec<usize> = std::iter::from_fn(|| room.next())
        .map(|next| next.visit)
        .collect();
    // Two queues, then four: the other host's page does not wait for the long one.
    assert_eq!(order, [0, 1, 9, 2, 3, 4, 5, 6, 7, 8]);
    assert!(room.is_empty());
}

#[test]
fn only_the_top_sites_get_more_than_the_least() {
    let mut room = Budgets::<usize>::new(BudgetConfig {
        top_sites: NonZeroU32::new(2),
        ..BudgetConfig::published()
    });
    for (host, degree) in [(1, 8), (2, 4), (3, 4), (4, 2), (5, 0)] {
        for from in 100..100 + degree {
            let source = Source {
                host: from,
                priority: 0.0,
                links: 1,
            };
            room.gain(&source, host);
            room.gain(&source, host);
        }
    }
    let budget = |room: &mut Budgets<usize>, host| {
        let slot = room.sites.entry(host);
        room.sites.budget(slot)
    };
    let budgets = [1, 2, 3, 4, 5].map(|host| budget(&mut room, host));
    assert_eq!(
        budgets,
        [10_000, 10, 10, 10, 10],
        "two that are level cannot both be second"
    );
    let source = Source {
        host: 200,
        priority: 0.0,
        links: 1,
    };
    room.gain(&source, 3);
    assert_eq!(budget(&mut room, 3), 10 + 9990 * 5 / 8);
    assert_eq!(budget(&mut room, 2), 10);
}

#[test]
fn asking_an_empty_room_changes_nothing() {
    let mut room = Budgets::<usize>::new(BudgetConfig::default());
    for _ in 0..100 {
        assert_eq!(room.next(), None);
    }
    assert_eq!((room.last_number, room.queues), (0, 2));
}

fn page_of(page: usize, host: u64) -> Candidate<usize> {
    Candidate {
        fingerprint: page as u64,
        host,
        priority: 0.0,
        visit: page,
    }
}
