//! What people have against a visit: their scope, what they paused, and sites that do not hold what is wanted.

use junkai_frontier::Time;

use super::shared::Shared;
use super::step::{Ending, Made, Step};
use crate::focus::Unwanted;
use crate::hosts::Hosts;
use crate::paused::Paused;
use crate::scope::{Found, Rule};
use crate::visit::{Outcome, Purpose, Visit, status};

/// What people object to, besides what the scope says.
pub(super) struct Objections {
    /// Sites that are left alone, because they do not hold what is wanted.
    pub(super) unwanted: Unwanted,
    /// Where no visit starts, by command.
    pub(super) paused: Paused,
}

/// Why a visit is not made now.
#[derive(Debug)]
pub(super) enum Objection {
    /// Its host or its server is paused, or its site does not hold what is wanted; it is asked about again then.
    PausedUntil(Time),
    /// The scope no longer takes its page.
    OutOfScope(Rule),
}

impl Objections {
    /// What is said against a visit that comes up, or is about to start.
    pub(super) fn against(
        &self,
        visit: &Visit,
        hosts: &Hosts,
        shared: &Shared,
    ) -> Option<Objection> {
        let now = shared.now;
        let found = match visit.purpose {
            Purpose::Robots { .. } => None,
            Purpose::Requisite => Some(Found::Requisite),
            Purpose::Sitemap => Some(Found::Sitemap),
            Purpose::Page if visit.is_seed() => Some(Found::Seed),
            Purpose::Page => Some(Found::Link(visit.depth)),
        };
        let rule = found.map(|found| shared.rule_for(&visit.url, found));
        if let Some(rule) = rule.filter(|rule| !rule.accepts()) {
            return Some(Objection::OutOfScope(rule));
        }
        if !visit.purpose.is_robots() && self.unwanted.has(&visit.url) {
            return Some(Objection::PausedUntil(now + Unwanted::DEFERRAL));
        }
        if self.paused.is_empty() {
            return None;
        }
        let host = visit.url.host();
        // A server whose address is not known yet is asked about when it is.
        let address = hosts.address_of(host, now);
        self.paused
            .until(host, address, now)
            .map(Objection::PausedUntil)
    }
}

impl Objection {
    /// What becomes of the visit.
    pub(super) fn step(self, visit: Visit, now: Time) -> Step {
        match self {
            Objection::PausedUntil(due) => Step::Defer { visit, due },
            Objection::OutOfScope(rule) => Step::Forget(Ending {
                visit,
                outcome: Outcome {
                    status: status::OUT_OF_SCOPE,
                    result: rule.to_string(),
                    is_out_of_scope: true,
                    ..Outcome::default()
                },
                made: Made::never(now),
            }),
        }
    }
}
