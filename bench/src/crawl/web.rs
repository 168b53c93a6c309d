//! The web that is visited: a process of its own, so that its costs are not ours.

use std::env;
use std::io::Read as _;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use junkai_testweb::{TestWeb, TestWebConfig};
use serde_json::json;

use crate::child::Servant;

/// What kind of web to serve.
#[derive(Clone, clap::Args)]
pub(crate) struct WebArguments {
    /// Hosts, each at an address of its own.
    #[arg(long, default_value = "256")]
    hosts: u32,
    /// Pages of all hosts.
    #[arg(long, default_value = "200000")]
    pub(super) web_pages: u64,
    /// Size of a page on average, in bytes.
    #[arg(long, default_value = "20000")]
    page_bytes: u32,
    /// Links of a page on average.
    #[arg(long, default_value = "40")]
    page_links: u32,
    /// Share of hosts that send pages compressed, in percent.
    #[arg(long, default_value = "0")]
    gzip_percent: u8,
    /// Share of hosts that send pages in chunks, in percent.
    #[arg(long, default_value = "0")]
    chunked_percent: u8,
    /// Mean time between two changes of a page; 0 means that pages never change.
    #[arg(long, default_value = "240h", value_parser = humantime::parse_duration)]
    pub(super) change_interval: Duration,
}

/// Where the web is.
pub(super) struct Web {
    pub(super) dns: String,
    pub(super) http_port: u16,
    pub(super) seeds: Vec<String>,
    _process: Servant,
}

impl Web {
    /// Starts a process that serves it.
    pub(super) fn start(arguments: &WebArguments, core: usize) -> Result<Web> {
        let change_interval = humantime::format_duration(arguments.change_interval);
        let mut command = Command::new(env::current_exe()?);
        command
            .arg("web")
            .args(["--hosts", &arguments.hosts.to_string()])
            .args(["--web-pages", &arguments.web_pages.to_string()])
            .args(["--page-bytes", &arguments.page_bytes.to_string()])
            .args(["--page-links", &arguments.page_links.to_string()])
            .args(["--gzip-percent", &arguments.gzip_percent.to_string()])
            .args(["--chunked-percent", &arguments.chunked_percent.to_string()])
            .args(["--change-interval", &change_interval.to_string()]);
        let process = Servant::start(&mut command, core)?;
        let said: serde_json::Value =
            serde_json::from_str(&process.greeting).context("the web did not start")?;
        let seeds = said["seeds"].as_array().into_iter().flatten();
        Ok(Web {
            dns: said["dns"].as_str().unwrap_or_default().to_owned(),
            http_port: serde_json::from_value(said["http_port"].clone())?,
            seeds: seeds
                .filter_map(|seed| Some(seed.as_str()?.to_owned()))
                .collect(),
            _process: process,
        })
    }
}

/// Serves until standard input ends.
pub(crate) fn serve(arguments: &WebArguments) -> Result<()> {
    let web = TestWeb::start(TestWebConfig {
        hosts: arguments.hosts as usize,
        addresses: arguments.hosts,
        pages: arguments.web_pages,
        page_bytes: arguments.page_bytes,
        links_per_page: arguments.page_links,
        gzip_percent: arguments.gzip_percent,
        chunked_percent: arguments.chunked_percent,
        change_interval: arguments.change_interval,
        change_spread: 0.0,
        ..TestWebConfig::default()
    })?;
    println!(
        "{}",
        json!({ "dns": web.dns(), "http_port": web.http_port(), "seeds": web.seeds() })
    );
    std::io::stdin().read_to_end(&mut Vec::new())?;
    web.stop();
    Ok(())
}
