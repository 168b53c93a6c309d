//! What a body is: HTML, a sitemap, a feed, a style sheet, or something else.
//!
//! The declared type decides, as in browsers (MIME Sniffing standard, sections 7 and 8): the bytes are asked only where the type
//! is missing, unknown or too general to tell (XML, JSON, gzip), and where HTML is declared but a feed or a well-known binary
//! format is sent.

use std::borrow::Cow;

use serde::Serialize;

use crate::{charset, sitemap};

/// How much of a body is looked at.
pub(crate) const SNIFF_BYTES: usize = 1445;

/// What a body is, as far as a crawler makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContentKind {
    /// A page: [`analyze`](crate::analyze) reads it.
    Html,
    /// A sitemap or an index of sitemaps, in XML: [`sitemap::parse`] reads it.
    Sitemap,
    /// RSS, Atom or JSON Feed: [`feed::parse`](crate::feed::parse) reads it.
    Feed,
    /// A style sheet.
    Css,
    /// Anything else: kept, but not read.
    Other,
}

/// Tells what `body` is.
#[must_use]
pub fn kind_of(body: &[u8], content_type: Option<&str>) -> ContentKind {
    let essence = content_type
        .and_then(|value| value.split([';', ',']).next())
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    match &*essence {
        "text/html" if is_binary(body) => ContentKind::Other,
        "text/html" => match of_markup(body) {
            Some(list @ (ContentKind::Feed | ContentKind::Sitemap)) => list,
            _ => ContentKind::Html,
        },
        "application/xhtml+xml" => ContentKind::Html,
        "text/css" => ContentKind::Css,
        "application/feed+json" => ContentKind::Feed,
        "application/json" | "text/json" => of_json(body),
        "application/gzip" | "application/x-gzip" => of_gzip(body),
        "application/octet-stream" => match of_bytes(body) {
            list @ (ContentKind::Feed | ContentKind::Sitemap) => list,
            _ => ContentKind::Other,
        },
        "" | "unknown/unknown" | "application/unknown" | "*/*" => of_bytes(body),
        "text/plain" => match of_markup(body) {
            Some(list @ (ContentKind::Feed | ContentKind::Sitemap)) => list,
            _ => ContentKind::Other,
        },
        "text/xml" | "application/xml" => of_markup(body).unwrap_or(ContentKind::Other),
        xml if xml.ends_with("+xml") => of_markup(body).unwrap_or(ContentKind::Other),
        malformed if !malformed.contains('/') => of_bytes(body),
        _ => ContentKind::Other,
    }
}

fn of_bytes(body: &[u8]) -> ContentKind {
    if is_binary(body) {
        return of_gzip(body);
    }
    of_markup(body).unwrap_or_else(|| of_json(body))
}

/// Tells markup by its first tag that says something.
fn of_markup(body: &[u8]) -> Option<ContentKind> {
    let start = start_of(body);
    let mut rest = &*start;
    loop {
        rest = rest.trim_ascii_start();
        rest = if let Some(comment) = rest.strip_prefix(b"<!--") {
            after(comment, b"-->")?
        } else if rest.starts_with(b"<?") {
            after(rest, b"?>")?
        } else if starts_with_tag(rest, "!doctype html") {
            return Some(ContentKind::Html);
        } else if rest.starts_with(b"<!") {
            after(rest, b">")?
        } else {
            return of_root(rest);
        };
    }
}

/// Tells markup by its root element; HTML also begins with others (MIME Sniffing standard, section 7.1).
fn of_root(markup: &[u8]) -> Option<ContentKind> {
    const HTML: [&str; 16] = [
        "html", "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title",
        "b", "body", "br", "p", "frameset",
    ];
    let is = |name: &&str| starts_with_tag(markup, name);
    let prefixed = markup
        .iter()
        .position(|byte| matches!(byte, b':' | b' ' | b'>'))
        .filter(|at| markup[*at] == b':')
        .map_or(markup, |colon| &markup[colon..]);
    let is_prefixed = |name: &&str| is(name) || starts_with_tag(prefixed, name);
    if ["urlset", "sitemapindex"].iter().any(is_prefixed) {
        Some(ContentKind::Sitemap)
    } else if ["rss", "feed", "rdf"].iter().any(is_prefixed) {
        Some(ContentKind::Feed)
    } else if HTML.iter().any(is) {
        Some(ContentKind::Html)
    } else {
        None
    }
}

