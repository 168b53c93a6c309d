//! Rules as they wait on disk for the next run: each is its line's number and its pattern, as compact as in the file that it is from.
//!
//! Read back are also the rules of archives of before, which had the pattern in pieces and the whole line.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Robots;
use super::pattern::Pattern;
use super::table::Drafts;

/// What is written.
#[derive(Serialize)]
struct Written {
    rules: Vec<(u32, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    crawl_delay: Option<Duration>,
}

/// What is read.
#[derive(Deserialize)]
struct Read {
    rules: Vec<ReadRule>,
    #[serde(default)]
    crawl_delay: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ReadRule {
    /// `[4, "-/x$"]`: line 4 disallows this; `+` allows.
    Now(u32, String),
    /// As archives of before have it.
    Before {
        pattern: PatternBefore,
        allow: bool,
        line: LineBefore,
    },
}

#[derive(Deserialize)]
struct PatternBefore {
    plain: PiecesBefore,
}

#[derive(Deserialize)]
struct PiecesBefore {
    text: String,
    is_anchored: bool,
}

#[derive(Deserialize)]
struct LineBefore {
    number: u32,
}

impl Serialize for Robots {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rules = self.rules.iter().map(|line| {
            let sign = if line.allow { '+' } else { '-' };
            (line.number, format!("{sign}{}", line.pattern))
        });
        let written = Written {
            rules: rules.collect(),
            crawl_delay: self.crawl_delay,
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Robots {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Read::deserialize(deserializer)?;
        let mut rules = Drafts::default();
        for rule in read.rules {
            let (number, allow, text) = match rule {
                ReadRule::Now(number, text) => match text.strip_prefix('+') {
                    Some(text) => (number, true, text.to_owned()),
                    None => (number, false, text.trim_start_matches('-').to_owned()),
                },
                ReadRule::Before {
                    pattern,
                    allow,
                    line,
                } => {
                    let PiecesBefore { text, is_anchored } = pattern.plain;
                    let anchor = if is_anchored { "$" } else { "" };
                    (line.number, allow, text + anchor)
                }
            };
            let pattern = Pattern::restored(&text)
                .ok_or_else(|| serde::de::Error::custom("this is no pattern of a robots.txt"))?;
            rules.add(pattern, allow, number);
        }
        Ok(Robots {
            rules: rules.compile(),
            crawl_delay: read.crawl_delay,
            sitemaps: Vec::new(),
        })
    }
}

/// Rules that are shared.
pub(super) mod shared {
    use std::sync::Arc;

    use super::{Deserialize, Deserializer, Robots, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde hands the field over so")]
    pub(in super::super) fn serialize<S: Serializer>(
        rules: &Option<Arc<Robots>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        rules.as_deref().serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<Robots>>, D::Error> {
        Ok(Option::<Robots>::deserialize(deserializer)?.map(Arc::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_an_archive_of_before_are_read() {
        let stored = r#"{"rules":[
            {"pattern":{"plain":{"text":"/a*b?c=d:e","is_anchored":true},
             "encoded":{"text":"/a*b?c=d%3Ae","is_anchored":true},"length":11},
             "allow":false,"line":{"number":7,"text":"Disallow: /a*b?c=d:e$"}},
            {"pattern":{"plain":{"text":"/a","is_anchored":false},"encoded":null,"length":2},
             "allow":true,"line":{"number":2,"text":"Allow: /a"}}],
            "crawl_delay":{"secs":2,"nanos":500000000},"sitemaps":["/s"]}"#;
        let robots: Robots = serde_json::from_str(stored).unwrap();
        let file = "User-agent: *\nAllow: /a\n\n\n\n\nDisallow: /a*b?c=d:e$\nCrawl-delay: 2.5";
        assert_eq!(robots, Robots::parse(file.as_bytes(), "junkai"));
    }

    #[test]
    fn what_is_stored_is_no_longer_than_the_file() {
        let lines = (0..1000).map(|number| format!("Disallow: /folder/{number}/*.html$\n"));
        let file = format!("User-agent: *\n{}", lines.collect::<String>());
        let stored = serde_json::to_string(&Robots::parse(file.as_bytes(), "junkai")).unwrap();
        assert!(
            stored.len() <= file.len(),
            "{} of {}",
            stored.len(),
            file.len()
        );
    }

    #[test]
    fn a_stored_pattern_that_is_none_is_refused() {
        for text in ["-x", "-", "-/\u{7f}", "-/**", "-/ü"] {
            let stored = serde_json::json!({ "rules": [[1, text]] });
            assert!(serde_json::from_value::<Robots>(stored).is_err(), "{text}");
        }
    }
}
