//! One value of a table, and what it looks like.
//!
//! Every reader makes cells through here, so a number is the same number in CSV, in a spreadsheet and in a page. A formula is kept
//! as the text that it is; nothing is ever evaluated.

use super::period::Period;

/// Longer texts are cut: what a value is shows in its beginning.
const TEXT_BYTES: usize = 400;
/// Longer texts are no numbers.
const NUMBER_BYTES: usize = 40;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) kind: Kind,
}

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Empty,
    Number(Number),
    /// A year, month or day.
    Time(Period),
    /// What stands for a value that is missing, withheld or nil: `-`, `…`, `x`, `n/a`.
    Mark,
    /// A time of day.
    Clock,
    /// A web or mail address, a path, a long hexadecimal or network number: a name for machines.
    Address,
    Text,
}

/// A number, and how it was written.
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts of the writing, each independent of the others"
)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) is_integer: bool,
    /// It has separators between thousands.
    pub(crate) is_grouped: bool,
    pub(crate) is_percent: bool,
    pub(crate) is_money: bool,
    /// It begins with a zero that counts for nothing: a code rather than a quantity.
    pub(crate) is_padded: bool,
}

impl Cell {
    pub(crate) const EMPTY: Self = Self {
        text: String::new(),
        kind: Kind::Empty,
    };

    /// A value as it is written.
    pub(crate) fn of_text(text: &str) -> Self {
        let text = cut(text.trim_matches(is_padding), TEXT_BYTES);
        Self {
            kind: kind_of(text),
            text: text.to_owned(),
        }
    }

    /// A number as a spreadsheet keeps it.
    pub(crate) fn of_number(value: f64) -> Self {
        let mut cell = Self::of_text(&value.to_string());
        // Infinite ones, and those that no one writes in forty digits.
        if cell.kind == Kind::Text {
            cell.kind = Kind::Number(Number {
                value,
                is_integer: value.fract() == 0.0,
                ..Number::PLAIN
            });
        }
        cell
    }

    /// A day as a spreadsheet keeps it.
    pub(crate) fn of_day(year: u16, month: u8, day: u8) -> Self {
        Self::of_text(&format!("{year:04}-{month:02}-{day:02}"))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kind == Kind::Empty
    }

    /// Whether it is a word, as headers are.
    pub(crate) fn is_text(&self) -> bool {
        self.kind == Kind::Text
    }

    pub(crate) fn number(&self) -> Option<Number> {
        match self.kind {
            Kind::Number(number) => Some(number),
            Kind::Time(_) => number_of(&self.text),
            Kind::Empty | Kind::Mark | Kind::Clock | Kind::Address | Kind::Text => None,
        }
    }

    pub(crate) fn period(&self) -> Option<Period> {
        match self.kind {
            Kind::Time(period) => Some(period),
            _ => None,
        }
    }
}

impl Number {
    const PLAIN: Self = Self {
        value: 0.0,
        is_integer: true,
        is_grouped: false,
        is_percent: false,
        is_money: false,
        is_padded: false,
    };
}

/// Cuts a text to at most as many bytes, between two characters.
pub(crate) fn cut(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let end = (0..=bytes_max)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or_default();
    &text[..end]
}

/// White space of any width, and what is left of a byte order mark.
fn is_padding(character: char) -> bool {
    character.is_whitespace() || character.is_control() || character == '\u{FEFF}'
}

fn kind_of(text: &str) -> Kind {
    if text.is_empty() {
        return Kind::Empty;
    }
    if is_mark(text) {
        return Kind::Mark;
    }
    // A year is a number too, and `2020` is more often a year.
    if let Some(period) = short(text).and_then(Period::of) {
        return Kind::Time(period);
    }
    if let Some(number) = number_of(text) {
        return Kind::Number(number);
    }
    if is_clock(text) {
        Kind::Clock
    } else if is_address(text) {
        Kind::Address
    } else {
        Kind::Text
    }
}

fn short(text: &str) -> Option<&str> {
    (text.len() <= NUMBER_BYTES).then_some(text)
}

