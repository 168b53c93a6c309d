//! Discovery: which URLs that were found are new, and may wait for their turn.
//!
//! Takes in URLs as they come, in the order of the document: first a batch of them is looked up ([`Discovery::which_are_new`]), then each is judged
//! ([`Discovery::judge`]), and an [`Arrival`] says what is to become of it. Where overflow is discarded, a URL becomes known only when it has a place in the ring.
//!
//! Not here: letting a new page wait (`WaitingRoom`), and what to do about seeds that failed (`taking_in`).

use std::borrow::Cow;

use hashbrown::HashSet;
use junkai_frontier::Overflow;
use junkai_store::backlog::{Bound, Entry};
use junkai_store::seen::Seen;

use super::origin::Origin;
use super::shared::Shared;
use crate::CrawlError;
use crate::visit::{Discovered, Visit};
use crate::waiting_room::WaitingRoom;

/// Which URLs are known.
pub(super) struct Discovery {
    pub(super) seen: Seen,
    /// Where overflow is discarded: URLs that wait in the backlog and are not known, because they may find no room.
    unplaced: HashSet<u64>,
    /// Of such URLs, those that were not even taken in.
    no_room: u64,
    /// Whether it was told that too much waits.
    is_refusing: bool,
}

/// What is to become of a URL that was found.
#[derive(Debug)]
pub(super) enum Arrival<'a> {
    /// It is to wait, as this.
    New(Entry<Cow<'a, str>>),
    /// It was known. The link has counted.
    Known,
    /// It was known, and is to be tried again if it has failed: a seed leads there, and no page has come.
    Expected,
    /// It stays unknown, because too much waits.
    Refused,
}

impl Discovery {
    /// By the set of URLs that are known.
    pub(super) fn new(seen: Seen) -> Discovery {
        Discovery {
            seen,
            unplaced: HashSet::new(),
            no_room: 0,
            is_refusing: false,
        }
    }

    /// Whether a checkpoint has to make room before so many URLs can become known.
    pub(super) fn is_full_for(&self, urls: usize) -> bool {
        self.seen.room() < urls
    }

