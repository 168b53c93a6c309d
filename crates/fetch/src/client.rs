//! The HTTP client of a worker: one request in, one [`Exchange`] out.
//!
//! [`Client::fetch`] is the table of contents. It follows no redirect and retries nothing: each of these
//! is another visit, and visits are the crawler's to plan.

use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http_body_util::Empty;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use url::{Position, Url};

use crate::access::{Access, Hidden, Proxy, Way, redact};
use crate::bounds::Bounds;
use crate::config::FetchConfig;
use crate::exchange::{End, Exchange, TlsSession};
use crate::failure::{Failure, is_shortage};
use crate::guard::AddressGuard;
use crate::http1::Http1;
use crate::http2::Http2;
use crate::identity::{Identity, IdentityError};
use crate::link::{Link, Room};
use crate::pool::{Pool, Target, TargetRef};
use crate::resources::Resources;
use crate::stock::Share;
use crate::tape::Stream;
use crate::tls::{Tls, TlsError};
use crate::watch::Watch;

/// Fetches pages, and keeps connections for the next ones. One for each worker thread.
pub struct Client {
    config: FetchConfig,
    bounds: Bounds,
    guard: AddressGuard,
    tls: Tls,
    /// The header fields that all requests have in common.
    fields: Vec<(HeaderName, HeaderValue)>,
    pool: RefCell<Pool<Link>>,
    resources: Arc<Resources>,
    /// What some hosts get besides, and proxies; mostly nothing.
    access: Option<Arc<Access>>,
}

/// A request as hyper takes it, and what of it is not to be shown.
struct Outgoing {
    message: http::Request<Empty<Bytes>>,
    hidden: Vec<Hidden>,
}

/// What to fetch, and from which address.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The page.
    pub url: &'a Url,
    /// The address to connect to, and no other.
    pub address: IpAddr,
    /// What is known of the page from an earlier visit.
    pub conditional: Conditional<'a>,
    /// The page that led here.
    pub referer: Option<&'a str>,
}

/// Validators that make a request conditional; the server may then answer 304.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditional<'a> {
    /// The `ETag` of the last capture.
    pub etag: Option<&'a [u8]>,
    /// The `Last-Modified` of the last capture.
    pub last_modified: Option<&'a [u8]>,
}

impl<'a> Request<'a> {
    /// An unconditional request without referer.
    #[must_use]
    pub fn new(url: &'a Url, address: IpAddr) -> Self {
        Self {
            url,
            address,
            conditional: Conditional::default(),
            referer: None,
        }
    }
}

/// Why a client cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The identity cannot be sent.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A setting cannot be sent as a header field.
    #[error("the value of {0} cannot be sent")]
    Field(&'static str),
}

impl Client {
    /// Sets up a client for the thread that calls it.
    ///
    /// # Errors
    /// If a setting cannot be used.
    pub fn new(
        config: &FetchConfig,
        identity: &Identity,
        guard: AddressGuard,
        resources: Arc<Resources>,
    ) -> Result<Self, ClientError> {
        identity.validate()?;
        Ok(Self {
            bounds: Bounds::new(config),
            guard,
            tls: Tls::new(config)?,
            fields: common_fields(config, identity)?,
            pool: RefCell::new(Pool::new(config.idle_connections, config.idle_timeout)),
            config: config.clone(),
            resources,
            access: None,
        })
    }

    /// The same client, which sends what some hosts get besides, and goes through proxies.
    #[must_use]
    pub fn with_access(mut self, access: Option<Arc<Access>>) -> Self {
        self.access = access;
        self
    }

    /// Fetches one page; whatever happens, the exchange tells.
    pub async fn fetch(&self, request: Request<'_>) -> Exchange {
        let mut exchange = Exchange::start();
        let started = Instant::now();
        if let Err(failure) = self.attempt(request, started, &mut exchange).await {
            exchange.truncated = exchange.head.as_ref().map(|_| failure.truncation());
            exchange.end = End::Failed(failure);
        }
        exchange.timing.ended = started.elapsed();
        // What a large answer waits for is no time of the server's.
        exchange.bring_in(&self.resources).await;
        exchange
    }

    /// Closes connections that have idled for too long; worth a call now and then.
    pub fn close_idle(&self) {
        self.pool.borrow_mut().drop_excess(Instant::now());
    }

    /// Closes all idle connections.
    pub fn close_all(&self) {
        self.pool.borrow_mut().clear();
    }

    /// How many idle connections are kept.
    #[must_use]
    pub fn idle_count(&self) -> usize {
        self.pool.borrow().len()
    }

