//! From a reference in a page to an absolute URL, exactly as `url::Url` writes it.
//!
//! Most references are plain: nothing to escape, no dot segments, no odd host. For those, joining is putting two strings
//! together; everything else goes through the URL parser. A property test holds the two to the same answers.
//! Fragments are dropped: they name places inside a page.
//! Not here: the canonical form (`weburl`).

use std::borrow::Cow;

use encoding_rs::{EncoderResult, Encoding, UTF_8};
use junkai_weburl::without_extra_slashes;
use url::Url;

/// Resolves references against one base.
pub(crate) struct Resolver {
    base: Url,
    /// The encoding of non-ASCII characters in queries: that of the page.
    query_encoding: &'static Encoding,
    /// Length of the scheme and authority of the base (`https://example.org:8080`).
    origin_length: usize,
    /// Length of the base up to and with the last slash of its path.
    directory_length: usize,
}

impl Resolver {
    /// `base` is an http(s) URL; `encoding` is the page's.
    pub(crate) fn new(mut base: Url, encoding: &'static Encoding) -> Self {
        base.set_fragment(None);
        let path_start = base[..url::Position::BeforePath].len();
        let path = base.path();
        let directory = path.rfind('/').map_or(0, |slash| slash + 1);
        Self {
            query_encoding: encoding.output_encoding(),
            origin_length: path_start,
            directory_length: path_start + directory,
            base,
        }
    }

    /// The absolute URL of `reference` without its fragment; none if it is no URL, or not one of http or https.
    pub(crate) fn resolve(&self, reference: &str) -> Option<String> {
        match self.resolve_plain(reference) {
            Some(url) => Some(url),
            None => self.resolve_any(reference),
        }
    }

    /// Joins by putting strings together, where that is all that joining would do.
    fn resolve_plain(&self, reference: &str) -> Option<String> {
        let reference = match memchr::memchr(b'#', reference.as_bytes()) {
            Some(fragment) => &reference[..fragment],
            None => reference,
        };
        let (kept, added) = if let Some(after_scheme) = reference
            .strip_prefix("https://")
            .or_else(|| reference.strip_prefix("http://"))
        {
            let path_start = memchr::memchr(b'/', after_scheme.as_bytes())?;
            let (authority, path) = after_scheme.split_at(path_start);
            let host = match memchr::memchr(b':', authority.as_bytes()) {
                Some(colon) if is_plain_port(&authority[colon + 1..]) => &authority[..colon],
                Some(_) => return None,
                None => authority,
            };
            if !is_plain_host(host) || !is_plain_path(path) {
                return None;
            }
            ("", reference)
        } else if reference.starts_with('/') && !reference.starts_with("//") {
            if !is_plain_path(reference) {
                return None;
            }
            (&self.base.as_str()[..self.origin_length], reference)
        } else {
            // A colon could end a scheme; an empty reference, or a query alone, keeps the base's last segment.
            let is_relative_path = reference
                .bytes()
                .next()
                .is_some_and(|first| first.is_ascii_alphanumeric() || first == b'_');
            if !is_relative_path || reference.contains(':') || !is_plain_path(reference) {
                return None;
            }
            (&self.base.as_str()[..self.directory_length], reference)
        };
        let mut url = String::with_capacity(kept.len() + added.len());
        url.push_str(kept);
        url.push_str(added);
        Some(url)
    }

    /// Joins by the URL standard, with queries in the page's encoding.
    fn resolve_any(&self, reference: &str) -> Option<String> {
        let encode = query_encoder(self.query_encoding);
        let mut options = Url::options().base_url(Some(&self.base));
        if self.query_encoding != UTF_8 && !reference.is_ascii() {
            options = options.encoding_override(Some(&encode));
        }
        let mut url = options.parse(without_extra_slashes(reference)).ok()?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        url.set_fragment(None);
        Some(url.into())
    }
}

/// The callback that the URL parser wants; the signature ties its lifetimes, which a closure alone cannot.
fn query_encoder(encoding: &'static Encoding) -> impl Fn(&str) -> Cow<'_, [u8]> {
    move |query| Cow::Owned(encode_query(query, encoding))
}

/// Encodes a query; what the encoding lacks becomes an escaped numeric reference (URL standard, "percent-encode after encoding").
fn encode_query(query: &str, encoding: &'static Encoding) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = encoding.new_encoder();
    let mut bytes = Vec::with_capacity(query.len() * 2 + 16);
    let mut rest = query;
    loop {
        bytes.reserve(rest.len() * 2 + 16);
        let (result, read) =
            encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return bytes,
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(character) => {
                // Writing to a vector cannot fail.
                let _ = write!(bytes, "%26%23{}%3B", u32::from(character));
            }
        }
    }
}

/// Whether the URL parser would leave this host as it is: lower case names that are neither IPv4 addresses nor punycode.
fn is_plain_host(host: &str) -> bool {
    // Every label begins with a letter, and no hyphen follows another.
    let mut before = b'.';
    for byte in host.bytes() {
        let is_plain = match byte {
            b'a'..=b'z' => true,
            b'0'..=b'9' | b'.' => before != b'.',
            b'-' => !matches!(before, b'.' | b'-'),
            _ => false,
        };
        if !is_plain {
            return false;
        }
        before = byte;
    }
    before != b'.'
}

/// Whether the URL parser would leave this port as it is, whatever the scheme: a number above those of the schemes.
fn is_plain_port(port: &str) -> bool {
    const LEAST: u16 = 1024;
    !port.starts_with(['0', '+']) && port.parse().is_ok_and(|port: u16| LEAST <= port)
}

