//! A page as somebody who learns from pages reads it: its title, its words in a row, and where its links say that they lead.
//!
//! [`read`] makes one pass over the markup, without a tree, and takes the text of menus as well as that of the content: a menu says
//! much of a site. What no reader sees as text (scripts, styles, the inside of forms' lists and drawings) is left out, with one
//! exception: whether a script declares a data set is noted, because that is what such scripts are there for.
//!
//! Not here: whether text is content (`content`), and what a link resolves to (`analyze`).

use std::ops::Range;

use memchr::memmem;

use crate::charset;
use crate::content::element::{Element, Name};
use crate::content::markup::begins_block;
use crate::markup::{self, Attributes, Token};

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
        inside: Inside::Page,
    };
    reader
        .reading
        .text
        .reserve(bounds.text_bytes.min(html.len() / 2));
    markup::each(&html, |token| reader.take(token));
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
    inside: Inside,
}

/// What the next text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Page,
    Title,
    Script,
    /// A style and the like.
    Unseen,
}

impl Reader {
    fn take(&mut self, token: Token<'_>) {
        match token {
            Token::Start { name, attributes } => self.start_tag(name, &attributes),
            Token::End { name } => self.end_tag(name),
            Token::Text(text) => match self.inside {
                Inside::Page => self.text(&text),
                Inside::Title => self.title(&text),
                Inside::Script => {
                    self.reading.declares_dataset |= declares_dataset(text.as_bytes());
                }
                Inside::Unseen => {}
            },
        }
    }

    fn start_tag(&mut self, source: &str, attributes: &Attributes<'_>) {
        let name = Name::new(source.as_bytes());
        let element = name.element();
        if let Some((hidden, depth)) = &mut self.hidden
            && *hidden == name
        {
            *depth = depth.saturating_add(1);
        }
        if begins_block(element) || element == Element::Break {
            self.set_apart();
        }
        self.inside = match element {
            Element::Title => Inside::Title,
            Element::Raw => inside_raw(source),
            _ => Inside::Page,
        };
        if element == Element::Anchor {
            self.end_link();
            self.begin_link(attributes.value("href").as_deref());
        } else if element == Element::Hidden && self.hidden.is_none() {
            self.hidden = Some((name, 1));
        }
    }

    fn end_tag(&mut self, source: &str) {
        self.inside = Inside::Page;
        let name = Name::new(source.as_bytes());
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
    }

    fn text(&mut self, text: &str) {
        let is_full = self.bounds.text_bytes <= self.reading.text.len();
        if self.hidden.is_none() && !is_full {
            append(&mut self.reading.text, text, self.bounds.text_bytes);
        }
    }

    /// An image has titles too, and only the first is the page's.
    fn title(&mut self, text: &str) {
        if self.reading.title.is_empty() && self.hidden.is_none() {
            append(&mut self.reading.title, text, TITLE_BYTES_MAX);
            let length = self.reading.title.trim_end().len();
            self.reading.title.truncate(length);
        }
    }

    fn set_apart(&mut self) {
        let text = &mut self.reading.text;
        if !text.is_empty() && !text.ends_with(' ') && text.len() < self.bounds.text_bytes {
            text.push(' ');
        }
    }

    fn begin_link(&mut self, reference: Option<&str>) {
        let Some(reference) = reference.map(str::trim) else {
            return;
        };
        let leads_elsewhere = !reference.is_empty() && !reference.starts_with('#');
        let has_room = self.reading.links.len() < self.bounds.links;
        if leads_elsewhere && has_room && reference.len() <= REFERENCE_BYTES_MAX {
            let references = &mut self.reading.references;
            let start = references.len();
            references.push_str(reference);
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

/// What the inside of an element is that holds no markup. What is there for readers who lack something is for us.
fn inside_raw(name: &str) -> Inside {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    if is("script") {
        Inside::Script
    } else if is("noscript") || is("noframes") || is("noembed") {
        Inside::Page
    } else {
        Inside::Unseen
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
