//! Which server a host is on: a bounded table of addresses, with the visits that wait for one.
//!
//! The frontier's thread owns it. A host is asked for once however many visits wait for it; an answer holds for its
//! time to live. Not here: asking (`worker`), and politeness (`frontier`).

use std::net::IpAddr;
use std::time::Duration;

use hashbrown::HashMap;
use junkai_fetch::DnsFailure;
use junkai_frontier::{ServerKey, Time, server_key};

use crate::visit::{Resolution, Visit};

/// Hosts whose answer is kept at most; beyond it, answers are forgotten and asked for again.
const HOSTS_MAX: usize = 200_000;

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
    pub fn new(keys: u32) -> Hosts {
        Hosts {
            keys,
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
        if HOSTS_MAX <= self.known.len() {
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

    /// Makes room: what no longer holds goes, and if that is not enough, half of the rest.
    fn forget(&mut self, now: Time) {
        self.known.retain(|_, known| now < known.until);
        if HOSTS_MAX / 2 < self.known.len() {
            let mut keep = false;
            self.known.retain(|_, _| {
                keep = !keep;
                keep
            });
        }
    }
}
