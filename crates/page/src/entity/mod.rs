//! Character references: turns `&amp;`, `&#x3042;` and their kin into what they stand for.
//!
//! HTML standard, section 13.2.5.72 to 13.2.5.80. An attribute value and text differ in one rule: in a value, a name
//! without its semicolon counts only if neither `=` nor a letter or digit follows, so that `?a=1&copy=2` stays a query.
//! Departures: none that a URL or a title can show (parse errors are not reported).

mod names;

use std::borrow::Cow;

use memchr::memchr;

use names::{LEGACY, NAMES};

/// Where a reference stands; the rules differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    Attribute,
    Text,
}

/// Replaces every character reference in `text`; borrows when there is none.
pub(crate) fn decode(text: &str, context: Context) -> Cow<'_, str> {
    let Some(first) = memchr(b'&', text.as_bytes()) else {
        return Cow::Borrowed(text);
    };
    let mut decoded = String::with_capacity(text.len());
    decoded.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(at) = memchr(b'&', rest.as_bytes()) {
        decoded.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let consumed = match after.strip_prefix('#') {
            Some(number) => numeric(number, &mut decoded).map(|length| length + 1),
            None => named(after, context, &mut decoded),
        };
        rest = &after[consumed.unwrap_or_default()..];
        if consumed.is_none() {
            decoded.push('&');
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// Decodes what follows `&#`; returns how many bytes of it were used.
fn numeric(text: &str, decoded: &mut String) -> Option<usize> {
    let (radix, digits) = match text.strip_prefix(['x', 'X']) {
        Some(digits) => (16, digits),
        None => (10, text),
    };
    let length = digits
        .bytes()
        .take_while(|byte| char::from(*byte).is_digit(radix))
        .count();
    if length == 0 {
        return None;
    }
    let code = digits[..length].chars().fold(0_u32, |code, digit| {
        let digit = digit.to_digit(radix).unwrap_or_default();
        code.saturating_mul(radix).saturating_add(digit)
    });
    decoded.push(character(code));
    let semicolon = usize::from(digits.as_bytes().get(length) == Some(&b';'));
    Some(text.len() - digits.len() + length + semicolon)
}

/// The character that a numeric reference names: C1 controls are read as windows-1252, nonsense as U+FFFD.
fn character(code: u32) -> char {
    match code {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9F => {
            let byte = [u8::try_from(code).unwrap_or_default()];
            let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&byte);
            text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        _ => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

/// Decodes what follows `&` if it begins with a known name; returns how many bytes of it were used.
fn named(text: &str, context: Context, decoded: &mut String) -> Option<usize> {
    /// No name of the table is longer.
    const NAME_LENGTH_MAX: usize = 31;
    let run = text
        .bytes()
        .take(NAME_LENGTH_MAX + 1)
        .take_while(u8::is_ascii_alphanumeric)
        .count();
    let next = text.as_bytes().get(run);
    if next == Some(&b';')
        && let Some(value) = value_of(&text[..run])
    {
        decoded.push_str(value);
        return Some(run + 1);
    }
    let name = match context {
        Context::Attribute if next == Some(&b'=') => return None,
        Context::Attribute => legacy(&text[..run])?,
        Context::Text => (1..=run).rev().find_map(|end| legacy(&text[..end]))?,
    };
    decoded.push_str(value_of(name)?);
    Some(name.len())
}

fn value_of(name: &str) -> Option<&'static str> {
    let index = NAMES.binary_search_by_key(&name, |entry| entry.0).ok()?;
    Some(NAMES[index].1)
}

fn legacy(name: &str) -> Option<&'static str> {
    let index = LEGACY.binary_search(&name).ok()?;
    Some(LEGACY[index])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(context: Context, cases: &[(&str, &str)]) {
        for (input, expected) in cases {
            assert_eq!(decode(input, context), *expected, "{input}");
        }
    }

    #[test]
    fn attribute_values_follow_the_standard() {
        check(
            Context::Attribute,
            &[
                ("plain", "plain"),
                ("?a=1&amp;b=2", "?a=1&b=2"),
                ("?a=1&AMP;b=2", "?a=1&b=2"),
                ("?a=1&amp", "?a=1&"),
                ("?a&amp b", "?a& b"),
                ("?a=1&copy=2", "?a=1&copy=2"),
                ("?a=1&copyright=2", "?a=1&copyright=2"),
                ("?a=1&copy;=2", "?a=1©=2"),
                ("?a=1&ampb=2", "?a=1&ampb=2"),
                ("&notit;", "&notit;"),
                ("&notin;", "∉"),
                ("&#38;&#x26;&#X26;", "&&&"),
                ("&#65", "A"),
                ("&#x3042;&#12354;", "ああ"),
                ("&#;&#x;&#xg;&", "&#;&#x;&#xg;&"),
                ("&#0;&#xD800;&#99999999999;", "\u{FFFD}\u{FFFD}\u{FFFD}"),
                ("&#x80;&#150;", "€–"),
                ("&CounterClockwiseContourIntegral;", "∳"),
                ("&unknown;", "&unknown;"),
                ("&amp;amp;", "&amp;"),
                ("é&eacute;é", "ééé"),
            ],
        );
    }

    #[test]
    fn text_also_knows_names_that_letters_follow() {
        check(
            Context::Text,
            &[
                ("&notit;", "¬it;"),
                ("&copyright", "©right"),
                ("a &amp= b", "a &= b"),
                ("AT&T", "AT&T"),
                ("&lt;b&gt", "<b>"),
            ],
        );
    }

    #[test]
    fn the_tables_are_sorted_and_legacy_names_have_values() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(LEGACY.is_sorted_by(|a, b| a < b));
        assert!(LEGACY.iter().all(|name| value_of(name).is_some()));
        assert_eq!(NAMES.iter().map(|entry| entry.0.len()).max(), Some(31));
    }

    proptest! {
        #[test]
        fn text_without_ampersand_is_left_alone(text in "[^&]*") {
            prop_assert!(matches!(decode(&text, Context::Text), Cow::Borrowed(same) if same == text));
        }

        #[test]
        fn an_escaped_text_comes_back(text in "\\PC*") {
            let escaped: Vec<_> = text.chars().map(|c| format!("&#{};", u32::from(c))).collect();
            let escaped = escaped.concat();
            prop_assert_eq!(decode(&escaped, Context::Attribute), text);
        }
    }
}
