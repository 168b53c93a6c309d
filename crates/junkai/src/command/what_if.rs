//! `junkai what-if`: what another schedule would have made of a crawl.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use junkai_crawler::Settings;
use junkai_frontier::admission::Order;
use junkai_simulation::archive_graph::read;
use junkai_simulation::graph::Cache;
use junkai_simulation::outcome::{Cell, Outcome};
use junkai_simulation::what_if::{Crawled, Logged, Ready, Schedule, WhatIf, ready, run as ask};
use junkai_terminal::show::quoted;
use junkai_terminal::show::{self, SharedBar, Shown, Table};
use junkai_weburl::Canonicalizer;

use crate::bar::Bar;
use crate::command::export;
use crate::config;
use crate::exit::Ending;
use crate::number;
use crate::print::say;

/// How long a visit is taken to take where there is no log.
const LATENCY_ASSUMED: Duration = Duration::from_millis(500);

/// Examples for `--help`.
pub(crate) const EXAMPLES: &str = "\
Settings that are not given are those of the archive's last crawl. Pages and
links are those that it captured, and each visit takes as long as visits to its
server took by the archive's log: the answer is about the order of visits and
their pace, not about pages that it never saw.

Examples:
  # every order, at the pace of the crawl
  junkai what-if --archive example.org
  # five times as fast
  junkai what-if --archive example.org --interval 1s
  # with less memory, and booked less far ahead
  junkai what-if --archive example.org --candidates 1000 --lookahead 32";

/// What `junkai what-if` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The archive's folder; or any folder of WARC files, or one such file.
    #[arg(long, short, value_name = "DIR")]
    archive: PathBuf,
    /// The least time between the end of one visit to a server and the start of the next.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    interval: Option<Duration>,
    /// How long each visit takes [default: as long as visits to its server took by the archive's log; 500ms without a log].
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    latency: Option<Duration>,
    /// Visits in flight over all servers together.
    #[arg(long, value_name = "N", value_parser = number::of_setting::<NonZeroUsize>("crawl.concurrency"))]
    concurrency: Option<NonZeroUsize>,
    /// In which order: fifo, in-degree, site-budgets or worth; may be repeated [default: all].
    #[arg(long, value_name = "ORDER")]
    order: Vec<Order>,
    /// Pages that stand in order in memory at most.
    #[arg(long, value_name = "N", value_parser = number::of_setting::<NonZeroUsize>("crawl.candidates"))]
    candidates: Option<NonZeroUsize>,
    /// Visits that are booked ahead at most.
    #[arg(long, value_name = "N", value_parser = number::of_setting::<NonZeroUsize>("crawl.lookahead"))]
    lookahead: Option<NonZeroUsize>,
    /// Steps that the ring covers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(64..=1 << 24))]
    slots: Option<u32>,
    /// Server keys of the ring.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    keys: Option<u32>,
    /// Also say what was fetched after this many visits; may be repeated.
    #[arg(long, value_name = "VISITS", value_parser = clap::value_parser!(u32).range(1..))]
    after: Vec<u32>,
    /// Take pages too that were only linked to, never captured; their own links are not known.
    #[arg(long)]
    known: bool,
    /// Write tables (CSV), figures (SVG) and findings to `DIR/what-if` [default: `reports` in the archive's folder].
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Reads the archive, crawls it again, and prints what came of it.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let archive = &arguments.archive;
    let crawled_with = config::in_force(archive)?.unwrap_or_default();
    let settings = arguments.over(&crawled_with);
    let mistakes = settings.mistakes();
    if !mistakes.is_empty() {
        return Err(config::report("the command line", &mistakes));
    }
    let ready = make_ready(arguments, &crawled_with)?;
    if let Some(out) = &arguments.out {
        show::prepare(out)?;
    }
    let orders = if arguments.order.is_empty() {
        Order::ALL.to_vec()
    } else {
        arguments.order.clone()
    };
    let measured = ready.logged.as_ref().map(Logged::latency);
    let latency = arguments.latency.or(measured).unwrap_or(LATENCY_ASSUMED);
    let schedule = schedule(&settings, latency);
    let what_if = WhatIf {
        command: again(arguments, &schedule, &orders),
        schedule,
        // What the log says is a measure of what was asked only if that was the same.
        made_in: (settings == crawled_with && arguments.latency.is_none())
            .then_some(settings.crawl.order),
        orders,
        visits: visits_told(arguments, &ready),
    };
    let total = u64::from(ready.subject.value.reachable()) * what_if.orders.len() as u64;
    let bar = SharedBar::new();
    let outcome = ask(&ready, &what_if, &|visits| {
        bar.at("crawling again", visits, total);
    });
    drop(bar);
    let out = arguments.out.clone().unwrap_or_else(|| reports(archive));
    let written = show::write(&outcome, &out)?;
    if !arguments.json {
        print_orders(&outcome);
        print_servers(&outcome);
    }
    let shown = Shown {
        written: Some(written),
        out_again: arguments
            .out
            .as_deref()
            .map_or_else(String::new, show::out_again),
        json: arguments.json,
    };
    show::outcome(&outcome, &shown)?;
    Ok(Ending::Well)
}

