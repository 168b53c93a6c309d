//! What the room does over real sockets on loopback, through its public interface.

mod capture;
mod dns;
mod limits;
mod reuse;
mod robots;
mod server;
mod tls;
