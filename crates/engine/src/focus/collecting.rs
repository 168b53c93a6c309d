//! Collecting: which page of a wanted site comes next, so that few fetches bring most of its data files.
//!
//! An order of [`admission`](junkai_frontier::admission) like the others. Each wanted site has a [`Collector`], which names the link to follow; a few sites are collected at a time, and what one
//! teaches is carried to those that begin after it ([`Experience`](junkai_focus::collect::Experience)). **What the archive has is not fetched again:** when a collector asks for a page that was captured before, by
//! exploring or by a run that was killed, it is answered from the archive at once. So a collector has no state on disk, and none can be lost.
//! What it guesses to be there, and what pages link to that are answered so, is taken in like a page that was found ([`Inferred`]), and then waits as any other. A
//! data file that is answered so is noted, if no run before has ([`FoundFile`]).
//!
//! Invariants: of a site one page at a time is out; pages of other sites wait untouched, in memory and after the run on disk; whatever is offered of a wanted site is
//! handed out once, within the bound of pages, even if no collector asks for it.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};
use junkai_focus::collect::{self, Collector, LinkNumber};
use junkai_focus::data_file::Format;
use junkai_frontier::admission::{Admission, Candidate, Source};
use junkai_weburl::{Fingerprint, PageUrl};

use super::experience::Learned;
use super::kept::{Kept, KeptPage};
use super::reading::{Captured, Reading};
use super::wanted::{Came, Linked, Offered, Stage, Wanted, WantedSite};
use super::{FocusConfig, FoundFile, Inferred, listing};
use crate::settings::Settings;
use crate::visit::{INFERRED_HOP, Visit};
use junkai_chance::Chance;

/// Sites that are collected at a time. The more, the less one can learn from another.
const SITES_AT_A_TIME: usize = 32;
/// The priority of a page of which nothing is known but its URL.
const UNREAD_PRIORITY: f32 = 1.0 / 32.0;

/// The order of collecting.
pub struct Collecting {
    sites: Vec<WantedSite>,
    /// By the fingerprint of the site's name.
    numbers: HashMap<u64, usize>,
    /// The sites of hosts, by the fingerprints of their names.
    hosts: HashMap<u64, usize>,
    /// Sites that may have a page to hand out.
    ready: VecDeque<usize>,
    /// Sites that are begun and not finished.
    begun: usize,
    /// The next site to begin with.
    next_site: usize,
    /// Pages of sites that are not collected.
    uncollected: HashMap<u64, Candidate<Visit>>,
    /// Pages that stand here, those of sites that are not collected included.
    standing: HashSet<u64>,
    /// Pages of wanted sites that wait.
    len: usize,
    /// Pages that are to be taken in, one of a site at most.
    inferred: VecDeque<Inferred>,
    /// Data files that the archive has, to be noted.
    met: Vec<FoundFile>,
    learned: Learned,
    reading: Reading,
    kept: Kept,
    /// Data files that are noted, by fingerprint.
    noted: HashMap<u64, Noted>,
    chance: Chance,
    config: FocusConfig,
    depth_max: Option<u16>,
    candidates_max: usize,
}

/// What earlier runs left.
pub struct Before {
    pub learned: Learned,
    pub kept: Kept,
    /// The data files that they noted, by fingerprint.
    pub noted: HashMap<u64, Noted>,
}

/// What is noted of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// It was read, or is yet to be.
    Read,
    /// It could not be read when it came.
    Refused,
}

impl Collecting {
    /// Collects from these sites, knowing what an earlier run did.
    pub fn new(wanted: Vec<Wanted>, settings: &Settings, before: Before) -> Collecting {
        let numbers = wanted.iter().map(|wanted| Fingerprint::of(&wanted.site).0);
        let numbers = numbers.zip(0..).collect();
        let sites = wanted.into_iter().map(WantedSite::new);
        Collecting {
            sites: sites.collect(),
            numbers,
            hosts: HashMap::new(),
            ready: VecDeque::new(),
            begun: 0,
            next_site: 0,
            uncollected: HashMap::new(),
            standing: HashSet::new(),
            len: 0,
            inferred: VecDeque::new(),
            met: Vec::new(),
            learned: before.learned,
            reading: Reading::new(settings),
            kept: before.kept,
            noted: before.noted,
            chance: Chance::new(1),
            config: settings.focus.clone(),
            depth_max: settings.scope.depth_max,
            candidates_max: settings.crawl.candidates.get(),
        }
    }

