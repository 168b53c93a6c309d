//! Where the stages meet: what a report leads to, who lines up next, and how the steps that stages ask for are carried out.
//!
//! Stages do not know each other. Each takes its input and returns a [`Step`]; [`Engine::carry_out`] hands that to the stage or the store that it is for, at once, so that
//! effects happen in the order in which they were decided. What the scheduler asks for meanwhile is gathered by `Dispatch` and has its turn in [`Engine::run_commands`].

use junkai_frontier::{EndReport, Overflow, ServerKey, Time, VisitKind};
use junkai_weburl::PageUrl;

use super::Engine;
use super::origin::Origin;
use super::step::Step;
use crate::CrawlError;
use crate::annotation;
use crate::focus::FocusOrder;
use crate::scope;
use crate::visit::{
    Discovered, EndedVisit, Fate, KNOWN_HOP, Line, Order, OutOfTurn, Purpose, Signal, Visit,
    returning, robots_entry, status,
};

/// Visits taken from the backlog per round at most.
const REFILL_PER_ROUND: usize = 4096;

/// In: reports.
impl Engine {
    /// Learns everything from a visit that ended: the lease, the links, the log.
    ///
    /// Where links decide who comes next, who that is depends on the order of reports and starts alone. This is the sequence for each report: its
    /// links in the order of the document, each raising a page or offering a new one; the release of its own turn; hand-outs, while fewer wait in the
    /// ring than `crawl.lookahead`, each place filled at once from what was spilled. A start makes room in the ring: hand-outs follow it likewise,
    /// before its own report can come in.
    pub(super) fn visit_ended(&mut self, mut ended: EndedVisit) -> Result<(), CrawlError> {
        let now = self.shared.now;
        self.dispatch.land(&ended.visit);
        if ended.fate == Fate::Done {
            self.asked.settled(ended.visit.url.fingerprint());
        }
        // Before the lease is given back: the page that came in may be the last one asked for.
        self.count(&ended);
        self.take_in_what_was_said(&mut ended)?;
        self.dispatch.set_concurrency_max(self.starts_allowed());
        self.dispatch
            .release(&ended, &mut self.servers, &mut self.shared);
        if let Some((origin, target)) = ended.rules_elsewhere.take() {
            let entry = robots_entry(&target, &origin, now);
            if self.other_partitions.partition.has(&target) {
                self.room.append(&entry, now)?;
            } else {
                // Its host's pace is known there, and the rules are everybody's.
                self.other_partitions.post_entry(&entry, &self.shared)?;
            }
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
            self.settling
                .sitemaps
                .read(ended.visit.url.as_str(), list)?;
        }
        let signals = std::mem::take(&mut ended.signals);
        let in_flight = self.dispatch.scheduler().in_flight();
        let step = self
            .settling
            .settle(ended, in_flight, &mut self.known, &mut self.shared)?;
        self.carry_out(Some(step))?;
        self.take_in_signals(signals)?;
        self.hand_out_in_order()
    }

    /// Takes in what lists say of other pages: a page that is likely to have changed is visited out of turn.
    fn take_in_signals(&mut self, signals: Vec<Signal>) -> Result<(), CrawlError> {
        for signal in signals {
            let is_known = self.discovery.seen.contains(signal.url.fingerprint().0)?;
            if is_known && self.known.is_worth_a_visit(&signal) {
                let purpose = self.purpose_of_signalled(&signal.url);
                self.ask_for(&signal.url, OutOfTurn::Signalled, &purpose)?;
            }
        }
        Ok(())
    }

    /// What a known page is visited for that a list speaks of: where the crawl goes by sitemaps, one of them may lie outside the scope.
    fn purpose_of_signalled(&self, url: &PageUrl) -> Purpose {
        let found = scope::Found::Link(self.shared.depth_asked());
        if self.shared.settings.crawl.sitemaps_only && !self.shared.rule_for(url, found).accepts() {
            Purpose::Sitemap
        } else {
            Purpose::Page
        }
    }

