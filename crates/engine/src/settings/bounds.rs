//! The bounds of settings that take memory, threads, files or connections: each mistake names the setting, what it says, and what it may say.
//!
//! A bound is where a machine would do nothing but hold what was asked for, not where it is wise to be. The doc comments of the settings tell them too.

use std::fmt;
use std::num::{NonZeroU16, NonZeroUsize};
use std::ops::RangeInclusive;

use junkai_size::{bytes::Bytes, spell};

use super::Settings;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

/// Things that are held in memory one by one, and cost some hundred bytes each.
const MANY: u64 = 100_000_000;
const TABLE_MAX: u64 = 1 << 24;
/// Where two URLs of this length must fit into one entry of the backlog.
const URL_BYTES_MAX: u64 = 30 * KIB;

/// One number, and what it may be.
struct Bounded {
    name: &'static str,
    value: u64,
    range: RangeInclusive<u64>,
    unit: Unit,
    /// What a larger number would do, or what is better.
    why: &'static str,
}

enum Unit {
    Pieces,
    Bytes,
}

impl Bounded {
    fn mistake(&self) -> Option<String> {
        if self.range.contains(&self.value) {
            return None;
        }
        let spelt = |number: u64| match self.unit {
            Unit::Pieces => number.to_string(),
            Unit::Bytes => spell(number),
        };
        let (least, most) = (spelt(*self.range.start()), spelt(*self.range.end()));
        Some(format!(
            "{} = {}: must be {least} to {most}; {}",
            self.name,
            spelt(self.value),
            self.why
        ))
    }
}

fn pieces(
    name: &'static str,
    value: impl Bytes,
    range: RangeInclusive<u64>,
    why: &'static str,
) -> Bounded {
    Bounded {
        name,
        value: value.number(),
        range,
        unit: Unit::Pieces,
        why,
    }
}

fn bytes(
    name: &'static str,
    value: impl Bytes,
    range: RangeInclusive<u64>,
    why: &'static str,
) -> Bounded {
    Bounded {
        unit: Unit::Bytes,
        ..pieces(name, value, range, why)
    }
}

/// What a setting that is a number of pieces may be.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// From the least to the most.
    pub range: RangeInclusive<u64>,
    /// What a larger number would do, or what is better.
    why: &'static str,
}

impl Bounds {
    /// The bounds of a setting; none if it is not a number of pieces, or has none.
    pub(super) fn of(name: &str) -> Option<Bounds> {
        let all = numbers(&Settings::default());
        let found = all.into_iter().find(|number| number.name == name);
        found.map(|Bounded { range, why, .. }| Bounds { range, why })
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = (self.range.start(), self.range.end());
        write!(f, "must be {least} to {most}; {}", self.why)
    }
}

/// Everything that is out of its bounds.
pub(super) fn mistakes(settings: &Settings) -> Vec<String> {
    let all = [numbers(settings), sizes(settings)];
    let all = all.iter().flatten();
    all.filter_map(Bounded::mistake).collect()
}

