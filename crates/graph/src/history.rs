//! A web's changes as data: for each page, when it was added, modified and deleted.
//!
//! A web as data is links and changes; links are the rest of this room, changes are here. [`load()`] reads the history of a
//! real site, [`generate()`] makes one from a seed, and both give a [`History`]. The lab replays it in virtual time, the test
//! web serves it, and so both look at the same pages in the same versions.
//!
//! Read [`History`] first, then [`Presence`], which says what of a page could be seen at a moment.
//!
//! Invariants: the events of a page are in the order of time; events of one second keep the order in which they were told.
//!
//! Not here: what the pages say, and when to visit them.

mod bulk;
mod error;
mod generate;
mod load;
mod statistics;
mod write;

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use bulk::BULK_PAGES_MAX;
pub use error::{BAD_LINES_LISTED_MAX, BadLine, HistoryError};
pub use generate::{Bursts, GeneratorConfig, MeanGaps, Population, generate};
pub use load::load;
pub use statistics::HistoryStatistics;
pub use write::write;

use crate::{PAGES_MAX, Page, Urls};

/// Events that a history may have: 2 GiB.
pub const EVENTS_MAX: usize = 1 << 27;

/// A moment in whole seconds since the Unix epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UnixSeconds(pub u64);

impl UnixSeconds {
    /// The last second that has a date of four digits, 31 December 9999: what comes later is no date of a web.
    pub const MAX: Self = Self(253_402_300_799);

    /// This moment and `span` more, in whole seconds; at most [`Self::MAX`].
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.as_secs())).min(Self::MAX)
    }

    /// The time from `earlier` to here, or zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_secs(self.0.saturating_sub(earlier.0))
    }
}

/// What happened to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventKind {
    /// The page came to be, or came back.
    Added,
    /// The page says something else.
    Modified,
    /// The page is no more.
    Deleted,
}

impl EventKind {
    /// The letter of a history's file.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Modified => 'M',
            Self::Deleted => 'D',
        }
    }

    fn from_letter(letter: &str) -> Option<Self> {
        match letter {
            "A" => Some(Self::Added),
            "M" => Some(Self::Modified),
            "D" => Some(Self::Deleted),
            _ => None,
        }
    }
}

/// One thing that happened to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// When.
    pub at: UnixSeconds,
    /// What.
    pub kind: EventKind,
}

/// One thing that happened, and to which page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageEvent {
    /// The page.
    pub page: Page,
    /// What happened to it.
    pub event: Event,
}

/// What there is of a page at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The page has not come to be.
    NotYet,
    /// The page is there.
    Here(Edition),
    /// The page was deleted.
    Gone {
        /// When.
        since: UnixSeconds,
    },
}

/// One version of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edition {
    /// How many versions came before it in the history.
    pub version: u32,
    /// When it was made; none if that was before the history begins.
    pub since: Option<UnixSeconds>,
}

/// The history of a web: its pages and what happened to each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    name: String,
    paths: Urls,
    /// Page *n* has the events from `starts[n]` to `starts[n + 1]`.
    starts: Vec<usize>,
    events: Vec<Event>,
}

impl History {
    /// A history from what is told of pages by their paths, in any order.
    pub fn from_events<'a>(
        name: String,
        told: impl IntoIterator<Item = (&'a str, Event)>,
    ) -> Result<Self, HistoryError> {
        let mut builder = Builder::new(name);
        for (path, event) in told {
            builder.tell(path, event)?;
        }
        Ok(builder.finish())
    }

    /// What the history is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many pages there ever were.
    #[must_use]
    pub fn page_count(&self) -> u32 {
        u32::try_from(self.paths.len()).unwrap_or(u32::MAX)
    }

    /// How many events there are.
    #[must_use]
    pub fn event_count(&self) -> usize {
        self.events.len()
    }

    /// All pages, in the order of their first event.
    #[must_use]
    pub fn pages(&self) -> Range<Page> {
        0..self.page_count()
    }

    /// The path of a page: what its URL is, from the root of its site, without the slash there.
    ///
    /// # Panics
    /// If there is no such page.
    #[must_use]
    pub fn path(&self, page: Page) -> &str {
        self.paths.get(page)
    }

    /// What happened to a page, in the order of time.
    ///
    /// # Panics
    /// If there is no such page.
    #[must_use]
    pub fn events(&self, page: Page) -> &[Event] {
        let page = page as usize;
        &self.events[self.starts[page]..self.starts[page + 1]]
    }

    /// All that happened, in the order of time; in one second, in the order of pages.
    #[must_use]
    pub fn in_order(&self) -> Vec<PageEvent> {
        let of_page = |page| {
            let events = self.events(page).iter();
            events.map(move |&event| PageEvent { page, event })
        };
        let mut all: Vec<PageEvent> = self.pages().flat_map(of_page).collect();
        all.sort_by_key(|told| told.event.at);
        all
    }

