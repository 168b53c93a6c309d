//! Exploring: which page comes next, so that few fetches tell which sites hold what is wanted.
//!
//! An order of [`admission`](junkai_frontier::admission) like the others: [`WaitingRoom`](crate::waiting_room::WaitingRoom) offers it the pages that were found and takes from it as
//! the ring has room. The [`Explorer`] names the site; of that site the page with the highest priority goes first, which is how much its link promises and how
//! near it is to the site's first page. A site that is found by a link into its depth is asked for its home page ([`Inferred`]). What a fetched page said comes back by [`Exploring::observe`].
//!
//! Invariants: of a site one page at a time is out; no more sites are asked at once than the settings say; of a site no more than [`PAGES_PER_SITE_MAX`] pages
//! wait in memory. The same reports in the same order give the same choices.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use hashbrown::{HashMap, HashSet};
use junkai_focus::explore::{self, Explorer, SiteNumber};
use junkai_frontier::admission::{Admission, Candidate, Source};
use junkai_weburl::{Canonicalizer, Fingerprint, PageUrl};

use super::Inferred;
use super::config::FocusConfig;
use crate::visit::Visit;
use junkai_chance::Chance;

/// Pages of one site that wait in memory at most; the others wait on disk.
const PAGES_PER_SITE_MAX: usize = 128;
/// So many of each site wait in memory, however many sites there are.
const PAGES_PER_SITE_MIN: usize = 4;
/// Sites that are asked at a time at least, where the settings leave it open, and of how many sites one is.
const ASKED_MIN: usize = 16;
const ASKED_SHARE: usize = 20;
/// The priority of a page of which nothing is known but its URL, as from a sitemap.
const UNREAD_PRIORITY: f32 = 1.0 / 32.0;

/// The order of exploring.
pub struct Exploring {
    explorer: Explorer,
    /// By number.
    sites: Vec<SiteLine>,
    /// By the fingerprint of the site's name.
    numbers: HashMap<u64, SiteNumber>,
    /// The sites of hosts, by the fingerprints of their names.
    hosts: HashMap<u64, SiteNumber>,
    /// Pages that wait here.
    waiting: HashSet<u64>,
    /// Pages that have said what they have to say, in this run or before.
    heard: HashSet<u64>,
    asked: usize,
    /// Sites whose last visit was in vain, and may be made again.
    in_vain: HashSet<SiteNumber>,
    /// Home pages that no link was seen to lead to.
    inferred: VecDeque<Inferred>,
    canonical: Canonicalizer,
    /// Sites that were emptied at the end of a run.
    emptied: usize,
    chance: Chance,
    config: FocusConfig,
    candidates_max: usize,
}

/// A site, and its pages that wait.
#[derive(Default)]
struct SiteLine {
    pages: BinaryHeap<Ranked>,
    is_asked: bool,
}

impl Exploring {
    /// Explores as the settings say, with so many candidates at most.
    #[must_use]
    pub fn new(config: &FocusConfig, canonical: Canonicalizer, candidates_max: usize) -> Exploring {
        let settings = explore::Settings {
            threshold: config.threshold,
            worth_min: config.worth_min,
            proof: config.proof,
        };
        Exploring {
            explorer: Explorer::new(config.policy, settings),
            sites: Vec::new(),
            numbers: HashMap::new(),
            hosts: HashMap::new(),
            waiting: HashSet::new(),
            heard: HashSet::new(),
            asked: 0,
            in_vain: HashSet::new(),
            inferred: VecDeque::new(),
            canonical,
            emptied: 0,
            chance: Chance::new(0),
            config: config.clone(),
            candidates_max,
        }
    }

    /// Takes in what a page said of its site; nothing, if there was nothing to judge by. Answers whether it is news: each page counts once.
    pub fn observe(&mut self, page: Page<'_>, probability: Option<f64>) -> bool {
        if !self.heard.insert(page.fingerprint) {
            return false;
        }
        let Some(number) = self.number_of(page) else {
            return true;
        };
        self.in_vain.remove(&number);
        if let Some(probability) = probability {
            self.explorer.observe(number, probability);
            self.answered(number);
        }
        true
    }

