//! `junkai crawl`: from seeds to an archive.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::io::BufRead;
use std::num::{NonZeroU16, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use bytesize::ByteSize;
use clap::ValueEnum;
use ipnet::IpNet;
use junkai_crawler::{Crawl, Ended, Preset, Progress, Settings, Summary};
use junkai_fetch::{FetchConfig, HeaderConfig, LoginConfig};
use junkai_weburl::{CanonicalConfig, Canonicalizer, PageUrl, without_login};
use rustix::process::{Signal, getpid, kill_process};

use crate::config;
use crate::exit::{BadCommandLine, Ending, bad_command_line};
use crate::number;
use crate::print::{shown, shown_lines, tell};
use crate::screen::{Screen, Style, terminal};
use crate::telling::counted;

/// What `junkai crawl` takes. Flags go before the configuration file, which goes before the defaults.
#[derive(clap::Args)]
#[command(after_help = "\
A crawl goes on until it is stopped: it finds pages, and comes back to each at the pace at which it changes. With nothing to do it \
  sleeps. Ctrl-C ends it in order; the next run of the same archive goes on. For an archive of one moment, say --once. \
  While it runs, `junkai add`, `revisit`, `pause`, `resume` and `scope` give it commands.

Flags of wget, Scrapy and Browsertrix that hands know are taken, too, or answered with what to use instead: docs/coming-from.md lists them \
  (--level, --wait, --no-parent, --page-requisites, --quota, --limit, --scopeType, --collection, -s DOWNLOAD_DELAY=2 …).")]
pub(crate) struct Arguments {
    /// Where to start: URLs, or host names. May be left out when the archive has been crawled before.
    #[arg(value_name = "SEED")]
    seeds: Vec<String>,
    /// A seed, as in Browsertrix; may be repeated.
    #[arg(long, value_name = "URL", alias = "seeds", hide = true)]
    url: Vec<String>,
    /// Read more seeds from a file, one a line, `#` for comments; `-` is standard input.
    #[arg(long, short = 'i', value_name = "FILE", aliases = ["input-file", "seedFile", "urlFile"])]
    seeds_file: Option<PathBuf>,
    /// How far to follow links around each seed.
    #[arg(long, value_enum, value_name = "PRESET", alias = "scopeType")]
    scope: Option<Scope>,
    /// Also follow URLs that match this regular expression; may be repeated.
    #[arg(long, value_name = "REGEX")]
    include: Vec<String>,
    /// Never follow URLs that match this regular expression; may be repeated.
    #[arg(long, value_name = "REGEX", alias = "reject-regex")]
    exclude: Vec<String>,
    /// Follow at most this many links from a seed; 0 visits the seeds alone.
    #[arg(long, value_name = "N")]
    depth: Option<u16>,
    /// Find pages from sitemaps and feeds alone: those that robots.txt names, else /sitemap.xml, and seeds that are one. Links of pages are not followed; what they
    /// need to be shown is still fetched.
    #[arg(long, alias = "sitemaps-only")]
    sitemap_only: bool,
    /// Fetch what pages need to be shown (images, style sheets, fonts, scripts, frames), also from other hosts: the default. Overrules a `requisites = false` in junkai.toml.
    #[arg(
        long,
        overrides_with = "no_requisites",
        alias = "page-requisites",
        short_alias = 'p'
    )]
    requisites: bool,
    /// Fetch pages only, not what they need to be shown: for archives of text, which are smaller and done sooner.
    #[arg(long, overrides_with = "requisites")]
    no_requisites: bool,
    /// In which order known pages are visited [default: fifo, or as junkai.toml says].
    #[arg(long, value_enum)]
    order: Option<Order>,
    /// What becomes of a new URL when the ring has no room for its server.
    #[arg(long, value_enum)]
    overflow: Option<Overflow>,
    /// Visit every page at least so often (`1day`), whatever it is believed to do; the summary says where the pace of a server does not allow it.
    #[arg(long, value_name = "DURATION", value_parser = duration, visible_alias = "every")]
    at_least: Option<Duration>,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    run: RunArguments,
    #[command(flatten)]
    borrowed: Borrowed,
}

