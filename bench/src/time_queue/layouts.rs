//! What a finer resolution costs, counted: the experiment of `junkai lab time-queue --count` as tables of this benchmark.
//!
//! What is asked of the disk is the same on every machine, so these figures have no spread.

use anyhow::Result;
use junkai_lab::experiment::time_queue::{self, TimeQueueExperiment};
use junkai_simulation::outcome;

use crate::report::{Cell, Report, Table};
use crate::samples::short;

/// The columns of the experiment that are told.
const DISKS: [(&str, &str); 2] = [
    ("turning_disk_us", "turning disk"),
    ("solid_state_us", "solid-state disk"),
];

/// Counts with so many pages, and adds a table.
pub(super) fn measure(pages: u64, report: &mut Report) -> Result<()> {
    let experiment = TimeQueueExperiment {
        records: pages,
        ..TimeQueueExperiment::default()
    };
    println!("counting layouts with {} pages", short(pages as f64));
    let outcome = time_queue::run(&experiment, &|_| ())?;
    for table in &outcome.tables {
        if table.name == "operations" {
            report.table(by_layout(table, pages));
        }
    }
    Ok(())
}

/// A row for each layout and resolution, a column for each disk and size of buffers.
fn by_layout(operations: &outcome::Table, pages: u64) -> Table {
    let at = |row: &[outcome::Cell], key: &str| {
        let place = operations
            .columns
            .iter()
            .position(|column| column.key == key);
        place.and_then(|place| row.get(place).cloned())
    };
    let text = |row: &[outcome::Cell], key: &str| {
        at(row, key)
            .map(|cell| cell.to_string())
            .unwrap_or_default()
    };
    let (mut layouts, mut buffers) = (Vec::new(), Vec::new());
    for row in &operations.rows {
        let layout = format!("{}, {}", text(row, "layout"), text(row, "resolution"));
        let buffer = text(row, "buffer_bytes");
        if !layouts.contains(&layout) {
            layouts.push(layout);
        }
        if !buffers.contains(&buffer) {
            buffers.push(buffer);
        }
    }
    let kinds: Vec<(&str, &str, &String)> = DISKS
        .iter()
        .flat_map(|(key, disk)| buffers.iter().map(move |buffer| (*key, *disk, buffer)))
        .collect();
    let mut columns = vec!["layout, resolution".to_owned()];
    columns.extend(
        kinds
            .iter()
            .map(|(_, disk, buffer)| format!("{disk}, buffers of {buffer}")),
    );
    let title = format!("µs for each state, counted, {} pages", short(pages as f64));
    let mut table = Table::new(&format!("layouts-{pages}"), title, columns);
    for layout in layouts {
        let cells = kinds.iter().map(|(key, _, buffer)| {
            let row = operations.rows.iter().find(|row| {
                let name = format!("{}, {}", text(row, "layout"), text(row, "resolution"));
                name == layout && text(row, "buffer_bytes") == **buffer
            });
            match row.and_then(|row| at(row, key)) {
                Some(outcome::Cell::Share(us)) => Cell::from(us),
                _ => Cell::from(""),
            }
        });
        let cells: Vec<Cell> = cells.collect();
        table.row(layout, cells);
    }
    table
}
