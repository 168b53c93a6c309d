//! `junkai plan`: what a crawl of any size would take.

use std::path::PathBuf;

use anyhow::Result;
use junkai_simulation::plan::{Costs, Node, PAGES_PER_SERVER, Plan, Source, Task};
use junkai_terminal::show::{self, Table};

use crate::exit::Ending;
use crate::print::say;

/// Examples for `--help`.
pub(crate) const EXAMPLES: &str = "\
A short run of the time queue measures what page states cost here; every other
cost is assumed, says why, and can be given. Without --pages, a billion pages on
one node and a hundred billion on as many nodes as it takes.

Examples:
  junkai plan
  junkai plan --pages 5e9 --nodes 4 --cores 32
  junkai plan --pages 1e11 --visit-cpu-us 400 --page-bytes 80000 --json";

/// What `junkai plan` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Known pages; may be given several times.
    #[arg(long, value_name = "N", value_parser = positive)]
    pages: Vec<f64>,
    /// Servers that the pages are on [default: one for 585 pages, the average of a crawl of a million servers].
    #[arg(long, value_name = "N", value_parser = positive)]
    servers: Option<f64>,
    /// Nodes; default: as many as it takes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Processors of a node.
    #[arg(long, value_name = "N", value_parser = positive)]
    cores: Option<f64>,
    /// Memory of a node, as in `64GB`.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    memory: Option<f64>,
    /// Room for page states on a node, as in `4TB`.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    disk: Option<f64>,
    /// What the disk of a node writes in a second, as in `500MB`.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    disk_speed: Option<f64>,
    /// Network of a node, in bits a second.
    #[arg(long, value_name = "BITS", value_parser = positive)]
    network: Option<f64>,
    #[command(flatten)]
    given: Given,
    /// Measure nothing: page states cost what is assumed or given.
    #[arg(long)]
    assume: bool,
    /// Where the short run is made, on the disk to plan for. Default: the folder for temporary files.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Costs that the user knows better.
#[derive(clap::Args)]
#[command(next_help_heading = "Costs")]
struct Given {
    /// Visits of a page in a day.
    #[arg(long, value_name = "N", value_parser = positive)]
    visits_a_day: Option<f64>,
    /// Part of the visits that find a new version.
    #[arg(long, value_name = "SHARE", value_parser = positive)]
    changed: Option<f64>,
    /// CPU time of every visit, in microseconds; without it, visits that find a new version and those that do not cost what each was measured to cost, in the parts that --changed says.
    #[arg(long, value_name = "US", value_parser = positive)]
    visit_cpu_us: Option<f64>,
    /// Bytes of a page on the network.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    page_bytes: Option<f64>,
    /// Bytes of a new version in the archive.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    archived_bytes: Option<f64>,
    /// CPU time of a state that goes round, in microseconds.
    #[arg(long, value_name = "US", value_parser = positive)]
    state_cpu_us: Option<f64>,
    /// Bytes of a state on disk.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    state_bytes: Option<f64>,
    /// Memory for the write buffers of a node, as in `64MiB`.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    buffers: Option<f64>,
}

/// A number of bytes, with a unit or without: `64GB`, `4e12`.
fn size(text: &str) -> Result<f64, String> {
    let bytes = junkai_size::parse(text).ok().filter(|bytes| 0 < *bytes);
    match bytes {
        Some(bytes) => Ok(bytes as f64),
        None => positive(text).map_err(|_| "not a size such as 64GB or 4e12".to_owned()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if 0.0 < number && number.is_finite() => Ok(number),
        _ => Err("not a positive number".to_owned()),
    }
}

/// Plans, and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let costs = arguments.costs()?;
    let node = arguments.node();
    let plans: Vec<Plan> = arguments
        .tasks()
        .into_iter()
        .map(|task| Plan::new(task, &node, &costs))
        .collect();
    if arguments.json {
        let told = serde_json::json!({ "costs": costs.all(), "node": node, "plans": plans });
        say!("{told}");
        return Ok(Ending::Well);
    }
    let mut columns = vec![names()];
    columns.extend(plans.iter().map(column));
    for line in (Table { columns }).lines() {
        say!("{line}");
    }
    say!("\nWhat this rests on:");
    for cost in costs.all() {
        let source = match cost.source {
            Source::Measured => "measured",
            Source::Given => "given",
            Source::Assumed => "assumed",
        };
        let text = format!("{}: {} ({})", cost.name, short(cost.value), cost.why);
        say!("{}", show::wrapped(&format!("  {source:<8} "), &text));
    }
    Ok(Ending::Well)
}

