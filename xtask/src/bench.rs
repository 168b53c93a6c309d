//! `cargo xtask bench`: builds and runs the benchmarks in release mode.

use anyhow::Result;

use crate::steps::{cargo, step};

/// Which benchmark to run.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// `ring`, `seen`, `crawl`, `lab`, `time-queue` or `focus`.
    which: String,
    /// Options of the benchmark; `--help` shows them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// Runs it.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.which == "crawl" {
        // The benchmark starts it from where it finds itself.
        let build = cargo(&["build", "--release", "--package", "junkai"]);
        step("the crawler", build)?;
    }
    let mut command = cargo(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "junkai-bench",
        "--",
        &arguments.which,
    ]);
    command.args(&arguments.options);
    step("benchmark", command)
}
