//! What an experiment brings: tables, figures, findings, and the claims of a seed beside what was measured.
//!
//! An [`Outcome`] is written as files (CSV, SVG, findings) by [`Outcome::write`], and several become one page by `report`. It
//! holds nothing that depends on the machine or the moment, so the same command writes the same bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use junkai_charts::Chart;
use serde::Serialize;

/// All that came out of one experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Its name on the command line, which is its folder's too: `ring`.
    pub name: String,
    /// What was asked, in a line.
    pub title: String,
    /// The command that repeats it.
    pub command: String,
    /// The parameters that it ran with.
    pub parameters: Vec<Parameter>,
    /// What was found, a sentence each.
    pub findings: Vec<String>,
    /// What a seed claims, and whether it holds here.
    pub claims: Vec<Claim>,
    /// Numbers.
    pub tables: Vec<Table>,
    /// Pictures.
    #[serde(skip)]
    pub figures: Vec<Figure>,
}

/// One parameter of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Parameter {
    /// What it is called.
    pub name: String,
    /// What it was.
    pub value: String,
}

/// A claim of a seed beside what was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// Where it is made: `Morimoto et al. (2011), figure 5`.
    pub source: String,
    /// What is claimed.
    pub claim: String,
    /// On which graph it was tested.
    pub graph: String,
    /// What was measured.
    pub measured: String,
    /// Whether it holds there.
    pub verdict: Verdict,
}

/// The source of a claim that is our own goal, not a paper's.
pub const GOAL: &str = "our goal";

impl Claim {
    /// Whether it is a goal of ours rather than a claim of a paper.
    #[must_use]
    pub fn is_goal(&self) -> bool {
        self.source == GOAL
    }
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As claimed.
    Holds,
    /// In the claimed direction, not in the claimed size.
    Partly,
    /// Not here.
    Fails,
}

impl Verdict {
    /// How verdicts are reached, for whoever reads them.
    pub const RULE: &'static str = "Holds: in every comparison. Partly: in more than half of them; a rise that has dips; a factor \
        reached to a half at least (to three quarters, it holds). Fails: otherwise, a series that is flat included. Shares that \
        differ by less than 1e-9 are ties, and a tie is not a loss. What could not be tested on a graph is left out. In our goals, \
        level is within two standard errors over the sets of starts.";

    /// Of so many comparisons, so many kept; none if there was nothing to compare.
    #[must_use]
    pub fn of_comparisons(kept: usize, all: usize) -> Option<Verdict> {
        if all == 0 {
            None
        } else if kept == all {
            Some(Verdict::Holds)
        } else if all < 2 * kept {
            Some(Verdict::Partly)
        } else {
            Some(Verdict::Fails)
        }
    }

    /// Of a factor that was claimed to be about so much.
    #[must_use]
    pub fn of_factor(measured: f64, claimed: f64) -> Verdict {
        if 0.75 * claimed <= measured {
            Verdict::Holds
        } else if claimed <= 2.0 * measured && 1.0 < measured {
            Verdict::Partly
        } else {
            Verdict::Fails
        }
    }
}

/// Numbers in rows and columns.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// The file's name, without ending.
    pub name: String,
    /// What it shows, with units.
    pub caption: String,
    /// What each column holds.
    pub columns: Vec<Column>,
    /// As many cells as columns in each row.
    pub rows: Vec<Vec<Cell>>,
}

/// The head of a column: one name for programs, one for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// In files: unique in its table, lower case, with the unit at the end: `least_gap_seconds`.
    pub key: String,
    /// On a page: `least gap`.
    pub title: String,
}

/// As its title: `outcome.json` is what a page is made of.
impl Serialize for Column {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.title)
    }
}

impl Column {
    /// A column of this name in files and that title on a page.
    pub fn new(key: impl Into<String>, title: impl Into<String>) -> Column {
        Column {
            key: key.into(),
            title: title.into(),
        }
    }

    /// Several, each a key and a title.
    #[must_use]
    pub fn list<const COUNT: usize>(columns: [(&str, &str); COUNT]) -> Vec<Column> {
        columns.map(|(key, title)| Column::new(key, title)).into()
    }

