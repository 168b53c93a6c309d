//! What is done for a server whose known pages ask for more visits than it can bear.
//!
//! The agenda knows the interval that a page would have, and the pressure on its server; [`Relief`] says which interval it gets. The
//! pressure is moved until the load is what the server can bear (`price`), so every means gets there; they differ in
//! whose visits are held back, and so in what it costs ([`ReliefCost`]):
//!
//! - *price*: the visits that are worth least (`policy`); the optimum for whatever visits are for.
//! - *stretch*: Tamura and Kitsuregawa (2007): all intervals are multiplied. For versions captured it is the same optimum.
//! - *delay*: Tamura and Kitsuregawa (2007): a time is added to all intervals, which holds back most those that change most.
//! - *templates*: Tamura and Kitsuregawa (2007): of the pages with similar URLs one keeps its pace, the others are held back.
//! - *content*: Tamura and Kitsuregawa (2007): only changes of the content count, so that pages appear to change less often; meanwhile all intervals are
//!   multiplied.
//!
//! **Invariant:** relief never shortens an interval.

mod cost;
mod templates;

use std::time::Duration;

use junkai_frontier::Time;
use junkai_weburl::PageUrl;
use serde::{Deserialize, Serialize};

pub use cost::ReliefCost;
use templates::{Role, Templates};

use crate::belief::seconds;
use crate::price::Pressure;

/// A means to relieve an overloaded server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReliefKind {
    /// The least valuable visits go first.
    Price,
    /// All intervals are multiplied.
    Stretch,
    /// A time is added to all intervals.
    Delay,
    /// Of pages with similar URLs one keeps its pace.
    Templates,
    /// Only changes of content count.
    Content,
}

/// How visits to overloaded servers are held back.
#[derive(Clone, Debug)]
pub struct Relief {
    means: ReliefKind,
    by_content: bool,
    templates: Templates,
}

/// A page whose server is overloaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'a> {
    /// The page.
    pub(crate) page: &'a PageUrl,
    /// When it was visited.
    pub(crate) now: Time,
    /// The interval that it would have.
    pub(crate) wanted: Duration,
    /// The interval that it would have at the price of its server.
    pub(crate) priced: Duration,
    /// How far visits to its server must be held back.
    pub(crate) pressure: Pressure,
    /// The mean interval of the server's pages when it is loaded to its capacity.
    pub(crate) mean_interval: Duration,
}

/// From this pressure on, means that spare some pages spare none: they cannot bring the load down alone.
const SPARING_FACTOR_MAX: f64 = 1000.0;

impl Relief {
    /// By the means that the configuration lists: the first one that decides on intervals, and `content` beside it.
    #[must_use]
    pub fn new(kinds: &[ReliefKind]) -> Relief {
        let means = kinds
            .iter()
            .copied()
            .find(|kind| *kind != ReliefKind::Content);
        Relief {
            means: means.unwrap_or(ReliefKind::Stretch),
            by_content: kinds.contains(&ReliefKind::Content),
            templates: Templates::default(),
        }
    }

    /// Whether only changes of content count on a server under this pressure.
    #[must_use]
    pub fn counts_content_only(&self, pressure: Pressure) -> bool {
        self.by_content && pressure.is_some()
    }

    /// The interval that a page gets.
    pub(crate) fn interval(&mut self, case: &Case<'_>) -> Duration {
        let wanted = case.wanted.as_secs_f64();
        let factor = case.pressure.factor();
        let beyond = case
            .pressure
            .beyond(Pressure::of_factor(SPARING_FACTOR_MAX))
            .factor();
        let relieved = match self.means {
            ReliefKind::Price => case.priced.as_secs_f64() * beyond,
            ReliefKind::Stretch | ReliefKind::Content => wanted * factor,
            ReliefKind::Delay => wanted + (factor - 1.0) * case.mean_interval.as_secs_f64(),
            ReliefKind::Templates => match self.templates.role(case.page, case.now, case.wanted) {
                Role::Represents => wanted * beyond,
                Role::IsRepresented => wanted * factor,
            },
        };
        seconds(relieved).max(case.wanted)
    }
}
