//! The memory of a crawl that knows many pages: each was visited, and its state is in the time queue.

use anyhow::{Result, ensure};
use serde_json::Value;

use super::{Arguments, Bench, Summary};
use crate::child::{self, Wish};
use crate::report::{Limit, Report, Table};
use crate::samples::short;

/// Memory of a crawl that knows a million pages, in megabytes.
const MEGABYTES_MAX: f64 = 300.0;

/// The crawler's exit code when it was stopped.
const STOPPED: i32 = 11;

/// For each size, crawls until so many pages are known.
pub(super) fn run(bench: &Bench, sizes: &[u64], arguments: &Arguments) -> Result<()> {
    let columns = [
        "known pages",
        "known URLs",
        "peak MB",
        "CPU µs/page",
        "pages/s",
    ];
    let mut table = Table::new("known", "the memory of a crawl", columns);
    let mut report = Report::new("known");
    for &known in sizes {
        println!("crawling until {} pages are known", short(known as f64));
        let crawl = crawl(bench, known)?;
        table.row(
            short(known as f64),
            [
                crawl.urls.into(),
                (crawl.cost.peak_bytes / 1e6).into(),
                (crawl.cost.cpu_seconds * 1e6 / crawl.pages).into(),
                (crawl.pages / crawl.cost.wall_seconds).into(),
            ],
        );
        let what = format!("peak memory in MB with {} known pages", short(known as f64));
        let limit = Limit::AtMost(MEGABYTES_MAX);
        report.target(what, crawl.cost.peak_bytes / 1e6, limit);
    }
    report.table(table);
    report.finish(arguments.common.json.as_deref())
}

/// A crawl that was stopped when it knew enough.
struct Crawl {
    cost: child::Cost,
    pages: f64,
    urls: f64,
}

fn crawl(bench: &Bench, known: u64) -> Result<Crawl> {
    let archive = bench.folder.path().join("archive");
    let mut asked = false;
    let mut command = bench.crawl_command(&archive);
    command.args(["--once", "--no-requisites"]);
    let cost = child::measure(&mut command, bench.core, |line| {
        let so_far: Value = serde_json::from_str(line).unwrap_or_default();
        let count = so_far["progress"]["pages_known"].as_u64();
        if known <= count.unwrap_or_default() && !asked {
            asked = true;
            return Wish::Stop;
        }
        Wish::GoOn
    })?;
    let cost = cost.if_ended_with(&[0, STOPPED])?;
    let summary = Summary::read(&cost.last_line)?;
    let pages = summary.count("pages_known")?;
    ensure!(
        known as f64 <= pages,
        "only {pages} of {known} pages came to be known"
    );
    std::fs::remove_dir_all(&archive)?;
    Ok(Crawl {
        pages,
        urls: summary.count("known")?,
        cost,
    })
}
