//! The time that values are of: years, months, days, fiscal years, quarters and Japanese eras, in cells and in titles.
//!
//! [`Period::of`] reads a whole cell, [`Period::each_in`] looks through running text. `2019/20` and `2019-20` are years that begin in
//! 2019, but `2019-10` is a month; of `1/2/2020`, which is January in one country and February in another, the day is taken to
//! come first unless it cannot be. Years before 1800 and after 2100 are taken for plain numbers.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// Years that are taken for years.
const YEARS: std::ops::RangeInclusive<i16> = 1800..=2100;
/// The month in which a Japanese fiscal year begins.
const FISCAL_START_MONTH: i8 = 4;
/// The longest text that is looked through.
const TEXT_CHARACTERS: usize = 4096;
/// Japanese eras, and the year before their first.
const ERAS: [(&str, char, i16); 5] = [
    ("令和", 'R', 2018),
    ("平成", 'H', 1988),
    ("昭和", 'S', 1925),
    ("大正", 'T', 1911),
    ("明治", 'M', 1867),
];
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// A span of days, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// Its first day.
    pub first: Date,
    /// Its last day.
    pub last: Date,
}

impl Period {
    /// The period that `text` names, and nothing else.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let characters: Vec<char> = folded(text.trim()).collect();
        let (period, length) = parse(&characters)?;
        (length == characters.len()).then_some(period)
    }

    /// Hands every period that running text names to `visit`.
    pub fn each_in(text: &str, mut visit: impl FnMut(Self)) {
        let characters: Vec<char> = folded(text).collect();
        let mut at = 0;
        while at < characters.len() {
            let is_inside = 0 < at && joins(characters[at - 1], characters[at]);
            match parse(&characters[at..]).filter(|_| !is_inside) {
                Some((period, length)) => {
                    visit(period);
                    at += length;
                }
                None => at += 1,
            }
        }
    }

    /// A whole year.
    #[must_use]
    pub fn year(year: i16) -> Option<Self> {
        Self::months(year, 1, 12)
    }

    /// The least period that holds both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }

    /// From the first day of one month, for as many months.
    fn months(year: i16, month: i8, count: i8) -> Option<Self> {
        if !YEARS.contains(&year) {
            return None;
        }
        let first = Date::new(year, month, 1).ok()?;
        let end = first
            .checked_add(jiff::Span::new().months(i64::from(count)))
            .ok()?;
        Some(Self {
            first,
            last: end.yesterday().ok()?,
        })
    }

    fn day(year: i16, month: i8, day: i8) -> Option<Self> {
        let date = Date::new(year, month, day).ok()?;
        YEARS.contains(&year).then_some(Self {
            first: date,
            last: date,
        })
    }
}

/// Wide digits and dashes become narrow ones.
fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .take(TEXT_CHARACTERS)
        .map(|character| match character {
            '０'..='９' => char::from(b'0' + digit_of(character)),
            '－' | '–' | '—' | '‐' => '-',
            '／' => '/',
            '．' => '.',
            '　' => ' ',
            other => other,
        })
}

fn digit_of(character: char) -> u8 {
    // The caller has seen that it is one of ten.
    u8::try_from(u32::from(character) - u32::from('０')).unwrap_or_default()
}

/// Whether a character that follows another goes on with its word or number.
fn joins(before: char, character: char) -> bool {
    let is_latin = |it: char| it.is_ascii_alphanumeric();
    (is_latin(before) && is_latin(character))
        || (matches!(before, '.' | ',') && character.is_ascii_digit())
}

/// The period at the start of `text`, and how many characters name it.
fn parse(text: &[char]) -> Option<(Period, usize)> {
    let mut cursor = Cursor { text, at: 0 };
    let period = of_month_name(&mut cursor)
        .or_else(|| cursor.back_to_start(|it| of_day_first(it)))
        .or_else(|| cursor.back_to_start(|it| of_year_first(it)))?;
    let next = cursor.text.get(cursor.at);
    let goes_on = next.is_some_and(|next| {
        let last = text[cursor.at - 1];
        joins(last, *next)
            || (last.is_ascii_digit()
                && matches!(next, ',' | '.' | '%')
                && (*next == '%'
                    || cursor
                        .text
                        .get(cursor.at + 1)
                        .is_some_and(char::is_ascii_digit)))
    });
    (!goes_on).then_some((period, cursor.at))
}

/// `January 2020`, `Jan. 2020`.
fn of_month_name(cursor: &mut Cursor<'_>) -> Option<Period> {
    let month = cursor.month_name()?;
    cursor.skip(|it| matches!(it, '.' | ' ' | '-' | ','));
    Period::months(cursor.year()?, month, 1)
}

