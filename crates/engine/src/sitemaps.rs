//! Whether a crawl that goes by sitemaps alone has found one, and where it looked.
//!
//! The frontier's thread tells it of every visit that ended. Once a sitemap or feed has listed a page of the crawl, that is written to `state/sitemaps.json`, and nobody
//! asks any more: neither in this run nor in a later one.

use std::path::PathBuf;

use junkai_files::{Disk, Folder};
use serde::{Deserialize, Serialize};

use crate::first_pages::FailedSeed;
use crate::settings::Settings;
use crate::visit::{List, Logged};
use crate::{CrawlError, small_file};

/// Places that are told of.
const TOLD_MAX: usize = 5;

/// What an archive knows of its sitemaps.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Known {
    /// The first that listed a page of the crawl.
    first: Option<String>,
}

/// The search for a sitemap; over before it begins in a crawl that follows links.
#[derive(Debug)]
pub struct Sitemaps {
    disk: Disk,
    file: PathBuf,
    has_come: bool,
    /// Where one was looked for in vain.
    tried: Vec<FailedSeed>,
}

impl Sitemaps {
    /// Of the archive whose state is in `state`; `last` are the settings of its last run. One that followed links may have read sitemaps without telling.
    pub fn open(
        state: &Folder,
        settings: &Settings,
        last: Option<&Settings>,
    ) -> Result<Sitemaps, CrawlError> {
        let file = state.file("sitemaps.json");
        let is_untold = last.is_some_and(|last| !last.crawl.sitemaps_only);
        let is_asked = settings.crawl.sitemaps_only && !is_untold;
        let has_come = !is_asked
            || small_file::load::<Known>(state.disk(), &file)?
                .first
                .is_some();
        Ok(Sitemaps {
            disk: state.disk().clone(),
            file,
            has_come,
            tried: Vec::new(),
        })
    }

    /// A sitemap or feed was read.
    pub fn read(&mut self, url: &str, list: List) -> Result<(), CrawlError> {
        if self.has_come {
            return Ok(());
        }
        if 0 < list.in_scope {
            self.has_come = true;
            self.tried.clear();
            let first = Some(url.to_owned());
            return small_file::store(&self.disk, &self.file, &Known { first });
        }
        self.tell(url, 200, useless(list));
        Ok(())
    }

    /// Learns what became of a visit that is not tried again, after [`Sitemaps::read`].
    pub fn ended(&mut self, visit: &Logged<'_>, status: i32, result: &str) {
        let is_known = |tried: &FailedSeed| tried.url == visit.url;
        if self.has_come || !visit.hops.ends_with('M') || self.tried.iter().any(is_known) {
            return;
        }
        let reason = match status {
            200..300 => "it is no sitemap and no feed".to_owned(),
            _ => result.to_owned(),
        };
        self.tell(visit.url, status, reason);
    }

    fn tell(&mut self, url: &str, status: i32, reason: String) {
        if self.tried.len() < TOLD_MAX {
            self.tried.push(FailedSeed {
                url: url.to_owned(),
                status,
                reason,
            });
        }
    }

    /// Whether none was found, though all that was known has been visited.
    #[must_use]
    pub fn are_missing(&self) -> bool {
        !self.has_come
    }

    /// Where one was looked for in vain.
    #[must_use]
    pub fn tried(&self) -> &[FailedSeed] {
        &self.tried
    }
}

/// Why a list does not help.
fn useless(list: List) -> String {
    match list.entries {
        0 => "it lists no page".to_owned(),
        1 => "the page that it lists does not belong to the crawl (--scope, --include, --exclude, --depth)".to_owned(),
        pages => format!(
            "none of the {pages} pages that it lists belongs to the crawl (--scope, --include, --exclude, --depth)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit<'a>(url: &'a str, hops: &'a str) -> Logged<'a> {
        Logged {
            url,
            via: "",
            hops,
            is_robots: false,
        }
    }

    #[test]
    fn a_list_with_a_page_of_the_crawl_ends_the_search_for_good() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.crawl.sitemaps_only = true;
        let open = |last: Option<&Settings>| {
            Sitemaps::open(&Folder::real(folder.path()), &settings, last).unwrap()
        };
        let mut sitemaps = open(None);
        let list = |entries, in_scope| List { entries, in_scope };
        sitemaps.ended(&visit("http://a.example/page", "L"), 404, "404");
        sitemaps.ended(&visit("http://a.example/s.xml", "M"), 404, "404");
        sitemaps.read("http://a.example/t.xml", list(3, 0)).unwrap();
        sitemaps.ended(&visit("http://a.example/t.xml", "M"), 200, "200");
        sitemaps.ended(&visit("http://a.example/u.xml", "MM"), 200, "200");
        assert!(sitemaps.are_missing());
        let reasons: Vec<&str> = sitemaps.tried().iter().map(|it| &*it.reason).collect();
        assert_eq!(reasons.len(), 3, "{reasons:?}");
        assert_eq!(
            (reasons[0], reasons[2]),
            ("404", "it is no sitemap and no feed")
        );
        assert!(reasons[1].contains("none of the 3 pages"), "{reasons:?}");
        assert!(
            open(Some(&settings)).are_missing(),
            "the next run says so too"
        );
        sitemaps.read("http://a.example/v.xml", list(2, 1)).unwrap();
        assert!(!sitemaps.are_missing() && sitemaps.tried().is_empty());
        assert!(!open(Some(&settings)).are_missing());
    }

    #[test]
    fn a_crawl_that_follows_links_does_not_ask_and_tells_nothing_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let follows = Settings::default();
        assert!(
            !Sitemaps::open(&Folder::real(folder.path()), &follows, None)
                .unwrap()
                .are_missing()
        );
        let mut goes_by = Settings::default();
        goes_by.crawl.sitemaps_only = true;
        let next = Sitemaps::open(&Folder::real(folder.path()), &goes_by, Some(&follows)).unwrap();
        assert!(!next.are_missing());
    }
}
