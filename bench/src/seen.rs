//! The cost of knowing whether a URL is known, beside fjall and redb.
//!
//! A set is filled with fingerprints, and then asked as the crawler asks: in batches, nine of ten known already, drawn evenly over
//! all of them (the hardest case: links of real pages repeat themselves, and caches help). Every new one becomes known. The sets take turns, batch
//! series by batch series. Read [`run`] first, then `sets`.
//!
//! Costs are CPU time of all threads: compaction in the background and merging are paid for, wherever they run.

mod sets;

use std::path::PathBuf;
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

/// What `bench seen` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Fingerprints in our set.
    #[arg(long, default_value = "10000000")]
    keys: u64,
    /// Fingerprints in the peers' sets, and in a second one of ours.
    #[arg(long, default_value = "1000000")]
    peer_keys: u64,
    /// The sizes of the project's promise: 10^8 fingerprints, and 10^7 for the peers. Takes long, and 3 GB of disk.
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
    let (keys, peer_keys) = if arguments.full {
        (100_000_000, 10_000_000)
    } else {
        (arguments.keys, arguments.peer_keys)
    };
    let (path, memory) = (folder.path(), arguments.memory);
    let mut sets = vec![Asked::new(
        "junkai",
        keys,
        Ours::open(&path.join("large"), memory)?,
    )];
    if !arguments.alone {
        sets.push(Asked::new(
            "junkai",
            peer_keys,
            Ours::open(&path.join("small"), memory)?,
        ));
        sets.push(Asked::new(
            "fjall",
            peer_keys,
            Fjall::open(&path.join("fjall"), memory)?,
        ));
        sets.push(Asked::new(
            "redb",
            peer_keys,
            Redb::open(&path.join("redb"), memory)?,
        ));
    }
    for set in &mut sets {
        println!(
            "filling {} with {} fingerprints",
            set.name,
            short(set.keys as f64)
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
    tell(report, &sets, arguments)
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

    /// Makes the first fingerprints known.
    fn fill(&mut self) -> Result<()> {
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

fn tell(mut report: Report, sets: &[Asked], arguments: &Arguments) -> Result<()> {
    let columns = [
        "set",
        "fingerprints",
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
    let mut table = Table::new(title, &columns);
    for asked in sets {
        let known = asked.known as f64;
        table.row(
            asked.name,
            [
                Cell::from(known),
                asked.per_cpu_second.clone().into(),
                asked.per_second.clone().into(),
                asked.fill_per_cpu_second.into(),
                (asked.merging_share * 100.0).into(),
                (asked.set.memory_bytes() as f64 / known).into(),
                (asked.set.disk_bytes()? as f64 / known).into(),
                asked.set.files().to_string().into(),
            ],
        );
    }
    report.table(table);
    if let [_, ours, peers @ ..] = sets {
        let mut table = Table::new(
            "ours against the peers, at their size",
            &["peer", "times as many checks"],
        );
        for peer in peers {
            table.row(
                peer.name,
                [ours.per_cpu_second.ratio_to(&peer.per_cpu_second).into()],
            );
        }
        report.table(table);
    }
    report.finish(arguments.common.json.as_deref())
}
