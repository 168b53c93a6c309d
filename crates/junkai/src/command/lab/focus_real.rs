//! `junkai lab focus-real`: how soon a site's data files are found.

use std::path::{Path, PathBuf};

use anyhow::Result;
use junkai_lab::experiment::focus_real::{
    self, FocusRealExperiment, LabelledPages, Material, Site,
};
use junkai_lab::outcome::Outcome;

use super::experiment::OUT_DEFAULT;
use super::show::{self, SharedBar, Shown};
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
    /// What everything that is left to chance is drawn from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The folder to write to; the experiment has its own below it.
    #[arg(long, short, value_name = "DIR", default_value = OUT_DEFAULT)]
    out: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it, writes its outcome and prints it.
pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    let real = Real::read(arguments.site.as_deref(), arguments.labelled.as_deref())?;
    show::prepare(&arguments.out)?;
    let experiment = FocusRealExperiment {
        repetitions: arguments.repetitions,
        pages: arguments.pages,
        seed: arguments.seed,
        ..FocusRealExperiment::default()
    };
    let bar = SharedBar::new();
    let outcome = real.outcome(&experiment, &bar);
    drop(bar);
    let shown = Shown {
        written: Some(show::write(&outcome, &arguments.out)?),
        out_again: show::out_again_unless(&arguments.out, OUT_DEFAULT),
        json: arguments.json,
    };
    show::outcome(&outcome, &shown)?;
    Ok(Ending::Well)
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
