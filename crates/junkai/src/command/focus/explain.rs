//! `junkai focus explain`: what a site is taken for, the pages by which it was judged, and what in them spoke.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use junkai_crawler::focus::{Evidence, SiteVerdict, evidence, verdicts};
use junkai_weburl::{CanonicalConfig, Canonicalizer};

use crate::config;
use crate::exit::{BadCommandLine, Ending};
use crate::print::{say, shown};
use crate::telling::counted;

/// What `junkai focus explain` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The archive's folder.
    #[arg(long, short, value_name = "DIR", default_value = super::run::ARCHIVE)]
    archive: PathBuf,
    /// Print JSON lines: the verdict, and then one a page.
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
        .with_context(|| BadCommandLine(format!("{:?} names no site", arguments.site)))?;
    let site = page.site();
    let mut pages = Vec::new();
    evidence(&arguments.archive, |evidence| {
        if evidence.site == site {
            pages.push(evidence);
        }
    })?;
    let settings = config::in_force(&arguments.archive)?.unwrap_or_default();
    let verdicts = verdicts(&arguments.archive, &settings)?;
    let verdict = verdicts.iter().find(|verdict| verdict.site == site);
    let Some(verdict) = verdict else {
        bail!(
            "nothing of {site} was fetched; `junkai focus explore {} --archive {}` would",
            arguments.site,
            arguments.archive.display()
        );
    };
    if arguments.json {
        say!("{}", serde_json::to_string(verdict)?);
    } else {
        say!("{}", in_words(verdict));
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

fn in_words(verdict: &SiteVerdict) -> String {
    let site = shown(&verdict.site);
    if let Some(reason) = &verdict.unknown {
        return format!("nothing is known of {site}: {}", shown(reason));
    }
    let holds = if verdict.holds {
        "is taken to hold"
    } else {
        "is taken not to hold"
    };
    let by = if verdict.proven {
        "two pages that are proof, of "
    } else {
        ""
    };
    format!(
        "{site} {holds} what is wanted (probability {:.3}, threshold {}); wrong with probability {:.4}, by {by}{}",
        verdict.probability,
        verdict.threshold,
        verdict.error_probability,
        counted(verdict.fetches.into(), "page")
    )
}

fn print(page: &Evidence) {
    let url = shown(&page.url);
    match page.probability {
        Some(probability) => say!("{probability:.3}  {url}"),
        None => say!(
            "    -  {url}  (status {}: nothing to judge by)",
            page.status
        ),
    }
    let clues = page.clues.iter();
    let clues: Vec<String> = clues
        .map(|clue| format!("{} {:+.2}", shown(&clue.feature), clue.weight))
        .collect();
    if !clues.is_empty() {
        say!("       {}", clues.join(", "));
    }
}
