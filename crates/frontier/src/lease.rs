//! The last word before a visit starts: whether its server may be visited, and from when.
//!
//! The scheduler asks [`Leases::free_at`], takes the lease by [`Leases::start`] and gives it back by [`Leases::end`].
//!
//! Invariants (promise 1, politeness; asserted in `start`): a server has at most one visit in flight; a visit starts at
//! least `interval` after the one before it has ended, and not while the server is on hold.
//!
//! A server that struggles is pressed less. Each 429 or 503 is a strike: it holds the server for as long as `Retry-After`
//! says, or else for `backoff_first · 2^strikes`, and doubles its interval up to `interval_max`. A visit without an
//! answer is a strike too, but holds nothing and counts no further than `FAILURE_STRIKES_MAX`: one dead host must not
//! silence its neighbours on the same address. Each answer takes one strike back, so recovery is as slow as the way down.
//!
//! Not here: the order of visits (`ring`, `scheduler`), and what a single host asks for (`host_pace`).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::politeness::PolitenessConfig;
use crate::scheduler::EndReport;
use crate::server::ServerKey;
use crate::time::Time;

/// Strikes that are counted; 2^16 times any sensible interval is beyond every maximum.
const STRIKES_MAX: u8 = 16;
/// Strikes that failed visits alone can bring: eight times the interval.
const FAILURE_STRIKES_MAX: u8 = 3;
/// The part of the way that the expected service time goes towards a longer visit, and towards a shorter one.
///
/// An estimate that is too low makes visits stand in line for a moment; one that is too high leaves the server idle. So it
/// is slow to rise and quick to fall, and one very slow answer does not cost a server its turns.
const SERVICE_RISE_DIVISOR: u32 = 8;
const SERVICE_FALL_DIVISOR: u32 = 2;
/// The expected service time of a server that was never visited: a tenth of the interval, one step of the usual ring.
const SERVICE_GUESS_DIVISOR: u32 = 10;

/// The standing of every server.
#[derive(Clone, Debug)]
pub struct Leases {
    servers: Box<[Lease]>,
    politeness: PolitenessConfig,
    in_flight: usize,
    /// The moment that counts as the last visit's end for servers not visited since.
    rested_from: Option<Time>,
}

/// The standing of one server.
#[derive(Clone, Copy, Debug, Default)]
struct Lease {
    /// When the visit in flight was allowed to start.
    in_flight_from: Option<Time>,
    last_end: Option<Time>,
    hold_until: Time,
    service_time: Duration,
    strikes: u8,
}

/// What must survive a restart for the server to be treated as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerState {
    /// The server; only meaningful with the same number of keys.
    pub key: ServerKey,
    /// The end of its hold; the epoch if there was none.
    pub hold_until: Time,
    /// How often it asked for relief or failed, less the answers since.
    pub strikes: u8,
}

impl Leases {
    /// Leases for servers that were never visited.
    #[must_use]
    pub fn new(keys: u32, politeness: PolitenessConfig) -> Leases {
        let lease = Lease {
            service_time: politeness.interval / SERVICE_GUESS_DIVISOR,
            ..Lease::default()
        };
        Leases {
            servers: vec![lease; keys as usize].into(),
            politeness,
            in_flight: 0,
            rested_from: None,
        }
    }

    /// The moment from which the server may be visited, or none while a visit is in flight.
    #[must_use]
    pub fn free_at(&self, key: ServerKey) -> Option<Time> {
        let lease = &self.servers[key.index()];
        match lease.in_flight_from {
            Some(_) => None,
            None => Some(match lease.last_end.max(self.rested_from) {
                Some(end) => lease.hold_until.max(end + self.interval(key)),
                None => lease.hold_until,
            }),
        }
    }

    /// Takes the lease for a visit that starts at `at`.
    ///
    /// # Panics
    /// If the server may not be visited then: promise 1 is kept here or not at all.
    pub fn start(&mut self, key: ServerKey, at: Time) {
        let free_at = self.free_at(key);
        assert!(
            free_at.is_some(),
            "server {} has a visit in flight",
            key.number()
        );
        assert!(
            free_at <= Some(at),
            "server {} must not be visited yet",
            key.number()
        );
        self.servers[key.index()].in_flight_from = Some(at);
        self.in_flight += 1;
    }

