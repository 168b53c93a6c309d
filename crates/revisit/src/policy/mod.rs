//! When to come back to a page, and which page before another.
//!
//! A [`Policy`] turns what is known of a page (its [`Outlook`]) and what a visit costs ([`Terms`]) into the time until the next visit: so
//! the crawl plans. The lab also asks it for the urgency of pages, and visits the most urgent: both are the same rule, because
//! a page is due when its urgency reaches the price at which all visits together meet the budget.
//!
//! [`Index`] is the default, [`ChangeInterval`] is Tamura and Kitsuregawa's (2007), [`Uniform`] visits all pages alike. [`PolicyKind`] names them in the
//! configuration. Read [`Outlook`] first, then [`index`].
//!
//! Not here: how the price comes about (`price`), what a server can bear (`servers`), and what is done if it cannot (`relief`).

mod bounds;
mod change_interval;
mod chosen;
pub mod index;
mod signals;
mod uniform;
mod value;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use bounds::Bounds;
pub use change_interval::{ChangeInterval, FirstRevisit};
pub use chosen::Chosen;
pub use index::{Index, Objective};
pub use signals::{SignalQuality, Signals};
pub use uniform::Uniform;
pub(crate) use value::EXPOSURE_MAX;
pub use value::{exposure_worth, visit_value};

use crate::belief::Belief;
use crate::draw::Draw;

/// Plans visits, and ranks pages.
pub trait Policy: std::fmt::Debug + Send + Sync {
    /// The time from the last visit to the next; [`Duration::MAX`] for a page that is not worth a visit.
    fn interval(&self, outlook: &Outlook, terms: &Terms, draw: Draw) -> Duration;

    /// How urgent a visit is when so much time has passed since the last: the greatest comes first.
    fn urgency(&self, outlook: &Outlook, elapsed: Duration) -> f64;
}

/// What is known of a page when its next visit is planned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// How often it is believed to change.
    pub belief: Belief,
    /// What the page is worth, where a usual page is worth one.
    pub worth: f64,
    /// What others have signalled since the last visit.
    pub signals: Signals,
    /// Whether it was visited only once.
    pub is_new: bool,
}

impl Outlook {
    /// A page of usual worth, seen more than once, that nobody has said anything of.
    #[must_use]
    pub const fn new(belief: Belief) -> Outlook {
        Outlook {
            belief,
            worth: 1.0,
            signals: Signals::NONE,
            is_new: false,
        }
    }
}

/// What a visit costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// The price of a visit to the page's server: what a visit must be worth to be made.
    pub price: f64,
    /// How many times as long the intervals of that server must be, for policies that know no price; 1 or more.
    pub stretch: f64,
    /// The interval at which all pages would be visited if they were visited alike.
    pub mean_interval: Duration,
}

/// Which policy plans the visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyKind {
    /// A page is visited when a visit is worth its price; meets a budget of visits a day.
    #[default]
    Index,
    /// Tamura and Kitsuregawa (2007): the interval is the estimated time between two changes.
    #[serde(rename = "seed")]
    ChangeInterval,
    /// All pages alike.
    Uniform,
}
