//! Sitemaps: where a site lists its pages.
//!
//! <https://www.sitemaps.org/protocol.html>: XML (`urlset`, `sitemapindex`), plain text with a URL per line, either also as gzip.
//! Errors are tolerated: what stands before one is taken. Elements of other name spaces (images, news) are skipped.
//! Not here: whether the site may speak for the URLs that it lists.

use std::borrow::Cow;
use std::io::Read as _;
use std::time::Duration;

use encoding_rs::UTF_8;
use flate2::bufread::MultiGzDecoder;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};
use serde::Serialize;
use url::Url;

use crate::charset;
use crate::kind::SNIFF_BYTES;
use crate::modified::Modified;
use crate::resolve::Resolver;

/// Most bytes of a sitemap that are read, decompressed: the protocol's limit.
pub const BYTES_MAX: usize = 50 << 20;
/// Most entries that are taken: the protocol's limit.
pub const ENTRIES_MAX: usize = 50_000;
/// Longest text of an element; the protocol allows URLs of 2,048 characters.
const TEXT_LENGTH_MAX: usize = 8192;

/// What a sitemap lists.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sitemap {
    /// Further sitemaps.
    pub index: Vec<Entry>,
    /// Pages.
    pub urls: Vec<Entry>,
    /// Whether there may be more: a limit was reached, or the text broke off.
    pub truncated: bool,
}

/// One line of a sitemap.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The absolute URL, as `url::Url` writes it, without fragment; not in canonical form.
    pub loc: String,
    /// When it last changed, as written: a W3C date, or whatever the site thinks is one.
    pub lastmod: Option<String>,
    /// How often it changes, as the site claims.
    pub changefreq: Option<ChangeFrequency>,
    /// How important it is among the site's pages, from 0 to 1; 0.5 where not given.
    pub priority: Option<f32>,
}

impl Entry {
    /// When it last changed, if what is written is a date.
    #[must_use]
    pub fn modified(&self) -> Option<Modified> {
        Modified::parse(self.lastmod.as_deref()?)
    }
}

/// How often a page changes, as its site claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeFrequency {
    /// At every access.
    Always,
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
    /// Every year.
    Yearly,
    /// Not at all: an archived page.
    Never,
}

impl ChangeFrequency {
    /// The time between two changes; none for a page that never changes. What changes at every access changes every minute, say.
    #[must_use]
    pub const fn interval(self) -> Option<Duration> {
        const HOURS_PER_DAY: u64 = 24;
        Some(match self {
            Self::Always => Duration::from_mins(1),
            Self::Hourly => Duration::from_hours(1),
            Self::Daily => Duration::from_hours(HOURS_PER_DAY),
            Self::Weekly => Duration::from_hours(7 * HOURS_PER_DAY),
            Self::Monthly => Duration::from_hours(30 * HOURS_PER_DAY),
            Self::Yearly => Duration::from_hours(365 * HOURS_PER_DAY),
            Self::Never => return None,
        })
    }
}

/// Reads a sitemap; `base` is its own URL.
#[must_use]
pub fn parse(body: &[u8], base: &Url) -> Sitemap {
    let decompressed = gunzip(body, BYTES_MAX);
    let bytes = decompressed.as_deref().unwrap_or(body);
    let limited = &bytes[..bytes.len().min(BYTES_MAX)];
    let text = charset::decode(limited, charset::detect(limited, None, None));
    let mut reading = Reading::new(base, bytes.len() >= BYTES_MAX);
    if text.trim_start().starts_with('<') {
        reading.read_xml(&text);
    } else {
        reading.read_lines(&text);
    }
    reading.sitemap
}

/// Whether the text of a file, which may be gzip, is a list of URLs, one a line: nothing but its place tells that it is a sitemap.
#[must_use]
pub fn is_list(body: &[u8]) -> bool {
    const LINES_LOOKED_AT: usize = 20;
    let decompressed = gunzip(body, SNIFF_BYTES);
    let bytes = decompressed.as_deref().unwrap_or(body);
    let start = &bytes[..bytes.len().min(SNIFF_BYTES)];
    let text = charset::utf_8_of_utf_16(start);
    // The last line may be cut.
    let end = if start.len() < SNIFF_BYTES {
        text.len()
    } else {
        memchr::memrchr(b'\n', &text).unwrap_or(0)
    };
    let text = String::from_utf8_lossy(&text[..end]);
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty()).peekable();
    lines.peek().is_some() && lines.take(LINES_LOOKED_AT).all(is_absolute)
}

