//! Bulk rebuilds: publications that touch so many pages at once that no author can have written them.
//!
//! A site that changes its template or its generator publishes all of its pages anew. Whether that is change is a matter of
//! opinion, so a history tells how much of it there is ([`super::HistoryStatistics`]), and can be had without it.

use std::collections::HashMap;
use std::time::Duration;

use super::{Builder, Event, EventKind, History, UnixSeconds};

/// A publication that touches more pages than this is a bulk rebuild, unless somebody says otherwise.
pub const BULK_PAGES_MAX: u32 = 300;

/// A page that bulk rebuilds take away and bring back within this time was never meant to be away: some sites are rebuilt by
/// deleting everything first.
const REBUILD_TIME_MAX: Duration = Duration::from_hours(1);

impl History {
    /// The history without what bulk rebuilds did, which are the publications of more than `pages_max` events: pages that they
    /// modified, and pages that they took away and brought back within an hour.
    ///
    /// What they added or deleted for good stays: without it, there would be pages that are never there.
    #[must_use]
    pub fn without_bulk(&self, pages_max: u32) -> Self {
        let sizes = self.publications();
        let is_bulk = |event: &Event| pages_max < sizes[&event.at];
        let mut builder = Builder::new(self.name.clone());
        for page in self.pages() {
            let mut events = self.events(page).iter().peekable();
            while let Some(&event) = events.next() {
                let is_rebuilt = |next: &&Event| {
                    next.kind == EventKind::Added
                        && is_bulk(next)
                        && next.at.since(event.at) <= REBUILD_TIME_MAX
                };
                let is_kept = match event.kind {
                    EventKind::Added => true,
                    EventKind::Modified => !is_bulk(&event),
                    EventKind::Deleted => !is_bulk(&event) || events.next_if(is_rebuilt).is_none(),
                };
                if is_kept {
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

    #[test]
    fn pages_that_a_rebuild_takes_away_for_a_while_stay() {
        let events = [
            (1, "A", "a"),
            (1, "A", "b"),
            (10, "D", "a"),
            (10, "D", "b"),
            (100, "A", "a"),
            (9000, "A", "b"),
            (100, "M", "c"),
            (9000, "M", "c"),
        ];
        let left = history(&events).without_bulk(1);
        let letters = |page| {
            let events = left.events(page).iter();
            events.map(|event| event.kind.letter()).collect::<String>()
        };
        assert_eq!((letters(0), letters(1)), ("A".into(), "ADA".into()));
    }
}
