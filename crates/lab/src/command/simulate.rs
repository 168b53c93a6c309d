//! `junkai lab simulate`: whole crawls on a simulated machine, while everything goes wrong.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use junkai_terminal::bar::Bar;
use junkai_terminal::exit::{BadCommandLine, Ending};
use junkai_terminal::print::say;
use junkai_world::{Bug, Counts, Failure, Plan, run as simulate};
use serde_json::json;

/// Examples for `--help`.
pub(super) const EXAMPLES: &str = "\
A run crawls a small web: the crawler's own engine and stores, on a disk, a network and a
clock in memory. Meanwhile the process is killed at any write, the power fails, the disk is
full, bits rot, clocks are set, the machine sleeps, servers and name servers fail, people give
commands, and the next start has other settings. Checked are politeness as the servers see it,
that nothing is lost, that an answered command is kept, robots.txt, and that all that waits is
visited in the end. Everything follows from the run's number.

Examples:
  # ten thousand runs, on all cores
  junkai lab simulate --runs 10000
  # one that failed, once more, and the shortest like it
  junkai lab simulate --from 4711 --runs 1 --shrink
  # are the checks worth anything? Each of these mistakes must be found
  junkai lab simulate --bug all";

/// What `junkai lab simulate` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Runs to make.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    runs: u64,
    /// The number of the first run.
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// Hosts of the web.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=200))]
    hosts: u32,
    /// Pages of a host.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pages: u32,
    /// Kills, power failures and stops of a run.
    #[arg(long, value_name = "N", default_value_t = 8)]
    ends: u32,
    /// Hours of simulated time in which things go wrong.
    #[arg(long, value_name = "N", default_value_t = 72)]
    hours: u64,
    /// Plant a bug, or `all` one after another: each has to be found within the runs.
    #[arg(long, value_name = "NAME")]
    bug: Option<String>,
    /// Look for a shorter run with fewer faults that fails as well.
    #[arg(long)]
    shrink: bool,
    /// Runs at a time; default: one for each core.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Partitions of each crawl [default: one to three, by chance].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    partitions: Option<u32>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Makes the runs.
pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    // A check that fails by a panic is told of in its turn.
    std::panic::set_hook(Box::new(|_| {}));
    let plan = Plan {
        hosts: arguments.hosts,
        pages: arguments.pages,
        ends: arguments.ends,
        time: Duration::from_hours(arguments.hours),
        partitions: arguments.partitions,
        ..Plan::default()
    };
    let bugs = match arguments.bug.as_deref() {
        None => return runs(arguments, &plan),
        Some("all") => Bug::ALL.to_vec(),
        Some(name) => {
            let Some(bug) = Bug::named(name) else {
                let names = Bug::ALL.map(Bug::name).join(", ");
                let what = format!("no bug is called {name:?}; there are: {names}");
                return Err(BadCommandLine(what).into());
            };
            vec![bug]
        }
    };
    find(arguments, &plan, &bugs)
}

/// Looks for planted bugs.
fn find(arguments: &Arguments, plan: &Plan, bugs: &[Bug]) -> Result<Ending> {
    let mut missed = 0;
    for &bug in bugs {
        let plan = Plan {
            bug: Some(bug),
            ..plan.clone()
        };
        let told = together(arguments, &plan, true);
        let (name, words) = (bug.name(), bug.words());
        let Some((number, failure)) = told.failure else {
            missed += 1;
            if arguments.json {
                say!("{}", json!({ "bug": name, "found": false }));
            } else {
                say!("{name}: NOT FOUND ({words})");
            }
            continue;
        };
        let runs = number - arguments.from + 1;
        let what = failure.broken.to_string();
        let what = what.lines().next().unwrap_or_default();
        if arguments.json {
            say!(
                "{}",
                json!({ "bug": name, "found": true, "runs": runs, "by": what })
            );
        } else {
            say!("{name}: found in run {number}\n    ({words}) {what}");
        }
    }
    if 0 < missed {
        bail!(
            "{missed} planted bugs were not found in {} runs each",
            arguments.runs
        );
    }
    Ok(Ending::Well)
}

