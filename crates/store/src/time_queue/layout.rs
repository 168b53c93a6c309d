//! Says in which bucket a page state waits.
//!
//! The pure half of the time queue: times in, a [`Bucket`] out. A bucket of the finest span opens when its span has passed, and all of it is due. A
//! coarser one opens when its span begins.
//!
//! Tamura and Kitsuregawa (2010) has one bucket for each unit of time ([`Layout::Flat`]). Varghese and Lauck, "Hashed and
//! Hierarchical Timing Wheels", SOSP 1987 ([`Layout::Hierarchical`]). Departures: [`Layout::Graded`] takes its span from the distance, so that no
//! level has to be passed through; see `run` for how it keeps the finest resolution.

use std::time::Duration;

use super::config::{Layout, TimeQueueConfig};
use junkai_frontier::Time;

/// A graded span is at most this part of the time until a state is due.
const DISTANCE_PER_SPAN: u64 = 8;
/// With write buffers of less than this many bytes it is a larger part: fewer buckets share them, so that what is written to each at a time gets no smaller
/// than a disk can bear.
const FINE_BUFFER_BYTES: u64 = 4 << 20;
/// Units in a span of each hierarchical level.
const LEVELS: [u64; 4] = [1, 60, 1440, 43_200];
/// A span is divided into at most as many units, so that sorting keys are short.
const UNITS_PER_SPAN_LOG2: u32 = 24;
const UNIT_MIN: Duration = Duration::from_millis(1);
const SECOND: u64 = 1_000_000;

/// A span of time whose states are together on disk. Ordered by opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bucket {
    /// When it is to be read.
    pub opens: Time,
    /// How much time it covers, in microseconds.
    pub span: u64,
}

/// Maps due times to buckets.
#[derive(Clone, Copy, Debug)]
pub struct Calendar {
    layout: Layout,
    unit: u64,
    tick: u64,
    horizon: u64,
    distance_per_span: u64,
}

impl Calendar {
    /// The calendar that a configuration asks for.
    #[must_use]
    pub fn new(config: &TimeQueueConfig) -> Calendar {
        let unit = micros(config.resolution.max(UNIT_MIN));
        let is_in_seconds = unit.is_multiple_of(SECOND);
        Calendar {
            layout: config.layout,
            unit,
            tick: if is_in_seconds { SECOND } else { 1 },
            horizon: micros(config.horizon),
            distance_per_span: distance_per_span(config.buffer_bytes),
        }
    }

    /// The finest span, in microseconds.
    pub(super) fn unit(&self) -> u64 {
        self.unit
    }

    /// The span of time by which the records of a bucket are sorted: the finest, or a coarser one so that a span has not too many of them.
    pub(super) fn unit_within(&self, span: u64) -> u64 {
        let least = (span >> UNITS_PER_SPAN_LOG2) / self.tick * self.tick;
        self.unit.max(least)
    }

    /// Due times are whole multiples of this, in microseconds: a second, unless the units are finer.
    pub(super) fn tick(&self) -> u64 {
        self.tick
    }

    /// Whether buckets are sorted inside and worked off where they are.
    pub(super) fn is_sorted_inside(&self) -> bool {
        match self.layout {
            Layout::Graded | Layout::Flat => true,
            Layout::Hierarchical => false,
        }
    }

    /// A due time as it is kept: not in the past, not beyond the horizon, in whole ticks.
    #[must_use]
    pub fn kept(&self, due: Time, now: Time) -> Time {
        let last = now.as_micros().saturating_add(self.horizon);
        let due = due.as_micros().min(last).max(now.as_micros());
        Time::from_micros(due - due % self.tick)
    }

    /// The bucket of a state that is due at `due`; it opens later than `now`.
    #[must_use]
    pub fn bucket_of(&self, due: Time, now: Time) -> Bucket {
        let due = due.as_micros();
        let units = due.saturating_sub(now.as_micros()) / self.unit;
        let span = self.unit * self.units_per_span(units);
        let start = due - due % span;
        let opens = if span == self.unit {
            start.saturating_add(span)
        } else {
            start
        };
        Bucket {
            opens: Time::from_micros(opens),
            span,
        }
    }

    fn units_per_span(&self, distance: u64) -> u64 {
        match self.layout {
            Layout::Flat => 1,
            Layout::Graded => 1 << (distance / self.distance_per_span).max(1).ilog2(),
            Layout::Hierarchical => {
                let passed = LEVELS.partition_point(|units| *units <= distance.max(1));
                LEVELS[passed - 1]
            }
        }
    }
}

