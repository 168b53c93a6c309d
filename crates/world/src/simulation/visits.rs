//! The orders of the engine, carried out: names are looked up, servers are asked, captures are kept and ends reported.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::PoisonError;
use std::time::Duration;

use junkai_engine::platform::Machine as _;
use junkai_engine::visit::{Confirmation, EndedVisit, Fate, Located, Order, Start};
use junkai_engine::{Busy, Input};
use junkai_fetch::{DnsFailure, DnsProblem};
use junkai_frontier::{EndReport, Time};

use super::{Event, Interruption, Simulation};
use crate::Bug;
use crate::check::broken;
use crate::draws::Matter;
use crate::web::How;
use crate::worker::{Doing, Made, Tools};

impl Simulation {
    pub(super) fn carry_out_orders(&mut self, partition: usize) -> Result<(), Interruption> {
        loop {
            let now = self.now();
            let order = self.engine(partition)?.poll_order(now);
            let Some(order) = self.survived(order)? else {
                return Ok(());
            };
            let passed = self.machine.passed();
            match order {
                Order::Visit(start) => {
                    if let Err(until) = self.is_with_other_partitions(partition, &start)? {
                        let busy = Busy {
                            start,
                            until,
                            is_hold: false,
                        };
                        let handled = self.engine(partition)?.handle(now, Input::Busy(busy));
                        self.survived(handled)?;
                        continue;
                    }
                    let mut wait = start.at.saturating_duration_since(now);
                    if self.has(Bug::StartsBeforeItsTime) {
                        wait = Duration::ZERO;
                    }
                    self.at(passed + wait, Event::Begin(partition, start));
                }
                Order::Resolve(host) => {
                    let takes = self.draws.of(Matter::Names).below(300);
                    let takes = Duration::from_millis(u64::from(takes));
                    self.at(passed + takes, Event::Resolve(partition, host));
                }
                Order::Links(links) => {
                    let (to, from, batch) = (links.to, links.from, links.batch);
                    self.send(to, Input::Links(links));
                    if self.has(Bug::LinksConfirmedEarly) {
                        self.send(from, Input::Confirmed { batch });
                    }
                }
                Order::Confirm(Confirmation { to, batch }) => {
                    self.send(to, Input::Confirmed { batch });
                }
            }
        }
    }

    /// Lets a partition hear something, a moment later.
    fn send(&mut self, to: u16, input: Input) {
        let bugs = [Bug::LinksConfirmedEarly, Bug::OutboxBuffered];
        let has_bug = bugs.into_iter().any(|bug| self.has(bug));
        let is_late = has_bug && matches!(input, Input::Links(_));
        let most = if is_late { 60_000 } else { 2000 };
        let takes = self.draws.of(Matter::Machine).below(most);
        let takes = Duration::from_millis(u64::from(takes));
        let at = self.machine.passed() + takes;
        self.at(at, Event::Hear(usize::from(to), input));
    }

    /// Whether another partition has a server at the moment; if not, it is this one's. Alone, a partition has all of them.
    fn is_with_other_partitions(
        &mut self,
        partition: usize,
        start: &Start,
    ) -> Result<Result<(), Time>, Interruption> {
        let now = self.now();
        if self.partitions().len() == 1 || self.has(Bug::ServersNotShared) {
            return Ok(Ok(()));
        }
        let number = u16::try_from(partition).unwrap_or_default();
        let servers = &mut self.process()?.servers;
        Ok(match servers.start(number, start.key, start.at, now) {
            Ok(state) => {
                self.engine(partition)?.adopt_server(&state);
                Ok(())
            }
            Err(until) => Err(until),
        })
    }

