//! Settling: decides what becomes of a visit after its turn, and logs it.
//!
//! Takes in visits that ended ([`Settling::settle`]) or cannot be made ([`Settling::without_address`]); returns the one [`Step`] that follows. When a known page is visited
//! next is in `revisits`. Not here: carrying out what is decided (`flow`).

use std::borrow::Cow;
use std::time::Duration;

use junkai_fetch::{DnsFailure, DnsProblem, Refused};
use junkai_frontier::{EndReport, Time};
use junkai_revisit::Found;

use super::shared::Shared;
use super::step::{Ending, Made, Step};
use crate::CrawlError;
use crate::annotation;
use crate::known::KnownPages;
use crate::log::{self, Logs, WarcPlace};
use crate::outage::Outage;
use crate::shortage::{SHORTAGE_DEFERRAL, Shortage};
use crate::sitemaps::Sitemaps;
use crate::told::What;
use crate::visit::{EndedVisit, Fate, Logged, Outcome, Purpose, Visit, status, timestamp_of};

/// A server that asks for rest is tried again this many times as often as one that fails: it said that it will be back.
const OVERLOAD_PATIENCE: u8 = 4;
/// How long a visit is held that the proxy failed.
const PROXY_DEFERRAL: Duration = Duration::from_mins(1);
/// Tries that are counted, whatever the settings say: a page's state has room for no more.
const TRIES_MAX: u8 = 14;
/// The wait between two tries is doubled at most so often.
const DOUBLINGS_MAX: u8 = 10;

/// What becomes of visits, and what is told of them.
pub(super) struct Settling {
    pub(super) logs: Logs,
    /// Whether a sitemap was found, where that matters.
    pub(super) sitemaps: Sitemaps,
    /// Whether our own network is down.
    outage: Outage,
    /// Whether our own machine is short of something.
    shortage: Shortage,
}

impl Settling {
    /// Nothing is wrong yet.
    pub(super) fn new(logs: Logs, sitemaps: Sitemaps) -> Settling {
        Settling {
            logs,
            sitemaps,
            outage: Outage::default(),
            shortage: Shortage::default(),
        }
    }

    /// How many visits may be in flight, as far as our machine is short of something.
    pub(super) fn visits_borne(&self, now: Time) -> Option<usize> {
        self.shortage.visits_max(now)
    }

    /// Decides what becomes of a visit that came to this fate, one of `in_flight`, and logs it.
    pub(super) fn settle(
        &mut self,
        ended: EndedVisit,
        in_flight: usize,
        known: &mut KnownPages,
        shared: &mut Shared,
    ) -> Result<Step, CrawlError> {
        let made = Made {
            started: ended.started,
            ended: ended.ended,
            worker: ended.worker,
            address: Some(ended.address),
            leads_to_new: ended.leads_to_new,
        };
        self.watch_network(
            ended.outcome.status,
            u64::from(ended.key.number()),
            shared.now,
        );
        let key = ended.key;
        let ending = Ending {
            visit: ended.visit,
            outcome: ended.outcome,
            made,
        };
        Ok(match ended.fate {
            Fate::Done => {
                let sighted = ended.found.map(|found| (key, found));
                return self.come_back(ending, sighted, known, shared);
            }
            Fate::AnotherTurn => {
                self.note_ending(&ending, shared);
                let visit = ending.visit;
                Step::Again { visit, key }
            }
            Fate::Later(wait) => Step::Defer {
                visit: ending.visit,
                due: shared.now + wait,
            },
            Fate::Short => self.defer_for_shortage(ending, in_flight, shared),
            Fate::NoProxy => self.defer_for_proxy(ending, shared),
            Fate::Retry { not_before } => {
                let retries_max = shared.settings.crawl.retries_max;
                let tries_max = match ended.end {
                    EndReport::Overloaded { .. } => retries_max.saturating_mul(OVERLOAD_PATIENCE),
                    _ => retries_max,
                };
                let tries = Tries {
                    max: tries_max.min(TRIES_MAX),
                    not_before,
                    found: Found::Failed,
                };
                self.retry(ending, tries, shared)
            }
        })
    }

    /// Learns from a visit that ended whether the network is there.
    fn watch_network(&mut self, status: i32, whom: u64, now: Time) {
        if 0 < status {
            if let Some(lasted) = self.outage.answered(now) {
                tracing::warn!(?lasted, "servers answer again: our network was down");
            }
        } else if matches!(status, status::CONNECT_FAILED | status::DNS_FAILED)
            && self.outage.unreached(whom, now)
        {
            tracing::warn!(
                "many servers in a row cannot be reached: our network may be down, and visits that fail are held until one answers"
            );
        }
    }

