//! A small client: resolves by the web's own DNS server and speaks HTTP/1.1 byte by byte.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use junkai_testweb::TestWeb;

/// What came back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(key, _)| key == name);
        found.next().map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// Reads a whole answer of a connection that was closed after it.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let (head, body) = bytes.split_at(end.expect("an answer has a head") + 4);
        let head = std::str::from_utf8(head).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers: Vec<_> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut reply = Self {
            status: status.parse().unwrap(),
            headers,
            body: body.to_vec(),
        };
        if reply.header("transfer-encoding") == Some("chunked") {
            reply.body = unchunked(body);
        }
        reply
    }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|two| two == b"\r\n").unwrap();
        let size = std::str::from_utf8(&rest[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            assert_eq!(&rest[line..], b"\r\n\r\n");
            return body;
        }
        body.extend_from_slice(&rest[line + 2..][..size]);
        rest = &rest[line + 2 + size + 2..];
    }
}

/// Nothing in these tests takes nearly so long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn resolver(web: &TestWeb) -> TokioResolver {
    resolver_over(web, ConnectionConfig::udp())
}

pub(crate) fn resolver_over(web: &TestWeb, mut connection: ConnectionConfig) -> TokioResolver {
    connection.port = web.dns().port();
    let server = NameServerConfig::new(web.dns().ip(), true, vec![connection]);
    let config = ResolverConfig::from_parts(None, vec![], vec![server]);
    TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        .build()
        .unwrap()
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

pub(crate) fn resolve(web: &TestWeb, name: &str) -> IpAddr {
    block_on(async {
        let found = resolver(web).lookup_ip(format!("{name}.")).await.unwrap();
        found.iter().next().unwrap()
    })
}

/// Asks for a URL path on a fresh connection and sends what headers are given.
pub(crate) fn send(web: &TestWeb, host: &str, path: &str, headers: &str) -> TcpStream {
    let address = SocketAddr::new(resolve(web, host), web.http_port());
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// All bytes of the answer on a connection of its own.
pub(crate) fn get_bytes(
    web: &TestWeb,
    host: &str,
    path: &str,
    headers: &str,
) -> io::Result<Vec<u8>> {
    let headers = format!("connection: close\r\n{headers}");
    let mut bytes = Vec::new();
    send(web, host, path, &headers).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn get(web: &TestWeb, host: &str, path: &str) -> Reply {
    get_with(web, host, path, "")
}

pub(crate) fn get_with(web: &TestWeb, host: &str, path: &str, headers: &str) -> Reply {
    Reply::parse(&get_bytes(web, host, path, headers).unwrap())
}

/// A link of a page.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    pub(crate) url: String,
    pub(crate) is_nofollow: bool,
}

/// The links of `<a href>` in the order of the page, resolved against its base.
pub(crate) fn links(page: &str, html: &[u8]) -> Vec<Link> {
    // Every charset that is served has ASCII in its place.
    let html = String::from_utf8_lossy(html);
    let mut base = url::Url::parse(page).unwrap();
    if let Some((_, rest)) = html.split_once("<base href=\"") {
        base = base.join(rest.split('"').next().unwrap()).unwrap();
    }
    let anchors = html.split("<a href=\"").skip(1);
    anchors
        .map(|rest| {
            let (href, tail) = rest.split_once('"').unwrap();
            Link {
                url: base.join(&href.replace("&amp;", "&")).unwrap().into(),
                is_nofollow: tail.starts_with(" rel=\"nofollow\""),
            }
        })
        .collect()
}

/// Visits all that can be reached from a seed by links that may be followed; says what status each URL had.
pub(crate) fn crawl(web: &TestWeb, seed: &str) -> std::collections::BTreeMap<String, u16> {
    let mut found = std::collections::BTreeMap::new();
    let mut waiting = vec![seed.to_owned()];
    while let Some(page) = waiting.pop() {
        if found.contains_key(&page) || page.contains("/private/") {
            continue;
        }
        let url = url::Url::parse(&page).unwrap();
        let path = &url[url::Position::BeforePath..];
        let reply = get(web, url.host_str().unwrap(), path);
        let target = reply
            .header("location")
            .map(|to| url.join(to).unwrap().into());
        waiting.extend(target);
        let links = links(&page, &reply.body).into_iter();
        waiting.extend(links.filter(|link| !link.is_nofollow).map(|link| link.url));
        found.insert(page, reply.status);
    }
    found
}
