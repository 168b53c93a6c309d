//! The pace of hosts that ask for one of their own, beside the pace of their server.
//!
//! A robots.txt (`Crawl-delay`) or an answer (`Retry-After`) speaks for its host, not for the neighbours at the same address. The driver
//! asks [`HostPaces::line_up`] before a visit takes a place in its server's line, and [`HostPaces::start`] when its turn has come; both
//! say when to come back instead, if the host rests. Such a visit is deferred by the driver, so it stands in nobody's way.
//!
//! Invariants (promise 1, politeness): a host that asks for a delay has at most one visit in flight, which starts at least that delay after
//! the one before it has ended, and not while the host is on hold; whoever is told to come back is told a later time than now.
//!
//! Times are handed out `delay` apart, so that a host's visits come back one by one, and at most `AHEAD_MAX` ahead, so that a delay that
//! is taken back does not keep visits away. Whoever finds no such time comes back after half of that or a little more, spread evenly.
//!
//! Not here: servers (`lease`), and where deferred visits stay.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::politeness::PolitenessConfig;
use crate::scheduler::{EndReport, VisitKind};
use crate::time::Time;

/// Hosts with a pace of their own at most, some 20 MB. Those that have rested are forgotten first: they lose nothing by it.
const HOSTS_MAX: usize = 1 << 16;
/// Origins of one host (schemes and ports) whose delays are kept apart; of more, the longest count.
const ORIGINS_MAX: usize = 8;
/// How far ahead times are handed out: robots.txt is asked for again after a day.
const AHEAD_MAX: Duration = Duration::from_hours(24);
/// How long a visit that was let into its server's line keeps others of its host out of it.
const LINED_UP_MAX: Duration = Duration::from_mins(2);
/// How long visits of a host wait that has no place here.
const NO_ROOM_WAIT: Duration = Duration::from_mins(10);
/// How long a visit gives way to one of the other kind.
const GIVE_WAY: Duration = Duration::from_secs(1);
/// The least time until somebody comes back.
const WAIT_MIN: Duration = Duration::from_millis(100);
/// The golden ratio's part after the point, in 2^32: its multiples are spread evenly.
const GOLDEN: u32 = 0x9e37_79b9;

/// The hosts that have a pace of their own.
#[derive(Clone, Debug)]
pub struct HostPaces {
    hosts: BTreeMap<Box<str>, HostPace>,
    politeness: PolitenessConfig,
    hosts_max: usize,
    /// Before this moment none of the hosts will have rested: there is no use in looking.
    full_until: Time,
    /// Counts those that were sent away without a time of their own.
    spread: u32,
}

#[derive(Clone, Debug, Default)]
struct HostPace {
    asks: Vec<Ask>,
    is_in_flight: bool,
    /// When the last visit ended, or may have.
    last_end: Time,
    hold_until: Time,
    /// When a visit was let into its server's line that has not started yet.
    lined_up: Option<Time>,
    /// For each kind of visit.
    turns: [Turns; 2],
    /// Of which kind the last visit was.
    last_kind: Option<VisitKind>,
    /// Until when that kind gives way to the other.
    gives_way_until: Time,
}

/// The delay that one origin of a host asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// What stands for the origin.
    pub origin: u64,
    /// The least time from the end of a visit to the start of the next, as it is obeyed.
    pub delay: Duration,
}

/// Which times were handed out.
#[derive(Clone, Copy, Debug, Default)]
struct Turns {
    /// When somebody comes who will find the host rested.
    next: Time,
    /// The first time behind it that was not handed out.
    free_from: Time,
}

/// What must survive a restart for the host to be treated as before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostState {
    /// The host.
    pub host: Box<str>,
    /// What its origins ask for; if nothing, it only rests.
    pub asks: Vec<Ask>,
    /// From when it may be visited.
    pub free_at: Time,
}

impl HostPaces {
    /// No host has a pace of its own.
    #[must_use]
    pub fn new(politeness: PolitenessConfig) -> HostPaces {
        HostPaces {
            hosts: BTreeMap::new(),
            politeness,
            hosts_max: HOSTS_MAX,
            full_until: Time::EPOCH,
            spread: 0,
        }
    }

    /// Takes in what a robots.txt of the host asks for, or that it asks for nothing any more. Answers whether that is new.
    ///
    /// A host that was not known here rests for a delay first: when it was visited last is not known.
    pub fn told(&mut self, host: &str, origin: u64, delay: Option<Duration>, now: Time) -> bool {
        let delay = self.obeyed(delay);
        let known = self.hosts.get(host).and_then(|pace| pace.delay_of(origin));
        if known == delay {
            return false;
        }
        let Some(pace) = self.host(host, delay.is_some(), now) else {
            return false;
        };
        pace.asks.retain(|ask| ask.origin != origin);
        pace.asks.extend(delay.map(|delay| Ask { origin, delay }));
        if ORIGINS_MAX < pace.asks.len() {
            pace.asks.sort_by_key(|ask| std::cmp::Reverse(ask.delay));
            pace.asks.truncate(ORIGINS_MAX);
        }
        if pace.is_of_no_use(now) {
            self.hosts.remove(host);
        }
        true
    }

