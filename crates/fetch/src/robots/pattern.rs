//! Path patterns of robots.txt rules, and the octets that they are compared with.
//!
//! RFC 9309, sections 2.2.2 and 2.2.3. Both sides are brought to one form first: octets beyond ASCII, and those that URLs as browsers
//! make them have encoded (quotes, angle and curly brackets and the like), are
//! percent-encoded, encoded unreserved characters are decoded, hexadecimal
//! digits are upper case, and `*` and `$` that stand for themselves are encoded, so that they
//! cannot be taken for wildcards. A second form also encodes `:/?#[]@` after the question
//! mark, which makes the RFC's example of `http://foo.bar` in a query match either way.
//!
//! Matching goes from left to right and never back: each piece between two `*` is sought at its
//! first place after the piece before, which is right because a `*` takes anything. So it is linear
//! in the lengths of path and pattern, whatever a hostile file contains.

use memchr::memmem;

/// A path pattern in its first form: its text, with `*` as the only wildcard, and `$` at its end if it is anchored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    text: Box<str>,
}

/// A path and query in both forms.
pub(super) struct Target {
    plain: String,
    encoded: Option<String>,
}

impl Target {
    pub(super) fn new(path_and_query: &str) -> Self {
        let plain = normalize(path_and_query.as_bytes(), Wildcards::None);
        let encoded = encode_query(&plain);
        Self { plain, encoded }
    }

    pub(super) fn plain(&self) -> &str {
        &self.plain
    }

    /// The second form, where it differs.
    pub(super) fn encoded(&self) -> Option<&str> {
        self.encoded.as_deref()
    }
}

impl Pattern {
    /// Reads a pattern; none if it is no path, and then it matches nothing.
    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        if !is_path(value) {
            return None;
        }
        let (value, is_anchored) = match value.strip_suffix(b"$") {
            Some(value) => (value, true),
            None => (value, false),
        };
        let mut text = normalize(value, Wildcards::Star);
        if is_anchored {
            text.push('$');
        }
        Some(Self { text: text.into() })
    }

    /// The pattern with this text, which is in the first form; none if it cannot be.
    pub(super) fn restored(text: &str) -> Option<Self> {
        let is_normal =
            text.bytes().all(|byte| matches!(byte, b'!'..=b'~')) && !text.contains("**");
        // Earlier versions encoded less.
        let pattern = Self::parse(text.as_bytes());
        pattern.filter(|_| is_normal)
    }

    pub(super) fn into_text(self) -> Box<str> {
        self.text
    }
}

fn is_path(value: &[u8]) -> bool {
    matches!(value.first(), Some(b'/' | b'*'))
}

/// Whether a pattern matches a path of the same form.
pub(super) fn matches(pattern: &str, path: &[u8]) -> bool {
    let pattern = pattern.as_bytes();
    let (text, is_anchored) = match pattern.strip_suffix(b"$") {
        Some(text) => (text, true),
        None => (pattern, false),
    };
    let Some(first_star) = memchr::memchr(b'*', text) else {
        return if is_anchored {
            path == text
        } else {
            path.starts_with(text)
        };
    };
    let Some(mut rest) = path.strip_prefix(&text[..first_star]) else {
        return false;
    };
    let mut pieces = text[first_star + 1..].split(|byte| *byte == b'*');
    // Splitting gives at least one piece: the last, which an anchor ties to the end.
    let last = pieces.next_back().unwrap_or_default();
    for piece in pieces {
        match memmem::find(rest, piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    if is_anchored {
        rest.ends_with(last)
    } else {
        memmem::find(rest, last).is_some()
    }
}

/// Whether `*` is a wildcard in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wildcards {
    None,
    Star,
}

/// Brings a path, or a pattern without its anchor, to the form in which octets are compared.
fn normalize(text: &[u8], wildcards: Wildcards) -> String {
    let mut normal = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'%' => match hex_pair(after) {
                Some(octet) => {
                    rest = &after[2..];
                    if is_unreserved(octet) {
                        normal.push(char::from(octet));
                    } else {
                        push_encoded(octet, &mut normal);
                    }
                }
                None => normal.push('%'),
            },
            // Stars in a row say no more than one.
            b'*' if wildcards == Wildcards::Star => {
                if !normal.ends_with('*') {
                    normal.push('*');
                }
            }
            b'*' | b'$' => push_encoded(byte, &mut normal),
            b'"' | b'\'' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => {
                push_encoded(byte, &mut normal);
            }
            b'!'..=b'~' => normal.push(char::from(byte)),
            _ => push_encoded(byte, &mut normal),
        }
    }
    normal
}

/// Encodes the general delimiters after the question mark; none if there are none.
pub(super) fn encode_query(normal: &str) -> Option<String> {
    let is_delimiter = |character: char| ":/?#[]@".contains(character);
    let (path, query) = normal.split_once('?')?;
    if !query.contains(is_delimiter) {
        return None;
    }
    let mut encoded = format!("{path}?");
    for character in query.chars() {
        match u8::try_from(character) {
            Ok(octet) if is_delimiter(character) => push_encoded(octet, &mut encoded),
            Ok(_) | Err(_) => encoded.push(character),
        }
    }
    Some(encoded)
}

fn push_encoded(octet: u8, text: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    text.push('%');
    text.push(char::from(DIGITS[usize::from(octet >> 4)]));
    text.push(char::from(DIGITS[usize::from(octet & 15)]));
}

