//! A history made ready to be visited: URLs for its pages, and where each of them stands at a moment.

use std::num::NonZeroU32;

use junkai_frontier::Time;
use junkai_graph::Page;
use junkai_graph::history::{Event, EventKind, History, UnixSeconds};
use junkai_revisit::{Digest, Found, Version};
use junkai_weburl::{CanonicalConfig, Canonicalizer, PageUrl};

use super::tally::Tally;

/// A web whose changes are known.
#[derive(Clone, Debug)]
pub struct ChangingWeb {
    /// What happened to its pages.
    pub history: History,
    urls: Vec<PageUrl>,
    from: UnixSeconds,
    until: UnixSeconds,
}

impl ChangingWeb {
    /// Makes a history ready: all its pages are on one site, under their paths.
    #[must_use]
    pub fn new(history: History) -> ChangingWeb {
        ChangingWeb::named(history, |_, path| path.to_owned())
    }

    /// Likewise, in so many folders by turns: pages of one folder have URLs of one template.
    #[must_use]
    pub fn in_folders(history: History, folders: NonZeroU32) -> ChangingWeb {
        ChangingWeb::named(history, |page, path| {
            let folder = page % folders.get();
            // Letters alone: digits would be blank in a template.
            let digits = folder.to_string().into_bytes().into_iter();
            let name: String = digits
                .map(|digit| char::from(digit - b'0' + b'a'))
                .collect();
            format!("{name}/{path}")
        })
    }

    fn named(history: History, path_of: impl Fn(Page, &str) -> String) -> ChangingWeb {
        let canonicalizer = Canonicalizer::new(&CanonicalConfig::default());
        let named = |page: Page| {
            let path = path_of(page, history.path(page)).replace(['?', '#', '%', '\\'], "_");
            canonicalizer.parse(&format!("http://history.test/{path}"))
        };
        let numbered = |page: Page| canonicalizer.parse(&format!("http://history.test/{page}"));
        let urls = history
            .pages()
            .filter_map(|page| named(page).or_else(|_| numbered(page)).ok());
        let (from, until) = history.span().unwrap_or_default();
        ChangingWeb {
            urls: urls.collect(),
            history,
            from,
            until,
        }
    }

    /// When the history begins.
    #[must_use]
    pub fn from(&self) -> UnixSeconds {
        self.from
    }

    /// When it ends.
    #[must_use]
    pub fn until(&self) -> UnixSeconds {
        self.until
    }

    /// The URL of a page.
    #[must_use]
    pub fn url(&self, page: Page) -> &PageUrl {
        &self.urls[page as usize]
    }

    /// Modifications after a moment, over all pages.
    #[must_use]
    pub fn versions_after(&self, moment: UnixSeconds) -> u64 {
        let of_page = |page| {
            let events = self.history.events(page).iter();
            let counts = |event: &&Event| event.kind == EventKind::Modified && moment < event.at;
            events.filter(counts).count() as u64
        };
        self.history.pages().map(of_page).sum()
    }

    /// The true mean rate of each page, in modifications per second while it was there.
    pub fn true_rates(&self) -> impl Iterator<Item = f64> + '_ {
        let of_page = |page| {
            let line = self.line(page);
            let (mut is_here, mut clock) = (line.is_here, self.from);
            let (mut seconds, mut modifications) = (0.0, 0.0);
            for event in self.history.events(page) {
                if is_here {
                    seconds += event.at.since(clock).as_secs_f64();
                }
                modifications += f64::from(u8::from(event.kind == EventKind::Modified));
                is_here = event.kind != EventKind::Deleted;
                clock = event.at;
            }
            if is_here {
                seconds += self.until.since(clock).as_secs_f64();
            }
            modifications / f64::max(seconds, LIFE_SECONDS_MIN)
        };
        self.history.pages().map(of_page)
    }

    pub(super) fn line(&self, page: Page) -> Line<'_> {
        let events = self.history.events(page);
        let was_here = events
            .first()
            .is_some_and(|first| first.kind != EventKind::Added);
        Line {
            page,
            events,
            version: 0,
            is_here: was_here,
            copy: None,
            clock: self.from,
        }
    }
}

/// A page that was there for less time has no rate to speak of.
const LIFE_SECONDS_MIN: f64 = 30.0 * 86_400.0;

/// Where one page stands: what is past, and which version of it we have.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    page: Page,
    /// What is still to come.
    events: &'a [Event],
    version: u32,
    pub(super) is_here: bool,
    /// The version that we have, while the page is known.
    copy: Option<u32>,
    clock: UnixSeconds,
}

impl Line<'_> {
    /// When something happens to it next.
    pub(super) fn next_event(&self) -> Option<UnixSeconds> {
        self.events.first().map(|event| event.at)
    }

    pub(super) fn is_known(&self) -> bool {
        self.copy.is_some()
    }

    /// Goes on to a moment, and counts the time after `counted_from` in which our copy was current.
    pub(super) fn advance(
        &mut self,
        to: UnixSeconds,
        counted_from: UnixSeconds,
        tally: &mut Tally,
    ) {
        while let Some((event, rest)) = self.events.split_first()
            && event.at <= to
        {
            self.pass(event.at, counted_from, tally);
            self.events = rest;
            match event.kind {
                EventKind::Added | EventKind::Modified => {
                    self.version += 1;
                    self.is_here = true;
                }
                EventKind::Deleted => self.is_here = false,
            }
        }
        self.pass(to, counted_from, tally);
    }

    fn pass(&mut self, to: UnixSeconds, counted_from: UnixSeconds, tally: &mut Tally) {
        let counted = to.since(self.clock.max(counted_from)).as_secs_f64();
        self.clock = self.clock.max(to);
        if self.is_here && self.is_known() {
            tally.known_seconds += counted;
            if self.copy == Some(self.version) {
                tally.current_seconds += counted;
            }
        }
    }

    /// A visit takes a copy, if the page is there; says whether it is another than the one that we had.
    pub(super) fn visit(&mut self) -> Seen {
        if !self.is_here {
            return Seen::Gone;
        }
        match self.copy.replace(self.version) {
            Some(copy) if copy == self.version => Seen::Same,
            Some(_) => Seen::New,
            None => Seen::First,
        }
    }

    /// The page is no longer known.
    pub(super) fn forget(&mut self) {
        self.copy = None;
    }

    /// What a visit would find, as the planner is told.
    pub(super) fn found(&self, at: Time) -> Found {
        if !self.is_here {
            return Found::Gone;
        }
        let identity = u64::from(self.page) << 32 | u64::from(self.version);
        let Some(digest) = Digest::new(&identity.to_le_bytes()) else {
            return Found::Failed;
        };
        Found::Page(Version {
            digest,
            indexed: None,
            content: None,
            unread: None,
            captured: at,
            etag: None,
            last_modified: None,
        })
    }
}

/// What a visit saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    First,
    Same,
    New,
    Gone,
}

/// A moment of a history, as the planner knows it.
pub(super) fn time(at: UnixSeconds) -> Time {
    Time::from_micros(at.0.saturating_mul(1_000_000))
}
