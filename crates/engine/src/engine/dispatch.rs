//! Dispatch: from a visit whose turn may have come to an order, by way of its host's address, its server's line and its lease.
//!
//! Takes in visits ([`Dispatch::line_up`]), addresses ([`Dispatch::answer`]), what the scheduler asks for ([`Dispatch::decide`]) and ends of visits
//! ([`Dispatch::release`]); gives back a [`Step`] for each. Not here: who is next (`WaitingRoom`, `KnownPages`), and what becomes of a visit that ended (`settling`).

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hashbrown::HashSet;
use junkai_frontier::{
    Ask, Command, EndReport, Event, HostPaces, Overflow, Place, Scheduler, ServerKey, ServerState,
    Time,
};
use junkai_weburl::Fingerprint;

use super::Busy;
use super::objections::Objections;
use super::shared::Shared;
use super::step::Step;
use crate::CrawlError;
use crate::hosts::{Hosts, Waiter, Whereabouts};
use crate::live::{Live, Rests, delay_in_words};
use crate::rules::{Peek, RULES_PATIENCE};
use crate::servers::{Restored, Servers};
use crate::settings::Settings;
use crate::told::What;
use crate::visit::{
    Discovered, EndedVisit, Line, Outcome, Purpose, Resolution, Start, Visit, status, timestamp_of,
};

/// Commands of the scheduler that wait to be carried out while visits are handed out.
const COMMANDS_MAX: usize = 256;
/// From so long a rest of a host on, the live view tells of it.
const LONG_REST: Duration = Duration::from_secs(10);

/// Where servers are, and when they may be visited.
pub(super) struct Dispatch {
    pub(super) objections: Objections,
    hosts: Hosts,
    scheduler: Scheduler<Visit>,
    /// Hosts that ask for more rest than their server.
    paces: HostPaces,
    /// What the scheduler asked for and was not carried out yet; empty between stages.
    commands: Vec<Command<Visit>>,
    /// Visits that gave their turn back and line up anew: their host moved; empty between rounds.
    moved: Vec<Visit>,
    /// Pages whose visit is with a worker, for whoever asks.
    in_flight: HashSet<Fingerprint>,
}

impl Dispatch {
    /// Nothing is in the ring yet.
    pub(super) fn new(settings: &Settings, objections: Objections, now: Time) -> Dispatch {
        Dispatch {
            objections,
            hosts: Hosts::new(settings.ring.keys, settings.dns.cache_hosts),
            scheduler: Scheduler::new(
                &settings.ring,
                settings.politeness.clone(),
                settings.crawl.overflow,
                settings.crawl.concurrency.get(),
                now,
            ),
            paces: HostPaces::new(settings.politeness.clone()),
            commands: Vec::new(),
            moved: Vec::new(),
            in_flight: HashSet::new(),
        }
    }

    /// Goes on with what servers and hosts asked for in an earlier run.
    pub(super) fn restore(&mut self, servers: &[ServerState], restored: &Restored, now: Time) {
        self.scheduler.restore(servers.iter().copied());
        for host in &restored.hosts {
            self.paces.restore(host, !restored.was_closed, now);
        }
    }

    /// Lets so many visits be in flight.
    pub(super) fn set_concurrency_max(&mut self, concurrency_max: usize) {
        self.scheduler.set_concurrency_max(concurrency_max);
    }

    /// Moves what is due out of the ring.
    pub(super) fn tick(&mut self, now: Time) {
        self.scheduler.step(now, Event::Tick, &mut self.commands);
    }

    /// What the scheduler asks for, each to be [decided](Self::decide) on.
    pub(super) fn take_commands(&mut self) -> Vec<Command<Visit>> {
        std::mem::take(&mut self.commands)
    }

    /// Whether the scheduler asks for anything.
    pub(super) fn has_commands(&self) -> bool {
        !self.commands.is_empty()
    }

