//! `cargo xtask bench`: builds and runs the benchmarks as it is installed.

use anyhow::Result;

use crate::steps::{cargo, step};

/// Which benchmark to run.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// `ring`, `seen`, `crawl`, `lab`, `time-queue` or `focus`; `all` runs all of them for the documents.
    which: String,
    /// Options of the benchmark; `--help` shows them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// Runs it.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // Benchmarks and crawler together: one set of features, one build. `crawl` starts the crawler from where it finds itself.
    let mut build = cargo(&["build", "--profile", "dist"]);
    build.args(["--bin", "junkai-bench", "--bin", "junkai"]);
    step("build", build)?;
    let mut command = cargo(&[
        "run",
        "--profile",
        "dist",
        "--quiet",
        "--bin",
        "junkai-bench",
        "--",
    ]);
    command.arg(&arguments.which).args(&arguments.options);
    step("benchmark", command)
}
