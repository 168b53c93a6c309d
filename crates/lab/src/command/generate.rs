//! `junkai lab generate`: a web-like graph of any size.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use junkai_simulation::graph::Form;
use junkai_simulation::graph::generate::{Generator, GeneratorConfig};
use junkai_simulation::outcome::grouped;
use junkai_terminal::bar::Bar;
use junkai_terminal::exit::Ending;
use junkai_terminal::print::say;
use junkai_terminal::show::quoted;

/// Examples for `--help`.
pub(super) const EXAMPLES: &str = "\
The same pages, links per page and seed give the same graph on every machine.

Examples:
  # a million pages, ten million links
  junkai lab generate --pages 1000000 --out web
  # more than memory holds, in a tenth of the space
  junkai lab generate --pages 100000000 --bvgraph --out huge";

/// What `junkai lab generate` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Pages of the web.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pages: u32,
    /// Links of a page, on average.
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = links_per_page)]
    links_per_page: f64,
    /// What everything that is left to chance is drawn from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The folder to write to.
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Write a BVGraph, about 3 bits a link; the links of a page are sorted then.
    #[arg(long)]
    bvgraph: bool,
    /// Write to the folder even if it is not empty; files of the same names are replaced.
    #[arg(long)]
    force: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Writes it.
pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    let out = &arguments.out;
    if !arguments.force && !is_free(out)? {
        bail!(
            "{} is not empty: name another folder, or overwrite it with --force",
            out.display()
        );
    }
    let generator = Generator::new(GeneratorConfig {
        mean_out_degree: arguments.links_per_page,
        ..GeneratorConfig::new(arguments.pages, arguments.seed)
    });
    let form = if arguments.bvgraph {
        Form::BvGraph
    } else {
        Form::Edges
    };
    let mut bar = Bar::new();
    generator.write(out, form, &mut |progress| bar.show(progress))?;
    bar.finish();
    if arguments.json {
        let written = serde_json::json!({
            "folder": out,
            "hosts": generator.host_count(),
            "settings": generator.config(),
        });
        say!("{written}");
    } else {
        say!(
            "Wrote {} pages on {} hosts to {}",
            grouped(arguments.pages.into()),
            grouped(generator.host_count().into()),
            out.display()
        );
        say!("What it is like:    junkai lab graph {}", quoted(out));
        say!("Experiments on it:  junkai lab ring {}", quoted(out));
    }
    Ok(Ending::Well)
}

fn is_free(folder: &Path) -> Result<bool> {
    if !folder.exists() {
        return Ok(true);
    }
    let mut entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot write to {}", folder.display()))?;
    Ok(entries.next().is_none())
}

/// Links that a page can be asked to have on average.
fn links_per_page(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    if (1.0..=200.0).contains(&number) {
        Ok(number)
    } else {
        Err("say a number from 1 to 200".to_owned())
    }
}
