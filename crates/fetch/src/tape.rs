//! The capture: a connection that copies every byte that passes onto a tape.
//!
//! hyper reads and writes a [`Tee`] as it would a socket; the tape of the connection then holds the
//! exact bytes of the exchange, and is where the bound on a response is kept.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;

/// What passed over a connection since the tape was last rewound.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    /// Bytes that the connection accepted for sending.
    pub(crate) sent: Vec<u8>,
    /// Bytes that came.
    pub(crate) received: Vec<u8>,
    /// When the first of them came.
    pub(crate) first_byte: Option<Instant>,
    /// How many bytes may come; reading more is an error.
    pub(crate) received_max: usize,
    /// What reading ended with, if it has.
    pub(crate) reading_ended: Option<ReadingEnded>,
}

/// Why no more bytes will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadingEnded {
    /// The server closed its side.
    Closed,
    /// The connection broke.
    Broken,
    /// The tape is full.
    Full,
}

impl Tape {
    /// Makes room for another exchange.
    pub(crate) fn rewind(&mut self, received_max: usize) {
        self.sent.clear();
        self.received.clear();
        self.first_byte = None;
        self.received_max = received_max;
        // A connection whose reading ended is not used again.
        debug_assert!(self.reading_ended.is_none(), "a dead connection is reused");
    }

    fn note_read(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            self.reading_ended = Some(ReadingEnded::Closed);
        } else if self.received.is_empty() {
            self.first_byte = Some(Instant::now());
        }
        self.received.extend_from_slice(bytes);
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
        let room = {
            let mut tape = this.tape.borrow_mut();
            let room = tape.received_max.saturating_sub(tape.received.len());
            if room == 0 {
                tape.reading_ended = Some(ReadingEnded::Full);
                return Poll::Ready(Err(io::Error::other("the response is too long")));
            }
            room
        };
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
        match &result {
            Poll::Ready(Ok(())) => this.tape.borrow_mut().note_read(&buffer.filled()[before..]),
            Poll::Ready(Err(_)) => {
                this.tape.borrow_mut().reading_ended = Some(ReadingEnded::Broken);
            }
            Poll::Pending => {}
        }
        result
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
