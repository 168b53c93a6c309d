//! The crawls of an experiment: run side by side, each boiled down to what tables and figures need.
//!
//! An experiment asks for [`Trials::run`] with the policies of each graph, as often as it needs to; a policy that ran before does
//! not run again. [`Trials::of`] then finds what came of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use junkai_simulation::crawl::{Pace, Run};
use junkai_simulation::policy::Policy;
use junkai_simulation::subject::Subject;
use rayon::prelude::*;

use super::{Progress, Watch};

/// Parts of the pages at which the share of PageRank is told.
pub(super) const MARKS: [f64; 4] = [0.1, 0.2, 0.3, 0.5];

/// Shares of PageRank at which memory is compared.
pub(super) const LEVELS: [f64; 4] = [0.5, 0.6, 0.7, 0.8];

/// Shares that differ by less are level: sums in another order differ by as much.
pub(super) const TIE: f64 = 1e-9;

/// Points that are kept of a curve: as many as a figure can show.
const CURVE_POINTS: usize = 160;

/// What is kept of a crawl.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) policy: Policy,
    /// Pages that were visited.
    pub(super) pages: u32,
    /// The part of the pages that were visited.
    pub(super) coverage: f64,
    /// The share of PageRank in the end.
    pub(super) share: f64,
    /// The share of PageRank at each of the [`MARKS`] that was reached.
    pub(super) share_at: [Option<f64>; MARKS.len()],
    /// The most pages that waited in memory before each of the [`LEVELS`] was reached.
    pub(super) stored_at: [Option<u32>; LEVELS.len()],
    /// The most pages that ever waited in memory.
    pub(super) stored_max: u32,
    /// Times that a page found no room and was forgotten.
    pub(super) discarded: u64,
    pub(super) pace: Pace,
    pub(super) curve: Vec<CurvePoint>,
}

/// A moment of a crawl.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CurvePoint {
    /// The part of the pages that were visited.
    pub(super) part: f64,
    /// The share of PageRank that they have.
    pub(super) share: f64,
    /// Pages that waited in memory.
    pub(super) stored: f64,
}

impl Trial {
    fn new(subject: &Subject, policy: &Policy, run: &Run) -> Trial {
        let value = &subject.value;
        let cumulated = value.cumulated(&run.order);
        let mut most = 0;
        let most_until: Vec<u32> = run
            .stored
            .iter()
            .map(|&stored| {
                most = most.max(stored);
                most
            })
            .collect();
        Trial {
            policy: policy.clone(),
            pages: u32::try_from(run.order.len()).unwrap_or(u32::MAX),
            coverage: value.coverage(run),
            share: cumulated.last().copied().unwrap_or(0.0),
            share_at: MARKS.map(|mark| value.share_at(&cumulated, mark)),
            stored_at: LEVELS.map(|level| {
                let visit = cumulated.partition_point(|share| *share < level);
                most_until.get(visit).copied()
            }),
            stored_max: run.stored_max(),
            discarded: run.discarded,
            pace: run.pace,
            curve: curve(&cumulated, &run.stored, value.reachable()),
        }
    }

    /// The share of PageRank against the part of pages visited.
    pub(super) fn share_curve(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.curve.iter().map(|point| (point.part, point.share))
    }

    /// Pages that waited in memory against the part of pages visited.
    pub(super) fn stored_curve(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.curve.iter().map(|point| (point.part, point.stored))
    }
}

/// Cuts a crawl into equal parts, and adds where it began and its first hundredth, where shares rise fastest.
fn curve(cumulated: &[f64], stored: &[u32], reachable: u32) -> Vec<CurvePoint> {
    let visits = cumulated.len();
    let evenly = (1..=CURVE_POINTS).map(|point| visits * point / CURVE_POINTS);
    let early = [1000, 500, 250].map(|part| visits / part);
    let mut places: Vec<usize> = early.into_iter().chain(evenly).collect();
    places.retain(|&place| 0 < place);
    places.dedup();
    let start = CurvePoint {
        part: 0.0,
        share: 0.0,
        stored: 0.0,
    };
    let moment = |place: usize| CurvePoint {
        part: place as f64 / f64::from(reachable.max(1)),
        share: cumulated[place - 1],
        stored: f64::from(stored[place - 1]),
    };
    std::iter::once(start)
        .chain(places.into_iter().map(moment))
        .collect()
}

