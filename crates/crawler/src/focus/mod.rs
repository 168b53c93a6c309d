//! Focus, live: finds out by few fetches which sites hold what is wanted, and collects it, through the same ring as every crawl.
//!
//! What is learned is kept in the archive's folder `focus`, beside its captures. [`Evidence`] is what each fetch of a page said of its site.
//!
//! Not here: how a page is judged, and which site or link is next (`junkai-focus`); when a server may be visited (`junkai-frontier`).

mod evidence;

pub use evidence::{Clue, Evidence, evidence};

/// The folder of an archive in which everything is that focus learned.
pub(crate) const FOLDER: &str = "focus";
