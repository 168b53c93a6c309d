//! The speed of the lab: what a link costs a simulated crawl, policy by policy, as the graph grows.
//!
//! Generated graphs of one kind and several sizes are crawled to the end, from page 0, from which every page can be reached. Read
//! [`run`] first. Beside each crawl stands its *floor* ([`mod@floor`]): the same links in the same order, with nothing done but to look up
//! and set one bit for each. Where the floor's cost rises, the graph has left the caches of the core, and so has any crawl of it.
//!
//! `whole` is the other question: what one simulation of ten million pages takes, in time and memory, from nothing.
//!
//! Costs are CPU time of the one thread that crawls; the graph is made before, and not counted.

mod floor;
mod whole;

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::str::FromStr;

use anyhow::{Result, ensure};
use junkai_simulation::crawl::{Run, Trial, simulate_by_model};
use junkai_simulation::graph::generate::{Generator, GeneratorConfig};
use junkai_simulation::graph::{Page, PageRank, WebGraph, unwatched};
use junkai_simulation::policy::{CrawlOrder, NotAPolicy, Policy, Setup};
use junkai_simulation::value::Value;

use crate::Common;
use crate::cpu;
use crate::report::{Cell, Limit, Report, Table};
use crate::samples::{Samples, short};

pub(crate) use self::whole::{JobArguments, run_job};

/// Links of a page on average: 10⁷ pages have 2·10⁸.
const LINKS_PER_PAGE: f64 = 20.0;
/// Pages of the smallest graph that says anything.
const PAGES_MIN: i64 = 1000;
/// What all graphs are drawn from.
const SEED: u64 = 1;
/// Where every crawl begins.
const START: [Page; 1] = [0];
/// Links that one sample follows at least: a small graph is crawled several times.
const SAMPLE_LINKS_MIN: u64 = 2_000_000;
/// Pages from which on rises are told: on a smaller graph, making the empty tables of a ring is a good part of the cost.
const SETTLED_PAGES: u32 = 100_000;
/// What "flat as the graph grows" allows: by how much the cost of a link may rise from the first settled graph to the largest. A policy of
/// constant time is held to it twice, by its nanoseconds and by its multiple of the floor, which leaves out what the caches do.
const RISE_MAX: f64 = 1.3;
/// Pages of the largest graph for a policy that reads everything again in each round: a larger one would take it hours.
const REREAD_PAGES_MAX: u32 = 1_000_000;

/// Every policy but the ceiling, which does not crawl. In a bounded one, 100,000 pages wait.
const POLICIES: &str = "bfs;one-step-ring:1024x1024;ring:1024x65536;irlbot;beast;in-degree;in-degree:100000,aside;\
     worth:100000,aside;worth:100000,welcome";

/// What `bench lab` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Pages of the graphs, which have 20 links each.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "10000,100000,1000000",
        value_parser = clap::value_parser!(u32).range(PAGES_MIN..)
    )]
    pages: Vec<u32>,
    /// Policies, as `junkai lab` names them.
    #[arg(long, value_delimiter = ';', default_value = POLICIES)]
    policies: Vec<Named>,
    /// Also simulate a graph of this many pages from nothing, by the ring and by worth, and tell time and memory.
    #[arg(long, value_name = "PAGES", value_parser = clap::value_parser!(u32).range(PAGES_MIN..))]
    whole: Option<u32>,
    /// Repetitions of that; each job takes most of a minute.
    #[arg(long, default_value = "3")]
    whole_repeat: NonZeroUsize,
    /// The sizes of the project's promise: 10^7 pages with 2 * 10^8 links. Takes half an hour, and 4 GB of memory.
    #[arg(long)]
    full: bool,
}

/// Measures, and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let repeat = arguments.common.repeat.get();
    let (mut sizes, mut whole) = (arguments.pages.clone(), arguments.whole);
    if arguments.full {
        sizes.push(whole::PAGES);
        whole = whole.or(Some(whole::PAGES));
    }
    for policy in &arguments.policies {
        ensure!(policy.policy != Policy::Opt, "opt does not crawl");
    }
    let mut report = Report::new("lab");
    let graphs = measure(&sizes, &arguments.policies, repeat);
    tell(&graphs, &arguments.policies, &mut report);
    // Their memory is not that of the processes to come.
    drop(graphs);
    if let Some(pages) = whole {
        whole::measure(pages, arguments.whole_repeat.get(), &mut report)?;
    }
    report.finish(arguments.common.json.as_deref())
}

/// A policy, as the reader knows it.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    policy: Policy,
}

impl FromStr for Named {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<Named, NotAPolicy> {
        Ok(Named {
            name: text.to_owned(),
            policy: text.parse()?,
        })
    }
}

