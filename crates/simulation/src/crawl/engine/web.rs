//! A graph as the engine sees it: pages with URLs, hosts with names, servers with addresses.

use std::net::{IpAddr, Ipv4Addr};

use junkai_engine::visit::{Discovered, Purpose};
use junkai_graph::{Page, WebGraph};
use junkai_weburl::{CanonicalConfig, Canonicalizer, PageUrl};

/// The pages of a graph by their URLs: `http://h3.test/17` is page 17, on host 3.
pub(super) struct Pages<'a> {
    web: &'a WebGraph,
    canonical: Canonicalizer,
}

impl<'a> Pages<'a> {
    pub(super) fn new(web: &'a WebGraph, config: &CanonicalConfig) -> Pages<'a> {
        Pages {
            web,
            canonical: Canonicalizer::new(config),
        }
    }

    /// The URL of a page, as text.
    pub(super) fn text(&self, page: Page) -> String {
        let mut text = String::with_capacity(32);
        self.write(page, &mut text);
        text
    }

    fn write(&self, page: Page, text: &mut String) {
        text.push_str("http://h");
        push_number(text, self.web.hosts.host(page));
        text.push_str(".test/");
        push_number(text, page);
    }

    /// Where a host is.
    pub(super) fn address(&self, host: &str) -> IpAddr {
        let name = host
            .strip_prefix('h')
            .and_then(|rest| rest.strip_suffix(".test"));
        let server = self.web.hosts.server(number(name.unwrap_or_default()));
        address_of(server)
    }

    /// The links of a page that is so many links from a seed.
    pub(super) fn links(&self, page: Page, depth: u16) -> Vec<Discovered> {
        let links = self.web.links.successors(page);
        let mut found = Vec::with_capacity(links.len());
        let mut text = String::with_capacity(32);
        for &link in links {
            text.clear();
            self.write(link, &mut text);
            found.push(Discovered {
                url: self.parse(&text),
                hop: Some('L'),
                depth: depth.saturating_add(1),
                purpose: Purpose::Page,
                link_estimate: None,
            });
        }
        found
    }

    pub(super) fn parse(&self, text: &str) -> PageUrl {
        match self.canonical.parse(text) {
            Ok(url) => url,
            Err(error) => unreachable!("{text} is a URL: {error}"),
        }
    }
}

/// The page of a URL.
pub(super) fn page_of(url: &PageUrl) -> Page {
    number(&url.path()[1..])
}

/// The name of a host.
pub(in crate::crawl) fn host_name(host: u32) -> String {
    format!("h{host}.test")
}

/// The address of a server: its number.
pub(in crate::crawl) fn address_of(server: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(server))
}

/// The server at an address.
pub(super) fn server_at(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(address) => address.to_bits(),
        IpAddr::V6(_) => unreachable!("no server of the lab has one"),
    }
}

/// As `write!` does, in a fraction of the time: a crawl does little else as often.
fn push_number(text: &mut String, number: u32) {
    if 9 < number {
        push_number(text, number / 10);
    }
    text.push(char::from(
        b'0' + u8::try_from(number % 10).unwrap_or_default(),
    ));
}

fn number(text: &str) -> u32 {
    match text.parse() {
        Ok(number) => number,
        Err(error) => unreachable!("{text:?} is a number of the graph: {error}"),
    }
}
