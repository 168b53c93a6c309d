//! The command line: takes a user from a seed URL to an archive, and explains what happened on the way.
//!
//! Each subcommand is a file in `command/`; this one only chooses. Results go to standard output, everything else
//! (progress, hints, warnings) to standard error, so that `--json` can be piped.

#![warn(clippy::print_stderr)] // It panics where nobody reads; `print::tell!` does not.

mod command;
mod config;
mod exit;
mod habits;
mod moment;
mod number;
mod screen;
mod telling;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use junkai_terminal::{bar, log, print};
use tikv_jemallocator::Jemalloc;

/// Pages come and go in buffers of tens of kilobytes on every thread. The C library's own allocator splits and joins such
/// blocks all the time and gives little back: 7 % more CPU time for a page, and nearly twice the memory.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// A web crawler that never stops: polite, archival, explained.
///
/// Start with `junkai demo` (no network needed), then
/// `junkai crawl https://example.org --archive example --contact you@example.org`.
#[derive(Parser)]
#[command(name = "junkai", version, arg_required_else_help = true, after_help = exit::HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Say more on standard error; twice for every visit.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

#[derive(Subcommand)]
enum Command {
    /// Crawl from seeds into an archive, and keep it up to date until stopped; a later run goes on where this one ended.
    Crawl(command::crawl::Arguments),
    /// Crawl an embedded web on loopback: the main job, with no network and no set-up.
    Demo(command::demo::Arguments),
    /// Write a commented junkai.toml to start from.
    Init(command::init::Arguments),
    /// Give a crawl, running or not, more seeds.
    Add(command::add::Arguments),
    /// Visit known pages once more, out of turn.
    Revisit(command::revisit::Arguments),
    /// Start no more visits to a host, to a server, or to anybody; show what is paused.
    Pause(command::pause::Arguments),
    /// Go on where `pause` stopped.
    Resume(command::pause::Arguments),
    /// Show which URLs belong to a crawl, and change it while it runs.
    Scope(command::scope::Arguments),
    /// Say what happened to a URL, why, and when it will be visited next.
    Explain(command::explain::Arguments),
    /// Write a page as it was captured: the bytes of the latest capture, or of the one nearest to a time.
    Get(command::get::Arguments),
    /// List the pages that are new, changed or gone since a time.
    Changes(command::changes::Arguments),
    /// Show the known pages: when each is visited next and why, and what they come to.
    #[command(subcommand)]
    State(command::state::State),
    /// Say what an archive holds.
    Stats(command::stats::Arguments),
    /// Check, index and read WARC and ARC files.
    #[command(subcommand)]
    Warc(command::warc::Warc),
    /// Write what an archive knows for other programs: its link graph.
    #[command(subcommand)]
    Export(command::export::Export),
    /// Find the sites that hold what is wanted, collect it, and find it again.
    #[command(subcommand)]
    Focus(command::focus::Focus),
    /// Say what another schedule would have made of an archive's crawl.
    #[command(after_help = command::what_if::EXAMPLES)]
    WhatIf(command::what_if::Arguments),
    /// Say what a crawl of any size would take: memory, disk, bandwidth, nodes.
    #[command(after_help = command::plan::EXAMPLES)]
    Plan(command::plan::Arguments),
    /// Try crawl orders out on web graphs, under a virtual clock: starts `junkai-lab`, which is a program of its own.
    #[command(disable_help_flag = true)]
    Lab(command::lab::Arguments),
    /// Show URLs as the crawler sees them: canonical form, fingerprint, site, SURT key. JSON lines.
    Url(command::url::Arguments),
    /// Say whether a robots.txt lets an agent visit URLs, and which line decides.
    Robots(command::robots::Arguments),
    /// Show the links of an HTML file. JSON lines.
    Links(command::links::Arguments),
    /// Serve a web of its own on loopback to try settings on, or judge the politeness of its visitors.
    Testweb(command::testweb::Arguments),
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(refusal) => {
            print::tell!("junkai: {refusal}");
            return ExitCode::from(exit::BAD_COMMAND_LINE);
        }
    };
    let verbose = arguments.verbose;
    log::start(verbose);
    let result = match arguments.command {
        Command::Crawl(arguments) => command::crawl::run(arguments),
        Command::Demo(arguments) => command::demo::run(arguments),
        Command::Init(arguments) => command::init::run(&arguments),
        Command::Add(arguments) => command::add::run(arguments),
        Command::Revisit(arguments) => command::revisit::run(&arguments),
        Command::Pause(arguments) => command::pause::pause(&arguments),
        Command::Resume(arguments) => command::pause::resume(&arguments),
        Command::Scope(arguments) => command::scope::run(arguments),
        Command::Explain(arguments) => command::explain::run(&arguments),
        Command::Get(arguments) => command::get::run(&arguments),
        Command::Changes(arguments) => command::changes::run(&arguments),
        Command::State(state) => command::state::run(&state),
        Command::Stats(arguments) => command::stats::run(&arguments),
        Command::Warc(warc) => command::warc::run(&warc),
        Command::Export(export) => command::export::run(&export),
        Command::Focus(focus) => command::focus::run(focus),
        Command::WhatIf(arguments) => command::what_if::run(&arguments),
        Command::Plan(arguments) => command::plan::run(&arguments),
        Command::Lab(arguments) => command::lab::run(&arguments, verbose),
        Command::Url(arguments) => command::url::run(&arguments),
        Command::Robots(arguments) => command::robots::run(&arguments),
        Command::Links(arguments) => command::links::run(&arguments),
        Command::Testweb(arguments) => command::testweb::run(arguments),
    };
    exit::code(result)
}

/// The command line, or what to use instead of a flag that cannot be honoured. Where clap has something to say, it says it and ends the program.
fn arguments() -> Result<Arguments, String> {
    let written_out = habits::translated(command::lab::without_lab(std::env::args_os().collect()))?;
    match Arguments::try_parse_from(written_out) {
        Ok(arguments) => Ok(arguments),
        Err(error) => match habits::instead(&error) {
            Some(refusal) => Err(refusal),
            None => error.exit(),
        },
    }
}
