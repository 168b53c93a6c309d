//! Where an answer leads: the links that the crawler follows from it.
//!
//! The rules are those of the crawler's worker (`crawler/src/worker/links.rs`), but for scope; an end-to-end test holds the
//! two against each other.

use junkai_page::{ContentKind, LinkKind, Source};
use junkai_weburl::{Canonicalizer, PageUrl};

use super::Options;
use super::capture::Says;

/// An answer, its content without codings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    pub(super) location: Option<&'a [u8]>,
    pub(super) says: &'a Says,
    pub(super) content: &'a [u8],
}

impl Answer<'_> {
    /// Where a redirect leads.
    fn redirect(&self) -> Option<&[u8]> {
        match self.status {
            301 | 302 | 303 | 307 | 308 => self.location,
            _ => None,
        }
    }
}

/// Whether an answer of that status is the page itself.
pub(super) fn is_page(status: u16) -> bool {
    (200..300).contains(&status)
}

/// The pages to which the answer from `url` leads, in document order; some may come more than once.
pub(super) fn follow(
    url: &PageUrl,
    answer: &Answer<'_>,
    options: &Options,
    canonical: &Canonicalizer,
) -> Vec<PageUrl> {
    if let Some(location) = answer.redirect() {
        let target = canonical.join(url, &String::from_utf8_lossy(location));
        // The same page in another spelling is not followed.
        return target.into_iter().filter(|target| target != url).collect();
    }
    if !is_page(answer.status) {
        return Vec::new();
    }
    let parse = |text: &str| canonical.parse(text).ok();
    let content_type = answer.says.content_type.as_deref();
    match junkai_page::kind_of(answer.content, content_type) {
        ContentKind::Sitemap if options.sitemaps => {
            let sitemap = junkai_page::sitemap::parse(answer.content, url.as_url());
            let entries = sitemap.index.iter().chain(&sitemap.urls);
            entries.filter_map(|entry| parse(&entry.loc)).collect()
        }
        ContentKind::Feed if options.sitemaps => {
            let entries = junkai_page::feed::parse(answer.content, content_type, url.as_url());
            entries
                .iter()
                .filter_map(|entry| parse(&entry.url))
                .collect()
        }
        kind => {
            let links = linked(url, answer, options, kind);
            links.iter().filter_map(|text| parse(text)).collect()
        }
    }
}

/// What a page, a style sheet, or the head of anything else links to.
fn linked(url: &PageUrl, answer: &Answer<'_>, options: &Options, kind: ContentKind) -> Vec<String> {
    let tags: Vec<&str> = answer.says.robots_tags.iter().map(String::as_str).collect();
    let links: Vec<&str> = answer.says.links.iter().map(String::as_str).collect();
    let source = Source {
        body: answer.content,
        content_type: answer.says.content_type.as_deref(),
        url: url.as_url(),
        robots_agent: &options.robots_agent,
        x_robots_tag: &tags,
        link_headers: &links,
        detect_language: false,
    };
    let analysis = match kind {
        ContentKind::Html => junkai_page::analyze(&source, &options.links),
        ContentKind::Css => junkai_page::analyze_style_sheet(&source, &options.links),
        ContentKind::Sitemap | ContentKind::Feed | ContentKind::Other => {
            junkai_page::analyze_headers(&source, &options.links)
        }
    };
    let page_says_nofollow = analysis.robots.nofollow;
    let is_followed = |link: &junkai_page::Link| {
        let is_list = matches!(link.kind, LinkKind::Feed | LinkKind::Sitemap);
        let must_not = options.respect_nofollow && (link.nofollow || page_says_nofollow);
        link.kind.is_requisite() || (!must_not && (options.sitemaps || !is_list))
    };
    analysis
        .links
        .into_iter()
        .filter(is_followed)
        .map(|link| link.url)
        .collect()
}
