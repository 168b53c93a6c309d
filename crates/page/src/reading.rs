//! A page as somebody who learns from pages reads it: its title, its words in a row, and where its links say that they lead.
//!
//! [`read`] makes one pass over the markup, without a tree, and takes the text of menus as well as that of the content: a menu says
//! much of a site. What no reader sees as text (scripts, styles, the inside of forms' lists and drawings) is left out, with one
//! exception: whether a script declares a data set is noted, because that is what such scripts are there for.
//!
//! Not here: whether text is content (`content`), and what a link resolves to (`analyze`).

use std::ops::Range;

use memchr::{memchr, memmem};

use crate::attribute::Attributes;
use crate::charset;
use crate::content::element::{Element, Name};
use crate::content::markup::{begins_block, comment_length, name_length};
use crate::entity::{self, Context};
use crate::text::find_end_tag;

/// How much of a page is read. Longer pages are read as far as it goes, and nothing of them fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most bytes of text, as UTF-8.
    pub text_bytes: usize,
    /// Most links.
    pub links: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            text_bytes: 64 * 1024,
            links: 1024,
        }
    }
}

/// More of a title is not read.
const TITLE_BYTES_MAX: usize = 1024;
/// More of a link's text is not read.
const LINK_TEXT_BYTES_MAX: usize = 256;
/// A longer reference is no link for us.
const REFERENCE_BYTES_MAX: usize = 2048;

/// What was read of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The first title, white space collapsed; empty if there is none.
    pub title: String,
    /// The words of the page as they follow one another, white space collapsed.
    pub text: String,
    /// Whether a script declares a schema.org `Dataset`.
    pub declares_dataset: bool,
    /// The references of all links, one after the other.
    references: String,
    links: Vec<ReadLink>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ReadLink {
    /// In `references`.
    reference: Range<usize>,
    /// In `text`.
    text: Range<usize>,
}

impl Reading {
    /// The links in the order of the page: what each refers to, as the page writes it, and its text.
    #[must_use]
    pub fn links(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.links.iter().map(|link| {
            let text = &self.text[link.text.clone()];
            let reference = &self.references[link.reference.clone()];
            (reference, start_of(text, LINK_TEXT_BYTES_MAX).trim())
        })
    }
}

/// Reads an HTML page; `top_level_domain` (`"jp"`) is a hint for pages that do not declare their charset.
#[must_use]
pub fn read(
    body: &[u8],
    content_type: Option<&str>,
    top_level_domain: Option<&str>,
    bounds: Bounds,
) -> Reading {
    let charset = charset::detect(body, content_type, top_level_domain);
    let html = charset::decode(body, charset);
    let mut reader = Reader {
        reading: Reading::default(),
        bounds,
        open_link: None,
        hidden: None,
    };
    reader
        .reading
        .text
        .reserve(bounds.text_bytes.min(html.len() / 2));
    reader.read(&html);
    reader.end_link();
    reader.reading
}

struct Reader {
    reading: Reading,
    bounds: Bounds,
    /// The link whose text is being read.
    open_link: Option<ReadLink>,
    /// The outermost open element whose inside is not seen, and how many of its name are open.
    hidden: Option<(Name, u32)>,
}