    /// Pages that were fetched so far, in all runs.
    #[must_use]
    pub fn fetches(&self) -> u64 {
        self.heard.len() as u64
    }

    /// How many pages may still be fetched.
    #[must_use]
    pub fn fetches_left(&self, fetches: Option<u64>) -> u64 {
        let budget = fetches.unwrap_or_else(|| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count: not negative, and a cast of floats saturates"
            )]
            let budget = (self.sites.len() as f64 * self.config.fetches_per_site) as u64;
            budget
        });
        budget.saturating_sub(self.fetches())
    }

    /// Sites that are known.
    #[must_use]
    pub fn sites(&self) -> usize {
        self.sites.len()
    }

    /// Whether no fetch can teach anything more, of the pages that wait here.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.asked == 0 && self.inferred.is_empty() && self.explorer.is_settled()
    }

    /// Whether a site would not answer that may still do so.
    #[must_use]
    pub fn has_asked_in_vain(&self) -> bool {
        !self.in_vain.is_empty()
    }

    /// The next home page to take in.
    pub fn next_inferred(&mut self) -> Option<Inferred> {
        self.inferred.pop_front()
    }

    /// Whether there is one.
    #[must_use]
    pub fn has_inferred(&self) -> bool {
        !self.inferred.is_empty()
    }

    /// A site was found by a link into its depth: it is judged from its home page on.
    fn infer_home(&mut self, found: &Visit) {
        if found.is_seed() || found.url.path_and_query() == "/" {
            return;
        }
        if let Ok(home) = self.canonical.join(&found.url, "/") {
            let via = found.url.as_str();
            self.inferred
                .push_back(Inferred::new(home, 0, via, &found.hops));
        }
    }

    fn number_of(&mut self, page: Page<'_>) -> Option<SiteNumber> {
        let site = Fingerprint::of(page.site).0;
        let number = match self.numbers.get(&site) {
            Some(number) => *number,
            None if self.sites.len() < self.config.sites_max => {
                let number = self.explorer.add_site();
                // Until a page of it waits.
                self.explorer.exhausted(number);
                self.numbers.insert(site, number);
                self.sites.push(SiteLine::default());
                number
            }
            None => return None,
        };
        self.hosts.insert(page.host, number);
        Some(number)
    }

    /// A site's page is no longer out.
    fn answered(&mut self, number: SiteNumber) {
        let line = &mut self.sites[number.0 as usize];
        if std::mem::take(&mut line.is_asked) {
            self.asked -= 1;
        }
        if line.pages.is_empty() {
            self.explorer.exhausted(number);
        }
    }

    fn asked_max(&self) -> usize {
        match self.config.asked_max {
            Some(most) => most.get(),
            None => ASKED_MIN.max(self.sites.len() / ASKED_SHARE),
        }
    }

    fn pages_per_site_max(&self) -> usize {
        let share = self.candidates_max / (2 * self.sites.len()).max(1);
        share.clamp(PAGES_PER_SITE_MIN, PAGES_PER_SITE_MAX)
    }
}

impl Admission<Visit> for Exploring {
    /// Links within the web say nothing here: what a link promises was read on the page that has it.
    fn gain(&mut self, _source: &Source, _host: u64) -> f32 {
        UNREAD_PRIORITY
    }

    fn raise(&mut self, fingerprint: u64, _gain: f32) -> bool {
        self.waiting.contains(&fingerprint)
    }

    fn offer(&mut self, candidate: Candidate<Visit>) -> Option<Candidate<Visit>> {
        let known = self.sites.len();
        let Some(number) = self.number_of(Page::of(&candidate.visit.url)) else {
            return Some(candidate);
        };
        if known < self.sites.len() {
            self.infer_home(&candidate.visit);
        }
        let pages_max = self.pages_per_site_max();
        let line = &mut self.sites[number.0 as usize];
        if pages_max <= line.pages.len() {
            return Some(candidate);
        }
        self.waiting.insert(candidate.fingerprint);
        line.pages.push(Ranked(candidate));
        if !line.is_asked {
            self.explorer.replenished(number);
        }
        None
    }

