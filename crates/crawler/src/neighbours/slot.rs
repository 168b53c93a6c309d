//! What the crawls of a machine know of one server together: its last visit, how long it is to be left alone, and whether anybody waits.
//!
//! Pure, as is `line`: times are what the machine had counted since its boot.

use std::time::Duration;

use super::AHEAD_MAX;
use super::line::{bytes_of, micros, words};

pub(super) const SLOT_BYTES: usize = 32;
/// What the visitor writes of a slot; the rest is written by those who wait.
pub(super) const VISIT_BYTES: usize = 24;

/// What a slot says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    /// The last visit, or the one under way.
    pub(super) visit: LastVisit,
    /// Until when somebody may be in the server's line; past, or zero, if nobody is.
    pub(super) waited_until: Duration,
}

/// The visitor's part of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LastVisit {
    /// When the last visit ended, or the one that is under way began.
    pub(super) at: Duration,
    pub(super) is_under_way: bool,
    /// The crawl whose visit it was.
    pub(super) of: u64,
    /// Until when the server is to be left alone by all; past, or zero, if it is not.
    pub(super) hold_until: Duration,
}

/// What keeps a crawl from a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing.
    Over,
    /// The visit of another crawl ended so recently that this time is left of the interval.
    AfterVisit(Duration),
    /// The server asked for this time.
    Hold(Duration),
}

impl LastVisit {
    /// How long a crawl has to leave the server alone, with its own interval and its own bound of what a server may ask for.
    pub(super) fn rest(
        &self,
        asker: u64,
        interval: Duration,
        hold_max: Duration,
        counted: Duration,
    ) -> Rest {
        let is_of_this_boot = self.at <= counted.saturating_add(AHEAD_MAX);
        // What its own last visit asks for is known to a crawl by its lease.
        let is_another_s = *self != LastVisit::default() && self.of != asker;
        if !is_another_s || !is_of_this_boot {
            return Rest::Over;
        }
        let rest = self.at.saturating_add(interval).saturating_sub(counted);
        let held_until = self.hold_until.min(self.at.saturating_add(hold_max));
        let hold = held_until.saturating_sub(counted);
        if rest.is_zero() && hold.is_zero() {
            Rest::Over
        } else if rest < hold {
            Rest::Hold(hold)
        } else {
            Rest::AfterVisit(rest)
        }
    }

    pub(super) fn to_bytes(self) -> [u8; VISIT_BYTES] {
        let at = micros(self.at) << 1 | u64::from(self.is_under_way);
        let bytes = bytes_of([at, self.of, micros(self.hold_until), 0]);
        std::array::from_fn(|byte| bytes[byte])
    }
}

impl Slot {
    pub(super) fn from_bytes(bytes: &[u8; SLOT_BYTES]) -> Slot {
        let [at, of, hold_until, waited_until] = words(bytes);
        Slot {
            visit: LastVisit {
                at: Duration::from_micros(at >> 1),
                is_under_way: at & 1 == 1,
                of,
                hold_until: Duration::from_micros(hold_until),
            },
            waited_until: Duration::from_micros(waited_until),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const INTERVAL: Duration = Duration::from_secs(5);

    /// A visit of crawl 7 that ended 1000 s after boot.
    fn visit(hold_until: Duration) -> LastVisit {
        LastVisit {
            at: 1000 * SECOND,
            is_under_way: false,
            of: 7,
            hold_until,
        }
    }

    #[test]
    fn the_longer_of_interval_and_hold_counts() {
        let rest = |visit: LastVisit, asker, counted: u32| {
            visit.rest(asker, INTERVAL, 100 * SECOND, counted * SECOND)
        };
        let free = visit(Duration::ZERO);
        assert_eq!(rest(free, 8, 1002), Rest::AfterVisit(3 * SECOND));
        assert_eq!(rest(free, 8, 1005), Rest::Over);
        let held = visit(1020 * SECOND);
        assert_eq!(rest(held, 8, 1002), Rest::Hold(18 * SECOND));
        assert_eq!(rest(held, 8, 1020), Rest::Over);
        assert_eq!(rest(held, 7, 1002), Rest::Over, "its own lease knows of it");
        let nearly = visit(1003 * SECOND);
        assert_eq!(rest(nearly, 8, 1002), Rest::AfterVisit(3 * SECOND));
    }

    #[test]
    fn a_hold_is_bounded_by_who_obeys_it() {
        let held = visit(90_000 * SECOND);
        let rest = held.rest(8, INTERVAL, 60 * SECOND, 1010 * SECOND);
        assert_eq!(rest, Rest::Hold(50 * SECOND));
    }

    #[test]
    fn a_hold_of_before_the_last_boot_does_not_count() {
        let held = visit(1500 * SECOND);
        let rest = held.rest(8, INTERVAL, 3600 * SECOND, 20 * SECOND);
        assert_eq!(rest, Rest::Over);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let visit = LastVisit {
            is_under_way: true,
            ..visit(Duration::from_micros(1_234_567))
        };
        let mut bytes = [0; SLOT_BYTES];
        bytes[..VISIT_BYTES].copy_from_slice(&visit.to_bytes());
        let slot = Slot::from_bytes(&bytes);
        assert_eq!(slot.visit, visit);
        assert_eq!(slot.waited_until, Duration::ZERO);
    }
}
