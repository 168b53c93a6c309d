//! What to visit next.
//!
//! [`scheduler`] is the front door: the driver (the crawler, or the lab) tells it what happened and when, and carries out
//! what it answers. [`ring`] gives each visit its step, [`lease`] has the last word before a visit starts,
//! [`host_pace`] knows the hosts that ask for more rest than their server, and [`admission`] decides who gets a scarce turn.
//!
//! # A first look
//!
//! Two pages of one server: the second starts when the first has ended and the server has had its rest.
//!
//! ```
//! use std::time::Duration;
//!
//! use junkai_frontier::{
//!     Command, EndReport, Event, Overflow, PolitenessConfig, RingConfig, Scheduler, Time, VisitKind, server_key,
//! };
//!
//! let ring = RingConfig::default();
//! let politeness = PolitenessConfig::default();
//! let interval = politeness.interval;
//! let mut now = Time::EPOCH;
//! let mut scheduler = Scheduler::new(&ring, politeness, Overflow::Defer, 16, now);
//! let key = server_key([192, 0, 2, 7].into(), ring.keys);
//! let mut commands = Vec::new();
//! for visit in ["/", "/about"] {
//!     let kind = VisitKind::First;
//!     scheduler.step(now, Event::Offer { visit, key, kind }, &mut commands);
//! }
//!
//! let mut ends = Vec::new();
//! while ends.len() < 2 {
//!     now = scheduler.next_wake().unwrap_or(now).max(now);
//!     scheduler.step(now, Event::Tick, &mut commands);
//!     for command in std::mem::take(&mut commands) {
//!         if let Command::Start { visit, key, at } = command {
//!             // Here a crawler fetches the page, not before `at`.
//!             let duration = Duration::from_millis(80);
//!             now = now.max(at) + duration;
//!             ends.push((visit, at, now));
//!             let report = EndReport::Answered { duration };
//!             scheduler.step(now, Event::Ended { key, at: now, report }, &mut commands);
//!         }
//!     }
//! }
//! let (first_end, second_start) = (ends[0].2, ends[1].1);
//! assert!(first_end + interval <= second_start);
//! ```
//!
//! **Invariant:** this room never sees HTTP, HTML or a socket, and reads no clock: time is an argument everywhere, so the
//! lab runs the very code that crawls. It touches no files: what waits on disk is in `junkai-store`.

pub mod admission;
pub mod host_pace;
pub mod lease;
pub mod politeness;
pub mod ring;
pub mod scheduler;
pub mod server;
pub mod time;

pub use admission::{
    Admission, BudgetConfig, Budgets, Candidate, Degree, Fifo, Gain, InDegree, Order, Source,
    UnknownOrder, Worth, WorthConfig, priority_byte, priority_of_byte,
};
pub use host_pace::{Ask, HostPaces, HostState};
pub use lease::{Leases, ServerState};
pub use politeness::PolitenessConfig;
pub use ring::{Ring, RingConfig};
pub use scheduler::{
    Command, Counters, EndReport, Event, Overflow, Place, Scheduler, Standing, VisitKind,
};
pub use server::{ServerKey, server_key, unresolved_host_key};
pub use time::Time;
