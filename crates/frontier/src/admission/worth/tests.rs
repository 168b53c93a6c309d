//! The order by priority against looking at every page and every host, each time.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use proptest::prelude::*;

use super::super::testing::{calls, check_agreement, crawl, graphs, reachable, steps_of};
use super::*;
use junkai_chance::mix;

/// The same without lists, levels in bits, or anything kept that can be reckoned.
struct Naive {
    config: WorthConfig,
    waiting: Vec<Waiting>,
    hosts: BTreeMap<u64, Standing>,
    visits: BTreeMap<u64, u64>,
    now: u64,
}

#[derive(Clone)]
struct Waiting {
    candidate: Candidate<usize>,
    /// When it came to its level.
    since: u64,
}

/// How a host stands that has pages waiting or visits in hand.
#[derive(Default)]
struct Standing {
    in_hand: u32,
    /// Its level and when it came to it, while it queues.
    queued: Option<(i32, u64)>,
}

impl Naive {
    fn new(config: WorthConfig) -> Naive {
        Naive {
            config,
            waiting: vec![],
            hosts: BTreeMap::new(),
            visits: BTreeMap::new(),
            now: 0,
        }
    }

    /// The counter of a host.
    fn counter(&self, host: u64) -> u64 {
        mix(host) % self.config.visits_table as u64
    }

    fn settle(&mut self, host: u64) {
        self.now += 1;
        let visits = self.visits.get(&self.counter(host)).copied().unwrap_or(0);
        let taken_off = (self.config.spread * half_doublings(visits) as f32).min(64.0);
        let pages = self
            .waiting
            .iter()
            .filter(|page| page.candidate.host == host);
        let best = pages.map(|page| level(page.candidate.priority)).max();
        let standing = self.hosts.entry(host).or_default();
        let may_go = standing.in_hand < self.config.in_hand_max.get();
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        let place = best.filter(|_| may_go).map(|best| best - taken_off as i32);
        if place != standing.queued.map(|(level, _)| level) {
            standing.queued = place.map(|level| (level, self.now));
        }
        if best.is_none() && standing.in_hand == 0 {
            self.hosts.remove(&host);
        }
    }
}

/// The highest of 64 levels whose priority, 2^((level − 24) / 2), is not above this one. The square of an `f32` is exact in an `f64`.
fn level(priority: f32) -> i32 {
    let square = f64::from(priority) * f64::from(priority);
    (1..64)
        .rev()
        .find(|level| 2_f64.powi(level - 24) <= square)
        .unwrap_or(0)
}

/// ⌊2 · log₂(1 + visits)⌋.
fn half_doublings(visits: u64) -> u32 {
    let square = (1 + visits) * (1 + visits);
    (0..63)
        .rev()
        .find(|&half_doublings| 1 << half_doublings <= square)
        .unwrap()
}

fn reckonable(priority: f32) -> f32 {
    if priority.is_nan() || priority < 0.0 {
        0.0
    } else {
        priority.min(1_048_576.0)
    }
}

impl Admission<usize> for Naive {
    fn gain(&mut self, source: &Source, host: u64) -> f32 {
        if self.config.gain == Gain::Count {
            return 1.0;
        }
        let links = if source.links == 0 {
            1.0
        } else {
            source.links as f32
        };
        let share =
            (self.config.teleport + self.config.damping * reckonable(source.priority)) / links;
        reckonable(if source.host == host {
            share
        } else {
            share * self.config.cross_host
        })
    }

    fn raise(&mut self, fingerprint: u64, gain: f32) -> bool {
        self.now += 1;
        let found = self
            .waiting
            .iter_mut()
            .find(|page| page.candidate.fingerprint == fingerprint);
        let Some(page) = found else {
            return false;
        };
        let before = level(page.candidate.priority);
        page.candidate.priority = reckonable(page.candidate.priority + reckonable(gain));
        if before != level(page.candidate.priority) {
            page.since = self.now;
            let host = page.candidate.host;
            self.settle(host);
        }
        true
    }

