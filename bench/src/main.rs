//! What the crawler costs, beside its floor and its peers: `cargo xtask bench ring|seen|crawl|focus|lab|time-queue|all`.
//!
//! Every figure is the median of several repetitions, with the smallest and the largest; the things that are compared
//! take turns within one run, so that a noisy machine is noisy to all of them. Costs are CPU time (user and system), not
//! time by the clock, wherever one process does the work. Read [`crawl`] first. `docs/benchmarks.md` has figures.
//!
//! Not here: tests. A benchmark says what it measured and which targets that meets; it never fails for being slow. Only [`soak`] fails, when something is lost.

#![expect(clippy::print_stdout, reason = "printing is what a command line does")]

mod all;
mod chance;
mod child;
mod cpu;
mod crawl;
mod documents;
mod focus;
mod lab;
mod memory;
mod record;
mod report;
mod ring;
mod samples;
mod seen;
mod soak;
mod time_queue;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};
use tikv_jemallocator::Jemalloc;

/// The crawler's own: the floor must not owe its height to another one.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Measures junkai.
#[derive(Parser)]
#[command(name = "cargo xtask bench")]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The cost of giving a visit its turn, from ten thousand to a hundred million URLs.
    Ring(ring::Arguments),
    /// The cost of knowing whether a URL is known, beside fjall and redb.
    Seen(seen::Arguments),
    /// The cost of a page in a whole crawl, beside the least that it could cost, and beside other crawlers.
    Crawl(crawl::Arguments),
    /// The cost of judging a page's site.
    Focus(focus::Arguments),
    /// The cost of a link in a simulated crawl, policy by policy, beside the least that it could cost.
    Lab(lab::Arguments),
    /// The cost of keeping the states of all known pages on disk, beside fjall, redb and LMDB.
    TimeQueue(time_queue::Arguments),
    /// All of these, for the documents.
    All(all::Arguments),
    /// No cost: a crawl that is killed a thousand times, and loses nothing. `cargo xtask soak` runs it.
    Soak(soak::Arguments),
    /// The web that `crawl` visits; serves until standard input ends.
    #[command(hide = true)]
    Web(crawl::WebArguments),
    /// The least that a crawl could cost, as a process.
    #[command(hide = true)]
    Floor(crawl::FloorArguments),
    /// One thing done with a generated graph, as a process.
    #[command(hide = true)]
    LabJob(lab::JobArguments),
    /// A time queue of many pages, as a process.
    #[command(hide = true)]
    TimeQueueJob(time_queue::JobArguments),
}

/// What all benchmarks take.
#[derive(clap::Args)]
struct Common {
    /// Repetitions, of which the median counts.
    #[arg(long, default_value = "5")]
    repeat: NonZeroUsize,
    /// Also write everything that was measured to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> Result<()> {
    match Arguments::parse().what {
        What::Ring(arguments) => ring::run(&arguments),
        What::Seen(arguments) => seen::run(&arguments),
        What::Crawl(arguments) => crawl::run(&arguments),
        What::Focus(arguments) => focus::run(&arguments),
        What::Lab(arguments) => lab::run(&arguments),
        What::All(arguments) => all::run(&arguments),
        What::Soak(arguments) => soak::run(&arguments),
        What::Web(arguments) => crawl::serve(&arguments),
        What::Floor(arguments) => crawl::floor(&arguments),
        What::LabJob(arguments) => lab::run_job(&arguments),
        What::TimeQueue(arguments) => time_queue::run(&arguments),
        What::TimeQueueJob(arguments) => time_queue::run_job(&arguments),
    }
}
