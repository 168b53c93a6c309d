//! What is beside the pages of a history: home, index pages, robots.txt, sitemaps, and a feed.

use junkai_graph::history::{Edition, EventKind, UnixSeconds};

use super::{HistoryHost, HistoryWeb, Now, Page, SitemapHabit};
use crate::answer::Answer;
use crate::chance::{Chance, Distributions as _, mix};
use crate::synthetic::{SITEMAP_NAMESPACE, XML_HEAD, line};

/// Pages in one index page.
const PAGES_PER_INDEX: usize = 500;

/// Pages in one part of a sitemap; a host with more has a sitemap index.
const PAGES_PER_SITEMAP: usize = 5000;

/// Entries in a feed.
const FEED_ENTRIES: usize = 50;

/// Home pages that a home page links to, in the tree of hosts.
const FANOUT: u32 = 8;

/// Of a noisy sitemap: pages, in percent, that claim on any day to have been modified that day, and changes that it does not tell.
const FALSE_PERCENT: u8 = 10;
const UNTOLD_PERCENT: u8 = 30;

const DAY_SECONDS: u64 = 86_400;

/// What is beside the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    Home,
    Index(usize),
    Robots,
    Sitemap,
    SitemapPart(usize),
    Feed,
}

impl Around {
    /// What a path names, if it is not a page of the history.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let number = |before: &str, after: &str| {
            let number = path.strip_prefix(before)?.strip_suffix(after)?;
            number.parse().ok()
        };
        match path {
            "/" => Some(Self::Home),
            "/robots.txt" => Some(Self::Robots),
            "/-/sitemap.xml" => Some(Self::Sitemap),
            "/-/feed.xml" => Some(Self::Feed),
            _ => number("/-/index-", ".html")
                .map(Self::Index)
                .or_else(|| number("/-/sitemap-", ".xml").map(Self::SitemapPart)),
        }
    }
}

impl HistoryWeb {
    pub(super) fn around_answer(&self, host: &HistoryHost, around: Around, now: Now<'_>) -> Answer {
        let pages = self.pages_of(host).len();
        let has_sitemap = self.config.sitemap != SitemapHabit::Absent;
        let (kind, body) = match around {
            Around::Home => ("text/html; charset=utf-8", self.home(host)),
            Around::Index(part) if part * PAGES_PER_INDEX < pages => {
                ("text/html; charset=utf-8", self.index(host, part, now))
            }
            Around::Robots => ("text/plain; charset=utf-8", self.robots(host)),
            Around::Sitemap if has_sitemap && pages <= PAGES_PER_SITEMAP => {
                ("application/xml", self.sitemap(host, 0, now))
            }
            Around::Sitemap if has_sitemap => ("application/xml", self.sitemap_index(host)),
            Around::SitemapPart(part) if has_sitemap && part * PAGES_PER_SITEMAP < pages => {
                ("application/xml", self.sitemap(host, part, now))
            }
            Around::Feed if self.config.has_feed => ("application/atom+xml", self.feed(host, now)),
            Around::Index(_) | Around::Sitemap | Around::SitemapPart(_) | Around::Feed => {
                return Answer::plain(404);
            }
        };
        let tag = body.bytes().fold(0, |hash, byte| mix(hash, byte.into()));
        match now.request.validate_by_tag(format!("\"{tag:016x}\"")) {
            Ok(headers) => Answer {
                status: 200,
                headers,
                body: body.into_bytes(),
                is_chunked: false,
            }
            .header("content-type", kind),
            Err(not_modified) => not_modified,
        }
    }

    fn home(&self, host: &HistoryHost) -> String {
        let name = &host.name;
        let mut html = format!("<!DOCTYPE html>\n<title>{name}</title>\n");
        if self.config.has_feed {
            html.push_str(
                "<link rel=\"alternate\" type=\"application/atom+xml\" href=\"/-/feed.xml\">\n",
            );
        }
        line(&mut html, format_args!("<h1>{name}</h1>\n<ul>"));
        for part in 0..self.pages_of(host).len().div_ceil(PAGES_PER_INDEX) {
            line(
                &mut html,
                format_args!("<li><a href=\"/-/index-{part}.html\">Pages, part {part}</a></li>"),
            );
        }
        let first = host.number.saturating_mul(FANOUT).saturating_add(1) as usize;
        for child in self.hosts.iter().skip(first).take(FANOUT as usize) {
            let (origin, name) = (&child.origin, &child.name);
            line(
                &mut html,
                format_args!("<li><a href=\"{origin}/\">{name}</a></li>"),
            );
        }
        html + "</ul>\n"
    }

    /// Links to those pages of one part of a host that are there.
    fn index(&self, host: &HistoryHost, part: usize, now: Now<'_>) -> String {
        let mut html = format!("<!DOCTYPE html>\n<title>Pages, part {part}</title>\n<ul>\n");
        let pages = self.pages_of(host).skip(part * PAGES_PER_INDEX);
        for page in pages.take(PAGES_PER_INDEX) {
            if self.edition(page, now.moment).is_some() {
                let path = self.history.path(page);
                let (href, text) = (super::encoded(path), escaped(path));
                line(
                    &mut html,
                    format_args!("<li><a href=\"/{href}\">{text}</a></li>"),
                );
            }
        }
        html + "</ul>\n"
    }

