//! Discovery: URLs that were found become known, and wait for their turn.

use std::borrow::Cow;
use std::collections::BTreeSet;

use junkai_frontier::Overflow;
use junkai_frontier::admission::Source;
use junkai_store::backlog::{Bound, Entry};
use junkai_weburl::{Fingerprint, PageUrl};

use super::Engine;
use crate::CrawlError;
use crate::focus::{FocusOrder, Inferred};
use crate::scope::Found;
use crate::visit::{Discovered, Purpose, Visit, asked, returning};

/// URLs that are looked up together: fewer than fit in the smallest table.
const DISCOVERED_AT_A_TIME: usize = 4096;
/// Known seeds of which a start looks up what became of them, each in the index; further ones have their turn as all pages have.
const SEEDS_ASKED_AGAIN_MAX: usize = 1000;

impl Engine {
    /// Offers the seeds that were not known yet, and those that failed before. Answers how many these are.
    pub(super) fn admit_seeds(&mut self, seeds: Vec<PageUrl>) -> Result<u64, CrawlError> {
        for seed in &seeds {
            self.widen_scope(seed);
            self.first_pages.begin_with(seed);
        }
        let seed = |url| Discovered {
            url,
            hop: None,
            depth: 0,
            purpose: Purpose::Page,
            link_estimate: None,
        };
        let (mut new, mut known) = (Vec::new(), Vec::new());
        for url in seeds {
            let is_known = self.seen.contains(url.fingerprint().0)?;
            if is_known { &mut known } else { &mut new }.push(seed(url));
        }
        self.discover(&new, &Origin::seeds())?;
        Ok(new.len() as u64 + self.try_failed_seeds_again(&known, &Origin::seeds())?)
    }

    /// A seed that came to nothing when it was visited last is tried again: somebody asks for it again. Where no page has come yet, that holds for seeds that lead
    /// elsewhere, too. Answers how many are.
    fn try_failed_seeds_again(
        &mut self,
        seeds: &[Discovered],
        origin: &Origin<'_>,
    ) -> Result<u64, CrawlError> {
        if seeds.is_empty() {
            return Ok(0);
        }
        let seeds = &seeds[..seeds.len().min(SEEDS_ASKED_AGAIN_MAX)];
        let good = if self.first_pages.have_come() {
            200..400
        } else {
            200..300
        };
        let pages: Vec<&PageUrl> = seeds.iter().map(|seed| &seed.url).collect();
        let statuses = self.platform.captures.last_statuses(&pages)?;
        let mut failed = BTreeSet::new();
        for (seed, status) in seeds.iter().zip(statuses) {
            if !status.is_some_and(|status| good.contains(&status)) {
                failed.insert(seed.url.as_str());
            }
        }
        if !failed.is_empty() {
            // What waits is tried anyway.
            self.room.backlog().scan(|entry| {
                failed.remove(entry.url.as_str());
            })?;
        }
        let mut stateless = failed.iter().map(|url| Fingerprint::of(url)).collect();
        self.known.take_known_out_of(&mut stateless)?;
        let now = self.now;
        let count = failed.len() as u64;
        // Each once, however often it was asked for.
        for seed in seeds.iter().filter(|seed| failed.remove(seed.url.as_str())) {
            let entry = seed.entry(origin.via, &origin.hops, now);
            let entry = if stateless.contains(&seed.url.fingerprint()) {
                returning(entry)
            } else {
                asked(entry)
            };
            self.room.append_known(entry, now)?;
        }
        Ok(count)
    }

    /// Takes in URLs that are in scope, in the order of the document: those that were not known join those that wait, and links to those that wait
    /// count. Of what links bring no more is taken in than may wait: the rest stays unknown, and is welcome when it is found again.
    pub(super) fn discover(
        &mut self,
        found: &[Discovered],
        origin: &Origin<'_>,
    ) -> Result<TakenIn, CrawlError> {
        let mut taken_in = TakenIn::default();
        let now = self.now;
        let from_seed = origin.hops.bytes().all(|hop| hop == b'R');
        let source = origin.source.as_ref();
        let (mut new, mut again) = (Vec::new(), Vec::new());
        for found in found.chunks(DISCOVERED_AT_A_TIME) {
            taken_in.refused += self.which_are_new(found, &mut new)?;
            for (found, is_new) in found.iter().zip(&new) {
                let is_seed = from_seed && found.hop == Some('R') && found.purpose == Purpose::Page;
                if !is_new {
                    self.room.raise(&found.url, source);
                    if is_seed && self.first_pages.expect(origin.via, &found.url) {
                        again.push(found.clone());
                    }
                    continue;
                }
                let entry = found.entry(origin.via, &origin.hops, now);
                if let Some(bound) = self.room.refuses(&entry) {
                    self.refuse(found, bound);
                    taken_in.refused += 1;
                    continue;
                }
                if is_seed {
                    self.widen_scope(&found.url);
                    self.first_pages.expect(origin.via, &found.url);
                }
                taken_in.pages += u64::from(found.purpose == Purpose::Page);
                let entry = match self.turn_beyond_ring(found) {
                    Some(due) => returning(Entry { due, ..entry }),
                    None => entry,
                };
                self.room.take_in(entry, found, source, now)?;
            }
        }
        self.try_failed_seeds_again(&again, origin)?;
        Ok(taken_in)
    }

