//! Generates web-like graphs of any size from a seed.
//!
//! The links of a page are a function of the settings and the page's number: a [`Generator`] keeps only a table of hosts
//! (4 bytes each; some hundred pages make a host), and any page can be asked for at any time, in any order, from any
//! thread. Results are the same on every machine.
//!
//! # How a page gets its links
//! - Hosts have sizes by a power law. A host's pages form a tree under its home page: a page links to its parent and to its
//!   children. Hosts form a tree as well: the home page of a host is linked from that of an earlier host.
//! - Then come links in a number drawn from a log-normal distribution. Most stay on the host: they lead to its
//!   *navigation pages*, which are few and of low rank, or are copied from the tree links of another page of the host.
//! - The others lead elsewhere, mostly copied from an earlier page, which makes well-known pages better known (Kumar et
//!   al., "Stochastic Models for the Web Graph", FOCS 2000); else to any host, mostly its home page.
//! - A share of the pages that have no children have no links at all.
//! - The first hosts are the *core*, and link to each other and everywhere. The rest only link to hosts further down: from
//!   the core one gets there, but not back (Broder et al., "Graph Structure in the Web", WWW 2000).
//!
//! The defaults are such that graphs lie among real crawls in what [`crate::Statistics`] measures; the share of pages in the
//! largest strong component, of pages without links and the mean degree are those of cnr-2000.
//!
//! So every page can be reached from page 0. Copying is done by asking which link the other page has there, which may be
//! copied again, up to a fixed depth: no state is needed.

mod host_table;

use std::num::NonZeroU32;
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;

use crate::chance::{Chance, Distributions as _, about, exp};
use crate::hosts::numbered_host;
use crate::links::Builder;
use crate::progress::{Progress, Reporter, Stage};
use crate::write::{Form, GraphWriter, write_lines};
use crate::{GraphError, HostCut, Hosts, Page, WebGraph};
use host_table::{HostTable, Place};

/// What a generated graph is like. The defaults lie near real crawls.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GeneratorConfig {
    /// Pages.
    pub pages: u32,
    /// What all chance is derived from.
    pub seed: u64,
    /// Links of a page on average over all pages, met within a few per cent. Default 10.
    pub mean_out_degree: f64,
    /// Spread of the number of links: standard deviation of its logarithm. Default 0.9.
    pub out_degree_spread: f64,
    /// The exponent of the power law of host sizes. Default 1.6.
    pub host_size_exponent: f64,
    /// The largest possible host has the number of pages divided by this. Default 20.
    pub largest_host_divisor: NonZeroU32,
    /// Children of a page in its host's tree. Default 10.
    pub branching: NonZeroU32,
    /// Share of pages without links. Default 0.24.
    pub dangling_share: f64,
    /// Share of pages on hosts of the core. Default 0.45.
    pub core_share: f64,
    /// Share of the drawn links that stay on the host. Default 0.9.
    pub inside_share: f64,
    /// Share of the links that stay on the host that lead to navigation pages; the rest are copied. Default 0.8.
    pub navigation_share: f64,
    /// Share of the links to elsewhere that are copied. Default 0.85.
    pub copied_share: f64,
    /// Share of the links to elsewhere, other than copied ones, that lead to a home page. Default 0.8.
    pub home_share: f64,
}

impl GeneratorConfig {
    /// The default settings.
    #[must_use]
    pub fn new(pages: u32, seed: u64) -> Self {
        const TEN: NonZeroU32 = NonZeroU32::new(10).unwrap();
        const TWENTY: NonZeroU32 = NonZeroU32::new(20).unwrap();
        Self {
            pages,
            seed,
            mean_out_degree: 10.0,
            out_degree_spread: 0.9,
            host_size_exponent: 1.6,
            largest_host_divisor: TWENTY,
            branching: TEN,
            dangling_share: 0.24,
            core_share: 0.45,
            inside_share: 0.9,
            navigation_share: 0.8,
            copied_share: 0.85,
            home_share: 0.8,
        }
    }
}

/// What a draw is for: draws for different purposes have nothing to do with each other.
#[derive(Clone, Copy)]
enum Purpose {
    HostSize,
    Dangling,
    LinkCount,
    Drawn,
    Elsewhere,
    Sample,
}

