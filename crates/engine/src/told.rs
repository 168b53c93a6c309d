//! What is told of a host once in a run, however many of its pages it holds for.

use hashbrown::HashSet;
use junkai_weburl::Fingerprint;

/// Hosts that are remembered; then all are told of anew.
const REMEMBERED_MAX: usize = 100_000;

/// What is told once for each host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// It rests between two visits, as its robots.txt asks for.
    CrawlDelay,
    /// It asks for rest though its answer tells of no overload.
    RetryAfter,
    /// Its robots.txt keeps pages out.
    KeepsOut,
}

/// The hosts that were told of.
#[derive(Debug, Default)]
pub struct Told {
    hosts: HashSet<(What, Fingerprint)>,
}

impl Told {
    /// Whether this is to be told now: it was not told before.
    pub fn is_news(&mut self, what: What, host: &str) -> bool {
        if REMEMBERED_MAX <= self.hosts.len() {
            self.hosts.clear();
        }
        self.hosts.insert((what, Fingerprint::of(host)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_is_told_once_for_each_host() {
        let mut told = Told::default();
        assert!(told.is_news(What::KeepsOut, "a.example"));
        assert!(!told.is_news(What::KeepsOut, "a.example"));
        assert!(told.is_news(What::KeepsOut, "b.example"));
        assert!(told.is_news(What::CrawlDelay, "a.example"));
        for host in 0..REMEMBERED_MAX {
            told.is_news(What::RetryAfter, &host.to_string());
        }
        assert!(told.hosts.len() <= REMEMBERED_MAX);
    }
}