    fn offer(&mut self, mut candidate: Candidate<usize>) -> Option<Candidate<usize>> {
        if self
            .waiting
            .iter()
            .any(|page| page.candidate.fingerprint == candidate.fingerprint)
        {
            return Some(candidate);
        }
        self.now += 1;
        candidate.priority = reckonable(candidate.priority);
        let host = candidate.host;
        let visit = candidate.visit;
        self.waiting.push(Waiting {
            candidate,
            since: self.now,
        });
        let mut evicted = None;
        if self.config.candidates_max < self.waiting.len() {
            let worst = (0..self.waiting.len()).min_by_key(|&index| {
                let page = &self.waiting[index];
                (level(page.candidate.priority), u64::MAX - page.since)
            });
            let page = self.waiting.remove(worst.unwrap()).candidate;
            if page.visit == visit {
                return Some(page);
            }
            // The one that leaves has left before the newcomer is there.
            let newcomer = self.waiting.pop();
            self.settle(page.host);
            self.waiting.extend(newcomer);
            evicted = Some(page);
        }
        self.settle(host);
        evicted
    }

    fn next(&mut self) -> Option<Candidate<usize>> {
        let queued = self.hosts.iter().filter_map(|(&host, standing)| {
            standing
                .queued
                .map(|(level, since)| (level, u64::MAX - since, host))
        });
        let (_, _, host) = queued.max()?;
        let pages =
            (0..self.waiting.len()).filter(|&index| self.waiting[index].candidate.host == host);
        let best = pages.max_by_key(|&index| {
            let page = &self.waiting[index];
            (level(page.candidate.priority), u64::MAX - page.since)
        })?;
        let page = self.waiting.remove(best);
        *self.visits.entry(self.counter(host)).or_default() += 1;
        let standing = self.hosts.get_mut(&host).unwrap();
        standing.in_hand += 1;
        standing.queued = None;
        self.settle(host);
        Some(page.candidate)
    }

