//! Feeds: what is new on a site, in RSS, Atom or JSON Feed.
//!
//! The parser is `feed-rs`. A feed is a source of links like any page; what it says in its entries' texts is not looked at.

use feed_rs::model;
use serde::Serialize;
use url::Url;

use crate::modified::Modified;

/// Most bytes of a feed that are read.
pub const BYTES_MAX: usize = 8 << 20;
/// Most entries that are taken.
pub const ENTRIES_MAX: usize = 5_000;
/// Longest URL that is taken.
const URL_LENGTH_MAX: usize = 8192;

/// One entry of a feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The absolute URL of the page, as `url::Url` writes it, without fragment; not in canonical form.
    pub url: String,
    /// The title, if it has one.
    pub title: Option<String>,
    /// When it was last changed, or published, in RFC 3339.
    pub updated: Option<String>,
}

impl Entry {
    /// When it was last changed, or published; to the second.
    #[must_use]
    pub fn modified(&self) -> Option<Modified> {
        Modified::parse(self.updated.as_deref()?)
    }
}

/// Reads a feed; `base` is its own URL. Of what is no feed, or breaks off, nothing is taken.
#[must_use]
pub fn parse(body: &[u8], base: &Url) -> Vec<Entry> {
    let limited = &body[..body.len().min(BYTES_MAX)];
    let parser = feed_rs::parser::Builder::new().base_uri(Some(base)).build();
    let Ok(feed) = parser.parse(limited) else {
        return Vec::new();
    };
    feed.entries
        .into_iter()
        .filter_map(|entry| entry_of(entry, base))
        .take(ENTRIES_MAX)
        .collect()
}

fn entry_of(entry: model::Entry, base: &Url) -> Option<Entry> {
    let is_page = |link: &&model::Link| link.rel.as_deref().is_none_or(|rel| rel == "alternate");
    let link = entry.links.iter().find(is_page).or(entry.links.first())?;
    let mut url = base.join(link.href.trim()).ok()?;
    url.set_fragment(None);
    let is_taken = matches!(url.scheme(), "http" | "https") && url.as_str().len() <= URL_LENGTH_MAX;
    is_taken.then(|| Entry {
        url: url.into(),
        title: entry.title.map(|title| title.content),
        updated: entry
            .updated
            .or(entry.published)
            .map(|date| date.to_rfc3339()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(feed: &[u8], expected: &[(&str, Option<&str>, Option<&str>)]) {
        let base = Url::parse("http://example.org/blog/feed").unwrap();
        let found = parse(feed, &base);
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
                Some("2010-09-06T00:01:00+00:00"),
            )],
        );
        check(
            b"<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title><id>f</id><updated>2020-01-02T03:04:05Z</updated>
              <entry><id>e</id><title>E</title><updated>2020-01-02T03:04:05Z</updated>
                <link rel='edit' href='/edit/1'/><link rel='alternate' href='1.html'/></entry></feed>",
            &[(
                "http://example.org/blog/1.html",
                Some("E"),
                Some("2020-01-02T03:04:05+00:00"),
            )],
        );
        check(
            br#"{"version": "https://jsonfeed.org/version/1", "title": "t",
                "items": [{"id": "1", "url": "https://example.org/j", "content_text": "x"}]}"#,
            &[("https://example.org/j", None, None)],
        );
    }

    #[test]
    fn other_encodings_are_decoded() {
        let feed = "<?xml version='1.0' encoding='Shift_JIS'?><rss version='2.0'><channel><title>t</title>
            <item><title>日本語の表題</title><link>http://example.org/</link></item></channel></rss>";
        let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode(feed);
        check(
            &bytes,
            &[("http://example.org/", Some("日本語の表題"), None)],
        );
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
        assert_eq!(parse(feed.as_bytes(), &base).len(), ENTRIES_MAX);

        let deep = format!("<rss version='2.0'><channel>{}", "<item>".repeat(100_000));
        assert_eq!(parse(deep.as_bytes(), &base), []);
    }
}
