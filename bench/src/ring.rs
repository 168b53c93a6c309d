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

/// By how much the cost of a URL may rise with the number of known URLs, once the ring is full.
const RISE_MAX: f64 = 1.3;
/// The ring counts as full when so many times as many URLs have passed as can wait: its memory has been touched all over.
const FULL_AFTER: u64 = 10;
/// Servers of the web that passes through the bounded ring; more than it has keys.
const SERVERS: u32 = 1_000_000;
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

/// Two frontiers at one size.
struct Duel {
    size: u64,
    series: [Series; 2],
    access: Samples,
}

/// Sends each number of URLs through both frontiers, `repeat` times. Sizes and frontiers take turns, and who goes first
/// changes from repetition to repetition: what slows the machine down for a while slows all of them.
fn measure(sizes: &[u64], repeat: usize, passes: [&dyn Fn(u64) -> Passage; 2]) -> Vec<Duel> {
    let duel = |&size| Duel {
        size,
        series: Default::default(),
        access: Samples::default(),
    };
    let mut duels: Vec<Duel> = sizes.iter().map(duel).collect();
    for repetition in 0..repeat {
        println!("repetition {}", repetition + 1);
        duels.reverse();
        for duel in &mut duels {
            for turn in 0..2 {
                let which = (repetition + turn) % 2;
                duel.series[which].push(&passes[which](duel.size));
            }
            let bytes = duel.series[0].bytes;
            duel.access.push(random_access_nanoseconds(bytes));
        }
    }
    duels.sort_by_key(|duel| duel.size);
    duels
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
    let (servers, bounds) = (Servers::new(SERVERS), Bounds::bounded(WAITING_MAX));
    let ring = |size| pass(&mut WholeRing::new(&bounds), servers, size, WAITING_MAX);
    let scheduler = |size| {
        pass(
            &mut WholeScheduler::new(&bounds),
            servers,
            size,
            WAITING_MAX,
        )
    };
    let duels = measure(sizes, repeat, [&ring, &scheduler]);
    for duel in &duels {
        let [ring, scheduler] = &duel.series;
        let waiting = duel.size.min(WAITING_MAX) as f64;
        table.row(
            short(duel.size as f64),
            [
                Cell::from(ring.nanoseconds.clone()),
                scheduler.nanoseconds.clone().into(),
                (ring.bytes / waiting).into(),
                (ring.overflowed * 100.0).into(),
                duel.access.clone().into(),
            ],
        );
    }
    report.table(table);
    let mut full = duels
        .iter()
        .filter(|duel| WAITING_MAX * FULL_AFTER <= duel.size);
    let (Some(first), Some(last)) = (full.next(), full.next_back()) else {
        return;
    };
    for (at, name) in ["ring", "scheduler"].iter().enumerate() {
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
        "heap ÷ ring",
        "ring ns/URL",
        "heap ns/URL",
        "ring: bytes/URL",
        "heap: bytes/URL",
        "random access ns",
    ];
    let mut table = Table::new("all waiting at once", &columns);
    let ring = |size| {
        let servers = servers_of(size);
        let bounds = Bounds::for_all(size, servers);
        pass(&mut WholeRing::new(&bounds), servers, size, size)
    };
    let heap = |size| pass(&mut Heap::default(), servers_of(size), size, size);
    for duel in measure(sizes, repeat, [&ring, &heap]) {
        let (size, [ring, heap]) = (duel.size, duel.series);
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
                duel.access.into(),
            ],
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
