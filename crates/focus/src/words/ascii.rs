//! Words of ASCII text, by Unicode's rules, byte by byte: most text of most pages, at many times the speed of the tables.
//!
//! Unicode Standard Annex #29, section 4.1, rules `WB5` to `WB13b`, as far as ASCII can show them. The tests hold it against ICU.

use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    /// `_`, which joins both.
    Joiner,
    Other,
}

/// Hands every word of `text`, which is ASCII, to `take`.
pub(super) fn each(text: &[u8], take: &mut impl FnMut(Range<usize>)) {
    let mut at = 0;
    while at < text.len() {
        if class(text[at]) == Class::Other {
            at += 1;
            continue;
        }
        let start = at;
        at += 1;
        while let Some(byte) = text.get(at) {
            match class(*byte) {
                Class::Letter | Class::Digit | Class::Joiner => {}
                Class::Other => {
                    if !joins(class(text[at - 1]), *byte, text.get(at + 1)) {
                        break;
                    }
                    // The next one belongs to the word as well.
                    at += 1;
                }
            }
            at += 1;
        }
        take(start..at);
    }
}

/// Whether a mark between two characters of a kind leaves them one word: `don't`, `3.14`, `1,000`.
fn joins(before: Class, mark: u8, after: Option<&u8>) -> bool {
    if after.is_none_or(|after| class(*after) != before) {
        return false;
    }
    match before {
        Class::Letter => matches!(mark, b'.' | b'\'' | b':'),
        Class::Digit => matches!(mark, b'.' | b'\'' | b',' | b';'),
        Class::Joiner | Class::Other => false,
    }
}

fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b'_' => Class::Joiner,
        _ => Class::Other,
    }
}