    /// Until when a visit that failed is held because our own network is down. A crawl that is to end does not wait for that.
    fn held_until(&self, status: i32, shared: &Shared) -> Option<Time> {
        let is_of_network = matches!(
            status,
            status::CONNECT_FAILED | status::DNS_FAILED | status::ROBOTS_UNREACHABLE
        );
        let may_wait = is_of_network && !shared.settings.crawl.once;
        self.outage.held_until(shared.now).filter(|_| may_wait)
    }

    /// Defers a visit without counting a failed try, because our own machine is short of something.
    fn defer_for_shortage(
        &mut self,
        ending: Ending,
        in_flight: usize,
        shared: &mut Shared,
    ) -> Step {
        let now = shared.now;
        if self.shortage.met(in_flight, now) {
            let reason = &ending.outcome.result;
            tracing::warn!(reason, "fewer visits are made at a time");
        }
        self.hold(ending, now + SHORTAGE_DEFERRAL, shared)
    }

    /// Defers a visit without counting a failed try, because the proxy failed. A crawl that is to end does not wait for that for ever.
    fn defer_for_proxy(&mut self, ending: Ending, shared: &mut Shared) -> Step {
        if shared.settings.crawl.once {
            let tries = Tries {
                max: shared.settings.crawl.retries_max.min(TRIES_MAX),
                not_before: Duration::ZERO,
                found: Found::Failed,
            };
            return self.retry(ending, tries, shared);
        }
        self.hold(ending, shared.now + PROXY_DEFERRAL, shared)
    }

    /// Defers a visit that failed for a reason of our own.
    fn hold(&mut self, mut ending: Ending, due: Time, shared: &mut Shared) -> Step {
        shared.progress.held.add(1);
        let annotations = &mut ending.outcome.annotations;
        annotations.push(annotation::HELD.to_owned());
        self.note_ending(&ending, shared);
        let visit = ending.visit;
        Step::Defer { visit, due }
    }

    /// Tries again later, or gives up.
    fn retry(&mut self, mut ending: Ending, tries: Tries, shared: &mut Shared) -> Step {
        let is_verdict = !matches!(tries.found, Found::Failed);
        let outcome = &mut ending.outcome;
        let held = self.held_until(outcome.status, shared);
        if let Some(until) = held.filter(|_| !is_verdict) {
            outcome.result = format!("held, as our own network seems down: {}", outcome.result);
            return self.hold(ending, until, shared);
        }
        let failed = ending.visit.tries;
        if tries.max <= failed {
            shared.progress.errors.add(1);
            let after = match failed {
                0 => String::new(),
                failed => format!(" after {} tries", u16::from(failed) + 1),
            };
            outcome.result = format!("given up{after}: {}", outcome.result);
            let found = tries.found;
            return Step::GiveUp { ending, found };
        }
        shared.progress.retried.add(1);
        outcome.annotations.push(annotation::RETRY.to_owned());
        self.note_ending(&ending, shared);
        let wait = shared.settings.crawl.retry_delay * (1 << failed.min(DOUBLINGS_MAX));
        let mut visit = ending.visit;
        visit.tries += 1;
        let due = shared.now + wait.max(tries.not_before);
        Step::Defer { visit, due }
    }

    /// A visit whose host has no address fails; whether it may be tried again depends on why.
    pub(super) fn without_address(
        &mut self,
        visit: Visit,
        failure: &DnsFailure,
        in_flight: usize,
        shared: &mut Shared,
    ) -> Step {
        let now = shared.now;
        let (status, result) = match &failure.problem {
            DnsProblem::Refused(refused) => (
                status::OUT_OF_SCOPE,
                format!("{refused}; {}", what_lets_pass(refused)),
            ),
            DnsProblem::Short(_) => (status::RUNTIME_ERROR, failure.to_string()),
            _ => (status::DNS_FAILED, failure.to_string()),
        };
        let ending = Ending {
            visit,
            outcome: Outcome {
                status,
                result,
                ..Outcome::default()
            },
            made: Made::never(now),
        };
        if let DnsProblem::Short(_) = failure.problem {
            return self.defer_for_shortage(ending, in_flight, shared);
        }
        if let Purpose::Robots { origin } = &ending.visit.purpose {
            shared.rules.give_up(origin.origin(), now);
        }
        let (max, found) = match &failure.problem {
            problem if problem.is_temporary() => (shared.settings.crawl.retries_max, Found::Failed),
            DnsProblem::Refused(_) => (0, Found::Failed),
            // A name that is dead.
            _ => (0, Found::Gone),
        };
        if failure.problem.is_temporary() {
            self.watch_network(status, ending.visit.host(), now);
        }
        let tries = Tries {
            max,
            not_before: failure.ttl,
            found,
        };
        self.retry(ending, tries, shared)
    }

