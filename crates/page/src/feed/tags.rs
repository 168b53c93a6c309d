//! RSS and Atom, tag by tag: names count, nesting hardly does.

use std::rc::Rc;

use crate::attribute::Attributes;
use crate::entity::{self, Context};

use super::{Draft, URL_LENGTH_MAX};

/// Elements of entries that hold other people's markup: what is in them does not count.
const OPAQUE: [&str; 7] = [
    "content",
    "summary",
    "description",
    "encoded",
    "body",
    "div",
    "source",
];

/// What stands in a feed.
#[derive(Clone, Copy)]
enum Token<'a> {
    Start(Tag<'a>),
    End(&'a str),
    Text(&'a str),
    /// Text in which nothing is escaped.
    Verbatim(&'a str),
}

/// A tag that opens an element.
#[derive(Clone, Copy)]
struct Tag<'a> {
    /// With its prefix.
    name: &'a str,
    /// What follows the name.
    attributes: &'a str,
    is_empty: bool,
}

/// Reads the entries.
pub(super) fn read(text: &str, entries_max: usize) -> Vec<Draft> {
    let mut reading = Reading::default();
    let mut rest = text;
    while let Some((token, after)) = next(rest) {
        rest = after;
        reading.take(token);
        if entries_max <= reading.drafts.len() {
            break;
        }
    }
    reading.drafts
}

#[derive(Default)]
struct Reading<'a> {
    drafts: Vec<Draft>,
    /// What the feed's links are relative to.
    base: Option<Rc<str>>,
    entry: Option<Open<'a>>,
}

/// An entry that has begun.
struct Open<'a> {
    /// Its name, with its prefix.
    name: &'a str,
    draft: Draft,
    /// What is being read.
    field: Option<Field>,
    text: String,
    /// The name of the element whose markup does not count.
    opaque: Option<&'a str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Link,
    Guid { is_link: bool },
    Title,
    Updated,
    Published,
}

impl<'a> Reading<'a> {
    fn take(&mut self, token: Token<'a>) {
        match token {
            Token::Start(tag) => self.start(tag),
            Token::End(name) => self.end(name),
            Token::Text(text) => self.text(text, true),
            Token::Verbatim(text) => self.text(text, false),
        }
    }

    fn start(&mut self, tag: Tag<'a>) {
        let (_, local) = split_name(tag.name);
        let is_entry = is(local, "item") || is(local, "entry");
        let is_of_this = |open: &Open<'_>| open.opaque.is_none() || open.name == tag.name;
        if is_entry && self.entry.as_ref().is_none_or(is_of_this) {
            // One without an end has ended.
            self.close();
            self.open(tag);
        } else if let Some(open) = &mut self.entry {
            open.start(tag);
        } else if is(local, "feed") || is(local, "rss") || is(local, "channel") {
            let [base] = attributes(tag, ["xml:base"]);
            self.base = base.map(Rc::from).or(self.base.take());
        }
    }

    fn open(&mut self, tag: Tag<'a>) {
        let [base, about] = attributes(tag, ["xml:base", "rdf:about"]);
        self.entry = Some(Open {
            name: tag.name,
            draft: Draft {
                name: about,
                feed_base: self.base.clone(),
                base,
                ..Draft::default()
            },
            field: None,
            text: String::new(),
            opaque: None,
        });
    }

    fn end(&mut self, name: &str) {
        let Some(open) = &mut self.entry else {
            return;
        };
        if open.opaque.is_some_and(|opaque| opaque == name) {
            open.opaque = None;
        } else if open.name == name {
            self.close();
        } else {
            open.end(name);
        }
    }

    fn text(&mut self, text: &str, is_escaped: bool) {
        if let Some(open) = &mut self.entry
            && let Some(field) = open.field
            && open.opaque.is_none()
            && open.text.len() + text.len() <= URL_LENGTH_MAX
        {
            // An ampersand in a link is seldom escaped.
            let context = match field {
                Field::Link | Field::Guid { .. } => Context::Attribute,
                Field::Title | Field::Updated | Field::Published => Context::Text,
            };
            if is_escaped {
                open.text.push_str(&entity::decode(text, context));
            } else {
                open.text.push_str(text);
            }
        }
    }

    fn close(&mut self) {
        if let Some(mut open) = self.entry.take() {
            // What is still being read has no end, and may be torn.
            open.field = None;
            self.drafts.push(open.draft);
        }
    }
}

