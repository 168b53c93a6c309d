//! The references of a style sheet: `@import`, `url()` and the strings of `image-set()`, in one pass.
//!
//! `collect` reads `<style>` and `style=` with it, `analysis` whole style sheets. Strings, comments, escapes and unquoted URLs are told
//! apart as browsers do (CSS Syntax Level 3, section 4); rules, selectors and values are not looked at. Whatever names no requisite,
//! `@namespace` and the conditions of `@document` and `@import`, is passed over.
//!
//! Invariants: [`CssReferences`] only ever moves forward, so time is linear in the text; nothing is copied but references with escapes.
//! Departure: a name that is itself written with escapes (`\75rl(x)`) is not recognised.
//!
//! The tokenizer of a browser engine, `cssparser`, is the oracle of the tests.

use std::borrow::Cow;

use crate::link::LinkKind;

/// A reference as a style sheet has it, its escapes decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CssReference<'a> {
    pub(crate) text: Cow<'a, str>,
    /// A style sheet if it is imported, else some resource: what it is, an image or a font, its bytes say.
    pub(crate) kind: LinkKind,
}

/// Reads one reference after the other.
#[derive(Debug)]
pub(crate) struct CssReferences<'a> {
    css: &'a str,
    at: usize,
    prelude: Prelude,
    /// Parentheses that are open in the value.
    depth: u32,
    /// How many were open inside the `image-set()` that is open.
    image_set: Option<u32>,
    /// Where the last escape ended; a name goes on from there.
    escape_end: Option<usize>,
}

/// In what part of a rule the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prelude {
    /// Where references are requisites.
    None,
    /// After `@import`: the next reference is a style sheet.
    Import,
    /// Where references name no requisites.
    Ignored,
}

/// Whether a text may have references: a check that is quicker than reading it.
pub(crate) fn may_refer(css: &[u8]) -> bool {
    memchr::memchr2(b'(', b'@', css).is_some()
}

impl<'a> CssReferences<'a> {
    /// Reads a style sheet, or the value of a `style` attribute.
    pub(crate) fn new(css: &'a str) -> Self {
        Self {
            css,
            at: 0,
            prelude: Prelude::None,
            depth: 0,
            image_set: None,
            escape_end: None,
        }
    }

