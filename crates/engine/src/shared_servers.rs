//! Servers that several engines of one node visit: whoever asks, a server sees one visit at a time, and has its rest from the last one's end.
//!
//! An engine's own leases keep its own visits apart. This keeps those of different engines apart: a visit that an engine has ordered begins only if
//! [`SharedServers::start`] allows it; else the engine is told that the server is busy, and asks again. Engines that wait for a server have it in the order in which they came.
//!
//! Servers are named by the engines' keys, which are the same in all of them, and not by address: two addresses that share a key share its turns, as in a crawl
//! of one partition.

use std::time::Duration;

use hashbrown::HashMap;
use junkai_frontier::{RingConfig, ServerKey, ServerState, Time};

/// Who waits and has not asked for so long does not wait any more.
const WAITER_LASTS: Duration = Duration::from_secs(10);
/// A server that is busy is not asked for again sooner than after this time.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// With fewer servers than this, nobody looks which of them can be forgotten.
const SERVERS_KEPT: usize = 1024;

/// The servers that were visited a moment ago, or are being visited.
#[derive(Debug)]
pub struct SharedServers {
    /// A server that is busy is asked for again after this time: later than this step of the ring, or it would be asked for again at once.
    look_again: Duration,
    servers: HashMap<ServerKey, Server>,
    /// With so many servers, those are forgotten that have had their rest.
    tidy_at: usize,
}

#[derive(Debug, Default)]
struct Server {
    /// The engine whose visit is under way.
    visitor: Option<u16>,
    /// When the server has had its rest.
    free_at: Time,
    /// How often it has failed, or asked for rest, as the last visitor knows.
    strikes: u8,
    waiting: Vec<Waiter>,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    engine: u16,
    since: Time,
    asked: Time,
}

impl SharedServers {
    /// Servers that are visited by schedulers with such a ring and pace.
    #[must_use]
    pub fn new(ring: &RingConfig, interval: Duration) -> SharedServers {
        SharedServers {
            look_again: ring.step_length(interval).max(LOOK_AGAIN),
            servers: HashMap::new(),
            tidy_at: 0,
        }
    }

    /// After what time a server that is busy is asked for again.
    #[must_use]
    pub fn look_again(&self) -> Duration {
        self.look_again
    }

    /// Begins a visit at `at`, and says how the server stands by what the last visitor knows; or says when to ask again.
    ///
    /// # Errors
    /// The server is another engine's, or has not had its rest.
    pub fn start(
        &mut self,
        engine: u16,
        key: ServerKey,
        at: Time,
        now: Time,
    ) -> Result<ServerState, Time> {
        self.tidy(now);
        let at = at.max(now);
        let server = self.servers.entry(key).or_default();
        server
            .waiting
            .retain(|waiter| now <= waiter.asked + WAITER_LASTS || waiter.engine == engine);
        let is_first = server
            .waiting
            .first()
            .is_none_or(|first| first.engine == engine);
        if server.visitor.is_none() && server.free_at <= at && is_first {
            server.visitor = Some(engine);
            server.waiting.retain(|waiter| waiter.engine != engine);
            return Ok(ServerState {
                key,
                hold_until: Time::EPOCH,
                strikes: server.strikes,
            });
        }
        let mut waiting = server.waiting.iter_mut();
        let since = if let Some(waiter) = waiting.find(|waiter| waiter.engine == engine) {
            waiter.asked = now;
            waiter.since
        } else {
            server.waiting.push(Waiter {
                engine,
                since: now,
                asked: now,
            });
            now
        };
        // Who has waited long asks less often; but often enough that the others know that it still waits.
        let soon = now + self.look_again;
        let late = soon.max(now + WAITER_LASTS / 2);
        Err(match server.visitor {
            None => server.free_at.clamp(soon, late),
            Some(_) => (now + now.saturating_duration_since(since) / 4).clamp(soon, late),
        })
    }

    /// A visit has ended, and the server stands like this from now on, left alone until `hold_until`; none if it was not made.
    pub fn end(&mut self, engine: u16, key: ServerKey, state: Option<ServerState>) {
        let Some(server) = self.servers.get_mut(&key) else {
            return;
        };
        if server.visitor == Some(engine) {
            server.visitor = None;
            if let Some(state) = state {
                server.free_at = server.free_at.max(state.hold_until);
                server.strikes = state.strikes;
            }
        }
    }

    /// How a server stands, if that is known here.
    #[must_use]
    pub fn state(&self, key: ServerKey) -> Option<ServerState> {
        self.servers.get(&key).map(|server| ServerState {
            key,
            hold_until: server.free_at,
            strikes: server.strikes,
        })
    }