/// The octet that two hexadecimal digits stand for.
fn hex_pair(text: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match text {
        [high, low, ..] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        [] | [_] => None,
    }
}

/// RFC 3986, section 2.3.
fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// In either form.
    fn matches(pattern: &str, path: &str) -> bool {
        let Some(pattern) = Pattern::parse(pattern.as_bytes()) else {
            return false;
        };
        let text = pattern.into_text();
        let target = Target::new(path);
        if super::matches(&text, target.plain.as_bytes()) {
            return true;
        }
        let encoded = encode_query(&text);
        let path = target.encoded.as_ref().unwrap_or(&target.plain);
        super::matches(encoded.as_deref().unwrap_or(&text), path.as_bytes())
    }

    #[test]
    fn the_examples_of_the_standard_hold_in_both_directions() {
        let equal = [
            ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
            (
                "/foo/bar?baz=http://foo.bar",
                "/foo/bar?baz=http%3A%2F%2Ffoo.bar",
            ),
            ("/foo/bar/\u{30c4}", "/foo/bar/%E3%83%84"),
            ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84"),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ];
        for (left, right) in equal {
            assert!(matches(left, right), "{left} does not match {right}");
            assert!(matches(right, left), "{right} does not match {left}");
        }
        assert!(matches(
            "/path/file-with-a-%2A.html",
            "/path/file-with-a-*.html"
        ));
        assert!(!matches(
            "/path/file-with-a-%2A.html",
            "/path/file-with-a-x.html"
        ));
        assert!(matches("/path/foo-%24", "/path/foo-$"));
        assert!(
            !matches("/a%2Fb", "/a/b"),
            "an encoded slash is another octet"
        );
        assert!(!matches("/a/b", "/a%2fb"));
    }

    #[test]
    fn wildcards_and_anchor() {
        let table = [
            ("/", "/anything", true),
            ("/fish", "/fish.html", true),
            ("/fish", "/Fish", false),
            ("/fish*", "/fishheads/yummy.html", true),
            ("/fish/", "/fish", false),
            ("/*.php", "/folder/any.php.file.html", true),
            ("/*.php$", "/filename.php", true),
            ("/*.php$", "/filename.php?x", false),
            ("/*.php$", "/filename.php5", false),
            ("/fish*.php", "/fishheads/catfish.php?id=1", true),
            ("/fish*.php", "/Fish.PHP", false),
            ("/a$", "/a", true),
            ("/a$", "/ab", false),
            ("/a$b", "/a$b", true),
            ("/a$b", "/a", false),
            ("/a$$", "/a$", true),
            ("*", "/", true),
            ("*$", "/x", true),
            ("*.gif$", "/x.gif", true),
            ("/*", "/", true),
            ("/*$", "/", true),
            ("/**a**b", "/xxaxxb", true),
            ("/x*x$", "/x", false),
            ("/x*x$", "/xx", true),
            ("/a*bc*c$", "/abcc", true),
            ("/a*bc*c$", "/abc", false),
            ("/%", "/%", true),
            ("/%zz", "/%zz", true),
            ("/a b", "/a%20b", true),
            ("/a\"<>{}`", "/a%22%3C%3E%7B%7D%60", true),
            ("/a%22<", "/a\"%3c/b", true),
            ("/?q='a'", "/?q=%27a%27", true),
            ("/*'", "/x?q=%27", true),
            ("/{id}/", "/id/", false),
        ];
        for (pattern, path, expected) in table {
            assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn what_is_no_path_is_no_pattern() {
        for value in ["", "foo", "$", "http://example.org/", "?a"] {
            assert!(Pattern::parse(value.as_bytes()).is_none(), "{value}");
        }
    }

    /// The obvious matcher, exponential in the stars.
    fn matches_naively(pattern: &[u8], path: &[u8]) -> bool {
        match pattern {
            [] => true,
            [b'$'] => path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|at| matches_naively(rest, &path[at..])),
            [byte, rest @ ..] => path.first() == Some(byte) && matches_naively(rest, &path[1..]),
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_the_obvious_matcher(
            pattern in "/[ab*]{0,8}\\$?",
            path in "/[ab]{0,10}",
        ) {
            let expected = matches_naively(pattern.as_bytes(), path.as_bytes());
            prop_assert_eq!(matches(&pattern, &path), expected);
        }

        #[test]
        fn a_path_matches_itself_however_it_is_encoded(
            path in "/[a-zA-Z0-9/._~?=&%*$ :-]{0,30}",
            mask in any::<u32>(),
        ) {
            let mut other = String::new();
            for (index, byte) in path.bytes().enumerate() {
                if is_unreserved(byte) && mask >> (index % 32) & 1 == 1 && !path.contains('%') {
                    push_encoded(byte, &mut other);
                } else {
                    other.push(char::from(byte));
                }
            }
            let literal = other.replace('*', "%2A").replace('$', "%24");
            prop_assert!(matches(&literal, &path), "{} {}", literal, path);
        }
    }

    #[test]
    fn a_wildcard_bomb_is_read_once() {
        let pattern = "/".to_owned() + &"a*".repeat(30_000) + "b$";
        let path = "/".to_owned() + &"a".repeat(60_000);
        assert!(!matches(&pattern, &path));
    }
}