    /// A share when a part of the pages was visited: `share_at_20_percent`, `at 20 %`.
    #[must_use]
    pub fn at_part(what: &str, title: &str, part: f64) -> Column {
        let percent = format!("{:.0}", 100.0 * part);
        Column::new(
            format!("{what}_at_{percent}_percent"),
            format!("{title} {percent} %"),
        )
    }
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A name.
    Text(String),
    /// A count.
    Count(u64),
    /// A share or a ratio, shown with three decimals.
    Share(f64),
    /// A difference of shares, shown with its sign.
    Difference(f64),
    /// A part of a whole, shown in percent.
    Part(f64),
    /// A time in seconds of the virtual clock, shown in the unit that fits.
    Seconds(f64),
    /// Not reached, or not defined.
    None,
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The file's name, without ending.
    pub name: String,
    /// What it shows, and what to see in it.
    pub caption: String,
    /// The picture itself.
    pub chart: Drawing,
}

/// One figure, or several side by side.
#[derive(Clone, Debug)]
pub enum Drawing {
    /// One figure.
    One(Box<Chart>),
    /// Several side by side.
    Many(Box<junkai_charts::Grid>),
}

/// A file of the results cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}")]
pub struct WriteError {
    /// The file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl Outcome {
    /// Writes `<name>/*.csv`, `<name>/*.svg`, `<name>/findings.txt` and `<name>/outcome.json` below `folder`.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, WriteError> {
        let folder = folder.join(&self.name);
        fs::create_dir_all(&folder).map_err(|source| WriteError {
            path: folder.clone(),
            source,
        })?;
        for table in &self.tables {
            write_file(&folder.join(format!("{}.csv", table.name)), &table.csv())?;
        }
        for figure in &self.figures {
            write_file(
                &folder.join(format!("{}.svg", figure.name)),
                &figure.chart.svg(),
            )?;
        }
        write_file(&folder.join("findings.txt"), &self.findings_text())?;
        let json = serde_json::to_string_pretty(self).unwrap_or_default();
        write_file(&folder.join("outcome.json"), &(json + "\n"))?;
        Ok(folder)
    }

    fn findings_text(&self) -> String {
        let mut text = format!("{}\n$ {}\n\n", self.title, self.command);
        for finding in &self.findings {
            text.push_str(finding);
            text.push('\n');
        }
        text
    }
}

impl Drawing {
    /// A whole SVG file.
    #[must_use]
    pub fn svg(&self) -> String {
        match self {
            Drawing::One(chart) => chart.svg(),
            Drawing::Many(grid) => grid.svg(),
        }
    }

    /// For a page that brings the style sheet of `charts`.
    #[must_use]
    pub fn svg_inline(&self, id_prefix: &str) -> String {
        match self {
            Drawing::One(chart) => chart.svg_inline(id_prefix),
            Drawing::Many(grid) => grid.svg_inline(id_prefix),
        }
    }
}

impl Table {
    /// As comma-separated values (RFC 4180), one header line.
    #[must_use]
    pub fn csv(&self) -> String {
        let header = self.columns.iter().map(|column| quoted(&column.key));
        let mut text = header.collect::<Vec<_>>().join(",");
        text.push('\n');
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| quoted(&cell.exact())).collect();
            text.push_str(&cells.join(","));
            text.push('\n');
        }
        text
    }
}

impl Cell {
    /// For programs: all digits.
    #[must_use]
    pub fn exact(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Share(number) | Cell::Difference(number) | Cell::Part(number) => {
                format!("{number:.6}")
            }
            Cell::Seconds(seconds) => format!("{seconds:.3}"),
            Cell::None => String::new(),
        }
    }

    /// A share, if there is one.
    #[must_use]
    pub fn share(share: Option<f64>) -> Cell {
        share.map_or(Cell::None, Cell::Share)
    }

    /// A count, if there is one.
    #[must_use]
    pub fn count(count: Option<u64>) -> Cell {
        count.map_or(Cell::None, Cell::Count)
    }

    /// A difference, if there is one.
    #[must_use]
    pub fn difference(difference: Option<f64>) -> Cell {
        difference.map_or(Cell::None, Cell::Difference)
    }
}

impl std::fmt::Display for Cell {
    /// For people.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cell::Text(text) => formatter.pad(text),
            Cell::Count(count) => formatter.pad(&grouped(*count)),
            Cell::Share(share) => formatter.pad(&format!("{share:.3}")),
            Cell::Difference(difference) => formatter.pad(&signed(*difference)),
            Cell::Part(part) => formatter.pad(&percent(*part)),
            Cell::Seconds(seconds) => formatter.pad(&span(*seconds)),
            Cell::None => formatter.pad("–"),
        }
    }
}

