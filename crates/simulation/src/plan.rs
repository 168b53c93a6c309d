//! What a crawl of any size would take: memory, disk, bandwidth, processors, and how finely time can be told apart.
//!
//! A [`Plan`] is arithmetic on [`Costs`]: what one page, one visit and one state cost. Each cost says whether it was measured here
//! ([`Costs::calibrated`]), given by the user, or assumed, and where an assumption comes from. How often pages are visited is the population of Tamura and Kitsuregawa's (2010)
//! table 1, the pages of a server those of Tamura and Kitsuregawa (2007). Read [`Plan::new`] first, then `costs`.
//!
//! Not here: whether servers can bear it (`revisit`), beyond how often each would be visited on average.

mod costs;
mod measured;

use serde::Serialize;

pub use self::costs::{Cost, Costs, Source};

const DAY_SECONDS: f64 = 86_400.0;
const YEAR_SECONDS: f64 = 365.0 * DAY_SECONDS;
/// Of the processors of a node, a crawl is planned to use this part; likewise of its network, and for writing page states of its disk.
const LOAD_MAX: f64 = 0.7;
/// Opening and removing buckets may take this part of the time.
const BUCKET_TIME_MAX: f64 = 0.1;

/// What is to be crawled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Task {
    /// Known pages.
    pub pages: f64,
    /// Servers that they are on.
    pub servers: f64,
    /// Nodes that share the work; none for as many as it takes.
    pub nodes: Option<u32>,
}

/// What one node has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Node {
    /// Processors.
    pub cores: f64,
    /// Memory, in bytes.
    pub memory_bytes: f64,
    /// Room for page states, in bytes; captures may be elsewhere.
    pub state_disk_bytes: f64,
    /// What its disk writes in a second, in bytes.
    pub disk_bytes_per_second: f64,
    /// Network, in bits a second.
    pub network_bits_per_second: f64,
}

impl Default for Node {
    /// A common server: 16 processors, 64 GB of memory, 4 TB of solid-state disk that writes 500 MB/s, 10 Gbit/s.
    fn default() -> Node {
        Node {
            cores: 16.0,
            memory_bytes: 64e9,
            state_disk_bytes: 4e12,
            disk_bytes_per_second: 500e6,
            network_bits_per_second: 10e9,
        }
    }
}

/// What a task takes, on each node and in all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// What is to be crawled.
    pub task: Task,
    /// Nodes: as many as were asked for, or as it takes.
    pub nodes: u32,
    /// What asks for the most nodes.
    pub bound_by: &'static str,
    /// Whether these nodes can do it.
    pub is_feasible: bool,
    /// Visits a second, of all nodes.
    pub visits_per_second: f64,
    /// Seconds between two visits to a server, on average.
    pub server_interval_seconds: f64,
    /// Processors that a node is busy with.
    pub cores: f64,
    /// Of these, with page states.
    pub state_cores: f64,
    /// Memory of a node, in bytes.
    pub memory_bytes: f64,
    /// Page states and known URLs on the disk of a node, in bytes.
    pub state_disk_bytes: f64,
    /// Page states that a node writes in a second, in bytes.
    pub state_written_per_second: f64,
    /// What a node takes from the network, in bits a second.
    pub network_bits_per_second: f64,
    /// Captures of a year, of all nodes, in bytes.
    pub archive_bytes_per_year: f64,
    /// The finest resolution in time buckets that get coarser with distance, in seconds.
    pub graded_resolution_seconds: f64,
    /// The finest resolution of the paper's layout, which needs a buffer for each unit of a year, in seconds.
    pub flat_resolution_seconds: f64,
}

/// What all nodes together need, before it is shared out.
struct Demand {
    visits: f64,
    cores: f64,
    state_cores: f64,
    written: f64,
    bits: f64,
    memory: f64,
    disk: f64,
}

impl Plan {
    /// What a task takes with these costs on such nodes.
    #[must_use]
    pub fn new(task: Task, node: &Node, costs: &Costs) -> Plan {
        let demand = Demand::of(&task, costs);
        let fixed_memory = costs.buffer_bytes.value + costs.process_bytes.value;
        let needs = [
            ("processors", demand.cores / (node.cores * LOAD_MAX)),
            (
                "memory",
                demand.memory / (node.memory_bytes - fixed_memory).max(1.0),
            ),
            ("room for page states", demand.disk / node.state_disk_bytes),
            (
                "writing page states",
                demand.written / (node.disk_bytes_per_second * LOAD_MAX),
            ),
            (
                "network",
                demand.bits / (node.network_bits_per_second * LOAD_MAX),
            ),
        ];
        let (bound_by, most) = needs
            .into_iter()
            .max_by(|left, right| left.1.total_cmp(&right.1))
            .unwrap_or(("nothing", 0.0));
        let nodes = task.nodes.unwrap_or_else(|| whole(most)).max(1);
        let share = f64::from(nodes);
        Plan {
            task,
            nodes,
            bound_by,
            is_feasible: most <= share,
            visits_per_second: demand.visits,
            server_interval_seconds: task.servers / demand.visits,
            cores: demand.cores / share,
            state_cores: demand.state_cores / share,
            memory_bytes: fixed_memory + demand.memory / share,
            state_disk_bytes: demand.disk / share,
            state_written_per_second: demand.written / share,
            network_bits_per_second: demand.bits / share,
            archive_bytes_per_year: demand.visits * YEAR_SECONDS * costs.archived_per_visit(),
            graded_resolution_seconds: costs.bucket_seconds.value / BUCKET_TIME_MAX,
            flat_resolution_seconds: YEAR_SECONDS * costs.buffer_page_bytes.value
                / costs.buffer_bytes.value,
        }
    }
}

