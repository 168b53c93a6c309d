//! What a user means who types a URL without its scheme.

use std::borrow::Cow;

use crate::canonical::UrlError;
use crate::scan;
use crate::site::is_address;

/// The text with its scheme: the one that it has, or the likelier one.
///
/// A user who types a name and a password means to log in; a URL is no place for that.
pub(crate) fn with_scheme(text: &str) -> Result<Cow<'_, str>, UrlError> {
    if has_login(text) {
        return Err(UrlError::Login);
    }
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

/// A text as messages may show it: without the login that it has before its host, or seems to have.
///
/// Cuts more rather than less, for a password may hold any character.
#[must_use]
pub fn without_login(text: &str) -> Cow<'_, str> {
    let start = after_scheme(text);
    let rest = &text[start..];
    let Some(at) = rest.rfind('@') else {
        return Cow::Borrowed(text);
    };
    let seems_login = rest[..at].contains(':') || has_login(text);
    if seems_login {
        Cow::Owned(format!("{}***{}", &text[..start], &rest[at..]))
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether something stands before the host.
fn has_login(text: &str) -> bool {
    let is_web = |scheme: &str| matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https");
    let start = after_scheme(text);
    let scheme = text[..start].trim_end_matches(['/', '\\', ':']);
    let rest = &text[start..];
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    (scheme.is_empty() || is_web(scheme)) && rest[..end].contains('@') && !is_other_scheme(text)
}

/// Whether a text without slashes begins with a scheme such as `mailto:`, where an `@` is no login.
fn is_other_scheme(text: &str) -> bool {
    const WITHOUT_HOST: [&str; 4] = ["mailto", "tel", "sip", "xmpp"];
    text.split_once(':')
        .is_some_and(|(scheme, _)| WITHOUT_HOST.contains(&scheme.to_ascii_lowercase().as_str()))
}

/// Where the authority of a text begins, as far as that can be told.
fn after_scheme(text: &str) -> usize {
    let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
    let slashes = |from: usize| {
        text.as_bytes()[from..]
            .iter()
            .take_while(|byte| is_slash(byte))
            .count()
    };
    match scan::scheme(text).map(str::len) {
        Some(scheme) if 0 < slashes(scheme + 1) => scheme + 1 + slashes(scheme + 1),
        _ => slashes(0),
    }
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
    use crate::{Canonicalizer, UrlError, without_login};

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
    fn a_login_is_refused_and_not_shown() {
        let canonicalizer = Canonicalizer::default();
        for (text, shown) in [
            (
                "http://user:secret@example.org/a",
                "http://***@example.org/a",
            ),
            (
                "HTTPS:\\\\user:secret@example.org/",
                "HTTPS:\\\\***@example.org/",
            ),
            ("https:user:secret@example.org/", "***@example.org/"),
            ("user:secret@example.org", "***@example.org"),
            ("user:1234@example.org", "***@example.org"),
            ("//user@example.org/", "//***@example.org/"),
            ("user@example.org/", "***@example.org/"),
            (
                "http://user:sec/ret@example.org/",
                "http://***@example.org/",
            ),
            (
                "http://user:sec@ret@example.org/",
                "http://***@example.org/",
            ),
        ] {
            assert!(canonicalizer.parse_seed(text).is_err(), "{text}");
            assert_eq!(without_login(text), shown);
        }
        let refused = canonicalizer.parse_seed("http://user:secret@example.org/a");
        assert_eq!(refused.unwrap_err(), UrlError::Login);
        for text in [
            "https://example.org/@user",
            "example.org/a@b",
            "example.org",
        ] {
            assert!(canonicalizer.parse_seed(text).is_ok(), "{text}");
            assert_eq!(without_login(text), text);
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
