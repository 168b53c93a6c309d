//! What the room does over real sockets on loopback, through its public interface.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test, and that is what is wanted"
)]

mod access;
mod capture;
mod dns;
mod large;
mod limits;
mod proxy;
mod proxy_server;
mod reuse;
mod robots;
mod server;
mod tls;