    fn bytes(&self) -> &'a [u8] {
        self.css.as_bytes()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    /// Moves on while a condition holds.
    fn skip_while(&mut self, condition: impl Fn(u8) -> bool) {
        let rest = &self.bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| condition(**byte)).count();
    }

    /// Moves on to the first byte for which the condition holds, or to the end.
    fn skip_until(&mut self, condition: impl Fn(u8) -> bool) -> Option<u8> {
        self.skip_while(|byte| !condition(byte));
        self.peek()
    }

    /// Moves behind what a backslash escapes.
    fn skip_escaped(&mut self) {
        let (_, after) = escaped(&self.css[self.at..]);
        self.at = self.css.len() - after.len();
        self.escape_end = Some(self.at);
    }

    fn skip_comment(&mut self) {
        let end = memchr::memmem::find(&self.bytes()[self.at + 1..], b"*/");
        self.at = end.map_or(self.css.len(), |end| self.at + 1 + end + 2);
    }

    /// Behind an `@`: reads the name of the rule.
    fn begin_rule(&mut self) {
        let start = self.at;
        self.skip_while(is_name);
        let name = &self.css[start..self.at];
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        self.prelude = if is("import") {
            Prelude::Import
        } else if is("namespace") || is("document") || is("-moz-document") {
            Prelude::Ignored
        } else {
            Prelude::None
        };
        self.end_value();
    }

    fn end_value(&mut self) {
        self.depth = 0;
        self.image_set = None;
    }

    /// Behind a quote: what is up to the next; none if the line ends before, because then it is no string.
    fn string(&mut self, quote: u8) -> Option<&'a str> {
        let start = self.at;
        loop {
            let found = self.skip_until(|byte| byte == quote || byte == b'\\' || is_newline(byte));
            let text = &self.css[start..self.at];
            match found {
                None => return Some(text),
                Some(b'\\') => {
                    self.at += 1;
                    self.skip_escaped();
                }
                Some(byte) if byte == quote => {
                    self.at += 1;
                    return Some(text);
                }
                Some(_) => return None,
            }
        }
    }

    /// Behind `url(`: what it refers to.
    fn url(&mut self) -> Option<&'a str> {
        self.skip_while(is_space);
        if let Some(quote @ (b'"' | b'\'')) = self.peek() {
            self.at += 1;
            self.depth = self.depth.saturating_add(1);
            return self.string(quote);
        }
        let start = self.at;
        let mut is_url = true;
        let mut end = None;
        loop {
            let found = self.skip_until(|byte| {
                is_space(byte) || is_unprintable(byte) || b"\"'()\\".contains(&byte)
            });
            let here = self.at;
            self.at += 1;
            match found {
                None => {
                    self.at = self.css.len();
                    let end = end.unwrap_or(here);
                    return is_url.then(|| &self.css[start..end]);
                }
                Some(b')') => {
                    let end = end.unwrap_or(here);
                    return is_url.then(|| &self.css[start..end]);
                }
                Some(b'\\') => {
                    is_url &= end.is_none() && !self.peek().is_some_and(is_newline);
                    self.skip_escaped();
                }
                // Nothing may follow the space after it.
                Some(byte) if is_space(byte) => {
                    end = end.or(Some(here));
                    self.skip_while(is_space);
                    is_url &= matches!(self.peek(), None | Some(b')'));
                }
                Some(_) => is_url = false,
            }
        }
    }

    /// Behind a parenthesis: the reference, if it is that of a `url()`.
    fn parenthesis(&mut self) -> Option<&'a str> {
        if self.is_behind(b"url") {
            return self.url();
        }
        self.depth = self.depth.saturating_add(1);
        let is_image_set = || self.is_behind(b"image-set") || self.is_behind(b"-webkit-image-set");
        if self.image_set.is_none() && is_image_set() {
            self.image_set = Some(self.depth);
        }
        None
    }

    /// Whether this name, and not a longer one, stands before the parenthesis behind which the reader is.
    fn is_behind(&self, name: &[u8]) -> bool {
        let before = &self.bytes()[..self.at - 1];
        let Some(start) = before.len().checked_sub(name.len()) else {
            return false;
        };
        let goes_on = start
            .checked_sub(1)
            .is_some_and(|before| is_name(self.bytes()[before]));
        before[start..].eq_ignore_ascii_case(name)
            && !goes_on
            && self.escape_end.is_none_or(|end| end < start)
    }

    fn take(&mut self, text: &'a str) -> Option<CssReference<'a>> {
        let kind = match self.prelude {
            Prelude::None => LinkKind::Resource,
            Prelude::Import => LinkKind::Stylesheet,
            Prelude::Ignored => return None,
        };
        if self.prelude == Prelude::Import {
            // Conditions follow: when the browser is to import it.
            self.prelude = Prelude::Ignored;
        }
        let text = unescaped(text);
        Some(CssReference { text, kind })
    }
}

impl<'a> Iterator for CssReferences<'a> {
    type Item = CssReference<'a>;

    fn next(&mut self) -> Option<CssReference<'a>> {
        loop {
            let found = self.skip_until(|byte| b"\"'()/@\\;{}".contains(&byte))?;
            self.at += 1;
            let text = match found {
                quote @ (b'"' | b'\'') => {
                    let is_wanted =
                        self.prelude == Prelude::Import || self.image_set == Some(self.depth);
                    self.string(quote).filter(|_| is_wanted)
                }
                b'(' => self.parenthesis(),
                b')' => {
                    if self.image_set == Some(self.depth) {
                        self.image_set = None;
                    }
                    self.depth = self.depth.saturating_sub(1);
                    None
                }
                b'/' => {
                    if self.peek() == Some(b'*') {
                        self.skip_comment();
                    }
                    None
                }
                b'@' => {
                    self.begin_rule();
                    None
                }
                b'\\' => {
                    self.skip_escaped();
                    None
                }
                _ => {
                    self.prelude = Prelude::None;
                    self.end_value();
                    None
                }
            };
            if let Some(reference) = text.and_then(|text| self.take(text)) {
                return Some(reference);
            }
        }
    }
}

