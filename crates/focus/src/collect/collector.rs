//! Chooses the next link of a site, and learns from what came back.

use std::collections::VecDeque;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::address::AddressModel;
use super::analogy::{Analogies, RuleNumber};
use super::arms::{Arm, Arms, Brought, Cluster, Grouping, Worth};
use super::experience::Experience;
use super::gamma;
use super::link::{Fetched, LinkNumber, LinkSeen, Looks};
use super::listing::{Listings, PairNumber};
use super::numbers::Numbers;
use super::order::{Order, Settings};
use super::outlook::{self, Prospect};
use super::wording::Lesson;
use crate::explore::Chance;

/// Exploration of the published order: α = 2√2.
const EXPLORATION: f64 = 2.0 * std::f64::consts::SQRT_2;
/// The tag path of what no page links to.
const NO_PATH: &str = "";

/// Collects from one site. The driver calls [`Collector::start`], then [`Collector::next`] and [`Collector::fetched`] until nothing
/// is left; several links may be out at a time.
#[derive(Clone, Debug)]
pub struct Collector {
    settings: Settings,
    links: Vec<Known>,
    /// Links by the hash of their URL.
    numbers: HashTable<u32>,
    /// In the orders that know no kinds: all that wait.
    line: VecDeque<u32>,
    /// In the others: data files that wait.
    files: VecDeque<u32>,
    guesses: VecDeque<u32>,
    arms: Arms,
    analogies: Analogies,
    listings: Listings,
    addresses: AddressModel,
    tally: Tally,
}

/// A link that was found, or guessed.
#[derive(Clone, Debug)]
struct Known {
    hash: u64,
    /// Empty once it was fetched.
    url: Box<str>,
    arm: u32,
    numbers: Numbers,
    kind: Kind,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Page,
    File,
    /// By analogy with the files of like pages.
    Guess(RuleNumber),
    /// By analogy with the files of pages like one that a list names.
    Named(PairNumber),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    /// A guess that nobody trusted when its turn came.
    GivenUp,
    Asked,
    Fetched,
}

/// What a collector has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Pages that were fetched.
    pub pages: u32,
    /// Data files that were fetched.
    pub files: u32,
    /// Fetches that brought nothing.
    pub nothing: u32,
    /// Of the data files, those that were guessed.
    pub guessed: u32,
    /// Guesses that were wrong.
    pub missed: u32,
    /// Links that there was no room for.
    pub dropped: u32,
}

impl Collector {
    /// For a new site.
    #[must_use]
    pub fn new(experience: &Experience, settings: Settings) -> Self {
        let grouping = match settings.order {
            Order::BreadthFirst | Order::DepthFirst | Order::Random | Order::TagPaths => {
                Grouping::Paths
            }
            Order::Learned => Grouping::PathsAndAddresses,
        };
        Self {
            links: Vec::new(),
            numbers: HashTable::new(),
            line: VecDeque::new(),
            files: VecDeque::new(),
            guesses: VecDeque::new(),
            arms: Arms::new(grouping, settings.arms_max, experience),
            analogies: Analogies::default(),
            listings: Listings::default(),
            addresses: experience.addresses.clone(),
            tally: Tally::default(),
            settings,
        }
    }

    /// Takes in where to begin; none if it is known already, or there is no room.
    pub fn start(&mut self, url: &str) -> Option<LinkNumber> {
        self.add_unlinked(url, Kind::Page).map(LinkNumber)
    }

    /// Takes in the entries of a data file's first column ([`names_in`](super::names_in)). Whether they name pages of the site shows in
    /// time; then pages and files may be asked for that no page was seen to link to.
    pub fn list(&mut self, file_url: &str, names: &[&str]) {
        if self.settings.order == Order::Learned
            && self.settings.guesses
            && let Some((family, page)) = self.analogies.page_of(file_url)
        {
            self.listings.add(family, &page, names);
            self.guess_by_lists();
        }
    }

    /// The link to fetch next; none if nothing waits.
    pub fn next(&mut self, chance: Chance<'_>) -> Option<LinkNumber> {
        let link = match self.settings.order {
            Order::BreadthFirst => self.line.pop_front(),
            Order::DepthFirst => self.line.pop_back(),
            Order::Random => {
                let place = place_below(self.line.len(), chance);
                self.line.swap_remove_back(place)
            }
            Order::TagPaths => self.next_file().or_else(|| self.next_by_tag_path(chance)),
            Order::Learned => self
                .next_file()
                .or_else(|| self.next_guess())
                .or_else(|| self.next_page(chance)),
        }?;
        self.links[link as usize].state = State::Asked;
        Some(LinkNumber(link))
    }

