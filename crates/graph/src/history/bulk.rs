//! Bulk rebuilds: publications that touch so many pages at once that no author can have written them.
//!
//! A site that changes its template or its generator publishes all of its pages anew. Whether that is change is a matter of
//! opinion, so a history tells how much of it there is ([`super::HistoryStatistics`]), and can be had without it.

use std::collections::HashMap;

use super::{Builder, EventKind, History, UnixSeconds};

/// A publication that touches more pages than this is a bulk rebuild, unless somebody says otherwise.
pub const BULK_PAGES_MAX: u32 = 300;

impl History {
    /// The history without the modifications that were published together with more than `pages_max` events.
    ///
    /// What a bulk rebuild added or deleted stays: without it, there would be pages that are never there.
    #[must_use]
    pub fn without_bulk(&self, pages_max: u32) -> Self {
        let sizes = self.publications();
        let mut builder = Builder::new(self.name.clone());
        for page in self.pages() {
            for &event in self.events(page) {
                let is_bulk = sizes[&event.at] > pages_max;
                if !is_bulk || event.kind != EventKind::Modified {
                    builder.add(self.path(page), event);
                }
            }
        }
        builder.finish()
    }

    /// How many events each publication has: what happened in the same second was published together.
    pub(super) fn publications(&self) -> HashMap<UnixSeconds, u32> {
        let mut sizes = HashMap::new();
        for event in &self.events {
            *sizes.entry(event.at).or_insert(0) += 1;
        }
        sizes
    }
}

#[cfg(test)]
mod tests {
    use crate::history::tests::history;

    #[test]
    fn modifications_of_a_bulk_rebuild_go_and_its_pages_stay() {
        let events = [
            (1, "A", "a"),
            (2, "M", "a"),
            (2, "A", "b"),
            (2, "D", "c"),
            (3, "M", "a"),
            (3, "M", "b"),
        ];
        let left = history(&events).without_bulk(2);
        let left: Vec<_> = left
            .in_order()
            .iter()
            .map(|told| (told.event.at.0, told.event.kind.letter()))
            .collect();
        assert_eq!(left, [(1, 'A'), (2, 'A'), (2, 'D'), (3, 'M'), (3, 'M')]);
        assert_eq!(history(&events).without_bulk(3), history(&events));
    }
}
