//! Reads the text out of markup, block by block, in one pass and without a tree.
//!
//! The text goes to a [`Composer`], told whether it stands where content is. Where an element that is not content begins, the
//! reader counts the tags of its name until it has ended; nothing else of the nesting is kept, so depth costs nothing.
//! A tag, comment or script that never ends takes the rest of the page with it, as in a browser: no byte is looked at twice.

use memchr::{memchr, memmem};

use super::element::{Element, Marks, Name};
use super::text::{Composer, Place};
use crate::attribute::Attributes;
use crate::entity::{self, Context};
use crate::text::find_end_tag;

/// Reads HTML.
pub(super) fn read_html(html: &str, composer: &mut Composer) {
    let mut reader = Reader {
        composer,
        hidden: None,
        boilerplate: None,
        sections: 0,
    };
    reader.read(html);
    reader.composer.end_block();
}

/// Reads XML that is not HTML, such as feeds: each element is a block, and HTML inside is read as such.
pub(super) fn read_xml(xml: &str, composer: &mut Composer) {
    const CDATA: &str = "<![CDATA[";
    let mut rest = xml;
    while let Some(at) = memchr(b'<', rest.as_bytes()) {
        let (text, markup) = rest.split_at(at);
        read_inside_xml(&entity::decode(text, Context::Text), composer);
        rest = if let Some(data) = markup.strip_prefix(CDATA) {
            let end = data.find("]]>").unwrap_or(data.len());
            read_inside_xml(&data[..end], composer);
            data.get(end + 3..).unwrap_or_default()
        } else if markup.starts_with("<!--") {
            after(markup, "-->")
        } else {
            composer.end_block();
            after(markup, ">")
        };
    }
    read_inside_xml(&entity::decode(rest, Context::Text), composer);
    composer.end_block();
}

fn read_inside_xml(text: &str, composer: &mut Composer) {
    if text.contains('<') {
        read_html(text, composer);
    } else {
        composer.push(text);
    }
}

fn after<'a>(markup: &'a str, end: &str) -> &'a str {
    match memmem::find(markup.as_bytes(), end.as_bytes()) {
        Some(at) => &markup[at + end.len()..],
        None => "",
    }
}

/// An element that is open, and how many of its name are open in it.
#[derive(Clone, Copy)]
struct Region {
    name: Name,
    depth: u32,
}

impl Region {
    fn new(name: Name) -> Self {
        Self { name, depth: 1 }
    }
}

struct Reader<'a> {
    composer: &'a mut Composer,
    /// The outermost open element that is never seen.
    hidden: Option<Region>,
    /// The outermost open element that is boilerplate.
    boilerplate: Option<Region>,
    /// How many sections are open; headers and footers in them belong to them.
    sections: u32,
}

