//! An exchange while it goes on: collects what the access log will say of it.

use std::net::IpAddr;
use std::sync::Arc;

use crate::access_log::{Ending, Exchange};
use crate::answer::Request;
use crate::clock::UnixNanos;
use crate::world::World;

/// An exchange that is going on. It is logged when dropped, whatever ended it.
pub(crate) struct OpenExchange {
    world: Arc<World>,
    exchange: Exchange,
    head_left: u64,
}

impl OpenExchange {
    pub(crate) fn new(
        world: Arc<World>,
        arrived: Arrived,
        request: &Request,
        start: UnixNanos,
    ) -> Self {
        let origin = world.ports.origin(&request.host, arrived.is_https);
        Self {
            world,
            exchange: Exchange {
                address: arrived.address,
                host: request.host.clone(),
                method: request.method.clone(),
                url: origin + &request.target,
                status: 0,
                bytes: 0,
                start,
                end: start,
                ending: Ending::ClientGone,
            },
            head_left: 0,
        }
    }

    pub(crate) fn start(&self) -> UnixNanos {
        self.exchange.start
    }

    pub(crate) fn is_head(&self) -> bool {
        self.exchange.method == "HEAD"
    }

    pub(crate) fn status(&mut self, status: u16) {
        self.exchange.status = status;
    }

    /// The next so many bytes sent are the answer's head.
    pub(crate) fn head_length(&mut self, length: usize) {
        self.head_left = length as u64;
    }

    pub(crate) fn sent(&mut self, bytes: usize) {
        let of_head = self.head_left.min(bytes as u64);
        self.head_left -= of_head;
        self.exchange.bytes += bytes as u64 - of_head;
    }

    /// The client was there at this time.
    pub(crate) fn seen(&mut self, at: UnixNanos) {
        self.exchange.end = self.exchange.end.max(at);
    }

    pub(crate) fn end(&mut self, ending: Ending) {
        self.exchange.ending = ending;
    }
}

impl Drop for OpenExchange {
    fn drop(&mut self) {
        self.world.log.record(&self.exchange);
    }
}

/// Where a connection came in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) address: IpAddr,
    pub(crate) is_https: bool,
}
