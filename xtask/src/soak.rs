//! `cargo xtask soak`: builds the crawler and what kills it as it is installed, and runs that.

use anyhow::Result;

use crate::steps::{cargo, step};

/// How long and how hard.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Options of the soak, as in `--pages 100000 --kills 1000`, which are the defaults; `--help` shows them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// Runs it.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let packages = ["--package", "junkai", "--package", "junkai-bench"];
    let mut build = cargo(&["build", "--profile", "dist"]);
    build.args(packages);
    step("the crawler", build)?;
    let mut soak = cargo(&[
        "run",
        "--profile",
        "dist",
        "--quiet",
        "--package",
        "junkai-bench",
    ]);
    soak.args(["--", "soak"]).args(&arguments.options);
    step("soak", soak)
}
