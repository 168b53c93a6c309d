//! Paths: from a page's number to its path and back, without storage.
//!
//! A path shows the page's number; the words around it are drawn from a hash of host and number, and a path with other
//! words is no page.

use std::fmt::Write;

use super::SyntheticHost;
use crate::chance::Chance;

/// How a host writes the paths of its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `/news/old-river-17.html`
    File,
    /// `/news/old-river-17/`
    Folder,
    /// `/news.php?id=17`
    Query,
}

/// What a host has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Page(u64),
    Around(Around),
    Calendar(Month),
}

/// What is around the pages of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    Robots,
    Sitemap,
    SitemapPart(u64),
    Feed,
    StyleSheet,
    Image(u64),
    /// `/go/17` redirects to page 17.
    Redirect(u64),
    /// `/missing/3` is no longer there, in one way or another.
    Missing(u64),
    /// `/private/3` is disallowed by robots.txt.
    Private(u64),
}

/// A month of the calendar that never ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Month {
    pub(super) year: u64,
    pub(super) month: u64,
}

const SECTIONS: [&str; 8] = [
    "news", "archive", "people", "about", "products", "blog", "topics", "docs",
];

const SLUG_WORDS: [&str; 32] = [
    "old", "river", "green", "garden", "north", "station", "open", "letter", "early", "winter",
    "small", "harbour", "quiet", "market", "bright", "bridge", "modern", "library", "narrow",
    "mountain", "public", "village", "simple", "engine", "wooden", "museum", "gentle", "forest",
    "heavy", "window", "distant", "island",
];

impl SyntheticHost {
    /// The path, and query, of a page.
    pub(super) fn path(&self, page: u64) -> String {
        let mut path = String::with_capacity(48);
        self.write_path(page, &mut path);
        path
    }

    /// Appends the path of a page.
    pub(super) fn write_path(&self, page: u64, out: &mut String) {
        out.push('/');
        self.write_rootless_path(page, out);
    }

    /// Appends the path of a page without the slash in front.
    pub(super) fn write_rootless_path(&self, page: u64, out: &mut String) {
        if page == 0 {
            return;
        }
        let mut chance = Chance::about(self.key, page);
        let section = chance.pick(&SECTIONS);
        let first = chance.pick(&SLUG_WORDS);
        let second = chance.pick(&SLUG_WORDS);
        let written = match self.style {
            Style::File => write!(out, "{section}/{first}-{second}-{page}.html"),
            Style::Folder => write!(out, "{section}/{first}-{second}-{page}/"),
            Style::Query => write!(out, "{section}.php?id={page}"),
        };
        debug_assert!(written.is_ok(), "a string takes all that is written to it");
    }

    /// What leads from a page up to the root of its host, as a relative reference.
    pub(super) fn way_up(&self, page: u64) -> &'static str {
        match self.style {
            _ if page == 0 => "",
            Style::File => "../",
            Style::Folder => "../../",
            Style::Query => "",
        }
    }

    /// What is at a path. A session number in the query is passed over.
    pub(super) fn place(&self, target: &str) -> Option<Place> {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, without_session(query)),
            None => (target, ""),
        };
        if let Some(page) = self.page_at(path, query) {
            return Some(Place::Page(page));
        }
        if !query.is_empty() {
            return None;
        }
        around(path).map(Place::Around).or_else(|| {
            let (year, month) = path.strip_prefix("/calendar/")?.split_once('/')?;
            let month = Month {
                year: year.parse().ok()?,
                month: month.parse().ok()?,
            };
            Some(Place::Calendar(month)).filter(|_| (1..=12).contains(&month.month))
        })
    }

    fn page_at(&self, path: &str, query: &str) -> Option<u64> {
        if path == "/" && query.is_empty() {
            return Some(0);
        }
        let number = match self.style {
            Style::File => path.strip_suffix(".html")?.rsplit_once('-')?.1,
            Style::Folder => path.strip_suffix('/')?.rsplit_once('-')?.1,
            Style::Query => query.strip_prefix("id=")?,
        };
        let page = number.parse().ok().filter(|&page| page < self.pages)?;
        let expected = self.path(page);
        let is_same = match expected.split_once('?') {
            Some(parts) => parts == (path, query),
            None => expected == path && query.is_empty(),
        };
        is_same.then_some(page)
    }
}

fn around(path: &str) -> Option<Around> {
    let number = |text: &str| text.parse().ok();
    Some(match path {
        "/robots.txt" => Around::Robots,
        "/sitemap.xml" => Around::Sitemap,
        "/feed.xml" => Around::Feed,
        "/style.css" => Around::StyleSheet,
        _ => {
            let (folder, rest) = path.strip_prefix('/')?.split_once('/').unwrap_or_default();
            match folder {
                "go" => Around::Redirect(number(rest)?),
                "missing" => Around::Missing(number(rest)?),
                "private" => Around::Private(number(rest)?),
                "images" => Around::Image(number(rest.strip_suffix(".gif")?)?),
                _ => {
                    let part = path.strip_prefix("/sitemap-")?.strip_suffix(".xml.gz")?;
                    Around::SitemapPart(number(part)?)
                }
            }
        }
    })
}

/// The query without the `sid` parameter at its end.
fn without_session(query: &str) -> &str {
    match query.rsplit_once("sid=") {
        Some((before, _)) if before.is_empty() || before.ends_with('&') => {
            before.trim_end_matches('&')
        }
        Some(_) | None => query,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PORTS;
    use super::*;
    use crate::config::TestWebConfig;
    use proptest::prelude::*;

    fn host(number: u64) -> SyntheticHost {
        SyntheticHost::new(&TestWebConfig::default(), PORTS, number, 1000)
    }

    proptest! {
        #[test]
        fn paths_lead_back_to_their_pages(number in 0..50_u64, page in 0..1000_u64) {
            let host = host(number);
            let path = host.path(page);
            prop_assert_eq!(host.place(&path), Some(Place::Page(page)));
            let separator = if path.contains('?') { '&' } else { '?' };
            let session = format!("{path}{separator}sid=12ab");
            prop_assert_eq!(host.place(&session), Some(Place::Page(page)));
        }

        #[test]
        fn no_path_is_too_strange(number in 0..50_u64, target in "\\PC*") {
            let _place = host(number).place(&target);
        }
    }

    #[test]
    fn other_words_or_numbers_are_no_pages() {
        let host = (0..50).map(host).find(|host| host.style == Style::File);
        let host = host.unwrap();
        let path = host.path(17);
        assert_eq!(host.place(&path.replace("-17", "-18")), None);
        assert_eq!(host.place(&path.replace("-17", "-017")), None);
        assert_eq!(host.place(&path.replace(".html", "-1000.html")), None);
        assert_eq!(host.place(&format!("{path}?a=b")), None);
        assert_eq!(host.place(""), None);
        assert_eq!(host.place("/calendar/2026/13"), None);
    }
}
