//! Reads a captured page as the worker read it when it came: its links, and what surrounds them.

use junkai_focus::data_file;
use junkai_page::{Analysis, ContentKind, LinkKind, LinkOptions, Source};
use junkai_weburl::{Canonicalizer, PageUrl};

use super::LinkEstimate;
use super::judge::names_of;
use super::kept::KeptPage;
use crate::settings::Settings;
use crate::visit::{Discovered, Purpose};

/// Reads captured pages.
#[derive(Debug)]
pub(super) struct Reading {
    canonical: Canonicalizer,
    links: LinkOptions,
    product: String,
    respects_nofollow: bool,
}

/// What a capture is.
#[derive(Debug)]
pub(super) enum Captured {
    /// A page with these links to its own site.
    Page(Vec<Discovered>),
    /// A file that looks like data, with these names in its first column.
    DataFile(Vec<String>),
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
            respects_nofollow: settings.crawl.respect_nofollow,
        }
    }

    pub(super) fn parse(&self, url: &str) -> Option<PageUrl> {
        self.canonical.parse(url).ok()
    }

    pub(super) fn read(&self, url: &PageUrl, kept: &KeptPage) -> Captured {
        if !(200..300).contains(&kept.status) {
            let target = kept.location.as_deref().filter(|_| kept.status / 100 == 3);
            let target = target.and_then(|target| self.canonical.join(url, target).ok());
            return target.map_or(Captured::Nothing, Captured::Moved);
        }
        let content_type = kept.content_type.as_deref();
        // As for the worker: a page that is sent in the place of a file is a page, whatever its URL looks like.
        if junkai_page::kind_of(&kept.content, content_type) == ContentKind::Html {
            return Captured::Page(self.links_of(url, kept));
        }
        match data_file::looks_like_data(url.as_str(), content_type) {
            Some(format) => Captured::DataFile(names_of(format, &kept.content)),
            None => Captured::Nothing,
        }
    }

    fn links_of(&self, url: &PageUrl, kept: &KeptPage) -> Vec<Discovered> {
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
        let Analysis { links, robots, .. } =
            junkai_page::analyze_with_contexts(&source, &self.links);
        let found = links.into_iter().filter_map(|link| {
            let is_left_alone = self.respects_nofollow && (link.nofollow || robots.nofollow);
            let is_list = matches!(link.kind, LinkKind::Feed | LinkKind::Sitemap);
            let target = self.canonical.parse(&link.url).ok()?;
            if is_left_alone || is_list || target.site() != url.site() {
                return None;
            }
            let estimate = LinkEstimate {
                promise: 0.0,
                format: data_file::looks_like_data(target.as_str(), None),
                context: link.context.map(|context| *context).unwrap_or_default(),
            };
            Some(Discovered {
                url: target,
                hop: Some('L'),
                depth: 0,
                purpose: Purpose::Page,
                link_estimate: Some(Box::new(estimate)),
            })
        });
        found.collect()
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
            location: Some("/elsewhere".to_owned()),
            robots_tags: Vec::new(),
            links: Vec::new(),
            content: content.as_bytes().to_vec(),
            whole_bytes: None,
            entry: Entry::parse(line).unwrap(),
        }
    }

    #[test]
    fn a_capture_is_read_as_the_worker_read_it() {
        let reading = Reading::new(&Settings::default());
        let read = |url: &str, kept: &KeptPage| reading.read(&reading.parse(url).unwrap(), kept);
        let (csv, page) = ("http://example.org/x.csv", "http://example.org/x");
        let html = "<!doctype html><html><body><a href=/y>not found</a></body></html>";
        for (url, status) in [(csv, 200), (page, 200), (page, 203)] {
            let read = read(url, &kept(status, "text/html", html));
            assert!(
                matches!(&read, Captured::Page(links) if links.len() == 1),
                "{url}: {read:?}"
            );
        }
        let table = kept(200, "text/csv", "a,b\n1,2\n");
        assert!(matches!(read(csv, &table), Captured::DataFile(_)));
        let other = kept(200, "image/png", "no picture");
        assert!(matches!(read(page, &other), Captured::Nothing));
        let moved = read(page, &kept(302, "text/html", html));
        assert!(
            matches!(moved, Captured::Moved(to) if to.as_str() == "http://example.org/elsewhere")
        );
        assert!(matches!(
            read(page, &kept(404, "text/html", html)),
            Captured::Nothing
        ));
    }
}
