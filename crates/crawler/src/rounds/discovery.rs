//! Discovery: URLs that were found become known, and wait in the backlog for their turn.

use std::collections::BTreeSet;

use junkai_archive::Index;
use junkai_frontier::Overflow;
use junkai_frontier::backlog::{BacklogError, Entry};
use junkai_weburl::PageUrl;

use super::Rounds;
use crate::CrawlError;
use crate::visit::{Discovered, Purpose, Visit, returning};

/// URLs that are looked up together: fewer than fit in the smallest table.
const DISCOVERED_AT_A_TIME: usize = 4096;

impl Rounds {
    /// Offers the seeds that were not known yet.
    pub(super) fn admit_seeds(&mut self, seeds: Vec<PageUrl>) -> Result<(), CrawlError> {
        for seed in &seeds {
            self.widen_scope(seed);
        }
        let seed = |url| Discovered {
            url,
            hop: None,
            depth: 0,
            purpose: Purpose::Page,
        };
        let seeds: Vec<Discovered> = seeds.into_iter().map(seed).collect();
        self.discover(&seeds, "", "")?;
        self.try_failed_seeds_again(&seeds)
    }

    /// A seed that was given up in an earlier run is tried again: somebody asks for it again.
    fn try_failed_seeds_again(&mut self, seeds: &[Discovered]) -> Result<(), CrawlError> {
        let index = Index::open(&self.archive)?;
        let mut failed = BTreeSet::new();
        for seed in seeds {
            let url = seed.url.as_str();
            // The index folds case and more; another page's capture is none of this one.
            let is_captured = index.lookup(url)?.flatten().any(|entry| entry.url == url);
            if !is_captured {
                failed.insert(url);
            }
        }
        if !failed.is_empty() {
            // What waits is tried anyway.
            self.backlog.flush()?;
            self.backlog.scan(|entry| {
                failed.remove(entry.url.as_str());
            })?;
        }
        let now = self.clock.now();
        for seed in seeds
            .iter()
            .filter(|seed| failed.contains(seed.url.as_str()))
        {
            self.append(&returning(seed.entry("", "", now)))?;
        }
        Ok(())
    }

    /// Takes in URLs that are in scope: those that were not known go to the backlog.
    pub(super) fn discover(
        &mut self,
        found: &[Discovered],
        via: &str,
        hops: &str,
    ) -> Result<(), CrawlError> {
        let now = self.clock.now();
        let from_seed = hops.bytes().all(|hop| hop == b'R');
        let mut new = Vec::new();
        for found in found.chunks(DISCOVERED_AT_A_TIME) {
            self.which_are_new(found, &mut new)?;
            for (found, _) in found.iter().zip(&new).filter(|(_, new)| **new) {
                if from_seed && found.hop == Some('R') && found.purpose == Purpose::Page {
                    self.widen_scope(&found.url);
                }
                self.append(&found.entry(via, hops, now))?;
            }
        }
        Ok(())
    }

    /// Which URLs were not known; from now on they are.
    fn which_are_new(
        &mut self,
        found: &[Discovered],
        new: &mut Vec<bool>,
    ) -> Result<(), CrawlError> {
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
                    let has_room = self.unplaced.len() < self.settings.ring.waiting_max;
                    let is_new = has_room
                        && !self.seen.contains(fingerprint)?
                        && self.unplaced.insert(fingerprint);
                    new.push(is_new);
                }
            }
        }
        Ok(())
    }

    /// Lets the scope reach around a seed, or around where one redirects to.
    fn widen_scope(&mut self, seed: &PageUrl) {
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

    /// Appends to the backlog, however long it takes until there is room on the disk.
    pub(super) fn append(&mut self, entry: &Entry) -> Result<(), CrawlError> {
        while let Err(error) = self.backlog.append(entry, self.clock.now()) {
            if let BacklogError::EntryTooLong { bytes } = error {
                tracing::warn!(
                    url = entry.url,
                    bytes,
                    "a URL is too long to wait for its turn"
                );
                return Ok(());
            }
            self.wait_for_room(error.into())?;
        }
        Ok(())
    }
}
