//! HTTP/1 messages as bytes: heads, chunks, content codings, and one set of limits for all who read them.
//!
//! `fetch` reads what comes over the wire ([`find_head`], [`Head`], [`ChunkDecoder`], [`decode`]), `archive` what was stored ([`TextHead`],
//! [`Message`], [`content`]): both see the same chunks, codings and bounds, so a page that was understood when it came is understood when it is read again.
//!
//! ```
//! let stored = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
//! let message = junkai_http::message(stored);
//! assert_eq!(message.status(), Some(200));
//! assert_eq!(message.content(1024).bytes, &b"hello"[..]);
//! ```
//!
//! Not here: connections, requests, and what a body means.

mod chunked;
mod coding;
mod head;
mod message;
mod stream;
mod text_head;

pub use chunked::{ChunkDecoder, Progress};
pub use coding::{DecodeProblem, Decoded, decode};
pub use head::{FIELDS_USUAL, Framing, Head, HeadIndex, Start, find_head, is_redirect, list_items};
pub use message::{Message, message};
pub use stream::content;
pub use text_head::{TextHead, without_parameters};
