//! A small client: resolves by the web's own DNS server and speaks HTTP/1.1 byte by byte.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its own part of the client"
)]

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use junkai_testweb::TestWeb;

/// What came back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(key, _)| key == name);
        found.next().map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// Reads a whole answer of a connection that was closed after it.
    pub fn parse(bytes: &[u8]) -> Self {
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
pub const PATIENCE: Duration = Duration::from_secs(20);

pub fn resolver(web: &TestWeb) -> TokioResolver {
    let mut connection = ConnectionConfig::udp();
    connection.port = web.dns().port();
    let server = NameServerConfig::new(web.dns().ip(), true, vec![connection]);
    let config = ResolverConfig::from_parts(None, vec![], vec![server]);
    TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        .build()
        .unwrap()
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

pub fn resolve(web: &TestWeb, name: &str) -> IpAddr {
    block_on(async {
        let found = resolver(web).lookup_ip(format!("{name}.")).await.unwrap();
        found.iter().next().unwrap()
    })
}

/// Asks for a URL path on a fresh connection and sends what headers are given.
pub fn send(web: &TestWeb, host: &str, path: &str, headers: &str) -> TcpStream {
    let address = SocketAddr::new(resolve(web, host), web.http_port());
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// All bytes of the answer on a connection of its own.
pub fn get_bytes(web: &TestWeb, host: &str, path: &str, headers: &str) -> io::Result<Vec<u8>> {
    let headers = format!("connection: close\r\n{headers}");
    let mut bytes = Vec::new();
    send(web, host, path, &headers).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub fn get(web: &TestWeb, host: &str, path: &str) -> Reply {
    get_with(web, host, path, "")
}

pub fn get_with(web: &TestWeb, host: &str, path: &str, headers: &str) -> Reply {
    Reply::parse(&get_bytes(web, host, path, headers).unwrap())
}