    /// Takes in what came of a visit: links that were found, or a data file.
    pub fn fetched(&mut self, url: &PageUrl, came: Came<'_>) {
        let Some(number) = self.number_of(url) else {
            return;
        };
        let site = &mut self.sites[number];
        site.fetched += 1;
        let fingerprint = url.fingerprint().0;
        let link = match site.out {
            Some((out, link)) if out == fingerprint => link,
            _ => None,
        };
        if let Some((out, link)) = &mut site.out
            && *out == fingerprint
        {
            *link = None;
        }
        if let Some(link) = link {
            site.tell(link, came);
        }
    }

    /// A visit is over for good.
    pub fn ended(&mut self, url: &PageUrl) {
        let Some(number) = self.number_of(url) else {
            return;
        };
        let fingerprint = url.fingerprint().0;
        let site = &mut self.sites[number];
        let link = match site.out.take_if(|(out, _)| *out == fingerprint) {
            Some((_, link)) => link,
            None => site.away.remove(&fingerprint),
        };
        if let Some(link) = link {
            site.tell(link, Came::Nothing);
        }
    }

    /// Data files that the archive has and no run has noted.
    pub fn take_met(&mut self) -> Vec<FoundFile> {
        std::mem::take(&mut self.met)
    }

    /// The next page to take in that no visit has found.
    pub fn next_inferred(&mut self) -> Option<Inferred> {
        self.inferred.pop_front()
    }

    /// Whether there is one.
    #[must_use]
    pub fn has_inferred(&self) -> bool {
        !self.inferred.is_empty()
    }

    /// Such a page was taken in, and stands here; if it does not, nothing comes of it: it is out of scope, or known.
    pub fn inferred_taken_in(&mut self, url: &PageUrl) {
        let fingerprint = url.fingerprint().0;
        let Some(number) = self.number_of(url) else {
            return;
        };
        let site = &mut self.sites[number];
        if let Some((_, link)) = site.guess.take_if(|(guess, _)| *guess == fingerprint) {
            site.tell(link, Came::Nothing);
            self.make_ready(number);
        }
    }

