//! `junkai explain`: what happened to a URL, why, and when it will be visited next.

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Context, Result};
use junkai_crawler::{ArchiveFolder, Explanation, LogEvent, Settings, explain};
use junkai_frontier::ServerState;
use junkai_simulation::outcome::grouped;
use junkai_weburl::{Canonicalizer, without_login};

use crate::bar;
use crate::config;
use crate::exit::{BadCommandLine, Ending};
use crate::print::{say, shown};

/// What `junkai explain` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The archive's folder.
    #[arg(long, short, value_name = "DIR")]
    archive: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The URL.
    #[arg(value_name = "URL")]
    url: String,
}

/// Prints it.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let file = ArchiveFolder::real(&arguments.archive)
        .state()
        .file("settings.toml");
    let settings = if file.exists() {
        config::load(&file)?
    } else {
        Settings::default()
    };
    let url = Canonicalizer::new(&settings.canonical)
        .parse_seed(&arguments.url)
        .with_context(|| {
            let url = without_login(&arguments.url);
            BadCommandLine(format!("{url:?} is not a URL that can be crawled"))
        })?;
    let mut shown = false;
    let mut progress = |pages: u64| {
        if std::io::stderr().is_terminal() {
            let pages = grouped(pages);
            bar::write(&format!("\rlooking through the known pages: {pages}"));
            shown = true;
        }
    };
    let explanation = explain(&arguments.archive, &settings, &url, &mut progress)?;
    if shown {
        bar::write("\n");
    }
    if arguments.json {
        say!("{}", serde_json::to_string(&explanation)?);
    } else {
        print(&explanation);
    }
    Ok(Ending::Well)
}

fn print(explanation: &Explanation) {
    say!("{}", shown(&explanation.url));
    print_past(explanation);
    print_future(explanation);
}

/// Whether it may be visited, and what became of it so far.
fn print_past(explanation: &Explanation) {
    say!("  scope     {}", shown(&explanation.scope));
    say!(
        "  robots    {}",
        explanation.robots.as_deref().map_or_else(
            || "no robots.txt for this scheme, host and port is archived".to_owned(),
            shown
        )
    );
    for visit in &explanation.visits {
        let Some(how) = how(visit) else {
            // It tells what an earlier visit meant.
            say!(
                "  verdict   {:.0}  {}{}",
                visit.time,
                shown(&visit.result),
                change(visit)
            );
            continue;
        };
        say!(
            "  visit     {:.0}  {}{}  ({} ms, {} bytes, {how})",
            visit.time,
            shown(&visit.result),
            change(visit),
            visit.duration_ms,
            visit.size
        );
    }
    if explanation.visits.is_empty() {
        say!("  visit     none so far");
    }
    for capture in &explanation.captures {
        let status = shown(capture.status.as_deref().unwrap_or("-"));
        say!(
            "  capture   {}  {status}  {} at {}",
            shown(&capture.timestamp),
            shown(&capture.filename),
            capture.offset
        );
    }
}

/// How a page was come to; none if the event is no visit.
fn how(visit: &LogEvent<'_>) -> Option<String> {
    if visit.annotations.iter().any(|word| word == "joined") {
        return None;
    }
    Some(match (&*visit.hops, &*visit.via) {
        ("A", _) => "out of turn, asked for".to_owned(),
        ("S", _) => "out of turn, a list said that it had changed".to_owned(),
        ("-", "") => "in its turn".to_owned(),
        ("", "") if visit.change.is_some() => "in its turn, as a seed".to_owned(),
        ("", "") => "as a seed".to_owned(),
        (hops, via) if is_inferred(hops) => format!("by {}: {}", shown(hops), inferred(via)),
        (hops, via) => format!("by {} from {}", shown(hops), shown(via)),
    })
}

/// Whether no page was seen to link to it.
fn is_inferred(hops: &str) -> bool {
    hops.ends_with('I')
}

/// How it was come by all the same.
fn inferred(via: &str) -> String {
    let via = shown(via);
    format!("no page was seen to link to it; it was inferred from {via}")
}

/// What changed, where that is known.
fn change(visit: &LogEvent<'_>) -> String {
    let change = visit.change.as_deref();
    change.map_or_else(String::new, |change| format!(", {}", shown(change)))
}

/// What is known of it and of its server, and when it is visited next.
fn print_future(explanation: &Explanation) {
    if let Some(waiting) = &explanation.waiting {
        let via = match (&*waiting.hops, &*waiting.via) {
            ("A", _) => "out of turn, asked for".to_owned(),
            ("S", _) => "out of turn, a list said that it had changed".to_owned(),
            ("-", "") => "known, and its state could not be read".to_owned(),
            (hops, via) if is_inferred(hops) => inferred(via),
            (_, "") => "a seed".to_owned(),
            (_, via) => format!("found on {}", shown(via)),
        };
        say!(
            "  waiting   {via}, {} links deep, {} tries so far",
            waiting.depth,
            waiting.tries
        );
    }
    if let Some(page) = &explanation.page {
        say!("  known     {}", shown(&page.why));
    }
    if let Some(bears) = &explanation.bears {
        say!("  bears     {}", shown(bears));
    }
    if let Some(signals) = &explanation.signals {
        say!("  signals   {}", shown(signals));
    }
    let asked = |server: &&ServerState| 0 < server.strikes;
    if let Some(server) = explanation.server.as_ref().filter(asked) {
        say!(
            "  server    key {}: {} strikes",
            server.key.number(),
            server.strikes
        );
    }
    if let Some(host) = &explanation.host {
        say!("  host      {host}");
    }
    if let Some(paused) = &explanation.paused {
        say!("  paused    {}", shown(paused));
    }
    if let Some(live) = &explanation.live {
        say!("  now       {}", shown(&live.place));
        if let Some(lease) = &live.lease {
            say!("  lease     {}", shown(lease));
        }
    }
    say!("  next      {}", shown(&explanation.next_visit));
}
