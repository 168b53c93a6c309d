//! `junkai export`: what an archive knows, in forms that other programs read.

use std::path::{Path, PathBuf};

use anyhow::Result;
use junkai_simulation::archive_graph::folder::{self, Occupied, Parts, Summary};
use junkai_simulation::archive_graph::{ArchiveGraphError, Options, read};
use junkai_simulation::outcome::grouped;

use crate::bar::Bar;
use crate::config;
use crate::exit::Ending;
use crate::print::{say, shown};
use crate::screen::bytes;

/// What can be exported.
#[derive(clap::Subcommand)]
pub(crate) enum Export {
    /// Write the link graph of an archive: pages with their URLs, hosts, servers. Reads any folder of WARC files.
    Graph(GraphArguments),
}

/// What `junkai export graph` takes.
#[derive(clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own on the command line"
)]
pub(crate) struct GraphArguments {
    /// The archive's folder; or any folder of WARC files, or one such file.
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,
    /// The folder to write to. Default: `exports/graph` in the archive's folder.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the graph of hosts alone, without pages.
    #[arg(long)]
    hosts: bool,
    /// Leave out pages that were only linked to, never captured.
    #[arg(long)]
    captured: bool,
    /// Write to the folder even if it holds something else; files of the same names are replaced.
    #[arg(long)]
    force: bool,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
}

/// Does it.
pub(crate) fn run(export: &Export) -> Result<Ending> {
    match export {
        Export::Graph(arguments) => graph(arguments),
    }
}

fn graph(arguments: &GraphArguments) -> Result<Ending> {
    let archive = &arguments.archive;
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| default_out(archive));
    let occupied = if arguments.force {
        Occupied::Overwrite
    } else {
        // Before the long work, not after it.
        folder::check(&out).map_err(with_hint)?;
        Occupied::Refuse
    };
    let parts = if arguments.hosts {
        Parts::Hosts
    } else {
        Parts::PagesAndHosts
    };
    let mut bar = Bar::new();
    let mut graph = read(archive, &options(archive)?, &mut |progress| {
        bar.show(progress);
    })?;
    if arguments.captured {
        graph = graph.only_captured();
    }
    let written = folder::write(&graph, &out, parts, occupied, &mut |progress| {
        bar.show(progress);
    });
    bar.finish();
    let summary = written.map_err(with_hint)?;
    if arguments.json {
        say!("{}", serde_json::to_string(&summary)?);
    } else {
        print(&summary, arguments, &out);
    }
    Ok(Ending::Well)
}

/// How the links of an archive are read: with the settings of its last crawl. Other people's archives have none; for them
/// the defaults hold.
///
/// # Errors
/// If the settings are there, and wrong.
pub(crate) fn options(archive: &Path) -> Result<Options> {
    let settings = config::in_force(archive)?.unwrap_or_default();
    let decoded_bytes_max = settings.fetch.max_decoded_bytes.as_u64();
    Ok(Options {
        links: settings.links,
        canonical: settings.canonical,
        robots_agent: settings.identity.product,
        respect_nofollow: settings.crawl.respect_nofollow,
        sitemaps: settings.crawl.sitemaps,
        decoded_bytes_max: usize::try_from(decoded_bytes_max).unwrap_or(usize::MAX),
        // A response in chunks is somewhat longer than its body.
        record_bytes_max: Options::default()
            .record_bytes_max
            .max(settings.fetch.max_body_bytes.as_u64().saturating_mul(2)),
        ..Options::default()
    })
}

fn default_out(archive: &Path) -> PathBuf {
    if archive.is_file() {
        let parent = archive.parent().unwrap_or(Path::new(""));
        parent.join("exports/graph")
    } else {
        archive.join("exports/graph")
    }
}

/// Says which flag helps.
fn with_hint(error: ArchiveGraphError) -> anyhow::Error {
    let hint = match &error {
        ArchiveGraphError::NotOurs { .. } => Some("use --out DIR, or --force to overwrite"),
        ArchiveGraphError::Write { .. } => Some("use --out DIR to write elsewhere"),
        _ => None,
    };
    let error = anyhow::Error::from(error);
    match hint {
        Some(hint) => {
            let message = format!("{error} ({hint})");
            error.context(message)
        }
        None => error,
    }
}

fn print(summary: &Summary, arguments: &GraphArguments, out: &Path) {
    let report = &summary.report;
    say!("{}", out.display());
    say!(
        "  pages      {:>14}   {} of them captured",
        grouped(u64::from(summary.pages)),
        grouped(u64::from(summary.captured))
    );
    say!("  links      {:>14}", grouped(summary.links));
    say!(
        "  hosts      {:>14}   {} pairs linked, on {} servers",
        grouped(u64::from(summary.hosts)),
        grouped(summary.host_links),
        grouped(summary.servers)
    );
    say!(
        "  read       {:>14}   in {} WARC files: {} captures, {} of them revisit records",
        bytes(report.bytes),
        grouped(report.files),
        grouped(report.captures),
        grouped(report.revisits)
    );
    if 0 < report.robots_files {
        say!(
            "  left out   {:>14}   robots.txt files: they are not pages",
            grouped(report.robots_files)
        );
    }
    for (count, reason) in report.passed_over.reasons() {
        say!("  passed over{:>14}   {reason}", grouped(count));
    }
    for problem in &report.problems {
        say!(
            "    {} at {}: {}",
            shown(&problem.file),
            problem.offset,
            shown(&problem.message)
        );
    }
    let graph = if arguments.hosts {
        out.join("hosts")
    } else {
        out.to_owned()
    };
    say!("Experiments on it: junkai lab ring {}", graph.display());
    say!(
        "What another schedule would have fetched: junkai what-if --archive {}",
        arguments.archive.display()
    );
}
