//! Matsukubo and Hayashi (2003): whether visiting first what many known pages point to finds authorities and hubs sooner than breadth first.
//!
//! Matsukubo and Hayashi (2003), figures 1 to 4: degree distributions of the crawled part of the web, and authorities and hubs found against pages
//! visited, from several starts that lie far apart.
//!
//! The paper calls a page an authority when its in-degree is at least that of the last page of the top 0.1 % of what in-degree
//! first has crawled, and counts only links within each crawl's own pages: a measure that in-degree first raises by what it is.
//! So the top 0.1 % by in-degree in the whole graph, and PageRank, stand beside it.
//!
//! Departures: the top 0.1 % is never fewer than ten pages; where 100,000 pages are too much of a graph, the crawls end at 31 % of
//! what can be reached, which is what 100,000 pages are of cnr-2000.

mod claims;
mod draw;
mod findings;
mod starts;
mod sub_graph;
mod tables;

use junkai_graph::{Page, reachable};
use junkai_simulation::crawl::{self, Run};
use junkai_simulation::outcome::Outcome;
use junkai_simulation::policy::Policy;
use junkai_simulation::subject::Subject;
use rayon::prelude::*;
use sub_graph::SubGraph;

use super::Watch;
use super::trials::Meter;
use super::words::{count, fingerprints, parameter};

/// Pages that are called the top: one in a thousand.
const TOP_ONE_IN: usize = 1000;
/// Of small crawls, at least so many pages are the top.
const TOP_MIN: usize = 10;
/// The part of a graph that is crawled at most.
const PART_MAX: f64 = 0.31;
/// Crawls of fewer pages than this say nothing of an order.
const PAGES_MIN: u32 = 250;
/// Points of a curve.
const CURVE_POINTS: usize = 100;

/// The settings of the experiment.
#[derive(Clone, Debug)]
pub struct InDegreeExperiment {
    /// Starts on each graph. Default 5.
    pub starts: usize,
    /// The seed of the first start. Default 1.
    pub seed: u64,
    /// Pages that a crawl visits at most. Default 100,000.
    pub pages_max: u32,
    /// The command that repeats it, as it is to be printed. Default none.
    pub command: String,
}

impl Default for InDegreeExperiment {
    fn default() -> InDegreeExperiment {
        InDegreeExperiment {
            starts: 5,
            seed: 1,
            pages_max: 100_000,
            command: String::new(),
        }
    }
}

/// Runs it on each graph.
pub fn run(subjects: &[Subject], experiment: &InDegreeExperiment, watch: Watch<'_>) -> Outcome {
    let plans: Vec<GraphPlan> = subjects
        .iter()
        .map(|subject| GraphPlan::new(subject, experiment))
        .collect();
    let pairs: Vec<(usize, Page)> = plans
        .iter()
        .enumerate()
        .flat_map(|(graph, plan)| plan.starts.iter().map(move |start| (graph, *start)))
        .collect();
    let visits = pairs
        .iter()
        .map(|(graph, _)| 2 * u64::from(plans[*graph].limit))
        .sum();
    let meter = Meter::new(watch, visits);
    let found: Vec<Pair> = pairs
        .par_iter()
        .with_max_len(1)
        .map(|(graph, start)| {
            let mut counter = meter.counter();
            let pair = Pair::new(&subjects[*graph], *start, plans[*graph].limit);
            counter.at(2 * u64::from(plans[*graph].limit));
            pair
        })
        .collect();
    meter.finish();
    let mut found = found.into_iter();
    let graphs = subjects
        .iter()
        .zip(plans)
        .map(|(subject, plan)| GraphResults {
            subject,
            pairs: found.by_ref().take(plan.starts.len()).collect(),
            plan,
        })
        .collect();
    let results = Results { graphs };
    Outcome {
        name: "in-degree".to_owned(),
        title: "In-degree first, of Matsukubo and Hayashi (2003), against breadth first".to_owned(),
        command: experiment.command.clone(),
        parameters: results.parameters(experiment),
        findings: results.findings(),
        claims: results.claims(),
        tables: results.tables(),
        figures: results.figures(),
    }
}

/// What is crawled of a graph.
struct GraphPlan {
    /// None if too few pages can be reached.
    starts: Vec<Page>,
    /// Pages that can be reached from the first start.
    reached: u32,
    limit: u32,
}

impl GraphPlan {
    fn new(subject: &Subject, experiment: &InDegreeExperiment) -> GraphPlan {
        let mut starts = starts::far_apart(subject, experiment.starts, experiment.seed);
        let reached = starts.first().map_or(0, |start| {
            let reached = reachable(&subject.web.links, &[*start]);
            reached.into_iter().filter(|is_reached| *is_reached).count()
        });
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of a u32"
        )]
        let part = (reached as f64 * PART_MAX).ceil() as u32;
        let limit = part.min(experiment.pages_max);
        if limit < PAGES_MIN {
            starts.clear();
        }
        GraphPlan {
            starts,
            reached: u32::try_from(reached).unwrap_or(u32::MAX),
            limit,
        }
    }
}

