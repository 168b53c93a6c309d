//! The words of a page, as far as telling its language needs them.
//!
//! Not the page's text as a reader sees it: markup is skipped roughly, and only the first words are taken.

use std::borrow::Cow;

use encoding_rs::Encoding;
use memchr::{memchr, memmem};

use crate::attribute::is_space;
use crate::entity::{self, Context};

/// How far into a page text is looked for.
const SEARCH_BYTES: usize = 128 * 1024;

/// The first words of a page outside tags, scripts, styles and comments: at least `characters` of them if there are as many.
pub(crate) fn sample(html: &[u8], encoding: &'static Encoding, characters: usize) -> String {
    let mut rest = &html[..html.len().min(SEARCH_BYTES)];
    let mut sample = String::new();
    let mut count = 0;
    while count < characters && !rest.is_empty() {
        let end = memchr(b'<', rest).unwrap_or(rest.len());
        let (text, markup) = rest.split_at(end);
        let text = text.trim_ascii();
        if !text.is_empty() {
            let decoded = decode(text, encoding, Context::Text);
            count += decoded.chars().count() + 1;
            sample.push_str(&decoded);
            sample.push(' ');
        }
        rest = after_markup(markup);
    }
    sample
}

/// Decodes bytes of the page and the character references in them.
pub(crate) fn decode<'a>(
    bytes: &'a [u8],
    encoding: &'static Encoding,
    context: Context,
) -> Cow<'a, str> {
    match encoding.decode_without_bom_handling(bytes).0 {
        Cow::Borrowed(text) => entity::decode(text, context),
        Cow::Owned(text) => match entity::decode(&text, context) {
            Cow::Borrowed(_) => Cow::Owned(text),
            Cow::Owned(decoded) => Cow::Owned(decoded),
        },
    }
}

/// The text of an element that holds nothing but text, such as `<title>`, from after its start tag; white space is collapsed.
pub(crate) fn of_title(after_tag: &[u8], encoding: &'static Encoding) -> Option<String> {
    /// More is no title.
    const TITLE_BYTES: usize = 4096;
    let text = &after_tag[..after_tag.len().min(TITLE_BYTES)];
    let end = find_end_tag(text, b"title").unwrap_or(text.len());
    let decoded = decode(&text[..end], encoding, Context::Text);
    let words: Vec<&str> = decoded.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// What follows the tag, comment or raw text element at the start of `markup`.
fn after_markup(markup: &[u8]) -> &[u8] {
    const RAW: [&[u8]; 4] = [b"script", b"style", b"noscript", b"template"];
    if markup.starts_with(b"<!--") {
        let end = memmem::find(&markup[2..], b"-->").map_or(markup.len(), |at| at + 5);
        return &markup[end..];
    }
    let raw = RAW.iter().find(|name| {
        markup
            .get(1..=name.len())
            .is_some_and(|tag| tag.eq_ignore_ascii_case(name))
            && markup
                .get(name.len() + 1)
                .is_some_and(|byte| !byte.is_ascii_alphanumeric())
    });
    let end = match raw {
        // Without an end tag, everything is script.
        Some(name) => find_end_tag(markup, name).unwrap_or(markup.len()),
        None => 0,
    };
    let close = memchr(b'>', &markup[end..]).map_or(markup.len(), |at| end + at + 1);
    &markup[close..]
}

/// Where the end tag of an element that holds raw text begins.
pub(crate) fn find_end_tag(html: &[u8], name: &[u8]) -> Option<usize> {
    memmem::find_iter(html, b"</").find(|at| {
        html.get(at + 2..at + 2 + name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name))
            && html
                .get(at + 2 + name.len())
                .is_some_and(|byte| is_space(*byte) || matches!(byte, b'/' | b'>'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{SHIFT_JIS, UTF_8};
    use proptest::prelude::*;

    #[test]
    fn markup_is_skipped() {
        let html = "<html><head><style>p{}</style><!-- no <b>no</b> --></head>
            <body><SCRIPT>no('<b>')</SCRIPT ><scripture>yes<p>caf&eacute;</p>\n\n a<br>b";
        assert_eq!(sample(html.as_bytes(), UTF_8, 100), "yes café a b ");
    }

    #[test]
    fn a_sample_is_as_long_as_asked_for() {
        let html = "<p>word</p>".repeat(1000);
        let length = sample(html.as_bytes(), UTF_8, 100).chars().count();
        assert!((100..110).contains(&length), "{length}");
    }

    #[test]
    fn titles_are_decoded_and_collapsed() {
        for (html, title) in [
            ("a</title>b", Some("a")),
            (" a \n b&amp;c &lt;d </TITLE >", Some("a b&c <d")),
            ("a <b>c", Some("a <b>c")),
            ("</title>", None),
            ("", None),
        ] {
            assert_eq!(of_title(html.as_bytes(), UTF_8).as_deref(), title, "{html}");
        }
        let (bytes, _, _) = SHIFT_JIS.encode("表示</title>");
        assert_eq!(of_title(&bytes, SHIFT_JIS).as_deref(), Some("表示"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>, markup in "[<>!/a-z -]*|(<script>|</script|<!--|-->|<|a)*") {
            sample(&bytes, UTF_8, 50);
            sample(markup.as_bytes(), UTF_8, 50);
        }
    }
}
