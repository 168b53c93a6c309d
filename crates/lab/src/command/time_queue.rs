//! `junkai lab time-queue`: what it costs to keep the states of all known pages, timed on this machine.

use std::path::PathBuf;

use anyhow::Result;
use junkai_lab::experiment::time_queue::{self, Costs, TimeQueueExperiment};
use junkai_simulation::outcome::Outcome;
use junkai_simulation::population::SEED_PAGES;
use junkai_terminal::exit::Ending;
use junkai_terminal::show::SharedBar;

use super::results::Results;

/// Examples for `--help`.
pub(super) const EXAMPLES: &str = "\
The state of a known page (when it is visited next, and what was seen of it) is
read when that time comes, changed, and put back. Here that is done with pages
that come due as often as those of a published crawl of 17 million pages: in its
layout on disk and in junkai's, with times told apart to a day, an hour and a
minute, and with write buffers of several sizes.

Examples:
  junkai lab time-queue
  junkai lab time-queue --records 2000000 --repetitions 5
  junkai lab time-queue --full --folder /mnt/disk";

/// What `junkai lab time-queue` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Known pages.
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    records: u64,
    /// As many known pages as the published crawl had, 17,496,056; takes an hour, and 20 GB of disk.
    #[arg(long, conflicts_with = "records")]
    full: bool,
    /// Times that each cost is measured.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    repetitions: u16,
    /// Only count what is asked of the disk: the same on every machine, and faster.
    #[arg(long)]
    count: bool,
    /// The disk to measure: queues are made in this folder, and removed at the end. Default: that for temporary files.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    results: Results,
}

/// Measures, writes and prints.
pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    let experiment = arguments.experiment();
    arguments.results.of(|bar| outcome(&experiment, bar))
}

/// The experiment with few pages, for a report: counted, so that it can be repeated byte for byte.
pub(super) fn counted(seed: u64, bar: &SharedBar) -> Result<Outcome> {
    let few = TimeQueueExperiment::default();
    let experiment = TimeQueueExperiment {
        seed,
        command: format!(
            "junkai lab time-queue --records {} --seed {seed} --count",
            few.records
        ),
        ..few
    };
    outcome(&experiment, bar)
}

/// Runs it under a progress bar.
fn outcome(experiment: &TimeQueueExperiment, bar: &SharedBar) -> Result<Outcome> {
    let outcome = time_queue::run(experiment, &|progress| {
        bar.at("time-queue", progress.done, progress.total);
    })?;
    Ok(outcome)
}

impl Arguments {
    fn experiment(&self) -> TimeQueueExperiment {
        let records = if self.full { SEED_PAGES } else { self.records };
        let (costs, how) = if self.count {
            (Costs::Counted, " --count".to_owned())
        } else {
            let how = format!(" --repetitions {}", self.repetitions);
            (Costs::Timed, how)
        };
        let default = TimeQueueExperiment::default();
        TimeQueueExperiment {
            records,
            seed: self.results.seed,
            repetitions: self.repetitions.into(),
            costs,
            folder: self.folder.clone().unwrap_or(default.folder.clone()),
            command: format!(
                "junkai lab time-queue --records {records} --seed {}{how}",
                self.results.seed
            ),
            ..default
        }
    }
}
