//! What comes in: reports of the workers, and questions of people.

use std::time::Duration;

use junkai_frontier::{EndReport, Event, Place, Time};
use junkai_weburl::Fingerprint;

use super::Rounds;
use super::discovery::Origin;
use crate::CrawlError;
use crate::control::Live;
use crate::hosts::Whereabouts;
use crate::visit::{EndedVisit, Fate, Purpose, Report, robots_entry, status, timestamp_of};

/// Reports taken in per round at most, so that starts are not kept waiting.
const REPORTS_PER_ROUND: usize = 1024;

impl Rounds {
    /// Takes in what the workers report, after waiting for the first report at most `patience`.
    pub(super) fn take_in_reports(&mut self, patience: Duration) -> Result<(), CrawlError> {
        let mut report = self.crew.report_within(patience)?;
        for _ in 0..REPORTS_PER_ROUND {
            match report {
                Some(Report::Ended(ended)) => self.visit_ended(*ended)?,
                Some(Report::Resolved { host, answer }) => {
                    for waiter in self.hosts.answer(host, answer, self.clock.now()) {
                        self.host_answered(waiter)?;
                    }
                }
                Some(Report::Asked { url, reply }) => {
                    // Whoever asked may have gone.
                    let _gone = reply.send(self.live(&url));
                }
                Some(Report::Wished { wish, reply }) => {
                    let granted = self.wished(wish)?;
                    let _gone = reply.send(granted);
                    // To grant one may take a look through all that waits: starts are not kept waiting for a second.
                    break;
                }
                Some(Report::Broken(reason)) => return Err(CrawlError::Worker { reason }),
                None => break,
            }
            self.write_down_when_much()?;
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
        let rest = self.paces.state(&host, now);
        if self.in_flight.contains(&Fingerprint::of(url)) {
            return Live::new("in flight", None, server, rest);
        }
        match self.scheduler.find(|visit| visit.url.as_str() == url) {
            Some(Place::InRing { turn }) => {
                Live::new("in the ring", Some(timestamp_of(turn)), server, rest)
            }
            Some(Place::Ready) => Live::new(
                "its slot has come: it starts when fewer visits are in flight",
                None,
                server,
                rest,
            ),
            Some(Place::InLine) => Live::new(
                "its slot has come: it starts when its server's lease is free",
                None,
                server,
                rest,
            ),
            None => Live::new("not in the ring", None, server, rest),
        }
    }

    /// Learns everything from a visit that ended: the lease, the links, the log.
    ///
    /// Where links decide who comes next, who that is depends on the order of reports and starts alone. This is the sequence for each report: its
    /// links in the order of the document, each raising a page or offering a new one; the release of its own turn; hand-outs, while fewer wait in the
    /// ring than `crawl.lookahead`, each place filled at once from what was put aside. A start makes room in the ring: hand-outs follow it likewise,
    /// before its own report can come in.
    fn visit_ended(&mut self, mut ended: EndedVisit) -> Result<(), CrawlError> {
        let now = self.clock.now();
        self.in_flight.remove(&ended.visit.url.fingerprint());
        if ended.fate == Fate::Done {
            self.asked.remove(&ended.visit.url.fingerprint());
        }
        // Before the lease is given back: the page that came in may be the last one asked for.
        self.count(&ended);
        self.take_in_what_was_said(&mut ended)?;
        self.scheduler.set_concurrency_max(self.starts_allowed());
        let (key, at) = (ended.key, ended.ended.min(now));
        let before = self.scheduler.server_state(key);
        self.hear_host(&ended, now);
        let report = ended.end;
        self.scheduler
            .step(now, Event::Ended { key, at, report }, &mut self.commands);
        if self.scheduler.server_state(key) != before {
            self.servers.note(&self.scheduler, key);
        }
        if let Some((origin, target)) = ended.rules_elsewhere.take() {
            self.room.append(&robots_entry(&target, &origin, now))?;
        }
        let _until_taken_in = std::mem::take(&mut ended.link_room);
        let links = std::mem::take(&mut ended.links);
        let taken_in = self.discover(&links, &Origin::page(&ended.visit, links.len()))?;
        ended.leads_to_new = 0 < taken_in.pages;
        if 0 < taken_in.refused {
            let refused = format!("urlsRefused:{}", taken_in.refused);
            ended.outcome.annotations.push(refused);
        }
        self.take_in_inferred()?;
        let signals = std::mem::take(&mut ended.signals);
        self.settle(ended, now)?;
        self.take_in_signals(signals)?;
        self.hand_out_in_order()
    }

    /// Learns what the host asks for: by its robots.txt, or by an answer that wants to be left alone though its server bears it.
    fn hear_host(&mut self, ended: &EndedVisit, now: Time) {
        let host = ended.visit.url.host();
        let at = ended.ended.min(now);
        if let Some(asked) = &ended.asked
            && self.paces.told(&asked.host, asked.origin, asked.delay, now)
        {
            self.servers.note_host(&self.paces, &asked.host);
        }
        self.paces.end(host, at, ended.end);
        let Some(wait) = ended.retry_after.filter(|wait| !wait.is_zero()) else {
            return;
        };
        let until = at + wait.min(self.settings.politeness.retry_after_max);
        if self.paces.hold(host, until, now) {
            self.servers.note_host(&self.paces, host);
        } else {
            // Where there is no room for one more host, its server rests.
            let key = ended.key;
            let hold = Event::Hold { key, until };
            self.scheduler.step(now, hold, &mut self.commands);
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
}