/// Switches of other crawlers: for what another flag says here, and for what a crawl does by itself.
#[derive(clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own on the command line"
)]
struct Borrowed {
    /// Stay below the folder of each seed, as in wget: `--scope prefix`.
    #[arg(long, hide = true, conflicts_with = "scope")]
    no_parent: bool,
    /// Go to every host that is linked to, as in wget: `--scope any`.
    #[arg(long, short = 'H', hide = true, conflicts_with_all = ["scope", "no_parent"])]
    span_hosts: bool,
    /// Go on with what was begun: every crawl does.
    #[arg(long, alias = "continue", hide = true)]
    resume: bool,
    /// Follow links: every crawl does.
    #[arg(long, short = 'r', hide = true)]
    recursive: bool,
    /// Follow links without end, and come back: every crawl does.
    #[arg(long, short = 'm', hide = true)]
    mirror: bool,
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
    /// Send this whole text as User-Agent, in place of `Mozilla/5.0 (compatible; junkai/…; +CONTACT)`; robots.txt is still read for `junkai` (identity.product). To add to
    /// the usual text, take --user-agent-suffix.
    #[arg(long, value_name = "TEXT", alias = "userAgent", short_alias = 'U')]
    user_agent: Option<String>,
    /// Add this text to the User-Agent, after a space: the name of your project, say. Servers still see who visits and whom to write to.
    #[arg(long, value_name = "TEXT", alias = "userAgentSuffix")]
    user_agent_suffix: Option<String>,
    /// Visit loopback and private addresses too.
    #[arg(long)]
    allow_private: bool,
    /// Visit this address, or addresses of this network, whatever it is, as in `127.0.0.0/8`; may be repeated.
    #[arg(long, value_name = "NETWORK", value_parser = junkai_fetch::network)]
    allow: Vec<IpNet>,
    /// Ask these name servers instead of the system's (`address:port`); may be repeated.
    #[arg(long, value_name = "ADDRESS")]
    dns: Vec<std::net::SocketAddr>,
    /// Trust the certificate authorities in this PEM file too.
    #[arg(long, value_name = "FILE")]
    extra_roots: Option<PathBuf>,
    /// Send this header field to all hosts, as in `Accept-Language: ja`; may be repeated. What is secret, or for some hosts only, belongs into `[[fetch.headers]]` of junkai.toml.
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// Send the cookies of this file in Netscape's format, as curl, wget and browsers export it, to the hosts that they are for. The archive does not show them.
    #[arg(long, value_name = "FILE", alias = "load-cookies")]
    cookies: Option<PathBuf>,
    /// Keep the cookies that servers set, and send them back, for this run.
    #[arg(long)]
    keep_cookies: bool,
    /// Log in at a host (HOST:PORT where its URLs have a port): the file's first line is `user:password`. Sent to this host alone, over https, and shown nowhere; may be repeated.
    #[arg(long, value_name = "HOST=FILE")]
    login: Vec<String>,
    /// Send a bearer token to a host: the file's first line is the token. Otherwise as --login.
    #[arg(long, value_name = "HOST=FILE")]
    bearer: Vec<String>,
    /// Go through this proxy, `http://host:port` or `socks5://host:port` [default: as the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say]; `none` goes without.
    #[arg(long, value_name = "URL", alias = "proxyServer")]
    proxy: Option<String>,
    /// Log in at the proxy: the file's first line is `user:password`.
    #[arg(long, value_name = "FILE")]
    proxy_login: Option<PathBuf>,
}

