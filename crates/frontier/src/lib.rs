//! What to visit next.
//!
//! [`scheduler`] is the front door: the driver (the crawler, or the lab) tells it what happened and when, and carries out
//! what it answers. [`ring`] gives each visit its step, [`lease`] has the last word before a visit starts,
//! [`host_pace`] knows the hosts that ask for more rest than their server, and [`admission`] decides who gets a scarce turn.
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
    UnknownOrder, Worth, WorthConfig, grade_of, worth_of,
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
