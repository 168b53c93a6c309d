//! The policy that the configuration names.

use std::time::Duration;

use super::{
    ChangeInterval, FirstRevisit, Index, Objective, Outlook, Policy, PolicyKind, Terms, Uniform,
};
use crate::config::RevisitConfig;
use crate::draw::Draw;

/// One of the policies that a crawl can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chosen {
    /// A page is visited when a visit is worth its price.
    Index(Index),
    /// The interval is the estimated time between two changes.
    ChangeInterval(ChangeInterval),
    /// All pages alike.
    Uniform(Uniform),
}

impl Chosen {
    /// The policy of these settings.
    #[must_use]
    pub fn new(config: &RevisitConfig) -> Chosen {
        let first = FirstRevisit {
            shortest: config.first_min,
            longest: config.first_max,
        };
        match config.policy {
            PolicyKind::Index => Chosen::Index(Index {
                objective: Objective::new(config.objective),
                first: config.visits_a_day.is_none().then_some(first),
            }),
            PolicyKind::ChangeInterval => Chosen::ChangeInterval(ChangeInterval { first }),
            PolicyKind::Uniform => Chosen::Uniform(Uniform),
        }
    }
}

impl Policy for Chosen {
    fn interval(&self, outlook: &Outlook, terms: &Terms, draw: Draw) -> Duration {
        match self {
            Chosen::Index(index) => index.interval(outlook, terms, draw),
            Chosen::ChangeInterval(interval) => interval.interval(outlook, terms, draw),
            Chosen::Uniform(uniform) => uniform.interval(outlook, terms, draw),
        }
    }

    fn urgency(&self, outlook: &Outlook, elapsed: Duration) -> f64 {
        match self {
            Chosen::Index(index) => index.urgency(outlook, elapsed),
            Chosen::ChangeInterval(interval) => interval.urgency(outlook, elapsed),
            Chosen::Uniform(uniform) => uniform.urgency(outlook, elapsed),
        }
    }
}
