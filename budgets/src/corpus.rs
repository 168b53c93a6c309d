//! What the paths work on: pages in several languages, charsets and styles, a robots.txt, and the links of the pages.

use anyhow::{Context as _, Result};
use junkai_page::{LinkOptions, Source};
use url::Url;

/// A page as it was fetched.
pub(crate) struct Page {
    pub(crate) url: Url,
    pub(crate) content_type: &'static str,
    pub(crate) body: &'static [u8],
}

/// A robots.txt with some seventy rules for us, some of them with wildcards.
pub(crate) const ROBOTS_TXT: &[u8] = include_bytes!("../corpus/robots.txt");

/// Our product token.
pub(crate) const AGENT: &str = "junkai";

const UTF_8: &str = "text/html; charset=utf-8";
const UNDECLARED: &str = "text/html";

/// An article, a shop that is mostly markup and scripts, an old forum, a wiki, and two Japanese sites.
const PAGES: [(&str, &str, &[u8]); 6] = [
    (
        "https://news.example/2026/11/report",
        UTF_8,
        include_bytes!("../corpus/news.html"),
    ),
    (
        "https://shop.example/catalogue/",
        UTF_8,
        include_bytes!("../corpus/shop.html"),
    ),
    (
        "http://forum.example/forumdisplay.php?f=12",
        UNDECLARED,
        include_bytes!("../corpus/forum.html"),
    ),
    (
        "https://wiki.example/wiki/Ville",
        UTF_8,
        include_bytes!("../corpus/wiki.html"),
    ),
    (
        "https://blog.example/archives/",
        UTF_8,
        include_bytes!("../corpus/blog.html"),
    ),
    (
        "http://portal.example/dir/",
        UNDECLARED,
        include_bytes!("../corpus/portal.html"),
    ),
];

/// All pages.
pub(crate) fn pages() -> Result<Vec<Page>> {
    let page = |(url, content_type, body): &(&str, &'static str, &'static [u8])| {
        Ok(Page {
            url: url.parse().with_context(|| format!("{url} is no URL"))?,
            content_type,
            body,
        })
    };
    PAGES.iter().map(page).collect()
}

impl Page {
    /// The page as the worker hands it over to be understood.
    pub(crate) fn source(&self) -> Source<'_> {
        Source {
            body: self.body,
            content_type: Some(self.content_type),
            url: &self.url,
            robots_agent: AGENT,
            x_robots_tag: &[],
            link_headers: &[],
            detect_language: false,
        }
    }
}

/// The links of all pages, as they were found.
pub(crate) fn links() -> Result<Vec<String>> {
    let mut links = Vec::new();
    for page in pages()? {
        let analysis = junkai_page::analyze(&page.source(), &LinkOptions::default());
        links.extend(analysis.links.into_iter().map(|link| link.url));
    }
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_links_and_there_are_hundreds() {
        for page in pages().unwrap() {
            let analysis = junkai_page::analyze(&page.source(), &LinkOptions::default());
            assert!(20 < analysis.links.len(), "{}", page.url);
        }
        assert!(300 < links().unwrap().len());
    }
}