/// Whether a line may be an absolute URL of the web.
fn is_absolute(line: &str) -> bool {
    let starts_with = |scheme: &str| {
        let start = line.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    starts_with("http://") || starts_with("https://")
}

/// Decompresses gzip, as far as it goes but at most `limit` bytes; none if it is not gzip.
pub(crate) fn gunzip(body: &[u8], limit: usize) -> Option<Vec<u8>> {
    const MAGIC: &[u8] = b"\x1F\x8B";
    if !body.starts_with(MAGIC) {
        return None;
    }
    let mut decompressed = Vec::new();
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    // A stream that breaks off has still brought what came before.
    let _ = MultiGzDecoder::new(body)
        .take(limit)
        .read_to_end(&mut decompressed);
    Some(decompressed)
}

/// A sitemap being read.
struct Reading {
    sitemap: Sitemap,
    resolver: Resolver,
}

/// The elements of one `url` or `sitemap`.
#[derive(Default)]
struct Fields {
    loc: String,
    lastmod: String,
    changefreq: String,
    priority: String,
}

/// Where in the document the reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    /// In a `url` or `sitemap` that opened at this depth.
    Entry(usize),
    /// In one of its children.
    Field(usize, Field),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Loc,
    Lastmod,
    Changefreq,
    Priority,
}

impl Reading {
    fn new(base: &Url, truncated: bool) -> Self {
        Self {
            sitemap: Sitemap {
                truncated,
                ..Sitemap::default()
            },
            resolver: Resolver::new(base.clone(), UTF_8),
        }
    }

    fn read_xml(&mut self, text: &str) {
        let mut reader = lenient_reader(text);
        let mut depth = 0_usize;
        let mut place = Place::Outside;
        let mut fields = Fields::default();
        let mut entry_name = String::new();
        loop {
            match reader.read_event() {
                Ok(Event::Start(tag)) => {
                    depth += 1;
                    let name = tag.local_name();
                    if place != Place::Outside && tag.name().as_ref() == entry_name {
                        // The entry before has no end: what it says is taken, and this one is another.
                        let is_sitemap = name.as_ref() == "sitemap";
                        if !self.add(&std::mem::take(&mut fields), is_sitemap) {
                            return;
                        }
                        place = Place::Outside;
                    }
                    let before = place;
                    place = place_after_start(place, depth, name.as_ref());
                    match (before, place) {
                        (Place::Outside, Place::Entry(_)) => {
                            tag.name().as_ref().clone_into(&mut entry_name);
                        }
                        // An entry has one address; of two, the first.
                        (_, Place::Field(_, Field::Loc)) if !fields.loc.is_empty() => {
                            place = before;
                        }
                        _ => {}
                    }
                }
                Ok(Event::End(tag)) => {
                    let name = tag.local_name();
                    if let Place::Entry(opened) = place
                        && opened >= depth
                    {
                        if !self.add(&std::mem::take(&mut fields), name.as_ref() == "sitemap") {
                            return;
                        }
                        place = Place::Outside;
                    } else if let Place::Field(opened, _) = place
                        && opened + 1 >= depth
                    {
                        place = Place::Entry(opened);
                    }
                    depth = depth.saturating_sub(1);
                }
                Ok(Event::Text(text)) => fields.push(place, depth, &text.xml10_content()),
                Ok(Event::CData(text)) => fields.push(place, depth, &text.xml10_content()),
                Ok(Event::GeneralRef(reference)) => {
                    fields.push(place, depth, &text_of(&reference));
                }
                Ok(Event::Eof) => {
                    self.sitemap.truncated |= place != Place::Outside;
                    return;
                }
                Ok(
                    Event::Empty(_)
                    | Event::Comment(_)
                    | Event::Decl(_)
                    | Event::PI(_)
                    | Event::DocType(_),
                ) => {}
                Err(_) => {
                    self.sitemap.truncated = true;
                    return;
                }
            }
        }
    }

