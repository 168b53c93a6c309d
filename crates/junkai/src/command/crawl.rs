//! `junkai crawl`: from seeds to an archive.

use std::collections::HashSet;
use std::hash::Hash;
use std::io::{BufRead, IsTerminal};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use junkai_crawler::{Crawl, Ended, Preset, Progress, Settings, Summary};

use crate::config;
use crate::exit::Ending;
use crate::print::{shown, shown_lines, tell};
use crate::screen::{Screen, Style};

/// What `junkai crawl` takes. Flags go before the configuration file, which goes before the defaults.
#[derive(clap::Args)]
#[command(after_help = "\
A crawl goes on until it is stopped: it finds pages, and comes back to each at the pace at which it changes. With nothing to do it \
  sleeps. Ctrl-C ends it in order; the next run of the same archive goes on. For an archive of one moment, say --once. \
  While it runs, `junkai add`, `revisit`, `pause`, `resume` and `scope` tell it what you wish.")]
pub(crate) struct Arguments {
    /// Where to start: URLs, or host names. May be left out when the archive has been crawled before.
    #[arg(value_name = "SEED")]
    seeds: Vec<String>,
    /// Read more seeds from a file, one a line, `#` for comments; `-` is standard input.
    #[arg(long, short = 'i', value_name = "FILE")]
    seeds_file: Option<PathBuf>,
    /// How far to follow links around each seed.
    #[arg(long, value_enum, value_name = "PRESET")]
    scope: Option<Scope>,
    /// Also follow URLs that match this regular expression; may be repeated.
    #[arg(long, value_name = "REGEX")]
    include: Vec<String>,
    /// Never follow URLs that match this regular expression; may be repeated.
    #[arg(long, value_name = "REGEX")]
    exclude: Vec<String>,
    /// Follow at most this many links from a seed.
    #[arg(long, value_name = "N")]
    depth: Option<u16>,
    /// Fetch images, style sheets, scripts and media that pages need.
    #[arg(long)]
    requisites: bool,
    /// In which order known pages are visited [default: fifo, or as junkai.toml says].
    #[arg(long, value_enum)]
    order: Option<Order>,
    /// What becomes of a new URL when the ring has no room for its server.
    #[arg(long, value_enum)]
    overflow: Option<Overflow>,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    run: RunArguments,
}

/// Who visits, and what may be reached: what all commands that crawl have in common.
#[derive(clap::Args)]
pub(crate) struct Reach {
    /// Configuration file; default: junkai.toml in the archive, where there is one.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// An e-mail address or URL where operators of servers reach you; needed before any public address is visited.
    #[arg(long, env = "JUNKAI_CONTACT")]
    contact: Option<String>,
    /// Visit loopback and private addresses too.
    #[arg(long)]
    allow_private: bool,
    /// Visit addresses of this network whatever it is, as in `127.0.0.0/8`; may be repeated.
    #[arg(long, value_name = "NETWORK")]
    allow: Vec<ipnet::IpNet>,
    /// Ask these name servers instead of the system's (`address:port`); may be repeated.
    #[arg(long, value_name = "ADDRESS")]
    dns: Vec<std::net::SocketAddr>,
    /// Trust the certificate authorities in this PEM file too.
    #[arg(long, value_name = "FILE")]
    extra_roots: Option<PathBuf>,
}

/// What `crawl` and `demo` have in common.
#[derive(clap::Args, Clone)]
pub(crate) struct RunArguments {
    /// The folder that holds captures, index and state. Default: the first seed's host; for the demo, `junkai-demo`.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
    /// End when every page in scope has been visited once, instead of keeping the archive up to date.
    #[arg(long)]
    pub(crate) once: bool,
    /// Stop after this many pages.
    #[arg(long, value_name = "N")]
    pub(crate) pages: Option<u64>,
    /// Stop after this time (`90s`, `2h`, `7days`).
    #[arg(long = "for", value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) run_time: Option<Duration>,
    /// The least time between the end of one visit to a server and the start of the next. Default 5s; in the demo 1s.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) interval: Option<Duration>,
    /// Visits in flight over all servers together; each server has at most one [default: 512].
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// Threads that fetch, parse and compress [default: one for each core].
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<NonZeroUsize>,
    /// Print progress and the summary as JSON lines on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the summary only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The command that goes on with the archive.
    #[arg(skip = "junkai crawl")]
    pub(crate) go_on: &'static str,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scope {
    Page,
    Prefix,
    Host,
    Site,
    Any,
}

#[derive(Clone, Copy, ValueEnum)]
enum Order {
    /// As they are found: plain, and right when everything will be visited anyway.
    Fifo,
    /// First the page to which the most visited pages link: finds the authorities of a subject or of few hosts.
    InDegree,
    /// Each site has visits by how many others link to it, as `IRLbot` has it: to compare with; memory grows with the sites found.
    SiteBudgets,
    /// First the page that is worth the most by what links to it, hosts taking turns: when there is more to visit than time.
    Worth,
}

#[derive(Clone, Copy, ValueEnum)]
enum Overflow {
    Defer,
    Discard,
}

