//! One simulation of a large graph from nothing: how long it takes, and in how much memory.
//!
//! Each job is a process of its own, which makes the graph on all cores, then does one thing with it, and says what both took:
//! [`run_job`]. So nothing that one job leaves in memory is counted to another.

use std::env;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use junkai_simulation::graph::{PageRankConfig, WebGraph, pagerank, unwatched};
use serde::{Deserialize, Serialize};

use super::{Named, crawl, generator};
use crate::report::{Cell, Limit, Report, Table};
use crate::samples::{Samples, short};
use crate::{cpu, memory};

/// Pages of the project's promise.
pub(super) const PAGES: u32 = 10_000_000;
/// How long a simulation of that size may take by the clock, from nothing: minutes.
const MINUTES_MAX: f64 = 10.0;
/// What is done with the graph. The ring alone discards pages and their links with them; where it spills them to disk, it visits all.
const JOBS: [&str; 4] = [
    "ring:1024x65536",
    "ring:1024x65536,aside",
    "worth:100000,welcome",
    PAGERANK,
];
const PAGERANK: &str = "pagerank";

/// What the process of one job takes.
#[derive(clap::Args)]
pub(crate) struct JobArguments {
    /// Pages of the graph.
    #[arg(long)]
    pages: u32,
    /// What to do with it.
    #[arg(long)]
    job: Job,
}

/// What is done with a graph.
#[derive(Clone, Debug)]
enum Job {
    Crawl(Named),
    PageRank,
}

impl FromStr for Job {
    type Err = <Named as FromStr>::Err;

    fn from_str(text: &str) -> Result<Job, Self::Err> {
        match text {
            PAGERANK => Ok(Job::PageRank),
            _ => text.parse().map(Job::Crawl),
        }
    }
}

/// What a job says at its end.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    /// Links of the graph.
    links: f64,
    making: Stage,
    work: Stage,
    /// Links that the work followed, one that was followed twice counted twice.
    followed: f64,
    /// The part of the pages that the work covers: a policy that discards pages is done sooner.
    covered: f64,
    /// Iterations of `PageRank`, or none.
    iterations: f64,
}

/// What a part of a job took.
#[derive(Debug, Serialize, Deserialize)]
struct Stage {
    wall_seconds: f64,
    cpu_seconds: f64,
    /// The most memory that the process held meanwhile, with what was there before.
    peak_bytes: f64,
}

/// Does one job, and prints what it took.
pub(crate) fn run_job(arguments: &JobArguments) -> Result<()> {
    let (making, web) = staged(|| generator(arguments.pages).collect(&mut unwatched))?;
    let (work, done) = staged(|| arguments.job.run(&web))?;
    let told = Told {
        links: web.links.link_count() as f64,
        making,
        work,
        followed: done.followed as f64,
        covered: done.pages as f64 / f64::from(arguments.pages),
        iterations: f64::from(done.iterations),
    };
    println!("{}", serde_json::to_string(&told)?);
    Ok(())
}

/// How much a job has done.
struct Done {
    /// Pages that were visited, or ranked.
    pages: usize,
    followed: u64,
    iterations: u32,
}

impl Job {
    fn run(&self, web: &WebGraph) -> Done {
        match self {
            Job::Crawl(policy) => {
                let run = crawl(web, policy);
                Done {
                    pages: run.order.len(),
                    followed: run.links,
                    iterations: 0,
                }
            }
            Job::PageRank => {
                let rank = pagerank(&web.links, &PageRankConfig::default(), &mut unwatched);
                Done {
                    pages: rank.scores.len(),
                    followed: web.links.link_count() * u64::from(rank.iterations),
                    iterations: rank.iterations,
                }
            }
        }
    }
}

fn staged<T>(work: impl FnOnce() -> T) -> Result<(Stage, T)> {
    memory::forget_own_peak()?;
    let begun = Instant::now();
    let (cost, result) = cpu::cost_to_all_of(work);
    let stage = Stage {
        wall_seconds: begun.elapsed().as_secs_f64(),
        cpu_seconds: cost.as_secs_f64(),
        peak_bytes: memory::peak_of("self")
            .context("the system does not tell the peak of memory")?,
    };
    Ok((stage, result))
}

