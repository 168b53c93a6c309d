//! The queues under measurement: filled once, then opened with each size of buffer in turn.
//!
//! A queue keeps going round from one measurement to the next, so that it is measured in the state that years of use leave it in. After it
//! is opened with another buffer, as much as that buffer holds goes round before anything is measured.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use junkai_simulation::measure::{Measurement, Used, median};
use junkai_simulation::update_cycle::{
    CHECKPOINT_RECORDS, Durability, QueueStore, Round, TrialError, UpdateCycle,
};
use junkai_store::time_queue::{Lengths, Traffic};
use tempfile::TempDir;

use super::{BUFFERED_BYTES, Costs, Setting, TimeQueueExperiment};
use crate::experiment::{Progress, Watch};

/// Of the pages, one in so many goes round in a measurement at least.
const SAMPLE_PART: u64 = 10;
/// And as much as so many buffers hold.
const SAMPLE_BUFFERS: u64 = 2;

/// A kind of disk, as a model: each operation takes a time, and each byte.
pub(super) struct DiskModel {
    pub(super) name: &'static str,
    pub(super) seconds_per_operation: f64,
    pub(super) bytes_per_second: f64,
}

/// The two kinds that costs are told for.
pub(super) const DISKS: [DiskModel; 2] = [
    DiskModel {
        name: "a disk that turns",
        seconds_per_operation: 8e-3,
        bytes_per_second: 1e8,
    },
    DiskModel {
        name: "a solid-state disk",
        seconds_per_operation: 5e-5,
        bytes_per_second: 1e9,
    },
];

/// What one size of buffer costs in one setting.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) setting: Setting,
    pub(super) buffer_bytes: u64,
    pub(super) samples: Vec<Sample>,
    /// Bytes on disk for each state, the journal included, after the last measurement.
    pub(super) disk_bytes_per_record: f64,
    /// Buckets on disk.
    pub(super) buckets: u64,
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) round: Round,
    pub(super) traffic: Traffic,
    pub(super) used: Used,
}

impl Sample {
    fn per_record(&self, amount: f64) -> f64 {
        amount / self.round.records as f64
    }

    fn bytes(&self) -> f64 {
        (self.traffic.written_bytes + self.traffic.journal_bytes + self.traffic.read_bytes) as f64
    }

    fn operations(&self) -> f64 {
        (self.traffic.writes + self.traffic.reads) as f64
    }
}

impl Point {
    fn median_of(&self, amount: impl Fn(&Sample) -> f64) -> f64 {
        let each: Vec<f64> = self
            .samples
            .iter()
            .map(|sample| sample.per_record(amount(sample)))
            .collect();
        median(&each).unwrap_or(f64::NAN)
    }

    /// Microseconds for each state on a disk of this kind.
    pub(super) fn modelled_us(&self, disk: &DiskModel) -> f64 {
        self.median_of(|sample| {
            let operations = sample.operations() * disk.seconds_per_operation;
            1e6 * (operations + sample.bytes() / disk.bytes_per_second)
        })
    }

    /// CPU time for each state, in microseconds.
    pub(super) fn cpu_us(&self) -> f64 {
        self.median_of(|sample| sample.used.cpu.as_secs_f64() * 1e6)
    }

    /// Time by the clock for each state, in microseconds.
    pub(super) fn wall_us(&self) -> f64 {
        self.median_of(|sample| sample.used.wall.as_secs_f64() * 1e6)
    }

    /// The smallest and the largest time by the clock, in microseconds.
    pub(super) fn wall_us_spread(&self) -> (f64, f64) {
        let each = self
            .samples
            .iter()
            .map(|sample| sample.per_record(sample.used.wall.as_secs_f64() * 1e6));
        each.fold((f64::INFINITY, 0.0), |(low, high), us| {
            (low.min(us), high.max(us))
        })
    }

    /// Appends to buckets for each state.
    pub(super) fn writes(&self) -> f64 {
        self.median_of(|sample| sample.traffic.writes as f64)
    }

    /// Reads of buckets for each state.
    pub(super) fn reads(&self) -> f64 {
        self.median_of(|sample| sample.traffic.reads as f64)
    }

