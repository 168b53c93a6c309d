//! When to come back.
//!
//! [`Planner`] is the front door: the driver (the crawler, or the lab) tells it what each visit found, a [`Sighting`], and is
//! told when to come back. What is kept of a page in between is its [`PageState`]. Inside, [`estimator`] says how often a
//! page changes, and [`agenda`] plans by it: [`policy`] says when a visit is worth its [`price`], [`servers`] what they can bear, and
//! [`relief`] what is done for those that cannot.
//!
//! **Invariant:** this room never knows where states are stored, and sees neither clock, socket nor file: time and chance
//! ([`Draw`]) are arguments, so the lab runs the very code that crawls.

pub mod agenda;
mod belief;
mod change;
mod codec;
mod config;
mod draw;
pub mod estimator;
mod explanation;
mod planner;
pub mod policy;
mod polygamma;
pub mod price;
pub mod relief;
pub mod servers;
mod sighting;
mod sites;
mod state;
mod trust;
mod version;

pub use agenda::Agenda;
pub use belief::Belief;
pub use change::{Change, ChangeRule, Counts, Sameness};
pub use config::RevisitConfig;
pub use draw::Draw;
pub use estimator::EstimatorKind;
pub use explanation::{Explanation, Reason};
pub use junkai_page::content::Content;
pub use planner::{Advice, GiveUp, Judgement, Look, Looking, Next, Planner, RestoreError};
pub use policy::PolicyKind;
pub use relief::{ReliefCost, ReliefKind};
pub use servers::{ServerReport, ServersConfig};
pub use sighting::{Found, Hints, Sighting};
pub use sites::SiteRates;
pub use state::PageState;
pub use trust::{Source, Trust};
pub use version::{DIGEST_BYTES_MAX, DIGEST_BYTES_MIN, Digest, ETAG_BYTES_MAX, Place, Version};
