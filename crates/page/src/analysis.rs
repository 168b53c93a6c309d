//! Everything that a crawler wants to know of one HTML page, in one pass over its bytes; and the links of a style sheet, and of a head.
//!
//! [`analyze`] is called once per fetched page, on the thread that fetched it: this is the hottest code of the crawler after
//! decompression. Only what is kept gets decoded; a page is not copied unless it is in UTF-16 or ISO-2022-JP.
//! Links are resolved after the scan, because a `<base>` applies to those before it as well.
//!
//! Not here: whether a link is in scope, known or allowed, and its canonical form.

use std::borrow::Cow;
use std::hash::BuildHasher as _;

use encoding_rs::{Encoding, UTF_8};
use hashbrown::{DefaultHashBuilder, HashTable};
use junkai_weburl::without_extra_slashes;
use serde::Serialize;
use url::Url;

use crate::charset::{self, Charset, CharsetSource};
use crate::collect::{Collector, Reference, references_max};
use crate::context::{self, LinkContext};
use crate::css::{self, CssReference, CssReferences};
use crate::language::{self, Language};
use crate::link::{Link, LinkKind, LinkOptions, is_nofollow};
use crate::link_header;
use crate::resolve::Resolver;
use crate::robots::RobotsMeta;
use crate::scan::{End, scan};
use crate::text;

/// A page as it was fetched, and what to look for in it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The body, without transfer and content codings.
    pub body: &'a [u8],
    /// The Content-Type header.
    pub content_type: Option<&'a str>,
    /// Where the page is: the URL of the response, http or https.
    pub url: &'a Url,
    /// Our product token, for robots rules that are addressed to us.
    pub robots_agent: &'a str,
    /// The values of the X-Robots-Tag headers.
    pub x_robots_tag: &'a [&'a str],
    /// The values of the Link headers.
    pub link_headers: &'a [&'a str],
    /// Whether to tell the language of a page that does not declare it from its text, which takes longer than everything else.
    pub detect_language: bool,
}

/// What was found in a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Analysis {
    /// The name of the page's encoding.
    pub charset: &'static str,
    /// What decided for it.
    pub charset_source: CharsetSource,
    /// The base that the page declares for its references.
    pub base: Option<String>,
    /// The links, in the order of the page; each URL at most once as a page and once as a requisite.
    pub links: Vec<Link>,
    /// What the page asks of robots.
    pub robots: RobotsMeta,
    /// The language of the page.
    pub language: Option<Language>,
    /// The title, white space collapsed.
    pub title: Option<String>,
    /// Whether there may be more links than were taken.
    pub truncated_links: bool,
    /// Links that were found and not taken: there were too many, or they were too long.
    pub links_left_out: u64,
}

impl Analysis {
    /// The page's charset, to read it by.
    #[must_use]
    pub fn charset(&self) -> Charset {
        Charset {
            encoding: Encoding::for_label(self.charset.as_bytes()).unwrap_or(UTF_8),
            source: self.charset_source,
        }
    }
}

/// Analyses one HTML page. Any bytes will do: what a browser would make something of, this does too.
#[must_use]
pub fn analyze(source: &Source<'_>, options: &LinkOptions) -> Analysis {
    analyze_links(source, options, Contexts::Leave)
}

/// The same, and each link has its context. It takes a second pass over the page.
#[must_use]
pub fn analyze_with_contexts(source: &Source<'_>, options: &LinkOptions) -> Analysis {
    analyze_links(source, options, Contexts::Read)
}

/// Analyses a style sheet: its imports, images and fonts.
#[must_use]
pub fn analyze_style_sheet(source: &Source<'_>, options: &LinkOptions) -> Analysis {
    let charset = charset::of_style_sheet(source.body, source.content_type);
    let mut links = LinkSet::new(options);
    links.add_headers(source);
    if options.requisites && css::may_refer(source.body) {
        let css = charset::decode(source.body, charset);
        // Whatever the encoding of the style sheet, its URLs are in UTF-8.
        let resolver = Resolver::new(source.url.clone(), UTF_8);
        let mut references = CssReferences::new(&css);
        for CssReference { text, kind } in references.by_ref().take(references_max(options)) {
            let reference = Reference {
                text,
                kind,
                nofollow: false,
            };
            if !names_place(&reference.text) {
                links.add(reference, None, &resolver);
            }
        }
        links.truncated |= references.next().is_some();
    }
    links.into_analysis(charset, robots_of_headers(source))
}

