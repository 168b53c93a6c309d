//! Why an exchange did not come to its proper end.
//!
//! On the web this is normal, and so a [`Failure`] is data, not an error: the crawler records it,
//! paces the server by it and decides about another visit. A failed exchange may still have
//! brought a head and part of a body.

use std::io;

use rustix::io::Errno;

use crate::guard::Refused;

/// What went wrong in an exchange, in the order of its phases.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The URL cannot be turned into a request.
    #[error("the request cannot be made: {0}")]
    BadRequest(String),
    /// The address guard did not let the address pass; nothing was sent.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// No connection within the time limit.
    #[error("no connection within the time limit")]
    ConnectTimeout,
    /// The server could not be reached.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// The proxy between us and all servers failed: neither page nor server is to blame.
    #[error("the proxy {0}")]
    Proxy(String),
    /// The proxy is there, and does not lead to this server.
    #[error("the proxy {0}")]
    ProxyRefused(String),
    /// Our own machine ran short of something, such as file descriptors: neither page nor server is to blame.
    #[error("our own machine is short of something: {0}")]
    Short(String),
    /// The TLS handshake failed.
    #[error("TLS handshake failed: {0}")]
    Tls(String),
    /// A kept connection turned out to be closed when the request had been written.
    ///
    /// The server may or may not have read the request, so another attempt is another visit.
    #[error("the kept connection was closed by the server")]
    StaleConnection,
    /// The server did not answer within the time limit.
    #[error("no answer within the time limit")]
    FirstByteTimeout,
    /// The exchange did not end within the time limit.
    #[error("the exchange did not end within the time limit")]
    TotalTimeout,
    /// The answer came in at less than the least rate.
    #[error("the answer came in too slowly")]
    TooSlow,
    /// The connection ended before the message did.
    #[error("the connection ended after {received} bytes of an unfinished answer")]
    Disconnected {
        /// Bytes of the answer that had come.
        received: u64,
    },
    /// The head of the answer is longer than allowed.
    #[error("the head of the answer is too long")]
    HeadTooLarge,
    /// Too many large answers came at once, and this one was the slowest.
    #[error(
        "large answers filled the room for them (fetch.bodies_on_disk), and this one, the slowest, gave way"
    )]
    GaveWay,
    /// The body of the answer is longer than allowed.
    #[error("the body of the answer is too long")]
    BodyTooLarge,
    /// The answer is not an HTTP message that could be understood.
    #[error("not a usable HTTP answer: {0}")]
    BadResponse(String),
}

impl Failure {
    /// Whether the server may have seen a request.
    #[must_use]
    pub fn reached_server(&self) -> bool {
        match self {
            Self::BadRequest(_)
            | Self::Refused(_)
            | Self::ConnectTimeout
            | Self::Connect(_)
            | Self::Proxy(_)
            | Self::ProxyRefused(_)
            | Self::Short(_) => false,
            Self::Tls(_)
            | Self::StaleConnection
            | Self::FirstByteTimeout
            | Self::TotalTimeout
            | Self::TooSlow
            | Self::Disconnected { .. }
            | Self::HeadTooLarge
            | Self::GaveWay
            | Self::BodyTooLarge
            | Self::BadResponse(_) => true,
        }
    }

    /// How a message that ended in this failure was cut.
    #[must_use]
    pub fn truncation(&self) -> Truncation {
        match self {
            Self::HeadTooLarge | Self::BodyTooLarge => Truncation::Length,
            Self::ConnectTimeout
            | Self::FirstByteTimeout
            | Self::TotalTimeout
            | Self::TooSlow
            | Self::GaveWay => Truncation::Time,
            Self::BadRequest(_)
            | Self::Refused(_)
            | Self::Connect(_)
            | Self::Proxy(_)
            | Self::ProxyRefused(_)
            | Self::Short(_)
            | Self::Tls(_)
            | Self::StaleConnection
            | Self::Disconnected { .. }
            | Self::BadResponse(_) => Truncation::Disconnect,
        }
    }
}

/// Why a captured message is shorter than what the server meant to send.
///
/// The words are those of `WARC-Truncated` (WARC 1.1, section 5.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truncation {
    /// A size limit.
    Length,
    /// A time limit.
    Time,
    /// The connection broke, or the server broke the protocol.
    Disconnect,
}

impl Truncation {
    /// The value of `WARC-Truncated`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Time => "time",
            Self::Disconnect => "disconnect",
        }
    }
}

/// Whether our own machine ran out of something that a socket needs: descriptors of the process or of the system, memory, or watches.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS | Errno::NOSPC)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_our_machine_lacks_is_told_from_what_servers_do() {
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS] {
            assert!(is_shortage(&errno.into()), "{errno}");
        }
        for errno in [
            Errno::CONNREFUSED,
            Errno::TIMEDOUT,
            Errno::HOSTUNREACH,
            Errno::CONNRESET,
        ] {
            assert!(!is_shortage(&errno.into()), "{errno}");
        }
        assert!(!is_shortage(&io::Error::other("another")));
    }
}
