//! Reads a capture as the worker read it when it came ([`junkai_page::Leads`] decides for both): its links, and what surrounds them.
//!
//! What lies out of scope is not left out here: who takes a page in asks that. That a capture was called a list by a seed or by robots.txt is not known
//! here, only that another list named it.

use junkai_focus::data_file::{self, Format};
use junkai_page::{
    Analysis, Answer, FollowOptions, LeadOptions, Leads, LinkOptions, LinkRole, RedirectTarget,
    Source,
};
use junkai_weburl::{Canonicalizer, PageUrl};

use super::LinkEstimate;
use super::judge::names_of;
use super::kept::KeptPage;
use super::wanted::Linked;
use crate::settings::Settings;
use crate::visit::{Discovered, Purpose};

/// The hop from a page to a list, and from a list to what it names.
const LIST_HOP: char = 'M';

/// Reads captured pages.
#[derive(Debug)]
pub(super) struct Reading {
    canonical: Canonicalizer,
    links: LinkOptions,
    product: String,
    follow: FollowOptions,
    sitemaps_only: bool,
}

/// What a capture is.
#[derive(Debug)]
pub(super) enum Captured {
    /// A page with these links to its own site.
    Page(Vec<Discovered>),
    /// A sitemap or feed that names these pages of its own site.
    List(Vec<Discovered>),
    /// A data file, with these names in its first column.
    DataFile {
        /// What it is written in.
        format: Format,
        /// None of a format of which these are not read.
        names: Vec<String>,
    },
    /// A redirect to this page.
    Moved(PageUrl),
    /// Something else.
    Nothing,
}

impl Reading {
    pub(super) fn new(settings: &Settings) -> Reading {
        Reading {
            canonical: Canonicalizer::new(&settings.canonical),
            links: LinkOptions {
                requisites: false,
                ..settings.links.clone()
            },
            product: settings.identity.product.clone(),
            follow: FollowOptions {
                respects_nofollow: settings.crawl.respect_nofollow,
                lists: settings.crawl.sitemaps,
            },
            sitemaps_only: settings.crawl.sitemaps_only,
        }
    }

    pub(super) fn parse(&self, url: &str) -> Option<PageUrl> {
        self.canonical.parse(url).ok()
    }

    /// Reads the capture of a page; `linked` is how a page that was read back before has named it.
    pub(super) fn read(&self, url: &PageUrl, kept: &KeptPage, linked: Option<&Linked>) -> Captured {
        let location = kept.location.as_deref().map(str::as_bytes);
        match Answer::of(kept.status, location) {
            Answer::Redirect(location) => {
                match RedirectTarget::of(&self.canonical, url, location) {
                    RedirectTarget::Page(target) => Captured::Moved(target),
                    RedirectTarget::Itself | RedirectTarget::Bad => Captured::Nothing,
                }
            }
            Answer::Content => self.content(url, kept, linked),
            Answer::Nothing => Captured::Nothing,
        }
    }

    fn content(&self, url: &PageUrl, kept: &KeptPage, linked: Option<&Linked>) -> Captured {
        match self.leads(url, kept, linked) {
            Leads::Page(analysis) => Captured::Page(self.links_of(url, &analysis)),
            Leads::Sitemap(sitemap) => {
                let entries = sitemap.index.iter().chain(&sitemap.urls);
                self.list(url, entries.map(|entry| entry.loc.as_str()))
            }
            Leads::Feed(entries) => self.list(url, entries.iter().map(|entry| entry.url.as_str())),
            Leads::StyleSheet(_) | Leads::File(_) => {
                let declared = kept.declared_type.as_deref();
                match data_file::format_of(&kept.content, url.as_str(), declared) {
                    Some(format) => Captured::DataFile {
                        format,
                        names: names_of(format, &kept.content),
                    },
                    None => Captured::Nothing,
                }
            }
        }
    }

    fn leads(&self, url: &PageUrl, kept: &KeptPage, linked: Option<&Linked>) -> Leads {
        let tags: Vec<&str> = kept.robots_tags.iter().map(String::as_str).collect();
        let links: Vec<&str> = kept.links.iter().map(String::as_str).collect();
        let source = Source {
            body: &kept.content,
            content_type: kept.content_type.as_deref(),
            url: url.as_url(),
            robots_agent: &self.product,
            x_robots_tag: &tags,
            link_headers: &links,
            detect_language: false,
        };
        let options = LeadOptions {
            links: &self.links,
            contexts: true,
            lists: self.follow.lists,
            is_named_as_list: linked.is_some_and(|linked| linked.found.hop == Some(LIST_HOP)),
        };
        Leads::of(&source, &options)
    }

    fn links_of(&self, url: &PageUrl, analysis: &Analysis) -> Vec<Discovered> {
        let followed = analysis.followed(self.follow);
        let found = followed.filter_map(|(link, role)| {
            let hop = match role {
                LinkRole::Page if self.sitemaps_only => return None,
                LinkRole::Page => 'L',
                LinkRole::List => LIST_HOP,
                LinkRole::Requisite => return None,
            };
            let target = self.canonical.parse(&link.url).ok()?;
            let estimate = LinkEstimate {
                promise: 0.0,
                format: data_file::looks_like_data(target.as_str(), None),
                context: link.context.as_deref().cloned().unwrap_or_default(),
            };
            (target.site() == url.site()).then(|| Discovered {
                link_estimate: Some(Box::new(estimate)),
                ..discovered(target, hop)
            })
        });
        found.collect()
    }

