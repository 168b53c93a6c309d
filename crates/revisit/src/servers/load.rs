//! The load index: visits per second that known pages ask for, kept up to date page by page.
//!
//! Tamura and Kitsuregawa (2007), equation 5: *L* = Σ 1/*T*, over the pages of a server, *T* the interval of each.
//!
//! Departures: the paper adds and subtracts plainly; a million updates would leave an error larger than a slow page's share. The sum is
//! compensated (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54, 1974).

use std::time::Duration;

/// Σ 1/interval, and of how many pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadIndex {
    sum: f64,
    /// What rounding has taken from the sum.
    lost: f64,
    pages: u64,
}

impl LoadIndex {
    /// A page with this interval comes in.
    pub fn add(&mut self, interval: Duration) {
        self.pages += 1;
        self.change(rate(interval));
    }

    /// A page with this interval leaves. When the last one has left, nothing remains.
    pub fn remove(&mut self, interval: Duration) {
        self.pages = self.pages.saturating_sub(1);
        if self.pages == 0 {
            *self = LoadIndex::default();
        } else {
            self.change(-rate(interval));
        }
    }

    /// Visits per second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        (self.sum + self.lost).max(0.0)
    }

    /// How many pages ask for them.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// What an earlier run knew of it; none if that is not possible.
    pub(crate) fn restored(pages: u64, per_second: f64) -> Option<LoadIndex> {
        let is_possible =
            per_second.is_finite() && 0.0 <= per_second && (0 < pages || per_second == 0.0);
        is_possible.then_some(LoadIndex {
            sum: per_second,
            lost: 0.0,
            pages,
        })
    }

    /// The pages of another one come in.
    pub(crate) fn merge(&mut self, other: &LoadIndex) {
        self.pages = self.pages.saturating_add(other.pages);
        self.change(other.sum);
        self.change(other.lost);
    }

    fn change(&mut self, term: f64) {
        let sum = self.sum + term;
        self.lost += if term.abs() <= self.sum.abs() {
            (self.sum - sum) + term
        } else {
            (term - sum) + self.sum
        };
        self.sum = sum;
    }
}

/// Visits per second at this interval; an interval of none counts as a microsecond.
fn rate(interval: Duration) -> f64 {
    1.0 / interval.as_secs_f64().max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;
    use proptest::prelude::*;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn a_million_updates_agree_with_a_new_sum() {
        let interval = |number: u64| {
            let exponent = 16.0 * Draw::new(0).another(number).uniform();
            Duration::from_secs_f64(60.0 * exponent.exp2()).min(400 * DAY)
        };
        let mut intervals: Vec<Duration> = (0..1000).map(interval).collect();
        let mut load = LoadIndex::default();
        for &interval in &intervals {
            load.add(interval);
        }
        for update in 0..1_000_000_u64 {
            let page = usize::try_from(update * 7919 % 1000).unwrap();
            let new = interval(1000 + update);
            load.remove(intervals[page]);
            load.add(new);
            intervals[page] = new;
        }
        let sum: f64 = intervals.iter().map(|&interval| rate(interval)).sum();
        assert!((load.per_second() / sum - 1.0).abs() < 1e-9);
        assert_eq!(load.pages(), 1000);
    }

    #[test]
    fn an_empty_server_has_no_load_left() {
        let mut load = LoadIndex::default();
        load.add(DAY);
        load.add(Duration::from_secs(7));
        load.remove(DAY);
        load.remove(Duration::from_secs(7));
        assert_eq!(load, LoadIndex::default());
        load.remove(DAY);
        assert_eq!(load, LoadIndex::default());
    }

    proptest! {
        #[test]
        fn any_order_of_pages_gives_their_sum(seconds in prop::collection::vec(1_u64..40_000_000, 1..60), gone in 0_usize..60) {
            let mut load = LoadIndex::default();
            for &page in &seconds {
                load.add(Duration::from_secs(page));
            }
            let gone = gone.min(seconds.len());
            for &page in &seconds[..gone] {
                load.remove(Duration::from_secs(page));
            }
            let sum: f64 = seconds[gone..].iter().map(|&page| 1.0 / page as f64).sum();
            prop_assert!((load.per_second() - sum).abs() <= 1e-12);
        }
    }
}
