//! The key of a URL in an index of captures: its host turned round, so that the captures of a site stand together.
//!
//! `https://www.example.org/A?b=1` has the key `org,example)/a?b=1`. The archive writes it to CDXJ, replay looks it up; the
//! key must be, byte for byte, the one that pywb and cdxj-indexer compute, or their look-ups miss our captures and ours
//! theirs. Both call `surt.surt(url)` of the Python library `surt` with its default settings, and cdxj-indexer takes the URL
//! itself where that fails; so does this. The library follows `WaybackURLKeyMaker` of the Java library webarchive-commons. The
//! fixture `tests/fixtures/surt.tsv` was written by the real tools.
//!
//! The key is coarser than the canonical form: it ignores the scheme, credentials, `www` and `www2` before a name, the case of
//! path and query, the order of query parameters, session identifiers, and a slash at the end. Several pages may share a key;
//! the URL in the index line tells them apart.
//!
//! Departures: internationalised names are mapped by UTS 46 where Python maps by IDNA 2003; they differ in characters that
//! came to Unicode after 2002, and in some that no registry allows. URLs that junkai captures are in punycode already.

mod host;
mod session;

use std::borrow::Cow;

use crate::percent::{decode_fully, encode_for_surt};

/// The key of any URL that a WARC record may have, as pywb and cdxj-indexer write it.
///
/// Schemes other than http work too: `dns:example.org` is its own key, `metadata://example.org/a` has a host to turn round. A
/// text that cannot be keyed (a port that is none) is its own key, and an empty one has the key `-`.
#[must_use]
pub fn surt(url: &str) -> String {
    if url.is_empty() {
        return "-".to_owned();
    }
    let is_arc_header = url.starts_with("filedesc");
    if is_arc_header {
        return url.to_owned();
    }
    let text = cleaned(url);
    match Parts::split(&text) {
        Some(parts) => parts.key(),
        None => url.to_owned(),
    }
}

/// A URL taken apart by RFC 2396, appendix B, which is more forgiving than the parser of browsers.
struct Parts<'a> {
    scheme: &'a str,
    host: Option<&'a [u8]>,
    port: Option<u16>,
    path: Option<Cow<'a, [u8]>>,
    query: Option<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// `None` where the Python library fails: there is no scheme, or what should be a port is none.
    fn split(text: &'a str) -> Option<Self> {
        let (scheme, rest) = split_scheme(text)?;
        let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        let (host, port) = host::split_authority(authority)?;
        let mut parts = Self {
            scheme,
            host: non_empty(host).map(str::as_bytes),
            port: port.filter(|&port| port != 0 && Some(port) != default_port(scheme)),
            path: non_empty(path).map(|path| Cow::Borrowed(path.as_bytes())),
            query: non_empty(query).map(str::as_bytes),
        };
        if scheme.starts_with("http") && parts.host.is_none() {
            parts.take_host_from_path(path);
        }
        Some(parts)
    }

    /// Of `http:example.org/a` and `http:////example.org/a` the host is what the path begins with.
    fn take_host_from_path(&mut self, path: &'a str) {
        if path.is_empty() {
            return;
        }
        let path = path.trim_start_matches('/');
        let (host, rest) = path.split_once('/').unwrap_or((path, ""));
        self.host = non_empty(host).map(str::as_bytes);
        self.path = Some(Cow::Owned(format!("/{rest}").into_bytes()));
    }

    fn key(&self) -> String {
        // A host may vanish when it is decoded: `http://%2e/`.
        let host = self
            .host
            .map(host::canonical)
            .filter(|host| !host.is_empty());
        let mut key = match &host {
            Some(host) => self.host_key(host),
            None => format!("{}:", self.scheme),
        };
        let path = canonical_path(self.path.as_deref(), host.is_some());
        let query = self.query.map(canonical_query).unwrap_or_default();
        key.push_str(&path);
        if !query.is_empty() {
            key.push_str(if path.is_empty() { "/?" } else { "?" });
            key.push_str(&query);
        }
        key
    }

    /// Labels in reverse order, the port, and a parenthesis.
    fn host_key(&self, host: &str) -> String {
        let named = if self.scheme == "dns" {
            host
        } else {
            host::without_www(host)
        };
        let mut key = named.split('.').rev().collect::<Vec<_>>().join(",");
        if let Some(port) = self.port {
            key.push(':');
            key.push_str(&port.to_string());
        }
        key.push(')');
        key
    }
}

