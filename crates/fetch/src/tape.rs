//! The capture: a connection that copies every byte that passes onto a tape.
//!
//! hyper reads and writes a [`Tee`] as it would a socket; the tape of the connection then holds the
//! exact bytes of the exchange, and is where the bound on a response is kept. Where there is no room for more
//! of it, the tee does not read on.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;

use crate::failure::Failure;
use crate::intake::{Intake, READ_MAX};
use crate::spool::NoRoom;

/// What passed over a connection since the tape was last rewound.
#[derive(Debug)]
pub(crate) struct Tape {
    /// Bytes that the connection accepted for sending.
    pub(crate) sent: Vec<u8>,
    /// Bytes that came.
    pub(crate) received: Intake,
    /// When the first of them came.
    pub(crate) first_byte: Option<Instant>,
    /// How many bytes may come; reading more is an error.
    pub(crate) received_max: usize,
    /// How often reading had to wait for room.
    pub(crate) holds: u32,
    /// What reading ended with, if it has.
    pub(crate) reading_ended: Option<ReadingEnded>,
}

/// Why no more bytes will come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadingEnded {
    /// The server closed its side.
    Closed,
    /// The connection broke.
    Broken,
    /// The tape is full.
    Full,
    /// There is no room for more, which is our own doing.
    NoRoom(Failure),
}

impl Tape {
    pub(crate) fn new(received: Intake) -> Self {
        Self {
            sent: Vec::new(),
            received,
            first_byte: None,
            received_max: 0,
            holds: 0,
            reading_ended: None,
        }
    }

    /// Makes room for another exchange.
    pub(crate) fn rewind(&mut self, received_max: usize) {
        self.sent.clear();
        drop(self.received.take());
        self.first_byte = None;
        self.received_max = received_max;
        // A connection whose reading ended is not used again.
        debug_assert!(self.reading_ended.is_none(), "a dead connection is reused");
    }

    /// Ready with how many bytes may be read.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let room = self.received_max.saturating_sub(self.received.len());
        if room == 0 {
            self.reading_ended = Some(ReadingEnded::Full);
            return Poll::Ready(Err(io::Error::other("the response is too long")));
        }
        match self.received.poll_room(context) {
            Poll::Ready(Ok(())) => Poll::Ready(Ok(room.min(READ_MAX))),
            Poll::Ready(Err(no_room)) => Poll::Ready(Err(self.give_up(no_room))),
            Poll::Pending => {
                self.holds = self.holds.wrapping_add(1);
                Poll::Pending
            }
        }
    }

    fn note_read(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            self.reading_ended = Some(ReadingEnded::Closed);
        } else if self.received.is_empty() {
            self.first_byte = Some(Instant::now());
        }
        let appended = self.received.append(bytes);
        appended.map_err(|error| self.give_up(NoRoom::Short(error)))
    }

    fn give_up(&mut self, no_room: NoRoom) -> io::Error {
        self.reading_ended = Some(ReadingEnded::NoRoom(no_room.into()));
        io::Error::other("no room for more of the response")
    }
}

/// A tape that the connection and the exchange both hold.
pub(crate) type SharedTape = Rc<RefCell<Tape>>;

/// A connection and its tape.
pub(crate) struct Tee {
    stream: Stream,
    tape: SharedTape,
}

impl Tee {
    pub(crate) fn new(stream: Stream, tape: SharedTape) -> Self {
        Self { stream, tape }
    }
}

impl AsyncRead for Tee {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let room = ready!(this.tape.borrow_mut().poll_room(context))?;
        let before = buffer.filled().len();
        let result = if buffer.remaining() <= room {
            Pin::new(&mut this.stream).poll_read(context, buffer)
        } else {
            let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
            let result = Pin::new(&mut this.stream).poll_read(context, &mut part);
            let came = part.filled().len();
            buffer.advance(came);
            result
        };
        let mut tape = this.tape.borrow_mut();
        match ready!(result) {
            Ok(()) => Poll::Ready(tape.note_read(&buffer.filled()[before..])),
            Err(error) => {
                tape.reading_ended = Some(ReadingEnded::Broken);
                Poll::Ready(Err(error))
            }
        }
    }
}

impl AsyncWrite for Tee {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(accepted)) = result {
            let sent = &mut this.tape.borrow_mut().sent;
            sent.extend_from_slice(&bytes[..accepted]);
        }
        result
    }

    // Requests are one small piece each; gathering pieces would only complicate the capture.
    fn is_write_vectored(&self) -> bool {
        false
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

/// A connection, plain or encrypted.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tls(stream) => match Pin::new(stream).poll_read(context, buffer) {
                // Many servers close without the alert that TLS asks for. Whether the
                // message was whole, its own framing says; where it has none, browsers
                // take this for the end too.
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    Poll::Ready(Ok(()))
                }
                other => other,
            },
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
