//! What goes out: from the waiting room through the ring to an order.

use std::net::IpAddr;
use std::time::Duration;

use junkai_frontier::{Ask, Command, EndReport, Event, Overflow, ServerKey, Time, VisitKind};
use junkai_weburl::Fingerprint;

use super::{Busy, Engine};
use crate::CrawlError;
use crate::focus::FocusOrder;
use crate::hosts::{Waiter, Whereabouts};
use crate::rules::{Peek, RULES_PATIENCE};
use crate::visit::{Discovered, Line, Order, Outcome, Purpose, Start, Visit, status};

/// Visits taken from the backlog per round at most.
const REFILL_PER_ROUND: usize = 4096;
/// Commands of the scheduler that wait to be carried out while visits are handed out.
const COMMANDS_MAX: usize = 256;

impl Engine {
    /// Lets waiting visits into the ring, as far as it has room.
    pub fn refill(&mut self, now: Time) -> Result<(), CrawlError> {
        self.now = now;
        let entries_max = if self.room.is_ordered() {
            REFILL_PER_ROUND
        } else {
            self.places().min(REFILL_PER_ROUND)
        };
        self.room.refill(entries_max, self.now)?;
        self.hand_out()?;
        self.carry_out()
    }

    /// Fills the place of a visit that is over, or started, with the best that is known by now. First come, first served needs no such haste:
    /// there a round takes in as many as it can.
    pub(super) fn hand_out_in_order(&mut self) -> Result<(), CrawlError> {
        if !self.room.is_ordered() || self.is_winding_down {
            return Ok(());
        }
        self.hand_out()
    }

    fn hand_out(&mut self) -> Result<(), CrawlError> {
        // What overflows takes no place: without this bound a server with a million pages due would hand out all of them.
        for _ in 0..REFILL_PER_ROUND {
            if self.places() == 0 {
                break;
            }
            let Some(visit) = self.next_of_both()? else {
                break;
            };
            self.line_up(visit)?;
            if COMMANDS_MAX <= self.commands.len() {
                self.carry_out()?;
            }
            self.write_down_when_much()?;
        }
        Ok(())
    }

    /// The next visit: a known page and a new one in turn, as long as there are both.
    fn next_of_both(&mut self) -> Result<Option<Visit>, CrawlError> {
        self.is_turn_of_known = !self.is_turn_of_known;
        if self.is_turn_of_known
            && let Some(visit) = self.next_known()?
        {
            return Ok(Some(visit));
        }
        while let Some(visit) = self.next_new()? {
            if visit.out_of_turn.is_none() && self.known.was_just_visited(&visit.url) {
                // Its end was not acknowledged before a kill; its state says that it came to one.
                self.room.done(visit);
                continue;
            }
            return Ok(Some(visit));
        }
        self.next_known()
    }

    /// The next new page. An order that asks for a page without a link to it has it taken in first.
    fn next_new(&mut self) -> Result<Option<Visit>, CrawlError> {
        loop {
            self.take_in_inferred()?;
            let next = self.room.next(self.now)?;
            self.note_files_met()?;
            let is_asked_for_more = self
                .room
                .focus_shown()
                .is_some_and(FocusOrder::has_inferred);
            if next.is_some() || !is_asked_for_more {
                return Ok(next);
            }
        }
    }

    /// Visits that the ring has room for, besides those that are on their way there; in an order of its own no more than are to be booked ahead.
    fn places(&self) -> usize {
        let on_their_way = self.hosts.waiting();
        let places = self.scheduler.room().saturating_sub(on_their_way);
        if !self.room.is_ordered() {
            return places;
        }
        let booked = self.scheduler.waiting() + on_their_way;
        let lookahead = self.settings.crawl.lookahead.get();
        places.min(lookahead.saturating_sub(booked))
    }

