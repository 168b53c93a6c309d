//! Writes the HTML of a page.
//!
//! Fast by construction: sentences are copied ready-made, and the only formatting is that of paths and numbers.

use std::fmt::Write;

use super::{Declaration, FANOUT, Synthetic, SyntheticHost, Traps};
use crate::chance::{Chance, Distributions as _, mix};
use crate::change::Version;

/// Bytes that a link costs with its tag and text, and a page without any.
const LINK_BYTES: u32 = 120;
const FRAME_BYTES: u32 = 1000;

/// One paragraph in so many is rewritten when the page changes.
const PARAGRAPHS_PER_CHANGE: u32 = 5;

/// One page in so many has a `<base>`.
const PAGES_PER_BASE: u64 = 20;

/// Where a link leads.
#[derive(Clone, Copy, Debug)]
enum Target<'a> {
    Page(&'a SyntheticHost, u64),
    /// A path of the same host below one of its folders.
    Folder(&'static str, u64),
}

/// The page being written.
struct Sheet<'a> {
    host: &'a SyntheticHost,
    page: u64,
    has_base: bool,
    traps: Traps,
    out: Vec<u8>,
    href: String,
}

impl Synthetic {
    /// The HTML of one version of a page, in the charset of its host.
    pub(super) fn html(
        &self,
        host: &SyntheticHost,
        page: u64,
        version: Version,
        traps: Traps,
    ) -> Vec<u8> {
        let key = mix(host.key, page);
        let mut chance = Chance::about(self.seed, key);
        let links = drawn_size(&mut chance, self.links_per_page);
        let bytes = drawn_size(&mut chance, self.page_bytes);
        let mut sheet = Sheet {
            host,
            page,
            has_base: chance.below_large(PAGES_PER_BASE) == 0,
            traps,
            out: Vec::with_capacity(bytes as usize + bytes as usize / 4),
            href: String::with_capacity(128),
        };
        self.write_head(&mut sheet, &mut chance);
        let paragraphs = links.max(1);
        let overhead = FRAME_BYTES + paragraphs * LINK_BYTES;
        let quota = (bytes.saturating_sub(overhead) / paragraphs) as usize;
        let mut tree = self.tree_links(host, page);
        for number in 0..paragraphs {
            let is_changing = number % PARAGRAPHS_PER_CHANGE == 0;
            let edition = if is_changing { version.tag() } else { 0 };
            let mut words = Chance::about(mix(key, edition), number.into());
            self.write_text(&mut sheet, &mut words, quota, number);
            if number < links {
                let target = tree.next();
                let target = target.unwrap_or_else(|| self.drawn_target(host, page, &mut chance));
                self.write_link(&mut sheet, target, &mut chance);
            }
            sheet.out.extend_from_slice(b"</p>\n");
        }
        // A page always names its whole part of the trees, however few links it was to have.
        for target in tree {
            self.write_link(&mut sheet, target, &mut chance);
        }
        sheet.finish(version);
        sheet.out
    }

    fn write_head(&self, sheet: &mut Sheet<'_>, chance: &mut Chance) {
        let host = sheet.host;
        let dialect = host.dialect();
        let prose = &self.prose[host.dialect];
        let title = prose.phrase(chance);
        sheet.text(format_args!(
            "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n",
            dialect.language.tag()
        ));
        match host.declaration {
            Declaration::Header => {}
            Declaration::Meta | Declaration::Both => sheet.text(format_args!(
                "<meta charset=\"{}\">\n",
                dialect.charset.name()
            )),
        }
        sheet.raw(&[b"<title>", title, b"</title>\n"]);
        if sheet.has_base {
            sheet.text(format_args!("<base href=\"{}/\">\n", host.origin));
        }
        sheet.text(format_args!(
            "<link rel=\"stylesheet\" href=\"/style.css\">\n\
             <link rel=\"alternate\" type=\"application/atom+xml\" href=\"/feed.xml\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n</head>\n<body>\n<nav><ul>\
             <li><a href=\"/\">{}</a></li>",
            host.name
        ));
        if sheet.page != 0 {
            self.write_link(sheet, Target::Page(host, (sheet.page - 1) / FANOUT), chance);
        }
        if sheet.traps.has_calendar {
            sheet.raw(&[b"<li><a href=\"/calendar/2026/1\">2026</a></li>"]);
        }
        sheet.raw(&[b"</ul></nav>\n<h1>", title, b"</h1>\n"]);
        let image = chance.below_large(1000);
        sheet.text(format_args!(
            "<img src=\"/images/{image}.gif\" alt=\"\" width=\"16\" height=\"16\">\n"
        ));
    }

    /// Opens a paragraph and fills it with about `quota` bytes of sentences.
    fn write_text(&self, sheet: &mut Sheet<'_>, words: &mut Chance, quota: usize, number: u32) {
        let prose = &self.prose[sheet.host.dialect];
        if number % 6 == 3 {
            sheet.raw(&[b"<h2>", prose.phrase(words), b"</h2>\n"]);
        }
        sheet.raw(&[b"<p>"]);
        let end = sheet.out.len() + quota;
        while sheet.out.len() < end {
            sheet.out.extend_from_slice(prose.sentence(words));
        }
    }