impl Reader {
    fn read(&mut self, html: &str) {
        let bytes = html.as_bytes();
        let mut text_start = 0;
        let mut from = 0;
        while let Some(at) = memchr(b'<', &bytes[from..]).map(|at| from + at) {
            let markup = &bytes[at..];
            let length = match (markup.get(1), markup.get(2)) {
                (Some(b'a'..=b'z' | b'A'..=b'Z'), _) => {
                    self.push(&html[text_start..at]);
                    self.start_tag(&html[at..])
                }
                (Some(b'/'), Some(letter)) if letter.is_ascii_alphabetic() => {
                    self.push(&html[text_start..at]);
                    self.end_tag(markup)
                }
                (Some(b'!' | b'?' | b'/'), _) => {
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
        let is_full = self.bounds.text_bytes <= self.reading.text.len();
        if text.is_empty() || self.hidden.is_some() || is_full {
            return;
        }
        append(
            &mut self.reading.text,
            &entity::decode(text, Context::Text),
            self.bounds.text_bytes,
        );
    }

    fn set_apart(&mut self) {
        let text = &mut self.reading.text;
        if !text.is_empty() && !text.ends_with(' ') && text.len() < self.bounds.text_bytes {
            text.push(' ');
        }
    }

    /// Takes in the start tag that `html` begins with; returns its length, with what of its inside is no markup.
    fn start_tag(&mut self, html: &str) -> usize {
        let markup = html.as_bytes();
        let name_length = name_length(&markup[1..]);
        let name_source = &markup[1..=name_length];
        let name = Name::new(name_source);
        let element = name.element();
        let mut attributes = Attributes::new(&markup[1 + name_length..]);
        let mut reference = None;
        for attribute in attributes.by_ref() {
            if element == Element::Anchor && attribute.name.eq_ignore_ascii_case(b"href") {
                reference = reference.or(Some(attribute.value));
            }
        }
        // The `>` belongs to the tag.
        let tag_end = (markup.len() - attributes.rest().len() + 1).min(markup.len());
        if let Some((hidden, depth)) = &mut self.hidden
            && *hidden == name
        {
            *depth = depth.saturating_add(1);
        }
        if begins_block(element) || element == Element::Break {
            self.set_apart();
        }
        match element {
            Element::Raw | Element::Title => {
                let inside = &markup[tag_end..];
                let length = find_end_tag(inside, name_source).unwrap_or(inside.len());
                self.take_raw(element, name_source, &html[tag_end..tag_end + length]);
                return tag_end + length;
            }
            Element::Anchor => {
                self.end_link();
                self.begin_link(reference);
            }
            Element::Hidden if self.hidden.is_none() => self.hidden = Some((name, 1)),
            Element::Hidden
            | Element::Furniture
            | Element::Banner
            | Element::Section
            | Element::Division
            | Element::Item
            | Element::Heading
            | Element::Block
            | Element::Break
            | Element::Void
            | Element::Inline => {}
        }
        tag_end
    }

    /// Takes in the inside of an element that holds no markup.
    fn take_raw(&mut self, element: Element, name: &[u8], inside: &str) {
        if element == Element::Title {
            if self.reading.title.is_empty() && self.hidden.is_none() {
                let title = start_of(inside, TITLE_BYTES_MAX);
                let decoded = entity::decode(title, Context::Text);
                append(&mut self.reading.title, &decoded, TITLE_BYTES_MAX);
                let length = self.reading.title.trim_end().len();
                self.reading.title.truncate(length);
            }
        } else if name.eq_ignore_ascii_case(b"script") {
            self.reading.declares_dataset |= declares_dataset(inside.as_bytes());
        }
    }

    fn end_tag(&mut self, markup: &[u8]) -> usize {
        let name = Name::new(&markup[2..2 + name_length(&markup[2..])]);
        let element = name.element();
        if begins_block(element) {
            self.set_apart();
        }
        if element == Element::Anchor {
            self.end_link();
        }
        if let Some((hidden, depth)) = &mut self.hidden
            && *hidden == name
        {
            *depth -= 1;
            if *depth == 0 {
                self.hidden = None;
            }
        }
        memchr(b'>', markup).map_or(markup.len(), |at| at + 1)
    }

    fn begin_link(&mut self, reference: Option<&[u8]>) {
        let Some(reference) = reference.and_then(|value| std::str::from_utf8(value).ok()) else {
            return;
        };
        let reference = reference.trim();
        let leads_elsewhere = !reference.is_empty() && !reference.starts_with('#');
        let has_room = self.reading.links.len() < self.bounds.links;
        if leads_elsewhere && has_room && reference.len() <= REFERENCE_BYTES_MAX {
            let references = &mut self.reading.references;
            let start = references.len();
            references.push_str(&entity::decode(reference, Context::Attribute));
            let at = self.reading.text.len();
            self.open_link = Some(ReadLink {
                reference: start..references.len(),
                text: at..at,
            });
        }
    }

    fn end_link(&mut self) {
        if let Some(mut link) = self.open_link.take() {
            link.text.end = self.reading.text.len();
            self.reading.links.push(link);
        }
    }
}

/// Appends text with its white space collapsed, as far as there is room.
fn append(to: &mut String, text: &str, bytes_max: usize) {
    let is_space_at = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
    let mut needs_space = is_space_at(text.as_bytes().first());
    for piece in text.split_ascii_whitespace() {
        if needs_space && !to.is_empty() && !to.ends_with(' ') {
            to.push(' ');
        }
        let room = bytes_max.saturating_sub(to.len());
        to.push_str(start_of(piece, room));
        if room <= piece.len() {
            return;
        }
        needs_space = true;
    }
    let ends_with_space = is_space_at(text.as_bytes().last());
    if ends_with_space && !to.is_empty() && !to.ends_with(' ') && to.len() < bytes_max {
        to.push(' ');
    }
}

/// As much of the text as fits into so many bytes.
fn start_of(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Whether the inside of a script says, in JSON-LD, that something is a data set (schema.org/Dataset).
fn declares_dataset(script: &[u8]) -> bool {
    memmem::find(script, b"\"@type\"").is_some() && memmem::find(script, b"\"Dataset\"").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_text(html: &str) -> Reading {
        read(
            html.as_bytes(),
            Some("text/html; charset=utf-8"),
            None,
            Bounds::default(),
        )
    }

    #[test]
    fn words_are_set_apart_by_blocks_and_not_by_emphasis() {
        for (html, text) in [
            ("<p>one<b>two</b></p><p>three", "onetwo three"),
            ("a<br>b<td>c</td><td> d </td>\n\n e", "a b c d e"),
            ("<script>no</script>yes<style>no</style>", "yes"),
            ("<select><option>no<option>no</select>yes", "yes"),
            ("<svg><svg></svg>no</svg>yes", "yes"),
            ("<!-- no --> 5 < 6 &amp; 7", "5 < 6 & 7"),
            ("<nav>menu</nav><main>content</main>", "menu content "),
            ("", ""),
        ] {
            assert_eq!(read_text(html).text.trim(), text.trim(), "{html}");
        }
    }

    #[test]
    fn links_come_with_their_text() {
        let reading = read_text(
            "<title> A &amp;\n b </title><a href='x.csv'>The <b>table</b> (CSV)</a>
             <a href='#top'>up</a><a name=x>no</a><a href=\"/y?a=1&amp;b=2\">next<a href=z>",
        );
        let links: Vec<_> = reading.links().collect();
        assert_eq!(
            links,
            [
                ("x.csv", "The table (CSV)"),
                ("/y?a=1&b=2", "next"),
                ("z", "")
            ]
        );
        assert_eq!(reading.title, "A & b");
    }

    #[test]
    fn a_declared_data_set_is_noted() {
        let html = r#"<script type="application/ld+json">{"@type": "Dataset"}</script>"#;
        assert!(read_text(html).declares_dataset);
        assert!(!read_text("<p>\"@type\": \"Dataset\"").declares_dataset);
    }

    #[test]
    fn bounds_hold() {
        let html = "<p>あいう <a href=x>え</a>".repeat(1000);
        let bounds = Bounds {
            text_bytes: 100,
            links: 3,
        };
        let reading = read(html.as_bytes(), None, None, bounds);
        assert!(reading.text.len() <= 100);
        assert_eq!(reading.links().len(), 3);
        let long = read_text(&format!(
            "<title>{0}</title><a href=x>{0}",
            "x".repeat(100_000)
        ));
        assert!(long.title.len() <= TITLE_BYTES_MAX);
        assert!(
            long.links()
                .all(|(_, text)| text.len() <= LINK_TEXT_BYTES_MAX)
        );
    }

    #[test]
    fn other_charsets_are_decoded() {
        let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode("<title>統計表</title><p>人口");
        let reading = read(
            &bytes,
            Some("text/html; charset=Shift_JIS"),
            None,
            Bounds::default(),
        );
        assert_eq!(
            (reading.title.as_str(), reading.text.as_str()),
            ("統計表", "人口")
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_within_bounds(
            bytes: Vec<u8>,
            markup in "(<a href=x>|</a>|<p>|<svg>|</svg>|<title>|<script>|<!--|-->|<|>|あ| |b)*",
        ) {
            let bounds = Bounds { text_bytes: 50, links: 2 };
            for body in [&bytes[..], markup.as_bytes()] {
                let reading = read(body, None, None, bounds);
                prop_assert!(reading.text.len() <= bounds.text_bytes);
                prop_assert!(reading.links().count() <= bounds.links);
            }
        }
    }
}
