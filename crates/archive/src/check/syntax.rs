//! The grammar of values: tokens, numbers, dates, URIs, media types (WARC 1.1, clauses 4 and 5).

/// A character that parts the words of a value.
fn is_separator(byte: u8) -> bool {
    matches!(
        byte,
        b'(' | b')'
            | b'<'
            | b'>'
            | b'@'
            | b','
            | b';'
            | b':'
            | b'\\'
            | b'"'
            | b'/'
            | b'['
            | b']'
            | b'?'
            | b'='
            | b'{'
            | b'}'
            | b' '
            | b'\t'
    )
}

/// Whether a text is a word without separators.
pub(super) fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii() && !byte.is_ascii_control() && !is_separator(byte);
    !text.is_empty() && text.bytes().all(is_part)
}

/// Whether a text is a number in digits alone.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is an algorithm and a value. The characters of base 64 and its filling are let pass in the value, as readers do.
pub(super) fn is_labelled_digest(text: &str) -> bool {
    let is_value = |value: &str| is_token(&value.replace(['=', '/'], "x"));
    text.split_once(':')
        .is_some_and(|(algorithm, value)| is_token(algorithm) && is_value(value))
}

/// Whether a text is a media type with its parameters. Blanks around the semicolons are let pass: the standard's own examples have them.
pub(super) fn is_media_type(text: &str) -> bool {
    let mut parts = text.split(';').map(|part| part.trim_matches([' ', '\t']));
    let kind = parts.next().unwrap_or_default();
    let is_kind = kind
        .split_once('/')
        .is_some_and(|(kind, sub)| is_token(kind) && is_token(sub));
    // A quoted value may hold anything, a semicolon too.
    let is_parameter = |part: &str| {
        part.split_once('=')
            .is_some_and(|(name, value)| is_token(name) && is_token(value))
    };
    is_kind && (text.contains('"') || parts.all(is_parameter))
}

/// Which dates are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateForm {
    /// WARC 1.0: to the second.
    Seconds,
    /// WARC 1.1: as precise as the W3C profile of ISO 8601 allows, from a year to a billionth of a second.
    AnyPrecision,
}

/// Whether a text is a date of such a form, in UTC.
pub(super) fn is_date(text: &str, form: DateForm) -> bool {
    match form {
        DateForm::Seconds => text.len() == "YYYY-MM-DDThh:mm:ssZ".len() && is_any_date(text),
        DateForm::AnyPrecision => is_any_date(text),
    }
}

fn is_any_date(text: &str) -> bool {
    let (day, time) = match text.split_once('T') {
        Some((day, time)) => match time.strip_suffix('Z') {
            Some(time) => (day, Some(time)),
            None => return false,
        },
        None => (text, None),
    };
    let parts: Vec<&str> = day.split('-').collect();
    let is_day = match (&parts[..], time) {
        ([year], None) => number(year, 4).is_some(),
        ([year, month], None) => is_civil(year, month, "01"),
        ([year, month, day], _) => is_civil(year, month, day),
        _ => false,
    };
    is_day && time.is_none_or(is_time)
}

fn is_civil(year: &str, month: &str, day: &str) -> bool {
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2))
    else {
        return false;
    };
    let small = |number: i16| i8::try_from(number).unwrap_or_default();
    jiff::civil::Date::new(year, small(month), small(day)).is_ok()
}

/// `hh:mm`, `hh:mm:ss` or `hh:mm:ss.s`, with one to nine digits of a second.
fn is_time(time: &str) -> bool {
    let (time, fraction) = match time.split_once('.') {
        Some((time, fraction)) => (time, Some(fraction)),
        None => (time, None),
    };
    let parts: Vec<Option<i16>> = time.split(':').map(|part| number(part, 2)).collect();
    let is_within = |part: Option<i16>, end: i16| part.is_some_and(|part| part < end);
    match (&parts[..], fraction) {
        (&[hour, minute], None) => is_within(hour, 24) && is_within(minute, 60),
        (&[hour, minute, second], fraction) => {
            is_within(hour, 24)
                && is_within(minute, 60)
                && is_within(second, 60)
                && fraction
                    .is_none_or(|digits| is_number(digits) && (1..=9).contains(&digits.len()))
        }
        _ => false,
    }
}

/// A number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<i16> {
    let is_right = text.len() == digits && is_number(text);
    text.parse().ok().filter(|_| is_right)
}

/// What is wrong with a URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UriFault {
    /// It has no scheme: it is relative, or none.
    NotAbsolute,
    /// A blank, a control or something beyond ASCII stands in it.
    Unescaped,
    /// A character that RFC 3986 wants escaped and that the URL Standard, by which crawlers ask, lets stand.
    Lenient(char),
}

