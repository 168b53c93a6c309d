//! The frontiers that are compared: ours, and the one of the textbooks.
//!
//! Time is invented: where nothing is due, it moves on to when something is. So a frontier is never waited for, and what is
//! measured is its own work.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use hashbrown::HashMap;
use junkai_frontier::{
    Command, EndReport, Event, Overflow, PolitenessConfig, Ring, RingConfig, Scheduler, ServerKey,
    Time, VisitKind, server_key,
};
use rapidhash::fast::RandomState;

use crate::chance::Servers;

/// Gives URLs of servers back, each server's one after the other with a pause between them.
pub(super) trait Frontier {
    /// Whether there was room.
    fn place(&mut self, server: u32, url: u64) -> bool;

    fn take(&mut self) -> Option<u64>;

    /// URLs that wait.
    fn len(&self) -> u64;

    /// Bytes of memory held.
    fn bytes(&self) -> usize;
}

/// How large our frontiers are.
pub(super) struct Bounds(RingConfig);

impl Bounds {
    /// As large as they are without any settings.
    pub(super) fn bounded(waiting_max: u64) -> Bounds {
        Bounds(RingConfig {
            waiting_max: usize::try_from(waiting_max).unwrap_or(usize::MAX),
            ..RingConfig::default()
        })
    }

    /// Large enough for all URLs of all servers at once, and a key for each server.
    pub(super) fn for_all(urls: u64, servers: Servers) -> Bounds {
        let largest = servers.urls_of_largest(urls);
        let default = RingConfig::default();
        // Two servers that share a key share its steps, the last eighth of the ring is kept, and chance has its say.
        let slots = usize::try_from(largest * 2 + 64).unwrap_or(usize::MAX);
        Bounds(RingConfig {
            slots: slots.max(default.slots),
            keys: servers.count().max(default.keys),
            waiting_max: usize::try_from(urls).unwrap_or(usize::MAX),
            ..default
        })
    }
}

const STEP: Duration = Duration::from_millis(100);

/// As the crawler does it: the address, hashed.
fn key_of(server: u32, keys: u32) -> ServerKey {
    server_key(IpAddr::V4(Ipv4Addr::from(server)), keys)
}

/// The ring alone.
pub(super) struct WholeRing {
    ring: Ring<u64>,
    keys: u32,
    now: Time,
}

impl WholeRing {
    pub(super) fn new(bounds: &Bounds) -> WholeRing {
        WholeRing {
            ring: Ring::new(&bounds.0, STEP, Time::EPOCH),
            keys: bounds.0.keys,
            now: Time::EPOCH,
        }
    }
}

impl Frontier for WholeRing {
    fn place(&mut self, server: u32, url: u64) -> bool {
        self.ring.place(key_of(server, self.keys), url).is_ok()
    }

    fn take(&mut self) -> Option<u64> {
        loop {
            if let Some(due) = self.ring.take_due(self.now) {
                return Some(due.visit);
            }
            self.now = self.ring.next_due()?;
        }
    }

    fn len(&self) -> u64 {
        self.ring.len() as u64
    }

    fn bytes(&self) -> usize {
        self.ring.bytes()
    }
}

/// The ring with its leases: all that the crawler asks for a visit. Every visit ends as soon as it has started.
pub(super) struct WholeScheduler {
    scheduler: Scheduler<u64>,
    keys: u32,
    now: Time,
    commands: Vec<Command<u64>>,
    started: VecDeque<u64>,
}

impl WholeScheduler {
    pub(super) fn new(bounds: &Bounds) -> WholeScheduler {
        let politeness = PolitenessConfig {
            interval: STEP,
            ..PolitenessConfig::default()
        };
        let ring = RingConfig {
            step: Some(STEP),
            ..bounds.0.clone()
        };
        WholeScheduler {
            scheduler: Scheduler::new(&ring, politeness, Overflow::Defer, usize::MAX, Time::EPOCH),
            keys: bounds.0.keys,
            now: Time::EPOCH,
            commands: Vec::new(),
            started: VecDeque::new(),
        }
    }

    /// Lets what was started end; returns how many visits found no room.
    fn carry_out(&mut self) -> usize {
        let mut deferred = 0;
        while !self.commands.is_empty() {
            for command in std::mem::take(&mut self.commands) {
                match command {
                    Command::Start { visit, key, at } => {
                        self.now = self.now.max(at);
                        self.started.push_back(visit);
                        let report = EndReport::Answered {
                            duration: Duration::from_micros(1),
                        };
                        let ended = Event::Ended { key, at, report };
                        self.scheduler.step(self.now, ended, &mut self.commands);
                    }
                    Command::Defer { .. } | Command::Discard { .. } => deferred += 1,
                }
            }
        }
        deferred
    }
}

impl Frontier for WholeScheduler {
    fn place(&mut self, server: u32, url: u64) -> bool {
        let key = key_of(server, self.keys);
        let offer = Event::Offer {
            visit: url,
            key,
            kind: VisitKind::First,
        };
        self.scheduler.step(self.now, offer, &mut self.commands);
        self.carry_out() == 0
    }

    fn take(&mut self) -> Option<u64> {
        while self.started.is_empty() {
            self.now = self.now.max(self.scheduler.next_wake()?);
            self.scheduler
                .step(self.now, Event::Tick, &mut self.commands);
            self.carry_out();
        }
        self.started.pop_front()
    }

    fn len(&self) -> u64 {
        (self.scheduler.waiting() + self.started.len()) as u64
    }

    fn bytes(&self) -> usize {
        self.scheduler.bytes()
    }
}

/// The frontier of the textbooks (Heydon and Najork, "Mercator", 1999): a queue for each server, and a heap of servers by the
/// time when they may be visited.
#[derive(Default)]
pub(super) struct Heap {
    servers: BinaryHeap<Reverse<(u64, u32)>>,
    queues: HashMap<u32, Queue, RandomState>,
    now: u64,
    len: u64,
}

#[derive(Default)]
struct Queue {
    urls: VecDeque<u64>,
    /// When the server may be visited.
    free_at: u64,
}

impl Frontier for Heap {
    fn place(&mut self, server: u32, url: u64) -> bool {
        let queue = self.queues.entry(server).or_default();
        if queue.urls.is_empty() {
            self.servers
                .push(Reverse((queue.free_at.max(self.now), server)));
        }
        queue.urls.push_back(url);
        self.len += 1;
        true
    }

    fn take(&mut self) -> Option<u64> {
        let Reverse((time, server)) = self.servers.pop()?;
        self.now = time;
        let queue = self.queues.get_mut(&server)?;
        queue.free_at = time + 1;
        let url = queue.urls.pop_front();
        if !queue.urls.is_empty() {
            self.servers.push(Reverse((queue.free_at, server)));
        }
        self.len -= 1;
        url
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self) -> usize {
        let urls: usize = self
            .queues
            .values()
            .map(|queue| queue.urls.capacity())
            .sum();
        self.queues.allocation_size()
            + urls * size_of::<u64>()
            + self.servers.capacity() * size_of::<Reverse<(u64, u32)>>()
    }
}
