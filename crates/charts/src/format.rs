//! Turns numbers into text: short along an axis, fuller where a reader asks for one value.
//!
//! Along an axis all numbers are written alike ([`Format::tick`]): as many decimals as the distance between two ticks
//! needs, and thousands as `k` as soon as the greatest has five digits. A single value ([`Format::value`]) has four significant digits, or all
//! digits of a whole number below 10^15.

/// From here on a number along an axis is written with `k`, `M`, `G` or `T`.
const SHORT_FROM: f64 = 10_000.0;
/// Beyond these magnitudes a number is written as a power of ten.
const POWER_FROM: f64 = 1e15;
const POWER_BELOW: f64 = 1e-4;

const SI: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
/// Decimal, because the ticks of an axis are.
const BYTES: [(f64, &str); 6] = [
    (1e15, "PB"),
    (1e12, "TB"),
    (1e9, "GB"),
    (1e6, "MB"),
    (1e3, "kB"),
    (1.0, "B"),
];
const TIMES: [(f64, &str); 7] = [
    (86_400.0, "d"),
    (3600.0, "h"),
    (60.0, "min"),
    (1.0, "s"),
    (1e-3, "ms"),
    (1e-6, "µs"),
    (1e-9, "ns"),
];

/// What the numbers along an axis are, and so how they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A plain number or a count: `250`, `2,500`, `25k`, `2.5M`.
    #[default]
    Number,
    /// A part of a whole, from 0 to 1, written in percent: 0.25 is `25 %`.
    Share,
    /// A number of percent: 25 is `25 %`.
    Percent,
    /// A number of bytes, in decimal units: `25 kB`, `2.5 MB`.
    Bytes,
    /// A number of seconds, in the unit that fits: `20 ms`, `30 s`, `2 h`, `10 d`.
    Seconds,
}

/// What else stands along the axis of a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbours {
    /// How far the next tick is.
    pub(crate) step: f64,
    /// The tick nearest to zero, but for zero itself: its magnitude.
    pub(crate) least: f64,
    /// The tick farthest from zero: its magnitude.
    pub(crate) greatest: f64,
}

impl Format {
    /// The number at a tick.
    pub(crate) fn tick(self, value: f64, near: Neighbours) -> String {
        let step = near.step;
        // A tick that should be zero, or a power of ten, may miss it by a rounding error.
        let value = rounded(value);
        let value = if value.abs() < step * 1e-6 {
            0.0
        } else {
            value
        };
        match self {
            Format::Number => number_tick(value, near),
            Format::Share => percent(value * 100.0, step * 100.0),
            Format::Percent => percent(value, step),
            Format::Bytes => with_unit(value, step, unit_of(value, &BYTES)),
            Format::Seconds => with_unit(value, step, time_unit(value)),
        }
    }

    /// One number by itself, for a reader who asks for it.
    pub(crate) fn value(self, value: f64) -> String {
        if !value.is_finite() {
            return "–".to_owned();
        }
        match self {
            Format::Number => full(value),
            Format::Share => format!("{} %", full(round_to(value * 100.0, 2))),
            Format::Percent => format!("{} %", full(round_to(value, 2))),
            Format::Bytes if value == 0.0 => "0 B".to_owned(),
            Format::Seconds if value == 0.0 => "0 s".to_owned(),
            Format::Bytes => value_with_unit(value, unit_of(value, &BYTES)),
            Format::Seconds => value_with_unit(value, unit_of(value, &TIMES)),
        }
    }
}

fn number_tick(value: f64, near: Neighbours) -> String {
    let magnitude = value.abs();
    let is_power =
        near.least.min(magnitude) < POWER_BELOW || POWER_FROM <= near.greatest.max(magnitude);
    if is_power && value != 0.0 {
        return power(value);
    }
    let unit = SI.iter().find(|(size, _)| *size <= magnitude);
    match unit {
        Some((size, suffix)) if SHORT_FROM <= near.greatest => {
            format!("{}{suffix}", decimal(value / size, near.step / size))
        }
        Some(_) | None => decimal(value, near.step),
    }
}

