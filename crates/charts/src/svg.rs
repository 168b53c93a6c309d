//! Writes SVG: elements, attributes, text and numbers, always well-formed.
//!
//! Everything that this crate prints goes through [`Svg`], so that escaping and rounding happen in one place. What comes
//! from outside is text and numbers: [`escape`] makes any text harmless, [`number`] any number finite.
//!
//! Invariant: every element that was opened is closed by [`Svg::finish`], in order.

use std::fmt::{Display, Write};

/// Characters of any one text that are kept. More than fits on a figure, few enough for a file of bounded size.
const TEXT_CHARS_MAX: usize = 400;

/// Coordinates beyond this are off any screen, and renderers lose precision there.
const COORDINATE_MAX: f64 = 100_000.0;

/// An SVG document, or a part of one, being written.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    text: String,
    open: Vec<&'static str>,
}

impl Svg {
    /// Opens an element; what follows is inside it until [`Svg::close`].
    pub(crate) fn open(&mut self, name: &'static str, attributes: &[(&str, &dyn Display)]) {
        self.start(name, attributes);
        self.text.push('>');
        self.open.push(name);
    }

    /// Closes the element that was opened last.
    pub(crate) fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            self.text.push_str("</");
            self.text.push_str(name);
            self.text.push('>');
        }
    }

    /// Writes an element without content.
    pub(crate) fn empty(&mut self, name: &'static str, attributes: &[(&str, &dyn Display)]) {
        self.start(name, attributes);
        self.text.push_str("/>");
    }

    /// Writes an element that holds only text.
    pub(crate) fn text(
        &mut self,
        name: &'static str,
        attributes: &[(&str, &dyn Display)],
        text: &str,
    ) {
        self.open(name, attributes);
        self.text.push_str(&escape(text));
        self.close();
    }

    /// Writes the style sheet, which is our own text and holds nothing to escape.
    pub(crate) fn style(&mut self, sheet: &str) {
        self.open("style", &[]);
        self.text.push_str(sheet);
        self.close();
    }

    /// Closes what is still open and hands out the text.
    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.text.push('\n');
        self.text
    }

    fn start(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.text.push('<');
        self.text.push_str(name);
        for (attribute, value) in attributes {
            self.text.push(' ');
            self.text.push_str(attribute);
            self.text.push_str("=\"");
            self.text.push_str(&escape(&value.to_string()));
            self.text.push('"');
        }
    }
}

/// A coordinate or length, to a tenth of a pixel and without needless zeros.
pub(crate) fn number(value: f64) -> String {
    let bounded = if value.is_finite() {
        value.clamp(-COORDINATE_MAX, COORDINATE_MAX)
    } else {
        0.0
    };
    let text = format!("{bounded:.1}");
    match text.strip_suffix(".0").unwrap_or(&text) {
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

/// Appends a point of a path, `x y`.
pub(crate) fn push_point(path: &mut String, x: f64, y: f64) {
    path.push_str(&number(x));
    path.push(' ');
    path.push_str(&number(y));
}

/// Text as it may stand in XML, in an element or a quoted attribute.
///
/// Characters that XML 1.0 (section 2.2) forbids, and those that would turn the writing direction of what follows, are left out.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            kept => escaped.push(kept),
        }
    }
    escaped
}

/// One line of printable text, of bounded length: what every label and title is made into when it comes in.
pub(crate) fn one_line(text: impl Into<String>) -> String {
    let text: String = text.into();
    let printable = text.chars().take(4 * TEXT_CHARS_MAX).map(|character| {
        if character.is_control() || character == '\u{2028}' || character == '\u{2029}' {
            ' '
        } else {
            character
        }
    });
    let mut line = String::new();
    let mut count = 0;
    for character in printable.filter(|&character| is_printable(character)) {
        if count == TEXT_CHARS_MAX {
            line.push('…');
            break;
        }
        if character == ' ' && (line.is_empty() || line.ends_with(' ')) {
            continue;
        }
        line.push(character);
        count += 1;
    }
    line.truncate(line.trim_end().len());
    line
}

/// Whether a character is allowed in XML and does not turn the writing direction of its neighbours.
fn is_printable(character: char) -> bool {
    !matches!(character,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

/// A name that may stand in an `id`, different for different prefixes.
pub(crate) fn id(prefix: &str) -> String {
    let mut id = String::from("c-");
    for character in prefix.chars().take(TEXT_CHARS_MAX) {
        if character.is_ascii_alphanumeric() || character == '-' {
            id.push(character);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(id, "_{:x}_", u32::from(character));
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_finite() {
        let cases = [
            (0.0, "0"),
            (-0.04, "0"),
            (12.0, "12"),
            (12.34, "12.3"),
            (-7.06, "-7.1"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
            (1e300, "100000"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn hostile_text_is_text() {
        let mut svg = Svg::default();
        svg.open("g", &[("id", &"\" onload=\"x")]);
        svg.text("title", &[], "</title><script>&\"']]>");
        assert_eq!(
            svg.finish(),
            "<g id=\"&quot; onload=&quot;x\"><title>&lt;/title&gt;&lt;script&gt;&amp;&quot;&#39;]]&gt;</title></g>\n"
        );
    }

    #[test]
    fn a_line_of_text_is_bounded_and_printable() {
        let check = |text: &str, expected: &str| assert_eq!(one_line(text), expected);
        check("  a\n\tb\0c ", "a b c");
        check("\u{202e}abc\u{ffff}", "abc");
        check("", "");
        assert_eq!(one_line("x".repeat(5000)).chars().count(), 401);
    }

    #[test]
    fn different_prefixes_give_different_ids() {
        let ids = ["a", "a b", "a_b", "a_20_b", "", "é"].map(id);
        for (index, left) in ids.iter().enumerate() {
            assert!(ids[..index].iter().all(|right| right != left), "{left}");
        }
    }
}