    pub(super) fn resolve(&mut self, partition: usize, host: Box<str>) -> Result<(), Interruption> {
        let passed = self.machine.passed();
        let is_offline = passed < self.offline_until;
        let may_fail = !self.is_calm && self.plan.network_fails;
        let fails = self.draws.of(Matter::Names).is(0.03) && may_fail;
        let failure = |problem| DnsFailure {
            problem,
            ttl: Duration::from_secs(30),
        };
        let address = self.web.address(&host, passed);
        let answer = match address {
            _ if is_offline || fails => Err(failure(DnsProblem::Timeout)),
            None => Err(failure(DnsProblem::NoSuchName)),
            Some(address) => Ok(Located {
                address: if self.has(Bug::AddressPerName) {
                    per_name(&host)
                } else {
                    address
                },
                holds: Duration::from_secs(u64::from(
                    self.draws.of(Matter::Names).between(1, 4000),
                )),
            }),
        };
        let now = self.now();
        let input = Input::Resolved { host, answer };
        let handled = self.engine(partition)?.handle(now, input);
        self.survived(handled)?;
        self.carry_out_orders(partition)
    }

    /// Where a visit really goes.
    pub(super) fn server_of(&self, start: &Start) -> IpAddr {
        if self.has(Bug::AddressPerName) {
            let real = self.web.address(start.visit.url.host(), Duration::ZERO);
            return real.unwrap_or(start.address);
        }
        start.address
    }

    pub(super) fn begin(
        &mut self,
        partition: usize,
        start: Box<Start>,
    ) -> Result<(), Interruption> {
        let (now, passed) = (self.now(), self.machine.passed());
        let ignores_robots = self.has(Bug::RobotsIgnored);
        let process = self.process.as_ref().ok_or(Interruption::Ended)?;
        let scope = process.scope.read().unwrap_or_else(PoisonError::into_inner);
        let tools = Tools {
            rules: &process.rules,
            scope: &scope,
            canonical: &self.canonical,
            web: &self.web,
        };
        let doing = tools.begin(start, now, ignores_robots);
        drop(scope);
        let (start, asked) = match doing {
            Doing::Nothing(ended) => return self.report(partition, *ended),
            Doing::Ask(start, asked) => (start, asked),
        };
        self.counts.visits += 1;
        let server = self.server_of(&start);
        self.judge
            .start(server, passed, self.settings.politeness.interval)?;
        if self.web.is_private(asked.host(), asked.path()) {
            return Err(broken("robots.txt", format!("{asked} was visited")).into());
        }
        let mut reaction = self
            .web
            .react(asked.host(), asked.path(), passed, &mut self.draws);
        if passed < self.offline_until {
            reaction.how = How::Refuses;
            reaction.takes = reaction.takes.min(Duration::from_secs(10));
        }
        let rest = rest_asked(&reaction.how);
        if let How::Answers(answer) = &mut reaction.how
            && answer.starts_with("HTTP/1.1 200")
            && let Some(version) = start.visit.known_version()
            && let Some(etag) = &version.etag
            && asked == start.visit.url
            && answer.contains(&**etag)
        {
            *answer = format!("HTTP/1.1 304 Same\r\nETag: {etag}\r\n\r\n");
        }
        let made = Made {
            start,
            started: now,
            asked,
            how: reaction.how,
        };
        let end = Event::End(partition, Box::new(made), rest);
        self.at(passed + reaction.takes, end);
        Ok(())
    }

    pub(super) fn end(
        &mut self,
        partition: usize,
        made: Made,
        rest: Option<Duration>,
    ) -> Result<(), Interruption> {
        let (now, passed) = (self.now(), self.machine.passed());
        let server = self.server_of(&made.start);
        self.judge.end(server, passed, rest.map(|rest| (rest, now)));
        let wall = self.machine.wall();
        let process = self.process.as_ref().ok_or(Interruption::Ended)?;
        let scope = process.scope.read().unwrap_or_else(PoisonError::into_inner);
        let tools = Tools {
            rules: &process.rules,
            scope: &scope,
            canonical: &self.canonical,
            web: &self.web,
        };
        let (mut ended, capture) = tools.end(made, now, wall, passed);
        drop(scope);
        self.spoil_report(&mut ended);
        if self.has(Bug::ReportLost) && self.draws.of(Matter::Bugs).is(0.02) {
            return Ok(());
        }
        if self.has(Bug::CaptureAfterReport) {
            if let Some(url) = capture {
                self.at(passed + Duration::from_secs(5), Event::Capture(url));
            }
            return self.report(partition, ended);
        }
        self.keep(capture.as_deref())?;
        self.report(partition, ended)
    }