impl<'a> Open<'a> {
    fn start(&mut self, tag: Tag<'a>) {
        if self.opaque.is_some() {
            return;
        }
        let (prefix, local) = split_name(tag.name);
        let is_own = prefix == split_name(self.name).0;
        if OPAQUE.iter().any(|name| is(local, name)) && (is_own || is(local, "encoded")) {
            self.field = None;
            self.opaque = (!tag.is_empty).then_some(tag.name);
            return;
        }
        let field = match (is_own, prefix, local) {
            (true, _, name) | (false, "atom" | "atom10" | "a10", name) if is(name, "link") => {
                self.link(tag);
                // Without an address in the tag it is the text, as in RSS.
                attributes(tag, ["href"])[0]
                    .is_none()
                    .then_some(Field::Link)
            }
            (true, _, name) if is(name, "guid") => {
                let [is_link] = attributes(tag, ["isPermaLink"]);
                let is_link = is_link.is_none_or(|is_link| !is(&is_link, "false"));
                Some(Field::Guid { is_link })
            }
            (true, _, name) if is(name, "title") => Some(Field::Title),
            (true, _, name) if is(name, "updated") || is(name, "modified") => Some(Field::Updated),
            (true, _, name)
                if is(name, "pubDate") || is(name, "published") || is(name, "issued") =>
            {
                Some(Field::Published)
            }
            (false, "dc", name) if is(name, "date") => Some(Field::Published),
            (false, "dcterms", name) if is(name, "modified") => Some(Field::Updated),
            // A tag in a title, say.
            _ => return,
        };
        self.field = field.filter(|_| !tag.is_empty);
        self.text.clear();
    }

    /// A link in the manner of Atom.
    fn link(&mut self, tag: Tag<'_>) {
        let [href, rel] = attributes(tag, ["href", "rel"]);
        let place = match rel.as_deref() {
            None | Some("" | "alternate") => &mut self.draft.page,
            Some("self" | "edit" | "hub" | "replies") => return,
            Some(_) => &mut self.draft.other,
        };
        if place.is_none() {
            *place = href;
        }
    }

    fn end(&mut self, name: &str) {
        let (_, local) = split_name(name);
        let Some(field) = self.field else {
            return;
        };
        let is_its_end = match field {
            Field::Link => is(local, "link"),
            Field::Guid { .. } => is(local, "guid"),
            Field::Title => is(local, "title"),
            // Dates hold no markup.
            Field::Updated | Field::Published => true,
        };
        if !is_its_end {
            return;
        }
        self.field = None;
        let text = self.text.trim().to_owned();
        let place = match field {
            Field::Link => &mut self.draft.page,
            Field::Guid { is_link: true } => &mut self.draft.name,
            Field::Guid { is_link: false } => return,
            Field::Title => &mut self.draft.title,
            Field::Updated => &mut self.draft.updated,
            Field::Published => &mut self.draft.published,
        };
        if place.is_none() && !text.is_empty() {
            *place = Some(text);
        }
    }
}

/// The next token, and what follows it.
fn next(text: &str) -> Option<(Token<'_>, &str)> {
    let Some(at) = memchr::memchr(b'<', text.as_bytes()) else {
        return (!text.is_empty()).then_some((Token::Text(text), ""));
    };
    if 0 < at {
        let (before, rest) = text.split_at(at);
        return Some((Token::Text(before), rest));
    }
    let skipped = |end: &str| {
        let after = text.find(end).map(|at| &text[at + end.len()..]);
        // What does not end has nothing behind it.
        Some((Token::Text(""), after.unwrap_or_default()))
    };
    if let Some(data) = text.strip_prefix("<![CDATA[") {
        let end = data.find("]]>").unwrap_or(data.len());
        let after = data.get(end + 3..).unwrap_or_default();
        return Some((Token::Verbatim(&data[..end]), after));
    }
    if text.starts_with("<!--") {
        return skipped("-->");
    }
    if text.starts_with("<?") {
        return skipped("?>");
    }
    if text.starts_with("<!") {
        return skipped(">");
    }
    let is_end = text.starts_with("</");
    let named = &text[1 + usize::from(is_end)..];
    let is_of_name = |it: char| it.is_alphanumeric() || matches!(it, ':' | '_' | '-' | '.');
    let length = named
        .find(|it: char| !is_of_name(it))
        .unwrap_or(named.len());
    let (name, after) = named.split_at(length);
    if !name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        // A bracket that stands for itself.
        return Some((Token::Text("<"), &text[1..]));
    }
    if is_end {
        let after = after.find('>').map_or("", |end| &after[end + 1..]);
        return Some((Token::End(name), after));
    }
    let mut attributes = Attributes::new(after.as_bytes());
    while attributes.next().is_some() {}
    // All delimiters are ASCII, so this is where a character begins.
    let length = after.len() - attributes.rest().len();
    let inside = after.get(..length)?;
    let is_empty = inside.trim_end().ends_with('/');
    let rest = after.get(length..)?.strip_prefix('>')?;
    let tag = Tag {
        name,
        attributes: inside,
        is_empty,
    };
    Some((Token::Start(tag), rest))
}

/// The values of attributes of a tag; what is longer than any URL counts as absent.
fn attributes<const N: usize>(tag: Tag<'_>, names: [&str; N]) -> [Option<String>; N] {
    let values = Attributes::new(tag.attributes.as_bytes()).pick(names);
    values.map(|value| {
        let value = value.filter(|value| value.len() <= URL_LENGTH_MAX)?;
        let text = str::from_utf8(value).ok()?;
        let decoded = entity::decode(text, Context::Attribute);
        Some(decoded.trim().to_owned())
    })
}

/// Prefix and local part of a name.
fn split_name(name: &str) -> (&str, &str) {
    name.split_once(':').unwrap_or(("", name))
}

fn is(name: &str, expected: &str) -> bool {
    name.eq_ignore_ascii_case(expected)
}