/// Crawls until done, or until told to stop.
pub(crate) fn run(mut arguments: Arguments) -> Result<Ending> {
    if let Some(file) = &arguments.seeds_file {
        arguments.seeds.extend(read_seeds(file)?);
    }
    let archive = archive_folder(&arguments)?;
    let settings = settings(&arguments, &archive)?;
    tell_of_differences(&settings, &archive)?;
    crawl(&archive, settings, &arguments.run)
}

/// Says which settings hold for this run alone, because flags or another file say other than the archive's own: the next run goes by that again.
pub(crate) fn tell_of_differences(settings: &Settings, archive: &Path) -> Result<()> {
    let path = archive.join("junkai.toml");
    if !path.exists() {
        // This run writes it.
        return Ok(());
    }
    let differences = config::differences(settings, &config::load(&path)?)?;
    for difference in &differences {
        tell!("for this run: {}", shown(difference));
    }
    if !differences.is_empty() {
        tell!("to keep that, write it into {}", path.display());
    }
    Ok(())
}

/// Runs a crawl with its screen and signals, and says what it came to; shared with `demo`.
pub(crate) fn crawl(archive: &Path, settings: Settings, run: &RunArguments) -> Result<Ending> {
    let summary = watch(archive, settings, run)?;
    crate::screen::summarise(run.style(), archive, run.go_on, &summary);
    Ok(ending(&summary))
}

/// How a run ended, as the shell is told.
pub(crate) fn ending(summary: &Summary) -> Ending {
    let progress = &summary.progress;
    let nothing_came = progress.pages == 0 && 0 < progress.errors;
    let is_damaged = 0 < progress.visits_lost + progress.states_lost;
    match summary.ended {
        Ended::Stopped => Ending::Stopped,
        _ if is_damaged => Ending::Problems,
        Ended::Complete if nothing_came => Ending::Problems,
        Ended::Complete | Ended::PagesReached | Ended::TimeReached => Ending::Well,
    }
}

/// Runs a crawl with its screen and signals.
pub(crate) fn watch(archive: &Path, settings: Settings, run: &RunArguments) -> Result<Summary> {
    let mistakes = settings.mistakes();
    if !mistakes.is_empty() {
        return Err(config::report("the configuration", &mistakes));
    }
    let style = run.style();
    let progress = Arc::new(Progress::default());
    stop_on_signals(Arc::clone(&progress))?;
    let crawl = Crawl::open(archive, settings, Arc::clone(&progress))?;
    for repair in crawl.repairs() {
        tell!("repaired: {}", shown_lines(repair));
    }
    let screen = Screen::start(style, archive, Arc::clone(&progress));
    let summary = crawl.run();
    screen.finish();
    Ok(summary?)
}

impl RunArguments {
    /// How progress is shown.
    pub(crate) fn style(&self) -> Style {
        match (self.json, self.quiet, std::io::stderr().is_terminal()) {
            (true, _, _) => Style::Json,
            (false, true, _) => Style::Quiet,
            (false, false, true) => Style::Live,
            (false, false, false) => Style::Lines,
        }
    }

    /// Lays the flags over the settings.
    pub(crate) fn apply(&self, settings: &mut Settings) {
        let crawl = &mut settings.crawl;
        crawl.once |= self.once;
        crawl.pages_max = self.pages.or(crawl.pages_max);
        crawl.run_time_max = self.run_time.or(crawl.run_time_max);
        crawl.concurrency = self.concurrency.unwrap_or(crawl.concurrency);
        crawl.workers = self.workers.or(crawl.workers);
        if let Some(interval) = self.interval {
            settings.politeness.interval = interval;
        }
    }
}

impl Reach {
    /// The file's settings, or the defaults, under the flags.
    pub(crate) fn settings(&self, archive: &Path) -> Result<Settings> {
        let in_archive = archive.join("junkai.toml");
        let mut settings = match &self.config {
            Some(file) => config::load(file)?,
            None if in_archive.exists() => config::load(&in_archive)?,
            None => Settings::default(),
        };
        if self.contact.is_some() {
            settings.identity.contact.clone_from(&self.contact);
        }
        settings.addresses.allow_private |= self.allow_private;
        add_missing(&mut settings.addresses.allow, &self.allow);
        add_missing(&mut settings.dns.name_servers, &self.dns);
        if self.extra_roots.is_some() {
            settings.fetch.extra_roots.clone_from(&self.extra_roots);
        }
        Ok(settings)
    }
}

/// The file's settings, or the defaults, under the flags.
fn settings(arguments: &Arguments, archive: &Path) -> Result<Settings> {
    let mut settings = arguments.reach.settings(archive)?;
    arguments.run.apply(&mut settings);
    add_missing(&mut settings.crawl.seeds, &arguments.seeds);
    if let Some(scope) = arguments.scope {
        settings.scope.preset = scope.into();
    }
    add_missing(&mut settings.scope.include, &arguments.include);
    add_missing(&mut settings.scope.exclude, &arguments.exclude);
    settings.scope.depth_max = arguments.depth.or(settings.scope.depth_max);
    settings.links.requisites |= arguments.requisites;
    if let Some(order) = arguments.order {
        settings.crawl.order = order.into();
    }
    if let Some(overflow) = arguments.overflow {
        settings.crawl.overflow = overflow.into();
    }
    Ok(settings)
}

