//! What another schedule would have made of a crawl: the pages of an archive, crawled again under a virtual clock.
//!
//! [`ready`] makes the link graph of an archive a [`Subject`]: its own seeds, its own servers. [`run`] crawls it in each of the
//! crawler's orders under one [`Schedule`], beside what the crawl really did, and answers what would have been fetched
//! when, how long it would have taken, which servers bound that, and in how much memory.
//!
//! # What is not known
//! Only what was captured has links here. A page that another schedule would have found, and this crawl did not, is missing or has
//! no links; every visit succeeds, and takes as long as those to its server took by the log of the crawl. So the answer is about the order, not about the web.
//!
//! Not here: reading the archive (`archive_graph`), and settings (the caller's).

mod entry_points;
mod findings;
mod logged;
mod schedule;
mod tables;

use junkai_frontier::Time;
use junkai_frontier::admission::Order;
use junkai_graph::{Cache, Page, PageRankConfig, Progress, WebGraph};

use crate::archive_graph::ArchiveGraph;
use crate::comparison::{Compared, Entry, compare, parameter};
use crate::crawl::{Run, Trial, simulate};
use crate::outcome::{Outcome, Parameter, counted, grouped, span};
use crate::policy::Policy;
use crate::subject::{Measured, Subject};

pub use entry_points::{EntryPoints, WithHost};
pub use logged::{LogError, Logged};
pub use schedule::Schedule;

/// What is asked.
#[derive(Clone, Debug)]
pub struct WhatIf {
    /// The pace, and how much is kept in memory.
    pub schedule: Schedule,
    /// The orders to compare.
    pub orders: Vec<Order>,
    /// Numbers of visits after which the share of `PageRank` is told, besides parts of the whole.
    pub visits: Vec<u32>,
    /// The order and pace of the crawl itself, where they are among what is asked: its prediction is compared with the log.
    pub made_in: Option<Order>,
    /// The command that repeats it.
    pub command: String,
}

/// A crawl that was made: what an archive tells of it.
#[derive(Clone, Debug)]
pub struct Crawled {
    /// Captured pages first, in the order of their captures.
    pub web: WebGraph,
    /// Pages that were captured: those with lower numbers than this.
    pub captured: u32,
    /// The canonical URLs that the crawl began with, as far as they are known.
    pub seeds: Vec<String>,
    /// What its log says of its visits, if it has one.
    pub logged: Option<Logged>,
}

/// An archive made ready: its graph, where crawls of it begin, and what the crawl did.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The graph, measured.
    pub subject: Subject,
    /// Where crawls begin, and how that is known.
    pub entry_points: EntryPoints,
    /// Pages that were captured, which are those with lower numbers than this.
    pub captured: u32,
    /// When each of them was there, by the log; empty without one.
    pub captured_at: Vec<Time>,
    /// What the log says of visits.
    pub logged: Option<Logged>,
}

/// The line of what the crawl really did.
const AS_CRAWLED: &str = "as crawled";
/// The line of the best that any order could do.
const BEST_POSSIBLE: &str = "best possible";

impl From<ArchiveGraph> for Crawled {
    /// No seeds are known, and no log.
    fn from(graph: ArchiveGraph) -> Crawled {
        Crawled {
            captured: graph.captured,
            web: graph.into_web_graph(),
            seeds: Vec::new(),
            logged: None,
        }
    }
}

/// Makes a crawl ready, measuring its graph, or reading from the cache what was measured before.
pub fn ready(crawled: Crawled, cache: &Cache, progress: &mut dyn FnMut(Progress)) -> Ready {
    let entry_points = EntryPoints::find(&crawled);
    let captured_at = captured_at(&crawled);
    let Crawled {
        mut web,
        captured,
        logged,
        ..
    } = crawled;
    let measures = cache.measures(&web.links);
    let results = Measured {
        pagerank: measures.pagerank(&PageRankConfig::default(), progress),
        components: measures.components(progress),
        in_degrees: measures.in_degrees(),
    };
    // What is found with its host is no link: it is followed, but gives no PageRank.
    web.links = entry_points.complete(web.links);
    let mut subject = Subject::with_seeds(web, results, entry_points.pages.clone());
    if let Some(logged) = &logged {
        let hosts = &subject.web.hosts;
        let latency = |server| logged.latency_of(&hosts.server_name(server));
        subject.latencies = (0..hosts.server_count()).map(latency).collect();
    }
    Ready {
        subject,
        entry_points,
        captured,
        captured_at,
        logged,
    }
}

