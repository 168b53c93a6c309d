//! Many known pages: how much memory their queue takes, and how long it takes to open.
//!
//! Each stage is a process of its own ([`run_job`]), so that what one leaves in memory is not counted to another: one fills the queue, one opens
//! it and lets states go round.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use junkai_frontier::time_queue::{Lengths, TimeQueueConfig};
use junkai_lab::experiment::time_queue::CHECKPOINT_RECORDS;
use junkai_lab::measure::Measurement;
use junkai_lab::population::Population;
use junkai_lab::update_cycle::{Durability, QueueStore, UpdateCycle};
use serde::{Deserialize, Serialize};

use super::{RESOLUTION, SEED};
use crate::memory;
use crate::report::{Cell, Limit, Report, Table};
use crate::samples::short;

/// What memory may be used beside the write buffers, in bytes: what the queue knows of its buckets, blocks that are being read, and the process itself.
const OVERHEAD_BYTES: f64 = 64e6;
/// How long opening may take.
const OPENING_SECONDS_MAX: f64 = 10.0;
/// States between two checkpoints while the queue is filled, which is not what is measured.
const FILL_CHECKPOINT_RECORDS: u64 = 5_000_000;
/// States that go round after the opening.
const ROUND_RECORDS: u64 = 2_000_000;

/// What the process of one stage takes.
#[derive(clap::Args)]
pub(crate) struct JobArguments {
    /// Known pages.
    #[arg(long)]
    pages: u64,
    /// Memory for write buffers, in bytes.
    #[arg(long)]
    buffers: u64,
    /// Where the queue is.
    #[arg(long)]
    folder: PathBuf,
    /// The lengths of the last checkpoint; without them the queue is filled.
    #[arg(long)]
    since: Option<String>,
}

/// What a stage says at its end.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    lengths: Lengths,
    opening_seconds: f64,
    /// After the opening.
    opened_bytes: f64,
    /// At most.
    peak_bytes: f64,
    seconds: f64,
    states: f64,
    waiting: u64,
    memory_bytes: u64,
    disk_bytes: u64,
}

/// Fills a queue, or opens it and lets states go round; prints what that took.
pub(crate) fn run_job(arguments: &JobArguments) -> Result<()> {
    let config = TimeQueueConfig {
        buffer_bytes: arguments.buffers,
        resolution: RESOLUTION,
        ..TimeQueueConfig::default()
    };
    let lengths: Lengths = match &arguments.since {
        Some(text) => serde_json::from_str(text)?,
        None => Lengths::default(),
    };
    let population = Population::new(arguments.pages, SEED);
    let between_checkpoints = if arguments.since.is_some() {
        CHECKPOINT_RECORDS
    } else {
        FILL_CHECKPOINT_RECORDS
    };
    let mut cycle = UpdateCycle::new(population, RESOLUTION, between_checkpoints);
    let opening = Measurement::begin();
    let durability = Durability::PowerFailure;
    let (mut store, recovery) = QueueStore::open(&arguments.folder, &config, lengths, durability)?;
    let opening_seconds = opening.used().wall.as_secs_f64();
    let peak = || memory::peak_of("self").context("the system does not tell the peak of memory");
    let opened_bytes = peak()?;
    let work = Measurement::begin();
    let handled = if arguments.since.is_some() {
        cycle.run(&mut store, ROUND_RECORDS)?.records
    } else {
        cycle.fill(&mut store, &mut |_| ())?;
        arguments.pages
    };
    let stats = store.stats();
    let told = Told {
        lengths: store.lengths(),
        opening_seconds,
        opened_bytes,
        peak_bytes: peak()?,
        seconds: work.used().wall.as_secs_f64(),
        states: handled as f64,
        waiting: recovery.waiting,
        memory_bytes: stats.memory_bytes,
        disk_bytes: stats.bucket_bytes + stats.journal_bytes,
    };
    println!("{}", serde_json::to_string(&told)?);
    Ok(())
}

/// Fills a queue of so many pages, opens it, and tells.
pub(super) fn measure(pages: u64, buffers: u64, folder: &Path, report: &mut Report) -> Result<()> {
    let folder = folder.join("large");
    println!("filling a queue with {} states", short(pages as f64));
    let filled = started(pages, buffers, &folder, None)?;
    println!("opening it");
    let opened = started(pages, buffers, &folder, Some(&filled.lengths))?;
    ensure!(
        opened.waiting == pages,
        "{} states are missing",
        pages - opened.waiting
    );
    let columns = [
        "stage",
        "seconds to open",
        "peak MB after opening",
        "peak MB",
        "MB as the queue tells",
        "states/s",
        "bytes/state on disk",
    ];
    let title = format!(
        "{} pages, {} MB of write buffers",
        short(pages as f64),
        short(buffers as f64 / 1e6)
    );
    let mut table = Table::new(title, &columns);
    for (name, told) in [("filling", &filled), ("opening, and going round", &opened)] {
        let cells: [f64; 6] = [
            told.opening_seconds,
            told.opened_bytes / 1e6,
            told.peak_bytes / 1e6,
            told.memory_bytes as f64 / 1e6,
            told.states / told.seconds,
            told.disk_bytes as f64 / pages as f64,
        ];
        table.row(name, cells.map(Cell::from));
    }
    report.table(table);
    let budget = (buffers as f64 + OVERHEAD_BYTES) / 1e6;
    report.target("peak MB", opened.peak_bytes / 1e6, Limit::AtMost(budget));
    let seconds = opened.opening_seconds;
    report.target(
        "seconds to open",
        seconds,
        Limit::AtMost(OPENING_SECONDS_MAX),
    );
    Ok(())
}

/// Runs one stage as a process.
fn started(pages: u64, buffers: u64, folder: &Path, since: Option<&Lengths>) -> Result<Told> {
    let mut command = Command::new(env::current_exe()?);
    command
        .args(["time-queue-job", "--pages", &pages.to_string()])
        .args(["--buffers", &buffers.to_string(), "--folder"])
        .arg(folder);
    if let Some(lengths) = since {
        command.args(["--since", &serde_json::to_string(lengths)?]);
    }
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start a process for the queue")?;
    ensure!(output.status.success(), "it failed: {}", output.status);
    serde_json::from_slice(&output.stdout).context("it said something else")
}
