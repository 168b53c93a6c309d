//! `junkai demo`: the main job on an embedded web; no network, no set-up.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use ipnet::{IpNet, Ipv4Net};
use junkai_crawler::{Preset, Settings};
use junkai_simulation::outcome::grouped;
use junkai_testweb::{StartError, TestWeb, TestWebConfig, judge};

use crate::command::crawl::{self, RunArguments};
use crate::config;
use crate::exit::Ending;
use crate::print::{say, tell};

/// The least time between two visits to a server of the demo's web.
const INTERVAL: Duration = Duration::from_secs(1);

/// The only network that the demo visits.
const LOOPBACK: IpNet = IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8));
/// Where the demo's web listens, if the port is free.
const PORT: u16 = 8089;

/// What `junkai demo` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    run: RunArguments,
}

/// Serves a web, crawls it, and lets the web's own log judge the politeness.
pub(crate) fn run(arguments: Arguments) -> Result<Ending> {
    let run = RunArguments {
        go_on: "junkai demo",
        seeds_left_out: 0,
        ..arguments.run
    };
    let archive = run
        .archive
        .clone()
        .unwrap_or_else(|| PathBuf::from("junkai-demo"));
    std::fs::create_dir_all(&archive)
        .with_context(|| format!("cannot make {}", archive.display()))?;
    let (web, log) = serve(&archive)?;
    let interval = run.interval.unwrap_or(INTERVAL);
    let mut settings = Settings::default();
    run.apply(&mut settings);
    settings.crawl.seeds = web.seeds();
    settings.scope.preset = Preset::Any;
    settings.politeness.interval = interval;
    settings.addresses.allow = vec![LOOPBACK];
    settings.dns.name_servers = vec![web.dns()];
    if !run.json {
        tell!(
            "A web of {} pages on 2,000 hosts and 500 servers now lives on this machine's loopback.",
            grouped(web.page_count())
        );
        tell!(
            "Crawling it politely, one visit a server every {interval:?}, into {}; Ctrl-C stops.\n",
            archive.display()
        );
    }
    let ending = crawl::crawl(&archive, settings, &run)?;
    web.stop();
    let verdict = judge(&log, interval)?;
    if run.json {
        say!(
            "{}",
            serde_json::json!({ "type": "verdict", "verdict": verdict })
        );
    } else {
        say!("\nThe web's own access log says:\n{verdict}");
    }
    Ok(if verdict.is_polite() {
        ending
    } else {
        Ending::Problems
    })
}

/// Serves the web that is to be crawled into this archive, and says where its log is.
fn serve(archive: &Path) -> Result<(TestWeb, PathBuf)> {
    let web = TestWebConfig {
        hosts: 2000,
        addresses: 500,
        pages: 1_000_000,
        ..TestWebConfig::default()
    };
    // The same port makes the same URLs in the next run, which can then go on.
    let earlier = port_before(archive)?;
    let mut log = archive.join("testweb.log");
    let at_home = TestWebConfig {
        http_port: earlier.unwrap_or(PORT),
        log: Some(log.clone()),
        ..web.clone()
    };
    let web = match TestWeb::start(at_home) {
        Err(taken @ StartError::Listen { .. }) if earlier.is_some() => {
            return Err(anyhow::Error::new(taken).context(format!(
                "the web of {} cannot be served again; end whoever has its port, or begin another demo with --archive DIR",
                archive.display()
            )));
        }
        Err(taken @ StartError::Listen { .. }) => {
            // As when another demo runs: then everything has to be its own.
            log = archive.join(format!("testweb-{}.log", std::process::id()));
            tell!("{taken}; this demo's web takes a free port");
            TestWeb::start(TestWebConfig {
                log: Some(log.clone()),
                ..web
            })?
        }
        started => started?,
    };
    Ok((web, log))
}

/// The port of the web that an earlier demo crawled into this archive.
fn port_before(archive: &Path) -> Result<Option<u16>> {
    let path = archive.join("junkai.toml");
    if !path.exists() {
        return Ok(None);
    }
    let seeds = config::load(&path)?.crawl.seeds;
    let port = |seed: &String| url::Url::parse(seed).ok()?.port();
    Ok(seeds.iter().find_map(port))
}
