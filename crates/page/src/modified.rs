//! When a page was last changed, as its site says in sitemaps and feeds.
//!
//! Two forms are read: the profile of ISO 8601 that sitemaps use (W3C note "Date and Time Formats", 1997), from the year to fractions
//! of a second, and the dates of mail (RFC 5322, section 3.3, with the obsolete zones of 4.3). A date comes with its precision, because
//! "in November" is evidence too, but less.
//! Departures: a space may stand for the `T`, and a zone may lack its colon or be missing, as in many sitemaps.
//!
//! Not here: whether to believe it, and `Last-Modified`, which belongs to HTTP.

use std::time::{Duration, SystemTime};

/// Longer texts are no dates.
const LENGTH_MAX: usize = 64;
/// Years in which pages can have changed. Machines without a date say 1, 1970 or 1980.
const YEARS: std::ops::RangeInclusive<u32> = 1990..=2199;

const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);

/// When a page was changed: at some time from `at` on, and before `at + precision`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modified {
    /// The beginning of the second, minute, day, month or year.
    pub at: SystemTime,
    /// How long that is. A time of day without a zone is known to the day, and read as UTC.
    pub precision: Duration,
}

impl Modified {
    /// Reads a date; none if it is none, or one that no page can have.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if LENGTH_MAX < text.len() {
            return None;
        }
        of_w3c(text).or_else(|| of_mail(text))
    }
}

/// 2026, 2026-11, 2026-11-15, 2026-11-15T12:34:56.789+09:00.
fn of_w3c(text: &str) -> Option<Modified> {
    let mut reader = Reader::new(text);
    let year = reader.digits(4)?;
    if reader.is_at_end() {
        return from_to(day_number(year, 1, 1)?, day_number(year + 1, 1, 1)?);
    }
    reader.byte(b"-")?;
    let month = reader.digits(2)?;
    if reader.is_at_end() {
        let (next_year, next_month) = if month < 12 {
            (year, month + 1)
        } else {
            (year + 1, 1)
        };
        return from_to(
            day_number(year, month, 1)?,
            day_number(next_year, next_month, 1)?,
        );
    }
    reader.byte(b"-")?;
    let day = day_number(year, month, reader.digits(2)?)?;
    if reader.is_at_end() {
        return from_to(day, day + 1);
    }
    reader.byte(b"Tt ")?;
    let mut time = reader.time_of_day()?;
    reader.skip_spaces();
    time.add_zone(if reader.is_at_end() {
        None
    } else {
        Some(reader.zone()?)
    });
    reader.is_at_end().then_some(())?;
    time.on(day)
}

/// Sun, 15 Nov 2026 12:34:56 +0900.
fn of_mail(text: &str) -> Option<Modified> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let date = match text.split_once(',') {
        Some((weekday, date)) if weekday.bytes().all(|byte| byte.is_ascii_alphabetic()) => date,
        Some(_) => return None,
        None => text,
    };
    let mut reader = Reader::new(date.trim());
    let day = reader.number(1..=2)?;
    reader.spaces()?;
    let name = reader.word();
    let is_month = |month: &&str| {
        name.get(..3)
            .is_some_and(|start| start.eq_ignore_ascii_case(month))
    };
    let month = (1..)
        .zip(MONTHS.iter())
        .find(|(_, month)| is_month(month))?
        .0;
    reader.spaces()?;
    let day = day_number(reader.digits(4)?, month, day)?;
    if reader.is_at_end() {
        return from_to(day, day + 1);
    }
    reader.spaces()?;
    let mut time = reader.time_of_day()?;
    reader.skip_spaces();
    time.add_zone(reader.zone());
    time.on(day)
}

/// A time of a day, and how exact it is.
struct TimeOfDay {
    since_midnight: Duration,
    precision: Duration,
    /// East of Greenwich.
    offset_minutes: i64,
}

impl TimeOfDay {
    fn add_zone(&mut self, offset_minutes: Option<i64>) {
        match offset_minutes {
            Some(offset) => self.offset_minutes = offset,
            None => self.precision = DAY,
        }
    }

    fn on(&self, day: u64) -> Option<Modified> {
        let local = DAY * u32::try_from(day).ok()? + self.since_midnight;
        let offset = MINUTE * u32::try_from(self.offset_minutes.unsigned_abs()).ok()?;
        let since_epoch = if self.offset_minutes < 0 {
            local + offset
        } else {
            local.checked_sub(offset)?
        };
        Some(Modified {
            at: SystemTime::UNIX_EPOCH + since_epoch,
            precision: self.precision,
        })
    }
}