/// Links of a page drawn at most, apart from those of the trees.
const DRAWN_LINKS_MAX: u32 = 1024;

/// How often a copied link may be a copied one: the share of links that come to this is the 32nd power of the share of
/// copied ones.
const COPY_DEPTH_MAX: u32 = 32;

/// Links to elsewhere that a page has to be copied.
const COPIED_SLOTS: u32 = 4;

/// Children of a host in the tree of hosts.
const HOST_BRANCHING: u32 = 4;

/// Makes the links of any page.
#[derive(Clone, Debug)]
pub struct Generator {
    config: GeneratorConfig,
    hosts: HostTable,
    /// How probable it is that a page without children has no links.
    dangling_probability: f64,
    /// The median of the log-normal distribution of links drawn.
    drawn_median: f64,
}

impl Generator {
    /// Prepares the table of hosts, and finds out how many links have to be drawn for the mean that is asked for.
    ///
    /// # Panics
    /// If the exponent of host sizes is not above 1.
    #[must_use]
    pub fn new(config: GeneratorConfig) -> Self {
        assert!(
            1.0 < config.host_size_exponent,
            "sizes with an exponent of {} have no distribution",
            config.host_size_exponent
        );
        let hosts = HostTable::new(&config);
        let mut generator = Self {
            hosts,
            dangling_probability: 0.0,
            drawn_median: 0.0,
            config,
        };
        let leaves = generator.leaf_count();
        if leaves != 0 {
            let dangling = generator.config.dangling_share * f64::from(generator.config.pages);
            generator.dangling_probability = dangling / leaves as f64;
        }
        generator.calibrate();
        generator
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &GeneratorConfig {
        &self.config
    }

    /// How many hosts there are.
    #[must_use]
    pub fn host_count(&self) -> u32 {
        self.hosts.count()
    }

    /// The host of a page.
    ///
    /// # Panics
    /// If there is no such page.
    #[must_use]
    pub fn host(&self, page: Page) -> u32 {
        assert!(page < self.config.pages, "no page {page}");
        self.hosts.place(page).host
    }

    /// Bytes that the generator keeps in memory.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.hosts.bytes()
    }

