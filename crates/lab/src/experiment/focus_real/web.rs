//! A web of many sites, a few of which hold data files, and one run over it: by exploring and collecting, or all sites at once.
//!
//! Pages are judged by the model that ships with junkai. Exploring asks for the pages of a site that are nearest to its first, as a crawl does;
//! then the sites that are taken to hold data files are collected from, the surest first, so many at a time as a crawl takes
//! ([`SITES_AT_A_TIME`]), a fetch of each in turn; what a site taught is carried to those that begin after it. A page that exploring
//! has fetched is not fetched again. What stands beside it crawls all sites at once, with one order over all their links.
//!
//! A data file counts if its site holds what is wanted; the price list of a firm is fetched like any file, and does not count.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use junkai_focus::collect::{Collector, Experience, Fetched, LinkNumber, LinkSeen, Settings};
use junkai_focus::explore::{self, Explorer, Policy, SiteNumber};
use junkai_focus::learn::Model;
use rayon::prelude::*;

use super::contestant::Contestant;
use super::site::{Site, SiteLink, Thing};
use junkai_chance::Chance;

/// Fetches of exploring at most, for each site; it may be settled sooner.
const FETCHES_PER_SITE: usize = 3;
/// Pages of a site that exploring may see: those that are nearest to its first.
const PAGES_MAX: usize = 12;
/// Sites that are collected from at a time.
const SITES_AT_A_TIME: usize = 32;
/// Groups of links that an order over all sites tells apart: more than over one.
const ARMS_MAX: u32 = 4096;

/// A site of a web.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<'a> {
    pub(super) site: &'a Site,
    /// Whether its data files are wanted.
    pub(super) holds: bool,
}

/// The sites, and what the shipped model says of their first pages.
pub(super) struct Web<'a> {
    members: Vec<Member<'a>>,
    /// Address and probability, by site.
    first_pages: Vec<Vec<(String, f64)>>,
}

/// How a web is gone through.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// All sites at once.
    AllAtOnce(Contestant),
    /// Exploring, then collecting from what is taken to hold data files.
    ExploreFirst { policy: Policy, collect: Contestant },
}

/// What a run took, fetch by fetch.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// What was judged; none if nothing was explored.
    pub(super) judged: Option<Judged>,
    /// All fetches.
    pub(super) fetches: u32,
    /// For each wanted file: the fetch that brought it, and the place of its site.
    pub(super) arrivals: Vec<(u32, usize)>,
}

/// What exploring came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) fetches: u32,
    /// Sites that were taken to hold data files, and those of them that do.
    pub(super) taken: u32,
    pub(super) right: u32,
}

impl<'a> Web<'a> {
    pub(super) fn new(members: Vec<Member<'a>>) -> Web<'a> {
        let model = Model::statistical_data();
        let judge = |member: &Member<'_>| {
            let urls = member.site.first_pages(PAGES_MAX).into_iter();
            urls.filter_map(|url| {
                let probability = model.page().probability(&member.site.seen(&url)?.view());
                Some((url, probability))
            })
            .collect()
        };
        Web {
            first_pages: members.par_iter().map(judge).collect(),
            members,
        }
    }

    pub(super) fn site_count(&self) -> usize {
        self.members.len()
    }

    /// Sites that hold wanted files.
    pub(super) fn holding(&self) -> impl Iterator<Item = (usize, &Member<'a>)> {
        let members = self.members.iter().enumerate();
        members.filter(|(_, member)| member.holds)
    }

    /// Wanted files.
    pub(super) fn file_count(&self) -> u32 {
        self.holding()
            .map(|(_, member)| member.site.file_count())
            .sum()
    }

    /// Pages and files of all sites, wanted or not.
    pub(super) fn thing_count(&self) -> u32 {
        let sites = self.members.iter().map(|member| member.site);
        sites
            .map(|site| site.page_count() + site.file_count())
            .sum()
    }

    pub(super) fn run(&self, way: Way, seed: u64) -> Run {
        let mut chance = Chance::about(seed, 2);
        match way {
            Way::AllAtOnce(contestant) => self.all_at_once(contestant, &mut chance),
            Way::ExploreFirst { policy, collect } => {
                let mut trip = Trip::new(self);
                let taken = self.explore(&mut trip, policy, &mut chance);
                self.collect(&mut trip, &taken, collect, &mut chance);
                trip.run
            }
        }
    }

