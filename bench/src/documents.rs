//! Fills the documents from the record, so that no figure in them is older than its record.
//!
//! What comes from the record stands between a comment that names it and one that ends it:
//!
//! - `<!-- table: crawl.page -->` … `<!-- end -->`: a whole table;
//! - `<!-- figure: crawl.page | junkai | × floor -->` … `<!-- end -->`: a median, and with `spread` instead of `figure` also its smallest and largest sample;
//! - `<!-- measured: crawl -->` … `<!-- end -->`: commit, command and machine.
//!
//! The costs that `junkai plan` assumes are a file of their own.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::record::{self, Name, Record};
use crate::report::Cell;
use crate::samples::short;

/// The documents with figures, below the root.
const DOCUMENTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "docs/benchmarks.md"];
/// The costs that `junkai plan` assumes.
const PLAN: &str = "crates/simulation/src/plan/measured.rs";

/// Stands for a table that the recorded run did not measure, as a quick one leaves out the largest sizes.
const NOT_IN_RUN: &str = "\n*The recorded run did not measure this.*\n";

const BEGIN: &str = "<!-- ";
const BEGUN: &str = " -->";
const END: &str = "<!-- end -->";

/// A file as it has to be.
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// All files with figures of the record.
pub(crate) fn pages(record: &Record) -> Result<Vec<Page>> {
    let mut pages = Vec::new();
    for name in DOCUMENTS {
        let path = record::root().join(name);
        let text = fs::read_to_string(&path)?;
        let text = filled(&text, record).with_context(|| format!("in {name}"))?;
        pages.push(Page { path, text });
    }
    pages.push(Page {
        path: record::root().join(PLAN),
        text: plan(record)?,
    });
    Ok(pages)
}

/// Writes all of them.
pub(crate) fn write(record: &Record) -> Result<()> {
    for page in pages(record)? {
        fs::write(&page.path, page.text)
            .with_context(|| format!("cannot write {}", page.path.display()))?;
    }
    Ok(())
}

