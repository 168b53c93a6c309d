//! `junkai-lab`: crawl orders tried out on web graphs, under a virtual clock, with the scheduler that crawls.
//!
//! `junkai lab …` starts this program, as cargo does with subcommands that are installed beside it; so it speaks of itself as `junkai lab`.

#![warn(clippy::print_stderr)] // It panics where nobody reads; `print::tell!` does not.

mod command;

use std::process::ExitCode;

use clap::Parser;
use junkai_terminal::{exit, log};
use tikv_jemallocator::Jemalloc;

/// The allocator of the crawler: what the experiments measure is measured as it crawls.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Tries crawl orders out on web graphs, under a virtual clock, with the code that crawls.
#[derive(Parser)]
#[command(name = "junkai-lab", bin_name = "junkai lab", version, arg_required_else_help = true, after_help = command::EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    lab: command::Lab,
    /// Say more on standard error.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Simulated crawls would tell of every simulated mishap.
    let is_simulated = matches!(arguments.lab, command::Lab::Simulate(_));
    if !is_simulated || 0 < arguments.verbose {
        log::start(arguments.verbose);
    }
    exit::code(command::run(&arguments.lab), |_| None)
}
