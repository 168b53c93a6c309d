//! `junkai stats`: what an archive holds.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use junkai_crawler::{HookReport, stats};
use junkai_simulation::outcome::grouped;

use crate::command::pause;
use crate::exit::Ending;
use crate::print::{say, shown, shown_within};
use crate::screen::bytes;

/// Rows of a table that are shown.
const ROWS_MAX: usize = 12;
/// Characters of a status or a media type that are shown.
const VALUE_SHOWN_MAX: usize = 60;

/// What `junkai stats` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The archive's folder.
    #[arg(long, short, value_name = "DIR")]
    archive: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints it.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let stats = stats(&arguments.archive)?;
    if arguments.json {
        say!("{}", serde_json::to_string(&stats)?);
        return Ok(Ending::Well);
    }
    let time = |time: &Option<String>| shown(time.as_deref().unwrap_or("-"));
    say!("{}", arguments.archive.display());
    say!(
        "  captures   {:>14}   of {} hosts, {} of them repeat a known payload",
        grouped(stats.captures),
        grouped(stats.hosts),
        grouped(stats.revisits)
    );
    let order = stats.order.map_or("", |order| order.name());
    say!(
        "  known URLs {:>14}   {} waiting, at the last checkpoint; order: {order}",
        grouped(stats.known),
        grouped(stats.waiting)
    );
    say!(
        "  on disk    {:>14}   in {} WARC files; index {}, state {}",
        bytes(stats.warc_bytes),
        stats.warc_files,
        bytes(stats.index_bytes),
        bytes(stats.state_bytes)
    );
    say!(
        "  first      {:>14}   last {}",
        time(&stats.first),
        time(&stats.last)
    );
    let losses = &stats.losses;
    if 0 < losses.bodies_cut {
        say!(
            "  cut        {:>14}   answers not kept to their end: too long, too slow or broken off; logs/crawl.log says which (lenTrunc, timeTrunc, midFetchTrunc)",
            grouped(losses.bodies_cut)
        );
    }
    if 0 < losses.links_left_out + losses.urls_refused {
        say!(
            "  left out   {:>14}   links of pages with too many or too long ones; {} URLs refused because too many waited",
            grouped(losses.links_left_out),
            grouped(losses.urls_refused)
        );
    }
    if 0 < losses.visits_lost + losses.states_lost {
        say!(
            "  LOST       {:>14}   waiting visits, and the states of {} known pages: files of state/ were damaged",
            grouped(losses.visits_lost),
            grouped(losses.states_lost)
        );
    }
    show_hooks(&stats.hooks);
    for paused in pause::lines(&stats.paused) {
        say!("  paused     {}", shown(&paused));
    }
    if 0 < stats.commands {
        say!(
            "  commands   {:>14}   wait for the next `junkai crawl`",
            grouped(stats.commands)
        );
    }
    table("status", &stats.by_status);
    table("media type", &stats.by_mime);
    Ok(Ending::Well)
}

/// How many changes were told to hooks, and what is wrong with them.
fn show_hooks(hooks: &[HookReport]) {
    for hook in hooks {
        let more = if hook.more_pending { "more than " } else { "" };
        let hooked = format!("hook.{}", hook.hook);
        say!(
            "  {hooked:<10} {:>14}   changes delivered, {more}{} pending",
            grouped(hook.delivered),
            grouped(hook.pending)
        );
        if let Some(error) = &hook.error {
            say!(
                "             {:>14}   deliveries failed, the last at {:.0}: {}",
                grouped(hook.failures),
                error.time,
                shown(&error.reason)
            );
        }
    }
}

fn table(name: &str, counts: &BTreeMap<String, u64>) {
    let mut rows: Vec<(&String, &u64)> = counts.iter().collect();
    rows.sort_by(|left, right| right.1.cmp(left.1).then(left.0.cmp(right.0)));
    say!("  {name}");
    for (value, count) in rows.iter().take(ROWS_MAX) {
        say!(
            "    {:<24}{:>14}",
            match value.as_str() {
                "" => "-".to_owned(),
                value => shown_within(value, VALUE_SHOWN_MAX),
            },
            grouped(**count)
        );
    }
    if ROWS_MAX < rows.len() {
        say!("    and {} more (--json shows all)", rows.len() - ROWS_MAX);
    }
}