    /// Replaces what is in `targets` by the links of a page: each target once, none of them the page itself.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn successors(&self, page: Page, targets: &mut Vec<Page>) {
        assert!(page < self.config.pages, "no page {page}");
        targets.clear();
        let place = self.hosts.place(page);
        if self.is_dangling(page, place) {
            return;
        }
        let add = |target: Page, targets: &mut Vec<Page>| {
            if target != page && !targets.contains(&target) {
                targets.push(target);
            }
        };
        if place.rank != 0 {
            add(place.home + self.parent(place.rank), targets);
        }
        for child in self.children(place) {
            targets.push(child);
        }
        if place.rank == 0 {
            for host in self.child_hosts(place.host) {
                add(self.hosts.home(host), targets);
            }
        }
        for link in 0..self.drawn_count(page) {
            let target = self.drawn(page, place, link);
            add(target, targets);
        }
    }

    /// Makes the whole graph, on all threads.
    #[must_use]
    pub fn collect(&self, progress: &mut dyn FnMut(Progress)) -> WebGraph {
        const CHUNK_PAGES: u32 = 1 << 14;
        const CHUNKS_AT_A_TIME: usize = 64;
        let pages = self.config.pages;
        let mut links = Builder::new();
        let mut reporter = Reporter::new(progress, Stage::Generate, u64::from(pages));
        let chunks: Vec<Page> = (0..pages.div_ceil(CHUNK_PAGES)).collect();
        for chunks in chunks.chunks(CHUNKS_AT_A_TIME) {
            let made: Vec<Builder> = chunks
                .par_iter()
                .map(|&chunk| {
                    let first = chunk * CHUNK_PAGES;
                    self.chunk(first..first.saturating_add(CHUNK_PAGES).min(pages))
                })
                .collect();
            for chunk in &made {
                links.append(chunk);
                reporter.at(u64::from(links.page()));
            }
        }
        reporter.finish();
        let hosts = (0..self.host_count()).flat_map(|host| {
            let size = self.hosts.size(host) as usize;
            std::iter::repeat_n(host, size)
        });
        WebGraph {
            name: self.name(),
            links: links.finish(),
            hosts: Hosts::from_numbers(hosts.collect()),
            urls: None,
            cut: HostCut::Given,
        }
    }

    /// Writes the graph to a folder, page after page: it need not fit into memory.
    pub fn write(
        &self,
        folder: &Path,
        form: Form,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), GraphError> {
        let mut writer = GraphWriter::create(folder, form)?;
        let mut reporter = Reporter::new(progress, Stage::Write, u64::from(self.config.pages));
        let mut targets = Vec::new();
        for page in 0..self.config.pages {
            self.successors(page, &mut targets);
            writer.page(&targets)?;
            reporter.at(u64::from(page));
        }
        writer.finish()?;
        let hosts = (0..self.host_count()).flat_map(|host| {
            let size = self.hosts.size(host) as usize;
            std::iter::repeat_n(numbered_host(host), size)
        });
        write_lines(&folder.join("hosts.txt.gz"), hosts)?;
        reporter.finish();
        Ok(())
    }

    /// What the graph is called.
    #[must_use]
    pub fn name(&self) -> String {
        format!("generated-{}-{}", self.config.pages, self.config.seed)
    }

    fn chunk(&self, pages: std::ops::Range<Page>) -> Builder {
        let mut links = Builder::new();
        let mut targets = Vec::new();
        for page in pages {
            self.successors(page, &mut targets);
            links.extend(&targets);
            links.finish_page();
        }
        links
    }

    fn is_dangling(&self, page: Page, place: Place) -> bool {
        self.is_leaf(place)
            && about(self.config.seed, page.into(), Purpose::Dangling as u64)
                .is(self.dangling_probability)
    }

    /// Whether nothing hangs on the page in the trees, so that all pages can be reached without its links.
    fn is_leaf(&self, place: Place) -> bool {
        self.children(place).is_empty()
            && (place.rank != 0 || self.child_hosts(place.host).is_empty())
    }

    fn leaf_count(&self) -> u64 {
        let leaves = |host: u32| {
            let size = self.hosts.size(host);
            let with_children = (size - 1).div_ceil(self.config.branching.get());
            let home_alone = size == 1 && !self.child_hosts(host).is_empty();
            u64::from(size - with_children) - u64::from(home_alone)
        };
        (0..self.host_count()).map(leaves).sum()
    }

    fn parent(&self, rank: u32) -> u32 {
        (rank - 1) / self.config.branching.get()
    }

    fn children(&self, place: Place) -> std::ops::Range<Page> {
        let branching = self.config.branching.get();
        let first = place.rank.saturating_mul(branching).saturating_add(1);
        let end = first.saturating_add(branching);
        place.home + first.min(place.size)..place.home + end.min(place.size)
    }

    fn child_hosts(&self, host: u32) -> std::ops::Range<u32> {
        let count = self.host_count();
        let first = host.saturating_mul(HOST_BRANCHING).saturating_add(1);
        first.min(count)..first.saturating_add(HOST_BRANCHING).min(count)
    }

    fn drawn_count(&self, page: Page) -> u32 {
        let mut chance = about(self.config.seed, page.into(), Purpose::LinkCount as u64);
        let factor = exp(self.config.out_degree_spread * chance.normal());
        let count = chance.rounded(self.drawn_median * factor);
        count.min(DRAWN_LINKS_MAX)
    }

    /// A page's drawn link of that number.
    fn drawn(&self, page: Page, place: Place, link: u32) -> Page {
        let subject = u64::from(page) * u64::from(DRAWN_LINKS_MAX) + u64::from(link);
        let mut chance = about(self.config.seed, subject, Purpose::Drawn as u64);
        if chance.is(self.config.inside_share) {
            place.home + self.inside(place, &mut chance)
        } else if place.host < self.hosts.core_hosts() {
            self.elsewhere(page, link % COPIED_SLOTS)
        } else {
            self.further_down(place.host, &mut chance)
        }
    }

    /// The rank of a page of the same host: a navigation page, or what another page of the host links to in its tree.
    fn inside(&self, place: Place, chance: &mut Chance) -> u32 {
        if chance.is(self.config.navigation_share) {
            return chance.zipf(place.navigation_pages);
        }
        let other = Place {
            rank: chance.below(place.size),
            ..place
        };
        let children = self.children(other);
        match chance.below(3) {
            0 if other.rank != 0 => self.parent(other.rank),
            1 if !children.is_empty() => {
                children.start - place.home + chance.below(children.end - children.start)
            }
            _ => chance.zipf(place.navigation_pages),
        }
    }

    /// Where the link to elsewhere of that number leads, of a page of the core.
    fn elsewhere(&self, page: Page, slot: u32) -> Page {
        let (mut page, mut slot) = (page, slot);
        let mut depth = 0;
        loop {
            let subject = u64::from(page) * u64::from(COPIED_SLOTS) + u64::from(slot);
            let mut chance = about(self.config.seed, subject, Purpose::Elsewhere as u64);
            let is_copied = chance.is(self.config.copied_share);
            if !is_copied || page == 0 || depth == COPY_DEPTH_MAX {
                return self.on_host(chance.below(self.host_count()), &mut chance);
            }
            page = chance.below(page);
            slot = chance.below(COPIED_SLOTS);
            depth += 1;
        }
    }

    /// Where a link from outside the core leads: a host with a higher number, or the own one if it is the last.
    fn further_down(&self, host: u32, chance: &mut Chance) -> Page {
        let further = self.host_count() - 1 - host;
        let host = if further == 0 {
            host
        } else {
            host + 1 + chance.below(further)
        };
        self.on_host(host, chance)
    }

    fn on_host(&self, host: u32, chance: &mut Chance) -> Page {
        let rank = if chance.is(self.config.home_share) {
            0
        } else {
            chance.zipf(self.hosts.size(host))
        };
        self.hosts.home(host) + rank
    }

    /// Finds the median of the number of drawn links for which pages of a sample have the mean that is asked for.
    fn calibrate(&mut self) {
        const ROUNDS: u32 = 12;
        const SAMPLE_PAGES: u32 = 2048;
        // So many times the mean are drawn at most: on small hosts, most draws find a link that is there already.
        const DRAWN_MAX: f64 = 6.0;
        let pages = self.config.pages;
        let mut chance = about(self.config.seed, 0, Purpose::Sample as u64);
        let sample: Vec<Page> = if pages <= SAMPLE_PAGES {
            (0..pages).collect()
        } else {
            (0..SAMPLE_PAGES).map(|_| chance.below(pages)).collect()
        };
        let goal = self.config.mean_out_degree * sample.len() as f64;
        let (mut low, mut high) = (0.0, DRAWN_MAX * self.config.mean_out_degree);
        for _ in 0..ROUNDS {
            self.drawn_median = f64::midpoint(low, high);
            if (self.sampled_links(&sample) as f64) < goal {
                low = self.drawn_median;
            } else {
                high = self.drawn_median;
            }
        }
    }

    fn sampled_links(&self, sample: &[Page]) -> u64 {
        let count = |targets: &mut Vec<Page>, &page: &Page| {
            self.successors(page, targets);
            targets.len() as u64
        };
        sample.par_iter().map_init(Vec::new, count).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::progress::unwatched;
    use crate::{LoadOptions, PageRankConfig, Statistics, components, load, pagerank, reachable};

    fn generated(pages: u32, seed: u64) -> WebGraph {
        Generator::new(GeneratorConfig::new(pages, seed)).collect(&mut unwatched)
    }

    #[test]
    fn the_same_settings_give_the_same_graph_everywhere() {
        let fingerprint = generated(3000, 1).links.fingerprint();
        assert_eq!(
            format!("{:032x}", fingerprint.0),
            "f108dbab61eac025958a832a11ba1187"
        );
        assert_ne!(fingerprint, generated(3000, 2).links.fingerprint());
    }

    #[test]
    fn graphs_are_like_the_real_ones() {
        let graph = generated(40_000, 3);
        let components = components(&graph.links, &mut unwatched);
        let pagerank = pagerank(&graph.links, &PageRankConfig::default(), &mut unwatched);
        let found = Statistics::new(&graph, &components, &pagerank);
        assert!((found.out_degree_mean - 10.0).abs() < 0.6, "{found:?}");
        assert!((found.dangling_share - 0.24).abs() < 0.02, "{found:?}");
        assert!(
            (found.largest_component_share - 0.34).abs() < 0.04,
            "{found:?}"
        );
        assert!(
            (0.7..0.95).contains(&found.links_inside_host_share),
            "{found:?}"
        );
        assert!(
            (1.6..2.3).contains(&found.in_degree_exponent.unwrap()),
            "{found:?}"
        );
        let [fifth, _, _, four_fifths] = found.pages_for_pagerank;
        assert!(
            fifth < 0.01 && (0.2..0.5).contains(&four_fifths),
            "{found:?}"
        );
    }

    #[test]
    fn the_mean_number_of_links_is_met() {
        for mean in [3.0, 20.0] {
            let config = GeneratorConfig {
                mean_out_degree: mean,
                ..GeneratorConfig::new(30_000, 5)
            };
            let graph = Generator::new(config).collect(&mut unwatched);
            let found = graph.links.link_count() as f64 / 30_000.0;
            assert!(
                (found / mean - 1.0).abs() < 0.06,
                "{found} instead of {mean}"
            );
        }
    }

    #[test]
    fn a_large_graph_needs_little_memory() {
        let generator = Generator::new(GeneratorConfig::new(10_000_000, 1));
        assert!(
            generator.memory_bytes() < 2_000_000,
            "{}",
            generator.memory_bytes()
        );
        let mut targets = Vec::new();
        for page in [0, 2_345_678, 9_999_999] {
            generator.successors(page, &mut targets);
            assert!(targets.iter().all(|&target| target < 10_000_000));
        }
    }

    #[test]
    fn what_is_written_is_what_is_collected() {
        let generator = Generator::new(GeneratorConfig::new(2000, 9));
        let collected = generator.collect(&mut unwatched);
        for form in [Form::Edges, Form::BvGraph] {
            let folder = tempfile::tempdir().unwrap();
            generator
                .write(folder.path(), form, &mut unwatched)
                .unwrap();
            let read = load(folder.path(), &LoadOptions::default(), &mut unwatched).unwrap();
            assert_eq!(read.hosts.of_pages(), collected.hosts.of_pages());
            assert_eq!(read.hosts.name(7), collected.hosts.name(7));
            for page in collected.links.pages() {
                let mut expected = collected.links.successors(page).to_vec();
                if form == Form::BvGraph {
                    expected.sort_unstable();
                }
                assert_eq!(read.links.successors(page), expected);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn every_page_can_be_reached_and_links_are_sound(pages in 0_u32..700, seed: u64) {
            let generator = Generator::new(GeneratorConfig::new(pages, seed));
            let graph = generator.collect(&mut unwatched);
            prop_assert_eq!(graph.links.page_count(), pages);
            prop_assert_eq!(graph.hosts.of_pages().len(), pages as usize);
            for page in graph.links.pages() {
                let targets = graph.links.successors(page);
                let distinct: BTreeSet<_> = targets.iter().collect();
                prop_assert_eq!(distinct.len(), targets.len());
                prop_assert!(targets.iter().all(|&target| target < pages && target != page));
                prop_assert_eq!(generator.host(page), graph.hosts.host(page));
            }
            if 0 < pages {
                prop_assert!(reachable(&graph.links, &[0]).iter().all(|&is_reached| is_reached));
            }
        }

        #[test]
        fn no_link_leads_back_into_the_core(pages in 1_u32..700, seed: u64) {
            let generator = Generator::new(GeneratorConfig::new(pages, seed));
            let core_end = generator.hosts.core_hosts();
            let mut targets = Vec::new();
            for page in 0..pages {
                let host = generator.host(page);
                generator.successors(page, &mut targets);
                for &target in targets.iter().filter(|_| core_end <= host) {
                    prop_assert!(host <= generator.host(target));
                }
            }
        }
    }
}
