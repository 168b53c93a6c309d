//! How well a training went, for people and programs.

use std::path::Path;

use anyhow::Result;
use junkai_charts::{Axis, Chart, Format, Line, Scatter, Style};
use junkai_focus::learn::{Figures, Validation};
use junkai_simulation::outcome::grouped;
use serde::Serialize;

use crate::print::say;

/// A bin that counts for less than this many sites says nothing.
const BIN_SITES_MIN: f64 = 0.5;

/// What a training made.
#[derive(Serialize)]
pub(super) struct Outcome<'a> {
    pub(super) name: &'a str,
    pub(super) model: &'a Path,
    pub(super) plot: &'a Path,
    pub(super) wanted_sites: usize,
    pub(super) other_sites: usize,
    pub(super) pages: usize,
    pub(super) features: usize,
    pub(super) cost: f64,
    /// How good the judge of files is, if it was trained.
    pub(super) files: Option<Figures>,
    pub(super) validation: &'a Validation,
}

/// Prints it.
pub(super) fn print(outcome: &Outcome<'_>, json: bool) -> Result<()> {
    if json {
        say!("{}", serde_json::to_string(outcome)?);
        return Ok(());
    }
    say!(
        "learned {:?} from {} pages of {} sites that hold it and {} that do not: {} features",
        outcome.name,
        grouped(outcome.pages as u64),
        grouped(outcome.wanted_sites as u64),
        grouped(outcome.other_sites as u64),
        grouped(outcome.features as u64)
    );
    say!(
        "on sites that it had not seen ({} folds):",
        outcome.validation.folds
    );
    print_figures(outcome.validation);
    if let Some(files) = &outcome.files {
        say!(
            "on {} data files of sources that it had not seen:",
            grouped(files.count as u64)
        );
        say!("  files  {}", figures(files));
    }
    say!("model: {}", outcome.model.display());
    say!("calibration plot: {}", outcome.plot.display());
    Ok(())
}

/// Prints how good a model is on sites that were labelled to check it.
pub(super) fn print_check(name: &str, validation: &Validation, json: bool) -> Result<()> {
    if json {
        say!("{}", serde_json::to_string(validation)?);
        return Ok(());
    }
    say!(
        "{name:?} on {} pages of {} sites, of which {} hold it:",
        grouped(validation.pages.count as u64),
        grouped(validation.sites.count as u64),
        grouped(validation.sites.wanted as u64)
    );
    print_figures(validation);
    Ok(())
}

fn print_figures(validation: &Validation) {
    say!("          accuracy  precision    recall");
    say!("  pages  {}", figures(&validation.pages));
    say!("  sites  {}", figures(&validation.sites));
    say!(
        "  Brier score {:.4} (always saying the share: {:.4}), log loss {:.4}",
        validation.brier,
        validation.brier_of_share,
        validation.log_loss
    );
    say!("what was said of pages, and what was the case:");
    let bins = validation.bins.iter();
    for bin in bins.filter(|bin| BIN_SITES_MIN <= bin.weight) {
        say!(
            "  said {:.2}   was {:.2}   (worth {:.1} sites)",
            bin.said,
            bin.was,
            bin.weight
        );
    }
}

fn figures(figures: &Figures) -> String {
    let percent = |share: f64| format!("{:>7.1} %", 100.0 * share);
    [figures.accuracy, figures.precision, figures.recall]
        .map(percent)
        .join("  ")
}

/// The calibration plot: what was said against what was the case.
pub(super) fn plot(name: &str, validation: &Validation) -> String {
    let share = |label: &str| Axis::linear(label).format(Format::Share).min(0.0).max(1.0);
    let bins = validation
        .bins
        .iter()
        .filter(|bin| BIN_SITES_MIN <= bin.weight);
    let points: Vec<(f64, f64)> = bins.map(|bin| (bin.said, bin.was)).collect();
    Chart::new(
        format!("{name}: what was said, and what was the case"),
        share("probability that was said"),
        share("share that was the case"),
    )
    .subtitle(format!(
        "held-out pages of {} sites, in tenths; a good model lies on the line",
        validation.sites.count
    ))
    .line(Line::new("as it should be", [(0.0, 0.0), (1.0, 1.0)]).style(Style::Reference))
    .line(Line::new("as it was", points.iter().copied()))
    .scatter(Scatter::new("tenths", points))
    .svg()
}
