//! The cost of keeping the states of all known pages on disk, beside fjall, redb and LMDB.
//!
//! Every store goes through the same cycle (`junkai_simulation::update_cycle`): time passes by minutes; what is due is read, changed as a visit does, and put
//! back an interval later; after every 100,000 states all of it is made durable. The pages are those of Tamura and Kitsuregawa's (2010) table 1. The stores take turns. Read
//! [`run`] first, then `peers`.
//!
//! `large` is the other question: how much memory a hundred million known pages take, and how long it takes to open them. `layouts` counts what a finer
//! resolution asks of the disk.
//!
//! Costs are CPU time of all threads until the store has come to rest, and time by the clock until the last checkpoint. Files stay in the system's cache,
//! for all stores alike.

mod large;
mod layouts;
mod peers;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow};
use junkai_simulation::measure::{Measurement, Used};
use junkai_simulation::population::{Population, SEED_PAGES};
use junkai_simulation::update_cycle::CHECKPOINT_RECORDS;
use junkai_simulation::update_cycle::{Durability, QueueStore, Store, UpdateCycle};
use junkai_store::time_queue::{Lengths, TimeQueueConfig};
use tempfile::TempDir;

use self::peers::{Fjall, Lmdb, Redb};
use crate::Common;
use crate::report::{Cell, Limit, Report, Table};
use crate::samples::{Samples, short};

pub(crate) use self::large::{JobArguments, run_job};

/// What all pages are drawn from.
const SEED: u64 = 1;
/// The resolution of a crawl.
const RESOLUTION: Duration = Duration::from_mins(1);
/// How many times as many states a second as any peer ours is to go through.
const PEERS_FACTOR: f64 = 10.0;
/// Pages whose memory and opening the project promises something about.
const LARGE_PAGES: u64 = 100_000_000;

/// What `bench time-queue` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Known pages, one size after the other; 0 leaves the comparison out.
    #[arg(long, value_delimiter = ',', default_value = "1000000")]
    records: Vec<u64>,
    /// States that go round in each repetition.
    #[arg(long, default_value = "500000")]
    sample: u64,
    /// Also open this many pages, and tell memory and time.
    #[arg(long, value_name = "PAGES")]
    large: Option<u64>,
    /// Also count what each layout and resolution asks of the disk, with this many pages.
    #[arg(long, value_name = "PAGES", value_delimiter = ',')]
    layouts: Vec<u64>,
    /// The sizes of the project's promise: 17,496,056 pages, and 10^8 for memory and opening. Takes long, and 30 GB of disk.
    #[arg(long)]
    full: bool,
    /// Memory for our write buffers, in bytes.
    #[arg(long, default_value = "67108864")]
    buffers: u64,
    /// Memory for the cache of each peer, in bytes.
    #[arg(long, default_value = "268435456")]
    peer_memory: u64,
    /// Where the stores are; default: the system's folder for temporary files.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Leave the peers out.
    #[arg(long)]
    alone: bool,
}

/// Measures, and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut report = Report::new("time-queue");
    let folder = match &arguments.folder {
        Some(folder) => TempDir::with_prefix_in("junkai-bench-", folder)?,
        None => TempDir::with_prefix("junkai-bench-")?,
    };
    let (sizes, large) = if arguments.full {
        let large = arguments.large.unwrap_or(LARGE_PAGES);
        (vec![SEED_PAGES], Some(large))
    } else {
        (arguments.records.clone(), arguments.large)
    };
    let mut table = comparison();
    for records in sizes.into_iter().filter(|records| 0 < *records) {
        let folder = TempDir::with_prefix_in("size-", folder.path())?;
        let stores = go_round(arguments, folder.path(), records)?;
        tell(&stores, records, &mut table, &mut report)?;
    }
    report.table(table);
    if let Some(pages) = large {
        large::measure(pages, arguments.buffers, folder.path(), &mut report)?;
    }
    for &pages in &arguments.layouts {
        layouts::measure(pages, &mut report)?;
    }
    report.finish(arguments.common.json.as_deref())
}

