//! The numbers of the experiment.

use junkai_simulation::outcome::{Cell, Column, Table};

use super::Results;
use super::contestant::Contestant;
use super::open_loop::{Quality, Row};
use crate::experiment::words::text;

impl Results {
    pub(super) fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.open_loop(), self.prototype(), self.closed_loop()];
        if !self.replays.is_empty() {
            tables.push(self.replay());
        }
        tables
    }

    fn open_loop(&self) -> Table {
        let mut columns = situation_columns();
        columns.extend(error_columns());
        columns.push(Column::new(
            "log_normal_cold_bias",
            "ours, nothing known: bias",
        ));
        columns.push(Column::new("log_normal_cold_rmse", "RMSE"));
        let rows = self.open.rows.iter().map(|row| {
            let mut cells = situation_cells(row);
            for contestant in Contestant::ALL {
                cells.extend(quality_cells(Some(row.quality(contestant))));
            }
            cells.extend(quality_cells(Some(row.cold_quality())));
            cells
        });
        Table {
            name: "open-loop".to_owned(),
            caption: "Bias and root mean square error of ln(estimated rate / true rate), over all simulated pages. The pages of a site change once a \
                      day in the median, and their rates are log-normal with σ = 1, which the filters know of the site; gaps are log-normal. Ours, nothing \
                      known: with what a crawl takes for granted of a new site. Without an answer: the share of pages on which nothing or everything \
                      changed, where equation 4 and the exact solution answer by the paper’s back-off."
                .to_owned(),
            columns,
            rows: rows.collect(),
        }
    }

    /// The rows of the prototype, without the pages that have no exact solution.
    fn prototype(&self) -> Table {
        let mut columns = situation_columns();
        columns.extend(error_columns());
        let rows = self.open.mistaken.iter().map(|row| {
            let mut cells = situation_cells(row);
            for contestant in Contestant::ALL {
                cells.extend(quality_cells(row.regular_quality(contestant)));
            }
            cells
        });
        Table {
            name: "open-loop-prototype".to_owned(),
            caption: "As the prototype measured: every page changes once a day, the prior of the filters is a Gamma distribution of shape ½ whose mean is one change \
                      per median gap, and only those pages count on which something changed and something did not, so that the exact solution exists. Where few \
                      pages are left, they are those on which it happens to be near the truth. –: fewer than fifty."
                .to_owned(),
            columns,
            rows: rows.collect(),
        }
    }

    fn closed_loop(&self) -> Table {
        let rows = self.closed.crawls.iter().map(|crawl| {
            vec![
                text(crawl.contestant.name()),
                Cell::Count(crawl.visits),
                Cell::Count(crawl.found),
                Cell::Share(crawl.yield_share()),
                Cell::Share(crawl.captured_share()),
                Cell::Difference(crawl.bias),
                Cell::Share(crawl.rmse),
            ]
        });
        Table {
            name: "closed-loop".to_owned(),
            caption: "Each estimator sets the next interval of the same pages for three years: visits, those that found a change, their share \
                      of the visits (1 − 1/e, or 0.632, if every interval were the true time between changes, more on pages that change more \
                      than once a day), the share of all versions that were captured, and bias and root mean square error of \
                      ln(estimated rate / true rate) at the end, on pages that change every day to every 400 days."
                .to_owned(),
            columns: Column::list([
                ("estimator", "estimator"),
                ("visits", "visits"),
                ("changes_found", "changes found"),
                ("yield", "per visit"),
                ("captured_share", "versions captured"),
                ("bias", "bias"),
                ("rmse", "RMSE"),
            ]),
            rows: rows.collect(),
        }
    }

    fn replay(&self) -> Table {
        let mut columns = Column::list([
            ("history", "history"),
            ("pages", "pages"),
            ("visits", "visits"),
            ("changed_share", "found a change"),
        ]);
        columns.extend(Contestant::ALL.map(|contestant| {
            Column::new(format!("{}_log_loss", contestant.key()), contestant.name())
        }));
        let rows = self.replays.iter().map(|replay| {
            let mut cells = vec![
                text(replay.name.clone()),
                Cell::Count(replay.pages.into()),
                Cell::Count(replay.visits),
                Cell::Share(replay.changed_share),
            ];
            let losses = Contestant::ALL.map(|it| Cell::Share(replay.score(it).log_loss()));
            cells.extend(losses);
            cells
        });
        Table {
            name: "replay".to_owned(),
            caption: "Real sites: mean log-loss (nats per visit, less is better) of the chance of a change that was foretold before each \
                      visit; no chance is taken for nearer to 0 or 1 than 0.0001."
                .to_owned(),
            columns,
            rows: rows.collect(),
        }
    }
}

fn situation_columns() -> Vec<Column> {
    Column::list([
        ("gap_median_days", "median gap, d"),
        ("gap_sigma", "σ"),
        ("visits", "visits"),
        ("singular_share", "without an answer"),
    ])
}

fn situation_cells(row: &Row) -> Vec<Cell> {
    vec![
        text(row.situation.median.to_string()),
        text(row.situation.sigma.to_string()),
        Cell::Count(row.situation.visits.into()),
        Cell::Part(row.singular_share()),
    ]
}

/// Two columns for each contestant.
fn error_columns() -> impl Iterator<Item = Column> {
    Contestant::ALL.into_iter().flat_map(|contestant| {
        let (key, name) = (contestant.key(), contestant.name());
        [
            Column::new(format!("{key}_bias"), format!("{name}: bias")),
            Column::new(format!("{key}_rmse"), "RMSE"),
        ]
    })
}

fn quality_cells(quality: Option<Quality>) -> [Cell; 2] {
    quality.map_or([Cell::None, Cell::None], |quality| {
        [Cell::Difference(quality.bias), Cell::Share(quality.rmse)]
    })
}
