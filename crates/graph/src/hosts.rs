//! Which host each page is on, and which server answers for each host.
//!
//! Where URLs are known, the host is the name in the URL. Where they are not, hosts are cut out of the order of pages by
//! a rule that [`HostCut`] names: crawls by the `WebGraph` people number pages in the order of their URLs, so that a host
//! is a block of neighbouring numbers.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Serialize;

use crate::{Links, Page, Urls};

/// How the hosts of a graph came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostCut {
    /// The name in each page's URL, in lower case, without the port.
    Urls,
    /// Blocks of neighbouring pages: a new host begins where no link shorter than `span` passes over the boundary, and
    /// the block before it has at least `least` pages.
    Blocks {
        /// Links between pages whose numbers differ by less than this hold a block together.
        span: u32,
        /// Pages of the smallest block (the last one may be smaller).
        least: u32,
    },
    /// Blocks of so many pages each, the last one with what is left.
    EqualBlocks(u32),
    /// Whoever made the graph said so: a generator, or a list of host names.
    Given,
}

impl HostCut {
    /// The rule for graphs without URLs, which finds 1,127 hosts in cnr-2000.
    pub const BLOCKS: Self = Self::Blocks {
        span: 2000,
        least: 8,
    };
}

/// The hosts of a graph's pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    of_page: Vec<u32>,
    sizes: Vec<u32>,
    names: Option<Urls>,
    servers: Option<Servers>,
}

/// The servers of hosts: what must not be hit too often. Several hosts may share one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Servers {
    of_host: Vec<u32>,
    names: Urls,
}

impl Hosts {
    /// Each page's host by number. Hosts are 0 to the highest number given.
    #[must_use]
    pub fn from_numbers(of_page: Vec<u32>) -> Self {
        let count = of_page.iter().max().map_or(0, |&last| last as usize + 1);
        let mut sizes = vec![0; count];
        for &host in &of_page {
            sizes[host as usize] += 1;
        }
        Self {
            of_page,
            sizes,
            names: None,
            servers: None,
        }
    }

    /// Each page's host by name; hosts are numbered in the order in which they appear.
    #[must_use]
    pub fn from_names<'a>(of_page: impl IntoIterator<Item = Cow<'a, str>>) -> Self {
        let mut numbers: HashMap<Box<str>, u32> = HashMap::new();
        let mut names = Urls::new();
        let mut of_page_number = Vec::new();
        for name in of_page {
            let number = if let Some(&number) = numbers.get(name.as_ref()) {
                number
            } else {
                let number = u32::try_from(names.len()).unwrap_or(u32::MAX);
                names.push(&name);
                numbers.insert(name.into(), number);
                number
            };
            of_page_number.push(number);
        }
        Self {
            names: Some(names),
            ..Self::from_numbers(of_page_number)
        }
    }

    /// The hosts in the pages' URLs. All pages without a host in their URL are on one host with no name.
    #[must_use]
    pub fn from_urls(urls: &Urls) -> Self {
        Self::from_names(urls.iter().map(host_name))
    }

    /// Cuts pages into hosts by the links between them: see [`HostCut::Blocks`].
    ///
    /// To the letter the rule by which the figures of the lab's reference experiments were made: a boundary before page *i*
    /// is free if no link of length below `span` joins a page below *i* with one from *i* on.
    #[must_use]
    pub fn from_blocks(links: &Links, span: u32, least: u32) -> Self {
        let pages = links.page_count() as usize;
        // `change[i]`: how many more short links pass over the boundary before page i than over the one before it.
        let mut change = vec![0_i64; pages + 1];
        for source in links.pages() {
            for &target in links.successors(source) {
                if source.abs_diff(target) < span {
                    change[source.min(target) as usize + 1] += 1;
                    change[source.max(target) as usize + 1] -= 1;
                }
            }
        }
        let (mut crossing, mut host, mut block) = (0, 0, 0_u32);
        let of_page = change[..pages].iter().enumerate().map(|(page, change)| {
            crossing += change;
            if 0 < page && crossing == 0 && least <= block {
                host += 1;
                block = 0;
            }
            block += 1;
            host
        });
        Self::from_numbers(of_page.collect())
    }

    /// Blocks of `pages_per_host` neighbouring pages.
    #[must_use]
    pub fn from_equal_blocks(page_count: u32, pages_per_host: u32) -> Self {
        let of_page = (0..page_count).map(|page| page / pages_per_host.max(1));
        Self::from_numbers(of_page.collect())
    }

    /// Gives hosts their servers: `server_of` says the name of a host's server. A host that has none is its own.
    #[must_use]
    pub fn with_servers<'a>(mut self, server_of: impl Fn(u32, &str) -> Option<&'a str>) -> Self {
        let of_host = (0..self.count()).map(|host| {
            let name = self.name(host);
            match server_of(host, &name) {
                Some(server) => Cow::Borrowed(server),
                None => Cow::Owned(name.into_owned()),
            }
        });
        let by_name = Self::from_names(of_host);
        self.servers = Some(Servers {
            of_host: by_name.of_page,
            names: by_name.names.unwrap_or_default(),
        });
        self
    }

    /// The host of a page.
    ///
    /// # Panics
    /// If there is no such page.
    #[must_use]
    #[inline]
    pub fn host(&self, page: Page) -> u32 {
        self.of_page[page as usize]
    }

    /// The host of every page.
    #[must_use]
    pub fn of_pages(&self) -> &[u32] {
        &self.of_page
    }

    /// How many hosts there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.sizes.len()).unwrap_or(u32::MAX)
    }

    /// How many pages each host has.
    #[must_use]
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The name of a host; a made-up one where none is known.
    ///
    /// # Panics
    /// If there is no such host.
    #[must_use]
    pub fn name(&self, host: u32) -> Cow<'_, str> {
        match &self.names {
            Some(names) => Cow::Borrowed(names.get(host)),
            None => Cow::Owned(numbered_host(host)),
        }
    }

    /// The server of a host; the host itself where no servers are known.
    ///
    /// # Panics
    /// If there is no such host.
    #[must_use]
    pub fn server(&self, host: u32) -> u32 {
        match &self.servers {
            Some(servers) => servers.of_host[host as usize],
            None => host,
        }
    }

    /// How many servers there are.
    #[must_use]
    pub fn server_count(&self) -> u32 {
        match &self.servers {
            Some(servers) => u32::try_from(servers.names.len()).unwrap_or(u32::MAX),
            None => self.count(),
        }
    }

    /// The name or address of a server.
    ///
    /// # Panics
    /// If there is no such server.
    #[must_use]
    pub fn server_name(&self, server: u32) -> Cow<'_, str> {
        match &self.servers {
            Some(servers) => Cow::Borrowed(servers.names.get(server)),
            None => self.name(server),
        }
    }

    /// Whether servers are known, rather than each host taken for one.
    #[must_use]
    pub fn has_servers(&self) -> bool {
        self.servers.is_some()
    }
}

