//! `junkai focus explore`: finds out by few fetches which sites hold what is wanted.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use junkai_crawler::focus::{Aim, SiteVerdict, write_verdicts};
use junkai_crawler::{ArchiveFolder, Ended, Preset, Settings};
use junkai_focus::explore::Policy;
use junkai_focus::learn::Model;
use junkai_simulation::outcome::grouped;

use super::run::Run;
use crate::command::crawl;
use crate::exit::{Ending, bad_command_line};
use crate::print::{say, shown, shown_within};
use crate::telling::counted;

/// Sites that the table shows of each verdict, where there are many.
const SHOWN_MAX: usize = 50;
/// Characters of a site's name, and of a word that spoke for a verdict, that the table shows.
const SITE_SHOWN_MAX: usize = 80;

/// What `junkai focus explore` takes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  junkai focus explore -i sites.txt --archive study --contact you@example.org
  junkai focus explore -i sites.txt --archive study --fetches 2000 --model births.model
  junkai focus explore https://example.org --sites-from-crawl --fetches 5000 --archive study --contact you@example.org

A run that was stopped or killed goes on with the same command; what was fetched counts. The verdicts are in DIR/focus/sites.jsonl and sites.parquet, \
  what each page said in DIR/focus/evidence.jsonl; `junkai focus explain SITE` tells why. Then `junkai focus collect` gets the files.")]
pub(crate) struct Arguments {
    /// The sites: URLs, or host names. May be left out when the archive has been explored before.
    #[arg(value_name = "SEED")]
    seeds: Vec<String>,
    /// Read more seeds from a file, one a line, `#` for comments; `-` is standard input.
    #[arg(long, short = 'i', value_name = "FILE")]
    seeds_file: Option<PathBuf>,
    /// The model that knows what is wanted [default: statistical data, as it comes with junkai].
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Pages to fetch, over all sites and all runs of this archive [default: 10 for each site].
    #[arg(long, value_name = "N")]
    fetches: Option<u64>,
    /// How the next site is chosen [default: as junkai.toml says, or the best policy of the lab].
    #[arg(long, value_name = "POLICY", value_parser = policies())]
    policy: Option<Policy>,
    /// A site is taken to hold what is wanted from this probability on [default: 0.5].
    #[arg(long, value_name = "P")]
    threshold: Option<f64>,
    /// Explore every site to which links lead, not only those of the seeds; each from its home page on.
    #[arg(long)]
    sites_from_crawl: bool,
    #[command(flatten)]
    run: Run,
}

/// Explores, and prints what each site is taken for.
pub(crate) fn run(mut arguments: Arguments) -> Result<Ending> {
    if let Some(file) = &arguments.seeds_file {
        arguments.seeds.extend(crawl::read_seeds(file)?.0);
    }
    let archive = arguments.run.archive.clone();
    if arguments.seeds.is_empty() && !ArchiveFolder::real(&archive).is_there() {
        return Err(bad_command_line(
            "nothing to explore; name the sites (`junkai focus explore https://example.org …`, or `-i FILE`)",
        ));
    }
    let settings = settings(&arguments)?;
    let run = arguments.run.as_crawl("junkai focus explore");
    let kept = settings.clone();
    let summary = crawl::watch(&archive, settings, &run)?;
    let verdicts = write_verdicts(&archive, &kept)?;
    if run.json {
        for verdict in &verdicts {
            say!(
                "{}",
                serde_json::json!({ "type": "site", "verdict": verdict })
            );
        }
        say!(
            "{}",
            serde_json::json!({ "type": "summary", "archive": archive, "summary": summary })
        );
    } else {
        print(&verdicts);
        say!(
            "{} fetched in {:.0} s",
            counted(summary.progress.pages, "page"),
            summary.seconds
        );
        if summary.ended == Ended::Complete {
            say!(
                "no page is left that is worth a fetch; how much one must be worth is `focus.worth_min` in {}/junkai.toml",
                archive.display()
            );
        }
        if verdicts.iter().any(|verdict| verdict.holds) {
            let archive = archive.display();
            say!("go on with `junkai focus collect --archive {archive}`");
        }
    }
    let is_anything_known = verdicts.iter().any(|verdict| verdict.unknown.is_none());
    Ok(match crawl::ending(&summary) {
        // Nothing came because nothing more is to be learned.
        Ending::Problems if is_anything_known => Ending::Well,
        ending => ending,
    })
}

/// Reads the name of a policy; help and errors list them.
fn policies() -> impl TypedValueParser<Value = Policy> {
    PossibleValuesParser::new(Policy::ALL.map(Policy::name)).try_map(|name| name.parse::<Policy>())
}

/// The file's settings, or the defaults, under the flags.
fn settings(arguments: &Arguments) -> Result<Settings> {
    let mut settings = arguments.run.settings()?;
    crawl::add_missing(&mut settings.crawl.seeds, &arguments.seeds);
    // An archive that was begun with `--sites-from-crawl` goes on so.
    settings.scope.preset = match (arguments.sites_from_crawl, settings.scope.preset) {
        (true, _) | (false, Preset::Any) => Preset::Any,
        (false, _) => Preset::Site,
    };
    let focus = &mut settings.focus;
    if let Some(model) = &arguments.model {
        let place = std::path::absolute(model)?;
        if !place.is_file() {
            bail!("there is no model {}", model.display());
        }
        Model::load(&place).with_context(|| format!("cannot use {}", model.display()))?;
        focus.model = Some(place);
    }
    focus.policy = arguments.policy.unwrap_or(focus.policy);
    focus.threshold = arguments.threshold.unwrap_or(focus.threshold);
    focus.aim = Aim::Explore {
        fetches: arguments.fetches,
    };
    Ok(settings)
}

fn print(verdicts: &[SiteVerdict]) {
    let (unknown, known): (Vec<_>, Vec<_>) = verdicts.iter().partition(|it| it.unknown.is_some());
    let (holding, others): (Vec<_>, Vec<_>) = known.into_iter().partition(|it| it.holds);
    say!(
        "{:<32} {:>7} {:>8} {:>7}  why",
        "site",
        "holds",
        "error",
        "fetches"
    );
    for group in [&holding, &others, &unknown] {
        for verdict in group.iter().take(SHOWN_MAX) {
            say!("{}", line(verdict));
        }
        if SHOWN_MAX < group.len() {
            say!("… and {} more", grouped((group.len() - SHOWN_MAX) as u64));
        }
    }
    let of = counted(verdicts.len() as u64, "site");
    let (verb, count) = match holding.len() {
        1 => ("is", "1".to_owned()),
        count => ("are", grouped(count as u64)),
    };
    say!("{count} of {of} {verb} taken to hold what is wanted");
    if !unknown.is_empty() {
        let unknown = counted(unknown.len() as u64, "site");
        say!("nothing is known of {unknown}");
    }
}

fn line(verdict: &SiteVerdict) -> String {
    let site = shown_within(&verdict.site, SITE_SHOWN_MAX);
    if let Some(reason) = &verdict.unknown {
        return format!(
            "{site:<32} {:>7} {:>8} {:>7}  {}",
            "unknown",
            "-",
            0,
            shown(reason)
        );
    }
    let why = verdict.why.iter();
    let why: Vec<String> = why
        .map(|clue| shown_within(&clue.feature, SITE_SHOWN_MAX))
        .collect();
    format!(
        "{site:<32} {:>7} {:>8.4} {:>7}  {}",
        if verdict.holds { "yes" } else { "no" },
        verdict.error_probability,
        verdict.fetches,
        why.join(", ")
    )
}