/// Without white space around it and line ends in it, with a scheme, and with one only.
fn cleaned(url: &str) -> String {
    let is_space = |character| matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c');
    let mut text = url.trim_matches(is_space).replace(['\t', '\n', '\r'], "");
    if !text.is_empty() && split_scheme(&text).is_none() {
        text.insert_str(0, "http://");
    }
    // `http://https://example.org/` is a common mistake; the last scheme counts.
    let mut start = 0;
    while let Some(rest) = strip_web_scheme(&text[start..])
        && strip_web_scheme(rest).is_some()
    {
        start = text.len() - rest.len();
    }
    text.split_off(start)
}

fn strip_web_scheme(text: &str) -> Option<&str> {
    text.strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"))
}

fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let scheme = crate::scan::scheme(text)?;
    Some((scheme, &text[scheme.len() + 1..]))
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme.to_ascii_lowercase().as_str() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

/// The path in lower case, decoded and encoded again, without session identifier and slash at the end. Behind a host it is
/// also free of dot segments and doubled slashes.
fn canonical_path(path: Option<&[u8]>, has_host: bool) -> String {
    let decoded = path.map(decode_fully).unwrap_or_default();
    let normal = if has_host {
        without_dot_segments(&decoded)
    } else {
        decoded
    };
    let mut path = session::strip_from_path(encode_for_surt(&normal).to_ascii_lowercase());
    if 1 < path.len() && path.ends_with('/') {
        path.pop();
    }
    path
}

/// Resolves `.` and `..` and joins doubled slashes. A `..` that has nothing to take back stays, until the next takes it back.
fn without_dot_segments(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|&byte| byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => {
                kept.pop();
            }
            segment => kept.push(segment),
        }
    }
    let last = kept.pop().unwrap_or_default();
    let mut out = vec![b'/'];
    for segment in kept.into_iter().filter(|segment| !segment.is_empty()) {
        out.extend_from_slice(segment);
        out.push(b'/');
    }
    out.extend_from_slice(last);
    out
}

/// The query in lower case, decoded and encoded again, without session identifiers, its parameters sorted.
fn canonical_query(query: &[u8]) -> String {
    let encoded = encode_for_surt(&decode_fully(query));
    let query = session::strip_from_query(encoded).to_ascii_lowercase();
    let mut parameters: Vec<(&str, Option<&str>)> = query
        .split('&')
        .map(|parameter| match parameter.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (parameter, None),
        })
        .collect();
    parameters.sort_unstable();
    let mut sorted = String::with_capacity(query.len());
    for (index, (name, value)) in parameters.into_iter().enumerate() {
        if 0 < index {
            sorted.push('&');
        }
        sorted.push_str(name);
        if let Some(value) = value {
            sorted.push('=');
            sorted.push_str(value);
        }
    }
    sorted
}

fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_in_brief() {
        // The fixture has hundreds more.
        for (url, key) in [
            ("https://www.example.org/A?b=1", "org,example)/a?b=1"),
            ("http://example.org:8080/a/", "org,example:8080)/a"),
            ("http://192.0.2.1/", "1,2,0,192)/"),
            ("dns:www.example.org", "dns:www.example.org"),
            ("urn:uuid:ABC", "urn:uuid:abc"),
            ("metadata://gnu.org/x", "org,gnu)/x"),
            ("filedesc://X.arc", "filedesc://X.arc"),
            ("http://example.org:x/", "http://example.org:x/"),
            ("", "-"),
            (" ", " "),
        ] {
            assert_eq!(surt(url), key, "{url}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_key(url in "\\PC*") {
            prop_assert!(!surt(&url).is_empty());
        }

        #[test]
        fn the_key_of_a_web_page_is_plain_ascii(path in "\\PC{0,20}", query in "\\PC{0,20}") {
            let key = surt(&format!("http://example.org/{path}?{query}"));
            prop_assert!(key.starts_with("org,example)/"), "{}", key);
            prop_assert!(key.bytes().all(|byte| byte.is_ascii_graphic()), "{}", key);
        }
    }
}
