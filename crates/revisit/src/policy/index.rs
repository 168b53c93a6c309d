//! One number per page that says what a visit is worth now; a page is due when that reaches the price of a visit.
//!
//! Cho and Garcia-Molina, "Effective Page Refresh Policies for Web Crawlers", ACM TODS 28(4), 2003 (the optimum for freshness);
//! Busa-Fekete, Zimmert, György and others, "A Scalable Crawling Algorithm Utilizing Noisy Change-Indicating Signals", WWW 2025
//! (the optimum as an index, with signals); Kolobov, Lubetzky, Peres and Horvitz, "Optimal Freshness Crawl Under Politeness
//! Constraints", SIGIR 2019 (a price of its own for each overloaded server).
//!
//! The value of a visit mixes two aims by one setting: copies that are current (freshness), and versions that an archive has
//! (capture). For capture alone all pages have the same exposure when they are due, so the interval is proportional to the time
//! between two changes: Tamura and Kitsuregawa's (2007) rule is the optimum of an archive, with the factor set by the budget instead of one.
//!
//! # Notation
//! *Δ*: `rate`, the mean of what is believed, in changes per second; *t*: time since the last visit; *n*: signals since then; *α*, *γ*, *ν*: see
//! `signals`. *x*: exposure, −ln P(our copy is current) = *αt* + *n* ln(*γ*/*ν*), which is *Δt* without signals. *μ*: `worth`;
//! *η*: [`Objective`]; *ℓ*: `price`. The index is *V* = *μ*((1 − *η*)/*Δ* + *η*)(1 − (1 + *x*)e⁻ˣ), with *Δ* in changes per day; the page is due
//! when *V* = *ℓ*.
//!
//! Departures: with signals the published *V* is a series in *n*; ours is one term that has the same two limits, no signals and signals
//! that are always right. The rate is the mean of a belief: in replays of real histories it captures more versions than the
//! chance of a change under the whole belief, the expected *V*, or a rate drawn from the belief (Thompson).

use std::time::Duration;

use super::{FirstRevisit, Outlook, Policy, Terms, exposure_worth, visit_value};
use crate::belief::seconds;
use crate::draw::Draw;

/// What visits are for: 1 is versions captured, 0 is copies that are current, between them a mixture.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Objective(f64);

impl Objective {
    /// As many versions as can be had: what an archive is for.
    pub const CAPTURE: Objective = Objective(1.0);
    /// Copies that are current as much of the time as can be had: what a search engine is for.
    pub const FRESHNESS: Objective = Objective(0.0);

    /// The mixture with this share of capture, from 0 to 1; what is no number counts as capture.
    #[must_use]
    pub fn new(capture: f64) -> Objective {
        Objective(if capture.is_nan() {
            1.0
        } else {
            capture.clamp(0.0, 1.0)
        })
    }

    /// What a page is worth whose copy is certainly not current, if it changes this often: *η* + (1 − *η*)/*Δ*, in days.
    #[must_use]
    pub fn stake(self, rate: f64) -> f64 {
        self.0 + (1.0 - self.0) / (rate * DAY_SECONDS)
    }
}

/// A day of freshness counts as much as a version.
const DAY_SECONDS: f64 = 86_400.0;

/// Visits pages whose visit is worth its price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Index {
    /// What visits are for.
    pub objective: Objective,
    /// When a page that was visited once is visited again at the latest, so that it is soon known how often it changes; none where
    /// a budget decides.
    pub first: Option<FirstRevisit>,
}

impl Policy for Index {
    fn interval(&self, outlook: &Outlook, terms: &Terms, draw: Draw) -> Duration {
        let stake = self.stake(outlook);
        let interval = match exposure_worth(terms.price / stake) {
            Some(exposure) => waiting(outlook, exposure),
            None => Duration::MAX,
        };
        if outlook.is_new {
            self.first_interval(interval, draw)
        } else {
            interval
        }
    }

    fn urgency(&self, outlook: &Outlook, elapsed: Duration) -> f64 {
        self.stake(outlook) * visit_value(exposure(outlook, elapsed))
    }
}

impl Index {
    /// Pages that are found together have one prior, and must not come back together.
    fn first_interval(&self, interval: Duration, draw: Draw) -> Duration {
        let spread = seconds(interval.as_secs_f64() * (0.5 + draw.uniform()));
        match self.first {
            Some(first) => spread.min(draw.between(first.shortest, first.longest)),
            None => spread,
        }
    }

    /// The most that a visit to the page can be worth.
    fn stake(&self, outlook: &Outlook) -> f64 {
        outlook.worth * self.objective.stake(outlook.belief.rate)
    }
}

/// *x* after so much time.
fn exposure(outlook: &Outlook, elapsed: Duration) -> f64 {
    silent_rate(outlook) * elapsed.as_secs_f64() + signalled(outlook)
}

/// The time after which *x* is so much; none if signals have brought it there already.
fn waiting(outlook: &Outlook, exposure: f64) -> Duration {
    let missing = (exposure - signalled(outlook)).max(0.0);
    seconds(missing / silent_rate(outlook))
}