fn is_mark(text: &str) -> bool {
    const MARKS: [&str; 24] = [
        "-",
        "--",
        "---",
        "–",
        "—",
        "－",
        "―",
        "‐",
        "…",
        "...",
        "・・・",
        "x",
        "X",
        "χ",
        "*",
        "**",
        "***",
        ":",
        "..",
        "n/a",
        "N/A",
        "NA",
        "na",
        "NaN",
    ];
    MARKS.contains(&text)
}

/// `9:05`, `09:05:30`.
fn is_clock(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').take(4).collect();
    let is_part = |part: &&str| {
        (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    (2..=3).contains(&parts.len()) && parts.iter().all(is_part)
}

fn is_address(text: &str) -> bool {
    const HEXADECIMAL_MIN: usize = 16;
    let has_space = text.contains(char::is_whitespace);
    let is_hexadecimal = HEXADECIMAL_MIN <= text.len()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_mail = text
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    let is_path = text.starts_with('/') || text.starts_with("./") || text.contains(":\\");
    let is_network = text.parse::<std::net::IpAddr>().is_ok();
    is_hexadecimal
        || is_network
        || text.contains("://")
        || (!has_space && (is_mail || is_path || text.starts_with("www.")))
}

/// Reads a number as people write it: `1,234.5`, `12,5`, `△3`, `(4)`, `¥5`, `６７％`, `1e-3`.
pub(crate) fn number_of(text: &str) -> Option<Number> {
    let folded: String = short(text)?.chars().map(narrow).collect();
    let mut rest = folded.trim();
    let mut number = Number::PLAIN;
    let mut is_negative = false;
    if let Some(inner) = rest.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
        (rest, is_negative) = (inner.trim(), true);
    }
    if let Some(shown) = rest.strip_prefix('-') {
        (rest, is_negative) = (shown.trim_start(), true);
    } else if let Some(shown) = rest.strip_prefix('+') {
        rest = shown;
    }
    if let Some(money) = rest.strip_prefix(['$', '€', '£', '¥']) {
        (rest, number.is_money) = (money.trim_start(), true);
    }
    if let Some(percent) = rest.strip_suffix('%') {
        (rest, number.is_percent) = (percent.trim_end(), true);
    }
    rest = rest.trim_end_matches('*').trim_end();
    let plain = ungrouped(rest)?;
    number.is_grouped = plain.is_grouped;
    number.value = plain.digits.parse::<f64>().ok()?;
    number.is_integer = plain.digits.bytes().all(|byte| byte.is_ascii_digit());
    number.is_padded = number.is_integer && plain.digits.len() > 1 && plain.digits.starts_with('0');
    if is_negative {
        number.value = -number.value;
    }
    number.value.is_finite().then_some(number)
}

/// Wide forms become narrow ones; the triangles of Japanese accounts become minus signs.
fn narrow(character: char) -> char {
    match character {
        '０'..='９' | '（' | '）' | '．' | '，' | '％' | '＋' | '＄' => {
            char::from_u32(u32::from(character) - 0xFEE0).unwrap_or(character)
        }
        '▲' | '△' | '−' | '－' => '-',
        '￥' => '¥',
        '\u{A0}' | '\u{202F}' | '\u{2009}' => ' ',
        other => other,
    }
}

struct Plain {
    digits: String,
    is_grouped: bool,
}

/// Digits with a point and an exponent, without the separators between thousands.
fn ungrouped(text: &str) -> Option<Plain> {
    let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b',' | b'.' | b' ' | b'\'');
    let mantissa_end = text
        .bytes()
        .position(|byte| !is_part(byte))
        .unwrap_or(text.len());
    let (mantissa, exponent) = text.split_at(mantissa_end);
    let is_exponent = exponent
        .strip_prefix(['e', 'E'])
        .map(|it| it.strip_prefix(['-', '+']).unwrap_or(it))
        .is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()));
    if !mantissa.contains(|it: char| it.is_ascii_digit()) || !(exponent.is_empty() || is_exponent) {
        return None;
    }
    let separator = [',', ' ', '\'']
        .into_iter()
        .find(|separator| is_grouping(mantissa, *separator));
    let mut digits: String = match separator {
        Some(separator) => mantissa.chars().filter(|it| *it != separator).collect(),
        None => mantissa.to_owned(),
    };
    // A decimal comma, where there is no point.
    if separator.is_none() && digits.matches(',').count() == 1 && !digits.contains('.') {
        digits = digits.replace(',', ".");
    }
    let is_plain = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    digits.push_str(exponent);
    (is_plain && !digits.starts_with("..")).then_some(Plain {
        digits,
        is_grouped: separator.is_some(),
    })
}

