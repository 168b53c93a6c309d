//! Settling: decides what becomes of a visit after its turn, and logs it.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Duration;

use junkai_fetch::{DnsFailure, DnsProblem, Refused};
use junkai_frontier::{EndReport, Event, Time};
use junkai_revisit::Found;

use super::Engine;
use crate::CrawlError;
use crate::annotation;
use crate::log::{self, WarcPlace};
use crate::shortage::SHORTAGE_DEFERRAL;
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

impl Engine {
    /// Decides what becomes of the visit, and logs it.
    pub(super) fn settle(&mut self, ended: EndedVisit, now: Time) -> Result<(), CrawlError> {
        let made = Made {
            started: ended.started,
            ended: ended.ended,
            worker: ended.worker,
            address: Some(ended.address),
            leads_to_new: ended.leads_to_new,
        };
        self.watch_network(ended.outcome.status, u64::from(ended.key.number()));
        match ended.fate {
            Fate::Done => {
                let EndedVisit {
                    visit,
                    key,
                    found,
                    outcome,
                    ..
                } = ended;
                self.come_back(visit, outcome, made, found.map(|found| (key, found)))
            }
            Fate::AnotherTurn => {
                self.note(&ended.visit.for_the_log(), &ended.outcome, made);
                let again = Event::Again {
                    kind: ended.visit.kind(),
                    visit: ended.visit,
                    key: ended.key,
                };
                self.scheduler.step(now, again, &mut self.commands);
                Ok(())
            }
            Fate::Later(wait) => self.defer(ended.visit, now + wait),
            Fate::Short => self.defer_for_shortage(ended.visit, ended.outcome, made),
            Fate::NoProxy => self.defer_for_proxy(ended.visit, ended.outcome, made),
            Fate::Retry { not_before } => {
                let tries_max = match ended.end {
                    EndReport::Overloaded { .. } => self
                        .settings
                        .crawl
                        .retries_max
                        .saturating_mul(OVERLOAD_PATIENCE),
                    _ => self.settings.crawl.retries_max,
                };
                let tries = Tries {
                    max: tries_max.min(TRIES_MAX),
                    not_before,
                    found: Found::Failed,
                };
                self.retry(ended.visit, ended.outcome, made, tries)
            }
        }
    }

