//! What one page, one visit and one state cost, and how we know.

use std::path::Path;
use std::time::Duration;

use junkai_store::time_queue::{Lengths, TimeQueueConfig};
use serde::Serialize;
use tempfile::TempDir;

use super::measured;
use crate::measure::Measurement;
use crate::population::Population;
use crate::update_cycle::{CHECKPOINT_RECORDS, Durability, QueueStore, TrialError, UpdateCycle};

/// Pages of a calibration, and how many of them go round.
const CALIBRATION_PAGES: u64 = 200_000;
const CALIBRATION_RECORDS: u64 = 100_000;
/// Write buffers of a calibration: as small for its pages as the default is for a hundred million.
const CALIBRATION_BUFFER_BYTES: u64 = 1 << 20;
const RESOLUTION: Duration = Duration::from_mins(1);
/// Part of visits that find a new version, where a page is visited as often as it changes: 1 − 1/e.
const CHANGED_PART: f64 = 0.632;

/// How a cost is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// By a run on this machine, just now.
    Measured,
    /// By whoever asked.
    Given,
    /// By neither; the reason stands beside it.
    Assumed,
}

/// One cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// What it is, with its unit.
    pub name: &'static str,
    /// How much.
    pub value: f64,
    /// How it is known.
    pub source: Source,
    /// Where an assumption comes from, or what was run.
    pub why: &'static str,
}

const fn assumed(name: &'static str, value: f64, why: &'static str) -> Cost {
    Cost {
        name,
        value,
        source: Source::Assumed,
        why,
    }
}

impl Cost {
    /// Replaces it by what the user says, if anything.
    pub fn give(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.value = value;
            self.source = Source::Given;
            self.why = "given";
        }
    }

    fn measure(&mut self, value: f64) {
        self.value = value;
        self.source = Source::Measured;
        self.why = "a short run of the time queue on this machine";
    }
}

/// What one page, one visit and one state cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// Visits of a page in a day.
    pub visits_per_page_day: Cost,
    /// Part of the visits that bring a new version.
    pub changed_part: Cost,
    /// Processor time of a visit that finds a new version.
    pub changed_cpu_us: Cost,
    /// Processor time of a visit that finds nothing new.
    pub unchanged_cpu_us: Cost,
    /// Bytes of a page on the network.
    pub page_bytes: Cost,
    /// Bytes of an answer that nothing changed.
    pub unchanged_bytes: Cost,
    /// Bytes of a new version in the archive.
    pub archived_bytes: Cost,
    /// Bytes in the archive that say that nothing changed.
    pub revisit_record_bytes: Cost,
    /// Processor time of a state that goes round.
    pub state_cpu_us: Cost,
    /// Bytes of a state on disk.
    pub state_disk_bytes: Cost,
    /// Bytes that are written for a state that goes round.
    pub state_written_bytes: Cost,
    /// Time that a bucket takes beside its states.
    pub bucket_seconds: Cost,
    /// Memory for write buffers of a node.
    pub buffer_bytes: Cost,
    /// The smallest piece that buffers are given out in.
    pub buffer_page_bytes: Cost,
    /// Memory for each known URL.
    pub seen_memory_bytes: Cost,
    /// Disk for each known URL.
    pub seen_disk_bytes: Cost,
    /// Memory for each server.
    pub server_bytes: Cost,
    /// Memory of a process that knows nothing yet.
    pub process_bytes: Cost,
}

impl Costs {
    /// Nothing measured.
    #[must_use]
    #[expect(clippy::too_many_lines, reason = "a flat table")]
    pub fn assumed() -> Costs {
        let config = TimeQueueConfig::default();
        Costs {
            visits_per_page_day: assumed(
                "visits of a page in a day",
                Population::visits_per_day(),
                "intervals between visits as in a published crawl of 17 million pages",
            ),
            changed_part: assumed(
                "part of visits that find a new version",
                CHANGED_PART,
                "1 − 1/e: a page is visited as often as it changes",
            ),
            changed_cpu_us: assumed(
                "CPU time of a visit that finds a new version, µs",
                measured::CHANGED_VISIT_CPU_US,
                "cargo xtask bench crawl --revisits, in docs/benchmarks.md",
            ),
            unchanged_cpu_us: assumed(
                "CPU time of a visit that finds nothing new, µs",
                measured::UNCHANGED_VISIT_CPU_US,
                "cargo xtask bench crawl --revisits, in docs/benchmarks.md",
            ),
            page_bytes: assumed(
                "bytes of a page",
                21_806.0,
                "mean of a published crawl of 1.9 billion pages",
            ),
            unchanged_bytes: assumed("bytes of an answer without change", 500.0, "head of a 304"),
            archived_bytes: assumed(
                "bytes of a new version in the archive",
                6_000.0,
                "HTML in gzip is about a quarter, and records have heads",
            ),
            revisit_record_bytes: assumed("bytes of a revisit record", 600.0, "heads in gzip"),
            state_cpu_us: assumed("CPU time of a state, µs", 1.0, "not measured"),
            state_disk_bytes: assumed("bytes of a state on disk", 100.0, "the aim of its encoding"),
            state_written_bytes: assumed(
                "bytes written for a state",
                250.0,
                "journal and bucket, each once",
            ),
            bucket_seconds: assumed(
                "seconds for a bucket beside its states",
                0.02,
                "a file is made, made durable, opened and removed",
            ),
            buffer_bytes: assumed(
                "memory for write buffers of a node",
                config.buffer_bytes as f64,
                "time_queue.buffer_bytes",
            ),
            buffer_page_bytes: assumed(
                "least memory of a bucket that is written to",
                f64::from(config.page_bytes),
                "time_queue.page_bytes",
            ),
            seen_memory_bytes: assumed(
                "memory for a known URL",
                measured::SEEN_MEMORY_BYTES,
                "cargo xtask bench seen, in docs/benchmarks.md",
            ),
            seen_disk_bytes: assumed(
                "disk for a known URL",
                measured::SEEN_DISK_BYTES,
                "cargo xtask bench seen, in docs/benchmarks.md",
            ),
            server_bytes: assumed(
                "memory for a server",
                200.0,
                "name, address, pace and rules",
            ),
            process_bytes: assumed(
                "memory of a crawl that knows nothing",
                measured::PROCESS_BYTES,
                "cargo xtask bench crawl, in docs/benchmarks.md",
            ),
        }
    }

