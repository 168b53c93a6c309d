//! Feeds: what is new on a site, in RSS, Atom or JSON Feed.
//!
//! A feed is a source of links like any page; what it says in its entries' texts is not looked at. Many feeds are no XML: a bare `&`, a byte of another charset, a
//! tag in a title, an end that is missing. So they are read as browsers read HTML, tag by tag (`tags`), and a mistake costs at most the entry that it is in. Elements
//! count by their names, whatever the version or the name space says; those of other vocabularies (`media:`, `itunes:`) do not.

mod json;
mod tags;

use std::rc::Rc;

use junkai_weburl::without_extra_slashes;
use serde::Serialize;
use url::Url;

use crate::charset::{self, Charset, CharsetSource};
use crate::modified::Modified;

/// Most bytes of a feed that are read.
pub const BYTES_MAX: usize = 8 << 20;
/// Most entries that are taken.
pub const ENTRIES_MAX: usize = 5_000;
/// Longest URL that is taken, and longest text that is kept of an entry.
const URL_LENGTH_MAX: usize = 8192;

/// One entry of a feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The absolute URL of the page, as `url::Url` writes it, without fragment; not in canonical form.
    pub url: String,
    /// The title, if it has one.
    pub title: Option<String>,
    /// When it was last changed, or published, as written.
    pub updated: Option<String>,
}

impl Entry {
    /// When it was last changed, or published.
    #[must_use]
    pub fn modified(&self) -> Option<Modified> {
        Modified::parse(self.updated.as_deref()?)
    }
}

/// Reads a feed; `base` is its own URL. Of what is no feed nothing is taken, of one that breaks off the entries before.
#[must_use]
pub fn parse(body: &[u8], content_type: Option<&str>, base: &Url) -> Vec<Entry> {
    let limited = &body[..body.len().min(BYTES_MAX)];
    let text = charset::decode(limited, charset_of(limited, content_type));
    let drafts = if text.trim_start().starts_with('{') {
        json::read(&text, ENTRIES_MAX)
    } else {
        tags::read(&text, ENTRIES_MAX)
    };
    let entry = |draft: Draft| draft.entry(base);
    drafts.into_iter().filter_map(entry).collect()
}

/// UTF-16 is told by its zeros, also without a byte order mark; a feed that declares nothing is UTF-8, as XML has it, unless more of it is wrong than right
/// then; anything else as everywhere.
fn charset_of(body: &[u8], content_type: Option<&str>) -> Charset {
    let found = |encoding| Charset {
        encoding,
        source: CharsetSource::Detected,
    };
    if let Some(encoding) = charset::utf_16_by_zeros(body) {
        return found(encoding);
    }
    let charset = charset::detect(body, content_type, None);
    let is_told = !matches!(
        charset.source,
        CharsetSource::Detected | CharsetSource::Default
    );
    if is_told || !is_mostly_utf8(body) {
        return charset;
    }
    found(encoding_rs::UTF_8)
}

