//! Crawl-order research under a virtual clock, with the code that crawls.
//!
//! [`crawl::simulate`] runs a [`policy::Policy`] on a web graph: the waiting rooms, the ring and the leases of `frontier` are
//! the very ones that crawl. [`value`] says what the pages were worth, [`subject`] is a graph made ready, and an
//! [`outcome`] is what an [`experiment`] brings; [`report`] makes one page of several. [`revisit`] visits a web that changes, by the
//! planner that crawls.
//!
//! **Invariant:** this room never sees the network, nor the crawler; time and chance are arguments.

pub mod archive_graph;
pub mod comparison;
pub mod crawl;
pub mod experiment;
pub mod measure;
pub mod outcome;
pub mod plan;
pub mod policy;
pub mod population;
pub mod report;
pub mod revisit;
pub mod subject;
pub mod update_cycle;
pub mod value;
pub mod what_if;

pub use junkai_graph as graph;