    /// Whether so much was asked for that it is to be carried out before more visits line up.
    pub(super) fn has_many_commands(&self) -> bool {
        COMMANDS_MAX <= self.commands.len()
    }

    /// Visits that gave their turn back, each to [line up](Self::line_up) anew.
    pub(super) fn take_moved(&mut self) -> Vec<Visit> {
        std::mem::take(&mut self.moved)
    }

    /// Takes in an address, and gives back the visits that waited for it, each to [go on](Self::go_on).
    pub(super) fn answer(&mut self, host: Box<str>, answer: Resolution, now: Time) -> Vec<Waiter> {
        self.hosts.answer(host, answer, now)
    }

    /// Visits that the ring has room for, besides those that are on their way there; in an order of its own no more than are to be booked ahead.
    pub(super) fn places(&self, lookahead: Option<usize>) -> usize {
        let on_their_way = self.hosts.waiting();
        let places = self.scheduler.room().saturating_sub(on_their_way);
        let Some(lookahead) = lookahead else {
            return places;
        };
        let booked = self.scheduler.waiting() + on_their_way;
        places.min(lookahead.saturating_sub(booked))
    }

    /// Brings a visit to its server's line in the ring, by way of its host's address; nothing is to be done if it waits for one that was asked for.
    pub(super) fn line_up(&mut self, visit: Visit, shared: &mut Shared) -> Option<Step> {
        let now = shared.now;
        if let Some(objection) = self.objections.against(&visit, &self.hosts, shared) {
            return Some(objection.step(visit, now));
        }
        let peek = shared.rules.peek(&visit.url, now);
        if !visit.purpose.is_robots()
            && let Some(why) = &peek.denied
        {
            shared.progress.robots_denied.add(1);
            return Some(Step::dismiss(visit, Outcome::robots_denied(why), now));
        }
        match self.hosts.find(visit.url.host(), now) {
            Whereabouts::At(address, _) if !may_visit(address, shared) => {
                Some(refuse_without_contact(visit, address, shared))
            }
            Whereabouts::At(_, key) => match self.host_turn(&visit, peek.crawl_delay, now) {
                Ok(()) => {
                    self.tell_of_rest(&visit, key, 0, shared);
                    Some(Step::Place { visit, key })
                }
                Err(due) => {
                    self.tell_of_host_rest(&visit, shared);
                    Some(Step::Defer { visit, due })
                }
            },
            Whereabouts::Nowhere(failure) => Some(Step::WithoutAddress { visit, failure }),
            Whereabouts::Unknown => {
                let host: Box<str> = visit.url.host().into();
                self.ask_for_host(host, Waiter::Placing(visit))
            }
        }
    }

    /// When a page that was just found is to come back, where its server has no turn for it in the ring. So it is written once, and not once to line up and once
    /// more to wait. Whatever else there is to say of it, by robots.txt, its host's pace or people, is said when it lines up, at once.
    pub(super) fn turn_beyond_ring(&mut self, found: &Discovered, shared: &Shared) -> Option<Time> {
        let now = shared.now;
        let is_plain = found.purpose == Purpose::Page
            && !shared.settings.is_ordered()
            && shared.settings.crawl.overflow == Overflow::Defer
            && self.objections.paused.is_empty();
        let Whereabouts::At(address, key) = self.hosts.find(found.url.host(), now) else {
            return None;
        };
        let is_deferred = is_plain
            && self.scheduler.is_out_of_turns(key)
            && may_visit(address, shared)
            && !self.paces.has(found.url.host())
            && shared.rules.peek(&found.url, now) == Peek::default();
        is_deferred.then(|| self.scheduler.defer_unseen(now, key))
    }

    fn ask_for_host(&mut self, host: Box<str>, waiter: Waiter) -> Option<Step> {
        self.hosts.wait(waiter).then_some(Step::Resolve(host))
    }

