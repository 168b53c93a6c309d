//! Of which site to fetch a page next, so that few fetches tell which sites hold what is wanted.
//!
//! A driver adds sites to an [`Explorer`], fetches a page of each site that it names, and tells it the probability that a classifier read
//! from that page. The explorer chooses by a [`Policy`], and says at any time what each site is taken for: a [`Verdict`]. The lab and a
//! crawl drive the same explorer. Read [`Explorer`] first, then [`Policy`].
//!
//! The model is Kato et al.'s (2022): each fetch of a site gives a probability from the site's own Beta distribution, whose mean is the probability
//! that the site holds what is wanted.
//!
//! Invariants: a site that was handed out is not handed out again before its answer; a choice takes O(log *n*) for *n* sites (but for
//! Thompson sampling, which draws for every site); the memory is bounded per site; chance is an argument, and the same answers and draws give
//! the same choices. So an explorer is kept by keeping its observations, and comes back by observing them again.
//!
//! Not here: which page of a site is fetched, and fetching it.

pub mod delta;

mod belief;
mod beta;
mod confidence;
mod evidence;
mod explorer;
mod foresight;
mod knowledge;
mod policy;
mod prior;
mod random;
mod reservation;
mod thompson;
mod threshold;
mod tournament;

pub use evidence::Evidence;
pub use explorer::{Explorer, Settings, SiteNumber, Verdict};
pub use policy::{Policy, UnknownPolicy};

/// Whoever gives chance: each call returns a number in `0..1`, all equally likely.
pub type Chance<'a> = &'a mut dyn FnMut() -> f64;
