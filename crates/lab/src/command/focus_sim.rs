//! `junkai lab focus-sim`: which sites hold what is wanted, told with few fetches.

use anyhow::Result;
use junkai_lab::experiment::focus_sim::{self, FocusSimExperiment};
use junkai_simulation::outcome::Outcome;
use junkai_terminal::exit::Ending;
use junkai_terminal::show::SharedBar;

use super::results::Results;

/// Examples for `--help`.
pub(super) const EXAMPLES: &str = "\
Sites are drawn from three populations; every policy explores the same
sites, and its verdicts are judged as the fetches grow.

Examples:
  junkai lab focus-sim
  junkai lab focus-sim --sites 200 --fetches 4000 --seeds 10";

/// What `junkai lab focus-sim` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Sites to explore.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    sites: u32,
    /// Fetches in all.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(4..=1_000_000_000))]
    fetches: u32,
    /// Draws of all sites.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    seeds: u32,
    #[command(flatten)]
    results: Results,
}

/// Runs it, writes its outcome and prints it.
pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    let experiment = FocusSimExperiment {
        sites: arguments.sites,
        fetches: arguments.fetches,
        seeds: arguments.seeds,
        seed: arguments.results.seed,
        command: String::new(),
    };
    arguments.results.of(|bar| Ok(outcome(&experiment, bar)))
}

/// Runs it under a progress bar.
pub(super) fn outcome(experiment: &FocusSimExperiment, bar: &SharedBar) -> Outcome {
    let FocusSimExperiment {
        sites,
        fetches,
        seeds,
        seed,
        ..
    } = experiment;
    let experiment = FocusSimExperiment {
        command: format!(
            "junkai lab focus-sim --sites {sites} --fetches {fetches} --seeds {seeds} --seed {seed}"
        ),
        ..experiment.clone()
    };
    focus_sim::run(&experiment, &|progress| {
        bar.at("focus-sim", progress.done, progress.total);
    })
}
