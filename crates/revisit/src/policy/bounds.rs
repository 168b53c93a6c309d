//! No interval is shorter or longer than the settings allow.

use std::time::Duration;

use crate::draw::Draw;

/// The shortest and the longest interval of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) shortest: Duration,
    pub(crate) longest: Duration,
    /// A longer interval than the longest becomes one between this and the longest, so that pages that never change do not come
    /// back together (seed 002: 300 to 400 days).
    pub(crate) spread_from: Duration,
}

impl Bounds {
    /// The interval within bounds.
    pub(crate) fn within(&self, interval: Duration, draw: Draw) -> Duration {
        if self.longest < interval {
            draw.between(self.spread_from, self.longest)
        } else {
            interval.max(self.shortest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn long_intervals_are_spread_over_the_last_hundred_days() {
        let bounds = Bounds {
            shortest: Duration::from_mins(1),
            longest: 400 * DAY,
            spread_from: 300 * DAY,
        };
        let drawn: Vec<Duration> = (0..100)
            .map(|number| bounds.within(Duration::MAX, Draw::new(0).another(number)))
            .collect();
        assert!(
            drawn
                .iter()
                .all(|interval| (300 * DAY..=400 * DAY).contains(interval))
        );
        assert!(drawn.iter().any(|interval| *interval < 325 * DAY));
        assert!(drawn.iter().any(|interval| 375 * DAY < *interval));
        let draw = Draw::new(7);
        assert_eq!(bounds.within(400 * DAY, draw), 400 * DAY);
        assert_eq!(bounds.within(DAY, draw), DAY);
        assert_eq!(bounds.within(Duration::ZERO, draw), bounds.shortest);
    }
}
