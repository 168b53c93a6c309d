//! What the threads of partitions cost: how many pages a second those could decide for that are the first to be busy on many cores.

use anyhow::Result;

use super::{Arguments, Bench, Setup, Visited};
use crate::report::{Report, Table};
use crate::samples::Samples;

/// Crawls with each number of partitions in turn.
pub(super) fn run(bench: &Bench, arguments: &Arguments) -> Result<()> {
    let mut all: Vec<(u16, Series)> = Vec::new();
    all.extend(
        arguments
            .partitions
            .iter()
            .map(|&count| (count, Series::default())),
    );
    for repetition in 0..arguments.common.repeat.get() {
        println!("repetition {}", repetition + 1);
        for (count, series) in &mut all {
            let flags = ["--partitions", &count.to_string()];
            series.push(&bench.crawl_with(Setup::Links, &flags)?);
        }
    }
    let columns = [
        "partitions",
        "CPU µs/page",
        "of it, threads that decide",
        "workers",
        "share of the busiest thread that decides",
        "pages/s that it allows",
        "peak MB",
    ];
    let title = format!("{} pages on one core", bench.pages);
    let mut table = Table::new("partitions", title, columns);
    for (count, series) in all {
        table.row(
            count.to_string(),
            [
                series.cpu_us.into(),
                series.deciding_us.into(),
                series.workers_us.into(),
                series.busiest_share.into(),
                series.pages_allowed.into(),
                series.peak_megabytes.into(),
            ],
        );
    }
    let mut report = Report::new("partitions");
    report.table(table);
    report.finish(arguments.common.json.as_deref())
}

#[derive(Default)]
struct Series {
    cpu_us: Samples,
    deciding_us: Samples,
    workers_us: Samples,
    busiest_share: Samples,
    pages_allowed: Samples,
    peak_megabytes: Samples,
}

impl Series {
    fn push(&mut self, visited: &Visited) {
        let Visited { cost, pages, .. } = visited;
        // The first partition's thread is the program's own, the others have names.
        let decides = |name: &str| name == "junkai" || name.starts_with("frontier-");
        let threads = || cost.threads.iter();
        let deciding = || threads().filter(|(name, _)| decides(name));
        let seconds: f64 = deciding().map(|(_, seconds)| seconds).sum();
        let busiest = deciding().map(|(_, seconds)| *seconds);
        let busiest = busiest.fold(0.0, f64::max);
        let workers = threads().filter(|(name, _)| name.starts_with("worker-"));
        let workers: f64 = workers.map(|(_, seconds)| seconds).sum();
        self.cpu_us.push(cost.cpu_seconds * 1e6 / pages);
        self.deciding_us.push(seconds * 1e6 / pages);
        self.workers_us.push(workers * 1e6 / pages);
        self.busiest_share.push(busiest / cost.cpu_seconds);
        self.pages_allowed.push(pages / busiest);
        self.peak_megabytes.push(cost.peak_bytes / 1e6);
    }
}