/// Adds what is not there yet, so that a flag which repeats the file changes nothing.
pub(crate) fn add_missing<T: Clone + Eq + Hash>(list: &mut Vec<T>, more: &[T]) {
    let mut there: HashSet<T> = list.iter().cloned().collect();
    list.extend(
        more.iter()
            .filter(|item| there.insert((*item).clone()))
            .cloned(),
    );
}

/// The archive that was named, or one named after the first seed.
fn archive_folder(arguments: &Arguments) -> Result<PathBuf> {
    if let Some(archive) = &arguments.run.archive {
        return Ok(archive.clone());
    }
    let Some(seed) = arguments.seeds.first() else {
        bail!(
            "nothing to crawl; name a seed (`junkai crawl https://example.org`) or an archive that was begun before (`--archive DIR`)"
        );
    };
    let canonical = junkai_weburl::Canonicalizer::new(&junkai_weburl::CanonicalConfig::default());
    let seed = canonical
        .parse_seed(seed)
        .with_context(|| format!("seed {seed:?}"))?;
    Ok(PathBuf::from(seed.host()))
}

pub(crate) fn read_seeds(file: &Path) -> Result<Vec<String>> {
    let lines: std::io::Result<Vec<String>> = if file == Path::new("-") {
        std::io::stdin().lock().lines().collect()
    } else {
        let opened = std::fs::File::open(file)
            .with_context(|| format!("cannot read seeds from {}", file.display()))?;
        std::io::BufReader::new(opened).lines().collect()
    };
    let lines = lines.with_context(|| format!("cannot read seeds from {}", file.display()))?;
    let seed = |line: String| {
        let seed = line.trim();
        (!seed.is_empty() && !seed.starts_with('#')).then(|| seed.to_owned())
    };
    Ok(lines.into_iter().filter_map(seed).collect())
}

/// Ctrl-C and SIGTERM: once ends the crawl in order, twice at once.
fn stop_on_signals(progress: Arc<Progress>) -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            runtime.block_on(async {
                let (Ok(mut interrupt), Ok(mut terminate)) = (
                    signal(SignalKind::interrupt()),
                    signal(SignalKind::terminate()),
                ) else {
                    return;
                };
                loop {
                    tokio::select! {
                        _ = interrupt.recv() => {}
                        _ = terminate.recv() => {}
                    }
                    match progress.ask_to_stop() {
                        junkai_crawler::Stop::Now => std::process::exit(11),
                        _ => tell!(
                            "\nstopping: finishing what is in flight (Ctrl-C again to stop at once)"
                        ),
                    }
                }
            });
        })?;
    Ok(())
}

impl From<Scope> for Preset {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Page => Preset::Page,
            Scope::Prefix => Preset::Prefix,
            Scope::Host => Preset::Host,
            Scope::Site => Preset::Site,
            Scope::Any => Preset::Any,
        }
    }
}

impl From<Order> for junkai_frontier::admission::Order {
    fn from(order: Order) -> Self {
        match order {
            Order::Fifo => Self::Fifo,
            Order::InDegree => Self::InDegree,
            Order::SiteBudgets => Self::SiteBudgets,
            Order::Worth => Self::Worth,
        }
    }
}

impl From<Overflow> for junkai_frontier::Overflow {
    fn from(overflow: Overflow) -> Self {
        match overflow {
            Overflow::Defer => junkai_frontier::Overflow::Defer,
            Overflow::Discard => junkai_frontier::Overflow::Discard,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::hash::Hasher;

    use super::*;

    thread_local! {
        static COMPARISONS: Cell<usize> = const { Cell::new(0) };
    }

    /// A seed that counts how often any is compared with another.
    #[derive(Clone, Debug)]
    struct Seed(usize);

    impl PartialEq for Seed {
        fn eq(&self, other: &Seed) -> bool {
            COMPARISONS.set(COMPARISONS.get() + 1);
            self.0 == other.0
        }
    }

    impl Eq for Seed {}

    impl Hash for Seed {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    #[test]
    fn each_seed_is_compared_with_few_others_however_many_there_are() {
        const SEEDS: usize = 10_000;
        let mut list: Vec<Seed> = (0..SEEDS).map(Seed).collect();
        // Half of them are there, and each is named twice.
        let more: Vec<Seed> = (0..2 * SEEDS)
            .map(|number| Seed(SEEDS / 2 + number / 2))
            .collect();
        add_missing(&mut list, &more);
        let comparisons = COMPARISONS.get();
        assert!(comparisons <= 4 * SEEDS, "{comparisons}");
        let numbers: Vec<usize> = list.iter().map(|seed| seed.0).collect();
        assert!(numbers.into_iter().eq(0..SEEDS + SEEDS / 2));
    }
}
