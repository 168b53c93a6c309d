//! `junkai lab estimators`: how well it is told how often pages change.

use std::path::PathBuf;

use anyhow::Result;
use junkai_lab::experiment::estimators::{self, EstimatorsExperiment};
use junkai_simulation::graph::history::History;
use junkai_simulation::outcome::Outcome;
use junkai_terminal::exit::Ending;
use junkai_terminal::show::SharedBar;

use super::histories;
use super::results::Results;

/// Examples for `--help`.
pub(super) const EXAMPLES: &str = "\
A history is a file of lines `unix_time<TAB>A|M|D<TAB>path`, plain, .gz or
.zst: when each page of a site was added, modified and deleted. Without
HISTORY a generated one stands in.

Examples:
  junkai lab estimators
  junkai lab estimators changes/*.tsv.zst --runs 4000 --out results";

/// What `junkai lab estimators` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Change histories to replay [default: a generated one of 2,000 pages].
    #[arg(value_name = "HISTORY")]
    histories: Vec<PathBuf>,
    /// Simulated pages for each row of the tables.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    runs: u32,
    #[command(flatten)]
    results: Results,
}

/// Runs it, writes its outcome and prints it.
pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    let seed = arguments.results.seed;
    let histories = histories::read(&arguments.histories, seed)?;
    let experiment = EstimatorsExperiment {
        runs: arguments.runs,
        command: command(&arguments.histories, seed) + &format!(" --runs {}", arguments.runs),
        ..experiment(&arguments.histories, seed)
    };
    arguments
        .results
        .of(|bar| Ok(outcome(&histories, &experiment, bar)))
}

/// The experiment with its usual settings.
pub(super) fn experiment(histories: &[PathBuf], seed: u64) -> EstimatorsExperiment {
    EstimatorsExperiment {
        seed,
        command: command(histories, seed),
        ..EstimatorsExperiment::default()
    }
}

fn command(histories: &[PathBuf], seed: u64) -> String {
    let histories = histories::again(histories);
    format!("junkai lab estimators{histories} --seed {seed}")
}

/// Runs it under a progress bar.
pub(super) fn outcome(
    histories: &[History],
    experiment: &EstimatorsExperiment,
    bar: &SharedBar,
) -> Outcome {
    estimators::run(histories, experiment, &|progress| {
        bar.at("estimators", progress.done, progress.total);
    })
}