impl Arguments {
    fn costs(&self) -> Result<Costs> {
        let folder = self.folder.clone().unwrap_or_else(std::env::temp_dir);
        let mut costs = if self.assume {
            Costs::assumed()
        } else {
            Costs::calibrated(&folder)?
        };
        let given = &self.given;
        for (cost, value) in [
            (&mut costs.visits_per_page_day, given.visits_a_day),
            (
                &mut costs.changed_part,
                given.changed.map(|part| part.min(1.0)),
            ),
            (&mut costs.changed_cpu_us, given.visit_cpu_us),
            (&mut costs.unchanged_cpu_us, given.visit_cpu_us),
            (&mut costs.page_bytes, given.page_bytes),
            (&mut costs.archived_bytes, given.archived_bytes),
            (&mut costs.state_cpu_us, given.state_cpu_us),
            (&mut costs.state_disk_bytes, given.state_bytes),
            (&mut costs.buffer_bytes, given.buffers),
        ] {
            cost.give(value);
        }
        Ok(costs)
    }

    fn node(&self) -> Node {
        let common = Node::default();
        Node {
            cores: self.cores.unwrap_or(common.cores),
            memory_bytes: self.memory.unwrap_or(common.memory_bytes),
            state_disk_bytes: self.disk.unwrap_or(common.state_disk_bytes),
            disk_bytes_per_second: self.disk_speed.unwrap_or(common.disk_bytes_per_second),
            network_bits_per_second: self.network.unwrap_or(common.network_bits_per_second),
        }
    }

    fn tasks(&self) -> Vec<Task> {
        let task = |pages: f64, nodes| Task {
            pages,
            servers: self.servers.unwrap_or(pages / PAGES_PER_SERVER),
            nodes,
        };
        if self.pages.is_empty() {
            return vec![task(1e9, Some(1)), task(1e11, self.nodes)];
        }
        let pages = self.pages.iter();
        pages.map(|&pages| task(pages, self.nodes)).collect()
    }
}

/// The rows of the table.
fn names() -> Vec<String> {
    [
        "known pages",
        "servers",
        "nodes",
        "these can do it",
        "most is asked of",
        "visits/s",
        "a server is visited every",
        "on each node:",
        "  processors",
        "    of these, for page states",
        "  memory",
        "  disk for states and URLs",
        "  states written, a second",
        "  network",
        "captures of a year, in all",
        "finest resolution, graded",
        "finest resolution, flat",
    ]
    .map(str::to_owned)
    .into()
}

fn column(plan: &Plan) -> Vec<String> {
    vec![
        short(plan.task.pages),
        short(plan.task.servers),
        plan.nodes.to_string(),
        if plan.is_feasible { "yes" } else { "NO" }.to_owned(),
        plan.bound_by.to_owned(),
        short(plan.visits_per_second),
        seconds(plan.server_interval_seconds),
        String::new(),
        format!("{:.2}", plan.cores),
        format!("{:.3}", plan.state_cores),
        bytes(plan.memory_bytes),
        bytes(plan.state_disk_bytes),
        bytes(plan.state_written_per_second),
        format!("{}bit/s", scaled(plan.network_bits_per_second)),
        bytes(plan.archive_bytes_per_year),
        seconds(plan.graded_resolution_seconds),
        seconds(plan.flat_resolution_seconds),
    ]
}

/// A number with a prefix for its thousands: `2.60 G`.
fn scaled(number: f64) -> String {
    let prefixes = ["", "k", "M", "G", "T", "P", "E"];
    let mut rest = number;
    let mut place = 0;
    while 1000.0 <= rest && place + 1 < prefixes.len() {
        rest /= 1000.0;
        place += 1;
    }
    let decimals = match rest {
        r if 100.0 <= r => 0,
        r if 10.0 <= r => 1,
        _ => 2,
    };
    format!("{rest:.decimals$} {}", prefixes[place])
}

fn bytes(number: f64) -> String {
    format!("{}B", scaled(number))
}

fn short(number: f64) -> String {
    scaled(number).trim_end().to_owned()
}

/// A time in the unit that fits.
fn seconds(number: f64) -> String {
    match number {
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.1} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} d", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_prefixes() {
        for (number, expected) in [
            (0.5, "0.50"),
            (999.0, "999"),
            (1e9, "1.00 G"),
            (12_340.0, "12.3 k"),
            (5e22, "50000 E"),
        ] {
            assert_eq!(short(number), expected);
        }
        assert_eq!(seconds(90.0), "90.0 s");
        assert_eq!(seconds(3600.0), "60.0 min");
    }

    #[test]
    fn sizes_are_numbers_or_have_units() {
        for (text, bytes) in [
            ("64GB", 64e9),
            ("4e12", 4e12),
            ("4096", 4096.0),
            ("1KiB", 1024.0),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["0", "-1", "many", "0GB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_row_has_a_name() {
        let task = Task {
            pages: 1e9,
            servers: 1e6,
            nodes: None,
        };
        let plan = Plan::new(task, &Node::default(), &Costs::assumed());
        assert_eq!(names().len(), column(&plan).len());
    }
}
