//! Many known pages: how much memory their queue takes, and how long it takes to open.
//!
//! Each stage is a process of its own ([`run_job`]), so that what one leaves in memory is not counted to another: one fills the queue, one opens
//! it and lets states go round, one does so until it is killed, and one opens what that left.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum as _;
use junkai_simulation::measure::Measurement;
use junkai_simulation::population::Population;
use junkai_simulation::update_cycle::CHECKPOINT_RECORDS;
use junkai_simulation::update_cycle::{Durability, QueueStore, UpdateCycle};
use junkai_store::time_queue::{Lengths, TimeQueueConfig};
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
/// How long states go round until the process is killed, after it has told that it is under way.
const UNTIL_KILLED: Duration = Duration::from_secs(3);

/// What a process does with the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Stage {
    /// Fills it.
    Fill,
    /// Opens it, and lets states go round.
    GoRound,
    /// The same, until somebody kills it.
    UntilKilled,
    /// Opens it.
    Open,
}

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
    /// What to do.
    #[arg(long)]
    stage: Stage,
    /// The lengths of the last checkpoint, as JSON.
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
    let between_checkpoints = match arguments.stage {
        Stage::Fill => FILL_CHECKPOINT_RECORDS,
        Stage::GoRound | Stage::UntilKilled | Stage::Open => CHECKPOINT_RECORDS,
    };
    let mut cycle = UpdateCycle::new(population, RESOLUTION, between_checkpoints);
    let opening = Measurement::begin();
    let durability = Durability::PowerFailure;
    let (mut store, recovery) = QueueStore::open(&arguments.folder, &config, lengths, durability)?;
    let opening_seconds = opening.used().wall.as_secs_f64();
    let peak = || memory::peak_of("self").context("the system does not tell the peak of memory");
    let opened_bytes = peak()?;
    let work = Measurement::begin();
    let handled = match arguments.stage {
        Stage::Fill => {
            cycle.fill(&mut store, &mut |_| ())?;
            arguments.pages
        }
        Stage::GoRound | Stage::UntilKilled => cycle.run(&mut store, ROUND_RECORDS)?.records,
        Stage::Open => 0,
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
    if arguments.stage == Stage::UntilKilled {
        loop {
            cycle.run(&mut store, ROUND_RECORDS)?;
        }
    }
    Ok(())
}

/// Fills a queue of so many pages, opens it, and tells.
pub(super) fn measure(pages: u64, buffers: u64, folder: &Path, report: &mut Report) -> Result<()> {
    let folder = folder.join("large");
    let job = Job {
        pages,
        buffers,
        folder,
    };
    println!("filling a queue with {} states", short(pages as f64));
    let filled = job.ended(Stage::Fill, None)?;
    println!("opening it");
    let opened = job.ended(Stage::GoRound, Some(&filled.lengths))?;
    println!("killing whoever works on it");
    let killed = job.killed(&opened.lengths)?;
    let reopened = job.ended(Stage::Open, Some(&killed.lengths))?;
    for told in [&opened, &killed, &reopened] {
        ensure!(
            told.waiting == pages,
            "of {pages} states {} are there",
            told.waiting
        );
    }
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
    let mut table = Table::new("large", title, columns);
    let stages = [
        ("filling", &filled),
        ("opening, and going round", &opened),
        ("opening after a kill", &reopened),
    ];
    for (name, told) in stages {
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
    for (name, told) in stages {
        let what = format!("peak MB, {name}");
        report.target(what, told.peak_bytes / 1e6, Limit::AtMost(budget));
    }
    for (name, told) in [("after a stop", &opened), ("after a kill", &reopened)] {
        let what = format!("seconds to open {name}");
        report.target(
            what,
            told.opening_seconds,
            Limit::AtMost(OPENING_SECONDS_MAX),
        );
    }
    Ok(())
}

/// The queue that all stages work on.
struct Job {
    pages: u64,
    buffers: u64,
    folder: PathBuf,
}

impl Job {
    fn command(&self, stage: Stage, since: Option<&Lengths>) -> Result<Command> {
        let stage = stage.to_possible_value().context("a stage has a name")?;
        let mut command = Command::new(env::current_exe()?);
        command
            .args(["time-queue-job", "--pages", &self.pages.to_string()])
            .args(["--stage", stage.get_name()])
            .args(["--buffers", &self.buffers.to_string(), "--folder"])
            .arg(&self.folder)
            .stderr(Stdio::inherit());
        if let Some(lengths) = since {
            command.args(["--since", &serde_json::to_string(lengths)?]);
        }
        Ok(command)
    }

    /// Runs one stage as a process, to its end.
    fn ended(&self, stage: Stage, since: Option<&Lengths>) -> Result<Told> {
        let output = self.command(stage, since)?.output();
        let output = output.context("cannot start a process for the queue")?;
        ensure!(output.status.success(), "it failed: {}", output.status);
        serde_json::from_slice(&output.stdout).context("it said something else")
    }

    /// Starts a process that lets states go round, and kills it in the midst of that.
    fn killed(&self, since: &Lengths) -> Result<Told> {
        let mut command = self.command(Stage::UntilKilled, Some(since))?;
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().context("it says nothing")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        thread::sleep(UNTIL_KILLED);
        child.kill()?;
        child.wait()?;
        serde_json::from_str(&line).context("it said something else")
    }
}