    /// The links that make the trees of pages and of hosts.
    fn tree_links<'a>(
        &'a self,
        host: &'a SyntheticHost,
        page: u64,
    ) -> impl Iterator<Item = Target<'a>> {
        let pages = children(page, host.pages).map(move |child| Target::Page(host, child));
        let number_of_hosts = if page == 0 {
            self.hosts.len() as u64
        } else {
            0
        };
        let parent = (page == 0 && host.number != 0).then(|| (host.number - 1) / FANOUT);
        let hosts = children(host.number, number_of_hosts).chain(parent);
        pages.chain(hosts.filter_map(|number| {
            let host = self.hosts.get(usize::try_from(number).ok()?)?;
            Some(Target::Page(host, 0))
        }))
    }

    /// A link by chance: mostly near by on the same host, sometimes to a popular page elsewhere.
    fn drawn_target<'a>(
        &'a self,
        host: &'a SyntheticHost,
        page: u64,
        chance: &mut Chance,
    ) -> Target<'a> {
        match chance.below_large(100) {
            0..45 => Target::Page(host, neighbour(page, host.pages, chance)),
            45..73 => Target::Page(host, chance.popular(host.pages)),
            73..95 => {
                let other = chance.popular(self.hosts.len() as u64);
                let other = usize::try_from(other).unwrap_or_default();
                let other = self.hosts.get(other).unwrap_or(host);
                Target::Page(other, chance.popular(other.pages))
            }
            95..97 => Target::Folder("go", chance.popular(host.pages)),
            97..99 => Target::Folder("private", chance.below_large(100)),
            _ => Target::Folder("missing", chance.below_large(100)),
        }
    }

    fn write_link(&self, sheet: &mut Sheet<'_>, target: Target<'_>, chance: &mut Chance) {
        sheet.write_href(target, chance);
        let is_elsewhere = matches!(target, Target::Page(host, page)
            if page != 0 && host.number != sheet.host.number);
        let attribute: &[u8] = if is_elsewhere && chance.percent(5) {
            b" rel=\"nofollow\""
        } else {
            b""
        };
        let words = self.prose[sheet.host.dialect].phrase(chance);
        let Sheet { out, href, .. } = sheet;
        for part in [
            b"<a href=\"",
            href.as_bytes(),
            b"\"",
            attribute,
            b">",
            words,
            b"</a> ",
        ] {
            out.extend_from_slice(part);
        }
    }
}

impl Sheet<'_> {
    /// Puts the reference to a target into `href`, in one of the forms that pages use.
    fn write_href(&mut self, target: Target<'_>, chance: &mut Chance) {
        self.href.clear();
        let form = chance.below_large(100);
        let written = match target {
            Target::Folder(folder, number) => write!(self.href, "/{folder}/{number}"),
            Target::Page(host, page) if host.number != self.host.number => {
                self.href.push_str(&host.origin);
                host.write_path(page, &mut self.href);
                Ok(())
            }
            // The empty reference is the page itself, not the home page, so that one is never relative.
            Target::Page(host, page) if form < 20 && page != 0 => {
                let way_up = if self.has_base {
                    ""
                } else {
                    host.way_up(self.page)
                };
                self.href.push_str(way_up);
                host.write_rootless_path(page, &mut self.href);
                Ok(())
            }
            Target::Page(host, page) => {
                if form >= 80 {
                    self.href.push_str(&host.origin);
                }
                host.write_path(page, &mut self.href);
                Ok(())
            }
        };
        debug_assert!(written.is_ok(), "a string takes all that is written to it");
        if let (Some(session), Target::Page(..)) = (self.traps.session, target) {
            let separator = if self.href.contains('?') {
                "&amp;"
            } else {
                "?"
            };
            let written = write!(self.href, "{separator}sid={session:016x}");
            debug_assert!(written.is_ok(), "a string takes all that is written to it");
        }
    }

    fn raw(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.out.extend_from_slice(part);
        }
    }

    fn text(&mut self, text: std::fmt::Arguments<'_>) {
        let written = std::io::Write::write_fmt(&mut self.out, text);
        debug_assert!(written.is_ok(), "memory takes all that is written to it");
    }

    fn finish(&mut self, version: Version) {
        let (host, page) = (self.host, self.page);
        self.text(format_args!(
            "<footer>{} / {page} / {:016x}</footer>\n</body>\n</html>\n",
            host.name,
            version.tag()
        ));
    }
}

/// The children of a node in the tree over `0..count` in which each has [`FANOUT`].
fn children(node: u64, count: u64) -> impl Iterator<Item = u64> {
    let first = node.saturating_mul(FANOUT).saturating_add(1);
    first.min(count)..first.saturating_add(FANOUT).min(count)
}

fn neighbour(page: u64, pages: u64, chance: &mut Chance) -> u64 {
    const REACH: u64 = 50;
    let first = page.saturating_sub(REACH);
    let end = page.saturating_add(REACH).min(pages);
    first + chance.below_large(end - first)
}

/// Half to one and a half times the mean.
fn drawn_size(chance: &mut Chance, mean: u32) -> u32 {
    mean / 2 + u32::try_from(chance.below_large(u64::from(mean) + 1)).unwrap_or_default()
}