    /// Whether everything wanted is had, of the pages that wait here.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let is_begun = 0 < self.begun || self.has_inferred();
        self.ready.is_empty() && !is_begun && self.next_site == self.sites.len()
    }

    /// Whether pages that wait on disk may still find room here.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.uncollected.len() < self.candidates_max
    }

    /// What was learned so far, to be saved.
    #[must_use]
    pub fn learned(&self) -> &Learned {
        &self.learned
    }

    /// The pages where sites that have not begun will begin, as far as they are known.
    #[must_use]
    pub fn starts(&self) -> Vec<PageUrl> {
        let starts = self.sites.iter().filter_map(|site| site.start.as_deref());
        starts
            .filter_map(|start| self.reading.parse(start))
            .collect()
    }

    /// How many sites are to be collected.
    #[must_use]
    pub fn sites(&self) -> usize {
        self.sites.len()
    }

    fn number_of(&mut self, url: &PageUrl) -> Option<usize> {
        let number = self.numbers.get(&Fingerprint::of(url.site()).0).copied()?;
        let host = Fingerprint::of(url.host()).0;
        self.hosts.insert(host, number);
        Some(number)
    }

    fn make_ready(&mut self, number: usize) {
        let site = &mut self.sites[number];
        if std::mem::take(&mut site.is_resting) {
            self.begun += 1;
        }
        if !std::mem::replace(&mut site.is_ready, true) {
            self.ready.push_back(number);
        }
    }

    /// Begins with further sites, as long as not too many are collected at a time.
    fn begin_sites(&mut self) {
        while self.begun < SITES_AT_A_TIME && self.next_site < self.sites.len() {
            let number = self.next_site;
            self.next_site += 1;
            self.begun += 1;
            let site = &mut self.sites[number];
            let settings = collect::Settings {
                // What is there to guess was guessed when the site was collected.
                guesses: self.config.guess && !self.learned.is_whole(&site.name),
                ..collect::Settings::default()
            };
            let mut collector = Collector::new(self.learned.experience(), settings);
            let start = site.start.take();
            start.as_deref().and_then(|start| collector.start(start));
            let early = site
                .pages
                .values()
                .filter(|candidate| is_start(&candidate.visit));
            for candidate in early {
                collector.start(candidate.visit.url.as_str());
            }
            site.stage = Stage::Begun(Box::new(collector));
            self.make_ready(number);
        }
    }

    /// The next page of a site; none if none waits, or one is out.
    fn next_of(&mut self, number: usize) -> Option<Candidate<Visit>> {
        loop {
            let site = &mut self.sites[number];
            let is_waiting = site.out.is_some() || site.guess.is_some();
            if is_waiting || self.config.pages_max <= site.fetched {
                return None;
            }
            if let Some(candidate) = site.next_late() {
                return Some(candidate);
            }
            let Stage::Begun(collector) = &mut site.stage else {
                return None;
            };
            let chance = &mut self.chance;
            let Some(link) = collector.next(&mut || chance.unit()) else {
                match site.offer_the_rest() {
                    Offered::Something => continue,
                    Offered::Nothing => return site.next_late(),
                }
            };
            let url = collector.url(link);
            let fingerprint = Fingerprint::of(url).0;
            if let Some(candidate) = site.pages.remove(&fingerprint) {
                site.out = Some((fingerprint, Some(link)));
                return Some(candidate);
            }
            let Some(page) = self.reading.parse(url) else {
                site.tell(link, Came::Nothing);
                continue;
            };
            if !self.answer_from_archive(number, link, &page) && !self.infer(number, link, page) {
                // It does not wait: it failed, or may not be visited.
                self.sites[number].tell(link, Came::Nothing);
            }
        }
    }

    /// Tells a collector what the archive has of a page that it asks for; false if it has nothing.
    fn answer_from_archive(&mut self, number: usize, link: LinkNumber, page: &PageUrl) -> bool {
        let kept = match self.kept.page(page) {
            Ok(Some(kept)) => kept,
            Ok(None) => return false,
            Err(error) => {
                tracing::warn!(%error, url = page.as_str(), "a capture cannot be read");
                return false;
            }
        };
        let site = &mut self.sites[number];
        site.fetched += 1;
        let fingerprint = page.fingerprint().0;
        let linked = site.linked.get(&fingerprint);
        match self.reading.read(page, &kept, linked) {
            Captured::Page(links) => {
                site.remember(page, &links);
                site.tell(link, Came::Page(&links));
            }
            Captured::List(entries) => {
                site.remember(page, &entries);
                site.tell(link, Came::Nothing);
                site.start_all(&entries);
            }
            Captured::DataFile { format, names } => match self.noted.get(&fingerprint) {
                Some(Noted::Refused) => site.tell(link, Came::Nothing),
                Some(Noted::Read) => site.tell(link, Came::DataFile(&names)),
                None => {
                    self.noted.insert(fingerprint, Noted::Read);
                    self.met.extend(met(page, &kept, format, linked));
                    site.tell(link, Came::DataFile(&names));
                }
            },
            Captured::Moved(target) => site.moved(link, &target),
            Captured::Nothing => site.tell(link, Came::Nothing),
        }
        true
    }

    /// Asks for a page that the collector guesses to be there, or to which one links that the archive has; false if it is neither.
    fn infer(&mut self, number: usize, link: LinkNumber, page: PageUrl) -> bool {
        let site = &mut self.sites[number];
        let Stage::Begun(collector) = &site.stage else {
            return false;
        };
        if let Some(linked) = site.linked.get(&page.fingerprint().0) {
            self.inferred.push_back(Inferred::linked(linked));
            site.guess = Some((page.fingerprint().0, link));
            return true;
        }
        if !collector.is_guess(link) || page.site() != &*site.name {
            return false;
        }
        let via = collector.named_after(link).unwrap_or_default();
        let like = site.pages.get(&Fingerprint::of(&via).0);
        // How far a page is that is only known by its name is not known; where depth is bounded, it leads no further.
        let (depth, hops) = like.map_or((self.depth_max.unwrap_or(0), ""), |like| {
            (like.visit.depth.saturating_add(1), &*like.visit.hops)
        });
        site.guess = Some((page.fingerprint().0, link));
        self.inferred
            .push_back(Inferred::new(page, depth, &via, hops));
        true
    }

    /// A site has nothing to hand out: it is finished, unless a page of it is out or deferred.
    fn rest(&mut self, number: usize) {
        let site = &mut self.sites[number];
        let is_bound_reached = self.config.pages_max <= site.fetched;
        let is_waiting = site.out.is_some() || site.guess.is_some();
        if is_waiting || matches!(site.stage, Stage::Waiting | Stage::Finished) {
            return;
        }
        if !site.away.is_empty() && !is_bound_reached {
            site.is_resting = true;
            self.begun -= 1;
            return;
        }
        if let Stage::Begun(collector) = std::mem::replace(&mut site.stage, Stage::Finished) {
            self.begun -= 1;
            self.learned.learn(&site.name, &collector);
            site.linked = HashMap::new();
        }
        if is_bound_reached {
            let left = std::mem::take(&mut site.pages);
            self.len -= left.len();
            self.uncollected.extend(left);
        } else if self.config.guess && self.depth_max.is_none() {
            self.learned.note_whole(&site.name);
        }
    }
}