/// From the beginning of a day to that of another, counted from 1970.
fn from_to(first: u64, next: u64) -> Option<Modified> {
    Some(Modified {
        at: SystemTime::UNIX_EPOCH + DAY * u32::try_from(first).ok()?,
        precision: DAY * u32::try_from(next.checked_sub(first)?).ok()?,
    })
}

/// The day's number from 1970 on, in the Gregorian calendar; none if there is no such day, or none of our time.
fn day_number(year: u32, month: u32, day: u32) -> Option<u64> {
    const DAYS_BEFORE_MONTH: [u32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let is_leap = |year: u32| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let days_in_month = match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    // The first day after them ends the last year.
    let is_year = YEARS.contains(&year) || (YEARS.end() + 1, 1, 1) == (year, month, day);
    if !is_year || !(1..=days_in_month).contains(&day) {
        return None;
    }
    let before_month = DAYS_BEFORE_MONTH.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    let years = year - 1970;
    let leap_days = (1972..year).filter(|year| is_leap(*year)).count();
    let leap_day = u32::from(is_leap(year) && 2 < month);
    Some(u64::from(years * 365 + before_month + leap_day + day - 1) + leap_days as u64)
}

/// Reads a date from its start on.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// One of these bytes, which are ASCII.
    fn byte(&mut self, wanted: &[u8]) -> Option<u8> {
        let first = *self.rest.as_bytes().first()?;
        wanted.contains(&first).then(|| {
            self.rest = &self.rest[1..];
            first
        })
    }

    /// A number of so many digits, and not one more.
    fn number(&mut self, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if !digits.contains(&length) {
            return None;
        }
        let (number, rest) = self.rest.split_at(length);
        self.rest = rest;
        number.parse().ok()
    }

    fn digits(&mut self, count: usize) -> Option<u32> {
        self.number(count..=count)
    }

    fn word(&mut self) -> &'a str {
        let length = self
            .rest
            .bytes()
            .take_while(u8::is_ascii_alphabetic)
            .count();
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        word
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn spaces(&mut self) -> Option<()> {
        self.byte(b" \t")?;
        self.skip_spaces();
        Some(())
    }

    /// hh:mm, hh:mm:ss, hh:mm:ss.fraction; the fraction is dropped.
    fn time_of_day(&mut self) -> Option<TimeOfDay> {
        let hour = self.digits(2).filter(|hour| *hour < 24)?;
        self.byte(b":")?;
        let minute = self.digits(2).filter(|minute| *minute < 60)?;
        let mut precision = MINUTE;
        let mut second = 0;
        if self.byte(b":").is_some() {
            // A leap second is the last one of its minute here.
            second = self.digits(2).filter(|second| *second <= 60)?.min(59);
            precision = Duration::from_secs(1);
            if self.byte(b".,").is_some() {
                self.number(1..=9)?;
            }
        }
        let seconds = u64::from(hour * 3600 + minute * 60 + second);
        Some(TimeOfDay {
            since_midnight: Duration::from_secs(seconds),
            precision,
            offset_minutes: 0,
        })
    }

    /// A zone, as minutes east of Greenwich: Z, +09:00, -0500, GMT, EST.
    fn zone(&mut self) -> Option<i64> {
        if let Some(sign) = self.byte(b"+-") {
            let sign = if sign == b'-' { -1 } else { 1 };
            let (hours, minutes) = match self.number(2..=4)? {
                number @ 100.. => (number / 100, number % 100),
                // `+0030` has four digits and is less than a hundred, as no hour is.
                number @ 24.. => (0, number),
                hours => match self.byte(b":") {
                    Some(_) => (hours, self.digits(2)?),
                    None => (hours, 0),
                },
            };
            let is_zone = hours <= 14 && minutes < 60;
            return is_zone.then_some(sign * i64::from(hours * 60 + minutes));
        }
        let hours = match &*self.word().to_ascii_uppercase() {
            "Z" | "GMT" | "UT" | "UTC" => 0,
            "JST" => 9,
            "EDT" => -4,
            "EST" | "CDT" => -5,
            "CST" | "MDT" => -6,
            "MST" | "PDT" => -7,
            "PST" => -8,
            _ => return None,
        };
        Some(hours * 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const YEAR_2026: Duration = Duration::from_hours(24 * 365);

    fn seconds(text: &str) -> Option<(u64, Duration)> {
        let modified = Modified::parse(text)?;
        let since_epoch = modified.at.duration_since(SystemTime::UNIX_EPOCH);
        Some((since_epoch.unwrap().as_secs(), modified.precision))
    }

    #[test]
    fn dates_come_with_their_precision() {
        let second = Duration::from_secs(1);
        for (text, at, precision) in [
            ("2026", 1_767_225_600, YEAR_2026),
            ("2024", 1_704_067_200, YEAR_2026 + DAY),
            ("2026-11", 1_793_491_200, DAY * 30),
            ("2026-12", 1_796_083_200, DAY * 31),
            ("2024-02", 1_706_745_600, DAY * 29),
            ("2199-12", 7_255_440_000, DAY * 31),
            ("2026-11-15", 1_794_700_800, DAY),
            ("2024-02-29", 1_709_164_800, DAY),
            ("2026-11-15T12:34Z", 1_794_746_040, MINUTE),
            ("2026-11-15T12:34:56Z", 1_794_746_096, second),
            (" 2026-11-15T12:34:56.789Z\n", 1_794_746_096, second),
            ("2026-11-15T21:34:56+09:00", 1_794_746_096, second),
            ("2026-11-15T07:34:56-0500", 1_794_746_096, second),
            ("2026-11-15T12:04:56-0030", 1_794_746_096, second),
            ("2026-11-15T21:34:56+09", 1_794_746_096, second),
            ("2026-11-15 12:34:56", 1_794_746_096, DAY),
            ("2026-11-15 12:34:56 UTC", 1_794_746_096, second),
            ("2016-12-31T23:59:60Z", 1_483_228_799, second),
            ("Sun, 15 Nov 2026 12:34:56 GMT", 1_794_746_096, second),
            ("Sun, 15 Nov 2026 21:34:56 +0900", 1_794_746_096, second),
            ("15 November 2026 12:34 +0000", 1_794_746_040, MINUTE),
            ("Sun, 15 Nov 2026 12:34:56", 1_794_746_096, DAY),
            ("5 Nov 2026", 1_793_836_800, DAY),
        ] {
            assert_eq!(seconds(text), Some((at, precision)), "{text}");
        }
    }

    #[test]
    fn nonsense_is_no_date() {
        for text in [
            "",
            "soon",
            "0001-01-01T00:00:00Z",
            "1970-01-01",
            "9999-12-31",
            "2026-13-01",
            "2026-00-01",
            "2026-02-29",
            "2026-11-31",
            "2026-11-15T",
            "2026-11-15T24:00Z",
            "2026-11-15T12:60Z",
            "2026-11-15T12:34:56+15:00",
            "2026-11-15T12:34:56Zx",
            "2026-11-15x",
            "20261115",
            "26-11-15",
            "11/15/2026",
            "2026-1-5",
            "-2026",
            "Sun, 15 Foo 2026 12:34:56 GMT",
            "Sun, 32 Nov 2026 12:34:56 GMT",
            "Sun, 15 Nov 26",
            "1794746096",
            "２０２６",
        ] {
            assert_eq!(Modified::parse(text), None, "{text}");
        }
        assert_eq!(Modified::parse(&" 2026".repeat(1000)), None);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text: String, dateish in "[0-9]{0,5}[-0-9T: +Za-z,.]{0,30}") {
            let _ = Modified::parse(&text);
            if let Some(modified) = Modified::parse(&dateish) {
                prop_assert!(SystemTime::UNIX_EPOCH < modified.at);
                prop_assert!(Duration::ZERO < modified.precision);
            }
        }

        /// Days follow one another without gap, and each is read back.
        #[test]
        fn days_are_counted(day in 7305_u64..84_000) {
            let text = |day: u64| {
                // The oracle counts year by year and month by month, from the first of 1990.
                let (mut year, mut left) = (1990, day - 7305);
                let is_leap = |year: u64| {
                    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
                };
                let length = |year: u64| if is_leap(year) { 366 } else { 365 };
                while length(year) <= left {
                    left -= length(year);
                    year += 1;
                }
                let february = length(year) - 337;
                let mut month = 1;
                for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
                    if left < days {
                        break;
                    }
                    left -= days;
                    month += 1;
                }
                format!("{year:04}-{month:02}-{:02}", left + 1)
            };
            prop_assert_eq!(seconds(&text(day)), Some((day * 86_400, DAY)));
        }
    }
}