    /// Which URLs were not known; from now on they are. Answers how many were not known and stay so, because the table of those that may be discarded
    /// is full.
    pub(super) fn which_are_new(
        &mut self,
        found: &[Discovered],
        new: &mut Vec<bool>,
        shared: &Shared,
    ) -> Result<u64, CrawlError> {
        let mut refused = 0;
        let fingerprints: Vec<u64> = found
            .iter()
            .map(|found| found.url.fingerprint().0)
            .collect();
        match shared.settings.crawl.overflow {
            Overflow::Defer => self.seen.insert_batch(&fingerprints, new)?,
            // A URL that finds no room must stay unknown: it becomes known when it is placed.
            Overflow::Discard => {
                new.clear();
                for fingerprint in fingerprints {
                    let is_new = !self.unplaced.contains(&fingerprint)
                        && !self.seen.contains(fingerprint)?;
                    let has_room = self.unplaced.len() < shared.settings.ring.waiting_max;
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

    /// What is to become of a URL that was looked up.
    pub(super) fn judge<'a>(
        &mut self,
        found: &'a Discovered,
        is_new: bool,
        origin: &'a Origin<'_>,
        room: &mut WaitingRoom,
        shared: &mut Shared,
    ) -> Arrival<'a> {
        let is_seed = origin.leads_seed_to(found);
        if !is_new {
            room.raise(&found.url, origin.gain());
            let is_expected = is_seed && shared.first_pages.expect(origin.via(), &found.url);
            return if is_expected {
                Arrival::Expected
            } else {
                Arrival::Known
            };
        }
        let entry = found.entry(origin.via(), origin.hops(), shared.now);
        if let Some(bound) = room.refuses(&entry) {
            self.refuse(found, bound, shared);
            return Arrival::Refused;
        }
        if is_seed {
            shared.first_pages.expect(origin.via(), &found.url);
        }
        Arrival::New(entry)
    }

    /// Lets a URL that was new a moment ago be unknown again, because too much waits.
    fn refuse(&mut self, found: &Discovered, bound: Bound, shared: &Shared) {
        let fingerprint = found.url.fingerprint().0;
        match shared.settings.crawl.overflow {
            Overflow::Defer => self.seen.take_back(fingerprint),
            Overflow::Discard => {
                self.unplaced.remove(&fingerprint);
            }
        }
        shared.progress.urls_refused.add(1);
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

    /// Whether a URL may still be discarded; from now on it may not.
    pub(super) fn take_unplaced(&mut self, visit: &Visit) -> bool {
        self.unplaced.remove(&visit.url.fingerprint().0)
    }

    /// The same for all URLs that may still be discarded.
    pub(super) fn take_all_unplaced(&mut self) -> HashSet<u64> {
        std::mem::take(&mut self.unplaced)
    }

    /// URLs that were not taken in because too many may be discarded.
    pub(super) fn without_room(&self) -> u64 {
        self.no_room
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Parts, found};
    use super::*;

    const VIA: &str = "http://a.example/";

    /// Which of these URLs are new.
    fn look_up(discovery: &mut Discovery, urls: &[&str], parts: &Parts) -> (Vec<bool>, u64) {
        let found: Vec<Discovered> = urls.iter().map(|url| found(url)).collect();
        let mut new = Vec::new();
        let refused = discovery.which_are_new(&found, &mut new, &parts.shared);
        (new, refused.unwrap())
    }

    fn discovery(change: impl FnOnce(&mut crate::Settings)) -> (Discovery, Parts) {
        let mut parts = Parts::with(change);
        let other = Parts::with(|_| {}).seen;
        let seen = std::mem::replace(&mut parts.seen, other);
        (Discovery::new(seen), parts)
    }

    #[test]
    fn a_url_is_new_once() {
        let (mut discovery, parts) = discovery(|_| {});
        let urls = ["http://a.example/1", "http://a.example/2"];
        assert_eq!(
            look_up(&mut discovery, &urls, &parts),
            (vec![true, true], 0)
        );
        let urls = ["http://a.example/2", "http://a.example/3"];
        assert_eq!(
            look_up(&mut discovery, &urls, &parts),
            (vec![false, true], 0)
        );
    }

    #[test]
    fn where_overflow_is_discarded_a_url_is_known_when_it_has_a_place() {
        let (mut discovery, mut parts) = discovery(|settings| {
            settings.crawl.overflow = Overflow::Discard;
            settings.ring.waiting_max = 1;
        });
        let urls = ["http://a.example/1", "http://a.example/2"];
        // There is no room for the second one, and it stays unknown.
        assert_eq!(
            look_up(&mut discovery, &urls, &parts),
            (vec![true, false], 1)
        );
        assert_eq!(discovery.without_room(), 1);
        assert_eq!(discovery.seen.len(), 0);
        let visit = parts.visit(urls[0]);
        assert!(discovery.take_unplaced(&visit));
        assert!(!discovery.take_unplaced(&visit));
        assert_eq!(look_up(&mut discovery, &urls[1..], &parts), (vec![true], 0));
    }

    #[test]
    fn a_url_that_is_refused_stays_unknown() {
        let (mut discovery, mut parts) = discovery(|settings| settings.backlog.host_bytes_max = 0);
        let url = "http://a.example/1";
        let via = parts.visit(VIA);
        let origin = Origin::page(&via, 1);
        for _ in 0..2 {
            assert_eq!(look_up(&mut discovery, &[url], &parts), (vec![true], 0));
            let (room, shared) = (&mut parts.room, &mut parts.shared);
            let found = found(url);
            let arrival = discovery.judge(&found, true, &origin, room, shared);
            assert!(matches!(arrival, Arrival::Refused), "{arrival:?}");
        }
        assert_eq!(parts.shared.progress.urls_refused.read(), 2);
    }

    #[test]
    fn where_a_seed_redirects_to_is_expected_once_while_no_page_has_come() {
        let (mut discovery, mut parts) = discovery(|_| {});
        let mut seed = parts.visit(VIA);
        seed.hops = "".into();
        let origin = Origin::page(&seed, 1);
        let mut found = found("http://a.example/home");
        found.hop = Some('R');
        let (room, shared) = (&mut parts.room, &mut parts.shared);
        let arrival = discovery.judge(&found, false, &origin, room, shared);
        assert!(matches!(arrival, Arrival::Expected), "{arrival:?}");
        let arrival = discovery.judge(&found, false, &origin, room, shared);
        assert!(matches!(arrival, Arrival::Known), "{arrival:?}");
        let arrival = discovery.judge(&found, true, &origin, room, shared);
        assert!(
            matches!(&arrival, Arrival::New(entry) if entry.hops == "R" && entry.via == VIA),
            "{arrival:?}"
        );
    }
}
