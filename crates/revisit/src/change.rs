//! Whether a page is another than the one that is known, and whether that counts.
//!
//! A 304 says that nothing changed; else the payload's digest decides, never the entity tag alone, for servers send new
//! pages under old tags. Where digests differ, the contents are compared: noise (a date, a counter, a token) leaves the
//! content the same, and a small edit leaves it similar. What counts as a change is the user's choice, scope by scope.
//!
//! Small edits add up: the content that a page is compared with is that of its last change that counted, so a page that
//! drifts far enough has changed.

use junkai_weburl::{PageUrl, site_of};
use serde::{Deserialize, Serialize};

use crate::version::Version;

/// What a visit found, beside what was known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Nothing was known.
    First,
    /// The page is as it was.
    Same(Sameness),
    /// The payload is another, and the content a little, which does not count.
    ALittle {
        /// From 0 to 1, which is the same.
        similarity: f32,
    },
    /// The page has changed.
    Changed {
        /// Of the contents, from 0 to 1, which is the same; none where contents are not known.
        similarity: Option<f32>,
    },
    /// It is not there.
    Gone,
    /// It has another URL for good.
    Moved,
    /// No verdict.
    Failed,
}

/// By what a page was found to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sameness {
    /// The server said so.
    NotModified,
    /// Its payload has the same digest.
    Payload,
    /// Its payload is another, its content the same: noise.
    Content,
}

impl Change {
    /// Whether the payload is another than the known one, whatever counts: a new capture.
    #[must_use]
    pub fn is_new_payload(&self) -> bool {
        match self {
            Change::First
            | Change::Same(Sameness::Content)
            | Change::ALittle { .. }
            | Change::Changed { .. } => true,
            Change::Same(Sameness::NotModified | Sameness::Payload)
            | Change::Gone
            | Change::Moved
            | Change::Failed => false,
        }
    }

    /// Whether a change was found that counts.
    #[must_use]
    pub fn counts(&self) -> bool {
        matches!(self, Change::Changed { .. })
    }
}

/// What counts as a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Every other byte.
    Payload,
    /// Every other content: noise does not count.
    Content,
    /// A content less similar than this, from 0 to 1: a little does not count.
    Similarity(f32),
}

/// What counts as a change for some pages. Table `[[revisit.change]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeRule {
    /// Which pages: those whose URL begins with a text (`https://example.org/news/`), those of a host (`example.org`),
    /// or those of a domain with all its hosts (`*.example.org`).
    pub scope: String,
    /// What counts: `"payload"`, `"content"` or `{ similarity = 0.95 }`.
    pub counts: Counts,
}

impl ChangeRule {
    fn matches(&self, page: &PageUrl) -> bool {
        let scope = self.scope.as_str();
        if scope.contains("://") {
            return page.as_str().starts_with(scope);
        }
        match scope.strip_prefix("*.") {
            Some(domain) => page
                .host()
                .strip_suffix(domain)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.')),
            None => page.host() == scope,
        }
    }

    /// What is wrong with the rule.
    pub(crate) fn mistake(&self) -> Option<String> {
        let scope = &self.scope;
        let host = scope.strip_prefix("*.").unwrap_or(scope);
        let is_url = scope.starts_with("http://") || scope.starts_with("https://");
        if !is_url
            && (host.is_empty() || host.contains(['/', '*', ':']) || site_of(host).is_empty())
        {
            return Some(format!(
                "revisit.change: the scope {scope:?} is neither the beginning of a URL, nor a host, nor *.domain"
            ));
        }
        match self.counts {
            Counts::Similarity(similarity) if !(0.0..=1.0).contains(&similarity) => Some(format!(
                "revisit.change: the similarity {similarity} of {scope:?} is not between 0 and 1"
            )),
            Counts::Payload | Counts::Content | Counts::Similarity(_) => None,
        }
    }
}

/// What counts as a change of this page: by the first rule that it matches, else the general one.
pub(crate) fn counts_for(page: &PageUrl, rules: &[ChangeRule], otherwise: Counts) -> Counts {
    rules
        .iter()
        .find(|rule| rule.matches(page))
        .map_or(otherwise, |rule| rule.counts)
}

/// Compares what a visit brought with what is known.
pub(crate) fn compare(known: &Version, found: &Version, counts: Counts) -> Change {
    if known.digest.is_same(&found.digest) {
        return Change::Same(Sameness::Payload);
    }
    let contents = known.content.as_ref().zip(found.content.as_ref());
    let Some((before, now)) = contents else {
        return Change::Changed { similarity: None };
    };
    let similarity = before.similarity(now);
    let is_same = before.is_same(now);
    let changed = Change::Changed {
        similarity: Some(similarity),
    };
    match counts {
        Counts::Content | Counts::Similarity(_) if is_same => Change::Same(Sameness::Content),
        Counts::Similarity(least) if least <= similarity => Change::ALittle { similarity },
        Counts::Payload | Counts::Content | Counts::Similarity(_) => changed,
    }
}