/// What runs came to.
struct Told {
    counts: Counts,
    runs: u64,
    failure: Option<(u64, Failure)>,
}

/// Makes runs on all cores, until one fails.
fn together(arguments: &Arguments, plan: &Plan, is_quiet: bool) -> Told {
    let threads = arguments.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        NonZeroUsize::get,
    );
    let mut bar = Bar::new();
    let shown = Mutex::new(&mut bar);
    let next = AtomicU64::new(arguments.from);
    let is_over = AtomicBool::new(false);
    let told = Mutex::new(Told {
        counts: Counts::default(),
        runs: 0,
        failure: None,
    });
    let end = arguments.from.saturating_add(arguments.runs);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if end <= number || is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    let ran = simulate(number, plan);
                    let Ok(mut told) = told.lock() else { return };
                    told.runs += 1;
                    match ran {
                        Ok(counts) => told.counts = sum(told.counts, counts),
                        Err(failure) => {
                            is_over.store(true, Ordering::Relaxed);
                            let is_first = told.failure.as_ref().is_none_or(|(it, _)| number < *it);
                            if is_first {
                                told.failure = Some((number, failure));
                            }
                        }
                    }
                    if !is_quiet && let Ok(mut bar) = shown.lock() {
                        bar.at("runs", told.runs, arguments.runs);
                    }
                }
            });
        }
    });
    bar.finish();
    told.into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn sum(a: Counts, b: Counts) -> Counts {
    Counts {
        visits: a.visits + b.visits,
        ends: a.ends + b.ends,
        faults: a.faults + b.faults,
        commands: a.commands + b.commands,
        seconds: a.seconds + b.seconds,
        urls: a.urls + b.urls,
    }
}

fn runs(arguments: &Arguments, plan: &Plan) -> Result<Ending> {
    let begun = Instant::now();
    let told = together(arguments, plan, false);
    let took = begun.elapsed().as_secs_f64();
    if let Some((number, failure)) = told.failure {
        let (plan, failure) = if arguments.shrink {
            shrunk(number, plan, failure)
        } else {
            (plan.clone(), failure)
        };
        let hours = plan.time.as_secs() / 3600;
        bail!(
            "run {number}: {failure}\nrepeat it with: junkai lab simulate --from {number} --runs 1 --hosts {} --pages {} --ends {} --hours {hours}\nas planned: {plan:?}",
            plan.hosts,
            plan.pages,
            plan.ends,
        );
    }
    let Counts {
        visits,
        ends,
        faults,
        commands,
        seconds,
        urls,
    } = told.counts;
    if arguments.json {
        say!(
            "{}",
            json!({
                "runs": told.runs, "visits": visits, "ends": ends, "faults": faults, "commands": commands,
                "simulated_seconds": seconds, "urls": urls, "seconds": took,
            })
        );
    } else {
        let per_second = |count: u64| count as f64 / took.max(1e-9);
        say!(
            "{} runs: {visits} visits, {ends} ends of the process, {faults} faults, {commands} commands, {} simulated days; no promise broken\n\
             in {took:.1} s: {:.0} visits, {:.0} ends and {:.0} simulated hours a second",
            told.runs,
            seconds / 86_400,
            per_second(visits),
            per_second(ends),
            per_second(seconds) / 3600.0,
        );
    }
    Ok(Ending::Well)
}

/// The simplest plan with which the run still fails.
fn shrunk(number: u64, plan: &Plan, failure: Failure) -> (Plan, Failure) {
    let (mut plan, mut failure) = (plan.clone(), failure);
    'simpler: loop {
        for simpler in plan.simpler() {
            if let Err(other) = simulate(number, &simpler) {
                (plan, failure) = (simpler, other);
                continue 'simpler;
            }
        }
        return (plan, failure);
    }
}
