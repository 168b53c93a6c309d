//! What an answer leads to: whether it is a redirect, a page, a style sheet, a list of pages or a file, and which of its links are followed.
//!
//! The crawler's worker asks for what it has fetched, a focused crawl for captures that it reads back, the graph of an archive for all that it finds: a capture
//! is the same to all three. [`Answer::of`] judges by the head alone, before a body is decoded; [`Leads::of`] reads the body;
//! [`Analysis::followed`] drops the links that ask not to be followed.
//!
//! Not here: scope, the depth of links, and whether a file holds data.

use junkai_weburl::{Canonicalizer, PageUrl};

use crate::analysis::{
    Analysis, Source, analyze, analyze_headers, analyze_style_sheet, analyze_with_contexts,
};
use crate::feed;
use crate::kind::{ContentKind, kind_of};
use crate::link::{Link, LinkOptions, LinkRole};
use crate::sitemap::{self, Sitemap};

/// What the head of an answer makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// It leads elsewhere: the value of `Location`.
    Redirect(&'a [u8]),
    /// Its body is what the URL names.
    Content,
    /// It leads nowhere, whatever its body says.
    Nothing,
}

impl<'a> Answer<'a> {
    /// Judges by the status and the value of `Location`.
    #[must_use]
    pub fn of(status: u16, location: Option<&'a [u8]>) -> Self {
        match (status, location) {
            (200..300, _) => Self::Content,
            (status, Some(location)) if junkai_http::is_redirect(status) => {
                Self::Redirect(location)
            }
            _ => Self::Nothing,
        }
    }
}

/// Where a redirect leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectTarget {
    /// To this page.
    Page(PageUrl),
    /// To the same page in another spelling: following it would be a loop.
    Itself,
    /// To nothing that could be crawled.
    Bad,
}

impl RedirectTarget {
    /// Where `location` leads from `url`.
    #[must_use]
    pub fn of(canonical: &Canonicalizer, url: &PageUrl, location: &[u8]) -> Self {
        match canonical.join(url, &String::from_utf8_lossy(location)) {
            Ok(target) if target == *url => Self::Itself,
            Ok(target) => Self::Page(target),
            Err(_) => Self::Bad,
        }
    }
}

/// How content is read.
#[derive(Clone, Copy, Debug)]
pub struct LeadOptions<'a> {
    /// Which links of a page count.
    pub links: &'a LinkOptions,
    /// Whether the contexts of a page's links are wanted.
    pub contexts: bool,
    /// Whether sitemaps and feeds are read, as opposed to kept as files.
    pub lists: bool,
    /// Whether somebody called it a list (robots.txt, a sitemap, or the user): then plain text with a URL a line is one.
    pub is_named_as_list: bool,
}

/// What content is, and where it leads.
#[derive(Debug)]
pub enum Leads {
    /// A page.
    Page(Analysis),
    /// A style sheet.
    StyleSheet(Analysis),
    /// A sitemap or an index of sitemaps.
    Sitemap(Sitemap),
    /// The entries of a feed.
    Feed(Vec<feed::Entry>),
    /// Anything else, a data file perhaps; its head alone may link.
    File(Analysis),
}

impl Leads {
    /// Reads content.
    #[must_use]
    pub fn of(source: &Source<'_>, options: &LeadOptions<'_>) -> Self {
        let body = source.body;
        let kind = match kind_of(body, source.content_type) {
            ContentKind::Other | ContentKind::Html
                if options.is_named_as_list && is_plain_list(body) =>
            {
                ContentKind::Sitemap
            }
            kind => kind,
        };
        match kind {
            ContentKind::Html if options.contexts => {
                Self::Page(analyze_with_contexts(source, options.links))
            }
            ContentKind::Html => Self::Page(analyze(source, options.links)),
            ContentKind::Css => Self::StyleSheet(analyze_style_sheet(source, options.links)),
            ContentKind::Sitemap if options.lists => {
                Self::Sitemap(sitemap::parse(body, source.url))
            }
            ContentKind::Feed if options.lists => {
                Self::Feed(feed::parse(body, source.content_type, source.url))
            }
            ContentKind::Sitemap | ContentKind::Feed | ContentKind::Other => {
                Self::File(analyze_headers(source, options.links))
            }
        }
    }
}

/// Which links are followed.
#[derive(Clone, Copy, Debug)]
pub struct FollowOptions {
    /// Whether links that ask not to be followed are left alone.
    pub respects_nofollow: bool,
    /// Whether sitemaps and feeds are.
    pub lists: bool,
}

impl Analysis {
    /// The links that are followed, in the order of the page. What a page needs belongs to it: that is not for `nofollow` to say.
    pub fn followed(&self, options: FollowOptions) -> impl Iterator<Item = (&Link, LinkRole)> {
        let links = self.links.iter().map(|link| (link, link.kind.role()));
        links.filter(move |(link, role)| {
            let must_not = options.respects_nofollow && (link.nofollow || self.robots.nofollow);
            match role {
                LinkRole::Requisite => true,
                LinkRole::List => options.lists && !must_not,
                LinkRole::Page => !must_not,
            }
        })
    }
}

