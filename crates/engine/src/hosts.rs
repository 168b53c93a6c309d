//! Which server a host is on: a bounded table of addresses, with the visits that wait for one. It is the one cache of DNS answers.
//!
//! The frontier's thread owns it. A host is asked for once however many visits wait for it; an answer holds for its
//! time to live, and so does a failure. Not here: asking (`worker`), and politeness (`frontier`).

use std::net::IpAddr;
use std::time::Duration;

use hashbrown::HashMap;
use junkai_fetch::DnsFailure;
use junkai_frontier::{ServerKey, Time, server_key};

use crate::visit::{Resolution, Visit};

/// An answer holds at least so long, so that a visit can be placed and started with it.
const ANSWER_HOLDS_MIN: Duration = Duration::from_secs(1);

/// Where a host is.
#[derive(Clone, Debug)]
pub enum Whereabouts {
    /// At this server.
    At(IpAddr, ServerKey),
    /// Nowhere, for this reason.
    Nowhere(DnsFailure),
    /// Not known.
    Unknown,
}

/// The table.
#[derive(Debug)]
pub struct Hosts {
    keys: u32,
    /// Hosts whose answer is kept at most; beyond it, answers are forgotten and asked for again.
    answers_max: usize,
    known: HashMap<Box<str>, Known>,
    waiting: HashMap<Box<str>, Vec<Waiter>>,
    waiting_count: usize,
}

/// A visit that waits for its host's address.
#[derive(Debug)]
pub enum Waiter {
    /// It has no place in the ring yet.
    Placing(Visit),
    /// Its turn has come, and it holds its server's lease; the address was too old.
    Starting {
        /// The visit.
        visit: Visit,
        /// Its server.
        key: ServerKey,
        /// Its turn.
        at: Time,
    },
}

impl Waiter {
    fn host(&self) -> &str {
        match self {
            Waiter::Placing(visit) | Waiter::Starting { visit, .. } => visit.url.host(),
        }
    }
}

#[derive(Debug)]
struct Known {
    answer: Result<(IpAddr, ServerKey), DnsFailure>,
    until: Time,
}

impl Hosts {
    /// An empty table, for a ring with so many server keys.
    #[must_use]
    pub fn new(keys: u32, answers_max: usize) -> Hosts {
        Hosts {
            keys,
            answers_max,
            known: HashMap::new(),
            waiting: HashMap::new(),
            waiting_count: 0,
        }
    }

    /// Where `host` is, as far as an answer still holds.
    #[must_use]
    pub fn find(&self, host: &str, now: Time) -> Whereabouts {
        match self.known.get(host) {
            Some(known) if now < known.until => match &known.answer {
                Ok((address, key)) => Whereabouts::At(*address, *key),
                Err(failure) => Whereabouts::Nowhere(failure.clone()),
            },
            _ => Whereabouts::Unknown,
        }
    }

    /// The address of `host`, as far as an answer still holds.
    #[must_use]
    pub fn address_of(&self, host: &str, now: Time) -> Option<IpAddr> {
        match self.find(host, now) {
            Whereabouts::At(address, _) => Some(address),
            Whereabouts::Nowhere(_) | Whereabouts::Unknown => None,
        }
    }

    /// Lets a visit wait for its host's address. Answers whether the host must be asked for.
    pub fn wait(&mut self, waiter: Waiter) -> bool {
        self.waiting_count += 1;
        if let Some(waiters) = self.waiting.get_mut(waiter.host()) {
            waiters.push(waiter);
            return false;
        }
        self.waiting.insert(waiter.host().into(), vec![waiter]);
        true
    }

    /// Takes in an answer, and gives back the visits that waited for it.
    pub fn answer(&mut self, host: Box<str>, answer: Resolution, now: Time) -> Vec<Waiter> {
        if self.answers_max <= self.known.len() {
            self.forget(now);
        }
        let visits = self.waiting.remove(&host).unwrap_or_default();
        self.waiting_count -= visits.len();
        let known = match answer {
            Ok(located) => Known {
                answer: Ok((located.address, server_key(located.address, self.keys))),
                until: now + located.holds.max(ANSWER_HOLDS_MIN),
            },
            Err(failure) => {
                let until = now + failure.ttl.max(ANSWER_HOLDS_MIN);
                Known {
                    answer: Err(failure),
                    until,
                }
            }
        };
        self.known.insert(host, known);
        visits
    }

