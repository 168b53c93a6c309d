//! A moment as people write it: a date, digits as web archives have them, or an age.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// What a flag takes, for its help.
pub(crate) const FORMS: &str = "`20260115093012` or the beginning of it, `2026-01-15`, `2026-01-15T09:30:12Z`, or how long ago: `2days`";

/// Digits of a moment in full, and what completes those that are missing.
const FILL: &str = "00000101000000";

/// A moment that may depend on when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    At(Timestamp),
    Ago(std::time::Duration),
}

impl Moment {
    /// Reads one.
    ///
    /// # Errors
    /// If it is none, with the forms that are.
    pub(crate) fn parse(text: &str) -> Result<Moment, String> {
        let text = text.trim();
        let wrong = || format!("`{text}` is no time; write {FORMS}");
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return of_digits(text).map(Moment::At).ok_or_else(wrong);
        }
        if let Ok(time) = text.parse::<Timestamp>() {
            return Ok(Moment::At(time));
        }
        if let Ok(day) = text.parse::<Date>() {
            let time = day.to_datetime(jiff::civil::Time::midnight());
            return in_utc(time).map(Moment::At).ok_or_else(wrong);
        }
        let age = text.strip_suffix("ago").unwrap_or(text).trim();
        let age = humantime::parse_duration(age).map_err(|_| wrong())?;
        Ok(Moment::Ago(age))
    }

    /// The moment, asked at `now`.
    pub(crate) fn asked_at(self, now: Timestamp) -> Timestamp {
        match self {
            Moment::At(time) => time,
            Moment::Ago(age) => now.checked_sub(age).unwrap_or(Timestamp::MIN),
        }
    }
}

/// The moment of up to fourteen digits, as the index has them: a year, or more.
pub(crate) fn of_digits(digits: &str) -> Option<Timestamp> {
    let fill = FILL.get(digits.len()..).filter(|_| 4 <= digits.len())?;
    let all = [digits, fill].concat();
    in_utc(DateTime::strptime("%Y%m%d%H%M%S", &all).ok()?)
}

fn in_utc(time: DateTime) -> Option<Timestamp> {
    TimeZone::UTC.to_timestamp(time).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_people_write_them() {
        let now: Timestamp = "2026-01-15T09:30:12Z".parse().unwrap();
        for (text, expected) in [
            ("20260115093012", "2026-01-15T09:30:12Z"),
            ("202601", "2026-01-01T00:00:00Z"),
            ("2026", "2026-01-01T00:00:00Z"),
            ("2026-01-15", "2026-01-15T00:00:00Z"),
            ("2026-01-15T10:30:12+01:00", "2026-01-15T09:30:12Z"),
            ("2days", "2026-01-13T09:30:12Z"),
            ("1h ago", "2026-01-15T08:30:12Z"),
        ] {
            let moment = Moment::parse(text).unwrap().asked_at(now);
            assert_eq!(moment, expected.parse::<Timestamp>().unwrap(), "{text}");
        }
        for text in [
            "",
            "202",
            "20261301",
            "yesterday",
            "202601150930120",
            "2026-13-01",
            "-1day",
        ] {
            assert!(Moment::parse(text).is_err(), "{text}");
        }
    }
}
