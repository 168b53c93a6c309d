//! The memory of a crawl that knows many URLs.

use anyhow::Result;
use serde_json::Value;

use super::{Arguments, Bench, Summary};
use crate::child::{self, Wish};
use crate::report::{Limit, Report, Table};

/// Memory for a million known pages, in megabytes.
const MEGABYTES_MAX: f64 = 300.0;

/// The crawler's exit code when it was stopped.
const STOPPED: i32 = 11;

/// Crawls until `known` URLs are known and as many pages visited as in any other crawl.
pub(super) fn run(bench: &Bench, known: u64, arguments: &Arguments) -> Result<()> {
    let archive = bench.folder.path().join("archive");
    let mut asked = false;
    let cost = child::measure(&mut bench.crawl_command(&archive), bench.core, |line| {
        let so_far: Value = serde_json::from_str(line).unwrap_or_default();
        let count = |counter: &str| so_far["progress"][counter].as_u64().unwrap_or_default();
        let enough = known <= count("known") && bench.pages <= count("pages");
        if enough && !asked {
            asked = true;
            return Wish::Stop;
        }
        Wish::GoOn
    })?;
    let cost = cost.if_ended_with(&[0, STOPPED])?;
    let summary = Summary::read(&cost.last_line)?;
    let pages = summary.count("pages")?;
    let columns = ["known URLs", "pages", "peak MB", "CPU µs/page", "pages/s"];
    let mut table = Table::new("the memory of a crawl", &columns);
    table.row(
        crate::samples::short(summary.count("known")?),
        [
            pages.into(),
            (cost.peak_bytes / 1e6).into(),
            (cost.cpu_seconds * 1e6 / pages).into(),
            (pages / cost.wall_seconds).into(),
        ],
    );
    let mut report = Report::new("crawl --known");
    report.table(table);
    let limit = Limit::AtMost(MEGABYTES_MAX);
    report.target("peak memory in MB", cost.peak_bytes / 1e6, limit);
    report.finish(arguments.common.json.as_deref())
}