#[expect(clippy::too_many_lines, reason = "a flat table")]
fn numbers(settings: &Settings) -> Vec<Bounded> {
    let Settings {
        crawl,
        ring,
        fetch,
        dns,
        links,
        seen,
        time_queue,
        revisit,
        focus,
        ..
    } = settings;
    vec![
        pieces(
            "crawl.concurrency",
            crawl.concurrency.get(),
            1..=65_536,
            "more pages a second come from more servers, not from more visits in flight",
        ),
        pieces(
            "crawl.partitions",
            u32::from(crawl.partitions.map_or(1, NonZeroU16::get)),
            1..=256,
            "each is a thread that decides: one for every four cores is enough",
        ),
        pieces(
            "crawl.workers",
            crawl.workers.map_or(1, NonZeroUsize::get),
            1..=1024,
            "they are threads: one for each core is best, and the default",
        ),
        pieces(
            "crawl.candidates",
            crawl.candidates.get(),
            1..=MANY,
            "each takes about 500 bytes of memory",
        ),
        pieces(
            "crawl.lookahead",
            crawl.lookahead.get(),
            1..=TABLE_MAX,
            "the order is followed the less the further servers are booked ahead",
        ),
        pieces(
            "ring.slots",
            ring.slots,
            1..=TABLE_MAX,
            "each keeps up to 64 entries in memory",
        ),
        pieces(
            "ring.keys",
            ring.keys,
            1..=TABLE_MAX,
            "each takes about 120 bytes of memory",
        ),
        pieces(
            "ring.waiting_max",
            ring.waiting_max,
            1..=MANY,
            "visits wait in memory here; what does not fit waits on disk",
        ),
        pieces(
            "fetch.idle_connections",
            fetch.idle_connections,
            0..=65_536,
            "each is an open file",
        ),
        pieces(
            "dns.cache_hosts",
            dns.cache_hosts,
            0..=TABLE_MAX,
            "they are kept in memory",
        ),
        pieces(
            "dns.retries",
            dns.retries,
            0..=16,
            "a name server that does not answer is asked again at the next visit",
        ),
        pieces(
            "links.max_links",
            links.max_links,
            0..=1_000_000,
            "the links of a page are held in memory together",
        ),
        pieces(
            "seen.merge_width",
            seen.merge_width,
            2..=64,
            "each run is an open file and a question more",
        ),
        pieces(
            "time_queue.early_max",
            time_queue.early_max,
            1..=TABLE_MAX,
            "they are kept in memory",
        ),
        pieces(
            "revisit.sites_max",
            revisit.sites_max,
            1..=TABLE_MAX,
            "each takes about 150 bytes of memory",
        ),
        pieces(
            "focus.asked_max",
            focus.asked_max.map_or(1, NonZeroUsize::get),
            1..=TABLE_MAX,
            "fewer let each choice know more",
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a flat table")]
fn sizes(settings: &Settings) -> Vec<Bounded> {
    let Settings {
        crawl,
        fetch,
        links,
        canonical,
        seen,
        backlog,
        time_queue,
        ..
    } = settings;
    let hardly_any = "with less, hardly any link is followed";
    vec![
        bytes(
            "crawl.robots_memory",
            crawl.robots_memory,
            8 * MIB..=TIB,
            "a single robots.txt may take half a megabyte",
        ),
        bytes(
            "fetch.max_header_bytes",
            fetch.max_header_bytes,
            8 * KIB..=64 * MIB,
            "a head is held in memory for every visit in flight",
        ),
        bytes(
            "links.max_url_length",
            links.max_url_length,
            16..=MIB,
            "servers refuse URLs of more than 8 KiB",
        ),
        bytes(
            "canonical.max_length",
            canonical.max_length,
            16..=URL_BYTES_MAX,
            "a URL waits together with the one that it was found on",
        ),
        bytes(
            "seen.memory_bytes",
            seen.memory_bytes,
            0..=TIB,
            "256MiB is enough for a hundred million URLs",
        ),
        bytes(
            "backlog.buffer_bytes",
            backlog.buffer_bytes,
            0..=64 * GIB,
            "8MiB is enough",
        ),
        bytes(
            "backlog.segment_bytes",
            backlog.segment_bytes,
            1..=64 * GIB,
            "space is given back a whole file at a time",
        ),
        bytes(
            "backlog.page_bytes_max",
            backlog.page_bytes_max,
            64 * KIB..=1024 * TIB,
            hardly_any,
        ),
        bytes(
            "backlog.host_bytes_max",
            backlog.host_bytes_max,
            64 * KIB..=1024 * TIB,
            hardly_any,
        ),
        bytes(
            "backlog.bytes_max",
            backlog.bytes_max,
            64 * KIB..=1024 * TIB,
            hardly_any,
        ),
        bytes(
            "time_queue.buffer_bytes",
            time_queue.buffer_bytes,
            64 * KIB..=256 * GIB,
            "64MiB is enough for a hundred million pages",
        ),
        bytes(
            "time_queue.page_bytes",
            time_queue.page_bytes,
            512..=MIB,
            "4KiB is a good size",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_within_their_bounds() {
        assert_eq!(mistakes(&Settings::default()), Vec::<String>::new());
    }

    #[test]
    fn what_would_hang_the_machine_is_refused_with_its_bounds() {
        for (text, told) in [
            (
                "[crawl]\nworkers = 100000",
                "crawl.workers = 100000: must be 1 to 1024; ",
            ),
            (
                "[crawl]\nconcurrency = 1000000",
                "crawl.concurrency = 1000000: must be 1 to 65536; ",
            ),
            (
                "[crawl]\ncandidates = 1000000000000",
                "crawl.candidates = 1000000000000: must be 1 to 100000000; ",
            ),
            (
                "[crawl]\nlookahead = 1000000000",
                "crawl.lookahead = 1000000000: must be 1 to 16777216; ",
            ),
            (
                "[ring]\nkeys = 4000000000",
                "ring.keys = 4000000000: must be 1 to 16777216; ",
            ),
            ("[ring]\nkeys = 0", "ring.keys = 0: must be 1 to 16777216; "),
            (
                "[ring]\nwaiting_max = 0",
                "ring.waiting_max = 0: must be 1 to 100000000; ",
            ),
            (
                "[fetch]\nidle_connections = 1000000",
                "fetch.idle_connections = 1000000: must be 0 to 65536; ",
            ),
            (
                "[seen]\nmemory_bytes = \"2TiB\"",
                "seen.memory_bytes = 2TiB: must be 0B to 1TiB; ",
            ),
            (
                "[backlog]\nbytes_max = \"1kB\"",
                "backlog.bytes_max = 1kB: must be 64KiB to ",
            ),
        ] {
            let settings: Settings = toml::from_str(text).unwrap();
            let found = settings.mistakes();
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with(told), "{found:?}");
        }
    }
}