    fn next(&mut self) -> Option<Candidate<Visit>> {
        while self.asked < self.asked_max() {
            let chance = &mut self.chance;
            let number = self.explorer.next(&mut || chance.unit())?;
            let line = &mut self.sites[number.0 as usize];
            match line.pages.pop() {
                Some(Ranked(candidate)) => {
                    line.is_asked = true;
                    self.asked += 1;
                    self.waiting.remove(&candidate.fingerprint);
                    return Some(candidate);
                }
                None => self.explorer.exhausted(number),
            }
        }
        None
    }

    fn take_out(&mut self) -> Option<Candidate<Visit>> {
        while let Some(line) = self.sites.get_mut(self.emptied) {
            if let Some(Ranked(candidate)) = line.pages.pop() {
                self.waiting.remove(&candidate.fingerprint);
                return Some(candidate);
            }
            self.emptied += 1;
        }
        None
    }

    /// A visit that ended without a word of its page was in vain.
    fn release(&mut self, host: u64) {
        if let Some(number) = self.hosts.get(&host).copied()
            && self.sites[number.0 as usize].is_asked
        {
            self.explorer.failed(number);
            self.answered(number);
            self.in_vain.insert(number);
        }
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn room(&self) -> usize {
        self.candidates_max.saturating_sub(self.waiting.len())
    }
}

/// What is known of a page by its URL.
#[derive(Clone, Copy)]
pub struct Page<'a> {
    fingerprint: u64,
    host: u64,
    site: &'a str,
}

impl<'a> Page<'a> {
    /// The page, its site and its host.
    pub fn of(url: &'a PageUrl) -> Page<'a> {
        Page {
            fingerprint: url.fingerprint().0,
            host: Fingerprint::of(url.host()).0,
            site: url.site(),
        }
    }
}

/// A page by its priority; of equals, by its fingerprint, so that chance has no part in it.
struct Ranked(Candidate<Visit>);

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let priority = self.0.priority.total_cmp(&other.0.priority);
        priority.then_with(|| other.0.fingerprint.cmp(&self.0.fingerprint))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

#[cfg(test)]
mod tests {
    use junkai_weburl::CanonicalConfig;

    use super::super::testing::candidate;
    use super::*;

    fn exploring() -> Exploring {
        with(&FocusConfig::default())
    }

    fn with(config: &FocusConfig) -> Exploring {
        let canonical = Canonicalizer::new(&CanonicalConfig::default());
        Exploring::new(config, canonical, 1000)
    }

    fn url(candidate: &Candidate<Visit>) -> &str {
        candidate.visit.url.as_str()
    }

    fn said(exploring: &mut Exploring, page: &str, probability: Option<f64>) -> bool {
        let canonical = Canonicalizer::new(&CanonicalConfig::default());
        let page = canonical.parse(page).unwrap();
        let is_news = exploring.observe(Page::of(&page), probability);
        exploring.release(Fingerprint::of(page.host()).0);
        is_news
    }

    #[test]
    fn every_site_is_asked_once_before_any_is_asked_again() {
        let mut exploring = exploring();
        for site in ["a", "b", "c"] {
            for page in 0..3 {
                let url = format!("http://{site}.example/{page}");
                assert!(exploring.offer(candidate(&url, 1.0)).is_none());
            }
        }
        let mut asked = Vec::new();
        for _ in 0..3 {
            let next = exploring.next().unwrap();
            asked.push(next.visit.url.site().to_owned());
            said(&mut exploring, url(&next), Some(0.5));
        }
        asked.sort();
        assert_eq!(asked, ["a.example", "b.example", "c.example"]);
    }

    #[test]
    fn of_a_site_one_page_is_out_and_the_best_goes_first() {
        let mut exploring = exploring();
        for (page, priority) in [("deep", 0.1), ("home", 1.0), ("data", 0.6)] {
            exploring.offer(candidate(&format!("http://a.example/{page}"), priority));
        }
        assert!(exploring.next_inferred().is_some(), "its home page");
        for expected in ["home", "data", "deep"] {
            let next = exploring.next().unwrap();
            assert!(url(&next).ends_with(expected), "{}", url(&next));
            assert!(exploring.next().is_none(), "the site is asked");
            said(&mut exploring, url(&next), Some(0.4));
        }
        assert!(exploring.next().is_none());
        assert_eq!(exploring.len(), 0);
        assert!(exploring.is_settled());
    }