    fn read_lines(&mut self, text: &str) {
        for line in text.lines() {
            let loc = line.trim();
            // A line that is no absolute URL is a mistake, and not a relative reference.
            if is_absolute(loc) && loc.len() <= TEXT_LENGTH_MAX {
                let fields = Fields {
                    loc: loc.to_owned(),
                    ..Fields::default()
                };
                if !self.add(&fields, false) {
                    return;
                }
            }
        }
    }

    /// Adds an entry; false when there is no room for it.
    fn add(&mut self, fields: &Fields, is_sitemap: bool) -> bool {
        let loc = fields.loc.trim();
        if loc.is_empty() {
            return true;
        }
        let Some(loc) = self.resolver.resolve(loc) else {
            return true;
        };
        if self.sitemap.index.len() + self.sitemap.urls.len() == ENTRIES_MAX {
            self.sitemap.truncated = true;
            return false;
        }
        let entry = Entry {
            loc,
            lastmod: Some(fields.lastmod.trim())
                .filter(|date| !date.is_empty())
                .map(str::to_owned),
            changefreq: change_frequency(fields.changefreq.trim()),
            priority: fields
                .priority
                .trim()
                .parse()
                .ok()
                .filter(|priority| (0.0..=1.0).contains(priority)),
        };
        if is_sitemap {
            self.sitemap.index.push(entry);
        } else {
            self.sitemap.urls.push(entry);
        }
        true
    }
}

fn lenient_reader(text: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    reader
}

fn place_after_start(place: Place, depth: usize, name: &str) -> Place {
    match place {
        Place::Outside if matches!(name, "url" | "sitemap") => Place::Entry(depth),
        Place::Entry(opened) if depth == opened + 1 => {
            let field = match name {
                "loc" => Field::Loc,
                "lastmod" => Field::Lastmod,
                "changefreq" => Field::Changefreq,
                "priority" => Field::Priority,
                _ => return place,
            };
            Place::Field(opened, field)
        }
        Place::Outside | Place::Entry(_) | Place::Field(..) => place,
    }
}

impl Fields {
    fn push(&mut self, place: Place, depth: usize, text: &str) {
        let Place::Field(opened, field) = place else {
            return;
        };
        let value = match field {
            Field::Loc => &mut self.loc,
            Field::Lastmod => &mut self.lastmod,
            Field::Changefreq => &mut self.changefreq,
            Field::Priority => &mut self.priority,
        };
        if depth == opened + 1 && value.len() + text.len() <= TEXT_LENGTH_MAX {
            value.push_str(text);
        }
    }
}

/// What a character reference or predefined entity stands for; unknown ones stand for themselves.
fn text_of(reference: &BytesRef<'_>) -> Cow<'static, str> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Cow::Owned(character.to_string());
    }
    match quick_xml::escape::resolve_xml_entity(reference) {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(format!("&{};", &**reference)),
    }
}

