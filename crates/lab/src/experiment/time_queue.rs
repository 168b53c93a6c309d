//! Tamura and Kitsuregawa (2010): what it costs to keep the states of all known pages in time buckets on disk.
//!
//! The crawler's own time queue goes round with the population of the paper's table 1, at the paper's three resolutions and several sizes of write buffers,
//! in each of its layouts: the paper's own (`flat`), the one that the paper proposes (`hierarchical`), and ours (`graded`). Read [`run`] first, then `trial`.
//!
//! Costs are told in two ways. *Counted*: appends, reads and bytes, and from these the time that two kinds of disk would take; the same on
//! every machine. *Timed*: what this machine took. A report has the first only, so that it can be repeated byte for byte.
//!
//! Tamura and Kitsuregawa (2010), section 4, figure 2 and table 1. Departures: states have the size of ours, not 154 bytes; a journal makes every change durable, which the
//! seed does not have, and its bytes count.

mod claims;
mod draw;
mod findings;
mod tables;
mod trial;

use std::path::PathBuf;
use std::time::Duration;

use junkai_simulation::outcome::{Outcome, Parameter, span_short};
use junkai_simulation::population::Population;
use junkai_simulation::update_cycle::{CHECKPOINT_RECORDS, TrialError};
use junkai_store::time_queue::{Layout, TimeQueueConfig};

use self::trial::Point;
use super::Watch;
use super::words::{count, parameter};

/// Pages up to which the paper's layout is measured at a minute's resolution: it has a file for each minute of a year, and half a million files take
/// most disks an hour to make durable and to remove.
const FLAT_MINUTE_RECORDS_MAX: u64 = 200_000;

/// A state takes about so many bytes in a buffer.
const BUFFERED_BYTES: u64 = 100;

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// The settings of the experiment.
#[derive(Clone, Debug)]
pub struct TimeQueueExperiment {
    /// Pages that are known. Default 20,000.
    pub records: u64,
    /// What they are drawn from. Default 1.
    pub seed: u64,
    /// Sizes of the write buffers in bytes, from small to large; those that would hold more than an eighth of all states are left out. Default the paper's:
    /// 0.25 to 256 MiB.
    pub buffers: Vec<u64>,
    /// Times that each cost is measured. Default 3.
    pub repetitions: usize,
    /// How costs are told. Default counted.
    pub costs: Costs,
    /// The folder for the queues, which are removed at the end. Default that of the system for temporary files.
    pub folder: PathBuf,
    /// The command that repeats it, as it is to be printed. Default none.
    pub command: String,
}

/// How costs are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Costs {
    /// By what was asked of the disk: the same on every machine.
    Counted,
    /// Also by the time that it took here.
    Timed,
}

impl Default for TimeQueueExperiment {
    fn default() -> TimeQueueExperiment {
        TimeQueueExperiment {
            records: 20_000,
            seed: 1,
            buffers: [1, 4, 16, 64, 256, 1024]
                .map(|quarters| quarters << 18)
                .into(),
            repetitions: 3,
            costs: Costs::Counted,
            folder: std::env::temp_dir(),
            command: String::new(),
        }
    }
}

/// How states are laid out, and how finely time is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setting {
    layout: Layout,
    resolution: Duration,
}

impl Setting {
    const ALL: [Setting; 7] = [
        Setting::new(Layout::Flat, DAY),
        Setting::new(Layout::Flat, HOUR),
        Setting::new(Layout::Flat, MINUTE),
        Setting::new(Layout::Graded, DAY),
        Setting::new(Layout::Graded, HOUR),
        Setting::new(Layout::Graded, MINUTE),
        Setting::new(Layout::Hierarchical, MINUTE),
    ];

    const fn new(layout: Layout, resolution: Duration) -> Setting {
        Setting { layout, resolution }
    }

    fn layout_name(self) -> &'static str {
        match self.layout {
            Layout::Flat => "flat",
            Layout::Graded => "graded",
            Layout::Hierarchical => "hierarchical",
        }
    }

    fn resolution_name(self) -> &'static str {
        match self.resolution {
            DAY => "a day",
            HOUR => "an hour",
            _ => "a minute",
        }
    }

    fn name(self) -> String {
        format!("{}, {}", self.layout_name(), self.resolution_name())
    }

    fn config(self, buffer_bytes: u64) -> TimeQueueConfig {
        TimeQueueConfig {
            layout: self.layout,
            resolution: self.resolution,
            buffer_bytes,
            ..TimeQueueConfig::default()
        }
    }
}

/// Runs it. `watch` is told of states that went round.
///
/// # Errors
/// If there is no place for the queues, or one of them fails.
pub fn run(experiment: &TimeQueueExperiment, watch: Watch<'_>) -> Result<Outcome, TrialError> {
    let points = trial::points(experiment, watch)?;
    let results = Results { points, experiment };
    Ok(Outcome {
        name: "time-queue".to_owned(),
        title: "Page states in time buckets: what a finer resolution costs".to_owned(),
        command: experiment.command.clone(),
        parameters: results.parameters(),
        findings: results.findings(),
        claims: results.claims(),
        tables: results.tables(),
        figures: results.figures(),
    })
}

impl TimeQueueExperiment {
    /// All that are compared.
    fn settings(&self) -> Vec<Setting> {
        let is_small = self.records <= FLAT_MINUTE_RECORDS_MAX;
        let has_a_file_for_each_minute = Setting::new(Layout::Flat, MINUTE);
        let all = Setting::ALL.into_iter();
        all.filter(|setting| is_small || *setting != has_a_file_for_each_minute)
            .collect()
    }

