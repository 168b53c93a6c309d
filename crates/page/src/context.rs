//! What surrounds a link: its text, where it stands in the page's structure, and the words beside it.
//!
//! `analysis` calls [`read`] after its own scan, only when contexts were asked for, with the places of the links' tags. One more pass
//! over the page keeps a stack of open elements, closes those whose end tags may be left out, and gathers text.
//!
//! Bounds: time linear in the page; [`DEPTH_MAX`] open elements, and the lengths below for each link. Elements nested deeper are not
//! on the stack, and a link in them has the path of what holds them.

use encoding_rs::Encoding;
use memchr::{memchr, memmem};
use serde::Serialize;

use crate::attribute::Attributes;
use crate::entity;
use crate::text::{self, find_end_tag};

/// Open elements that are kept track of.
const DEPTH_MAX: usize = 256;
/// Innermost elements that make up a tag path.
const PATH_ELEMENTS_MAX: usize = 32;
/// Bytes of one element in a tag path.
const ELEMENT_BYTES_MAX: usize = 64;
/// Bytes of a link's text.
const TEXT_BYTES_MAX: usize = 256;
/// Bytes of the words beside a link.
const BESIDE_BYTES_MAX: usize = 512;
/// Links that share the words beside them; those after them in one block have none.
const LINKS_PER_BLOCK_MAX: usize = 64;

/// What surrounds a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkContext {
    /// The text of the link, white space collapsed; without any, what its images or its own attributes say instead.
    pub text: String,
    /// The elements from the root to the link, set apart by spaces, each as `name#identifier.class.class`, in the page's order of classes:
    /// `html body div#main ul.files li a`. Of a deep one only the innermost elements.
    pub tag_path: String,
    /// The text of the table row, list item, paragraph or other block that holds the link, the link's own included.
    pub beside: String,
}

/// The contexts of the links whose tags end at `places`, which ascend; one for each, empty where the page is not understood.
pub(crate) fn read(html: &[u8], encoding: &'static Encoding, places: &[usize]) -> Vec<LinkContext> {
    let mut reader = Reader {
        html,
        encoding,
        places,
        contexts: vec![LinkContext::default(); places.len()],
        next: 0,
        open: Vec::new(),
        link: None,
        instead: String::new(),
        block: String::new(),
        in_block: Vec::new(),
    };
    reader.read();
    reader.contexts
}

/// An element on the stack.
struct Open {
    name: Name,
    /// As it stands in a tag path.
    label: String,
}

/// An element's name in lower case, cut where no element of the standard is as long.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Name {
    bytes: [u8; Name::LENGTH_MAX],
    length: usize,
}

struct Reader<'a> {
    html: &'a [u8],
    encoding: &'static Encoding,
    places: &'a [usize],
    contexts: Vec<LinkContext>,
    /// The first place that has not been reached.
    next: usize,
    open: Vec<Open>,
    /// The open link.
    link: Option<usize>,
    /// What stands for the open link's text if it has none.
    instead: String,
    /// The text of the open block, and the links in it.
    block: String,
    in_block: Vec<usize>,
}