/// Halved with each quarter of the write buffers.
fn distance_per_span(buffer_bytes: u64) -> u64 {
    let quarters = (FINE_BUFFER_BYTES / buffer_bytes.max(1)).max(1).ilog2();
    (DISTANCE_PER_SPAN >> quarters.div_ceil(2).min(3)).max(1)
}

/// Far below the largest number, so that sums of a few do not overflow.
fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).map_or(u64::MAX / 16, |micros| micros.min(u64::MAX / 16))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const MINUTE: u64 = 60 * SECOND;
    const DAY: u64 = 1440 * MINUTE;
    const NOW: Time = Time::from_micros(1_700_000_000_123_456);

    fn calendar(layout: Layout, resolution: Duration) -> Calendar {
        Calendar::new(&TimeQueueConfig {
            layout,
            resolution,
            ..TimeQueueConfig::default()
        })
    }

    #[test]
    fn small_write_buffers_have_fewer_buckets() {
        let parts = [64 << 20, 4 << 20, 1 << 20, 256 << 10, 64 << 10, 0].map(distance_per_span);
        assert_eq!(parts, [8, 8, 4, 2, 1, 1]);
    }

    fn layout() -> impl Strategy<Value = Layout> {
        prop::sample::select(vec![Layout::Graded, Layout::Hierarchical, Layout::Flat])
    }

    proptest! {
        #[test]
        fn a_bucket_opens_later_than_now_and_covers_the_due_time(
            layout in layout(), now in 0..u64::MAX / 4, distance in 0..1000 * DAY, resolution_ms in 1_u64..200_000,
        ) {
            let calendar = calendar(layout, Duration::from_millis(resolution_ms));
            let now = Time::from_micros(now);
            let due = calendar.kept(now + Duration::from_micros(distance), now);
            let bucket = calendar.bucket_of(due, now);
            let (opens, due) = (bucket.opens.as_micros(), due.as_micros());
            prop_assert!(now < bucket.opens);
            if bucket.span == resolution_ms * 1000 {
                prop_assert!(due < opens);
                prop_assert!(opens - due <= bucket.span);
            } else {
                prop_assert!(opens <= due);
                prop_assert!(due - opens < bucket.span);
            }
        }

        #[test]
        fn what_is_read_when_its_bucket_opens_goes_to_a_finer_one(
            layout in layout(), distance in 0..400 * DAY, late in 0_u64..1000,
        ) {
            let calendar = calendar(layout, Duration::from_mins(1));
            let due = calendar.kept(NOW + Duration::from_micros(distance), NOW);
            let bucket = calendar.bucket_of(due, NOW);
            let opened = bucket.opens + Duration::from_micros(late);
            if opened < due {
                prop_assert!(calendar.bucket_of(due, opened).span < bucket.span);
            }
        }
    }

    #[test]
    fn four_hundred_days_take_some_150_graded_buckets() {
        let calendar = calendar(Layout::Graded, Duration::from_mins(1));
        let mut buckets = BTreeSet::new();
        let mut distance = 1;
        while distance < 400 * DAY {
            buckets.insert(calendar.bucket_of(NOW + Duration::from_micros(distance), NOW));
            distance += distance / 100 + 1;
        }
        assert_eq!(buckets.len(), 154);
    }

    #[test]
    fn the_past_is_now_and_the_far_future_is_the_horizon() {
        let calendar = calendar(Layout::Graded, Duration::from_mins(1));
        let second = Time::from_micros(1_700_000_000_000_000);
        assert_eq!(calendar.kept(Time::EPOCH, NOW), second);
        let last = second + Duration::from_hours(400 * 24);
        assert_eq!(calendar.kept(Time::from_micros(u64::MAX), NOW), last);
        let bucket = calendar.bucket_of(second, NOW);
        assert!(bucket.opens <= NOW + Duration::from_mins(1));
    }

    #[test]
    fn the_published_layout_has_a_bucket_for_each_minute_of_a_year() {
        let calendar = calendar(Layout::Flat, Duration::from_mins(1));
        let year = (0..525_600_u64)
            .map(|minute| calendar.bucket_of(NOW + Duration::from_mins(minute), NOW));
        assert_eq!(year.collect::<BTreeSet<_>>().len(), 525_600);
    }
}
