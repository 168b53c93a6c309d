//! The cost of a page in a whole crawl, beside the least that it could cost, and beside other crawlers.
//!
//! A web of our own runs on one core, the process under measurement on the other, over loopback, with connections kept
//! alive and no pause between visits. The crawler, the floor and the peers take turns. Read [`run`] first.
//!
//! The *floor* is told in two ways: as one process that does only what cannot be avoided ([`mod@floor`]), and as the sum of its parts,
//! each measured alone and warm (`parts`). The sum is the smaller one: parts that follow one another push each other out of
//! the caches.

mod floor;
mod known;
mod page;
mod partitions;
mod parts;
mod peers;
mod revisits;
mod web;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) use self::floor::{FloorArguments, run as floor};
use self::parts::{PARTS, Parts};
use self::web::Web;
pub(crate) use self::web::{WebArguments, serve};
use crate::Common;
use crate::child::{self, Cost, Wish};
use crate::report::{Cell, Limit, Report, Table};
use crate::samples::Samples;

/// How much more than the floor a page may cost, with revisits on.
const FLOOR_RATIO_MAX: f64 = 1.3;

/// How many times as many pages the web has as are to be known of it.
const WEB_PER_KNOWN: u64 = 2;

/// Mean time between two changes of a page that is to have changed when it is visited again.
const CHANGE_INTERVAL: Duration = Duration::from_millis(500);

/// What `bench crawl` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Pages of one crawl.
    #[arg(long, default_value = "20000")]
    pages: u64,
    /// Pages for each of the peers, which take longer.
    #[arg(long, default_value = "3000")]
    peer_pages: u64,
    /// Instead: crawl until this many pages are known, each visited and its state kept, and tell the memory that it took.
    #[arg(long, value_name = "PAGES", value_delimiter = ',')]
    known: Vec<u64>,
    /// Instead: visit a whole web of so many pages three times, and tell what the first, second and third visits cost.
    #[arg(long, value_name = "PAGES", conflicts_with = "known")]
    revisits: Option<u64>,
    /// Instead: crawl with so many partitions, and tell what their threads cost: how many pages a second they could decide for.
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with_all = ["known", "revisits"])]
    partitions: Vec<u16>,
    /// The crawler's binary; default: the one beside this program.
    #[arg(long, value_name = "FILE")]
    junkai: Option<PathBuf>,
    /// The core of the process under measurement.
    #[arg(long, default_value = "1")]
    core: usize,
    /// The core of the web.
    #[arg(long, default_value = "0")]
    web_core: usize,
    #[command(flatten)]
    web: WebArguments,
}

/// Measures, and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let junkai = arguments.junkai.clone().map_or_else(beside_us, Ok)?;
    if let Some(pages) = arguments.revisits {
        let of_web = |change_interval| {
            let mut web = arguments.web.clone();
            web.web_pages = pages;
            web.change_interval = change_interval;
            web
        };
        let changing = Bench::start(arguments, &junkai, &of_web(CHANGE_INTERVAL))?;
        let unchanging = Bench::start(arguments, &junkai, &of_web(Duration::ZERO))?;
        return revisits::run(&changing, &unchanging, arguments);
    }
    let known_most = arguments.known.iter().max().copied().unwrap_or_default();
    let mut web = arguments.web.clone();
    web.web_pages = web.web_pages.max(known_most * WEB_PER_KNOWN);
    let bench = Bench::start(arguments, &junkai, &web)?;
    if !arguments.partitions.is_empty() {
        return partitions::run(&bench, arguments);
    }
    match arguments.known.as_slice() {
        [] => compare(&bench, arguments),
        sizes => known::run(&bench, sizes, arguments),
    }
}

/// What the processes under measurement have in common.
struct Bench {
    junkai: PathBuf,
    core: usize,
    pages: u64,
    web: Web,
    folder: TempDir,
}

/// One process that visited pages.
#[derive(Clone, Debug, Default)]
struct Visited {
    cost: Cost,
    pages: f64,
    /// Bytes of all responses.
    bytes: f64,
}

/// How the crawler is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setup {
    /// It follows links, as the floor.
    Links,
    /// The same, but for other crawls on the machine: it does not look what they visit.
    Alone,
    /// It follows links, and the sitemaps and feeds of the hosts: they name all pages of the web.
    Sitemaps,
    /// These, and what pages need to be shown, as without any settings: an image with each page, a style sheet with each host.
    Requisites,
}