    /// Brings a visit to its server's line in the ring, by way of its host's address.
    pub(super) fn line_up(&mut self, visit: Visit) -> Result<(), CrawlError> {
        let now = self.now;
        if let Some(objection) = self.objection(&visit, now) {
            return self.obey(visit, objection);
        }
        let peek = self.rules.peek(&visit.url, now);
        if !visit.purpose.is_robots()
            && let Some(why) = &peek.denied
        {
            self.progress.robots_denied.add(1);
            return self.dismiss(visit, Outcome::robots_denied(why));
        }
        match self.hosts.find(visit.url.host(), now) {
            Whereabouts::At(address, _) if !self.may_visit(address) => {
                self.refuse_without_contact(visit, address)
            }
            Whereabouts::At(_, key) => match self.host_turn(&visit, peek.crawl_delay, now) {
                Ok(()) => {
                    self.tell_of_rest(&visit, key, 0);
                    self.place(visit, key, now)
                }
                Err(due) => {
                    self.tell_of_host_rest(&visit, now);
                    self.defer(visit, due)
                }
            },
            Whereabouts::Nowhere(failure) => self.without_address(visit, &failure),
            Whereabouts::Unknown => {
                let host: Box<str> = visit.url.host().into();
                self.ask_for_host(host, Waiter::Placing(visit));
                Ok(())
            }
        }
    }

    /// When a page that was just found is to come back, where its server has no turn for it in the ring. So it is written once, and not once to line up and once
    /// more to wait. Whatever else there is to say of it, by robots.txt, its host's pace or people, is said when it lines up, at once.
    pub(super) fn turn_beyond_ring(&mut self, found: &Discovered) -> Option<Time> {
        let now = self.now;
        let is_plain = found.purpose == Purpose::Page
            && !self.room.is_ordered()
            && self.settings.crawl.overflow == Overflow::Defer
            && self.paused.is_empty();
        let Whereabouts::At(address, key) = self.hosts.find(found.url.host(), now) else {
            return None;
        };
        let is_deferred = is_plain
            && self.scheduler.is_out_of_turns(key)
            && self.may_visit(address)
            && !self.paces.has(found.url.host())
            && self.rules.peek(&found.url, now) == Peek::default();
        is_deferred.then(|| self.scheduler.defer_unseen(now, key))
    }

    fn ask_for_host(&mut self, host: Box<str>, waiter: Waiter) {
        if self.hosts.wait(waiter) {
            self.orders.push_back(Order::Resolve(host));
        }
    }

    /// Goes on with a visit whose host was asked for.
    pub(super) fn host_answered(&mut self, waiter: Waiter) -> Result<(), CrawlError> {
        match waiter {
            Waiter::Placing(visit) => self.line_up(visit),
            Waiter::Starting { visit, key, at } => self.start(visit, key, at),
        }
    }

    fn place(&mut self, mut visit: Visit, key: ServerKey, now: Time) -> Result<(), CrawlError> {
        let kind = visit.kind();
        if kind == VisitKind::Revisit {
            // Before its turn is chosen: after a start the ring knows of no pace.
            self.keep_pace(key, now);
        }
        match (visit.line, self.settings.crawl.overflow) {
            (Line::Moved, _) => {
                visit.line = Line::Returning;
                self.scheduler
                    .step(now, Event::Moved { visit, key, kind }, &mut self.commands);
            }
            (Line::Returning, _) => {
                self.scheduler
                    .step(now, Event::Return { visit, key, kind }, &mut self.commands);
            }
            (Line::New, Overflow::Defer) => {
                self.scheduler
                    .step(now, Event::Offer { visit, key, kind }, &mut self.commands);
            }
            (Line::New, Overflow::Discard) => {
                let fingerprint = visit.url.fingerprint().0;
                if !self.unplaced.remove(&fingerprint) {
                    // Found in an earlier run: it is known by now, and cannot be discarded any more.
                    self.make_room_in_seen(1)?;
                    self.seen.insert(fingerprint)?;
                    self.scheduler.step(
                        now,
                        Event::Return { visit, key, kind },
                        &mut self.commands,
                    );
                    return Ok(());
                }
                let discarded = self.scheduler.counters().discarded;
                self.scheduler
                    .step(now, Event::Offer { visit, key, kind }, &mut self.commands);
                if self.scheduler.counters().discarded == discarded {
                    self.make_room_in_seen(1)?;
                    self.seen.insert(fingerprint)?;
                }
            }
        }
        Ok(())
    }

    /// Carries out what the scheduler asked for.
    pub(super) fn carry_out(&mut self) -> Result<(), CrawlError> {
        while !self.commands.is_empty() {
            for command in std::mem::take(&mut self.commands) {
                match command {
                    Command::Start { visit, key, at } => self.start(visit, key, at)?,
                    Command::Defer { visit, due, .. } if visit.state.is_some() => {
                        self.known.defer_for_room(visit, due, self.now)?;
                    }
                    Command::Defer { visit, due, .. } => self.defer(visit, due)?,
                    Command::Discard { visit } => {
                        self.room.append(&visit.discard_marker(), self.now)?;
                        self.room.done(visit);
                    }
                }
            }
        }
        Ok(())
    }

