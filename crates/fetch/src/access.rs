//! What a request has besides what every request has, and the way it takes: header fields, logins and cookies for some hosts, and proxies.
//!
//! [`Access::load`] reads files and variables once, at the start; all workers share the result. A client asks it for the fields of each request, and
//! what of them the archive may show. Without such settings there is no [`Access`], and nothing is asked.
//!
//! Invariants: a secret goes to the hosts that it is for, over https or to this machine without a proxy, unless it is said to go over http, too; it stands in no message,
//! no debug output and no [`Exchange`](crate::Exchange).

mod config;
mod cookies;
mod headers;
mod hosts;
mod logins;
mod proxy;
mod secret;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use junkai_http::Head;
use url::Url;

pub use self::config::{HeaderConfig, LoginConfig};
use self::cookies::CookieJar;
use self::headers::AddedHeader;
use self::logins::Login;
use self::proxy::Proxies;
pub(crate) use self::proxy::Proxy;
use crate::config::FetchConfig;

/// What stands in the archive instead of a secret.
pub(crate) const REDACTED: &str = "redacted";

/// Where environment variables are looked up: by name, as text.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What is sent to whom besides the request, and by which way.
#[derive(Debug)]
pub struct Access {
    headers: Vec<AddedHeader>,
    logins: Vec<Login>,
    cookies: Option<Mutex<CookieJar>>,
    keeps_cookies: bool,
    proxies: Proxies,
}

/// How a request travels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// Whether nobody but the host can read it: by verified https, or because the host is this machine and no proxy is in between.
    pub(crate) is_private: bool,
}

/// A field of a request whose value is not to be shown.
#[derive(Debug)]
pub(crate) struct Hidden {
    name: HeaderName,
    /// What is shown instead.
    shown: String,
}

impl Access {
    /// Reads what the settings name; none if they name nothing.
    ///
    /// # Errors
    /// Everything that is wrong, in words that show no secret.
    pub fn load(
        config: &FetchConfig,
        environment: Environment<'_>,
    ) -> Result<Option<Arc<Self>>, Vec<String>> {
        let mut mistakes = Self::mistakes(config);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let mut note = |mistake: String| mistakes.push(mistake);
        let mut headers = Vec::new();
        for header in &config.headers {
            match AddedHeader::load(header, environment) {
                Ok(header) => headers.push(header),
                Err(mistake) => note(format!("header {:?}: {mistake}", header.name)),
            }
        }
        let mut logins = Vec::new();
        for login in &config.logins {
            match Login::load(login, environment) {
                Ok(login) => logins.push(login),
                Err(mistake) => note(format!("login for {:?}: {mistake}", login.host)),
            }
        }
        let mut cookies = config.keep_cookies.then(CookieJar::default);
        if let Some(file) = &config.cookies {
            match CookieJar::load(file, SystemTime::now()) {
                Ok(jar) => cookies = Some(jar),
                Err(mistake) => note(mistake),
            }
        }
        let proxies = match Proxies::load(config, environment) {
            Ok(proxies) => proxies,
            Err(mistake) => {
                note(mistake);
                Proxies::default()
            }
        };
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let access = Self {
            headers,
            logins,
            cookies: cookies.map(Mutex::new),
            keeps_cookies: config.keep_cookies,
            proxies,
        };
        Ok(access.has_anything().then(|| Arc::new(access)))
    }

    /// What is wrong with the settings by themselves, before any file is read.
    #[must_use]
    pub fn mistakes(config: &FetchConfig) -> Vec<String> {
        let headers = config.headers.iter().filter_map(headers::mistake);
        let logins = config.logins.iter().filter_map(logins::mistake);
        let mut mistakes: Vec<String> = headers.chain(logins).collect();
        mistakes.extend(Proxies::mistakes(config));
        mistakes
    }

    /// Which proxies are used, in sentences for the operator.
    #[must_use]
    pub fn proxies_in_words(&self) -> Vec<String> {
        self.proxies.in_words()
    }

    fn has_anything(&self) -> bool {
        !self.headers.is_empty()
            || !self.logins.is_empty()
            || self.cookies.is_some()
            || !self.proxies.are_none()
    }

    /// The proxy on the way to a server, if there is one.
    pub(crate) fn proxy_to(&self, is_tls: bool, host: &str, remote: SocketAddr) -> Option<&Proxy> {
        self.proxies.to(is_tls, host, remote)
    }