/// When the captured pages were there, by the log of the crawl. One that the log does not know was there with the one before it.
fn captured_at(crawled: &Crawled) -> Vec<Time> {
    let (Some(logged), Some(urls)) = (&crawled.logged, &crawled.web.urls) else {
        return Vec::new();
    };
    let mut last = Time::EPOCH;
    let at = urls.iter().take(crawled.captured as usize).map(|url| {
        let ended = logged.first_ended(url).unwrap_or_default();
        last = last.max(Time::EPOCH + ended);
        last
    });
    at.collect()
}

/// Crawls by every order, several at a time. `progress` hears how many pages were visited by all orders together.
pub fn run(ready: &Ready, what_if: &WhatIf, progress: &(dyn Fn(u64) + Sync)) -> Outcome {
    let entries: Vec<Entry> = what_if
        .orders
        .iter()
        .map(|&order| Entry {
            policy: what_if.schedule.policy(order),
            label: order.name().to_owned(),
        })
        .collect();
    let mut lines = vec![as_crawled(ready)];
    lines.extend(compare(&ready.subject, &entries, u32::MAX, progress));
    lines.push(best_possible(ready));
    let servers = tables::Server::busiest_first(ready, &what_if.schedule);
    Outcome {
        name: "what-if".to_owned(),
        title: format!(
            "What another schedule would have made of {}",
            ready.subject.web.name
        ),
        command: what_if.command.clone(),
        parameters: parameters(ready, what_if),
        findings: findings::findings(ready, what_if, &lines, &servers),
        claims: Vec::new(),
        tables: vec![
            tables::orders(ready, what_if, &lines),
            tables::servers(&servers),
            tables::curve(&lines),
        ],
        figures: tables::figures(ready, &lines),
    }
}

/// The crawl itself: pages in the order of their first captures.
fn as_crawled(ready: &Ready) -> Compared {
    let order: Vec<Page> = (0..ready.captured).collect();
    Compared {
        policy: Policy::breadth_first(),
        label: AS_CRAWLED.to_owned(),
        cumulated: ready.subject.value.cumulated(&order),
        run: Run {
            order,
            ended: ready.captured_at.clone(),
            ..Run::default()
        },
    }
}

fn best_possible(ready: &Ready) -> Compared {
    let policy = Policy::Opt;
    let trial = Trial {
        web: &ready.subject.web,
        seeds: &ready.subject.seeds,
        policy: &policy,
        pages_max: u32::MAX,
        latencies: &[],
    };
    let run = simulate(&trial, &ready.subject.value, &mut |_| ());
    Compared {
        cumulated: ready.subject.value.cumulated(&run.order),
        label: BEST_POSSIBLE.to_owned(),
        policy,
        run,
    }
}

fn parameters(ready: &Ready, what_if: &WhatIf) -> Vec<Parameter> {
    let schedule = &what_if.schedule;
    let count = |number: usize| grouped(number as u64);
    let statistics = &ready.subject.statistics;
    vec![
        parameter("archive", &statistics.name),
        parameter("pages", &grouped(statistics.pages.into())),
        parameter("of them captured", &grouped(ready.captured.into())),
        parameter("interval", &span(schedule.interval.as_secs_f64())),
        parameter("time of a visit", &time_of_a_visit(ready, schedule)),
        parameter("visits in flight", &count(schedule.concurrency)),
        parameter("candidates", &count(schedule.candidates)),
        parameter("lookahead", &count(schedule.lookahead)),
        parameter("slots", &count(schedule.slots)),
        parameter("keys", &grouped(schedule.keys.into())),
        parameter("entry points", &ready.entry_points.to_string()),
    ]
}

/// How long visits take, and how that is known.
fn time_of_a_visit(ready: &Ready, schedule: &Schedule) -> String {
    let average = span(schedule.latency.as_secs_f64());
    match &ready.logged {
        Some(logged) if !ready.subject.latencies.is_empty() => format!(
            "{average} on average, each server as its {} in the log",
            counted(logged.visits, "visit")
        ),
        _ => average,
    }
}

#[cfg(test)]
mod tests;
