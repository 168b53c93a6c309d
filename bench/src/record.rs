//! What the documents state: `docs/benchmarks.json`, the figures as they were last measured for them.
//!
//! `all` writes it, and `documents` fills the documents from it. Each run says at which commit it was made, by which command, and how busy the machine was.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::report::{Cell, Report, Row, Table};

/// All figures that the documents state.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) runs: Vec<Run>,
}

/// One benchmark, measured once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    /// As in [`Suite`](crate::all::Suite).
    pub(crate) name: String,
    /// What repeats it.
    pub(crate) command: String,
    #[serde(flatten)]
    pub(crate) circumstances: Circumstances,
    pub(crate) report: Report,
}

/// What was measured, and on what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Circumstances {
    /// The commit, and a plus if files differed from it.
    pub(crate) commit: String,
    pub(crate) machine: String,
}

/// The name of a figure: run, table, row and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    pub(crate) run: &'a str,
    pub(crate) table: &'a str,
    pub(crate) row: &'a str,
    pub(crate) column: &'a str,
}

/// Where the record is.
pub(crate) fn path() -> PathBuf {
    root().join("docs/benchmarks.json")
}

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

impl Record {
    pub(crate) fn read(path: &Path) -> Result<Record> {
        let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display()))
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Takes in a run in the place of an earlier one.
    pub(crate) fn put(&mut self, run: Run) {
        match self.runs.iter_mut().find(|known| known.name == run.name) {
            Some(known) => *known = run,
            None => self.runs.push(run),
        }
    }

    pub(crate) fn run(&self, name: &str) -> Option<&Run> {
        self.runs.iter().find(|run| run.name == name)
    }

    pub(crate) fn table(&self, run: &str, table: &str) -> Option<&Table> {
        let tables = &self.run(run)?.report.tables;
        tables.iter().find(|known| known.name == table)
    }

    pub(crate) fn cell(&self, name: Name<'_>) -> Option<&Cell> {
        let table = self.table(name.run, name.table)?;
        let row = table.rows.iter().find(|row| row.name == name.row)?;
        let column = table
            .columns
            .iter()
            .skip(1)
            .position(|column| column == name.column)?;
        row.cells.get(column)
    }

    /// All figures and their names, in the order of the tables.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (Name<'_>, &Cell)> {
        self.runs.iter().flat_map(|run| {
            let tables = run.report.tables.iter();
            tables.flat_map(move |table| {
                let rows = table.rows.iter();
                rows.flat_map(move |row| cells_of(&run.name, table, row))
            })
        })
    }
}

fn cells_of<'a>(
    run: &'a str,
    table: &'a Table,
    row: &'a Row,
) -> impl Iterator<Item = (Name<'a>, &'a Cell)> {
    let columns = table.columns.iter().skip(1);
    columns.zip(&row.cells).map(move |(column, cell)| {
        let name = Name {
            run,
            table: &table.name,
            row: &row.name,
            column,
        };
        (name, cell)
    })
}

impl Circumstances {
    /// Those of now.
    pub(crate) fn now() -> Circumstances {
        let commit = git(&["rev-parse", "--short=12", "HEAD"]);
        let is_changed = !git(&["status", "--porcelain", "--untracked-files=no"]).is_empty();
        Circumstances {
            commit: if is_changed { commit + "+" } else { commit },
            machine: machine(),
        }
    }
}

fn git(arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root())
        .output();
    let said = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).trim().to_owned()
}

/// Cores and their model, as the system tells.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.unwrap_or_default().trim_matches([' ', '\t', ':']);
    format!("{cores} cores, {model}")
}
