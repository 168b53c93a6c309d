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
use junkai_http::{ChunkDecoder, FIELDS_USUAL, Framing, HeadIndex, Progress, Start, find_head};
use tokio::io::{AsyncRead, ReadBuf};

use crate::bounds::Bounds;
use crate::exchange::{Protocol, TlsSession};
use crate::failure::Failure;
use crate::intake::Intake;
use crate::link::{Captured, Room};
use crate::stock::Share;
use crate::tape::{ReadingEnded, SharedTape, Stream, Tape, Tee};
use crate::watch::{Received, Watch};

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
    _descriptor: Share,
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
        room: Room<'_>,
    ) -> hyper::Result<Self> {
        let tape = Rc::new(RefCell::new(Tape::new(Intake::new(room.resources))));
        let io = TokioIo::new(Tee::new(stream, Rc::clone(&tape)));
        let (sender, connection) = Builder::new()
            .title_case_headers(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            // hyper allocates for as many with each response, and its map of fields panics at some thirty thousand.
            .max_headers(FIELDS_USUAL)
            .max_buf_size(bounds.head)
            .handshake(io)
            .await?;
        Ok(Self {
            sender,
            connection,
            tape,
            is_over: false,
            session,
            _descriptor: room.descriptor,
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
                // Boxed, so that a visit does not carry the buffers of what is rare.
                let salvage = Box::pin(self.salvage(complaint, head, bounds, watch));
                (salvage.await, None)
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
        let mut connection = self.connection.into_parts().io.into_inner();
        let head = match head {
            Some(head) => Ok(head),
            None => read_head(&mut connection, &tape, &complaint, bounds, watch).await,
        };
        let (head, end) = match head {
            Err(failure) => (None, Err(failure)),
            Ok(head) => {
                let end = read_rest(connection, &tape, &head, watch).await;
                (Some(head), end)
            }
        };
        let irregular = match (&head, &end) {
            (Some(head), Ok(())) if head.has_more_fields => {
                Some(format!("the head has more than {FIELDS_USUAL} fields"))
            }
            (Some(_), Ok(())) => Some(describe(&complaint)),
            (Some(_) | None, _) => None,
        };
        let captured = tape.borrow_mut().capture(head);
        Captured {
            irregular,
            end,
            ..captured
        }
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

/// Finds the head that hyper did not, reading on where it gave up at the number of fields.
async fn read_head(
    connection: &mut Tee,
    tape: &SharedTape,
    complaint: &hyper::Error,
    bounds: Bounds,
    watch: &mut Watch,
) -> Result<HeadIndex, Failure> {
    let mut buffer = [0; SALVAGE_BUFFER];
    loop {
        if let Some(head) = tape.borrow_mut().settle_head(bounds) {
            return Ok(head);
        }
        {
            let tape = tape.borrow();
            let is_partial = matches!(find_head(tape.received.start()), Start::Partial);
            let may_go_on = complaint.is_parse_too_large()
                && tape.reading_ended.is_none()
                && tape.received.len() < bounds.head;
            if !is_partial || !may_go_on {
                return Err(failure_without_head(complaint, &tape));
            }
        }
        read_more(connection, tape, watch, &mut buffer).await?;
    }
}

/// Why there is no head.
fn failure_without_head(complaint: &hyper::Error, tape: &Tape) -> Failure {
    let received = tape.received.len() as u64;
    match &tape.reading_ended {
        Some(ReadingEnded::NoRoom(failure)) => failure.clone(),
        Some(ReadingEnded::Full) => Failure::HeadTooLarge,
        Some(ReadingEnded::Closed | ReadingEnded::Broken) if complaint.is_parse_too_large() => {
            Failure::Disconnected { received }
        }
        _ if complaint.is_parse_too_large() => Failure::HeadTooLarge,
        _ if complaint.is_parse() => Failure::BadResponse(describe(complaint)),
        _ => Failure::Disconnected { received },
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
    let mut chunks = ChunkDecoder::default();
    let mut progress = Progress::Partial;
    let mut buffer = [0; SALVAGE_BUFFER];
    if head.framing == Framing::Chunked {
        let so_far = tape.borrow();
        let scan = |piece: &[u8]| progress = chunks.feed(piece, |_| {});
        let short = |error: std::io::Error| Failure::Short(error.to_string());
        so_far.received.read_body(scan).map_err(short)?;
    }
    loop {
        if is_whole(&tape.borrow(), head, progress)? {
            return Ok(());
        }
        let came = read_more(&mut connection, tape, watch, &mut buffer).await?;
        if head.framing == Framing::Chunked {
            progress = chunks.feed(&buffer[..came], |_| {});
        }
    }
}

/// Whether the message is whole; fails if it will never be.
fn is_whole(tape: &Tape, head: &HeadIndex, progress: Progress) -> Result<bool, Failure> {
    let received = tape.received.len();
    let is_whole = match (head.framing, progress) {
        (Framing::Empty, _) | (Framing::Chunked, Progress::Complete(_)) => true,
        (Framing::Length(length), _) => length <= (received - head.length) as u64,
        (Framing::Close, _) => tape.reading_ended == Some(ReadingEnded::Closed),
        (Framing::Chunked, Progress::Partial) => false,
        (Framing::Chunked, Progress::Malformed(offset)) => {
            let text = format!("malformed chunk at offset {offset} of the body");
            return Err(Failure::BadResponse(text));
        }
    };
    let received = received as u64;
    match &tape.reading_ended {
        _ if is_whole => Ok(true),
        Some(ReadingEnded::Full) => Err(Failure::BodyTooLarge),
        Some(ReadingEnded::NoRoom(failure)) => Err(failure.clone()),
        Some(ReadingEnded::Closed | ReadingEnded::Broken) => {
            Err(Failure::Disconnected { received })
        }
        None => Ok(false),
    }
}

/// Reads once, onto the tape and into the buffer; the tape notes how reading ended.
async fn read_more(
    connection: &mut Tee,
    tape: &SharedTape,
    watch: &mut Watch,
    buffer: &mut [u8],
) -> Result<usize, Failure> {
    poll_fn(|context| {
        let mut space = ReadBuf::new(buffer);
        match Pin::new(&mut *connection).poll_read(context, &mut space) {
            Poll::Ready(Ok(())) => Poll::Ready(Ok(space.filled().len())),
            Poll::Ready(Err(_)) => Poll::Ready(Ok(0)),
            Poll::Pending => watch.poll(context, tape.borrow().progress()).map(Err),
        }
    })
    .await
}

impl Tape {
    fn progress(&self) -> Received {
        Received {
            bytes: self.received.len(),
            first_byte: self.first_byte,
            holds: self.holds,
        }
    }

    /// Finds the head, cuts off what came before it, and sets the bound on the body.
    fn settle_head(&mut self, bounds: Bounds) -> Option<HeadIndex> {
        let Start::Head { interim, head } = find_head(self.received.start()) else {
            return None;
        };
        self.received_max = head.length.saturating_add(bounds.body);
        let expected = match head.framing {
            Framing::Length(length) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                Some(head.length.saturating_add(length))
            }
            Framing::Empty | Framing::Chunked | Framing::Close => None,
        };
        self.received.settle_head(interim, head.length, expected);
        Some(head)
    }

    /// Takes the exchange off the tape.
    fn capture(&mut self, head: Option<HeadIndex>) -> Captured {
        Captured {
            request: Bytes::copy_from_slice(&self.sent),
            response: self.received.take(),
            first_byte: self.first_byte,
            protocol: head.as_ref().map(Protocol::of_head),
            head,
            irregular: None,
            end: Ok(()),
        }
    }
}
