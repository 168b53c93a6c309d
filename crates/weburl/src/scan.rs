//! Finds texts that are canonical as they stand, in one look at each byte.
//!
//! The shortcut of `canonical` asks here about the parts of a URL; `None` means "not sure", and costs the full parser.
//!
//! Invariant: what passes here comes out of the full parser unchanged. Property tests in `canonical` hold it to that. So the
//! sets below are narrow on purpose: a character on which parsers have ever differed is not in them.

use crate::percent::is_normal_escape;

/// Longest label of a host name, in bytes (RFC 1035, section 2.3.4).
pub(crate) const LABEL_LENGTH_MAX: usize = 63;
/// Longest host name, in bytes, without a final dot (RFC 1035, section 2.3.4, less the two bytes of the encoding).
pub(crate) const HOST_LENGTH_MAX: usize = 253;

/// Where the parts of a canonical path and query end, in the text that was scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// End of the path.
    pub(crate) path_end: usize,
    /// End of the query, or of the path where there is no query; a fragment may follow.
    pub(crate) end: usize,
}

/// Where the parts of a canonical authority end, in the text that was scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Authority {
    /// End of the host.
    pub(crate) host_end: usize,
    /// End of the port, or of the host where there is no port; a path may follow.
    pub(crate) end: usize,
}

/// The scheme that the text begins with, without its colon.
pub(crate) fn scheme(text: &str) -> Option<&str> {
    let end = text
        .bytes()
        .position(|byte| CLASS[usize::from(byte)] & SCHEME == 0)?;
    let starts_with_letter = text.as_bytes()[0].is_ascii_alphabetic();
    (text.as_bytes()[end] == b':' && starts_with_letter).then(|| &text[..end])
}

/// Scans a host and port from `start` on; `None` if they are not certainly canonical.
///
/// Addresses and internationalised names are left to the full parser.
pub(crate) fn authority(bytes: &[u8], start: usize, default_port: u16) -> Option<Authority> {
    let is_host_byte = |byte: &u8| CLASS[usize::from(*byte)] & HOST != 0;
    let length = bytes[start..]
        .iter()
        .take_while(|byte| is_host_byte(byte))
        .count();
    let host_end = start + length;
    if !is_plain_name(&bytes[start..host_end]) {
        return None;
    }
    let end = match bytes.get(host_end) {
        Some(b':') => port_end(bytes, host_end, default_port)?,
        Some(_) | None => host_end,
    };
    matches!(bytes.get(end), None | Some(b'/' | b'#')).then_some(Authority { host_end, end })
}

/// Whether all labels of a host name are of a length that DNS allows.
pub(crate) fn has_valid_labels(host: &[u8]) -> bool {
    host.len() <= HOST_LENGTH_MAX
        && host
            .split(|&byte| byte == b'.')
            .all(|label| !label.is_empty() && label.len() <= LABEL_LENGTH_MAX)
}

/// Whether a byte may be in a host name: lower-case letters, digits, `-`, `_` and the dot between labels.
pub(crate) fn is_host_byte(byte: u8) -> bool {
    CLASS[usize::from(byte)] & HOST != 0
}

/// Scans a path that begins at `start`, and the query after it; `None` if they are not certainly canonical.
pub(crate) fn tail(bytes: &[u8], start: usize) -> Option<Tail> {
    if starts_with_dot_segment(&bytes[start..]) {
        return None;
    }
    let path_end = run_end(bytes, start, PATH)?;
    query(bytes, path_end)
}

/// Scans a query whose `?` stands at `path_end`; `None` if it is not certainly canonical.
pub(crate) fn query(bytes: &[u8], path_end: usize) -> Option<Tail> {
    let end = match bytes.get(path_end) {
        None | Some(b'#') => path_end,
        Some(b'?') => run_end(bytes, path_end + 1, QUERY)?,
        Some(_) => return None,
    };
    // An empty query is dropped, which is not for the scan to do.
    let has_empty_query = end == path_end + 1;
    let is_at_end = matches!(bytes.get(end), None | Some(b'#'));
    (is_at_end && !has_empty_query).then_some(Tail { path_end, end })
}

/// The end of the longest run of bytes of one class and normal escapes; `None` if a dot segment is among them.
fn run_end(bytes: &[u8], start: usize, class: u8) -> Option<usize> {
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        if CLASS[usize::from(byte)] & class != 0 {
            at += 1;
            if byte == b'/' && class == PATH && starts_with_dot_segment(&bytes[at..]) {
                return None;
            }
        } else if byte == b'%' && is_normal_escape(bytes, at) {
            at += 3;
        } else {
            break;
        }
    }
    Some(at)
}

fn starts_with_dot_segment(bytes: &[u8]) -> bool {
    let ([b'.', b'.', after @ ..] | [b'.', after @ ..]) = bytes else {
        return false;
    };
    matches!(after.first(), None | Some(b'/' | b'?' | b'#'))
}

