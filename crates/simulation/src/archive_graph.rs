//! The link graph of an archive: which page links to which, with the eyes of the crawler.
//!
//! [`read`] goes once over the WARC files of an archive, junkai's own or anybody's, in parallel, and gives an
//! [`ArchiveGraph`]. [`folder::write`] turns that into files that [`junkai_graph::load()`] reads back;
//! [`ArchiveGraph::into_web_graph`] hands it to an experiment without a detour over the disk.
//!
//! # Which links
//! Those that the crawler follows under the same settings ([`Options`]): the links of HTML pages less those that ask not to
//! be followed, the entries of sitemaps and feeds, the target of a redirect; in canonical form, in document order, each
//! once. The latest capture of a page counts. A revisit record has the links of the payload that it refers to, read as if
//! that had come from the record's own URL.
//!
//! Scope is not asked: a link that leads out of the crawl is a link too. [`ArchiveGraph::only_captured`] leaves out what was
//! never captured. robots.txt files are not pages, so the sitemaps that they name have no link to them from there.
//!
//! # Which order
//! Captured pages come first, in the order of their first captures, so that a crawl can be told again; then those that are
//! only linked to, in the order in which the pages before them mention them. The same files always give the same graph,
//! whatever the number of threads.
//!
//! # Memory
//! The URLs that are known, once; 4 bytes for each link of each capture, and about 150 for the capture; for each thread, one record
//! ([`Options::record_bytes_max`]) and its content ([`Options::decoded_bytes_max`]).
//!
//! Bad bytes are normal: they are passed over and counted in the [`Report`]. Not here: the crawl's own state and index, which
//! other people's archives do not have.

mod arrange;
mod capture;
mod error;
mod files;
mod follow;
mod host_graph;
mod pages;
mod report;
mod scan;

pub mod folder;

use std::net::IpAddr;
use std::path::Path;
use std::sync::mpsc;

use junkai_graph::{HostCut, Hosts, Links, Page, Progress, Stage, Urls, WebGraph};
use junkai_page::LinkOptions;
use junkai_weburl::CanonicalConfig;

pub use error::ArchiveGraphError;
pub use host_graph::{HostGraph, HostLink};
pub use report::{PassedOver, Problem, Report};

use files::Files;
use scan::Scanner;

/// How pages are read: the settings of the crawl whose links are wanted.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which links of a page count.
    pub links: LinkOptions,
    /// When two URLs are the same page.
    pub canonical: CanonicalConfig,
    /// The product token of the crawler, for rules in pages that are addressed to it. Default `junkai`.
    pub robots_agent: String,
    /// Whether links marked `nofollow` are left alone. Default true.
    pub respect_nofollow: bool,
    /// Whether the entries of sitemaps and feeds are links. Default true.
    pub sitemaps: bool,
    /// Bytes of a page that are read once its content coding is undone. Default 64 MiB, as in a crawl.
    pub decoded_bytes_max: usize,
    /// Bytes of the longest record that is read; the links of longer ones are not known. Default 64 MiB: twice the
    /// longest body that a crawl keeps.
    pub record_bytes_max: u64,
    /// Pages that the graph may have. Default [`junkai_graph::PAGES_MAX`].
    pub pages_max: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            links: LinkOptions::default(),
            canonical: CanonicalConfig::default(),
            robots_agent: "junkai".to_owned(),
            respect_nofollow: true,
            sitemaps: true,
            decoded_bytes_max: 64 << 20,
            record_bytes_max: 64 << 20,
            pages_max: junkai_graph::PAGES_MAX,
        }
    }
}

/// The pages that an archive knows, and the links between them.
#[derive(Clone, Debug)]
pub struct ArchiveGraph {
    /// The graph under the name of the archive's folder, with URLs; a host that was never captured is a server of its own.
    web: WebGraph,
    /// How many pages were captured: those with lower numbers than this.
    pub captured: u32,
    /// For each host the address that it was last captured from.
    pub addresses: Vec<Option<IpAddr>>,
    /// What was read, and what was passed over.
    pub report: Report,
}