/// What `crawl` and `demo` have in common.
#[derive(clap::Args, Clone)]
pub(crate) struct RunArguments {
    /// The folder that holds captures, index and state. Default: the first seed's host; for the demo, `junkai-demo`.
    #[arg(long, short, value_name = "DIR", aliases = ["collection", "warc-file", "directory-prefix"], short_alias = 'P')]
    pub(crate) archive: Option<PathBuf>,
    /// End when every page in scope has been visited once, instead of keeping the archive up to date.
    #[arg(long)]
    pub(crate) once: bool,
    /// Stop after this many pages.
    #[arg(long, value_name = "N", aliases = ["limit", "pageLimit", "page-limit"])]
    pub(crate) pages: Option<u64>,
    /// Stop after this many bytes have been received (`500MB`, `10GB`); what is in flight then comes on top.
    #[arg(long, value_name = "SIZE", value_parser = size, aliases = ["sizeLimit", "size-limit", "quota"], short_alias = 'Q')]
    pub(crate) bytes: Option<ByteSize>,
    /// Stop after this time (`90s`, `2h`, `7days`).
    #[arg(long = "for", value_name = "DURATION", value_parser = duration, aliases = ["timeLimit", "time-limit"])]
    pub(crate) run_time: Option<Duration>,
    /// The least time between the end of one visit to a server and the start of the next. Default 5s; in the demo 1s.
    #[arg(long, value_name = "DURATION", value_parser = duration, aliases = ["wait", "delay", "pageExtraDelay"], short_alias = 'w')]
    pub(crate) interval: Option<Duration>,
    /// Visits in flight over all servers together, at most 65536; each server has at most one [default: 512].
    #[arg(long, value_name = "N", value_parser = number::of_setting::<NonZeroUsize>("crawl.concurrency"))]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// Threads that fetch, parse and compress, at most 1024 [default: one for each core].
    #[arg(long, value_name = "N", value_parser = number::of_setting::<NonZeroUsize>("crawl.workers"))]
    pub(crate) workers: Option<NonZeroUsize>,
    /// Partitions of the crawl's sites, at most 256, each decided for by a thread of its own; for machines with many cores [default: as the archive
    /// was begun; 1 for a new one].
    #[arg(long, value_name = "N", value_parser = number::of_setting::<NonZeroU16>("crawl.partitions"))]
    pub(crate) partitions: Option<NonZeroU16>,
    /// Print progress and the summary as JSON lines on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the summary only.
    #[arg(long, short, alias = "no-verbose")]
    pub(crate) quiet: bool,
    /// The command that goes on with the archive.
    #[arg(skip = "junkai crawl")]
    pub(crate) go_on: &'static str,
    /// Lines of the list of seeds that are none.
    #[arg(skip)]
    pub(crate) seeds_left_out: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scope {
    Page,
    Prefix,
    Host,
    #[value(alias = "domain")]
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

/// Bad lines of a list of seeds that are told of one by one.
const BAD_SEEDS_TOLD_MAX: usize = 20;

/// Crawls until done, or until told to stop.
pub(crate) fn run(mut arguments: Arguments) -> Result<Ending> {
    arguments.seeds.append(&mut arguments.url);
    for seed in &arguments.seeds {
        parsed_seed(seed)?;
    }
    if let Some(file) = &arguments.seeds_file {
        let (seeds, left_out) = read_seeds(file)?;
        arguments.seeds.extend(seeds);
        arguments.run.seeds_left_out = left_out;
    }
    let archive = archive_folder(&arguments)?;
    let settings = settings(&arguments, &archive)?;
    crawl(&archive, settings, &arguments.run)
}

/// The settings that hold for this run alone, because flags or another file say other than the archive's own: the next run goes by that again.
fn differences(settings: &Settings, archive: &Path) -> Result<Vec<String>> {
    let path = archive.join("junkai.toml");
    if !path.exists() {
        // This run writes it.
        return Ok(Vec::new());
    }
    config::differences(settings, &config::load(&path)?)
}

fn tell_of_differences(differences: &[String], archive: &Path) {
    for difference in differences {
        tell!("for this run: {}", shown(difference));
    }
    if !differences.is_empty() {
        let path = archive.join("junkai.toml");
        tell!("to keep that, write it into {}", path.display());
    }
}

/// Runs a crawl with its screen and signals, and says what it came to; shared with `demo`.
pub(crate) fn crawl(archive: &Path, settings: Settings, run: &RunArguments) -> Result<Ending> {
    let summary = watch(archive, settings, run)?;
    crate::screen::summarise(archive, run, &summary);
    Ok(ending(&summary))
}

/// How a run ended, as the shell is told.
pub(crate) fn ending(summary: &Summary) -> Ending {
    let progress = &summary.progress;
    let nothing_came = progress.pages == 0 && 0 < progress.errors;
    let is_damaged = 0 < progress.visits_lost + progress.states_lost;
    match summary.ended {
        Ended::Stopped => Ending::Stopped,
        _ if is_damaged || !summary.failed_seeds.is_empty() => Ending::Problems,
        Ended::Complete if nothing_came => Ending::Problems,
        Ended::NothingReached | Ended::NoSitemap => Ending::Problems,
        Ended::Complete | Ended::PagesReached | Ended::BytesReached | Ended::TimeReached => {
            Ending::Well
        }
    }
}

fn refuse_mistakes(settings: &Settings) -> Result<()> {
    let mistakes = settings.mistakes();
    if mistakes.is_empty() {
        Ok(())
    } else {
        Err(config::report("the configuration", &mistakes))
    }
}

/// Runs a crawl with its screen and signals.
pub(crate) fn watch(archive: &Path, settings: Settings, run: &RunArguments) -> Result<Summary> {
    refuse_mistakes(&settings)?;
    let style = run.style();
    let progress = Arc::new(Progress::default());
    stop_on_signals(Arc::clone(&progress))?;
    let differences = differences(&settings, archive)?;
    let crawl = Crawl::open(archive, settings, Arc::clone(&progress))?;
    // Only now, that they are not refused: a value may be a secret in the wrong place.
    tell_of_differences(&differences, archive);
    for repair in crawl.repairs() {
        tell!("repaired: {}", shown_lines(repair));
    }
    let is_told = matches!(style, Style::Live | Style::Lines);
    for proxy in crawl.proxies().iter().filter(|_| is_told) {
        tell!("{}", shown(proxy));
    }
    let pages_known = crawl.pages_known();
    if 0 < pages_known && is_told {
        let known = counted(pages_known, "page");
        tell!("going on in {}: {known} known", archive.display());
    }
    let screen = Screen::start(style, archive, Arc::clone(&progress));
    let summary = crawl.run();
    drop(screen);
    Ok(summary?)
}

#[cfg(test)]
impl Arguments {
    /// What `run` makes of it, short of reading a list of seeds: its name stands among the seeds.
    pub(crate) fn settings_for_test(&mut self, archive: &Path) -> Settings {
        self.seeds.append(&mut self.url);
        let list = self
            .seeds_file
            .iter()
            .map(|file| file.display().to_string());
        self.seeds.extend(list);
        settings(self, archive).expect("nothing is read")
    }

    pub(crate) fn archive_for_test(&self) -> Option<PathBuf> {
        self.run.archive.clone()
    }

    pub(crate) fn is_quiet_for_test(&self) -> bool {
        self.run.quiet
    }
}

impl RunArguments {
    /// How progress is shown.
    pub(crate) fn style(&self) -> Style {
        match (self.json, self.quiet, terminal::is_live()) {
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
        crawl.bytes_max = self.bytes.or(crawl.bytes_max);
        crawl.run_time_max = self.run_time.or(crawl.run_time_max);
        crawl.concurrency = self.concurrency.unwrap_or(crawl.concurrency);
        crawl.workers = self.workers.or(crawl.workers);
        crawl.partitions = self.partitions.or(crawl.partitions);
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
        if self.user_agent.is_some() {
            settings.identity.user_agent.clone_from(&self.user_agent);
        }
        if self.user_agent_suffix.is_some() {
            let suffix = &mut settings.identity.user_agent_suffix;
            suffix.clone_from(&self.user_agent_suffix);
        }
        settings.addresses.allow_private |= self.allow_private;
        add_missing(&mut settings.addresses.allow, &self.allow);
        add_missing(&mut settings.dns.name_servers, &self.dns);
        if self.extra_roots.is_some() {
            settings.fetch.extra_roots.clone_from(&self.extra_roots);
        }
        self.apply_access(&mut settings.fetch)?;
        Ok(settings)
    }

    /// Lays the flags over the settings of what is sent to whom, and through what. Messages show no value: it may be a secret in the wrong place.
    fn apply_access(&self, fetch: &mut FetchConfig) -> Result<()> {
        for text in &self.header {
            let Some((name, value)) = text.split_once(':') else {
                return Err(bad_command_line(
                    "--header takes a name and a value, as in --header 'Accept-Language: ja'",
                ));
            };
            let header = HeaderConfig {
                name: name.trim().to_owned(),
                value: Some(value.trim().to_owned()),
                ..HeaderConfig::default()
            };
            let is_other = |other: &HeaderConfig| {
                !other.hosts.is_empty() || !other.name.eq_ignore_ascii_case(&header.name)
            };
            if !fetch.headers.contains(&header) {
                fetch.headers.retain(is_other);
                fetch.headers.push(header);
            }
        }
        self.refuse_two_logins()?;
        for text in &self.login {
            let (host, file) = host_and_file(text, "--login")?;
            let login = LoginConfig {
                host,
                login_file: Some(file),
                ..LoginConfig::default()
            };
            log_in(fetch, login);
        }
        for text in &self.bearer {
            let (host, file) = host_and_file(text, "--bearer")?;
            let login = LoginConfig {
                host,
                bearer_file: Some(file),
                ..LoginConfig::default()
            };
            log_in(fetch, login);
        }
        if let Some(file) = &self.cookies {
            fetch.cookies = Some(std::path::absolute(file)?);
        }
        fetch.keep_cookies |= self.keep_cookies;
        if self.proxy.is_some() {
            fetch.proxy.clone_from(&self.proxy);
        }
        if let Some(file) = &self.proxy_login {
            fetch.proxy_login_env = None;
            fetch.proxy_login_file = Some(std::path::absolute(file)?);
        }
        Ok(())
    }
}

impl Reach {
    /// A host has one login: the later one would be taken, and the other left out without a word.
    fn refuse_two_logins(&self) -> Result<()> {
        let mut of_hosts: HashMap<String, (&str, PathBuf)> = HashMap::new();
        let flags = [("--login", &self.login), ("--bearer", &self.bearer)];
        for (flag, text) in flags
            .into_iter()
            .flat_map(|(flag, texts)| texts.iter().map(move |text| (flag, text)))
        {
            let (host, file) = host_and_file(text, flag)?;
            let host = host.to_ascii_lowercase();
            match of_hosts.get(&host) {
                Some(other) if *other != (flag, file.clone()) => {
                    return Err(bad_command_line(format!(
                        "{} and {flag} both name {host}: a host takes a user with a password, or a token, and one of them; leave one out",
                        other.0
                    )));
                }
                Some(_) | None => of_hosts.insert(host, (flag, file)),
            };
        }
        Ok(())
    }
}

/// The parts of `HOST=FILE`; the file is found from anywhere, for the next run may go by it.
fn host_and_file(text: &str, flag: &str) -> Result<(String, PathBuf)> {
    match text.split_once('=') {
        Some((host, file)) if !host.is_empty() && !file.is_empty() => {
            Ok((host.to_owned(), std::path::absolute(file)?))
        }
        _ => Err(bad_command_line(format!(
            "{flag} takes a host and a file, as in {flag} example.org=secret.txt: a password on the command line would be seen by all users of this machine"
        ))),
    }
}

/// Adds a login in place of another one for the same host.
fn log_in(fetch: &mut FetchConfig, login: LoginConfig) {
    if !fetch.logins.contains(&login) {
        fetch.logins.retain(|other| other.host != login.host);
        fetch.logins.push(login);
    }
}

/// The file's settings, or the defaults, under the flags.
fn settings(arguments: &Arguments, archive: &Path) -> Result<Settings> {
    let mut settings = arguments.reach.settings(archive)?;
    arguments.run.apply(&mut settings);
    add_missing(&mut settings.crawl.seeds, &arguments.seeds);
    let by_switch = [
        (arguments.borrowed.no_parent, Scope::Prefix),
        (arguments.borrowed.span_hosts, Scope::Any),
    ];
    let by_switch = by_switch.into_iter().find(|(is_given, _)| *is_given);
    if let Some(scope) = arguments.scope.or(by_switch.map(|(_, scope)| scope)) {
        settings.scope.preset = scope.into();
    }
    settings.crawl.sitemaps_only |= arguments.sitemap_only;
    settings.revisit.at_least = arguments.at_least.or(settings.revisit.at_least);
    add_missing(&mut settings.scope.include, &arguments.include);
    add_missing(&mut settings.scope.exclude, &arguments.exclude);
    settings.scope.depth_max = arguments.depth.or(settings.scope.depth_max);
    settings.links.requisites |= arguments.requisites;
    settings.links.requisites &= !arguments.no_requisites;
    if let Some(order) = arguments.order {
        settings.crawl.order = order.into();
    }
    if let Some(overflow) = arguments.overflow {
        settings.crawl.overflow = overflow.into();
    }
    Ok(settings)
}

fn size(text: &str) -> Result<ByteSize, String> {
    let bytes = junkai_size::parse(text).map_err(|error| error.to_string())?;
    Ok(ByteSize(bytes))
}

/// A time in words, or a number of seconds, as other crawlers take it.
fn duration(text: &str) -> Result<Duration, String> {
    const RIGHT: &str = "a number of seconds, or a time such as 500ms, 90s, 2h or 7days";
    const LONGEST: Duration = Duration::from_hours(3660 * 24);
    let duration = match text.parse::<f64>() {
        Ok(seconds) if seconds < 0.0 => {
            return Err(format!("a time is not less than 0; {RIGHT}"));
        }
        Ok(seconds) => Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
        Err(_) => humantime::parse_duration(text).map_err(|error| format!("{error}; {RIGHT}"))?,
    };
    if LONGEST < duration {
        return Err(format!("it is longer than 3660days; {RIGHT}"));
    }
    Ok(duration)
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
        return Err(bad_command_line(
            "nothing to crawl; name a seed (`junkai crawl https://example.org`) or an archive that was begun before (`--archive DIR`)",
        ));
    };
    Ok(PathBuf::from(folder_name(&parsed_seed(seed)?)))
}

fn parsed_seed(seed: &str) -> Result<PageUrl> {
    Canonicalizer::new(&CanonicalConfig::default())
        .parse_seed(seed)
        .with_context(|| BadCommandLine(format!("seed {:?}", without_login(seed))))
}

/// The host of a seed, and its port where it names one, as the name of a folder.
fn folder_name(seed: &PageUrl) -> String {
    let host = seed.host().trim_matches(['[', ']']).replace(':', "-");
    // A name that begins with a dash would be taken for a flag.
    let host = match host.strip_prefix('-') {
        Some(rest) => format!("ipv6-{}", rest.trim_start_matches('-')),
        None => host,
    };
    match seed.as_url().port() {
        Some(port) => format!("{host}-{port}"),
        None => host,
    }
}

/// The seeds of a file, and how many lines are none.
pub(crate) fn read_seeds(file: &Path) -> Result<(Vec<String>, u64)> {
    let lines: std::io::Result<Vec<Vec<u8>>> = if file == Path::new("-") {
        std::io::stdin().lock().split(b'\n').collect()
    } else {
        let opened = std::fs::File::open(file)
            .with_context(|| format!("cannot read seeds from {}", file.display()))?;
        std::io::BufReader::new(opened).split(b'\n').collect()
    };
    let lines = lines.with_context(|| format!("cannot read seeds from {}", file.display()))?;
    // What is no text makes its own line wrong, not the list.
    let lines: Vec<_> = lines
        .iter()
        .map(|line| String::from_utf8_lossy(line))
        .collect();
    let list = SeedList::read(&lines);
    let SeedList { seeds, bad } = &list;
    for (number, reason) in bad.iter().take(BAD_SEEDS_TOLD_MAX) {
        tell!(
            "{} line {number}: {}; left out",
            file.display(),
            shown(reason)
        );
    }
    if BAD_SEEDS_TOLD_MAX < bad.len() {
        let rest = (bad.len() - BAD_SEEDS_TOLD_MAX) as u64;
        tell!(
            "{}: {} more left out",
            file.display(),
            counted(rest, "bad line")
        );
    }
    if seeds.is_empty() && !bad.is_empty() {
        return Err(bad_command_line(format!(
            "{}: no line is a URL or a host name",
            file.display()
        )));
    }
    let left_out = bad.len() as u64;
    Ok((list.seeds, left_out))
}

/// The seeds of a file, and the lines that are none: each with its number and what is wrong with it.
#[derive(Debug, Default)]
struct SeedList {
    seeds: Vec<String>,
    bad: Vec<(usize, String)>,
}

impl SeedList {
    fn read(lines: &[impl AsRef<str>]) -> SeedList {
        let canonical = Canonicalizer::new(&CanonicalConfig::default());
        let mut list = SeedList::default();
        for (number, line) in (1..).zip(lines) {
            let seed = line.as_ref().trim_start_matches('\u{feff}').trim();
            if seed.is_empty() || seed.starts_with('#') {
                continue;
            }
            match canonical.parse_seed(seed) {
                Ok(_) => list.seeds.push(seed.to_owned()),
                Err(error) => list
                    .bad
                    .push((number, format!("{:?}: {error}", without_login(seed)))),
            }
        }
        list
    }
}

/// Ctrl-C and SIGTERM: once ends the crawl in order, twice at once. Ctrl-Z stops the process, with the terminal as the shell wants it.
fn stop_on_signals(progress: Arc<Progress>) -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            runtime.block_on(async {
                let keyboard_stop = SignalKind::from_raw(Signal::TSTP.as_raw());
                let (Ok(mut interrupt), Ok(mut terminate), Ok(mut stop)) = (
                    signal(SignalKind::interrupt()),
                    signal(SignalKind::terminate()),
                    signal(keyboard_stop),
                ) else {
                    return;
                };
                loop {
                    tokio::select! {
                        _ = interrupt.recv() => {}
                        _ = terminate.recv() => {}
                        _ = stop.recv() => {
                            stop_until_continued();
                            continue;
                        }
                    }
                    match progress.ask_to_stop() {
                        junkai_crawler::Stop::Now => {
                            terminal::clear();
                            std::process::exit(11)
                        }
                        _ => tell!(
                            "stopping: finishing what is in flight (Ctrl-C again to stop at once)"
                        ),
                    }
                }
            });
        })?;
    Ok(())
}