fn make_ready(arguments: &Arguments, settings: &Settings) -> Result<Ready> {
    let mut bar = Bar::new();
    let options = export::options(&arguments.archive)?;
    let mut graph = read(&arguments.archive, &options, &mut |progress| {
        bar.show(progress);
    })?;
    if !arguments.known {
        graph = graph.only_captured();
    }
    let canonical = Canonicalizer::new(&settings.canonical);
    // The crawl refused seeds that are none, so they began nothing.
    let seeds = settings
        .crawl
        .seeds
        .iter()
        .filter_map(|seed| canonical.parse_seed(seed).ok());
    let crawled = Crawled {
        seeds: seeds.map(|seed| seed.to_string()).collect(),
        logged: Logged::read(&arguments.archive, settings.politeness.interval)?,
        ..Crawled::from(graph)
    };
    let mut ready = ready(crawled, &Cache::none(), &mut |progress| {
        bar.show(progress);
    });
    if arguments.latency.is_some() {
        ready.subject.latencies.clear();
    }
    Ok(ready)
}

impl Arguments {
    /// The settings of the crawl, under the flags.
    fn over(&self, crawled_with: &Settings) -> Settings {
        let mut settings = crawled_with.clone();
        let (crawl, ring) = (&mut settings.crawl, &mut settings.ring);
        crawl.concurrency = self.concurrency.unwrap_or(crawl.concurrency);
        crawl.candidates = self.candidates.unwrap_or(crawl.candidates);
        crawl.lookahead = self.lookahead.unwrap_or(crawl.lookahead);
        ring.slots = self.slots.map_or(ring.slots, |slots| slots as usize);
        ring.keys = self.keys.unwrap_or(ring.keys);
        let politeness = &mut settings.politeness;
        politeness.interval = self.interval.unwrap_or(politeness.interval);
        settings
    }
}

fn schedule(settings: &Settings, latency: Duration) -> Schedule {
    let (crawl, ring) = (&settings.crawl, &settings.ring);
    let interval = settings.politeness.interval;
    Schedule {
        interval,
        step: ring.step_length(interval),
        latency,
        concurrency: crawl.concurrency.get(),
        slots: ring.slots,
        keys: ring.keys,
        waiting_max: ring.waiting_max,
        candidates: crawl.candidates.get(),
        lookahead: crawl.lookahead.get(),
        overflow: crawl.overflow,
    }
}

/// The numbers of visits that were asked for; else the powers of ten, from a hundred on, that leave something to visit.
fn visits_told(arguments: &Arguments, ready: &Ready) -> Vec<u32> {
    if !arguments.after.is_empty() {
        return arguments.after.clone();
    }
    let pages = ready.subject.value.reachable();
    let powers = (2..=9)
        .map(|power| 10_u32.pow(power))
        .filter(|&visits| visits < pages);
    powers.collect()
}

/// The command that repeats it, with everything that can be said on the command line.
fn again(arguments: &Arguments, schedule: &Schedule, orders: &[Order]) -> String {
    let time = |duration| {
        humantime::format_duration(duration)
            .to_string()
            .replace(' ', "")
    };
    let mut words = vec![
        "junkai what-if".to_owned(),
        format!("--archive {}", quoted(&arguments.archive)),
        format!("--interval {}", time(schedule.interval)),
        format!("--concurrency {}", schedule.concurrency),
        format!("--candidates {}", schedule.candidates),
        format!("--lookahead {}", schedule.lookahead),
        format!("--slots {}", schedule.slots),
        format!("--keys {}", schedule.keys),
    ];
    words.extend(
        arguments
            .latency
            .map(|latency| format!("--latency {}", time(latency))),
    );
    words.extend(orders.iter().map(|order| format!("--order {order}")));
    words.extend(
        arguments
            .after
            .iter()
            .map(|visits| format!("--after {visits}")),
    );
    if arguments.known {
        words.push("--known".to_owned());
    }
    words.join(" ")
}

fn reports(archive: &Path) -> PathBuf {
    if archive.is_file() {
        archive.parent().unwrap_or(Path::new("")).join("reports")
    } else {
        archive.join("reports")
    }
}

/// What each order had when, how long it took, and in how much memory.
fn print_orders(outcome: &Outcome) {
    const SHOWN: [(&str, &str); 8] = [
        ("order", "PageRank at"),
        ("share at 10 %", "10 %"),
        ("share at 20 %", "20 %"),
        ("share at 50 %", "50 %"),
        ("time to 50 %", "half in"),
        ("time to 90 %", "90 % in"),
        ("time to 100 %", "all in"),
        ("most in memory", "stored"),
    ];
    let table = &outcome.tables[0];
    let column = |name: &str, header: &str| -> Vec<String> {
        let place = table.columns.iter().position(|column| column.title == name);
        let cell = |row: &Vec<Cell>| place.map_or_else(String::new, |place| row[place].to_string());
        std::iter::once(header.to_owned())
            .chain(table.rows.iter().map(cell))
            .collect()
    };
    let columns = SHOWN.map(|(name, header)| column(name, header)).to_vec();
    for line in (Table { columns }).lines() {
        say!("{line}");
    }
    say!("");
}

/// The servers that take the longest.
fn print_servers(outcome: &Outcome) {
    const ROWS_MAX: usize = 5;
    let table = &outcome.tables[1];
    if table.rows.len() < 2 {
        return;
    }
    let column = |place: usize, header: &str| -> Vec<String> {
        let cells = table
            .rows
            .iter()
            .take(ROWS_MAX)
            .map(|row| row[place].to_string());
        std::iter::once(header.to_owned()).chain(cells).collect()
    };
    let columns = vec![
        column(0, "busiest servers"),
        column(1, "pages"),
        column(2, "hosts"),
        column(3, "least time"),
    ];
    for line in (Table { columns }).lines() {
        say!("{line}");
    }
    say!("");
}
