//! A crawl under a virtual clock, with the engine that crawls.
//!
//! [`crawl::simulate`] runs a [`policy::Policy`] on a web graph: by the engine, where settings can say what the policy does. [`value`] says what the
//! pages were worth, [`subject`] is a graph made ready, [`archive_graph`] the graph of an archive. What comes of it is an [`outcome`]: [`comparison`] has
//! several policies side by side, [`what_if`] asks what another schedule would have made of an archive. [`plan`] says what a crawl of any size takes, from
//! costs that a short [`update_cycle`] measures.
//!
//! **Invariant:** this room never sees the network, nor the crawler; time and chance are arguments. Experiments are in `lab`.

pub mod archive_graph;
pub mod comparison;
pub mod crawl;
pub mod measure;
pub mod outcome;
pub mod plan;
pub mod policy;
pub mod population;
pub mod subject;
pub mod update_cycle;
pub mod value;
pub mod what_if;

pub use junkai_graph as graph;