/// Fills all stores, and lets states go round in them by turns.
fn go_round(arguments: &Arguments, folder: &Path, records: u64) -> Result<Vec<Driven>> {
    let mut stores = open_all(arguments, folder, records)?;
    for store in &mut stores {
        println!(
            "filling {} with {} states",
            store.name,
            short(records as f64)
        );
        store.fill()?;
    }
    for repetition in 0..arguments.common.repeat.get() {
        println!("repetition {}", repetition + 1);
        stores.reverse();
        for store in &mut stores {
            store.go_round(arguments.sample)?;
        }
    }
    stores.sort_by_key(|store| store.name != "junkai");
    Ok(stores)
}

fn open_all(arguments: &Arguments, folder: &Path, records: u64) -> Result<Vec<Driven>> {
    let config = TimeQueueConfig {
        buffer_bytes: arguments.buffers,
        resolution: RESOLUTION,
        ..TimeQueueConfig::default()
    };
    let at = |name: &str| folder.join(name);
    let (ours, _) = QueueStore::open(
        &at("junkai"),
        &config,
        Lengths::default(),
        Durability::PowerFailure,
    )?;
    let mut stores = vec![Driven::new("junkai", at("junkai"), records, ours)];
    if !arguments.alone {
        let memory = arguments.peer_memory;
        let fjall = Fjall::open(&at("fjall"), memory)?;
        stores.push(Driven::new("fjall", at("fjall"), records, fjall));
        let redb = Redb::open(&at("redb"), memory)?;
        stores.push(Driven::new("redb", at("redb"), records, redb));
        let lmdb = Lmdb::open(&at("lmdb"))?;
        stores.push(Driven::new("LMDB (heed)", at("lmdb"), records, lmdb));
    }
    Ok(stores)
}

/// A store under measurement.
struct Driven {
    name: &'static str,
    folder: PathBuf,
    store: Box<dyn Store>,
    cycle: UpdateCycle,
    fill_per_second: f64,
    per_second: Samples,
    per_cpu_second: Samples,
    /// Bytes given to the system for each byte that a state must take.
    amplification: Samples,
    /// Bytes bound for the disk, for each state.
    disk_written: Samples,
    late_max: Duration,
}

impl Driven {
    fn new(
        name: &'static str,
        folder: PathBuf,
        records: u64,
        store: impl Store + 'static,
    ) -> Driven {
        let population = Population::new(records, SEED);
        Driven {
            name,
            folder,
            store: Box::new(store),
            cycle: UpdateCycle::new(population, RESOLUTION, CHECKPOINT_RECORDS),
            fill_per_second: f64::NAN,
            per_second: Samples::default(),
            per_cpu_second: Samples::default(),
            amplification: Samples::default(),
            disk_written: Samples::default(),
            late_max: Duration::ZERO,
        }
    }

    fn fill(&mut self) -> Result<()> {
        let mut filled = 0;
        let measurement = Measurement::begin();
        self.cycle
            .fill(self.store.as_mut(), &mut |records| filled = records)?;
        self.fill_per_second = filled as f64 / measurement.used().wall.as_secs_f64();
        settled(&measurement);
        Ok(())
    }

    fn go_round(&mut self, records: u64) -> Result<()> {
        let measurement = Measurement::begin();
        let round = self.cycle.run(self.store.as_mut(), records)?;
        let wall = measurement.used().wall;
        let used = settled(&measurement);
        let records = round.records as f64;
        self.per_second.push(records / wall.as_secs_f64());
        self.per_cpu_second.push(records / used.cpu.as_secs_f64());
        self.amplification
            .push(used.io.written_bytes as f64 / round.bytes as f64);
        self.disk_written
            .push(used.io.disk_written_bytes as f64 / records);
        self.late_max = self.late_max.max(round.late_max);
        Ok(())
    }
}

