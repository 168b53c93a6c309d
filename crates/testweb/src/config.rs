//! What kind of web to serve. Table `[testweb]`.

use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::history::HistoryConfig;
use crate::misbehaviour::Rule;

/// The web to serve. The same seed and settings give the same web, byte for byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TestWebConfig {
    /// What everything that is left to chance is drawn from. Default 1.
    pub seed: u64,
    /// Synthetic hosts, named `host0.test`, `host1.test` and so on, the largest first. Default 1000.
    pub hosts: usize,
    /// Addresses that the hosts are dealt out to, in turn like cards: with as many hosts as addresses each has its
    /// own. Default 256.
    pub addresses: u32,
    /// The first of these addresses; the others follow it. In 127.0.0.0/8. Default 127.1.0.1.
    pub first_address: Ipv4Addr,
    /// Pages of all synthetic hosts together, not counting what is in [`Self::graph`] and [`Self::folders`], and at
    /// least one a host. Default 100,000.
    pub pages: u64,
    /// How unequal the hosts are: the host of rank *r* has pages in proportion to *r* to the minus this power; 0 makes
    /// all equal. Default 0.8.
    pub size_exponent: f64,
    /// Links on a page, on average. Default 40.
    pub links_per_page: u32,
    /// Size of a page before compression, on average, in bytes. Default 20,000.
    pub page_bytes: u32,
    /// How many home pages [`crate::TestWeb::seeds`] names; every page can be reached from any of them. Default 10.
    pub seeds: usize,

    /// Port of HTTP on every address; 0 takes a free one. Default 0.
    pub http_port: u16,
    /// Whether to serve HTTPS too, with certificates of an authority made at the start. Default false.
    pub tls: bool,
    /// Port of HTTPS on every address; 0 takes a free one. Default 0.
    pub https_port: u16,
    /// Share of synthetic hosts, in percent, that links name by `https`; needs [`Self::tls`]. All hosts answer on both
    /// ports. Default 0.
    pub https_percent: u8,
    /// Whether HTTP/2 is offered: over TLS by ALPN, in the clear to clients that begin with its preface. Default true.
    pub http2: bool,
    /// Port of the DNS server at 127.0.0.1, UDP and TCP; 0 takes a free one. Default 0.
    pub dns_port: u16,
    /// How long a DNS answer may be kept. Default 60 s.
    #[serde(with = "humantime_serde")]
    pub ttl: Duration,
    /// Whether hosts have the IPv6 address `::1` too. Default false.
    pub ipv6: bool,
    /// Threads that serve. Default 1: the web is cheap, and its clients want the other cores.
    pub threads: usize,
    /// Time from a request to its answer. Default 0.
    #[serde(with = "humantime_serde")]
    pub latency: Duration,

    /// Share of synthetic hosts that compress with gzip when the client accepts it, in percent. Default 20.
    pub gzip_percent: u8,
    /// Share of synthetic hosts that answer in chunks, in percent. Default 20.
    pub chunked_percent: u8,
    /// Share of synthetic hosts whose robots.txt asks for a `Crawl-delay` of one second, in percent. Default 0.
    pub crawl_delay_percent: u8,
    /// Median of the pages' mean times between changes, in virtual time; 0 means that pages never change.
    /// Default 10 days.
    #[serde(with = "humantime_serde")]
    pub change_interval: Duration,
    /// How much these mean times differ: the standard deviation of their natural logarithm. Default 1.5.
    pub change_spread: f64,
    /// Virtual seconds per real second; 0 stops all change. Default 1.
    pub clock_speed: f64,
    /// The moment at which virtual and real time are the same, in seconds since the Unix epoch: virtual time is `clock_origin` +
    /// (real time − `clock_origin`) × `clock_speed`, and a client that is told both numbers shares the clock. Default none: when
    /// the web starts.
    pub clock_origin: Option<f64>,

    /// Which hosts misbehave and how, each as `host=misbehaviour,…`. Default none.
    pub misbehaviours: Vec<Rule>,
    /// A web graph to serve beside the synthetic hosts. Default none.
    pub graph: Option<GraphConfig>,
    /// A history of changes to serve beside the synthetic hosts. Default none.
    pub history: Option<HistoryConfig>,
    /// Sites of many kinds to serve, named `focus0.test` and so on, of which a tenth hold data files. Default 0.
    pub focus_sites: usize,
    /// Where to write what is so of these sites, as JSON lines: which hold data files, and where these are. Default nowhere.
    pub truth: Option<PathBuf>,
    /// Folders of real files to serve, each under a host name. Default none.
    pub folders: Vec<FolderConfig>,
    /// Where to write the access log; an old one is replaced. Default nowhere.
    pub log: Option<PathBuf>,
}

impl Default for TestWebConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            hosts: 1000,
            addresses: 256,
            first_address: Ipv4Addr::new(127, 1, 0, 1),
            pages: 100_000,
            size_exponent: 0.8,
            links_per_page: 40,
            page_bytes: 20_000,
            seeds: 10,
            http_port: 0,
            tls: false,
            https_port: 0,
            https_percent: 0,
            http2: true,
            dns_port: 0,
            ttl: Duration::from_mins(1),
            ipv6: false,
            threads: 1,
            latency: Duration::ZERO,
            gzip_percent: 20,
            chunked_percent: 20,
            crawl_delay_percent: 0,
            change_interval: Duration::from_hours(240),
            change_spread: 1.5,
            clock_speed: 1.0,
            clock_origin: None,
            misbehaviours: Vec::new(),
            graph: None,
            history: None,
            focus_sites: 0,
            truth: None,
            folders: Vec::new(),
            log: None,
        }
    }
}

