//! The tunnel through a proxy: asked for before anything else goes over the connection, and so on no tape.
//!
//! Who is to blame for a failure, the proxy's answer tells. What concerns the server is a [`Failure::Connect`], as it would be without a proxy; that the proxy does
//! not lead there, a [`Failure::ProxyRefused`]; what concerns all visits, a [`Failure::Proxy`].

use std::io;
use std::net::{IpAddr, SocketAddr};

use junkai_http::{Start, find_head};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::{Kind, Proxy};
use crate::access::logins::basic;
use crate::failure::{Failure, is_shortage};

/// The longest answer to CONNECT that is read.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// Connects to the proxy and has it connect to the server.
pub(super) async fn open(
    proxy: &Proxy,
    remote: SocketAddr,
    deadline: Instant,
) -> Result<TcpStream, Failure> {
    let blame = Blame(proxy);
    let connecting = TcpStream::connect((proxy.host.as_str(), proxy.port));
    let mut stream = timeout_at(deadline, connecting)
        .await
        .map_err(|_| blame.proxy("cannot be reached within the time limit"))?
        .map_err(|error| blame.connecting(&error))?;
    stream
        .set_nodelay(true)
        .map_err(|error| blame.connecting(&error))?;
    match proxy.kind {
        Kind::Http => connect(&mut stream, proxy, remote).await?,
        Kind::Socks5 => socks5(&mut stream, proxy, remote).await?,
    }
    Ok(stream)
}

/// Asks by CONNECT (RFC 9110, section 9.3.6).
async fn connect(stream: &mut TcpStream, proxy: &Proxy, remote: SocketAddr) -> Result<(), Failure> {
    let blame = Blame(proxy);
    let login = match &proxy.login {
        Some(login) => format!("Proxy-Authorization: {}\r\n", basic(login).reveal()),
        None => String::new(),
    };
    let request = format!("CONNECT {remote} HTTP/1.1\r\nHost: {remote}\r\n{login}\r\n");
    let sent = stream.write_all(request.as_bytes()).await;
    sent.map_err(|error| blame.broken(&error))?;
    let mut answer = Vec::with_capacity(1024);
    let end = loop {
        if let Some(end) = memchr::memmem::find(&answer, b"\r\n\r\n") {
            break end + 4;
        }
        if ANSWER_BYTES_MAX <= answer.len() {
            return Err(blame.proxy("gives no HTTP answer"));
        }
        let came = stream.read_buf(&mut answer).await;
        if came.map_err(|error| blame.broken(&error))? == 0 {
            return Err(blame.refusal("closed the connection without an answer"));
        }
    };
    let status = match find_head(&answer[..end]) {
        Start::Head { head, .. } => Some(head.status),
        Start::Partial | Start::Malformed => None,
    };
    match status {
        Some(200..300) if end == answer.len() => Ok(()),
        Some(200..300) => Err(blame.proxy("sent more than its answer")),
        Some(407) => Err(blame.proxy(if proxy.login.is_some() {
            "does not accept the login (407)"
        } else {
            "wants a login (407)"
        })),
        // The proxy is there, and the server is not; tinyproxy says 500, squid 503.
        Some(status @ 500..600) => Err(blame.server(&format!("status {status}"))),
        Some(status) => {
            let port = remote.port();
            Err(blame.refusal(&format!("refused CONNECT to port {port} (status {status})")))
        }
        None => Err(blame.proxy("gives no HTTP answer")),
    }
}

/// Asks by SOCKS5 (RFC 1928).
async fn socks5(stream: &mut TcpStream, proxy: &Proxy, remote: SocketAddr) -> Result<(), Failure> {
    const VERSION: u8 = 5;
    const OPEN: u8 = 0;
    const LOGIN: u8 = 2;
    const CONNECT: u8 = 1;
    let blame = Blame(proxy);
    let broken = |error: io::Error| blame.broken(&error);
    let methods: &[u8] = match &proxy.login {
        Some(_) => &[VERSION, 2, OPEN, LOGIN],
        None => &[VERSION, 1, OPEN],
    };
    stream.write_all(methods).await.map_err(broken)?;
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen).await.map_err(broken)?;
    match (chosen, &proxy.login) {
        ([VERSION, OPEN], _) => {}
        ([VERSION, LOGIN], Some(login)) => log_in(stream, proxy, login.reveal()).await?,
        ([VERSION, _], None) => return Err(blame.proxy("wants a login")),
        ([VERSION, _], Some(_)) => return Err(blame.proxy("takes no login by name and password")),
        _ => return Err(blame.proxy("does not speak SOCKS5")),
    }
    let mut request = vec![VERSION, CONNECT, 0];
    match remote.ip() {
        IpAddr::V4(address) => {
            request.push(1);
            request.extend(address.octets());
        }
        IpAddr::V6(address) => {
            request.push(4);
            request.extend(address.octets());
        }
    }
    request.extend(remote.port().to_be_bytes());
    stream.write_all(&request).await.map_err(broken)?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await.map_err(broken)?;
    match answer[1] {
        0 => {}
        1 => return Err(blame.refusal("failed (general failure)")),
        2 => return Err(blame.refusal("does not allow this connection")),
        3 => return Err(blame.server("network unreachable")),
        4 => return Err(blame.server("host unreachable")),
        5 => return Err(blame.server("connection refused")),
        6 => return Err(blame.server("no answer in time")),
        8 => return Err(blame.refusal("does not know this kind of address")),
        other => return Err(blame.refusal(&format!("answered with the unknown code {other}"))),
    }
    // The address from which the proxy connected is of no interest.
    let length = match answer[3] {
        1 => 4,
        4 => 16,
        3 => usize::from(stream.read_u8().await.map_err(broken)?),
        _ => return Err(blame.proxy("does not speak SOCKS5")),
    };
    let mut bound = [0; 255 + 2];
    stream
        .read_exact(&mut bound[..length + 2])
        .await
        .map_err(broken)?;
    Ok(())
}

/// Says who we are (RFC 1929).
async fn log_in(stream: &mut TcpStream, proxy: &Proxy, login: &str) -> Result<(), Failure> {
    let blame = Blame(proxy);
    let broken = |error: io::Error| blame.broken(&error);
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let mut request = vec![1];
    for text in [user, password] {
        // Bounded where the login was read.
        request.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
        request.extend(text.as_bytes());
    }
    stream.write_all(&request).await.map_err(broken)?;
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).await.map_err(broken)?;
    match answer[1] {
        0 => Ok(()),
        _ => Err(blame.proxy("does not accept the login")),
    }
}

/// Says whose fault it is.
struct Blame<'a>(&'a Proxy);

impl Blame<'_> {
    fn proxy(&self, what: &str) -> Failure {
        Failure::Proxy(format!("{} {what}", self.0))
    }

    fn refusal(&self, what: &str) -> Failure {
        Failure::ProxyRefused(format!("{} {what}", self.0))
    }

    fn server(&self, what: &str) -> Failure {
        Failure::Connect(format!(
            "the proxy {} could not reach the server: {what}",
            self.0
        ))
    }

    fn connecting(&self, error: &io::Error) -> Failure {
        if is_shortage(error) {
            return Failure::Short(error.to_string());
        }
        self.proxy(&format!("cannot be reached: {error}"))
    }

    fn broken(&self, error: &io::Error) -> Failure {
        self.refusal(&format!("broke the connection off: {error}"))
    }
}