    fn count(&mut self, ended: &EndedVisit) {
        self.limits.bytes_received += ended.outcome.size;
        let progress = &self.shared.progress;
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

/// Out: from the waiting room and the known pages to the ring.
impl Engine {
    /// Lets waiting visits into the ring, as far as it has room.
    pub fn refill(&mut self, now: Time) -> Result<(), CrawlError> {
        self.shared.now = now;
        let entries_max = if self.room.is_ordered() {
            REFILL_PER_ROUND
        } else {
            self.places().min(REFILL_PER_ROUND)
        };
        self.room.refill(entries_max, now)?;
        self.hand_out()?;
        self.run_commands()
    }

    /// Fills the place of a visit that is over, or started, with the best that is known by now. First come, first served needs no such haste:
    /// there a round takes in as many as it can.
    pub(super) fn hand_out_in_order(&mut self) -> Result<(), CrawlError> {
        if !self.room.is_ordered() || self.limits.is_winding_down {
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
            if self.dispatch.has_many_commands() {
                self.run_commands()?;
            }
            self.write_down_when_much()?;
        }
        Ok(())
    }

    fn places(&self) -> usize {
        let is_ordered = self.room.is_ordered();
        let lookahead = is_ordered.then(|| self.shared.settings.crawl.lookahead.get());
        self.dispatch.places(lookahead)
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
            let next = self.room.next(self.shared.now)?;
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

    /// The next known page that is due.
    fn next_known(&mut self) -> Result<Option<Visit>, CrawlError> {
        // A focused crawl spends its visits on what it wants to know.
        if !self.shared.settings.revisit.enabled || self.shared.settings.focus.aim.is_focused() {
            return Ok(None);
        }
        let mut next = self.known.next(self.shared.now)?;
        while next.is_none() && self.known.is_full() {
            self.write_down()?;
            next = self.known.next(self.shared.now)?;
        }
        for joined in self.known.take_joined() {
            self.settling.note_joined(&joined, self.shared.now);
        }
        for url in self.known.take_unreadable() {
            let again = Discovered {
                url,
                hop: None,
                depth: self.shared.depth_asked(),
                purpose: Purpose::Page,
                link_estimate: None,
            };
            let entry = again.entry("", KNOWN_HOP, self.shared.now);
            self.room.append_known(returning(entry), self.shared.now)?;
        }
        Ok(next)
    }

    fn line_up(&mut self, visit: Visit) -> Result<(), CrawlError> {
        let step = self.dispatch.line_up(visit, &mut self.shared);
        self.carry_out(step)
    }

    /// Lines up anew what gave its turn back.
    pub(super) fn follow_moved(&mut self) -> Result<(), CrawlError> {
        for visit in self.dispatch.take_moved() {
            self.line_up(visit)?;
        }
        self.run_commands()
    }
}

/// Effects.
impl Engine {
    /// Carries out what the scheduler asked for.
    pub(super) fn run_commands(&mut self) -> Result<(), CrawlError> {
        while self.dispatch.has_commands() {
            for command in self.dispatch.take_commands() {
                let step = self.dispatch.decide(command, &mut self.shared);
                self.carry_out(step)?;
            }
        }
        Ok(())
    }

    /// Carries out what a stage wants done, and what that leads to.
    pub(super) fn carry_out(&mut self, step: Option<Step>) -> Result<(), CrawlError> {
        let now = self.shared.now;
        let mut next = step;
        while let Some(step) = next {
            next = match step {
                Step::Place { visit, key } => {
                    if visit.kind() == VisitKind::Revisit {
                        // Before its turn is chosen: after a start the ring knows of no pace.
                        self.keep_pace(key);
                    }
                    self.place(visit, key)?;
                    None
                }
                Step::Again { visit, key } => {
                    self.dispatch.again(visit, key, now);
                    None
                }
                Step::Visit(mut start) => {
                    if start.visit.out_of_turn.is_some() {
                        start.visit.noted = self.known.noted(&start.visit.url).map(Box::new);
                    }
                    self.orders.push_back(Order::Visit(start));
                    None
                }
                Step::Resolve(host) => {
                    self.orders.push_back(Order::Resolve(host));
                    None
                }
                Step::DeferForRoom { visit, due } if visit.state.is_some() => {
                    self.known.defer_for_room(visit, due, now)?;
                    None
                }
                Step::Defer { visit, due } | Step::DeferForRoom { visit, due } => {
                    self.defer(visit, due)?;
                    None
                }
                Step::Discard(visit) => {
                    self.room.append(&visit.discard_marker(), now)?;
                    self.room.done(visit);
                    None
                }
                Step::WithoutAddress { visit, failure } => {
                    let in_flight = self.dispatch.scheduler().in_flight();
                    let settling = &mut self.settling;
                    Some(settling.without_address(visit, &failure, in_flight, &mut self.shared))
                }
                Step::GiveUp { ending, found } => {
                    self.becomes_known(&ending.visit)?;
                    let (known, shared) = (&mut self.known, &mut self.shared);
                    let settling = &mut self.settling;
                    Some(settling.come_back_to_failed(ending, found, known, shared)?)
                }
                Step::Forget(ending) => {
                    self.asked.settled(ending.visit.url.fingerprint());
                    self.shared.progress.out_of_scope.add(1);
                    self.settling
                        .forget(ending, &mut self.known, &mut self.shared)
                }
                Step::Done { visit, server } => {
                    self.room.done(visit);
                    server.map(Step::KeepPace)
                }
                Step::KeepPace(server) => {
                    self.keep_pace(server);
                    None
                }
                Step::Fail(error) => return Err(error),
            };
        }
        Ok(())
    }

    /// Lets a visit stand in the line of its server. Where overflow is discarded, a URL that finds no room stays unknown: it becomes known when it is placed.
    fn place(&mut self, mut visit: Visit, key: ServerKey) -> Result<(), CrawlError> {
        let now = self.shared.now;
        let may_be_discarded =
            visit.line == Line::New && self.shared.settings.crawl.overflow == Overflow::Discard;
        if !may_be_discarded {
            self.dispatch.place(visit, key, now);
            return Ok(());
        }
        let fingerprint = visit.url.fingerprint().0;
        if !self.discovery.take_unplaced(&visit) {
            // Found in an earlier run: it is known by now, and cannot be discarded any more.
            visit.line = Line::Returning;
        }
        if self.dispatch.place(visit, key, now) {
            self.make_known(fingerprint)?;
        }
        Ok(())
    }

    /// Fits the distance of a server's known pages to what it can bear.
    fn keep_pace(&mut self, key: ServerKey) {
        let interval = self.known.pace(key);
        self.dispatch
            .set_revisit_interval(key, interval, self.shared.now);
    }

    /// Moves a visit to a later time.
    fn defer(&mut self, visit: Visit, due: Time) -> Result<(), CrawlError> {
        let now = self.shared.now;
        if visit.state.is_some() {
            return self.known.defer(visit, due, now);
        }
        self.becomes_known(&visit)?;
        self.room.defer(visit, due, now)
    }
}
