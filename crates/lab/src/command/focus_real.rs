//! `junkai lab focus-real`: which sites hold data files, and how soon these are found.

use std::path::{Path, PathBuf};

use anyhow::Result;
use junkai_lab::experiment::focus_real::{
    self, FocusRealExperiment, LabelledPages, MadeSite, Material, Site,
};
use junkai_simulation::outcome::Outcome;
use junkai_terminal::exit::Ending;
use junkai_terminal::show::SharedBar;

use super::results::Results;

/// Examples for `--help`.
pub(super) const EXAMPLES: &str = "\
A site is an archive, .tar.zst or .tar.gz, with `manifest.tsv` and `objects/`:
all pages and data files of a real site. Without one, generated sites of
eighteen templates are collected from, and the outcome says so. Sites of the
test web are explored and collected from in any case, with what is real.

Examples:
  junkai lab focus-real
  junkai lab focus-real --site replay/ons-sdg-data-2024.tar.zst
  junkai lab focus-real --site replay/ons-sdg-data-2024.tar.zst \\
    --without replay/openbsd-www-2020.tar.zst \\
    --labelled focus/webkb.tar.gz --out results";

/// What `junkai lab focus-real` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A real site to collect from.
    #[arg(long, value_name = "FILE")]
    site: Option<PathBuf>,
    /// A real site without data files, to be told from it; may be given several times.
    #[arg(long, value_name = "FILE")]
    without: Vec<PathBuf>,
    /// Pages with labels to explore: the archive of `WebKB`.
    #[arg(long, value_name = "FILE")]
    labelled: Option<PathBuf>,
    /// Times that every order is run on every site.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,
    /// Pages of a generated site, about.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pages: u32,
    /// Sites of the test web that are explored and collected from; a tenth of them hold data files.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(20..=100_000))]
    sites: u32,
    #[command(flatten)]
    results: Results,
}

/// Runs it, writes its outcome and prints it.
pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    let real = Real::read(&Named {
        site: arguments.site.as_deref(),
        without: &arguments.without,
        labelled: arguments.labelled.as_deref(),
    })?;
    let experiment = FocusRealExperiment {
        repetitions: arguments.repetitions,
        pages: arguments.pages,
        sites: arguments.sites,
        seed: arguments.results.seed,
        ..FocusRealExperiment::default()
    };
    arguments
        .results
        .of(|bar| Ok(real.outcome(&experiment, bar)))
}

/// Where what is real is read from.
pub(super) struct Named<'a> {
    /// A site with data files.
    pub(super) site: Option<&'a Path>,
    /// Sites without.
    pub(super) without: &'a [PathBuf],
    /// Pages with labels.
    pub(super) labelled: Option<&'a Path>,
}

/// What is real in the experiment, and where it was read from.
pub(super) struct Real {
    site: Option<Site>,
    others: Vec<Site>,
    pages: Option<LabelledPages>,
    /// The arguments that name it again, each with a space before it.
    pub(super) again: String,
}

impl Real {
    /// Reads what is named.
    pub(super) fn read(named: &Named<'_>) -> Result<Real> {
        let argument = |name: &str, path: &Path| format!(" --{name} {}", path.display());
        let site = named.site.map(|path| argument("site", path));
        let without = named.without.iter().map(|path| argument("without", path));
        let labelled = named.labelled.map(|path| argument("labelled", path));
        let others = named.without.iter().map(|path| focus_real::read(path));
        Ok(Real {
            site: named.site.map(focus_real::read).transpose()?,
            others: others.collect::<Result<_, _>>()?,
            pages: named.labelled.map(focus_real::read_labelled).transpose()?,
            again: site.into_iter().chain(without).chain(labelled).collect(),
        })
    }

    /// Runs it under a progress bar.
    pub(super) fn outcome(&self, experiment: &FocusRealExperiment, bar: &SharedBar) -> Outcome {
        let command = format!(
            "junkai lab focus-real{} --repetitions {} --pages {} --sites {} --seed {}",
            self.again, experiment.repetitions, experiment.pages, experiment.sites, experiment.seed
        );
        let experiment = FocusRealExperiment {
            command,
            ..experiment.clone()
        };
        let made = |seed| made_web(seed, experiment.sites);
        let material = Material {
            site: self.site.as_ref(),
            others: &self.others,
            pages: self.pages.as_ref(),
            made: Some(&made),
        };
        focus_real::run(material, &experiment, &|progress| {
            bar.at("focus-real", progress.done, progress.total);
        })
    }
}

/// The sites of a test web.
fn made_web(seed: u64, sites: u32) -> Vec<MadeSite> {
    let sites = junkai_testweb::focus_contents(seed, sites as usize).into_iter();
    sites
        .map(|site| MadeSite {
            name: site.name,
            home: site.home,
            holds: site.holds,
            pages: site.pages,
        })
        .collect()
}
