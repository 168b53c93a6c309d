//! Whether our own machine is short of something, such as file descriptors: then fewer visits are made at a time, for a while.
//!
//! The frontier's thread tells it of every visit that failed for that reason. Visits in flight fall to three quarters of what they were and rise again
//! step by step. Not here: what becomes of the visit.

use std::time::Duration;

use junkai_frontier::Time;

/// Visits that fail within this time of each other fail for one reason.
const FALL_EVERY: Duration = Duration::from_secs(1);
/// After so long without a failure twice as many visits are tried at a time.
const RISE_EVERY: Duration = Duration::from_secs(10);
/// How long a visit that failed is held.
pub const SHORTAGE_DEFERRAL: Duration = Duration::from_secs(2);

/// How many visits the machine can bear.
#[derive(Debug, Default)]
pub struct Shortage {
    /// Visits that were allowed when it was last short, and when that was.
    last: Option<(usize, Time)>,
}

impl Shortage {
    /// A visit found the machine short of something while so many were in flight. Answers whether that is news.
    pub fn met(&mut self, in_flight: usize, now: Time) -> bool {
        let is_recent = |(_, then): (usize, Time)| now.saturating_duration_since(then) < FALL_EVERY;
        if self.last.is_some_and(is_recent) {
            return false;
        }
        let is_news = self.visits_max(now).is_none();
        let most = self
            .visits_max(now)
            .map_or(in_flight, |most| most.min(in_flight));
        self.last = Some(((most * 3 / 4).max(1), now));
        is_news
    }

    /// How many visits may be in flight; none if the machine is short of nothing.
    #[must_use]
    pub fn visits_max(&self, now: Time) -> Option<usize> {
        /// By then it is as many as anybody allows.
        const DOUBLINGS_MAX: u64 = 20;
        let (visits, then) = self.last?;
        let doublings = now.saturating_duration_since(then).as_secs() / RISE_EVERY.as_secs();
        (doublings < DOUBLINGS_MAX).then(|| visits << doublings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_micros(1_700_000_000_000_000);

    #[test]
    fn visits_fall_where_the_machine_is_short_and_rise_again() {
        let mut shortage = Shortage::default();
        assert_eq!(shortage.visits_max(NOW), None);
        assert!(shortage.met(100, NOW), "that is news");
        assert_eq!(shortage.visits_max(NOW), Some(75));
        assert!(!shortage.met(99, NOW), "for the same reason");
        assert_eq!(shortage.visits_max(NOW), Some(75));
        assert!(!shortage.met(75, NOW + FALL_EVERY));
        assert_eq!(shortage.visits_max(NOW + FALL_EVERY), Some(56));
        let later = NOW + FALL_EVERY + RISE_EVERY;
        assert_eq!(shortage.visits_max(later), Some(112));
        assert_eq!(shortage.visits_max(later + 20 * RISE_EVERY), None);
    }

    #[test]
    fn one_visit_is_always_made() {
        let mut shortage = Shortage::default();
        for second in 0..100 {
            shortage.met(1, NOW + Duration::from_secs(second));
            assert_eq!(
                shortage.visits_max(NOW + Duration::from_secs(second)),
                Some(1)
            );
        }
    }
}
