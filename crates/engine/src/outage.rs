//! Whether the network is down on our side: then no page is to blame for a visit that fails.
//!
//! The frontier's thread tells it of every server that answered and of every one that could not be reached. When many different ones fail in a row and
//! none answers in between, visits are held instead of being charged to their pages; the first answer ends it. A crawl of fewer servers cannot tell
//! its own outage from theirs.
//!
//! Not here: what becomes of a visit that is held.

use std::time::Duration;

use hashbrown::HashSet;
use junkai_frontier::Time;

/// So many different servers or hosts fail in a row only if it is not their fault.
const UNREACHED_MIN: usize = 8;
/// Bounds of the time for which a visit is held: as long as the outage has lasted, so that few visits try in vain and all go on soon after its end.
const HOLD_MIN: Duration = Duration::from_mins(1);
const HOLD_MAX: Duration = Duration::from_mins(10);

/// What was reached of late.
#[derive(Debug, Default)]
pub struct Outage {
    /// Whether anything ever answered in this run: where nothing did, there may be nothing.
    has_been_online: bool,
    /// Servers and hosts that could not be reached since one last answered, no more than [`UNREACHED_MIN`].
    unreached: HashSet<u64>,
    /// When the first of these failed.
    since: Time,
}

impl Outage {
    /// A server answered, whatever it said. Answers for how long nothing had, if that was an outage.
    pub fn answered(&mut self, now: Time) -> Option<Duration> {
        self.has_been_online = true;
        let was_on = self.is_on();
        self.unreached.clear();
        was_on.then(|| now.saturating_duration_since(self.since))
    }

    /// A server, or a host's name server, could not be reached. Answers whether that makes an outage.
    pub fn unreached(&mut self, whom: u64, now: Time) -> bool {
        let was_on = self.is_on();
        if self.unreached.is_empty() {
            self.since = now;
        }
        if !was_on {
            self.unreached.insert(whom);
        }
        !was_on && self.is_on()
    }

    /// Until when a visit that fails now is held; none if failing is its own fault.
    #[must_use]
    pub fn held_until(&self, now: Time) -> Option<Time> {
        let lasted = now.saturating_duration_since(self.since);
        self.is_on().then(|| now + lasted.clamp(HOLD_MIN, HOLD_MAX))
    }

    fn is_on(&self) -> bool {
        self.has_been_online && UNREACHED_MIN <= self.unreached.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_micros(1_700_000_000_000_000);
    const MANY: u64 = UNREACHED_MIN as u64;

    #[test]
    fn many_servers_in_a_row_are_an_outage_and_the_first_answer_ends_it() {
        let mut outage = Outage::default();
        assert_eq!(outage.answered(NOW), None);
        for server in 1..MANY {
            assert!(!outage.unreached(server, NOW));
            assert!(!outage.unreached(server, NOW), "one server counts once");
        }
        assert_eq!(outage.held_until(NOW), None);
        assert!(outage.unreached(MANY, NOW), "that is news");
        assert!(!outage.unreached(MANY + 1, NOW), "that is none any more");
        let hour = Duration::from_hours(1);
        assert_eq!(outage.held_until(NOW), Some(NOW + HOLD_MIN));
        assert_eq!(outage.held_until(NOW + hour), Some(NOW + hour + HOLD_MAX));
        assert_eq!(outage.answered(NOW + hour), Some(hour));
        assert_eq!(outage.held_until(NOW + hour), None);
    }

    #[test]
    fn an_answer_in_between_shows_that_the_others_are_to_blame() {
        let mut outage = Outage::default();
        for server in 0..10 * MANY {
            assert!(!outage.unreached(server % 7, NOW));
            outage.answered(NOW);
        }
        assert_eq!(outage.held_until(NOW), None);
    }

    #[test]
    fn where_nothing_ever_answered_nothing_is_held() {
        let mut outage = Outage::default();
        for server in 0..10 * MANY {
            assert!(!outage.unreached(server, NOW));
        }
        assert_eq!(outage.held_until(NOW), None);
    }
}
