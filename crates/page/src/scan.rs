//! Finds the start tags that matter, in one pass over the bytes of a page.
//!
//! Tags are told from comments, scripts and text as a browser tells them (HTML standard, section 13.2.5), by jumping from one `<` to the
//! next: text is never looked at. It never copies: what comes out are slices of the page. Time is linear in the page, and nothing is kept
//! but a byte for each open `<svg>` or `<math>` ([`Foreign`]).
//!
//! For a browser that runs scripts, the inside of `<noscript>` is text; so is that of `<noframes>` where frames are known. We are
//! such a reader as they are meant for, so their inside is scanned like the page itself.
//!
//! A tokenizer that others wrote and use, `lol_html`, is the oracle of the tests.

mod foreign;
mod script;

use memchr::{memchr, memmem};

use crate::attribute::{Attributes, is_space};
use crate::text::find_end_tag;
use foreign::Foreign;

/// A start tag, as it stands in the page.
#[derive(Clone, Debug)]
pub(crate) struct Tag<'a> {
    /// The element's name, in the case of the source.
    pub(crate) name: &'a [u8],
    /// Its attributes.
    pub(crate) attributes: Attributes<'a>,
    /// Whether one of them may name requisites whatever the element is.
    pub(crate) has_requisites: bool,
    /// What is inside the element, where that is text; else nothing.
    pub(crate) text: &'a [u8],
    /// What follows the tag.
    pub(crate) after: &'a [u8],
}

/// Whether the scan goes on after a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Continue,
    Stop,
}

/// How a scan ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At the end of the page.
    Complete,
    /// Early: the visitor wanted it.
    Cut,
}

/// Hands every start tag that matters to `visit`, in the order of the page.
pub(crate) fn scan<'a>(
    html: &'a [u8],
    requisites: bool,
    mut visit: impl FnMut(Tag<'a>) -> Next,
) -> End {
    let mut visit = |tag: Tag<'a>, element| match element {
        Element::Page => visit(tag),
        Element::Requisite if requisites => visit(tag),
        Element::Other if requisites && tag.has_requisites => visit(tag),
        Element::Requisite | Element::Other | Element::Fallback => Next::Continue,
    };
    each_tag(html, |tag, element| match element {
        Element::Page | Element::Requisite | Element::Other => visit(tag, element),
        Element::Fallback => {
            // One level is enough: such elements cannot hold one another.
            match each_tag(tag.text, &mut visit) {
                End::Complete => Next::Continue,
                End::Cut => Next::Stop,
            }
        }
    })
}

/// What an element says to a crawler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    /// Makes links to pages, or says something of the page.
    Page,
    /// Makes links to requisites.
    Requisite,
    /// Is there for readers who lack something.
    Fallback,
    /// Nothing.
    Other,
}

/// What is inside an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Markup,
    /// Text up to the end tag.
    Text,
    Script,
    /// Text up to the end of the page.
    Rest,
}

/// Hands every start tag to `visit`.
fn each_tag<'a>(html: &'a [u8], mut visit: impl FnMut(Tag<'a>, Element) -> Next) -> End {
    let mut foreign = Foreign::default();
    let mut at = 0;
    while let Some(bracket) = memchr(b'<', &html[at..]) {
        at += bracket;
        let markup = &html[at..];
        let length = match markup {
            [_, b'a'..=b'z' | b'A'..=b'Z', ..] => {
                let Some(mut tag) = tag_at(markup, 1) else {
                    break;
                };
                let (element, inside) = meaning_of(tag.name);
                let is_markup = foreign.start_tag(&tag);
                let after = tag.after;
                let length = markup.len() - after.len();
                let mut text_length = Some(0);
                if is_markup {
                    tag.text = text_in_foreign(&tag);
                } else if inside != Inside::Markup {
                    text_length = text_length_of(inside, &tag);
                    tag.text = &after[..text_length.unwrap_or(after.len())];
                }
                if visit(tag, element) == Next::Stop {
                    return End::Cut;
                }
                text_length.map(|text| length + text)
            }
            [_, b'/', b'a'..=b'z' | b'A'..=b'Z', ..] => tag_at(markup, 2).map(|tag| {
                foreign.end_tag(tag.name);
                markup.len() - tag.after.len()
            }),
            [_, b'!', b'-', b'-', ..] => comment_length(markup),
            [_, b'!', b'[', ..] if foreign.is_inside() && markup.starts_with(b"<![CDATA[") => {
                memmem::find(markup, b"]]>").map(|end| end + 3)
            }
            [_, b'!' | b'?' | b'/', ..] => memchr(b'>', markup).map(|end| end + 1),
            _ => Some(1),
        };
        // What never ends takes the rest of the page with it.
        let Some(length) = length else { break };
        at += length;
    }
    End::Complete
}