/// Reads the graph of the archive at `path`: a folder that a crawl made, a folder with WARC files in it or below it, or one
/// WARC file. `progress` is called now and then, from this thread.
///
/// # Errors
/// If there is no archive, or it cannot be listed. Files that are damaged or vanish while they are read are in the report.
pub fn read(
    path: &Path,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<ArchiveGraph, ArchiveGraphError> {
    let files = Files::find(path)?;
    let scanner = Scanner::new(options, &files);
    let captures = std::thread::scope(|scope| {
        let (reports, bytes) = mpsc::channel();
        let scanning = scope.spawn(|| scanner.scan(reports));
        watch(&bytes, files.bytes(), progress);
        scanning.join()
    });
    let (captures, report) = match captures {
        Ok(found) => found,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    let mut arranging = |done| {
        progress(Progress {
            stage: Stage::Arrange,
            done,
            total: 1,
        });
    };
    arranging(0);
    let mut graph = arrange::arrange(&scanner, captures, report)?;
    graph.web.name = files.name();
    arranging(1);
    Ok(graph)
}

/// Passes on how many bytes have been read, until nobody reads any more.
fn watch(bytes: &mpsc::Receiver<u64>, total: u64, progress: &mut dyn FnMut(Progress)) {
    let mut report = |done: u64| {
        progress(Progress {
            stage: Stage::ReadLinks,
            done: done.min(total),
            total,
        });
    };
    report(0);
    let mut done = 0_u64;
    for more in bytes {
        done = done.saturating_add(more);
        report(done);
    }
    report(total);
}

impl ArchiveGraph {
    /// Puts a graph together; `addresses_of` says where hosts were last captured from.
    fn new(
        links: Links,
        urls: Urls,
        captured: u32,
        addresses_of: impl FnOnce(&Hosts) -> Vec<Option<IpAddr>>,
    ) -> Self {
        assert_eq!(
            links.page_count() as usize,
            urls.len(),
            "a URL for each page"
        );
        assert!(captured <= links.page_count(), "captured pages are pages");
        let hosts = Hosts::from_urls(&urls);
        let addresses = addresses_of(&hosts);
        assert_eq!(addresses.len(), hosts.count() as usize, "one entry a host");
        let texts: Vec<Option<String>> = addresses
            .iter()
            .map(|address| address.map(|address| address.to_string()))
            .collect();
        let web = WebGraph {
            name: String::new(),
            links,
            hosts: hosts.with_servers(|host, _| texts[host as usize].as_deref()),
            urls: Some(urls),
            cut: HostCut::Urls,
        };
        Self {
            web,
            captured,
            addresses,
            report: Report::default(),
        }
    }

    /// The graph of captured pages alone: what was only linked to is left out, with the links to it.
    #[must_use]
    pub fn only_captured(self) -> Self {
        let captured = self.captured;
        let lists: Vec<Vec<u32>> = (0..captured)
            .map(|page| {
                let targets = self.web.links.successors(page).iter().copied();
                targets.filter(|&target| target < captured).collect()
            })
            .collect();
        let urls = (0..captured).map(|page| self.url(page)).collect();
        // Hosts are numbered as they appear, and captured pages come first: those that stay keep their numbers.
        let addresses_of = |hosts: &Hosts| self.addresses[..hosts.count() as usize].to_vec();
        let mut graph = Self::new(Links::from_lists(&lists), urls, captured, addresses_of);
        graph.web.name = self.web.name;
        graph.report = self.report;
        graph
    }

    /// The graph as experiments take it. A host that was never captured is a server of its own.
    #[must_use]
    pub fn web(&self) -> &WebGraph {
        &self.web
    }

    /// The same, to keep.
    #[must_use]
    pub fn into_web_graph(self) -> WebGraph {
        self.web
    }

    /// The canonical URL of a page.
    ///
    /// # Panics
    /// If there is no such page.
    #[must_use]
    pub fn url(&self, page: Page) -> &str {
        self.web.urls.as_ref().map_or("", |urls| urls.get(page))
    }

    /// How many addresses the hosts were captured from.
    #[must_use]
    pub fn server_count(&self) -> usize {
        let mut addresses: Vec<IpAddr> = self.addresses.iter().flatten().copied().collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses.len()
    }
}

#[cfg(test)]
mod tests;
