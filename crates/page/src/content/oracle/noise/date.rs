//! Dates and times, as pages write them.
//!
//! ISO 8601 and its kin (`2026-11-15T12:34:56Z`, `2026/11/15`), RFC 2822 and `asctime`, English with the day or the month first,
//! Japanese and Chinese (`2026年11月15日(日) 12時34分`, 令和8年11月15日), and how long ago (`3 minutes ago`, 3分前).
//! A year alone is none: texts speak of years.

use super::super::token::TokenKind;
use super::cursor::Cursor;

/// Names of time zones.
const ZONES: [&str; 22] = [
    "z", "utc", "gmt", "jst", "est", "edt", "cst", "cdt", "mst", "mdt", "pst", "pdt", "et", "pt",
    "bst", "cet", "cest", "eet", "eest", "ist", "kst", "msk",
];
/// Names of months.
const MONTHS: [&str; 24] = [
    "jan",
    "january",
    "feb",
    "february",
    "mar",
    "march",
    "apr",
    "april",
    "may",
    "jun",
    "june",
    "jul",
    "july",
    "aug",
    "august",
    "sep",
    "sept",
    "september",
    "oct",
    "october",
    "nov",
    "november",
    "dec",
    "december",
];
/// What makes a number the number of a day.
const ORDINALS: [&str; 4] = ["st", "nd", "rd", "th"];
/// Names of days.
const WEEKDAYS: [&str; 17] = [
    "mon",
    "monday",
    "tue",
    "tues",
    "tuesday",
    "wed",
    "wednesday",
    "thu",
    "thur",
    "thurs",
    "thursday",
    "fri",
    "friday",
    "sat",
    "saturday",
    "sun",
    "sunday",
];
/// Days that a time may follow.
const NEAR_DAYS: [&str; 3] = ["today", "yesterday", "tomorrow"];
/// What may stand before how long ago it was.
const ABOUT: [&str; 3] = ["about", "over", "almost"];
/// One of a unit.
const ONE: [&str; 3] = ["a", "an", "one"];
/// Halves of a day.
const HALVES: [&str; 2] = ["am", "pm"];
/// Units of time.
const UNITS: [&str; 30] = [
    "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h", "hr",
    "hrs", "hour", "hours", "d", "day", "days", "w", "week", "weeks", "mo", "month", "months",
    "moment", "y", "yr", "yrs", "year", "years",
];

/// Words that a date may begin with.
pub(super) const STARTS: [&[&str]; 6] = [
    &MONTHS,
    &WEEKDAYS,
    &NEAR_DAYS,
    &ABOUT,
    &ONE,
    &["just", "moments"],
];
/// Words that may follow a date's first number.
pub(super) const FOLLOWERS: [&[&str]; 5] = [&MONTHS, &ORDINALS, &HALVES, &UNITS, &["a", "p", "of"]];

/// Takes a date or time, if one is next.
pub(super) fn skip(cursor: &mut Cursor<'_>) -> bool {
    match cursor.kind() {
        Some(TokenKind::Number) => match cursor.kind_after() {
            Some(TokenKind::Mark | TokenKind::Sign) => {
                cursor.accept(numeric_date) || cursor.accept(clock) || cursor.accept(day_and_month)
            }
            Some(TokenKind::Word) => {
                cursor.accept(clock) || cursor.accept(day_and_month) || cursor.accept(ago)
            }
            Some(TokenKind::Character) => {
                cursor.accept(japanese_date)
                    || cursor.accept(japanese_clock)
                    || cursor.accept(japanese_ago)
            }
            Some(TokenKind::Number | TokenKind::Secret | TokenKind::Noise) | None => false,
        },
        Some(TokenKind::Word) => {
            cursor.accept(date_after_weekday)
                || cursor.accept(month_and_day)
                || cursor.accept(clock_after_day)
                || cursor.accept(ago_in_words)
        }
        Some(TokenKind::Character) => {
            matches!(cursor.character(), Some('令' | '平' | '昭' | '午'))
                && (cursor.accept(japanese_era) || cursor.accept(japanese_half_day))
        }
        Some(TokenKind::Sign | TokenKind::Mark | TokenKind::Secret | TokenKind::Noise) | None => {
            false
        }
    }
}

/// 2026-11-15, 15.11.2026, 11/15/26, and a time that `T` joins to it.
fn numeric_date(cursor: &mut Cursor<'_>) -> Option<()> {
    let first = cursor.number()?;
    let mark = cursor.tight_mark(&['-', '/', '.'])?;
    let second = cursor.tight_number()?;
    cursor.tight_mark(&[mark])?;
    let third = cursor.tight_number()?;
    let year_first = first.is_year() && second.is_in(1..=12) && third.is_in(1..=31);
    let is_short_year = mark == '/' && third.digits == 2;
    let year_last =
        first.is_in(1..=31) && second.is_in(1..=31) && (third.is_year() || is_short_year);
    if !year_first && !year_last {
        return None;
    }
    cursor.accept(|cursor| {
        (cursor.is_tight() && cursor.word(&["t"])).then_some(())?;
        clock(cursor)
    });
    Some(())
}

