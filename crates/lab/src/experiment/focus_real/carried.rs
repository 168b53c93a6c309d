//! What was learned at other sites, and what it saves at the next.
//!
//! A row is one site of each template, in an order that is drawn. It is collected from twice: each site as if it were the first, and with
//! the experience of all before it. The saving depends on what sites have in common, so there are two kinds of rows: their sections are
//! mostly called what others call theirs, or none is.

use junkai_chance::Chance;
use junkai_focus::collect::Experience;
use junkai_simulation::outcome::{Cell, Claim, Column, GOAL, Table, Verdict};
use rayon::prelude::*;

use super::contestant::Contestant;
use super::generated::{self, Names};
use super::harvest::{Harvest, harvest};
use super::tables::{Middle, fetches};
use super::{FocusRealExperiment, Meter, shuffle};
use crate::experiment::estimate::Estimate;
use crate::experiment::words::text;

/// Fetches that brought no file until nine tenths of the files were had.
#[derive(Clone, Copy, Debug)]
struct Pair {
    fresh: f64,
    carried: f64,
}

impl Pair {
    fn logarithm(self) -> f64 {
        (self.carried.max(1.0) / self.fresh.max(1.0)).ln()
    }
}

/// Rows of sites whose sections are named in one way.
pub(super) struct Carried {
    names: Names,
    rows: Vec<Vec<Pair>>,
}

/// A geometric mean over rows, and where nineteen of twenty such means would be.
struct Factor {
    mean: f64,
    low: f64,
    high: f64,
}

impl Carried {
    pub(super) fn run(
        names: Names,
        experiment: &FocusRealExperiment,
        meter: &Meter<'_>,
    ) -> Carried {
        let seeds = experiment.seeds().into_par_iter();
        Carried {
            names,
            rows: seeds
                .map(|seed| row(names, seed, experiment.pages, meter))
                .collect(),
        }
    }

    /// With over without, from the second site on; none if there is no such site.
    fn factor(&self) -> Option<Factor> {
        let of_row = |row: &Vec<Pair>| {
            let later: Vec<f64> = row.iter().skip(1).map(|pair| pair.logarithm()).collect();
            later.iter().sum::<f64>() / later.len() as f64
        };
        let logarithms: Vec<f64> = self.rows.iter().map(of_row).collect();
        let estimate = Estimate::of(&logarithms);
        let (mean, error) = (estimate.mean, 2.0 * estimate.error());
        mean.is_finite().then(|| Factor {
            mean: mean.exp(),
            low: (mean - error).exp(),
            high: (mean + error).exp(),
        })
    }

    /// The pairs at each place of the rows.
    fn places(&self) -> Vec<Vec<Pair>> {
        let places = 0..generated::TEMPLATES as usize;
        places
            .map(|place| {
                self.rows
                    .iter()
                    .filter_map(|row| row.get(place).copied())
                    .collect()
            })
            .collect()
    }

    pub(super) fn finding(&self) -> Option<String> {
        let Factor { mean, low, high } = self.factor()?;
        Some(format!(
            "Experience of other sites: where sections have {}, a site takes {mean:.2} times the pages from the second one on (geometric mean; {low:.2} to \
             {high:.2} within two standard errors).",
            self.names.told()
        ))
    }

    pub(super) fn claim(&self) -> Option<Claim> {
        let Factor { mean, low, high } = self.factor()?;
        let places = self.places();
        let ratios: Vec<f64> = places
            .iter()
            .skip(1)
            .filter_map(|pairs| ratio(pairs))
            .collect();
        let kept = ratios.iter().filter(|ratio| **ratio < 1.0).count();
        Some(Claim {
            source: GOAL.to_owned(),
            claim: "what was learned at other sites saves pages from the second site on".to_owned(),
            graph: format!("generated sites, sections with {}", self.names.told()),
            measured: format!(
                "{mean:.2} times the pages ({low:.2} to {high:.2}); fewer at {kept} of {} places of the row",
                ratios.len()
            ),
            verdict: if high < 1.0 {
                Verdict::of_comparisons(kept, ratios.len())?
            } else {
                Verdict::Fails
            },
        })
    }
}

/// The numbers, both kinds of rows side by side.
pub(super) fn table(kinds: &[Carried]) -> Table {
    let mut columns = Column::list([("place", "site")]);
    for kind in kinds {
        let (key, title) = (kind.names.key(), kind.names.told());
        columns.push(Column::new(
            format!("pages_without_{key}"),
            format!("{title}: without"),
        ));
        columns.push(Column::new(format!("pages_with_{key}"), "with"));
        columns.push(Column::new(format!("with_over_without_{key}"), "ratio"));
    }
    let of_place = |place: usize| {
        let mut cells = vec![Cell::Count(place as u64 + 1)];
        for kind in kinds {
            let pairs = &kind.places()[place];
            let median = |value: fn(&Pair) -> f64| {
                Middle::of(pairs.iter().map(value)).map(|middle| middle.median)
            };
            cells.push(fetches(median(|pair| pair.fresh)));
            cells.push(fetches(median(|pair| pair.carried)));
            cells.push(Cell::share(ratio(pairs)));
        }
        cells
    };
    let mut rows: Vec<Vec<Cell>> = (0..generated::TEMPLATES as usize).map(of_place).collect();
    let mut all = vec![text("2 to 18")];
    for kind in kinds {
        all.extend([Cell::None, Cell::None]);
        all.push(Cell::share(kind.factor().map(|factor| factor.mean)));
    }
    rows.push(all);
    Table {
        name: "experience".to_owned(),
        caption: "Rows of generated sites, one of each template: fetches that brought no file until nine tenths of the files were had, without and \
                  with what the sites before taught (medians), and the geometric mean of with over without. Usual names: seven of ten sections are \
                  called what others call theirs; names of their own: none is."
            .to_owned(),
        columns,
        rows,
    }
}

/// The geometric mean of with experience over without.
fn ratio(pairs: &[Pair]) -> Option<f64> {
    let sum: f64 = pairs.iter().map(|pair| pair.logarithm()).sum();
    let mean = sum / pairs.len() as f64;
    mean.is_finite().then(|| mean.exp())
}

fn row(names: Names, seed: u64, pages: u32, meter: &Meter<'_>) -> Vec<Pair> {
    let mut templates: Vec<u32> = (0..generated::TEMPLATES).collect();
    shuffle(&mut Chance::about(seed, u64::MAX), &mut templates);
    let settings = Contestant::OURS.settings();
    let mut experience = Experience::default();
    let mut row = Vec::new();
    for (place, template) in (0..).zip(templates) {
        let site = generated::site(template, pages, mixed(seed, place), names);
        let (fresh, _) = harvest(&site, &settings, &Experience::default(), seed);
        let (with, collector) = harvest(&site, &settings, &experience, seed);
        experience.learn(&collector);
        meter.add(2);
        let pages =
            |harvest: &Harvest| harvest.reached[1].map_or(f64::NAN, |cost| f64::from(cost.pages));
        row.push(Pair {
            fresh: pages(&fresh),
            carried: pages(&with),
        });
    }
    row
}

/// A seed of its own for each place of a row.
fn mixed(seed: u64, place: u64) -> u64 {
    seed.wrapping_mul(1000) + place
}
