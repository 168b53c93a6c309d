//! Proxies: other machines that connections go through.
//!
//! The proxy is asked for exactly the address that was resolved and checked here (`CONNECT 192.0.2.1:443`, for http as well), so the address guard
//! and the pace of each server hold as they do without one, and the archive names the server. The host's name goes in TLS and in the request, inside
//! the tunnel. A proxy's own address is not guarded: the operator named it.
//!
//! Not here: proxies that resolve names themselves, for then nobody would know which server is visited.

mod tunnel;

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use tokio::net::TcpStream;
use tokio::time::Instant;
use url::Url;

use super::Environment;
use super::hosts::HostRule;
use super::secret::Secret;
use crate::config::FetchConfig;
use crate::failure::Failure;

/// The value of `fetch.proxy` that turns the variables off.
const NONE: &str = "none";

/// How a proxy is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// By CONNECT (RFC 9110, section 9.3.6).
    Http,
    /// RFC 1928, with the login of RFC 1929.
    Socks5,
}

/// A proxy.
#[derive(Clone, Debug)]
pub(crate) struct Proxy {
    kind: Kind,
    host: String,
    port: u16,
    /// `user:password`.
    login: Option<Secret>,
    /// Where it was named: a setting or a variable.
    source: String,
}

/// Which proxies are used.
#[derive(Debug, Default)]
pub(crate) struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    except: Vec<Exception>,
    /// Whether this machine's own addresses are reached without: where the variables name the proxy, which then is for other machines.
    spares_loopback: bool,
}

/// Who is reached without a proxy.
#[derive(Clone, Debug)]
enum Exception {
    All,
    Host(HostRule),
    Network(IpNet),
}

impl Proxies {
    /// Reads settings, or else the variables that curl and wget read.
    pub(super) fn load(config: &FetchConfig, environment: Environment<'_>) -> Result<Self, String> {
        let except: Result<Vec<Exception>, String> = config
            .no_proxy
            .iter()
            .map(|text| Exception::parse(text))
            .collect();
        match config.proxy.as_deref() {
            Some(NONE) => Ok(Self::default()),
            Some(text) => {
                let mut proxy = Proxy::parse(text, "fetch.proxy")?;
                let (file, variable) = (&config.proxy_login_file, &config.proxy_login_env);
                if file.is_some() || variable.is_some() {
                    let login = Secret::load(file.as_deref(), variable.as_deref(), environment);
                    let login = login.map_err(|mistake| format!("the proxy's login: {mistake}"))?;
                    proxy.login = Some(checked(login)?);
                }
                Ok(Self {
                    http: Some(proxy.clone()),
                    https: Some(proxy),
                    except: except?,
                    spares_loopback: false,
                })
            }
            None => Self::of_environment(except?, environment),
        }
    }

    fn of_environment(
        mut except: Vec<Exception>,
        environment: Environment<'_>,
    ) -> Result<Self, String> {
        // Under CGI the upper-case form holds what a request says (httpoxy, CVE-2016-5385).
        let is_cgi = environment("REQUEST_METHOD").is_some();
        let proxy = |of_scheme: &[&'static str]| -> Result<Option<Proxy>, String> {
            let names = of_scheme.iter().chain(&["all_proxy", "ALL_PROXY"]);
            let names = names.filter(|name| !(is_cgi && **name == "HTTP_PROXY"));
            let mut set = names.filter_map(|name| Some((*name, variable(name, environment)?)));
            let proxy = set
                .next()
                .map(|(name, text)| Proxy::of_variable(&text, name));
            proxy.transpose()
        };
        let list = variable("no_proxy", environment).or_else(|| variable("NO_PROXY", environment));
        for text in list.unwrap_or_default().split([',', ' ']) {
            // What such lists hold beyond hosts and networks, each tool reads in its own way.
            except.extend(Exception::parse(text.trim()));
        }
        Ok(Self {
            http: proxy(&["http_proxy", "HTTP_PROXY"])?,
            https: proxy(&["https_proxy", "HTTPS_PROXY"])?,
            except,
            spares_loopback: true,
        })
    }