/// Analyses an answer of which nothing but the head is understood.
#[must_use]
pub fn analyze_headers(source: &Source<'_>, options: &LinkOptions) -> Analysis {
    let mut links = LinkSet::new(options);
    links.add_headers(source);
    let charset = Charset {
        encoding: UTF_8,
        source: CharsetSource::Default,
    };
    links.into_analysis(charset, robots_of_headers(source))
}

/// Whether the contexts of links are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contexts {
    Leave,
    Read,
}

fn analyze_links(source: &Source<'_>, options: &LinkOptions, wanted: Contexts) -> Analysis {
    let charset = charset::detect(
        source.body,
        source.content_type,
        top_level_domain(source.url),
    );
    let (html, encoding) = if charset.encoding.is_ascii_compatible() {
        (Cow::Borrowed(source.body), charset.encoding)
    } else {
        let decoded = charset::decode(source.body, charset).into_owned();
        (Cow::Owned(decoded.into_bytes()), UTF_8)
    };
    let mut collector = Collector::new(encoding, source.robots_agent, options);
    collector.robots = robots_of_headers(source);
    let mut places = Places::new(&html, wanted);
    let end = scan(&html, options.requisites, |tag| {
        let after = tag.after;
        let next = collector.take(tag);
        places.note(after, collector.references.len());
        next
    });
    let Collector {
        base,
        references,
        robots,
        title,
        mut language,
        ..
    } = collector;
    if language.is_none() && source.detect_language {
        let sample = text::sample(&html, encoding, language::SAMPLE_CHARACTERS);
        language = language::of(&sample);
    }
    let base = base.and_then(|base| base_url(&base, source.url));
    let resolver = Resolver::new(
        base.as_ref().unwrap_or(source.url).clone(),
        charset.encoding,
    );
    let mut contexts = places.contexts(encoding).into_iter();
    let mut links = LinkSet::new(options);
    links.add_headers(source);
    for reference in references {
        let context = contexts.next().map(Box::new);
        // Whatever the base, the parts of a drawing are looked for in this very page.
        let is_self =
            names_place(&reference.text) && (base.is_none() || reference.kind.is_requisite());
        if !is_self {
            links.add(reference, context, &resolver);
        }
    }
    links.truncated |= end == End::Cut;
    Analysis {
        base: base.map(String::from),
        language,
        title,
        ..links.into_analysis(charset, robots)
    }
}

/// Whether a reference names a place in the document where it stands.
fn names_place(reference: &str) -> bool {
    reference.is_empty() || reference.starts_with('#')
}

fn robots_of_headers(source: &Source<'_>) -> RobotsMeta {
    let mut robots = RobotsMeta::default();
    for value in source.x_robots_tag {
        robots.add_header(value, source.robots_agent);
    }
    robots
}

fn top_level_domain(url: &Url) -> Option<&str> {
    url.domain()?.rsplit('.').next()
}

/// The base that a page declares, if it is one (HTML standard, section 4.2.3, "set the frozen base URL").
fn base_url(reference: &str, page: &Url) -> Option<Url> {
    let base = page.join(without_extra_slashes(reference)).ok()?;
    matches!(base.scheme(), "http" | "https").then_some(base)
}

/// Where in the page the tags of the references end, if that is wanted.
struct Places<'a> {
    html: &'a [u8],
    wanted: Contexts,
    /// One for each reference.
    ends: Vec<usize>,
}

impl<'a> Places<'a> {
    fn new(html: &'a [u8], wanted: Contexts) -> Self {
        let ends = Vec::new();
        Self { html, wanted, ends }
    }

