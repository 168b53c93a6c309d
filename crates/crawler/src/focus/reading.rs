//! Reads a captured page as the worker read it when it came: its links, and what surrounds them.

use junkai_focus::data_file;
use junkai_page::{Analysis, ContentKind, LinkKind, LinkOptions, Source};
use junkai_weburl::{Canonicalizer, PageUrl};

use super::Lead;
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
        if kept.status != 200 {
            let target = kept.location.as_deref().filter(|_| kept.status / 100 == 3);
            let target = target.and_then(|target| self.canonical.join(url, target).ok());
            return target.map_or(Captured::Nothing, Captured::Moved);
        }
        let content_type = kept.content_type.as_deref();
        if let Some(format) = data_file::looks_like_data(url.as_str(), content_type) {
            return Captured::DataFile(names_of(format, &kept.content));
        }
        match junkai_page::kind_of(&kept.content, content_type) {
            ContentKind::Html => Captured::Page(self.links_of(url, kept)),
            _ => Captured::Nothing,
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
            let lead = Lead {
                promise: 0.0,
                format: data_file::looks_like_data(target.as_str(), None),
                context: link.context.map(|context| *context).unwrap_or_default(),
            };
            Some(Discovered {
                url: target,
                hop: Some('L'),
                depth: 0,
                purpose: Purpose::Page,
                lead: Some(Box::new(lead)),
            })
        });
        found.collect()
    }
}
