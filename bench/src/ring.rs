//! The cost of giving a visit its turn, from ten thousand to a hundred million URLs.
//!
//! Two questions. *Bounded*: a ring of the default size, through which more and more URLs pass; does a URL cost the same? *All
//! waiting*: as many URLs wait in memory as are known, in our scheduler and in the frontier of the textbooks; what do they cost?
//! The scheduler is what a crawl has instead of the textbooks' heap; the bare ring within it stands beside both. Read [`run`] first, then `frontiers`.
//!
//! A URL's cost is one place and one take, in CPU time; drawing the URLs by lot is not counted. Beside it stands what a single
//! access at random costs in a table that is as large as the frontier: where that rises, caches are left, and so must any
//! frontier of that size. Memory is what a frontier tells of itself when most URLs wait in it: all of its tables and the buffers as they were allocated.

mod frontiers;

use std::hint::black_box;
use std::time::Duration;

use anyhow::Result;

use self::frontiers::{Bounds, Frontier, Heap, WholeRing, WholeScheduler};
use crate::Common;
use crate::chance::{Servers, mixed};
use crate::cpu;
use crate::report::{Cell, Limit, Report, Table};
use crate::samples::{Samples, short};

/// By how much the cost of a URL may rise with the number of known URLs, once the ring is full.
const RISE_MAX: f64 = 1.3;
/// The ring counts as full when so many times as many URLs have passed as can wait: its memory has been touched all over.
const FULL_AFTER: u64 = 10;
/// Servers of the web that passes through the bounded ring; more than it has keys.
const SERVERS: u32 = 1_000_000;
/// How much faster than a heap our frontier is to be.
const GAIN_MIN: f64 = 5.0;
/// The size at which that counts.
const GAIN_AT: u64 = 10_000_000;
/// URLs that wait in the bounded frontiers at most.
const WAITING_MAX: u64 = 100_000;
/// URLs drawn at a time.
const DRAWN: usize = 1 << 15;
/// URLs for each server, on average.
const URLS_PER_SERVER: u64 = 10;

/// What `bench ring` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// How many URLs pass through the bounded ring.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "10000,100000,1000000,10000000"
    )]
    known: Vec<u64>,
    /// How many URLs wait at once, in our frontier and in the heap.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "10000,100000,1000000,10000000"
    )]
    waiting: Vec<u64>,
    /// The size of the project's promise: 10^8 known as well. Takes some minutes.
    #[arg(long)]
    full: bool,
}

/// Measures, and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let repeat = arguments.common.repeat.get();
    let mut known = arguments.known.clone();
    if arguments.full {
        known.push(100_000_000);
    }
    let mut report = Report::new("ring");
    bounded(&known, repeat, &mut report);
    all_waiting(&arguments.waiting, repeat, &mut report);
    report.finish(arguments.common.json.as_deref())
}

/// What one frontier took for one size.
#[derive(Clone, Default)]
struct Series {
    nanoseconds: Samples,
    bytes: f64,
    overflowed: f64,
}

impl Series {
    fn push(&mut self, cost: &Passage) {
        self.nanoseconds
            .push(cost.time.as_secs_f64() * 1e9 / cost.taken as f64);
        self.bytes = cost.bytes as f64;
        self.overflowed = cost.overflowed as f64 / (cost.taken + cost.overflowed) as f64;
    }
}

/// URLs that went through a frontier.
#[derive(Clone, Copy, Debug, Default)]
struct Passage {
    time: Duration,
    taken: u64,
    /// URLs that found no room, and would have gone to disk.
    overflowed: u64,
    /// Memory when most URLs were waiting.
    bytes: usize,
}

/// Several frontiers at one size.
struct Match<const N: usize> {
    size: u64,
    series: [Series; N],
    access: Samples,
}

/// How so many URLs pass through a frontier.
type Pass<'a> = &'a dyn Fn(u64) -> Passage;