    /// Visits that wait for an address.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting_count
    }

    /// Hosts with an answer.
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "it counts, and nobody asks whether that is none"
    )]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Makes room: what no longer holds goes, and of the rest, down to half of the table, what ends first.
    ///
    /// Hosts whose answers end together go by name, so that the same answers always leave the same table.
    fn forget(&mut self, now: Time) {
        self.known.retain(|_, known| now < known.until);
        let excess = self.known.len().saturating_sub(self.answers_max / 2);
        let Some(last_to_go) = excess.checked_sub(1) else {
            return;
        };
        let ends = self.known.iter();
        let mut ends: Vec<(Time, &str)> =
            ends.map(|(host, known)| (known.until, &**host)).collect();
        let (_, &mut (until, host), _) = ends.select_nth_unstable(last_to_go);
        let last_to_go = (until, host.to_owned());
        self.known
            .retain(|host, known| (last_to_go.0, &*last_to_go.1) < (known.until, &**host));
    }
}

#[cfg(test)]
mod tests {
    use junkai_fetch::DnsProblem;

    use super::*;
    use crate::visit::Located;

    const HOUR: Duration = Duration::from_hours(1);

    fn found(holds: Duration) -> Located {
        let address = IpAddr::from([192, 0, 2, 1]);
        Located { address, holds }
    }

    #[test]
    fn a_full_table_forgets_what_ends_first_and_then_by_name() {
        let hosts_max = 64;
        let remembered = |order: &mut dyn Iterator<Item = u64>| {
            let mut hosts = Hosts::new(16, hosts_max);
            let mut last = String::new();
            for number in order {
                last = format!("h{number:02}.example");
                let holds = HOUR * u32::try_from(number / 16 + 1).unwrap();
                hosts.answer((&*last).into(), Ok(found(holds)), Time::EPOCH);
            }
            (0..hosts_max as u64)
                .map(|number| format!("h{number:02}.example"))
                .filter(|host| *host != last && hosts.address_of(host, Time::EPOCH).is_some())
                .collect::<Vec<_>>()
        };
        let full = hosts_max as u64;
        let upwards = remembered(&mut (0..full).chain([99]));
        let downwards = remembered(&mut (0..full).rev().chain([99]));
        assert_eq!(upwards, downwards);
        assert_eq!(upwards.first().map(String::as_str), Some("h32.example"));
        assert_eq!(upwards.len(), hosts_max / 2);
    }

    #[test]
    fn answers_and_failures_hold_for_their_time_to_live() {
        let mut hosts = Hosts::new(16, 10);
        let failure = DnsFailure {
            problem: DnsProblem::NoSuchName,
            ttl: HOUR,
        };
        hosts.answer("a.example".into(), Ok(found(HOUR)), Time::EPOCH);
        hosts.answer("gone.example".into(), Err(failure), Time::EPOCH);
        hosts.answer(
            "short.example".into(),
            Ok(found(Duration::ZERO)),
            Time::EPOCH,
        );
        let last = Time::EPOCH + HOUR.saturating_sub(Duration::from_micros(1));
        assert!(hosts.address_of("a.example", last).is_some());
        assert!(matches!(
            hosts.find("gone.example", last),
            Whereabouts::Nowhere(_)
        ));
        for host in ["a.example", "gone.example", "never.example"] {
            let whereabouts = hosts.find(host, Time::EPOCH + HOUR);
            assert!(matches!(whereabouts, Whereabouts::Unknown), "{host}");
        }
        // A visit can be placed and started with any answer.
        assert!(hosts.address_of("short.example", Time::EPOCH).is_some());
        assert!(hosts.address_of("short.example", last).is_none());
    }

    #[test]
    fn the_table_is_bounded() {
        let mut hosts = Hosts::new(16, 10);
        for number in 0..100 {
            hosts.answer(
                format!("{number}.example").into(),
                Ok(found(HOUR)),
                Time::EPOCH,
            );
            assert!(hosts.len() <= 10, "{number}");
            let newest = hosts.address_of(&format!("{number}.example"), Time::EPOCH);
            assert!(newest.is_some());
        }
    }
}
