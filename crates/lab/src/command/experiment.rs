//! `junkai lab ring|in-degree|beyond|report`: the experiments, and the page of all of them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum;
use junkai_lab::experiment::beyond::{self, BeyondExperiment};
use junkai_lab::experiment::estimators::EstimatorsExperiment;
use junkai_lab::experiment::focus_real::FocusRealExperiment;
use junkai_lab::experiment::focus_sim::FocusSimExperiment;
use junkai_lab::experiment::in_degree::{self, InDegreeExperiment};
use junkai_lab::experiment::revisit::RevisitExperiment;
use junkai_lab::experiment::ring::{self, RingExperiment};
use junkai_lab::experiment::servers::{self, ServersExperiment};
use junkai_lab::report;
use junkai_simulation::graph::Statistics;
use junkai_simulation::outcome::Outcome;
use junkai_simulation::subject::Subject;
use junkai_terminal::bar::Bar;
use junkai_terminal::exit::Ending;
use junkai_terminal::print::say;
use junkai_terminal::show::{self, SharedBar, Shown};

use super::source::Sources;
use super::{changes, estimators, focus_real, focus_sim, histories, time_queue};

/// Examples for `--help`.
pub(super) const EXAMPLES: &str = "\
A web graph is a list of pages and their links; `junkai export graph` writes that
of an archive. Without GRAPH a generated web of 300,000 pages stands in. PageRank
says how important a page is by the links that lead to it. Each experiment has
a folder of tables (CSV), figures (SVG) and findings; the command that it
prints at the end writes the same bytes again.