    fn tidy(&mut self, now: Time) {
        if self.servers.len() < self.tidy_at.max(SERVERS_KEPT) {
            return;
        }
        self.servers.retain(|_, server| {
            server.visitor.is_some()
                || now < server.free_at
                || 0 < server.strikes
                || !server.waiting.is_empty()
        });
        self.tidy_at = 2 * self.servers.len();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const INTERVAL: Duration = Duration::from_secs(2);

    fn servers() -> SharedServers {
        SharedServers::new(&RingConfig::default(), Duration::ZERO)
    }

    fn until(key: ServerKey, hold_until: Time) -> ServerState {
        ServerState {
            key,
            hold_until,
            strikes: 0,
        }
    }

    fn at(millis: u64) -> Time {
        Time::from_micros(1000 * millis)
    }

    #[test]
    fn a_server_has_one_visitor_and_its_rest() {
        let mut servers = servers();
        let key = ServerKey::new(7);
        servers.start(0, key, at(0), at(0)).unwrap();
        assert_eq!(servers.start(1, key, at(5), at(5)), Err(at(15)));
        assert!(servers.start(0, ServerKey::new(8), at(5), at(5)).is_ok());
        servers.end(0, key, Some(until(key, at(100) + INTERVAL)));
        assert_eq!(servers.start(1, key, at(100), at(100)), Err(at(2100)));
        servers.start(1, key, at(2100), at(2100)).unwrap();
        servers.end(1, key, None);
        servers.start(0, key, at(2100), at(2100)).unwrap();
    }

    #[test]
    fn who_waits_longest_is_next_unless_it_stopped_asking() {
        let mut servers = servers();
        let key = ServerKey::new(7);
        servers.start(0, key, at(0), at(0)).unwrap();
        servers.start(1, key, at(1), at(1)).unwrap_err();
        servers.start(2, key, at(2), at(2)).unwrap_err();
        servers.end(0, key, Some(until(key, at(10))));
        servers.start(2, key, at(20), at(20)).unwrap_err();
        servers.start(0, key, at(21), at(21)).unwrap_err();
        servers.start(1, key, at(22), at(22)).unwrap();
        servers.end(1, key, Some(until(key, at(30))));
        servers.start(0, key, at(40), at(40)).unwrap_err();
        servers.start(0, key, at(11_000), at(11_000)).unwrap();
    }

    #[test]
    fn whoever_visits_a_server_next_knows_of_its_strikes() {
        let mut servers = servers();
        let key = ServerKey::new(7);
        assert_eq!(servers.start(0, key, at(0), at(0)).unwrap().strikes, 0);
        let struck = ServerState {
            strikes: 3,
            ..until(key, at(100))
        };
        servers.end(0, key, Some(struck));
        assert_eq!(servers.state(key), Some(struck));
        assert_eq!(servers.start(1, key, at(100), at(100)).unwrap().strikes, 3);
        servers.end(1, key, None);
        assert_eq!(servers.start(0, key, at(200), at(200)).unwrap().strikes, 3);
    }

    #[test]
    fn servers_that_have_had_their_rest_are_forgotten() {
        let mut servers = servers();
        for number in 0..100_000 {
            let now = at(u64::from(number));
            let key = ServerKey::new(number);
            servers.start(0, key, now, now).unwrap();
            servers.end(0, key, Some(until(key, now + INTERVAL)));
        }
        assert!(servers.servers.len() < 10_000, "{}", servers.servers.len());
    }

    proptest! {
        /// However engines ask, no two visits overlap, each begins when the server has had its rest, and every engine has its turns.
        #[test]
        fn visits_of_all_engines_keep_their_distance(
            durations in prop::collection::vec(0u64..300, 200),
            engines in 2u16..5,
        ) {
            let mut servers = servers();
            let key = ServerKey::new(1);
            let mut wakes = vec![at(0); usize::from(engines)];
            let mut under_way: Option<(u16, Time)> = None;
            let mut free_at = at(0);
            let mut turns = vec![0u32; usize::from(engines)];
            let mut durations = durations.into_iter();
            let mut now = at(0);
            'all: loop {
                if let Some((engine, end)) = under_way.filter(|(_, end)| *end <= now) {
                    free_at = end + INTERVAL;
                    servers.end(engine, key, Some(until(key, free_at)));
                    wakes[usize::from(engine)] = now;
                    under_way = None;
                }
                for engine in 0..engines {
                    let is_visiting = under_way.is_some_and(|(visitor, _)| visitor == engine);
                    if is_visiting || now < wakes[usize::from(engine)] {
                        continue;
                    }
                    match servers.start(engine, key, now, now) {
                        Ok(_) => {
                            prop_assert!(under_way.is_none() && free_at <= now);
                            let Some(duration) = durations.next() else {
                                break 'all;
                            };
                            turns[usize::from(engine)] += 1;
                            under_way = Some((engine, now + Duration::from_millis(duration)));
                        }
                        Err(again) => {
                            prop_assert!(now < again);
                            wakes[usize::from(engine)] = again;
                        }
                    }
                }
                now = now + Duration::from_millis(5);
            }
            let least = turns.iter().min().copied().unwrap_or(0);
            let most = turns.iter().max().copied().unwrap_or(0);
            prop_assert!(most <= least + 2, "{turns:?}");
        }
    }
}