    #[test]
    fn a_page_counts_once_and_one_that_says_nothing_counts_as_fetched() {
        let mut exploring = exploring();
        assert!(said(&mut exploring, "http://a.example/", Some(0.9)));
        assert!(!said(&mut exploring, "http://a.example/", Some(0.1)));
        assert!(said(&mut exploring, "http://a.example/404", None));
        assert_eq!(exploring.fetches(), 2);
        assert_eq!(exploring.fetches_left(Some(5)), 3);
        assert_eq!(exploring.fetches_left(None), 8, "ten for each site");
    }

    #[test]
    fn a_visit_that_was_in_vain_lets_its_site_be_asked_again() {
        let mut exploring = exploring();
        for page in 0..2 {
            exploring.offer(candidate(&format!("http://a.example/{page}"), 1.0));
        }
        let first = exploring.next().unwrap();
        assert!(!exploring.has_asked_in_vain());
        exploring.release(first.host);
        assert!(exploring.has_asked_in_vain());
        let second = exploring.next().unwrap();
        said(&mut exploring, url(&second), Some(0.4));
        assert!(!exploring.has_asked_in_vain(), "it answers again");
    }

    #[test]
    fn pages_that_can_teach_nothing_more_are_left() {
        let mut exploring = exploring();
        let pages = (0..50).flat_map(|site| (0..20).map(move |page| (site, page)));
        for (site, page) in pages {
            exploring.offer(candidate(&format!("http://s{site}.example/{page}"), 1.0));
        }
        while exploring.next_inferred().is_some() {}
        while let Some(next) = exploring.next() {
            said(&mut exploring, url(&next), Some(0.01));
        }
        assert!(exploring.is_settled());
        assert!(50 <= exploring.fetches(), "every site was asked");
        assert!(500 < exploring.len(), "{} pages are left", exploring.len());
    }

    #[test]
    fn what_a_site_has_too_much_of_is_turned_away_and_all_can_be_taken_out() {
        let mut exploring = exploring();
        let offered = (0..1000).filter(|page| {
            let url = format!("http://a.example/{page}");
            exploring.offer(candidate(&url, 1.0)).is_none()
        });
        assert_eq!(offered.count(), PAGES_PER_SITE_MAX);
        exploring.offer(candidate("http://b.example/", 1.0));
        let taken_out = std::iter::from_fn(|| exploring.take_out()).count();
        assert_eq!(taken_out, PAGES_PER_SITE_MAX + 1);
        assert_eq!(exploring.len(), 0);
    }

    #[test]
    fn no_more_sites_are_asked_at_once_than_the_settings_say() {
        let config = FocusConfig {
            asked_max: std::num::NonZeroUsize::new(2),
            ..FocusConfig::default()
        };
        let mut exploring = with(&config);
        for site in 0..5 {
            exploring.offer(candidate(&format!("http://s{site}.example/"), 1.0));
        }
        let out: Vec<_> = std::iter::from_fn(|| exploring.next()).collect();
        assert_eq!(out.len(), 2);
        exploring.release(out[0].host);
        assert!(exploring.next().is_some());
    }

    #[test]
    fn a_site_that_is_found_by_a_deep_link_is_asked_for_its_home_page_once() {
        let mut exploring = exploring();
        for page in ["deep/1", "deep/2"] {
            exploring.offer(candidate(&format!("http://a.example/{page}"), 1.0));
        }
        assert!(!exploring.is_settled());
        let home = exploring.next_inferred().unwrap();
        assert_eq!(home.found.url.as_str(), "http://a.example/");
        assert_eq!(&*home.via, "http://a.example/deep/1");
        assert_eq!(home.found.depth, 0);
        assert!(exploring.next_inferred().is_none());
        exploring.offer(candidate("http://b.example/", 1.0));
        assert!(exploring.next_inferred().is_none(), "it is the home page");
        let mut seed = candidate("http://c.example/named/by/the/user", 1.0);
        seed.visit.hops = "".into();
        exploring.offer(seed);
        assert!(exploring.next_inferred().is_none(), "it was asked for");
    }
}
