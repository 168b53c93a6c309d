//! References that share an attribute with something else: `srcset`, the content of a refresh, what is there for scripts.

use crate::attribute::is_space;

/// The URL in the content of `<meta http-equiv="refresh">`: `5; url=next.html`.
///
/// HTML standard, section 4.2.5.3, "shared declarative refresh steps". Without a URL the page reloads itself: no link.
pub(crate) fn of_refresh(content: &str) -> Option<&str> {
    let content = content.trim_ascii_start();
    let after_time = content.trim_start_matches(|byte: char| byte.is_ascii_digit() || byte == '.');
    let has_time = after_time.len() < content.len();
    let is_separator = |first: char| matches!(first, ';' | ',') || first.is_ascii_whitespace();
    if !has_time || !after_time.starts_with(is_separator) {
        return None;
    }
    let rest = after_time.trim_ascii_start();
    let rest = rest
        .strip_prefix([';', ','])
        .unwrap_or(rest)
        .trim_ascii_start();
    let url = after_url_key(rest).unwrap_or(rest);
    let url = match url.chars().next() {
        Some(quote @ ('"' | '\'')) => url[1..].split(quote).next()?,
        _ => url,
    };
    let url = url.trim_ascii();
    (!url.is_empty()).then_some(url)
}

/// What follows `url =`, whose letters may be of any case.
fn after_url_key(text: &str) -> Option<&str> {
    let (key, rest) = text.split_at_checked(3)?;
    if !key.eq_ignore_ascii_case("url") {
        return None;
    }
    Some(
        rest.trim_ascii_start()
            .strip_prefix('=')?
            .trim_ascii_start(),
    )
}

/// The URLs of a `srcset`: `a.png 1x, b.png 2x`.
///
/// HTML standard, section 4.8.4.2.2, "parse a srcset attribute"; which candidate suits the screen does not matter here.
pub(crate) fn of_srcset(srcset: &str) -> impl Iterator<Item = &str> {
    let mut rest = srcset;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|first: char| first == ',' || first.is_ascii_whitespace());
        if rest.is_empty() {
            return None;
        }
        let is_space = |byte: &u8| is_space(*byte);
        let end = rest
            .bytes()
            .position(|byte| is_space(&byte))
            .unwrap_or(rest.len());
        let (url, after) = rest.split_at(end);
        let without_commas = url.trim_end_matches(',');
        rest = if without_commas.len() < url.len() {
            after
        } else {
            after_descriptors(after)
        };
        Some(without_commas)
    })
}

/// Whether the value of an attribute that only scripts read is the name of a file, and no number, text or template.
pub(crate) fn looks_like_file(text: &str) -> bool {
    let is_odd = |byte: u8| byte.is_ascii_whitespace() || b"{}<>[]\"'`$|\\".contains(&byte);
    text.bytes().any(|byte| matches!(byte, b'/' | b'.'))
        && !text.bytes().any(is_odd)
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether a reference is itself what it refers to: those may be long, and lead nowhere.
pub(crate) fn is_data(reference: &str) -> bool {
    reference
        .get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// What follows the comma that ends a candidate; commas in parentheses do not.
fn after_descriptors(text: &str) -> &str {
    let mut in_parentheses = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => in_parentheses = true,
            b')' => in_parentheses = false,
            b',' if !in_parentheses => return &text[index + 1..],
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn refreshes_follow_the_standard() {
        for (content, url) in [
            ("5; url=next.html", Some("next.html")),
            (
                "0;URL='http://example.org/a b'",
                Some("http://example.org/a b"),
            ),
            (" 0.5 , Url = \"x\" y", Some("x")),
            ("0 next.html", Some("next.html")),
            ("0; next.html", Some("next.html")),
            ("0; url", Some("url")),
            ("0; 'quoted", Some("quoted")),
            (".; url=x", Some("x")),
            ("5", None),
            ("5;", None),
            ("5; url=", None),
            ("5; url=''", None),
            ("url=x", None),
            ("5x; url=y", None),
            ("", None),
            ("0;日本", Some("日本")),
        ] {
            assert_eq!(of_refresh(content), url, "{content}");
        }
    }

    #[test]
    fn srcsets_follow_the_standard() {
        for (srcset, urls) in [
            ("a.png", &["a.png"][..]),
            ("a.png 1x, b.png 2x", &["a.png", "b.png"]),
            ("a.png, b.png", &["a.png", "b.png"]),
            (
                " ,a.png 100w (x,y), b.png,,\nc,d.png 1x",
                &["a.png", "b.png", "c,d.png"],
            ),
            (
                "data:image/png;base64,AA 1x, b 2x",
                &["data:image/png;base64,AA", "b"],
            ),
            ("", &[]),
            (", ,", &[]),
        ] {
            assert_eq!(of_srcset(srcset).collect::<Vec<_>>(), urls, "{srcset}");
        }
    }

    #[test]
    fn what_scripts_read_may_be_anything() {
        for text in ["a.png", "/a", "//cdn.example/a", "https://a.example/b?c=d"] {
            assert!(looks_like_file(text), "{text}");
        }
        for text in [
            "",
            "42",
            "1.5",
            "hero",
            "{{ a.b }}",
            "Some text.",
            "[\"a.png\"]",
            "${a}/b.png",
        ] {
            assert!(!looks_like_file(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC*", srcset in "[ ,()a]*") {
            of_refresh(&text);
            of_refresh(&format!("0;{text}"));
            prop_assert!(of_srcset(&srcset).count() <= srcset.len());
        }
    }
}