    /// From the first event to the last; none if nothing happened.
    #[must_use]
    pub fn span(&self) -> Option<(UnixSeconds, UnixSeconds)> {
        let times = || self.events.iter().map(|event| event.at);
        Some((times().min()?, times().max()?))
    }

    /// What there is of a page at a moment; an event counts from its own second on.
    ///
    /// A page whose first event is not that it was added was there before.
    ///
    /// # Panics
    /// If there is no such page.
    #[must_use]
    pub fn presence(&self, page: Page, at: UnixSeconds) -> Presence {
        let events = self.events(page);
        let past = &events[..events.partition_point(|event| event.at <= at)];
        let was_here = events
            .first()
            .is_some_and(|first| first.kind != EventKind::Added);
        let made = past.iter().filter(|event| event.kind != EventKind::Deleted);
        let version = made.count() + usize::from(was_here);
        let edition = |since| Edition {
            version: u32::try_from(version.saturating_sub(1)).unwrap_or(u32::MAX),
            since,
        };
        match past.last() {
            None if was_here => Presence::Here(edition(None)),
            None => Presence::NotYet,
            Some(last) => match last.kind {
                EventKind::Added | EventKind::Modified => Presence::Here(edition(Some(last.at))),
                EventKind::Deleted => Presence::Gone { since: last.at },
            },
        }
    }

    /// The part of the history from `from` until before `until`: what was there at its beginning is added at `from`, and
    /// pages of which nothing is seen in it are left out.
    #[must_use]
    pub fn between(&self, from: UnixSeconds, until: UnixSeconds) -> Self {
        let mut builder = Builder::new(self.name.clone());
        for page in self.pages().filter(|_| from < until) {
            let path = self.path(page);
            let mut is_here = matches!(self.presence(page, from), Presence::Here(_));
            if is_here {
                let kind = EventKind::Added;
                builder.add(path, Event { at: from, kind });
            }
            let later = self.events(page).iter();
            for &event in later.filter(|event| from < event.at && event.at < until) {
                let is_deleted = event.kind == EventKind::Deleted;
                // A page that was away is added by whatever brings it back.
                let kind = match event.kind {
                    EventKind::Modified if !is_here => EventKind::Added,
                    kind => kind,
                };
                if is_here || !is_deleted {
                    builder.add(path, Event { kind, ..event });
                }
                is_here = !is_deleted;
            }
        }
        builder.finish()
    }
}

/// Collects events in any order.
#[derive(Debug)]
struct Builder {
    name: String,
    paths: Urls,
    pages: HashMap<Box<str>, Page>,
    told: Vec<PageEvent>,
}

impl Builder {
    fn new(name: String) -> Self {
        Self {
            name,
            paths: Urls::new(),
            pages: HashMap::new(),
            told: Vec::new(),
        }
    }

    /// Adds one event, if there is room for it.
    fn tell(&mut self, path: &str, event: Event) -> Result<(), HistoryError> {
        let too_many = |name: &str, what, most| HistoryError::TooMany {
            name: name.to_owned(),
            what,
            most,
        };
        if EVENTS_MAX <= self.told.len() {
            return Err(too_many(&self.name, "events", EVENTS_MAX as u64));
        }
        let Some(page) = self.page(path) else {
            return Err(too_many(&self.name, "pages", PAGES_MAX.into()));
        };
        self.told.push(PageEvent { page, event });
        Ok(())
    }

    /// The page with this path; none when it would be one too many.
    fn page(&mut self, path: &str) -> Option<Page> {
        if let Some(&page) = self.pages.get(path) {
            return Some(page);
        }
        let page = u32::try_from(self.paths.len()).ok();
        let page = page.filter(|&page| page < PAGES_MAX)?;
        self.paths.push(path);
        self.pages.insert(path.into(), page);
        Some(page)
    }

    /// Adds what is known to fit: a part of what another history has.
    fn add(&mut self, path: &str, event: Event) {
        if let Some(page) = self.page(path) {
            self.told.push(PageEvent { page, event });
        }
    }