    fn list<'a>(&self, url: &PageUrl, entries: impl Iterator<Item = &'a str>) -> Captured {
        let targets = entries.filter_map(|entry| self.canonical.parse(entry).ok());
        let targets = targets.filter(|target| target.site() == url.site());
        Captured::List(targets.map(|target| discovered(target, LIST_HOP)).collect())
    }
}

fn discovered(url: PageUrl, hop: char) -> Discovered {
    Discovered {
        url,
        hop: Some(hop),
        depth: 0,
        purpose: Purpose::Page,
        link_estimate: None,
    }
}

#[cfg(test)]
mod tests {
    use junkai_archive::Entry;

    use super::*;

    fn kept(status: u16, content_type: &str, content: &str) -> KeptPage {
        let line = r#"org,example)/ 20260115093012 {"url":"http://example.org/","filename":"a.warc.gz","offset":"0","length":"1"}"#;
        KeptPage {
            status,
            content_type: Some(content_type.to_owned()),
            declared_type: Some(content_type.to_owned()),
            location: Some("/elsewhere".to_owned()),
            robots_tags: Vec::new(),
            links: Vec::new(),
            content: content.as_bytes().to_vec(),
            whole_bytes: None,
            entry: Entry::parse(line).unwrap(),
        }
    }

    fn read(url: &str, kept: &KeptPage) -> Captured {
        let reading = Reading::new(&Settings::default());
        reading.read(&reading.parse(url).unwrap(), kept, None)
    }

    fn urls(found: &[Discovered]) -> Vec<&str> {
        found.iter().map(|found| found.url.as_str()).collect()
    }

    const CSV: &str = "http://example.org/x.csv";
    const PAGE: &str = "http://example.org/x";
    const HTML: &str = "<!doctype html><html><body><a href=/y>not found</a></body></html>";

    #[test]
    fn a_capture_is_read_as_the_worker_read_it() {
        for (url, status) in [(CSV, 200), (PAGE, 200), (PAGE, 203)] {
            let read = read(url, &kept(status, "text/html", HTML));
            assert!(
                matches!(&read, Captured::Page(links) if links.len() == 1),
                "{url}: {read:?}"
            );
        }
        let table = kept(206, "text/csv", "a,b\n1,2\n");
        assert!(matches!(read(CSV, &table), Captured::DataFile { .. }));
        let other = kept(200, "image/png", "no picture");
        assert!(matches!(read(PAGE, &other), Captured::Nothing));
        assert!(matches!(
            read(PAGE, &kept(404, "text/html", HTML)),
            Captured::Nothing
        ));
    }

    #[test]
    fn only_statuses_that_redirect_do() {
        for (status, is_redirect) in [(300, false), (302, true), (304, false), (308, true)] {
            let read = read(PAGE, &kept(status, "text/html", HTML));
            let is_moved = matches!(&read, Captured::Moved(to) if to.as_str() == "http://example.org/elsewhere");
            assert_eq!(is_moved, is_redirect, "{status}: {read:?}");
        }
        let itself = read("http://example.org/elsewhere", &kept(301, "text/html", ""));
        assert!(matches!(itself, Captured::Nothing));
    }

    #[test]
    fn a_list_names_pages_of_its_own_site() {
        let sitemap = "<urlset><url><loc>http://example.org/1</loc></url><url><loc>http://elsewhere.example/2</loc></url></urlset>";
        let feed = "<rss><channel><item><link>http://example.org/1</link></item></channel></rss>";
        for list in [sitemap, feed] {
            let read = read(PAGE, &kept(200, "text/xml", list));
            let Captured::List(entries) = &read else {
                panic!("{read:?}")
            };
            assert_eq!(urls(entries), ["http://example.org/1"]);
        }
    }

    #[test]
    fn a_page_leads_to_its_feed_and_the_name_to_save_under_does_not_make_a_page_a_file() {
        let html = "<!doctype html><link rel=alternate type=application/rss+xml href=/feed><a href=/y>y</a><a rel=nofollow href=/z>z</a>";
        let mut page = kept(200, "text/html", html);
        page.content_type = None;
        page.declared_type = Some("text/csv".to_owned());
        let read = read(PAGE, &page);
        let Captured::Page(links) = &read else {
            panic!("{read:?}")
        };
        assert_eq!(
            urls(links),
            ["http://example.org/feed", "http://example.org/y"]
        );
        assert_eq!(links[0].hop, Some('M'));
    }

    #[test]
    fn the_bytes_of_a_file_say_whether_it_holds_data() {
        for (content_type, bytes, is_data) in [
            ("application/pdf", "no such thing", false),
            ("text/csv", "", false),
            ("application/vnd.ms-excel", "a\tb\n1\t2\n", true),
        ] {
            let read = read(PAGE, &kept(200, content_type, bytes));
            let told = matches!(read, Captured::DataFile { .. });
            assert_eq!(told, is_data, "{content_type}: {read:?}");
        }
    }
}