    /// Adds the fields of a request; answers which of them are not to be shown.
    pub(crate) fn add_fields(&self, fields: &mut HeaderMap, url: &Url, way: Way) -> Vec<Hidden> {
        let mut hidden = Vec::new();
        for added in self.headers.iter().filter(|added| added.is_for(url, way)) {
            if added.value.is_sensitive() {
                hidden.push(Hidden {
                    name: added.name.clone(),
                    shown: REDACTED.to_owned(),
                });
            }
            fields.insert(&added.name, added.value.clone());
        }
        let mut logins = self.logins.iter();
        if let Some(value) = logins.find_map(|login| login.value_for(url, way)) {
            let scheme = value.as_bytes().split(|byte| *byte == b' ').next();
            let scheme = String::from_utf8_lossy(scheme.unwrap_or_default());
            hidden.push(Hidden {
                name: header::AUTHORIZATION,
                shown: format!("{scheme} {REDACTED}"),
            });
            fields.insert(header::AUTHORIZATION, value.clone());
        }
        let field = self.with_cookies(|jar| jar.field_for(url, way, SystemTime::now()));
        if let Some(field) = field.flatten()
            && let Ok(mut value) = HeaderValue::from_bytes(field.sent.0.as_bytes())
        {
            value.set_sensitive(true);
            fields.insert(header::COOKIE, value);
            hidden.extend(field.shown.map(|shown| Hidden {
                name: header::COOKIE,
                shown,
            }));
        }
        hidden
    }

    /// Takes in the cookies of an answer, where they are to be kept.
    pub(crate) fn take_cookies(&self, head: &Head, url: &Url, way: Way) {
        if !self.keeps_cookies {
            return;
        }
        let now = SystemTime::now();
        let take = |jar: &mut CookieJar| {
            for field in head.values("set-cookie") {
                jar.take(field, url, way, now);
            }
        };
        self.with_cookies(take);
    }

    fn with_cookies<T>(&self, act: impl FnOnce(&mut CookieJar) -> T) -> Option<T> {
        let jar = self.cookies.as_ref()?;
        // Nothing in there can be left half done by a panic.
        Some(act(&mut jar.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Hidden {
    /// The name of the field.
    pub(crate) fn name(&self) -> &str {
        self.name.as_str()
    }
}

/// A request as the archive may show it.
pub(crate) fn redact(request: &[u8], hidden: &[Hidden]) -> Bytes {
    let mut shown = Vec::with_capacity(request.len());
    for line in request.split_inclusive(|byte| *byte == b'\n') {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        let is_it = |hidden: &&Hidden| name.eq_ignore_ascii_case(hidden.name().as_bytes());
        match hidden.iter().find(is_it) {
            Some(hidden) => {
                shown.extend_from_slice(name);
                shown.extend_from_slice(b": ");
                shown.extend_from_slice(hidden.shown.as_bytes());
                shown.extend_from_slice(b"\r\n");
            }
            None => shown.extend_from_slice(line),
        }
    }
    shown.into()
}

/// Whether exactly one of several settings is there.
fn one_source(sources: &[(&str, bool)]) -> Result<(), String> {
    let there = sources.iter().filter(|(_, is_there)| *is_there).count();
    if there == 1 {
        return Ok(());
    }
    let names: Vec<&str> = sources.iter().map(|(name, _)| *name).collect();
    Err(format!("give one of {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redacted_request_has_the_same_fields_without_their_secrets() {
        let request = b"GET / HTTP/1.1\r\nHost: a.example\r\nAuthorization: Basic czNjcmV0\r\nCookie: a=b\r\n\r\n";
        let hidden = [Hidden {
            name: header::AUTHORIZATION,
            shown: "Basic redacted".to_owned(),
        }];
        assert_eq!(
            &redact(request, &hidden)[..],
            b"GET / HTTP/1.1\r\nHost: a.example\r\nAuthorization: Basic redacted\r\nCookie: a=b\r\n\r\n"
        );
    }

    #[test]
    fn without_settings_there_is_nothing_to_ask() {
        let config = FetchConfig::default();
        assert!(Access::load(&config, &|_| None).unwrap().is_none());
        let proxied = |name: &str| (name == "https_proxy").then(|| "p.example:3128".to_owned());
        assert!(Access::load(&config, &proxied).unwrap().is_some());
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let config = FetchConfig {
            cookies: Some("/no/such/file".into()),
            logins: vec![LoginConfig {
                host: "a.example".to_owned(),
                bearer_env: Some("UNSET".to_owned()),
                ..LoginConfig::default()
            }],
            ..FetchConfig::default()
        };
        let mistakes = Access::load(&config, &|_| None).unwrap_err();
        assert_eq!(mistakes.len(), 2, "{mistakes:?}");
    }
}
