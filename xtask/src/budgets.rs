//! `cargo xtask budgets`: counts what the hot paths cost. The code is in `budgets/`.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::steps::{cargo, step};
use crate::tools;

/// What to do with the counts.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write them to `budgets/budgets.toml`, for a change that is worth its cost.
    #[arg(long)]
    record: bool,
}

/// Counts, and compares or records.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let valgrind = tools::valgrind()?;
    let task = if arguments.record { "record" } else { "check" };
    step("budgets", count(task, &valgrind))
}

/// The command that fails if a path became dearer.
pub(crate) fn check(valgrind: &Path) -> Command {
    count("check", valgrind)
}

fn count(task: &str, valgrind: &Path) -> Command {
    let mut command = cargo(&["run", "--profile", "budget", "--quiet"]);
    command.args(["--package", "junkai-budgets", "--", task]);
    command.env("JUNKAI_VALGRIND", valgrind);
    command
}