/// Whether the URL parser would leave this path and query as they are.
fn is_plain_path(path: &str) -> bool {
    let mut before = b'/';
    let mut in_query = false;
    for (index, &byte) in path.as_bytes().iter().enumerate() {
        let is_plain = match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'/'
            | b'-'
            | b'_'
            | b'~'
            | b'!'
            | b'$'
            | b'&'
            | b'('
            | b')'
            | b'*'
            | b'+'
            | b','
            | b';'
            | b'='
            | b':'
            | b'@' => true,
            // A segment may be `.` or `..`.
            b'.' => in_query || before != b'/',
            // `%2e` is a dot.
            b'%' => in_query || !is_escaped_dot(&path.as_bytes()[index..]),
            b'?' => {
                in_query = true;
                true
            }
            _ => false,
        };
        if !is_plain {
            return false;
        }
        before = byte;
    }
    true
}

fn is_escaped_dot(text: &[u8]) -> bool {
    text.get(..3)
        .is_some_and(|escape| escape.eq_ignore_ascii_case(b"%2e"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_JP, SHIFT_JIS, UTF_16LE, WINDOWS_1252};
    use proptest::prelude::*;

    fn resolver(base: &str, encoding: &'static Encoding) -> Resolver {
        Resolver::new(Url::parse(base).unwrap(), encoding)
    }

    #[test]
    fn references_resolve_as_the_standard_has_it() {
        let resolver = resolver("http://a/b/c/d;p?q#f", UTF_8);
        // RFC 3986, section 5.4, where the URL standard agrees.
        for (reference, expected) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("///g", "http://g/"),
            ("/\\//g///h", "http://g///h"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"),
            ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            ("..", "http://a/b/"),
            ("../../../g", "http://a/g"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("/%2e%2E/g", "http://a/g"),
            (" g h\t\n", "http://a/b/c/g%20h"),
            ("HTTP://EXAMPLE.org:80", "http://example.org/"),
            (
                "https://example.org/a%20b?c=d",
                "https://example.org/a%20b?c=d",
            ),
            (
                "http://日本.jp/あ?い",
                "http://xn--wgv71a.jp/%E3%81%82?%E3%81%84",
            ),
            ("\\g\\h", "http://a/g/h"),
        ] {
            assert_eq!(
                resolver.resolve(reference).as_deref(),
                Some(expected),
                "{reference}"
            );
        }
    }

    #[test]
    fn only_the_web_is_linked_to() {
        let resolver = resolver("http://example.org/", UTF_8);
        for reference in [
            "javascript:void(0)",
            "mailto:a@example.org",
            "data:text/html,x",
            "ftp://example.org/",
            "about:blank",
            "tel:+1",
            "http://",
            "http://[::1",
            "http://a b/",
        ] {
            assert_eq!(resolver.resolve(reference), None, "{reference}");
        }
    }

    #[test]
    fn queries_are_in_the_encoding_of_the_page() {
        for (encoding, reference, expected) in [
            (SHIFT_JIS, "?q=日本", "?q=%93%FA%96{"),
            (EUC_JP, "?q=日本", "?q=%C6%FC%CB%DC"),
            (WINDOWS_1252, "?q=é", "?q=%E9"),
            (WINDOWS_1252, "?q=日", "?q=%26%2326085%3B"),
            (UTF_16LE, "?q=é", "?q=%C3%A9"),
            (SHIFT_JIS, "é?q", "%C3%A9?q"),
        ] {
            let resolver = resolver("http://a/", encoding);
            let expected = format!("http://a/{expected}");
            assert_eq!(resolver.resolve(reference), Some(expected), "{reference}");
        }
    }

    #[test]
    fn plain_references_do_not_need_the_parser() {
        let resolver = resolver("http://example.org:8080/a/b?c", UTF_8);
        for reference in [
            "x.html",
            "/x/y-z_1.html?a=b&c=d:e",
            "https://www.example.com/p/q?r",
            "http://a-1.example.com:8080/",
            "x#y",
        ] {
            assert!(resolver.resolve_plain(reference).is_some(), "{reference}");
        }
    }

    fn any_reference() -> impl Strategy<Value = String> {
        prop_oneof![
            "(https?:)?/{0,2}[a-zA-Z0-9.:@%-]{0,12}(/[a-zA-Z0-9.%~;=+-]{0,4}){0,4}(\\?[a-z0-9=&.%'/?:-]{0,8})?(#[a-z]{0,3})?",
            "[./a-z0-9%?#:@\\\\ _-]{0,12}",
            "(https?://)?[a-z0-9.-]{1,10}/(\\.|%2[eE]|a|/){0,6}",
            "\\PC{0,20}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn the_short_way_agrees_with_the_parser(
            reference in any_reference(),
            base in prop_oneof![Just("http://a/b/c/d;p?q"), Just("https://example.org:81"), Just("http://u:p@h/x")],
        ) {
            let resolver = resolver(base, UTF_8);
            if let Some(url) = resolver.resolve_plain(&reference) {
                prop_assert_eq!(Some(url), resolver.resolve_any(&reference));
            }
        }

        #[test]
        fn what_comes_out_is_a_url_as_the_parser_writes_it(reference in any_reference()) {
            if let Some(url) = resolver("http://a/b/c", EUC_JP).resolve(&reference) {
                prop_assert_eq!(String::from(Url::parse(&url).unwrap()), url);
            }
        }
    }
}