/// Whether the separator stands before each three digits of the whole part, and nowhere else.
fn is_grouping(mantissa: &str, separator: char) -> bool {
    let whole = mantissa.split('.').next().unwrap_or_default();
    let mut groups = whole.split(separator);
    let first = groups.next().unwrap_or_default();
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let mut count = 0;
    let are_three = groups.all(|group| {
        count += 1;
        group.len() == 3 && is_digits(group)
    });
    0 < count && are_three && (1..=3).contains(&first.len()) && is_digits(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected) in [
            ("0", Some(0.0)),
            ("1234", Some(1234.0)),
            ("1,234,567.5", Some(1_234_567.5)),
            ("1 234", Some(1234.0)),
            ("12,5", Some(12.5)),
            ("12,345", Some(12345.0)),
            ("-3", Some(-3.0)),
            ("▲3.5", Some(-3.5)),
            ("△ 3", Some(-3.0)),
            ("(42)", Some(-42.0)),
            ("¥1,000", Some(1000.0)),
            ("６７．５％", Some(67.5)),
            ("1e-3", Some(0.001)),
            (".5", Some(0.5)),
            ("5*", Some(5.0)),
            ("", None),
            (".", None),
            (",", None),
            ("1,2,3", None),
            ("1.2.3", None),
            ("12a", None),
            ("e5", None),
            ("1e", None),
            ("192.168.0.1", None),
            ("03-1234-5678", None),
            ("1e999", None),
        ] {
            assert_eq!(number_of(text).map(|it| it.value), expected, "{text}");
        }
    }

    #[test]
    fn values_look_like_what_they_are() {
        let kind = |text: &str| Cell::of_text(text).kind;
        assert!(matches!(kind("2020"), Kind::Time(_)));
        assert!(matches!(kind("2,020"), Kind::Number(number) if number.is_grouped));
        assert!(matches!(kind("012"), Kind::Number(number) if number.is_padded));
        assert_eq!(kind(" \u{FEFF}\u{3000}"), Kind::Empty);
        assert_eq!(kind("…"), Kind::Mark);
        assert_eq!(kind("09:30"), Kind::Clock);
        assert_eq!(kind("someone@example.org"), Kind::Address);
        assert_eq!(kind("https://example.org/a b"), Kind::Address);
        assert_eq!(kind("d41d8cd98f00b204e9800998ecf8427e"), Kind::Address);
        assert_eq!(kind("=HYPERLINK(\"http://evil.example\")"), Kind::Address);
        assert_eq!(kind("=1+1"), Kind::Text);
        assert_eq!(kind("Tokyo"), Kind::Text);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let cell = Cell::of_text(&"統計".repeat(1000));
        assert!(cell.text.len() <= TEXT_BYTES && cell.text.starts_with("統計統計"));
    }

    proptest! {
        #[test]
        fn any_text_is_a_cell(text: String) {
            let cell = Cell::of_text(&text);
            prop_assert!(cell.text.len() <= TEXT_BYTES);
            if let Some(number) = cell.number() {
                prop_assert!(number.value.is_finite());
            }
        }

        #[test]
        fn numbers_survive_printing(value in -1e12_f64..1e12) {
            let read = Cell::of_number(value).number().map(|it| it.value);
            prop_assert_eq!(read, Some(value));
        }

        #[test]
        fn groups_of_thousands_are_read(value in 1000_u32..) {
            let digits = value.to_string();
            let mut grouped = String::new();
            for (index, digit) in digits.char_indices() {
                if 0 < index && (digits.len() - index).is_multiple_of(3) {
                    grouped.push(',');
                }
                grouped.push(digit);
            }
            let number = number_of(&grouped).unwrap();
            prop_assert!(number.is_grouped);
            prop_assert!((number.value - f64::from(value)).abs() < 0.5);
        }
    }
}