impl Setup {
    const ALL: [Setup; 4] = [
        Setup::Links,
        Setup::Alone,
        Setup::Sitemaps,
        Setup::Requisites,
    ];

    /// Its line in the table.
    fn name(self) -> &'static str {
        match self {
            Setup::Links => "junkai",
            Setup::Alone => "junkai, without regard to other crawls",
            Setup::Sitemaps => "junkai, sitemaps too",
            Setup::Requisites => "junkai, sitemaps and requisites too",
        }
    }

    /// Its configuration file.
    fn settings(self) -> &'static str {
        match self {
            Setup::Links => "[crawl]\nsitemaps = false\n[links]\nrequisites = false\n",
            Setup::Alone => {
                "[crawl]\nsitemaps = false\nshare_pace = false\n[links]\nrequisites = false\n"
            }
            Setup::Sitemaps => "[links]\nrequisites = false\n",
            Setup::Requisites => "",
        }
    }
}

/// Repeated crawls by one crawler.
#[derive(Default)]
struct Series {
    cpu_us: Samples,
    pages_per_second: Samples,
    peak_megabytes: Samples,
    page_bytes: Samples,
}

impl Series {
    fn push(&mut self, visited: &Visited) {
        let Visited { cost, pages, bytes } = visited;
        self.cpu_us.push(cost.cpu_seconds * 1e6 / pages);
        self.pages_per_second.push(pages / cost.wall_seconds);
        self.peak_megabytes.push(cost.peak_bytes / 1e6);
        self.page_bytes.push(bytes / pages);
    }

    fn cells(self, floor: &Samples) -> [Cell; 5] {
        [
            self.cpu_us.ratio_to(floor).into(),
            self.cpu_us.into(),
            self.pages_per_second.into(),
            self.peak_megabytes.into(),
            self.page_bytes.into(),
        ]
    }
}

fn compare(bench: &Bench, arguments: &Arguments) -> Result<()> {
    let mut report = Report::new("crawl");
    let mut crawlers = Setup::ALL.map(|setup| (setup, Series::default()));
    let (mut floor, mut fetching) = (Series::default(), Series::default());
    let mut parts = Parts::default();
    for repetition in 0..arguments.common.repeat.get() {
        println!("repetition {}", repetition + 1);
        // Who goes first changes from repetition to repetition.
        let is_even = repetition.is_multiple_of(2);
        if is_even {
            floor.push(&bench.floor(floor::Mode::All, None)?);
        }
        for at in 0..crawlers.len() {
            let last = crawlers.len() - 1;
            let (setup, series) = &mut crawlers[if is_even { at } else { last - at }];
            series.push(&bench.crawl(*setup)?);
        }
        if !is_even {
            floor.push(&bench.floor(floor::Mode::All, None)?);
        }
        fetching.push(&bench.floor(floor::Mode::Fetch, None)?);
        parts.push(&bench.floor(floor::Mode::Parts, None)?.cost.last_line)?;
    }
    let sum = parts.sum().plus(&fetching.cpu_us);
    report.table(parts_table(&fetching.cpu_us, &parts, &sum));
    let (_, crawler) = &crawlers[0];
    let ratio = crawler.cpu_us.ratio_to(&floor.cpu_us).median();
    let ratio_to_sum = crawler.cpu_us.ratio_to(&sum).median();
    let columns = [
        "crawler",
        "× floor",
        "CPU µs/page",
        "pages/s",
        "peak MB",
        "bytes/page",
    ];
    let title = format!("{} pages on one core", bench.pages);
    let mut table = Table::new("page", title, columns);
    let floor_us = floor.cpu_us.clone();
    for (setup, series) in crawlers {
        table.row(setup.name(), series.cells(&floor_us));
    }
    table.row("the floor, as a process", floor.cells(&floor_us));
    peers::measure(bench, arguments, &floor_us, &mut table)?;
    report.table(table);
    let limit = Limit::AtMost(FLOOR_RATIO_MAX);
    report.target("CPU per page, × the floor as a process", ratio, limit);
    report.target("CPU per page, × the sum of its parts", ratio_to_sum, limit);
    report.finish(arguments.common.json.as_deref())
}

