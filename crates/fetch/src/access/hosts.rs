//! Which hosts something is for.

use url::{Host, Url};

/// A host, or all hosts of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostRule {
    /// This one.
    One(String),
    /// This one and all whose names end in it.
    Domain(String),
}

impl HostRule {
    /// Reads `example.org` or `*.example.org`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix("*.") {
            Some(domain) => Ok(Self::Domain(canonical_host(domain)?)),
            None => Ok(Self::One(canonical_host(text)?)),
        }
    }

    pub(crate) fn matches(&self, host: &str) -> bool {
        match self {
            Self::One(one) => one == host,
            Self::Domain(domain) => is_within(host, domain),
        }
    }
}

/// Whether a host is a domain or below it.
pub(crate) fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// A host as URLs have it: in lower case, in ASCII, addresses in brackets where they have them.
pub(crate) fn canonical_host(text: &str) -> Result<String, String> {
    let is_bare_v6 = text.parse::<std::net::Ipv6Addr>().is_ok();
    let bracketed = if is_bare_v6 {
        format!("[{text}]")
    } else {
        text.to_owned()
    };
    match Host::parse(&bracketed) {
        Ok(host) if !text.is_empty() => Ok(host.to_string()),
        _ => Err(format!("{text:?} is not a host, such as example.org")),
    }
}

/// A host as messages may show it: without a login that somebody put before it.
pub(crate) fn without_login(text: &str) -> &str {
    text.rsplit('@').next().unwrap_or_default()
}

/// A host and the port of its URLs; none is the default port of the scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostAndPort {
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
}

impl HostAndPort {
    /// Reads `example.org`, `example.org:8080` or `[::1]:8080`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            let shown = without_login(text);
            format!("{shown:?} is not a host, such as example.org or example.org:8080")
        };
        let plain = !text.contains(['/', '@', '?', '#', '\\']);
        let url = Url::parse(&format!("http://{text}/"))
            .ok()
            .filter(|_| plain);
        let url = url.ok_or_else(wrong)?;
        let host = url.host_str().ok_or_else(wrong)?.to_owned();
        let port = text
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse().ok());
        let port = if text.ends_with(']') { None } else { port };
        Ok(Self { host, port })
    }

    pub(crate) fn matches(&self, url: &Url) -> bool {
        let default = match url.scheme() {
            "http" => 80,
            _ => 443,
        };
        url.host_str() == Some(&self.host)
            && url.port_or_known_default() == Some(self.port.unwrap_or(default))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_for_its_hosts_alone() {
        for (rule, host, matches) in [
            ("example.org", "example.org", true),
            ("Example.ORG", "example.org", true),
            ("example.org", "www.example.org", false),
            ("*.example.org", "www.example.org", true),
            ("*.example.org", "example.org", true),
            ("*.example.org", "badexample.org", false),
            ("*.example.org", "example.org.evil.example", false),
            ("日本語.jp", "xn--wgv71a119e.jp", true),
            ("127.0.0.1", "127.0.0.1", true),
            ("::1", "[::1]", true),
        ] {
            let rule = HostRule::parse(rule).unwrap();
            assert_eq!(rule.matches(host), matches, "{rule:?} {host}");
        }
        for text in ["", "a b", "http://a/", "a/b", "*."] {
            assert!(HostRule::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_login_is_for_one_port() {
        for (login, url, matches) in [
            ("a.example", "https://a.example/x", true),
            ("a.example", "http://a.example/", true),
            ("a.example", "https://a.example:8443/", false),
            ("a.example", "https://b.a.example/", false),
            ("a.example:8443", "https://a.example:8443/", true),
            ("a.example:8443", "https://a.example/", false),
            ("a.example:443", "https://a.example/", true),
            ("a.example:80", "http://a.example/", true),
            ("[::1]:81", "http://[::1]:81/", true),
            ("[::1]", "http://[::1]/", true),
        ] {
            let login = HostAndPort::parse(login).unwrap();
            assert_eq!(
                login.matches(&url.parse().unwrap()),
                matches,
                "{login:?} {url}"
            );
        }
        for text in [
            "",
            "https://a.example",
            "a.example/x",
            "u:p@a.example",
            "a.example:99999",
        ] {
            assert!(HostAndPort::parse(text).is_err(), "{text}");
        }
    }
}