/// The name of a host of which only the number is known.
pub(crate) fn numbered_host(host: u32) -> String {
    format!("h{host}.graph.test")
}

/// The name in a URL: lower case, without user and port; empty where there is none.
fn host_name(url: &str) -> Cow<'_, str> {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let name = authority
        .rsplit_once('@')
        .map_or(authority, |(_, name)| name);
    let end = if name.starts_with('[') {
        name.find(']').map_or(name.len(), |bracket| bracket + 1)
    } else {
        name.find(':').unwrap_or(name.len())
    };
    let name = &name[..end];
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_host_is_the_name_in_the_url() {
        for (url, expected) in [
            ("http://a.example/x", "a.example"),
            ("https://WWW.A.example:8443", "www.a.example"),
            ("http://me:secret@a.example:80/b@c", "a.example"),
            ("http://a.example?q=http://b.example/", "a.example"),
            ("http://[2001:db8::1]:80/", "[2001:db8::1]"),
            ("http://[2001", "[2001"),
            ("gopher:whatever", ""),
            ("", ""),
        ] {
            assert_eq!(host_name(url), expected, "{url}");
        }
    }

    #[test]
    fn hosts_are_numbered_as_they_appear() {
        let list = [
            "http://b.example/",
            "http://a.example/",
            "http://B.example/2",
        ];
        let hosts = Hosts::from_urls(&list.into_iter().collect());
        assert_eq!(hosts.of_pages(), [0, 1, 0]);
        assert_eq!((hosts.count(), hosts.sizes()), (2, &[2, 1][..]));
        assert_eq!(hosts.name(1), "a.example");
    }

    #[test]
    fn a_host_without_a_server_is_its_own() {
        let names = ["a.example", "b.example", "c.example"];
        let hosts = Hosts::from_names(names.into_iter().map(Cow::Borrowed));
        assert_eq!((hosts.server(2), hosts.server_count()), (2, 3));
        let hosts = hosts.with_servers(|_, name| (name != "b.example").then_some("192.0.2.1"));
        assert_eq!(
            (hosts.server(0), hosts.server(1), hosts.server(2)),
            (0, 1, 0)
        );
        assert_eq!(hosts.server_count(), 2);
        assert_eq!(hosts.server_name(1), "b.example");
    }

    #[test]
    fn blocks_end_where_no_short_link_passes() {
        // Pages 0 to 2 and 3 to 5 are joined by short links; the link between 0 and 5 is long.
        let links = Links::from_lists(&[vec![2, 5], vec![], vec![], vec![5], vec![], vec![4]]);
        let hosts = Hosts::from_blocks(&links, 4, 2);
        assert_eq!(hosts.of_pages(), [0, 0, 0, 1, 1, 1]);
        assert_eq!(Hosts::from_blocks(&links, 4, 4).of_pages(), [0; 6]);
        assert_eq!(Hosts::from_blocks(&links, 6, 2).of_pages(), [0; 6]);
        assert_eq!(Hosts::from_equal_blocks(5, 2).of_pages(), [0, 0, 1, 1, 2]);
        assert_eq!(Hosts::from_equal_blocks(0, 2).count(), 0);
    }

    proptest! {
        #[test]
        fn blocks_are_cut_as_by_a_naive_model(
            lists in (1_u32..40).prop_flat_map(|pages| {
                let list = proptest::collection::vec(0..pages, 0..4);
                proptest::collection::vec(list, pages as usize)
            }),
            span in 1_u32..20,
            least in 1_u32..6,
        ) {
            let links = Links::from_lists(&lists);
            let passes = |page: Page| links.pages().any(|source| {
                links.successors(source).iter().any(|&target| {
                    source.abs_diff(target) < span && source.min(target) < page && page <= source.max(target)
                })
            });
            let (mut expected, mut host, mut start) = (Vec::new(), 0, 0);
            for page in links.pages() {
                if 0 < page && !passes(page) && least <= page - start {
                    host += 1;
                    start = page;
                }
                expected.push(host);
            }
            let hosts = Hosts::from_blocks(&links, span, least);
            prop_assert_eq!(hosts.of_pages(), &expected);
        }
    }
}
