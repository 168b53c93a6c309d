//! The outcomes that are kept.

use hashbrown::HashMap;
use tokio::time::Instant;

use super::outcome::Outcome;

/// Outcomes by host, in two generations: when the young one is full the old one is dropped, so
/// that size is bounded and what is in use stays.
pub(super) struct Cache {
    young: HashMap<Box<str>, Entry>,
    old: HashMap<Box<str>, Entry>,
    generation_max: usize,
}

#[derive(Clone)]
struct Entry {
    outcome: Outcome,
    expires: Instant,
}

impl Cache {
    pub(super) fn new(hosts_max: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            generation_max: (hosts_max / 2).max(1),
        }
    }

    pub(super) fn get(&mut self, host: &str, now: Instant) -> Option<Outcome> {
        if let Some(entry) = self.young.get(host) {
            return (now < entry.expires).then(|| entry.outcome.clone());
        }
        let (host, entry) = self.old.remove_entry(host)?;
        if entry.expires <= now {
            return None;
        }
        let outcome = entry.outcome.clone();
        self.insert(host, entry);
        Some(outcome)
    }

    pub(super) fn put(&mut self, host: Box<str>, outcome: Outcome, now: Instant) {
        let ttl = match &outcome {
            Ok(resolved) => resolved.ttl,
            Err(failure) => failure.ttl,
        };
        let expires = now + ttl;
        self.insert(host, Entry { outcome, expires });
    }

    fn insert(&mut self, host: Box<str>, entry: Entry) {
        if self.generation_max <= self.young.len() {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(host, entry);
    }

    pub(super) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::dns::{DnsFailure, DnsProblem};

    fn outcome(seconds: u64) -> Outcome {
        Err(DnsFailure {
            problem: DnsProblem::NoSuchName,
            ttl: Duration::from_secs(seconds),
        })
    }

    #[test]
    fn an_outcome_lives_as_long_as_it_says() {
        let now = Instant::now();
        let mut cache = Cache::new(10);
        cache.put("a".into(), outcome(60), now);
        assert_eq!(
            cache.get("a", now + Duration::from_secs(59)),
            Some(outcome(60))
        );
        assert_eq!(cache.get("a", now + Duration::from_mins(1)), None);
    }

    #[test]
    fn what_is_in_use_stays_and_the_rest_goes() {
        let now = Instant::now();
        let mut cache = Cache::new(10);
        cache.put("used".into(), outcome(60), now);
        for number in 0..1000 {
            cache.put(number.to_string().into(), outcome(60), now);
            assert!(cache.get("used", now).is_some(), "lost after {number}");
            assert!(cache.len() <= 10);
        }
        assert!(cache.get("0", now).is_none());
    }
}
