//! All benchmarks for the documents: `cargo xtask bench all` measures what they state and writes it down; `--quick` measures less, and compares.
//!
//! Each benchmark is a process of its own, so that none inherits another's memory. Read [`run`] first; [`record`] has what is stated,
//! [`documents`] puts it into them.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use crate::documents::{self, middle};
use crate::record::{self, Circumstances, Name, Record, Run};
use crate::report::{Cell, Report};

/// The least spread that a figure is taken to have, as a part of it: what was measured once, or was lucky to be steady, is no better known.
const SPREAD_MIN: f64 = 0.05;

/// What `bench all` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Fewer repetitions and smaller sizes: print each stated figure beside the one of today, and write nothing.
    #[arg(long)]
    quick: bool,
    /// The least that each benchmark takes, in a minute: says that all of them work, and nothing about costs.
    #[arg(long, conflicts_with = "quick")]
    trial: bool,
    /// Only these.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Write the figures of a quick run or a trial down, too.
    #[arg(long)]
    record: bool,
}

/// A benchmark with the sizes that the documents state, with those of a quick run, and of a trial.
pub(crate) struct Suite {
    name: &'static str,
    full: &'static str,
    quick: &'static str,
    trial: &'static str,
}

/// In the order of the documents. What is measured quickly has the same names as in the full run, and the same sizes, less the largest.
const SUITES: [Suite; 8] = [
    Suite {
        name: "crawl",
        full: "crawl",
        quick: "crawl --repeat 3",
        trial: "crawl --pages 500 --peer-pages 200 --repeat 1",
    },
    Suite {
        name: "revisits",
        full: "crawl --revisits 15000",
        quick: "crawl --revisits 15000 --repeat 3",
        trial: "crawl --revisits 500 --repeat 1",
    },
    Suite {
        name: "known",
        full: "crawl --known 100000,1000000 --page-bytes 3000 --page-links 12",
        quick: "crawl --known 100000 --page-bytes 3000 --page-links 12",
        trial: "crawl --known 2000 --page-bytes 3000 --page-links 12",
    },
    Suite {
        name: "ring",
        full: "ring --full",
        quick: "ring --repeat 3",
        trial: "ring --known 10000 --waiting 10000 --repeat 1",
    },
    Suite {
        name: "seen",
        full: "seen --full",
        quick: "seen --keys 1000000 --repeat 3",
        trial: "seen --keys 20000 --checks 10000 --repeat 1",
    },
    Suite {
        name: "lab",
        full: "lab --full",
        quick: "lab --repeat 3",
        trial: "lab --pages 1000,2000 --whole 2000 --repeat 1 --whole-repeat 1",
    },
    Suite {
        name: "time-queue",
        full: "time-queue --records 1000000,5000000 --large 100000000 --layouts 300000",
        quick: "time-queue --repeat 3 --layouts 300000",
        trial: "time-queue --records 20000 --sample 10000 --large 100000 --layouts 20000 --repeat 1",
    },
    Suite {
        name: "focus",
        full: "focus --choices 20000",
        quick: "focus --choices 20000 --sites 1000,10000,100000 --repeat 3",
        trial: "focus --pages 20 --choices 100 --sites 100 --repeat 1",
    },
];

impl Suite {
    fn options(&self, arguments: &Arguments) -> &'static str {
        match (arguments.quick, arguments.trial) {
            (true, _) => self.quick,
            (false, true) => self.trial,
            (false, false) => self.full,
        }
    }
}

/// Measures, compares, and writes down.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    for name in &arguments.only {
        let is_known = SUITES.iter().any(|suite| suite.name == name);
        ensure!(is_known, "there is no benchmark {name}");
    }
    let path = record::path();
    let stated = if path.exists() {
        Record::read(&path)?
    } else {
        Record::default()
    };
    let circumstances = Circumstances::now();
    let mut measured = Record::default();
    let mut next = stated.clone();
    let is_full = !arguments.quick && !arguments.trial;
    let is_written = is_full || arguments.record;
    for suite in &SUITES {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|name| name == suite.name) {
            continue;
        }
        let options = suite.options(arguments);
        let run = Run {
            name: suite.name.to_owned(),
            command: format!("cargo xtask bench {options}"),
            circumstances: circumstances.clone(),
            report: measure(options)?,
        };
        measured.put(run.clone());
        next.put(run);
        if is_written {
            // After each, so that nothing is lost if a later one fails.
            next.write(&path)?;
        }
    }
    compare(&stated, &measured);
    if is_written {
        documents::write(&next)?;
        println!("written: {} and the documents", path.display());
    }
    Ok(())
}