fn change_frequency(text: &str) -> Option<ChangeFrequency> {
    let frequency = match &*text.to_ascii_lowercase() {
        "always" => ChangeFrequency::Always,
        "hourly" => ChangeFrequency::Hourly,
        "daily" => ChangeFrequency::Daily,
        "weekly" => ChangeFrequency::Weekly,
        "monthly" => ChangeFrequency::Monthly,
        "yearly" => ChangeFrequency::Yearly,
        "never" => ChangeFrequency::Never,
        _ => return None,
    };
    Some(frequency)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn read(body: impl AsRef<[u8]>) -> Sitemap {
        parse(
            body.as_ref(),
            &Url::parse("http://example.org/maps/sitemap.xml").unwrap(),
        )
    }

    fn locs(entries: &[Entry]) -> Vec<&str> {
        entries.iter().map(|entry| &*entry.loc).collect()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// The example of the protocol.
    const URLSET: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
        <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
           <url>
              <loc>http://www.example.com/</loc>
              <lastmod>2005-01-01</lastmod>
              <changefreq>monthly</changefreq>
              <priority>0.8</priority>
           </url>
           <url><loc>http://www.example.com/catalog?item=12&amp;desc=vacation_hawaii</loc></url>
        </urlset>"#;

    #[test]
    fn pages_are_listed_with_what_is_said_of_them() {
        let sitemap = read(URLSET);
        assert_eq!(sitemap.index, []);
        assert!(!sitemap.truncated);
        let [first, second] = &sitemap.urls[..] else {
            panic!("two pages: {sitemap:?}");
        };
        assert_eq!(first.loc, "http://www.example.com/");
        assert_eq!(first.lastmod.as_deref(), Some("2005-01-01"));
        assert_eq!(first.changefreq, Some(ChangeFrequency::Monthly));
        assert_eq!(first.priority, Some(0.8));
        assert_eq!(
            second.loc,
            "http://www.example.com/catalog?item=12&desc=vacation_hawaii"
        );
        assert_eq!(
            (&second.lastmod, second.changefreq, second.priority),
            (&None, None, None)
        );
    }

    #[test]
    fn an_index_lists_sitemaps() {
        let sitemap = read(
            "<sitemapindex><sitemap><loc> http://example.org/a.xml.gz </loc><lastmod>2004-10-01T18:23:17+00:00</lastmod>
             </sitemap><sitemap><loc>/b.xml</loc></sitemap></sitemapindex>",
        );
        assert_eq!(
            locs(&sitemap.index),
            ["http://example.org/a.xml.gz", "http://example.org/b.xml"]
        );
        assert_eq!(sitemap.urls, []);
    }

    #[test]
    fn other_name_spaces_are_skipped_and_prefixes_are_not() {
        let sitemap = read(
            "<sm:urlset xmlns:sm='x'><sm:url><sm:loc><![CDATA[http://a/?x&y]]></sm:loc>
             <image:image><image:loc>http://a/i.png</image:loc><loc>http://no/</loc></image:image></sm:url></sm:urlset>",
        );
        assert_eq!(locs(&sitemap.urls), ["http://a/?x&y"]);
    }

    #[test]
    fn text_lists_a_url_per_line() {
        let sitemap =
            read("\u{FEFF}http://a/1\r\nhttps://b/2\n\nnonsense\n  HTTP://c/3  \nftp://d/\n");
        assert_eq!(
            locs(&sitemap.urls),
            ["http://a/1", "https://b/2", "http://c/3"]
        );
    }

    #[test]
    fn gzip_makes_no_difference() {
        assert_eq!(read(gzip(URLSET.as_bytes())), read(URLSET));
        let mut twice = gzip(&URLSET.as_bytes()[..100]);
        twice.extend(gzip(&URLSET.as_bytes()[100..]));
        assert_eq!(read(twice), read(URLSET));
    }

    #[test]
    fn what_breaks_off_is_taken_as_far_as_it_goes() {
        for (body, expected) in [
            (
                "<urlset><url><loc>http://a/</loc></url><url><loc>http://b",
                &["http://a/"][..],
            ),
            (
                "<urlset><url><loc>http://a/</loc></url><url <<< ",
                &["http://a/"],
            ),
            (
                "<urlset><url><loc>http://a/?x&y</loc></url>",
                &["http://a/?x&y"],
            ),
            (
                "<url><loc>javascript:x</loc></url><url><loc>http://a/</loc></url>",
                &["http://a/"],
            ),
            (
                "<urlset></url></url></urlset><url><loc>http://a/</loc></url>",
                &["http://a/"],
            ),
            ("<urlset><url><loc>http://a/</url>", &[]),
            ("<", &[]),
            ("", &[]),
        ] {
            assert_eq!(locs(&read(body).urls), expected, "{body}");
        }
        let whole = gzip(URLSET.as_bytes());
        let (half, whole) = (read(&whole[..whole.len() / 2]), read(&whole));
        assert!(half.truncated, "{half:?}");
        assert!(whole.urls.starts_with(&half.urls), "{half:?}");
        assert!(read("<urlset><url><loc>http://b").truncated);
    }

    #[test]
    fn an_entry_without_an_end_and_one_with_two_addresses_cost_nobody_else() {
        for (body, expected) in [
            (
                "<urlset><url><loc>http://a/</loc><url><loc>http://b/</loc></url><url><loc>http://c/</loc></url></urlset>",
                &["http://a/", "http://b/", "http://c/"][..],
            ),
            (
                "<urlset><url><loc>http://a/</loc><loc>http://b/</loc></url><url><loc>http://c/</loc></url></urlset>",
                &["http://a/", "http://c/"],
            ),
        ] {
            assert_eq!(locs(&read(body).urls), expected, "{body}");
        }
    }

    #[test]
    fn a_list_of_urls_is_told_by_its_lines() {
        assert!(is_list(b"\xef\xbb\xbfhttp://a/1\r\n\r\nHTTPS://b/2"));
        assert!(is_list(&gzip(b"http://a/1\nhttp://a/2\n")));
        let long = "http://a/".to_owned() + &"x".repeat(90) + "\n";
        assert!(is_list(long.repeat(1000).as_bytes()));
        for other in [
            "",
            "\n",
            "Hello\nhttp://a/",
            "http://a/\nand more",
            "<urlset>",
        ] {
            assert!(!is_list(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn other_encodings_are_decoded() {
        let text = "<?xml version='1.0' encoding='EUC-JP'?><urlset><url><loc>http://a/日本</loc></url></urlset>";
        let (bytes, _, _) = encoding_rs::EUC_JP.encode(text);
        assert_eq!(locs(&read(bytes).urls), ["http://a/%E6%97%A5%E6%9C%AC"]);
        let marked = format!("\u{FEFF}{URLSET}");
        let undeclared = "<urlset><url><loc>http://a/b</loc></url></urlset>";
        for text in [&marked, URLSET, undeclared, "http://a/1\r\nhttp://a/2\n"] {
            for units in [u16::to_be_bytes, u16::to_le_bytes] {
                let bytes: Vec<u8> = text.encode_utf16().flat_map(units).collect();
                assert_eq!(read(&bytes), read(text), "{text}");
                assert_eq!(is_list(&bytes), is_list(text.as_bytes()), "{text}");
                assert_eq!(read(gzip(&bytes)), read(text), "{text}");
            }
        }
    }

    #[test]
    fn limits_hold() {
        let many = "<url><loc>http://a/</loc></url>".repeat(ENTRIES_MAX + 1);
        let sitemap = read(format!("<urlset>{many}</urlset>"));
        assert_eq!((sitemap.urls.len(), sitemap.truncated), (ENTRIES_MAX, true));

        let bomb = gzip(&vec![b'\n'; BYTES_MAX + 1]);
        assert!(read(bomb).truncated);

        let long = format!(
            "<urlset><url><loc>http://a/{}</loc></url>",
            "x".repeat(TEXT_LENGTH_MAX)
        );
        assert_eq!(read(long).urls, []);

        let deep = "<url>".repeat(100_000);
        assert_eq!(read(deep).urls, []);
    }

    #[test]
    fn entries_tell_when_and_how_often_they_change() {
        let sitemap = read(
            "<urlset><url><loc>http://a/</loc><lastmod>2026-11-15</lastmod><changefreq>weekly</changefreq></url>
             <url><loc>http://b/</loc><lastmod>lately</lastmod><changefreq>never</changefreq></url>
             <url><loc>http://c/</loc></url></urlset>",
        );
        let day = Duration::from_hours(24);
        let precisions = sitemap.urls.iter().map(Entry::modified);
        let precisions: Vec<_> = precisions
            .map(|modified| modified.map(|modified| modified.precision))
            .collect();
        assert_eq!(precisions, [Some(day), None, None]);
        let intervals = sitemap.urls.iter().map(|entry| entry.changefreq);
        let intervals: Vec<_> = intervals
            .map(|frequency| frequency.map(ChangeFrequency::interval))
            .collect();
        assert_eq!(intervals, [Some(Some(day * 7)), Some(None), None]);
    }
}