    /// Gives the lease back: the visit ended at `at`. An end without a start counts like any other visit's.
    pub fn end(&mut self, key: ServerKey, at: Time, report: EndReport) {
        let lease = &mut self.servers[key.index()];
        let started_at = lease.in_flight_from.take();
        self.in_flight -= usize::from(started_at.is_some());
        let took = started_at.map(|started_at| at.saturating_duration_since(started_at));
        let mut end = at;
        match report {
            EndReport::Unvisited => return,
            EndReport::Answered { duration } => {
                lease.learn_service_time(duration);
                lease.strikes = lease.strikes.saturating_sub(1);
            }
            EndReport::Aborted => {
                lease.learn_service_time(took.unwrap_or(lease.service_time));
                end = at + self.politeness.abort_slack;
            }
            EndReport::Overloaded { retry_after } => {
                let hold = match retry_after {
                    Some(told) => told.min(self.politeness.retry_after_max),
                    None => doubled(self.politeness.backoff_first, lease.strikes)
                        .min(self.politeness.backoff_max),
                };
                lease.hold_until = lease.hold_until.max(at + hold);
                lease.strikes = STRIKES_MAX.min(lease.strikes + 1);
            }
            EndReport::Failed => {
                lease.learn_service_time(took.unwrap_or(lease.service_time));
                lease.strikes = lease
                    .strikes
                    .max(FAILURE_STRIKES_MAX.min(lease.strikes + 1));
            }
        }
        lease.last_end = lease.last_end.max(Some(end));
    }

    /// Keeps the server from being visited before `until`.
    pub fn hold(&mut self, key: ServerKey, until: Time) {
        let lease = &mut self.servers[key.index()];
        lease.hold_until = lease.hold_until.max(until);
    }

    /// Treats every server as if a visit to it had been cut short at `at`: what a crash leaves behind.
    pub fn rest_all(&mut self, at: Time) {
        self.rested_from = self.rested_from.max(Some(at + self.politeness.abort_slack));
    }

    /// The least time from the end of a visit to the start of the next, as things stand with this server.
    #[must_use]
    pub fn interval(&self, key: ServerKey) -> Duration {
        let lease = &self.servers[key.index()];
        let base = self.politeness.interval;
        base.max(doubled(base, lease.strikes).min(self.politeness.interval_max))
    }

    /// How long a visit to the server takes, by experience, and the interval after it.
    #[must_use]
    pub fn cycle(&self, key: ServerKey) -> Duration {
        self.interval(key).saturating_add(self.service_time(key))
    }

    /// How long a visit to the server takes, by experience.
    #[must_use]
    pub fn service_time(&self, key: ServerKey) -> Duration {
        self.servers[key.index()].service_time
    }

    /// The end of the server's hold, past or to come; the epoch if there was none.
    #[must_use]
    pub fn hold_until(&self, key: ServerKey) -> Time {
        self.servers[key.index()].hold_until
    }

    /// How often the server asked for relief or failed, less the answers since.
    #[must_use]
    pub fn strikes(&self, key: ServerKey) -> u8 {
        self.servers[key.index()].strikes
    }

    /// Visits in flight, to all servers.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// What to store of the servers that are not as they would be after a restart, in the order of keys.
    pub fn states(&self, now: Time) -> impl Iterator<Item = ServerState> {
        let keys = 0_u32..;
        keys.zip(&self.servers).filter_map(move |(number, lease)| {
            let is_special = 0 < lease.strikes || now < lease.hold_until;
            is_special.then(|| self.state(ServerKey::new(number)))
        })
    }

    /// What to store of one server.
    #[must_use]
    pub fn state(&self, key: ServerKey) -> ServerState {
        let lease = &self.servers[key.index()];
        ServerState {
            key,
            hold_until: lease.hold_until,
            strikes: lease.strikes,
        }
    }

    /// Takes over what was stored of a server. What is stored for a key that no longer exists is of no use, and ignored.
    pub fn restore(&mut self, state: &ServerState) {
        if let Some(lease) = self.servers.get_mut(state.key.index()) {
            lease.hold_until = lease.hold_until.max(state.hold_until);
            lease.strikes = state.strikes.min(STRIKES_MAX);
        }
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.servers)
    }
}

impl Lease {
    fn learn_service_time(&mut self, duration: Duration) {
        let above = duration.saturating_sub(self.service_time);
        let below = self.service_time.saturating_sub(duration);
        self.service_time += above / SERVICE_RISE_DIVISOR;
        self.service_time = self
            .service_time
            .saturating_sub(below / SERVICE_FALL_DIVISOR);
    }
}