    /// What planted bugs do to a report.
    pub(super) fn spoil_report(&mut self, ended: &mut EndedVisit) {
        let interval = self.settings.politeness.interval;
        match self.plan.bug {
            Some(Bug::LeaseEndsAtStart) => ended.ended = ended.started,
            Some(Bug::EndToldEarly) => {
                let micros = ended.ended.as_micros();
                let early = u64::try_from(interval.as_micros()).unwrap_or_default() / 4;
                ended.ended = Time::from_micros(micros - early);
            }
            Some(Bug::RetryAfterDropped) => {
                ended.retry_after = None;
                if let EndReport::Overloaded { .. } = ended.end {
                    let duration = ended.ended.saturating_duration_since(ended.started);
                    ended.end = EndReport::Answered { duration };
                }
            }
            Some(Bug::LinksDropped) if self.draws.of(Matter::Bugs).is(0.05) => {
                // They were found, and count as told.
                let now = self.now();
                for link in ended.links.drain(..) {
                    self.ledger.told(link.url.as_str(), now);
                }
            }
            Some(Bug::LinkReplaced) => {
                if let Ok(other) = self.canonical.parse("http://h0.example/never-1")
                    && let Some(link) = ended.links.first_mut()
                {
                    link.url = other;
                }
            }
            Some(Bug::StateForgotten) if ended.fate == Fate::Done => ended.found = None,
            _ => {}
        }
    }

    /// Writes a capture; on a full disk, when there is room.
    pub(super) fn keep(&mut self, capture: Option<&str>) -> Result<(), Interruption> {
        let Some(url) = capture else {
            return Ok(());
        };
        loop {
            match self.captures.keep(url) {
                Err(error) if error.is_disk_full() => self.machine.wait(Duration::from_secs(1)),
                kept => return self.survived(kept),
            }
        }
    }

    pub(super) fn report(
        &mut self,
        partition: usize,
        ended: EndedVisit,
    ) -> Result<(), Interruption> {
        let now = self.now();
        for link in &ended.links {
            self.ledger.told(link.url.as_str(), now);
        }
        let (key, at) = (ended.key, ended.ended);
        let is_visited = ended.end != EndReport::Unvisited;
        let input = Input::Ended(Box::new(ended));
        let handled = self.engine(partition)?.handle(now, input);
        self.survived(handled)?;
        let state = self.engine(partition)?.server_after(key, at);
        let number = u16::try_from(partition).unwrap_or_default();
        let servers = &mut self.process()?.servers;
        servers.end(number, key, is_visited.then_some(state));
        self.carry_out_orders(partition)
    }
}

/// How long a server asks to be left alone by its answer.
fn rest_asked(how: &How) -> Option<Duration> {
    let How::Answers(answer) = how else {
        return None;
    };
    let is_overloaded = ["HTTP/1.1 429", "HTTP/1.1 503"]
        .iter()
        .any(|status| answer.starts_with(status));
    let (_, after) = answer
        .split_once("Retry-After: ")
        .filter(|_| is_overloaded)?;
    let (seconds, _) = after.split_once('\r')?;
    seconds.parse().ok().map(Duration::from_secs)
}

/// An address of its own for each name.
fn per_name(host: &str) -> IpAddr {
    let number = host
        .bytes()
        .fold(7u8, |sum, byte| sum.wrapping_mul(31) ^ byte);
    IpAddr::V4(Ipv4Addr::new(198, 51, 100, number))
}
