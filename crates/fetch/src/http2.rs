//! HTTP/2 on one connection, kept as an HTTP/1.1 message of the same meaning.
//!
//! Frames are no message that an archive could hold, so request and response are
//! written down in the form of HTTP/1.1: same status and fields, no transfer coding, the body in one piece.
//! One exchange at a time, as everywhere: a connection never carries two visits at once.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http_body::Body;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use junkai_http::{HeadIndex, Start, find_head};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;

use crate::bounds::Bounds;
use crate::exchange::{Protocol, TlsSession};
use crate::failure::Failure;
use crate::intake::{Intake, READ_MAX};
use crate::link::{Captured, Room};
use crate::resources::Resources;
use crate::spool::NoRoom;
use crate::stock::Share;
use crate::watch::{Received, Watch};

/// Bytes of a frame: as many as there is always room for when one is taken.
#[expect(clippy::cast_possible_truncation, reason = "32 KiB")]
const FRAME_MAX: u32 = READ_MAX as u32;
/// Bytes that a server may send before they are taken.
const WINDOW: u32 = 256 * 1024;

/// A connection that speaks HTTP/2, between exchanges.
pub(crate) struct Http2 {
    sender: SendRequest<Empty<Bytes>>,
    /// Reads and writes the frames; ends with this value.
    driver: JoinHandle<()>,
    pub(crate) session: Option<Arc<TlsSession>>,
    resources: Arc<Resources>,
    _descriptor: Share,
}

impl Drop for Http2 {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// What has come of a response.
struct Incomplete {
    response: Intake,
    head: Option<HeadIndex>,
    first_byte: Option<Instant>,
    holds: u32,
}

impl Http2 {
    /// Sets up HTTP/2 on a connection.
    pub(crate) async fn open(
        stream: TlsStream<TcpStream>,
        session: Option<Arc<TlsSession>>,
        bounds: Bounds,
        room: Room<'_>,
    ) -> hyper::Result<Self> {
        let head_max = u32::try_from(bounds.head).unwrap_or(u32::MAX);
        let (sender, connection) = Builder::new(TokioExecutor::new())
            .max_header_list_size(head_max)
            .max_frame_size(FRAME_MAX)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .handshake(TokioIo::new(stream))
            .await?;
        let driver = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "HTTP/2 connection ended");
            }
        });
        Ok(Self {
            sender,
            driver,
            session,
            resources: Arc::clone(room.resources),
            _descriptor: room.descriptor,
        })
    }

    /// Whether a kept connection still looks alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.sender.is_ready() && !self.driver.is_finished()
    }

    /// Sends a request and takes in the answer; gives the connection back if it can be used again.
    pub(crate) async fn exchange(
        mut self,
        request: http::Request<Empty<Bytes>>,
        bounds: Bounds,
        watch: &mut Watch,
    ) -> (Captured, Option<Self>) {
        let request_message = request_message(&request);
        let mut incomplete = Incomplete {
            response: Intake::new(&self.resources),
            head: None,
            first_byte: None,
            holds: 0,
        };
        let end = self.drive(request, &mut incomplete, bounds, watch).await;
        let captured = Captured {
            request: request_message.into(),
            response: incomplete.response.take(),
            first_byte: incomplete.first_byte,
            protocol: Some(Protocol::Http2),
            head: incomplete.head,
            irregular: None,
            end,
        };
        let is_usable = captured.end.is_ok() && self.is_alive();
        (captured, is_usable.then_some(self))
    }

    async fn drive(
        &mut self,
        request: http::Request<Empty<Bytes>>,
        incomplete: &mut Incomplete,
        bounds: Bounds,
        watch: &mut Watch,
    ) -> Result<(), Failure> {
        let mut response = pin!(self.sender.send_request(request));
        let response = poll_fn(|context| match response.as_mut().poll(context) {
            Poll::Ready(result) => Poll::Ready(result.map_err(|error| failure_of(&error, 0))),
            Poll::Pending => watch.poll(context, incomplete.progress()).map(Err),
        })
        .await?;
        incomplete.first_byte = Some(Instant::now());
        let (head, body) = response.into_parts();
        incomplete.take_head(&head)?;
        incomplete.take_body(body, bounds, watch).await
    }
}