    /// What is wrong with the settings by themselves.
    pub(super) fn mistakes(config: &FetchConfig) -> Vec<String> {
        let mut mistakes = Vec::new();
        let proxy = config.proxy.as_deref().filter(|text| *text != NONE);
        if let Some(text) = proxy {
            mistakes.extend(Proxy::parse(text, "fetch.proxy").err());
        }
        let logins = [
            config.proxy_login_file.is_some(),
            config.proxy_login_env.is_some(),
        ];
        if logins == [true, true] {
            mistakes.push("give one of fetch.proxy_login_file, fetch.proxy_login_env".to_owned());
        }
        if logins != [false, false] && proxy.is_none() {
            mistakes.push("the login of a proxy goes with --proxy URL (fetch.proxy)".to_owned());
        }
        let except = config.no_proxy.iter().map(|text| Exception::parse(text));
        mistakes.extend(
            except
                .filter_map(Result::err)
                .map(|mistake| format!("fetch.no_proxy: {mistake}")),
        );
        mistakes
    }

    pub(super) fn are_none(&self) -> bool {
        self.http.is_none() && self.https.is_none()
    }

    /// In sentences, for the operator.
    pub(super) fn in_words(&self) -> Vec<String> {
        let but = if self.spares_loopback {
            ", except to this machine"
        } else {
            ""
        };
        let say =
            |what: &str, proxy: &Proxy| format!("{what} through {proxy} ({}){but}", proxy.source);
        match (&self.http, &self.https) {
            (Some(http), Some(https)) if http.source == https.source => {
                vec![say("all visits go", http)]
            }
            (http, https) => {
                let http = http.iter().map(|proxy| say("http visits go", proxy));
                http.chain(https.iter().map(|proxy| say("https visits go", proxy)))
                    .collect()
            }
        }
    }

    /// The proxy on the way to a server, if there is one.
    pub(super) fn to(&self, is_tls: bool, host: &str, remote: SocketAddr) -> Option<&Proxy> {
        let proxy = if is_tls { &self.https } else { &self.http };
        let address = remote.ip();
        let is_spared = self.spares_loopback && address.is_loopback();
        let is_excepted = || {
            self.except
                .iter()
                .any(|except| except.matches(host, address))
        };
        proxy.as_ref().filter(|_| !is_spared && !is_excepted())
    }
}

impl Proxy {
    /// Reads the URL of a proxy, which has no login in it: it stands in `junkai.toml`, and on the command line.
    fn parse(text: &str, source: &str) -> Result<Self, String> {
        let proxy = Self::parse_with_login(text, source)?;
        if proxy.login.is_some() {
            return Err(format!(
                "{source} has a user name or password, which others would see; leave it out, and say --proxy-login FILE (fetch.proxy_login_file), with `user:password` in the file"
            ));
        }
        Ok(proxy)
    }

    /// Reads an environment variable, where a login is usual, and seen by nobody.
    fn of_variable(text: &str, name: &str) -> Result<Self, String> {
        Self::parse_with_login(text, name).map_err(|mistake| {
            format!("{mistake}; --proxy URL goes before the variable, --proxy none turns it off")
        })
    }

