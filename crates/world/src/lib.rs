//! A whole crawl in one process: the engine and its stores on a simulated disk, with workers, name servers, web servers, a network and a clock, all of it from one
//! number.
//!
//! [`run`] crawls a small web while things go wrong: the process is killed at a write, the power fails, the disk is full, bits rot, clocks are set, servers fail, people
//! give commands, and the next start has other settings. What must hold is checked at every step and after every restart (see [`Broken`]). The same number gives the
//! same run, visit by visit.
//!
//! [`Bug`]s can be planted: a run that does not find one says what the checks are worth.
//!
//! **Invariant:** nothing here reads a clock, a file or a socket.

mod bug;
mod captures;
mod check;
mod draws;
mod machine;
mod plan;
mod simulation;
mod web;
mod worker;

pub use bug::Bug;
pub use check::Broken;
pub use plan::Plan;
pub use simulation::{Counts, Failure, run};
