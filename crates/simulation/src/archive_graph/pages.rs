//! The pages that are known so far, each with a number of its own.

use hashbrown::HashTable;
use junkai_graph::Urls;
use junkai_weburl::PageUrl;

/// Numbers URLs in the order in which they are met. All threads share one.
#[derive(Debug)]
pub(super) struct Pages {
    urls: Urls,
    table: HashTable<Known>,
    count_max: u32,
    is_overfull: bool,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    fingerprint: u64,
    number: u32,
}

impl Pages {
    pub(super) fn new(pages_max: u32) -> Self {
        Self {
            urls: Urls::new(),
            table: HashTable::new(),
            count_max: pages_max,
            is_overfull: false,
        }
    }

    /// The number of a page; none for a new page when there are as many as allowed.
    pub(super) fn number(&mut self, url: &PageUrl) -> Option<u32> {
        let fingerprint = url.fingerprint().0;
        let urls = &self.urls;
        let is_it = |known: &Known| {
            known.fingerprint == fingerprint && urls.get(known.number) == url.as_str()
        };
        if let Some(known) = self.table.find(fingerprint, is_it) {
            return Some(known.number);
        }
        let number = u32::try_from(self.urls.len()).unwrap_or(u32::MAX);
        if self.count_max <= number {
            self.is_overfull = true;
            return None;
        }
        self.urls.push(url.as_str());
        let known = Known {
            fingerprint,
            number,
        };
        let hash = |known: &Known| known.fingerprint;
        self.table.insert_unique(fingerprint, known, hash);
        Some(number)
    }

    /// Whether there were more pages than allowed.
    pub(super) fn is_overfull(&self) -> bool {
        self.is_overfull
    }

    /// What the pages are called.
    pub(super) fn urls(&self) -> &Urls {
        &self.urls
    }
}