    /// A tag was taken in, after which the page goes on with `after`, a part of the page; then there were `references`.
    #[inline]
    fn note(&mut self, after: &[u8], references: usize) {
        if self.wanted == Contexts::Read {
            let end = after
                .as_ptr()
                .addr()
                .wrapping_sub(self.html.as_ptr().addr());
            self.ends.resize(references, end);
        }
    }

    fn contexts(&self, encoding: &'static Encoding) -> Vec<LinkContext> {
        match self.wanted {
            Contexts::Leave => Vec::new(),
            Contexts::Read => context::read(self.html, encoding, &self.ends),
        }
    }
}

/// Links in the order of their first appearance, each URL once as a page and once as a requisite.
struct LinkSet<'a> {
    links: Vec<Link>,
    /// Positions in `links`, by the hash of what must not repeat.
    positions: HashTable<usize>,
    hasher: DefaultHashBuilder,
    options: &'a LinkOptions,
    truncated: bool,
    left_out: u64,
}

impl<'a> LinkSet<'a> {
    fn new(options: &'a LinkOptions) -> Self {
        Self {
            links: Vec::new(),
            positions: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            options,
            truncated: false,
            left_out: 0,
        }
    }

    /// Adds what the head of the answer links to, by the rules for `<link>`.
    fn add_headers(&mut self, source: &Source<'_>) {
        if source.link_headers.is_empty() {
            return;
        }
        let resolver = Resolver::new(source.url.clone(), UTF_8);
        let headers = source.link_headers.iter().copied();
        let links = headers.flat_map(link_header::links);
        for link in links.take(references_max(self.options)) {
            let Some(kind) = LinkKind::of_rel(&link.rel, &link.media_type) else {
                continue;
            };
            let is_taken = self.options.requisites || !kind.is_requisite();
            if is_taken && !names_place(link.target) {
                let reference = Reference {
                    text: Cow::Borrowed(link.target),
                    kind,
                    nofollow: is_nofollow(link.rel.as_bytes()),
                };
                self.add(reference, None, &resolver);
            }
        }
    }

    /// What was found, where nothing else is known of the page.
    fn into_analysis(self, charset: Charset, robots: RobotsMeta) -> Analysis {
        Analysis {
            charset: charset.encoding.name(),
            charset_source: charset.source,
            base: None,
            links: self.links,
            robots,
            language: None,
            title: None,
            truncated_links: self.truncated,
            links_left_out: self.left_out,
        }
    }

    fn add(
        &mut self,
        reference: Reference<'_>,
        context: Option<Box<LinkContext>>,
        resolver: &Resolver,
    ) {
        let Reference {
            text,
            kind,
            nofollow,
        } = reference;
        let Some(url) = resolver.resolve(&text) else {
            return;
        };
        if self.options.max_url_length < url.len() {
            self.left_out += 1;
            return;
        }
        let hash = |link: &Link| self.hasher.hash_one((&link.url, link.kind.is_requisite()));
        let link = Link {
            url,
            kind,
            nofollow,
            context,
        };
        let links = &self.links;
        let is_same = |position: &usize| {
            links[*position].url == link.url
                && links[*position].kind.is_requisite() == kind.is_requisite()
        };
        let link_hash = hash(&link);
        if let Some(position) = self.positions.find(link_hash, is_same) {
            // One link that may be followed is enough.
            let known = &mut self.links[*position];
            known.nofollow &= nofollow;
            let has_text = |context: &LinkContext| !context.text.is_empty();
            if !known.context.as_deref().is_some_and(has_text) && link.context.is_some() {
                known.context = link.context;
            }
        } else if links.len() < self.options.max_links {
            self.positions
                .insert_unique(link_hash, links.len(), |position| hash(&links[*position]));
            self.links.push(link);
        } else {
            self.truncated = true;
            self.left_out += 1;
        }
    }
}

#[cfg(test)]
mod tests;
