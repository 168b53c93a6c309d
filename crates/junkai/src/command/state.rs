//! `junkai state`: the known pages of an archive, one by one and all together. Reads only: a crawl may be running.

use std::collections::BinaryHeap;
use std::time::Duration;

use anyhow::{Context, Result};
use junkai_crawler::{IntervalCount, KnownPage, PageStates, StateStats};
use junkai_simulation::outcome::grouped;
use junkai_weburl::Canonicalizer;

use crate::exit::{BadCommandLine, Ending};
use crate::print::{say, short, shown, shown_within};
use crate::screen::bytes;
use crate::telling::{Target, counted};

/// Columns of the longest bar.
const BAR_MAX: u64 = 40;
/// Characters of a URL in the table.
const URL_SHOWN_MAX: usize = 60;

/// What `junkai state` takes.
#[derive(clap::Subcommand)]
pub(crate) enum State {
    /// Show known pages: when each is due, how often it changes, and why it is visited when it is.
    Dump(Dump),
    /// Count the known pages: due when, visited how often, on how many servers that cannot bear it.
    Stats(Stats),
}

/// What `junkai state dump` takes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  junkai state dump --archive example --limit 20               the pages that are due first
  junkai state dump --archive example --host example.org       those of a host
  junkai state dump --archive example --due-before 2h          those that are due within two hours
  junkai state dump --archive example --json | wc -l           all of them, for programs

Without --limit, pages are printed as they lie on disk, roughly by when they are due; nothing is sorted, so any number will do.")]
pub(crate) struct Dump {
    #[command(flatten)]
    target: Target,
    /// Only pages of this host.
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Only pages that are due within this time from now (`90s`, `2h`, `7days`); `0s` for what is overdue.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    due_before: Option<Duration>,
    /// Only so many pages: those that are due first, in order.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// What `junkai state stats` takes.
#[derive(clap::Args)]
pub(crate) struct Stats {
    #[command(flatten)]
    target: Target,
}

/// Prints it.
pub(crate) fn run(state: &State) -> Result<Ending> {
    match state {
        State::Dump(arguments) => dump(arguments)?,
        State::Stats(arguments) => stats(arguments)?,
    }
    Ok(Ending::Well)
}

fn dump(arguments: &Dump) -> Result<()> {
    let target = &arguments.target;
    let settings = target.settings()?;
    let states = PageStates::open(&target.archive, &settings)?;
    let canonical = Canonicalizer::new(&settings.canonical);
    let host = match &arguments.host {
        Some(host) => {
            let page = canonical.parse_seed(host);
            let page = page.with_context(|| BadCommandLine(format!("{host:?} is not a host")))?;
            Some(page.host().to_owned())
        }
        None => None,
    };
    let before = match arguments.due_before {
        Some(time) => Some(states.now().checked_add(time)?),
        None => None,
    };
    let is_wanted = |page: &KnownPage| {
        let is_of_host = |host: &String| {
            canonical
                .parse(&page.url)
                .is_ok_and(|url| url.host() == host)
        };
        before.is_none_or(|before| page.due <= before) && host.as_ref().is_none_or(is_of_host)
    };
    if !target.json {
        say!("{}", header());
    }
    let show = |page: &KnownPage| match (target.json, serde_json::to_string(page)) {
        (true, Ok(line)) => say!("{line}"),
        _ => say!("{}", row(page)),
    };
    let Some(limit) = arguments.limit else {
        states.each(|page| {
            if is_wanted(&page) {
                show(&page);
            }
        })?;
        return Ok(());
    };
    let mut first = First::new(limit);
    states.each(|page| {
        if is_wanted(&page) {
            first.offer(page);
        }
    })?;
    for page in first.in_order() {
        show(&page);
    }
    Ok(())
}

/// The pages that are due first, of all that were offered.
struct First {
    most: usize,
    pages: BinaryHeap<Due>,
}

/// A page in the order of when it is due.
struct Due(KnownPage);

impl First {
    fn new(most: usize) -> First {
        First {
            most,
            pages: BinaryHeap::new(),
        }
    }

    fn offer(&mut self, page: KnownPage) {
        self.pages.push(Due(page));
        if self.most < self.pages.len() {
            self.pages.pop();
        }
    }