/// What a string or URL means: its escapes decoded.
fn unescaped(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find('\\') else {
        return Cow::Borrowed(text);
    };
    let mut decoded = String::with_capacity(text.len());
    decoded.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(at) = rest.find('\\') {
        decoded.push_str(&rest[..at]);
        let (character, after) = escaped(&rest[at + 1..]);
        decoded.extend(character);
        rest = after;
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// The character that is escaped behind a backslash, and what follows (CSS Syntax, section 4.3.7); an escaped end of a line is nothing.
fn escaped(text: &str) -> (Option<char>, &str) {
    const DIGITS_MAX: usize = 6;
    let is_digit = u8::is_ascii_hexdigit;
    let digits = text.bytes().take(DIGITS_MAX).take_while(is_digit).count();
    let (digits, after) = text.split_at(digits);
    if let Ok(code) = u32::from_str_radix(digits, 16) {
        let character = char::from_u32(code).filter(|character| *character != '\0');
        let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
        return (Some(character), without_space(after));
    }
    match text.chars().next() {
        Some('\n' | '\r' | '\x0C') | None => (None, without_space(text)),
        Some(character) => (Some(character), &text[character.len_utf8()..]),
    }
}

/// The text without its first character if that is white space; a carriage return and a line feed are one.
fn without_space(text: &str) -> &str {
    text.strip_prefix("\r\n")
        .or_else(|| text.strip_prefix([' ', '\t', '\n', '\r', '\x0C']))
        .unwrap_or(text)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || !byte.is_ascii()
}

fn is_newline(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | b'\x0C')
}

fn is_space(byte: u8) -> bool {
    is_newline(byte) || matches!(byte, b' ' | b'\t')
}

fn is_unprintable(byte: u8) -> bool {
    matches!(byte, 0x01..=0x08 | 0x0B | 0x0E..=0x1F | 0x7F)
}

#[cfg(test)]
mod tests {
    use cssparser::{Parser, ParserInput, Token};
    use proptest::prelude::*;

    use super::*;

    fn found(css: &str) -> Vec<(String, LinkKind)> {
        CssReferences::new(css)
            .map(|reference| (reference.text.into_owned(), reference.kind))
            .collect()
    }

    #[track_caller]
    fn check(css: &str, imports: &[&str], resources: &[&str]) {
        let of = |kind| {
            let found = found(css).into_iter().filter(move |it| it.1 == kind);
            found.map(|it| it.0).collect::<Vec<_>>()
        };
        assert_eq!(of(LinkKind::Stylesheet), imports, "{css}");
        assert_eq!(of(LinkKind::Resource), resources, "{css}");
    }

    #[test]
    fn urls_of_values_are_resources() {
        check("a { background: url(x.png) }", &[], &["x.png"]);
        check("a{background:URL( 'x y.png' )}", &[], &["x y.png"]);
        check(
            "@font-face { src: url(\"a.woff2\") format('woff2'), url( b.woff ) }",
            &[],
            &["a.woff2", "b.woff"],
        );
        check("@media print { a { b: url(c) } }", &[], &["c"]);
        check("background: url(x", &[], &["x"]);
        check("background: url('x", &[], &["x"]);
        check("a{b:url(//h/x/*y*/z)}", &[], &["//h/x/*y*/z"]);
        check("a{b:url(x y) url(a(b) url(c\"d) url(e)}", &[], &["e"]);
        check("a{b:url('x\ny) url(z)}", &[], &["z"]);
        check("a{b:my-url(x) éurl(y) url (z) urls(u)}", &[], &[]);
        check(
            "a{b:image-set('x.avif' type('image/avif') 1x, url(y.png) 2x) 'z'} c{d:'e'}",
            &[],
            &["x.avif", "y.png"],
        );
    }

    #[test]
    fn imports_are_style_sheets() {
        check("@import url(x.css);", &["x.css"], &[]);
        check(
            "@import\"x.css\";@IMPORT/**/'y.css';",
            &["x.css", "y.css"],
            &[],
        );
        check(
            "@import url(x.css) layer(a) supports(background: url(no.png)) screen; b{c:url(d)}",
            &["x.css"],
            &["d"],
        );
    }

    #[test]
    fn what_names_no_requisite_is_none() {
        check(
            "@charset 'utf-8'; @namespace svg url(http://a/); b{c:'d'}",
            &[],
            &[],
        );
        check("@-moz-document url(http://a/) { b{c:url(d)} }", &[], &["d"]);
        check("/* url(x) @import 'y' */ /* a *", &[], &[]);
        check("a{b:'url(x)' \\' url(y) c:'}", &[], &["y"]);
    }

    #[test]
    fn escapes_are_decoded() {
        check(r"a{b:url(x\ y\29 z)}", &[], &["x y)z"]);
        check(r"a{b:url('\61\62 c\0000e9f\'')}", &[], &["abc\u{e9}f'"]);
        check("a{b:url('x\\\ny')}", &[], &["xy"]);
        check(r"a{b:url(\0 \110000 \)}", &[], &["\u{fffd}\u{fffd})}"]);
    }

    #[test]
    fn reading_goes_forward_only() {
        for piece in [
            "url(",
            "url('",
            "/*",
            "\"",
            "@import ",
            "\\",
            "(",
            "image-set(",
            "url(\\",
        ] {
            let css = piece.repeat(100);
            let mut references = CssReferences::new(&css);
            let mut before = 0;
            while references.next().is_some() {
                assert!(before < references.at, "{piece}");
                before = references.at;
            }
            assert_eq!(references.at, css.len(), "{piece}");
        }
    }

    /// What a browser engine finds: URLs in values and after `@import`.
    fn found_by_oracle(css: &str) -> Vec<String> {
        fn walk(parser: &mut Parser<'_, '_>, mut in_url: bool, found: &mut Vec<String>) {
            while let Ok(token) = parser.next_including_whitespace_and_comments().cloned() {
                let nests = match &token {
                    Token::WhiteSpace(_) => continue,
                    Token::UnquotedUrl(url) => {
                        found.push(url.to_string());
                        None
                    }
                    Token::QuotedString(url) if in_url => {
                        found.push(url.to_string());
                        None
                    }
                    Token::Function(name) => Some(name.eq_ignore_ascii_case("url")),
                    Token::ParenthesisBlock
                    | Token::SquareBracketBlock
                    | Token::CurlyBracketBlock => Some(false),
                    _ => None,
                };
                in_url = false;
                if let Some(is_url) = nests {
                    let inside = parser.parse_nested_block(|inside| {
                        walk(inside, is_url, found);
                        Ok::<(), cssparser::ParseError<'_, ()>>(())
                    });
                    assert!(inside.is_ok(), "it was read to its end");
                }
            }
        }
        let mut found = Vec::new();
        let mut input = ParserInput::new(css);
        walk(&mut Parser::new(&mut input), false, &mut found);
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn the_same_urls_are_found_as_by_others(
            pieces in prop::collection::vec(prop::sample::select(&[
                "url(", "URL('", "url(\"", ")", "'", "\"", "/*", "*/", "a", "b.png", " ", "\n", ";", "{", "}", "(", "\\29 ", "\\'", "é", "-url(", "x:",
            ][..]), 0..24),
        ) {
            let css = pieces.concat();
            let ours: Vec<String> = found(&css).into_iter().map(|it| it.0).collect();
            prop_assert_eq!(ours, found_by_oracle(&css), "{}", css);
        }

        #[test]
        fn any_text_is_read_to_its_end(css in "(url\\(|@import|@namespace|image-set\\(|[\"'()/*\\\\;{}@ \n]|\\PC){0,60}") {
            let mut references = CssReferences::new(&css);
            let count = references.by_ref().count();
            prop_assert!(count <= css.len());
            prop_assert_eq!(references.at, css.len());
        }
    }
}
