//! Slashes before a host: where the URL standard passes over more than two of them, the `url` crate does not.

/// A reference as the `url` crate reads it relative to an http or https URL, so that the answer is the standard's.
///
/// URL standard, section 4.4, "special authority ignore slashes state": `///host/x` is `//host/x`. The crate passes over further slashes after a
/// scheme (`http:///host/x`), but sees an empty host where there is none.
#[must_use]
pub fn without_extra_slashes(reference: &str) -> &str {
    let is_dropped = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r');
    let trimmed = reference.trim_start_matches(|first: char| first <= ' ');
    let mut last_two = [0; 2];
    let mut count = 0;
    for (at, byte) in trimmed.bytes().enumerate() {
        if matches!(byte, b'/' | b'\\') {
            last_two = [last_two[1], at];
            count += 1;
        } else if !is_dropped(byte) {
            break;
        }
    }
    if count <= 2 {
        reference
    } else {
        &trimmed[last_two[0]..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_slashes_are_left() {
        for (reference, expected) in [
            ("///host/x", "//host/x"),
            ("////host//x", "//host//x"),
            (" \\/\\host", "/\\host"),
            ("/\t/\n/host", "/\n/host"),
            ("///", "//"),
            ("//host///x", "//host///x"),
            (" /a", " /a"),
            ("a///b", "a///b"),
            ("http:///host", "http:///host"),
            ("", ""),
        ] {
            assert_eq!(without_extra_slashes(reference), expected, "{reference:?}");
        }
    }
}
