//! `junkai lab revisit|servers`: when to come back, and what servers can bear.

use std::path::PathBuf;

use anyhow::Result;
use junkai_lab::experiment::revisit::{self, RevisitExperiment};
use junkai_lab::experiment::servers::{self, Known, ServersExperiment};
use junkai_lab::revisit::ChangingWeb;
use junkai_simulation::graph::history::{BULK_PAGES_MAX, load};
use junkai_simulation::outcome::Outcome;
use junkai_terminal::exit::Ending;
use junkai_terminal::show::SharedBar;

use super::histories;
use super::results::Results;

/// Examples for `--help`.
pub(super) const EXAMPLES: &str = "\
A history is a file of lines `unix-time<TAB>A|M|D<TAB>path`, plain or packed
(.zst, .gz): what happened to the pages of a web site, and when.

Examples:
  junkai lab revisit
  junkai lab revisit histories/*.tsv.zst --repetitions 3
  junkai lab servers my-archive";

/// What `junkai lab revisit` takes.
#[derive(clap::Args)]
pub(crate) struct RevisitArguments {
    /// Histories of real web sites; simulated pages are always there beside them.
    #[arg(value_name = "HISTORY")]
    histories: Vec<PathBuf>,
    /// Keep what bulk rebuilds did: publications of more than 300 pages at once.
    #[arg(long)]
    rebuilds: bool,
    /// Repetitions: hours of the day for histories, seeds for simulated pages.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,
    /// Simulated pages.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pages: u32,
    /// Days that simulated pages live.
    #[arg(long, value_name = "N", default_value_t = 1095, value_parser = clap::value_parser!(u32).range(91..=36_500))]
    days: u32,
    #[command(flatten)]
    results: Results,
}

/// What `junkai lab servers` takes.
#[derive(clap::Args)]
pub(crate) struct ServersArguments {
    /// Archives whose logs tell of their servers; a simulated population is always there beside them.
    #[arg(value_name = "ARCHIVE")]
    archives: Vec<PathBuf>,
    /// Simulated servers.
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    servers: u32,
    /// Pages of the overloaded server.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pages: u32,
    /// Days that it is visited.
    #[arg(long, value_name = "N", default_value_t = 1095, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: u32,
    #[command(flatten)]
    results: Results,
}

/// Policies at equal visits.
pub(super) fn revisit(arguments: &RevisitArguments) -> Result<Ending> {
    let seed = arguments.results.seed;
    let experiment = RevisitExperiment {
        repetitions: arguments.repetitions,
        pages: arguments.pages,
        days: arguments.days,
        seed,
        command: format!(
            "junkai lab revisit{}{} --repetitions {} --pages {} --days {} --seed {}",
            histories::again(&arguments.histories),
            if arguments.rebuilds {
                " --rebuilds"
            } else {
                ""
            },
            arguments.repetitions,
            arguments.pages,
            arguments.days,
            seed
        ),
        ..RevisitExperiment::default()
    };
    let webs = webs(&arguments.histories, arguments.rebuilds)?;
    arguments
        .results
        .of(|bar| run_revisit(webs, &experiment, bar))
}

/// Reads histories, with or without what bulk rebuilds did.
pub(super) fn webs(paths: &[PathBuf], rebuilds: bool) -> Result<Vec<ChangingWeb>> {
    let read = |path: &PathBuf| {
        let history = load(path)?;
        Ok(ChangingWeb::new(if rebuilds {
            history
        } else {
            history.without_bulk(BULK_PAGES_MAX)
        }))
    };
    paths.iter().map(read).collect()
}

/// Runs it with a bar.
pub(super) fn run_revisit(
    webs: Vec<ChangingWeb>,
    experiment: &RevisitExperiment,
    bar: &SharedBar,
) -> Result<Outcome> {
    let outcome = revisit::run(webs, experiment, &|progress| {
        bar.at("revisit", progress.done, progress.total);
    })?;
    Ok(outcome)
}

/// What servers are asked for.
pub(super) fn servers(arguments: &ServersArguments) -> Result<Ending> {
    let seed = arguments.results.seed;
    let archives = histories::again(&arguments.archives);
    let experiment = ServersExperiment {
        servers: arguments.servers,
        pages: arguments.pages,
        days: arguments.days,
        seed,
        command: format!(
            "junkai lab servers{archives} --servers {} --pages {} --days {} --seed {}",
            arguments.servers, arguments.pages, arguments.days, seed
        ),
    };
    let known: Vec<Known> = arguments
        .archives
        .iter()
        .map(|archive| Ok(Known::of_archive(archive)?))
        .collect::<Result<_>>()?;
    arguments
        .results
        .of(|_| Ok(servers::run(known, &experiment)?))
}
