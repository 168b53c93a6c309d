//! The cost of knowing whether a URL is known, beside fjall and redb.
//!
//! A set is filled with fingerprints, and then asked as the crawler asks: in batches, nine of ten known already, drawn evenly over
//! all of them (the hardest case: links of real pages repeat themselves, and caches help). Every new one becomes known. Ours and the peers have the same sizes, and
//! take turns, batch series by batch series. Read [`run`] first, then `sets`.
//!
//! Costs are CPU time of all threads: compaction in the background and merging are paid for, wherever they run.

mod sets;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, ensure};
use tempfile::TempDir;

use self::sets::{Fjall, KnownSet, Ours, Redb};
use crate::Common;
use crate::chance::mixed;
use crate::cpu;
use crate::report::{Cell, Report, Table};
use crate::samples::{Samples, short};

/// Fingerprints of one batch: the links of some tens of pages.
const BATCH: u64 = 1000;
/// Of this many questions one is for a URL that is new.
const NEW_ONE_IN: u64 = 10;
/// Beyond this many fingerprints a peer is filled in their order, which is many times faster for it and leaves it in its best shape: as they
/// are found, it would take the better part of an hour.
const AS_FOUND_MAX: u64 = 10_000_000;

/// What `bench seen` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Fingerprints in each set, one size after the other.
    #[arg(long, value_delimiter = ',', default_value = "1000000,10000000")]
    keys: Vec<u64>,
    /// The size of the project's promise: 10^8 fingerprints as well. Takes a quarter of an hour, and 8 GB of disk.
    #[arg(long)]
    full: bool,
    /// Questions in each repetition.
    #[arg(long, default_value = "1000000")]
    checks: u64,
    /// Memory for each set, in bytes.
    #[arg(long, default_value = "268435456")]
    memory: u64,
    /// Where the sets are; default: the system's folder for temporary files.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Leave the peers out.
    #[arg(long)]
    alone: bool,
}

/// Measures, and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let report = Report::new("seen");
    let folder = match &arguments.folder {
        Some(folder) => TempDir::with_prefix_in("junkai-bench-", folder)?,
        None => TempDir::with_prefix("junkai-bench-")?,
    };
    let mut sizes = arguments.keys.clone();
    if arguments.full {
        sizes.push(100_000_000);
    }
    let mut asked = Vec::new();
    for keys in sizes {
        // One size at a time: the sets of one leave the caches of the system to those of the next.
        let folder = TempDir::with_prefix_in("size-", folder.path())?;
        asked.push(ask_all(arguments, folder.path(), keys)?);
    }
    tell(report, &asked, arguments)
}

/// Fills the sets with so many fingerprints, and asks them by turns.
fn ask_all(arguments: &Arguments, folder: &Path, keys: u64) -> Result<Vec<Answers>> {
    let memory = arguments.memory;
    let ours = Ours::open(&folder.join("junkai"), memory)?;
    let mut sets = vec![Asked::new("junkai", keys, ours)];
    if !arguments.alone {
        let fjall = Fjall::open(&folder.join("fjall"), memory)?;
        sets.push(Asked::new("fjall", keys, fjall));
        let redb = Redb::open(&folder.join("redb"), memory)?;
        sets.push(Asked::new("redb", keys, redb));
    }
    for set in &mut sets {
        println!(
            "filling {} with {} fingerprints",
            set.name,
            short(keys as f64)
        );
        set.fill()?;
    }
    for repetition in 0..arguments.common.repeat.get() {
        println!("repetition {}", repetition + 1);
        // Who goes first changes from repetition to repetition.
        let order = 0..sets.len();
        let mut ask = |at: usize| sets[at].ask(arguments.checks);
        match repetition % 2 {
            0 => order.into_iter().try_for_each(&mut ask)?,
            _ => order.rev().try_for_each(&mut ask)?,
        }
    }
    sets.iter().map(Asked::answers).collect()
}

/// A set under measurement.
struct Asked {
    name: &'static str,
    keys: u64,
    set: Box<dyn KnownSet>,
    /// Fingerprints number 0 to this are known.
    known: u64,
    /// Questions asked so far.
    questions: u64,
    fill_per_cpu_second: f64,
    merging_share: f64,
    per_cpu_second: Samples,
    per_second: Samples,
}

impl Asked {
    fn new(name: &'static str, keys: u64, set: impl KnownSet + 'static) -> Asked {
        Asked {
            name,
            keys,
            set: Box::new(set),
            known: 0,
            questions: 0,
            fill_per_cpu_second: f64::NAN,
            merging_share: f64::NAN,
            per_cpu_second: Samples::default(),
            per_second: Samples::default(),
        }
    }