impl Admission<Visit> for Collecting {
    fn gain(&mut self, _source: &Source, _host: u64) -> f32 {
        UNREAD_PRIORITY
    }

    fn raise(&mut self, fingerprint: u64, _gain: f32) -> bool {
        self.standing.contains(&fingerprint)
    }

    fn offer(&mut self, candidate: Candidate<Visit>) -> Option<Candidate<Visit>> {
        let number = self.number_of(&candidate.visit.url);
        let number = number.filter(|number| self.sites[*number].fetched < self.config.pages_max);
        // What lies too deep for this run waits for one with wider bounds.
        let is_within = self
            .depth_max
            .is_none_or(|most| candidate.visit.depth <= most);
        let number = number.filter(|_| is_within);
        let fingerprint = candidate.fingerprint;
        let Some(number) = number else {
            if !self.has_room() {
                return Some(candidate);
            }
            self.standing.insert(fingerprint);
            self.uncollected.insert(fingerprint, candidate);
            return None;
        };
        let site = &mut self.sites[number];
        if let Some((_, link)) = site.guess.take_if(|(guess, _)| *guess == fingerprint) {
            site.away.insert(fingerprint, link);
        }
        if site.away.contains_key(&fingerprint) {
            site.late.push_back(fingerprint);
        } else if let Stage::Begun(collector) = &mut site.stage
            && is_start(&candidate.visit)
        {
            collector.start(candidate.visit.url.as_str());
        }
        if matches!(site.stage, Stage::Finished) {
            // It surfaces after all: deferred for long, or found from elsewhere.
            site.late.push_back(fingerprint);
        }
        site.pages.insert(fingerprint, candidate);
        self.standing.insert(fingerprint);
        self.len += 1;
        self.make_ready(number);
        None
    }

    fn next(&mut self) -> Option<Candidate<Visit>> {
        loop {
            self.begin_sites();
            let number = self.ready.pop_front()?;
            self.sites[number].is_ready = false;
            if let Some(candidate) = self.next_of(number) {
                self.len -= 1;
                self.standing.remove(&candidate.fingerprint);
                return Some(candidate);
            }
            self.rest(number);
        }
    }

    fn take_out(&mut self) -> Option<Candidate<Visit>> {
        let first = self.uncollected.keys().next().copied();
        if let Some(candidate) = first.and_then(|first| self.uncollected.remove(&first)) {
            return Some(candidate);
        }
        let site = self.sites.iter_mut().find(|site| !site.pages.is_empty())?;
        let fingerprint = site.pages.keys().next().copied()?;
        self.len -= 1;
        site.pages.remove(&fingerprint)
    }

    /// A visit to a page of the host is over, or deferred.
    fn release(&mut self, host: u64) {
        let Some(number) = self.hosts.get(&host).copied() else {
            return;
        };
        let site = &mut self.sites[number];
        if let Some((fingerprint, Some(link))) = site.out.take() {
            site.away.insert(fingerprint, link);
        }
        self.make_ready(number);
    }

    fn len(&self) -> usize {
        self.len
    }

    fn room(&self) -> usize {
        self.candidates_max.saturating_sub(self.len)
    }
}