/// 12:34, 12:34:56.789 UTC, 3 p.m.
fn clock(cursor: &mut Cursor<'_>) -> Option<()> {
    let hour = cursor.number()?;
    if !hour.is_in(0..=24) {
        return None;
    }
    let has_minutes = cursor.accept(minutes);
    let has_half = cursor.accept(half_of_day);
    if !has_minutes && !has_half {
        return None;
    }
    // The offset may be followed by its name.
    let _ = cursor.accept(zone) && cursor.accept(zone);
    Some(())
}

fn minutes(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.tight_mark(&[':'])?;
    let minute = cursor.tight_number()?;
    if minute.digits != 2 || !minute.is_in(0..=59) {
        return None;
    }
    cursor.accept(|cursor| {
        cursor.tight_mark(&[':'])?;
        let second = cursor.tight_number()?;
        (second.digits == 2 && second.is_in(0..=60)).then_some(())?;
        cursor.accept(|cursor| {
            cursor.tight_mark(&['.', ','])?;
            cursor.tight_number().map(|_| ())
        });
        Some(())
    });
    Some(())
}

fn half_of_day(cursor: &mut Cursor<'_>) -> Option<()> {
    if cursor.word(&HALVES) {
        return Some(());
    }
    cursor.word(&["a", "p"]).then_some(())?;
    cursor.tight_mark(&['.'])?;
    cursor.tight_word(&["m"]).then_some(())?;
    cursor.tight_mark(&['.']);
    Some(())
}

fn zone(cursor: &mut Cursor<'_>) -> Option<()> {
    let is_open = cursor.mark(&['(']).is_some();
    let is_named = cursor.word(&ZONES);
    let has_offset = cursor.accept(|cursor| {
        cursor.mark(&['+', '-', '−'])?;
        let offset = cursor.tight_number()?;
        let is_short = offset.digits <= 2
            && cursor.accept(|cursor| {
                cursor.tight_mark(&[':'])?;
                cursor.tight_number().map(|_| ())
            });
        (offset.digits == 4 || is_short || is_named).then_some(())
    });
    if is_open {
        cursor.mark(&[')'])?;
    }
    (is_named || has_offset).then_some(())
}

/// Takes the name of a month: with a capital, as "may" and "march" are other words without.
fn month(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.character().filter(char::is_ascii_uppercase)?;
    let found = cursor.word(&MONTHS);
    found.then_some(())?;
    cursor.tight_mark(&['.']);
    Some(())
}

/// Takes the day of a month: 15, 15th.
fn day(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.number().filter(|number| number.is_in(1..=31))?;
    cursor.tight_word(&ORDINALS);
    Some(())
}

fn year(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.number().filter(|number| number.is_year())?;
    Some(())
}

/// 15 Nov 2026, 15th of November, 15-Nov-26.
fn day_and_month(cursor: &mut Cursor<'_>) -> Option<()> {
    day(cursor)?;
    cursor.tight_mark(&['.', ',']);
    let hyphen = cursor.tight_mark(&['-', '/']);
    cursor.word(&["of"]);
    month(cursor)?;
    cursor.accept(|cursor| {
        let Some(mark) = hyphen else {
            cursor.mark(&[',']);
            return year(cursor);
        };
        cursor.tight_mark(&[mark])?;
        let year = cursor.tight_number()?;
        matches!(year.digits, 2 | 4).then_some(())
    });
    Some(())
}

/// November 15, 2026; Nov 15; November 2026; Nov 15 12:34:56 2026.
fn month_and_day(cursor: &mut Cursor<'_>) -> Option<()> {
    month(cursor)?;
    if cursor.accept(|cursor| {
        cursor.mark(&[',']);
        year(cursor)
    }) {
        return Some(());
    }
    day(cursor)?;
    let has_year = cursor.accept(|cursor| {
        cursor.mark(&[',']);
        year(cursor)
    });
    if !has_year {
        cursor.accept(|cursor| {
            clock(cursor)?;
            year(cursor)
        });
    }
    Some(())
}

/// Sun, 15 Nov 2026; Sunday November 15; Sunday at 12:34.
fn date_after_weekday(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.character().filter(char::is_ascii_uppercase)?;
    let found = cursor.word(&WEEKDAYS);
    found.then_some(())?;
    cursor.tight_mark(&['.']);
    cursor.mark(&[',']);
    cursor.word(&["at", "the"]);
    let is_dated = cursor.accept(day_and_month)
        || cursor.accept(month_and_day)
        || cursor.accept(numeric_date)
        || cursor.accept(clock);
    is_dated.then_some(())
}