Examples:
  junkai lab ring graphs/cnr-2000 --vary slots
  junkai lab in-degree graphs/cnr-2000 graphs/webkb
  junkai lab beyond --generate 1000000 --seed 7
  junkai lab report graphs/* --generate 300000 --out results";

/// Where experiments write, unless told otherwise.
pub(super) const OUT_DEFAULT: &str = "junkai-lab";

/// Starts of a graph, pages of a crawl, and sets of starts, unless told otherwise.
const STARTS_DEFAULT: u16 = 5;
const PAGES_MAX_DEFAULT: u32 = 100_000;
const REPETITIONS_DEFAULT: u16 = 10;

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

impl Common {
    /// The command that repeats an experiment; where it writes to is no part of what it finds.
    fn command(&self, name: &str, flags: &str) -> String {
        format!("junkai lab {name}{}{flags}", self.sources.again())
    }

    /// The argument that writes to the same folder again, with a space before it.
    fn out_again(&self) -> String {
        show::out_again_unless(&self.out, OUT_DEFAULT)
    }
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
    #[arg(long, value_name = "N", default_value_t = STARTS_DEFAULT, value_parser = clap::value_parser!(u16).range(1..=1000))]
    starts: u16,
    /// Visit at most this many pages.
    #[arg(long, value_name = "N", default_value_t = PAGES_MAX_DEFAULT, value_parser = clap::value_parser!(u32).range(1..))]
    pages_max: u32,
}

/// What `junkai lab beyond` takes.
#[derive(clap::Args)]
pub(crate) struct BeyondArguments {
    #[command(flatten)]
    common: Common,
    /// Sets of starts that everything is repeated from.
    #[arg(long, value_name = "N", default_value_t = REPETITIONS_DEFAULT, value_parser = clap::value_parser!(u16).range(2..=1000))]
    repetitions: u16,
}

/// What `junkai lab report` takes.
#[derive(clap::Args)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    common: Common,
    /// Change histories to replay; may be given several times [default: a generated one].
    #[arg(long, value_name = "FILE")]
    history: Vec<PathBuf>,
    /// A real site to collect data files from, as `junkai lab focus-real` takes it.
    #[arg(long, value_name = "FILE")]
    site: Option<PathBuf>,
    /// A real site without data files, as `junkai lab focus-real` takes it; may be given several times.
    #[arg(long, value_name = "FILE")]
    without: Vec<PathBuf>,
    /// Pages with labels to explore, as `junkai lab focus-real` takes them.
    #[arg(long, value_name = "FILE")]
    labelled: Option<PathBuf>,
    /// Simulate few pages that change, for a short time: a report in a minute, whose figures are rough.
    #[arg(long)]
    quick: bool,
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

/// `junkai lab ring`.
pub(super) fn ring(arguments: &RingArguments) -> Result<Ending> {
    let common = &arguments.common;
    let experiment = ring_experiment(common, arguments.vary);
    one(common, |subjects, bar| run_ring(subjects, &experiment, bar))
}

/// `junkai lab in-degree`.
pub(super) fn in_degree(arguments: &InDegreeArguments) -> Result<Ending> {
    let common = &arguments.common;
    let experiment = in_degree_experiment(common, arguments.starts, arguments.pages_max);
    one(common, |subjects, bar| {
        run_in_degree(subjects, &experiment, bar)
    })
}

/// `junkai lab beyond`.
pub(super) fn beyond(arguments: &BeyondArguments) -> Result<Ending> {
    let common = &arguments.common;
    let experiment = beyond_experiment(common, arguments.repetitions);
    one(common, |subjects, bar| {
        run_beyond(subjects, &experiment, bar)
    })
}

/// Writes the outcomes and the page that shows them all.
fn write_report(outcomes: &[Outcome], subjects: Vec<Subject>, out: &Path) -> Result<PathBuf> {
    for outcome in outcomes {
        show::write(outcome, out)?;
    }
    let page = out.join("report.html");
    let statistics: Vec<Statistics> = subjects
        .into_iter()
        .map(|subject| subject.statistics)
        .collect();
    write_page(&page, &report::html(outcomes, &statistics))?;
    Ok(page)
}

/// All of them, and the page.
pub(super) fn report(arguments: &ReportArguments) -> Result<Ending> {
    let common = &arguments.common;
    let histories = histories::read(&arguments.history, common.sources.seed())?;
    let subjects = common.sources.subjects(&mut Bar::new())?;
    let webs = changes::webs(&arguments.history, false)?;
    let real = focus_real::Real::read(&focus_real::Named {
        site: arguments.site.as_deref(),
        without: &arguments.without,
        labelled: arguments.labelled.as_deref(),
    })?;
    show::prepare(&common.out)?;
    let bar = SharedBar::new();
    let sizes = Sizes::of(arguments);
    let (revisit, servers) = (sizes.revisit(&arguments.history), sizes.servers());
    let seed = common.sources.seed();
    let estimating = EstimatorsExperiment {
        runs: sizes.runs,
        pages: sizes.runs,
        replayed_max: sizes.runs,
        ..estimators::experiment(&arguments.history, seed)
    };
    let outcomes = [
        run_ring(&subjects, &ring_experiment(common, Vary::Both), &bar),
        run_in_degree(
            &subjects,
            &in_degree_experiment(common, STARTS_DEFAULT, PAGES_MAX_DEFAULT),
            &bar,
        ),
        run_beyond(
            &subjects,
            &beyond_experiment(common, REPETITIONS_DEFAULT),
            &bar,
        ),
        estimators::outcome(&histories, &estimating, &bar),
        changes::run_revisit(webs, &revisit, &bar)?,
        servers::run(Vec::new(), &servers)?,
        time_queue::counted(seed, &bar)?,
        real.outcome(&sizes.focus_real(seed), &bar),
        focus_sim::outcome(&sizes.focus_sim(seed), &bar),
    ];
    drop(bar);
    let page = write_report(&outcomes, subjects, &common.out)?;
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
    let histories = histories::again_as("--history ", &arguments.history);
    let site = &real.again;
    let quick = if arguments.quick { " --quick" } else { "" };
    let again = format!(
        "junkai lab report{}{histories}{site}{quick}",
        common.sources.again()
    );
    show::repeat_with(&again, &common.out_again());
    Ok(Ending::Well)
}

/// How much of pages that change is simulated.
struct Sizes {
    pages: u32,
    days: u32,
    repetitions: u32,
    servers: u32,
    runs: u32,
    collections: u32,
    site_pages: u32,
    web_sites: u32,
    /// Sites that are explored, and how often they are drawn.
    sites: u32,
    draws: u32,
}

impl Sizes {
    fn of(arguments: &ReportArguments) -> Sizes {
        if arguments.quick {
            return Sizes {
                pages: 60,
                days: 200,
                repetitions: 2,
                servers: 200,
                runs: 60,
                collections: 2,
                site_pages: 200,
                web_sites: 40,
                sites: 100,
                draws: 4,
            };
        }
        let (revisit, servers) = (RevisitExperiment::default(), ServersExperiment::default());
        let collecting = FocusRealExperiment::default();
        let exploring = FocusSimExperiment::default();
        Sizes {
            pages: revisit.pages,
            days: revisit.days,
            repetitions: revisit.repetitions,
            servers: servers.servers,
            runs: EstimatorsExperiment::default().runs,
            collections: collecting.repetitions,
            site_pages: collecting.pages,
            web_sites: collecting.sites,
            sites: exploring.sites,
            draws: exploring.seeds,
        }
    }

    fn focus_real(&self, seed: u64) -> FocusRealExperiment {
        FocusRealExperiment {
            repetitions: self.collections,
            pages: self.site_pages,
            sites: self.web_sites,
            seed,
            ..FocusRealExperiment::default()
        }
    }

    fn revisit(&self, histories: &[PathBuf]) -> RevisitExperiment {
        let histories = histories::again(histories);
        let (pages, days, repetitions) = (self.pages, self.days, self.repetitions);
        RevisitExperiment {
            pages,
            days,
            repetitions,
            command: format!(
                "junkai lab revisit{histories} --repetitions {repetitions} --pages {pages} --days {days}"
            ),
            ..RevisitExperiment::default()
        }
    }

    fn focus_sim(&self, seed: u64) -> FocusSimExperiment {
        FocusSimExperiment {
            sites: self.sites,
            fetches: 20 * self.sites,
            seeds: self.draws,
            seed,
            ..FocusSimExperiment::default()
        }
    }

    fn servers(&self) -> ServersExperiment {
        let (servers, pages, days) = (self.servers, self.pages, self.days);
        ServersExperiment {
            servers,
            pages,
            days,
            command: format!(
                "junkai lab servers --servers {servers} --pages {pages} --days {days}"
            ),
            ..ServersExperiment::default()
        }
    }
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
fn one(common: &Common, run: impl FnOnce(&[Subject], &SharedBar) -> Outcome) -> Result<Ending> {
    let subjects = common.sources.subjects(&mut Bar::new())?;
    show::prepare(&common.out)?;
    let bar = SharedBar::new();
    let outcome = run(&subjects, &bar);
    drop(bar);
    let shown = Shown {
        written: Some(show::write(&outcome, &common.out)?),
        out_again: common.out_again(),
        json: common.json,
    };
    show::outcome(&outcome, &shown)?;
    Ok(Ending::Well)
}

fn ring_experiment(common: &Common, vary: Vary) -> RingExperiment {
    RingExperiment {
        vary: vary.setting(),
        command: common.command("ring", &format!(" --vary {}", vary.name())),
        ..RingExperiment::default()
    }
}

fn in_degree_experiment(common: &Common, starts: u16, pages_max: u32) -> InDegreeExperiment {
    let flags = format!(" --starts {starts} --pages-max {pages_max}");
    InDegreeExperiment {
        starts: starts.into(),
        seed: common.sources.seed(),
        pages_max,
        command: common.command("in-degree", &flags),
    }
}

fn beyond_experiment(common: &Common, repetitions: u16) -> BeyondExperiment {
    BeyondExperiment {
        repetitions: repetitions.into(),
        seed: common.sources.seed(),
        command: common.command("beyond", &format!(" --repetitions {repetitions}")),
        ..BeyondExperiment::default()
    }
}

fn run_ring(subjects: &[Subject], experiment: &RingExperiment, bar: &SharedBar) -> Outcome {
    ring::run(subjects, experiment, &|progress| {
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

fn run_beyond(subjects: &[Subject], experiment: &BeyondExperiment, bar: &SharedBar) -> Outcome {
    beyond::run(subjects, experiment, &|progress| {
        bar.at("beyond", progress.done, progress.total);
    })
}