impl Incomplete {
    fn progress(&self) -> Received {
        Received {
            bytes: self.response.len(),
            first_byte: self.first_byte,
            holds: self.holds,
        }
    }

    fn take_head(&mut self, head: &http::response::Parts) -> Result<(), Failure> {
        let mut message = Vec::new();
        write_head(head, &mut message);
        if let Start::Head { head, .. } = find_head(&message) {
            self.head = Some(head);
        }
        let appended = self.response.append(&message);
        appended.map_err(NoRoom::Short)?;
        self.response.settle_head(0, message.len(), None);
        Ok(())
    }

    async fn take_body(
        &mut self,
        body: Incoming,
        bounds: Bounds,
        watch: &mut Watch,
    ) -> Result<(), Failure> {
        let mut body = pin!(body);
        let head_length = self.response.len();
        poll_fn(|context| {
            loop {
                match self.response.poll_room(context) {
                    Poll::Ready(room) => room?,
                    Poll::Pending => {
                        self.holds = self.holds.wrapping_add(1);
                        return watch.poll(context, self.progress()).map(Err);
                    }
                }
                let frame = match body.as_mut().poll_frame(context) {
                    Poll::Ready(Some(Ok(frame))) => frame,
                    Poll::Ready(Some(Err(error))) => {
                        return Poll::Ready(Err(failure_of(&error, self.response.len())));
                    }
                    Poll::Ready(None) => return Poll::Ready(Ok(())),
                    Poll::Pending => return watch.poll(context, self.progress()).map(Err),
                };
                // Trailers have no place in the message that is kept.
                let Ok(data) = frame.into_data() else {
                    continue;
                };
                let room = bounds.body - (self.response.len() - head_length);
                let appended = self.response.append(&data[..data.len().min(room)]);
                appended.map_err(NoRoom::Short)?;
                if room < data.len() {
                    return Poll::Ready(Err(Failure::BodyTooLarge));
                }
            }
        })
        .await
    }
}

fn failure_of(error: &hyper::Error, received: usize) -> Failure {
    if error.is_parse_too_large() {
        return Failure::HeadTooLarge;
    }
    tracing::debug!(%error, "HTTP/2 exchange failed");
    Failure::Disconnected {
        received: received as u64,
    }
}

fn request_message(request: &http::Request<Empty<Bytes>>) -> Vec<u8> {
    let uri = request.uri();
    let path = uri
        .path_and_query()
        .map_or("/", http::uri::PathAndQuery::as_str);
    let mut message = format!("{} {path} HTTP/1.1\r\n", request.method()).into_bytes();
    if let Some(authority) = uri.authority() {
        write_field("host", authority.as_str().as_bytes(), &mut message);
    }
    for (name, value) in request.headers() {
        write_field(name.as_str(), value.as_bytes(), &mut message);
    }
    message.extend_from_slice(b"\r\n");
    message
}

fn write_head(head: &http::response::Parts, message: &mut Vec<u8>) {
    message.extend_from_slice(format!("HTTP/1.1 {} \r\n", head.status.as_str()).as_bytes());
    for (name, value) in &head.headers {
        // Connection-specific fields are malformed in HTTP/2, and would misframe the message.
        if *name != http::header::TRANSFER_ENCODING {
            write_field(name.as_str(), value.as_bytes(), message);
        }
    }
    message.extend_from_slice(b"\r\n");
}

fn write_field(name: &str, value: &[u8], message: &mut Vec<u8>) {
    message.extend_from_slice(name.as_bytes());
    message.extend_from_slice(b": ");
    message.extend_from_slice(value);
    message.extend_from_slice(b"\r\n");
}
