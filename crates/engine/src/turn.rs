//! What the turn of a visit is spent on, and what an exchange means for its server and its page.
//!
//! Workers ask here, on their own threads: a hostile robots.txt may take milliseconds to answer. So does the simulation.

use std::time::{Duration, SystemTime};

use junkai_fetch::{Exchange, Failure};
use junkai_frontier::{EndReport, Time};

use crate::rules::{RULES_PATIENCE, Rules, Say};
use crate::visit::{Fate, Outcome, Visit, status};

/// Added to the rest that a server asks for after an exchange that we cut short.
const ABORT_SLACK: Duration = Duration::from_secs(1);

/// What the turn of a visit is spent on.
#[derive(Debug)]
pub enum Spend {
    /// The page.
    Page,
    /// This robots.txt: the page takes another turn.
    Rules(String),
    /// Nothing: no request is made.
    Nothing {
        /// What becomes of the visit.
        fate: Fate,
        /// Why, for the logs.
        outcome: Box<Outcome>,
    },
}

/// What the turn of a visit to a page is spent on, by what robots.txt says at this moment.
#[must_use]
pub fn spend(visit: &Visit, rules: &Rules, now: Time) -> Spend {
    let is_allowed = visit.allowed_until.is_some_and(|until| now < until);
    match rules.ask(&visit.url, now) {
        Say::Allowed => Spend::Page,
        Say::Fetch(_) if is_allowed => Spend::Page,
        Say::Fetch(robots) => Spend::Rules(robots),
        Say::OnTheirWay => Spend::Nothing {
            fate: Fate::Later(RULES_PATIENCE),
            outcome: Box::default(),
        },
        Say::Denied { why } => Spend::Nothing {
            fate: Fate::Done,
            outcome: Box::new(Outcome::robots_denied(&why)),
        },
        Say::Unreachable { wait, why } => {
            let why = if why.is_empty() {
                why
            } else {
                format!(" ({why})")
            };
            let outcome = Outcome {
                status: status::ROBOTS_UNREACHABLE,
                result: format!(
                    "robots.txt cannot be had{why}, so nothing of this host may be visited"
                ),
                ..Outcome::default()
            };
            Spend::Nothing {
                fate: Fate::Retry { not_before: wait },
                outcome: Box::new(outcome),
            }
        }
    }
}

/// What the server's lease learns from an exchange.
#[must_use]
pub fn end_report(exchange: &Exchange, started: Time, ended: Time, wall: SystemTime) -> EndReport {
    if let Some(429 | 503) = exchange.status() {
        let retry_after = exchange.retry_after(wall);
        // Where we cut the answer short, the server may notice later than we do.
        let slack = if exchange.failure().is_some() {
            ABORT_SLACK
        } else {
            Duration::ZERO
        };
        let retry_after = retry_after.map(|wait| wait + slack);
        return EndReport::Overloaded { retry_after };
    }
    match exchange.failure() {
        None => EndReport::Answered {
            duration: ended.saturating_duration_since(started),
        },
        Some(
            Failure::BadRequest(_)
            | Failure::Refused(_)
            | Failure::Proxy(_)
            | Failure::ProxyRefused(_),
        ) => EndReport::Unvisited,
        Some(Failure::Short(_)) if exchange.request.is_empty() => EndReport::Unvisited,
        Some(Failure::Connect(_) | Failure::StaleConnection) => EndReport::Failed,
        Some(_) => EndReport::Aborted,
    }
}

/// How long an answer asked to be left alone, though it told of no overload: what then rests is its host, which says so, and not its server.
#[must_use]
pub fn retry_after(exchange: &Exchange, end: EndReport, wall: SystemTime) -> Option<Duration> {
    match end {
        // The lease learns it from the report.
        EndReport::Overloaded { .. } => None,
        _ => exchange.retry_after(wall),
    }
}

/// What becomes of a visit that failed on our side, whatever it was for.
#[must_use]
pub fn fate_of_our_own(exchange: &Exchange) -> Option<Fate> {
    match exchange.failure()? {
        Failure::Short(_) => Some(Fate::Short),
        Failure::Proxy(_) => Some(Fate::NoProxy),
        _ => None,
    }
}

/// Whether the page is done, or may be had later.
#[must_use]
pub fn fate(exchange: &Exchange, end: EndReport) -> Fate {
    let again = Fate::Retry {
        not_before: Duration::ZERO,
    };
    if matches!(end, EndReport::Overloaded { .. }) {
        return again;
    }
    // A message that came in part is a capture, marked as truncated.
    let has_body = exchange.head.is_some() && !exchange.body().is_empty();
    match exchange.failure() {
        Some(
            Failure::BadRequest(_)
            | Failure::Refused(_)
            | Failure::BadResponse(_)
            | Failure::HeadTooLarge,
        )
        | None => Fate::Done,
        Some(_) => {
            if has_body {
                Fate::Done
            } else {
                again
            }
        }
    }
}
