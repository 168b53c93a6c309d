//! Tamura and Kitsuregawa's (2007) rule: come back after the estimated time between two changes.
//!
//! Tamura and Kitsuregawa (2007) (the incremental crawler), section 3.2. The back-off of pages that never or always changed is the estimator's
//! (`estimator::GapEstimator`), and the spread of long intervals is every policy's (`bounds`).
//!
//! # Notation
//! *I* = 1/*λ̂*: the interval. At this interval a visit finds a change with a chance of 1 − 1/e, and captures as large a share of the
//! versions.
//!
//! Departures: the paper does not say from which range the first interval is drawn; it is a setting.

use std::time::Duration;

use super::{Outlook, Policy, Terms};
use crate::belief::seconds;
use crate::draw::Draw;

/// The interval is the estimated time between two changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeInterval {
    /// When a page that was visited once is visited again.
    pub first: FirstRevisit,
}

/// From which span the first interval of a page is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstRevisit {
    /// The shortest.
    pub shortest: Duration,
    /// The longest.
    pub longest: Duration,
}

impl Policy for ChangeInterval {
    fn interval(&self, outlook: &Outlook, terms: &Terms, draw: Draw) -> Duration {
        let interval = if outlook.is_new {
            draw.between(self.first.shortest, self.first.longest)
        } else {
            outlook.belief.change_interval()
        };
        seconds(interval.as_secs_f64() * terms.stretch)
    }

    fn urgency(&self, outlook: &Outlook, elapsed: Duration) -> f64 {
        elapsed.as_secs_f64() * outlook.belief.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::Belief;

    const DAY: Duration = Duration::from_hours(24);
    const POLICY: ChangeInterval = ChangeInterval {
        first: FirstRevisit {
            shortest: DAY,
            longest: Duration::from_hours(168),
        },
    };
    const FREE: Terms = Terms {
        price: 0.5,
        stretch: 1.0,
        mean_interval: DAY,
    };

    #[test]
    fn the_interval_is_the_time_between_two_changes() {
        let outlook = Outlook::new(Belief::point(1.0 / (3.0 * DAY.as_secs_f64())));
        let interval = POLICY.interval(&outlook, &FREE, Draw::new(0));
        assert!(interval.abs_diff(3 * DAY) < Duration::from_millis(1));
        let overloaded = Terms {
            stretch: 4.0,
            ..FREE
        };
        let interval = POLICY.interval(&outlook, &overloaded, Draw::new(0));
        assert!(interval.abs_diff(12 * DAY) < Duration::from_millis(1));
    }

    #[test]
    fn the_first_interval_is_drawn_from_a_week() {
        let mut outlook = Outlook::new(Belief::point(1.0));
        outlook.is_new = true;
        for bits in [0, u64::MAX / 2, u64::MAX] {
            let interval = POLICY.interval(&outlook, &FREE, Draw::new(bits));
            assert!((DAY..=7 * DAY).contains(&interval), "{interval:?}");
        }
    }

    #[test]
    fn pages_that_are_overdue_by_more_are_more_urgent() {
        let (slow, fast) = (Belief::point(0.001), Belief::point(0.01));
        let urgency = |belief, days: u32| POLICY.urgency(&Outlook::new(belief), days * DAY);
        assert!(urgency(slow, 5) < urgency(fast, 1));
    }
}
