//! What is around the pages of a site: robots.txt, sitemaps, feed, style sheet, images, redirects, and what is missing.

use std::fmt::Write;

use super::path::{Around, Month};
use super::{Synthetic, SyntheticHost};
use crate::answer::{Answer, gzip};
use crate::chance::{Chance, Distributions as _, mix};
use crate::clock::Clock;

/// Pages in one part of a sitemap; a host with more has a sitemap index (sitemaps.org, "Using Sitemap index files").
const PAGES_PER_SITEMAP: u64 = 5000;

/// Entries in a feed.
const FEED_ENTRIES: u64 = 20;

pub(crate) const XML_HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
pub(crate) const SITEMAP_NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

impl Synthetic {
    pub(super) fn around_answer(
        &self,
        host: &SyntheticHost,
        around: Around,
        clock: &Clock,
    ) -> Answer {
        let mut chance = Chance::about(host.key, 0x6172_6f75_6e64);
        match around {
            Around::Robots => Answer::ok("text/plain; charset=utf-8", host.robots()),
            Around::Sitemap if host.pages <= PAGES_PER_SITEMAP => {
                Answer::ok("application/xml", host.sitemap(0))
            }
            Around::Sitemap => Answer::ok("application/xml", host.sitemap_index()),
            Around::SitemapPart(part) if part * PAGES_PER_SITEMAP < host.pages => {
                Answer::ok("application/gzip", gzip(host.sitemap(part).as_bytes()))
            }
            Around::Feed => Answer::ok("application/atom+xml", self.feed(host, clock)),
            Around::StyleSheet => Answer::ok("text/css", STYLE_SHEET),
            Around::Image(number) => Answer::ok("image/gif", image(mix(host.key, number))),
            Around::Redirect(page) if page < host.pages => {
                let status = *Chance::about(host.key, page).pick(&[301, 302, 307, 308]);
                let path = host.path(page);
                Answer::redirect(
                    status,
                    if chance.percent(50) {
                        path
                    } else {
                        format!("{}{path}", host.origin)
                    },
                )
            }
            Around::Missing(number) => {
                Answer::plain(*Chance::about(host.key, number).pick(&[404, 404, 410, 500]))
            }
            Around::Private(number) if number < 100 => Answer::ok(
                "text/html; charset=utf-8",
                format!(
                    "<!DOCTYPE html><title>Private {number}</title><p>Nobody should read this.\n"
                ),
            ),
            Around::SitemapPart(_) | Around::Redirect(_) | Around::Private(_) => Answer::plain(404),
        }
    }

    fn feed(&self, host: &SyntheticHost, clock: &Clock) -> String {
        let mut xml = format!(
            "{XML_HEAD}<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<title>{}</title>\n<id>{}</id>\n",
            host.name,
            host.home()
        );
        let now = clock.virtual_seconds();
        for page in 0..host.pages.min(FEED_ENTRIES) {
            let version = self.change_process(host, page).version(now);
            let made = clock.shown_at(version.made_at).system_time();
            let updated = jiff::Timestamp::try_from(made).unwrap_or_default();
            let url = format!("{}{}", host.origin, host.path(page));
            line(
                &mut xml,
                format_args!(
                    "<entry><title>{page}</title><id>{url}</id><link href=\"{url}\"/><updated>{updated:.0}</updated></entry>"
                ),
            );
        }
        xml + "</feed>\n"
    }
}

/// A month of a calendar that goes on for ever.
pub(super) fn calendar(month: Month) -> Answer {
    let Month { year, month } = month;
    let months = year.saturating_mul(12).saturating_add(month - 1);
    let link = |months: u64| format!("/calendar/{}/{}", months / 12, months % 12 + 1);
    let before = link(months.saturating_sub(1));
    let after = link(months.saturating_add(1));
    Answer::ok(
        "text/html; charset=utf-8",
        format!(
            "<!DOCTYPE html><title>{year}-{month:02}</title><h1>{year}-{month:02}</h1>\n\
             <a href=\"{before}\">←</a> <a href=\"{after}\">→</a> <a href=\"/\">⌂</a>\n"
        ),
    )
}

impl SyntheticHost {
    fn robots(&self) -> String {
        let delay = if self.has_crawl_delay {
            "Crawl-delay: 1\n"
        } else {
            ""
        };
        format!(
            "User-agent: *\nDisallow: /private/\n{delay}\nSitemap: {}/sitemap.xml\n",
            self.origin
        )
    }

    fn sitemap(&self, part: u64) -> String {
        let mut xml = format!("{XML_HEAD}<urlset xmlns=\"{SITEMAP_NAMESPACE}\">\n");
        let first = part * PAGES_PER_SITEMAP;
        for page in first..self.pages.min(first + PAGES_PER_SITEMAP) {
            line(
                &mut xml,
                format_args!("<url><loc>{}{}</loc></url>", self.origin, self.path(page)),
            );
        }
        xml + "</urlset>\n"
    }

    fn sitemap_index(&self) -> String {
        let mut xml = format!("{XML_HEAD}<sitemapindex xmlns=\"{SITEMAP_NAMESPACE}\">\n");
        for part in 0..self.pages.div_ceil(PAGES_PER_SITEMAP) {
            line(
                &mut xml,
                format_args!(
                    "<sitemap><loc>{}/sitemap-{part}.xml.gz</loc></sitemap>",
                    self.origin
                ),
            );
        }
        xml + "</sitemapindex>\n"
    }
}

/// Appends a line to a page.
pub(crate) fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    write_to(out, text);
    out.push('\n');
}

/// Appends to a page.
pub(crate) fn write_to(out: &mut String, text: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(text);
    debug_assert!(written.is_ok(), "a string takes all that is written to it");
}

const STYLE_SHEET: &str = "body { font-family: serif; margin: 2em auto; max-width: 40em }\n\
    h1 { background: url(/images/1.gif) }\nnav li { display: inline }\n";

/// A GIF of one pixel in a colour of its own.
fn image(hash: u64) -> Vec<u8> {
    let colour = hash.to_le_bytes();
    let mut gif = b"GIF89a\x01\0\x01\0\x80\0\0".to_vec();
    gif.extend_from_slice(&colour[..6]);
    gif.extend_from_slice(b"\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b");
    gif
}