    /// Leaves the host alone until then. False if there is no room for it here.
    pub fn hold(&mut self, host: &str, until: Time, now: Time) -> bool {
        let Some(pace) = self.host(host, true, now) else {
            return false;
        };
        pace.hold_until = pace.hold_until.max(until);
        true
    }

    /// Asks for a place in the server's line.
    ///
    /// # Errors
    /// When to come back, if the host rests or another of its visits is under way.
    pub fn line_up(
        &mut self,
        host: &str,
        ask: Option<Ask>,
        kind: VisitKind,
        now: Time,
    ) -> Result<(), Time> {
        if let Some(ask) = ask
            && let delay @ Some(_) = self.obeyed(Some(ask.delay))
        {
            let known = self
                .hosts
                .get(host)
                .and_then(|pace| pace.delay_of(ask.origin));
            if known != delay && !self.told(host, ask.origin, delay, now) {
                return Err(now + NO_ROOM_WAIT);
            }
        }
        let Some(pace) = self.hosts.get_mut(host) else {
            return Ok(());
        };
        let is_first = pace
            .lined_up
            .is_none_or(|since| since + LINED_UP_MAX <= now);
        if pace.is_free(now) && is_first && !pace.gives_way(kind, now) {
            pace.lined_up = Some(now);
            return Ok(());
        }
        Err(self.later(host, kind, now))
    }

    /// A visit that was let into its server's line has left it without a start.
    pub fn leave_line(&mut self, host: &str) {
        if let Some(pace) = self.hosts.get_mut(host) {
            pace.lined_up = None;
        }
    }

    /// A visit has its server's turn: it starts, and must be [ended](Self::end).
    ///
    /// # Errors
    /// When to come back, if the host rests or another of its visits is in flight.
    pub fn start(&mut self, host: &str, kind: VisitKind, now: Time) -> Result<(), Time> {
        let Some(pace) = self.hosts.get_mut(host) else {
            return Ok(());
        };
        pace.lined_up = None;
        if !pace.is_free(now) {
            return Err(self.later(host, kind, now));
        }
        pace.is_in_flight = true;
        pace.last_kind = Some(kind);
        Ok(())
    }

    /// A visit to the host ended at `at`.
    pub fn end(&mut self, host: &str, at: Time, report: EndReport) {
        let slack = match report {
            EndReport::Aborted => self.politeness.abort_slack,
            _ => Duration::ZERO,
        };
        if let Some(pace) = self.hosts.get_mut(host) {
            pace.is_in_flight = false;
            pace.lined_up = None;
            if report != EndReport::Unvisited {
                pace.last_end = pace.last_end.max(at + slack);
            }
            if pace.is_of_no_use(at) {
                self.hosts.remove(host);
            }
        }
    }

    /// Whether a host has a pace of its own.
    #[must_use]
    pub fn has(&self, host: &str) -> bool {
        self.hosts.contains_key(host)
    }

    /// What to store of a host at `now`; none if it has no pace of its own.
    #[must_use]
    pub fn state(&self, host: &str, now: Time) -> Option<HostState> {
        let (host, pace) = self.hosts.get_key_value(host)?;
        Some(self.state_of(host, pace, now))
    }

    /// What to store of all hosts at `now`, in the order of their names.
    pub fn states(&self, now: Time) -> impl Iterator<Item = HostState> {
        let hosts = self.hosts.iter();
        hosts.map(move |(host, pace)| self.state_of(host, pace, now))
    }

    fn state_of(&self, host: &str, pace: &HostPace, now: Time) -> HostState {
        // A visit in flight is as good as cut short: how it ends is not known.
        let cut_short = now + self.politeness.abort_slack + pace.delay();
        HostState {
            host: host.into(),
            asks: pace.asks.clone(),
            free_at: if pace.is_in_flight {
                pace.free_at().max(cut_short)
            } else {
                pace.free_at()
            },
        }
    }

    /// Takes over what was stored of a host. `rest` says whether it is treated as if a visit had been cut short at `now`: what a crash leaves
    /// behind.
    pub fn restore(&mut self, state: &HostState, rest: bool, now: Time) {
        let asks: Vec<Ask> = state
            .asks
            .iter()
            .filter_map(|ask| {
                let delay = self.obeyed(Some(ask.delay))?;
                Some(Ask { delay, ..*ask })
            })
            .take(ORIGINS_MAX)
            .collect();
        let last_end = if rest {
            now + self.politeness.abort_slack
        } else {
            Time::EPOCH
        };
        if let Some(pace) = self.host(&state.host, true, now) {
            *pace = HostPace {
                asks,
                hold_until: state.free_at,
                last_end,
                ..HostPace::default()
            };
            if pace.is_of_no_use(now) {
                self.hosts.remove(&state.host);
            }
        }
    }