    /// Orders a visit, if its host is still where it was when the visit was placed. If that is no longer
    /// known, the visit keeps its turn and its lease until it is.
    fn start(&mut self, mut visit: Visit, key: ServerKey, at: Time) -> Result<(), CrawlError> {
        let now = self.now;
        if let Some(objection) = self.objection(&visit, now) {
            self.end_unvisited(key, now);
            return self.obey(visit, objection);
        }
        if self.paused.all.is_some() {
            self.give_turn_back(visit, key, Line::Returning);
            return Ok(());
        }
        match self.hosts.find(visit.url.host(), now) {
            Whereabouts::At(address, there) if there == key => {
                if let Err(due) = self.may_start(&visit, now) {
                    self.end_unvisited(key, now);
                    return self.defer(visit, due);
                }
                if visit.out_of_turn.is_some() {
                    visit.noted = self.known.noted(&visit.url).map(Box::new);
                }
                self.in_flight.insert(visit.url.fingerprint());
                let start = Start {
                    visit,
                    key,
                    address,
                    at,
                };
                self.orders.push_back(Order::Visit(Box::new(start)));
            }
            Whereabouts::Unknown => {
                let host: Box<str> = visit.url.host().into();
                self.ask_for_host(host, Waiter::Starting { visit, key, at });
            }
            Whereabouts::At(..) | Whereabouts::Nowhere(_) => {
                self.give_turn_back(visit, key, Line::Moved);
            }
        }
        Ok(())
    }

    /// A visit whose server is another crawl's, or to be left alone, gives its lease back, and is the next in its line.
    pub(super) fn wait_for_others(&mut self, busy: Busy) {
        if busy.is_hold {
            let server = busy.start.server();
            self.tell_of_shared_rest(server, &busy.start.visit, busy.until);
        }
        let now = self.now;
        let Start { visit, key, .. } = *busy.start;
        self.in_flight.remove(&visit.url.fingerprint());
        self.paces.end(visit.url.host(), now, EndReport::Unvisited);
        let hold = Event::Hold {
            key,
            until: busy.until,
        };
        self.scheduler.step(now, hold, &mut self.commands);
        self.end_unvisited(key, now);
        let kind = visit.kind();
        let again = Event::Again { visit, key, kind };
        self.scheduler.step(now, again, &mut self.commands);
    }

    /// Gives a lease back unused; the visit lines up anew, like this.
    fn give_turn_back(&mut self, mut visit: Visit, key: ServerKey, line: Line) {
        self.end_unvisited(key, self.now);
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
    fn may_start(&mut self, visit: &Visit, now: Time) -> Result<(), Time> {
        let is_for_rules = visit.purpose.is_robots();
        if !is_for_rules && self.rules.peek(&visit.url, now).is_on_the_way {
            return Err(now + RULES_PATIENCE);
        }
        self.paces.start(visit.url.host(), visit.kind(), now)
    }

    /// Lines up anew what gave its turn back.
    pub(super) fn follow_moved(&mut self) -> Result<(), CrawlError> {
        for visit in std::mem::take(&mut self.moved) {
            self.line_up(visit)?;
        }
        self.carry_out()
    }

    /// Without a contact, a seed at a public address ends the crawl, so that the user can say who they are; a link that
    /// leads to one is left alone.
    fn refuse_without_contact(&mut self, visit: Visit, address: IpAddr) -> Result<(), CrawlError> {
        if visit.is_seed() {
            let url = visit.url.to_string();
            return Err(CrawlError::NoContact { url, address });
        }
        self.progress.errors.add(1);
        let result = format!("{address} is a public address, and no contact is given (--contact)");
        let outcome = Outcome {
            status: status::OUT_OF_SCOPE,
            result,
            ..Outcome::default()
        };
        self.dismiss(visit, outcome)
    }

    /// A public address is visited only by a crawler that can be reached.
    fn may_visit(&self, address: IpAddr) -> bool {
        self.settings.identity.contact.is_some() || junkai_fetch::AddressKind::of(address).is_some()
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
