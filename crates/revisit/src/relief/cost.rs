//! What holding visits back costs: versions that are expected to be missed, and time in which our copy is not current.
//!
//! For a page that changes as a Poisson process of rate *Δ* and is visited every *I*, a visit finds a change with the chance
//! 1 − e^(−*ΔI*), and our copy is current for the share (1 − e^(−*ΔI*))/(*ΔI*) of the time.

use std::ops::AddAssign;
use std::time::Duration;

use crate::belief::{Belief, seconds};

/// What it cost, over the time that was planned so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReliefCost {
    /// Visits that were not made.
    pub visits_saved: f64,
    /// Versions that these were expected to capture.
    pub versions_lost: f64,
    /// Seconds, over all pages, in which our copy is expected to be out of date because of it.
    pub stale_seconds: f64,
}

impl ReliefCost {
    /// What it costs to wait for `interval` instead of visiting every `wanted`, until the next visit.
    #[must_use]
    pub fn of(belief: &Belief, wanted: Duration, interval: Duration) -> ReliefCost {
        let (wanted, interval) = (wanted.as_secs_f64(), interval.as_secs_f64());
        if wanted <= 0.0 || interval <= wanted {
            return ReliefCost::default();
        }
        let found = |interval: f64| -(-belief.rate * interval).exp_m1();
        let current = |interval: f64| found(interval) / (belief.rate * interval);
        let visits = interval / wanted;
        ReliefCost {
            visits_saved: visits - 1.0,
            versions_lost: (visits * found(wanted) - found(interval)).max(0.0),
            stale_seconds: (interval * (current(wanted) - current(interval))).max(0.0),
        }
    }

    /// The time in which copies are out of date because of it, over all pages.
    #[must_use]
    pub fn stale(&self) -> Duration {
        seconds(self.stale_seconds)
    }
}

impl AddAssign for ReliefCost {
    fn add_assign(&mut self, more: ReliefCost) {
        self.visits_saved += more.visits_saved;
        self.versions_lost += more.versions_lost;
        self.stale_seconds += more.stale_seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn a_visit_that_is_not_held_back_costs_nothing() {
        let belief = Belief::point(1.0 / DAY.as_secs_f64());
        assert_eq!(ReliefCost::of(&belief, DAY, DAY), ReliefCost::default());
        assert_eq!(ReliefCost::of(&belief, DAY, DAY / 2), ReliefCost::default());
    }

    #[test]
    fn half_the_visits_lose_what_the_other_half_would_have_found() {
        let belief = Belief::point(1.0 / DAY.as_secs_f64());
        let cost = ReliefCost::of(&belief, DAY, 2 * DAY);
        let found = |days: f64| 1.0 - (-days).exp();
        assert!((cost.visits_saved - 1.0).abs() < 1e-12);
        assert!((cost.versions_lost - (2.0 * found(1.0) - found(2.0))).abs() < 1e-12);
        let stale_days = 2.0 * (found(1.0) - found(2.0) / 2.0);
        assert!((cost.stale_seconds / DAY.as_secs_f64() - stale_days).abs() < 1e-9);
    }

    #[test]
    fn a_page_that_hardly_changes_loses_hardly_anything() {
        let belief = Belief::point(1e-4 / DAY.as_secs_f64());
        let cost = ReliefCost::of(&belief, DAY, 10 * DAY);
        assert!(9.0 - 1e-9 < cost.visits_saved);
        assert!(cost.versions_lost < 1e-6);
    }
}
