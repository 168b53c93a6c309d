//! Known pages that somebody asks for out of turn: people by command, or a sitemap or feed that says they have changed.

use hashbrown::HashSet;
use junkai_weburl::Fingerprint;

/// Pages that are asked for and not visited yet, at most. They are known by heart, so that each is visited once however often it is asked for.
pub(super) const ASKED_MAX: usize = 100_000;

/// Pages that were asked for and not visited since.
#[derive(Debug, Default)]
pub(super) struct AskedPages {
    pages: HashSet<Fingerprint>,
}

/// What becomes of a page that is asked for out of turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// It is to be visited.
    Now,
    /// It was going to be.
    Before,
    /// It has to be asked for again later.
    TooMany,
}

impl AskedPages {
    /// Somebody asks for a page.
    pub(super) fn ask(&mut self, page: Fingerprint) -> Asked {
        if self.pages.contains(&page) {
            Asked::Before
        } else if ASKED_MAX <= self.pages.len() {
            Asked::TooMany
        } else {
            self.pages.insert(page);
            Asked::Now
        }
    }

    /// A page waits that was asked for in an earlier run.
    pub(super) fn waits(&mut self, page: Fingerprint) {
        self.pages.insert(page);
    }

    /// A page was visited, or will not be.
    pub(super) fn settled(&mut self, page: Fingerprint) {
        self.pages.remove(&page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_visited_once_however_often_it_is_asked_for() {
        let mut asked = AskedPages::default();
        let page = Fingerprint(1);
        assert_eq!(asked.ask(page), Asked::Now);
        assert_eq!(asked.ask(page), Asked::Before);
        asked.settled(page);
        assert_eq!(asked.ask(page), Asked::Now);
    }

    #[test]
    fn no_more_pages_are_asked_for_than_are_remembered() {
        let mut asked = AskedPages::default();
        for page in 0..ASKED_MAX as u64 {
            assert_eq!(asked.ask(Fingerprint(page)), Asked::Now);
        }
        assert_eq!(asked.ask(Fingerprint(u64::MAX)), Asked::TooMany);
        assert_eq!(asked.ask(Fingerprint(0)), Asked::Before);
    }
}