    /// Makes the first fingerprints known: as they would be found, or in their order where that would take a peer too long.
    fn fill(&mut self) -> Result<()> {
        if let Some(peer) = self.set.loader().filter(|_| AS_FOUND_MAX < self.keys) {
            let mut keys: Vec<u64> = (0..self.keys).map(mixed).collect();
            keys.sort_unstable();
            peer.load(&keys)?;
            self.known = self.keys;
            return self.set.settle();
        }
        let (cost, filled) = cpu::cost_to_all_of(|| self.insert_all());
        filled?;
        self.fill_per_cpu_second = self.keys as f64 / cost.as_secs_f64();
        self.merging_share = self.set.merging().as_secs_f64() / cost.as_secs_f64();
        Ok(())
    }

    fn insert_all(&mut self) -> Result<()> {
        let (mut batch, mut new) = (Vec::new(), Vec::new());
        while self.known < self.keys {
            let end = self.keys.min(self.known + BATCH);
            batch.clear();
            batch.extend((self.known..end).map(mixed));
            self.set.insert_batch(&batch, &mut new)?;
            ensure!(
                new.iter().all(|&new| new),
                "{} holds a new fingerprint as known",
                self.name
            );
            self.known = end;
        }
        self.set.settle()
    }

    /// Asks for `checks` fingerprints, of which nine in ten are known.
    fn ask(&mut self, checks: u64) -> Result<()> {
        let mut batch = Batch::default();
        let mut new = Vec::new();
        let (mut cpu_seconds, mut seconds) = (0.0, 0.0);
        for _ in 0..checks.div_ceil(BATCH) {
            batch.draw(&mut self.questions, &mut self.known);
            let begun = Instant::now();
            let (cost, inserted) =
                cpu::cost_to_all_of(|| self.set.insert_batch(&batch.keys, &mut new));
            inserted?;
            cpu_seconds += cost.as_secs_f64();
            seconds += begun.elapsed().as_secs_f64();
            ensure!(
                new == batch.is_new,
                "{} is wrong about a fingerprint",
                self.name
            );
        }
        self.per_cpu_second.push(checks as f64 / cpu_seconds);
        self.per_second.push(checks as f64 / seconds);
        Ok(())
    }
}

impl Asked {
    fn answers(&self) -> Result<Answers> {
        let known = self.known as f64;
        Ok(Answers {
            name: self.name,
            keys: self.keys,
            per_cpu_second: self.per_cpu_second.clone(),
            per_second: self.per_second.clone(),
            cells: [
                self.fill_per_cpu_second.into(),
                (self.merging_share * 100.0).into(),
                (self.set.memory_bytes() as f64 / known).into(),
                (self.set.disk_bytes()? as f64 / known).into(),
                self.set.files().to_string().into(),
            ],
        })
    }
}

/// What a set answered, when it is gone.
struct Answers {
    name: &'static str,
    keys: u64,
    per_cpu_second: Samples,
    per_second: Samples,
    cells: [Cell; 5],
}

/// Questions, and the right answers.
#[derive(Default)]
struct Batch {
    keys: Vec<u64>,
    is_new: Vec<bool>,
}

impl Batch {
    /// Draws new ones: fingerprints number 0 to `known` are known, and what is new becomes so.
    fn draw(&mut self, questions: &mut u64, known: &mut u64) {
        self.keys.clear();
        self.is_new.clear();
        let known_before = *known;
        for _ in 0..BATCH {
            *questions += 1;
            let is_new = questions.is_multiple_of(NEW_ONE_IN);
            let number = if is_new {
                *known += 1;
                *known - 1
            } else {
                mixed(!*questions) % known_before
            };
            self.keys.push(mixed(number));
            self.is_new.push(is_new);
        }
    }
}

fn tell(mut report: Report, sizes: &[Vec<Answers>], arguments: &Arguments) -> Result<()> {
    let columns = [
        "set, fingerprints",
        "ours ÷ it, checks by CPU time",
        "checks per CPU second",
        "checks/s",
        "inserts per CPU second",
        "of it merging %",
        "memory bytes/URL",
        "disk bytes/URL",
        "files",
    ];
    let memory = short(arguments.memory as f64 / f64::from(1 << 20));
    let title = format!("known URLs, 90 % hits, {memory} MiB of memory for each set");
    let mut table = Table::new("sets", title, columns);
    for sets in sizes {
        for set in sets {
            let ours = sets.first().unwrap_or(set);
            let ratio = ours.per_cpu_second.ratio_to(&set.per_cpu_second);
            let answers = [
                Cell::from(ratio),
                set.per_cpu_second.clone().into(),
                set.per_second.clone().into(),
            ];
            table.row(
                format!("{}, {}", set.name, short(set.keys as f64)),
                answers.into_iter().chain(set.cells.clone()),
            );
        }
    }
    report.table(table);
    report.finish(arguments.common.json.as_deref())
}
