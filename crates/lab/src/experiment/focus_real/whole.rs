//! The whole way: explore many sites, then collect from those that are taken to hold data files.
//!
//! The real statistics site stands among real sites that have none. Pages are judged by the model that ships with junkai; a handful of
//! fetches per site tells which sites to collect from. Every fetch counts, also those of exploring, whose pages are fetched again when they
//! are collected from. Beside it: all sites at once, a page of each in turn from its first (breadth first), and any known page of any site
//! (random).

use junkai_focus::collect::{Collector, Experience, Fetched, LinkSeen, Order, Settings};
use junkai_focus::explore::{self, Explorer, Policy, SiteNumber};
use junkai_focus::learn::Model;
use rayon::prelude::*;

use super::chance::Chance;
use super::labelled::LabelledPages;
use super::site::{Site, SiteLink, Thing};

/// Fetches of exploring, per site.
const FETCHES_PER_SITE: usize = 3;
/// Pages of a site that exploring may see: those that are nearest to its first.
const PAGES_MAX: usize = 8;
const SHARE: f64 = 0.9;

/// A web of sites with what the shipped model says of their first pages.
pub(super) struct Web<'a> {
    sites: Vec<&'a Site>,
    probabilities: Vec<Vec<f64>>,
    files: u32,
}

/// What a whole run took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    /// Fetches of exploring.
    pub(super) explored: u32,
    /// Sites that were taken to hold data files, and those of them that do.
    pub(super) taken: u32,
    pub(super) right: u32,
    /// All fetches until nine tenths of the data files of all sites were had; none if they never were.
    pub(super) fetches: Option<u32>,
}

impl Run {
    /// Data files per fetch until then.
    pub(super) fn rate(&self, files: u32) -> Option<f64> {
        self.fetches
            .map(|fetches| SHARE * f64::from(files) / f64::from(fetches))
    }
}

/// Sites without data files, of the labelled pages.
pub(super) fn decoys(pages: &LabelledPages) -> Vec<Site> {
    let sites = pages
        .sites
        .par_iter()
        .map(|site| Site::of_pages(&site.name, &site.pages));
    sites.flatten().collect()
}

impl<'a> Web<'a> {
    /// The site with data among the others.
    pub(super) fn new(site: &'a Site, decoys: &'a [Site]) -> Web<'a> {
        let model = Model::statistical_data();
        let sites: Vec<&Site> = decoys.iter().chain([site]).collect();
        let first_pages = |site: &&Site| {
            site.first_pages(PAGES_MAX)
                .into_iter()
                .map(|seen| model.page().probability(&seen.view()))
                .collect()
        };
        Web {
            probabilities: sites.par_iter().map(first_pages).collect(),
            files: sites.iter().map(|site| site.file_count()).sum(),
            sites,
        }
    }

    pub(super) fn site_count(&self) -> usize {
        self.sites.len()
    }

    pub(super) fn file_count(&self) -> u32 {
        self.files
    }

    /// Explores by a policy, then collects from what was found, the surest first.
    pub(super) fn explore_and_collect(&self, policy: Policy, seed: u64) -> Run {
        let mut chance = Chance::about(seed, 2);
        let mut explorer = Explorer::new(policy, explore::Settings::default());
        for _ in &self.sites {
            explorer.add_site();
        }
        let mut fetched = vec![0; self.sites.len()];
        let mut run = Run {
            explored: 0,
            taken: 0,
            right: 0,
            fetches: None,
        };
        while (run.explored as usize) < FETCHES_PER_SITE * self.sites.len()
            && !explorer.is_settled()
        {
            let Some(site) = explorer.next(&mut || chance.unit()) else {
                break;
            };
            let (pages, next) = (
                &self.probabilities[site.0 as usize],
                &mut fetched[site.0 as usize],
            );
            let Some(probability) = pages.get(*next) else {
                explorer.exhausted(site);
                continue;
            };
            *next += 1;
            run.explored += 1;
            explorer.observe(site, *probability);
        }
        let verdicts = (0..)
            .zip(&self.sites)
            .map(|(number, site)| (explorer.verdict(SiteNumber(number)), *site));
        let mut taken: Vec<_> = verdicts.filter(|(verdict, _)| verdict.holds).collect();
        taken.sort_by(|one, two| two.0.mean.total_cmp(&one.0.mean));
        run.taken = u32::try_from(taken.len()).unwrap_or(u32::MAX);
        let (mut spent, mut files) = (run.explored, 0);
        for (_, site) in taken {
            run.right += u32::from(0 < site.file_count());
            Self::collect(site, Order::Learned, &mut chance, |is_file| {
                spent += 1;
                files += u32::from(is_file);
                if run.fetches.is_none() && SHARE * f64::from(self.files) <= f64::from(files) {
                    run.fetches = Some(spent);
                }
            });
        }
        run
    }

    fn collect(site: &Site, order: Order, chance: &mut Chance, mut tell: impl FnMut(bool)) {
        let settings = Settings {
            order,
            ..Settings::default()
        };
        let mut crawl = Crawl::new(site, settings);
        while let Some(is_file) = crawl.step(chance) {
            tell(is_file);
        }
    }

    /// All sites at once, without exploring: each in turn, or any.
    pub(super) fn all_at_once(&self, order: Order, seed: u64) -> Run {
        let mut chance = Chance::about(seed, 3);
        let settings = Settings {
            order,
            ..Settings::default()
        };
        let mut crawls: Vec<Crawl<'_>> = self
            .sites
            .iter()
            .map(|site| Crawl::new(site, settings.clone()))
            .collect();
        let mut run = Run {
            explored: 0,
            taken: u32::try_from(crawls.len()).unwrap_or(u32::MAX),
            right: u32::try_from(
                self.sites
                    .iter()
                    .filter(|site| 0 < site.file_count())
                    .count(),
            )
            .unwrap_or(u32::MAX),
            fetches: None,
        };
        let (mut fetches, mut files, mut turn) = (0, 0, 0);
        while !crawls.is_empty() {
            if order == Order::Random {
                turn = chance.below(u32::try_from(crawls.len()).unwrap_or(u32::MAX)) as usize;
            }
            turn %= crawls.len();
            let Some(is_file) = crawls[turn].step(&mut chance) else {
                crawls.remove(turn);
                continue;
            };
            turn += 1;
            fetches += 1;
            files += u32::from(is_file);
            if SHARE * f64::from(self.files) <= f64::from(files) {
                run.fetches = Some(fetches);
                break;
            }
        }
        run
    }
}

/// Collecting from one site, fetch by fetch.
struct Crawl<'a> {
    site: &'a Site,
    collector: Collector,
}

impl<'a> Crawl<'a> {
    fn new(site: &'a Site, settings: Settings) -> Crawl<'a> {
        let mut collector = Collector::new(&Experience::default(), settings);
        collector.start(&site.start);
        Crawl { site, collector }
    }

    /// One fetch, and whether it brought a data file; none if nothing is left.
    fn step(&mut self, chance: &mut Chance) -> Option<bool> {
        let link = self.collector.next(&mut || chance.unit())?;
        let url = self.collector.url(link).to_owned();
        match self.site.thing(&url) {
            Some(Thing::File(names)) => {
                self.collector.fetched(link, Fetched::DataFile);
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.collector.list(&url, &names);
                return Some(true);
            }
            Some(Thing::Page(links)) => {
                let seen: Vec<LinkSeen<'_>> = links.iter().map(SiteLink::seen).collect();
                self.collector.fetched(link, Fetched::Page(&seen));
            }
            None => self.collector.fetched(link, Fetched::Nothing),
        }
        Some(false)
    }
}