/// Sends each number of URLs through all frontiers, `repeat` times. Sizes and frontiers take turns, and who goes first
/// changes from repetition to repetition: what slows the machine down for a while slows all of them.
fn measure<const N: usize>(sizes: &[u64], repeat: usize, passes: [Pass<'_>; N]) -> Vec<Match<N>> {
    let at = |&size| Match {
        size,
        series: std::array::from_fn(|_| Series::default()),
        access: Samples::default(),
    };
    let mut matches: Vec<Match<N>> = sizes.iter().map(at).collect();
    for repetition in 0..repeat {
        println!("repetition {}", repetition + 1);
        matches.reverse();
        for at_size in &mut matches {
            for turn in 0..N {
                let which = (repetition + turn) % N;
                at_size.series[which].push(&passes[which](at_size.size));
            }
            let bytes = at_size.series[0].bytes;
            at_size.access.push(random_access_nanoseconds(bytes));
        }
    }
    matches.sort_by_key(|at_size| at_size.size);
    matches
}

fn bounded(sizes: &[u64], repeat: usize, report: &mut Report) {
    let columns = [
        "known URLs",
        "whole scheduler ns/URL",
        "ring ns/URL",
        "scheduler: bytes per waiting URL",
        "ring: bytes per waiting URL",
        "overflowed %",
        "random access ns",
    ];
    let title = format!("bounded: {} URLs wait at most", short(WAITING_MAX as f64));
    let mut table = Table::new("bounded", title, columns);
    let (servers, bounds) = (Servers::new(SERVERS), Bounds::bounded(WAITING_MAX));
    let scheduler = |size| {
        let mut scheduler = WholeScheduler::new(&bounds);
        pass(&mut scheduler, servers, size, WAITING_MAX)
    };
    let ring = |size| pass(&mut WholeRing::new(&bounds), servers, size, WAITING_MAX);
    let matches = measure(sizes, repeat, [&scheduler, &ring]);
    for at_size in &matches {
        let [scheduler, ring] = &at_size.series;
        let waiting = at_size.size.min(WAITING_MAX) as f64;
        table.row(
            short(at_size.size as f64),
            [
                Cell::from(scheduler.nanoseconds.clone()),
                ring.nanoseconds.clone().into(),
                (scheduler.bytes / waiting).into(),
                (ring.bytes / waiting).into(),
                (ring.overflowed * 100.0).into(),
                at_size.access.clone().into(),
            ],
        );
    }
    report.table(table);
    let mut full = matches
        .iter()
        .filter(|at_size| WAITING_MAX * FULL_AFTER <= at_size.size);
    let (Some(first), Some(last)) = (full.next(), full.next_back()) else {
        return;
    };
    for (at, name) in ["scheduler", "ring"].iter().enumerate() {
        let rise = last.series[at]
            .nanoseconds
            .ratio_to(&first.series[at].nanoseconds);
        let what = format!(
            "{name}: cost of a URL with {} known, × that with {}",
            short(last.size as f64),
            short(first.size as f64)
        );
        report.target(what, rise.median(), Limit::AtMost(RISE_MAX));
    }
}

fn all_waiting(sizes: &[u64], repeat: usize, report: &mut Report) {
    let columns = [
        "waiting URLs",
        "heap ÷ whole scheduler",
        "heap ÷ ring",
        "whole scheduler ns/URL",
        "ring ns/URL",
        "heap ns/URL",
        "scheduler: bytes/URL",
        "ring: bytes/URL",
        "heap: bytes/URL",
        "random access ns",
    ];
    let mut table = Table::new("waiting", "all waiting at once", columns);
    let scheduler = |size| {
        let servers = servers_of(size);
        let mut scheduler = WholeScheduler::new(&Bounds::for_all(size, servers));
        pass(&mut scheduler, servers, size, size)
    };
    let ring = |size| {
        let servers = servers_of(size);
        let mut ring = WholeRing::new(&Bounds::for_all(size, servers));
        pass(&mut ring, servers, size, size)
    };
    let heap = |size| pass(&mut Heap::default(), servers_of(size), size, size);
    for at_size in measure(sizes, repeat, [&scheduler, &ring, &heap]) {
        let (size, [scheduler, ring, heap]) = (at_size.size, at_size.series);
        let gain = heap.nanoseconds.ratio_to(&scheduler.nanoseconds);
        let ring_gain = heap.nanoseconds.ratio_to(&ring.nanoseconds);
        if size == GAIN_AT {
            for (name, gain) in [("whole scheduler", &gain), ("bare ring", &ring_gain)] {
                let size = short(size as f64);
                let what = format!("{name}: times faster than a heap, {size} waiting");
                report.target(what, gain.median(), Limit::AtLeast(GAIN_MIN));
            }
        }
        let per_url = |series: &Series| Cell::from(series.bytes / size as f64);
        let bytes = [per_url(&scheduler), per_url(&ring), per_url(&heap)];
        let costs = [
            Cell::from(gain),
            ring_gain.into(),
            scheduler.nanoseconds.into(),
            ring.nanoseconds.into(),
            heap.nanoseconds.into(),
        ];
        let access = [Cell::from(at_size.access)];
        table.row(
            short(size as f64),
            costs.into_iter().chain(bytes).chain(access),
        );
    }
    report.table(table);
}

fn servers_of(urls: u64) -> Servers {
    Servers::new(
        u32::try_from(urls / URLS_PER_SERVER)
            .unwrap_or(u32::MAX)
            .max(100),
    )
}

/// Sends `total` URLs through a frontier, of which at most `waiting` wait at once, and takes out all of them at the end.
fn pass(frontier: &mut impl Frontier, servers: Servers, total: u64, waiting: u64) -> Passage {
    let mut passage = Passage::default();
    let mut drawn = Vec::with_capacity(DRAWN);
    let mut next = 0;
    while next < total {
        drawn.clear();
        let end = total.min(next + DRAWN as u64);
        drawn.extend((next..end).map(|url| (servers.of_url(url), mixed(url))));
        next = end;
        let (time, ()) = cpu::cost_of(|| {
            for &(server, url) in &drawn {
                if !frontier.place(server, url) {
                    passage.overflowed += 1;
                }
                if waiting <= frontier.len() && next < total {
                    passage.taken += u64::from(black_box(frontier.take()).is_some());
                }
            }
        });
        passage.time += time;
    }
    passage.bytes = frontier.bytes();
    let (time, ()) = cpu::cost_of(|| {
        while black_box(frontier.take()).is_some() {
            passage.taken += 1;
        }
    });
    passage.time += time;
    assert_eq!(
        passage.taken + passage.overflowed,
        total,
        "every URL comes out or finds no room"
    );
    passage
}

/// What it costs to change a number at a random place of a table of this size.
fn random_access_nanoseconds(bytes: f64) -> f64 {
    const ACCESSES: u64 = 5_000_000;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size in memory"
    )]
    let length = (bytes as usize / size_of::<u64>())
        .next_power_of_two()
        .max(1);
    let mut table = vec![1_u64; length];
    let mask = length as u64 - 1;
    let (time, ()) = cpu::cost_of(|| {
        for number in 0..ACCESSES {
            #[expect(clippy::cast_possible_truncation, reason = "masked to the table")]
            let place = (mixed(number) & mask) as usize;
            table[place] = table[place].wrapping_add(number);
        }
    });
    black_box(&table);
    time.as_secs_f64() * 1e9 / ACCESSES as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(frontier: &mut impl Frontier, waiting: u64) -> Passage {
        pass(frontier, Servers::new(500), 5000, waiting)
    }

    #[test]
    fn every_frontier_lets_all_urls_through() {
        let bounds = Bounds::for_all(5000, Servers::new(500));
        assert_eq!(check(&mut WholeRing::new(&bounds), 5000).taken, 5000);
        assert_eq!(check(&mut WholeScheduler::new(&bounds), 5000).taken, 5000);
        assert_eq!(check(&mut Heap::default(), 5000).taken, 5000);
        assert_eq!(check(&mut Heap::default(), 100).taken, 5000);
    }

    #[test]
    fn a_bounded_frontier_takes_no_more_memory_when_more_pass() {
        let bounds = Bounds::bounded(100);
        let of = |total| {
            pass(
                &mut WholeScheduler::new(&bounds),
                Servers::new(500),
                total,
                100,
            )
        };
        let (few, many) = (of(5_000), of(50_000));
        assert!(0 < many.taken);
        assert!(many.bytes <= few.bytes * 2, "{} {}", few.bytes, many.bytes);
    }
}
