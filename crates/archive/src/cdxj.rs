//! A line of the index: the SURT of a URL, the time of a capture, and where its record is.
//!
//! The format is CDXJ 0.1 with the fields, order and spelling of `cdxj-indexer`: numbers are strings, JSON is pure ASCII
//! with a blank after each comma and colon.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What the index tells of a capture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The SURT of the URL: what lines are sorted by.
    pub surt: String,
    /// When the capture was made, `YYYYMMDDhhmmss` in UTC.
    pub timestamp: String,
    /// The URL.
    pub url: String,
    /// Its media type; `warc/revisit` for a revisit record; `None` if it has none.
    pub mime: Option<String>,
    /// The HTTP status, if it has one.
    pub status: Option<String>,
    /// The digest of its payload, if known.
    pub digest: Option<String>,
    /// Length of the record in the WARC file.
    pub length: u64,
    /// Offset of the record in the WARC file.
    pub offset: u64,
    /// Name of the WARC file.
    pub filename: String,
}

/// Why a line is not one of an index.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EntryError {
    /// The SURT, the time or the JSON is missing.
    #[error("not three parts: a key, a time and JSON")]
    Parts,
    /// The JSON is not what it should be.
    #[error("bad JSON in an index line")]
    Json(#[from] serde_json::Error),
    /// An offset or length is not a number.
    #[error("`{0}` is not an offset or length")]
    Number(String),
}

#[derive(Deserialize)]
struct Fields {
    url: String,
    mime: Option<String>,
    status: Option<String>,
    digest: Option<String>,
    length: String,
    offset: String,
    filename: String,
}

impl Entry {
    /// Reads a line of an index, with or without its line feed.
    pub fn parse(line: &str) -> Result<Self, EntryError> {
        let mut parts = line.trim_end_matches(['\r', '\n']).splitn(3, ' ');
        let (Some(surt), Some(timestamp), Some(json)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(EntryError::Parts);
        };
        let fields: Fields = serde_json::from_str(json)?;
        let number = |text: String| text.parse::<u64>().map_err(|_| EntryError::Number(text));
        Ok(Self {
            surt: surt.to_owned(),
            timestamp: timestamp.to_owned(),
            url: fields.url,
            mime: fields.mime,
            status: fields.status,
            digest: fields.digest,
            length: number(fields.length)?,
            offset: number(fields.offset)?,
            filename: fields.filename,
        })
    }
}

/// What a line is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) url: Option<&'a str>,
    /// `YYYYMMDDhhmmss`
    pub(crate) timestamp: &'a str,
    pub(crate) mime: Option<&'a str>,
    pub(crate) status: Option<&'a str>,
    pub(crate) digest: Option<&'a str>,
    pub(crate) length: u64,
    pub(crate) offset: u64,
    pub(crate) filename: &'a str,
}

impl Line<'_> {
    /// The text, without a line feed.
    pub(crate) fn text(&self) -> String {
        let surt = self.url.map_or_else(|| "-".to_owned(), surt);
        let mut text = String::with_capacity(surt.len() + 320);
        text.push_str(&surt);
        text.push(' ');
        text.push_str(self.timestamp);
        text.push_str(" {");
        let fields = [
            ("url", self.url),
            ("mime", self.mime),
            ("status", self.status),
            ("digest", self.digest),
            ("length", Some(&*self.length.to_string())),
            ("offset", Some(&*self.offset.to_string())),
            ("filename", Some(self.filename)),
        ];
        let mut separator = "";
        for (name, value) in fields {
            let Some(value) = value else { continue };
            text.push_str(separator);
            separator = ", ";
            push_json(&mut text, name);
            text.push_str(": ");
            push_json(&mut text, value);
        }
        text.push('}');
        text
    }
}

/// Appends a JSON string in pure ASCII, as Python's `json.dumps` writes it.
fn push_json(out: &mut String, value: &str) {
    out.push('"');
    if value.bytes().all(is_plain) {
        out.push_str(value);
        out.push('"');
        return;
    }
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// Whether a byte stands for itself in such a string, as nearly all do.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')
}

pub(crate) fn surt(url: &str) -> String {
    // The key must hold no blank, which would end it.
    junkai_weburl::surt(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_is_spelt_as_cdxj_indexer_spells_it() {
        let line = Line {
            url: Some("http://example.org/\u{e9}\u{1f600}\"\\\n\u{7f}"),
            timestamp: "20260115093012",
            mime: Some("text/html"),
            status: None,
            digest: Some("sha1:A"),
            length: 12,
            offset: 345,
            filename: "a.warc.gz",
        };
        let (_, json) = line
            .text()
            .split_once('{')
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap();
        // Python: json.dumps({"url": "http://example.org/\u00e9\U0001f600\"\\\n\x7f", ...})
        assert_eq!(
            json,
            r#""url": "http://example.org/\u00e9\ud83d\ude00\"\\\n\u007f", "mime": "text/html", "digest": "sha1:A", "length": "12", "offset": "345", "filename": "a.warc.gz"}"#
        );
    }

    #[test]
    fn what_is_not_a_line_is_refused() {
        for text in [
            "",
            "a",
            "a b",
            "a b c",
            "a b {}",
            r#"a b {"url":"x","length":"-1","offset":"0","filename":"f"}"#,
        ] {
            assert!(Entry::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_entry_reads_back_what_was_written(url in "https?://[a-z]{1,9}\\.example/\\PC{0,20}", mime in prop::option::of("\\PC{0,9}"), length: u64, offset: u64) {
            let line = Line { url: Some(&url), timestamp: "20260115093012", mime: mime.as_deref(), status: Some("200"), digest: None, length, offset, filename: "f" };
            let text = line.text();
            prop_assert!(!text.contains('\n'));
            let entry = Entry::parse(&text).unwrap();
            prop_assert_eq!((entry.url, entry.mime, entry.length, entry.offset), (url, mime, length, offset));
        }
    }
}
