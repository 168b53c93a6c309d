//! The links of a `Link` header: `<style.css>; rel=preload; as=style, </next>; rel="next"`.
//!
//! RFC 8288, section 3 and appendix B.2, read as leniently as that allows: a link that is not understood costs itself, and what it
//! has besides `rel`, `type` and `anchor` does not matter here. `analysis` makes links of them by the rules for `<link>`.

use std::borrow::Cow;

/// One link of a header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HeaderLink<'a> {
    /// Relative to the URL of the answer.
    pub(crate) target: &'a str,
    pub(crate) rel: Cow<'a, str>,
    pub(crate) media_type: Cow<'a, str>,
}

/// The links of one header value. Those of another resource (`anchor`) are left out.
pub(crate) fn links(value: &str) -> impl Iterator<Item = HeaderLink<'_>> {
    let mut rest = value;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find('<')?;
            let (target, parameters) = rest[start + 1..].split_once('>')?;
            let mut link = HeaderLink {
                target: target.trim(),
                rel: Cow::Borrowed(""),
                media_type: Cow::Borrowed(""),
            };
            let mut is_of_another = false;
            rest = parameters;
            while let Some((name, value, after)) = parameter(rest) {
                rest = after;
                let is = |known: &str| name.eq_ignore_ascii_case(known);
                // The first of several counts.
                if is("rel") && link.rel.is_empty() {
                    link.rel = value;
                } else if is("type") && link.media_type.is_empty() {
                    link.media_type = value;
                } else if is("anchor") {
                    is_of_another = true;
                }
            }
            if !is_of_another {
                return Some(link);
            }
        }
    })
}

/// The parameter at the start, `; name=value`: its name, its value, and what follows; none if the link has no more of them.
fn parameter(text: &str) -> Option<(&str, Cow<'_, str>, &str)> {
    let text = text.trim_ascii_start().strip_prefix(';')?;
    let end = text.find(['=', ';', ',']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let Some(rest) = rest.strip_prefix('=') else {
        return Some((name.trim(), Cow::Borrowed(""), rest));
    };
    let rest = rest.trim_ascii_start();
    let (value, rest) = if let Some(quoted) = rest.strip_prefix('"') {
        quoted_string(quoted)
    } else {
        let end = rest.find([';', ',']).unwrap_or(rest.len());
        let (value, rest) = rest.split_at(end);
        (Cow::Borrowed(value.trim()), rest)
    };
    Some((name.trim(), value, rest))
}

/// What is up to the closing quote, without its backslashes, and what follows.
fn quoted_string(text: &str) -> (Cow<'_, str>, &str) {
    let mut value = Cow::Borrowed("");
    let mut start = 0;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => {
                value += &text[start..at];
                return (value, &text[at + 1..]);
            }
            '\\' => {
                value += &text[start..at];
                start = at + 1;
                characters.next();
            }
            _ => {}
        }
    }
    value += &text[start..];
    (value, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(value: &str, expected: &[(&str, &str, &str)]) {
        let found: Vec<_> = links(value).collect();
        let found: Vec<_> = found
            .iter()
            .map(|link| (link.target, &*link.rel, &*link.media_type))
            .collect();
        assert_eq!(found, expected, "{value}");
    }

    #[test]
    fn links_have_a_target_and_a_relation() {
        check("<a>; rel=next", &[("a", "next", "")]);
        check(
            "< /a,b > ; REL = \"preload stylesheet\" ; as=style;crossorigin, <c>;rel=icon",
            &[("/a,b", "preload stylesheet", ""), ("c", "icon", "")],
        );
        check(
            "<a>; title=\"x, <no>; \\\" y\"; rel=alternate; type=\"application/rss+xml\"",
            &[("a", "alternate", "application/rss+xml")],
        );
        check("<a>; rel=next; rel=prev", &[("a", "next", "")]);
        check("<a>; rel=next; anchor=\"#b\", <c>", &[("c", "", "")]);
        check("nonsense, <a>; rel=\"next", &[("a", "next", "")]);
        check("<a", &[]);
        check("", &[]);
    }

    proptest! {
        #[test]
        fn any_value_is_survived(value in "(<|>|;|,|=|\"|\\\\|rel|a| |\\PC){0,40}") {
            prop_assert!(links(&value).count() <= value.len());
        }
    }
}
