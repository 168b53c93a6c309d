//! What a page asks of robots: `<meta name="robots">`, `<meta name="ouragent">` and the `X-Robots-Tag` header.
//!
//! There is no standard; this follows what the large search engines document. Words are taken together, whoever they are
//! addressed to as long as it is us: a stricter directive is never overruled by a looser one.
//! Not here: robots.txt (`fetch`), and what the crawler makes of the directives.

use serde::Serialize;

/// What a page asks of robots; the default asks for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RobotsMeta {
    /// The page is not to be found by searching.
    pub noindex: bool,
    /// No link of the page is to be followed.
    pub nofollow: bool,
    /// No copy of the page is to be shown.
    pub noarchive: bool,
}

impl RobotsMeta {
    /// Adds the directives of one `X-Robots-Tag` value, as far as they are addressed to all or to `agent`.
    ///
    /// A value is a list of rules; a name before a colon addresses the rules after it: `otherbot: noindex, nofollow`.
    pub(crate) fn add_header(&mut self, value: &str, agent: &str) {
        let mut is_for_us = true;
        for rule in value.split(',') {
            let mut rule = rule.trim();
            if let Some((name, after)) = rule.split_once(':')
                && is_agent(name.trim())
            {
                is_for_us = name.trim().eq_ignore_ascii_case(agent);
                rule = after;
            }
            if is_for_us {
                self.add_rule(rule);
            }
        }
    }

    /// Adds the directives of one `<meta>` element, if `name` is `robots` or `agent`.
    pub(crate) fn add_meta(&mut self, name: &str, content: &str, agent: &str) {
        let name = name.trim();
        if name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(agent) {
            content
                .split([',', ';'])
                .for_each(|rule| self.add_rule(rule));
        }
    }

    fn add_rule(&mut self, rule: &str) {
        for word in rule.split_ascii_whitespace() {
            let is = |name| word.eq_ignore_ascii_case(name);
            self.noindex |= is("noindex") || is("none");
            self.nofollow |= is("nofollow") || is("none");
            self.noarchive |= is("noarchive") || is("nocache");
        }
    }
}

/// Whether a name before a colon addresses a robot: it is a product token, and not a rule that takes a value.
fn is_agent(name: &str) -> bool {
    const RULES_WITH_VALUE: [&str; 4] = [
        "unavailable_after",
        "max-snippet",
        "max-image-preview",
        "max-video-preview",
    ];
    let is_token = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_token
        && !RULES_WITH_VALUE
            .iter()
            .any(|rule| name.eq_ignore_ascii_case(rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: RobotsMeta = RobotsMeta {
        noindex: false,
        nofollow: false,
        noarchive: false,
    };
    const NOINDEX: RobotsMeta = RobotsMeta {
        noindex: true,
        ..NOTHING
    };
    const NOFOLLOW: RobotsMeta = RobotsMeta {
        nofollow: true,
        ..NOTHING
    };
    const NOARCHIVE: RobotsMeta = RobotsMeta {
        noarchive: true,
        ..NOTHING
    };
    const NONE: RobotsMeta = RobotsMeta {
        noindex: true,
        nofollow: true,
        ..NOTHING
    };

    #[test]
    fn headers_address_all_or_one() {
        for (value, expected) in [
            ("noindex", NOINDEX),
            ("NoIndex , NOFOLLOW", NONE),
            ("none", NONE),
            ("noarchive", NOARCHIVE),
            ("all, index, follow", NOTHING),
            ("junkai: nofollow", NOFOLLOW),
            ("Junkai: noindex, nofollow", NONE),
            ("otherbot: noindex, nofollow", NOTHING),
            ("otherbot: noindex, junkai: nofollow", NOFOLLOW),
            ("nofollow, otherbot: noindex", NOFOLLOW),
            (
                "unavailable_after: 25 Jun 2010 15:00:00 PST, noindex",
                NOINDEX,
            ),
            (
                "unavailable_after: Friday, 25-Jun-10 15:00:00 UTC, noindex",
                NOINDEX,
            ),
            ("max-snippet:-1, noarchive", NOARCHIVE),
            ("", NOTHING),
            (":,:", NOTHING),
        ] {
            let mut robots = RobotsMeta::default();
            robots.add_header(value, "junkai");
            assert_eq!(robots, expected, "{value}");
        }
    }

    #[test]
    fn metas_are_named_robots_or_after_us() {
        for (name, content, expected) in [
            ("robots", "noindex,nofollow", NONE),
            (" ROBOTS ", "noindex nofollow", NONE),
            ("junkai", "noarchive", NOARCHIVE),
            ("googlebot", "noindex", NOTHING),
            ("description", "none", NOTHING),
        ] {
            let mut robots = RobotsMeta::default();
            robots.add_meta(name, content, "Junkai");
            assert_eq!(robots, expected, "{name} {content}");
        }
    }

    #[test]
    fn a_stricter_directive_is_never_overruled() {
        let mut robots = RobotsMeta::default();
        robots.add_meta("robots", "nofollow", "junkai");
        robots.add_meta("junkai", "follow, noindex", "junkai");
        assert_eq!(robots, NONE);
    }
}
