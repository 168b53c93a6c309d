//! The canonical URL of a page: the type that the rest of the crawler passes around.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::OnceLock;

use serde::{Serialize, Serializer};
use url::Url;

use crate::fingerprint::Fingerprint;
use crate::site::site_of;
use crate::surt::surt;
use crate::template::template;

/// A canonical http or https URL. Made by a [`Canonicalizer`](crate::Canonicalizer) only.
///
/// Holds the text, where its parts begin, and its fingerprint; equality, order and hash are those of the text.
pub struct PageUrl {
    text: Box<str>,
    layout: Layout,
    fingerprint: Fingerprint,
    /// Parsed when first asked for: most links are known pages, and end at their fingerprint.
    url: OnceLock<Box<Url>>,
}

/// Where the parts of a canonical text end. The host begins after `http://` or `https://`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) host_end: usize,
    /// Beginning of the path, where the origin ends.
    pub(crate) path_start: usize,
    /// End of the path, where the `?` of a query stands.
    pub(crate) path_end: usize,
}

impl PageUrl {
    /// Takes over a text that is canonical.
    pub(crate) fn from_canonical(text: String, layout: Layout) -> Self {
        debug_assert!(text.starts_with("http"), "{text} is not of a page");
        debug_assert_eq!(
            text.as_bytes()[layout.path_start],
            b'/',
            "the path of {text}"
        );
        Self {
            fingerprint: Fingerprint::of(&text),
            text: text.into_boxed_str(),
            layout,
            url: OnceLock::new(),
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// The whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same URL as the `url` crate's type; parsed at the first call, kept for the next.
    #[must_use]
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "a canonical text parses to itself: property tests of `canonical` and the fuzz target"
    )]
    pub fn as_url(&self) -> &Url {
        self.url
            .get_or_init(|| Box::new(Url::parse(&self.text).expect("a canonical text is a URL")))
    }

    /// The 64-bit hash of the text.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        if self.is_https() { "https" } else { "http" }
    }

    /// Whether the page is asked for over TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.text.as_bytes()["http".len()] == b's'
    }

    /// The name or address in the URL, as written there: an IPv6 address is in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.text[self.scheme().len() + "://".len()..self.layout.host_end]
    }

    /// The address, where the URL has one in place of a name.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        let host = self.host();
        match host
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
            None => host.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        }
    }

    /// The port to connect to: the one written in the URL, or the scheme's.
    #[must_use]
    pub fn port(&self) -> u16 {
        let written = &self.text[self.layout.host_end..self.layout.path_start];
        let default = if self.is_https() { 443 } else { 80 };
        written
            .strip_prefix(':')
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(default)
    }

    /// Scheme, host and port (`https://example.org`, `http://example.org:8080`), a default port left out.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.text[..self.layout.path_start]
    }

    /// Host and port as the `Host` header has them (RFC 9110, section 7.2), a default port left out.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.text[self.scheme().len() + "://".len()..self.layout.path_start]
    }

    /// The path, which begins with `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.text[self.layout.path_start..self.layout.path_end]
    }

    /// What follows the `?`; never empty.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.text.get(self.layout.path_end + 1..)
    }

    /// The request target as HTTP/1.1 sends it (RFC 9112, section 3.2.1).
    #[must_use]
    pub fn path_and_query(&self) -> &str {
        &self.text[self.layout.path_start..]
    }

    /// The registrable domain of the host; see [`site_of`].
    #[must_use]
    pub fn site(&self) -> &str {
        site_of(self.host())
    }

    /// The key of this page in an index of captures; see [`surt`].
    #[must_use]
    pub fn surt(&self) -> String {
        surt(&self.text)
    }

    /// What the URLs of similar pages have in common: digits, identifiers and query values made blank.
    ///
    /// `https://example.org/news/2026/17.html?page=3` is of the template `https://example.org/news/{n}/{n}.html?page={}`.
    #[must_use]
    pub fn template(&self) -> String {
        template(self)
    }
}

/// A clone is for keeping: it leaves the parsed form behind.
impl Clone for PageUrl {
    fn clone(&self) -> Self {
        Self {
            text: self.text.clone(),
            layout: self.layout,
            fingerprint: self.fingerprint,
            url: OnceLock::new(),
        }
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.text)
    }
}

impl fmt::Debug for PageUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PageUrl({})", self.text)
    }
}

impl PartialEq for PageUrl {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint && self.text == other.text
    }
}

impl Eq for PageUrl {}

impl PartialOrd for PageUrl {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PageUrl {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

/// The text's hash, not the fingerprint, so that a map of pages can be asked by text.
impl Hash for PageUrl {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Borrow<str> for PageUrl {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl AsRef<str> for PageUrl {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl From<PageUrl> for String {
    fn from(page: PageUrl) -> Self {
        page.text.into_string()
    }
}

impl Serialize for PageUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{CanonicalConfig, Canonicalizer};

    fn page(text: &str) -> PageUrl {
        Canonicalizer::new(&CanonicalConfig::default())
            .parse(text)
            .unwrap()
    }

    #[test]
    fn a_url_comes_apart() {
        let page = page("https://www.example.co.uk:8443/a/b?c=d&e");
        assert_eq!(page.scheme(), "https");
        assert!(page.is_https());
        assert_eq!(page.host(), "www.example.co.uk");
        assert_eq!(page.port(), 8443);
        assert_eq!(page.origin(), "https://www.example.co.uk:8443");
        assert_eq!(page.authority(), "www.example.co.uk:8443");
        assert_eq!(page.path(), "/a/b");
        assert_eq!(page.query(), Some("c=d&e"));
        assert_eq!(page.path_and_query(), "/a/b?c=d&e");
        assert_eq!(page.site(), "example.co.uk");
        assert_eq!(page.surt(), "uk,co,example:8443)/a/b?c=d&e");
        assert_eq!(page.ip(), None);
    }

    #[test]
    fn what_is_not_written_has_its_default() {
        let page = page("http://example.org");
        assert!(!page.is_https());
        assert_eq!(page.port(), 80);
        assert_eq!(page.origin(), "http://example.org");
        assert_eq!(page.path(), "/");
        assert_eq!(page.query(), None);
    }

    #[test]
    fn addresses_are_found() {
        assert_eq!(
            page("http://0x7f.1:8000/").ip(),
            Some("127.0.0.1".parse().unwrap())
        );
        let page = page("http://[2001:DB8:0::1]:8000/");
        assert_eq!(page.ip(), Some("2001:db8::1".parse().unwrap()));
        assert_eq!(page.host(), "[2001:db8::1]");
        assert_eq!(page.port(), 8000);
    }

    #[test]
    fn a_map_of_pages_is_asked_by_text() {
        let map = BTreeMap::from([(page("http://example.org/a"), 1)]);
        assert_eq!(map.get("http://example.org/a"), Some(&1));
    }

    #[test]
    fn the_parsed_url_is_the_same_url() {
        let page = page("https://example.org:8443/a?b");
        assert_eq!(page.as_url().as_str(), page.as_str());
        assert!(std::ptr::eq(page.as_url(), page.as_url()));
    }
}
