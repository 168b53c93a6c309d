//! Links that this worker reported lately: the navigation of a site is on each of its pages, and is known after the first.
//!
//! Only a shortcut. What is in here was reported, so the frontier knows it, or has just refused it; what is not is reported again, and found
//! known there. When the frontier has refused URLs, everything is forgotten: a URL that was refused must be welcome again. For the same reason it is not used where
//! overflow is discarded. Nor where links decide who comes next: there each link
//! counts, to a page that is known too.

use std::cell::{Cell, RefCell};

use junkai_weburl::Fingerprint;

use crate::visit::Discovered;

/// Links that are remembered, a power of two: as many as stay in the cache of a core.
const RECENT_MAX: usize = 16_384;

/// A table of fingerprints, each at the one place that it may have.
#[derive(Debug)]
pub(super) struct Recent {
    /// Empty where nothing is to be remembered.
    table: RefCell<Vec<Option<Fingerprint>>>,
    /// URLs that the frontier had refused when the table was last emptied.
    refused: Cell<u64>,
}

impl Recent {
    /// Remembers links.
    pub(super) fn new() -> Recent {
        Recent {
            table: RefCell::new(vec![None; RECENT_MAX]),
            refused: Cell::default(),
        }
    }

    /// Remembers nothing.
    pub(super) fn none() -> Recent {
        Recent {
            table: RefCell::default(),
            refused: Cell::default(),
        }
    }

    /// Forgets everything, if the frontier has refused more URLs since the last time.
    pub(super) fn forget_if_refused(&self, refused: u64) {
        if self.refused.replace(refused) != refused {
            self.table.borrow_mut().fill(None);
        }
    }

    /// Whether a link with this text was reported lately. A text that is not canonical never was.
    pub(super) fn contains(&self, url: &str) -> bool {
        let fingerprint = Fingerprint::of(url);
        let table = self.table.borrow();
        table.get(place(fingerprint)) == Some(&Some(fingerprint))
    }

    /// Remembers what is being reported.
    pub(super) fn remember(&self, links: &[Discovered]) {
        let mut table = self.table.borrow_mut();
        for link in links {
            let fingerprint = link.url.fingerprint();
            if let Some(slot) = table.get_mut(place(fingerprint)) {
                *slot = Some(fingerprint);
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "masked to the size of the table"
)]
fn place(fingerprint: Fingerprint) -> usize {
    fingerprint.0 as usize & (RECENT_MAX - 1)
}

#[cfg(test)]
mod tests {
    use junkai_weburl::{CanonicalConfig, Canonicalizer};

    use super::*;
    use crate::visit::Purpose;

    fn link(text: &str) -> Discovered {
        Discovered {
            url: Canonicalizer::new(&CanonicalConfig::default())
                .parse(text)
                .unwrap(),
            hop: Some('L'),
            depth: 1,
            purpose: Purpose::Page,
            link_estimate: None,
        }
    }

    #[test]
    fn only_what_was_reported_is_passed_over() {
        let recent = Recent::new();
        assert!(!recent.contains("http://a.example/"));
        recent.remember(&[link("http://a.example/")]);
        assert!(recent.contains("http://a.example/"));
        assert!(!recent.contains("http://a.example/b"));
        recent.forget_if_refused(0);
        assert!(recent.contains("http://a.example/"));
        recent.forget_if_refused(1);
        assert!(
            !recent.contains("http://a.example/"),
            "it may have been refused"
        );
    }

    #[test]
    fn what_must_be_welcome_again_is_not_remembered() {
        let recent = Recent::none();
        recent.remember(&[link("http://a.example/")]);
        assert!(!recent.contains("http://a.example/"));
    }
}