/// How long the text is with which an element begins, if it ends.
fn text_length_of(inside: Inside, tag: &Tag<'_>) -> Option<usize> {
    match inside {
        Inside::Markup => Some(0),
        Inside::Text => find_end_tag(tag.after, tag.name),
        Inside::Script => script::length(tag.after),
        Inside::Rest => None,
    }
}

/// The text of an element in SVG or `MathML`, whose inside is markup and read with the rest; only that of a style is wanted. It reaches to the first tag, or is in
/// CDATA.
fn text_in_foreign<'a>(tag: &Tag<'a>) -> &'a [u8] {
    const CDATA: &[u8] = b"<![CDATA[";
    if !tag.name.eq_ignore_ascii_case(b"style") {
        return &[];
    }
    let inside = tag.after.trim_ascii_start();
    let (inside, end) = match inside.strip_prefix(CDATA) {
        Some(inside) => (inside, memmem::find(inside, b"]]>")),
        None => (inside, memchr(b'<', inside)),
    };
    &inside[..end.unwrap_or(inside.len())]
}

/// The tag whose name begins at `name_start`, if it ends.
fn tag_at(markup: &[u8], name_start: usize) -> Option<Tag<'_>> {
    let source = &markup[name_start..];
    let is_name_end = |byte: &u8| is_space(*byte) || matches!(byte, b'/' | b'>');
    let (name, rest) = source.split_at(source.iter().position(is_name_end)?);
    let attributes = Attributes::new(rest);
    let mut end = attributes.clone();
    let mut has_requisites = false;
    if !rest.starts_with(b">") {
        for attribute in end.by_ref() {
            has_requisites |= may_name_requisites(attribute.name);
        }
    }
    Some(Tag {
        name,
        attributes,
        has_requisites,
        text: &[],
        after: end.rest().get(1..)?,
    })
}

/// Whether an attribute of this name may be one that names requisites wherever it stands: a check that costs next to nothing.
fn may_name_requisites(name: &[u8]) -> bool {
    // `style`, `srcset`, `background`, `imagesrcset`, `data-…`.
    matches!(
        (name.len(), name.first().map(u8::to_ascii_lowercase)),
        (5 | 6, Some(b's')) | (10, Some(b'b')) | (11, Some(b'i')) | (8.., Some(b'd'))
    )
}

/// What an element is to a crawler, and what is inside it.
fn meaning_of(name: &[u8]) -> (Element, Inside) {
    const NAME_LENGTH_MAX: usize = 9;
    let mut lower = [0; NAME_LENGTH_MAX];
    let Some(lower) = lower.get_mut(..name.len()) else {
        return (Element::Other, Inside::Markup);
    };
    for (lower, byte) in lower.iter_mut().zip(name) {
        *lower = byte.to_ascii_lowercase();
    }
    match &*lower {
        b"a" | b"html" | b"base" | b"meta" | b"link" | b"area" | b"frame" => {
            (Element::Page, Inside::Markup)
        }
        b"title" | b"iframe" => (Element::Page, Inside::Text),
        b"img" | b"source" | b"video" | b"audio" | b"track" | b"embed" | b"object" | b"input"
        | b"image" | b"use" | b"feimage" => (Element::Requisite, Inside::Markup),
        b"style" => (Element::Requisite, Inside::Text),
        b"script" => (Element::Requisite, Inside::Script),
        b"noscript" | b"noframes" => (Element::Fallback, Inside::Text),
        b"xmp" | b"noembed" | b"textarea" => (Element::Other, Inside::Text),
        b"plaintext" => (Element::Other, Inside::Rest),
        _ => (Element::Other, Inside::Markup),
    }
}

/// The length of the comment at the start, if it ends: with `-->` or `--!>`; `<!-->` and `<!--->` are whole ones.
fn comment_length(markup: &[u8]) -> Option<usize> {
    const START: usize = 4;
    for whole in [&b"<!-->"[..], b"<!--->"] {
        if markup.starts_with(whole) {
            return Some(whole.len());
        }
    }
    let mut from = START;
    loop {
        from += memmem::find(&markup[from..], b"--")?;
        let dashes = markup[from..].iter().take_while(|byte| **byte == b'-');
        from += dashes.count();
        match &markup[from..] {
            [b'>', ..] => return Some(from + 1),
            [b'!', b'>', ..] => return Some(from + 2),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
