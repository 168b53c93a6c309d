//! Brings bytes: DNS, robots.txt and HTTP with exact capture, within limits.
//!
//! A worker asks a [`Resolver`] for a host's address, asks [`robots`] whether the page may be
//! visited, and has a [`Client`] fetch it; the [`Exchange`] holds the very bytes that went over the
//! wire. What the web does wrong is a [`Failure`] in an exchange or a [`DnsFailure`], not an error.
//!
//! Invariants: no visit connects to an address that the [`AddressGuard`] refuses (a [`Poster`] goes where the operator says, and nowhere else), and the address that
//! was checked is the one connected to; every answer is bounded in bytes and in time; one call of
//! [`Client::fetch`] sends at most one request.
//!
//! Not here: what the bytes mean (`page`), when to visit whom (`frontier`), how captures are kept
//! (`archive`). This room follows no redirect and retries nothing.

mod access;
mod bounds;
mod client;
mod config;
mod dns;
mod exchange;
mod failure;
mod guard;
mod http1;
mod http2;
mod identity;
mod intake;
mod link;
mod pool;
mod post;
mod resources;
mod retry_after;
pub mod robots;
mod spool;
mod stock;
mod tape;
mod tls;
mod watch;

pub use access::{Access, Environment, HeaderConfig, LoginConfig};
pub use client::{Client, ClientError, Conditional, Request};
pub use config::{FetchConfig, TlsVerify};
pub use dns::{
    AddressFamily, DnsConfig, DnsFailure, DnsProblem, Resolved, Resolver, ResolverError,
};
pub use exchange::{End, Exchange, Protocol, Timing, TlsSession};
pub use failure::{Failure, Truncation};
pub use guard::{AddressGuard, AddressKind, NotANetwork, Refused, network};
pub use identity::{Identity, IdentityError};
pub use junkai_http::{DecodeProblem, Decoded, Framing, Head};
pub use post::{PostError, Poster};
pub use resources::Resources;
pub use retry_after::RETRY_AFTER_MAX;
pub use robots::{Robots, RobotsAnswer, RobotsState};
pub use stock::Share;

pub use tls::{TlsError, roots_mistake};
