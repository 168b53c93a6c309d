//! Judges a WARC or ARC file: structure, heads, lengths, digests, ids.
//!
//! [`check`] walks over all records, past what is damaged, and tells each thing that is wrong as it comes; nothing is collected. What the
//! standard says of heads is in [`standard`], of digests in [`digests`], of records among each other in [`series`].
//!
//! Memory: a few bytes for the id of each record, of a bounded number of them; blocks are read as streams.

mod digests;
mod series;
mod standard;
mod syntax;

use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::path::Path;

use serde::Serialize;

use self::digests::check_digests;
use self::series::Series;
use crate::arc::ArcLine;
use crate::read_error::{ReadError, read_error};
use crate::reader::Record;
use crate::record_head::Format;
use crate::walk::{Walker, walk};

/// What was found in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The file.
    pub file: String,
    /// Whole records.
    pub records: u64,
    /// Digests that were computed and found right.
    pub digests: u64,
    /// Digests in an algorithm that we do not know.
    pub digests_unchecked: u64,
    /// Records whose ids were not kept, because there are so many: that later ones repeat them is not seen.
    pub ids_unchecked: u64,
    /// How many problems there are.
    pub problems: u64,
    /// How many warnings there are.
    pub warnings: u64,
}

impl Report {
    /// Whether nothing is wrong; what is only recommended against is not.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problems == 0
    }
}

/// Something that is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where the record starts.
    pub offset: u64,
    /// Its `WARC-Record-ID`, if it could be read.
    pub record: Option<String>,
    /// How bad it is.
    pub severity: Severity,
    /// The clause of WARC 1.1 (ISO 28500:2017) that says so; `ARC` for the description of the ARC format.
    pub clause: &'static str,
    /// What is wrong.
    pub message: String,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The standard demands something else, or a record is damaged.
    Problem,
    /// The standard recommends something else.
    Warning,
}

/// What is wrong, before it is known with which record.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    severity: Severity,
    clause: &'static str,
    message: String,
}

impl Finding {
    fn problem(clause: &'static str, message: impl Into<String>) -> Finding {
        Finding {
            severity: Severity::Problem,
            clause,
            message: message.into(),
        }
    }

    fn warning(clause: &'static str, message: impl Into<String>) -> Finding {
        Finding {
            severity: Severity::Warning,
            ..Finding::problem(clause, message)
        }
    }
}

/// The clause that says what a record consists of.
const STRUCTURE: &str = "4";
/// What stands for a clause where the format is the older one.
const ARC: &str = "ARC";

/// What says what a record of a format consists of; of a file without a readable record, WARC's clause.
const fn structure(format: Option<Format>) -> &'static str {
    match format {
        Some(Format::Arc) => ARC,
        Some(Format::Warc) | None => STRUCTURE,
    }
}

/// Reads a file to its end, past what is damaged, and tells what is wrong with it, in the order of the file.
///
/// # Errors
/// Only if the file cannot be read at all; damage is told.
pub fn check(path: &Path, tell: impl FnMut(&Problem)) -> io::Result<Report> {
    let mut checker = Checker {
        report: Report {
            file: path.display().to_string(),
            ..Report::default()
        },
        tell,
        series: Series::default(),
        format: None,
        failed: None,
    };
    walk(path, &mut checker);
    if checker.report.records + checker.report.problems == 0 {
        let mut found = vec![Finding::problem(STRUCTURE, "there is no record in it")];
        checker.tell_all(0, None, &mut found);
    }
    match checker.failed {
        Some(error) => Err(error),
        None => Ok(checker.report),
    }
}

struct Checker<T> {
    report: Report,
    tell: T,
    series: Series,
    /// The format of the last record whose head was read.
    format: Option<Format>,
    /// Why the file cannot be read.
    failed: Option<io::Error>,
}

