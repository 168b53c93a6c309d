//! A web graph with all that is known of it.

use crate::{HostCut, Hosts, Links, Urls};

/// Pages, the links between them, and the hosts that they are on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebGraph {
    /// What the graph is called in reports.
    pub name: String,
    /// Who links to whom.
    pub links: Links,
    /// Which page is on which host.
    pub hosts: Hosts,
    /// What pages are called, where it is known.
    pub urls: Option<Urls>,
    /// How the hosts came about.
    pub cut: HostCut,
}