    /// The URL of a link that waits or is out; empty once it was fetched.
    ///
    /// # Panics
    /// If the link is not of this collector.
    #[must_use]
    pub fn url(&self, link: LinkNumber) -> &str {
        &self.links[link.0 as usize].url
    }

    /// Whether no page was seen to link to it.
    ///
    /// # Panics
    /// If the link is not of this collector.
    #[must_use]
    pub fn is_guess(&self, link: LinkNumber) -> bool {
        match self.links[link.0 as usize].kind {
            Kind::Guess(_) | Kind::Named(_) => true,
            Kind::Page | Kind::File => false,
        }
    }

    /// The page that a guess is named after, which may not exist; none for what a page links to.
    ///
    /// # Panics
    /// If the link is not of this collector.
    #[must_use]
    pub fn named_after(&self, link: LinkNumber) -> Option<String> {
        let (_, page) = self.analogies.page_of(self.url(link))?;
        self.is_guess(link).then_some(page)
    }

    /// What was done so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// How many groups of links there are.
    #[must_use]
    pub fn arm_count(&self) -> usize {
        self.arms.all.len()
    }

    /// Takes in what came of a link that was handed out.
    ///
    /// # Panics
    /// If the link is not out.
    pub fn fetched(&mut self, link: LinkNumber, fetched: Fetched<'_>) {
        let known = &mut self.links[link.0 as usize];
        assert!(known.state == State::Asked, "link {} is not out", link.0);
        known.state = State::Fetched;
        let (url, arm, kind) = (std::mem::take(&mut known.url), known.arm, known.kind);
        let numbers = known.numbers;
        let is_file = matches!(fetched, Fetched::DataFile);
        if !matches!(fetched, Fetched::Nothing) {
            self.addresses.learn(&url, is_file);
        }
        match kind {
            Kind::Guess(rule) => self.analogies.confirm(rule, is_file),
            Kind::Named(pair) => self.listings.confirm(pair, is_file),
            Kind::Page | Kind::File => {}
        }
        if matches!(kind, Kind::Guess(_) | Kind::Named(_)) {
            self.tally.guessed += u32::from(is_file);
            self.tally.missed += u32::from(!is_file);
        }
        let mut followers = Vec::new();
        let mut files = 0.0;
        match fetched {
            Fetched::Page(links) => {
                self.tally.pages += 1;
                files = self.take_links(&url, links, &mut followers);
            }
            Fetched::DataFile => {
                self.tally.files += 1;
                files = 1.0;
            }
            Fetched::Nothing => self.tally.nothing += 1,
        }
        // A file that was known as one says nothing of pages.
        if kind == Kind::Page {
            let brought = Brought {
                files,
                numbers,
                followers: &followers,
            };
            self.arms.learn(arm, brought);
        }
    }

