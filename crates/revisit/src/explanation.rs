//! Why a page is visited when it is, in numbers and in words.

use std::fmt;
use std::time::Duration;

use junkai_frontier::Time;

use crate::belief::Belief;

/// What is known and believed of a page, and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// How often it is believed to change.
    pub belief: Belief,
    /// The chance that it has changed since it was last seen.
    pub chance: f64,
    /// Time between two visits.
    pub interval: Duration,
    /// When the next visit is due.
    pub due: Time,
    /// Visits so far.
    pub visits: u32,
    /// Those that found a change.
    pub changes: u32,
    /// What decided the interval.
    pub reason: Reason,
}

/// What decided when a page is visited next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It was visited once; the second visit is drawn at random.
    FirstRevisit,
    /// The policy, by how often it is believed to change.
    Policy,
    /// It would be due sooner, but not within the shortest interval.
    ShortestInterval,
    /// It would be due later, but every page is looked at once within the longest interval.
    LongestInterval,
    /// Every page is visited at least so often.
    AtLeast,
    /// Its server cannot bear more: the pages of that server are visited less often than they would be.
    ServerLoad,
    /// It was not there: each such visit doubles the interval.
    Missing {
        /// Visits in a row that did not find it.
        misses: u8,
    },
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "changed at {} of {} visits; believed to change every {}; the chance that it has changed by now is {:.0} %; \
             visited every {} because {}",
            self.changes,
            self.visits,
            Span(self.belief.change_interval()),
            100.0 * self.chance,
            Span(self.interval),
            self.reason
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::FirstRevisit => {
                formatter.write_str("it was visited once, and the second visit is drawn at random")
            }
            Reason::Policy => formatter.write_str("of how often it changes"),
            Reason::ShortestInterval => {
                formatter.write_str("no page is visited more often (revisit.interval_min)")
            }
            Reason::LongestInterval => {
                formatter.write_str("no page is left alone for longer (revisit.interval_max)")
            }
            Reason::AtLeast => {
                formatter.write_str("every page is visited at least so often (revisit.at_least)")
            }
            Reason::ServerLoad => {
                formatter.write_str("its server cannot bear all that its pages ask for")
            }
            Reason::Missing { misses } => write!(
                formatter,
                "it was not there at {misses} visits in a row, each of which doubles the interval"
            ),
        }
    }
}

/// A time in the unit that fits.
struct Span(Duration);

impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MINUTE: f64 = 60.0;
        const HOUR: f64 = 60.0 * MINUTE;
        const DAY: f64 = 24.0 * HOUR;
        const YEAR: f64 = 365.25 * DAY;
        let seconds = self.0.as_secs_f64();
        let (unit, name) = match seconds {
            s if s < 2.0 * MINUTE => (1.0, "s"),
            s if s < 2.0 * HOUR => (MINUTE, "min"),
            s if s < 2.0 * DAY => (HOUR, "h"),
            s if s < 2.0 * YEAR => (DAY, "d"),
            _ => (YEAR, "years"),
        };
        write!(formatter, "{:.1} {name}", seconds / unit)
    }
}