/// Runs one benchmark as a process.
fn measure(options: &str) -> Result<Report> {
    println!("\n── {options}");
    let folder = TempDir::with_prefix("junkai-bench-")?;
    let json = folder.path().join("report.json");
    let mut command = Command::new(std::env::current_exe()?);
    command.args(options.split(' ')).arg("--json").arg(&json);
    let status = command.status().context("cannot start a benchmark")?;
    ensure!(status.success(), "{options} failed: {status}");
    Ok(serde_json::from_slice(&fs::read(&json)?)?)
}

/// Prints every figure that is stated, of the runs that were measured, beside today's.
fn compare(stated: &Record, measured: &Record) {
    let (mut count, mut missing, mut differing) = (0, 0, 0);
    println!("\n{:<60} {:>28} {:>28}", "figure", "stated", "measured");
    let runs = |name: &Name<'_>| measured.run(name.run).is_some();
    for (name, cell) in stated.cells().filter(|(name, _)| runs(name)) {
        if !middle(cell).is_finite() {
            continue;
        }
        count += 1;
        let found = measured.cell(name).filter(|cell| middle(cell).is_finite());
        let remark = match found {
            Some(found) if is_different(cell, found) => {
                differing += 1;
                "DIFFERS"
            }
            Some(_) => "",
            None => {
                missing += 1;
                ""
            }
        };
        let figure = format!(
            "{}.{} | {} | {}",
            name.run, name.table, name.row, name.column
        );
        let found = found.map_or_else(|| "not of this size".to_owned(), Cell::text);
        println!("{figure:<60} {:>28} {found:>28} {remark}", cell.text());
    }
    println!(
        "{count} figures are stated: {differing} differ by more than their spread, {missing} were not measured at their size"
    );
}

/// Whether two figures are further apart than their spreads reach.
fn is_different(stated: &Cell, measured: &Cell) -> bool {
    let (stated, measured) = (spread(stated), spread(measured));
    stated.1 < measured.0 || measured.1 < stated.0
}

/// From where to where a figure may be.
fn spread(cell: &Cell) -> (f64, f64) {
    let middle = middle(cell);
    let least = middle.abs() * SPREAD_MIN;
    let (low, high) = match cell {
        Cell::Samples(samples) => (samples.min(), samples.max()),
        Cell::Number(_) | Cell::Text(_) => (middle, middle),
    };
    (low.min(middle - least), high.max(middle + least))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::samples::Samples;

    fn samples(values: [f64; 3]) -> Cell {
        Samples::from_iter(values).into()
    }

    #[test]
    fn figures_differ_when_their_spreads_do_not_meet() {
        let stated = samples([90.0, 100.0, 120.0]);
        assert!(!is_different(&stated, &samples([118.0, 130.0, 140.0])));
        assert!(is_different(&stated, &samples([125.0, 140.0, 150.0])));
        assert!(is_different(&stated, &samples([50.0, 60.0, 80.0])));
    }

    #[test]
    fn a_figure_without_spread_has_a_small_one() {
        assert!(!is_different(&Cell::Number(100.0), &Cell::Number(109.0)));
        assert!(is_different(&Cell::Number(100.0), &Cell::Number(112.0)));
    }

    #[test]
    fn every_size_of_a_suite_is_understood_and_of_the_same_benchmark() {
        for suite in &SUITES {
            let benchmark = suite.full.split(' ').next();
            for options in [suite.full, suite.quick, suite.trial] {
                let words = std::iter::once("bench").chain(options.split(' '));
                assert!(crate::Arguments::try_parse_from(words).is_ok(), "{options}");
                assert_eq!(options.split(' ').next(), benchmark);
            }
        }
    }
}
