//! Figure 2 and table 1 in numbers.

use junkai_simulation::outcome::{Cell, Column, Table};
use junkai_simulation::population::{Population, SEED_PAGES, TABLE_1};
use junkai_store::time_queue::Layout;

use super::trial::{DISKS, Point};
use super::{Costs, DAY, HOUR, MINUTE, Results, Setting};
use crate::experiment::words::text;

impl Results<'_> {
    pub(super) fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.operations_table(), self.visits_table()];
        match self.experiment.costs {
            Costs::Counted => {}
            Costs::Timed => tables.insert(0, self.times_table()),
        }
        tables
    }

    /// What this machine took.
    fn times_table(&self) -> Table {
        Table {
            name: "times".to_owned(),
            caption: "Microseconds for each state that is read, changed and put back, on this machine: time by the clock until all is durable, with the \
                      smallest and the largest measurement, and CPU time. Bytes that came from the disk itself say whether the system’s cache was empty."
                .to_owned(),
            columns: Column::list([
                ("layout", "layout"),
                ("resolution", "resolution"),
                ("buffer_bytes", "buffer"),
                ("wall_us", "µs"),
                ("wall_us_min", "least"),
                ("wall_us_max", "most"),
                ("cpu_us", "CPU µs"),
                ("disk_read_bytes", "bytes from disk"),
            ]),
            rows: self.rows(|point| {
                let (low, high) = point.wall_us_spread();
                vec![
                    Cell::Share(point.wall_us()),
                    Cell::Share(low),
                    Cell::Share(high),
                    Cell::Share(point.cpu_us()),
                    Cell::Share(point.disk_read_bytes()),
                ]
            }),
        }
    }

    /// What was asked of the disk.
    fn operations_table(&self) -> Table {
        Table {
            name: "operations".to_owned(),
            caption: "For each state that is read, changed and put back: appends to buckets and reads, bytes with the journal’s, and the microseconds that \
                      these would take two kinds of disk. Write amplification is states written to buckets for each that went round."
                .to_owned(),
            columns: Column::list([
                ("layout", "layout"),
                ("resolution", "resolution"),
                ("buffer_bytes", "buffer"),
                ("writes", "appends"),
                ("reads", "reads"),
                ("written_bytes", "bytes written"),
                ("read_bytes", "bytes read"),
                ("amplification", "amplification"),
                ("turning_disk_us", "µs, turning disk"),
                ("solid_state_us", "µs, solid-state"),
                ("disk_bytes_per_record", "bytes on disk"),
                ("buckets", "buckets"),
                ("late_max_seconds", "late at most"),
            ]),
            rows: self.rows(|point| {
                vec![
                    Cell::Share(point.writes()),
                    Cell::Share(point.reads()),
                    Cell::Share(point.written_bytes()),
                    Cell::Share(point.read_bytes()),
                    Cell::Share(point.amplification()),
                    Cell::Share(point.modelled_us(&DISKS[0])),
                    Cell::Share(point.modelled_us(&DISKS[1])),
                    Cell::Share(point.disk_bytes_per_record),
                    Cell::Count(point.buckets),
                    Cell::Seconds(late_max(point)),
                ]
            }),
        }
    }

    fn rows(&self, cells: impl Fn(&Point) -> Vec<Cell>) -> Vec<Vec<Cell>> {
        let row = |point: &Point| {
            let mut row = vec![
                text(point.setting.layout_name()),
                text(point.setting.resolution_name()),
                text(megabytes(point.buffer_bytes)),
            ];
            row.extend(cells(point));
            row
        };
        self.points.iter().map(row).collect()
    }

    /// Table 1 of the paper.
    fn visits_table(&self) -> Table {
        let rows = TABLE_1.iter().map(|published| {
            vec![
                text(published.name),
                Cell::Count(published.pages),
                Cell::Part(published.pages as f64 / SEED_PAGES as f64),
                Cell::Part(Population::visited_within(published.span)),
                self.measured_part(published.span)
                    .map_or(Cell::None, Cell::Part),
            ]
        });
        Table {
            name: "table-1".to_owned(),
            caption: "Pages that are visited in a unit of time: of the paper’s 17,496,056, as published, and of the pages here by the fit and as they went \
                      round in the flat layout. The published figures for a minute and an hour exclude each other: no population has more than sixty \
                      times as many visits in an hour as in a minute."
                .to_owned(),
            columns: Column::list([
                ("unit", "in"),
                ("published_pages", "published"),
                ("published_part", "of its pages"),
                ("fitted_part", "by the fit"),
                ("measured_part", "here"),
            ]),
            rows: rows.collect(),
        }
    }

    fn measured_part(&self, span: std::time::Duration) -> Option<f64> {
        let resolution = [DAY, HOUR, MINUTE].into_iter().find(|unit| *unit == span)?;
        let point = self.of(Setting::new(Layout::Flat, resolution)).last()?;
        Some(point.per_unit() / self.experiment.records as f64)
    }
}

/// How late a state came at most, in seconds.
pub(super) fn late_max(point: &Point) -> f64 {
    let late = point.rounds().map(|round| round.late_max);
    late.max().unwrap_or_default().as_secs_f64()
}

/// A size of memory: `0.25 MB`, as the paper writes it.
pub(super) fn megabytes(bytes: u64) -> String {
    let megabytes = bytes as f64 / f64::from(1 << 20);
    if megabytes < 1.0 {
        format!("{megabytes:.2} MB")
    } else {
        format!("{megabytes:.0} MB")
    }
}
