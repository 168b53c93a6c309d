//! Whether a tag stands in SVG or `MathML`, where other rules hold: `<title>` and `<style>` have markup inside, and CDATA is known.
//!
//! HTML standard, section 13.2.6.5, without the tree: what is kept is which of the languages are open in each other, as `lol_html`
//! does it. An element that breaks out of SVG leaves the innermost one.

use crate::attribute::Attribute;

use super::Tag;

/// The languages that are open, outermost first; at the bottom is HTML.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    open: Vec<Language>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Html,
    Svg,
    MathMl,
}

impl Foreign {
    /// Whether what comes next stands in SVG or `MathML`.
    pub(super) fn is_inside(&self) -> bool {
        self.innermost() != Language::Html
    }

    /// Takes in a start tag, and tells whether its inside is markup whatever the element is in HTML.
    #[inline]
    pub(super) fn start_tag(&mut self, tag: &Tag<'_>) -> bool {
        if tag.name.eq_ignore_ascii_case(b"svg") {
            self.open.push(Language::Svg);
        } else if tag.name.eq_ignore_ascii_case(b"math") {
            self.open.push(Language::MathMl);
        } else if self.is_inside() {
            self.start_tag_inside(tag);
        } else {
            return false;
        }
        true
    }

    fn start_tag_inside(&mut self, tag: &Tag<'_>) {
        if breaks_out(tag) {
            self.open.pop();
        } else if holds_html(self.innermost(), tag) && !is_self_closing(tag) {
            self.open.push(Language::Html);
        }
    }

    /// Takes in an end tag.
    #[inline]
    pub(super) fn end_tag(&mut self, name: &[u8]) {
        let Some(innermost) = self.open.last() else {
            return;
        };
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        let ends = match innermost {
            Language::Svg => is(b"svg") || is(b"p") || is(b"br"),
            Language::MathMl => is(b"math") || is(b"p") || is(b"br"),
            Language::Html => match self.open.iter().rev().nth(1) {
                Some(Language::Svg) => is_svg_point(name),
                Some(Language::MathMl) => is_math_ml_point(name) || is(b"annotation-xml"),
                Some(Language::Html) | None => false,
            },
        };
        if ends {
            self.open.pop();
        }
    }

    fn innermost(&self) -> Language {
        self.open.last().copied().unwrap_or(Language::Html)
    }
}

/// Whether the inside of an element of SVG or `MathML` is HTML.
fn holds_html(language: Language, tag: &Tag<'_>) -> bool {
    match language {
        Language::Html => false,
        Language::Svg => is_svg_point(tag.name),
        Language::MathMl => is_math_ml_point(tag.name) || is_annotation_in_html(tag),
    }
}

fn is_svg_point(name: &[u8]) -> bool {
    is_one_of(name, &["desc", "title", "foreignobject"])
}

fn is_math_ml_point(name: &[u8]) -> bool {
    is_one_of(name, &["mi", "mo", "mn", "ms", "mtext"])
}

fn is_annotation_in_html(tag: &Tag<'_>) -> bool {
    let names_html = |Attribute { name, value }: Attribute<'_>| {
        name.eq_ignore_ascii_case(b"encoding")
            && is_one_of(value, &["text/html", "application/xhtml+xml"])
    };
    tag.name.eq_ignore_ascii_case(b"annotation-xml") && tag.attributes.clone().any(names_html)
}

/// Whether the tag ends with a slash that is not the end of a value.
fn is_self_closing(tag: &Tag<'_>) -> bool {
    let start = tag.attributes.rest();
    let source = &start[..start.len() - tag.after.len()];
    let Some(source) = source.strip_suffix(b"/>") else {
        return false;
    };
    // Cut before the slash, a value that had it would be shorter.
    let last = |source| {
        let mut attributes = crate::attribute::Attributes::new(source);
        attributes.by_ref().last().map(|last| last.value.len())
    };
    let with_slash = &start[..source.len() + 2];
    last(source) == last(with_slash)
}

/// HTML elements that cannot be in SVG or `MathML`.
fn breaks_out(tag: &Tag<'_>) -> bool {
    const ELEMENTS: [&str; 44] = [
        "b",
        "big",
        "blockquote",
        "body",
        "br",
        "center",
        "code",
        "dd",
        "div",
        "dl",
        "dt",
        "em",
        "embed",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "hr",
        "i",
        "img",
        "li",
        "listing",
        "menu",
        "meta",
        "nobr",
        "ol",
        "p",
        "pre",
        "ruby",
        "s",
        "small",
        "span",
        "strong",
        "strike",
        "sub",
        "sup",
        "table",
        "tt",
        "u",
        "ul",
        "var",
    ];
    let has_font_attribute = || {
        let is_of_font = |it: Attribute<'_>| is_one_of(it.name, &["color", "size", "face"]);
        tag.attributes.clone().any(is_of_font)
    };
    is_one_of(tag.name, &ELEMENTS) || tag.name.eq_ignore_ascii_case(b"font") && has_font_attribute()
}

fn is_one_of(name: &[u8], known: &[&str]) -> bool {
    known
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}
