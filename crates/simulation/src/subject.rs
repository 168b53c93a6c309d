//! A graph made ready for experiments: measured once, then crawled many times.

use std::time::Duration;

use junkai_graph::{
    Cache, Components, Page, PageRank, PageRankConfig, Progress, Statistics, WebGraph, reachable,
};
use rayon::prelude::*;

use crate::crawl::{Run, Trial, simulate};
use crate::policy::Policy;
use crate::value::Value;

/// Seeds that a crawl begins with: one page of each of the largest strongly connected components.
pub const SEEDS: usize = 64;

/// A graph with all that experiments need to know of it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The graph.
    pub web: WebGraph,
    /// True PageRank.
    pub pagerank: PageRank,
    /// Its strongly connected components.
    pub components: Components,
    /// Links to each page.
    pub in_degrees: Vec<u32>,
    /// Where crawls begin.
    pub seeds: Vec<Page>,
    /// Which share of PageRank each page has, among those that can be reached from the seeds.
    pub value: Value,
    /// What it looks like in numbers.
    pub statistics: Statistics,
    /// How long a visit to each server takes, where that was measured; else as long as the policy says.
    pub latencies: Vec<Duration>,
}

impl Subject {
    /// Measures a graph, or reads from the cache what was measured before. Crawls begin at the largest components.
    pub fn measure(web: WebGraph, cache: &Cache, progress: &mut dyn FnMut(Progress)) -> Subject {
        let measures = cache.measures(&web.links);
        let pagerank = measures.pagerank(&PageRankConfig::default(), progress);
        let components = measures.components(progress);
        let in_degrees = measures.in_degrees();
        let seeds = components.seeds(SEEDS);
        Subject::with_seeds(
            web,
            Measured {
                pagerank,
                components,
                in_degrees,
            },
            seeds,
        )
    }

    /// Likewise, with crawls that begin at these pages.
    #[must_use]
    pub fn with_seeds(web: WebGraph, measured: Measured, seeds: Vec<Page>) -> Subject {
        let value = Value::of_reachable(&measured.pagerank, &reachable(&web.links, &seeds));
        let statistics = Statistics::new(&web, &measured.components, &measured.pagerank);
        Subject {
            web,
            pagerank: measured.pagerank,
            components: measured.components,
            in_degrees: measured.in_degrees,
            seeds,
            value,
            statistics,
            latencies: Vec::new(),
        }
    }

    /// Crawls once by each policy, several at a time; the results are in the order of the policies.
    pub fn crawl_all(
        &self,
        policies: &[Policy],
        progress: &(dyn Fn(&Policy, u64) + Sync),
    ) -> Vec<Run> {
        policies
            .par_iter()
            .map(|policy| self.crawl(policy, &mut |visits| progress(policy, visits)))
            .collect()
    }

    /// Crawls from the seeds until nothing is left.
    pub fn crawl(&self, policy: &Policy, progress: &mut dyn FnMut(u64)) -> Run {
        let trial = Trial {
            web: &self.web,
            seeds: &self.seeds,
            policy,
            pages_max: u32::MAX,
            latencies: &self.latencies,
        };
        simulate(&trial, &self.value, progress)
    }
}

/// What was measured of a graph.
#[derive(Clone, Debug)]
pub struct Measured {
    /// PageRank of all pages.
    pub pagerank: PageRank,
    /// Strongly connected components.
    pub components: Components,
    /// Links to each page.
    pub in_degrees: Vec<u32>,
}
