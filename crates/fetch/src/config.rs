//! The settings of the HTTP client.

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use serde::{Deserialize, Serialize};

use crate::access::{HeaderConfig, LoginConfig};

/// How pages are fetched, and how much patience a server gets. Table `[fetch]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FetchConfig {
    /// Time to reach a server, TLS handshake included. Default `10s`.
    #[serde(with = "humantime_serde")]
    pub connect_timeout: Duration,
    /// Time from the request to the first byte of the answer. Default `30s`.
    #[serde(with = "humantime_serde")]
    pub first_byte_timeout: Duration,
    /// Time for the whole exchange. Default `5m`: no server holds a worker's connection for longer.
    #[serde(with = "humantime_serde")]
    pub total_timeout: Duration,
    /// Least bytes per second, averaged over at least `min_rate_window`. Default 256; 0 turns it off.
    ///
    /// A server that drips a byte a second would otherwise hold on until `total_timeout`.
    #[serde(with = "junkai_size::bytes")]
    pub min_rate: u64,
    /// Over how long `min_rate` is averaged. Default `20s`.
    #[serde(with = "humantime_serde")]
    pub min_rate_window: Duration,
    /// Largest response head. Default `256KiB`, as browsers have it. From 8 KiB to 64 MiB.
    #[serde(with = "junkai_size::bytes")]
    pub max_header_bytes: ByteSize,
    /// Largest body, as it comes over the wire. Default `32MiB`; what is longer is cut there.
    #[serde(with = "junkai_size::bytes")]
    pub max_body_bytes: ByteSize,
    /// Largest body after content decoding. Default `64MiB`; what is longer is taken for a bomb.
    #[serde(with = "junkai_size::bytes")]
    pub max_decoded_bytes: ByteSize,
    /// Memory for answers, over all visits in flight. Default `256MiB`. Half is for answers that come in: those over 1 MiB, or over 16 KiB once
    /// that half is used up, go to nameless files in the archive's folder until they have ended. Half is for these when they are read and stored.
    #[serde(with = "junkai_size::bytes")]
    pub bodies_in_memory: ByteSize,
    /// Disk space for large answers that come in, over all visits in flight. Default `4GiB`; at least one of the largest answers fits.
    ///
    /// When it is used up, the answer that brings the least gives way: it is fetched again later, or kept as far as it came if it was tried as often as
    /// `crawl.retries_max` allows.
    #[serde(with = "junkai_size::bytes")]
    pub bodies_on_disk: ByteSize,
    /// Whether HTTP/2 is offered to TLS servers. Default false.
    ///
    /// The frames of HTTP/2 are no HTTP message: an archive of such a visit holds a rewritten
    /// message instead of the bytes that came over the wire.
    pub http2: bool,
    /// Value of `Accept-Encoding`. Default `gzip, br, zstd`: all that can be decoded here.
    pub accept_encoding: String,
    /// Value of `Accept`. Default: what a browser asks for in place of a page.
    pub accept: String,
    /// Value of `Accept-Language`. Default empty: not sent, and the server's own choice is kept.
    pub accept_language: String,
    /// Idle connections that a worker keeps. Default 512, as many as there are visits in flight; fewer where the system allows few open files. At most 65536.
    pub idle_connections: usize,
    /// How long an idle connection is kept. Default `15s`.
    ///
    /// Longer than the default interval, so that a server in use is connected to once; shorter
    /// than most servers' own limit, so that few connections turn out to be stale.
    #[serde(with = "humantime_serde")]
    pub idle_timeout: Duration,
    /// What to do about a certificate that does not verify. Default `strict`.
    pub tls_verify: TlsVerify,
    /// A PEM file of certificate authorities to trust besides the built-in ones. Default none.
    pub extra_roots: Option<PathBuf>,
    /// A file of cookies in Netscape's format, as curl, wget and browsers export it. Default none. Each goes to the hosts, paths and ways that the
    /// file says; archive and logs do not show their values.
    pub cookies: Option<PathBuf>,
    /// Whether cookies that servers set are kept and sent back, as browsers do. Default false: no page depends on which others were visited before it.
    ///
    /// In memory, for one run; at most 50 of a domain and 3000 in all.
    pub keep_cookies: bool,
    /// A proxy that all visits go through: `http://host:port`, asked by CONNECT, or `socks5://host:port`. Default: as the environment variables
    /// `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say, which never hold for addresses of this machine; `none` turns these off.
    ///
    /// The proxy is asked for the address that was resolved here, so that each server keeps its pace and private addresses stay out of reach. A proxy's
    /// login is not part of the URL.
    pub proxy: Option<String>,
    /// A file whose first line is the proxy's login, `user:password`. Default none.
    pub proxy_login_file: Option<PathBuf>,
    /// An environment variable that holds the proxy's login, `user:password`. Default none.
    pub proxy_login_env: Option<String>,
    /// Hosts with those below them, addresses and networks that are reached without the proxy. Default none.
    pub no_proxy: Vec<String>,
    /// Header fields that requests have besides their own, each in a table `[[fetch.headers]]`. Default none. `name` is the field's. Its value is `value`, which
    /// stands in the archive, or for what is secret the first line of the file `value_file` or the environment variable `value_env`. `hosts` says who gets
    /// it, as `["example.org", "*.example.net"]`; without it all do, but for secrets it must be there. These go over https or to this machine;
    /// `allow_http = true` sends them over plain http, too.
    pub headers: Vec<HeaderConfig>,
    /// Logins, each in a table `[[fetch.logins]]`. Default none. `host` is the host, with its port where its URLs have one. Who we are there is told by `user` with
    /// `password_file` or `password_env`; by `login_file`, whose first line is `user:password`; or by `bearer_file` or `bearer_env`, which hold a token. They go to
    /// this host alone, over https or to this machine; `allow_http = true` sends them over plain http, too. Archive and logs do not show them.
    pub logins: Vec<LoginConfig>,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_mins(5),
            min_rate: 256,
            min_rate_window: Duration::from_secs(20),
            max_header_bytes: ByteSize::kib(256),
            max_body_bytes: ByteSize::mib(32),
            max_decoded_bytes: ByteSize::mib(64),
            bodies_in_memory: ByteSize::mib(256),
            bodies_on_disk: ByteSize::gib(4),
            http2: false,
            accept_encoding: "gzip, br, zstd".into(),
            accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".into(),
            accept_language: String::new(),
            idle_connections: 512,
            idle_timeout: Duration::from_secs(15),
            tls_verify: TlsVerify::Strict,
            extra_roots: None,
            cookies: None,
            keep_cookies: false,
            proxy: None,
            proxy_login_file: None,
            proxy_login_env: None,
            no_proxy: Vec::new(),
            headers: Vec::new(),
            logins: Vec::new(),
        }
    }
}

/// What to do about a certificate that does not verify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TlsVerify {
    /// The visit fails.
    ///
    /// The default: what stands in the archive under an `https` URL then came from the
    /// holder of that name, and no one in between can write into the archive.
    #[default]
    Strict,
    /// The visit goes on, and [`TlsSession::problem`](crate::TlsSession::problem) says what is wrong.
    ///
    /// For collections that want pages of neglected servers too.
    Lenient,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_shorter_than_the_one_inside_it() {
        let config = FetchConfig::default();
        assert!(config.connect_timeout < config.total_timeout);
        assert!(config.first_byte_timeout < config.total_timeout);
        assert!(config.min_rate_window < config.total_timeout);
        assert!(config.max_body_bytes < config.max_decoded_bytes);
    }
}