/// Whether a body is a list of URLs, one a line, whatever its type says: servers that do not know a file's type call it HTML.
fn is_plain_list(body: &[u8]) -> bool {
    !body.contains(&b'<') && sitemap::is_list(body)
}

#[cfg(test)]
mod tests {
    use junkai_weburl::CanonicalConfig;

    use super::*;

    #[test]
    fn the_status_says_whether_the_body_or_the_location_counts() {
        let location = b"/x".as_slice();
        for (status, expected) in [
            (200, Answer::Content),
            (203, Answer::Content),
            (201, Answer::Content),
            (300, Answer::Nothing),
            (301, Answer::Redirect(location)),
            (302, Answer::Redirect(location)),
            (303, Answer::Redirect(location)),
            (304, Answer::Nothing),
            (305, Answer::Nothing),
            (307, Answer::Redirect(location)),
            (308, Answer::Redirect(location)),
            (404, Answer::Nothing),
            (500, Answer::Nothing),
            (999, Answer::Nothing),
        ] {
            assert_eq!(Answer::of(status, Some(location)), expected, "{status}");
        }
        assert_eq!(Answer::of(301, None), Answer::Nothing);
        assert_eq!(Answer::of(200, None), Answer::Content);
    }

    #[test]
    fn a_redirect_leads_to_another_page_to_itself_or_nowhere() {
        let canonical = Canonicalizer::new(&CanonicalConfig::default());
        let url = canonical.parse("http://a.test/d/").unwrap();
        let page = |url: &str| RedirectTarget::Page(canonical.parse(url).unwrap());
        for (location, expected) in [
            ("../x", page("http://a.test/x")),
            ("//b.test", page("http://b.test/")),
            ("HTTP://A.test:80/d/#x", RedirectTarget::Itself),
            ("javascript:1", RedirectTarget::Bad),
        ] {
            let target = RedirectTarget::of(&canonical, &url, location.as_bytes());
            assert_eq!(target, expected, "{location}");
        }
    }

    /// What content with this type is, in a word.
    fn told(content_type: &str, body: &str, lists: bool, is_named_as_list: bool) -> &'static str {
        let url = "http://a.test/x.csv".parse().unwrap();
        let source = Source {
            body: body.as_bytes(),
            content_type: Some(content_type),
            url: &url,
            robots_agent: "junkai",
            x_robots_tag: &[],
            link_headers: &[],
            detect_language: false,
        };
        let options = LeadOptions {
            links: &LinkOptions::default(),
            contexts: false,
            lists,
            is_named_as_list,
        };
        match Leads::of(&source, &options) {
            Leads::Page(_) => "page",
            Leads::StyleSheet(_) => "style sheet",
            Leads::Sitemap(_) => "sitemap",
            Leads::Feed(_) => "feed",
            Leads::File(_) => "file",
        }
    }

    #[test]
    fn content_is_what_its_type_and_bytes_say_whatever_the_url() {
        const URLSET: &str = "<urlset><url><loc>http://a.test/1</loc></url></urlset>";
        const RSS: &str = "<rss><channel></channel></rss>";
        const LIST: &str = "http://a.test/1\nhttp://a.test/2\n";
        for (content_type, body, lists, named, expected) in [
            ("text/html", "<html>not found", true, false, "page"),
            ("text/csv", "a,b\n1,2\n", true, false, "file"),
            ("text/css", "b { c: d }", true, false, "style sheet"),
            ("text/xml", URLSET, true, false, "sitemap"),
            ("text/xml", URLSET, false, false, "file"),
            ("text/xml", RSS, true, false, "feed"),
            ("text/xml", RSS, false, false, "file"),
            ("text/plain", LIST, true, false, "file"),
            ("text/plain", LIST, true, true, "sitemap"),
            ("text/html", LIST, true, true, "sitemap"),
            ("text/html", LIST, true, false, "page"),
            ("text/plain", LIST, false, true, "file"),
        ] {
            let told = told(content_type, body, lists, named);
            assert_eq!(told, expected, "{content_type} {body} {lists} {named}");
        }
    }

    #[test]
    fn nofollow_holds_for_pages_and_lists_and_not_for_what_a_page_needs() {
        let url = "http://a.test/".parse().unwrap();
        let body = "<img src=i rel=nofollow><a href=1></a><a rel=nofollow href=2></a><link rel=alternate type=application/rss+xml href=f>";
        let source = |tags| Source {
            body: str::as_bytes(body),
            content_type: Some("text/html"),
            url: &url,
            robots_agent: "junkai",
            x_robots_tag: tags,
            link_headers: &[],
            detect_language: false,
        };
        let followed = |tags, respects_nofollow, lists| -> String {
            let analysis = analyze(&source(tags), &LinkOptions::default());
            let options = FollowOptions {
                respects_nofollow,
                lists,
            };
            let links = analysis.followed(options);
            let names = links.map(|(link, _)| link.url.rsplit('/').next().unwrap());
            names.collect()
        };
        assert_eq!(followed(&[], true, true), "i1f");
        assert_eq!(followed(&[], true, false), "i1");
        assert_eq!(followed(&[], false, true), "i12f");
        assert_eq!(followed(&["nofollow"], true, true), "i");
        assert_eq!(followed(&["nofollow"], false, true), "i12f");
    }
}