    /// Lets a URL that was new a moment ago be unknown again, because too much waits.
    fn refuse(&mut self, found: &Discovered, bound: Bound) {
        let fingerprint = found.url.fingerprint().0;
        match self.settings.crawl.overflow {
            Overflow::Defer => self.seen.take_back(fingerprint),
            Overflow::Discard => {
                self.unplaced.remove(&fingerprint);
            }
        }
        self.progress.urls_refused.add(1);
        if !std::mem::replace(&mut self.is_refusing, true) {
            let (whose, setting) = match bound {
                Bound::Host => (found.url.host(), "backlog.host_bytes_max"),
                Bound::All => ("all hosts", "backlog.bytes_max"),
            };
            tracing::warn!(
                whose,
                setting,
                "the URLs that wait take as many bytes as they may: new ones are refused until some are visited, and counted"
            );
        }
    }

    /// Takes in the pages that the order asks for without a link to them, as if there were one.
    pub(super) fn take_in_inferred(&mut self) -> Result<(), CrawlError> {
        while let Some(inferred) = self.room.focus().and_then(FocusOrder::next_inferred) {
            let found = &inferred.found;
            let rule = self.rule_for(&found.url, Found::Link(found.depth));
            if rule.accepts() {
                self.discover(std::slice::from_ref(found), &Origin::inferred(&inferred))?;
            }
            if let Some(order) = self.room.focus() {
                order.inferred_taken_in(&found.url);
            }
        }
        Ok(())
    }

    /// Which URLs were not known; from now on they are. Answers how many were not known and stay so, because the table of those that may be discarded
    /// is full.
    fn which_are_new(
        &mut self,
        found: &[Discovered],
        new: &mut Vec<bool>,
    ) -> Result<u64, CrawlError> {
        let mut refused = 0;
        let fingerprints: Vec<u64> = found
            .iter()
            .map(|found| found.url.fingerprint().0)
            .collect();
        match self.settings.crawl.overflow {
            Overflow::Defer => {
                self.make_room_in_seen(found.len())?;
                self.seen.insert_batch(&fingerprints, new)?;
            }
            // A URL that finds no room must stay unknown: it becomes known when it is placed.
            Overflow::Discard => {
                new.clear();
                for fingerprint in fingerprints {
                    let is_new = !self.unplaced.contains(&fingerprint)
                        && !self.seen.contains(fingerprint)?;
                    let has_room = self.unplaced.len() < self.settings.ring.waiting_max;
                    if is_new && has_room {
                        self.unplaced.insert(fingerprint);
                    }
                    refused += u64::from(is_new && !has_room);
                    new.push(is_new && has_room);
                }
            }
        }
        self.no_room += refused;
        Ok(refused)
    }

    /// Lets the scope reach around a seed, around where one redirects to, or around the first page of a wanted site.
    pub(super) fn widen_scope(&mut self, seed: &PageUrl) {
        if let Ok(mut scope) = self.scope.write()
            && scope.add_root(seed)
        {
            self.servers.note_seed(seed);
        }
    }

    /// Where overflow is discarded: a URL whose visit was settled in another way than by a place is known from now on.
    pub(super) fn becomes_known(&mut self, visit: &Visit) -> Result<(), CrawlError> {
        let fingerprint = visit.url.fingerprint().0;
        if self.unplaced.remove(&fingerprint) {
            self.make_room_in_seen(1)?;
            self.seen.insert(fingerprint)?;
        }
        Ok(())
    }
}

/// What became of URLs that were found and not known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TakenIn {
    /// Pages that wait from now on.
    pub(super) pages: u64,
    /// URLs that stay unknown, because too much waits.
    pub(super) refused: u64,
}

/// Where URLs were found.
pub(super) struct Origin<'a> {
    /// The page; empty for seeds.
    via: &'a str,
    /// How that page was reached.
    hops: Cow<'a, str>,
    /// What it has to say for the pages that it links to.
    source: Option<Source>,
}

impl<'a> Origin<'a> {
    /// The user.
    fn seeds() -> Origin<'static> {
        Origin {
            via: "",
            hops: "".into(),
            source: None,
        }
    }

    /// A page that was read of, or only thought of.
    fn inferred(inferred: &'a Inferred) -> Origin<'a> {
        Origin {
            via: &inferred.via,
            hops: Cow::Borrowed(&inferred.hops),
            source: None,
        }
    }

    /// A page that was visited, and links to so many others.
    pub(super) fn page(visit: &'a Visit, links: usize) -> Origin<'a> {
        let source = Source {
            host: visit.host(),
            worth: visit.worth,
            links: u32::try_from(links).unwrap_or(u32::MAX),
        };
        Origin {
            via: visit.url.as_str(),
            hops: Cow::Borrowed(&visit.hops),
            source: Some(source),
        }
    }

    /// The same, where it is a robots.txt that was fetched in the page's turn which leads there.
    pub(super) fn by_rules(self) -> Origin<'a> {
        let hops = format!("{}P", self.hops).into();
        Origin { hops, ..self }
    }
}
