//! A link, its kind, and how many of them a page may have.

use serde::{Deserialize, Serialize};

use crate::context::LinkContext;

/// One link of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The absolute URL, as `url::Url` writes it, without fragment; not in canonical form.
    pub url: String,
    /// What in the page links.
    pub kind: LinkKind,
    /// The link itself asks not to be followed (`rel` has `nofollow`, `ugc` or `sponsored`); the page may ask the same of all its
    /// links, which is in [`RobotsMeta`](crate::RobotsMeta).
    pub nofollow: bool,
    /// What surrounds it, if that was asked for ([`analyze_with_contexts`](crate::analyze_with_contexts)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Box<LinkContext>>,
}

/// What in a page links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkKind {
    /// `<a href>`.
    Anchor,
    /// `<area href>`.
    Area,
    /// `<frame src>`.
    Frame,
    /// `<iframe src>`.
    Iframe,
    /// `<meta http-equiv="refresh">`.
    MetaRefresh,
    /// `<link rel="canonical">`: where the page says that it belongs.
    Canonical,
    /// `<link rel="alternate">` that is no feed: a translation, another format.
    Alternate,
    /// `<link rel="next">`.
    Next,
    /// `<link rel="prev">`.
    Previous,
    /// `<link>` to another page: author, help, license and the like.
    Related,
    /// `<link rel="alternate">` to a feed.
    Feed,
    /// `<link rel="sitemap">`.
    Sitemap,
    /// An image of any sort; a page requisite.
    Image,
    /// `<script src>`; a page requisite.
    Script,
    /// `<link rel="stylesheet">`, `@import`; a page requisite.
    Stylesheet,
    /// `<link rel="icon">`; a page requisite.
    Icon,
    /// `<video>`, `<audio>`, `<source>` or `<track>`; a page requisite.
    Media,
    /// `<embed>` or `<object>`; a page requisite.
    Object,
    /// `<link rel="preload">`, `<link rel="manifest">`, what a style sheet names, and the like; a page requisite.
    Resource,
}

/// What a link leads to, as far as a crawler makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkRole {
    /// Another page.
    Page,
    /// A feed or sitemap.
    List,
    /// Something that showing the page needs.
    Requisite,
}

impl LinkKind {
    /// Whether the link is to something that showing the page needs, and not to another page.
    #[must_use]
    pub fn is_requisite(self) -> bool {
        self.role() == LinkRole::Requisite
    }

    /// What the link leads to.
    #[must_use]
    pub fn role(self) -> LinkRole {
        match self {
            Self::Image
            | Self::Script
            | Self::Stylesheet
            | Self::Icon
            | Self::Media
            | Self::Object
            | Self::Resource => LinkRole::Requisite,
            Self::Anchor
            | Self::Area
            | Self::Frame
            | Self::Iframe
            | Self::MetaRefresh
            | Self::Canonical
            | Self::Alternate
            | Self::Next
            | Self::Previous
            | Self::Related => LinkRole::Page,
            Self::Feed | Self::Sitemap => LinkRole::List,
        }
    }

    /// The kind of a `<link>` by its `rel` and `type`; none if it does not lead to something that can be visited.
    ///
    /// Of several words in `rel`, the one that says most decides.
    pub(crate) fn of_rel(rel: &str, media_type: &str) -> Option<Self> {
        rel.split_ascii_whitespace()
            .filter_map(|word| Self::of_rel_word(word, media_type))
            .max_by_key(|kind| *kind != Self::Related && *kind != Self::Alternate)
    }

    fn of_rel_word(word: &str, media_type: &str) -> Option<Self> {
        let kind = match &*word.to_ascii_lowercase() {
            "canonical" => Self::Canonical,
            "alternate" if is_feed(media_type) => Self::Feed,
            "alternate" => Self::Alternate,
            "next" => Self::Next,
            "prev" | "previous" => Self::Previous,
            "sitemap" => Self::Sitemap,
            "stylesheet" => Self::Stylesheet,
            "icon" | "apple-touch-icon" | "apple-touch-icon-precomposed" | "mask-icon" => {
                Self::Icon
            }
            "preload" | "modulepreload" | "prefetch" | "manifest" => Self::Resource,
            // They name an origin to connect to, or a service that takes requests, and no page; or nothing (`shortcut icon`).
            "dns-prefetch" | "preconnect" | "pingback" | "webmention" | "hub" | "edituri"
            | "wlwmanifest" | "shortcut" => return None,
            _ => Self::Related,
        };
        Some(kind)
    }
}

fn is_feed(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    [
        "application/rss+xml",
        "application/atom+xml",
        "application/feed+json",
        "application/rdf+xml",
    ]
    .iter()
    .any(|feed| essence.eq_ignore_ascii_case(feed))
}

/// Whether a `rel` asks not to follow the link.
pub(crate) fn is_nofollow(rel: &[u8]) -> bool {
    rel.split(u8::is_ascii_whitespace).any(|word| {
        ["nofollow", "ugc", "sponsored"]
            .iter()
            .any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
    })
}

/// Which links of a page are taken, and how many. Table `[links]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkOptions {
    /// Whether images, style sheets with what they need, scripts and other page requisites are fetched too, from other hosts as well. Default true:
    /// a page without its style sheet does not look like itself. Without them, an archive of text is several times smaller, and done sooner.
    pub requisites: bool,
    /// Links taken from one page; further ones are dropped, and counted. Default 6000, as in Heritrix: real pages have fewer, link farms do not. At most 1000000.
    pub max_links: usize,
    /// Longest URL; longer ones are dropped, and counted. Default `8KiB`: servers refuse longer ones. From 16 bytes to 1 MiB.
    #[serde(with = "junkai_size::bytes")]
    pub max_url_length: usize,
}

impl Default for LinkOptions {
    fn default() -> Self {
        Self {
            requisites: true,
            max_links: 6000,
            max_url_length: 8192,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rel_decides_the_kind() {
        for (rel, media_type, kind) in [
            ("canonical", "", Some(LinkKind::Canonical)),
            ("STYLESHEET", "text/css", Some(LinkKind::Stylesheet)),
            (
                "alternate stylesheet",
                "text/css",
                Some(LinkKind::Stylesheet),
            ),
            ("shortcut icon", "", Some(LinkKind::Icon)),
            ("alternate", "application/rss+xml", Some(LinkKind::Feed)),
            (
                "alternate",
                "Application/Atom+XML; charset=utf-8",
                Some(LinkKind::Feed),
            ),
            ("alternate", "text/html", Some(LinkKind::Alternate)),
            ("author", "", Some(LinkKind::Related)),
            ("prev start", "", Some(LinkKind::Previous)),
            ("next nofollow", "", Some(LinkKind::Next)),
            ("sitemap", "application/xml", Some(LinkKind::Sitemap)),
            ("dns-prefetch", "", None),
            ("preconnect dns-prefetch", "", None),
            ("", "", None),
        ] {
            assert_eq!(LinkKind::of_rel(rel, media_type), kind, "{rel}");
        }
    }

    #[test]
    fn nofollow_is_one_word_among_others() {
        for (rel, expected) in [
            ("nofollow", true),
            ("noopener NOFOLLOW", true),
            ("ugc", true),
            ("external\nsponsored", true),
            ("noopener", false),
            ("nofollowers", false),
            ("", false),
        ] {
            assert_eq!(is_nofollow(rel.as_bytes()), expected, "{rel}");
        }
    }
}
