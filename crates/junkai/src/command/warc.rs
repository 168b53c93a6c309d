//! `junkai warc`: checks, indexes and reads WARC files, whoever wrote them.

use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use junkai_archive::{Reader, Report, check, index_file};
use junkai_lab::outcome::grouped;

use crate::exit::Ending;
use crate::print::{Screened, say, shown};

/// What can be done with WARC files.
#[derive(clap::Subcommand)]
pub(crate) enum Warc {
    /// Prove every record: structure, lengths, digests, identifiers.
    Check {
        /// WARC files (`.warc`, `.warc.gz`, `.warc.zst`).
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print a JSON line for each file.
        #[arg(long)]
        json: bool,
    },
    /// Print the CDXJ index of files, as cdxj-indexer does.
    Index {
        /// WARC files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Sort the lines of all files together.
        #[arg(long)]
        sort: bool,
    },
    /// Print one record, decompressed; on a terminal without what that would obey.
    Cat {
        /// The WARC file.
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
        let report = check(file).with_context(|| format!("cannot check {}", file.display()))?;
        if json {
            say!("{}", serde_json::to_string(&report)?);
        } else {
            print_report(&report);
        }
        if !report.is_sound() {
            ending = Ending::Problems;
        }
    }
    Ok(ending)
}

fn print_report(report: &Report) {
    let verdict = if report.is_sound() {
        "sound".to_owned()
    } else {
        format!("{} PROBLEMS", grouped(report.problem_count))
    };
    say!(
        "{}: {verdict}; {} records, {} digests right",
        shown(&report.file),
        grouped(report.records),
        grouped(report.digests)
    );
    for problem in &report.problems {
        say!("  at {}: {}", problem.offset, shown(&problem.message));
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
