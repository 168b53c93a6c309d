//! The numbers of the experiment.

use super::harvest::{Cost, Harvest, SHARES};
use super::labelled::{FETCHES_PER_SITE, POLICIES, Quality};
use super::whole::Run;
use super::{Contestant, Results, Trial, Whole};
use junkai_focus::explore::Policy;

use crate::experiment::words::text;
use crate::outcome::{Cell, Column, Table};

/// A median and its neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Middle {
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
}

impl Middle {
    /// Of some values; none if there are none. For an even number the upper one of the two in the middle.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Option<Middle> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        Some(Middle {
            low: *values.first()?,
            median: values[values.len() / 2],
            high: *values.last()?,
        })
    }
}

/// Which fetches are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    All,
    Pages,
}

impl Counting {
    pub(super) fn of(self, cost: Cost) -> f64 {
        match self {
            Counting::All => cost.all.into(),
            Counting::Pages => cost.pages.into(),
        }
    }
}

/// The fetches at one of the shares, over repetitions.
pub(super) fn at(harvests: &[Harvest], share: usize, counting: Counting) -> Option<Middle> {
    let reached: Option<Vec<Cost>> = harvests
        .iter()
        .map(|harvest| harvest.reached[share])
        .collect();
    Middle::of(reached?.into_iter().map(|cost| counting.of(cost)))
}

impl Results<'_> {
    pub(super) fn tables(&self) -> Vec<Table> {
        let real = self.real.iter().map(harvest_table);
        let explored = self
            .explored
            .as_ref()
            .map(|explored| explored_table(explored));
        let whole = self.whole.as_ref().map(whole_table);
        real.chain([self.template_table(), self.experience_table()])
            .chain(explored)
            .chain(whole)
            .collect()
    }

    fn template_table(&self) -> Table {
        let mut columns = Column::list([
            ("template", "template"),
            ("files", "files"),
            ("pages", "pages"),
        ]);
        for contestant in Contestant::ALL {
            columns.push(Column::new(
                format!("{}_pages_for_90_percent", key(contestant)),
                contestant.name,
            ));
        }
        columns.push(Column::new(
            "knowing_pages_for_90_percent",
            "who knows all links",
        ));
        let row = |trial: &Trial| {
            let mut row = vec![
                text(&trial.name),
                Cell::Count(trial.files.into()),
                Cell::Count(trial.pages.into()),
            ];
            let all = Contestant::ALL.map(|contestant| trial.of(contestant));
            for harvests in all.into_iter().chain([&*trial.knowing]) {
                row.push(fetches(
                    at(harvests, 1, Counting::Pages).map(|middle| middle.median),
                ));
            }
            row
        };
        Table {
            name: "templates".to_owned(),
            caption: "Generated sites: fetches that brought no file until nine tenths of the data files were had; median over sites. \
                      The last column is a greedy order that knows all links."
                .to_owned(),
            columns,
            rows: self.templates.iter().map(row).collect(),
        }
    }

    fn experience_table(&self) -> Table {
        let row = |(place, pairs): (u64, &Vec<super::Pair>)| {
            let median = |value: fn(&super::Pair) -> f64| {
                Middle::of(pairs.iter().map(value)).map(|middle| middle.median)
            };
            let ratio = Self::ratio(pairs);
            vec![
                Cell::Count(place),
                fetches(median(|pair| pair.fresh)),
                fetches(median(|pair| pair.carried)),
                Cell::share(ratio),
            ]
        };
        Table {
            name: "experience".to_owned(),
            caption: "Rows of generated sites, one after the other: fetches that brought no file until nine tenths of the files were had, \
                      without and with what the sites before taught (medians), and the geometric mean of with over without."
                .to_owned(),
            columns: Column::list([
                ("place", "site"),
                ("pages_without", "without"),
                ("pages_with", "with"),
                ("with_over_without", "with / without"),
            ]),
            rows: (1..).zip(&self.carried).map(row).collect(),
        }
    }

    /// The geometric mean of with experience over without.
    pub(super) fn ratio(pairs: &[super::Pair]) -> Option<f64> {
        let logarithms: Vec<f64> = pairs
            .iter()
            .map(|pair| (pair.carried.max(1.0) / pair.fresh.max(1.0)).ln())
            .collect();
        let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
        mean.is_finite().then(|| mean.exp())
    }
}

