//! HTTP/1.1 connections, plain or TLS: reads requests, hands over answers, and notes when exchanges start and end.
//!
//! Written on the socket itself rather than on a library, for three reasons: hosts must be able to break every rule of
//! the protocol, the times in the access log must be those of the wire, and a page must cost next to nothing.
//!
//! Read [`Connection::serve`] first. What is sent, and in which manner, is in [`crate::delivery`].

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::server::TlsStream;

use crate::answer::Request;
use crate::clock::UnixNanos;
use crate::delivery::Afterwards;
use crate::open_exchange::{Arrived, OpenExchange};
use crate::world::World;

/// A byte stream over TCP.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    fn tcp(&self) -> &TcpStream;
}

impl Transport for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Transport for TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// One connection of a client.
pub(crate) struct Connection<S> {
    stream: S,
    /// Read and not yet understood.
    input: Vec<u8>,
    world: Arc<World>,
    arrived: Arrived,
}

/// The client has closed the connection, or it broke.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gone;

/// A request that does not fit in this many bytes is refused.
const REQUEST_BYTES_MAX: usize = 64 << 10;

/// Headers in a request.
const HEADERS_MAX: usize = 100;

/// A connection without a request for this long is closed.
const IDLE_MAX: Duration = Duration::from_mins(1);

/// How often the server makes sure that a waiting client is still there.
pub(crate) const PRESENCE_EVERY: Duration = Duration::from_millis(5);

/// A request read, with what belongs to its connection.
struct Arrival {
    request: Request,
    start: UnixNanos,
    afterwards: Afterwards,
}

/// Why no request was read.
enum NoRequest {
    Gone,
    Malformed,
    Http2,
}

/// What became of a connection that [`Connection::serve`] is done with.
pub(crate) enum Served<S> {
    Done,
    /// The client speaks HTTP/2; these bytes of it have been read.
    Http2 {
        stream: S,
        input: Vec<u8>,
    },
}

impl<S: Transport> Connection<S> {
    pub(crate) fn new(stream: S, world: Arc<World>, arrived: Arrived) -> Self {
        Self {
            stream,
            input: Vec::with_capacity(2048),
            world,
            arrived,
        }
    }

    /// Answers requests until the client, or a misbehaviour, ends the connection.
    pub(crate) async fn serve(mut self) -> Served<S> {
        loop {
            let arrival = match tokio::time::timeout(IDLE_MAX, self.next_request()).await {
                Ok(Ok(arrival)) => arrival,
                Ok(Err(NoRequest::Http2)) => {
                    return Served::Http2 {
                        stream: self.stream,
                        input: self.input,
                    };
                }
                Ok(Err(NoRequest::Malformed)) => {
                    let refused = self.stream.write_all(BAD_REQUEST).await;
                    tracing::debug!(refused = refused.is_ok(), "malformed request");
                    return Served::Done;
                }
                Ok(Err(NoRequest::Gone)) | Err(_) => return Served::Done,
            };
            let response = self.world.respond(&arrival.request);
            let mut open = OpenExchange::new(
                Arc::clone(&self.world),
                self.arrived,
                &arrival.request,
                arrival.start,
            );
            let delivered = self.deliver(&mut open, &response, arrival.afterwards).await;
            match delivered {
                Ok(Afterwards::KeepOpen) => {}
                Ok(Afterwards::Close) => {
                    drop(open);
                    let closed = self.stream.shutdown().await;
                    tracing::trace!(closed = closed.is_ok(), "connection closed");
                    return Served::Done;
                }
                Ok(Afterwards::Abort) | Err(Gone) => return Served::Done,
            }
        }
    }

    async fn next_request(&mut self) -> Result<Arrival, NoRequest> {
        let mut start = (!self.input.is_empty()).then(|| self.now());
        loop {
            if self.input.starts_with(HTTP2_PREFACE) && self.world.config.http2 {
                return Err(NoRequest::Http2);
            }
            if let Some((length, request, afterwards)) = parse(&self.input)? {
                self.input.drain(..length);
                return Ok(Arrival {
                    request,
                    start: start.unwrap_or_else(|| self.now()),
                    afterwards,
                });
            }
            if self.input.len() >= REQUEST_BYTES_MAX {
                return Err(NoRequest::Malformed);
            }
            let read = std::future::poll_fn(|context| self.poll_input(context)).await;
            read.map_err(|Gone| NoRequest::Gone)?;
            start.get_or_insert_with(|| self.now());
        }
    }

    pub(crate) fn now(&self) -> UnixNanos {
        self.world.clock.now()
    }

    /// Virtual time, which dates tell.
    pub(crate) fn shown(&self) -> UnixNanos {
        self.world.clock.shown()
    }

    /// Waits, unless the client goes away first.
    pub(crate) async fn wait(
        &mut self,
        open: &mut OpenExchange,
        duration: Duration,
    ) -> Result<(), Gone> {
        let end = Instant::now() + duration;
        while Instant::now() < end {
            let tick = end.min(Instant::now() + PRESENCE_EVERY);
            let departure = std::future::poll_fn(|context| self.poll_departure(context, open));
            if let Ok(gone) = tokio::time::timeout_at(tick, departure).await {
                return Err(gone);
            }
        }
        Ok(())
    }

