//! What the commands have in common that crawl for focus.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use junkai_crawler::Settings;

use crate::command::crawl::{Reach, RunArguments};
use crate::number;

/// The archive of all commands that are told no other.
pub(super) const ARCHIVE: &str = "junkai-focus";

/// How a focused crawl runs.
#[derive(clap::Args)]
pub(super) struct Run {
    /// The folder that holds captures, index, state, and what focus learned.
    #[arg(long, short, value_name = "DIR", default_value = ARCHIVE)]
    pub(super) archive: PathBuf,
    #[command(flatten)]
    reach: Reach,
    /// Stop after this time (`90s`, `2h`, `7days`).
    #[arg(long = "for", value_name = "DURATION", value_parser = humantime::parse_duration)]
    time: Option<Duration>,
    /// The least time between the end of one visit to a server and the start of the next. Default 5s.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    interval: Option<Duration>,
    /// Visits in flight over all servers together; each server has at most one; at most 65536 [default: 512].
    #[arg(long, value_name = "N", value_parser = number::of_setting::<NonZeroUsize>("crawl.concurrency"))]
    concurrency: Option<NonZeroUsize>,
    /// Threads that fetch, judge and compress, at most 1024 [default: one for each core].
    #[arg(long, value_name = "N", value_parser = number::of_setting::<NonZeroUsize>("crawl.workers"))]
    workers: Option<NonZeroUsize>,
    /// Print progress and results as JSON lines on standard output.
    #[arg(long)]
    pub(super) json: bool,
    /// Print the results only.
    #[arg(long, short)]
    quiet: bool,
}

impl Run {
    /// The file's settings, or the defaults, under the flags.
    pub(super) fn settings(&self) -> Result<Settings> {
        let mut settings = self.reach.settings(&self.archive)?;
        self.as_crawl("").apply(&mut settings);
        Ok(settings)
    }

    /// The same as a crawl takes it; `go_on` is the command that goes on.
    pub(super) fn as_crawl(&self, go_on: &'static str) -> RunArguments {
        RunArguments {
            archive: Some(self.archive.clone()),
            once: false,
            pages: None,
            bytes: None,
            run_time: self.time,
            interval: self.interval,
            concurrency: self.concurrency,
            workers: self.workers,
            partitions: None,
            json: self.json,
            quiet: self.quiet,
            go_on,
            seeds_left_out: 0,
        }
    }
}