/// Whether `markup` begins with a tag of that name; its first byte, the bracket or a prefix's colon, does not matter.
fn starts_with_tag(markup: &[u8], name: &str) -> bool {
    markup
        .first()
        .is_some_and(|first| matches!(first, b'<' | b':'))
        && markup
            .get(1..=name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
        && markup
            .get(name.len() + 1)
            .is_some_and(|byte| matches!(byte, b'>' | b'/' | b'[') || byte.is_ascii_whitespace())
}

fn of_json(body: &[u8]) -> ContentKind {
    let start = start_of(body);
    let start = start.trim_ascii_start();
    let is_feed =
        start.starts_with(b"{") && memchr::memmem::find(start, b"jsonfeed.org/version/").is_some();
    if is_feed {
        ContentKind::Feed
    } else {
        ContentKind::Other
    }
}

/// Sitemaps come compressed as files, whatever the server calls them.
fn of_gzip(body: &[u8]) -> ContentKind {
    match sitemap::gunzip(body, SNIFF_BYTES) {
        Some(start) if of_markup(&start) == Some(ContentKind::Sitemap) => ContentKind::Sitemap,
        _ => ContentKind::Other,
    }
}

fn is_binary(body: &[u8]) -> bool {
    const SIGNATURES: [&[u8]; 9] = [
        b"%PDF-",
        b"\x89PNG",
        b"GIF8",
        b"\xFF\xD8\xFF",
        b"PK\x03\x04",
        b"\x1F\x8B",
        b"RIFF",
        b"Rar!\x1A",
        b"wOF",
    ];
    SIGNATURES
        .iter()
        .any(|signature| body.starts_with(signature))
}

/// The first bytes, without a byte order mark; those of UTF-16 as UTF-8.
pub(crate) fn start_of(body: &[u8]) -> Cow<'_, [u8]> {
    let start = &body[..body.len().min(SNIFF_BYTES)];
    match start.strip_prefix(b"\xEF\xBB\xBF") {
        Some(text) => Cow::Borrowed(text),
        None => charset::utf_8_of_utf_16(start),
    }
}

fn after<'a>(text: &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    let at = memchr::memmem::find(text, end)?;
    Some(&text[at + end.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ContentKind::{Css, Feed, Html, Other, Sitemap};

    const RSS: &str = "<?xml version='1.0'?>\n<!-- x -->\n<rss version='2.0'>";
    const ATOM: &str = "\u{FEFF}<feed xmlns='http://www.w3.org/2005/Atom'>";
    const URLSET: &str =
        "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>";

    #[test]
    fn the_declared_type_decides_where_it_can() {
        for (content_type, body, kind) in [
            ("text/html", "anything", Html),
            ("Text/HTML; charset=utf-8", "", Html),
            ("application/xhtml+xml", RSS, Html),
            ("text/html", RSS, Feed),
            ("text/html", ATOM, Feed),
            ("text/html", URLSET, Sitemap),
            ("text/html", "%PDF-1.4", Other),
            ("text/css", "<html>", Css),
            ("text/plain", "<html>", Other),
            ("image/png", "<html>", Other),
            ("image/svg+xml", "<svg>", Other),
            ("text/xml", URLSET, Sitemap),
            ("application/xml", "<sitemapindex>", Sitemap),
            ("application/xml", "<sm:urlset>", Sitemap),
            ("application/xml", "<html xmlns='x'>", Html),
            ("application/xml", "<other>", Other),
            ("application/rss+xml", RSS, Feed),
            ("application/rdf+xml", "<rdf:RDF xmlns:rdf='x'>", Feed),
            ("application/atom+xml", ATOM, Feed),
            ("application/feed+json", "", Feed),
            (
                "application/json",
                "{\"version\": \"https://jsonfeed.org/version/1.1\"}",
                Feed,
            ),
            ("application/json", "{}", Other),
        ] {
            assert_eq!(
                kind_of(body.as_bytes(), Some(content_type)),
                kind,
                "{content_type} {body}"
            );
        }
    }

    #[test]
    fn utf_16_makes_no_difference_to_lists() {
        const JSON: &str = "{\"version\": \"https://jsonfeed.org/version/1.1\"}";
        let long = format!("<?xml version='1.0'?><!--{}--><rss>", "x".repeat(500));
        for (content_type, text, kind) in [
            ("application/rss+xml", RSS, Feed),
            ("application/rss+xml; charset=utf-16", &long, Feed),
            ("text/xml; charset=utf-16", "\n<feed>", Feed),
            ("application/xml; charset=utf-8", URLSET, Sitemap),
            ("text/xml", "<sitemapindex>", Sitemap),
            ("text/html; charset=utf-16be", RSS, Feed),
            ("text/html", "<p>", Html),
            ("text/plain", URLSET, Sitemap),
            ("application/octet-stream", URLSET, Sitemap),
            ("application/json", JSON, Feed),
            ("application/xml", "<other>", Other),
            ("", URLSET, Sitemap),
            ("", "<html>", Html),
            ("", "text", Other),
        ] {
            for mark in ["", "\u{FEFF}"] {
                let units = || mark.encode_utf16().chain(text.encode_utf16());
                let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
                let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
                for body in [big, little] {
                    assert_eq!(
                        kind_of(&body, Some(content_type)),
                        kind,
                        "{content_type} {text}"
                    );
                }
            }
        }
    }

    #[test]
    fn undeclared_bodies_are_looked_at() {
        for (body, kind) in [
            ("  <!DOCTYPE HTML>", Html),
            ("<!doctype html public>", Html),
            ("<!-- x --><p>", Html),
            ("<html>", Html),
            ("<article>", Other),
            ("<html", Other),
            ("<!-- never closed", Other),
            ("text", Other),
            ("", Other),
            (RSS, Feed),
            (URLSET, Sitemap),
            ("\u{1F}", Other),
        ] {
            for content_type in [None, Some(""), Some("*/*"), Some("nonsense")] {
                assert_eq!(kind_of(body.as_bytes(), content_type), kind, "{body}");
            }
        }
    }
}
