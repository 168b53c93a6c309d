//! The crawl's clock: the time that turns, leases, rests and page states go by.
//!
//! Time is the wall clock's at the start plus what the machine has counted since its boot, sleep included. So within a run it never goes backwards
//! and never leaps, whatever happens to the wall clock: an interval of politeness is as long as it says, and no day's work falls due at once.
//! From run to run it does not go backwards either (see [`Clock::start`]).
//!
//! Not here: dates of captures and the age of log files, which come from the wall clock, and how long checkpoints, hooks and locks wait, which is real time.
//!
//! For demonstrations and tests, time can be made to run faster: see [`ClockConfig`].

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use junkai_frontier::Time;
use serde::{Deserialize, Serialize};

use crate::platform::Machine;

/// The clock of a crawl, for demonstrations and tests. Table `[clock]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClockConfig {
    /// Seconds of the crawl's time that pass in a real second. Default 1. With 100000 the crawl and all its intervals run through three months
    /// in a little over a minute; only for servers whose own clock runs as fast, as testweb's does. From 1 to 10000000.
    pub speed: f64,
    /// The moment at which the crawl's time and real time are the same, in seconds since the Unix epoch. Default 0. Matters only with a speed:
    /// whoever has the same speed and origin shares the clock.
    pub origin: f64,
}

impl Default for ClockConfig {
    fn default() -> Self {
        ClockConfig {
            speed: 1.0,
            origin: 0.0,
        }
    }
}

impl ClockConfig {
    /// What is wrong with the values.
    #[must_use]
    pub fn mistakes(&self) -> Option<String> {
        const SPEED_MAX: f64 = 1e7;
        let is_sound =
            (1.0..=SPEED_MAX).contains(&self.speed) && (0.0..=1e11).contains(&self.origin);
        (!is_sound).then(|| {
            "[clock]: speed must be 1 to 10,000,000, and origin seconds since 1970".to_owned()
        })
    }

    /// What the crawl's clock shows at this moment of real time.
    fn shown_at(&self, real: Duration) -> Duration {
        if self.is_real() {
            return real;
        }
        let since_origin = (real.as_secs_f64() - self.origin).max(0.0);
        Duration::from_secs_f64(self.origin + since_origin * self.speed)
    }

    /// Whether time passes as it really does.
    #[expect(clippy::float_cmp, reason = "exactly one is the real clock")]
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.speed == 1.0
    }
}

/// A moment that another run can measure from: by the machine's own count, whatever was done to the wall clock since.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Moment {
    /// What the crawl's clock showed.
    pub now: Time,
    /// What the machine had counted since its boot.
    pub counted: Duration,
    /// Which start of the machine it was; empty where the system does not say.
    pub boot: String,
}

/// A clock that never goes backwards. Copies tell the same time.
#[derive(Clone, Debug)]
pub struct Clock {
    config: ClockConfig,
    machine: Arc<dyn Machine>,
    /// What it showed at the start.
    shown_at_start: Duration,
    /// What the machine had counted then.
    counted_at_start: Duration,
}

