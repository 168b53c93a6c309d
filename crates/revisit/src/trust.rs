//! How far a site can be believed when it says that a page has changed.
//!
//! A page's `Last-Modified`, its site's sitemap and feeds are *sources*: each may say that a page changed since it was last
//! seen, and the next visit shows whether it did. A [`TrackRecord`] counts both, for each site and source.
//!
//! Busa-Fekete, Zimmert, György and others, "A Scalable Crawling Algorithm Utilizing Noisy Change-Indicating Signals", WWW
//! 2025: a source tells a share *λ* of the changes, and false alarms come at a rate *ν*; the estimates are ours.
//! Departures: several changes between two visits count as one, so *λ* is a little too large where visits are rare.
//!
//! # Notation
//! *λ*: [`Trust::recall`]; *ν*: [`Trust::false_alarms`].

use std::time::Duration;

use crate::codec::{Reader, put_float};

/// Who says that a page has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The page's own `Last-Modified`.
    LastModified,
    /// `lastmod` in a sitemap of the site.
    Sitemap,
    /// A feed of the site.
    Feed,
    /// `changefreq` in a sitemap: how often a page changes, not when it did.
    ChangeFrequency,
}

impl Source {
    /// How many there are.
    pub(crate) const COUNT: usize = 4;
}

/// What came of what one source of one site has said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TrackRecord {
    /// Changes that it had told.
    told: f32,
    /// Changes that it had not told.
    untold: f32,
    /// Times that it told of a change and there was none.
    false_alarms: f32,
    /// Time without a change, over all visits, in seconds.
    quiet_seconds: f32,
}

/// What is believed of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trust {
    /// The share of changes that it tells, from 0 to 1.
    pub recall: f64,
    /// The share of changes that it is known to tell, from 0 to 1: a source without a record has none.
    pub proven_recall: f64,
    /// The chance that a page which it tells of has changed, from 0 to 1; a source without a record gets the benefit of
    /// the doubt.
    pub precision: f64,
    /// False alarms per second and page.
    pub false_alarms: f64,
    /// How far its times are taken for true, from 0 to 1; a source without a record has no credit.
    pub credit: f64,
}

/// A record counts no more than this, so that a site can better itself, or get worse.
const COUNT_MAX: f32 = 256.0;

impl TrackRecord {
    /// A visit after `gap` showed whether the page had changed, and the source had said so or not.
    pub(crate) fn note(&mut self, has_changed: bool, was_told: bool, gap: Duration) {
        match (has_changed, was_told) {
            (true, true) => self.told += 1.0,
            (true, false) => self.untold += 1.0,
            (false, true) => self.false_alarms += 1.0,
            (false, false) => {}
        }
        if !has_changed {
            self.quiet_seconds += gap.as_secs_f32();
        }
        if COUNT_MAX < self.told + self.untold + self.false_alarms {
            self.told /= 2.0;
            self.untold /= 2.0;
            self.false_alarms /= 2.0;
            self.quiet_seconds /= 2.0;
        }
    }

    pub(crate) fn trust(&self) -> Trust {
        let [told, untold, false_alarms, quiet_seconds] = [
            self.told,
            self.untold,
            self.false_alarms,
            self.quiet_seconds,
        ]
        .map(f64::from);
        Trust {
            recall: (told + 1.0) / (told + untold + 2.0),
            proven_recall: told / (told + untold + 2.0),
            precision: (told + 2.0) / (told + false_alarms + 3.0),
            false_alarms: (false_alarms + 0.5) / (quiet_seconds + QUIET_AT_FIRST),
            credit: told / (told + untold + false_alarms + 2.0),
        }
    }

    pub(crate) fn is_blank(&self) -> bool {
        *self == TrackRecord::default()
    }

    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        for number in [
            self.told,
            self.untold,
            self.false_alarms,
            self.quiet_seconds,
        ] {
            put_float(out, number);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<TrackRecord> {
        let mut number = || reader.float().filter(|number| 0.0 <= *number);
        Some(TrackRecord {
            told: number()?,
            untold: number()?,
            false_alarms: number()?,
            quiet_seconds: number()?,
        })
    }
}

/// Half a false alarm in a month is taken for granted, in seconds.
const QUIET_AT_FIRST: f64 = 30.0 * 86_400.0;

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn record(told: u32, untold: u32, false_alarms: u32) -> TrackRecord {
        let mut record = TrackRecord::default();
        for (count, has_changed, was_told) in [
            (told, true, true),
            (untold, true, false),
            (false_alarms, false, true),
        ] {
            for _ in 0..count {
                record.note(has_changed, was_told, DAY);
            }
        }
        record
    }

    #[test]
    fn a_source_without_a_record_is_tried_but_not_taken_at_its_word() {
        let trust = record(0, 0, 0).trust();
        assert!(0.6 < trust.precision);
        assert!(trust.credit < 1e-9);
    }

    #[test]
    fn truth_earns_trust_and_false_alarms_lose_it() {
        let honest = record(20, 0, 0).trust();
        assert!(0.9 < honest.credit && 0.9 < honest.precision && 0.9 < honest.recall);
        let crying_wolf = record(1, 0, 19).trust();
        assert!(crying_wolf.credit < 0.1 && crying_wolf.precision < 0.2);
        assert!(honest.false_alarms < crying_wolf.false_alarms);
        let silent = record(2, 18, 0).trust();
        assert!(silent.recall < 0.2 && silent.credit < 0.1);
    }

    #[test]
    fn a_long_record_still_learns() {
        let mut record = record(100_000, 0, 0);
        for _ in 0..500 {
            record.note(false, true, DAY);
        }
        assert!(record.trust().precision < 0.3);
    }
}
