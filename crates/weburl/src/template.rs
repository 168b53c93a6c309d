//! What the URLs of similar pages have in common, to group pages by it.
//!
//! Pages that one programme makes differ in the numbers and identifiers of their URLs. A template leaves these blank, so
//! that what is learnt of some pages (how often they change) can be said of the others.
//!
//! In the path, between `/ - _ . , ; = ~ +`: a word of digits becomes `{n}`; a UUID, or a word of at least eight hexadecimal
//! digits or sixteen letters and digits, with digits among them, becomes `{id}`. In the query each name stays once, in order,
//! and its value becomes `{}`.

use std::collections::BTreeSet;

use crate::page_url::PageUrl;
use crate::query::name_of;

const NUMBER: &str = "{n}";
const IDENTIFIER: &str = "{id}";
const HEX_IDENTIFIER_LENGTH_MIN: usize = 8;
const IDENTIFIER_LENGTH_MIN: usize = 16;

/// The template of a page's URL.
pub(crate) fn template(page: &PageUrl) -> String {
    let mut out = page.origin().to_owned();
    for piece in page.path().split_inclusive(is_separator) {
        let words = piece.trim_end_matches(is_separator);
        if is_uuid(words.as_bytes()) {
            out.push_str(IDENTIFIER);
        } else {
            let blanked: Vec<&str> = words.split('-').map(blank).collect();
            out.push_str(&blanked.join("-"));
        }
        out.push_str(&piece[words.len()..]);
    }
    let parameters = page.query().into_iter().flat_map(|query| query.split('&'));
    let names: BTreeSet<&str> = parameters.map(name_of).collect();
    for (index, name) in names.into_iter().enumerate() {
        out.push(if index == 0 { '?' } else { '&' });
        out.push_str(name);
        out.push_str("={}");
    }
    out
}

/// What ends words, besides the hyphen, which is also in UUIDs.
fn is_separator(character: char) -> bool {
    matches!(character, '/' | '_' | '.' | ',' | ';' | '=' | '~' | '+')
}

/// RFC 9562, section 4.
fn is_uuid(bytes: &[u8]) -> bool {
    let group_lengths = bytes.split(|&byte| byte == b'-').map(<[u8]>::len);
    group_lengths.eq([8, 4, 4, 4, 12])
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

fn blank(word: &str) -> &str {
    let bytes = word.as_bytes();
    let has_digits = bytes.iter().any(u8::is_ascii_digit);
    let is_number = has_digits && bytes.iter().all(u8::is_ascii_digit);
    let is_hex =
        HEX_IDENTIFIER_LENGTH_MIN <= bytes.len() && bytes.iter().all(u8::is_ascii_hexdigit);
    let is_long =
        IDENTIFIER_LENGTH_MIN <= bytes.len() && bytes.iter().all(u8::is_ascii_alphanumeric);
    if is_number {
        NUMBER
    } else if has_digits && (is_hex || is_long) {
        IDENTIFIER
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use crate::{CanonicalConfig, Canonicalizer};

    #[test]
    fn numbers_identifiers_and_values_are_blank() {
        let canonicalizer = Canonicalizer::new(&CanonicalConfig::default());
        for (url, template) in [
            ("https://example.org/", "/"),
            ("https://example.org/about.html", "/about.html"),
            (
                "https://example.org/2026/01/15/storm-17.html",
                "/{n}/{n}/{n}/storm-{n}.html",
            ),
            ("https://example.org/h2/mp3", "/h2/mp3"),
            ("https://example.org/c/deadbeef", "/c/deadbeef"),
            ("https://example.org/c/deadbee1", "/c/{id}"),
            (
                "https://example.org/123e4567-e89b-12d3-a456-426614174000.png",
                "/{id}.png",
            ),
            (
                "https://example.org/a?b=2&a=1&b=3&&c",
                "/a?={}&a={}&b={}&c={}",
            ),
        ] {
            let expected = format!("https://example.org{template}");
            assert_eq!(
                canonicalizer.parse(url).unwrap().template(),
                expected,
                "{url}"
            );
        }
    }
}