/// Today at 12:34, yesterday, 3 pm.
fn clock_after_day(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.word(&NEAR_DAYS).then_some(())?;
    cursor.mark(&[',']);
    cursor.word(&["at"]);
    clock(cursor)
}

/// 3 minutes ago; 1 day, 3 hours ago; 2h ago.
fn ago(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.number()?;
    cursor.word(&UNITS).then_some(())?;
    cursor.accept(|cursor| {
        cursor.mark(&[',']);
        cursor.word(&["and"]);
        cursor.number()?;
        cursor.word(&UNITS).then_some(())
    });
    cursor.word(&["ago"]).then_some(())
}

/// An hour ago, about 3 hours ago, a few seconds ago, moments ago, just now.
fn ago_in_words(cursor: &mut Cursor<'_>) -> Option<()> {
    if cursor.accept(|cursor| {
        cursor.word(&["just"]).then_some(())?;
        cursor.word(&["now"]).then_some(())
    }) {
        return Some(());
    }
    let is_about = cursor.word(&ABOUT);
    if is_about && cursor.accept(ago) {
        return Some(());
    }
    if !cursor.word(&["moments"]) {
        cursor.word(&ONE).then_some(())?;
        cursor.word(&["few", "couple"]);
        cursor.word(&["of"]);
        cursor.word(&UNITS).then_some(())?;
    }
    cursor.word(&["ago"]).then_some(())
}

/// 2026年11月15日(日) 12時34分, 11月15日, 2026年11月.
fn japanese_date(cursor: &mut Cursor<'_>) -> Option<()> {
    let has_year = cursor.accept(|cursor| {
        cursor.number().filter(|number| number.is_year())?;
        cursor.literal("年").then_some(())
    });
    let has_day = japanese_month(cursor)?;
    (has_year || has_day).then_some(())
}

/// 令和8年11月15日.
fn japanese_era(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.literal_of(&["令和", "平成", "昭和"]).then_some(())?;
    if !cursor.literal("元") {
        cursor.number()?;
    }
    cursor.literal("年").then_some(())?;
    japanese_month(cursor).map(|_| ())
}

/// Takes a month, and the day and the time if they follow; tells whether a day did.
fn japanese_month(cursor: &mut Cursor<'_>) -> Option<bool> {
    cursor.number().filter(|number| number.is_in(1..=12))?;
    cursor.literal("月").then_some(())?;
    let has_day = cursor.accept(|cursor| {
        cursor.number().filter(|number| number.is_in(1..=31))?;
        cursor.literal("日").then_some(())
    });
    if has_day {
        cursor.accept(japanese_weekday);
        if !cursor.accept(clock) && !cursor.accept(japanese_half_day) {
            cursor.accept(|cursor| japanese_hours(cursor).map(|_| ()));
        }
    }
    Some(has_day)
}

/// (日), 日曜日, (日曜).
fn japanese_weekday(cursor: &mut Cursor<'_>) -> Option<()> {
    const DAYS: [char; 7] = ['日', '月', '火', '水', '木', '金', '土'];
    let is_open = cursor.mark(&['(']).is_some();
    cursor.character().filter(|day| DAYS.contains(day))?;
    cursor.literal_of(&["日", "月", "火", "水", "木", "金", "土"]);
    let is_word = cursor.literal("曜日") || cursor.literal("曜");
    let is_closed = is_open && cursor.mark(&[')']).is_some();
    (is_word || is_closed).then_some(())
}

/// 12時34分: the hour alone may be any hour.
fn japanese_clock(cursor: &mut Cursor<'_>) -> Option<()> {
    japanese_hours(cursor)?.then_some(())
}

/// 午後3時, 午前 9:30.
fn japanese_half_day(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.literal_of(&["午前", "午後"]).then_some(())?;
    if cursor.accept(clock) {
        return Some(());
    }
    japanese_hours(cursor).map(|_| ())
}

/// Takes hours, and minutes and seconds if they follow; tells whether minutes did.
fn japanese_hours(cursor: &mut Cursor<'_>) -> Option<bool> {
    cursor.number().filter(|number| number.is_in(0..=24))?;
    cursor.literal("時").then_some(())?;
    let part = |cursor: &mut Cursor<'_>, unit: &str| {
        cursor.number().filter(|number| number.is_in(0..=60))?;
        cursor.literal(unit).then_some(())
    };
    let has_minutes = cursor.accept(|cursor| part(cursor, "分"));
    if has_minutes {
        cursor.accept(|cursor| part(cursor, "秒"));
    }
    Some(has_minutes)
}

/// 3分前, 2時間前, 3分钟前.
fn japanese_ago(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.number()?;
    cursor
        .literal_of(&[
            "秒前",
            "分前",
            "時間前",
            "日前",
            "週間前",
            "ヶ月前",
            "か月前",
            "カ月前",
            "年前",
            "秒钟前",
            "分钟前",
            "小时前",
            "天前",
            "周前",
            "个月前",
        ])
        .then_some(())
}
