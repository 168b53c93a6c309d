//! Known pages, as a crawl that has run for years would know them: when each is due, its URL, and its state.
//!
//! Any page is computed from the seed and its number; nothing is stored, so that a population may have any size. Read
//! [`Population`] first. A [`Record`] is what a store keeps of a page; [`state`] says what is in it.
//!
//! Intervals are fitted to table 1 of Tamura and Kitsuregawa (2010) (pages visited within a minute, an hour, a day, a month and a year). Changes and fetching are not
//! here: a page keeps its interval, as in the paper's experiment.
//!
//! # Notation
//! *T*: the interval of a page; *w*: a span of time. A page with its next visit anywhere within *T* falls into *w* with probability
//! min(1, *w* / *T*).

pub mod state;
mod urls;

use std::time::Duration;

use junkai_chance::{drawn, unit_of};
use junkai_frontier::Time;
use junkai_store::time_queue::Record;

pub use self::state::Damaged;
use self::urls::Hosts;

const MINUTE: f64 = 60.0;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

/// Pages of the paper's table.
pub const SEED_PAGES: u64 = 17_496_056;

/// A row of the paper's table 1: how many of its pages were visited within a span of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// What the span is called.
    pub name: &'static str,
    /// How long it is.
    pub span: Duration,
    /// Pages that were visited, as printed.
    pub pages: u64,
}

/// Table 1 of Tamura and Kitsuregawa (2010). It is not concave (an hour has more than sixty minutes), so that no population fits it exactly.
pub const TABLE_1: [Published; 5] = [
    published("a minute", 60, 5_130),
    published("an hour", 3_600, 346_000),
    published("a day", 86_400, 2_830_000),
    published("a month", 30 * 86_400, 11_400_000),
    published("a year", 365 * 86_400, SEED_PAGES),
];

const fn published(name: &'static str, seconds: u64, pages: u64) -> Published {
    Published {
        name,
        span: Duration::from_secs(seconds),
        pages,
    }
}

/// Intervals between two bounds, evenly over their logarithms.
struct Class {
    /// The part of the pages.
    share: f64,
    seconds_min: f64,
    seconds_max: f64,
}

/// The least squares of relative errors against table 1, of weights that are not negative; more classes fit no better.
const CLASSES: [Class; 4] = [
    class(0.0455, HOUR, DAY),
    class(0.2167, DAY, 7.0 * DAY),
    class(0.1871, 7.0 * DAY, 30.0 * DAY),
    class(0.5507, 30.0 * DAY, 365.0 * DAY),
];

const fn class(share: f64, seconds_min: f64, seconds_max: f64) -> Class {
    Class {
        share,
        seconds_min,
        seconds_max,
    }
}

/// Pages that are known, and come due at their own pace.
#[derive(Clone, Copy, Debug)]
pub struct Population {
    pages: u64,
    seed: u64,
    hosts: Hosts,
}

impl Population {
    /// So many pages, drawn from a seed.
    #[must_use]
    pub fn new(pages: u64, seed: u64) -> Population {
        Population {
            pages,
            seed,
            hosts: Hosts::of_pages(pages),
        }
    }

