//! Finds the start tags that matter, in one pass over the bytes of a page.
//!
//! The tokenizer is `lol_html`, and only this module knows how to drive it. It tells tags from comments, scripts and text as a
//! browser does, needs time linear in the page, and keeps to a memory limit on pages that nest without end.
//! It never copies: what comes out are slices of the page.
//!
//! For a browser that runs scripts, the inside of `<noscript>` is text; so is that of `<noframes>` where frames are known. We are
//! such a reader as they are meant for, so their inside is scanned like the page itself.

use std::borrow::Cow;
use std::sync::LazyLock;

use lol_html::html_content::Element;
use lol_html::{
    AsciiCompatibleEncoding, ElementContentHandlers, HtmlRewriter, MemorySettings, Selector,
    Settings,
};

use crate::attribute::{Attributes, is_space};
use crate::text;

/// What the tokenizer may use for open elements: enough for a nesting of some hundred thousand.
const MEMORY_LIMIT: usize = 64 << 20;

/// Elements that make links to pages, or say something of the page.
const PAGE_ELEMENTS: &str = "html,title,base,meta,link,a,area,frame,iframe,noscript,noframes";
/// Elements that make links to requisites.
const REQUISITE_ELEMENTS: &str = "img,script,source,video,audio,track,embed,object,input,body";

static PAGE_SELECTOR: LazyLock<Selector> = LazyLock::new(|| selector(PAGE_ELEMENTS));
static REQUISITE_SELECTOR: LazyLock<Selector> =
    LazyLock::new(|| selector(&format!("{PAGE_ELEMENTS},{REQUISITE_ELEMENTS}")));

#[expect(
    clippy::expect_used,
    reason = "the selectors are constants, and every test uses them"
)]
fn selector(elements: &str) -> Selector {
    elements.parse().expect("a list of element names")
}

/// A start tag, as it stands in the page.
#[derive(Clone, Debug)]
pub(crate) struct Tag<'a> {
    /// The element's name, in the case of the source.
    pub(crate) name: &'a [u8],
    /// Its attributes.
    pub(crate) attributes: Attributes<'a>,
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
    /// Early: the visitor wanted it, or the page nests deeper than the memory limit allows.
    Cut,
}

/// Hands every start tag that matters to `visit`, in the order of the page.
pub(crate) fn scan<'a>(
    html: &'a [u8],
    encoding: AsciiCompatibleEncoding,
    requisites: bool,
    mut visit: impl FnMut(Tag<'a>) -> Next,
) -> End {
    let selector: &Selector = if requisites {
        &REQUISITE_SELECTOR
    } else {
        &PAGE_SELECTOR
    };
    tokenize(html, encoding, selector, |tag| {
        let Some(inside) = fallback_content(&tag) else {
            return visit(tag);
        };
        // One level is enough: such elements cannot hold one another.
        match tokenize(inside, encoding, selector, &mut visit) {
            End::Complete => Next::Continue,
            End::Cut => Next::Stop,
        }
    })
}

/// The inside of an element that is there for readers who lack something, if it can hold a tag.
fn fallback_content<'a>(tag: &Tag<'a>) -> Option<&'a [u8]> {
    let is_fallback = ["noscript", "noframes"]
        .iter()
        .any(|name| tag.name.eq_ignore_ascii_case(name.as_bytes()));
    if !is_fallback {
        return None;
    }
    let end = text::find_end_tag(tag.after, tag.name).unwrap_or(tag.after.len());
    Some(&tag.after[..end])
}

fn tokenize<'a>(
    html: &'a [u8],
    encoding: AsciiCompatibleEncoding,
    selector: &Selector,
    mut visit: impl FnMut(Tag<'a>) -> Next,
) -> End {
    let handler = move |element: &mut Element<'_, '_>| match visit(tag_at(html, element)) {
        Next::Continue => Ok(()),
        Next::Stop => Err("the visitor has seen enough".into()),
    };
    let settings = Settings::new()
        .with_encoding(encoding)
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MEMORY_LIMIT))
        .append_element_content_handler((
            Cow::Borrowed(selector),
            ElementContentHandlers::default().element(handler),
        ));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    // One write for the whole page: nothing is buffered, and positions are positions in the page.
    match rewriter.write(html) {
        Ok(()) => End::Complete,
        Err(_) => End::Cut,
    }
}

fn tag_at<'a>(html: &'a [u8], element: &Element<'_, '_>) -> Tag<'a> {
    let range = element.source_location().bytes();
    let (tag, after) = html[range.start..].split_at(range.len());
    let inner = tag.get(1..).unwrap_or_default();
    let is_name_end = |byte: &u8| is_space(*byte) || matches!(byte, b'/' | b'>');
    let name_end = inner.iter().position(is_name_end).unwrap_or(inner.len());
    let (name, attributes) = inner.split_at(name_end);
    Tag {
        name,
        attributes: Attributes::new(attributes),
        after,
    }
}
