//! What comes in: reports of the workers, and the URLs that they found.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Duration;

use junkai_fetch::DnsFailure;
use junkai_frontier::backlog::{Entry, NotReplaced};
use junkai_frontier::{EndReport, Event, Overflow, Place, Time};
use junkai_weburl::{Fingerprint, PageUrl};

use super::Rounds;
use crate::CrawlError;
use crate::control::Live;
use crate::hosts::Whereabouts;
use crate::log::{self, WarcPlace};
use crate::visit::{
    Discovered, EndedVisit, Fate, Outcome, Purpose, Report, Visit, status, timestamp_of,
};

/// Reports taken in per round at most, so that starts are not kept waiting.
const REPORTS_PER_ROUND: usize = 1024;
/// A server that asks for rest is tried again this many times as often as one that fails: it said that it will be back.
const OVERLOAD_PATIENCE: u8 = 4;
/// The wait between two tries is doubled at most so often.
const DOUBLINGS_MAX: u8 = 10;

impl Rounds {
    /// Offers the seeds that were not known yet.
    pub(super) fn admit_seeds(&mut self, seeds: Vec<PageUrl>) -> Result<(), CrawlError> {
        let seed = |url| Discovered {
            url,
            hop: None,
            depth: 0,
            purpose: Purpose::Page,
        };
        self.discover(seeds.into_iter().map(seed).collect(), "", "")
    }

    /// Takes in what the workers report, after waiting for the first report at most `patience`.
    pub(super) fn take_in_reports(&mut self, patience: Duration) -> Result<(), CrawlError> {
        let mut report = self.crew.report_within(patience)?;
        for _ in 0..REPORTS_PER_ROUND {
            match report {
                Some(Report::Ended(ended)) => self.visit_ended(*ended)?,
                Some(Report::Resolved { host, answer }) => {
                    for visit in self.hosts.answer(host, answer, self.clock.now()) {
                        self.line_up(visit)?;
                    }
                }
                Some(Report::Asked { url, reply }) => {
                    // Whoever asked may have gone.
                    let _gone = reply.send(self.live(&url));
                }
                Some(Report::Broken(reason)) => return Err(CrawlError::Worker { reason }),
                None => break,
            }
            report = self.crew.report_within(Duration::ZERO)?;
        }
        self.carry_out()?;
        self.follow_moved()
    }

    /// Where a URL's visit is at this moment.
    fn live(&self, url: &str) -> Live {
        let now = self.clock.now();
        let host = self
            .canonical
            .parse(url)
            .map(|url| url.host().to_owned())
            .unwrap_or_default();
        let server = match self.hosts.find(&host, now) {
            Whereabouts::At(_, key) => Some(self.scheduler.explain(key)),
            Whereabouts::Nowhere(_) | Whereabouts::Unknown => None,
        };
        if self.in_flight.contains(&Fingerprint::of(url)) {
            return Live::new("in flight", None, server);
        }
        match self.scheduler.find(|visit| visit.url.as_str() == url) {
            Some(Place::InRing { turn }) => {
                Live::new("in the ring", Some(timestamp_of(turn)), server)
            }
            Some(Place::Ready) => Live::new(
                "its slot has come: it starts when fewer visits are in flight",
                None,
                server,
            ),
            Some(Place::InLine) => Live::new(
                "its slot has come: it starts when its server's lease is free",
                None,
                server,
            ),
            None => Live::new("not in the ring", None, server),
        }
    }