    fn population(&self) -> Population {
        Population::new(self.records, self.seed)
    }

    /// The sizes of buffers that say something: one that holds a good part of all states makes any layout look well.
    fn useful_buffers(&self) -> Vec<u64> {
        let most = self.records * BUFFERED_BYTES / 8;
        let useful = self.buffers.iter().filter(|bytes| **bytes <= most);
        let useful: Vec<u64> = useful.copied().collect();
        let least = self.buffers.iter().min().copied();
        if useful.is_empty() {
            least.into_iter().collect()
        } else {
            useful
        }
    }
}

/// What was measured.
struct Results<'a> {
    points: Vec<Point>,
    experiment: &'a TimeQueueExperiment,
}

impl Results<'_> {
    /// The points of a setting, from small to large buffers.
    fn of(&self, setting: Setting) -> impl Iterator<Item = &Point> {
        self.points
            .iter()
            .filter(move |point| point.setting == setting)
    }

    fn at(&self, setting: Setting, buffer_bytes: u64) -> Option<&Point> {
        self.of(setting)
            .find(|point| point.buffer_bytes == buffer_bytes)
    }

    fn pages(&self) -> String {
        format!("{} pages", count(self.experiment.records))
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = vec![
            parameter(
                "pages",
                format!(
                    "{}, drawn with seed {}; intervals from an hour to a year, fitted to table 1 of Tamura and Kitsuregawa (2010)",
                    count(self.experiment.records),
                    self.experiment.seed
                ),
            ),
            parameter(
                "a cycle",
                "what is due is read, changed as a visit does, and put back an interval later; each state is compared with the one that was stored",
            ),
            parameter(
                "durable",
                match self.experiment.costs {
                    Costs::Counted => "never: what is counted does not depend on it".to_owned(),
                    Costs::Timed => format!(
                        "after every {} states, and at the end of each measurement",
                        count(CHECKPOINT_RECORDS)
                    ),
                },
            ),
        ];
        if FLAT_MINUTE_RECORDS_MAX < self.experiment.records {
            parameters.push(parameter(
                "left out",
                format!(
                    "flat at a minute, which has a file for each minute of a year: measured up to {} pages",
                    count(FLAT_MINUTE_RECORDS_MAX)
                ),
            ));
        }
        match self.experiment.costs {
            Costs::Counted => parameters.push(parameter(
                "costs",
                "counted: the times are those of two kinds of disk by a model, not of this one",
            )),
            Costs::Timed => parameters.push(parameter(
                "costs",
                format!(
                    "also timed, {} times each: medians. The system’s cache is told to forget the files before each measurement, so that \
                     what is read comes from the disk; what is written counts until it is durable",
                    self.experiment.repetitions
                ),
            )),
        }
        for disk in trial::DISKS {
            parameters.push(parameter(
                disk.name,
                format!(
                    "{} an operation, {:.0} MB/s",
                    span_short(disk.seconds_per_operation),
                    disk.bytes_per_second / 1e6
                ),
            ));
        }
        parameters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use junkai_simulation::outcome::{Cell, GOAL, Verdict};

    fn experiment() -> TimeQueueExperiment {
        TimeQueueExperiment {
            records: 1500,
            buffers: vec![1 << 13, 1 << 14],
            ..TimeQueueExperiment::default()
        }
    }

    #[test]
    fn what_is_counted_is_the_same_each_time() {
        let told = |outcome: &Outcome| {
            let tables: Vec<String> = outcome
                .tables
                .iter()
                .map(junkai_simulation::outcome::Table::csv)
                .collect();
            (tables, outcome.findings.clone())
        };
        let first = run(&experiment(), &|_| ()).unwrap();
        let again = run(&experiment(), &|_| ()).unwrap();
        assert_eq!(told(&first), told(&again));
        let settings = Setting::ALL.len();
        assert_eq!(first.tables[0].rows.len(), 2 * settings);
        for table in &first.tables {
            let is_number = |cell: &Cell| !matches!(cell, Cell::Share(share) if !share.is_finite());
            assert!(
                table.rows.iter().flatten().all(is_number),
                "{}",
                table.csv()
            );
        }
    }

    #[test]
    fn states_come_in_time_in_every_setting() {
        let outcome = run(&experiment(), &|_| ()).unwrap();
        let punctual = outcome.claims.last().unwrap();
        assert_eq!(punctual.source, GOAL);
        assert_eq!(punctual.verdict, Verdict::Holds, "{}", punctual.measured);
    }

    #[test]
    fn times_are_told_where_they_are_asked_for() {
        let timed = TimeQueueExperiment {
            // Waits for the disk, file by file.
            records: 100,
            buffers: vec![1 << 10],
            costs: Costs::Timed,
            repetitions: 2,
            ..experiment()
        };
        let outcome = run(&timed, &|_| ()).unwrap();
        let names: Vec<&str> = outcome
            .tables
            .iter()
            .map(|table| table.name.as_str())
            .collect();
        assert_eq!(names, ["times", "operations", "table-1"]);
    }

    #[test]
    fn a_buffer_that_holds_most_states_is_left_out() {
        let of = |records| {
            TimeQueueExperiment {
                records,
                ..TimeQueueExperiment::default()
            }
            .useful_buffers()
            .len()
        };
        assert_eq!((of(1), of(100_000), of(17_496_056)), (1, 2, 5));
    }
}
