//! A given web graph served as pages: each node a page, each arc a link.
//!
//! [`Graph::load`] reads a graph of any form that `junkai_graph` knows into memory: 4 bytes an arc and 8 a node, and the URLs
//! if there is a list of them. A page's links are in the order in which the graph has them. Nodes without a URL of their own
//! are cut into hosts by their numbers (see [`crate::GraphConfig::pages_per_host`]).

use std::collections::HashMap;
use std::fmt::Write;

use junkai_graph::{
    Links, LoadOptions, Page as Node, Urls, load_links, load_names, reachable, unwatched,
};

use crate::answer::{Answer, Request};
use crate::chance::{Chance, mix};
use crate::change::ChangeProcess;
use crate::clock::Clock;
use crate::config::{GraphConfig, TestWebConfig};
use crate::prose::{Language, Prose};
use crate::synthetic::Ports;
pub use junkai_graph::GraphError;

/// The graph, and its pages' names.
#[derive(Debug)]
pub(crate) struct Graph {
    links: Links,
    names: Names,
    hosts: Vec<GraphHost>,
    is_reachable: Vec<bool>,
    seed_page: Option<Node>,
    prose: Prose,
    settings: Settings,
}

#[derive(Debug)]
pub(crate) struct GraphHost {
    pub(crate) name: String,
    origin: String,
    nodes: Vec<Node>,
}

/// What the pages are called.
#[derive(Debug)]
enum Names {
    /// `/p<number>` on hosts of equal size.
    Numbers { pages_per_host: u32 },
    /// As in a list.
    Listed {
        urls: Vec<ListedUrl>,
        nodes: HashMap<ListedUrl, Node>,
    },
}

/// A URL as a list gives it: the index of its host, and path with query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ListedUrl {
    host: usize,
    target: Box<str>,
}

#[derive(Debug)]
struct Settings {
    seed: u64,
    page_bytes: usize,
    change_gap_seconds: f64,
    change_spread: f64,
}

impl Graph {
    pub(crate) fn load(
        source: &GraphConfig,
        config: &TestWebConfig,
        ports: Ports,
    ) -> Result<Self, GraphError> {
        let options = LoadOptions::default();
        let links = load_links(&source.path, &options, &mut unwatched)?;
        let (names, host_names) = match &source.urls {
            Some(path) => {
                let list = load_names(path, &options, &mut unwatched)?;
                Names::from_list(&list, links.page_count())
            }
            None => Names::from_numbers(source.pages_per_host.get(), links.page_count()),
        };
        let mut hosts: Vec<GraphHost> = host_names
            .into_iter()
            .map(|name| GraphHost {
                origin: ports.origin(&name, false),
                name,
                nodes: Vec::new(),
            })
            .collect();
        for node in links
            .pages()
            .filter(|&node| names.is_first_of_its_name(node))
        {
            hosts[names.host(node)].nodes.push(node);
        }
        let seed_page = largest_node(&links);
        Ok(Self {
            is_reachable: reachable(&links, seed_page.as_slice()),
            seed_page,
            links,
            names,
            hosts,
            prose: Prose::new(config.seed, Language::English, encoding_rs::UTF_8),
            settings: Settings {
                seed: config.seed,
                page_bytes: config.page_bytes as usize,
                change_gap_seconds: config.change_interval.as_secs_f64(),
                change_spread: config.change_spread,
            },
        })
    }

    pub(crate) fn hosts(&self) -> &[GraphHost] {
        &self.hosts
    }

    /// Where to begin: the page with the most links.
    pub(crate) fn seed(&self) -> Option<String> {
        self.seed_page.map(|node| self.url(node))
    }

    /// The pages of a host that can be reached from the seed.
    pub(crate) fn page_urls(&self, host: usize) -> impl Iterator<Item = String> {
        let nodes = self.hosts[host].nodes.iter();
        nodes
            .filter(|&&node| self.is_reachable[node as usize])
            .map(|&node| self.url(node))
    }

    pub(crate) fn page_count(&self) -> u64 {
        let nodes = self.hosts.iter().flat_map(|host| &host.nodes);
        nodes
            .filter(|&&node| self.is_reachable[node as usize])
            .count() as u64
    }

    pub(crate) fn answer(&self, host: usize, request: &Request, clock: &Clock) -> Answer {
        let Some(node) = self
            .names
            .node(host, &request.target, self.links.page_count())
        else {
            return Answer::plain(404);
        };
        let settings = &self.settings;
        let key = mix(settings.seed, u64::from(node));
        let process =
            ChangeProcess::of_page(key, settings.change_gap_seconds, settings.change_spread);
        let version = process.version(clock.virtual_seconds());
        let made = clock.shown_at(version.made_at).system_time();
        match request.validate(format!("\"{:016x}\"", version.tag()), made) {
            Ok(headers) => Answer {
                status: 200,
                headers,
                body: self.html(node, mix(key, version.tag())),
                is_chunked: false,
            }
            .header("content-type", "text/html; charset=utf-8"),
            Err(not_modified) => not_modified,
        }
    }