/// Whether a run of host bytes is a name that no parser would touch: no punycode, and not an address in any notation.
fn is_plain_name(host: &[u8]) -> bool {
    let mut last_label: &[u8] = &[];
    for label in host.split(|&byte| byte == b'.') {
        if label.is_empty() || LABEL_LENGTH_MAX < label.len() || label.starts_with(b"xn--") {
            return false;
        }
        last_label = label;
    }
    let may_be_address = last_label.first().is_some_and(u8::is_ascii_digit);
    !may_be_address && host.len() <= HOST_LENGTH_MAX
}

/// The end of a port, whose colon stands at `colon`; `None` if it is the default, out of range or not written plainly.
fn port_end(bytes: &[u8], colon: usize, default_port: u16) -> Option<usize> {
    let digits = bytes[colon + 1..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    let end = colon + 1 + digits.count();
    let text = std::str::from_utf8(&bytes[colon + 1..end]).ok()?;
    let port: u16 = text.parse().ok()?;
    let is_plain = !text.starts_with('0') && port != default_port;
    is_plain.then_some(end)
}

const SCHEME: u8 = 1;
const HOST: u8 = 2;
const PATH: u8 = 4;
const QUERY: u8 = 8;

/// Which bytes may stand where, as they are.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0u8;
    loop {
        class[byte as usize] = class_of(byte);
        if byte == u8::MAX {
            break class;
        }
        byte += 1;
    }
};

const fn class_of(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' => SCHEME | HOST | PATH | QUERY,
        b'A'..=b'Z' | b'+' => SCHEME | PATH | QUERY,
        b'_' => HOST | PATH | QUERY,
        b'/' | b'~' | b'!' | b'$' | b'&' | b'(' | b')' | b'*' | b',' | b';' | b'=' | b':'
        | b'@' => PATH | QUERY,
        b'\'' => PATH,
        b'?' | b'[' | b']' => QUERY,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_end_at_a_colon() {
        assert_eq!(scheme("mailto:a@b"), Some("mailto"));
        assert_eq!(scheme("view-source+x.1:"), Some("view-source+x.1"));
        for text in ["", "a", "/a:b", "1a:b", ":", "a/b:c", "a\tb:"] {
            assert_eq!(scheme(text), None, "{text}");
        }
    }

    #[test]
    fn plain_authorities_pass() {
        for (text, host_end, end) in [
            ("example.org", 11, 11),
            ("example.org/a", 11, 11),
            ("example.org#a", 11, 11),
            ("a_b.example.org:8080/", 15, 20),
            ("3com.com:443/", 8, 12),
        ] {
            assert_eq!(
                authority(text.as_bytes(), 0, 80),
                Some(Authority { host_end, end }),
                "{text}"
            );
        }
    }

    #[test]
    fn authorities_that_need_a_parser_do_not_pass() {
        for text in [
            "",
            "/",
            "Example.org/",
            "example.org./",
            "a..b/",
            ".a/",
            "xn--a/",
            "b.xn--a/",
            "127.0.0.1/",
            "a.0x7f/",
            "[::1]/",
            "u@example.org/",
            "example.org:/",
            "example.org:80/",
            "example.org:08/",
            "example.org:65536/",
            "example.org:8a/",
            "example.org?",
            "example.org\\",
            "a%62/",
            "é/",
        ] {
            assert_eq!(authority(text.as_bytes(), 0, 80), None, "{text}");
        }
        let label = "a".repeat(LABEL_LENGTH_MAX + 1);
        assert_eq!(authority(label.as_bytes(), 0, 80), None);
        let host = "ab.".repeat(HOST_LENGTH_MAX / 3 + 1) + "org";
        assert_eq!(authority(host.as_bytes(), 0, 80), None);
    }

    #[test]
    fn plain_paths_and_queries_pass() {
        for (text, path_end, end) in [
            ("/", 1, 1),
            ("/a/b.html", 9, 9),
            ("/.well-known/a..b/...", 21, 21),
            ("/a?b=c/../d&e[]=?#f g", 2, 17),
            ("/%C3%A9%2F", 10, 10),
            ("/a#", 2, 2),
        ] {
            assert_eq!(
                tail(text.as_bytes(), 0),
                Some(Tail { path_end, end }),
                "{text}"
            );
        }
    }

    #[test]
    fn paths_and_queries_that_need_a_parser_do_not_pass() {
        for text in [
            "..", ".", "./a", "../a", "/a/.", "/a/..", "/a/../b", "/./", "/..?a", "/.#a", "/a b",
            "/a\\b", "/é", "/%c3", "/%41", "/%", "/%zz", "/%2", "/a?", "/a?#", "/a?b c", "/a?'",
            "/a?%7e", "/a\t", "/a?b\n", "/{", "/a^b",
        ] {
            assert_eq!(tail(text.as_bytes(), 0), None, "{text}");
        }
    }
}
