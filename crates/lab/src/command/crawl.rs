//! `junkai lab crawl`: any policies on a graph.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};
use junkai_simulation::comparison::{Compared, Entry, compare, least_gap, outcome};
use junkai_simulation::outcome::grouped;
use junkai_simulation::policy::{NotAPolicy, Policy};
use junkai_simulation::subject::Subject;
use junkai_terminal::bar::Bar;
use junkai_terminal::exit::{Ending, bad_command_line};
use junkai_terminal::print::say;
use junkai_terminal::show::{self, SharedBar, Shown, Table};

use super::source::Source;

/// Examples for `--help`.
pub(super) const EXAMPLES: &str = "\
Policies are written NAME[:N][,OPTION]…
  opt                    the ceiling: pages by their true PageRank
  bfs                    breadth first
  one-step-ring:256x256  a published ring to the letter: 256 slots, 256 residues
  irlbot, beast          budgets for sites, as the prototype has them, as published
  in-degree[:9000]       most linked first, with at most 9,000 waiting in memory
  ring:1024x65536        junkai's ring alone: slots, server keys
  worth[:9000]           junkai's order: estimated PageRank, hosts taking turns, on its ring
Options:
  discard, aside, welcome  what becomes of a page that finds no room: it is
                           forgotten, or on disk; a link to it welcomes it back
  at-once, polite          without the ring, or with it, as in
                           polite,concurrency=16,interval-ms=1000,robots

Examples:
  junkai lab crawl graphs/cnr-2000 --policy bfs worth:9000,welcome opt
  junkai lab crawl --generate 100000 --policy one-step-ring:64x64 --out results
  junkai lab crawl web --policy worth --order-file order.tsv";

/// What `junkai lab crawl` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// How to crawl; several are compared.
    #[arg(long, short, value_name = "POLICY", num_args = 1.., default_values = DEFAULT_POLICIES)]
    policy: Vec<Named>,
    /// Visit at most this many pages.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pages_max: Option<u32>,
    /// Write the visits in their order to FILE, a line each: page number, and URL where it is known. For one policy.
    #[arg(long, value_name = "FILE")]
    order_file: Option<PathBuf>,
    /// Write the table, the curves (CSV) and figures (SVG) to `DIR/crawl`.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

const DEFAULT_POLICIES: [&str; 6] = [
    "opt",
    "bfs",
    "irlbot",
    "in-degree",
    "one-step-ring:256x256",
    "worth:9000",
];

/// A policy under the name that the user gave it.
#[derive(Clone)]
struct Named(Entry);

impl FromStr for Named {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<Named, NotAPolicy> {
        let policy: Policy = text.parse()?;
        Ok(Named(Entry {
            policy,
            label: text.to_owned(),
        }))
    }
}

/// Crawls, and prints what came of it.
pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    let entries: Vec<Entry> = arguments
        .policy
        .iter()
        .map(|named| named.0.clone())
        .collect();
    if arguments.order_file.is_some() && entries.len() != 1 {
        return Err(bad_command_line(
            "--order-file takes one policy: name it by --policy",
        ));
    }
    let subject = arguments.source.subject(&mut Bar::new())?;
    if let Some(out) = &arguments.out {
        show::prepare(out)?;
    }
    let pages_max = arguments.pages_max.unwrap_or(u32::MAX);
    let total = u64::from(subject.value.reachable().min(pages_max)) * entries.len() as u64;
    let bar = SharedBar::new();
    let compared = compare(&subject, &entries, pages_max, &|visits| {
        bar.at("crawling", visits, total);
    });
    drop(bar);
    if let (Some(file), Some(one)) = (&arguments.order_file, compared.first()) {
        write_order(file, &subject, one)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    let outcome = outcome(&subject, &compared, again(arguments));
    let written = match &arguments.out {
        Some(out) => Some(show::write(&outcome, out)?),
        None => None,
    };
    if !arguments.json {
        for line in table(&subject, &compared).lines() {
            say!("{line}");
        }
        say!("");
    }
    let shown = Shown {
        written,
        out_again: arguments
            .out
            .as_deref()
            .map_or_else(String::new, show::out_again),
        json: arguments.json,
    };
    show::outcome(&outcome, &shown)?;
    if !arguments.json && shown.written.is_none() {
        say!("Curves and figures: the same with --out DIR");
    }
    Ok(Ending::Well)
}

/// The command that repeats it.
fn again(arguments: &Arguments) -> String {
    let labels: Vec<&str> = arguments
        .policy
        .iter()
        .map(|named| named.0.label.as_str())
        .collect();
    let pages_max = arguments.pages_max;
    format!(
        "junkai lab crawl{} --policy {}{}",
        arguments.source.again(),
        labels.join(" "),
        pages_max.map_or_else(String::new, |pages| format!(" --pages-max {pages}"))
    )
}

fn write_order(file: &Path, subject: &Subject, one: &Compared) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    for &page in &one.run.order {
        match &subject.web.urls {
            Some(urls) => writeln!(out, "{page}\t{}", urls.get(page))?,
            None => writeln!(out, "{page}")?,
        }
    }
    out.flush()
}

/// Shares of PageRank when a part of the pages was visited, and what it took.
fn table(subject: &Subject, compared: &[Compared]) -> Table {
    let share =
        |share: Option<f64>| share.map_or_else(|| "–".to_owned(), |share| format!("{share:.3}"));
    let at = |part: f64| {
        let cells = compared
            .iter()
            .map(|one| share(subject.value.share_at(&one.cumulated, part)));
        with_header(&format!("{:.0} %", 100.0 * part), cells)
    };
    let gap =
        |one: &Compared| least_gap(&one.policy, &one.run.pace).unwrap_or_else(|| "–".to_owned());
    let coverage = |one: &Compared| format!("{:.0} %", 100.0 * subject.value.coverage(&one.run));
    let labels = compared.iter().map(|one| shortened(&one.label));
    Table {
        columns: vec![
            with_header("PageRank at", labels),
            at(0.1),
            at(0.2),
            at(0.5),
            with_header(
                "end",
                compared
                    .iter()
                    .map(|one| share(one.cumulated.last().copied())),
            ),
            with_header("pages", compared.iter().map(coverage)),
            with_header(
                "stored",
                compared
                    .iter()
                    .map(|one| grouped(one.run.stored_max().into())),
            ),
            with_header(
                "dropped",
                compared.iter().map(|one| grouped(one.run.discarded)),
            ),
            with_header("gap", compared.iter().map(gap)),
        ],
    }
}

fn with_header(header: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(header.to_owned()).chain(cells).collect()
}

/// A name that leaves room for the numbers.
fn shortened(label: &str) -> String {
    const LENGTH_MAX: usize = 20;
    if label.chars().count() <= LENGTH_MAX {
        return label.to_owned();
    }
    let start: String = label.chars().take(LENGTH_MAX - 1).collect();
    start + "…"
}