impl<T: FnMut(&Problem)> Walker for Checker<T> {
    fn record(&mut self, record: Record<'_, File>) -> Result<(), ReadError> {
        let head = record.head().clone();
        let id = head.field("WARC-Record-ID").map(standard::clipped);
        let mut found = Vec::new();
        self.judge_head(&record, &mut found);
        let judged = judge_block(record, &mut found);
        if matches!(judged, Err(ReadError::Damaged { .. })) {
            // The compressed data are not what was written, so neither is what they unpack to: the damage alone is told.
            found.clear();
        }
        self.tell_all(head.offset, id.as_deref(), &mut found);
        let counts = judged?;
        self.report.digests += counts.right;
        self.report.digests_unchecked += counts.unknown;
        self.report.records += 1;
        Ok(())
    }

    fn damage(&mut self, error: ReadError) {
        let clause = match error {
            ReadError::Io(error) => {
                self.failed = Some(error);
                return;
            }
            ReadError::NotPerRecord { .. } => "annex D",
            _ => structure(self.format),
        };
        let mut found = vec![Finding::problem(clause, error.with_cause())];
        self.tell_all(error.offset(), None, &mut found);
    }
}

impl<T: FnMut(&Problem)> Checker<T> {
    fn judge_head(&mut self, record: &Record<'_, File>, found: &mut Vec<Finding>) {
        let head = record.head();
        let is_first = self.format.replace(head.format()).is_none();
        let is_odd = is_first && head.record_type() != "warcinfo";
        match head.format() {
            Format::Warc => {
                if is_odd {
                    let message = "the first record should be a warcinfo record";
                    found.push(Finding::warning("5.5", message));
                }
                standard::judge(head, record.head_bytes(), found);
                if !self.series.add(head, found) {
                    self.report.ids_unchecked += 1;
                }
            }
            Format::Arc => {
                if is_odd {
                    let message = "the first record does not describe the file";
                    found.push(Finding::problem(ARC, message));
                }
                judge_arc(record.head_bytes(), found);
            }
        }
    }

    fn tell_all(&mut self, offset: u64, record: Option<&str>, found: &mut Vec<Finding>) {
        for finding in found.drain(..) {
            match finding.severity {
                Severity::Problem => self.report.problems += 1,
                Severity::Warning => self.report.warnings += 1,
            }
            (self.tell)(&Problem {
                offset,
                record: record.map(str::to_owned),
                severity: finding.severity,
                clause: finding.clause,
                message: finding.message,
            });
        }
    }
}

/// Judges the digests of a record and what ends it.
fn judge_block(
    mut record: Record<'_, File>,
    found: &mut Vec<Finding>,
) -> Result<digests::Counts, ReadError> {
    let (offset, format) = (record.head().offset, record.head().format());
    let counts = check_digests(&mut record, found).map_err(|error| read_error(error, offset))?;
    let span = record.finish()?;
    if !span.is_terminated {
        let clause = structure(Some(format));
        let message = "what follows the block is not what ends a record: its length is wrong, or line ends are";
        found.push(Finding::problem(clause, message));
    }
    Ok(counts)
}

/// Judges the line of a record of an ARC file.
fn judge_arc(line: &[u8], found: &mut Vec<Finding>) {
    let line = String::from_utf8_lossy(line);
    let Some(line) = ArcLine::parse(line.trim_start_matches(['\r', '\n'])) else {
        return;
    };
    let shown = standard::clipped(line.date);
    if line.date.len() != "YYYYMMDDhhmmss".len()
        || !syntax::is_date(&line.iso_date(), syntax::DateForm::Seconds)
    {
        let message = format!("the date `{shown}` is not one of the form YYYYMMDDhhmmss");
        found.push(Finding::problem(ARC, message));
    }
    if line.url.contains(' ') {
        let shown = standard::clipped(line.url);
        found.push(Finding::problem(
            ARC,
            format!("the URL `{shown}` holds blanks"),
        ));
    }
    if line.address.parse::<IpAddr>().is_err() {
        let shown = standard::clipped(line.address);
        found.push(Finding::warning(ARC, format!("`{shown}` is no IP address")));
    }
}

#[cfg(test)]
mod tests;
