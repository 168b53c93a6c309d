//! The cost of giving a visit its turn, from ten thousand to a hundred million URLs.
//!
//! Two questions. *Bounded*: a ring of the default size, through which more and more URLs pass; does a URL cost the same? *All
//! waiting*: as many URLs wait in memory as are known, in the ring and in the frontier of the textbooks; what do they cost?
//! Read [`run`] first, then `frontiers`.
//!
//! A URL's cost is one place and one take, in CPU time; drawing the URLs by lot is not counted. Beside it stands what a single
//! access at random costs in a table that is as large as the frontier: where that rises, caches are left, and so must any
//! frontier of that size.

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

/// By how much the cost of a URL may rise with the number of known URLs.
const RISE_MAX: f64 = 1.3;
/// How much faster than a heap the ring must be.
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
    /// How many URLs wait at once, in the ring and in the heap.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "10000,100000,1000000,10000000"
    )]
    waiting: Vec<u64>,
    /// The sizes of the project's promise: up to 10^8 known, and as many waiting. Takes long, and 12 GB of memory.
    #[arg(long)]
    full: bool,
}

/// Measures, and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let repeat = arguments.common.repeat.get();
    let (mut known, mut waiting) = (arguments.known.clone(), arguments.waiting.clone());
    if arguments.full {
        known.push(100_000_000);
        waiting.push(100_000_000);
    }
    let mut report = Report::new("ring");
    bounded(&known, repeat, &mut report);
    all_waiting(&waiting, repeat, &mut report);
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

fn bounded(sizes: &[u64], repeat: usize, report: &mut Report) {
    let columns = [
        "known URLs",
        "ring ns/URL",
        "whole scheduler ns/URL",
        "ring: bytes per waiting URL",
        "overflowed %",
        "random access ns",
    ];
    let title = format!("bounded: {} URLs wait at most", short(WAITING_MAX as f64));
    let mut table = Table::new(title, &columns);
    let mut medians = Vec::new();
    for &size in sizes {
        let servers = servers_of(size);
        let (mut ring, mut scheduler) = (Series::default(), Series::default());
        let mut access = Samples::default();
        for repetition in 0..repeat {
            let bounds = Bounds::bounded(WAITING_MAX);
            let mut pass_ring = || {
                ring.push(&pass(
                    &mut WholeRing::new(&bounds),
                    servers,
                    size,
                    WAITING_MAX,
                ));
            };
            let mut pass_scheduler = || {
                scheduler.push(&pass(
                    &mut WholeScheduler::new(&bounds),
                    servers,
                    size,
                    WAITING_MAX,
                ));
            };
            take_turns(repetition, &mut pass_ring, &mut pass_scheduler);
            access.push(random_access_nanoseconds(ring.bytes));
        }
        medians.push(ring.nanoseconds.median());
        let waiting = size.min(WAITING_MAX) as f64;
        table.row(
            short(size as f64),
            [
                Cell::from(ring.nanoseconds),
                scheduler.nanoseconds.into(),
                (ring.bytes / waiting).into(),
                (ring.overflowed * 100.0).into(),
                access.into(),
            ],
        );
    }
    report.table(table);
    let smallest = medians.iter().copied().fold(f64::INFINITY, f64::min);
    let last = medians.last().copied().unwrap_or(f64::NAN);
    report.target(
        "cost of a URL at the most known, × the least",
        last / smallest,
        Limit::AtMost(RISE_MAX),
    );
}

fn all_waiting(sizes: &[u64], repeat: usize, report: &mut Report) {
    let columns = [
        "waiting URLs",
        "heap ÷ ring",
        "ring ns/URL",
        "heap ns/URL",
        "ring: bytes/URL",
        "heap: bytes/URL",
        "random access ns",
    ];
    let mut table = Table::new("all waiting at once", &columns);
    for &size in sizes {
        let servers = servers_of(size);
        let (mut ring, mut heap) = (Series::default(), Series::default());
        let mut access = Samples::default();
        for repetition in 0..repeat {
            let bounds = Bounds::for_all(size, servers);
            let mut pass_ring =
                || ring.push(&pass(&mut WholeRing::new(&bounds), servers, size, size));
            let mut pass_heap = || heap.push(&pass(&mut Heap::default(), servers, size, size));
            take_turns(repetition, &mut pass_ring, &mut pass_heap);
            access.push(random_access_nanoseconds(ring.bytes));
        }
        let gain = heap.nanoseconds.ratio_to(&ring.nanoseconds);
        if size == GAIN_AT {
            let what = format!("times faster than a heap, {} waiting", short(size as f64));
            report.target(what, gain.median(), Limit::AtLeast(GAIN_MIN));
        }
        table.row(
            short(size as f64),
            [
                Cell::from(gain),
                ring.nanoseconds.into(),
                heap.nanoseconds.into(),
                (ring.bytes / size as f64).into(),
                (heap.bytes / size as f64).into(),
                access.into(),
            ],
        );
    }
    report.table(table);
}

/// Who goes first changes from repetition to repetition.
fn take_turns(repetition: usize, one: &mut dyn FnMut(), other: &mut dyn FnMut()) {
    if repetition.is_multiple_of(2) {
        one();
        other();
    } else {
        other();
        one();
    }
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