fn harvest_table(trial: &Trial) -> Table {
    let mut columns = Column::list([("order", "order")]);
    for share in SHARES {
        let percent = 100.0 * share;
        columns.push(Column::new(
            format!("all_for_{percent:.0}_percent"),
            format!("all fetches, {percent:.0} %"),
        ));
        columns.push(Column::new(
            format!("pages_for_{percent:.0}_percent"),
            format!("pages, {percent:.0} %"),
        ));
    }
    columns.extend(Column::list([
        ("all_for_90_percent_least", "all, 90 %, least"),
        ("all_for_90_percent_most", "most"),
        ("all", "all fetches in the end"),
        ("guesses_missed", "wrong guesses"),
    ]));
    let row = |name: &str, harvests: &[Harvest]| {
        let mut row = vec![text(name)];
        for share in 0..SHARES.len() {
            for counting in [Counting::All, Counting::Pages] {
                row.push(fetches(
                    at(harvests, share, counting).map(|middle| middle.median),
                ));
            }
        }
        let spread = at(harvests, 1, Counting::All);
        row.push(fetches(spread.map(|middle| middle.low)));
        row.push(fetches(spread.map(|middle| middle.high)));
        let total = Middle::of(harvests.iter().map(|harvest| harvest.total.all.into()));
        row.push(fetches(total.map(|middle| middle.median)));
        let missed = Middle::of(harvests.iter().map(|harvest| harvest.tally.missed.into()));
        row.push(fetches(missed.map(|middle| middle.median)));
        row
    };
    let mut rows: Vec<Vec<Cell>> = Contestant::ALL
        .iter()
        .map(|contestant| row(contestant.name, trial.of(*contestant)))
        .collect();
    rows.push(row("who knows all links", &trial.knowing));
    Table {
        name: "harvest".to_owned(),
        caption: format!(
            "{}: fetches until a half, nine tenths and 95 % of its {} data files were had, medians over repetitions. Pages are the fetches \
             that brought no data file. The last row is a greedy order that knows all links and follows them.",
            trial.name, trial.files
        ),
        columns,
        rows,
    }
}

fn key(contestant: Contestant) -> String {
    let letters = |character: char| {
        if character.is_ascii_alphanumeric() {
            character
        } else {
            '_'
        }
    };
    contestant
        .name
        .replace(", ", "_")
        .chars()
        .map(letters)
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count"
)]
fn fetches(number: Option<f64>) -> Cell {
    Cell::count(number.map(|number| number as u64))
}

/// The mean over repetitions of one measure at one budget.
pub(super) fn mean_quality(
    repetitions: &[Vec<Quality>],
    budget: usize,
    measure: fn(&Quality) -> f64,
) -> f64 {
    let values = repetitions
        .iter()
        .filter_map(|budgets| budgets.get(budget))
        .map(measure);
    values.sum::<f64>() / repetitions.len().max(1) as f64
}

fn explored_table(explored: &[Vec<Vec<Quality>>]) -> Table {
    let mut columns = Column::list([("policy", "policy")]);
    for per_site in FETCHES_PER_SITE {
        for (key, title) in [
            ("accuracy", "accuracy"),
            ("precision", "precision"),
            ("recall", "recall"),
        ] {
            let name = format!("{per_site}").replace('.', "_");
            columns.push(Column::new(
                format!("{key}_at_{name}"),
                format!("{title}, {per_site} a site"),
            ));
        }
    }
    let row = |(policy, repetitions): (Policy, &Vec<Vec<Quality>>)| {
        let mut row = vec![text(policy.name())];
        for budget in 0..FETCHES_PER_SITE.len() {
            for measure in [
                |quality: &Quality| quality.accuracy,
                |quality: &Quality| quality.precision,
                |quality: &Quality| quality.recall,
            ] {
                row.push(Cell::Share(mean_quality(repetitions, budget, measure)));
            }
        }
        row
    };
    Table {
        name: "exploring".to_owned(),
        caption: "Real sites with labels: how good the verdicts are after so many fetches per site, means over repetitions. The pages of a site \
                  are judged by a model that has learned from other universities."
            .to_owned(),
        columns,
        rows: POLICIES.into_iter().zip(explored).map(row).collect(),
    }
}

fn whole_table(whole: &Whole) -> Table {
    let row = |(name, runs): &(&'static str, Vec<Run>)| {
        let median = |value: fn(&Run) -> u32| {
            fetches(
                Middle::of(runs.iter().map(|run| value(run).into())).map(|middle| middle.median),
            )
        };
        let all: Option<Vec<f64>> = runs.iter().map(|run| run.fetches.map(f64::from)).collect();
        let rates: Option<Vec<f64>> = runs.iter().map(|run| run.rate(whole.files)).collect();
        vec![
            text(*name),
            median(|run| run.explored),
            median(|run| run.taken),
            median(|run| run.right),
            fetches(all.and_then(Middle::of).map(|middle| middle.median)),
            Cell::share(rates.and_then(Middle::of).map(|middle| middle.median)),
        ]
    };
    Table {
        name: "whole".to_owned(),
        caption: format!(
            "The real site among {} real sites without data files: fetches until nine tenths of the {} data files were had, those of exploring \
             included, and data files per fetch; medians over repetitions. A dash: never.",
            whole.sites - 1,
            whole.files
        ),
        columns: Column::list([
            ("way", "way"),
            ("explored_fetches", "fetches of exploring"),
            ("sites_taken", "sites taken"),
            ("sites_right", "of them with files"),
            ("all_for_90_percent", "all fetches, 90 %"),
            ("files_per_fetch", "files per fetch"),
        ]),
        rows: whole.runs.iter().map(row).collect(),
    }
}
