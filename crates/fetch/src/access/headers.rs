//! Header fields of the operator's own, and which of them a crawler cannot let pass.

use http::header::{HeaderName, HeaderValue};
use url::Url;

use super::config::HeaderConfig;
use super::hosts::HostRule;
use super::secret::Secret;
use super::{Environment, Way, one_source};

/// A field that is added to requests.
#[derive(Clone, Debug)]
pub(crate) struct AddedHeader {
    pub(crate) name: HeaderName,
    /// Marked as sensitive where it is secret: then nothing shows it.
    pub(crate) value: HeaderValue,
    hosts: Vec<HostRule>,
    allow_http: bool,
}

impl AddedHeader {
    /// Makes a setting ready for use.
    ///
    /// # Errors
    /// In words that show no secret.
    pub(crate) fn load(
        config: &HeaderConfig,
        environment: Environment<'_>,
    ) -> Result<Self, String> {
        let name = checked_name(config)?;
        let hosts: Result<Vec<HostRule>, String> = config
            .hosts
            .iter()
            .map(|host| HostRule::parse(host))
            .collect();
        let value = if let Some(value) = &config.value {
            HeaderValue::from_str(value)
        } else {
            let file = config.value_file.as_deref();
            let secret = Secret::load(file, config.value_env.as_deref(), environment)?;
            HeaderValue::from_str(secret.reveal()).map(|mut value| {
                value.set_sensitive(true);
                value
            })
        };
        Ok(Self {
            value: value
                .map_err(|_| format!("the value of {name} must be printable ASCII in one line"))?,
            name,
            hosts: hosts?,
            allow_http: config.allow_http,
        })
    }

    /// Whether it goes with a request.
    pub(crate) fn is_for(&self, url: &Url, way: Way) -> bool {
        let host = url.host_str().unwrap_or_default();
        let is_host = self.hosts.is_empty() || self.hosts.iter().any(|rule| rule.matches(host));
        is_host && (!self.value.is_sensitive() || self.allow_http || way.is_private)
    }
}

/// What is wrong with a setting, before any file is read.
pub(crate) fn mistake(config: &HeaderConfig) -> Option<String> {
    let check = || -> Result<(), String> {
        let name = checked_name(config)?;
        for host in &config.hosts {
            HostRule::parse(host)?;
        }
        let sources = [
            ("value", config.value.is_some()),
            ("value_file", config.value_file.is_some()),
            ("value_env", config.value_env.is_some()),
        ];
        one_source(&sources)?;
        let Some(value) = &config.value else {
            return if config.hosts.is_empty() {
                Err("a secret value needs `hosts`: it is not for everybody".to_owned())
            } else {
                Ok(())
            };
        };
        if looks_secret(name.as_str()) {
            return Err(format!(
                "the value of {name} seems to be secret, and would stand in junkai.toml and in the archive; in junkai.toml write \
                 [[fetch.headers]] with name = \"{name}\", hosts = [\"…\"] and value_file = \"…\" or value_env = \"…\""
            ));
        }
        match HeaderValue::from_str(value) {
            Ok(_) if value.is_ascii() => Ok(()),
            _ => Err("the value must be printable ASCII in one line".to_owned()),
        }
    };
    check()
        .err()
        .map(|mistake| format!("header {:?}: {mistake}", config.name))
}

/// The name of a field that may be added.
fn checked_name(config: &HeaderConfig) -> Result<HeaderName, String> {
    let name = config.name.trim();
    if let Some(instead) = owned(&name.to_ascii_lowercase()) {
        return Err(format!("junkai sends this field itself{instead}"));
    }
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| "not the name of a header field".to_owned())
}