impl Reader<'_> {
    fn read(&mut self) {
        let html = self.html;
        let (mut from, mut text_start) = (0, 0);
        // Comments, scripts and broken tags without an end take the rest of the page with them, so no byte is looked at twice.
        while let Some(at) = memchr(b'<', &html[from..]).map(|at| from + at) {
            let markup = &html[at..];
            let end = match markup.get(1) {
                Some(first) if first.is_ascii_alphabetic() => {
                    self.text(&html[text_start..at]);
                    self.start_tag(at)
                }
                Some(b'/') if markup.get(2).is_some_and(u8::is_ascii_alphabetic) => {
                    self.text(&html[text_start..at]);
                    self.end_tag(Name::at(&markup[2..]));
                    at + memchr(b'>', markup).map_or(markup.len(), |close| close + 1)
                }
                Some(b'!' | b'?' | b'/') => {
                    self.text(&html[text_start..at]);
                    at + comment_length(markup)
                }
                // A bracket that begins no tag is text.
                _ => {
                    from = at + 1;
                    continue;
                }
            };
            (from, text_start) = (end, end);
        }
        self.text(&html[text_start..]);
        self.end_link();
        self.end_block();
    }

    fn text(&mut self, source: &[u8]) {
        // More than this cannot be kept, whatever the encoding and however it is escaped.
        const SOURCE_BYTES_MAX: usize = 16 * BESIDE_BYTES_MAX;
        if source.is_empty() || self.places.is_empty() {
            return;
        }
        let source = &source[..source.len().min(SOURCE_BYTES_MAX)];
        let decoded = text::decode(source, self.encoding, entity::Context::Text);
        append(&mut self.block, &decoded, BESIDE_BYTES_MAX);
        if let Some(link) = self.link {
            append(&mut self.contexts[link].text, &decoded, TEXT_BYTES_MAX);
        }
    }

    /// Takes in the start tag at `at`; returns where what belongs to it ends.
    fn start_tag(&mut self, at: usize) -> usize {
        let html = self.html;
        let name = Name::at(&html[at + 1..]);
        let mut attributes = Attributes::new(&html[at + 1 + name_length(&html[at + 1..])..]);
        let values = attributes.clone();
        attributes.by_ref().for_each(drop);
        let tag_end = (html.len() - attributes.rest().len() + 1).min(html.len());
        let is_raw = matches!(
            name.as_bytes(),
            b"script" | b"style" | b"textarea" | b"title"
        );
        if is_raw {
            let source_name = &html[at + 1..at + 1 + name_length(&html[at + 1..])];
            return tag_end
                + find_end_tag(&html[tag_end..], source_name).unwrap_or(html.len() - tag_end);
        }
        self.close_before(name);
        if name.is_block() {
            self.end_block();
        }
        if name.as_bytes() == b"a" {
            self.end_link();
        }
        let label = self.label(name, values.clone());
        self.note_place(tag_end, name, &label, &values);
        match name.as_bytes() {
            b"img" => self.instead(values, ["alt"]),
            b"br" | b"td" | b"th" => append(&mut self.block, " ", BESIDE_BYTES_MAX),
            _ => {}
        }
        if !name.is_void() && self.open.len() < DEPTH_MAX {
            self.open.push(Open { name, label });
        }
        tag_end
    }

    /// If a link's tag ends here, writes down its path and begins its text.
    fn note_place(&mut self, tag_end: usize, name: Name, label: &str, attributes: &Attributes<'_>) {
        while self
            .places
            .get(self.next)
            .is_some_and(|place| *place < tag_end)
        {
            self.next += 1;
        }
        while self.places.get(self.next) == Some(&tag_end) {
            let link = self.next;
            self.next += 1;
            self.contexts[link].tag_path = self.path(label);
            if self.in_block.len() < LINKS_PER_BLOCK_MAX {
                self.in_block.push(link);
            }
            self.link = Some(link);
            self.instead(attributes.clone(), ["alt", "aria-label", "title"]);
            if name.is_void() {
                self.end_link();
            }
        }
    }

    fn path(&self, label: &str) -> String {
        let outer = self.open.iter().map(|open| &*open.label);
        let skipped = (self.open.len() + 1).saturating_sub(PATH_ELEMENTS_MAX);
        let elements: Vec<&str> = outer.chain([label]).skip(skipped).collect();
        elements.join(" ")
    }

    /// What stands for the open link's text: the first that there is.
    fn instead<const N: usize>(&mut self, attributes: Attributes<'_>, names: [&str; N]) {
        if self.link.is_some() && self.instead.is_empty() {
            for value in attributes.pick(names).into_iter().flatten() {
                let decoded = text::decode(value, self.encoding, entity::Context::Attribute);
                append(&mut self.instead, &decoded, TEXT_BYTES_MAX);
                if !self.instead.trim().is_empty() {
                    break;
                }
            }
        }
    }

    fn end_link(&mut self) {
        if let Some(link) = self.link.take() {
            let text = &mut self.contexts[link].text;
            if text.trim().is_empty() {
                text.clone_from(&self.instead);
            }
            trim(text);
        }
        self.instead.clear();
    }

    fn end_block(&mut self) {
        trim(&mut self.block);
        for link in self.in_block.drain(..) {
            self.contexts[link].beside.clone_from(&self.block);
        }
        self.block.clear();
    }

    /// Closes the open elements that a start tag of this name ends without saying so (HTML standard, section 13.1.2.4).
    fn close_before(&mut self, name: Name) {
        let (closed, within): (&[&[u8]], &[&[u8]]) = match name.as_bytes() {
            b"li" => (&[b"li"], &[b"ul", b"ol", b"menu", b"dir"]),
            b"dt" | b"dd" => (&[b"dt", b"dd"], &[b"dl"]),
            b"td" | b"th" => (&[b"td", b"th"], &[b"tr", b"table"]),
            b"tr" => (&[b"tr"], &[b"table"]),
            b"tbody" | b"thead" | b"tfoot" => (&[b"tbody", b"thead", b"tfoot"], &[b"table"]),
            b"option" => (&[b"option"], &[b"select", b"datalist"]),
            b"a" => (&[b"a"], &[b"table"]),
            _ if name.ends_paragraph() => (&[b"p"], &[b"button", b"td", b"th", b"div", b"li"]),
            _ => return,
        };
        let innermost = self.open.iter().rposition(|open| {
            let name = open.name.as_bytes();
            closed.contains(&name) || within.contains(&name)
        });
        if let Some(index) = innermost
            && closed.contains(&self.open[index].name.as_bytes())
        {
            self.open.truncate(index);
        }
    }

    fn end_tag(&mut self, name: Name) {
        if name.as_bytes() == b"a" {
            self.end_link();
        }
        if name.is_block() {
            self.end_block();
        }
        // An end tag inside a table does not end what is around the table.
        let innermost = self.open.iter().rposition(|open| {
            open.name == name || (open.name.as_bytes() == b"table" && name.as_bytes() != b"body")
        });
        if let Some(index) = innermost
            && self.open[index].name == name
        {
            self.open.truncate(index);
        }
    }

    fn label(&self, name: Name, attributes: Attributes<'_>) -> String {
        let mut label = String::from_utf8_lossy(name.as_bytes()).into_owned();
        let [identifier, classes] = attributes.pick(["id", "class"]);
        for (mark, value) in [('#', identifier), ('.', classes)] {
            // What is longer does not fit anyway.
            let value = value.unwrap_or_default();
            let value = &value[..value.len().min(4 * ELEMENT_BYTES_MAX)];
            let decoded = text::decode(value, self.encoding, entity::Context::Attribute);
            for word in decoded.split_whitespace() {
                if label.len() + mark.len_utf8() + word.len() <= ELEMENT_BYTES_MAX {
                    label.push(mark);
                    label.push_str(word);
                }
            }
        }
        label
    }
}

