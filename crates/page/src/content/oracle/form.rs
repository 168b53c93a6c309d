//! How the text of a body is written, and reading it.

use std::borrow::Cow;

use url::Url;

use super::markup::{read_html, read_xml};
use super::text::{Composer, Noise, Text};
use crate::charset;
use crate::kind::{ContentKind, kind_of, start_of};
use crate::sitemap;

/// How the text of a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Html,
    Xml,
    /// A list of pages and dates.
    Sitemap,
    /// Lines, and paragraphs between blank ones. JSON is read as such: what is not a word is punctuation.
    Plain,
}

impl Form {
    /// The form of a body that has text; none for what is no text, or program text.
    pub(super) fn of(body: &[u8], content_type: Option<&str>) -> Option<Self> {
        let is_markup = || start_of(body).trim_ascii_start().starts_with(b"<");
        match kind_of(body, content_type) {
            ContentKind::Html => Some(Self::Html),
            ContentKind::Sitemap => Some(Self::Sitemap),
            ContentKind::Feed if is_markup() => Some(Self::Xml),
            ContentKind::Feed => Some(Self::Plain),
            ContentKind::Css => None,
            ContentKind::Other => Self::of_type(content_type?).filter(|_| !is_binary(body)),
        }
    }

    fn of_type(content_type: &str) -> Option<Self> {
        let essence = content_type
            .split([';', ','])
            .next()?
            .trim()
            .to_ascii_lowercase();
        match &*essence {
            "text/plain" | "text/markdown" | "text/json" | "application/json" => Some(Self::Plain),
            "text/xml" | "application/xml" => Some(Self::Xml),
            "image/svg+xml" => None,
            other if other.ends_with("+json") => Some(Self::Plain),
            other if other.ends_with("+xml") => Some(Self::Xml),
            _ => None,
        }
    }

    /// Reads the text.
    pub(super) fn read(self, body: &[u8], content_type: Option<&str>, url: &Url) -> Text {
        let body = match self {
            Self::Sitemap => match sitemap::gunzip(body, sitemap::BYTES_MAX) {
                Some(decompressed) => Cow::Owned(decompressed),
                None => Cow::Borrowed(body),
            },
            Self::Html | Self::Xml | Self::Plain => Cow::Borrowed(body),
        };
        let top_level_domain = url.domain().and_then(|domain| domain.rsplit('.').next());
        let charset = charset::detect(&body, content_type, top_level_domain);
        let text = charset::decode(&body, charset);
        let mut composer = Composer::new(match self {
            Self::Html | Self::Xml | Self::Plain => Noise::Drop,
            Self::Sitemap => Noise::Keep,
        });
        match self {
            Self::Html => read_html(&text, &mut composer),
            Self::Xml | Self::Sitemap => read_xml(&text, &mut composer),
            Self::Plain => read_plain(&text, &mut composer),
        }
        composer.finish()
    }
}

/// What calls itself text and is none.
fn is_binary(body: &[u8]) -> bool {
    const LOOKED_AT: usize = 4096;
    let has_utf_16_mark = body.starts_with(b"\xFF\xFE") || body.starts_with(b"\xFE\xFF");
    !has_utf_16_mark && memchr::memchr(0, &body[..body.len().min(LOOKED_AT)]).is_some()
}

fn read_plain(text: &str, composer: &mut Composer) {
    /// A line without end is taken in pieces.
    const PIECE_BYTES: usize = 1 << 12;
    for line in text.lines() {
        if line.trim_ascii().is_empty() {
            composer.end_block();
        }
        let mut rest = line;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
            composer.push(piece);
            rest = after;
        }
        composer.push("\n");
    }
}
