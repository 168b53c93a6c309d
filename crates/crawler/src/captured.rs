//! Which pages an archive has captured: looked up in its index, for whoever wants them visited again. Reads only: a crawl may be running.

use std::path::Path;

use hashbrown::HashSet;
use junkai_archive::{Entry, Index};
use junkai_weburl::{Canonicalizer, PageUrl, surt};

use crate::CrawlError;
use crate::settings::Settings;

/// Which captured pages are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those whose URL begins with this.
    Prefix(PageUrl),
    /// Those of this host.
    Host(String),
}

/// Pages that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedPages {
    /// The pages, in the order of the index.
    pub pages: Vec<PageUrl>,
    /// Whether there are more than were asked for.
    pub has_more: bool,
}

/// Finds captured pages, `pages_max` at most.
///
/// # Errors
/// If the index cannot be read.
pub fn captured(
    folder: &Path,
    settings: &Settings,
    which: &Which,
    pages_max: usize,
) -> Result<CapturedPages, CrawlError> {
    let canonical = Canonicalizer::new(&settings.canonical);
    let index = Index::open(folder)?;
    let mut found = CapturedPages::default();
    let mut known = HashSet::new();
    for prefix in which.keys() {
        for entry in index.prefix(&prefix)? {
            let entry = entry?;
            let Some(page) = page_of(&entry, &canonical).filter(|page| which.takes(page)) else {
                continue;
            };
            if known.contains(&page.fingerprint()) {
                continue;
            }
            if found.pages.len() == pages_max {
                found.has_more = true;
                return Ok(found);
            }
            known.insert(page.fingerprint());
            found.pages.push(page);
        }
    }
    Ok(found)
}

/// The HTTP status of a page's last capture, if it was captured by itself: the index folds case and more.
pub(crate) fn last_status(index: &Index, url: &PageUrl) -> Result<Option<u16>, CrawlError> {
    let captures = index.lookup(url.as_str())?.flatten();
    let last = captures.filter(|entry| entry.url == url.as_str()).last();
    Ok(last.map(|entry| status_of(&entry).unwrap_or_default()))
}

/// Whether there is a capture of a page that came as it should, and did not merely lead elsewhere; none if there is no capture.
pub(crate) fn has_pages(folder: &Path, settings: &Settings) -> Result<Option<bool>, CrawlError> {
    let canonical = Canonicalizer::new(&settings.canonical);
    let mut is_empty = true;
    for entry in Index::open(folder)?.iter()?.flatten() {
        is_empty = false;
        let is_good = matches!(status_of(&entry), Some(200..300));
        if is_good && page_of(&entry, &canonical).is_some() {
            return Ok(Some(true));
        }
    }
    Ok((!is_empty).then_some(false))
}

fn status_of(entry: &Entry) -> Option<u16> {
    entry.status.as_ref()?.parse().ok()
}

/// The page that a line of the index is of; none for robots.txt and the answers of name servers, which are visited for the sake of pages.
pub(crate) fn page_of(entry: &Entry, canonical: &Canonicalizer) -> Option<PageUrl> {
    let page = canonical.parse(&entry.url).ok()?;
    (page.path() != "/robots.txt").then_some(page)
}

impl Which {
    /// What the keys of the index begin with. They are coarser than URLs.
    fn keys(&self) -> Vec<String> {
        match self {
            Which::Prefix(url) => {
                let path_end = url.as_str().find('?').unwrap_or(url.as_str().len());
                vec![surt(&url.as_str()[..path_end])]
            }
            Which::Host(host) => {
                let key = surt(&format!("http://{host}/"));
                let name = key.trim_end_matches([')', '/']);
                // With the usual port, and with any other.
                vec![format!("{name})"), format!("{name}:")]
            }
        }
    }

    fn takes(&self, page: &PageUrl) -> bool {
        match self {
            Which::Prefix(prefix) => page.as_str().starts_with(prefix.as_str()),
            Which::Host(host) => page.host() == host,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> PageUrl {
        let settings = Settings::default();
        Canonicalizer::new(&settings.canonical).parse(text).unwrap()
    }

    /// An archive with an index of these URLs, each captured twice.
    fn archive(urls: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        crate::ArchiveFolder::real(folder.path()).make().unwrap();
        let mut lines = Vec::new();
        for url in urls {
            for time in ["20260101000000", "20260102000000"] {
                let json = serde_json::json!({ "url": url, "mime": "text/html", "status": "200", "digest": "sha1:X", "length": "1", "offset": "0", "filename": "a.warc.gz" });
                lines.push(format!("{} {time} {json}", surt(url)));
            }
        }
        lines.sort_unstable();
        std::fs::write(
            folder.path().join("indexes/a.cdxj"),
            lines.join("\n") + "\n",
        )
        .unwrap();
        folder
    }

    #[test]
    fn pages_are_found_by_prefix_and_by_host_and_nothing_else_is() {
        let urls = [
            "https://a.example/docs/",
            "https://a.example/docs/One",
            "https://a.example/docs/one",
            "https://a.example/docs/two?q=1",
            "https://a.example/docsx",
            "https://a.example/robots.txt",
            "https://a.example:8443/docs/three",
            "https://b.a.example/docs/",
            "http://www.a.example/",
            "dns:a.example",
        ];
        let folder = archive(&urls);
        let find = |which: &Which, max| {
            let found = captured(folder.path(), &Settings::default(), which, max).unwrap();
            let mut pages: Vec<String> = found.pages.iter().map(ToString::to_string).collect();
            pages.sort_unstable();
            (pages, found.has_more)
        };
        let docs = Which::Prefix(page("https://a.example/docs/"));
        assert_eq!(
            find(&docs, 100),
            (
                [
                    "https://a.example/docs/",
                    "https://a.example/docs/One",
                    "https://a.example/docs/one",
                    "https://a.example/docs/two?q=1"
                ]
                .map(str::to_owned)
                .to_vec(),
                false
            )
        );
        assert_eq!(find(&docs, 4).0.len(), 4);
        assert!(!find(&docs, 4).1);
        assert!(find(&docs, 3).1);
        let host = Which::Host("a.example".to_owned());
        assert_eq!(find(&host, 100).0.len(), 6);
        let www = Which::Host("www.a.example".to_owned());
        assert_eq!(find(&www, 100).0, ["http://www.a.example/"]);
    }
}