#[cfg(test)]
mod tests {
    use junkai_frontier::Time;
    use junkai_page::content::{Content, Sketch};
    use junkai_weburl::{CanonicalConfig, Canonicalizer};

    use super::*;
    use crate::version::Digest;

    fn version(digest: u8, content: Option<Content>) -> Version {
        Version {
            digest: Digest::new(&[digest; 20]).unwrap(),
            indexed: None,
            content,
            unread: None,
            captured: Time::EPOCH,
            etag: Some("\"tag\"".into()),
            last_modified: None,
        }
    }

    fn content(fingerprint: u32, sketch: u128) -> Content {
        Content {
            fingerprint,
            own: fingerprint,
            sketch: Sketch::from_bits(sketch),
        }
    }

    fn page(text: &str) -> PageUrl {
        Canonicalizer::new(&CanonicalConfig::default())
            .parse(text)
            .unwrap()
    }

    #[test]
    fn the_digest_decides_whatever_the_tag_says() {
        let changed = Change::Changed { similarity: None };
        // Both versions have the same entity tag.
        assert_eq!(
            compare(&version(1, None), &version(2, None), Counts::Content),
            changed
        );
        let same = Change::Same(Sameness::Payload);
        assert_eq!(
            compare(&version(1, None), &version(1, None), Counts::Payload),
            same
        );
    }

    #[test]
    fn noise_counts_only_where_every_byte_does() {
        let (known, noisy) = (
            version(1, Some(content(7, 5))),
            version(2, Some(content(7, 5))),
        );
        let same = Change::Same(Sameness::Content);
        assert_eq!(compare(&known, &noisy, Counts::Content), same);
        assert_eq!(compare(&known, &noisy, Counts::Similarity(1.0)), same);
        let changed = Change::Changed {
            similarity: Some(1.0),
        };
        assert_eq!(compare(&known, &noisy, Counts::Payload), changed);
    }

    #[test]
    fn a_little_is_not_a_change_where_similarity_counts() {
        // Sketches of nothing in particular: as unlike as can be.
        let (known, other) = (
            version(1, Some(content(7, 0))),
            version(2, Some(content(8, u128::MAX))),
        );
        let Change::Changed { similarity } = compare(&known, &other, Counts::Content) else {
            panic!("another content is a change");
        };
        let similarity = similarity.unwrap();
        let little = compare(&known, &other, Counts::Similarity(similarity));
        assert_eq!(little, Change::ALittle { similarity });
        assert!(!little.counts() && little.is_new_payload());
        let strict = compare(&known, &other, Counts::Similarity(similarity + 0.01));
        assert!(strict.counts());
    }

    #[test]
    fn the_first_rule_that_matches_holds() {
        let rule = |scope: &str, counts| ChangeRule {
            scope: scope.to_owned(),
            counts,
        };
        let rules = [
            rule("https://example.org/news/", Counts::Payload),
            rule("example.org", Counts::Content),
            rule("*.example.net", Counts::Similarity(0.5)),
        ];
        let otherwise = Counts::Similarity(0.96);
        for (url, counts) in [
            ("https://example.org/news/today", Counts::Payload),
            ("http://example.org/news/today", Counts::Content),
            ("https://example.org/", Counts::Content),
            ("https://www.example.org/", otherwise),
            ("https://example.net/", Counts::Similarity(0.5)),
            ("https://a.b.example.net/", Counts::Similarity(0.5)),
            ("https://notexample.net/", otherwise),
        ] {
            assert_eq!(counts_for(&page(url), &rules, otherwise), counts, "{url}");
        }
    }

    #[test]
    fn a_scope_that_can_match_nothing_is_a_mistake() {
        for (scope, is_right) in [
            ("https://example.org/", true),
            ("example.org", true),
            ("*.example.org", true),
            ("", false),
            ("*.", false),
            ("ftp://example.org/", false),
            ("example.org/news", false),
            ("*", false),
        ] {
            let rule = ChangeRule {
                scope: scope.to_owned(),
                counts: Counts::Content,
            };
            assert_eq!(rule.mistake().is_none(), is_right, "{scope:?}");
        }
        let rule = ChangeRule {
            scope: "example.org".to_owned(),
            counts: Counts::Similarity(1.5),
        };
        assert!(rule.mistake().is_some());
    }
}