/// Stops all threads, as SIGTSTP does by itself, until SIGCONT. The live view is drawn again by its own thread.
fn stop_until_continued() {
    terminal::leave();
    if let Err(error) = kill_process(getpid(), Signal::STOP) {
        tell!("junkai: this process cannot be stopped: {error}");
    }
    terminal::come_back();
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
    fn a_bad_line_of_a_list_is_named_and_costs_itself() {
        let lines = [
            "\u{feff}https://a.example/",
            "",
            "# no",
            "./foo.html",
            "b.example",
            "http://",
        ];
        let list = SeedList::read(&lines.map(str::to_owned));
        assert_eq!(list.seeds, ["https://a.example/", "b.example"]);
        let numbers: Vec<usize> = list.bad.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [4, 6], "{list:?}");
    }

    #[test]
    fn a_time_that_cannot_be_meant_is_answered_with_what_is_right() {
        assert_eq!(duration("2"), Ok(Duration::from_secs(2)));
        assert_eq!(duration("3660days"), Ok(Duration::from_hours(3660 * 24)));
        for wrong in ["-1", "x", "1e30", "inf", "NaN", "20000years", "4000days"] {
            let said = duration(wrong).unwrap_err();
            assert!(said.contains("such as 500ms, 90s"), "{wrong}: {said}");
        }
    }

    #[test]
    fn an_archive_is_named_after_host_and_port() {
        let canonical = Canonicalizer::new(&CanonicalConfig::default());
        for (seed, name) in [
            ("https://example.org/a", "example.org"),
            ("http://localhost:8080/", "localhost-8080"),
            ("http://[::1]:81/", "ipv6-1-81"),
            ("https://example.org:443/", "example.org"),
        ] {
            assert_eq!(folder_name(&canonical.parse_seed(seed).unwrap()), name);
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