fn percent(value: f64, step: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(POWER_BELOW..POWER_FROM).contains(&magnitude) {
        return format!("{} %", power(value));
    }
    format!("{} %", decimal(value, step))
}

fn with_unit(value: f64, step: f64, (size, unit): (f64, &str)) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scaled = value / size;
    if !(1e-3..POWER_FROM).contains(&scaled.abs()) {
        return format!("{} {unit}", power(scaled));
    }
    format!("{} {unit}", decimal(scaled, step / size))
}

fn value_with_unit(value: f64, (size, unit): (f64, &str)) -> String {
    format!("{} {unit}", full(value / size))
}

/// The greatest unit that the value reaches, or the least of all.
fn unit_of<'a>(value: f64, units: &[(f64, &'a str)]) -> (f64, &'a str) {
    let reached = units.iter().find(|(size, _)| *size <= value.abs());
    reached.or(units.last()).copied().unwrap_or((1.0, ""))
}

/// The unit for a tick: the greatest, from seconds up, of which the value is a whole number, so that 90 s is not "1.5 min"
/// between "1 min" and "2 min".
fn time_unit(value: f64) -> (f64, &'static str) {
    let is_whole = |size: f64| {
        let count = value / size;
        (count - count.round()).abs() < 1e-6
    };
    let magnitude = value.abs();
    if magnitude < 1.0 {
        return unit_of(value, &TIMES);
    }
    let mut reached = TIMES.iter().filter(|(size, _)| *size <= magnitude);
    reached
        .find(|(size, _)| *size <= 1.0 || is_whole(*size))
        .copied()
        .unwrap_or((1.0, "s"))
}

/// A number with the decimals that tell it from one that is `step` away, and thousands set apart.
fn decimal(value: f64, step: f64) -> String {
    let decimals = (0..=9).find(|&decimals| {
        let scaled = step * 10_f64.powi(decimals);
        // Half a per mille of the step: a step of 2.5 needs a decimal, one of 20.000001 does not.
        1.0 <= scaled * 1.000_5 && (scaled - scaled.round()).abs() < 5e-4 * scaled
    });
    let decimals = usize::try_from(decimals.unwrap_or(9)).unwrap_or(9);
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    };
    grouped(&text)
}

