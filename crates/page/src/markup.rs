//! Hands out the pieces of HTML one after the other: tags, and the text between them.
//!
//! For readers that want neither a tree nor only links: those of tables, and of what a page declares of its data. Tags, comments
//! and raw text are told apart as a browser tells them, in one pass; a piece that never ends takes the rest of the page with it.
//!
//! Not here: charset and bounds; whoever reads decodes the page first, and says how much of it.

use std::borrow::Cow;

use memchr::memchr;

use crate::attribute;
use crate::content::markup::{comment_length, name_length};
use crate::entity::{self, Context};
use crate::text::find_end_tag;

/// A piece of HTML. Names are in the case of the source.
#[derive(Clone, Debug)]
pub enum Token<'a> {
    /// A start tag.
    Start {
        /// The element's name.
        name: &'a str,
        /// Its attributes.
        attributes: Attributes<'a>,
    },
    /// An end tag.
    End {
        /// The element's name.
        name: &'a str,
    },
    /// Text, its references decoded; that of scripts, styles and titles comes in one piece between their tags.
    Text(Cow<'a, str>),
}

/// The attributes of a start tag.
#[derive(Clone, Debug)]
pub struct Attributes<'a> {
    inner: attribute::Attributes<'a>,
}

impl<'a> Attributes<'a> {
    /// The value of an attribute, decoded; of several with one name the first counts.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<Cow<'a, str>> {
        let [value] = self.inner.clone().pick([name]);
        // Cut at ASCII characters, so what was UTF-8 still is.
        let text = std::str::from_utf8(value?).unwrap_or_default();
        Some(entity::decode(text, Context::Attribute))
    }
}

/// Hands every piece of `html` to `visit`.
pub fn each<'a>(html: &'a str, mut visit: impl FnMut(Token<'a>)) {
    let bytes = html.as_bytes();
    let mut text_start = 0;
    let mut from = 0;
    while let Some(at) = memchr(b'<', &bytes[from..]).map(|at| from + at) {
        let markup = &html[at..];
        let mut bytes_ahead = bytes[at + 1..].iter();
        let kind = match (bytes_ahead.next(), bytes_ahead.next()) {
            (Some(letter), _) if letter.is_ascii_alphabetic() => Kind::Start,
            (Some(b'/'), Some(letter)) if letter.is_ascii_alphabetic() => Kind::End,
            (Some(b'!' | b'?'), _) | (Some(b'/'), Some(_)) => Kind::Comment,
            // A bracket that begins no tag is text.
            _ => {
                from = at + 1;
                continue;
            }
        };
        text(&html[text_start..at], &mut visit);
        from = at
            + match kind {
                Kind::Start => start_tag(markup, &mut visit),
                Kind::End => end_tag(markup, &mut visit),
                Kind::Comment => comment_length(markup.as_bytes()),
            };
        text_start = from;
    }
    text(&html[text_start..], &mut visit);
}

enum Kind {
    Start,
    End,
    Comment,
}

fn text<'a>(text: &'a str, visit: &mut impl FnMut(Token<'a>)) {
    if !text.is_empty() {
        visit(Token::Text(entity::decode(text, Context::Text)));
    }
}

/// Hands out a start tag, with its inside where that is no markup; how long all that is.
fn start_tag<'a>(markup: &'a str, visit: &mut impl FnMut(Token<'a>)) -> usize {
    let name = &markup[1..=name_length(&markup.as_bytes()[1..])];
    let attributes = attribute::Attributes::new(&markup.as_bytes()[1 + name.len()..]);
    let mut rest = attributes.clone();
    rest.by_ref().for_each(drop);
    // The `>` belongs to the tag.
    let tag_end = (markup.len() - rest.rest().len() + 1).min(markup.len());
    visit(Token::Start {
        name,
        attributes: Attributes { inner: attributes },
    });
    if !is_raw(name) {
        return tag_end;
    }
    let inside = &markup[tag_end..];
    let end = find_end_tag(inside.as_bytes(), name.as_bytes()).unwrap_or(inside.len());
    if has_references(name) {
        text(&inside[..end], visit);
    } else if 0 < end {
        visit(Token::Text(Cow::Borrowed(&inside[..end])));
    }
    tag_end + end
}

fn end_tag<'a>(markup: &'a str, visit: &mut impl FnMut(Token<'a>)) -> usize {
    let name = &markup[2..2 + name_length(&markup.as_bytes()[2..])];
    visit(Token::End { name });
    memchr(b'>', markup.as_bytes()).map_or(markup.len(), |at| at + 1)
}

/// Elements that hold text and no tags.
fn is_raw(name: &str) -> bool {
    ["script", "style", "title", "textarea", "xmp", "iframe"]
        .iter()
        .any(|raw| name.eq_ignore_ascii_case(raw))
}

fn has_references(name: &str) -> bool {
    ["title", "textarea"]
        .iter()
        .any(|it| name.eq_ignore_ascii_case(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(html: &str) -> String {
        let mut shown = String::new();
        each(html, |token| match token {
            Token::Start { name, attributes } => {
                let class = attributes.value("class").unwrap_or_default();
                shown.extend(["[", name, " ", &class, "]"]);
            }
            Token::End { name } => shown.extend(["[/", name, "]"]),
            Token::Text(text) => shown.push_str(&text),
        });
        shown
    }

    #[test]
    fn pieces_come_in_order() {
        for (html, expected) in [
            ("", ""),
            ("a &amp; b", "a & b"),
            ("<td class='x &lt; y'>1<td>2", "[td x < y]1[td ]2"),
            ("<a/><B>x</B >y", "[a ][B ]x[/B]y"),
            ("1 < 2 <3", "1 < 2 <3"),
            ("a<!-- <b> -->c", "ac"),
            (
                "<script>a<b>&amp;</script>c",
                "[script ]a<b>&amp;[/script]c",
            ),
            ("<title>a &amp; <b></title>", "[title ]a & <b>[/title]"),
            ("<p class=\"never closed>x", "[p ]"),
            ("</", "</"),
            ("<人>", "<人>"),
        ] {
            assert_eq!(shown(html), expected, "{html}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_to_pieces(html in "(<|</|>|!|-|a|td|script|class=|'|\"|&amp;|人| ){0,40}|\\PC*") {
            shown(&html);
        }
    }
}