/// Appends text with white space collapsed, as far as there is room; what does not fit is lost from there on.
fn append(whole: &mut String, text: &str, length_max: usize) {
    for character in text.chars() {
        if length_max < whole.len() + character.len_utf8() {
            return;
        }
        if !character.is_whitespace() && character != '\0' {
            whole.push(character);
        } else if !whole.is_empty() && !whole.ends_with(' ') {
            whole.push(' ');
        }
    }
}

fn trim(text: &mut String) {
    text.truncate(text.trim_end().len());
}

fn name_length(after_bracket: &[u8]) -> usize {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
    let end = after_bracket.iter().position(is_end);
    end.unwrap_or(after_bracket.len())
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

impl Name {
    const LENGTH_MAX: usize = 16;

    fn at(after_bracket: &[u8]) -> Self {
        let length = name_length(after_bracket).min(Self::LENGTH_MAX);
        let mut bytes = [0; Self::LENGTH_MAX];
        bytes[..length].copy_from_slice(&after_bracket[..length]);
        bytes[..length].make_ascii_lowercase();
        Self { bytes, length }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn is_void(self) -> bool {
        matches!(
            self.as_bytes(),
            b"area"
                | b"base"
                | b"basefont"
                | b"bgsound"
                | b"br"
                | b"col"
                | b"embed"
                | b"frame"
                | b"hr"
                | b"img"
                | b"input"
                | b"keygen"
                | b"link"
                | b"meta"
                | b"param"
                | b"source"
                | b"track"
                | b"wbr"
        )
    }

    /// Whether the words before it do not stand beside those after it. Cells of a row do, so they are no blocks here.
    fn is_block(self) -> bool {
        matches!(
            self.as_bytes(),
            b"address"
                | b"article"
                | b"aside"
                | b"blockquote"
                | b"body"
                | b"caption"
                | b"center"
                | b"dd"
                | b"details"
                | b"dialog"
                | b"dir"
                | b"div"
                | b"dl"
                | b"dt"
                | b"fieldset"
                | b"figcaption"
                | b"figure"
                | b"footer"
                | b"form"
                | b"h1"
                | b"h2"
                | b"h3"
                | b"h4"
                | b"h5"
                | b"h6"
                | b"header"
                | b"hr"
                | b"li"
                | b"main"
                | b"menu"
                | b"nav"
                | b"ol"
                | b"p"
                | b"pre"
                | b"section"
                | b"summary"
                | b"table"
                | b"tbody"
                | b"tfoot"
                | b"thead"
                | b"tr"
                | b"ul"
        )
    }

    fn ends_paragraph(self) -> bool {
        self.is_block()
            && !matches!(
                self.as_bytes(),
                b"body" | b"caption" | b"summary" | b"figcaption"
            )
    }
}

#[cfg(test)]
mod tests;