    fn release(&mut self, host: u64) {
        if let Some(standing) = self.hosts.get_mut(&host) {
            standing.in_hand = standing.in_hand.saturating_sub(1);
            self.settle(host);
        }
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn room(&self) -> usize {
        self.config.candidates_max - self.waiting.len()
    }
}

fn configs() -> impl Strategy<Value = WorthConfig> {
    let gain = prop_oneof![3 => Just(Gain::Share), 1 => Just(Gain::Count)];
    let spread = prop::sample::select(vec![0.0, 0.25, 0.5, 1.0, 3.0, 40.0]);
    let visits_table = prop::sample::select(vec![1, 2, 1024]);
    (0_usize..12, gain, spread, visits_table, 1_u32..4).prop_map(
        |(candidates_max, gain, spread, visits_table, in_hand_max)| WorthConfig {
            candidates_max,
            gain,
            spread,
            visits_table,
            in_hand_max: NonZeroU32::new(in_hand_max).unwrap(),
            ..WorthConfig::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn agrees_call_by_call_with_looking_at_every_page(config in configs(), calls in calls()) {
        let mut room = Worth::new(config);
        let standing = check_agreement(&mut room, &mut Naive::new(config), &calls)?;
        prop_assert!(standing.in_hand_most <= config.in_hand_max.get());
        prop_assert_eq!(room.hosts(), standing.hosts().len(), "idle hosts are forgotten");
    }

    #[test]
    fn visits_a_graph_in_the_order_of_looking_at_every_page(config in configs(), graph in graphs()) {
        let order = crawl(&graph, &mut Worth::new(config));
        prop_assert_eq!(&order, &crawl(&graph, &mut Naive::new(config)));
        let visited: BTreeSet<usize> = order.iter().copied().collect();
        prop_assert_eq!(visited.len(), order.len());
    }

    #[test]
    fn with_room_for_all_everything_is_visited(graph in graphs()) {
        let order = crawl(&graph, &mut Worth::new(WorthConfig::default()));
        prop_assert_eq!(order.len(), reachable(&graph).len());
    }

    #[test]
    fn who_makes_room_is_of_the_lowest_level(
        priorities in prop::collection::vec(0.0_f32..100.0, 1..60),
        candidates_max in 1_usize..20,
    ) {
        let mut room = Worth::new(WorthConfig { candidates_max, ..WorthConfig::default() });
        let mut worst_kept = vec![];
        for (page, &priority) in priorities.iter().enumerate() {
            if let Some(evicted) = room.offer(page_of(page, page as u64 % 3, priority)) {
                worst_kept.push(level_of(evicted.priority));
            }
        }
        let kept: Vec<u8> = std::iter::from_fn(|| {
            let next = room.next()?;
            room.release(next.host);
            Some(level_of(next.priority))
        })
        .collect();
        let highest_evicted = worst_kept.into_iter().max().unwrap_or(0);
        prop_assert!(kept.iter().all(|&level| highest_evicted <= level));
    }
}

#[test]
fn a_link_carries_its_share_and_more_across_hosts() {
    let mut room = Worth::<usize>::new(WorthConfig::default());
    let source = Source {
        host: 1,
        priority: 2.0,
        links: 5,
    };
    let within = room.gain(&source, 1);
    assert!((within - (0.15 + 0.85 * 2.0) / 5.0).abs() < 1e-6);
    assert!((room.gain(&source, 2) - 3.0 * within).abs() < 1e-6);
}

#[test]
fn a_host_that_is_visited_gives_way_to_others() {
    let mut room = Worth::new(WorthConfig::default());
    for page in 0..8 {
        room.offer(page_of(page, 1, 4.0));
    }
    for page in 8..10 {
        room.offer(page_of(page, 2, 2.0));
    }
    let mut hosts = vec![];
    while let Some(next) = room.next() {
        hosts.push(next.host);
        room.release(next.host);
    }
    // A doubling of visits takes one level off; a doubling of priority is two.
    assert_eq!(hosts, [1, 1, 1, 2, 1, 1, 1, 1, 2, 1]);
}

#[test]
fn a_host_gets_no_second_visit_before_the_first_is_over() {
    let mut room = Worth::new(WorthConfig::default());
    room.offer(page_of(1, 1, 4.0));
    room.offer(page_of(2, 1, 4.0));
    room.offer(page_of(3, 2, 1.0));
    assert_eq!(room.next().map(|next| next.visit), Some(1));
    assert_eq!(room.next().map(|next| next.visit), Some(3));
    assert_eq!(room.next(), None, "one page waits, and may not go");
    assert_eq!(room.len(), 1);
    room.release(1);
    assert_eq!(room.next().map(|next| next.visit), Some(2));
}

#[test]
fn a_call_changes_eight_lists_at_most_however_many_wait() {
    for pages in [1 << 4, 1 << 16] {
        let mut room = Worth::new(WorthConfig {
            candidates_max: pages,
            ..WorthConfig::default()
        });
        let mut steps_most = 0;
        for page in 0..4 * pages {
            let random = mix(page as u64);
            let priority = (random % 256) as f32;
            let candidate = page_of(page, random % 100, priority);
            let raised = random % (page as u64 + 1);
            let mut next = None;
            let steps = [
                steps_of(|| room.offer(candidate)),
                steps_of(|| room.raise(raised, priority)),
                steps_of(|| next = room.next().filter(|_| random.is_multiple_of(3))),
                next.map_or(0, |next| steps_of(|| room.release(next.host))),
            ];
            steps_most = steps.into_iter().max().unwrap().max(steps_most);
        }
        assert!(4 < steps_most, "an eviction takes more than a hand-out");
        assert!(steps_most <= 8, "{steps_most} with {pages} pages");
    }
}

#[test]
fn memory_is_as_documented() {
    let pages = 1 << 16;
    for (pages_of_host, expected) in [(1, 110), (16, 50)] {
        let mut room = Worth::new(WorthConfig {
            candidates_max: pages,
            ..WorthConfig::default()
        });
        for page in 0..2 * pages {
            room.offer(page_of(
                page,
                (page / pages_of_host) as u64,
                1.0 + (page % 64) as f32,
            ));
        }
        assert_eq!(room.len(), pages);
        let beside = (room.bytes() - (256 << 10)) / pages - size_of::<Candidate<usize>>();
        assert!(beside <= expected, "{beside} bytes beside the candidate");
    }
}

fn page_of(page: usize, host: u64, priority: f32) -> Candidate<usize> {
    Candidate {
        fingerprint: page as u64,
        host,
        priority,
        visit: page,
    }
}
