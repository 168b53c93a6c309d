//! The web's two times: the wall clock of the access log, and the virtual clock by which pages change.
//!
//! Both are read from one monotonic clock, anchored when the web starts, so neither ever goes back. Virtual time is
//! *origin* + (*real time* − *origin*) · *speed*: whoever knows origin and speed has the same clock, and may compare it with the
//! dates that the web tells, which are all virtual. Only the access log has real times.

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
    origin: f64,
}

impl Clock {
    /// A clock whose `speed` is virtual seconds per real second, 0 standing still, and which shows real time at `origin`, in
    /// seconds since the Unix epoch; without an origin, now.
    pub(crate) fn start(speed: f64, origin: Option<f64>) -> Self {
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            started: Instant::now(),
            started_unix: UnixNanos(u64::try_from(unix.as_nanos()).unwrap_or(u64::MAX)),
            speed,
            origin: origin.unwrap_or(unix.as_secs_f64()),
        }
    }

    /// The moment at which virtual and real time are the same, in seconds since the Unix epoch.
    pub(crate) fn origin(&self) -> f64 {
        self.origin
    }

    /// Real time since the start.
    pub(crate) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Real time now.
    pub(crate) fn now(&self) -> UnixNanos {
        self.started_unix.after(self.started.elapsed())
    }

    /// Virtual time now.
    pub(crate) fn shown(&self) -> UnixNanos {
        self.shown_at(self.virtual_seconds())
    }

    /// Virtual seconds since the origin; 0 before it.
    pub(crate) fn virtual_seconds(&self) -> f64 {
        let real = self.now().0 as f64 / 1e9;
        (real - self.origin).max(0.0) * self.speed
    }

    /// The virtual time that lies `virtual_seconds` after the origin, or before it if they are negative: the date of what
    /// happened then.
    pub(crate) fn shown_at(&self, virtual_seconds: f64) -> UnixNanos {
        let seconds = (self.origin + virtual_seconds).max(0.0);
        UnixNanos(0).after(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_clock_shows_real_time_at_its_origin() {
        let real = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let origin = real.as_secs_f64() - 100.0;
        let clock = Clock::start(3600.0, Some(origin));
        let shown = clock.shown().seconds_since(UnixNanos(0)) - origin;
        assert!((360_000.0..720_000.0).contains(&shown), "{shown}");
        let hour_before = clock.shown_at(-3600.0).seconds_since(UnixNanos(0));
        assert!((origin - hour_before - 3600.0).abs() < 1e-3);
    }

    #[test]
    fn a_still_clock_stays_at_its_origin() {
        let clock = Clock::start(0.0, None);
        assert!(clock.virtual_seconds().abs() < f64::EPSILON);
        assert_eq!(clock.shown(), clock.shown_at(0.0));
    }

    #[test]
    fn time_does_not_begin_before_its_origin() {
        let clock = Clock::start(10.0, Some(1e10));
        assert!(clock.virtual_seconds().abs() < f64::EPSILON);
    }
}