/// Runs each job `repeat` times, and tells.
pub(super) fn measure(pages: u32, repeat: usize, report: &mut Report) -> Result<()> {
    let mut making = Series::default();
    let mut jobs: Vec<Series> = JOBS.iter().map(|_| Series::default()).collect();
    let mut links = f64::NAN;
    for repetition in 0..repeat {
        println!(
            "{} pages from nothing, repetition {}",
            short(f64::from(pages)),
            repetition + 1
        );
        for (job, series) in JOBS.iter().zip(&mut jobs) {
            let told = started(pages, job)?;
            links = told.links;
            making.push(&told.making, told.links, 0.0);
            making.covered = 1.0;
            series.push(&told.work, told.followed, told.iterations);
            series.covered = told.covered;
            series
                .minutes
                .push((told.making.wall_seconds + told.work.wall_seconds) / 60.0);
        }
    }
    let columns = [
        "part",
        "seconds by the clock",
        "CPU seconds",
        "of the pages %",
        "links followed",
        "links per CPU second",
        "iterations per second",
        "peak GB",
        "peak bytes/page",
        "peak bytes/link",
    ];
    let pages = f64::from(pages);
    let title = format!(
        "{} pages, {} links, from nothing",
        short(pages),
        short(links)
    );
    let mut table = Table::new("whole", title, columns);
    table.row("making the graph", making.cells(pages, links));
    for (job, series) in JOBS.iter().zip(&jobs) {
        table.row(*job, series.cells(pages, links));
        let what = format!("minutes by the clock, with making the graph: {job}");
        report.target(what, series.minutes.median(), Limit::AtMost(MINUTES_MAX));
    }
    report.table(table);
    Ok(())
}

/// Runs one job as a process.
fn started(pages: u32, job: &str) -> Result<Told> {
    let output = Command::new(env::current_exe()?)
        .args(["lab-job", "--pages", &pages.to_string(), "--job", job])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start a process for the job")?;
    ensure!(output.status.success(), "{job} failed: {}", output.status);
    serde_json::from_slice(&output.stdout).with_context(|| format!("{job} said something else"))
}

/// What a part took in each repetition.
#[derive(Default)]
struct Series {
    wall_seconds: Samples,
    cpu_seconds: Samples,
    /// The part of the pages that it covers; the same in each repetition, as are the links.
    covered: f64,
    links: f64,
    links_per_second: Samples,
    iterations_per_second: Samples,
    peak_bytes: Samples,
    /// By the clock, with making the graph.
    minutes: Samples,
}

impl Series {
    fn push(&mut self, stage: &Stage, links: f64, iterations: f64) {
        self.wall_seconds.push(stage.wall_seconds);
        self.cpu_seconds.push(stage.cpu_seconds);
        self.links = links;
        self.links_per_second.push(links / stage.cpu_seconds);
        self.iterations_per_second
            .push(iterations / stage.wall_seconds);
        self.peak_bytes.push(stage.peak_bytes);
    }

    fn cells(&self, pages: f64, links: f64) -> [Cell; 9] {
        let peak = self.peak_bytes.median();
        let has_iterations = 0.0 < self.iterations_per_second.median();
        [
            self.wall_seconds.clone().into(),
            self.cpu_seconds.clone().into(),
            (self.covered * 100.0).into(),
            self.links.into(),
            self.links_per_second.clone().into(),
            if has_iterations {
                self.iterations_per_second.clone().into()
            } else {
                "".into()
            },
            (peak / 1e9).into(),
            (peak / pages).into(),
            (peak / links).into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_can_be_done() {
        let web = generator(300).collect(&mut unwatched);
        for job in JOBS {
            let done = job.parse::<Job>().unwrap().run(&web);
            assert!(0 < done.followed, "{job}");
            assert!(0 < done.pages && done.pages <= 300, "{job}");
        }
    }

    #[test]
    fn what_a_job_says_is_understood() {
        let (stage, four) = staged(|| 2 + 2).unwrap();
        assert_eq!(four, 4);
        let said = serde_json::to_string(&stage).unwrap();
        let heard: Stage = serde_json::from_str(&said).unwrap();
        assert!(0.0 < heard.peak_bytes);
    }
}