impl Named {
    /// Whether a link takes as many operations however many pages wait, on average. `IRLbot` with one queue reads what was left over again
    /// in each round; with queues that double (BEAST) each page is read again a bounded number of times.
    fn is_constant_time(&self) -> bool {
        match &self.policy {
            Policy::Opt | Policy::OneStepRing(_) => true,
            Policy::Crawl(setup) => match setup.order {
                CrawlOrder::Fifo | CrawlOrder::InDegree | CrawlOrder::Worth { .. } => true,
                CrawlOrder::SiteBudgets(config) => config.is_doubling,
            },
        }
    }

    /// Whether a crawl of this graph comes to its end. `IRLbot` with one queue reads all that was left over in each round.
    fn is_worth_waiting_for(&self, web: &WebGraph) -> bool {
        let is_small = web.links.page_count() <= REREAD_PAGES_MAX;
        match &self.policy {
            Policy::Crawl(Setup {
                order: CrawlOrder::SiteBudgets(config),
                ..
            }) => config.is_doubling || is_small,
            Policy::Opt | Policy::OneStepRing(_) | Policy::Crawl(_) => true,
        }
    }
}

/// A graph, and what each policy took on it.
struct Graph {
    web: WebGraph,
    series: Vec<Series>,
}

/// What crawls by one policy of one graph took.
#[derive(Clone, Default)]
struct Series {
    nanoseconds: Samples,
    floor_nanoseconds: Samples,
    links_per_second: Samples,
    /// The part of the pages that was visited; the same in each repetition.
    visited: f64,
    /// The most pages that waited in memory.
    waiting_max: f64,
    /// Times that a page found no room, for each link.
    without_room: f64,
}

/// Crawls each graph by each policy, `repeat` times. Graphs and policies take turns, and who goes first changes from repetition to
/// repetition: what slows the machine down for a while slows all of them.
fn measure(sizes: &[u32], policies: &[Named], repeat: usize) -> Vec<Graph> {
    let mut graphs: Vec<Graph> = sizes
        .iter()
        .map(|&pages| Graph {
            web: generator(pages).collect(&mut unwatched),
            series: vec![Series::default(); policies.len()],
        })
        .collect();
    for repetition in 0..repeat {
        println!("repetition {}", repetition + 1);
        graphs.reverse();
        for graph in &mut graphs {
            let mut turns: Vec<(&Named, &mut Series)> =
                policies.iter().zip(&mut graph.series).collect();
            if !repetition.is_multiple_of(2) {
                turns.reverse();
            }
            for (policy, series) in turns {
                if policy.is_worth_waiting_for(&graph.web) {
                    series.sample(&graph.web, policy);
                }
            }
        }
    }
    graphs.sort_by_key(|graph| graph.web.links.page_count());
    graphs
}

/// Web-like graphs that differ in nothing but their size.
fn generator(pages: u32) -> Generator {
    Generator::new(GeneratorConfig {
        mean_out_degree: LINKS_PER_PAGE,
        ..GeneratorConfig::new(pages, SEED)
    })
}

impl Series {
    /// Crawls, and walks the floor of that crawl, as often as it takes for enough links.
    fn sample(&mut self, web: &WebGraph, policy: &Named) {
        let (mut crawling, mut walking) = (0.0, 0.0);
        let mut links = 0;
        while links < SAMPLE_LINKS_MIN {
            let (time, run) = cpu::cost_of(|| crawl(web, policy));
            crawling += time.as_secs_f64();
            let (time, found) = cpu::cost_of(|| floor::walk(&web.links, &run.order));
            walking += time.as_secs_f64();
            black_box(found);
            links += run.links.max(1);
            self.visited = run.order.len() as f64 / f64::from(web.links.page_count());
            self.waiting_max = f64::from(run.stored_max());
            self.without_room = (run.discarded + run.spilled) as f64 / run.links.max(1) as f64;
        }
        let links = links as f64;
        self.nanoseconds.push(crawling * 1e9 / links);
        self.floor_nanoseconds.push(walking * 1e9 / links);
        self.links_per_second.push(links / crawling);
    }

    fn per_floor(&self) -> Samples {
        self.nanoseconds.ratio_to(&self.floor_nanoseconds)
    }
}

fn crawl(web: &WebGraph, policy: &Named) -> Run {
    let trial = Trial {
        web,
        seeds: &START,
        policy: &policy.policy,
        pages_max: u32::MAX,
        latencies: &[],
    };
    simulate_by_model(&trial, &worthless(), &mut |_| ())
}

/// No page has a value: only the ceiling would look at it.
fn worthless() -> Value {
    let nobody = PageRank {
        scores: vec![],
        iterations: 0,
        residual: 0.0,
    };
    Value::of_reachable(&nobody, &[])
}

/// What a link costs by itself and beside the floor, policy by policy and size by size; rises are against the first settled graph.
fn tell(graphs: &[Graph], policies: &[Named], report: &mut Report) {
    let first = first_settled(graphs);
    let (Some(settled), Some(largest)) = (graphs.get(first), graphs.last()) else {
        return;
    };
    report.table(costs(graphs, settled, largest, policies));
    report.table(beside_floor(graphs, settled, largest, policies));
    if first + 1 < graphs.len() {
        judge(settled, largest, policies, report);
    }
}

