//! No interval is shorter or longer than the settings allow.

use std::time::Duration;

use crate::belief::seconds;
use crate::draw::Draw;

/// The shortest and the longest interval of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) shortest: Duration,
    pub(crate) longest: Duration,
    /// A longer interval than the longest becomes one between this and the longest, so that pages that never change do not come
    /// back together (Tamura and Kitsuregawa, 2007: 300 to 400 days).
    pub(crate) spread_from: Duration,
}

/// A page that hardly changes may wait for so many times as long as pages do on average: so a tenth of a budget, not more, is for learning
/// whether such pages are still there.
const PATIENCE: u32 = 10;

impl Bounds {
    /// Bounds that leave room for a policy when all pages together are visited every `mean_interval`: else the visits to pages that never
    /// change would use up a small budget.
    pub(crate) fn around(self, mean_interval: Duration) -> Bounds {
        let longest = self.longest.max(mean_interval.saturating_mul(PATIENCE));
        let factor = longest.as_secs_f64() / self.longest.as_secs_f64();
        Bounds {
            longest,
            spread_from: seconds(self.spread_from.as_secs_f64() * factor).min(longest),
            ..self
        }
    }

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
    fn a_small_budget_is_not_used_up_by_pages_that_never_change() {
        let bounds = Bounds {
            shortest: Duration::from_mins(1),
            longest: 400 * DAY,
            spread_from: 300 * DAY,
        };
        assert_eq!(bounds.around(40 * DAY), bounds);
        let wide = bounds.around(200 * DAY);
        assert_eq!((wide.spread_from, wide.longest), (1500 * DAY, 2000 * DAY));
        assert_eq!(wide.shortest, bounds.shortest);
    }

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