    /// One order over the links of all sites.
    fn all_at_once(&self, contestant: Contestant, chance: &mut Chance) -> Run {
        let settings = Settings {
            arms_max: ARMS_MAX,
            ..contestant.settings()
        };
        let mut trip = Trip::new(self);
        let mut collector = Collector::new(&Experience::default(), settings);
        let mut owners: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, member) in self.members.iter().enumerate() {
            collector.start(&member.site.start);
            owners.extend(member.site.urls().map(|url| (url, place)));
        }
        while let Some(link) = collector.next(&mut || chance.unit()) {
            let owner = owners.get(collector.url(link)).copied();
            trip.fetch(owner.unwrap_or(0), &mut collector, link);
        }
        trip.run
    }

    /// Explores; returns the sites that are taken to hold data files, the surest first.
    fn explore(&self, trip: &mut Trip<'_, 'a>, policy: Policy, chance: &mut Chance) -> Vec<usize> {
        let mut explorer = Explorer::new(policy, explore::Settings::default());
        for _ in &self.members {
            explorer.add_site();
        }
        let budget = FETCHES_PER_SITE * self.members.len();
        let mut asked = vec![0; self.members.len()];
        while (trip.run.fetches as usize) < budget {
            let Some(site) = explorer.next(&mut || chance.unit()) else {
                break;
            };
            let (pages, next) = (
                &self.first_pages[site.0 as usize],
                &mut asked[site.0 as usize],
            );
            let Some((url, probability)) = pages.get(*next) else {
                explorer.exhausted(site);
                continue;
            };
            *next += 1;
            trip.had.insert((site.0 as usize, url.clone()));
            trip.run.fetches += 1;
            explorer.observe(site, *probability);
        }
        let verdicts = (0..).zip(0..self.members.len());
        let verdicts =
            verdicts.map(|(number, place)| (explorer.verdict(SiteNumber(number)), place));
        let mut taken: Vec<_> = verdicts.filter(|(verdict, _)| verdict.holds).collect();
        taken.sort_by(|one, two| two.0.mean.total_cmp(&one.0.mean));
        let taken: Vec<usize> = taken.into_iter().map(|(_, place)| place).collect();
        let right = taken.iter().filter(|place| self.members[**place].holds);
        trip.run.judged = Some(Judged {
            fetches: trip.run.fetches,
            taken: u32::try_from(taken.len()).unwrap_or(u32::MAX),
            right: u32::try_from(right.count()).unwrap_or(u32::MAX),
        });
        taken
    }

    /// Collects from sites, a fetch of each in turn.
    fn collect(
        &self,
        trip: &mut Trip<'_, 'a>,
        sites: &[usize],
        contestant: Contestant,
        chance: &mut Chance,
    ) {
        let mut experience = Experience::default();
        let mut waiting = sites.iter().copied();
        let mut begun: VecDeque<(usize, Collector)> = VecDeque::new();
        loop {
            while begun.len() < SITES_AT_A_TIME
                && let Some(place) = waiting.next()
            {
                let mut collector = Collector::new(&experience, contestant.settings());
                collector.start(&self.members[place].site.start);
                begun.push_back((place, collector));
            }
            let Some((place, mut collector)) = begun.pop_front() else {
                return;
            };
            match collector.next(&mut || chance.unit()) {
                Some(link) => {
                    trip.fetch(place, &mut collector, link);
                    begun.push_back((place, collector));
                }
                None => experience.learn(&collector),
            }
        }
    }
}

/// A run on its way.
struct Trip<'b, 'a> {
    web: &'b Web<'a>,
    /// What was fetched, by site and address.
    had: BTreeSet<(usize, String)>,
    run: Run,
}

impl<'b, 'a> Trip<'b, 'a> {
    fn new(web: &'b Web<'a>) -> Trip<'b, 'a> {
        Trip {
            web,
            had: BTreeSet::new(),
            run: Run::default(),
        }
    }

    /// Fetches a link of a site, unless it was fetched before, and tells the collector.
    fn fetch(&mut self, place: usize, collector: &mut Collector, link: LinkNumber) {
        let Member { site, holds } = self.web.members[place];
        let url = collector.url(link).to_owned();
        self.run.fetches += u32::from(!self.had.remove(&(place, url.clone())));
        match site.thing(&url) {
            Some(Thing::File(names)) => {
                if holds {
                    self.run.arrivals.push((self.run.fetches, place));
                }
                collector.fetched(link, Fetched::DataFile);
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                collector.list(&url, &names);
            }
            Some(Thing::Page(links)) => {
                let seen: Vec<LinkSeen<'_>> = links.iter().map(SiteLink::seen).collect();
                collector.fetched(link, Fetched::Page(&seen));
            }
            None => collector.fetched(link, Fetched::Nothing),
        }
    }
}
