//! `junkai lab graph`: what graphs are like.

use anyhow::Result;
use junkai_simulation::graph::{HostCut, Statistics};
use junkai_simulation::outcome::grouped;
use junkai_terminal::bar::Bar;
use junkai_terminal::exit::Ending;
use junkai_terminal::print::say;
use junkai_terminal::show::{Table, wrapped};

use super::source::Sources;

/// Examples for `--help`.
pub(super) const EXAMPLES: &str = "\
Measures are kept beside the graph (.junkai-graph); where that cannot be
written, in ~/.cache/junkai/graphs.

Examples:
  # two graphs, and a generated web beside them
  junkai lab graph graphs/cnr-2000 graphs/webkb --generate 300000
  # what `junkai export graph` wrote
  junkai lab graph example.org/exports/graph --json";

/// What `junkai lab graph` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sources: Sources,
    /// Print a JSON line for each graph.
    #[arg(long)]
    json: bool,
}

/// Prints it.
pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    let subjects = arguments.sources.subjects(&mut Bar::new())?;
    let statistics: Vec<&Statistics> = subjects.iter().map(|subject| &subject.statistics).collect();
    if arguments.json {
        for graph in statistics {
            say!("{}", serde_json::to_string(graph)?);
        }
        return Ok(Ending::Well);
    }
    for line in side_by_side(&statistics).lines() {
        say!("{line}");
    }
    say!("");
    for graph in statistics {
        say!(
            "{}",
            wrapped(&format!("{}: ", graph.name), &hosts(graph.host_cut))
        );
    }
    Ok(Ending::Well)
}

fn side_by_side(statistics: &[&Statistics]) -> Table {
    let mut columns = Vec::new();
    for graph in statistics {
        let rows = graph.rows();
        if columns.is_empty() {
            let names = rows.iter().map(|(name, _)| (*name).to_owned());
            columns.push(std::iter::once(String::new()).chain(names).collect());
        }
        let values = rows
            .into_iter()
            .map(|(_, value)| match value.parse::<u64>() {
                Ok(number) => grouped(number),
                Err(_) => value,
            });
        columns.push(std::iter::once(graph.name.clone()).chain(values).collect());
    }
    Table { columns }
}

/// Where the hosts of a graph come from.
fn hosts(cut: HostCut) -> String {
    match cut {
        HostCut::Urls => "hosts are the names in the URLs".to_owned(),
        HostCut::Given => "hosts are as its maker lists them".to_owned(),
        HostCut::EqualBlocks(pages) => {
            format!("hosts are blocks of {} pages", grouped(pages.into()))
        }
        HostCut::Blocks { span, least } => format!(
            "no URLs; a host ends where no link below {} passes, {least} pages at least",
            grouped(span.into())
        ),
    }
}
