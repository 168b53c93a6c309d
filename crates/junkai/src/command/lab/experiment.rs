//! `junkai lab ring|in-degree|beyond|report`: the experiments, and the page of all of them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum;
use junkai_lab::experiment::beyond::{self, BeyondExperiment};
use junkai_lab::experiment::in_degree::{self, InDegreeExperiment};
use junkai_lab::experiment::ring::{self, RingExperiment};
use junkai_lab::graph::Statistics;
use junkai_lab::outcome::Outcome;
use junkai_lab::report;
use junkai_lab::subject::Subject;

use super::show::{self, SharedBar};
use super::source::Sources;
use crate::bar::Bar;
use crate::exit::Ending;
use crate::print::say;

/// Examples for `--help`.
pub(super) const EXAMPLES: &str = "\
Without GRAPH a generated web of 300,000 pages stands in. Each experiment has
a folder of tables (CSV), figures (SVG) and findings; the command that it
prints at the end writes the same bytes again.

Examples:
  junkai lab ring graphs/cnr-2000 --vary slots
  junkai lab in-degree graphs/cnr-2000 graphs/webkb
  junkai lab beyond --generate 1000000 --seed 7
  junkai lab report graphs/* --generate 300000 --out results";

/// Where experiments write, unless told otherwise.
const OUT_DEFAULT: &str = "junkai-lab";

/// What all experiments take.
#[derive(clap::Args)]
struct Common {
    #[command(flatten)]
    sources: Sources,
    /// The folder to write to; each experiment has its own below it.
    #[arg(long, short, value_name = "DIR", default_value = OUT_DEFAULT)]
    out: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What `junkai lab ring` takes.
#[derive(clap::Args)]
pub(crate) struct RingArguments {
    #[command(flatten)]
    common: Common,
    /// Which size of the ring is varied.
    #[arg(long, value_enum, default_value_t = Vary::Both)]
    vary: Vary,
}

/// What `junkai lab in-degree` takes.
#[derive(clap::Args)]
pub(crate) struct InDegreeArguments {
    #[command(flatten)]
    common: Common,
    /// Starts that are far apart, on each graph.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    starts: u16,
    /// Visit at most this many pages.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
    pages_max: u32,
}

/// What `junkai lab beyond` takes.
#[derive(clap::Args)]
pub(crate) struct BeyondArguments {
    #[command(flatten)]
    common: Common,
}

/// What `junkai lab report` takes.
#[derive(clap::Args)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, ValueEnum)]
enum Vary {
    /// Slots, then keys.
    Both,
    /// How far ahead the ring can be booked.
    Slots,
    /// How many servers it tells apart.
    Keys,
    /// Neither: only compare the policies.
    Nothing,
}

impl Vary {
    fn setting(self) -> ring::Vary {
        match self {
            Vary::Both => ring::Vary::Both,
            Vary::Slots => ring::Vary::Slots,
            Vary::Keys => ring::Vary::Keys,
            Vary::Nothing => ring::Vary::Nothing,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Vary::Both => "both",
            Vary::Slots => "slots",
            Vary::Keys => "keys",
            Vary::Nothing => "nothing",
        }
    }
}

/// Seed 000.
pub(super) fn ring(arguments: &RingArguments) -> Result<Ending> {
    let (common, vary) = (&arguments.common, arguments.vary);
    let flags = format!(" --vary {}", vary.name());
    one(common, &flags, |subjects, bar| {
        run_ring(subjects, vary, bar)
    })
}

/// Seed 001.
pub(super) fn in_degree(arguments: &InDegreeArguments) -> Result<Ending> {
    let experiment = InDegreeExperiment {
        starts: arguments.starts.into(),
        seed: arguments.common.sources.seed(),
        pages_max: arguments.pages_max,
    };
    let flags = format!(
        " --starts {} --pages-max {}",
        arguments.starts, arguments.pages_max
    );
    one(&arguments.common, &flags, |subjects, bar| {
        run_in_degree(subjects, &experiment, bar)
    })
}

/// Ours against theirs.
pub(super) fn beyond(arguments: &BeyondArguments) -> Result<Ending> {
    one(&arguments.common, "", run_beyond)
}

/// All of them, and the page.
pub(super) fn report(arguments: &ReportArguments) -> Result<Ending> {
    let common = &arguments.common;
    let subjects = common.sources.subjects(&mut Bar::new())?;
    let again = |outcome: Outcome, flags: &str| Outcome {
        command: format!(
            "junkai lab {}{}{flags}",
            outcome.name,
            common.sources.again()
        ),
        ..outcome
    };
    let in_degree = InDegreeExperiment {
        seed: common.sources.seed(),
        ..InDegreeExperiment::default()
    };
    let bar = SharedBar::new();
    let outcomes = [
        again(run_ring(&subjects, Vary::Both, &bar), " --vary both"),
        again(run_in_degree(&subjects, &in_degree, &bar), ""),
        again(run_beyond(&subjects, &bar), ""),
    ];
    drop(bar);
    for outcome in &outcomes {
        show::write(outcome, &common.out)?;
    }
    let page = common.out.join("report.html");
    let statistics: Vec<Statistics> = subjects
        .into_iter()
        .map(|subject| subject.statistics)
        .collect();
    write_page(&page, &report::html(&outcomes, &statistics))?;
    if common.json {
        say!(
            "{}",
            serde_json::json!({ "report": page, "outcomes": outcomes })
        );
        return Ok(Ending::Well);
    }
    for outcome in &outcomes {
        show::findings(outcome);
        say!("");
    }
    say!(
        "Written to {}: a folder for each experiment",
        common.out.display()
    );
    say!("Open the whole in a browser: {}", page.display());
    say!("Repeat with: junkai lab report{}", common.sources.again());
    Ok(Ending::Well)
}

fn write_page(page: &Path, html: &str) -> Result<()> {
    std::fs::write(page, html).with_context(|| {
        format!(
            "cannot write {} (use --out DIR to write elsewhere)",
            page.display()
        )
    })
}

/// Runs one experiment, writes its outcome and prints it.
fn one(
    common: &Common,
    flags: &str,
    run: impl FnOnce(&[Subject], &SharedBar) -> Outcome,
) -> Result<Ending> {
    let subjects = common.sources.subjects(&mut Bar::new())?;
    let bar = SharedBar::new();
    let mut outcome = run(&subjects, &bar);
    drop(bar);
    outcome.command = format!(
        "junkai lab {}{}{flags}",
        outcome.name,
        common.sources.again()
    );
    let written = show::write(&outcome, &common.out)?;
    show::outcome(&outcome, Some(&written), common.json)?;
    Ok(Ending::Well)
}

fn run_ring(subjects: &[Subject], vary: Vary, bar: &SharedBar) -> Outcome {
    let experiment = RingExperiment {
        vary: vary.setting(),
        ..RingExperiment::default()
    };
    ring::run(subjects, &experiment, &|progress| {
        bar.at("ring", progress.done, progress.total);
    })
}

fn run_in_degree(
    subjects: &[Subject],
    experiment: &InDegreeExperiment,
    bar: &SharedBar,
) -> Outcome {
    in_degree::run(subjects, experiment, &|progress| {
        bar.at("in-degree", progress.done, progress.total);
    })
}

fn run_beyond(subjects: &[Subject], bar: &SharedBar) -> Outcome {
    beyond::run(subjects, &BeyondExperiment::default(), &|progress| {
        bar.at("beyond", progress.done, progress.total);
    })
}