/// What RFC 3986 has against a URI; nothing if it is one.
pub(super) fn uri_fault(text: &str) -> Option<UriFault> {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(is_part)
    };
    let is_bad = |c: char| c.is_ascii_control() || c == ' ' || !c.is_ascii();
    if text.contains(is_bad) {
        return Some(UriFault::Unescaped);
    }
    if !scheme.is_some_and(is_scheme) {
        return Some(UriFault::NotAbsolute);
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    if let Some(odd) = text.chars().find(|c| !is_allowed(*c)) {
        return Some(UriFault::Lenient(odd));
    }
    let is_escape =
        |rest: &str| rest.len() >= 2 && rest.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit);
    if !text.split('%').skip(1).all(is_escape) {
        return Some(UriFault::Lenient('%'));
    }
    if 1 < text.matches('#').count() {
        return Some(UriFault::Lenient('#'));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_those_of_their_version() {
        for (date, of_1_0, of_1_1) in [
            ("2026-01-15T09:30:12Z", true, true),
            ("2026-01-15T09:30:12.1Z", false, true),
            ("2026-01-15T09:30:12.123456789Z", false, true),
            ("2026-01-15T09:30Z", false, true),
            ("2026-01-15", false, true),
            ("2026-01", false, true),
            ("2026", false, true),
            ("2024-02-29T00:00:00Z", true, true),
            ("2023-02-29T00:00:00Z", false, false),
            ("2026-01-15T09:30:12.Z", false, false),
            ("2026-01-15T09:30:12.1234567890Z", false, false),
            ("2026-01-15T09:30:12", false, false),
            ("2026-01-15T09:30:12+00:00", false, false),
            ("2026-01-15 09:30:12Z", false, false),
            ("2026-01T09:30:12Z", false, false),
            ("2026-01-15T24:00:00Z", false, false),
            ("2026-01-15T09:60:00Z", false, false),
            ("2026-01-15T09:30:60Z", false, false),
            ("2026-1-5T09:30:12Z", false, false),
            ("20260115093012", false, false),
            ("2026-01-15T09Z", false, false),
            ("2026-13", false, false),
            ("", false, false),
        ] {
            assert_eq!(is_date(date, DateForm::Seconds), of_1_0, "1.0: {date}");
            assert_eq!(is_date(date, DateForm::AnyPrecision), of_1_1, "1.1: {date}");
        }
    }

    #[test]
    fn uris_are_those_of_rfc_3986() {
        use UriFault::{Lenient, NotAbsolute, Unescaped};
        for (uri, fault) in [
            ("urn:uuid:00000000-0000-0000-0000-000000000000", None),
            ("http://[2001:db8::1]:8080/a%20b?c=d&e#f", None),
            ("dns:example.org", None),
            ("example.org/a", Some(NotAbsolute)),
            ("/a:b", Some(NotAbsolute)),
            ("1a:b", Some(NotAbsolute)),
            ("", Some(NotAbsolute)),
            ("http://example.org/a b", Some(Unescaped)),
            ("http://example.org/\u{e9}", Some(Unescaped)),
            ("http://example.org/?a|b", Some(Lenient('|'))),
            ("<http://example.org/>", Some(NotAbsolute)),
            ("http://example.org/%zz", Some(Lenient('%'))),
            ("http://example.org/%2", Some(Lenient('%'))),
            ("http://example.org/#a#b", Some(Lenient('#'))),
        ] {
            assert_eq!(uri_fault(uri), fault, "{uri}");
        }
    }

    #[test]
    fn words_digests_and_media_types_are_those_of_the_grammar() {
        assert!(is_token("response") && !is_token("a b") && !is_token("") && !is_token("a/b"));
        assert!(is_number("0") && is_number("007") && !is_number("+1") && !is_number(""));
        for digest in [
            "sha1:AAAA",
            "sha256:4OYM====",
            "sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
        ] {
            assert!(is_labelled_digest(digest), "{digest}");
        }
        for digest in ["", "sha1", "sha1:", ":AAAA", "sha 1:AAAA", "sha1:AA AA"] {
            assert!(!is_labelled_digest(digest), "{digest}");
        }
        for kind in [
            "text/dns",
            "application/http; msgtype=request",
            "a/b;c=d ; e=\"f;g\"",
        ] {
            assert!(is_media_type(kind), "{kind}");
        }
        for kind in [
            "",
            "text",
            "text/",
            "a b/c",
            "text/html;",
            "text/html; charset",
        ] {
            assert!(!is_media_type(kind), "{kind}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(text in "\\PC*") {
            let _date = is_date(&text, DateForm::AnyPrecision);
            let _uri = uri_fault(&text);
            let _kind = is_media_type(&text);
            let _digest = is_labelled_digest(&text);
        }
    }
}
