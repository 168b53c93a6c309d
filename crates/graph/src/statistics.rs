//! What a graph is like, in a few numbers: to be printed beside those of other graphs.

use serde::Serialize;

use crate::{Components, HostCut, PageRank, WebGraph};

/// Shares of `PageRank` of which [`Statistics::pages_for_pagerank`] says how many pages hold them.
pub const PAGERANK_SHARES: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// In-degrees from which the distribution is taken for a power law.
const POWER_LAW_FROM: u32 = 10;

/// What a graph is like. Shares are between 0 and 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// What the graph is called.
    pub name: String,
    /// Pages.
    pub pages: u32,
    /// Links.
    pub links: u64,
    /// Hosts.
    pub hosts: u32,
    /// How hosts came about.
    pub host_cut: HostCut,
    /// Servers.
    pub servers: u32,
    /// Pages of the host in the middle, when ordered by size.
    pub host_pages_median: u32,
    /// Pages of the largest host.
    pub host_pages_max: u32,
    /// Share of pages without links.
    pub dangling_share: f64,
    /// Share of pages to which no page links, but for the page itself.
    pub unlinked_share: f64,
    /// Links of a page, on average over all pages.
    pub out_degree_mean: f64,
    /// Links of the page with the most.
    pub out_degree_max: u32,
    /// Links to the page with the most.
    pub in_degree_max: u32,
    /// The exponent of the power law by which in-degrees from 10 on are distributed; none if there are too few.
    pub in_degree_exponent: Option<f64>,
    /// Share of links that stay on their host.
    pub links_inside_host_share: f64,
    /// Strongly connected components.
    pub components: u32,
    /// Share of pages in the largest component.
    pub largest_component_share: f64,
    /// Share of pages that hold each of [`PAGERANK_SHARES`] of `PageRank`.
    pub pages_for_pagerank: [f64; 4],
}

impl Statistics {
    /// Takes the numbers from a graph and what has been measured of it.
    #[must_use]
    pub fn new(graph: &WebGraph, components: &Components, pagerank: &PageRank) -> Self {
        let (links, hosts) = (&graph.links, &graph.hosts);
        let (mut dangling, mut inside) = (0_u64, 0_u64);
        let mut out_degree_max = 0;
        let mut in_degrees = vec![0_u32; links.page_count() as usize];
        let mut is_linked = vec![false; links.page_count() as usize];
        for page in links.pages() {
            let targets = links.successors(page);
            dangling += u64::from(targets.is_empty());
            out_degree_max = out_degree_max.max(links.out_degree(page));
            for &target in targets {
                inside += u64::from(hosts.host(page) == hosts.host(target));
                in_degrees[target as usize] += 1;
                is_linked[target as usize] |= target != page;
            }
        }
        let mut sizes = hosts.sizes().to_vec();
        sizes.sort_unstable();
        let largest = components.largest();
        let largest = largest.map_or(0, |largest| components.sizes()[largest as usize]);
        let pages = links.page_count();
        let shares = pagerank.pages_for_shares(&PAGERANK_SHARES);
        Self {
            name: graph.name.clone(),
            pages,
            links: links.link_count(),
            hosts: hosts.count(),
            host_cut: graph.cut,
            servers: hosts.server_count(),
            host_pages_median: sizes.get(sizes.len() / 2).copied().unwrap_or(0),
            host_pages_max: sizes.last().copied().unwrap_or(0),
            dangling_share: share(dangling, pages.into()),
            unlinked_share: share(
                is_linked.iter().filter(|is_linked| !**is_linked).count() as u64,
                pages.into(),
            ),
            out_degree_mean: share(links.link_count(), pages.into()),
            out_degree_max,
            in_degree_max: in_degrees.iter().copied().max().unwrap_or(0),
            in_degree_exponent: power_law_exponent(&in_degrees, POWER_LAW_FROM),
            links_inside_host_share: share(inside, links.link_count()),
            components: components.count(),
            largest_component_share: share(largest.into(), pages.into()),
            pages_for_pagerank: std::array::from_fn(|place| {
                share(shares[place].into(), pages.into())
            }),
        }
    }