    async fn attempt(
        &self,
        request: Request<'_>,
        started: Instant,
        exchange: &mut Exchange,
    ) -> Result<(), Failure> {
        self.guard.check(request.address)?;
        let target = target_of(&request)?;
        let proxy = self.proxy_to(target);
        let (link, key) = if let Some((key, link)) = self.take_idle(target, started).await {
            exchange.reused = true;
            (link, key)
        } else {
            let link = self.connect(target, proxy, started).await?;
            (link, target.to_target())
        };
        exchange.timing.connected = Some(if exchange.reused {
            Duration::ZERO
        } else {
            started.elapsed()
        });
        exchange.remote = Some(target.remote);
        exchange.tls = link.session().map(Arc::clone);
        let way = Way::of(target, proxy.is_some(), exchange.tls.as_deref());
        let Outgoing { message, hidden } = self.message(&request, link.is_http2(), way)?;
        let mut watch = Watch::start(&self.config, started + self.config.total_timeout);
        let (captured, link) = link.exchange(message, self.bounds, &mut watch).await;
        if let Some(link) = link
            && !self.resources.is_short_of_descriptors()
        {
            self.pool.borrow_mut().put(key, link, Instant::now());
        }
        exchange.timing.first_byte = captured.first_byte.map(|instant| instant - started);
        let end = captured.end.clone();
        exchange.take_in(captured);
        if let Some(access) = &self.access {
            exchange.hide(&hidden);
            if let Some(head) = &exchange.head {
                access.take_cookies(head, request.url, way);
            }
        }
        match end {
            Err(Failure::Disconnected { received: 0 }) if exchange.reused => {
                Err(Failure::StaleConnection)
            }
            end => end,
        }
    }

    /// A kept connection to the target that still looks alive.
    async fn take_idle(&self, target: TargetRef<'_>, now: Instant) -> Option<(Target, Link)> {
        let (key, mut link) = self.pool.borrow_mut().take(target, now)?;
        link.is_alive().await.then_some((key, link))
    }

    /// The proxy on the way to the target; always the same one, also on a kept connection.
    fn proxy_to(&self, target: TargetRef<'_>) -> Option<&Proxy> {
        let access = self.access.as_ref()?;
        access.proxy_to(target.is_tls, target.host, target.remote)
    }

    /// A new connection to exactly the target's address.
    async fn connect(
        &self,
        target: TargetRef<'_>,
        proxy: Option<&Proxy>,
        started: Instant,
    ) -> Result<Link, Failure> {
        let deadline = started + self.config.connect_timeout;
        timeout_at(deadline, self.connect_unhurried(target, proxy, deadline))
            .await
            .unwrap_or(Err(Failure::ConnectTimeout))
    }

    async fn connect_unhurried(
        &self,
        target: TargetRef<'_>,
        proxy: Option<&Proxy>,
        deadline: Instant,
    ) -> Result<Link, Failure> {
        let room = Room {
            resources: &self.resources,
            descriptor: self.descriptor()?,
        };
        let stream = match proxy {
            // Boxed, so that a visit does not carry the buffers of what is rare.
            Some(proxy) => Box::pin(proxy.connect(target.remote, deadline)).await?,
            None => connect_directly(target.remote).await?,
        };
        let unusable = |error: hyper::Error| Failure::Connect(error.to_string());
        if !target.is_tls {
            let link = Http1::open(Stream::Plain(stream), None, self.bounds, room).await;
            return Ok(Link::Http1(Box::new(link.map_err(unusable)?)));
        }
        let secured = self
            .tls
            .secure(stream, target.host)
            .await
            .map_err(Failure::Tls)?;
        let session = Some(Arc::new(secured.session));
        if secured.is_http2 {
            let link = Http2::open(secured.stream, session, self.bounds, room).await;
            return Ok(Link::Http2(Box::new(link.map_err(unusable)?)));
        }
        let stream = Stream::Tls(Box::new(secured.stream));
        let link = Http1::open(stream, session, self.bounds, room).await;
        Ok(Link::Http1(Box::new(link.map_err(unusable)?)))
    }

    /// A file descriptor for a connection; idle ones give theirs up for it.
    fn descriptor(&self) -> Result<Share, Failure> {
        let descriptor = self.resources.descriptor().or_else(|| {
            self.close_all();
            self.resources.descriptor()
        });
        descriptor.ok_or_else(|| Failure::Short("no file descriptor is left".to_owned()))
    }

    /// The request as hyper takes it.
    fn message(
        &self,
        request: &Request<'_>,
        is_http2: bool,
        way: Way,
    ) -> Result<Outgoing, Failure> {
        let url = request.url;
        let bad = |error: http::Error| Failure::BadRequest(error.to_string());
        let path = PathAndQuery::try_from(&url[Position::BeforePath..Position::AfterQuery])
            .map_err(|error| bad(error.into()))?;
        // Credentials in URLs are left out: those of links are somebody else's.
        let authority = &url[Position::BeforeHost..Position::AfterPort];
        let mut fields = HeaderMap::with_capacity(self.fields.len() + 4);
        let uri = if is_http2 {
            let authority = Authority::try_from(authority).map_err(|error| bad(error.into()))?;
            let uri = Uri::builder().scheme(Scheme::HTTPS).authority(authority);
            uri.path_and_query(path).build().map_err(bad)?
        } else {
            let host = HeaderValue::try_from(authority).map_err(|error| bad(error.into()))?;
            fields.insert(header::HOST, host);
            Uri::from(path)
        };
        for (name, value) in &self.fields {
            fields.insert(name, value.clone());
        }
        let hidden = match &self.access {
            Some(access) => access.add_fields(&mut fields, url, way),
            None => Vec::new(),
        };
        let optional = [
            (header::REFERER, request.referer.map(str::as_bytes)),
            (header::IF_NONE_MATCH, request.conditional.etag),
            (header::IF_MODIFIED_SINCE, request.conditional.last_modified),
        ];
        for (name, value) in optional {
            // What an odd server once sent may be nothing that can be sent back; then it is not.
            if let Some(Ok(value)) = value.map(HeaderValue::from_bytes) {
                fields.insert(name, value);
            }
        }
        let mut message = http::Request::new(Empty::new());
        *message.uri_mut() = uri;
        *message.headers_mut() = fields;
        Ok(Outgoing { message, hidden })
    }
}

