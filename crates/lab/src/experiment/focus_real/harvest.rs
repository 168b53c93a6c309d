//! Collects from a site by one order, and writes down how many fetches brought how many files.

use std::collections::BTreeMap;

use junkai_focus::collect::{Collector, Experience, Fetched, LinkSeen, Settings, Tally};

use super::site::{Site, SiteLink, Thing};
use junkai_chance::Chance;

/// Shares of the data files at which fetches are counted.
pub(super) const SHARES: [f64; 3] = [0.5, 0.9, 0.99];
/// Points that are kept of a curve.
const CURVE_POINTS: usize = 120;

/// What came of collecting from a site.
#[derive(Clone, Debug)]
pub(super) struct Harvest {
    /// At each of the [`SHARES`].
    pub(super) reached: [Option<Cost>; SHARES.len()],
    /// All fetches and the share of the files.
    pub(super) curve: Vec<(f64, f64)>,
    pub(super) total: Cost,
    pub(super) tally: Tally,
}

/// Fetches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// All, data files included.
    pub(super) all: u32,
    /// Those that brought no data file: pages and errors.
    pub(super) pages: u32,
}

/// Collects all that there is, and returns also the collector, to learn from.
pub(super) fn harvest(
    site: &Site,
    settings: &Settings,
    experience: &Experience,
    seed: u64,
) -> (Harvest, Collector) {
    let mut collector = Collector::new(experience, settings.clone());
    let mut chance = Chance::about(seed, 0);
    let mut draw = || chance.unit();
    collector.start(&site.start);
    let mut log = Log::new(site.file_count());
    while let Some(link) = collector.next(&mut draw) {
        match site.thing(collector.url(link)) {
            Some(Thing::File(names)) => {
                log.file();
                let url = collector.url(link).to_owned();
                collector.fetched(link, Fetched::DataFile);
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                collector.list(&url, &names);
            }
            Some(Thing::Page(links)) => {
                log.page();
                let shown: Vec<LinkSeen<'_>> = links.iter().map(SiteLink::seen).collect();
                collector.fetched(link, Fetched::Page(&shown));
            }
            None => {
                log.page();
                collector.fetched(link, Fetched::Nothing);
            }
        }
    }
    (log.end(collector.tally()), collector)
}

/// What an order that knows all links would need: it goes on to the page with the most new files for each page on the way there.
///
/// The best order is hard to find (it contains the set cover problem); this one is greedy, and follows links, as a crawler has to that
/// does not guess.
pub(super) fn knowing(site: &Site) -> Harvest {
    let mut log = Log::new(site.file_count());
    let mut omniscient = Omniscient::new(site);
    while let Some(way) = omniscient.best_way() {
        for page in way {
            log.page();
            for _ in 0..omniscient.fetch(page) {
                log.file();
            }
        }
    }
    log.end(Tally::default())
}

/// The pages of a site by number, with what is known of them.
struct Omniscient {
    /// Links to pages, and the files that a page links to.
    pages: Vec<Vec<u32>>,
    files: Vec<Vec<u32>>,
    is_fetched: Vec<bool>,
    is_had: Vec<bool>,
    /// Pages that are linked from fetched ones, or where to start; fetched ones among them are skipped.
    open: Vec<u32>,
    most_files: usize,
}

impl Omniscient {
    fn new(site: &Site) -> Omniscient {
        let order = site.breadth_first();
        let numbers: BTreeMap<&str, u32> = order.iter().map(String::as_str).zip(0..).collect();
        let mut omniscient = Omniscient {
            pages: vec![Vec::new(); order.len()],
            files: vec![Vec::new(); order.len()],
            is_fetched: vec![false; order.len()],
            is_had: vec![false; order.len()],
            open: vec![0],
            most_files: 0,
        };
        for (page, url) in order.iter().enumerate() {
            let Some(Thing::Page(links)) = site.thing(url) else {
                continue;
            };
            for link in links {
                let number = numbers[&*link.url];
                match site.thing(&link.url) {
                    Some(Thing::File(_)) => omniscient.files[page].push(number),
                    Some(Thing::Page(_)) | None => omniscient.pages[page].push(number),
                }
            }
            omniscient.most_files = omniscient.most_files.max(omniscient.files[page].len());
        }
        omniscient
    }

    /// The pages from a known one to the best; none if all are fetched.
    fn best_way(&mut self) -> Option<Vec<u32>> {
        let is_fetched = &self.is_fetched;
        self.open.retain(|page| !is_fetched[*page as usize]);
        let mut from: BTreeMap<u32, Option<u32>> =
            self.open.iter().map(|page| (*page, None)).collect();
        let mut level = self.open.clone();
        let (mut best, mut best_rate, mut distance) = (level.first().copied()?, 0.0, 1.0);
        // No page further away can be better than one with the most files that any has.
        while !level.is_empty() && best_rate * distance < self.most_files as f64 {
            let mut next = Vec::new();
            for page in level {
                let rate = self.new_files(page) as f64 / distance;
                if best_rate < rate {
                    (best, best_rate) = (page, rate);
                }
                for follower in &self.pages[page as usize] {
                    if !self.is_fetched[*follower as usize] && !from.contains_key(follower) {
                        from.insert(*follower, Some(page));
                        next.push(*follower);
                    }
                }
            }
            level = next;
            distance += 1.0;
        }
        let mut way = vec![best];
        while let Some(Some(before)) = from.get(way.last()?) {
            way.push(*before);
        }
        way.reverse();
        Some(way)
    }

    fn new_files(&self, page: u32) -> usize {
        let files = self.files[page as usize].iter();
        files.filter(|file| !self.is_had[**file as usize]).count()
    }

    /// Fetches a page and its files; returns how many are new.
    fn fetch(&mut self, page: u32) -> usize {
        let files = self.new_files(page);
        self.is_fetched[page as usize] = true;
        for file in &self.files[page as usize] {
            self.is_had[*file as usize] = true;
        }
        self.open.extend(&self.pages[page as usize]);
        self.open.sort_unstable();
        self.open.dedup();
        files
    }
}

/// Counts fetches as they are made.
struct Log {
    files_all: u32,
    files: u32,
    cost: Cost,
    reached: [Option<Cost>; SHARES.len()],
    points: Vec<(u32, u32)>,
}

impl Log {
    fn new(files_all: u32) -> Log {
        Log {
            files_all,
            files: 0,
            cost: Cost::default(),
            reached: [None; SHARES.len()],
            points: vec![(0, 0)],
        }
    }

    fn page(&mut self) {
        self.cost.all += 1;
        self.cost.pages += 1;
        self.points.push((self.cost.all, self.files));
    }

    fn file(&mut self) {
        self.cost.all += 1;
        self.files += 1;
        self.points.push((self.cost.all, self.files));
        for (share, reached) in SHARES.into_iter().zip(&mut self.reached) {
            if reached.is_none() && share * f64::from(self.files_all) <= f64::from(self.files) {
                *reached = Some(self.cost);
            }
        }
    }

    fn end(self, tally: Tally) -> Harvest {
        let every = self.points.len().div_ceil(CURVE_POINTS).max(1);
        let last = self.points.len() - 1;
        let kept = self
            .points
            .iter()
            .enumerate()
            .filter(|(place, _)| place % every == 0 || *place == last);
        let share = |files: u32| f64::from(files) / f64::from(self.files_all.max(1));
        Harvest {
            reached: self.reached,
            curve: kept
                .map(|(_, (all, files))| (f64::from(*all), share(*files)))
                .collect(),
            total: self.cost,
            tally,
        }
    }
}