    /// Hosts that have a pace of their own.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Whether no host has a pace of its own.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// As much of a delay as is obeyed; none if the server's own interval does as well.
    fn obeyed(&self, delay: Option<Duration>) -> Option<Duration> {
        let delay = delay?.min(self.politeness.crawl_delay_max);
        (self.politeness.interval < delay).then_some(delay)
    }

    /// The pace of a host, made if need be and if there is room; then it counts as visited until now.
    fn host(&mut self, host: &str, may_make: bool, now: Time) -> Option<&mut HostPace> {
        if may_make && !self.hosts.contains_key(host) {
            if self.hosts_max <= self.hosts.len() && self.full_until <= now {
                self.hosts.retain(|_, pace| !pace.has_rested(now));
                let rests_end = self.hosts.values().map(HostPace::free_at).min();
                self.full_until = rests_end.unwrap_or(now).max(now + WAIT_MIN);
            }
            if self.hosts_max <= self.hosts.len() {
                return None;
            }
            let pace = HostPace {
                last_end: now,
                ..HostPace::default()
            };
            self.hosts.insert(host.into(), pace);
        }
        self.hosts.get_mut(host)
    }

    /// When a visit that cannot be made now is to come back.
    fn later(&mut self, host: &str, kind: VisitKind, now: Time) -> Time {
        let soonest = now + WAIT_MIN;
        let Some(pace) = self.hosts.get_mut(host) else {
            return soonest;
        };
        let gap = pace.delay().max(self.politeness.interval).max(WAIT_MIN);
        let is_under_way = pace.is_in_flight || pace.lined_up.is_some();
        let rested_at = if is_under_way {
            pace.free_at().max(now + gap)
        } else {
            pace.free_at().max(pace.gives_way_until).max(soonest)
        };
        let turns = &mut pace.turns[place(kind)];
        if turns.next <= now {
            // Nobody else comes when the host has rested.
            turns.next = rested_at;
        } else {
            turns.free_from = turns.free_from.max(turns.next + gap);
            if turns.free_from <= now + AHEAD_MAX {
                let due = turns.free_from;
                turns.free_from = due + gap;
                return due;
            }
            return self.spread(now);
        }
        if now + AHEAD_MAX < rested_at {
            return self.spread(now);
        }
        rested_at
    }

    /// A time between half of [`AHEAD_MAX`] and the whole from now; any number of them in a row are spread evenly.
    fn spread(&mut self, now: Time) -> Time {
        self.spread = self.spread.wrapping_add(GOLDEN);
        let half = AHEAD_MAX / 2;
        now + half + half.mul_f64(f64::from(self.spread) / f64::from(u32::MAX))
    }
}

impl HostPace {
    /// The longest that an origin asks for.
    fn delay(&self) -> Duration {
        let delays = self.asks.iter().map(|ask| ask.delay);
        delays.max().unwrap_or_default()
    }

    fn delay_of(&self, origin: u64) -> Option<Duration> {
        let ask = self.asks.iter().find(|ask| ask.origin == origin)?;
        Some(ask.delay)
    }

    /// Whether a visit comes back a little later, because the last one was of its kind and one of the other kind was told to come by now. So new
    /// pages and known ones have a turn each. It does not wait for long: the other may not come.
    fn gives_way(&mut self, kind: VisitKind, now: Time) -> bool {
        let other = self.turns[1 - place(kind)].next;
        let is_other_due = self.last_end < other && other <= now;
        if !is_other_due || self.last_kind != Some(kind) {
            return false;
        }
        if self.gives_way_until <= self.last_end {
            self.gives_way_until = now + GIVE_WAY;
        }
        now < self.gives_way_until
    }

    fn free_at(&self) -> Time {
        self.hold_until.max(self.last_end + self.delay())
    }

    fn is_free(&self, now: Time) -> bool {
        !self.is_in_flight && self.free_at() <= now
    }

    /// Whether nothing is lost if it is forgotten: its robots.txt tells the delay again, and it may be visited at once.
    fn has_rested(&self, now: Time) -> bool {
        self.is_free(now) && self.lined_up.is_none()
    }

    fn is_of_no_use(&self, now: Time) -> bool {
        self.asks.is_empty() && self.is_free(now)
    }
}

/// Where the times of a kind are.
fn place(kind: VisitKind) -> usize {
    match kind {
        VisitKind::First => 0,
        VisitKind::Revisit => 1,
    }
}

#[cfg(test)]
mod tests;