impl Demand {
    fn of(task: &Task, costs: &Costs) -> Demand {
        let visits = task.pages * costs.visits_per_page_day.value / DAY_SECONDS;
        let state_cores = visits * costs.state_cpu_us.value * 1e-6;
        Demand {
            visits,
            cores: visits * costs.cpu_us_per_visit() * 1e-6 + state_cores,
            state_cores,
            written: visits * costs.state_written_bytes.value,
            bits: 8.0 * visits * costs.fetched_per_visit(),
            memory: task.pages * costs.seen_memory_bytes.value
                + task.servers * costs.server_bytes.value,
            disk: task.pages * (costs.state_disk_bytes.value + costs.seen_disk_bytes.value),
        }
    }
}

/// A positive number, rounded up; the largest possible if it is too large.
fn whole(number: f64) -> u32 {
    let mut low = 0_u32;
    let mut step = 1_u32 << 31;
    while 0 < step {
        if f64::from(low.saturating_add(step)) < number {
            low = low.saturating_add(step);
        }
        step /= 2;
    }
    low.saturating_add(1)
}

/// Pages of a server on average, in Tamura and Kitsuregawa (2007).
pub const PAGES_PER_SERVER: f64 = 585.2;

#[cfg(test)]
mod tests {
    use super::*;

    fn task(pages: f64, nodes: Option<u32>) -> Task {
        Task {
            pages,
            servers: pages / PAGES_PER_SERVER,
            nodes,
        }
    }

    #[test]
    fn ten_times_the_pages_take_ten_times_as_much_of_everything_but_what_is_fixed() {
        let (node, costs) = (Node::default(), Costs::assumed());
        let one = Plan::new(task(1e9, Some(1)), &node, &costs);
        let ten = Plan::new(task(1e10, Some(1)), &node, &costs);
        let fixed = costs.buffer_bytes.value + costs.process_bytes.value;
        for (ten, one) in [
            (ten.visits_per_second, one.visits_per_second),
            (ten.cores, one.cores),
            (ten.memory_bytes - fixed, one.memory_bytes - fixed),
            (ten.state_disk_bytes, one.state_disk_bytes),
            (ten.network_bits_per_second, one.network_bits_per_second),
            (ten.archive_bytes_per_year, one.archive_bytes_per_year),
        ] {
            assert!((ten / one - 10.0).abs() < 1e-9, "{ten} {one}");
        }
        assert!((ten.flat_resolution_seconds - one.flat_resolution_seconds).abs() < 1e-9);
    }

    #[test]
    fn as_many_nodes_as_it_takes_are_enough_and_one_less_is_not() {
        let (node, costs) = (Node::default(), Costs::assumed());
        let plan = Plan::new(task(1e11, None), &node, &costs);
        assert!(plan.is_feasible && 1 < plan.nodes);
        let less = Plan::new(task(1e11, Some(plan.nodes - 1)), &node, &costs);
        assert!(!less.is_feasible, "{less:?}");
        assert_eq!(less.bound_by, plan.bound_by);
    }

    #[test]
    fn numbers_are_rounded_up() {
        for (number, expected) in [
            (0.0, 1),
            (0.2, 1),
            (1.0, 1),
            (1.1, 2),
            (99.5, 100),
            (128.0, 128),
        ] {
            assert_eq!(whole(number), expected, "{number}");
        }
        assert_eq!(whole(1e300), u32::MAX);
        assert_eq!(whole(f64::NAN), 1);
    }

    /// The paper's own numbers: 4 KiB pages for each minute of a year are 2 GiB of buffers.
    #[test]
    fn the_seeds_layout_needs_buffers_for_every_unit() {
        let mut costs = Costs::assumed();
        costs.buffer_page_bytes.value = 4096.0;
        costs.buffer_bytes.value = 525_600.0 * 4096.0;
        let plan = Plan::new(task(1e9, Some(1)), &Node::default(), &costs);
        assert!((plan.flat_resolution_seconds - 60.0).abs() < 1e-9);
    }
}
