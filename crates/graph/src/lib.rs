//! What a web is as data: its links, a graph of pages and hosts, and its changes, a history of pages; read from files or
//! generated, and measured.
//!
//! [`load()`] reads a graph of any known form, [`generate::Generator`] makes one from a seed, and both give a [`WebGraph`].
//! What is measured of it — [`pagerank()`], [`components()`], [`Statistics`] — takes its [`Links`], and is kept in a
//! [`Cache`] beside the graph.
//!
//! [`history`] has the changes: the lab replays them and the test web serves them, and neither may know the other.
//!
//! Not here: crawling, drawing, the network and the screen. What takes long reports its [`Progress`] to the caller.

pub mod generate;
pub mod history;
pub mod load;
pub mod progress;
pub mod write;

mod bv;
mod cache;
mod chance;
mod components;
mod error;
mod hosts;
mod links;
mod pagerank;
mod statistics;
mod urls;
mod web_graph;

pub use cache::{Cache, Measures};
pub use components::{Components, components, reachable};
pub use error::GraphError;
pub use hosts::{HostCut, Hosts};
pub use links::{Fingerprint, Links, PAGES_MAX, Page};
pub use load::{LoadOptions, load, load_links, load_names};
pub use pagerank::{PageRank, PageRankConfig, pagerank};
pub use progress::{Progress, Stage, unwatched};
pub use statistics::{PAGERANK_SHARES, Statistics, power_law_exponent};
pub use urls::Urls;
pub use web_graph::WebGraph;
pub use write::{Form, write};