    /// Hands bytes over to the kernel, and notes in `open` when the client was still there.
    pub(crate) async fn send(&mut self, open: &mut OpenExchange, bytes: &[u8]) -> Result<(), Gone> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let write = std::future::poll_fn(|context| self.poll_send(context, open, rest));
            // When the client takes nothing for a while, going round once more finds out whether it is there.
            if let Ok(written) = tokio::time::timeout(PRESENCE_EVERY, write).await {
                let written = written?;
                open.sent(written);
                rest = &rest[written..];
            }
        }
        Ok(())
    }

    pub(crate) async fn flush(&mut self) -> Result<(), Gone> {
        self.stream.flush().await.map_err(|_| Gone)
    }

    /// Makes the kernel send a reset when the connection is dropped.
    pub(crate) fn reset(&self) {
        let socket = SockRef::from(self.stream.tcp());
        if let Err(error) = socket.set_linger(Some(Duration::ZERO)) {
            tracing::warn!(%error, "connection is closed instead of reset");
        }
    }

    fn poll_send(
        &mut self,
        context: &mut Context<'_>,
        open: &mut OpenExchange,
        bytes: &[u8],
    ) -> Poll<Result<usize, Gone>> {
        let now = self.now();
        let is_there = self.is_there();
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Ready(Ok(0) | Err(_)) => Poll::Ready(Err(Gone)),
            Poll::Ready(Ok(written)) => {
                if is_there {
                    open.seen(now);
                }
                Poll::Ready(Ok(written))
            }
            Poll::Pending => self.poll_departure(context, open).map(Err),
        }
    }

    /// Ready when the client has gone away.
    fn poll_departure(&mut self, context: &mut Context<'_>, open: &mut OpenExchange) -> Poll<Gone> {
        loop {
            let now = self.now();
            match self.poll_input(context) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(gone)) => return Poll::Ready(gone),
                Poll::Pending => {
                    if self.is_there() {
                        open.seen(now);
                    }
                    return Poll::Pending;
                }
            }
        }
    }

    /// Reads what has come, up to a bound.
    fn poll_input(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        if self.input.len() >= REQUEST_BYTES_MAX {
            return Poll::Pending;
        }
        let mut space = [MaybeUninit::uninit(); 4096];
        let mut buffer = ReadBuf::uninit(&mut space);
        match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                self.input.extend_from_slice(buffer.filled());
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Ok(()) | Err(_)) => Poll::Ready(Err(Gone)),
            Poll::Pending => Poll::Pending,
        }
    }

    /// True when the kernel has neither an end nor anything else from the client: it is certainly still there.
    ///
    /// The runtime's own idea of readiness is as old as its last look at the kernel; this asks the kernel.
    fn is_there(&self) -> bool {
        let mut byte = [MaybeUninit::uninit()];
        let peeked = SockRef::from(self.stream.tcp()).peek(&mut byte);
        matches!(peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}

const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const BAD_REQUEST: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Reads a request head: its length with the body, what it asks for, and whether the connection goes on.
fn parse(input: &[u8]) -> Result<Option<(usize, Request, Afterwards)>, NoRequest> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Request::new(&mut headers);
    let head_length = match head.parse(input) {
        Ok(httparse::Status::Complete(length)) => length,
        // The HTTP/2 preface looks like a request with an unknown version while it is incomplete.
        Err(httparse::Error::Version) if HTTP2_PREFACE.starts_with(input) => return Ok(None),
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(NoRequest::Malformed),
    };
    let mut request = Request {
        method: head.method.unwrap_or_default().to_owned(),
        target: path_and_query(head.path.unwrap_or_default()),
        ..Request::default()
    };
    let mut body_length = 0;
    let mut afterwards = match head.version {
        Some(1) => Afterwards::KeepOpen,
        Some(_) | None => Afterwards::Close,
    };
    for header in head.headers.iter() {
        request.header(header.name, header.value);
        let value = String::from_utf8_lossy(header.value);
        if header.name.eq_ignore_ascii_case("content-length") {
            body_length = value.parse().map_err(|_| NoRequest::Malformed)?;
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(NoRequest::Malformed);
        } else if header.name.eq_ignore_ascii_case("connection")
            && value.to_ascii_lowercase().contains("close")
        {
            afterwards = Afterwards::Close;
        }
    }
    let length = head_length.saturating_add(body_length);
    Ok((length <= input.len()).then_some((length, request, afterwards)))
}

/// Path and query of a request target, which may be a whole URL (RFC 9112, section 3.2.2).
fn path_and_query(target: &str) -> String {
    let rest = match target.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => {
            rest.find('/').map_or("/", |at| &rest[at..])
        }
        Some(_) | None => target,
    };
    rest.to_owned()
}