    /// Learns everything from a visit that ended: the lease, the links, the log.
    fn visit_ended(&mut self, mut ended: EndedVisit) -> Result<(), CrawlError> {
        let now = self.clock.now();
        self.in_flight.remove(&ended.visit.url.fingerprint());
        // Before the lease is given back: the page that came in may be the last one asked for.
        self.count(&ended);
        self.scheduler.set_concurrency_max(self.starts_allowed());
        let (key, at) = (ended.key, ended.ended.min(now));
        if let Some(delay) = ended.crawl_delay {
            let interval = delay.max(self.scheduler.explain(key).interval);
            self.scheduler.step(
                now,
                Event::SetInterval { key, interval },
                &mut self.commands,
            );
        }
        self.scheduler.step(
            now,
            Event::Ended {
                key,
                at,
                report: ended.end,
            },
            &mut self.commands,
        );
        if ended.crawl_delay.is_some()
            || matches!(ended.end, EndReport::Overloaded { .. } | EndReport::Failed)
        {
            self.servers.note(&self.scheduler, key);
        }
        let links = std::mem::take(&mut ended.links);
        self.discover(links, ended.visit.url.as_str(), &ended.visit.hops)?;
        self.settle(ended, now)
    }

    /// Decides what becomes of the visit, and logs it.
    fn settle(&mut self, ended: EndedVisit, now: Time) -> Result<(), CrawlError> {
        let made = Made {
            started: ended.started,
            ended: ended.ended,
            worker: ended.worker,
            address: Some(ended.address),
        };
        match ended.fate {
            Fate::Done => {
                self.note(&ended.visit, &ended.outcome, made);
                self.backlog.ack(ended.visit.ticket);
                Ok(())
            }
            Fate::AnotherTurn => {
                self.note(&ended.visit, &ended.outcome, made);
                let again = Event::Again {
                    visit: ended.visit,
                    key: ended.key,
                };
                self.scheduler.step(now, again, &mut self.commands);
                Ok(())
            }
            Fate::Later(wait) => self.put_away(ended.visit, now + wait),
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
                    max: tries_max,
                    not_before,
                };
                self.retry(ended.visit, ended.outcome, made, tries)
            }
        }
    }

    /// Tries again later, or gives up.
    fn retry(
        &mut self,
        mut visit: Visit,
        mut outcome: Outcome,
        made: Made,
        tries: Tries,
    ) -> Result<(), CrawlError> {
        if tries.max <= visit.tries {
            self.progress.errors.add(1);
            outcome.result = format!(
                "given up after {} tries: {}",
                u16::from(visit.tries) + 1,
                outcome.result
            );
            self.note(&visit, &outcome, made);
            self.backlog.ack(visit.ticket);
            return Ok(());
        }
        self.progress.retried.add(1);
        outcome.annotations.push("retry".to_owned());
        self.note(&visit, &outcome, made);
        let wait = self.settings.crawl.retry_delay * (1 << visit.tries.min(DOUBLINGS_MAX));
        visit.tries += 1;
        self.put_away(visit, self.clock.now() + wait.max(tries.not_before))
    }

    /// A visit whose host has no address fails; whether it may be tried again depends on why.
    pub(super) fn without_address(
        &mut self,
        visit: Visit,
        failure: &DnsFailure,
    ) -> Result<(), CrawlError> {
        let now = self.clock.now();
        let made = Made {
            started: now,
            ended: now,
            worker: 0,
            address: None,
        };
        let outcome = Outcome {
            status: status::DNS_FAILED,
            result: failure.to_string(),
            ..Outcome::default()
        };
        let max = if failure.problem.is_temporary() {
            self.settings.crawl.retries_max
        } else {
            0
        };
        self.retry(
            visit,
            outcome,
            made,
            Tries {
                max,
                not_before: failure.ttl,
            },
        )
    }

    /// Logs and acknowledges a visit that is not going to be made.
    pub(super) fn dismiss(&mut self, visit: Visit, outcome: &Outcome) {
        let now = self.clock.now();
        self.note(
            &visit,
            outcome,
            Made {
                started: now,
                ended: now,
                worker: 0,
                address: None,
            },
        );
        self.backlog.ack(visit.ticket);
    }

    /// Moves a visit to a later place in the backlog.
    pub(super) fn put_away(&mut self, visit: Visit, due: Time) -> Result<(), CrawlError> {
        let entry = visit.entry(due);
        let mut ticket = visit.ticket;
        while let Err(NotReplaced {
            ticket: kept,
            source,
        }) = self.backlog.replace(ticket, &entry, self.clock.now())
        {
            ticket = kept;
            self.wait_for_room(source.into())?;
        }
        Ok(())
    }

    /// Appends to the backlog, however long it takes until there is room on the disk.
    pub(super) fn append(&mut self, entry: &Entry) -> Result<(), CrawlError> {
        while let Err(error) = self.backlog.append(entry, self.clock.now()) {
            self.wait_for_room(error.into())?;
        }
        Ok(())
    }

    /// Takes in URLs that are in scope: those that were not known go to the backlog.
    fn discover(
        &mut self,
        found: Vec<Discovered>,
        via: &str,
        hops: &str,
    ) -> Result<(), CrawlError> {
        if found.is_empty() {
            return Ok(());
        }
        let now = self.clock.now();
        let fingerprints: Vec<u64> = found.iter().map(Discovered::fingerprint).collect();
        let mut new = Vec::with_capacity(found.len());
        if self.seen.room() < found.len() {
            self.make_room_in_seen()?;
        }
        match self.settings.crawl.overflow {
            Overflow::Defer => self.seen.insert_batch(&fingerprints, &mut new)?,
            // A URL that finds no room must stay unknown: it becomes known when it is placed.
            Overflow::Discard => {
                for fingerprint in fingerprints {
                    new.push(!self.seen.contains(fingerprint)?);
                }
            }
        }
        for (found, new) in found.into_iter().zip(new) {
            if new {
                self.widen_scope(&found, hops);
                self.append(&found.entry(via, hops, now))?;
            }
        }
        Ok(())
    }

    /// Where a seed redirects to counts as a seed.
    fn widen_scope(&mut self, found: &Discovered, hops: &str) {
        let is_seed = matches!(found.hop, None | Some('R')) && hops.bytes().all(|hop| hop == b'R');
        if is_seed
            && found.purpose == Purpose::Page
            && let Ok(mut scope) = self.scope.write()
            && scope.add_root(&found.url)
        {
            self.servers.note_seed(&found.url);
        }
    }

    fn count(&mut self, ended: &EndedVisit) {
        let progress = &self.progress;
        if self.servers.is_new(ended.key) {
            progress.servers.add(1);
        }
        if matches!(ended.end, EndReport::Overloaded { .. }) {
            progress.overloaded.add(1);
        }
        if ended.fate != Fate::Done || ended.visit.purpose == Purpose::Robots {
            return;
        }
        match ended.outcome.status {
            status::ROBOTS_DENIED => progress.robots_denied.add(1),
            status if 0 < status => progress.pages.add(1),
            _ => progress.errors.add(1),
        }
    }

    /// Writes the log lines of a visit, or of the robots.txt fetched in its turn.
    fn note(&mut self, visit: &Visit, outcome: &Outcome, made: Made) {
        let (url, hops) = match &outcome.instead {
            Some(robots) => (robots.as_str(), format!("{}P", visit.hops)),
            None => (visit.url.as_str(), visit.hops.to_string()),
        };
        let duration = made.ended.saturating_duration_since(made.started);
        self.logs.note(&log::Event {
            time: timestamp_of(made.ended),
            status: outcome.status,
            size: outcome.size,
            url: url.into(),
            hops: hops.into(),
            via: Cow::Borrowed(&visit.via),
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
            result: Cow::Borrowed(&outcome.result),
        });
    }
}

/// How often and how soon a visit is tried again.
#[derive(Clone, Copy)]
struct Tries {
    max: u8,
    not_before: Duration,
}

/// When, where and by whom a visit was made.
#[derive(Clone, Copy)]
pub(super) struct Made {
    started: Time,
    ended: Time,
    worker: usize,
    address: Option<IpAddr>,
}