/// What came of a graph.
struct GraphResults<'a> {
    subject: &'a Subject,
    plan: GraphPlan,
    /// One for each start.
    pairs: Vec<Pair>,
}

struct Results<'a> {
    graphs: Vec<GraphResults<'a>>,
}

/// Both crawls from one start.
struct Pair {
    start: Page,
    /// The least degrees of authorities and hubs.
    authority_degree: u32,
    hub_degree: u32,
    in_degree_first: Found,
    breadth_first: Found,
}

/// What one crawl found.
struct Found {
    sub_graph: SubGraph,
    authorities: Vec<u32>,
    hubs: Vec<u32>,
    top_pages: Vec<u32>,
    shares: Vec<f64>,
}

impl Pair {
    fn new(subject: &Subject, start: Page, limit: u32) -> Pair {
        let crawl = |policy: Policy| -> Run {
            let trial = crawl::Trial {
                web: &subject.web,
                seeds: &[start],
                policy: &policy,
                pages_max: limit,
                latencies: &[],
            };
            crawl::simulate(&trial, &subject.value, &mut |_| {})
        };
        let ours = crawl(Policy::in_degree()).order;
        let theirs = crawl(Policy::breadth_first()).order;
        let (our_part, their_part) = (
            SubGraph::new(subject, &ours),
            SubGraph::new(subject, &theirs),
        );
        let authority_degree = least_of_top(&our_part.in_degrees);
        let hub_degree = least_of_top(&our_part.out_degrees);
        let found = |order: Vec<Page>, sub_graph: SubGraph| {
            let cumulated = subject.value.cumulated(&order);
            let top_degree = least_of_top(&subject.in_degrees);
            let degrees: Vec<u32> = order
                .iter()
                .map(|page| subject.in_degrees[*page as usize])
                .collect();
            Found {
                authorities: reached(&sub_graph.in_degrees, authority_degree),
                hubs: reached(&sub_graph.out_degrees, hub_degree),
                top_pages: reached(&degrees, top_degree),
                shares: places(cumulated.len())
                    .map(|place| cumulated[place - 1])
                    .collect(),
                sub_graph,
            }
        };
        Pair {
            start,
            authority_degree,
            hub_degree,
            in_degree_first: found(ours, our_part),
            breadth_first: found(theirs, their_part),
        }
    }
}

impl Found {
    /// How many pages were visited.
    fn pages(&self) -> usize {
        self.sub_graph.in_degrees.len()
    }
}

/// The least degree of the top pages, as the paper has it; at least one, so that nothing counts that nothing points to.
fn least_of_top(degrees: &[u32]) -> u32 {
    let mut sorted = degrees.to_vec();
    sorted.sort_unstable_by(|left, right| right.cmp(left));
    let top = (sorted.len() / TOP_ONE_IN).max(TOP_MIN);
    let last = sorted.get(top - 1).or(sorted.last());
    last.copied().unwrap_or(1).max(1)
}

/// How many of the pages visited so far have at least this degree, at each point of a curve.
fn reached(degrees: &[u32], least: u32) -> Vec<u32> {
    let mut count = 0;
    let counts: Vec<u32> = degrees
        .iter()
        .map(|&degree| {
            count += u32::from(least <= degree);
            count
        })
        .collect();
    places(counts.len())
        .map(|place| counts[place - 1])
        .collect()
}

/// The visits at which a curve has its points; none in a crawl that visited fewer pages than that.
fn places(visits: usize) -> impl Iterator<Item = usize> {
    let points = if visits < CURVE_POINTS {
        visits
    } else {
        CURVE_POINTS
    };
    (1..=points).map(move |point| visits * point / points)
}

impl<'a> Results<'a> {
    /// Graphs on which there was enough to crawl.
    fn crawled(&self) -> impl Iterator<Item = &GraphResults<'a>> {
        let graphs = self.graphs.iter();
        graphs.filter(|graph| !graph.pairs.is_empty())
    }

    fn parameters(
        &self,
        experiment: &InDegreeExperiment,
    ) -> Vec<junkai_simulation::outcome::Parameter> {
        let graphs: Vec<String> = self
            .crawled()
            .map(|graph| {
                let starts: Vec<String> =
                    graph.plan.starts.iter().map(ToString::to_string).collect();
                let limit = count(graph.plan.limit.into());
                format!(
                    "{}: {limit} pages, from {}",
                    graph.subject.web.name,
                    starts.join(", ")
                )
            })
            .collect();
        vec![
            parameter("crawls", graphs.join("; ")),
            parameter(
                "starts",
                format!(
                    "{} pages of the largest strongly connected component, the first drawn with seed {}, each further one the \
                     farthest from those before",
                    experiment.starts, experiment.seed
                ),
            ),
            parameter(
                "pages at most",
                format!(
                    "{} or 31 % of what can be reached, whichever is less",
                    count(experiment.pages_max.into())
                ),
            ),
            parameter("top pages", "0.1 %, at least 10 pages"),
            fingerprints(self.graphs.iter().map(|graph| graph.subject)),
        ]
    }
}

#[cfg(test)]
mod tests;