impl Way {
    /// How a request to a target travels over a connection. A proxy reads what goes through it in plain text, and what it takes for a loopback address
    /// is its own machine.
    fn of(target: TargetRef<'_>, is_proxied: bool, tls: Option<&TlsSession>) -> Self {
        let is_verified = tls.is_some_and(|session| session.problem.is_none());
        let stays_here = !is_proxied && target.remote.ip().is_loopback();
        Self {
            is_private: is_verified || stays_here,
        }
    }
}

impl Exchange {
    /// Takes secrets out of the request that is kept.
    fn hide(&mut self, hidden: &[Hidden]) {
        if hidden.is_empty() {
            return;
        }
        self.request = redact(&self.request, hidden);
        let names: Vec<&str> = hidden.iter().map(Hidden::name).collect();
        self.redacted = Some(names.join(", "));
    }
}

/// A connection to an address.
async fn connect_directly(remote: SocketAddr) -> Result<TcpStream, Failure> {
    let unreachable = |error: io::Error| not_connected(&error, remote);
    let stream = TcpStream::connect(remote).await.map_err(unreachable)?;
    stream.set_nodelay(true).map_err(unreachable)?;
    Ok(stream)
}

/// Why there is no connection.
fn not_connected(error: &io::Error, remote: SocketAddr) -> Failure {
    // Where no port is left; but a machine without IPv6 says the same of every such address.
    let has_no_port = error.kind() == io::ErrorKind::AddrNotAvailable && remote.is_ipv4();
    if is_shortage(error) || has_no_port {
        Failure::Short(error.to_string())
    } else {
        Failure::Connect(error.to_string())
    }
}

/// Where a request goes.
fn target_of<'a>(request: &Request<'a>) -> Result<TargetRef<'a>, Failure> {
    let url = request.url;
    let bad = |what: &str| Failure::BadRequest(format!("{what} in {url}"));
    let is_tls = match url.scheme() {
        "http" => false,
        "https" => true,
        _ => return Err(bad("neither http nor https")),
    };
    let host = url.host_str().ok_or_else(|| bad("no host"))?;
    let port = url.port_or_known_default().ok_or_else(|| bad("no port"))?;
    Ok(TargetRef {
        is_tls,
        host,
        remote: SocketAddr::new(request.address, port),
    })
}

/// The header fields that do not depend on the page.
fn common_fields(
    config: &FetchConfig,
    identity: &Identity,
) -> Result<Vec<(HeaderName, HeaderValue)>, ClientError> {
    let user_agent = identity.user_agent();
    let keep = if config.idle_connections == 0 {
        "close"
    } else {
        ""
    };
    let fields = [
        (header::USER_AGENT, user_agent.as_str(), "user_agent"),
        (header::FROM, identity.from().unwrap_or(""), "contact"),
        (header::ACCEPT, &config.accept, "accept"),
        (
            header::ACCEPT_ENCODING,
            &config.accept_encoding,
            "accept_encoding",
        ),
        (
            header::ACCEPT_LANGUAGE,
            &config.accept_language,
            "accept_language",
        ),
        (header::CONNECTION, keep, "idle_connections"),
    ];
    fields
        .into_iter()
        .filter(|(_, value, _)| !value.is_empty())
        .map(|(name, value, setting)| {
            let value = HeaderValue::from_str(value).map_err(|_| ClientError::Field(setting))?;
            Ok((name, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_private_by_a_certificate_that_verifies_or_within_this_machine() {
        let session = |problem: Option<&str>| TlsSession {
            version: "tls/1.3",
            cipher: String::new(),
            problem: problem.map(str::to_owned),
        };
        for (address, is_proxied, tls, is_private) in [
            ("192.0.2.1:80", false, None, false),
            ("192.0.2.1:443", false, Some(session(None)), true),
            ("192.0.2.1:443", true, Some(session(None)), true),
            (
                "192.0.2.1:443",
                false,
                Some(session(Some("expired"))),
                false,
            ),
            ("127.0.0.9:80", false, None, true),
            ("[::1]:80", false, None, true),
            ("127.0.0.9:80", true, None, false),
            ("[::1]:443", true, Some(session(Some("expired"))), false),
        ] {
            let target = TargetRef {
                is_tls: tls.is_some(),
                host: "a.example",
                remote: address.parse().unwrap(),
            };
            assert_eq!(
                Way::of(target, is_proxied, tls.as_ref()).is_private,
                is_private,
                "{address}, through a proxy: {is_proxied}"
            );
        }
    }
}
