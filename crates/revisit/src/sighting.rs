//! What one visit found, as the driver tells it to the planner.

use std::time::Duration;

use junkai_frontier::{ServerKey, Time};
use junkai_weburl::PageUrl;

use crate::version::Version;

/// One visit that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting<'a> {
    /// When it was made.
    pub at: Time,
    /// The page that was asked for.
    pub page: &'a PageUrl,
    /// The server that answered.
    pub server: ServerKey,
    /// How long it kept a connection.
    pub took: Duration,
    /// What came of it.
    pub found: Found,
    /// What others had said of the page before the visit; by default nothing.
    pub hints: Hints,
}

/// What came of a visit.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// The page, whole. `captured` of the version is the time of this visit; the planner puts the right one in its
    /// place if the payload is known already.
    Page(Version),
    /// 304: the version that is known still holds.
    NotModified,
    /// It is not there: 404, 410, or its host's name is dead.
    Gone,
    /// It has another URL for good: 301, 308.
    Moved,
    /// No verdict: the server failed, or was not reached.
    Failed,
}

/// What is said of a page beside what it says itself: by its site's sitemap and feeds, and by where it leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// `lastmod` of the sitemap.
    pub sitemap: Option<Time>,
    /// When a feed says that it came to be or was changed.
    pub feed: Option<Time>,
    /// `changefreq` of the sitemap, as a time between two changes.
    pub changes_every: Option<Duration>,
    /// Whether it links to pages that nobody knew: then every change of it counts, however small.
    pub leads_to_new: bool,
}

impl Hints {
    /// Whether a list says that the page has changed.
    #[must_use]
    pub fn tells_of_change(&self) -> bool {
        self.sitemap.is_some() || self.feed.is_some()
    }
}