/// What to do instead of adding a field that is the crawler's own.
fn owned(name: &str) -> Option<&'static str> {
    match name {
        "host" | "content-length" | "transfer-encoding" | "connection" | "keep-alive" | "te"
        | "trailer" | "upgrade" | "expect" | "http2-settings" | "proxy-connection" => {
            Some(", for its connections depend on it")
        }
        "range" | "if-range" => Some(", for it archives whole pages"),
        "if-none-match" | "if-modified-since" | "if-match" | "if-unmodified-since" => {
            Some(" when it visits a page again")
        }
        "referer" => Some(": the page that links to this one"),
        "user-agent" => Some("; set identity.user_agent, or identity.product, version and contact"),
        "from" => Some("; set identity.contact, or say --contact"),
        "accept-encoding" => Some("; set fetch.accept_encoding"),
        "authorization" => {
            Some("; say --login HOST=FILE or --bearer HOST=FILE, or set [[fetch.logins]]")
        }
        "proxy-authorization" => Some("; say --proxy-login FILE, or set fetch.proxy_login_file"),
        "cookie" | "cookie2" => Some("; say --cookies FILE, or set fetch.cookies"),
        _ => None,
    }
}

/// Whether a field of this name usually has a value that nobody should see.
fn looks_secret(name: &str) -> bool {
    const WORDS: [&str; 10] = [
        "auth",
        "token",
        "key",
        "apikey",
        "secret",
        "password",
        "passwd",
        "session",
        "credential",
        "credentials",
    ];
    name.split(['-', '_', '.'])
        .any(|word| WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(name: &str, value: &str) -> HeaderConfig {
        HeaderConfig {
            name: name.to_owned(),
            value: Some(value.to_owned()),
            ..HeaderConfig::default()
        }
    }

    #[test]
    fn a_field_of_the_crawlers_own_is_refused_with_what_to_do_instead() {
        for (name, instead) in [
            ("Host", "connections"),
            ("content-length", "connections"),
            ("Transfer-Encoding", "connections"),
            ("Range", "whole pages"),
            ("If-None-Match", "again"),
            ("User-Agent", "identity.user_agent"),
            ("Authorization", "--login"),
            ("Cookie", "--cookies"),
            ("Proxy-Authorization", "--proxy-login"),
            ("X-Api-Key", "value_file"),
            ("x_auth", "value_file"),
            ("a b", "not the name"),
            ("", "not the name"),
        ] {
            let said = mistake(&plain(name, "hunter2")).unwrap();
            assert!(said.contains(instead), "{name}: {said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
        for value in ["a\r\nHost: evil", "a\n", "\u{7f}"] {
            assert!(mistake(&plain("X-Note", value)).is_some(), "{value:?}");
        }
        for name in ["X-Note", "Accept-Language", "Accept", "DNT", "X-Keyboard"] {
            assert_eq!(mistake(&plain(name, "1")), None);
        }
    }

    #[test]
    fn a_secret_value_has_one_source_and_goes_to_named_hosts() {
        let secret = HeaderConfig {
            name: "X-Api-Key".to_owned(),
            value_env: Some("KEY".to_owned()),
            ..HeaderConfig::default()
        };
        assert!(mistake(&secret).unwrap().contains("hosts"));
        let named = HeaderConfig {
            hosts: vec!["*.a.example".to_owned()],
            ..secret
        };
        assert_eq!(mistake(&named), None);
        let twice = HeaderConfig {
            value: Some(String::new()),
            ..named.clone()
        };
        assert!(mistake(&twice).is_some());
        let environment = |name: &str| (name == "KEY").then(|| "sesame".to_owned());
        let header = AddedHeader::load(&named, &environment).unwrap();
        assert!(!format!("{header:?}").contains("sesame"));
        let (open, private) = (Way { is_private: false }, Way { is_private: true });
        let url = |text: &str| Url::parse(text).unwrap();
        assert!(header.is_for(&url("https://b.a.example/"), private));
        assert!(!header.is_for(&url("http://b.a.example/"), open));
        assert!(!header.is_for(&url("https://c.example/"), private));
        assert!(AddedHeader::load(&named, &|_| None).is_err());
    }
}
