//! `junkai testweb`: a web of its own on loopback, and the judge of its visitors.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use junkai_testweb::{
    FolderConfig, GoneStatus, GraphConfig, HistoryConfig, Rule, SitemapHabit, Standard, TestWeb,
    TestWebConfig, UnixSeconds, Validators, judge,
};

use crate::exit::Ending;
use crate::number;
use crate::print::say;

/// What `junkai testweb` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Judge this access log instead of serving: every visit that came too early is printed.
    #[arg(long, value_name = "LOG")]
    judge: Option<PathBuf>,
    /// With --judge: the least time between the end of one visit to an address and the start of the next.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = humantime::parse_duration)]
    interval: Duration,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// What everything that is left to chance is drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Synthetic hosts.
    #[arg(long, default_value_t = 1000)]
    hosts: usize,
    /// Addresses that the hosts share.
    #[arg(long, default_value_t = 256)]
    addresses: u32,
    /// Pages of all synthetic hosts together.
    #[arg(long, default_value_t = 100_000)]
    pages: u64,
    /// Port of HTTP on every address; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Serve HTTPS too; the test authority's certificate is written to FILE.
    #[arg(long, value_name = "FILE")]
    tls: Option<PathBuf>,
    /// Port of the DNS server on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    dns_port: u16,
    /// Time from a request to its answer.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = humantime::parse_duration)]
    latency: Duration,
    /// Virtual seconds per real second: how fast pages change. With --judge: by which clock the interval is measured.
    #[arg(long, default_value_t = 1.0)]
    clock_speed: f64,
    /// When virtual and real time are the same, in seconds since the Unix epoch: now, if it is not given.
    #[arg(long, value_name = "SECONDS")]
    clock_origin: Option<f64>,
    /// Let hosts misbehave: `host3.test=slow-first-byte:5s,calendar-trap`; may be repeated.
    #[arg(long, value_name = "HOST=WHAT")]
    misbehave: Vec<Rule>,
    /// Serve a web graph: an edge list, or the base name of `WebGraph` files.
    #[arg(long, value_name = "PATH")]
    graph: Option<PathBuf>,
    /// URLs of the graph's pages, one a line.
    #[arg(long, value_name = "FILE", requires = "graph")]
    graph_urls: Option<PathBuf>,
    /// Without --graph-urls: how many consecutive pages of the graph make a host.
    #[arg(long, value_name = "N", default_value = "1000", value_parser = number::within::<std::num::NonZeroU32>(1..=u64::from(u32::MAX)))]
    graph_host_pages: std::num::NonZeroU32,
    /// Serve a history of changes: a file of events (`unix_time<TAB>A|M|D<TAB>path`), or a folder with `manifest.tsv` and `objects`.
    #[arg(long, value_name = "PATH")]
    history: Option<PathBuf>,
    /// How the history is served.
    #[command(flatten)]
    history_habits: HistoryHabits,
    /// Serve so many sites of many kinds, of which a tenth hold data files, to try `junkai focus` on.
    #[arg(long, value_name = "N", default_value_t = 0)]
    focus_sites: usize,
    /// Write down which of these sites hold data files, and where, as JSON lines.
    #[arg(long, value_name = "FILE", requires = "focus_sites")]
    truth: Option<PathBuf>,
    /// Serve a folder of files as a host: `docs.test=/usr/share/doc/…`; may be repeated.
    #[arg(long, value_name = "HOST=FOLDER", value_parser = folder)]
    folder: Vec<FolderConfig>,
    /// Write the access log here.
    #[arg(long, value_name = "FILE", default_value = "testweb.log")]
    log: PathBuf,
}

/// How a history is served.
#[derive(clap::Args)]
struct HistoryHabits {
    /// The history's host name.
    #[arg(long, value_name = "NAME", default_value = "history.test")]
    history_host: String,
    /// Hosts that the history's pages are dealt out to.
    #[arg(long, value_name = "N", default_value = "1", value_parser = number::within::<std::num::NonZeroU32>(1..=u64::from(u32::MAX)))]
    history_hosts: std::num::NonZeroU32,
    /// The moment of the history that is shown at the clock's origin, as a date; its first event, if it is not given.
    #[arg(long, value_name = "DATE", value_parser = moment)]
    history_begin: Option<UnixSeconds>,
    /// What the pages' headers tell of their versions: honest, dated, weak, absent, lying or stuck.
    #[arg(long, value_name = "HOW", default_value = "honest")]
    validators: Validators,
    /// What the history's sitemaps tell of its pages' versions: honest, noisy, undated or absent.
    #[arg(long, value_name = "HOW", default_value = "honest")]
    sitemap: SitemapHabit,
    /// What is answered for the history's deleted pages: not-found or gone.
    #[arg(long, value_name = "HOW", default_value = "not-found")]
    gone: GoneStatus,
    /// Let the bytes of every answer differ though what a page of the history says does not.
    #[arg(long)]
    noise: bool,
}

impl HistoryHabits {
    fn config(self, path: PathBuf) -> HistoryConfig {
        HistoryConfig {
            host: self.history_host,
            hosts: self.history_hosts,
            begin: self.history_begin,
            gone: self.gone,
            validators: self.validators,
            sitemap: self.sitemap,
            has_noise: self.noise,
            ..HistoryConfig::new(path)
        }
    }
}

