//! `junkai lab focus-real`: how soon a site's data files are found.

use std::path::{Path, PathBuf};

use anyhow::Result;
use junkai_lab::experiment::focus_real::{
    self, FocusRealExperiment, LabelledPages, Material, Site,
};
use junkai_lab::outcome::Outcome;

use super::results::Results;
use super::show::SharedBar;
use crate::exit::Ending;

/// Examples for `--help`.
pub(super) const EXAMPLES: &str = "\
A site is an archive, .tar.zst or .tar.gz, with `manifest.tsv` and `objects/`:
all pages and data files of a real site. Without one, generated sites of
eighteen templates are collected from, and the outcome says so.

Examples:
  junkai lab focus-real
  junkai lab focus-real --site replay/ons-sdg-data-2024.tar.zst
  junkai lab focus-real --site replay/ons-sdg-data-2024.tar.zst \\
    --labelled focus/webkb.tar.gz --out results";

/// What `junkai lab focus-real` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A real site to collect from.
    #[arg(long, value_name = "FILE")]
    site: Option<PathBuf>,
    /// Pages with labels to explore: the archive of `WebKB`.
    #[arg(long, value_name = "FILE")]
    labelled: Option<PathBuf>,
    /// Times that every order is run on every site.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,
    /// Pages of a generated site, about.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pages: u32,
    #[command(flatten)]
    results: Results,
}

/// Runs it, writes its outcome and prints it.
pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    let real = Real::read(arguments.site.as_deref(), arguments.labelled.as_deref())?;
    let experiment = FocusRealExperiment {
        repetitions: arguments.repetitions,
        pages: arguments.pages,
        seed: arguments.results.seed,
        ..FocusRealExperiment::default()
    };
    arguments
        .results
        .of(|bar| Ok(real.outcome(&experiment, bar)))
}

/// What is real in the experiment, and where it was read from.
pub(super) struct Real {
    site: Option<Site>,
    pages: Option<LabelledPages>,
    /// The arguments that name it again, each with a space before it.
    pub(super) again: String,
}

impl Real {
    /// Reads what is named.
    pub(super) fn read(site: Option<&Path>, labelled: Option<&Path>) -> Result<Real> {
        let argument = |name: &str, path: Option<&Path>| {
            path.map_or_else(String::new, |path| format!(" --{name} {}", path.display()))
        };
        Ok(Real {
            site: site.map(focus_real::read).transpose()?,
            pages: labelled.map(focus_real::read_labelled).transpose()?,
            again: argument("site", site) + &argument("labelled", labelled),
        })
    }

    /// Runs it under a progress bar.
    pub(super) fn outcome(&self, experiment: &FocusRealExperiment, bar: &SharedBar) -> Outcome {
        let command = format!(
            "junkai lab focus-real{} --repetitions {} --pages {} --seed {}",
            self.again, experiment.repetitions, experiment.pages, experiment.seed
        );
        let experiment = FocusRealExperiment {
            command,
            ..experiment.clone()
        };
        let material = Material {
            site: self.site.as_ref(),
            pages: self.pages.as_ref(),
        };
        focus_real::run(material, &experiment, &|progress| {
            bar.at("focus-real", progress.done, progress.total);
        })
    }
}