/// A web graph served as pages that link as the graph does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphConfig {
    /// An edge list (`source target` a line, `#` comments, `.gz` allowed), or the base name of `WebGraph` files (the
    /// path without `.graph` and `.properties`).
    pub path: PathBuf,
    /// The pages' URLs, one a line in the order of their numbers, `.gz` allowed; scheme and port are replaced by the
    /// web's own. Without it, page *n* is `http://h<n / pages_per_host>.graph.test/p<n>`.
    #[serde(default)]
    pub urls: Option<PathBuf>,
    /// Where there is no list of URLs: how many consecutive pages make a host. Default 1000; graphs are numbered in
    /// the order of URLs, so neighbours mostly did share a host.
    #[serde(default = "pages_per_host")]
    pub pages_per_host: NonZeroU32,
}

const fn pages_per_host() -> NonZeroU32 {
    const PAGES: u32 = 1000;
    match NonZeroU32::new(PAGES) {
        Some(pages) => pages,
        None => NonZeroU32::MIN,
    }
}

/// A folder served as a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderConfig {
    /// The host name.
    pub host: String,
    /// The folder; its `index.html` is the home page.
    pub path: PathBuf,
}

/// Addresses that one web may have: a quarter of 127.0.0.0/8.
pub(crate) const ADDRESSES_MAX: u32 = 1 << 22;

/// Focus sites of one web: each takes some ten kilobytes.
const FOCUS_SITES_MAX: usize = 100_000;

/// Hosts of one web.
pub(crate) const HOSTS_MAX: usize = 10_000_000;

impl TestWebConfig {
    /// All that is wrong with the settings, in whole phrases.
    pub(crate) fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        let mut check = |holds: bool, mistake: &str| {
            if !holds {
                mistakes.push(mistake.to_owned());
            }
        };
        check(
            (1..=ADDRESSES_MAX).contains(&self.addresses),
            "addresses must be 1 to 4,194,304",
        );
        check(
            self.first_address.is_loopback() && self.address(self.addresses).is_loopback(),
            "all addresses must be in 127.0.0.0/8",
        );
        check(self.hosts <= HOSTS_MAX, "hosts must be at most 10,000,000");
        check(
            self.focus_sites <= FOCUS_SITES_MAX,
            "focus_sites must be at most 100,000",
        );
        check(
            (0.0..=3.0).contains(&self.size_exponent),
            "size_exponent must be 0 to 3",
        );
        check(
            self.links_per_page <= 10_000,
            "links_per_page must be at most 10,000",
        );
        check(
            self.page_bytes <= 100_000_000,
            "page_bytes must be at most 100,000,000",
        );
        check((1..=64).contains(&self.threads), "threads must be 1 to 64");
        check(
            (0.0..=1e9).contains(&self.clock_speed),
            "clock_speed must be 0 to 1,000,000,000",
        );
        check(
            self.clock_origin
                .is_none_or(|origin| (0.0..=1e11).contains(&origin)),
            "clock_origin must be seconds since 1970",
        );
        check(
            (0.0..=10.0).contains(&self.change_spread),
            "change_spread must be 0 to 10",
        );
        let percents = [
            self.https_percent,
            self.gzip_percent,
            self.chunked_percent,
            self.crawl_delay_percent,
        ];
        check(
            percents.iter().all(|&percent| percent <= 100),
            "a share in percent must be at most 100",
        );
        check(
            self.tls || self.https_percent == 0,
            "https_percent needs tls = true",
        );
        check(
            0 < self.hosts
                || self.graph.is_some()
                || self.history.is_some()
                || 0 < self.focus_sites
                || !self.folders.is_empty(),
            "there must be a host, a graph, a history, a focus site or a folder to serve",
        );
        mistakes
    }

    /// The address that the `index`-th host lives at, hosts being dealt out in turn.
    pub(crate) fn address_of_host(&self, index: usize) -> Ipv4Addr {
        let turn = index as u64 % u64::from(self.addresses.max(1));
        self.address(u32::try_from(turn).unwrap_or_default())
    }

    fn address(&self, number: u32) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.first_address).saturating_add(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_hold_and_survive_json() {
        let config = TestWebConfig::default();
        assert_eq!(config.mistakes(), Vec::<String>::new());
        let json = serde_json::to_string(&config).unwrap();
        assert_eq!(
            serde_json::from_str::<TestWebConfig>(&json).unwrap(),
            config
        );
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let config = TestWebConfig {
            addresses: 0,
            first_address: Ipv4Addr::new(10, 0, 0, 1),
            hosts: 0,
            https_percent: 101,
            ..TestWebConfig::default()
        };
        assert_eq!(config.mistakes().len(), 5);
    }

    #[test]
    fn hosts_are_dealt_out_to_addresses_in_turn() {
        let config = TestWebConfig {
            addresses: 300,
            ..TestWebConfig::default()
        };
        assert_eq!(config.address_of_host(0), Ipv4Addr::new(127, 1, 0, 1));
        assert_eq!(config.address_of_host(299), Ipv4Addr::new(127, 1, 1, 44));
        assert_eq!(config.address_of_host(300), Ipv4Addr::new(127, 1, 0, 1));
    }
}