    /// Goes on with a visit whose host was asked for.
    pub(super) fn go_on(&mut self, waiter: Waiter, shared: &mut Shared) -> Option<Step> {
        match waiter {
            Waiter::Placing(visit) => self.line_up(visit, shared),
            Waiter::Starting { visit, key, at } => self.start(visit, key, at, shared),
        }
    }

    /// Lets a visit stand in the line of its server. Answers whether it found a place; else the scheduler asks what to do with it.
    pub(super) fn place(&mut self, mut visit: Visit, key: ServerKey, now: Time) -> bool {
        let kind = visit.kind();
        let event = match visit.line {
            Line::Moved => {
                visit.line = Line::Returning;
                Event::Moved { visit, key, kind }
            }
            Line::Returning => Event::Return { visit, key, kind },
            Line::New => Event::Offer { visit, key, kind },
        };
        let discarded = self.scheduler.counters().discarded;
        self.scheduler.step(now, event, &mut self.commands);
        self.scheduler.counters().discarded == discarded
    }

    /// The visit takes the next turn of its server.
    pub(super) fn again(&mut self, visit: Visit, key: ServerKey, now: Time) {
        let kind = visit.kind();
        let again = Event::Again { visit, key, kind };
        self.scheduler.step(now, again, &mut self.commands);
    }

    /// Sets the distance of a server's known pages.
    pub(super) fn set_revisit_interval(&mut self, key: ServerKey, interval: Duration, now: Time) {
        let event = Event::SetRevisitInterval { key, interval };
        self.scheduler.step(now, event, &mut self.commands);
    }

    /// Decides on what the scheduler asks for.
    pub(super) fn decide(&mut self, command: Command<Visit>, shared: &mut Shared) -> Option<Step> {
        match command {
            Command::Start { visit, key, at } => self.start(visit, key, at, shared),
            Command::Defer { visit, due, .. } => Some(Step::DeferForRoom { visit, due }),
            Command::Discard { visit } => Some(Step::Discard(visit)),
        }
    }

    /// Orders a visit, if its host is still where it was when the visit was placed. If that is no longer
    /// known, the visit keeps its turn and its lease until it is.
    fn start(
        &mut self,
        visit: Visit,
        key: ServerKey,
        at: Time,
        shared: &mut Shared,
    ) -> Option<Step> {
        let now = shared.now;
        if let Some(objection) = self.objections.against(&visit, &self.hosts, shared) {
            self.end_unvisited(key, now);
            return Some(objection.step(visit, now));
        }
        if self.objections.paused.all.is_some() {
            self.give_turn_back(visit, key, Line::Returning, now);
            return None;
        }
        match self.hosts.find(visit.url.host(), now) {
            Whereabouts::At(address, there) if there == key => {
                if let Err(due) = self.may_start(&visit, shared) {
                    self.end_unvisited(key, now);
                    return Some(Step::Defer { visit, due });
                }
                self.in_flight.insert(visit.url.fingerprint());
                Some(Step::Visit(Box::new(Start {
                    visit,
                    key,
                    address,
                    at,
                })))
            }
            Whereabouts::Unknown => {
                let host: Box<str> = visit.url.host().into();
                self.ask_for_host(host, Waiter::Starting { visit, key, at })
            }
            Whereabouts::At(..) | Whereabouts::Nowhere(_) => {
                self.give_turn_back(visit, key, Line::Moved, now);
                None
            }
        }
    }

    /// A visit whose server is another crawl's, or to be left alone, gives its lease back, and is the next in its line.
    pub(super) fn wait_for_others(&mut self, busy: Busy, shared: &mut Shared) {
        if busy.is_hold {
            let server = busy.start.server();
            tell_of_shared_rest(server, &busy.start.visit, busy.until, shared);
        }
        let now = shared.now;
        let Start { visit, key, .. } = *busy.start;
        self.in_flight.remove(&visit.url.fingerprint());
        self.paces.end(visit.url.host(), now, EndReport::Unvisited);
        let hold = Event::Hold {
            key,
            until: busy.until,
        };
        self.scheduler.step(now, hold, &mut self.commands);
        self.end_unvisited(key, now);
        self.again(visit, key, now);
    }

