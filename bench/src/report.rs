//! What a benchmark says at its end: tables, and which targets were met.
//!
//! A figure has a name: benchmark, table, row and column. By these names `all` compares what is measured with what the documents state, so they stay the same.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::samples::{Samples, short};

/// Everything that one run measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    benchmark: String,
    /// Processes that wanted a core while this ran, on average of one minute: at the begin, and at the end.
    pub(crate) load_average: [f64; 2],
    pub(crate) tables: Vec<Table>,
    targets: Vec<Target>,
}

/// A table with a name for each row and each column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    /// One word, the same in every run.
    pub(crate) name: String,
    /// What the reader sees above it; may tell sizes.
    title: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

/// One line of a table; its cells stand below the second column and those that follow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) cells: Vec<Cell>,
}

/// What stands in a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    Samples(Samples),
    Number(f64),
    Text(String),
}

/// What was promised, and what was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Target {
    what: String,
    measured: f64,
    limit: Limit,
    is_met: bool,
}

/// Which side of a number is the right one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Report {
    pub(crate) fn new(benchmark: &'static str) -> Report {
        Report {
            benchmark: benchmark.to_owned(),
            load_average: [load_average(), 0.0],
            tables: Vec::new(),
            targets: Vec::new(),
        }
    }

    pub(crate) fn table(&mut self, table: Table) {
        self.tables.push(table);
    }

    pub(crate) fn target(&mut self, what: impl Into<String>, measured: f64, limit: Limit) {
        let is_met = match limit {
            Limit::AtMost(most) => measured <= most,
            Limit::AtLeast(least) => least <= measured,
        };
        self.targets.push(Target {
            what: what.into(),
            measured,
            limit,
            is_met,
        });
    }

    /// Prints the report, and writes it to `json` if wanted.
    pub(crate) fn finish(mut self, json: Option<&Path>) -> Result<()> {
        self.load_average[1] = load_average();
        for table in &self.tables {
            println!("\n{}", table.text());
        }
        for target in &self.targets {
            let (side, limit) = match target.limit {
                Limit::AtMost(limit) => ("at most", limit),
                Limit::AtLeast(limit) => ("at least", limit),
            };
            let verdict = if target.is_met { "met" } else { "MISSED" };
            println!(
                "{verdict}: {}: {} (target: {side} {})",
                target.what,
                short(target.measured),
                short(limit)
            );
        }
        println!(
            "load average of the machine: {} at the begin, {} at the end",
            short(self.load_average[0]),
            short(self.load_average[1])
        );
        if let Some(path) = json {
            fs::write(path, serde_json::to_vec_pretty(&self)?)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

impl Table {
    pub(crate) fn new<C: Into<String>>(
        name: &str,
        title: impl Into<String>,
        columns: impl IntoIterator<Item = C>,
    ) -> Table {
        Table {
            name: name.to_owned(),
            title: title.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; cells that are missing at its end stay empty.
    pub(crate) fn row(&mut self, name: impl Into<String>, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(Row {
            name: name.into(),
            cells: cells.into_iter().collect(),
        });
    }

    /// With its title, for a terminal.
    fn text(&self) -> String {
        format!("**{}**\n\n{}", self.title, self.markdown())
    }

    /// As Markdown, with columns that are even in a terminal too.
    pub(crate) fn markdown(&self) -> String {
        let mut lines = vec![self.columns.clone()];
        lines.extend(self.rows.iter().map(|row| {
            let cells = (1..self.columns.len())
                .map(|at| row.cells.get(at - 1).map(Cell::text).unwrap_or_default());
            std::iter::once(row.name.clone()).chain(cells).collect()
        }));
        let width_of = |column: usize| {
            let widths = lines
                .iter()
                .map(|line: &Vec<String>| line[column].chars().count());
            widths.max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width_of).collect();
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            text.push_str(&line_of(line, &widths));
            if at == 0 {
                text.push_str(&rule(&widths));
            }
        }
        text
    }
}

/// Names are set to the left, figures to the right.
fn line_of(line: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (at, (cell, width)) in line.iter().zip(widths).enumerate() {
        let space = " ".repeat(width - cell.chars().count());
        text.push_str("| ");
        match at {
            0 => text.extend([cell.as_str(), &space]),
            _ => text.extend([space.as_str(), cell]),
        }
        text.push(' ');
    }
    text.push_str("|\n");
    text
}

fn rule(widths: &[usize]) -> String {
    let mut text = String::new();
    for (at, width) in widths.iter().enumerate() {
        let dashes = "-".repeat(width + 1);
        text.push('|');
        text.push_str(&dashes);
        text.push(if at == 0 { '-' } else { ':' });
    }
    text.push_str("|\n");
    text
}

impl Cell {
    /// As it stands in a table.
    pub(crate) fn text(&self) -> String {
        match self {
            Cell::Samples(samples) => samples.to_string(),
            Cell::Number(number) => short(*number),
            Cell::Text(text) => text.clone(),
        }
    }
}

impl From<Samples> for Cell {
    /// What was not measured stays empty.
    fn from(samples: Samples) -> Cell {
        if samples.median().is_finite() {
            Cell::Samples(samples)
        } else {
            Cell::Text(String::new())
        }
    }
}

impl From<f64> for Cell {
    /// What is not a number stays empty.
    fn from(number: f64) -> Cell {
        if number.is_finite() {
            Cell::Number(number)
        } else {
            Cell::Text(String::new())
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

/// The load average of one minute; zero where the system does not tell.
fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split(' ').next().and_then(|word| word.parse().ok());
    first.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_even_and_is_markdown() {
        let mut table = Table::new("costs", "costs", ["what", "µs"]);
        table.row("sha1", [Cell::from(21.0)]);
        table.row("compression", []);
        let expected = "**costs**\n\n\
            | what        |   µs |\n\
            |-------------|-----:|\n\
            | sha1        | 21.0 |\n\
            | compression |      |\n";
        assert_eq!(table.text(), expected);
    }

    #[test]
    fn targets_have_two_sides() {
        let mut report = Report::new("test");
        report.target("cost", 1.5, Limit::AtMost(1.5));
        report.target("speed", 4.9, Limit::AtLeast(5.0));
        let met: Vec<bool> = report.targets.iter().map(|target| target.is_met).collect();
        assert_eq!(met, [true, false]);
    }
}
