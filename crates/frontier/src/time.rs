//! A moment, as the driver tells it.
//!
//! The crawler's driver reads a clock and the lab's driver invents one; this room only compares moments and adds to them.
//! A driver must never let its time run backwards, whatever the wall clock of the machine does.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment in microseconds since the Unix epoch; arithmetic saturates at both ends.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(u64);

impl Time {
    /// The Unix epoch: the first moment, and where virtual clocks begin.
    pub const EPOCH: Time = Time(0);

    /// The moment this many microseconds after the Unix epoch.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Time {
        Time(micros)
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to here, or zero if `earlier` is later.
    #[must_use]
    pub const fn saturating_duration_since(self, earlier: Time) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Time {
    type Output = Time;

    /// Adds a duration, rounded up to a microsecond so that a pause never becomes shorter.
    fn add(self, duration: Duration) -> Time {
        Time(self.0.saturating_add(micros_rounded_up(duration)))
    }
}

impl fmt::Display for Time {
    /// Seconds since the Unix epoch, with six decimals.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}.{:06}",
            self.0 / 1_000_000,
            self.0 % 1_000_000
        )
    }
}

/// A duration in whole microseconds, rounded up; the largest number if it does not fit.
pub(crate) fn micros_rounded_up(duration: Duration) -> u64 {
    let seconds = duration.as_secs().saturating_mul(1_000_000);
    seconds.saturating_add(u64::from(duration.subsec_nanos().div_ceil(1000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_rounded_up_never_down() {
        assert_eq!(Time::EPOCH + Duration::from_nanos(1), Time::from_micros(1));
        assert_eq!(
            Time::EPOCH + Duration::from_nanos(1001),
            Time::from_micros(2)
        );
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(
            Time::from_micros(5) + Duration::MAX,
            Time::from_micros(u64::MAX)
        );
        assert_eq!(
            Time::EPOCH.saturating_duration_since(Time::from_micros(7)),
            Duration::ZERO
        );
    }

    #[test]
    fn it_reads_as_seconds() {
        assert_eq!(Time::from_micros(1_500_000).to_string(), "1.500000");
    }
}