/// A data file that the archive has, as it is noted.
fn met(
    page: &PageUrl,
    kept: &KeptPage,
    format: Format,
    linked: Option<&Linked>,
) -> Option<FoundFile> {
    let estimate = linked.and_then(|linked| linked.found.link_estimate.as_deref());
    let context = estimate
        .map(|estimate| estimate.context.clone())
        .unwrap_or_default();
    Some(FoundFile {
        url: page.as_str().to_owned(),
        site: page.site().to_owned(),
        page: linked.map_or_else(String::new, |linked| linked.via.to_string()),
        link_text: context.text,
        beside: context.beside,
        at: listing::moment(&kept.entry.timestamp)?,
        format,
        probability: None,
        refused: None,
    })
}

/// Whether collecting begins here, too: a seed, where a redirect leads, what a sitemap lists. To all else there is a link on a page that is read
/// in time, again if it was captured before, and that says more than the URL alone.
fn is_start(visit: &Visit) -> bool {
    let is_followed = matches!(visit.hops.chars().last(), Some('L' | 'E' | INFERRED_HOP));
    visit.link_estimate.is_none() && !is_followed || visit.hops.ends_with('R')
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidate, found};
    use super::*;

    fn collecting(pages_max: u64) -> (Collecting, tempfile::TempDir) {
        let archive = tempfile::tempdir().unwrap();
        for part in ["archive", "indexes"] {
            std::fs::create_dir(archive.path().join(part)).unwrap();
        }
        let mut settings = Settings::default();
        settings.focus.pages_max = pages_max;
        let wanted = ["a.example", "b.example"].map(|site| Wanted {
            site: site.to_owned(),
            start: None,
        });
        let before = Before {
            learned: Learned::default(),
            kept: Kept::open(archive.path()).unwrap(),
            noted: HashMap::new(),
        };
        let collecting = Collecting::new(wanted.into(), &settings, before);
        (collecting, archive)
    }

    /// Offers a page of which nothing is known but its URL.
    fn offer_start(collecting: &mut Collecting, url: &str) {
        let mut candidate = candidate(url, 1.0);
        candidate.visit.link_estimate = None;
        assert!(collecting.offer(candidate).is_none());
    }

    /// The next page; those that are guessed are taken in.
    fn next(collecting: &mut Collecting) -> Option<Candidate<Visit>> {
        loop {
            while let Some(Inferred { found, .. }) = collecting.next_inferred() {
                collecting.offer(candidate(found.url.as_str(), 1.0));
                collecting.inferred_taken_in(&found.url);
            }
            let next = collecting.next();
            if next.is_some() || !collecting.has_inferred() {
                return next;
            }
        }
    }

    /// Fetches whatever comes next until nothing does; `links` says what each page links to.
    fn fetch_all(collecting: &mut Collecting, links: impl Fn(&str) -> Vec<String>) -> Vec<String> {
        let mut fetched = Vec::new();
        while let Some(next) = next(collecting) {
            let url = next.visit.url.clone();
            let found: Vec<_> = links(url.as_str()).iter().map(|link| found(link)).collect();
            for link in &found {
                let is_known = fetched.contains(&link.url.to_string())
                    || collecting.raise(link.url.fingerprint().0, 0.0);
                if !is_known && link.url != url {
                    collecting.offer(candidate(link.url.as_str(), 0.5));
                }
            }
            let came = if is_file(&url) {
                Came::DataFile(&[])
            } else {
                Came::Page(&found)
            };
            collecting.fetched(&url, came);
            collecting.release(next.host);
            collecting.ended(&url);
            fetched.push(url.to_string());
        }
        fetched
    }

    /// A small site: every page links to the next five, and to itself.
    fn next_five(url: &str) -> Vec<String> {
        let (rest, number) = url.rsplit_once('/').unwrap();
        let number: u32 = number.parse().unwrap_or(0);
        let next = (number..=number + 5).filter(|number| *number < 40);
        next.map(|number| format!("{rest}/{number}")).collect()
    }

    #[test]
    fn wanted_sites_are_collected_to_the_end_and_others_wait_untouched() {
        let (mut collecting, _archive) = collecting(1000);
        for site in ["a", "b", "c"] {
            offer_start(&mut collecting, &format!("http://{site}.example/0"));
        }
        let fetched = fetch_all(&mut collecting, next_five);
        assert_eq!(fetched.len(), 80, "{fetched:?}");
        assert!(fetched.iter().all(|url| !url.contains("c.example")));
        assert!(collecting.is_finished());
        let left = std::iter::from_fn(|| collecting.take_out());
        let left: Vec<String> = left.map(|left| left.visit.url.to_string()).collect();
        assert_eq!(left, ["http://c.example/0"]);
    }

    #[test]
    fn the_bound_of_pages_holds_for_each_site_and_the_rest_is_kept() {
        let (mut collecting, _archive) = collecting(10);
        offer_start(&mut collecting, "http://a.example/0");
        offer_start(&mut collecting, "http://b.example/0");
        assert_eq!(fetch_all(&mut collecting, next_five).len(), 20);
        assert!(collecting.is_finished());
        assert!(collecting.take_out().is_some());
    }

    #[test]
    fn a_page_that_was_deferred_comes_up_again_and_is_followed() {
        let (mut collecting, _archive) = collecting(1000);
        offer_start(&mut collecting, "http://a.example/0");
        let first = collecting.next().unwrap();
        collecting.release(first.host);
        assert!(collecting.next().is_none());
        assert!(collecting.is_finished(), "nothing can be handed out");
        assert!(collecting.offer(first).is_none());
        assert!(!collecting.is_finished());
        assert_eq!(fetch_all(&mut collecting, next_five).len(), 40);
    }

    #[test]
    fn what_no_page_links_to_is_visited_too() {
        let (mut collecting, _archive) = collecting(1000);
        offer_start(&mut collecting, "http://a.example/0");
        collecting.offer(candidate("http://a.example/lonely", 0.1));
        let fetched = fetch_all(&mut collecting, |_| Vec::new());
        assert_eq!(fetched.len(), 2, "{fetched:?}");
    }

    fn is_file(url: &PageUrl) -> bool {
        url.path().contains("/f/")
    }

    /// A home page that links to forty pages, each of which links to a file of its name.
    fn files_named_alike(url: &str) -> Vec<String> {
        match url.rsplit_once("/p/") {
            Some((site, page)) => vec![format!("{site}/f/{}.csv", page.trim_end_matches(".html"))],
            None if url.ends_with('/') => {
                (0..40).map(|page| format!("{url}p/n{page}.html")).collect()
            }
            None => Vec::new(),
        }
    }

    #[test]
    fn files_are_guessed_where_like_pages_have_shown_how_theirs_are_named() {
        for guess in [true, false] {
            let (mut collecting, _archive) = collecting(1000);
            collecting.config.guess = guess;
            offer_start(&mut collecting, "http://a.example/");
            let fetched = fetch_all(&mut collecting, files_named_alike);
            assert_eq!(fetched.len(), 81, "each once");
            let place = |ending| fetched.iter().rposition(|url| url.ends_with(ending));
            // Files that are guessed come before the pages that would have shown them.
            assert_eq!(place(".csv") < place(".html"), guess);
            assert!(collecting.is_finished());
        }
    }

    #[test]
    fn a_guess_that_is_not_taken_in_counts_as_a_miss_and_holds_nothing_up() {
        let (mut collecting, _archive) = collecting(1000);
        offer_start(&mut collecting, "http://a.example/");
        let mut refused = 0;
        let mut fetched = 0;
        loop {
            while let Some(Inferred { found, via, .. }) = collecting.next_inferred() {
                assert!(via.ends_with(".html"), "{via}");
                assert!(!collecting.is_finished());
                collecting.inferred_taken_in(&found.url);
                refused += 1;
            }
            let Some(next) = collecting.next() else {
                if collecting.has_inferred() {
                    continue;
                }
                break;
            };
            fetched += 1;
            let url = next.visit.url.clone();
            let links: Vec<_> = files_named_alike(url.as_str())
                .iter()
                .map(|url| found(url))
                .collect();
            for link in links.iter().filter(|link| !is_file(&link.url)) {
                collecting.offer(candidate(link.url.as_str(), 0.5));
            }
            collecting.fetched(&url, Came::Page(&links));
            collecting.release(next.host);
            collecting.ended(&url);
        }
        assert_eq!(fetched, 41);
        assert_eq!(refused, 6, "guesses, until they are given up");
        assert!(collecting.is_finished());
    }
}
