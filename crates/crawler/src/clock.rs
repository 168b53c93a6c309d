//! The wall clock: the only place where the crawler learns what time it is.
//!
//! Time is the wall clock's at the start plus what a monotonic clock has counted since, so that it never goes backwards
//! within a run, whatever happens to the wall clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use junkai_frontier::Time;

/// A clock that never goes backwards. Copies tell the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    wall_at_start: Duration,
    start: Instant,
}

impl Clock {
    pub(crate) fn start() -> Clock {
        let wall_at_start = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Clock {
            wall_at_start,
            start: Instant::now(),
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.time_of(Instant::now())
    }

    /// The time at which the monotonic clock showed `instant`; the start, if it was before.
    pub(crate) fn time_of(&self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.start);
        Time::EPOCH + (self.wall_at_start + since)
    }

    /// The monotonic clock's reading at `time`.
    pub(crate) fn instant_of(&self, time: Time) -> Instant {
        self.start + time.saturating_duration_since(Time::EPOCH + self.wall_at_start)
    }
}

/// A time as logs and WARC records write it.
pub(crate) fn timestamp(time: Time) -> Timestamp {
    i64::try_from(time.as_micros())
        .ok()
        .and_then(|micros| Timestamp::from_microsecond(micros).ok())
        .unwrap_or_default()
}