/// `31/12/2020`, `12/31/2020`, `31.12.2020`, `31 Dec 2020`.
fn of_day_first(cursor: &mut Cursor<'_>) -> Option<Period> {
    let first = cursor.number(1, 2)?;
    let separator = cursor.take_any(&['/', '.', '-', ' '])?;
    if let Some(month) = cursor.month_name() {
        cursor.skip(|it| matches!(it, '.' | ' ' | '-'));
        return Period::day(cursor.year()?, month, first);
    }
    let second = cursor.number(1, 2)?;
    (separator != ' ' && cursor.take(separator)).then_some(())?;
    let year = cursor.year()?;
    Period::day(year, second, first).or_else(|| Period::day(year, first, second))
}

/// Everything that begins with a year.
fn of_year_first(cursor: &mut Cursor<'_>) -> Option<Period> {
    cursor.take_word("FY");
    cursor.skip(|it| it == ' ');
    let is_era = cursor.peek().is_some_and(|it| !it.is_ascii_digit());
    let year = if is_era {
        cursor.era()?
    } else {
        cursor.year()?
    };
    let after_year = cursor.at;
    if cursor.take_word("年度") {
        return Period::months(year, FISCAL_START_MONTH, 12);
    }
    let written = match (cursor.take('年'), is_era) {
        (true, _) => Written::Marked,
        (false, true) => Written::Era,
        (false, false) => Written::Bare,
    };
    // `R5` and `H30` alone are room numbers as well as years.
    if written == Written::Era && cursor.peek() != Some('.') {
        return None;
    }
    let period = of_part_of_year(cursor, year, written);
    if period.is_none() && written != Written::Marked {
        cursor.at = after_year;
    }
    period.or_else(|| Period::year(year))
}

/// How a year was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// `2020`.
    Bare,
    /// `R2`.
    Era,
    /// `2020年`.
    Marked,
}

/// What may follow a year: a quarter, a month, a day, or the second year of a season.
fn of_part_of_year(cursor: &mut Cursor<'_>, year: i16, written: Written) -> Option<Period> {
    let has_mark = written == Written::Marked;
    let start = cursor.at;
    let back = |cursor: &mut Cursor<'_>| -> Option<Period> {
        cursor.at = start;
        None
    };
    cursor.skip(|it| matches!(it, ' ' | '-'));
    if cursor.take('Q') || cursor.take('q') {
        return match cursor.number(1, 1) {
            Some(quarter @ 1..=4) => Period::months(year, quarter * 3 - 2, 3),
            _ => back(cursor),
        };
    }
    cursor.at = start;
    let separator = cursor.take_any(&['-', '/', '.']);
    if separator.is_none() && !has_mark {
        return back(cursor);
    }
    let Some(part) = cursor.number(1, 2) else {
        return back(cursor);
    };
    let is_next_year = i16::from(part) == (year + 1) % 100;
    if is_next_year && (separator == Some('/') || 12 < part) {
        let last = Period::year(year + 1)?;
        return Some(Period::year(year)?.union(last));
    }
    let Some(month) = Period::months(year, part, 1) else {
        return back(cursor);
    };
    if has_mark && !cursor.take('月') {
        return back(cursor);
    }
    let after_month = cursor.at;
    let joined = has_mark || separator.is_some_and(|it| cursor.take(it));
    let day = joined.then(|| cursor.number(1, 2)).flatten();
    match day.and_then(|day| Period::day(year, part, day)) {
        Some(day) if !has_mark || cursor.take('日') => Some(day),
        // A year and a fraction.
        _ if separator == Some('.') && written == Written::Bare => back(cursor),
        _ => {
            cursor.at = after_month;
            Some(month)
        }
    }
}

/// Reads small things, one after the other.
struct Cursor<'a> {
    text: &'a [char],
    at: usize,
}