    /// Bytes written for each state, the journal included.
    pub(super) fn written_bytes(&self) -> f64 {
        self.median_of(|sample| {
            (sample.traffic.written_bytes + sample.traffic.journal_bytes) as f64
        })
    }

    /// Bytes read for each state.
    pub(super) fn read_bytes(&self) -> f64 {
        self.median_of(|sample| sample.traffic.read_bytes as f64)
    }

    /// Bytes read from the disk itself for each state.
    pub(super) fn disk_read_bytes(&self) -> f64 {
        self.median_of(|sample| sample.used.io.disk_read_bytes as f64)
    }

    /// States written to buckets for each that went round: more than one where buckets are written again.
    pub(super) fn amplification(&self) -> f64 {
        self.median_of(|sample| sample.traffic.written_records as f64)
    }

    /// States that went round in a unit of time.
    pub(super) fn per_unit(&self) -> f64 {
        let each: Vec<f64> = self
            .samples
            .iter()
            .map(|sample| sample.round.records as f64 / sample.round.units as f64)
            .collect();
        median(&each).unwrap_or(f64::NAN)
    }

    /// All that happened in the measurements.
    pub(super) fn rounds(&self) -> impl Iterator<Item = &Round> {
        self.samples.iter().map(|sample| &sample.round)
    }
}

/// A queue that waits for its next turn.
struct Closed {
    setting: Setting,
    dir: PathBuf,
    lengths: Lengths,
    cycle: UpdateCycle,
}

/// What each size of buffer costs in each setting. Times are measured in turns, with all queues there; counts are the same at any time, so that one queue is there
/// after the other, and a disk that holds one is enough.
pub(super) fn points(
    experiment: &TimeQueueExperiment,
    watch: Watch<'_>,
) -> Result<Vec<Point>, TrialError> {
    let mut meter = Meter::new(experiment, watch);
    let settings = experiment.settings();
    let together = match experiment.costs {
        Costs::Counted => 1,
        Costs::Timed => settings.len(),
    };
    let mut points = Vec::new();
    for settings in settings.chunks(together.max(1)) {
        points.extend(Stores::fill(experiment, settings, &mut meter)?.measure()?);
    }
    Ok(points)
}

/// Some queues, filled.
struct Stores<'a, 'w> {
    experiment: &'a TimeQueueExperiment,
    meter: &'a mut Meter<'w>,
    closed: Vec<Closed>,
    /// Removed with all that is in it when the measurements are done.
    _folder: TempDir,
}

impl<'a, 'w> Stores<'a, 'w> {
    /// Fills a queue for each setting.
    fn fill(
        experiment: &'a TimeQueueExperiment,
        settings: &[Setting],
        meter: &'a mut Meter<'w>,
    ) -> Result<Stores<'a, 'w>, TrialError> {
        let folder = TempDir::with_prefix_in("junkai-time-queue-", &experiment.folder).map_err(
            |source| TrialError::Folder {
                path: experiment.folder.clone(),
                source,
            },
        )?;
        let buffer_bytes = experiment.useful_buffers().into_iter().max();
        let mut closed = Vec::new();
        for (number, &setting) in settings.iter().enumerate() {
            let dir = folder.path().join(number.to_string());
            let config = setting.config(buffer_bytes.unwrap_or_default());
            let durability = durability(experiment.costs);
            let (mut store, _) = QueueStore::open(&dir, &config, Lengths::default(), durability)?;
            let mut cycle = UpdateCycle::new(
                experiment.population(),
                setting.resolution,
                CHECKPOINT_RECORDS,
            );
            let before = meter.done;
            cycle.fill(&mut store, &mut |filled| meter.at(before + filled))?;
            closed.push(Closed {
                setting,
                dir,
                lengths: store.lengths(),
                cycle,
            });
        }
        Ok(Stores {
            experiment,
            meter,
            closed,
            _folder: folder,
        })
    }