    fn parse_with_login(text: &str, source: &str) -> Result<Self, String> {
        let with_scheme = if text.contains("://") {
            text.to_owned()
        } else {
            format!("http://{text}")
        };
        // Of a text that cannot be read, nothing is shown: it may hold a password.
        let wrong = || {
            format!(
                "{source} is not the URL of a proxy, such as http://proxy.example:3128 or socks5://127.0.0.1:1080"
            )
        };
        let url = Url::parse(&with_scheme).map_err(|_| wrong())?;
        let (kind, port) = match url.scheme() {
            "http" => (Kind::Http, 80),
            "socks5" | "socks" => (Kind::Socks5, 1080),
            "socks5h" | "socks4a" => {
                return Err(format!(
                    "{source}: with {}:// the proxy would resolve names, and nobody would know which server is visited, to keep its pace and to keep off \
                     private addresses; say socks5://, and --dns ADDRESS where the system's name servers do not know the hosts",
                    url.scheme()
                ));
            }
            "https" => {
                return Err(format!(
                    "{source}: proxies that are spoken to by TLS are not supported; say http:// where the proxy listens without, which hides nothing of https pages"
                ));
            }
            other => {
                return Err(format!(
                    "{source}: {other}:// is neither http:// nor socks5://"
                ));
            }
        };
        let host = url
            .host_str()
            .filter(|host| !host.is_empty())
            .ok_or_else(wrong)?;
        let login = match (url.username(), url.password()) {
            ("", None) => None,
            (user, password) => {
                let decode = |text: &str| percent_decoded(text);
                let login = format!("{}:{}", decode(user), decode(password.unwrap_or_default()));
                Some(checked(Secret::new(login))?)
            }
        };
        Ok(Self {
            kind,
            host: host.trim_matches(['[', ']']).to_owned(),
            // http's default port is left out of a URL that is read.
            port: url.port().unwrap_or(port),
            login,
            source: source.to_owned(),
        })
    }

    /// A connection to a server, through the proxy.
    pub(crate) async fn connect(
        &self,
        remote: SocketAddr,
        deadline: Instant,
    ) -> Result<TcpStream, Failure> {
        tunnel::open(self, remote, deadline).await
    }
}

impl std::fmt::Display for Proxy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = match self.kind {
            Kind::Http => "http",
            Kind::Socks5 => "socks5",
        };
        let (open, close) = if self.host.contains(':') {
            ("[", "]")
        } else {
            ("", "")
        };
        write!(
            formatter,
            "{scheme}://{open}{}{close}:{}",
            self.host, self.port
        )
    }
}

impl Exception {
    /// Reads a host, a domain with a dot before it, an address, a network, or `*`.
    fn parse(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self::All);
        }
        if let Ok(network) = text.parse::<IpNet>() {
            return Ok(Self::Network(network));
        }
        if let Ok(address) = text.trim_matches(['[', ']']).parse::<IpAddr>() {
            return Ok(Self::Network(address.into()));
        }
        // As curl has it: a name is for the hosts below it, too.
        let domain = text.strip_prefix("*.").unwrap_or(text);
        let domain = domain.strip_prefix('.').unwrap_or(domain);
        Ok(Self::Host(HostRule::parse(&format!("*.{domain}"))?))
    }

    fn matches(&self, host: &str, address: IpAddr) -> bool {
        match self {
            Self::All => true,
            Self::Host(rule) => rule.matches(host),
            Self::Network(network) => network.contains(&address),
        }
    }
}