    fn robots(&self, host: &HistoryHost) -> String {
        match self.config.sitemap {
            SitemapHabit::Absent => "User-agent: *\nDisallow:\n".to_owned(),
            SitemapHabit::Honest | SitemapHabit::Noisy | SitemapHabit::Undated => format!(
                "User-agent: *\nDisallow:\n\nSitemap: {}/-/sitemap.xml\n",
                host.origin
            ),
        }
    }

    fn sitemap(&self, host: &HistoryHost, part: usize, now: Now<'_>) -> String {
        let mut xml = format!("{XML_HEAD}<urlset xmlns=\"{SITEMAP_NAMESPACE}\">\n");
        let pages = self.pages_of(host).skip(part * PAGES_PER_SITEMAP);
        for page in pages.take(PAGES_PER_SITEMAP) {
            let Some(edition) = self.edition(page, now.moment) else {
                continue;
            };
            let url = escaped(&self.url(page));
            let told = match self.config.sitemap {
                SitemapHabit::Honest => edition.since,
                SitemapHabit::Noisy => self.noisy_date(page, edition, now.moment),
                SitemapHabit::Undated | SitemapHabit::Absent => None,
            };
            let modified = told.map_or_else(String::new, |told| {
                format!("<lastmod>{}</lastmod>", self.timestamp(told, now))
            });
            line(
                &mut xml,
                format_args!("<url><loc>{url}</loc>{modified}</url>"),
            );
        }
        xml + "</urlset>\n"
    }

    fn sitemap_index(&self, host: &HistoryHost) -> String {
        let mut xml = format!("{XML_HEAD}<sitemapindex xmlns=\"{SITEMAP_NAMESPACE}\">\n");
        for part in 0..self.pages_of(host).len().div_ceil(PAGES_PER_SITEMAP) {
            line(
                &mut xml,
                format_args!(
                    "<sitemap><loc>{}/-/sitemap-{part}.xml</loc></sitemap>",
                    host.origin
                ),
            );
        }
        xml + "</sitemapindex>\n"
    }

    /// What a noisy sitemap tells of a page.
    fn noisy_date(&self, page: Page, edition: Edition, moment: UnixSeconds) -> Option<UnixSeconds> {
        let day = moment.0 / DAY_SECONDS;
        let key = self.key(page);
        if Chance::about(key, mix(1, day)).percent(FALSE_PERCENT) {
            let today = UnixSeconds(day * DAY_SECONDS);
            return edition.since.max(Some(today));
        }
        let is_told = |version: &u32| {
            !Chance::about(key, mix(2, u64::from(*version))).percent(UNTOLD_PERCENT)
        };
        let told = (0..=edition.version).rev().find(is_told)?;
        self.made(page, told)
    }

    fn feed(&self, host: &HistoryHost, now: Now<'_>) -> String {
        let mut xml = format!(
            "{XML_HEAD}<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<title>{}</title>\n<id>{}/</id>\n",
            host.name, host.origin
        );
        let end = self
            .in_order
            .partition_point(|told| told.event.at <= now.moment);
        let latest = self.in_order[..end].iter().rev().filter(|told| {
            told.event.kind != EventKind::Deleted && self.host_of(told.page).number == host.number
        });
        for told in latest.take(FEED_ENTRIES) {
            let url = escaped(&self.url(told.page));
            let title = escaped(self.history.path(told.page));
            let updated = self.timestamp(told.event.at, now);
            line(
                &mut xml,
                format_args!(
                    "<entry><title>{title}</title><id>{url}</id><link href=\"{url}\"/><updated>{updated}</updated></entry>"
                ),
            );
        }
        xml + "</feed>\n"
    }

    fn timestamp(&self, moment: UnixSeconds, now: Now<'_>) -> String {
        let date = self.date(Some(moment), now.clock);
        let date = jiff::Timestamp::try_from(date).unwrap_or_default();
        format!("{date:.0}")
    }
}

/// Text as HTML and XML write it.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_beside_the_pages_are_told_from_theirs() {
        for (path, expected) in [
            ("/", Some(Around::Home)),
            ("/robots.txt", Some(Around::Robots)),
            ("/-/index-12.html", Some(Around::Index(12))),
            ("/-/sitemap.xml", Some(Around::Sitemap)),
            ("/-/sitemap-3.xml", Some(Around::SitemapPart(3))),
            ("/-/feed.xml", Some(Around::Feed)),
            ("/-/index-.html", None),
            ("/-/index-x.html", None),
            ("/index.html", None),
            ("", None),
        ] {
            assert_eq!(Around::of_path(path), expected, "{path}");
        }
    }
}
