//! The graph of hosts: how many links lead from one host's pages to another's.

use hashbrown::HashMap;
use junkai_graph::{Hosts, Links};

/// Which host links to which, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostGraph {
    /// Each pair of hosts once, ascending by source, then by target. Links within a host are those from it to itself.
    pub links: Vec<HostLink>,
}

/// All links from the pages of one host to the pages of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostLink {
    /// The host whose pages have the links.
    pub source: u32,
    /// The host to whose pages they lead.
    pub target: u32,
    /// How many there are.
    pub count: u64,
}

impl HostGraph {
    /// Counts the links between hosts.
    #[must_use]
    pub fn of(links: &Links, hosts: &Hosts) -> Self {
        let mut counts: HashMap<(u32, u32), u64> = HashMap::new();
        for page in links.pages() {
            let source = hosts.host(page);
            for &target in links.successors(page) {
                *counts.entry((source, hosts.host(target))).or_default() += 1;
            }
        }
        let link = |((source, target), count)| HostLink {
            source,
            target,
            count,
        };
        let mut links: Vec<HostLink> = counts.into_iter().map(link).collect();
        links.sort_unstable();
        Self { links }
    }
}
