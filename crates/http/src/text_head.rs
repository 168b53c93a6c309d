//! A first line and fields as text, as WARC records and stored HTTP messages begin: taken apart as leniently as warcio does.
//!
//! The index must tell of a record what `cdxj-indexer` tells, for malformed heads as well, so this follows warcio's parser
//! line by line: lines end at LF, a line of white space ends the head, a line without a colon is passed over, a line that
//! begins with a blank continues the one before, and each line is UTF-8 or else Latin-1.

use std::borrow::Cow;

use crate::head::list_items;

/// A head that was taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextHead<'a> {
    /// The first line without white space at its end.
    pub first_line: Cow<'a, str>,
    /// Names and values, in order.
    pub fields: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Bytes of the head, with the line that ends it.
    pub length: usize,
}

impl<'a> TextHead<'a> {
    /// Takes apart the head at the start of `bytes`.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Self {
        let mut lines = Lines { rest: bytes };
        let mut head = Self {
            first_line: lines.next_trimmed(),
            ..Self::default()
        };
        if !head.first_line.is_empty() {
            let mut line = lines.next_trimmed();
            while !line.is_empty() {
                let mut field = split_field(line);
                line = lines.next_trimmed();
                while line.starts_with([' ', '\t']) {
                    if let Some((_, value)) = &mut field {
                        value.to_mut().push_str(&line);
                    }
                    line = lines.next_trimmed();
                }
                head.fields.extend(field);
            }
        }
        head.length = bytes.len() - lines.rest.len();
        head
    }

    /// The value of the first field of that name, in any case.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        let (_, value) = self
            .fields
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    /// The second word of the first line, which is the status of a response. It may be empty; there is none where the
    /// head holds nothing beyond a first word.
    #[must_use]
    pub fn status(&self) -> Option<&str> {
        let (_, rest) = self.first_line.split_once(' ').unwrap_or_default();
        let rest = rest.trim_matches(is_space);
        let is_nothing = rest.is_empty() && self.fields.is_empty();
        let status = rest.split_once(' ').map_or(rest, |(status, _)| status);
        (!is_nothing).then_some(status)
    }

    /// The media type that the fields name, without parameters.
    #[must_use]
    pub fn media_type(&self) -> Option<&str> {
        self.field("content-type").map(without_parameters)
    }
}

impl TextHead<'_> {
    /// Whether the head says that the body is in chunks.
    #[must_use]
    pub fn is_chunked(&self) -> bool {
        let codings = self.values("transfer-encoding").flat_map(list_items);
        codings
            .last()
            .is_some_and(|coding| coding.eq_ignore_ascii_case(b"chunked"))
    }

    /// All values of a field, in order.
    pub fn values<'v>(&'v self, name: &'v str) -> impl Iterator<Item = &'v [u8]> {
        let named = self
            .fields
            .iter()
            .filter(move |(key, _)| key.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_bytes())
    }
}

/// A media type without its parameters.
#[must_use]
pub fn without_parameters(media_type: &str) -> &str {
    let end = media_type
        .find(|c| c == ';' || is_space(c))
        .unwrap_or(media_type.len());
    &media_type[..end]
}

/// Whether Python counts a character as white space.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

fn split_field(line: Cow<'_, str>) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    fn split(line: &str) -> Option<(&str, &str)> {
        let (name, value) = line.split_once(':')?;
        Some((
            name.trim_end_matches([' ', '\t']),
            value.trim_start_matches(is_space),
        ))
    }
    Some(match line {
        Cow::Borrowed(line) => {
            let (name, value) = split(line)?;
            (name.into(), value.into())
        }
        Cow::Owned(line) => {
            let (name, value) = split(&line)?;
            (name.to_owned().into(), value.to_owned().into())
        }
    })
}

struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    /// The next line without white space at its end; empty at the end of the bytes.
    fn next_trimmed(&mut self) -> Cow<'a, str> {
        let end = memchr::memchr(b'\n', self.rest).map_or(self.rest.len(), |at| at + 1);
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        if let Ok(text) = str::from_utf8(line) {
            return Cow::Borrowed(text.trim_end_matches(is_space));
        }
        let text: String = line.iter().copied().map(char::from).collect();
        Cow::Owned(text.trim_end_matches(is_space).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], status: Option<&str>, media_type: Option<&str>, length: usize) {
        let head = TextHead::parse(bytes);
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(head.status(), status, "{text}");
        assert_eq!(head.media_type(), media_type, "{text}");
        assert_eq!(head.length, length, "{text}");
    }

    // The expected values are warcio's: `StatusAndHeadersParser([], False).parse(...)` and `get_statuscode()`.
    #[test]
    fn heads_are_taken_apart_as_warcio_does() {
        let ok = Some("200");
        check(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\n\r\nbody",
            ok,
            Some("text/html"),
            55,
        );
        check(
            b"HTTP/1.1 200\nContent-Type:text/html\n\nbody",
            ok,
            Some("text/html"),
            37,
        );
        check(b"HTTP/1.1  404  Not Found\r\n\r\n", Some("404"), None, 28);
        check(b"HTTP/1.1\r\n\r\n", None, None, 12);
        check(b"HTTP/1.1\r\nA: b\r\n\r\n", Some(""), None, 18);
        check(b"\r\nHTTP/1.1 200 OK\r\n\r\n", None, None, 2);
        check(
            b"HTTP/1.1 200 OK\r\nno colon\r\nContent-Type : a\r\n b;c\r\n \r\nx",
            ok,
            Some("a"),
            54,
        );
        check(
            b"HTTP/1.1 200 OK\r\nContent-Type: \xe9t\xe9;\r\n",
            ok,
            Some("\u{e9}t\u{e9}"),
            37,
        );
        check(
            b"HTTP/1.1 200 OK\r\nContent-Type: ;\r\n\r\n",
            ok,
            Some(""),
            36,
        );
        check(b"", None, None, 0);
    }
}