/// *α*: changes per second that nobody signals.
fn silent_rate(outlook: &Outlook) -> f64 {
    let rate = outlook.belief.rate;
    let quality = outlook.signals.quality;
    quality.map_or(rate, |quality| quality.silent_rate(rate))
}

/// The part of *x* that comes of signals.
fn signalled(outlook: &Outlook) -> f64 {
    let rate = outlook.belief.rate;
    let quality = outlook.signals.quality;
    f64::from(outlook.signals.count) * quality.map_or(0.0, |quality| quality.exposure(rate))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::belief::Belief;
    use crate::policy::{SignalQuality, Signals};

    const DAY: Duration = Duration::from_hours(24);
    const CAPTURE: Index = Index {
        objective: Objective::CAPTURE,
        first: None,
    };

    fn terms(price: f64) -> Terms {
        Terms {
            price,
            stretch: 1.0,
            mean_interval: DAY,
        }
    }

    fn every(days: f64) -> Outlook {
        Outlook::new(Belief::point(1.0 / (days * DAY_SECONDS)))
    }

    fn interval(index: Index, outlook: &Outlook, price: f64) -> Duration {
        index.interval(outlook, &terms(price), Draw::new(0))
    }

    #[test]
    fn for_versions_the_interval_is_proportional_to_the_time_between_changes() {
        // At the price of one expected change it is that time: Tamura and Kitsuregawa's (2007) rule.
        let price = visit_value(1.0);
        for days in [0.01, 1.0, 30.0, 300.0] {
            let interval = interval(CAPTURE, &every(days), price);
            assert!((interval.as_secs_f64() / (days * DAY_SECONDS) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn for_freshness_a_page_that_always_changes_is_not_worth_a_visit() {
        let index = Index {
            objective: Objective::FRESHNESS,
            first: None,
        };
        assert_eq!(interval(index, &every(0.1), 0.2), Duration::MAX);
        assert!(interval(index, &every(1.0), 0.2) < 2 * DAY);
    }

    #[test]
    fn what_is_worth_more_is_visited_more_often() {
        let plain = every(10.0);
        let dear = Outlook {
            worth: 3.0,
            ..plain
        };
        assert!(interval(CAPTURE, &dear, 0.2) < interval(CAPTURE, &plain, 0.2));
        assert!(CAPTURE.urgency(&plain, DAY) < CAPTURE.urgency(&dear, DAY));
    }

    #[test]
    fn a_good_signal_makes_a_page_due_and_silence_lets_it_wait() {
        let plain = every(10.0);
        let price = visit_value(1.0);
        let with = |count: u32, false_rate: f64| Outlook {
            signals: Signals {
                count,
                quality: Some(SignalQuality::new(0.9, false_rate * plain.belief.rate)),
            },
            ..plain
        };
        let without = interval(CAPTURE, &plain, price);
        assert!(without < interval(CAPTURE, &with(0, 0.1), price));
        assert_eq!(interval(CAPTURE, &with(1, 0.1), price), Duration::ZERO);
        // A source that always cries wolf changes little.
        let wolf = interval(CAPTURE, &with(1, 100.0), price);
        assert!(without < wolf);
    }

    #[test]
    fn new_pages_do_not_come_back_together() {
        let new = Outlook {
            is_new: true,
            ..every(10.0)
        };
        let drawn = |number| {
            let draw = Draw::new(0).another(number);
            CAPTURE.interval(&new, &terms(visit_value(1.0)), draw)
        };
        let intervals: Vec<Duration> = (0..64).map(drawn).collect();
        assert!(intervals.iter().any(|interval| *interval < 6 * DAY));
        assert!(intervals.iter().any(|interval| 14 * DAY < *interval));
    }

    proptest! {
        #[test]
        fn a_page_is_due_when_its_urgency_is_the_price(
            days in 0.01..1000.0_f64,
            share in 0.001..0.999_f64,
            capture in 0.0..=1.0_f64,
            worth in 0.01..100.0_f64,
        ) {
            let index = Index { objective: Objective::new(capture), first: None };
            let outlook = Outlook { worth, ..every(days) };
            let price = share * index.stake(&outlook);
            let due = interval(index, &outlook, price);
            prop_assert!((index.urgency(&outlook, due) / price - 1.0).abs() < 1e-6);
        }

        #[test]
        fn urgency_rises_with_time_and_with_signals(
            days in 0.01..1000.0_f64,
            elapsed in 0.0..100.0_f64,
            more in 0.01..100.0_f64,
            recall in 0.0..1.0_f64,
            false_rate in 1e-9..1e-3_f64,
            count in 0_u32..9,
        ) {
            let quality = Some(SignalQuality::new(recall, false_rate));
            let outlook = |count| Outlook { signals: Signals { count, quality }, ..every(days) };
            let urgency = |count, days| CAPTURE.urgency(&outlook(count), DAY.mul_f64(days));
            prop_assert!(urgency(count, elapsed) <= urgency(count, elapsed + more));
            prop_assert!(urgency(count, elapsed) <= urgency(count + 1, elapsed));
        }
    }
}
