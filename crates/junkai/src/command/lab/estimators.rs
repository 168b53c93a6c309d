//! `junkai lab estimators`: how well it is told how often pages change.

use std::path::PathBuf;

use anyhow::Result;
use junkai_lab::experiment::estimators::{self, EstimatorsExperiment};
use junkai_lab::graph::history::History;
use junkai_lab::outcome::Outcome;

use super::experiment::OUT_DEFAULT;
use super::histories;
use super::show::{self, SharedBar, Shown};
use crate::exit::Ending;

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
    let histories = histories::read(&arguments.histories, arguments.seed)?;
    show::prepare(&arguments.out)?;
    let experiment = EstimatorsExperiment {
        runs: arguments.runs,
        command: command(&arguments.histories, arguments.seed)
            + &format!(" --runs {}", arguments.runs),
        ..experiment(&arguments.histories, arguments.seed)
    };
    let bar = SharedBar::new();
    let outcome = outcome(&histories, &experiment, &bar);
    drop(bar);
    let shown = Shown {
        written: Some(show::write(&outcome, &arguments.out)?),
        out_again: show::out_again_unless(&arguments.out, OUT_DEFAULT),
        json: arguments.json,
    };
    show::outcome(&outcome, &shown)?;
    Ok(Ending::Well)
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
