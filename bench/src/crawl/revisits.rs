//! The cost of coming back: to pages that have changed, the first time and later, and to pages that have not.
//!
//! A whole web is visited, and then its pages are visited twice again, each time a good while later by the crawl's clock, when every page is due. At the
//! first change of a page the crawler reads what the page said before from the archive; from then on it remembers it. The floor of a round
//! fetches, digests and stores the very pages of that round. See [`run`].

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::floor::Mode;
use super::{Arguments, Bench, Series, Summary, Visited};
use crate::child::{self, Wish};
use crate::report::{Cell, Report, Table};
use crate::samples::Samples;

/// How fast the crawl's clock runs in each round. It shows the time since 1970 times this, so a round is a month, or years, later than the one
/// before it, and within a round an hour is about an hour.
const CLOCK_SPEEDS: [f64; 3] = [1.0, 1.002, 1.1];

/// Part of the known pages that a round visits: some may have failed or moved, and not be due.
const ROUND_PART: f64 = 0.9;

/// Part of a round's visits that come back to a known page, at least.
const REVISITS_PART_MIN: f64 = 0.95;

/// Whatever is due is visited at once.
const SETTINGS: &str = "\
[crawl]
sitemaps = false
[revisit.servers]
interval = \"0s\"
interval_large = \"0s\"
[clock]
speed = ";

/// What visits of one kind cost, over several repetitions.
#[derive(Default)]
struct Kind {
    series: Series,
    floor: Series,
    /// Visits that found another version, in per cent.
    changed: Samples,
}

impl Kind {
    fn push(&mut self, round: &Round) {
        self.series.push(&round.visited);
        self.floor.push(&round.floor);
        let changed = round.changed / round.visited.pages;
        self.changed.push(changed * 100.0);
    }

    fn cells(self) -> [Cell; 5] {
        let floor = self.floor.cpu_us;
        // No pages a second: what finds no room in the ring is due again in the next minute, and that is waited for.
        let [ratio, cpu_us, _, _, bytes] = self.series.cells(&floor);
        [ratio, cpu_us, floor.into(), bytes, self.changed.into()]
    }
}

/// Measures on a web whose pages change from round to round, and on one whose pages stay.
pub(super) fn run(changing: &Bench, unchanging: &Bench, arguments: &Arguments) -> Result<()> {
    let mut kinds: [Kind; 3] = Default::default();
    let mut unchanged = Kind::default();
    for repetition in 0..arguments.common.repeat.get() {
        println!("repetition {}", repetition + 1);
        for (kind, round) in kinds.iter_mut().zip(changing.rounds(3)?) {
            kind.push(&round);
        }
        if let Some(round) = unchanging.rounds(2)?.last() {
            unchanged.push(round);
        }
    }
    let columns = [
        "visit",
        "× floor",
        "CPU µs/visit",
        "floor CPU µs/visit",
        "bytes/visit",
        "changed %",
    ];
    let mut table = Table::new("visits", "a web, visited again and again", columns);
    let [first, second, third] = kinds;
    table.row("first", first.cells());
    table.row("second, all changed", second.cells());
    table.row("third, all changed", third.cells());
    table.row("second, none changed", unchanged.cells());
    let mut report = Report::new("revisits");
    report.table(table);
    report.finish(arguments.common.json.as_deref())
}

/// One round over the pages that are known.
struct Round {
    visited: Visited,
    floor: Visited,
    changed: f64,
    known: f64,
    /// Bytes of the crawl's log when it had ended.
    log_bytes: usize,
}

impl Bench {
    /// Visits a web for the first time, and then again, so many times in all.
    fn rounds(&self, count: usize) -> Result<Vec<Round>> {
        let archive = self.folder.path().join("archive");
        let mut rounds: Vec<Round> = Vec::new();
        for speed in &CLOCK_SPEEDS[..count] {
            let round = self.round(&archive, *speed, rounds.last())?;
            rounds.push(round);
        }
        fs::remove_dir_all(&archive)?;
        Ok(rounds)
    }

    fn round(&self, archive: &Path, clock_speed: f64, before: Option<&Round>) -> Result<Round> {
        let config = self.folder.path().join("rounds.toml");
        fs::write(&config, format!("{SETTINGS}{clock_speed:?}\n"))?;
        let mut command = self.crawl_command(archive);
        command.arg("--no-requisites").arg("--config").arg(&config);
        match before {
            None => command.arg("--once"),
            Some(before) => {
                let pages = (before.known * ROUND_PART).floor();
                command.args(["--pages", &pages.to_string()])
            }
        };
        let cost = child::measure(&mut command, self.core, |_| Wish::GoOn)?.if_ended_with(&[0])?;
        let summary = Summary::read(&cost.last_line)?;
        let visited = Visited {
            pages: summary.count("pages")?,
            bytes: summary.count("bytes_received")?,
            cost,
        };
        let revisits = summary.count("revisits")?;
        ensure!(
            before.is_none() || REVISITS_PART_MIN * visited.pages <= revisits,
            "of {} visits only {revisits} came back to a page",
            visited.pages
        );
        let log = fs::read_to_string(archive.join("logs/crawl.log"))?;
        let log_before = before.map_or(0, |before| before.log_bytes);
        let list = self.list_pages(log.get(log_before..).context("the log became shorter")?)?;
        Ok(Round {
            visited,
            floor: self.floor(Mode::All, Some(&list))?,
            changed: summary.count("changed")?,
            known: summary.count("pages_known")?,
            log_bytes: log.len(),
        })
    }

    /// Writes down the pages that these lines of the log tell of.
    fn list_pages(&self, log: &str) -> Result<PathBuf> {
        let url_of = |line: &str| line.split_whitespace().nth(3).map(str::to_owned);
        let urls = log.lines().filter_map(url_of);
        let pages: Vec<String> = urls.filter(|url| !url.ends_with("/robots.txt")).collect();
        let list = self.folder.path().join("round");
        fs::write(&list, pages.join("\n"))?;
        Ok(list)
    }
}