/// Serves until stopped, or judges.
pub(crate) fn run(arguments: Arguments) -> Result<Ending> {
    match &arguments.judge {
        Some(log) => judge_log(log, &arguments),
        None => serve(arguments),
    }
}

fn judge_log(log: &std::path::Path, arguments: &Arguments) -> Result<Ending> {
    let standard = Standard {
        interval: arguments.interval,
        clock_speed: arguments.clock_speed,
    };
    let verdict = judge(log, standard)?;
    if arguments.json {
        say!("{}", serde_json::to_string(&verdict)?);
    } else {
        say!("{verdict}");
    }
    Ok(if verdict.is_polite() {
        Ending::Well
    } else {
        Ending::Problems
    })
}

fn serve(arguments: Arguments) -> Result<Ending> {
    let config = TestWebConfig {
        seed: arguments.seed,
        hosts: arguments.hosts,
        addresses: arguments.addresses,
        pages: arguments.pages,
        http_port: arguments.port,
        tls: arguments.tls.is_some(),
        dns_port: arguments.dns_port,
        latency: arguments.latency,
        clock_speed: arguments.clock_speed,
        clock_origin: arguments.clock_origin,
        misbehaviours: arguments.misbehave,
        graph: arguments.graph.map(|path| GraphConfig {
            path,
            urls: arguments.graph_urls,
            pages_per_host: arguments.graph_host_pages,
        }),
        history: arguments
            .history
            .map(|path| arguments.history_habits.config(path)),
        focus_sites: arguments.focus_sites,
        truth: arguments.truth,
        folders: arguments.folder,
        log: Some(arguments.log.clone()),
        ..TestWebConfig::default()
    };
    let clock_speed = config.clock_speed;
    let web = TestWeb::start(config)?;
    if let (Some(file), Some(authority)) = (&arguments.tls, web.ca_pem()) {
        std::fs::write(file, authority)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    let serving = Serving {
        web: &web,
        clock_speed,
        log: &arguments.log,
        authority: arguments.tls.as_deref(),
    };
    if arguments.json {
        serving.say_json();
    } else {
        serving.say();
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(tokio::signal::ctrl_c())?;
    web.stop();
    Ok(Ending::Well)
}

/// A web that is served, and what its user must know of it.
struct Serving<'a> {
    web: &'a TestWeb,
    clock_speed: f64,
    log: &'a Path,
    authority: Option<&'a Path>,
}

impl Serving<'_> {
    fn say_json(&self) {
        let web = self.web;
        say!(
            "{}",
            serde_json::json!({
                "dns": web.dns(),
                "http_port": web.http_port(),
                "https_port": web.https_port(),
                "seeds": web.seeds(),
                "clock_speed": self.clock_speed,
                "clock_origin": web.clock_origin(),
            })
        );
    }

    fn say(&self) {
        let (web, log) = (self.web, self.log.display());
        say!(
            "Serving {} pages; DNS at {}, HTTP on port {}, log in {log}",
            web.page_count(),
            web.dns(),
            web.http_port(),
        );
        let judged_by = tell_clock(web, self.clock_speed);
        say!("Try:");
        say!(
            "  junkai crawl {} --scope any --dns {} --allow 127.0.0.0/8 --interval 1s --archive try",
            web.seeds().first().map_or("", String::as_str),
            web.dns()
        );
        if let (Some(port), Some(file)) = (web.https_port(), self.authority) {
            say!(
                "HTTPS is on port {port}; add --extra-roots {} to trust it",
                file.display()
            );
        }
        say!("  junkai testweb --judge {log} --interval 1s{judged_by}");
        say!("Ctrl-C ends it.");
    }
}

/// Says what a crawl must be told of a clock that is not the real one, and returns what the judge must.
fn tell_clock(web: &TestWeb, speed: f64) -> String {
    if speed <= 1.0 {
        return String::new();
    }
    say!("A crawl shares the web's clock with this in its configuration:");
    say!("  [clock]");
    say!("  speed = {speed:?}");
    say!("  origin = {:?}", web.clock_origin());
    format!(" --clock-speed {speed}")
}

/// A date, or a date and time in UTC.
fn moment(text: &str) -> Result<UnixSeconds, String> {
    let time = humantime::parse_rfc3339_weak(text)
        .or_else(|_| humantime::parse_rfc3339(&format!("{text}T00:00:00Z")))
        .map_err(|_| "say a date, as in 2024-01-31 or 2024-01-31T12:00:00Z")?;
    let since = time
        .duration_since(std::time::UNIX_EPOCH)
        .map_err(|_| "say a date after 1970")?;
    Ok(UnixSeconds(since.as_secs()))
}

fn folder(text: &str) -> Result<FolderConfig, String> {
    let (host, path) = text
        .split_once('=')
        .ok_or("say HOST=FOLDER, as in docs.test=/usr/share/doc/bash")?;
    Ok(FolderConfig {
        host: host.to_owned(),
        path: path.into(),
    })
}