    /// Learns from a visit that ended whether the network is there.
    fn watch_network(&mut self, status: i32, whom: u64) {
        let now = self.now;
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
    fn held_until(&self, status: i32) -> Option<Time> {
        let is_of_network = matches!(
            status,
            status::CONNECT_FAILED | status::DNS_FAILED | status::ROBOTS_UNREACHABLE
        );
        let may_wait = is_of_network && !self.settings.crawl.once;
        self.outage.held_until(self.now).filter(|_| may_wait)
    }

    /// Defers a visit without counting a failed try, because our own machine is short of something.
    fn defer_for_shortage(
        &mut self,
        visit: Visit,
        mut outcome: Outcome,
        made: Made,
    ) -> Result<(), CrawlError> {
        let now = self.now;
        if self.shortage.met(self.scheduler.in_flight(), now) {
            tracing::warn!(reason = outcome.result, "fewer visits are made at a time");
        }
        self.progress.held.add(1);
        outcome.annotations.push(annotation::HELD.to_owned());
        self.note(&visit.for_the_log(), &outcome, made);
        self.defer(visit, now + SHORTAGE_DEFERRAL)
    }

    /// Defers a visit without counting a failed try, because the proxy failed. A crawl that is to end does not wait for that for ever.
    fn defer_for_proxy(
        &mut self,
        visit: Visit,
        mut outcome: Outcome,
        made: Made,
    ) -> Result<(), CrawlError> {
        if self.settings.crawl.once {
            let tries = Tries {
                max: self.settings.crawl.retries_max.min(TRIES_MAX),
                not_before: Duration::ZERO,
                found: Found::Failed,
            };
            return self.retry(visit, outcome, made, tries);
        }
        self.progress.held.add(1);
        outcome.annotations.push(annotation::HELD.to_owned());
        self.note(&visit.for_the_log(), &outcome, made);
        self.defer(visit, self.now + PROXY_DEFERRAL)
    }

    /// Tries again later, or gives up.
    fn retry(
        &mut self,
        mut visit: Visit,
        mut outcome: Outcome,
        made: Made,
        tries: Tries,
    ) -> Result<(), CrawlError> {
        let is_verdict = !matches!(tries.found, Found::Failed);
        let held = self.held_until(outcome.status).filter(|_| !is_verdict);
        if let Some(until) = held {
            self.progress.held.add(1);
            outcome.annotations.push(annotation::HELD.to_owned());
            outcome.result = format!("held, as our own network seems down: {}", outcome.result);
            self.note(&visit.for_the_log(), &outcome, made);
            return self.defer(visit, until);
        }
        if tries.max <= visit.tries {
            self.progress.errors.add(1);
            let after = match visit.tries {
                0 => String::new(),
                failed => format!(" after {} tries", u16::from(failed) + 1),
            };
            outcome.result = format!("given up{after}: {}", outcome.result);
            self.becomes_known(&visit)?;
            return self.come_back_to_failed(visit, outcome, made, tries.found);
        }
        self.progress.retried.add(1);
        outcome.annotations.push(annotation::RETRY.to_owned());
        self.note(&visit.for_the_log(), &outcome, made);
        let wait = self.settings.crawl.retry_delay * (1 << visit.tries.min(DOUBLINGS_MAX));
        visit.tries += 1;
        self.defer(visit, self.now + wait.max(tries.not_before))
    }

    /// A visit whose host has no address fails; whether it may be tried again depends on why.
    pub(super) fn without_address(
        &mut self,
        visit: Visit,
        failure: &DnsFailure,
    ) -> Result<(), CrawlError> {
        let now = self.now;
        let made = Made::never(now);
        let (status, result) = match &failure.problem {
            DnsProblem::Refused(refused) => (
                status::OUT_OF_SCOPE,
                format!("{refused}; {}", what_lets_pass(refused)),
            ),
            DnsProblem::Short(_) => (status::RUNTIME_ERROR, failure.to_string()),
            _ => (status::DNS_FAILED, failure.to_string()),
        };
        let outcome = Outcome {
            status,
            result,
            ..Outcome::default()
        };
        if let DnsProblem::Short(_) = failure.problem {
            return self.defer_for_shortage(visit, outcome, made);
        }
        if let Purpose::Robots { origin } = &visit.purpose {
            self.rules.give_up(origin.origin(), now);
        }
        let (max, found) = match &failure.problem {
            problem if problem.is_temporary() => (self.settings.crawl.retries_max, Found::Failed),
            DnsProblem::Refused(_) => (0, Found::Failed),
            // A name that is dead.
            _ => (0, Found::Gone),
        };
        if failure.problem.is_temporary() {
            self.watch_network(status, visit.host());
        }
        let tries = Tries {
            max,
            not_before: failure.ttl,
            found,
        };
        self.retry(visit, outcome, made, tries)
    }

    /// Logs and acknowledges a visit that is not going to be made. A known page is tried again at a later time: what keeps it out may pass.
    pub(super) fn dismiss(&mut self, visit: Visit, outcome: Outcome) -> Result<(), CrawlError> {
        self.becomes_known(&visit)?;
        let made = Made::never(self.now);
        self.come_back_to_failed(visit, outcome, made, Found::Failed)
    }

    /// Moves a visit to a later time.
    pub(super) fn defer(&mut self, visit: Visit, due: Time) -> Result<(), CrawlError> {
        if visit.state.is_some() {
            return self.known.defer(visit, due, self.now);
        }
        self.becomes_known(&visit)?;
        self.room.defer(visit, due, self.now)
    }

    /// Tells of a visit without an answer. Of the pages that a robots.txt keeps out there may be many: they are told of once for each host.
    fn tell_without_answer(&mut self, url: &str, status: i32, result: &str) {
        let host = url.split('/').nth(2).unwrap_or(url);
        if status != status::ROBOTS_DENIED {
            tracing::info!("{url}: {result}");
        } else if self.told.is_news(What::KeepsOut, host) {
            tracing::info!("{url}: {result} (-vv tells of every such page of {host})");
        } else {
            tracing::debug!("{url}: {result}");
        }
    }

    /// Writes the log lines of a visit, or of the robots.txt fetched in its turn.
    pub(super) fn note(&mut self, visit: &Logged<'_>, outcome: &Outcome, made: Made) {
        let (url, hops) = match &outcome.instead {
            Some(robots) => (robots.as_str(), Cow::Owned(format!("{}P", visit.hops))),
            None => (visit.url, Cow::Borrowed(visit.hops)),
        };
        if outcome.status <= 0
            && outcome.status != status::ROBOTS_DENIED
            && !outcome.is_out_of_scope
            && !outcome.result.is_empty()
        {
            self.progress.tell_of(url, &outcome.result);
        }
        if outcome.instead.is_none() && outcome.is_cut() {
            self.progress.bodies_cut.add(1);
        }
        // What a robots.txt redirects to is no page either.
        let is_of_rules = outcome.instead.is_some() || visit.is_robots;
        if !is_of_rules {
            let is_tried_again = |word: &String| matches!(word.as_str(), "retry" | "held");
            let is_tried_again = outcome.annotations.iter().any(is_tried_again);
            self.first_pages
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
            self.tell_without_answer(url, status, result);
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

/// When, where and by whom a visit was made.
#[derive(Clone, Copy)]
pub(super) struct Made {
    pub(super) started: Time,
    pub(super) ended: Time,
    worker: usize,
    address: Option<IpAddr>,
    /// Whether it led to pages that were not known.
    pub(super) leads_to_new: bool,
}

impl Made {
    /// A visit that was not made, as of `now`.
    pub(super) fn never(now: Time) -> Made {
        Made {
            started: now,
            ended: now,
            worker: 0,
            address: None,
            leads_to_new: false,
        }
    }
}