    fn in_order(self) -> impl Iterator<Item = KnownPage> {
        self.pages.into_sorted_vec().into_iter().map(|due| due.0)
    }
}

impl Due {
    fn key(&self) -> (jiff::Timestamp, &str) {
        (self.0.due, &self.0.url)
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

fn header() -> String {
    format!(
        "{:<20}  {:<20}  {:>8}  {:>6}  {:>7}  {:>9}  {:>6}  page",
        "due", "last visit", "every", "visits", "changes", "changes/d", "chance"
    )
}

fn row(page: &KnownPage) -> String {
    let url = shown_within(&page.url, URL_SHOWN_MAX);
    format!(
        "{:<20.0}  {:<20.0}  {:>8}  {:>6}  {:>7}  {:>9.4}  {:>5.0}%  {url}",
        page.due,
        page.last_visit,
        short(page.interval_seconds),
        page.visits,
        page.changes,
        page.changes_a_day,
        100.0 * page.chance,
    )
}

fn stats(arguments: &Stats) -> Result<()> {
    let target = &arguments.target;
    let states = PageStates::open(&target.archive, &target.settings()?)?;
    let counts = states.stats()?;
    if target.json {
        say!("{}", serde_json::to_string(&counts)?);
    } else {
        print(&counts);
    }
    Ok(())
}

fn print(stats: &StateStats) {
    let buckets = if 0 < stats.bucket_bytes {
        format!(
            "{} in buckets, {:.1} bytes a page, and ",
            bytes(stats.bucket_bytes),
            stats.bytes_a_page
        )
    } else {
        String::new()
    };
    say!(
        "  known pages {:>14}   {buckets}{} in the journal",
        grouped(stats.records),
        bytes(stats.journal_bytes)
    );
    if 0 < stats.damaged {
        say!("  damaged     {:>14}", grouped(stats.damaged));
    }
    let next = match stats.next_due {
        Some(due) => format!("the first at {due:.0}"),
        None => "none".to_owned(),
    };
    say!("  overdue     {:>14}   {next}", grouped(stats.overdue));
    say!(
        "  due within  {:>14}   an hour, {} a day, {} a week",
        grouped(stats.due_in_hour),
        grouped(stats.due_in_day),
        grouped(stats.due_in_week)
    );
    let budget = match stats.visits_a_day_max {
        Some(most) => format!("of {most:.0} that are allowed"),
        None => "no limit but politeness".to_owned(),
    };
    say!(
        "  visits/day  {:>14.1}   planned, {budget}; a page is visited when {:.2} changes are expected",
        stats.visits_a_day,
        stats.price
    );
    intervals(&stats.intervals);
    if !stats.spans.is_empty() {
        say!("  buckets by the time that they cover");
        for span in &stats.spans {
            say!(
                "    {:>8}  {:>8} buckets  {:>14} pages  {:>10}",
                short(span.span.as_secs_f64()),
                grouped(span.buckets),
                grouped(span.records),
                bytes(span.bytes)
            );
        }
    }
    say!(
        "  servers     {:>14}   {} overloaded",
        grouped(u64::from(stats.servers)),
        stats.overloaded.len()
    );
    for server in &stats.overloaded {
        say!(
            "    key {:<8} {:>9} pages ask for {:.1} times what it can bear (one every {}); relief saved {:.0} visits and cost {:.1} versions",
            server.server.number(),
            grouped(server.pages),
            server.overload,
            short(server.pace_seconds),
            server.visits_saved,
            server.versions_lost
        );
    }
    behind(stats);
}

/// Which servers cannot have every page visited as often as that is asked for.
fn behind(stats: &StateStats) {
    if let Some(at_least) = stats.at_least_seconds {
        say!(
            "  at least    {:>14}   a visit to every page (revisit.at_least); {}",
            short(at_least),
            match stats.servers_behind {
                0 => "the pace of every server allows it".to_owned(),
                servers => format!(
                    "the pace of {} does not allow it",
                    counted(servers, "server")
                ),
            }
        );
    }
    for server in &stats.behind {
        say!(
            "    key {:<8} {:>9} pages, one every {}: each once in {}; one of them is {}",
            server.server.number(),
            grouped(server.pages),
            short(server.pace_seconds),
            short(server.once_each_seconds),
            server.page.as_deref().map_or_else(|| "-".to_owned(), shown)
        );
    }
}

fn intervals(classes: &[IntervalCount]) {
    let most = classes.iter().map(|class| class.pages).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    say!("  pages by the time between two visits");
    for class in classes {
        let name = match class.seconds_max {
            Some(seconds) => format!("≤ {}", short(seconds as f64)),
            None => "longer".to_owned(),
        };
        // At least one mark for at least one page.
        let marks = (class.pages * BAR_MAX).div_ceil(most);
        let bar = "█".repeat(usize::try_from(marks).unwrap_or(0));
        say!("    {name:>8}  {:>14}  {bar}", grouped(class.pages));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_that_are_due_first_come_in_order() {
        let page = |minute: i64| KnownPage {
            url: format!("https://a.example/{minute}"),
            due: jiff::Timestamp::from_second(60 * minute).unwrap(),
            last_visit: jiff::Timestamp::UNIX_EPOCH,
            last_change: None,
            interval_seconds: 60.0,
            visits: 1,
            changes: 0,
            misses: 0,
            signals: 0,
            changes_a_day: 0.1,
            chance: 0.5,
            depth: 2,
            server: junkai_frontier::ServerKey::new(1),
            why: String::new(),
        };
        let mut first = First::new(3);
        for minute in [5, 2, 9, 7, 1, 8] {
            first.offer(page(minute));
        }
        let minutes: Vec<i64> = first
            .in_order()
            .map(|page| page.due.as_second() / 60)
            .collect();
        assert_eq!(minutes, [1, 2, 5]);
    }
}