    /// A visit came back from its worker.
    pub(super) fn land(&mut self, visit: &Visit) {
        self.in_flight.remove(&visit.url.fingerprint());
    }

    /// Gives the lease of a visit that ended back, with what its server and its host ask for.
    pub(super) fn release(
        &mut self,
        ended: &EndedVisit,
        servers: &mut Servers,
        shared: &mut Shared,
    ) {
        let now = shared.now;
        let (key, at) = (ended.key, ended.ended.min(now));
        let before = self.scheduler.server_state(key);
        self.hear_host(ended, servers, shared);
        if ended.asked.is_some() || ended.retry_after.is_some() {
            self.tell_of_host_rest(&ended.visit, shared);
        }
        let report = ended.end;
        self.scheduler
            .step(now, Event::Ended { key, at, report }, &mut self.commands);
        if self.scheduler.server_state(key) != before {
            servers.note(&self.scheduler, key);
        }
        if let EndReport::Overloaded { .. } = report {
            self.tell_of_rest(&ended.visit, key, ended.outcome.status, shared);
        }
    }

    /// Learns what the host asks for: by its robots.txt, or by an answer that wants to be left alone though its server bears it.
    fn hear_host(&mut self, ended: &EndedVisit, servers: &mut Servers, shared: &mut Shared) {
        let now = shared.now;
        let host = ended.visit.url.host();
        let at = ended.ended.min(now);
        if let Some(asked) = &ended.asked
            && self.paces.told(&asked.host, asked.origin, asked.delay, now)
        {
            servers.note_host(&self.paces, &asked.host);
        }
        self.paces.end(host, at, ended.end);
        let Some(wait) = ended.retry_after.filter(|wait| !wait.is_zero()) else {
            return;
        };
        let until = at + wait.min(shared.settings.politeness.retry_after_max);
        if shared.told.is_news(What::RetryAfter, host) {
            let (url, until) = (&ended.visit.url, timestamp_of(until));
            tracing::info!(
                status = ended.outcome.status,
                "{url}: host {host} asks for rest (Retry-After), and has it until {until:.0}"
            );
        }
        if self.paces.hold(host, until, now) {
            servers.note_host(&self.paces, host);
        } else {
            // Where there is no room for one more host, its server rests.
            let key = ended.key;
            let hold = Event::Hold { key, until };
            self.scheduler.step(now, hold, &mut self.commands);
        }
    }

    /// Gives a lease back unused; the visit lines up anew, like this.
    fn give_turn_back(&mut self, mut visit: Visit, key: ServerKey, line: Line, now: Time) {
        self.end_unvisited(key, now);
        self.paces.leave_line(visit.url.host());
        visit.line = line;
        self.moved.push(visit);
    }

    fn end_unvisited(&mut self, key: ServerKey, now: Time) {
        let ended = Event::Ended {
            key,
            at: now,
            report: EndReport::Unvisited,
        };
        self.scheduler.step(now, ended, &mut self.commands);
    }

    /// Whether the visit's host lets it stand in its server's line, or when to come back.
    fn host_turn(&mut self, visit: &Visit, delay: Option<Duration>, now: Time) -> Result<(), Time> {
        let ask = delay.map(|delay| Ask {
            origin: Fingerprint::of(visit.url.origin()).0,
            delay,
        });
        self.paces.line_up(visit.url.host(), ask, visit.kind(), now)
    }

    /// The last word of the visit's host: it may rest, or rules may be on their way to it from elsewhere. A worker might see them come in before
    /// it is known here what they ask for.
    fn may_start(&mut self, visit: &Visit, shared: &Shared) -> Result<(), Time> {
        let now = shared.now;
        let is_for_rules = visit.purpose.is_robots();
        if !is_for_rules && shared.rules.peek(&visit.url, now).is_on_the_way {
            return Err(now + RULES_PATIENCE);
        }
        self.paces.start(visit.url.host(), visit.kind(), now)
    }

