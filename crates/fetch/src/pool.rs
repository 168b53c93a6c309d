//! Idle connections, kept for the next visit to the same host at the same address.
//!
//! A worker puts a connection in after an exchange that left it usable, and takes it out for
//! the next one. Bounded in number and in time: the oldest goes first.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use hashbrown::{Equivalent, HashMap};
use tokio::time::Instant;

/// What a connection is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) is_tls: bool,
    pub(crate) host: Rc<str>,
    pub(crate) remote: SocketAddr,
}

/// A [`Target`] that is only looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetRef<'a> {
    pub(crate) is_tls: bool,
    pub(crate) host: &'a str,
    pub(crate) remote: SocketAddr,
}

impl TargetRef<'_> {
    pub(crate) fn to_target(self) -> Target {
        Target {
            is_tls: self.is_tls,
            host: self.host.into(),
            remote: self.remote,
        }
    }
}

impl Hash for Target {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.is_tls, &*self.host, self.remote).hash(state);
    }
}

impl Hash for TargetRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.is_tls, self.host, self.remote).hash(state);
    }
}

impl Equivalent<Target> for TargetRef<'_> {
    fn equivalent(&self, target: &Target) -> bool {
        (self.is_tls, self.host, self.remote) == (target.is_tls, &*target.host, target.remote)
    }
}

/// The idle connections of a worker, at most one for a target.
#[derive(Debug)]
pub(crate) struct Pool<C> {
    idle: HashMap<Target, Idle<C>>,
    /// Every connection put in, oldest first; those taken out since are passed over.
    order: VecDeque<(u64, Target)>,
    next_serial: u64,
    length_max: usize,
    idle_max: Duration,
}

#[derive(Debug)]
struct Idle<C> {
    connection: C,
    serial: u64,
    since: Instant,
}

impl<C> Pool<C> {
    pub(crate) fn new(length_max: usize, idle_max: Duration) -> Self {
        Self {
            idle: HashMap::new(),
            order: VecDeque::new(),
            next_serial: 0,
            length_max,
            idle_max,
        }
    }

    /// Takes out the connection to a target, unless it has idled for too long.
    pub(crate) fn take(&mut self, target: TargetRef<'_>, now: Instant) -> Option<(Target, C)> {
        let (target, idle) = self.idle.remove_entry(&target)?;
        let is_fresh = now.saturating_duration_since(idle.since) < self.idle_max;
        is_fresh.then_some((target, idle.connection))
    }

    /// Keeps a connection; what is then too old or too much is dropped.
    pub(crate) fn put(&mut self, target: Target, connection: C, now: Instant) {
        if self.length_max == 0 {
            return;
        }
        let serial = self.next_serial;
        self.next_serial += 1;
        self.order.push_back((serial, target.clone()));
        let idle = Idle {
            connection,
            serial,
            since: now,
        };
        self.idle.insert(target, idle);
        self.drop_excess(now);
    }

    /// Drops connections that have idled for too long, and the oldest where there are too many.
    pub(crate) fn drop_excess(&mut self, now: Instant) {
        while let Some((serial, target)) = self.order.front() {
            let is_dead = match self.idle.get(target) {
                Some(idle) if idle.serial == *serial => {
                    let is_old = self.idle_max <= now.saturating_duration_since(idle.since);
                    let is_excess = self.length_max < self.idle.len();
                    if is_old || is_excess {
                        self.idle.remove(target);
                    }
                    is_old || is_excess
                }
                Some(_) | None => true,
            };
            if !is_dead {
                break;
            }
            self.order.pop_front();
        }
        // The front may live long while others come and go behind it.
        if self.length_max.saturating_mul(2).max(64) < self.order.len() {
            let idle = &self.idle;
            self.order
                .retain(|(serial, target)| idle.get(target).is_some_and(|i| i.serial == *serial));
        }
    }

    /// Drops all connections.
    pub(crate) fn clear(&mut self) {
        self.idle.clear();
        self.order.clear();
    }

    /// How many connections are kept.
    pub(crate) fn len(&self) -> usize {
        self.idle.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn target(number: u16) -> TargetRef<'static> {
        TargetRef {
            is_tls: number.is_multiple_of(2),
            host: "a.example",
            remote: SocketAddr::from(([192, 0, 2, 1], number)),
        }
    }

    #[test]
    fn a_connection_is_found_under_its_own_target_only_and_once() {
        let now = Instant::now();
        let mut pool = Pool::new(4, Duration::from_secs(9));
        pool.put(target(1).to_target(), "one", now);
        assert!(pool.take(target(3), now).is_none());
        let other_host = TargetRef {
            host: "b.example",
            ..target(1)
        };
        assert!(pool.take(other_host, now).is_none());
        let other_scheme = TargetRef {
            is_tls: true,
            ..target(1)
        };
        assert!(pool.take(other_scheme, now).is_none());
        assert_eq!(pool.take(target(1), now).map(|found| found.1), Some("one"));
        assert!(pool.take(target(1), now).is_none());
    }

    #[test]
    fn an_old_connection_is_not_given_out() {
        let now = Instant::now();
        let mut pool = Pool::new(4, Duration::from_secs(9));
        pool.put(target(1).to_target(), (), now);
        assert!(pool.take(target(1), now + Duration::from_secs(9)).is_none());
    }

    proptest! {
        #[test]
        fn never_more_than_allowed_and_the_newest_stay(
            puts in prop::collection::vec((0_u16..12, any::<bool>()), 0..300),
            length_max in 0_usize..6,
        ) {
            let now = Instant::now();
            let mut pool = Pool::new(length_max, Duration::from_secs(9));
            let mut model: Vec<(u16, usize)> = Vec::new();
            for (number, (port, is_put)) in puts.into_iter().enumerate() {
                let kept = model.iter().position(|entry| entry.0 == port);
                let kept = kept.map(|index| model.remove(index).1);
                if is_put {
                    pool.put(target(port).to_target(), number, now);
                    model.push((port, number));
                    let excess = model.len().saturating_sub(length_max);
                    model.drain(..excess);
                } else {
                    prop_assert_eq!(pool.take(target(port), now).map(|found| found.1), kept);
                }
                prop_assert_eq!(pool.len(), model.len());
                prop_assert!(pool.order.len() <= 65);
            }
        }
    }
}