    /// The statistics as rows for people: what it is, and its value.
    #[must_use]
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        let fine = |share: f64| format!("{:.3} %", 100.0 * share);
        let exponent = self.in_degree_exponent;
        let [fifth, two_fifths, three_fifths, four_fifths] = self.pages_for_pagerank;
        vec![
            ("pages", self.pages.to_string()),
            ("links", self.links.to_string()),
            ("hosts", self.hosts.to_string()),
            ("servers", self.servers.to_string()),
            (
                "pages of a host, median",
                self.host_pages_median.to_string(),
            ),
            ("pages of a host, most", self.host_pages_max.to_string()),
            ("pages without links", percent(self.dangling_share)),
            ("pages that no page links to", percent(self.unlinked_share)),
            (
                "links of a page, mean",
                format!("{:.2}", self.out_degree_mean),
            ),
            ("links of a page, most", self.out_degree_max.to_string()),
            ("links to a page, most", self.in_degree_max.to_string()),
            (
                "in-degree exponent",
                exponent.map_or_else(|| "–".to_owned(), |exponent| format!("{exponent:.2}")),
            ),
            (
                "links inside their host",
                percent(self.links_inside_host_share),
            ),
            ("strong components", self.components.to_string()),
            (
                "pages in the largest",
                percent(self.largest_component_share),
            ),
            ("pages with 20 % of PageRank", fine(fifth)),
            ("pages with 40 % of PageRank", fine(two_fifths)),
            ("pages with 60 % of PageRank", fine(three_fifths)),
            ("pages with 80 % of PageRank", fine(four_fifths)),
        ]
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// The exponent of the power law that degrees of at least `least` follow, by maximum likelihood; none if there are fewer
/// than 50, or all are the same.
///
/// Clauset, Shalizi and Newman, "Power-Law Distributions in Empirical Data", SIAM Review 51(4), 2009, equation 3.7:
/// 1 + *n* / Σ ln(*x* / (*x*min − ½)). Departures: *x*min is given, not fitted.
#[must_use]
pub fn power_law_exponent(degrees: &[u32], least: u32) -> Option<f64> {
    const DEGREES_MIN: u64 = 50;
    let origin = f64::from(least) - 0.5;
    let (mut count, mut sum, mut most) = (0_u64, 0.0, least);
    for &degree in degrees.iter().filter(|&&degree| least <= degree) {
        count += 1;
        sum += (f64::from(degree) / origin).ln();
        most = most.max(degree);
    }
    (DEGREES_MIN <= count && least < most).then(|| 1.0 + count as f64 / sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::unwatched;
    use crate::{Hosts, Links, PageRankConfig, components, pagerank};

    #[test]
    fn a_small_graph_is_counted() {
        let links = Links::from_lists(&[vec![1, 2], vec![0], vec![], vec![3]]);
        let graph = WebGraph {
            name: "small".to_owned(),
            hosts: Hosts::from_equal_blocks(4, 2),
            links,
            urls: None,
            cut: HostCut::EqualBlocks(2),
        };
        let components = components(&graph.links, &mut unwatched);
        let pagerank = pagerank(&graph.links, &PageRankConfig::default(), &mut unwatched);
        let statistics = Statistics::new(&graph, &components, &pagerank);
        assert_eq!(
            (statistics.pages, statistics.links, statistics.hosts),
            (4, 4, 2)
        );
        assert_eq!(
            (statistics.host_pages_median, statistics.host_pages_max),
            (2, 2)
        );
        assert!((statistics.dangling_share - 0.25).abs() < 1e-12);
        assert!(
            (statistics.unlinked_share - 0.25).abs() < 1e-12,
            "page 3 links to itself"
        );
        assert!((statistics.out_degree_mean - 1.0).abs() < 1e-12);
        assert_eq!(
            (statistics.out_degree_max, statistics.in_degree_max),
            (2, 1)
        );
        assert!((statistics.links_inside_host_share - 0.75).abs() < 1e-12);
        assert_eq!(statistics.components, 3);
        assert!((statistics.largest_component_share - 0.5).abs() < 1e-12);
        assert_eq!(statistics.rows().len(), 19);
    }

    #[test]
    fn a_power_law_is_recognised() {
        // Degrees at even steps of the distribution's inverse, for exponent 2.1.
        let count = 200_000;
        let degrees: Vec<u32> = (0..count)
            .map(|step| (f64::from(step) + 0.5) / f64::from(count))
            .map(|quantile: f64| 9.5 * quantile.powf(-1.0 / 1.1) + 0.5)
            .map(|degree| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "saturates"
                )]
                let degree = degree as u32;
                degree
            })
            .collect();
        let exponent = power_law_exponent(&degrees, 10).unwrap();
        assert!((exponent - 2.1).abs() < 0.02, "{exponent}");
        assert_eq!(power_law_exponent(&[20; 49], 10), None);
        assert_eq!(power_law_exponent(&[10; 100], 10), None);
    }

    #[test]
    fn a_graph_without_pages_has_statistics() {
        let graph = WebGraph {
            name: String::new(),
            hosts: Hosts::from_equal_blocks(0, 1),
            links: Links::empty(),
            urls: None,
            cut: HostCut::BLOCKS,
        };
        let components = components(&graph.links, &mut unwatched);
        let pagerank = pagerank(&graph.links, &PageRankConfig::default(), &mut unwatched);
        let statistics = Statistics::new(&graph, &components, &pagerank);
        assert!(
            statistics
                .pages_for_pagerank
                .iter()
                .all(|share| share.abs() < 1e-300)
        );
    }
}