fn size_of(graph: &Graph) -> String {
    short(f64::from(graph.web.links.page_count()))
}

fn costs(graphs: &[Graph], settled: &Graph, largest: &Graph, policies: &[Named]) -> Table {
    let (few, many) = (size_of(settled), size_of(largest));
    let mut columns = vec!["policy".to_owned()];
    columns.extend(
        graphs
            .iter()
            .map(|graph| format!("ns/link, {}", size_of(graph))),
    );
    columns.push(format!("rise, {few} to {many}"));
    columns.push(format!("floor's rise, {few} to {many}"));
    columns.push(format!("links per CPU second, {many}"));
    let title = "what a link costs, by pages of the graph";
    let mut table = Table::new("cost", title, columns);
    for (at, policy) in policies.iter().enumerate() {
        let (low, high) = (&settled.series[at], &largest.series[at]);
        let costs = graphs
            .iter()
            .map(|graph| graph.series[at].nanoseconds.clone());
        let rises = [
            high.nanoseconds.ratio_to(&low.nanoseconds),
            high.floor_nanoseconds.ratio_to(&low.floor_nanoseconds),
            high.links_per_second.clone(),
        ];
        table.row(policy.name.as_str(), costs.chain(rises).map(Cell::from));
    }
    table
}

fn beside_floor(graphs: &[Graph], settled: &Graph, largest: &Graph, policies: &[Named]) -> Table {
    let (few, many) = (size_of(settled), size_of(largest));
    let mut columns = vec!["policy".to_owned()];
    columns.extend(
        graphs
            .iter()
            .map(|graph| format!("× floor, {}", size_of(graph))),
    );
    columns.push(format!("× floor, rise, {few} to {many}"));
    columns.push(format!("waiting at most, {many}"));
    columns.push(format!("visited %, {many}"));
    columns.push(format!("no room, per 100 links, {many}"));
    let title = "the same as multiples of the floor of the same crawl";
    let mut table = Table::new("floor", title, columns);
    for (at, policy) in policies.iter().enumerate() {
        let (low, high) = (&settled.series[at], &largest.series[at]);
        let costs = graphs.iter().map(|graph| graph.series[at].per_floor());
        let rise = [high.per_floor().ratio_to(&low.per_floor())];
        let is_measured = high.nanoseconds.median().is_finite();
        let counts = [
            high.waiting_max,
            high.visited * 100.0,
            high.without_room * 100.0,
        ];
        let counts = counts.map(|count| if is_measured { count } else { f64::NAN });
        let cells = costs.chain(rise).map(Cell::from);
        table.row(policy.name.as_str(), cells.chain(counts.map(Cell::from)));
    }
    table
}

/// Holds every policy of constant time to a cost that is flat as the graph grows.
fn judge(first: &Graph, largest: &Graph, policies: &[Named], report: &mut Report) {
    let (few, many) = (size_of(first), size_of(largest));
    for (at, policy) in policies.iter().enumerate() {
        if policy.is_constant_time() {
            let (low, high) = (&first.series[at], &largest.series[at]);
            let rises = [
                ("ns/link", high.nanoseconds.ratio_to(&low.nanoseconds)),
                ("× floor", high.per_floor().ratio_to(&low.per_floor())),
            ];
            for (unit, rise) in rises {
                let name = &policy.name;
                let what = format!("{name}: {unit} with {many} pages, × that with {few}");
                report.target(what, rise.median(), Limit::AtMost(RISE_MAX));
            }
        }
    }
}

/// The place of the graph that others are compared with: the smallest that is settled, or the smallest.
fn first_settled(graphs: &[Graph]) -> usize {
    let is_settled = |graph: &Graph| SETTLED_PAGES <= graph.web.links.page_count();
    graphs.iter().position(is_settled).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Named {
        text.parse().unwrap()
    }

    #[test]
    fn every_policy_crawls_and_its_links_lead_to_all_that_it_visits() {
        let web = generator(500).collect(&mut unwatched);
        for policy in POLICIES.split(';').map(named) {
            let run = crawl(&web, &policy);
            let found = floor::walk(&web.links, &run.order);
            assert!(1 < run.order.len(), "{}", policy.name);
            assert!(run.order.len() as u64 <= found + 1, "{}", policy.name);
        }
    }

    #[test]
    fn only_one_queue_of_budgets_is_not_of_constant_time() {
        let names = POLICIES.split(';').map(named);
        let growing = names.filter(|policy| !policy.is_constant_time());
        let growing: Vec<String> = growing.map(|policy| policy.name).collect();
        assert_eq!(growing, ["irlbot"]);
    }
}