fn parts_table(fetching: &Samples, parts: &Parts, sum: &Samples) -> Table {
    let columns = ["part", "CPU µs/page"];
    let mut table = Table::new("floor", "the floor, part by part", columns);
    table.row(
        "HTTP: requests sent, responses read",
        [fetching.clone().into()],
    );
    for (name, cost) in PARTS.iter().zip(&parts.costs) {
        table.row(*name, [cost.clone().into()]);
    }
    table.row("sum", [sum.clone().into()]);
    table
}

impl Bench {
    fn start(arguments: &Arguments, junkai: &Path, web: &WebArguments) -> Result<Bench> {
        Ok(Bench {
            core: arguments.core,
            pages: arguments.pages,
            web: Web::start(web, arguments.web_core)?,
            folder: TempDir::with_prefix("junkai-bench-")?,
            junkai: junkai.to_owned(),
        })
    }

    /// One crawl by the whole crawler, into an archive of its own.
    fn crawl(&self, setup: Setup) -> Result<Visited> {
        self.crawl_with(setup, &[])
    }

    /// The same, with further flags.
    fn crawl_with(&self, setup: Setup, flags: &[&str]) -> Result<Visited> {
        let archive = self.folder.path().join("archive");
        let config = self.folder.path().join("junkai.toml");
        std::fs::write(&config, setup.settings())?;
        let mut command = self.crawl_command(&archive);
        command
            .args(["--once", "--pages", &self.pages.to_string()])
            .arg("--config")
            .arg(config)
            .args(flags);
        let cost = child::measure(&mut command, self.core, |_| Wish::GoOn)?.if_ended_with(&[0])?;
        let summary = Summary::read(&cost.last_line)?;
        if summary.count("pages")? < self.pages as f64 {
            bail!("the web has fewer than {} pages", self.pages);
        }
        std::fs::remove_dir_all(&archive)?;
        Ok(Visited {
            pages: summary.count("pages")?,
            bytes: summary.count("bytes_received")?,
            cost,
        })
    }

    fn crawl_command(&self, archive: &Path) -> Command {
        let mut command = Command::new(&self.junkai);
        command
            .arg("crawl")
            .args(&self.web.seeds)
            .args(["--scope", "any", "--allow-private", "--interval", "0s"])
            .args(["--json", "--dns", &self.web.dns])
            .arg("--archive")
            .arg(archive);
        command
    }

    /// One run of the floor, or of a part of it; where a list names its pages, it visits these alone.
    fn floor(&self, mode: floor::Mode, list: Option<&Path>) -> Result<Visited> {
        let mut command = Command::new(env::current_exe()?);
        command
            .args(["floor", "--mode", mode.name()])
            .args(["--pages", &self.pages.to_string()])
            .args(["--http-port", &self.web.http_port.to_string()])
            .arg("--folder")
            .arg(self.folder.path())
            .args(&self.web.seeds);
        if let Some(list) = list {
            command.arg("--list").arg(list);
        }
        let cost = child::measure(&mut command, self.core, |_| Wish::GoOn)?.if_ended_with(&[0])?;
        let said: Value = serde_json::from_str(&cost.last_line)?;
        let number = |name: &str| said[name].as_f64().unwrap_or_default();
        Ok(Visited {
            pages: number("pages"),
            bytes: number("bytes"),
            cost,
        })
    }
}

/// What the crawler says at its end.
struct Summary(Value);

impl Summary {
    fn read(line: &str) -> Result<Summary> {
        let value: Value = serde_json::from_str(line)
            .with_context(|| format!("the crawler ended with {line:?}"))?;
        Ok(Summary(value))
    }

    fn count(&self, counter: &str) -> Result<f64> {
        let summary = &self.0["summary"]["progress"][counter];
        summary
            .as_f64()
            .with_context(|| format!("the crawler does not tell {counter}: {}", self.0))
    }
}

/// The crawler that was built together with this program.
fn beside_us() -> Result<PathBuf> {
    let junkai = env::current_exe()?.with_file_name("junkai");
    if !junkai.exists() {
        bail!(
            "there is no crawler at {}; build it: cargo build --profile dist --package junkai",
            junkai.display()
        );
    }
    Ok(junkai)
}
