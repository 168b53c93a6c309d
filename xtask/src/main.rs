//! What developers run: `cargo xtask test` proves everything, `cargo xtask bench …` measures it.
//!
//! Each task is a list of steps, printed as they go; the first failure ends the run with what to do about it.

#![expect(clippy::print_stdout, reason = "printing is what a command line does")]

mod bench;
mod budgets;
mod dependencies;
mod focus_model;
mod soak;
mod steps;
mod tools;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Tasks for people who work on junkai.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything: format, licences and use of dependencies, lints, unit, property, fuzz and end-to-end tests, budgets, documentation.
    Test(steps::Arguments),
    /// Install what the tests need beyond Rust, and say where it is.
    Tools,
    /// Check the licences of all crates that are built, and that each dependency is used.
    Dependencies,
    /// Ask whether a crate that is built has a known vulnerability. Needs cargo-deny and the network.
    Advisories,
    /// Write the generated pages anew: the settings, the commented junkai.toml, the flags of other tools, and the figures of the benchmarks.
    Pages,
    /// Make the model for statistical data that junkai ships, from what can be got or generated.
    FocusModel(focus_model::Arguments),
    /// Count the instructions of the hot paths, and compare them with what is recorded.
    Budgets(budgets::Arguments),
    /// Measure the program as it is installed: `ring`, `seen`, `crawl`, `lab`, `time-queue`, `focus` or `all`; further arguments go to the benchmark.
    Bench(bench::Arguments),
    /// Crawl a large web of our own, killed a thousand times, and check that nothing is lost.
    Soak(soak::Arguments),
}

fn main() -> Result<()> {
    match Arguments::parse().task {
        Task::Test(arguments) => steps::test(&arguments),
        Task::Tools => tools::install().map(|tools| println!("{tools}")),
        Task::Dependencies => dependencies::check(),
        Task::Advisories => dependencies::advisories(),
        Task::Pages => steps::pages(),
        Task::FocusModel(arguments) => focus_model::run(&arguments),
        Task::Budgets(arguments) => budgets::run(&arguments),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Soak(arguments) => soak::run(&arguments),
    }
}