impl Cursor<'_> {
    fn back_to_start<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.at = 0;
        read(self)
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn take_any(&mut self, wanted: &[char]) -> Option<char> {
        let found = self.peek().filter(|it| wanted.contains(it))?;
        self.at += 1;
        Some(found)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let rest = &self.text[self.at.min(self.text.len())..];
        let length = word.chars().count();
        let found = length <= rest.len() && word.chars().eq(rest[..length].iter().copied());
        self.at += if found { length } else { 0 };
        found
    }

    fn skip(&mut self, condition: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&condition) {
            self.at += 1;
        }
    }

    /// A number of as many digits, and no more.
    fn number(&mut self, digits_min: usize, digits_max: usize) -> Option<i8> {
        i8::try_from(self.digits(digits_min, digits_max)?).ok()
    }

    fn year(&mut self) -> Option<i16> {
        let year = i16::try_from(self.digits(4, 4)?).ok()?;
        YEARS.contains(&year).then_some(year)
    }

    fn digits(&mut self, digits_min: usize, digits_max: usize) -> Option<u32> {
        let rest = &self.text[self.at.min(self.text.len())..];
        let count = rest.iter().take_while(|it| it.is_ascii_digit()).count();
        if count < digits_min || digits_max < count {
            return None;
        }
        self.at += count;
        Some(rest[..count].iter().fold(0, |number, digit| {
            number * 10 + digit.to_digit(10).unwrap_or_default()
        }))
    }

    /// `令和5`, `平成元`, `H30`.
    fn era(&mut self) -> Option<i16> {
        let (_, _, before) = ERAS
            .into_iter()
            .find(|(name, letter, _)| self.take_word(name) || self.take(*letter))?;
        self.skip(|it| it == ' ');
        if self.take('元') {
            return Some(before + 1);
        }
        let year = i16::from(self.number(1, 2)?);
        (0 < year).then_some(before + year)
    }

    /// The name of a month, whole or of three letters.
    fn month_name(&mut self) -> Option<i8> {
        let rest = &self.text[self.at.min(self.text.len())..];
        let length = rest
            .iter()
            .take(10)
            .take_while(|it| it.is_ascii_alphabetic())
            .count();
        if !(3..=9).contains(&length) {
            return None;
        }
        let word: String = rest[..length]
            .iter()
            .map(char::to_ascii_lowercase)
            .collect();
        let month = (1..).zip(MONTHS).find_map(|(number, name)| {
            let is_whole = length == 3 || FULL_MONTHS.contains(&&*word);
            (word.starts_with(name) && is_whole).then_some(number)
        })?;
        self.at += length;
        Some(month)
    }
}

const FULL_MONTHS: [&str; 13] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "sept",
    "october",
    "november",
    "december",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: Option<&str>) {
        let found = Period::of(text).map(|period| format!("{}..{}", period.first, period.last));
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn a_cell_names_a_period() {
        for (text, expected) in [
            ("2020", Some("2020-01-01..2020-12-31")),
            ("２０２０年", Some("2020-01-01..2020-12-31")),
            ("令和5年", Some("2023-01-01..2023-12-31")),
            ("令和元年", Some("2019-01-01..2019-12-31")),
            ("平成30年度", Some("2018-04-01..2019-03-31")),
            ("昭和 55年", Some("1980-01-01..1980-12-31")),
            ("R5年10月1日", Some("2023-10-01..2023-10-01")),
            ("H30.4", Some("2018-04-01..2018-04-30")),
            ("H30", None),
            ("2020年1月", Some("2020-01-01..2020-01-31")),
            ("2020-02", Some("2020-02-01..2020-02-29")),
            ("2020-02-03", Some("2020-02-03..2020-02-03")),
            ("2020/2/3", Some("2020-02-03..2020-02-03")),
            ("2020.2.3", Some("2020-02-03..2020-02-03")),
            ("2019/20", Some("2019-01-01..2020-12-31")),
            ("2019-20", Some("2019-01-01..2020-12-31")),
            ("2009-10", Some("2009-10-01..2009-10-31")),
            ("2020 Q3", Some("2020-07-01..2020-09-30")),
            ("2020Q5", None),
            ("FY2020", Some("2020-01-01..2020-12-31")),
            ("Jan 2020", Some("2020-01-01..2020-01-31")),
            ("September 2020", Some("2020-09-01..2020-09-30")),
            ("31 Dec 2020", Some("2020-12-31..2020-12-31")),
            ("31/12/2020", Some("2020-12-31..2020-12-31")),
            ("12/31/2020", Some("2020-12-31..2020-12-31")),
            ("2020-13", None),
            ("1500", None),
            ("20200", None),
            ("2020.5", None),
            ("2,020", None),
            ("2020%", None),
            ("Mayor 2020", None),
            ("", None),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn running_text_names_periods() {
        for (text, expected) in [
            ("Population by prefecture, 2010-2020", vec![2010, 2020]),
            ("人口推計（令和5年10月1日現在）", vec![2023]),
            ("ISO3166 and AB2020", vec![]),
            ("12,2020 kg", vec![]),
            ("平成27年国勢調査 昭和60年度", vec![2015, 1985]),
        ] {
            let mut years = Vec::new();
            Period::each_in(text, |period| years.push(period.first.year()));
            assert_eq!(years, expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "[0-9年月日度令和平成RHQ/. -]{0,40}|\\PC{0,60}") {
            if let Some(period) = Period::of(&text) {
                prop_assert!(period.first <= period.last);
            }
            Period::each_in(&text, |period| assert!(period.first <= period.last));
        }

        #[test]
        fn iso_dates_are_read(year in 1800_i16..=2100, month in 1_i8..=12, day in 1_i8..=28) {
            let date = Date::new(year, month, day).unwrap();
            let period = Period::of(&date.to_string()).unwrap();
            prop_assert_eq!(period, Period { first: date, last: date });
        }
    }
}
