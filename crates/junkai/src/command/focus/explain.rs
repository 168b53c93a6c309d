//! `junkai focus explain`: the pages by which a site was judged, and what in them spoke.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use junkai_crawler::focus::{Evidence, evidence};
use junkai_weburl::{CanonicalConfig, Canonicalizer};

use crate::exit::Ending;
use crate::print::say;

/// What `junkai focus explain` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The archive's folder.
    #[arg(long, short, value_name = "DIR")]
    archive: PathBuf,
    /// Print JSON lines, one a page.
    #[arg(long)]
    json: bool,
    /// The site: its name, or any URL of it.
    #[arg(value_name = "SITE")]
    site: String,
}

/// Prints it.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let canonical = Canonicalizer::new(&CanonicalConfig::default());
    let page = canonical
        .parse_seed(&arguments.site)
        .with_context(|| format!("{:?} names no site", arguments.site))?;
    let site = page.site();
    let mut pages = Vec::new();
    evidence(&arguments.archive, |evidence| {
        if evidence.site == site {
            pages.push(evidence);
        }
    })?;
    if pages.is_empty() {
        bail!(
            "nothing of {site} was fetched; `junkai focus explore {} --archive {}` would",
            arguments.site,
            arguments.archive.display()
        );
    }
    for page in &pages {
        if arguments.json {
            say!("{}", serde_json::to_string(page)?);
        } else {
            print(page);
        }
    }
    Ok(Ending::Well)
}

fn print(page: &Evidence) {
    match page.probability {
        Some(probability) => say!("{probability:.3}  {}", page.url),
        None => say!(
            "    -  {}  (status {}: nothing to judge by)",
            page.url,
            page.status
        ),
    }
    let clues = page.clues.iter();
    let clues: Vec<String> = clues
        .map(|clue| format!("{} {:+.2}", clue.feature, clue.weight))
        .collect();
    if !clues.is_empty() {
        say!("       {}", clues.join(", "));
    }
}
