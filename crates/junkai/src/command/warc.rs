//! `junkai warc`: checks, indexes and reads WARC and ARC files, whoever wrote them.

use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use junkai_archive::{Problem, Reader, Report, Severity, check, index_file};
use junkai_simulation::outcome::grouped;
use serde::Serialize;

use crate::exit::Ending;
use crate::print::{Screened, say, shown};
use crate::telling::counted;

/// Problems and warnings of one file that are shown; `--json` tells all.
const PROBLEMS_SHOWN_MAX: usize = 1000;
const WARNINGS_SHOWN_MAX: usize = 20;

/// What can be done with WARC files.
#[derive(clap::Subcommand)]
pub(crate) enum Warc {
    /// Prove every record by the standard: structure, fields, lengths, digests, identifiers.
    #[command(after_help = "\
Examples:
  junkai warc check example/archive/*                          all files of an archive
  junkai warc check --json old.arc.gz | jq -r .message         every problem, for programs

Each problem is named with the clause of WARC 1.1 (ISO 28500:2017) that it breaks. What a clause demands is a problem, and exit code 4 says that there
are some; what it only recommends is a warning. A damaged record is told, and the records behind it are checked all the same.")]
    Check {
        /// WARC files (`.warc`, `.warc.gz`, `.warc.zst`) and ARC files (`.arc`, `.arc.gz`).
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print JSON: a line for each problem and warning, and one for each file at its end.
        #[arg(long)]
        json: bool,
    },
    /// Print the CDXJ index of files, as cdxj-indexer does.
    Index {
        /// WARC and ARC files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Sort the lines of all files together.
        #[arg(long)]
        sort: bool,
    },
    /// Print one record, decompressed; on a terminal without what that would obey.
    Cat {
        /// The WARC or ARC file; the line of an ARC record is shown as the fields of a WARC record.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Offset of the record, as the index tells it.
        #[arg(value_name = "OFFSET")]
        offset: u64,
    },
}

/// Does it.
pub(crate) fn run(warc: &Warc) -> Result<Ending> {
    match warc {
        Warc::Check { files, json } => check_files(files, *json),
        Warc::Index { files, sort } => index_files(files, *sort),
        Warc::Cat { file, offset } => cat(file, *offset),
    }
}

fn check_files(files: &[PathBuf], json: bool) -> Result<Ending> {
    let mut ending = Ending::Well;
    for file in files {
        let failed = || format!("cannot check {}", file.display());
        let name = file.display().to_string();
        let report = if json {
            let report = check(file, |problem| say_line(&name, problem)).with_context(failed)?;
            say!("{}", serde_json::to_string(&report)?);
            report
        } else {
            let mut shown = Shown::default();
            let report = check(file, |problem| shown.take(problem)).with_context(failed)?;
            shown.print(&report);
            report
        };
        if !report.is_sound() {
            ending = Ending::Problems;
        }
    }
    Ok(ending)
}

/// A problem as a line of JSON.
fn say_line(file: &str, problem: &Problem) {
    #[derive(Serialize)]
    struct Line<'a> {
        file: &'a str,
        #[serde(flatten)]
        problem: &'a Problem,
    }
    // A struct of strings and numbers always serialises.
    if let Ok(line) = serde_json::to_string(&Line { file, problem }) {
        say!("{line}");
    }
}

/// What is shown of a file, kept until the verdict is known.
#[derive(Default)]
struct Shown {
    problems: Vec<String>,
    warnings: Vec<String>,
}

impl Shown {
    fn take(&mut self, problem: &Problem) {
        let (kept, kept_max, word) = match problem.severity {
            Severity::Problem => (&mut self.problems, PROBLEMS_SHOWN_MAX, ""),
            Severity::Warning => (&mut self.warnings, WARNINGS_SHOWN_MAX, "warning: "),
        };
        if kept.len() < kept_max {
            let message = shown(&problem.message);
            kept.push(format!(
                "  at {}: {word}{message} ({})",
                problem.offset,
                clause(problem)
            ));
        }
    }

    fn print(&self, report: &Report) {
        let verdict = if report.is_sound() {
            "sound".to_owned()
        } else {
            format!("{} PROBLEMS", grouped(report.problems))
        };
        let warnings = match report.warnings {
            0 => String::new(),
            count => format!(", {}", counted(count, "warning")),
        };
        let unchecked = match report.digests_unchecked {
            0 => String::new(),
            count => format!(", {} in an unknown algorithm", grouped(count)),
        };
        say!(
            "{}: {verdict}{warnings}; {} records, {} digests right{unchecked}",
            shown(&report.file),
            grouped(report.records),
            grouped(report.digests)
        );
        if 0 < report.ids_unchecked {
            let count = grouped(report.ids_unchecked);
            say!("  the ids of {count} records were not compared: the file holds too many");
        }
        for (lines, count, what) in [
            (&self.problems, report.problems, "problem"),
            (&self.warnings, report.warnings, "warning"),
        ] {
            for line in lines {
                say!("{line}");
            }
            let untold = count - lines.len() as u64;
            if 0 < untold {
                say!("  and {} more (--json tells all)", counted(untold, what));
            }
        }
    }
}

/// The clause that speaks of a problem, as text.
fn clause(problem: &Problem) -> String {
    match problem.clause {
        "ARC" => "ARC file format, 1996".to_owned(),
        annex if annex.starts_with("annex") => annex.to_owned(),
        number => format!("clause {number}"),
    }
}

fn index_files(files: &[PathBuf], sort: bool) -> Result<Ending> {
    let mut out = std::io::stdout().lock();
    if !sort {
        for file in files {
            index_file(file, &mut out)
                .with_context(|| format!("cannot index {}", file.display()))?;
        }
        return Ok(Ending::Well);
    }
    let mut lines = Vec::new();
    for file in files {
        index_file(file, &mut lines).with_context(|| format!("cannot index {}", file.display()))?;
    }
    let mut lines: Vec<&[u8]> = lines.split_inclusive(|&byte| byte == b'\n').collect();
    lines.sort_unstable();
    for line in lines {
        out.write_all(line)?;
    }
    Ok(Ending::Well)
}

fn cat(file: &std::path::Path, offset: u64) -> Result<Ending> {
    let place = || format!("no record at offset {offset} of {}", file.display());
    let mut reader = Reader::open_at(file, offset).with_context(place)?;
    let mut record = reader
        .next_record()
        .with_context(place)?
        .with_context(place)?;
    let stdout = std::io::stdout();
    let mut out: Box<dyn Write> = if stdout.is_terminal() {
        Box::new(Screened::new(stdout.lock()))
    } else {
        Box::new(stdout.lock())
    };
    write!(out, "{}\r\n", record.head().version)?;
    for (name, value) in &record.head().fields {
        write!(out, "{name}: {value}\r\n")?;
    }
    out.write_all(b"\r\n")?;
    let mut block = vec![0; 64 * 1024];
    loop {
        match record.read(&mut block)? {
            0 => break,
            length => out.write_all(&block[..length])?,
        }
    }
    Ok(Ending::Well)
}
