//! Days as spreadsheets keep them: a number of days, and a format that shows it as one.

use jiff::civil::{Date, date};

use super::cell::Cell;

/// The day that is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Epoch {
    /// As in Excel for Windows, where 1900 is taken for a leap year.
    Year1900,
    /// As in old Excel for Macintosh.
    Year1904,
}

/// A number that is shown as a day; one that is none is shown as it is.
pub(crate) fn cell_of(days: f64, epoch: Epoch) -> Cell {
    let first = match epoch {
        Epoch::Year1900 => date(1899, 12, 30),
        Epoch::Year1904 => date(1904, 1, 1),
    };
    match day_after(first, days) {
        Some(day) => match (
            u16::try_from(day.year()),
            u8::try_from(day.month()),
            u8::try_from(day.day()),
        ) {
            (Ok(year), Ok(month), Ok(day)) => Cell::of_day(year, month, day),
            _ => Cell::of_number(days),
        },
        None => Cell::of_number(days),
    }
}

fn day_after(first: Date, days: f64) -> Option<Date> {
    /// The year 9999.
    const DAYS_MAX: f64 = 2_958_465.0;
    if !(1.0..=DAYS_MAX).contains(&days) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most DAYS_MAX")]
    let span = jiff::Span::new().days(days.floor() as i64);
    first.checked_add(span).ok()
}

/// Whether a format that Excel has built in shows a day; so are those of Japanese eras.
pub(crate) fn is_built_in_day_format(number: u16) -> bool {
    matches!(number, 14..=17 | 22 | 27..=31 | 36 | 50..=58)
}

/// Whether a format shows a day: it has a year or a day outside quotes and brackets.
pub(crate) fn is_day_format(code: &str) -> bool {
    let mut characters = code.chars();
    let mut is_day = false;
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                characters.by_ref().find(|it| *it == '"');
            }
            '[' => {
                characters.by_ref().find(|it| *it == ']');
            }
            '\\' | '_' | '*' => {
                characters.next();
            }
            'y' | 'Y' | 'd' | 'D' | 'e' | 'g' if !is_general(code) => is_day = true,
            // Other conditions follow, for other signs.
            ';' => return is_day,
            _ => {}
        }
    }
    is_day
}

/// `General` and `0.00E+00` have letters of days.
fn is_general(code: &str) -> bool {
    code.eq_ignore_ascii_case("general") || code.contains("E+") || code.contains("e+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_days_are_days() {
        for (days, epoch, text) in [
            (43831.0, Epoch::Year1900, "2020-01-01"),
            (43831.75, Epoch::Year1900, "2020-01-01"),
            (42369.0, Epoch::Year1904, "2020-01-01"),
            (-1.0, Epoch::Year1900, "-1"),
            (1e300, Epoch::Year1900, &1e300_f64.to_string()[..40]),
            (f64::NAN, Epoch::Year1900, "NaN"),
        ] {
            let cell = cell_of(days, epoch);
            assert!(cell.text.starts_with(text), "{days}: {}", cell.text);
        }
    }

    #[test]
    fn formats_of_days_are_told_from_others() {
        for (code, expected) in [
            ("yyyy-mm-dd", true),
            ("[$-411]ggge\"年\"m\"月\"d\"日\"", true),
            ("General", false),
            ("0.00E+00", false),
            ("#,##0\"days\"", false),
            ("[Red]0.00", false),
            ("0;yyyy", false),
            ("h:mm", false),
            ("\"", false),
        ] {
            assert_eq!(is_day_format(code), expected, "{code}");
        }
    }
}