/// A difference of shares, with its sign; one that three decimals do not show has none.
#[must_use]
pub fn signed(difference: f64) -> String {
    let text = format!("{difference:+.3}");
    if matches!(text.as_str(), "+0.000" | "-0.000") {
        "±0.000".to_owned()
    } else {
        text.replace('-', "−")
    }
}

/// A part of a whole in percent, with as many decimals as a small part needs.
#[must_use]
pub fn percent(part: f64) -> String {
    let hundredths = 100.0 * part;
    let text = if hundredths != 0.0 && hundredths.abs() < 1.0 {
        format!("{hundredths:.3} %")
    } else {
        format!("{hundredths:.0} %")
    };
    text.replace('-', "−")
}

/// A number with a comma between thousands.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if 0 < place && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of something: `1 page`, `2,000 pages`.
pub(crate) fn counted(number: u64, name: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {name}{plural}", grouped(number))
}

/// A time in seconds, in the unit that fits: `1.5 s`, `12.0 min`, `3.4 h`, `20.1 d`.
#[must_use]
pub fn span(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    let (unit, name) = match seconds {
        s if s < 2.0 * MINUTE => (1.0, "s"),
        s if s < 2.0 * HOUR => (MINUTE, "min"),
        s if s < 2.0 * DAY => (HOUR, "h"),
        _ => (DAY, "d"),
    };
    format!("{:.1} {name}", seconds / unit)
}

/// A time that may be much shorter than a second.
#[must_use]
pub fn span_short(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s => span(s),
    }
}

fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Writes a file whole, and says which one failed.
pub fn write_file(path: &Path, text: &str) -> Result<(), WriteError> {
    fs::write(path, text).map_err(|source| WriteError {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_in_the_unit_that_fits() {
        for (seconds, text) in [
            (0.0, "0.0 s"),
            (119.0, "119.0 s"),
            (150.0, "2.5 min"),
            (9000.0, "2.5 h"),
            (864_000.0, "10.0 d"),
        ] {
            assert_eq!(span(seconds), text);
            assert_eq!(Cell::Seconds(seconds).to_string(), text);
        }
        assert_eq!(Cell::Seconds(1.5).exact(), "1.500");
    }

    #[test]
    fn a_factor_missed_by_more_than_two_fails() {
        for (measured, claimed, verdict) in [
            (9.0, 10.0, Verdict::Holds),
            (5.0, 10.0, Verdict::Partly),
            (4.9, 10.0, Verdict::Fails),
            (1.2, 2.0, Verdict::Partly),
            (1.0, 2.0, Verdict::Fails),
        ] {
            assert_eq!(Verdict::of_factor(measured, claimed), verdict);
        }
        assert_eq!(Verdict::of_comparisons(0, 0), None);
        assert_eq!(Verdict::of_comparisons(2, 4), Some(Verdict::Fails));
        assert_eq!(Verdict::of_comparisons(3, 4), Some(Verdict::Partly));
    }

    #[test]
    fn cells_are_exact_in_files_and_short_for_people() {
        let table = Table {
            name: "t".into(),
            caption: String::new(),
            columns: Column::list([
                ("policy", "policy"),
                ("share", "share"),
                ("stored_urls", "stored"),
            ]),
            rows: vec![
                vec![
                    Cell::Text("say \"ring\"".into()),
                    Cell::Share(0.507_123_4),
                    Cell::Count(1_234_567),
                ],
                vec![Cell::Text("opt".into()), Cell::None, Cell::Count(0)],
            ],
        };
        assert_eq!(
            table.csv(),
            "policy,share,stored_urls\n\"say \"\"ring\"\"\",0.507123,1234567\nopt,,0\n"
        );
        assert_eq!(table.rows[0][1].to_string(), "0.507");
        assert_eq!(table.rows[0][2].to_string(), "1,234,567");
        assert_eq!(table.rows[1][1].to_string(), "–");
        for (cell, exact, shown) in [
            (Cell::Difference(-0.0314), "-0.031400", "−0.031"),
            (Cell::Difference(0.0004), "0.000400", "±0.000"),
            (Cell::Part(0.951), "0.951000", "95 %"),
            (Cell::Part(0.00029), "0.000290", "0.029 %"),
        ] {
            assert_eq!(cell.exact(), exact);
            assert_eq!(cell.to_string(), shown);
        }
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