/// What was used, as soon as nothing is used any more: what a store does in threads of its own after its turn is its cost, and not that of the next one.
fn settled(measurement: &Measurement) -> Used {
    /// So long is looked whether the process does anything.
    const LOOK: Duration = Duration::from_millis(50);
    /// In which an idle one uses no more than this.
    const IDLE_CPU: Duration = Duration::from_millis(1);
    /// Nobody waits longer for a store to come to rest.
    const LOOKS_MAX: usize = 600;
    let mut used = measurement.used();
    for _ in 0..LOOKS_MAX {
        thread::sleep(LOOK);
        let before = used.cpu;
        used = measurement.used();
        if used.cpu.saturating_sub(before) <= IDLE_CPU {
            break;
        }
    }
    used
}

fn comparison() -> Table {
    let columns = [
        "store, pages",
        "states/s",
        "states per CPU second",
        "ours ÷ it, by the clock",
        "ours ÷ it, by CPU time",
        "bytes/state on disk",
        "written ÷ needed",
        "bytes/state to the disk",
        "late at most, s",
        "filled, states/s",
    ];
    Table::new(
        "stores",
        "states that go round, beside key-value stores",
        columns,
    )
}

fn tell(stores: &[Driven], records: u64, table: &mut Table, report: &mut Report) -> Result<()> {
    let ours = stores
        .first()
        .ok_or_else(|| anyhow!("there is no store to compare"))?;
    for store in stores {
        let name = format!("{}, {}", store.name, short(records as f64));
        let by_clock = ours.per_second.ratio_to(&store.per_second);
        let by_cpu = ours.per_cpu_second.ratio_to(&store.per_cpu_second);
        if store.name != ours.name {
            for (unit, ratio) in [("by the clock", &by_clock), ("by CPU time", &by_cpu)] {
                let what = format!("states a second {unit}, in times of {name}");
                report.target(what, ratio.median(), Limit::AtLeast(PEERS_FACTOR));
            }
        }
        table.row(
            name,
            [
                Cell::from(store.per_second.clone()),
                store.per_cpu_second.clone().into(),
                by_clock.into(),
                by_cpu.into(),
                (allocated(&store.folder)? / records as f64).into(),
                store.amplification.clone().into(),
                store.disk_written.clone().into(),
                store.late_max.as_secs_f64().into(),
                store.fill_per_second.into(),
            ],
        );
    }
    Ok(())
}

/// Bytes that all files of a folder take on the disk: a file may be longer than what it holds.
fn allocated(path: &Path) -> Result<f64> {
    const BLOCK_BYTES: u64 = 512;
    let metadata = path.metadata()?;
    if metadata.is_file() {
        return Ok((metadata.blocks() * BLOCK_BYTES) as f64);
    }
    let mut sum = 0.0;
    for entry in fs::read_dir(path)? {
        sum += allocated(&entry?.path())?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cycle compares each state that comes back; here also how many come, and when.
    #[test]
    fn all_stores_hand_out_the_same_states_at_the_same_time() {
        let folder = TempDir::new().unwrap();
        let arguments = Arguments {
            common: Common {
                repeat: std::num::NonZeroUsize::MIN,
                json: None,
            },
            records: vec![3000],
            sample: 500,
            large: None,
            layouts: vec![],
            full: false,
            buffers: 1 << 16,
            peer_memory: 1 << 20,
            folder: None,
            alone: false,
        };
        let mut rounds = Vec::new();
        for mut driven in open_all(&arguments, folder.path(), 3000).unwrap() {
            driven.fill().unwrap();
            let round = driven.cycle.run(driven.store.as_mut(), 500).unwrap();
            assert!(
                round.early_max.is_zero() && round.late_max <= RESOLUTION + Duration::from_secs(1)
            );
            rounds.push((driven.name, round.records, round.units));
        }
        for (name, records, units) in &rounds {
            // Ours keeps times in whole seconds, so that a state may come a minute earlier than elsewhere.
            assert!(units.abs_diff(rounds[1].2) <= 2, "{name}: {rounds:?}");
            assert!(records.abs_diff(rounds[1].1) <= 20, "{name}: {rounds:?}");
        }
    }
}
