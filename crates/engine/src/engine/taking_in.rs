//! Taking in: seeds, links, what focus infers, and links of other partitions; where discovery, dispatch, the waiting room and the other partitions meet.

use std::borrow::Cow;
use std::collections::BTreeSet;

use junkai_frontier::Overflow;
use junkai_store::backlog::Entry;
use junkai_weburl::{Fingerprint, PageUrl};

use super::Engine;
use super::discovery::Arrival;
use super::origin::Origin;
use super::other_partitions::Posted;
use crate::CrawlError;
use crate::focus::FocusOrder;
use crate::outbox::Links;
use crate::scope::Found;
use crate::visit::{Discovered, Purpose, Visit, asked, is_of_page, returning};

/// URLs that are looked up together: fewer than fit in the smallest table.
const DISCOVERED_AT_A_TIME: usize = 4096;
/// Known seeds of which a start looks up what became of them, each in the index; further ones have their turn as all pages have.
const SEEDS_ASKED_AGAIN_MAX: usize = 1000;

/// What became of URLs that were found and not known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TakenIn {
    /// Pages that wait from now on.
    pub(super) pages: u64,
    /// URLs that stay unknown, because too much waits.
    pub(super) refused: u64,
}

impl Engine {
    /// Offers the seeds that were not known yet, and those that failed before. Answers how many these are.
    pub(super) fn admit_seeds(&mut self, seeds: Vec<PageUrl>) -> Result<u64, CrawlError> {
        for seed in &seeds {
            self.widen_scope(seed);
            self.shared.first_pages.begin_with(seed);
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
            let is_known = self.discovery.seen.contains(url.fingerprint().0)?;
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
        let good = if self.shared.first_pages.have_come() {
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
        let now = self.shared.now;
        let count = failed.len() as u64;
        // Each once, however often it was asked for.
        for seed in seeds.iter().filter(|seed| failed.remove(seed.url.as_str())) {
            let entry = seed.entry(origin.via(), origin.hops(), now);
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
        if self.other_partitions.partition.is_whole() {
            self.discover_own(found, origin, &mut taken_in)?;
        } else {
            let own = self.post_links(found, origin, &mut taken_in)?;
            self.discover_own(&own, origin, &mut taken_in)?;
        }
        Ok(taken_in)
    }

    /// Posts the links that lead to other partitions, and gives back the others.
    fn post_links(
        &mut self,
        found: &[Discovered],
        origin: &Origin<'_>,
        taken_in: &mut TakenIn,
    ) -> Result<Vec<Discovered>, CrawlError> {
        let mut own = Vec::new();
        // Most links in a row lead to one host.
        let mut last: Option<(&str, bool)> = None;
        for found in found {
            let host = found.url.host();
            let is_own = match last {
                Some((same, is_own)) if same == host => is_own,
                _ => self.other_partitions.partition.has(&found.url),
            };
            last = Some((host, is_own));
            if is_own {
                own.push(found.clone());
                continue;
            }
            if origin.leads_seed_to(found) {
                self.widen_scope(&found.url);
                self.shared.first_pages.lead_away(origin.via());
            }
            let (room, shared) = (&mut self.room, &self.shared);
            match self.other_partitions.post(found, origin, room, shared)? {
                // Whether it is new, the other partition knows.
                Posted::Now => taken_in.pages += u64::from(found.purpose == Purpose::Page),
                Posted::Before => {}
                Posted::Refused => {
                    self.shared.progress.urls_refused.add(1);
                    taken_in.refused += 1;
                }
            }
        }
        Ok(own)
    }

    /// The same for URLs that belong to this partition.
    fn discover_own(
        &mut self,
        found: &[Discovered],
        origin: &Origin<'_>,
        taken_in: &mut TakenIn,
    ) -> Result<(), CrawlError> {
        let (mut new, mut again) = (Vec::new(), Vec::new());
        for found in found.chunks(DISCOVERED_AT_A_TIME) {
            // Where overflow is discarded, they become known when they are placed.
            if self.shared.settings.crawl.overflow == Overflow::Defer {
                self.make_room_in_seen(found.len())?;
            }
            let refused = self
                .discovery
                .which_are_new(found, &mut new, &self.shared)?;
            taken_in.refused += refused;
            for (found, is_new) in found.iter().zip(&new) {
                let (room, shared) = (&mut self.room, &mut self.shared);
                match self.discovery.judge(found, *is_new, origin, room, shared) {
                    Arrival::New(entry) => {
                        taken_in.pages += u64::from(found.purpose == Purpose::Page);
                        self.let_wait(entry, found, origin)?;
                    }
                    Arrival::Known => {}
                    Arrival::Expected => again.push(found.clone()),
                    Arrival::Refused => taken_in.refused += 1,
                }
            }
        }
        self.try_failed_seeds_again(&again, origin)?;
        Ok(())
    }

    /// Lets a new page wait, until its server has a turn for it in the ring if that is known already.
    fn let_wait(
        &mut self,
        entry: Entry<Cow<'_, str>>,
        found: &Discovered,
        origin: &Origin<'_>,
    ) -> Result<(), CrawlError> {
        if origin.leads_seed_to(found) {
            self.widen_scope(&found.url);
        }
        let entry = match self.dispatch.turn_beyond_ring(found, &self.shared) {
            Some(due) => returning(Entry { due, ..entry }),
            None => entry,
        };
        let (gain, now) = (origin.gain(), self.shared.now);
        self.room.take_in(entry, found, gain, now)
    }

    /// Takes in the pages that the order asks for without a link to them, as if there were one.
    pub(super) fn take_in_inferred(&mut self) -> Result<(), CrawlError> {
        while let Some(inferred) = self.room.focus().and_then(FocusOrder::next_inferred) {
            let found = &inferred.found;
            let rule = self.shared.rule_for(&found.url, Found::Link(found.depth));
            if rule.accepts() {
                self.discover(std::slice::from_ref(found), &Origin::inferred(&inferred))?;
            }
            if let Some(order) = self.room.focus() {
                order.inferred_taken_in(&found.url);
            }
        }
        Ok(())
    }

    /// Takes in links that another partition has found to pages of this one. It is told so when a checkpoint holds them.
    pub(super) fn take_in_links(&mut self, links: &Links) -> Result<(), CrawlError> {
        let is_of_one_page = |one: &Entry, next: &Entry| {
            let ways = [one, next].map(|entry| (&entry.via, entry.hops.len(), entry.priority));
            ways[0] == ways[1]
        };
        for entries in links.entries.chunk_by(is_of_one_page) {
            let origin = Origin::of_another_partition(&entries[0]);
            let (pages, rules): (Vec<&Entry>, Vec<&Entry>) =
                entries.iter().partition(|entry| is_of_page(entry));
            for entry in rules {
                // Where a robots.txt redirects to is no page, and is visited whenever it is asked for.
                self.room.append(entry, self.shared.now)?;
            }
            let found: Vec<Discovered> = pages
                .iter()
                .filter_map(|entry| self.discovered(entry))
                .collect();
            let unread = pages.len() - found.len();
            self.shared.progress.visits_lost.add(unread as u64);
            self.discover_own(&found, &origin, &mut TakenIn::default())?;
            self.write_down_when_much()?;
        }
        let checkpoint = self.checkpoints.begun() + 1;
        if self.other_partitions.confirm_after(checkpoint, links) {
            self.checkpoints.hurry();
        }
        Ok(())
    }

    /// What a link is, as another partition has sent it; none if its URL cannot be read.
    fn discovered(&self, entry: &Entry) -> Option<Discovered> {
        Some(Discovered {
            url: self.canonical.parse(&entry.url).ok()?,
            hop: entry.hops.chars().next_back(),
            depth: entry.depth,
            purpose: Purpose::of_entry(entry, &self.canonical).ok()?,
            link_estimate: None,
        })
    }

    /// Lets the scope reach around a seed, around where one redirects to, or around the first page of a wanted site.
    pub(super) fn widen_scope(&mut self, seed: &PageUrl) {
        if self.shared.widen_scope(seed) {
            self.servers.note_seed(seed);
        }
    }

    /// Where overflow is discarded: a URL whose visit was settled in another way than by a place is known from now on.
    pub(super) fn becomes_known(&mut self, visit: &Visit) -> Result<(), CrawlError> {
        if self.discovery.take_unplaced(visit) {
            self.make_known(visit.url.fingerprint().0)?;
        }
        Ok(())
    }

    /// Lets a URL be known, after a checkpoint if there is no room for it.
    pub(super) fn make_known(&mut self, fingerprint: u64) -> Result<(), CrawlError> {
        self.make_room_in_seen(1)?;
        self.discovery.seen.insert(fingerprint)?;
        Ok(())
    }
}
