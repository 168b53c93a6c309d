//! `junkai lab focus-sim`: which sites hold what is wanted, told with few fetches.

use std::path::PathBuf;

use anyhow::Result;
use junkai_lab::experiment::focus_sim::{self, FocusSimExperiment};
use junkai_lab::outcome::Outcome;

use super::experiment::OUT_DEFAULT;
use super::show::{self, SharedBar, Shown};
use crate::exit::Ending;

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
    /// What everything that is left to chance is drawn from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The folder to write to; the experiment has its own below it.
    #[arg(long, short, value_name = "DIR", default_value = OUT_DEFAULT)]
    out: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it, writes its outcome and prints it.
pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    show::prepare(&arguments.out)?;
    let bar = SharedBar::new();
    let outcome = outcome(
        &FocusSimExperiment {
            sites: arguments.sites,
            fetches: arguments.fetches,
            seeds: arguments.seeds,
            seed: arguments.seed,
            command: String::new(),
        },
        &bar,
    );
    drop(bar);
    let shown = Shown {
        written: Some(show::write(&outcome, &arguments.out)?),
        out_again: show::out_again_unless(&arguments.out, OUT_DEFAULT),
        json: arguments.json,
    };
    show::outcome(&outcome, &shown)?;
    Ok(Ending::Well)
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