    /// A page with the node's links, filled up with text.
    fn html(&self, node: Node, text: u64) -> Vec<u8> {
        let mut html = format!("<!DOCTYPE html>\n<title>{node}</title>\n<ul>\n");
        for &target in self.links.successors(node) {
            let url = escaped(&self.url(target));
            let written = writeln!(html, "<li><a href=\"{url}\">{target}</a></li>");
            debug_assert!(written.is_ok(), "a string takes all that is written to it");
        }
        let mut html = html.into_bytes();
        html.extend_from_slice(b"</ul>\n<p>");
        let mut chance = Chance::about(text, 0);
        while html.len() < self.settings.page_bytes {
            html.extend_from_slice(self.prose.sentence(&mut chance));
        }
        html.extend_from_slice(b"</p>\n");
        html
    }

    fn url(&self, node: Node) -> String {
        let origin = &self.hosts[self.names.host(node)].origin;
        match &self.names {
            Names::Numbers { .. } => format!("{origin}/p{node}"),
            Names::Listed { urls, .. } => format!("{origin}{}", urls[node as usize].target),
        }
    }
}

impl Names {
    fn from_numbers(pages_per_host: u32, node_count: u32) -> (Self, Vec<String>) {
        let host_count = node_count.div_ceil(pages_per_host);
        let hosts = (0..host_count).map(numbered_host).collect();
        (Self::Numbers { pages_per_host }, hosts)
    }

    /// Takes names from a list of URLs. A line that is no URL, or none at all, leaves its page with a number for a name.
    fn from_list(list: &Urls, node_count: u32) -> (Self, Vec<String>) {
        let mut lines = list.iter();
        let mut hosts = Vec::new();
        let mut host_index = HashMap::new();
        let mut urls = Vec::new();
        let mut nodes = HashMap::new();
        for node in 0..node_count {
            let (host, target) = lines
                .next()
                .and_then(host_and_target)
                .unwrap_or_else(|| (numbered_host(0), format!("/p{node}")));
            let host = *host_index.entry(host).or_insert_with_key(|name| {
                hosts.push(name.clone());
                hosts.len() - 1
            });
            let url = ListedUrl {
                host,
                target: target.into(),
            };
            nodes.entry(url.clone()).or_insert(node);
            urls.push(url);
        }
        (Self::Listed { urls, nodes }, hosts)
    }

    fn host(&self, node: Node) -> usize {
        match self {
            Self::Numbers { pages_per_host } => (node / pages_per_host) as usize,
            Self::Listed { urls, .. } => urls[node as usize].host,
        }
    }

    fn node(&self, host: usize, target: &str, node_count: u32) -> Option<Node> {
        match self {
            Self::Numbers { .. } => {
                let number = target.strip_prefix("/p")?;
                let node = number.parse().ok().filter(|&node| node < node_count)?;
                (self.host(node) == host && number == node.to_string()).then_some(node)
            }
            Self::Listed { nodes, .. } => {
                let target = target.into();
                nodes.get(&ListedUrl { host, target }).copied()
            }
        }
    }

    /// False for a page whose URL an earlier page has too: the earlier one is served.
    fn is_first_of_its_name(&self, node: Node) -> bool {
        match self {
            Self::Numbers { .. } => true,
            Self::Listed { urls, nodes } => nodes.get(&urls[node as usize]) == Some(&node),
        }
    }
}

/// The node with the most links, the first of several.
fn largest_node(links: &Links) -> Option<Node> {
    links
        .pages()
        .max_by_key(|&node| (links.out_degree(node), !node))
}

fn numbered_host(number: u32) -> String {
    format!("h{number}.graph.test")
}

/// Host name and path with query of an absolute URL; scheme, port and fragment are dropped.
fn host_and_target(url: &str) -> Option<(String, String)> {
    let (_, rest) = url.trim().split_once("://")?;
    let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let host = crate::answer::host_name(&rest[..end]);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    let is_host = !host.is_empty() && host.len() <= 253 && host.bytes().all(is_name);
    let target = &rest[end..];
    let is_target = target.bytes().all(|byte| byte.is_ascii_graphic());
    let slash = if target.starts_with('/') { "" } else { "/" };
    (is_host && is_target).then(|| (host, format!("{slash}{target}")))
}

fn escaped(url: &str) -> String {
    url.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_lose_scheme_port_and_fragment() {
        for (url, expected) in [
            ("http://A.org/x?y#z", Some(("a.org", "/x?y"))),
            ("https://a.org:8443", Some(("a.org", "/"))),
            ("http://a.org?q", Some(("a.org", "/?q"))),
            ("http:///x", None),
            ("no url", None),
            ("http://a.org/a b", None),
        ] {
            let expected = expected.map(|(host, target)| (host.to_owned(), target.to_owned()));
            assert_eq!(host_and_target(url), expected, "{url}");
        }
    }

    #[test]
    fn the_first_of_two_pages_with_one_url_is_served() {
        let list = ["http://a.org/", "http://b.org/", "http://a.org:80/#top"];
        let (names, hosts) = Names::from_list(&list.into_iter().collect(), 4);
        assert_eq!(hosts, ["a.org", "b.org", "h0.graph.test"]);
        assert_eq!(names.node(0, "/", 4), Some(0));
        assert!(!names.is_first_of_its_name(2));
        assert_eq!(names.node(2, "/p3", 4), Some(3));
        assert_eq!(names.node(1, "/p3", 4), None);
    }

    #[test]
    fn the_seed_is_the_first_of_the_nodes_with_the_most_links() {
        let links = Links::from_lists(&[vec![1], vec![0, 2], vec![2, 1]]);
        assert_eq!(largest_node(&links), Some(1));
        assert_eq!(largest_node(&Links::empty()), None);
    }
}