/// An environment variable that is set to something.
fn variable(name: &str, environment: Environment<'_>) -> Option<String> {
    let text = environment(name)?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A login as both kinds of proxy can take it.
fn checked(login: Secret) -> Result<Secret, String> {
    let wrong = |what: &str| Err(format!("the login of a proxy {what}"));
    match login.reveal().split_once(':') {
        None => wrong("must be user:password"),
        // RFC 1929 has a byte for each length.
        Some((user, password)) if 255 < user.len().max(password.len()) => {
            wrong("has a name or password of more than 255 bytes")
        }
        Some(_) => Ok(login),
    }
}

/// A text without its percent-encoding; what is not UTF-8 then stays as it was.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, more)) = rest.split_first() {
        let digits = more.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) if byte == b'%' => {
                bytes.push(decoded);
                rest = &more[2..];
            }
            _ => {
                bytes.push(byte);
                rest = more;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(proxy: &str) -> FetchConfig {
        FetchConfig {
            proxy: Some(proxy.to_owned()),
            ..FetchConfig::default()
        }
    }

    fn remote(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn proxies_are_read_as_people_write_them() {
        for (text, read) in [
            ("proxy.example:3128", "http://proxy.example:3128"),
            ("http://proxy.example", "http://proxy.example:80"),
            ("http://proxy.example:3128/", "http://proxy.example:3128"),
            ("socks5://127.0.0.1", "socks5://127.0.0.1:1080"),
            ("socks5://[::1]:9050", "socks5://[::1]:9050"),
        ] {
            assert_eq!(Proxy::parse(text, "x").unwrap().to_string(), read);
        }
    }

    #[test]
    fn what_is_not_supported_is_refused_with_what_to_do_and_without_the_password() {
        for (text, says) in [
            ("http://user:s3cret@proxy.example", "--proxy-login"),
            ("socks5h://s3cret@127.0.0.1", "socks5://"),
            ("https://s3cret@proxy.example", "http://"),
            ("ftp://s3cret@proxy.example", "neither"),
            ("http://user:s3c:ret@:3128", "URL of a proxy"),
        ] {
            let mistakes = Proxies::mistakes(&config(text)).join("\n");
            assert!(mistakes.contains(says), "{text}: {mistakes}");
            assert!(!mistakes.contains("s3c"), "{mistakes}");
        }
        assert!(Proxies::mistakes(&config("none")).is_empty());
    }

    #[test]
    fn the_usual_variables_count_and_spare_this_machine() {
        let environment = |name: &str| {
            let value = match name {
                "http_proxy" => "http://u:p%40@one.example:1",
                "ALL_PROXY" => "socks5://two.example:2",
                "no_proxy" => "localhost, .direct.example,192.0.2.0/24",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let proxies = Proxies::load(&FetchConfig::default(), &environment).unwrap();
        let to = |is_tls: bool, host: &str, address: &str| {
            let proxy = proxies.to(is_tls, host, remote(address));
            proxy.map(|proxy| proxy.host.clone())
        };
        assert_eq!(
            to(false, "a.example", "198.51.100.1:80").as_deref(),
            Some("one.example")
        );
        assert_eq!(
            to(true, "a.example", "198.51.100.1:443").as_deref(),
            Some("two.example")
        );
        assert_eq!(to(true, "a.direct.example", "198.51.100.1:443"), None);
        assert_eq!(to(true, "a.example", "192.0.2.9:443"), None);
        assert_eq!(to(false, "a.example", "127.0.0.9:80"), None);
        let login = proxies.http.as_ref().unwrap().login.as_ref().unwrap();
        assert_eq!(login.reveal(), "u:p@");
        assert_eq!(
            proxies.in_words(),
            [
                "http visits go through http://one.example:1 (http_proxy), except to this machine",
                "https visits go through socks5://two.example:2 (ALL_PROXY), except to this machine"
            ]
        );
        assert!(!format!("{proxies:?}").contains("p@"), "{proxies:?}");
        let off = Proxies::load(&config("none"), &environment).unwrap();
        assert!(off.are_none());
    }

    #[test]
    fn a_named_proxy_is_for_all_but_the_exceptions() {
        let config = FetchConfig {
            no_proxy: vec!["b.example".to_owned(), "::1".to_owned()],
            ..config("socks5://127.0.0.1:1080")
        };
        let proxies = Proxies::load(&config, &|_| panic!("no variable is asked")).unwrap();
        assert!(
            proxies
                .to(false, "a.example", remote("127.0.0.1:80"))
                .is_some()
        );
        assert!(
            proxies
                .to(false, "b.example", remote("127.0.0.1:80"))
                .is_none()
        );
        assert!(
            proxies
                .to(true, "w.b.example", remote("127.0.0.1:80"))
                .is_none()
        );
        assert!(proxies.to(true, "[::1]", remote("[::1]:80")).is_none());
        assert_eq!(
            proxies.in_words(),
            ["all visits go through socks5://127.0.0.1:1080 (fetch.proxy)"]
        );
    }
}