    /// Writes the log lines of a visit that is over.
    pub(super) fn note_ending(&mut self, ending: &Ending, shared: &mut Shared) {
        self.note(
            &ending.visit.for_the_log(),
            &ending.outcome,
            ending.made,
            shared,
        );
    }

    /// Writes the log lines of a visit, or of the robots.txt fetched in its turn.
    pub(super) fn note(
        &mut self,
        visit: &Logged<'_>,
        outcome: &Outcome,
        made: Made,
        shared: &mut Shared,
    ) {
        let (url, hops) = match &outcome.instead {
            Some(robots) => (robots.as_str(), Cow::Owned(format!("{}P", visit.hops))),
            None => (visit.url, Cow::Borrowed(visit.hops)),
        };
        if outcome.status <= 0
            && outcome.status != status::ROBOTS_DENIED
            && !outcome.is_out_of_scope
            && !outcome.result.is_empty()
        {
            shared.progress.tell_of(url, &outcome.result);
        }
        if outcome.instead.is_none() && outcome.is_cut() {
            shared.progress.bodies_cut.add(1);
        }
        // What a robots.txt redirects to is no page either.
        let is_of_rules = outcome.instead.is_some() || visit.is_robots;
        if !is_of_rules {
            let is_tried_again = |word: &String| matches!(word.as_str(), "retry" | "held");
            let is_tried_again = outcome.annotations.iter().any(is_tried_again);
            shared
                .first_pages
                .tell(url, outcome.status, &outcome.result, is_tried_again);
            if !is_tried_again {
                self.sitemaps.ended(visit, outcome.status, &outcome.result);
            }
        }
        let duration = made.ended.saturating_duration_since(made.started);
        let (status, result) = (outcome.status, &outcome.result);
        if 0 < status {
            let ms = duration.as_millis();
            tracing::debug!("{url}: {result}, {} bytes in {ms} ms", outcome.size);
        } else if !result.is_empty() {
            tell_without_answer(url, status, result, shared);
        }
        self.logs.note(&log::Event {
            time: timestamp_of(made.ended),
            status: outcome.status,
            size: outcome.size,
            url: url.into(),
            hops,
            via: Cow::Borrowed(visit.via),
            mime: outcome.mime.as_deref().map(Cow::Borrowed),
            worker: made.worker,
            started: timestamp_of(made.started),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            digest: outcome.digest.as_deref().map(Cow::Borrowed),
            annotations: outcome
                .annotations
                .iter()
                .map(|text| Cow::Borrowed(text.as_str()))
                .collect(),
            warc: outcome.warc.as_ref().map(|place| WarcPlace {
                file: Cow::Borrowed(&place.file),
                offset: place.offset,
                length: place.length,
            }),
            server: made.address,
            change: outcome.change.as_deref().map(Cow::Borrowed),
            next_visit: outcome.next_visit,
            result: Cow::Borrowed(&outcome.result),
        });
    }
}

/// Tells of a visit without an answer. Of the pages that a robots.txt keeps out there may be many: they are told of once for each host.
fn tell_without_answer(url: &str, status: i32, result: &str, shared: &mut Shared) {
    let host = url.split('/').nth(2).unwrap_or(url);
    if status != status::ROBOTS_DENIED {
        tracing::info!("{url}: {result}");
    } else if shared.told.is_news(What::KeepsOut, host) {
        tracing::info!("{url}: {result} (-vv tells of every such page of {host})");
    } else {
        tracing::debug!("{url}: {result}");
    }
}

/// What lets an address pass that was refused, in the words of the command line.
fn what_lets_pass(refused: &Refused) -> String {
    let alone = format!("--allow {}", refused.network());
    if refused.kind.is_merely_private() {
        format!("--allow-private or {alone} lets it pass")
    } else {
        format!("{alone} lets it pass, --allow-private does not")
    }
}

/// How often and how soon a visit is tried again, and what it means if none succeeds.
struct Tries {
    max: u8,
    not_before: Duration,
    found: Found,
}

#[cfg(test)]
mod tests {
    use super::super::testing::Parts;
    use super::*;

    const PAGE: &str = "http://a.example/page";
    const FAILED: Fate = Fate::Retry {
        not_before: Duration::ZERO,
    };

