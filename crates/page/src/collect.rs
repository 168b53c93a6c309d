//! Gathers what the tags of a page say: references that may become links, and what the page tells of itself.
//!
//! `scan` calls [`Collector::take`] once per tag that matters; `analysis` takes the fields out when the page is through.
//! References are decoded here and resolved there.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};

use crate::attribute::{Attribute, Attributes};
use crate::css::{self, CssReferences};
use crate::entity::Context;
use crate::language::{self, Language};
use crate::link::{LinkKind, LinkOptions, is_nofollow};
use crate::reference;
use crate::robots::RobotsMeta;
use crate::scan::{Next, Tag, scan};
use crate::text;

/// No element of interest has a longer name.
const NAME_LENGTH_MAX: usize = 7;
/// References looked at per link that may be kept: pages repeat themselves, but not without end.
const REFERENCES_PER_LINK: usize = 4;
/// Attributes in which scripts find what they load when a reader comes near it.
const LAZY_SOURCES: [&str; 3] = ["data-src", "data-original", "data-lazy-src"];
/// The same, as `srcset` has it.
const LAZY_SETS: [&str; 2] = ["data-srcset", "data-lazy-srcset"];
/// How much longer than the longest URL its source may be: escapes and line breaks take room.
const SOURCE_BYTES_PER_URL_BYTE: usize = 8;

/// What the tags so far have said. The lifetime is that of the page's bytes.
pub(crate) struct Collector<'a> {
    /// The first `<base href>`.
    pub(crate) base: Option<Cow<'a, str>>,
    /// In the order of the page.
    pub(crate) references: Vec<Reference<'a>>,
    pub(crate) robots: RobotsMeta,
    pub(crate) language: Option<Language>,
    pub(crate) title: Option<String>,
    encoding: &'static Encoding,
    robots_agent: &'a str,
    options: &'a LinkOptions,
    /// Whether this is a document in an attribute of a page: those that it has in its own are not read.
    is_srcdoc: bool,
}

