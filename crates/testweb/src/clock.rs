//! The web's two times: the wall clock of the access log, and the virtual clock by which pages change.
//!
//! Both are read from one monotonic clock, anchored when the web starts, so neither ever goes back.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A point in real time, in nanoseconds since the Unix epoch.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct UnixNanos(pub u64);

impl UnixNanos {
    /// Seconds from `earlier` to this moment; negative when this one comes first.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> f64 {
        (i128::from(self.0) - i128::from(earlier.0)) as f64 / 1e9
    }

    /// This moment and `span` more.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        let span = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(span))
    }

    pub(crate) fn system_time(self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(self.0)
    }
}

/// Reads real and virtual time.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    started: Instant,
    started_unix: UnixNanos,
    speed: f64,
}

impl Clock {
    /// A clock that starts now; `speed` is virtual seconds per real second, and 0 stands still.
    pub(crate) fn start(speed: f64) -> Self {
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            started: Instant::now(),
            started_unix: UnixNanos(u64::try_from(unix.as_nanos()).unwrap_or(u64::MAX)),
            speed,
        }
    }

    /// Real time since the start.
    pub(crate) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Real time now.
    pub(crate) fn now(&self) -> UnixNanos {
        self.started_unix.after(self.started.elapsed())
    }

    /// Virtual seconds since the web started.
    pub(crate) fn virtual_seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * self.speed
    }

    /// The real time at which the virtual clock showed, or would have shown, `virtual_seconds`.
    ///
    /// Never later than now for a virtual time that has passed. With a clock that stands still, times before the start
    /// count at speed 1.
    pub(crate) fn real_time(&self, virtual_seconds: f64) -> UnixNanos {
        let speed = if self.speed > 0.0 { self.speed } else { 1.0 };
        let seconds = virtual_seconds / speed;
        if seconds < 0.0 {
            let before = Duration::try_from_secs_f64(-seconds).unwrap_or(Duration::MAX);
            let before = u64::try_from(before.as_nanos()).unwrap_or(u64::MAX);
            UnixNanos(self.started_unix.0.saturating_sub(before))
        } else {
            self.started_unix
                .after(Duration::try_from_secs_f64(seconds).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_clock_maps_its_past_into_the_real_past() {
        let clock = Clock::start(3600.0);
        let hour_ago = clock.real_time(-3600.0);
        assert!((clock.started_unix.seconds_since(hour_ago) - 1.0).abs() < 1e-6);
        assert!(clock.real_time(clock.virtual_seconds()) <= clock.now());
    }

    #[test]
    fn a_still_clock_stays_at_zero() {
        let clock = Clock::start(0.0);
        assert!(clock.virtual_seconds().abs() < f64::EPSILON);
        assert_eq!(clock.real_time(0.0), clock.started_unix);
    }
}