/// Whether bytes beyond ASCII are UTF-8 more often than not.
fn is_mostly_utf8(body: &[u8]) -> bool {
    let (mut right, mut wrong) = (0usize, 0usize);
    for chunk in body.utf8_chunks() {
        right += chunk.valid().chars().filter(|it| !it.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    wrong <= right
}

/// What was read of one entry.
#[derive(Debug, Default)]
struct Draft {
    /// Where the page is that people read.
    page: Option<String>,
    /// Any other link.
    other: Option<String>,
    /// Its name, if that is a permanent link.
    name: Option<String>,
    title: Option<String>,
    updated: Option<String>,
    published: Option<String>,
    /// What its links are relative to, where the feed says so: one for all entries that share it.
    feed_base: Option<Rc<str>>,
    /// The same where the entry says so, relative to that.
    base: Option<String>,
}

impl Draft {
    /// The entry, if its page has an address on the web.
    fn entry(self, feed: &Url) -> Option<Entry> {
        let mut base = feed.clone();
        for own in [self.feed_base.as_deref(), self.base.as_deref()]
            .into_iter()
            .flatten()
        {
            base = base.join(without_extra_slashes(own)).unwrap_or(base);
        }
        let mut links = [self.page, self.other, self.name].into_iter().flatten();
        let url = links.find_map(|link| address(&base, &link))?;
        Some(Entry {
            url,
            title: self.title.filter(|title| !title.is_empty()),
            updated: self.updated.or(self.published),
        })
    }
}

/// The absolute URL of a link, if it is one of the web.
fn address(base: &Url, link: &str) -> Option<String> {
    let mut url = base.join(without_extra_slashes(link.trim())).ok()?;
    url.set_fragment(None);
    let is_taken = matches!(url.scheme(), "http" | "https") && url.as_str().len() <= URL_LENGTH_MAX;
    is_taken.then(|| url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(feed: &[u8], expected: &[(&str, Option<&str>, Option<&str>)]) {
        check_as(feed, None, expected);
    }

    #[track_caller]
    fn check_as(
        feed: &[u8],
        content_type: Option<&str>,
        expected: &[(&str, Option<&str>, Option<&str>)],
    ) {
        let base = Url::parse("http://example.org/blog/feed").unwrap();
        let found = parse(feed, content_type, &base);
        let found: Vec<_> = found
            .iter()
            .map(|entry| {
                (
                    &*entry.url,
                    entry.title.as_deref(),
                    entry.updated.as_deref(),
                )
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[track_caller]
    fn check_links(feed: &str, expected: &[&str]) {
        let base = Url::parse("http://example.org/").unwrap();
        let found = parse(feed.as_bytes(), None, &base);
        let found: Vec<&str> = found.iter().map(|entry| &*entry.url).collect();
        assert_eq!(found, expected, "{feed}");
    }

    #[test]
    fn rss_atom_and_json_are_read() {
        check(
            b"<rss version='2.0'><channel><title>t</title><link>http://example.org/</link>
              <item><title>A &amp; B</title><link>http://example.org/a?x=1&amp;y=2#c</link>
                <pubDate>Mon, 06 Sep 2010 00:01:00 +0000</pubDate></item>
              <item><title>no link</title></item>
              <item><link>mailto:x@example.org</link></item></channel></rss>",
            &[(
                "http://example.org/a?x=1&y=2",
                Some("A & B"),
                Some("Mon, 06 Sep 2010 00:01:00 +0000"),
            )],
        );
        check(
            b"<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title><id>f</id><updated>2020-01-02T03:04:05Z</updated>
              <entry><id>e</id><title>E</title><updated>2020-01-02T03:04:05Z</updated>
                <link rel='edit' href='/edit/1'/><link rel='alternate' href='1.html'/></entry></feed>",
            &[(
                "http://example.org/blog/1.html",
                Some("E"),
                Some("2020-01-02T03:04:05Z"),
            )],
        );
        check(
            br#"{"version": "https://jsonfeed.org/version/1", "title": "t",
                "items": [{"id": "1", "url": "https://example.org/j", "content_text": "x", "date_modified": "2020-01-02"}]}"#,
            &[("https://example.org/j", None, Some("2020-01-02"))],
        );
    }

    #[test]
    fn older_and_odder_vocabularies_are_read() {
        // RSS 1.0, where the subject is the address.
        check_links(
            "<rdf:RDF xmlns='http://purl.org/rss/1.0/'><channel rdf:about='http://a/'><link>http://a/</link></channel>
             <item rdf:about='http://a/1'><title>1</title></item></rdf:RDF>",
            &["http://a/1"],
        );
        // Atom 0.3, and a base of its own.
        check_links(
            "<feed version='0.3' xmlns='http://purl.org/atom/ns#' xml:base='http://b/x/'>
             <entry xml:base='y/'><link rel='alternate' type='text/html' href='2'/><modified>2003-12-13T18:30:02Z</modified></entry></feed>",
            &["http://b/x/y/2"],
        );
        // A default name space, and no known version.
        check_links(
            "<rss xmlns='http://example.com/odd' version='7'><channel><item><link>http://c/3</link></item></channel></rss>",
            &["http://c/3"],
        );
        // Names that are links, and names that are not.
        check_links(
            "<rss><channel><item><guid>http://d/4</guid></item><item><guid isPermaLink='false'>http://d/no</guid></item>
             <item><guid isPermaLink='true'>http://d/5</guid><link></link></item></channel></rss>",
            &["http://d/4", "http://d/5"],
        );
        // Prefixes.
        check_links(
            "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:entry><a:link href='http://e/6'/></a:entry></a:feed>",
            &["http://e/6"],
        );
    }

    #[test]
    fn what_others_say_within_an_entry_does_not_count() {
        check_links(
            "<rss><channel><item><media:content url='http://no/m'/><media:title>no</media:title><itunes:image href='http://no/i'/>
             <source url='http://no/s'>x</source><atom:link rel='self' href='http://no/self'/><link>http://a/1</link>
             <description>&lt;link&gt;http://no/d&lt;/link&gt;</description></item></channel></rss>",
            &["http://a/1"],
        );
        check_links(
            "<feed><entry><content type='xhtml'><div><link href='http://no/c'/><title>no</title></div></content>
             <source><link href='http://no/s'/><id>http://no/</id></source><link href='http://a/2'/></entry></feed>",
            &["http://a/2"],
        );
    }

    /// Bounds what a feed of few bytes can ask for in memory, whatever it repeats.
    #[test]
    fn a_text_that_is_too_long_is_kept_nowhere() {
        let long = format!("http://example.org/{}", "a".repeat(URL_LENGTH_MAX));
        let feed = format!(
            "<feed xml:base='{long}/x/'><entry xml:base='{long}/y/'><link href='z'/></entry>
             <entry><link href='{long}'/><title>{long}</title><id>1</id></entry></feed>"
        );
        for draft in tags::read(&feed, ENTRIES_MAX) {
            assert_eq!(draft.feed_base, None);
            let texts = [draft.page, draft.other, draft.name, draft.title, draft.base];
            let longest = texts.into_iter().flatten().map(|text| text.len()).max();
            assert!(longest.unwrap_or_default() <= URL_LENGTH_MAX);
        }
        check_links(&feed, &["http://example.org/z"]);
        let feed = format!(
            r#"{{"items": [{{"url": "{long}", "title": "{long}", "id": [1, {{"a": {{}}}}]}}, {{"url": 7}}, {{"url": "/b", "tags": [[]]}}, 5, {{"url": "/c"}}]}}"#
        );
        for draft in json::read(&feed, ENTRIES_MAX) {
            let texts = [draft.page, draft.title];
            let longest = texts.into_iter().flatten().map(|text| text.len()).max();
            assert!(longest.unwrap_or_default() <= URL_LENGTH_MAX);
        }
        check_links(&feed, &["http://example.org/b", "http://example.org/c"]);
    }

    #[test]
    fn a_mistake_costs_at_most_its_entry() {
        let feed = |middle: &str| {
            format!(
                "<?xml version='1.0'?><rss version='2.0'><channel><item><link>http://a/1</link></item>{middle}<item><link>http://a/3</link></item></channel></rss>"
            )
        };
        for middle in [
            "<item><title>Q & A</title><link>http://a/2?x=1&y=2&copy=3</link></item>",
            "<item><title>x < y</title><link>http://a/2?x=1&y=2&copy=3</link></item>",
            "<item><title>a <br> <b>b</title><link>http://a/2?x=1&y=2&copy=3</link></item>",
            "<item><title><![CDATA[ <item> ]]></title><link><![CDATA[http://a/2?x=1&y=2&copy=3]]></link></item>",
            "<item><title>&nbsp;&unknown;</title><link>\n http://a/2?x=1&y=2&copy=3 \n</link>",
            "<!-- <item> --><item attribute='a>b'><link>http://a/2?x=1&y=2&copy=3</link></item>",
        ] {
            let expected = ["http://a/1", "http://a/2?x=1&y=2&copy=3", "http://a/3"];
            check_links(&feed(middle), &expected);
        }
        for middle in [
            "<item><link>http://[</link></item>",
            "<item><title>torn</item>",
            "<item <<<< ></item>",
            "</item></item>",
        ] {
            check_links(&feed(middle), &["http://a/1", "http://a/3"]);
        }
        let whole = feed("<item><link>http://a/2</link></item>");
        for end in 0..whole.len() {
            let base = Url::parse("http://example.org/").unwrap();
            let found = parse(&whole.as_bytes()[..end], None, &base);
            for entry in &found {
                assert!(
                    whole.contains(&format!("<link>{}</link>", entry.url)),
                    "{found:?}"
                );
            }
        }
        check_links(
            r#"{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "http://a/1"}, {"id": 7}, {"url": "http://a/3"}, {"url": "http"#,
            &["http://a/1", "http://a/3"],
        );
    }

    #[test]
    fn other_encodings_are_decoded() {
        let feed = "<?xml version='1.0' encoding='Shift_JIS'?><rss version='2.0'><channel><title>t</title>
            <item><title>日本語の表題</title><link>http://example.org/</link></item></channel></rss>";
        let expected = [("http://example.org/", Some("日本語の表題"), None)];
        let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode(feed);
        check(&bytes, &expected);
        let undeclared = feed.replace(" encoding='Shift_JIS'", "");
        let (bytes, _, _) = encoding_rs::EUC_JP.encode(&undeclared);
        check_as(
            &bytes,
            Some("application/rss+xml; charset=EUC-JP"),
            &expected,
        );
        for (bom, big) in [(true, true), (true, false), (false, true), (false, false)] {
            let units = bom
                .then_some(0xfeff)
                .into_iter()
                .chain(undeclared.encode_utf16());
            let bytes: Vec<u8> = units
                .flat_map(|unit| {
                    if big {
                        unit.to_be_bytes()
                    } else {
                        unit.to_le_bytes()
                    }
                })
                .collect();
            check(&bytes, &expected);
            // Odd ends, too.
            check(&bytes[..bytes.len() - 1], &expected);
        }
        // One byte of Latin-1 in what is otherwise UTF-8.
        let (before, after) = undeclared.split_at(undeclared.find("<item>").unwrap());
        let bytes = [
            before.as_bytes(),
            b"<description>caf\xe9</description>",
            after.as_bytes(),
        ];
        check(&bytes.concat(), &expected);
    }

    #[test]
    fn what_is_no_feed_has_no_entries() {
        for body in [
            "",
            "<html>",
            "{}",
            "{",
            "<rss",
            "[1,2]",
            "<rss version='2.0'><channel><item>",
        ] {
            check(body.as_bytes(), &[]);
        }
    }

    #[test]
    fn limits_hold() {
        let base = Url::parse("http://example.org/").unwrap();
        let items: Vec<_> = (0..=ENTRIES_MAX)
            .map(|item| format!("<item><link>/{item}</link></item>"))
            .collect();
        let feed = format!(
            "<rss version='2.0'><channel>{}</channel></rss>",
            items.concat()
        );
        assert_eq!(parse(feed.as_bytes(), None, &base).len(), ENTRIES_MAX);

        let deep = format!("<rss version='2.0'><channel>{}", "<item>".repeat(100_000));
        assert_eq!(parse(deep.as_bytes(), None, &base), []);
        let long = format!("<rss><item><link>{}</link></item></rss>", "x".repeat(9000));
        assert_eq!(parse(long.as_bytes(), None, &base), []);
    }
}