/// A value with four significant digits, or all digits of a whole number.
fn full(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    if !(POWER_BELOW..POWER_FROM).contains(&magnitude) {
        return power(value);
    }
    if value.fract() == 0.0 {
        return grouped(&format!("{value:.0}"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -4 and 15")]
    let exponent = magnitude.log10().floor() as i32;
    let decimals = usize::try_from(3 - exponent).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    grouped(text.trim_end_matches('0').trim_end_matches('.'))
}

/// A value as a power of ten: `10¹⁸`, `2.5×10⁻⁷`.
fn power(value: f64) -> String {
    // In a smaller unit the greatest numbers would be infinite.
    let value = value.clamp(f64::MIN, f64::MAX);
    let scientific = format!("{value:.2e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    let raised: String = exponent.chars().map(superscript).collect();
    match mantissa.trim_start_matches('-') {
        "1" if exponent == "0" => format!("{}1", sign(value)),
        "1" if exponent == "1" => format!("{}10", sign(value)),
        "1" => format!("{}10{raised}", sign(value)),
        digits => format!("{}{digits}×10{raised}", sign(value)),
    }
}

fn superscript(character: char) -> char {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = character
        .to_digit(10)
        .and_then(|digit| usize::try_from(digit).ok());
    digit.map_or('⁻', |digit| DIGITS[digit])
}

fn sign(value: f64) -> &'static str {
    if value < 0.0 { "−" } else { "" }
}

/// A decimal number with commas between thousands and a proper minus sign.
fn grouped(text: &str) -> String {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (digits.contains(|c: char| ('1'..='9').contains(&c)), digits),
        None => (false, text),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let mut grouped = String::from(if is_negative { "−" } else { "" });
    for (index, digit) in whole.chars().enumerate() {
        if 0 < index && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if let Some(fraction) = fraction {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    grouped
}

/// The value to twelve significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

fn round_to(value: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    let rounded = (value * scale).round() / scale;
    // Too small to show at that precision, too great to be scaled: four significant digits will do.
    if rounded == 0.0 || !rounded.is_finite() {
        value
    } else {
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_of_one_axis_are_written_alike() {
        let cases = [
            (Format::Number, 0.0, 50.0, 100.0, "0"),
            (Format::Number, 2500.0, 500.0, 5000.0, "2,500"),
            (Format::Number, 2000.0, 2000.0, 10_000.0, "2k"),
            (Format::Number, 500.0, 500.0, 10_000.0, "500"),
            (Format::Number, 1_500_000.0, 500_000.0, 2e6, "1.5M"),
            (Format::Number, 500_000.0, 500_000.0, 2e6, "500k"),
            (Format::Number, 0.3, 0.1, 0.5, "0.3"),
            (Format::Number, 0.25, 0.25, 1.0, "0.25"),
            (Format::Number, -20.0, 10.0, 20.0, "−20"),
            (Format::Number, 1e-17, 0.1, 1.0, "0"),
            (Format::Number, 1e-6, 1e-6, 1e-3, "10⁻⁶"),
            (Format::Number, 2e18, 1e18, 4e18, "2×10¹⁸"),
            (Format::Number, -1e300, 1e300, 1e300, "−10³⁰⁰"),
            (Format::Share, 0.2, 0.2, 1.0, "20 %"),
            (Format::Share, 0.125, 0.025, 0.2, "12.5 %"),
            (Format::Share, 1e-4, 9e-4, 1.0, "0.01 %"),
            (Format::Percent, 20.0, 20.0, 100.0, "20 %"),
            (Format::Bytes, 0.0, 500.0, 1000.0, "0"),
            (Format::Bytes, 1500.0, 500.0, 2000.0, "1.5 kB"),
            (Format::Bytes, 2e9, 1e9, 4e9, "2 GB"),
            (Format::Seconds, 30.0, 30.0, 120.0, "30 s"),
            (Format::Seconds, 90.0, 30.0, 120.0, "90 s"),
            (Format::Seconds, 120.0, 30.0, 120.0, "2 min"),
            (Format::Seconds, 0.02, 0.02, 0.1, "20 ms"),
            (Format::Seconds, 0.001_5, 0.000_5, 0.003, "1.5 ms"),
            (Format::Seconds, 2.5, 0.5, 4.0, "2.5 s"),
            (Format::Seconds, 172_800.0, 86_400.0, 6e5, "2 d"),
        ];
        for (format, value, step, greatest, expected) in cases {
            let near = Neighbours {
                step,
                least: step,
                greatest,
            };
            assert_eq!(format.tick(value, near), expected, "{format:?} {value}");
        }
    }

    #[test]
    fn a_value_by_itself_has_four_digits_or_all() {
        let cases = [
            (Format::Number, 325_557.0, "325,557"),
            (Format::Number, 1234.567, "1,235"),
            (Format::Number, 0.123_456, "0.1235"),
            (Format::Number, -0.5, "−0.5"),
            (Format::Number, 1e-7, "10⁻⁷"),
            (Format::Number, f64::NAN, "–"),
            (Format::Share, 0.514_32, "51.43 %"),
            (Format::Share, 1.0, "100 %"),
            (Format::Percent, 12.3, "12.3 %"),
            (Format::Bytes, 1_234_567.0, "1.235 MB"),
            (Format::Seconds, 0.001_5, "1.5 ms"),
            (Format::Seconds, 0.0, "0 s"),
        ];
        for (format, value, expected) in cases {
            assert_eq!(format.value(value), expected, "{format:?} {value}");
        }
    }

    proptest! {
        #[test]
        fn any_number_has_a_short_text(value in any::<f64>(), step in 1e-300..1e300, greatest in any::<f64>()) {
            for format in [Format::Number, Format::Share, Format::Percent, Format::Bytes, Format::Seconds] {
                prop_assert!(format.value(value).chars().count() < 32);
                if value.is_finite() {
                    let near = Neighbours { step, least: step, greatest };
                    prop_assert!(format.tick(value, near).chars().count() < 40);
                }
            }
        }
    }
}