/// What came of the crawls of several graphs.
#[derive(Debug)]
pub(super) struct Trials<'a> {
    subjects: &'a [Subject],
    /// For each graph, by the text of the policy.
    results: Vec<BTreeMap<String, Trial>>,
}

impl<'a> Trials<'a> {
    pub(super) fn new(subjects: &'a [Subject]) -> Trials<'a> {
        Trials {
            subjects,
            results: vec![BTreeMap::new(); subjects.len()],
        }
    }

    pub(super) fn subjects(&self) -> &'a [Subject] {
        self.subjects
    }

    /// Crawls each graph by each of its policies, several at a time.
    pub(super) fn run(
        &mut self,
        policies_of: impl Fn(&Self, usize) -> Vec<Policy>,
        meter: &Meter<'_>,
    ) {
        let mut plan: Vec<(usize, Policy)> = Vec::new();
        for graph in 0..self.subjects.len() {
            let mut wanted: BTreeMap<String, Policy> = BTreeMap::new();
            for policy in policies_of(self, graph) {
                let text = policy.to_string();
                if !self.results[graph].contains_key(&text) {
                    wanted.insert(text, policy);
                }
            }
            plan.extend(wanted.into_values().map(|policy| (graph, policy)));
        }
        let subjects = self.subjects;
        // Graphs differ in size by a factor of thirty: each crawl is a job of its own, the largest graphs first.
        plan.sort_by_key(|(graph, _)| std::cmp::Reverse(subjects[*graph].value.reachable()));
        let results: Vec<Trial> = plan
            .par_iter()
            .with_max_len(1)
            .map(|(graph, policy)| {
                let subject = &subjects[*graph];
                let mut counter = meter.counter();
                let run = subject.crawl(policy, &mut |visits| counter.at(visits));
                counter.at(u64::from(subject.value.reachable()));
                Trial::new(subject, policy, &run)
            })
            .collect();
        for ((graph, policy), trial) in plan.into_iter().zip(results) {
            self.results[graph].insert(policy.to_string(), trial);
        }
    }

    /// What came of a policy that ran on a graph.
    pub(super) fn of(&self, graph: usize, policy: &Policy) -> &Trial {
        let text = policy.to_string();
        let found = self.results[graph].get(&text);
        assert!(found.is_some(), "{text} was not run");
        &self.results[graph][&text]
    }

    /// All crawls of a graph, by the text of the policy.
    pub(super) fn all(&self, graph: usize) -> impl Iterator<Item = &Trial> {
        self.results[graph].values()
    }
}

/// Counts the visits of all crawls of an experiment.
pub(super) struct Meter<'a> {
    watch: Watch<'a>,
    done: AtomicU64,
    total: u64,
}

impl<'a> Meter<'a> {
    /// For so many visits at most.
    pub(super) fn new(watch: Watch<'a>, total: u64) -> Meter<'a> {
        Meter {
            watch,
            done: AtomicU64::new(0),
            total,
        }
    }

    /// For so many crawls of each graph.
    pub(super) fn for_crawls(watch: Watch<'a>, subjects: &[Subject], crawls: usize) -> Meter<'a> {
        let visits: u64 = subjects
            .iter()
            .map(|subject| u64::from(subject.value.reachable()))
            .sum();
        Meter::new(watch, visits * crawls as u64)
    }

    /// Counts for one crawl.
    pub(super) fn counter(&self) -> Counter<'_> {
        Counter {
            meter: self,
            counted: 0,
        }
    }

    /// Nothing more will come.
    pub(super) fn finish(self) {
        let total = self.total;
        (self.watch)(Progress { done: total, total });
    }
}

/// Counts the visits of one crawl.
pub(super) struct Counter<'a> {
    meter: &'a Meter<'a>,
    counted: u64,
}

impl Counter<'_> {
    /// So many visits of this crawl are done.
    pub(super) fn at(&mut self, visits: u64) {
        let more = visits.saturating_sub(self.counted);
        self.counted += more;
        let before = self.meter.done.fetch_add(more, Ordering::Relaxed);
        let total = self.meter.total;
        let done = (before + more).min(total);
        (self.meter.watch)(Progress { done, total });
    }
}