    fn finish(mut self) -> History {
        // Stable: what was told first of two events in one second stays first.
        self.told.sort_by_key(|told| (told.page, told.event.at));
        let mut starts = vec![0; self.paths.len() + 1];
        for told in &self.told {
            starts[told.page as usize + 1] += 1;
        }
        for page in 1..starts.len() {
            starts[page] += starts[page - 1];
        }
        History {
            name: self.name,
            paths: self.paths,
            starts,
            events: self.told.into_iter().map(|told| told.event).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A history from `(second, letter, path)`.
    pub(super) fn history(events: &[(u64, &str, &str)]) -> History {
        let mut builder = Builder::new("test".to_owned());
        for &(at, letter, path) in events {
            let kind = EventKind::from_letter(letter).unwrap();
            let at = UnixSeconds(at);
            builder.add(path, Event { at, kind });
        }
        builder.finish()
    }

    fn here(version: u32, since: u64) -> Presence {
        let since = Some(UnixSeconds(since));
        Presence::Here(Edition { version, since })
    }

    #[test]
    fn a_page_is_there_from_the_second_of_its_event_on() {
        let history = history(&[(5, "A", "a"), (7, "M", "a"), (9, "D", "a"), (11, "A", "a")]);
        let since = UnixSeconds(9);
        for (at, expected) in [
            (4, Presence::NotYet),
            (5, here(0, 5)),
            (6, here(0, 5)),
            (7, here(1, 7)),
            (9, Presence::Gone { since }),
            (10, Presence::Gone { since }),
            (11, here(2, 11)),
            (u64::MAX, here(2, 11)),
        ] {
            let presence = history.presence(0, UnixSeconds(at));
            assert_eq!(presence, expected, "at {at}");
        }
    }

    #[test]
    fn a_page_that_is_first_modified_or_deleted_was_there_before() {
        let history = history(&[(5, "M", "a"), (5, "D", "b")]);
        let before = Presence::Here(Edition {
            version: 0,
            since: None,
        });
        assert_eq!(history.presence(0, UnixSeconds(4)), before);
        assert_eq!(history.presence(0, UnixSeconds(5)), here(1, 5));
        assert_eq!(history.presence(1, UnixSeconds(4)), before);
    }

    #[test]
    fn events_told_in_any_order_are_in_the_order_of_time() {
        let history = history(&[(9, "M", "b"), (3, "A", "a"), (2, "A", "b"), (9, "D", "b")]);
        assert_eq!(history.path(0), "b");
        let letters = |page| {
            let events = history.events(page).iter();
            events.map(|event| event.kind.letter()).collect::<String>()
        };
        assert_eq!((letters(0), letters(1)), ("AMD".into(), "A".into()));
        let order: Vec<_> = history
            .in_order()
            .iter()
            .map(|told| (told.event.at.0, told.page))
            .collect();
        assert_eq!(order, [(2, 0), (3, 1), (9, 0), (9, 0)]);
        assert_eq!(history.span(), Some((UnixSeconds(2), UnixSeconds(9))));
    }

    fn any_history() -> impl Strategy<Value = History> {
        let event = (0..40_u64, 0..3_usize, 0..6_usize);
        prop::collection::vec(event, 0..60).prop_map(|events| {
            let named: Vec<_> = events
                .into_iter()
                .map(|(at, letter, page)| {
                    let path = ["a", "b", "c", "d", "e", "f"][page];
                    (at, ["A", "M", "D"][letter], path)
                })
                .collect();
            history(&named)
        })
    }

    proptest! {
        #[test]
        fn presence_agrees_with_a_walk_through_the_events(history in any_history(), at in 0..50_u64) {
            for page in history.pages() {
                let events = history.events(page);
                let mut expected = match events[0].kind {
                    EventKind::Added => Presence::NotYet,
                    EventKind::Modified | EventKind::Deleted => {
                        Presence::Here(Edition { version: 0, since: None })
                    }
                };
                let mut versions = u32::from(expected != Presence::NotYet);
                for event in events.iter().filter(|event| event.at.0 <= at) {
                    expected = if event.kind == EventKind::Deleted {
                        Presence::Gone { since: event.at }
                    } else {
                        versions += 1;
                        here(versions - 1, event.at.0)
                    };
                }
                prop_assert_eq!(history.presence(page, UnixSeconds(at)), expected);
            }
        }

        #[test]
        fn a_part_of_a_history_shows_the_same_pages(history in any_history(), from in 0..40_u64, length in 0..20_u64) {
            let until = UnixSeconds(from + length);
            let part = history.between(UnixSeconds(from), until);
            let is_here = |history: &History, path: &str, at| {
                let page = history.pages().find(|&page| history.path(page) == path);
                page.is_some_and(|page| matches!(history.presence(page, at), Presence::Here(_)))
            };
            for at in from..from + length {
                for page in history.pages() {
                    let (path, at) = (history.path(page), UnixSeconds(at));
                    prop_assert_eq!(is_here(&history, path, at), is_here(&part, path, at));
                }
            }
            if let Some((first, last)) = part.span() {
                prop_assert!(from <= first.0 && last < until);
            }
        }
    }
}
