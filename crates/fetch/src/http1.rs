//! HTTP/1.1 on one connection: hyper speaks it, the tape keeps it.
//!
//! The connection and the request are driven in the task that fetches: nothing is spawned. hyper
//! frames the body, and its pieces are dropped as they come, for the tape has them.
//! Where hyper gives up on an answer, [`Http1::salvage`] goes on with the captured bytes.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Body;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, ReadBuf};

use crate::bounds::Bounds;
use crate::chunked::{ChunkScanner, Progress};
use crate::exchange::TlsSession;
use crate::failure::Failure;
use crate::link::Captured;
use crate::message::{FIELDS_MAX, Framing, HeadIndex, Start, find_head};
use crate::tape::{ReadingEnded, SharedTape, Stream, Tape, Tee};
use crate::watch::{Received, Watch};

/// Most memory that a `Content-Length` is believed for before the bytes have come.
const RESERVE_MAX: usize = 1024 * 1024;
/// Bytes read at once while salvaging.
const SALVAGE_BUFFER: usize = 8192;

/// A connection that speaks HTTP/1.1, between exchanges.
pub(crate) struct Http1 {
    sender: SendRequest<Empty<Bytes>>,
    connection: Connection<TokioIo<Tee>, Empty<Bytes>>,
    tape: SharedTape,
    /// Whether hyper is through with the connection, which must then not be polled again.
    is_over: bool,
    pub(crate) session: Option<Arc<TlsSession>>,
}

/// Why an exchange left the regular path.
enum Stop {
    /// hyper did not like what it read, or could read no more.
    Hyper(hyper::Error),
    /// A time limit.
    Limit(Failure),
}

