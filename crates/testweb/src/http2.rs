//! HTTP/2 connections, over TLS or in the clear: the same answers in frames.
//!
//! Only hosts that leave the wire alone are served here (see [`crate::tls`]); those that do not are sent away with 421
//! (RFC 9110, section 15.5.20) when a client finds them on a connection in the clear. Times in the log err to the
//! client's favour as in [`crate::http1`], by up to a few milliseconds more: the library does not tell when a client
//! leaves, so an abandoned exchange ends at the tick before the last.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncReadExt;

use crate::access_log::Ending;
use crate::answer::{Answer, Request, host_name};
use crate::delivery::Wire;
use crate::http1::{PRESENCE_EVERY, Transport};
use crate::open_exchange::{Arrived, OpenExchange};
use crate::world::{Response, World};

/// Body bytes in a frame.
const FRAME_BYTES: usize = 16 << 10;

/// Requests at a time on one connection.
const STREAMS_MAX: u32 = 100;

/// Serves a connection of which `input` has been read already.
pub(crate) async fn serve<S: Transport>(
    stream: S,
    input: Vec<u8>,
    world: Arc<World>,
    arrived: Arrived,
) {
    let (read, write) = tokio::io::split(stream);
    let stream = tokio::io::join(std::io::Cursor::new(input).chain(read), write);
    let service = service_fn(move |request| answer(request, Arc::clone(&world), arrived));
    let served = http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(STREAMS_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "HTTP/2 connection broke");
    }
}

async fn answer(
    incoming: http::Request<Incoming>,
    world: Arc<World>,
    arrived: Arrived,
) -> Result<http::Response<Parcel>, Infallible> {
    let start = world.clock.now();
    let request = request(&incoming);
    let Response { mut answer, manner } = world.respond(&request);
    let mut open = OpenExchange::new(Arc::clone(&world), arrived, &request, start);
    if manner.wire != Wire::Proper {
        answer = Answer::plain(421);
    }
    wait(&mut open, &world, manner.wait).await;
    open.status(answer.status);
    let date = httpdate::fmt_http_date(world.clock.shown().system_time());
    let mut response = http::Response::builder()
        .status(answer.status)
        .header("server", "testweb")
        .header("date", date);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    let has_body = answer.status != 304 && !request.is_head();
    let body = if has_body { answer.body } else { Vec::new() };
    let parcel = Parcel::new(body, open, world);
    // Our own headers are all well-formed but for what a misbehaviour may have put in: then there is only the status.
    Ok(response.body(parcel).unwrap_or_else(|error| {
        tracing::warn!(%error, "answer without headers");
        http::Response::new(Parcel::default())
    }))
}

fn request(incoming: &http::Request<Incoming>) -> Request {
    let target = incoming
        .uri()
        .path_and_query()
        .map_or("/", |target| target.as_str());
    let mut request = Request {
        method: incoming.method().to_string(),
        target: target.to_owned(),
        ..Request::default()
    };
    for (name, value) in incoming.headers() {
        request.header(name.as_str(), value.as_bytes());
    }
    if let Some(authority) = incoming.uri().authority() {
        request.host = host_name(authority.as_str());
    }
    request
}

/// Waits; while this is dropped unfinished when the client goes, `open` remembers the tick before the last.
async fn wait(open: &mut OpenExchange, world: &World, duration: Duration) {
    let end = tokio::time::Instant::now() + duration;
    let mut tick = open.start();
    while tokio::time::Instant::now() < end {
        open.seen(tick);
        tick = world.clock.now();
        let next = tokio::time::Instant::now() + PRESENCE_EVERY;
        tokio::time::sleep_until(end.min(next)).await;
    }
}

/// A body that notes in its exchange how far it was taken.
#[derive(Default)]
struct Parcel {
    rest: Bytes,
    exchange: Option<(OpenExchange, Arc<World>)>,
}

impl Parcel {
    fn new(body: Vec<u8>, mut open: OpenExchange, world: Arc<World>) -> Self {
        if body.is_empty() {
            open.seen(world.clock.now());
            open.end(Ending::Complete);
        }
        Self {
            rest: body.into(),
            exchange: Some((open, world)),
        }
    }
}

impl http_body::Body for Parcel {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.rest.len().min(FRAME_BYTES);
        let piece = self.rest.split_to(length);
        let is_last = self.rest.is_empty();
        if let Some((open, world)) = &mut self.exchange {
            open.seen(world.clock.now());
            open.sent(length);
            if is_last {
                open.end(Ending::Complete);
            }
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}
