//! Percent-encoding: what a canonical URL keeps encoded, and what a SURT key does to it.
//!
//! RFC 3986, sections 2.1 (escapes), 2.3 (unreserved characters) and 6.2.2 (normalisation).

use percent_encoding::{AsciiSet, CONTROLS, percent_encode};

/// What a SURT key never holds as it is: controls, space, `#`, `%` and all beyond ASCII.
const SURT_ESCAPED: &AsciiSet = &CONTROLS.add(b' ').add(b'#').add(b'%');

/// Appends `text` with its escapes normalised: unreserved characters decoded, hexadecimal digits in upper case.
///
/// A `%` that begins no escape stays as it is. An escape stays encoded where decoding it would complete such a `%` to an
/// escape that was not there before (`%2%65` is not `%2e`); this is what makes the canonical form idempotent.
pub(crate) fn push_normalised(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let mut copied = 0;
    let mut at = 0;
    while at < bytes.len() {
        let Some(value) = escape_at(bytes, at) else {
            at += 1;
            continue;
        };
        out.push_str(&text[copied..at]);
        if is_unreserved(value) && !(value.is_ascii_hexdigit() && ends_in_open_escape(out)) {
            out.push(char::from(value));
        } else {
            out.push('%');
            out.push(upper_hex_digit(value >> 4));
            out.push(upper_hex_digit(value & 15));
        }
        at += 3;
        copied = at;
    }
    out.push_str(&text[copied..]);
}

/// Whether the escape at `bytes[at]`, a `%`, is one that [`push_normalised`] leaves as it is.
pub(crate) fn is_normal_escape(bytes: &[u8], at: usize) -> bool {
    escape_at(bytes, at).is_some_and(|value| {
        let is_upper_case = !bytes[at + 1..at + 3].iter().any(u8::is_ascii_lowercase);
        is_upper_case && !is_unreserved(value)
    })
}

/// Decodes escapes until none is left, also those that decoding brought forth (`%2541` is `A`).
///
/// Escapes never overlap, so the order of decoding does not matter, and one pass over a stack takes time linear in the
/// length where decoding the whole text again and again would be quadratic.
pub(crate) fn decode_fully(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        out.push(byte);
        while let Some(start) = out.len().checked_sub(3)
            && let Some(value) = escape_at(&out, start)
        {
            out.truncate(start);
            out.push(value);
        }
    }
    out
}

/// Encodes what a SURT key may not hold.
pub(crate) fn encode_for_surt(bytes: &[u8]) -> String {
    percent_encode(bytes, SURT_ESCAPED).to_string()
}

/// The value of the escape (`%` and two hexadecimal digits) at `bytes[at]`, if there is one.
fn escape_at(bytes: &[u8], at: usize) -> Option<u8> {
    match bytes.get(at..at + 3)? {
        [b'%', high, low] => Some(hex_value(*high)? << 4 | hex_value(*low)?),
        _ => None,
    }
}

/// RFC 3986, section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Whether the text ends in `%` or `%` and one more byte. Whole escapes end in two digits, so this `%` begins none yet.
fn ends_in_open_escape(text: &str) -> bool {
    text.as_bytes()
        .iter()
        .rev()
        .take(2)
        .any(|&byte| byte == b'%')
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

fn upper_hex_digit(value: u8) -> char {
    char::from(b"0123456789ABCDEF"[usize::from(value & 15)])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normalised(text: &str) -> String {
        let mut out = String::new();
        push_normalised(&mut out, text);
        out
    }

    #[test]
    fn unreserved_characters_are_decoded_and_the_rest_is_upper_case() {
        for (text, expected) in [
            ("/%41%7a%2D%2e%5f%7E", "/Az-._~"),
            ("/%2f%3a%c3%a9", "/%2F%3A%C3%A9"),
            ("/100%", "/100%"),
            ("/%zz%4", "/%zz%4"),
            ("/%2%65", "/%2%65"),
            ("/%%36%31", "/%%361"),
            ("/%%7A", "/%z"),
            ("/%25%34%31", "/%2541"),
        ] {
            assert_eq!(normalised(text), expected, "{text}");
        }
    }

    #[test]
    fn decoding_goes_on_until_nothing_is_left() {
        for (text, expected) in [
            ("%2525252541", "A"),
            ("%%32%35", "%"),
            ("%%34%31", "A"),
            ("%e3%81%82", "あ"),
            ("100%", "100%"),
        ] {
            assert_eq!(decode_fully(text.as_bytes()), expected.as_bytes(), "{text}");
        }
    }

    /// The obvious way: one pass after the other.
    fn decode_again_and_again(text: &[u8]) -> Vec<u8> {
        let decoded: Vec<u8> = percent_encoding::percent_decode(text).collect();
        if decoded == text {
            decoded
        } else {
            decode_again_and_again(&decoded)
        }
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(text in "[%0-9a-fA-F2z/]{0,24}") {
            let once = normalised(&text);
            prop_assert_eq!(normalised(&once), once);
        }

        #[test]
        fn a_normal_escape_is_one_that_stays(text in "%[0-9a-fA-F]{2}") {
            prop_assert_eq!(is_normal_escape(text.as_bytes(), 0), normalised(&text) == text);
        }

        #[test]
        fn one_pass_decodes_as_much_as_many(text in "[%0-9a-f2345]{0,40}") {
            prop_assert_eq!(decode_fully(text.as_bytes()), decode_again_and_again(text.as_bytes()));
        }
    }
}
