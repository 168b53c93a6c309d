//! What the scheduler tells about itself, to those who watch it.

use std::time::Duration;

use serde::Serialize;

use crate::server::ServerKey;
use crate::time::Time;

/// What the scheduler did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Visits that came in for the first time.
    pub offered: u64,
    /// Visits that came back.
    pub returned: u64,
    /// Visits that were started.
    pub started: u64,
    /// Visits that found no turn within the ring, and were deferred or discarded.
    pub overflowed: u64,
    /// Visits that were given back with a later time.
    pub deferred: u64,
    /// Visits that were dropped.
    pub discarded: u64,
    /// Times that a visit's step came while its server was not free.
    pub put_off: u64,
}

/// How things stand with one server, for a person who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// The server.
    pub key: ServerKey,
    /// Whether a visit to it is in flight.
    pub is_in_flight: bool,
    /// From when it may be visited; none while a visit is in flight.
    pub free_at: Option<Time>,
    /// When a visit that is offered now would have its turn.
    pub next_turn: Time,
    /// The step of that turn.
    pub next_step: u64,
    /// Steps from one visit to the next.
    pub stride: u32,
    /// The least time from the end of a visit to the start of the next.
    pub interval: Duration,
    /// How long a visit takes, by experience.
    pub service_time: Duration,
    /// The end of its hold, past or to come; the epoch if there was none.
    pub hold_until: Time,
    /// How often it asked for relief or failed, less the answers since.
    pub strikes: u8,
}