/// A document with what the record says between its comments.
fn filled(text: &str, record: &Record) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(BEGIN) {
        let (before, comment) = rest.split_at(at);
        let length = comment.find(BEGUN).context("a comment does not end")?;
        let (comment, after) = comment.split_at(length + BEGUN.len());
        out.push_str(before);
        out.push_str(comment);
        rest = after;
        let asked = &comment[BEGIN.len()..length];
        if let Some(value) = value_of(asked, record)? {
            let end = after
                .find(END)
                .with_context(|| format!("{asked} has no end"))?;
            out.push_str(&value);
            out.push_str(END);
            rest = &after[end + END.len()..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// What a comment asks for; none if it is not ours.
fn value_of(asked: &str, record: &Record) -> Result<Option<String>> {
    let Some((kind, asked)) = asked.split_once(": ") else {
        return Ok(None);
    };
    let value = match kind {
        "table" => {
            let (run, table) = asked.split_once('.').context("a table is run.table")?;
            let known = record.run(run);
            known.map(|_| match record.table(run, table) {
                Some(table) => format!("\n{}", table.markdown()),
                None => NOT_IN_RUN.to_owned(),
            })
        }
        "figure" => cell(asked, record)?.map(|cell| short(middle(cell))),
        "spread" => cell(asked, record)?.map(Cell::text),
        "measured" => record.run(asked).map(|run| {
            let [begin, end] = run.report.load_average.map(short);
            format!(
                "`{}` at commit {} ({}; load average {begin} to {end})",
                run.command, run.circumstances.commit, run.circumstances.machine
            )
        }),
        _ => return Ok(None),
    };
    let unknown = || format!("the record has no {kind} {asked}");
    value.with_context(unknown).map(Some)
}

/// A figure by its name: `run.table | row | column`.
fn cell<'a>(asked: &str, record: &'a Record) -> Result<Option<&'a Cell>> {
    let parts: Vec<&str> = asked.split(" | ").collect();
    let [place, row, column] = parts[..] else {
        bail!("{asked} is not run.table | row | column");
    };
    let (run, table) = place.split_once('.').context("a table is run.table")?;
    Ok(record.cell(Name {
        run,
        table,
        row,
        column,
    }))
}

/// The median of samples, or the number.
pub(crate) fn middle(cell: &Cell) -> f64 {
    match cell {
        Cell::Samples(samples) => samples.median(),
        Cell::Number(number) => *number,
        Cell::Text(_) => f64::NAN,
    }
}

/// What `junkai plan` assumes: the constant, what it is, the figure, and what it is multiplied by.
const PLANNED: [(&str, &str, &str, f64); 5] = [
    (
        "CHANGED_VISIT_CPU_US",
        "CPU time of a visit to a known page that has changed, in microseconds.",
        "revisits.visits | third, all changed | CPU µs/visit",
        1.0,
    ),
    (
        "UNCHANGED_VISIT_CPU_US",
        "CPU time of a visit to a known page that is as it was, in microseconds.",
        "revisits.visits | second, none changed | CPU µs/visit",
        1.0,
    ),
    (
        "PROCESS_BYTES",
        "Memory of a crawl that knows little, in bytes.",
        "crawl.page | junkai | peak MB",
        1e6,
    ),
    (
        "SEEN_MEMORY_BYTES",
        "Memory for a known URL, in bytes.",
        SEEN_MEMORY,
        1.0,
    ),
    (
        "SEEN_DISK_BYTES",
        "Disk for a known URL, in bytes.",
        SEEN_DISK,
        1.0,
    ),
];
const SEEN_MEMORY: &str = "seen.sets | junkai, {largest} | memory bytes/URL";
const SEEN_DISK: &str = "seen.sets | junkai, {largest} | disk bytes/URL";

/// The file of these constants.
fn plan(record: &Record) -> Result<String> {
    let mut text = String::from(
        "//! What `cargo xtask bench all` measured: `docs/benchmarks.json` in constants. Written by `cargo xtask pages`.\n",
    );
    let largest = largest_set(record).context("the record has no set of known URLs")?;
    for (name, what, asked, factor) in PLANNED {
        let asked = asked.replace("{largest}", &largest);
        let cell = cell(&asked, record)?.with_context(|| format!("the record has no {asked}"))?;
        let value = three_digits(middle(cell) * factor);
        write!(
            text,
            "\n/// {what}\npub(super) const {name}: f64 = {value};\n"
        )?;
    }
    Ok(text)
}

/// The size of our largest set of known URLs.
fn largest_set(record: &Record) -> Option<String> {
    let rows = record.table("seen", "sets")?.rows.iter();
    let mut sizes = rows.filter_map(|row| row.name.strip_prefix("junkai, "));
    sizes.next_back().map(str::to_owned)
}

/// As Rust writes a number, rounded to three digits.
fn three_digits(value: f64) -> String {
    match value {
        large if 1e6 <= large => format!("{large:.2e}"),
        whole if 100.0 <= whole => {
            let last = if whole < 1e3 {
                1.0
            } else {
                10_f64.powf(whole.log10().floor() - 2.0)
            };
            format!("{:.1}", (whole / last).round() * last)
        }
        tens if 10.0 <= tens => format!("{tens:.1}"),
        small => format!("{small:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Circumstances, Run};
    use crate::report::{Report, Table};

    fn record() -> Record {
        let mut table = Table::new("page", "pages", ["crawler", "µs"]);
        table.row(
            "junkai",
            [Cell::from(crate::samples::Samples::from_iter([
                1.0, 2.0, 4.0,
            ]))],
        );
        let mut report = Report::new("crawl");
        report.table(table);
        let mut record = Record::default();
        record.put(Run {
            name: "crawl".to_owned(),
            command: "cargo xtask bench crawl".to_owned(),
            circumstances: Circumstances {
                commit: "abc".to_owned(),
                machine: "2 cores".to_owned(),
            },
            report,
        });
        record
    }

    #[test]
    fn what_stands_between_comments_is_replaced_and_nothing_else() {
        let text = "a <!-- figure: crawl.page | junkai | µs -->9<!-- end --> b <!-- note --> \
                    <!-- spread: crawl.page | junkai | µs --><!-- end -->\n<!-- table: crawl.page -->old<!-- end -->\n";
        let expected = "a <!-- figure: crawl.page | junkai | µs -->2.00<!-- end --> b <!-- note --> \
                        <!-- spread: crawl.page | junkai | µs -->2.00 (1.00–4.00)<!-- end -->\n\
                        <!-- table: crawl.page -->\n| crawler |               µs |\n|---------|-----------------:|\n\
                        | junkai  | 2.00 (1.00–4.00) |\n<!-- end -->\n";
        let once = filled(text, &record()).unwrap();
        assert_eq!(once, expected);
        assert_eq!(filled(&once, &record()).unwrap(), expected);
    }

    #[test]
    fn a_figure_that_was_not_recorded_is_an_error() {
        for asked in [
            "figure: crawl.page | junkai | ns",
            "table: seen.sets",
            "measured: seen",
        ] {
            let text = format!("<!-- {asked} --><!-- end -->");
            assert!(filled(&text, &record()).is_err(), "{asked}");
        }
    }

    #[test]
    fn numbers_become_constants_of_three_digits() {
        let check = |value, expected| assert_eq!(three_digits(value), expected);
        check(263.4, "263.0");
        check(1.7349, "1.73");
        check(116_200_000.0, "1.16e8");
    }

    /// `cargo xtask pages` writes them.
    #[test]
    fn generated_pages_state_what_was_recorded() {
        let record = Record::read(&record::path()).unwrap();
        if std::env::var_os("JUNKAI_WRITE_PAGES").is_some() {
            write(&record).unwrap();
        }
        for page in pages(&record).unwrap() {
            let found = fs::read_to_string(&page.path).unwrap();
            assert!(
                found == page.text,
                "{} is out of date; run `cargo xtask pages`",
                page.path.display()
            );
        }
    }
}