    /// Measures each queue with each buffer. They take turns, and who goes first changes from repetition to repetition.
    fn measure(mut self) -> Result<Vec<Point>, TrialError> {
        let buffers = self.experiment.useful_buffers();
        let mut points: Vec<Point> = Vec::new();
        for closed in &self.closed {
            points.extend(buffers.iter().map(|&buffer_bytes| Point {
                setting: closed.setting,
                buffer_bytes,
                samples: Vec::new(),
                disk_bytes_per_record: 0.0,
                buckets: 0,
            }));
        }
        for repetition in 0..repetitions(self.experiment) {
            let mut turns: Vec<usize> = (0..points.len()).collect();
            if !repetition.is_multiple_of(2) {
                turns.reverse();
            }
            for turn in turns {
                let closed = &mut self.closed[turn / buffers.len()];
                closed.sample(&mut points[turn], self.experiment.costs)?;
                self.meter.sampled(points[turn].buffer_bytes);
            }
        }
        Ok(points)
    }
}

/// What is counted is the same each time.
fn repetitions(experiment: &TimeQueueExperiment) -> usize {
    match experiment.costs {
        Costs::Counted => 1,
        Costs::Timed => experiment.repetitions.max(1),
    }
}

/// Where only operations are counted, nothing waits for the disk.
fn durability(costs: Costs) -> Durability {
    match costs {
        Costs::Counted => Durability::Kill,
        Costs::Timed => Durability::PowerFailure,
    }
}

fn warm_up_records(buffer_bytes: u64) -> u64 {
    buffer_bytes / BUFFERED_BYTES
}

fn sample_records(records: u64, buffer_bytes: u64) -> u64 {
    let of_buffers = SAMPLE_BUFFERS * buffer_bytes / BUFFERED_BYTES;
    (records / SAMPLE_PART).max(of_buffers).max(1)
}

impl Closed {
    fn sample(&mut self, point: &mut Point, costs: Costs) -> Result<(), TrialError> {
        let config = self.setting.config(point.buffer_bytes);
        let (mut store, recovery) =
            QueueStore::open(&self.dir, &config, self.lengths, durability(costs))?;
        let records = recovery.waiting;
        self.cycle
            .run(&mut store, warm_up_records(point.buffer_bytes))?;
        if costs == Costs::Timed {
            forget_cached(&self.dir);
        }
        let before = store.stats().traffic;
        let measurement = Measurement::begin();
        let round = self
            .cycle
            .run(&mut store, sample_records(records, point.buffer_bytes))?;
        let used = measurement.used();
        let stats = store.stats();
        point.samples.push(Sample {
            round,
            traffic: since(stats.traffic, before),
            used,
        });
        let bytes = stats.bucket_bytes + stats.journal_bytes;
        point.disk_bytes_per_record = bytes as f64 / stats.records as f64;
        point.buckets = stats.buckets;
        self.lengths = store.lengths();
        Ok(())
    }
}

fn since(now: Traffic, before: Traffic) -> Traffic {
    Traffic {
        writes: now.writes - before.writes,
        written_records: now.written_records - before.written_records,
        moved_records: now.moved_records - before.moved_records,
        written_bytes: now.written_bytes - before.written_bytes,
        journal_bytes: now.journal_bytes - before.journal_bytes,
        reads: now.reads - before.reads,
        read_bytes: now.read_bytes - before.read_bytes,
    }
}

/// Lets the system's cache forget what is durable, so that it has to be read from the disk. Where that is not possible, the cost of reading is too low,
/// and the bytes that were read from the disk say so.
fn forget_cached(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        if let Ok(file) = File::open(entry.path()) {
            let _refused = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
        }
    }
}

/// Counts the states of all queues.
struct Meter<'a> {
    watch: Watch<'a>,
    records: u64,
    done: u64,
    total: u64,
}

impl<'a> Meter<'a> {
    fn new(experiment: &TimeQueueExperiment, watch: Watch<'a>) -> Meter<'a> {
        let records = experiment.records;
        let turns = experiment.useful_buffers().into_iter();
        let in_turns: u64 = turns
            .map(|bytes| warm_up_records(bytes) + sample_records(records, bytes))
            .sum();
        let settings = experiment.settings().len() as u64;
        Meter {
            watch,
            records,
            done: 0,
            total: settings * (records + in_turns * repetitions(experiment) as u64),
        }
    }

    fn at(&mut self, done: u64) {
        self.done = done;
        (self.watch)(Progress {
            done: done.min(self.total),
            total: self.total,
        });
    }

    fn sampled(&mut self, buffer_bytes: u64) {
        let records = warm_up_records(buffer_bytes) + sample_records(self.records, buffer_bytes);
        self.at(self.done + records);
    }
}
