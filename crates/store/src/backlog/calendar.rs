//! Says in which bucket a visit waits: the further off, the coarser.
//!
//! A bucket's span is the resolution times a power of two, and at most an eighth of the time that is left until the visit; so there are at most
//! 16 buckets for each doubling of the distance, some 200 for 400 days at 1 s. A coarse bucket is read when its span begins, and what is not yet due
//! is appended to finer ones: a visit is rewritten at most once for each factor of eight. A bucket of the finest span is read when its span has
//! passed, and all of it is due.
//!
//! After the hierarchical timing wheels of Varghese and Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987. Departures: spans follow the distance instead
//! of fixed levels of equal size.

use std::time::Duration;

use super::class::Class;
use junkai_frontier::Time;

/// A visit's span is at most this part of the time until it is due.
const DISTANCE_PER_SPAN: u64 = 8;
const RESOLUTION_MIN: Duration = Duration::from_millis(1);

/// Where a visit waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bucket {
    /// It is due: first in, first out.
    Now,
    /// It was in hand from the first, and is due for whoever finds it after a start.
    Held,
    /// It is due and waits behind better ones: first in, first out within its class.
    Spilled(Class),
    /// It will be due.
    Later {
        /// When the bucket is to be read.
        opens: Time,
        /// How much time it covers, in microseconds.
        span: u64,
    },
}

/// Maps due times to buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calendar {
    resolution: u64,
}

impl Calendar {
    pub(super) fn new(resolution: Duration) -> Calendar {
        let resolution = resolution.max(RESOLUTION_MIN).as_micros();
        Calendar {
            resolution: u64::try_from(resolution).unwrap_or(u64::MAX / 16),
        }
    }

    /// The bucket of a visit that is due at `due`.
    pub(super) fn bucket(self, due: Time, now: Time) -> Bucket {
        if due <= now {
            return Bucket::Now;
        }
        let (due, now) = (due.as_micros(), now.as_micros());
        let spans = (due - now) / DISTANCE_PER_SPAN / self.resolution;
        let level = spans.max(1).ilog2();
        let span = self.resolution << level;
        let start = due - due % span;
        let opens = if level == 0 {
            start.saturating_add(span)
        } else {
            start
        };
        Bucket::Later {
            opens: Time::from_micros(opens),
            span,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const DAY: u64 = 86_400_000_000;

    proptest! {
        #[test]
        fn a_bucket_opens_later_than_now_and_not_long_after_the_due_time(now in 0..u64::MAX, distance in 0..1000 * DAY, resolution_ms in 1_u64..100_000) {
            let calendar = Calendar::new(Duration::from_millis(resolution_ms));
            let due = now.saturating_add(distance);
            match calendar.bucket(Time::from_micros(due), Time::from_micros(now)) {
                Bucket::Now | Bucket::Held | Bucket::Spilled(_) => prop_assert!(due <= now),
                Bucket::Later { opens, span } => {
                    prop_assert!(now < opens.as_micros());
                    let resolution = resolution_ms * 1000;
                    if span == resolution {
                        prop_assert!(due <= opens.as_micros());
                        prop_assert!(opens.as_micros() - due <= span);
                    } else {
                        prop_assert!(opens.as_micros() <= due);
                        prop_assert!(due - opens.as_micros() < span);
                        prop_assert!(span <= distance / DISTANCE_PER_SPAN);
                    }
                }
            }
        }
    }

    #[test]
    fn four_hundred_days_take_some_two_hundred_buckets() {
        let calendar = Calendar::new(Duration::from_secs(1));
        let now = Time::from_micros(1_700_000_000_123_456);
        let mut buckets = BTreeSet::new();
        let mut distance = 1;
        while distance < 400 * DAY {
            buckets.insert(calendar.bucket(now + Duration::from_micros(distance), now));
            distance += distance / 100 + 1;
        }
        assert!((190..=210).contains(&buckets.len()), "{}", buckets.len());
    }

    #[test]
    fn a_distant_visit_is_rewritten_few_times() {
        let calendar = Calendar::new(Duration::from_secs(1));
        let due = Time::from_micros(1_700_000_000_123_456 + 400 * DAY);
        let mut now = Time::from_micros(1_700_000_000_123_456);
        let mut written = 0;
        while let Bucket::Later { opens, .. } = calendar.bucket(due, now) {
            now = opens;
            written += 1;
        }
        assert!(written <= 10, "{written}");
        assert!(now <= due + Duration::from_secs(1));
    }
}
