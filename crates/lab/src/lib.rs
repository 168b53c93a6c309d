//! Experiments on crawling under a virtual clock, with the code that crawls.
//!
//! An [`experiment`] brings an outcome; [`report`] makes one page of several. [`revisit`] visits a web that changes, by the
//! planner that crawls. The simulated crawls themselves are in `simulation`. The command line is beside this library, in `main.rs`.
//!
//! **Invariant:** this room never sees the network, nor the crawler; time and chance are arguments.

pub mod experiment;
pub mod report;
pub mod revisit;