    /// How many there are; they are numbered from 0.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// The time from one visit to the next: always the same for a page, in whole seconds.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between an hour and a year of seconds"
    )]
    pub fn interval(&self, page: u64) -> Duration {
        let mut place = unit_of(self.draw(page, Draw::Class));
        let within = unit_of(self.draw(page, Draw::Interval));
        let last = &CLASSES[CLASSES.len() - 1];
        let class = CLASSES.iter().find(|class| {
            place -= class.share;
            place < 0.0
        });
        let Class {
            seconds_min,
            seconds_max,
            ..
        } = class.unwrap_or(last);
        let seconds = seconds_min * (seconds_max / seconds_min).powf(within);
        Duration::from_secs(seconds as u64)
    }

    /// When a page is due first, if all are known at `now`: anywhere within its interval, as if it had been visited for long.
    #[must_use]
    pub fn first_due(&self, page: u64, now: Time) -> Time {
        let part = unit_of(self.draw(page, Draw::Phase));
        now + self.interval(page).mul_f64(part)
    }

    /// Writes what is known of a page that was last visited at `now` over `record`.
    pub fn write(&self, page: u64, now: Time, record: &mut Record) {
        record.due = self.first_due(page, now);
        record.url.clear();
        self.hosts
            .write_url(page, self.draw(page, Draw::Url), &mut record.url);
        state::write_first(record, self.interval(page), now);
    }

    /// The part of the pages that is visited within a span, on average.
    #[must_use]
    pub fn visited_within(span: Duration) -> f64 {
        let parts = CLASSES.iter().map(|class| class.share * class.within(span));
        parts.sum()
    }

    /// Visits of a page in a day, on average.
    #[must_use]
    pub fn visits_per_day() -> f64 {
        // Of an interval that is even over its logarithm, the mean of the inverse.
        let rate = |class: &Class| {
            let width = (class.seconds_max / class.seconds_min).ln();
            class.share * (1.0 / class.seconds_min - 1.0 / class.seconds_max) / width
        };
        DAY * CLASSES.iter().map(rate).sum::<f64>()
    }

    fn draw(&self, page: u64, what: Draw) -> u64 {
        drawn(drawn(self.seed ^ drawn(what as u64)).wrapping_add(page))
    }
}

impl Class {
    /// The mean of min(1, *w* / *T*).
    fn within(&self, span: Duration) -> f64 {
        let (low, high) = (self.seconds_min, self.seconds_max);
        let span = span.as_secs_f64();
        let width = (high / low).ln();
        if high <= span {
            1.0
        } else if span <= low {
            span * (1.0 / low - 1.0 / high) / width
        } else {
            ((span / low).ln() + 1.0 - span / high) / width
        }
    }
}

/// What is drawn for a page: draws of different things do not depend on each other.
#[derive(Clone, Copy)]
enum Draw {
    Class,
    Interval,
    Phase,
    Url,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The prototype's fit: a tenth off for a minute and an hour, whose figures exclude each other.
    #[test]
    fn the_population_is_that_of_table_1() {
        let off = [0.10, 0.07, 0.001, 0.001, 0.001];
        for (row, off) in TABLE_1.iter().zip(off) {
            let published = row.pages as f64 / SEED_PAGES as f64;
            let fitted = Population::visited_within(row.span);
            assert!(
                (fitted / published - 1.0).abs() < off,
                "{}: {fitted} against {published}",
                row.name
            );
        }
    }

    #[test]
    fn drawn_pages_are_due_as_often_as_foretold() {
        let pages = 40_000;
        let population = Population::new(pages, 3);
        for row in &TABLE_1[1..] {
            let end = Time::EPOCH + row.span;
            let due = (0..pages).filter(|&page| population.first_due(page, Time::EPOCH) < end);
            let (measured, foretold) = (
                due.count() as f64 / pages as f64,
                Population::visited_within(row.span),
            );
            let error = (foretold * (1.0 - foretold) / pages as f64).sqrt();
            assert!(
                (measured - foretold).abs() <= 5.0 * error,
                "{}: {measured} {foretold}",
                row.name
            );
        }
    }

    #[test]
    fn a_page_is_the_same_whenever_it_is_asked_for() {
        let population = Population::new(1000, 1);
        let (mut first, mut again) = (Record::default(), Record::default());
        population.write(17, Time::EPOCH, &mut first);
        population.write(3, Time::EPOCH, &mut again);
        population.write(17, Time::EPOCH, &mut again);
        assert_eq!(first, again);
        let other = Population::new(1000, 2);
        other.write(17, Time::EPOCH, &mut again);
        assert_ne!(first, again);
    }
}