impl Clock {
    /// Starts a clock that goes on from `last`, what the clock of the last run showed at its end: if the wall clock was set back in between, time
    /// goes on from there, so that nothing that is due has to wait for the wall clock to catch up.
    pub fn start(machine: &Arc<dyn Machine>, config: &ClockConfig, last: Time) -> Clock {
        let last = last.saturating_duration_since(Time::EPOCH);
        Clock {
            config: config.clone(),
            shown_at_start: config.shown_at(machine.wall()).max(last),
            counted_at_start: machine.counted(),
            machine: Arc::clone(machine),
        }
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Time {
        let since = self.machine.counted().saturating_sub(self.counted_at_start);
        Time::EPOCH + (self.shown_at_start + self.shown(since))
    }

    /// This moment, for another run.
    #[must_use]
    pub fn moment(&self) -> Moment {
        Moment {
            now: self.now(),
            counted: self.machine.counted(),
            boot: self.machine.boot(),
        }
    }

    /// The end of a rest that an earlier run, at `then`, knew to last `until`. It is no sooner because the wall clock was set forward: what has
    /// passed is what the machine has counted, or nothing if it was started anew since.
    #[must_use]
    pub fn end_of_rest(&self, until: Time, then: &Moment) -> Time {
        let left = until.saturating_duration_since(then.now);
        let is_same_boot = !then.boot.is_empty() && then.boot == self.machine.boot();
        let passed = if is_same_boot {
            self.shown(self.machine.counted().saturating_sub(then.counted))
        } else {
            Duration::ZERO
        };
        match left.saturating_sub(passed) {
            Duration::ZERO => until,
            left => until.max(self.now() + left),
        }
    }

    /// How long it really takes until this clock shows `time`.
    #[must_use]
    pub fn until(&self, time: Time) -> Duration {
        self.real(time.saturating_duration_since(self.now()))
    }

    /// How long a time of this clock takes in real time.
    #[must_use]
    pub fn real(&self, time: Duration) -> Duration {
        if self.config.is_real() {
            time
        } else {
            time.div_f64(self.config.speed)
        }
    }

    /// How long a real time is on this clock.
    #[must_use]
    pub fn shown(&self, real: Duration) -> Duration {
        if self.config.is_real() {
            real
        } else {
            real.mul_f64(self.config.speed)
        }
    }

    /// The date of something that happened at `wall`, since the Unix epoch, in whole milliseconds: so precisely a page's state keeps when its capture was made, which later
    /// records refer to.
    #[must_use]
    pub fn date(&self, wall: Duration) -> Timestamp {
        let millis = self.config.shown_at(wall).as_millis();
        let millis = i64::try_from(millis).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(millis).unwrap_or_default()
    }
}

/// A time as logs and WARC records write it.
#[must_use]
pub fn timestamp(time: Time) -> Timestamp {
    i64::try_from(time.as_micros())
        .ok()
        .and_then(|micros| Timestamp::from_microsecond(micros).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestMachine;

    fn start(config: &ClockConfig, last: Time) -> Clock {
        let machine: Arc<dyn Machine> = Arc::new(TestMachine::default());
        Clock::start(&machine, config, last)
    }

    #[test]
    fn time_goes_on_from_where_the_last_run_ended() {
        let day = Duration::from_hours(24);
        let real = start(&ClockConfig::default(), Time::EPOCH).now();
        let ahead = real + day;
        let clock = start(&ClockConfig::default(), ahead);
        assert!(ahead <= clock.now() && clock.now() < ahead + day);
        let behind = Time::from_micros(real.as_micros() - 86_400_000_000);
        assert!(real <= start(&ClockConfig::default(), behind).now());
    }

    /// A clock whose wall was set forward by a day since `then`, and a rest of an hour that was known then.
    fn set_forward() -> (Clock, Moment, Time) {
        let then = start(&ClockConfig::default(), Time::EPOCH).moment();
        let until = then.now + Duration::from_hours(1);
        let last = then.now + Duration::from_hours(24);
        (start(&ClockConfig::default(), last), then, until)
    }

    #[test]
    fn a_wall_clock_that_is_set_forward_does_not_shorten_a_rest() {
        let (clock, mut then, until) = set_forward();
        let ten_minutes = Duration::from_mins(10);
        then.counted = then.counted.saturating_sub(ten_minutes);
        let end = clock.end_of_rest(until, &then);
        let left = end.saturating_duration_since(clock.now());
        let fifty_minutes = Duration::from_mins(50);
        // The test takes its time too.
        assert!(left <= fifty_minutes && fifty_minutes < left + ten_minutes);
        then.counted = Duration::ZERO;
        let long_over = Time::EPOCH + ten_minutes;
        assert_eq!(clock.end_of_rest(long_over, &then), long_over);
    }

    #[test]
    fn where_nobody_knows_what_has_passed_the_whole_rest_is_left() {
        let (clock, mut then, until) = set_forward();
        for boot in ["another", ""] {
            then.boot = boot.to_owned();
            let before = clock.now();
            let end = clock.end_of_rest(until, &then);
            assert!(before + Duration::from_hours(1) <= end);
        }
    }

    #[test]
    fn a_true_clock_leaves_the_end_of_a_rest_where_it_is() {
        let clock = start(&ClockConfig::default(), Time::EPOCH);
        let then = clock.moment();
        let until = then.now + Duration::from_hours(1);
        let end = clock.end_of_rest(until, &then);
        let off = end.saturating_duration_since(until);
        assert!(off < Duration::from_secs(1), "{off:?}");
    }

    #[test]
    fn whoever_shares_speed_and_origin_shares_the_clock() {
        let origin = 1_700_000_000;
        let config = ClockConfig {
            speed: 1000.0,
            origin: 1_700_000_000.0,
        };
        let wall = Duration::from_secs(origin + 3);
        assert_eq!(config.shown_at(wall), Duration::from_secs(origin + 3000));
        // Before the origin nothing has happened yet.
        assert_eq!(config.shown_at(Duration::ZERO), Duration::from_secs(origin));
    }

    #[test]
    fn real_time_is_told_from_shown_time() {
        let config = ClockConfig {
            speed: 100.0,
            origin: 0.0,
        };
        let clock = start(&config, Time::EPOCH);
        let second = Duration::from_secs(1);
        assert_eq!(clock.shown(second), 100 * second);
        assert_eq!(clock.real(clock.shown(second)), second);
    }
}
