//! Gathers what the tags of a page say: references that may become links, and what the page tells of itself.
//!
//! `scan` calls [`Collector::take`] once per tag that matters; `analysis` takes the fields out when the page is through.
//! References are decoded here and resolved there.

use std::borrow::Cow;

use encoding_rs::Encoding;

use crate::attribute::Attributes;
use crate::entity::Context;
use crate::language::{self, Language};
use crate::link::{LinkKind, LinkOptions, is_nofollow};
use crate::reference;
use crate::robots::RobotsMeta;
use crate::scan::{Next, Tag};
use crate::text;

/// No element of interest has a longer name.
const NAME_LENGTH_MAX: usize = 6;
/// References looked at per link that may be kept: pages repeat themselves, but not without end.
const REFERENCES_PER_LINK: usize = 4;
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
        }
    }

    /// Takes in one start tag.
    pub(crate) fn take(&mut self, tag: Tag<'a>) -> Next {
        let mut name = [0; NAME_LENGTH_MAX];
        let Some(name) = name.get_mut(..tag.name.len()) else {
            return Next::Continue;
        };
        name.copy_from_slice(tag.name);
        name.make_ascii_lowercase();
        let attributes = tag.attributes;
        match &*name {
            b"a" => self.hyperlink(attributes, LinkKind::Anchor),
            b"area" => self.hyperlink(attributes, LinkKind::Area),
            b"frame" => self.embedded(attributes, "src", LinkKind::Frame),
            b"iframe" => self.embedded(attributes, "src", LinkKind::Iframe),
            b"link" => self.link(attributes),
            b"meta" => self.meta(attributes),
            b"base" => self.base(attributes),
            b"html" => self.html(attributes),
            b"title" => self.title(tag.after),
            b"img" => self.image(attributes, LinkKind::Image),
            b"source" => self.image(attributes, LinkKind::Media),
            b"input" => self.image_button(attributes),
            b"body" => self.embedded(attributes, "background", LinkKind::Image),
            b"script" => self.embedded(attributes, "src", LinkKind::Script),
            b"video" => {
                self.embedded(attributes.clone(), "src", LinkKind::Media);
                self.embedded(attributes, "poster", LinkKind::Image);
            }
            b"audio" | b"track" => self.embedded(attributes, "src", LinkKind::Media),
            b"embed" => self.embedded(attributes, "src", LinkKind::Object),
            b"object" => self.embedded(attributes, "data", LinkKind::Object),
            _ => {}
        }
        let references_max = self.options.max_links.saturating_mul(REFERENCES_PER_LINK);
        if self.references.len() <= references_max {
            Next::Continue
        } else {
            Next::Stop
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

    fn image(&mut self, attributes: Attributes<'a>, src_kind: LinkKind) {
        let [src, srcset] = attributes.pick(["src", "srcset"]);
        if let Some(src) = src {
            self.add(src, src_kind, false);
        }
        if let Some(srcset) = srcset {
            let srcset = self.decode(srcset);
            // Every candidate takes at least a byte, and this many are looked at at most.
            for url in reference::of_srcset(&srcset).take(self.options.max_links) {
                self.add_decoded(url, LinkKind::Image);
            }
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
        if self.takes(kind) && url.len() <= self.source_bytes_max() {
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
