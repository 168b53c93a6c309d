//! `junkai changes`: the pages that are new, changed or gone since a moment.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use junkai_crawler::{ChangeCounts, PageChange, Span, WhatChanged, changes, now};
use junkai_simulation::outcome::grouped;
use junkai_weburl::Canonicalizer;

use crate::bar::Bar;
use crate::exit::{BadCommandLine, Ending, bad_command_line};
use crate::moment::{FORMS, Moment};
use crate::print::{say, shown_within, tell};
use crate::telling::{Target, counted};

/// Characters of a URL in the table.
const URL_SHOWN_MAX: usize = 200;
/// A look through the log that takes longer shows how far it is.
const QUIET_FOR: Duration = Duration::from_secs(1);

/// What `junkai changes` takes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  junkai changes --archive example                                     what is new, changed or gone since yesterday
  junkai changes --archive example --since 7days --until 1day          in the week before that
  junkai changes --archive example --since 2026-01-15 --host example.org
  junkai changes --archive example --json | jq -r 'select(.what == \"gone\").url'

A page is told once. It is gone if it was there before and the last visit did not find it (404, 410, or its host is no more), new if it was found in that
time, and changed if its content changed as `revisit.counts` says. `junkai get --at TIME` shows it as it was.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// From this time on.
    #[arg(long, value_name = "TIME", default_value = "1day", value_parser = Moment::parse, long_help = format!("From this time on: {FORMS}"))]
    since: Moment,
    /// Up to this time. Default: now.
    #[arg(long, value_name = "TIME", value_parser = Moment::parse, long_help = format!("Up to this time: {FORMS}. Default: now"))]
    until: Option<Moment>,
    /// Only pages of this host.
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
}

/// Prints them.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let target = &arguments.target;
    let settings = target.settings()?;
    let host = match &arguments.host {
        Some(host) => {
            let page = Canonicalizer::new(&settings.canonical).parse_seed(host);
            let page = page.with_context(|| BadCommandLine(format!("{host:?} is not a host")))?;
            Some(page.host().to_owned())
        }
        None => None,
    };
    let now = now(&settings);
    let span = Span {
        since: arguments.since.asked_at(now),
        until: arguments.until.map_or(now, |moment| moment.asked_at(now)),
        host,
    };
    if span.until <= span.since {
        return Err(bad_command_line(format!(
            "--until is {:.0} and --since {:.0}: no time lies between them; an age is how long ago, so --since has the greater one",
            span.until, span.since
        )));
    }
    let begun = Instant::now();
    let mut bar = Bar::new();
    let counts = changes(
        &target.archive,
        &span,
        |page| show(&page, target.json),
        |done, total| {
            if QUIET_FOR < begun.elapsed() {
                bar.at("reading the log", done, total);
            }
        },
    )?;
    bar.finish();
    let total = in_words(&counts, &span);
    if target.json {
        tell!("{total}");
    } else {
        say!("{total}");
    }
    Ok(Ending::Well)
}

fn show(page: &PageChange, json: bool) {
    if json {
        // A struct of strings and numbers always serialises.
        if let Ok(line) = serde_json::to_string(page) {
            say!("{line}");
        }
        return;
    }
    let word = match page.what {
        WhatChanged::New => "new",
        WhatChanged::Changed => "changed",
        WhatChanged::Gone => "gone",
    };
    let times = match page.changes {
        0 | 1 => String::new(),
        count => format!("  ({count} times)"),
    };
    let url = shown_within(&page.url, URL_SHOWN_MAX);
    say!(
        "{word:<8} {:.0}  {:>4}  {url}{times}",
        page.time,
        page.status
    );
}

fn in_words(counts: &ChangeCounts, span: &Span) -> String {
    format!(
        "{} new, {} changed, {} gone, in {} from {:.0} to {:.0}",
        grouped(counts.new),
        grouped(counts.changed),
        grouped(counts.gone),
        counted(counts.visits, "visit"),
        span.since,
        span.until
    )
}
