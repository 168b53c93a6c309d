//! What a user means who types a URL without its scheme.

use std::borrow::Cow;

use crate::canonical::UrlError;
use crate::scan;
use crate::site::is_address;

/// The text with its scheme: the one that it has, or the likelier one.
pub(crate) fn with_scheme(text: &str) -> Result<Cow<'_, str>, UrlError> {
    if scan::scheme(text).is_some() && !is_host_and_port(text) {
        return Ok(Cow::Borrowed(text));
    }
    let rest = text.strip_prefix("//").unwrap_or(text);
    let (host, port) = host_and_port(rest);
    let is_path = host.is_empty() || host.starts_with('.');
    if is_path {
        return Err(UrlError::Relative);
    }
    let has_no_certificate = !host.contains('.') || is_address(host) || port == Some("80");
    let scheme = if has_no_certificate { "http" } else { "https" };
    Ok(Cow::Owned(format!("{scheme}://{rest}")))
}

/// Whether what looks like a scheme is a host before a port: digits follow its colon, up to the path.
fn is_host_and_port(text: &str) -> bool {
    let (_, port) = host_and_port(text);
    port.is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The host, and what follows its colon, of a text that begins with them.
fn host_and_port(text: &str) -> (&str, Option<&str>) {
    let end = text.find(['/', '\\', '?', '#']).unwrap_or(text.len());
    let authority = &text[..end];
    let host_start = authority.rfind('@').map_or(0, |at| at + 1);
    let host_and_port = &authority[host_start..];
    let bracket = host_and_port.rfind(']').unwrap_or(0);
    match host_and_port[bracket..].find(':') {
        Some(colon) => (
            &host_and_port[..bracket + colon],
            Some(&host_and_port[bracket + colon + 1..]),
        ),
        None => (host_and_port, None),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Canonicalizer, UrlError};

    #[test]
    fn a_missing_scheme_is_guessed() {
        let canonicalizer = Canonicalizer::default();
        for (text, expected) in [
            ("example.org", "https://example.org/"),
            (" Example.ORG/x?y#z ", "https://example.org/x?y"),
            ("//example.org/x", "https://example.org/x"),
            ("example.org:8443/x", "https://example.org:8443/x"),
            ("example.org:80/x", "http://example.org/x"),
            ("example.org/a:b", "https://example.org/a:b"),
            ("日本語.jp/あ", "https://xn--wgv71a119e.jp/%E3%81%82"),
            ("localhost", "http://localhost/"),
            ("localhost:8000/x", "http://localhost:8000/x"),
            ("intranet/x.html", "http://intranet/x.html"),
            ("127.0.0.1:8000", "http://127.0.0.1:8000/"),
            ("192.0.2.1/x", "http://192.0.2.1/x"),
            ("[::1]:8000/x", "http://[::1]:8000/x"),
            ("[2001:db8::1]", "http://[2001:db8::1]/"),
            ("user@example.org/", "https://example.org/"),
        ] {
            assert_eq!(
                canonicalizer.parse_seed(text).map(String::from).as_deref(),
                Ok(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn a_scheme_that_is_there_stays() {
        let canonicalizer = Canonicalizer::default();
        assert_eq!(
            canonicalizer
                .parse_seed("http://example.org")
                .unwrap()
                .as_str(),
            "http://example.org/"
        );
        for text in [
            "mailto:a@example.org",
            "ftp://example.org/",
            "javascript:void(0)",
        ] {
            let result = canonicalizer.parse_seed(text);
            assert!(
                matches!(result, Err(UrlError::Scheme(_))),
                "{text}: {result:?}"
            );
        }
    }

    #[test]
    fn paths_and_nothing_are_refused() {
        let canonicalizer = Canonicalizer::default();
        for text in [
            "",
            " ",
            "/etc/hosts",
            "./x",
            "../x",
            "?x",
            "#x",
            ":80",
            "///x",
        ] {
            assert!(canonicalizer.parse_seed(text).is_err(), "{text}");
        }
    }
}
