//! `junkai focus collect`: gets the data files of the sites that hold them, and lists them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use junkai_crawler::focus::{Aim, Unreached, evidence, write_catalogue};
use junkai_crawler::{Ended, Preset, Settings};
use junkai_simulation::outcome::grouped;
use junkai_weburl::Canonicalizer;

use super::run::Run;
use crate::command::crawl;
use crate::exit::Ending;
use crate::print::{say, shown, tell};
use crate::telling::counted;

/// What `junkai focus collect` takes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  junkai focus collect --archive study                        the files of all sites that explore found to hold some
  junkai focus collect --archive study --site stat.example.org --pages 2000
  junkai focus collect --archive study --depth 4 --no-guess   nothing but what pages link to, within four links of each first page

Where the pages of a site name their files alike (`x.html` and `x.csv`), files are also asked for that no page was seen to link to, under the same rules as \
  every visit (scope, robots.txt, interval, --pages); a way of guessing that is wrong more often than in one of five is given up. `junkai explain URL` tells \
  after which page a file was guessed.

A run that was stopped or killed goes on with the same command; what the archive has is not fetched again. The list of files is in \
  DIR/focus/catalogue.jsonl, .parquet and .jsonld; `junkai focus search` finds files in it. `junkai crawl --archive DIR` keeps them fresh.")]
pub(crate) struct Arguments {
    /// Collect from this site, whatever it was taken for; may be repeated [default: all that hold what is wanted].
    #[arg(long, value_name = "SITE")]
    site: Vec<String>,
    /// Follow at most this many links from a site's first page: the seed that named it, or else its home page [default: no limit].
    #[arg(long, value_name = "N")]
    depth: Option<u16>,
    /// Fetch at most this many pages and files of a site [default: 10000].
    #[arg(long, value_name = "N")]
    pages: Option<u64>,
    /// Ask only for files that a page was seen to link to.
    #[arg(long)]
    no_guess: bool,
    #[command(flatten)]
    run: Run,
}

/// Collects, and says what was found.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let archive = arguments.run.archive.clone();
    let mut is_explored = false;
    evidence(&archive, |_| is_explored = true)?;
    if !is_explored && arguments.site.is_empty() {
        let archive = archive.display();
        bail!(
            "nothing was explored in {archive}; `junkai focus explore SITE… --archive {archive}` begins, and `--site SITE` collects from a site whatever it is"
        );
    }
    let mut settings = arguments.run.settings()?;
    let unknown = unknown(&archive, &settings, &arguments.site)?;
    crawl::add_missing(&mut settings.crawl.seeds, &unknown);
    settings.scope.preset = Preset::Site;
    settings.scope.depth_max = arguments.depth.or(settings.scope.depth_max);
    settings.focus.pages_max = arguments.pages.unwrap_or(settings.focus.pages_max);
    settings.focus.guess &= !arguments.no_guess;
    settings.focus.aim = Aim::Collect {
        sites: arguments.site.clone(),
    };
    let run = arguments.run.as_crawl("junkai focus collect");
    let kept = settings.clone();
    let summary = crawl::watch(&archive, settings, &run)?;
    let catalogue = write_catalogue(&archive, &kept)?;
    if run.json {
        say!(
            "{}",
            serde_json::json!({
                "type": "summary", "archive": archive, "summary": summary, "catalogue": catalogue,
            })
        );
    } else {
        say!(
            "{} in the catalogue, {} new and {} changed; {} collected, {} fetched in {:.0} s (what the archive has is not fetched again)",
            counted(catalogue.files, "data file"),
            grouped(catalogue.added),
            grouped(catalogue.updated),
            counted(summary.progress.focus_sites, "site"),
            counted(summary.progress.pages, "URL"),
            summary.seconds
        );
        if summary.ended != Ended::Complete {
            say!("this was cut short; the same command goes on");
        }
        if 0 < catalogue.files {
            let archive = archive.display();
            say!(
                "find them with `junkai focus search \"…\" --archive {archive}`; `junkai crawl --archive {archive}` keeps them fresh"
            );
        }
    }
    tell_of_unreached(&archive, &kept, &unknown)?;
    Ok(crawl::ending(&summary))
}

/// Of the sites that are named, those that are to be asked for as they are named: where exploring has been, it is known where a site begins.
fn unknown(archive: &Path, settings: &Settings, named: &[String]) -> Result<Vec<String>> {
    let canonical = Canonicalizer::new(&settings.canonical);
    let mut explored = BTreeSet::new();
    evidence(archive, |evidence| {
        explored.insert(evidence.site);
    })?;
    let mut unknown = Vec::new();
    for name in named {
        let is_bare = !name.contains("://");
        let page = canonical.parse_seed(name)?;
        if !(is_bare && explored.contains(page.site())) {
            unknown.push(name.clone());
        }
    }
    Ok(unknown)
}

/// Says why nothing came of sites that were asked for.
fn tell_of_unreached(archive: &Path, settings: &Settings, sites: &[String]) -> Result<()> {
    let canonical = Canonicalizer::new(&settings.canonical);
    let index = junkai_archive::Index::open(archive)?;
    let mut named = BTreeSet::new();
    for site in sites {
        let page = canonical.parse_seed(site)?;
        if index.latest(page.as_str())?.is_none() {
            named.insert(page.site().to_owned());
        }
    }
    for unreached in Unreached::find(archive, settings, |site| named.contains(site))? {
        let (site, why) = (shown(&unreached.site), shown(&unreached.why));
        tell!("junkai: nothing of {site}: {why}");
    }
    Ok(())
}