    impl Parts {
        fn settle(&mut self, visit: Visit, status: i32, fate: Fate) -> Step {
            let ended = self.ended(visit, status, fate);
            self.settle_ended(ended)
        }

        fn settle_ended(&mut self, ended: EndedVisit) -> Step {
            let step = self
                .settling
                .settle(ended, 8, &mut self.known, &mut self.shared);
            step.unwrap()
        }
    }

    #[test]
    fn a_visit_that_fails_is_tried_again_ever_later_and_then_given_up() {
        let mut parts = Parts::with(|settings| settings.crawl.retries_max = 2);
        let mut visit = parts.visit(PAGE);
        let now = parts.shared.now;
        let delay = parts.shared.settings.crawl.retry_delay;
        for (tries, wait) in [(1, delay), (2, delay * 2)] {
            let step = parts.settle(visit, status::TIMED_OUT, FAILED);
            let Step::Defer { visit: again, due } = step else {
                panic!("{step:?}");
            };
            assert_eq!((again.tries, due), (tries, now + wait));
            visit = again;
        }
        let step = parts.settle(visit, status::TIMED_OUT, FAILED);
        let Step::GiveUp { ending, found } = step else {
            panic!("{step:?}");
        };
        assert!(matches!(found, Found::Failed));
        assert_eq!(parts.shared.progress.retried.read(), 2);
        assert_eq!(parts.shared.progress.errors.read(), 1);
        // It was never had: nobody comes back to it.
        let (known, shared) = (&mut parts.known, &mut parts.shared);
        let step = parts
            .settling
            .come_back_to_failed(ending, found, known, shared);
        assert!(matches!(step, Ok(Step::Done { server: None, .. })));
    }

    #[test]
    fn a_server_that_asks_for_rest_has_more_patience() {
        let mut parts = Parts::with(|settings| settings.crawl.retries_max = 1);
        let mut visit = parts.visit(PAGE);
        visit.tries = 1;
        let mut ended = parts.ended(visit, 503, FAILED);
        ended.end = EndReport::Overloaded { retry_after: None };
        let step = parts.settle_ended(ended);
        assert!(
            matches!(&step, Step::Defer { visit, .. } if visit.tries == 2),
            "{step:?}"
        );
    }

    #[test]
    fn a_turn_that_went_to_robots_txt_is_followed_by_another() {
        let mut parts = Parts::with(|_| {});
        let visit = parts.visit(PAGE);
        let step = parts.settle(visit, 200, Fate::AnotherTurn);
        assert!(matches!(step, Step::Again { .. }), "{step:?}");
    }

    #[test]
    fn a_shortage_of_ours_counts_no_try_and_lets_fewer_visits_start() {
        let mut parts = Parts::with(|_| {});
        let visit = parts.visit(PAGE);
        let now = parts.shared.now;
        assert_eq!(parts.settling.visits_borne(now), None);
        let step = parts.settle(visit, status::RUNTIME_ERROR, Fate::Short);
        let Step::Defer { visit, due } = step else {
            panic!("{step:?}");
        };
        assert_eq!((visit.tries, due), (0, now + SHORTAGE_DEFERRAL));
        assert!(
            parts
                .settling
                .visits_borne(now)
                .is_some_and(|borne| borne < 8)
        );
    }

    #[test]
    fn a_first_visit_that_came_to_an_end_makes_its_page_known() {
        let mut parts = Parts::with(|_| {});
        let visit = parts.visit(PAGE);
        let mut ended = parts.ended(visit, 404, Fate::Done);
        ended.found = Some(Found::Gone);
        let key = ended.key;
        let step = parts.settle_ended(ended);
        assert!(
            matches!(step, Step::Done { server: Some(server), .. } if server == key),
            "{step:?}"
        );
    }

    #[test]
    fn a_dead_name_is_given_up_and_a_name_server_that_fails_is_not() {
        let mut parts = Parts::with(|_| {});
        for (problem, is_over) in [(DnsProblem::NoSuchName, true), (DnsProblem::Timeout, false)] {
            let visit = parts.visit(PAGE);
            let failure = DnsFailure {
                problem,
                ttl: Duration::from_mins(5),
            };
            let step = parts
                .settling
                .without_address(visit, &failure, 0, &mut parts.shared);
            match step {
                Step::GiveUp { found, .. } => assert!(is_over && matches!(found, Found::Gone)),
                Step::Defer { due, .. } => {
                    assert!(!is_over && parts.shared.now + failure.ttl <= due);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
