//! What comes in: visits that ended, and questions of people.

use std::net::SocketAddr;
use std::time::Duration;

use junkai_frontier::{EndReport, Event, Place, ServerKey, Time};
use junkai_weburl::Fingerprint;

use super::Engine;
use super::discovery::Origin;
use crate::CrawlError;
use crate::annotation;
use crate::hosts::Whereabouts;
use crate::live::{Live, Rests, delay_in_words};
use crate::told::What;
use crate::visit::{EndedVisit, Fate, Visit, robots_entry, status, timestamp_of};

/// From so long a rest of a host on, the live view tells of it.
const LONG_REST: Duration = Duration::from_secs(10);

impl Engine {
    /// Where a URL's visit is at this moment. `is_shared` says of which servers we wait for other crawls.
    pub fn live(&self, url: &str, now: Time, is_shared: impl Fn(SocketAddr) -> bool) -> Live {
        let (host, port) = self
            .canonical
            .parse(url)
            .map(|url| (url.host().to_owned(), url.port()))
            .unwrap_or_default();
        let (server, is_shared) = match self.hosts.find(&host, now) {
            Whereabouts::At(address, key) => {
                let is_shared = is_shared(SocketAddr::new(address, port));
                (Some(self.scheduler.explain(key)), is_shared)
            }
            Whereabouts::Nowhere(_) | Whereabouts::Unknown => (None, false),
        };
        let rest = Rests {
            host: self.paces.state(&host, now),
            is_shared,
        };
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
            Some(Place::InLine) if rest.is_shared => Live::new(
                "its slot has come: it starts when another crawl of this machine leaves its server to this one",
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
    /// ring than `crawl.lookahead`, each place filled at once from what was spilled. A start makes room in the ring: hand-outs follow it likewise,
    /// before its own report can come in.
    pub(super) fn visit_ended(&mut self, mut ended: EndedVisit) -> Result<(), CrawlError> {
        let now = self.now;
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
        if ended.asked.is_some() || ended.retry_after.is_some() {
            self.tell_of_host_rest(&ended.visit, now);
        }
        let report = ended.end;
        self.scheduler
            .step(now, Event::Ended { key, at, report }, &mut self.commands);
        if self.scheduler.server_state(key) != before {
            self.servers.note(&self.scheduler, key);
        }
        if let EndReport::Overloaded { .. } = report {
            self.tell_of_rest(&ended.visit, key, ended.outcome.status);
        }
        if let Some((origin, target)) = ended.rules_elsewhere.take() {
            self.room
                .append(&robots_entry(&target, &origin, now), now)?;
        }
        let _until_taken_in = std::mem::take(&mut ended.link_room);
        let links = std::mem::take(&mut ended.links);
        let mut origin = Origin::page(&ended.visit, links.len());
        if ended.outcome.instead.is_some() {
            origin = origin.by_rules();
        }
        let taken_in = self.discover(&links, &origin)?;
        ended.leads_to_new = 0 < taken_in.pages;
        if 0 < taken_in.refused {
            let refused = format!("{}{}", annotation::URLS_REFUSED, taken_in.refused);
            ended.outcome.annotations.push(refused);
        }
        self.take_in_inferred()?;
        if let Some(list) = ended.list {
            self.sitemaps.read(ended.visit.url.as_str(), list)?;
        }
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
        if self.told.is_news(What::RetryAfter, host) {
            let (url, until) = (&ended.visit.url, timestamp_of(until));
            tracing::info!(
                status = ended.outcome.status,
                "{url}: host {host} asks for rest (Retry-After), and has it until {until:.0}"
            );
        }
        if self.paces.hold(host, until, now) {
            self.servers.note_host(&self.paces, host);
        } else {
            // Where there is no room for one more host, its server rests.
            let key = ended.key;
            let hold = Event::Hold { key, until };
            self.scheduler.step(now, hold, &mut self.commands);
        }
    }

    /// For how long a server rests from now on, if that is longer than the usual interval, by which every crawl of this machine goes itself.
    #[must_use]
    pub fn rest_of(&self, key: ServerKey, now: Time) -> Option<Duration> {
        let free_at = self.scheduler.explain(key).free_at?;
        let rest = free_at.saturating_duration_since(now);
        (self.settings.politeness.interval < rest).then_some(rest)
    }

    /// The server asked another crawl of this machine for rest, or failed it.
    pub(super) fn tell_of_shared_rest(&mut self, server: SocketAddr, visit: &Visit, until: Time) {
        let until = timestamp_of(until);
        let reason = format!(
            "the server asked another crawl of this machine for rest, or failed it; it is left alone until {until:.0}"
        );
        tracing::info!("{server}: {reason}");
        if !self.first_pages.have_come() && visit.is_seed() {
            self.progress.tell_of(visit.url.as_str(), &reason);
            self.first_pages.rests(visit.url.as_str(), 0, &reason);
        }
    }

    /// While no page has come: says that the server of a seed asks for rest, which may take long.
    pub(super) fn tell_of_rest(&mut self, visit: &Visit, key: ServerKey, status: i32) {
        let now = self.now;
        let server = self.scheduler.server_state(key);
        if self.first_pages.have_come()
            || !visit.is_seed()
            || server.strikes == 0
            || server.hold_until <= now
        {
            return;
        }
        let until = timestamp_of(server.hold_until);
        let answer = match status {
            0 => String::new(),
            status => format!("{status}; "),
        };
        let reason = format!("{answer}the server asks for rest until {until:.0}");
        self.progress.tell_of(visit.url.as_str(), &reason);
        self.first_pages.rests(visit.url.as_str(), status, &reason);
    }

    /// Says that a host rests, as its robots.txt or an answer asks for: the visit waits for it. While no page has come, that is why.
    pub(super) fn tell_of_host_rest(&mut self, visit: &Visit, now: Time) {
        let host = visit.url.host();
        let state = self.paces.state(host, now);
        let Some(state) = state.filter(|state| now < state.free_at) else {
            return;
        };
        let until = timestamp_of(state.free_at);
        let asked = delay_in_words(&state.asks, &self.settings.politeness);
        let reason = match &asked {
            Some(delay) => format!(
                "the Crawl-delay in the robots.txt of {host} asks for {delay}; the host rests until {until:.0}"
            ),
            None => format!("{host} asks for rest until {until:.0}"),
        };
        let url = visit.url.as_str();
        let is_news = asked.is_some() && self.told.is_news(What::CrawlDelay, host);
        if is_news {
            tracing::info!("{reason}");
        }
        let is_missed = !self.first_pages.have_come() && visit.is_seed();
        if is_missed {
            self.first_pages.rests(url, 0, &reason);
        }
        // A short rest passes before anybody wonders.
        if (is_news || is_missed) && now + LONG_REST <= state.free_at {
            self.progress.tell_of(url, &reason);
        }
    }

    fn count(&mut self, ended: &EndedVisit) {
        self.bytes_received += ended.outcome.size;
        let progress = &self.progress;
        if self.servers.is_new(ended.key) {
            progress.servers.add(1);
        }
        if let EndReport::Overloaded { .. } = ended.end {
            progress.overloaded.add(1);
            let (server, url) = (ended.address, &ended.visit.url);
            tracing::info!(
                status = ended.outcome.status,
                "{url}: {server} asks for rest, and has it"
            );
        }
        if ended.fate != Fate::Done || ended.visit.purpose.is_robots() {
            return;
        }
        match ended.outcome.status {
            status::ROBOTS_DENIED => progress.robots_denied.add(1),
            status if 0 < status => progress.pages.add(1),
            _ => progress.errors.add(1),
        }
    }
}