    /// While no page has come: says that the server of a seed asks for rest, which may take long.
    fn tell_of_rest(&self, visit: &Visit, key: ServerKey, status: i32, shared: &mut Shared) {
        let server = self.scheduler.server_state(key);
        if shared.first_pages.have_come()
            || !visit.is_seed()
            || server.strikes == 0
            || server.hold_until <= shared.now
        {
            return;
        }
        let until = timestamp_of(server.hold_until);
        let answer = match status {
            0 => String::new(),
            status => format!("{status}; "),
        };
        let reason = format!("{answer}the server asks for rest until {until:.0}");
        let url = visit.url.as_str();
        shared.progress.tell_of(url, &reason);
        shared.first_pages.rests(url, status, &reason);
    }

    /// Says that a host rests, as its robots.txt or an answer asks for: the visit waits for it. While no page has come, that is why.
    fn tell_of_host_rest(&self, visit: &Visit, shared: &mut Shared) {
        let now = shared.now;
        let host = visit.url.host();
        let state = self.paces.state(host, now);
        let Some(state) = state.filter(|state| now < state.free_at) else {
            return;
        };
        let until = timestamp_of(state.free_at);
        let asked = delay_in_words(&state.asks, &shared.settings.politeness);
        let reason = match &asked {
            Some(delay) => format!(
                "the Crawl-delay in the robots.txt of {host} asks for {delay}; the host rests until {until:.0}"
            ),
            None => format!("{host} asks for rest until {until:.0}"),
        };
        let url = visit.url.as_str();
        let is_news = asked.is_some() && shared.told.is_news(What::CrawlDelay, host);
        if is_news {
            tracing::info!("{reason}");
        }
        let is_missed = !shared.first_pages.have_come() && visit.is_seed();
        if is_missed {
            shared.first_pages.rests(url, 0, &reason);
        }
        // A short rest passes before anybody wonders.
        if (is_news || is_missed) && now + LONG_REST <= state.free_at {
            shared.progress.tell_of(url, &reason);
        }
    }

    /// Writes down how servers and hosts stand, where what was written has grown long.
    pub(super) fn shorten_when_long(&self, servers: &mut Servers) -> Result<(), CrawlError> {
        servers.shorten_when_long(&self.scheduler, &self.paces)
    }

    /// Writes down how servers and hosts stand at the end of a run.
    pub(super) fn write_to(&self, servers: &mut Servers) -> Result<(), CrawlError> {
        servers.close(&self.scheduler, &self.paces)
    }
}

/// What is asked about it.
impl Dispatch {
    /// How servers and visits stand.
    pub(super) fn scheduler(&self) -> &Scheduler<Visit> {
        &self.scheduler
    }

    /// Takes over how a server stands by what other partitions know.
    pub(super) fn adopt_server(&mut self, state: &ServerState) {
        self.scheduler.adopt(state);
    }

    /// The server of a host, if its address is known.
    pub(super) fn server_of(&self, host: &str, now: Time) -> Option<ServerKey> {
        match self.hosts.find(host, now) {
            Whereabouts::At(_, key) => Some(key),
            Whereabouts::Nowhere(_) | Whereabouts::Unknown => None,
        }
    }

    /// Where hosts are.
    pub(super) fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Whether nothing is in the ring, on its way there, or with a worker.
    pub(super) fn is_idle(&self) -> bool {
        self.scheduler.in_flight() == 0
            && self.scheduler.waiting() == 0
            && self.hosts.waiting() == 0
    }

