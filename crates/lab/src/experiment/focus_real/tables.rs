//! The numbers of the experiment.

use junkai_simulation::outcome::{Cell, Column, Table};

use super::contestant::Contestant;
use super::exploring::Explored;
use super::harvest::{Cost, Harvest, SHARES};
use super::trial::Trial;
use super::whole::Whole;
use super::{Results, carried};
use crate::experiment::words::text;

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
        let explored = self.explored.iter().flat_map(Explored::tables);
        let whole = self.whole.iter().map(Whole::table);
        real.chain([self.template_table(), carried::table(&self.carried)])
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
                format!("{}_pages_for_90_percent", contestant.key()),
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
            "{}: fetches until a half, nine tenths and 99 % of its {} data files were had, medians over repetitions. Pages are the fetches \
             that brought no data file. Ours asks for addresses that it guesses; the row before it follows links only, as all others do. The last row \
             is a greedy order that knows all links and follows them.",
            trial.name, trial.files
        ),
        columns,
        rows,
    }
}

/// A cell with a number of fetches, if there is one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count"
)]
pub(super) fn fetches(number: Option<f64>) -> Cell {
    Cell::count(number.map(|number| number as u64))
}