impl Reader<'_> {
    fn read(&mut self, html: &str) {
        let bytes = html.as_bytes();
        let mut text_start = 0;
        let mut from = 0;
        while let Some(at) = memchr(b'<', &bytes[from..]).map(|at| from + at) {
            let markup = &bytes[at..];
            let length = match markup.get(1) {
                Some(b'a'..=b'z' | b'A'..=b'Z') => {
                    self.push(&html[text_start..at]);
                    self.start_tag(&html[at..])
                }
                Some(b'/') if markup.get(2).is_some_and(u8::is_ascii_alphabetic) => {
                    self.push(&html[text_start..at]);
                    self.end_tag(markup)
                }
                Some(b'!' | b'?' | b'/') => {
                    self.push(&html[text_start..at]);
                    comment_length(markup)
                }
                // A bracket that begins no tag is text.
                _ => {
                    from = at + 1;
                    continue;
                }
            };
            from = at + length;
            text_start = from;
        }
        self.push(&html[text_start..]);
    }

    fn push(&mut self, text: &str) {
        if !text.is_empty() {
            self.composer.push(&entity::decode(text, Context::Text));
        }
    }

    /// Takes in the start tag that `html` begins with, and what belongs to it; returns the length of both.
    fn start_tag(&mut self, html: &str) -> usize {
        let markup = html.as_bytes();
        let name_length = name_length(&markup[1..]);
        let name_source = &markup[1..=name_length];
        let name = Name::new(name_source);
        let mut marks = Marks::default();
        let mut attributes = Attributes::new(&markup[1 + name_length..]);
        for attribute in attributes.by_ref() {
            marks.take(attribute);
        }
        // The `>` belongs to the tag.
        let tag_end = (markup.len() - attributes.rest().len() + 1).min(markup.len());
        let element = name.element();
        match element {
            Element::Raw | Element::Title => {
                let inside = &markup[tag_end..];
                let length = find_end_tag(inside, name_source).unwrap_or(inside.len());
                if element == Element::Title {
                    self.title(&html[tag_end..tag_end + length]);
                }
                // The end tag is read as any other, and does nothing.
                return tag_end + length;
            }
            Element::Void => {}
            Element::Break => self.push(" "),
            Element::Anchor => {
                self.composer.end_link();
                if marks.leads_somewhere {
                    self.composer.begin_link();
                }
                self.enter(name, element, marks);
            }
            Element::Hidden
            | Element::Boilerplate
            | Element::Banner
            | Element::Section
            | Element::Division
            | Element::Item
            | Element::Heading
            | Element::Block
            | Element::Inline => self.enter(name, element, marks),
        }
        tag_end
    }

    fn enter(&mut self, name: Name, element: Element, marks: Marks) {
        if begins_block(element) {
            self.composer.end_block();
            self.composer.set_heading(element == Element::Heading);
        }
        enter_region(&mut self.hidden, name);
        enter_region(&mut self.boilerplate, name);
        let is_hidden = marks.hidden || element == Element::Hidden;
        if self.hidden.is_none() && is_hidden && element != Element::Block {
            self.hidden = Some(Region::new(name));
        }
        let is_boilerplate = match element {
            Element::Boilerplate => true,
            Element::Banner => self.sections == 0,
            Element::Section => marks.boilerplate,
            Element::Division => marks.boilerplate || marks.boilerplate_by_word,
            Element::Raw
            | Element::Title
            | Element::Hidden
            | Element::Item
            | Element::Heading
            | Element::Block
            | Element::Break
            | Element::Anchor
            | Element::Void
            | Element::Inline => false,
        };
        if self.boilerplate.is_none() && is_boilerplate {
            self.boilerplate = Some(Region::new(name));
        }
        if element == Element::Section {
            self.sections = self.sections.saturating_add(1);
        }
        self.set_place();
    }

    fn end_tag(&mut self, markup: &[u8]) -> usize {
        let name = Name::new(&markup[2..2 + name_length(&markup[2..])]);
        let element = name.element();
        if begins_block(element) {
            self.composer.end_block();
            self.composer.set_heading(false);
        }
        if element == Element::Anchor {
            self.composer.end_link();
        }
        if element == Element::Section {
            self.sections = self.sections.saturating_sub(1);
        }
        leave_region(&mut self.hidden, name);
        leave_region(&mut self.boilerplate, name);
        self.set_place();
        memchr(b'>', markup).map_or(markup.len(), |at| at + 1)
    }

    fn set_place(&mut self) {
        self.composer
            .set_place(match (self.hidden, self.boilerplate) {
                (Some(_), _) => Place::Hidden,
                (None, Some(_)) => Place::Boilerplate,
                (None, None) => Place::Content,
            });
    }

    fn title(&mut self, text: &str) {
        // An image has titles too.
        if self.hidden.is_none() {
            self.composer.set_place(Place::Title);
            self.push(text);
            self.set_place();
        }
    }
}

/// Counts a start tag that may be inside an open element of its name.
fn enter_region(region: &mut Option<Region>, name: Name) {
    match region {
        Some(open) if open.name == name && name.nests() => open.depth += 1,
        Some(open) if open.name == name => *region = None,
        Some(_) | None => {}
    }
}

/// Counts an end tag.
fn leave_region(region: &mut Option<Region>, name: Name) {
    if let Some(open) = region
        && open.name == name
    {
        open.depth -= 1;
        if open.depth == 0 {
            *region = None;
        }
    }
}

fn begins_block(element: Element) -> bool {
    match element {
        Element::Hidden
        | Element::Boilerplate
        | Element::Banner
        | Element::Section
        | Element::Division
        | Element::Item
        | Element::Heading
        | Element::Block => true,
        Element::Raw
        | Element::Title
        | Element::Break
        | Element::Anchor
        | Element::Void
        | Element::Inline => false,
    }
}

fn name_length(after_bracket: &[u8]) -> usize {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
    after_bracket
        .iter()
        .position(is_end)
        .unwrap_or(after_bracket.len())
}

/// The length of what is a comment to a browser: a real one, a declaration, or a mistake.
fn comment_length(markup: &[u8]) -> usize {
    let (from, end): (usize, &[u8]) = if markup.starts_with(b"<!--") {
        // `<!-->` is one.
        (2, b"-->")
    } else {
        (0, b">")
    };
    memmem::find(&markup[from..], end).map_or(markup.len(), |at| from + at + end.len())
}