impl Http1 {
    /// Sets up HTTP/1.1 on a connection; nothing is sent yet.
    pub(crate) async fn open(
        stream: Stream,
        session: Option<Arc<TlsSession>>,
        bounds: Bounds,
    ) -> hyper::Result<Self> {
        let tape = Rc::new(RefCell::new(Tape::default()));
        let io = TokioIo::new(Tee::new(stream, Rc::clone(&tape)));
        let (sender, connection) = Builder::new()
            .title_case_headers(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .max_headers(FIELDS_MAX)
            .max_buf_size(bounds.head)
            .handshake(io)
            .await?;
        Ok(Self {
            sender,
            connection,
            tape,
            is_over: false,
            session,
        })
    }

    /// Whether a kept connection still looks alive: the server has neither closed it nor spoken.
    pub(crate) async fn is_alive(&mut self) -> bool {
        poll_fn(|context| {
            self.poll_connection(context);
            Poll::Ready(())
        })
        .await;
        !self.is_over && self.sender.is_ready() && self.tape.borrow().received.is_empty()
    }

    /// Sends a request and takes in the answer; gives the connection back if it can be used again.
    pub(crate) async fn exchange(
        mut self,
        request: http::Request<Empty<Bytes>>,
        bounds: Bounds,
        watch: &mut Watch,
    ) -> (Captured, Option<Self>) {
        self.tape
            .borrow_mut()
            .rewind(bounds.head.saturating_add(bounds.body));
        let head = match self.drive_head(request, watch).await {
            Ok(response) => match self.tape.borrow_mut().settle_head(bounds) {
                Some(head) => Ok((response, head)),
                None => Err(Stop::Limit(Failure::BadResponse("no head".into()))),
            },
            Err(stop) => Err(stop),
        };
        let (head, stop) = match head {
            Ok((response, head)) => (
                Some(head),
                self.drive_body(response.into_body(), watch).await.err(),
            ),
            Err(stop) => (None, Some(stop)),
        };
        match stop {
            None => {
                let captured = self.tape.borrow_mut().capture(head);
                let is_alive = self.is_alive().await;
                (captured, is_alive.then_some(self))
            }
            Some(Stop::Limit(failure)) => {
                let mut captured = self.tape.borrow_mut().capture(head);
                captured.end = Err(failure);
                (captured, None)
            }
            Some(Stop::Hyper(complaint)) => {
                (self.salvage(complaint, head, bounds, watch).await, None)
            }
        }
    }

    /// Sends the request and waits for the head of the answer.
    async fn drive_head(
        &mut self,
        request: http::Request<Empty<Bytes>>,
        watch: &mut Watch,
    ) -> Result<hyper::Response<Incoming>, Stop> {
        let mut response = pin!(self.sender.send_request(request));
        let (connection, is_over) = (&mut self.connection, &mut self.is_over);
        let tape = &self.tape;
        poll_fn(|context| {
            poll_once(connection, is_over, context);
            match response.as_mut().poll(context) {
                Poll::Ready(result) => Poll::Ready(result.map_err(Stop::Hyper)),
                Poll::Pending => watch
                    .poll(context, tape.borrow().progress())
                    .map(|failure| Err(Stop::Limit(failure))),
            }
        })
        .await
    }

    /// Lets the body pass onto the tape.
    async fn drive_body(&mut self, body: Incoming, watch: &mut Watch) -> Result<(), Stop> {
        let mut body = pin!(body);
        poll_fn(|context| {
            loop {
                if body.is_end_stream() {
                    return Poll::Ready(Ok(()));
                }
                self.poll_connection(context);
                match body.as_mut().poll_frame(context) {
                    Poll::Ready(Some(Ok(_))) => {}
                    Poll::Ready(Some(Err(error))) => {
                        return Poll::Ready(Err(Stop::Hyper(error)));
                    }
                    Poll::Ready(None) => return Poll::Ready(Ok(())),
                    Poll::Pending => break,
                }
            }
            watch
                .poll(context, self.tape.borrow().progress())
                .map(|failure| Err(Stop::Limit(failure)))
        })
        .await
    }

    fn poll_connection(&mut self, context: &mut Context<'_>) {
        poll_once(&mut self.connection, &mut self.is_over, context);
    }

    /// Makes the best of an answer that hyper gave up on.
    ///
    /// A head that a more patient parser understands counts, and its body is read on by its
    /// own framing, from the same connection and within the same limits.
    async fn salvage(
        self,
        complaint: hyper::Error,
        head: Option<HeadIndex>,
        bounds: Bounds,
        watch: &mut Watch,
    ) -> Captured {
        let tape = self.tape;
        let head = head.or_else(|| tape.borrow_mut().settle_head(bounds));
        let end = match &head {
            None => Err(failure_without_head(&complaint, &tape.borrow())),
            Some(head) => {
                let connection = self.connection.into_parts().io.into_inner();
                read_rest(connection, &tape, head, watch).await
            }
        };
        let mut captured = tape.borrow_mut().capture(head);
        if end.is_ok() {
            captured.irregular = Some(describe(&complaint));
        }
        captured.end = end;
        captured
    }
}

/// Lets hyper make what progress it can.
fn poll_once(
    connection: &mut Connection<TokioIo<Tee>, Empty<Bytes>>,
    is_over: &mut bool,
    context: &mut Context<'_>,
) {
    // What went wrong reaches the request or its body; the connection's own verdict adds nothing.
    if !*is_over && connection.poll_without_shutdown(context).is_ready() {
        *is_over = true;
    }
}

/// Why there is no head.
fn failure_without_head(complaint: &hyper::Error, tape: &Tape) -> Failure {
    let received = tape.received.len() as u64;
    if complaint.is_parse_too_large() || tape.reading_ended == Some(ReadingEnded::Full) {
        Failure::HeadTooLarge
    } else if complaint.is_parse() {
        Failure::BadResponse(describe(complaint))
    } else {
        Failure::Disconnected { received }
    }
}

/// An error with its causes in one line.
fn describe(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Reads until the message is whole by its own framing.
async fn read_rest(
    mut connection: Tee,
    tape: &SharedTape,
    head: &HeadIndex,
    watch: &mut Watch,
) -> Result<(), Failure> {
    let mut chunks = ChunkScanner::default();
    let mut buffer = [0; SALVAGE_BUFFER];
    loop {
        let (ended, received) = {
            let tape = tape.borrow();
            let body = &tape.received[head.length..];
            let is_whole = match head.framing {
                Framing::Empty => true,
                Framing::Length(length) => length <= body.len() as u64,
                Framing::Close => tape.reading_ended == Some(ReadingEnded::Closed),
                Framing::Chunked => match chunks.scan(body) {
                    Progress::Complete(_) => true,
                    Progress::Partial => false,
                    Progress::Malformed(offset) => {
                        let text = format!("malformed chunk at offset {offset} of the body");
                        return Err(Failure::BadResponse(text));
                    }
                },
            };
            if is_whole {
                return Ok(());
            }
            (tape.reading_ended, tape.received.len() as u64)
        };
        match ended {
            Some(ReadingEnded::Full) => return Err(Failure::BodyTooLarge),
            Some(ReadingEnded::Closed | ReadingEnded::Broken) => {
                return Err(Failure::Disconnected { received });
            }
            None => {}
        }
        poll_fn(|context| {
            let mut space = ReadBuf::new(&mut buffer);
            // The tape notes what came, and how reading ended.
            match Pin::new(&mut connection).poll_read(context, &mut space) {
                Poll::Ready(_) => Poll::Ready(Ok(())),
                Poll::Pending => watch.poll(context, tape.borrow().progress()).map(Err),
            }
        })
        .await?;
    }
}

impl Tape {
    fn progress(&self) -> Received {
        Received {
            bytes: self.received.len(),
            first_byte: self.first_byte,
        }
    }

    /// Finds the head, cuts off what came before it, and sets the bound on the body.
    fn settle_head(&mut self, bounds: Bounds) -> Option<HeadIndex> {
        let Start::Head { interim, head } = find_head(&self.received) else {
            return None;
        };
        self.received.drain(..interim);
        self.received_max = head.length.saturating_add(bounds.body);
        if let Framing::Length(length) = head.framing {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let wanted = head.length.saturating_add(length).min(RESERVE_MAX);
            self.received
                .reserve(wanted.saturating_sub(self.received.len()));
        }
        Some(head)
    }

    /// Takes the exchange off the tape; what follows the message is cut off.
    fn capture(&mut self, head: Option<HeadIndex>) -> Captured {
        let mut response = std::mem::take(&mut self.received);
        if let Some(head) = &head
            && let Progress::Complete(length) = head.extent(&response)
        {
            response.truncate(head.length + length);
        }
        Captured {
            request: Bytes::copy_from_slice(&self.sent),
            response: response.into(),
            first_byte: self.first_byte,
            protocol: head.as_ref().map(HeadIndex::protocol),
            head,
            irregular: None,
            end: Ok(()),
        }
    }
}
