//! Which link of a site to follow next, so that few fetches bring most of its data files.
//!
//! A driver starts a [`Collector`] at a site, fetches each link that it names, and tells it what came back ([`Fetched`]). The collector
//! chooses by an [`Order`]. The lab and a crawl drive the same one. What was learned at one site is carried to the next as
//! [`Experience`]. Read [`Collector`] first, then `arms` and `analogy`.
//!
//! In our order ([`Order::Learned`]) a data file that is known comes first; then one that is guessed by analogy with those found before
//! (`analogy`), also for pages that a data file lists (`listing`); then the page that promises most, by where its link stands and what its address looks like (`arms`), counting also what
//! the pages promise that it leads to (`outlook`).
//!
//! Invariants: a link is handed out once; the memory is bounded by [`Settings`]; chance is an argument, and the same answers and
//! draws give the same choices.
//!
//! Not here: fetching, which links are in scope, and what is in the files.
//!
//! # References
//! Gauquier, Manolescu and Senellart, SB-CLASSIFIER, 2026 (arXiv 2602.11874): links are grouped by tag paths, and the groups are arms of a
//! sleeping bandit; [`Order::TagPaths`] is that. Departures: in `tag_path`, `address` and `arms`.

mod address;
mod analogy;
mod arms;
mod collector;
mod experience;
mod gamma;
mod link;
mod listing;
mod names;
mod numbers;
mod order;
mod outlook;
mod tag_path;
#[cfg(test)]
mod testing;
mod wording;

pub use collector::{Collector, Tally};
pub use experience::Experience;
pub use link::{Fetched, LinkNumber, LinkSeen, Looks};
pub use names::names_in;
pub use order::{Order, Settings, UnknownOrder};

#[cfg(test)]
mod tests;