fn doubled(duration: Duration, times: u8) -> Duration {
    duration.saturating_mul(1 << times.min(STRIKES_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: ServerKey = ServerKey::new(0);
    const SECOND: Duration = Duration::from_secs(1);

    fn leases() -> Leases {
        Leases::new(2, PolitenessConfig::default())
    }

    fn at(seconds: u32) -> Time {
        Time::EPOCH + SECOND * seconds
    }

    fn visit(leases: &mut Leases, seconds: u32, report: EndReport) {
        leases.start(SERVER, at(seconds));
        leases.end(SERVER, at(seconds), report);
    }

    const ANSWERED: EndReport = EndReport::Answered { duration: SECOND };
    const OVERLOADED: EndReport = EndReport::Overloaded { retry_after: None };

    /// Checks from which second a server is free, after a visit at second 100 that was reported so.
    fn check(report: EndReport, free_at_seconds: u32) {
        let mut leases = leases();
        visit(&mut leases, 100, report);
        assert_eq!(
            leases.free_at(SERVER),
            Some(at(free_at_seconds)),
            "{report:?}"
        );
    }

    #[test]
    fn the_pause_depends_on_how_a_visit_ended() {
        let told = |seconds| EndReport::Overloaded {
            retry_after: Some(Duration::from_secs(seconds)),
        };
        check(ANSWERED, 105);
        check(EndReport::Unvisited, 0);
        check(EndReport::Aborted, 106);
        check(EndReport::Failed, 110);
        check(OVERLOADED, 130);
        check(told(0), 110);
        check(told(120), 220);
        check(told(3600), 3700);
        check(told(u64::MAX), 100 + 24 * 3600);
    }

    #[test]
    fn back_off_doubles_to_its_maximum_and_recovers_an_answer_at_a_time() {
        let mut leases = leases();
        let mut holds = Vec::new();
        let mut intervals = Vec::new();
        let mut now = 0;
        for _ in 0..9 {
            visit(&mut leases, now, OVERLOADED);
            holds.push(
                leases
                    .hold_until(SERVER)
                    .saturating_duration_since(at(now))
                    .as_secs(),
            );
            intervals.push(leases.interval(SERVER).as_secs());
            now += 10_000;
        }
        assert_eq!(holds, [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
        assert_eq!(intervals, [10, 20, 40, 80, 160, 300, 300, 300, 300]);
        let mut recovery = Vec::new();
        for _ in 0..10 {
            visit(&mut leases, now, ANSWERED);
            recovery.push(leases.interval(SERVER).as_secs());
            now += 10_000;
        }
        assert_eq!(recovery, [300, 300, 300, 160, 80, 40, 20, 10, 5, 5]);
    }

    #[test]
    fn failures_slow_a_server_down_but_not_to_a_halt() {
        let mut leases = leases();
        for round in 0..20 {
            visit(&mut leases, round * 1000, EndReport::Failed);
        }
        assert_eq!(leases.interval(SERVER), 40 * SECOND);
        assert_eq!(leases.hold_until(SERVER), Time::EPOCH);
    }

    #[test]
    fn a_failure_does_not_forgive_strikes() {
        let mut leases = leases();
        (0..6).for_each(|round| visit(&mut leases, round * 10_000, OVERLOADED));
        visit(&mut leases, 100_000, EndReport::Failed);
        assert_eq!(leases.strikes(SERVER), 6);
    }

    #[test]
    fn an_end_without_a_start_begins_the_interval_anew() {
        let mut leases = leases();
        leases.end(SERVER, at(50), ANSWERED);
        assert_eq!(leases.in_flight(), 0);
        assert_eq!(leases.free_at(SERVER), Some(at(55)));
    }

    #[test]
    fn an_end_told_late_does_not_shorten_the_pause() {
        let mut leases = leases();
        leases.end(SERVER, at(50), ANSWERED);
        leases.end(SERVER, at(10), ANSWERED);
        assert_eq!(leases.free_at(SERVER), Some(at(55)));
    }

    #[test]
    #[should_panic(expected = "has a visit in flight")]
    fn a_second_visit_in_flight_is_a_bug() {
        let mut leases = leases();
        leases.start(SERVER, at(0));
        leases.start(SERVER, at(100));
    }

    #[test]
    #[should_panic(expected = "must not be visited yet")]
    fn a_visit_before_its_time_is_a_bug() {
        let mut leases = leases();
        visit(&mut leases, 0, ANSWERED);
        leases.start(SERVER, at(4));
    }

    #[test]
    fn one_slow_answer_hardly_changes_what_is_expected() {
        let mut leases = leases();
        visit(
            &mut leases,
            0,
            EndReport::Answered {
                duration: 40 * SECOND,
            },
        );
        assert!(leases.service_time(SERVER) < 6 * SECOND);
        for round in 1..10 {
            visit(
                &mut leases,
                round * 100,
                EndReport::Answered { duration: SECOND },
            );
        }
        assert!(leases.service_time(SERVER) < SECOND * 11 / 10);
    }

    #[test]
    fn what_is_stored_comes_back() {
        let mut before = leases();
        visit(&mut before, 0, OVERLOADED);
        let stored: Vec<ServerState> = before.states(at(1)).collect();
        let mut after = leases();
        for state in &stored {
            after.restore(state);
        }
        assert_eq!(after.interval(SERVER), before.interval(SERVER));
        assert_eq!(after.hold_until(SERVER), before.hold_until(SERVER));
        assert_eq!(after.states(at(1)).collect::<Vec<_>>(), stored);
        after.restore(&ServerState {
            key: ServerKey::new(99),
            ..stored[0]
        });
    }
}