    /// With what a short run in `folder` says of page states.
    ///
    /// # Errors
    /// If there is no place for the run, or the queue fails.
    pub fn calibrated(folder: &Path) -> Result<Costs, TrialError> {
        let folder = TempDir::with_prefix_in("junkai-plan-", folder).map_err(|source| {
            TrialError::Folder {
                path: folder.to_owned(),
                source,
            }
        })?;
        let config = TimeQueueConfig {
            buffer_bytes: CALIBRATION_BUFFER_BYTES,
            resolution: RESOLUTION,
            ..TimeQueueConfig::default()
        };
        let (mut store, _) = QueueStore::open(
            folder.path(),
            &config,
            Lengths::default(),
            Durability::PowerFailure,
        )?;
        let population = Population::new(CALIBRATION_PAGES, 1);
        let mut cycle = UpdateCycle::new(population, RESOLUTION, CHECKPOINT_RECORDS);
        cycle.fill(&mut store, &mut |_| ())?;
        let before = store.stats().traffic;
        let measurement = Measurement::begin();
        let round = cycle.run(&mut store, CALIBRATION_RECORDS)?;
        let cpu = measurement.used().cpu;
        let stats = store.stats();
        let written = |traffic: junkai_store::time_queue::Traffic| {
            (traffic.written_bytes + traffic.journal_bytes) as f64
        };
        let records = round.records as f64;
        let mut costs = Costs::assumed();
        costs
            .state_cpu_us
            .measure(cpu.as_secs_f64() * 1e6 / records);
        costs
            .state_written_bytes
            .measure((written(stats.traffic) - written(before)) / records);
        costs
            .state_disk_bytes
            .measure(stats.bucket_bytes as f64 / stats.records as f64);
        Ok(costs)
    }

    /// All of them, in order.
    #[must_use]
    pub fn all(&self) -> [&Cost; 18] {
        [
            &self.visits_per_page_day,
            &self.changed_part,
            &self.changed_cpu_us,
            &self.unchanged_cpu_us,
            &self.page_bytes,
            &self.unchanged_bytes,
            &self.archived_bytes,
            &self.revisit_record_bytes,
            &self.state_cpu_us,
            &self.state_disk_bytes,
            &self.state_written_bytes,
            &self.bucket_seconds,
            &self.buffer_bytes,
            &self.buffer_page_bytes,
            &self.seen_memory_bytes,
            &self.seen_disk_bytes,
            &self.server_bytes,
            &self.process_bytes,
        ]
    }

    /// Processor time of a visit in microseconds, on average over those that find a new version and those that do not.
    pub(super) fn cpu_us_per_visit(&self) -> f64 {
        self.mixed(self.changed_cpu_us, self.unchanged_cpu_us)
    }

    /// Bytes from the network for a visit, on average.
    pub(super) fn fetched_per_visit(&self) -> f64 {
        self.mixed(self.page_bytes, self.unchanged_bytes)
    }

    /// Bytes in the archive for a visit, on average.
    pub(super) fn archived_per_visit(&self) -> f64 {
        self.mixed(self.archived_bytes, self.revisit_record_bytes)
    }

    fn mixed(&self, changed: Cost, unchanged: Cost) -> f64 {
        let part = self.changed_part.value;
        part * changed.value + (1.0 - part) * unchanged.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calibration_measures_what_it_says() {
        let costs = Costs::calibrated(&std::env::temp_dir()).unwrap();
        let measured: Vec<&str> = costs
            .all()
            .into_iter()
            .filter(|cost| cost.source == Source::Measured)
            .map(|cost| cost.name)
            .collect();
        assert_eq!(measured.len(), 3, "{measured:?}");
        assert!(costs.all().iter().all(|cost| 0.0 < cost.value));
        assert!(
            (60.0..200.0).contains(&costs.state_disk_bytes.value),
            "{:?}",
            costs.state_disk_bytes
        );
    }

    #[test]
    fn the_processor_time_of_visits_is_mixed_as_the_plan_supposes() {
        let mut costs = Costs::assumed();
        let (changed, unchanged) = (costs.changed_cpu_us.value, costs.unchanged_cpu_us.value);
        assert!(
            unchanged < changed,
            "a page that is as it was is not read again"
        );
        for part in [0.0, 0.632, 1.0] {
            costs.changed_part.give(Some(part));
            let mixed = part * changed + (1.0 - part) * unchanged;
            assert!((costs.cpu_us_per_visit() - mixed).abs() < 1e-9, "{part}");
        }
    }

    #[test]
    fn what_is_given_counts() {
        let mut costs = Costs::assumed();
        costs.page_bytes.give(None);
        assert_eq!(costs.page_bytes.source, Source::Assumed);
        costs.page_bytes.give(Some(5.0));
        assert_eq!(costs.page_bytes.source, Source::Given);
        assert!((costs.page_bytes.value - 5.0).abs() < 1e-9);
    }
}