/// A link before it is resolved.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reference<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) kind: LinkKind,
    pub(crate) nofollow: bool,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(
        encoding: &'static Encoding,
        robots_agent: &'a str,
        options: &'a LinkOptions,
    ) -> Self {
        Self {
            base: None,
            references: Vec::new(),
            robots: RobotsMeta::default(),
            language: None,
            title: None,
            encoding,
            robots_agent,
            options,
            is_srcdoc: false,
        }
    }

    /// Takes in one start tag.
    pub(crate) fn take(&mut self, tag: Tag<'a>) -> Next {
        let mut lower = [0; NAME_LENGTH_MAX];
        let name = match lower.get_mut(..tag.name.len()) {
            Some(name) => {
                name.copy_from_slice(tag.name);
                name.make_ascii_lowercase();
                &*name
            }
            None => &[],
        };
        let (attributes, has_requisites) = (tag.attributes.clone(), tag.has_requisites);
        self.element(name, tag);
        if has_requisites && self.options.requisites {
            self.wherever(name, attributes);
        }
        if self.references.len() <= references_max(self.options) {
            Next::Continue
        } else {
            Next::Stop
        }
    }

    /// Takes in what a tag says because of its element.
    fn element(&mut self, name: &[u8], tag: Tag<'a>) {
        let attributes = tag.attributes;
        match name {
            b"a" => self.hyperlink(attributes, LinkKind::Anchor),
            b"area" => self.hyperlink(attributes, LinkKind::Area),
            b"frame" => self.embedded(attributes, "src", LinkKind::Frame),
            b"iframe" => self.iframe(attributes),
            b"link" => self.link(attributes),
            b"meta" => self.meta(attributes),
            b"base" => self.base(attributes),
            b"html" => self.html(attributes),
            b"title" => self.title(tag.after),
            b"style" => self.style_sheet(tag.text),
            b"img" => self.embedded(attributes, "src", LinkKind::Image),
            b"input" => self.image_button(attributes),
            b"script" => self.script(attributes),
            b"image" | b"use" | b"feimage" => self.drawing(attributes),
            b"video" => {
                self.embedded(attributes.clone(), "src", LinkKind::Media);
                self.embedded(attributes, "poster", LinkKind::Image);
            }
            b"audio" | b"track" | b"source" => self.embedded(attributes, "src", LinkKind::Media),
            b"embed" => self.embedded(attributes, "src", LinkKind::Object),
            b"object" => self.embedded(attributes, "data", LinkKind::Object),
            _ => {}
        }
    }

    /// Takes in the attributes that name requisites whatever the element is.
    fn wherever(&mut self, element: &[u8], attributes: Attributes<'a>) {
        for Attribute { name, value } in attributes {
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            if is("style") {
                if memchr::memchr(b'(', value).is_some() {
                    let css = self.decode(value);
                    self.css(&css);
                }
            } else if is("srcset") || is("imagesrcset") {
                self.image_set(value, |_| true);
            } else if is("background") {
                self.add(value, LinkKind::Image, false);
            } else if LAZY_SOURCES.iter().any(|known| is(known)) {
                let url = self.decode(value.trim_ascii());
                if reference::looks_like_file(&url) {
                    self.add_decoded(&url, lazy_kind(element));
                }
            } else if LAZY_SETS.iter().any(|known| is(known)) {
                self.image_set(value, reference::looks_like_file);
            }
        }
    }

    fn hyperlink(&mut self, attributes: Attributes<'a>, kind: LinkKind) {
        let [href, rel, svg_href] = attributes.pick(["href", "rel", "xlink:href"]);
        if let Some(href) = href.or(svg_href) {
            let nofollow = rel.is_some_and(is_nofollow);
            self.add(href, kind, nofollow);
        }
    }

    fn embedded(&mut self, attributes: Attributes<'a>, name: &str, kind: LinkKind) {
        if let [Some(value)] = attributes.pick([name]) {
            self.add(value, kind, false);
        }
    }

    fn link(&mut self, attributes: Attributes<'a>) {
        let [href, rel, media_type] = attributes.pick(["href", "rel", "type"]);
        let (Some(href), Some(rel)) = (href, rel) else {
            return;
        };
        let media_type = self.decode(media_type.unwrap_or_default());
        if let Some(kind) = LinkKind::of_rel(&self.decode(rel), &media_type) {
            self.add(href, kind, is_nofollow(rel));
        }
    }

    fn meta(&mut self, attributes: Attributes<'a>) {
        let [name, pragma, content] = attributes.pick(["name", "http-equiv", "content"]);
        let Some(content) = content else {
            return;
        };
        if let Some(name) = name {
            let (name, content) = (self.decode(name), self.decode(content));
            self.robots.add_meta(&name, &content, self.robots_agent);
        }
        let is_pragma =
            |name: &[u8]| pragma.is_some_and(|pragma| pragma.eq_ignore_ascii_case(name));
        if is_pragma(b"refresh") {
            if let Some(url) = reference::of_refresh(&self.decode(content)) {
                self.add_decoded(url, LinkKind::MetaRefresh);
            }
        } else if is_pragma(b"content-language") && self.language.is_none() {
            self.language = language::declared(&self.decode(content));
        }
    }

    /// The first base with a reference counts, even if it is a bad one.
    fn base(&mut self, attributes: Attributes<'a>) {
        if let (None, [Some(href)]) = (&self.base, attributes.pick(["href"]))
            && href.len() <= self.source_bytes_max()
        {
            self.base = Some(self.decode(href));
        }
    }

    fn html(&mut self, attributes: Attributes<'a>) {
        let [lang, xml_lang] = attributes.pick(["lang", "xml:lang"]);
        if let (None, Some(tag)) = (&self.language, lang.or(xml_lang)) {
            self.language = language::declared(&self.decode(tag));
        }
    }

    fn title(&mut self, after: &[u8]) {
        if self.title.is_none() {
            self.title = text::of_title(after, self.encoding);
        }
    }

    /// The images of a `srcset`, as far as they are wanted.
    fn image_set(&mut self, srcset: &'a [u8], is_wanted: impl Fn(&str) -> bool) {
        let srcset = self.decode(srcset);
        // Every candidate takes at least a byte, and this many are looked at at most.
        for url in reference::of_srcset(&srcset).take(self.options.max_links) {
            if is_wanted(url) {
                self.add_decoded(url, LinkKind::Image);
            }
        }
    }

    /// An image or a part of another drawing, in SVG; outside of it, `<image>` is an old name of `<img>`.
    fn drawing(&mut self, attributes: Attributes<'a>) {
        let [href, svg_href, src] = attributes.pick(["href", "xlink:href", "src"]);
        if let Some(source) = href.or(svg_href).or(src) {
            self.add(source, LinkKind::Image, false);
        }
    }

    fn script(&mut self, attributes: Attributes<'a>) {
        let [src, href, svg_href] = attributes.pick(["src", "href", "xlink:href"]);
        if let Some(source) = src.or(href).or(svg_href) {
            self.add(source, LinkKind::Script, false);
        }
    }

    /// A frame, and the links of the document that it has in an attribute, which are relative to this page.
    fn iframe(&mut self, attributes: Attributes<'a>) {
        let [src, srcdoc] = attributes.pick(["src", "srcdoc"]);
        if let Some(src) = src {
            self.add(src, LinkKind::Iframe, false);
        }
        let Some(srcdoc) = srcdoc.filter(|_| !self.is_srcdoc) else {
            return;
        };
        let document = self.decode(srcdoc);
        let mut inner = Collector::new(UTF_8, self.robots_agent, self.options);
        inner.is_srcdoc = true;
        scan(document.as_bytes(), self.options.requisites, |tag| {
            inner.take(tag)
        });
        let owned = |reference: Reference<'_>| Reference {
            text: Cow::Owned(reference.text.into_owned()),
            ..reference
        };
        self.references
            .extend(inner.references.into_iter().map(owned));
    }

    fn style_sheet(&mut self, source: &[u8]) {
        if css::may_refer(source) {
            let css = self.encoding.decode_without_bom_handling(source).0;
            self.css(&css);
        }
    }

    fn css(&mut self, css: &str) {
        for reference in CssReferences::new(css).take(references_max(self.options)) {
            self.add_decoded(&reference.text, reference.kind);
        }
    }

    fn image_button(&mut self, attributes: Attributes<'a>) {
        if let [Some(kind), Some(src)] = attributes.pick(["type", "src"])
            && kind.eq_ignore_ascii_case(b"image")
        {
            self.add(src, LinkKind::Image, false);
        }
    }

    fn add(&mut self, source: &'a [u8], kind: LinkKind, nofollow: bool) {
        let source = source.trim_ascii();
        if self.takes(kind) && source.len() <= self.source_bytes_max() {
            let text = self.decode(source);
            self.references.push(Reference {
                text,
                kind,
                nofollow,
            });
        }
    }

    fn add_decoded(&mut self, url: &str, kind: LinkKind) {
        if self.takes(kind) && url.len() <= self.source_bytes_max() && !reference::is_data(url) {
            let text = Cow::Owned(url.to_owned());
            self.references.push(Reference {
                text,
                kind,
                nofollow: false,
            });
        }
    }

    fn takes(&self, kind: LinkKind) -> bool {
        self.options.requisites || !kind.is_requisite()
    }

    fn source_bytes_max(&self) -> usize {
        self.options
            .max_url_length
            .saturating_mul(SOURCE_BYTES_PER_URL_BYTE)
    }

    fn decode(&self, value: &'a [u8]) -> Cow<'a, str> {
        let text = text::decode(value, self.encoding, Context::Attribute);
        // The tokenizer of browsers does so before anything else.
        if memchr::memchr(0, value).is_some() {
            Cow::Owned(text.replace('\0', "\u{FFFD}"))
        } else {
            text
        }
    }
}

/// References of one page, or one style sheet, that are looked at.
pub(crate) fn references_max(options: &LinkOptions) -> usize {
    options.max_links.saturating_mul(REFERENCES_PER_LINK)
}

/// What an element shows once a script has loaded it.
fn lazy_kind(element: &[u8]) -> LinkKind {
    match element {
        b"iframe" => LinkKind::Iframe,
        b"frame" => LinkKind::Frame,
        b"script" => LinkKind::Script,
        b"video" | b"audio" | b"source" | b"track" => LinkKind::Media,
        b"embed" | b"object" => LinkKind::Object,
        _ => LinkKind::Image,
    }
}