    /// Where a URL's visit is at this moment. `is_shared` says of which servers we wait for other crawls.
    pub(super) fn live(
        &self,
        url: &str,
        origin: Option<(&str, u16)>,
        now: Time,
        is_shared: impl Fn(SocketAddr) -> bool,
    ) -> Live {
        let (host, port) = origin.unwrap_or_default();
        let (server, is_shared) = match self.hosts.find(host, now) {
            Whereabouts::At(address, key) => {
                let is_shared = is_shared(SocketAddr::new(address, port));
                (Some(self.scheduler.explain(key)), is_shared)
            }
            Whereabouts::Nowhere(_) | Whereabouts::Unknown => (None, false),
        };
        let rest = Rests {
            host: self.paces.state(host, now),
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
}

/// Without a contact, a seed at a public address ends the crawl, so that the user can say who they are; a link that
/// leads to one is left alone.
fn refuse_without_contact(visit: Visit, address: IpAddr, shared: &Shared) -> Step {
    if visit.is_seed() {
        let url = visit.url.to_string();
        return Step::Fail(CrawlError::NoContact { url, address });
    }
    shared.progress.errors.add(1);
    let result = format!("{address} is a public address, and no contact is given (--contact)");
    let outcome = Outcome {
        status: status::OUT_OF_SCOPE,
        result,
        ..Outcome::default()
    };
    Step::dismiss(visit, outcome, shared.now)
}

/// A public address is visited only by a crawler that can be reached.
fn may_visit(address: IpAddr, shared: &Shared) -> bool {
    shared.settings.identity.contact.is_some() || junkai_fetch::AddressKind::of(address).is_some()
}

/// The server asked another crawl of this machine for rest, or failed it.
fn tell_of_shared_rest(server: SocketAddr, visit: &Visit, until: Time, shared: &mut Shared) {
    let until = timestamp_of(until);
    let reason = format!(
        "the server asked another crawl of this machine for rest, or failed it; it is left alone until {until:.0}"
    );
    tracing::info!("{server}: {reason}");
    if !shared.first_pages.have_come() && visit.is_seed() {
        shared.progress.tell_of(visit.url.as_str(), &reason);
        shared.first_pages.rests(visit.url.as_str(), 0, &reason);
    }
}

impl Outcome {
    /// robots.txt keeps the page out, because of this.
    #[must_use]
    pub fn robots_denied(why: &str) -> Outcome {
        let result = format!("robots.txt does not allow it: {why}");
        Outcome {
            status: status::ROBOTS_DENIED,
            result,
            ..Outcome::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use junkai_fetch::{DnsFailure, DnsProblem};

    use super::super::testing::{ADDRESS, Parts, located};
    use super::*;
    use crate::command::Whom;

    const HOST: &str = "a.example";
    const PAGE: &str = "http://a.example/page";
    const PUBLIC: [u8; 4] = [93, 184, 216, 34];

    impl Parts {
        fn line_up(&mut self, url: &str) -> Option<Step> {
            let visit = self.visit(url);
            self.dispatch.line_up(visit, &mut self.shared)
        }

        fn locate(&mut self, address: [u8; 4]) -> Vec<Waiter> {
            let now = self.shared.now;
            self.dispatch.answer(HOST.into(), Ok(located(address)), now)
        }

        /// Lets a visit stand in its server's line, and its turn come.
        fn start(&mut self, url: &str) -> Command<Visit> {
            let Some(Step::Place { visit, key }) = self.line_up(url) else {
                panic!("it has no place");
            };
            assert!(self.dispatch.place(visit, key, self.shared.now));
            let mut commands = self.dispatch.take_commands();
            while commands.is_empty() {
                let now = self.pass(Duration::from_secs(1));
                self.dispatch.tick(now);
                commands = self.dispatch.take_commands();
            }
            commands.remove(0)
        }
    }

    #[test]
    fn a_host_is_asked_for_once_and_its_visits_go_on_with_the_answer() {
        let mut parts = Parts::with(|_| {});
        assert!(matches!(parts.line_up(PAGE), Some(Step::Resolve(host)) if &*host == HOST));
        assert!(parts.line_up("http://a.example/other").is_none());
        let waiters = parts.locate(ADDRESS);
        assert_eq!(waiters.len(), 2);
        for waiter in waiters {
            let step = parts.dispatch.go_on(waiter, &mut parts.shared);
            assert!(matches!(step, Some(Step::Place { .. })), "{step:?}");
        }
    }

    #[test]
    fn a_visit_whose_host_is_nowhere_is_not_placed() {
        let mut parts = Parts::with(|_| {});
        let failure = DnsFailure {
            problem: DnsProblem::NoSuchName,
            ttl: Duration::from_hours(1),
        };
        let now = parts.shared.now;
        parts.dispatch.answer(HOST.into(), Err(failure), now);
        let step = parts.line_up(PAGE);
        assert!(
            matches!(step, Some(Step::WithoutAddress { .. })),
            "{step:?}"
        );
    }

    #[test]
    fn what_is_paused_is_deferred_and_what_is_out_of_scope_is_forgotten() {
        let mut parts = Parts::with(|_| {});
        let now = parts.shared.now;
        let paused = &mut parts.dispatch.objections.paused;
        paused.pause(&Whom::Host(HOST.to_owned()), now);
        let step = parts.line_up(PAGE);
        assert!(
            matches!(step, Some(Step::Defer { due, .. }) if now < due),
            "{step:?}"
        );
        let step = parts.line_up("http://elsewhere.example/");
        assert!(matches!(step, Some(Step::Forget(_))), "{step:?}");
    }

    #[test]
    fn without_a_contact_no_public_address_is_visited() {
        let mut parts = Parts::with(|settings| settings.identity.contact = None);
        parts.locate(PUBLIC);
        let step = parts.line_up(PAGE);
        assert!(matches!(step, Some(Step::GiveUp { .. })), "{step:?}");
        let mut seed = parts.visit(PAGE);
        seed.hops = "".into();
        let step = parts.dispatch.line_up(seed, &mut parts.shared);
        assert!(matches!(
            step,
            Some(Step::Fail(CrawlError::NoContact { .. }))
        ));
    }

    #[test]
    fn a_visit_whose_turn_has_come_is_ordered_and_holds_its_lease() {
        let mut parts = Parts::with(|_| {});
        parts.locate(ADDRESS);
        let command = parts.start(PAGE);
        let step = parts.dispatch.decide(command, &mut parts.shared);
        let Some(Step::Visit(start)) = step else {
            panic!("{step:?}");
        };
        assert_eq!(start.address, IpAddr::from(ADDRESS));
        assert_eq!(parts.dispatch.scheduler().in_flight(), 1);
        let ended = parts.ended(start.visit, 200, crate::visit::Fate::Done);
        parts.dispatch.land(&ended.visit);
        parts
            .dispatch
            .release(&ended, &mut parts.servers, &mut parts.shared);
        assert!(parts.dispatch.is_idle());
    }

    #[test]
    fn a_visit_whose_host_has_moved_gives_its_turn_back_and_lines_up_anew() {
        let mut parts = Parts::with(|_| {});
        parts.locate(ADDRESS);
        let command = parts.start(PAGE);
        parts.locate([10, 0, 0, 2]);
        let step = parts.dispatch.decide(command, &mut parts.shared);
        assert!(step.is_none(), "{step:?}");
        let moved = parts.dispatch.take_moved();
        assert_eq!(moved.len(), 1);
        assert_eq!(moved[0].line, Line::Moved);
        assert_eq!(parts.dispatch.scheduler().in_flight(), 0);
    }

    #[test]
    fn an_order_books_no_more_visits_ahead_than_it_is_to() {
        let mut parts = Parts::with(|_| {});
        assert!(2 < parts.dispatch.places(None));
        assert_eq!(parts.dispatch.places(Some(2)), 2);
        parts.line_up(PAGE);
        assert_eq!(parts.dispatch.places(Some(2)), 1);
    }
}