    /// Takes in the links of a page; returns how many data files they add.
    fn take_links(&mut self, page: &str, links: &[LinkSeen<'_>], followers: &mut Vec<u32>) -> f64 {
        let mut files = 0.0;
        let mut on_page = Vec::new();
        let first = self.links.len();
        let is_stack = self.settings.order == Order::DepthFirst;
        let count = links.len();
        for place in 0..count {
            let seen = &links[if is_stack { count - 1 - place } else { place }];
            let is_file = match seen.looks {
                Looks::DataFile => true,
                Looks::Page => false,
                Looks::Unknown => self.addresses.is_file(seen.url),
            };
            if is_file {
                on_page.push(seen.url);
            }
            if let Some(link) = self.add(seen, if is_file { Kind::File } else { Kind::Page }) {
                if is_file {
                    files += 1.0;
                } else {
                    followers.push(self.links[link as usize].arm);
                }
            }
        }
        if self.settings.order == Order::Learned && self.settings.guesses {
            let trusted = self.analogies.learn(page, &on_page);
            files += self.guess_from(first);
            if !trusted.is_empty() {
                self.guess_for_waiting();
            }
            self.guess_by_lists();
        }
        files
    }

    /// Adds what no page was seen to link to.
    fn add_unlinked(&mut self, url: &str, kind: Kind) -> Option<u32> {
        let seen = LinkSeen {
            url,
            text: "",
            tag_path: NO_PATH,
            beside: "",
            looks: Looks::Unknown,
        };
        self.add(&seen, kind)
    }

    /// Adds a link; none if it is known already, or there is no room.
    fn add(&mut self, seen: &LinkSeen<'_>, kind: Kind) -> Option<u32> {
        let hash = xxh3_64(seen.url.as_bytes());
        let links = &self.links;
        let known = self
            .numbers
            .find(hash, |link| links[*link as usize].hash == hash)
            .copied();
        if let Some(link) = known {
            self.see_again(link, kind);
            return None;
        }
        if self.settings.links_max as usize <= self.links.len() {
            self.tally.dropped = self.tally.dropped.saturating_add(1);
            return None;
        }
        let link = u32::try_from(self.links.len()).ok()?;
        let arm = match kind {
            Kind::Page => self.arms.arm_of(seen),
            Kind::File | Kind::Guess(_) | Kind::Named(_) => 0,
        };
        self.links.push(Known {
            hash,
            url: seen.url.into(),
            arm,
            numbers: Numbers::of(seen.beside),
            kind,
            state: State::Waiting,
        });
        let links = &self.links;
        self.numbers
            .insert_unique(hash, link, |link| links[*link as usize].hash);
        self.put(link);
        Some(link)
    }

    fn put(&mut self, link: u32) {
        let known = &self.links[link as usize];
        match (self.settings.order, known.kind) {
            (Order::BreadthFirst | Order::DepthFirst | Order::Random, _) => {
                self.line.push_back(link);
            }
            (_, Kind::Page) => self.arms.all[known.arm as usize].waiting.push_back(link),
            (_, Kind::File) => self.files.push_back(link),
            (_, Kind::Guess(_) | Kind::Named(_)) => self.guesses.push_back(link),
        }
    }

    /// A guess that a page links to is none any more; one that was given up and is made again waits again.
    fn see_again(&mut self, link: u32, kind: Kind) {
        let is_guess = self.is_guess(LinkNumber(link));
        let known = &mut self.links[link as usize];
        let is_left = match known.state {
            State::Waiting => kind == Kind::File,
            State::GivenUp => kind != Kind::Page,
            State::Asked | State::Fetched => false,
        };
        if is_guess && is_left {
            known.kind = kind;
            known.state = State::Waiting;
            self.put(link);
        }
    }

    /// Guesses the files of the pages from this link on; returns how many there will be.
    fn guess_from(&mut self, first: usize) -> f64 {
        let mut files = 0.0;
        for link in first..self.links.len() {
            let known = &self.links[link];
            if known.kind != Kind::Page || known.state != State::Waiting {
                continue;
            }
            for (rule, url) in self.analogies.guesses(&known.url) {
                if self.add_unlinked(&url, Kind::Guess(rule)).is_some() {
                    files += self.analogies.precision(rule);
                }
            }
        }
        files
    }

    /// A rule has just come to be trusted: it speaks of all pages that wait, and what it says of them they will not bring any more.
    fn guess_for_waiting(&mut self) {
        for arm in 0..self.arms.all.len() {
            let waiting = &self.arms.all[arm].waiting;
            let guesses = waiting.iter().map(|link| {
                self.analogies
                    .guesses(&self.links[*link as usize].url)
                    .len()
            });
            let (pages, files) = (waiting.len(), guesses.sum::<usize>());
            if 0 < files {
                #[expect(clippy::cast_precision_loss, reason = "a mean")]
                let files_per_page = files as f64 / pages as f64;
                self.arms
                    .discount(u32::try_from(arm).unwrap_or(u32::MAX), files_per_page);
            }
        }
        self.guess_from(0);
    }

    /// Guesses the files of pages that lists name.
    fn guess_by_lists(&mut self) {
        let trusted = self.analogies.trusted();
        let find = |url: &str| {
            let hash = xxh3_64(url.as_bytes());
            self.numbers
                .find(hash, |link| self.links[*link as usize].hash == hash)
        };
        let is_fetched = |page: &str| {
            find(page).is_some_and(|link| self.links[*link as usize].state == State::Fetched)
        };
        let is_known = |rule, name: &str| {
            self.analogies
                .page_named(rule, name)
                .is_some_and(|page| find(&page).is_some())
        };
        self.listings.compare(&trusted, is_fetched, is_known);
        for (pair, rule, names) in self.listings.take_named() {
            for name in names {
                let Some(page) = self.analogies.page_named(rule, &name) else {
                    continue;
                };
                for (_, file) in self.analogies.guesses(&page) {
                    self.add_unlinked(&file, Kind::Named(pair));
                }
            }
        }
    }

    fn next_file(&mut self) -> Option<u32> {
        self.files.pop_front()
    }

    /// A guess whose rule is trusted still; those of other rules are given up, until a page links to them or the rule is trusted again.
    fn next_guess(&mut self) -> Option<u32> {
        while let Some(link) = self.guesses.pop_front() {
            let known = &self.links[link as usize];
            let is_trusted = match known.kind {
                Kind::Guess(rule) => self.analogies.is_trusted(rule),
                Kind::Named(pair) => self.listings.is_trusted(pair),
                // A page was seen to link to it since.
                Kind::Page | Kind::File => continue,
            };
            if known.state != State::Waiting {
                continue;
            }
            if is_trusted {
                return Some(link);
            }
            self.links[link as usize].state = State::GivenUp;
        }
        None
    }

    /// Ours: a page of the arm with the best index.
    fn next_page(&mut self, chance: Chance<'_>) -> Option<u32> {
        let arms = 0..u32::try_from(self.arms.all.len()).unwrap_or(u32::MAX);
        let mut rates = Vec::with_capacity(arms.len());
        let expectations = self.arms.expectations();
        for arm in arms {
            let (shape, rate) = self.arms.belief(arm, &expectations);
            rates.push(gamma::draw(shape, rate, chance));
        }
        let indices = self.indices(&rates);
        let best = self
            .awake()
            .max_by(|one, two| indices[*one].total_cmp(&indices[*two]).then(two.cmp(one)))?;
        let arm = &mut self.arms.all[best];
        let links = &self.links;
        let numbers = |link: u32| links[link as usize].numbers;
        let place = arm.relation.choose(&arm.waiting, numbers);
        arm.waiting.remove(place)
    }

    /// The index of each arm at these rates; where little was tried, what other sites taught has its say.
    fn indices(&self, rates: &[f64]) -> Vec<f64> {
        let prospect = |(arm, files): (u32, &f64)| Prospect {
            files: *files,
            followers: self
                .arms
                .followers(arm)
                .map(|(arm, count)| (arm as usize, count))
                .collect(),
        };
        let prospects: Vec<Prospect> = (0..).zip(rates).map(prospect).collect();
        let mut indices = outlook::indices(&prospects);
        for (arm, index) in (0..).zip(&mut indices) {
            let Arm {
                cluster, factor, ..
            } = self.arms.all[arm as usize];
            if let Some(prior) = self.arms.clusters[cluster as usize].prior {
                let weight = prior.arms / (prior.arms + self.arms.pages(arm));
                *index = index.max(weight * factor * prior.outlook);
            }
        }
        indices
    }

    /// As published: a random page of the arm with the highest bound, AUER.
    fn next_by_tag_path(&mut self, chance: Chance<'_>) -> Option<u32> {
        let time = f64::from(self.tally.pages + self.tally.nothing).max(1.0);
        let bound = |arm: usize| {
            let cluster = &self.arms.clusters[self.arms.all[arm].cluster as usize];
            let mean = cluster.files / cluster.pages.max(1.0);
            mean + EXPLORATION * (time.ln() / (cluster.pages + 1e-6)).sqrt()
        };
        let best = self
            .awake()
            .max_by(|one, two| bound(*one).total_cmp(&bound(*two)).then(two.cmp(one)))?;
        let waiting = &mut self.arms.all[best].waiting;
        let place = place_below(waiting.len(), chance);
        waiting.swap_remove_back(place)
    }

    /// The arms with links that wait.
    fn awake(&self) -> impl Iterator<Item = usize> {
        let arms = self.arms.all.iter().enumerate();
        arms.filter(|(_, arm)| !arm.waiting.is_empty())
            .map(|(place, _)| place)
    }

    /// The clusters of links, and what they were worth.
    pub(super) fn worths(&self) -> impl Iterator<Item = (&Cluster, Worth)> {
        self.arms.clusters.iter().zip(self.arms.worths())
    }

    /// What the words of each arm that was tried were worth.
    pub(super) fn wordings(&self) -> impl Iterator<Item = Lesson<'_>> {
        self.arms.lessons().filter(|lesson| 0.0 < lesson.known)
    }

    pub(super) fn addresses(&self) -> &AddressModel {
        &self.addresses
    }
}

/// A place below the bound, each as probable.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "chance is below 1, and bounds are far below the precision of its type"
)]
fn place_below(bound: usize, chance: Chance<'_>) -> usize {
    ((chance() * bound as f64) as usize).min(bound.saturating_sub(1))
}
