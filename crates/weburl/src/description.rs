//! Everything that can be said of a URL, for people and programs to read.

use serde::Serialize;

use crate::fingerprint::Fingerprint;
use crate::page_url::PageUrl;

/// What `junkai url` prints of each URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Description {
    /// The canonical URL.
    pub url: String,
    /// Its 64-bit hash, in 16 hexadecimal digits.
    pub fingerprint: Fingerprint,
    /// `http` or `https`.
    pub scheme: &'static str,
    /// The name or address.
    pub host: String,
    /// The port to connect to.
    pub port: u16,
    /// The registrable domain of the host, or the host.
    pub site: String,
    /// Scheme, host and port.
    pub origin: String,
    /// The path.
    pub path: String,
    /// The query without its `?`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The key in an index of captures.
    pub surt: String,
    /// What similar URLs have in common.
    pub template: String,
}

/// Describes a page's URL.
#[must_use]
pub fn describe(page: &PageUrl) -> Description {
    Description {
        url: page.as_str().to_owned(),
        fingerprint: page.fingerprint(),
        scheme: page.scheme(),
        host: page.host().to_owned(),
        port: page.port(),
        site: page.site().to_owned(),
        origin: page.origin().to_owned(),
        path: page.path().to_owned(),
        query: page.query().map(str::to_owned),
        surt: page.surt(),
        template: page.template(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CanonicalConfig, Canonicalizer};

    #[test]
    fn the_json_has_all_of_it() {
        let canonicalizer = Canonicalizer::new(&CanonicalConfig::default());
        let page = canonicalizer
            .parse("HTTP://www.Example.org/A?b=1#c")
            .unwrap();
        let expected = serde_json::json!({
            "url": "http://www.example.org/A?b=1",
            "fingerprint": page.fingerprint().to_string(),
            "scheme": "http",
            "host": "www.example.org",
            "port": 80,
            "site": "example.org",
            "origin": "http://www.example.org",
            "path": "/A",
            "query": "b=1",
            "surt": "org,example)/a?b=1",
            "template": "http://www.example.org/A?b={}",
        });
        assert_eq!(serde_json::to_value(describe(&page)).unwrap(), expected);
    }
}
