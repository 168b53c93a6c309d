//! Chooses where the numbers along an axis stand: few, round, and evenly told.
//!
//! Linear axes are cut at 1, 2 or 5 times a power of ten, and durations at the steps of a clock. Logarithmic axes are marked at
//! 1-2-5 where there is room, else at every decade, else at every n-th, with a minor grid between. The caller says how many
//! intervals there is room for, and asks for fewer when the numbers turn out too wide.

use crate::axis::{Scale, Span};
use crate::format::{Format, Neighbours};

/// The most ticks and the most minor lines of one axis; more would be a grey area.
const TICKS_MAX: usize = 60;
const MINOR_MAX: usize = 100;
/// A tick this far outside the span, in parts of a step, is a rounding error away and belongs to it.
const SLACK: f64 = 1e-6;

/// Steps of a clock from a second up to a day, and the days that people count in; all in seconds.
const CLOCK_STEPS: [f64; 22] = [
    1.0,
    2.0,
    5.0,
    10.0,
    15.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
    900.0,
    1800.0,
    3600.0,
    7200.0,
    10_800.0,
    21_600.0,
    43_200.0,
    86_400.0,
    172_800.0,
    432_000.0,
    864_000.0,
    1_728_000.0,
];
/// Numbers for a short logarithmic axis of time, from a second up: two or three for each of those below.
const CLOCK_PARTS: [f64; 21] = [
    1.0,
    2.0,
    5.0,
    10.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
    1800.0,
    3600.0,
    7200.0,
    18_000.0,
    43_200.0,
    86_400.0,
    172_800.0,
    432_000.0,
    864_000.0,
    1_728_000.0,
    4_320_000.0,
    8_640_000.0,
];
/// Numbers for a long one, from a millisecond to thirty years: each is a round number of some unit.
const CLOCK_DECADES: [f64; 14] = [
    1e-3,
    1e-2,
    1e-1,
    1.0,
    10.0,
    60.0,
    600.0,
    3600.0,
    36_000.0,
    86_400.0,
    864_000.0,
    8_640_000.0,
    86_400_000.0,
    864_000_000.0,
];

/// A number along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Where it stands, in the measure of the axis.
    pub(crate) measure: f64,
    /// What is written there.
    pub(crate) text: String,
}

/// The marks along one axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    /// Grid lines with a number.
    pub(crate) major: Vec<Tick>,
    /// Thinner grid lines without, in the measure of the axis.
    pub(crate) minor: Vec<f64>,
}

/// The marks for a span, with at most about `intervals` intervals between numbers.
pub(crate) fn ticks(span: Span, format: Format, intervals: usize) -> Ticks {
    match span.scale {
        Scale::Linear => linear(span, format, intervals),
        Scale::Log => log(span, format, intervals),
    }
}

/// The span, widened outwards to the next round numbers.
pub(crate) fn rounded(span: Span, format: Format, intervals: usize) -> Span {
    let (low, high) = match span.scale {
        Scale::Linear => {
            let step = linear_step(span, format, intervals);
            let low = (span.low / step + SLACK).floor() * step;
            let high = (span.high / step - SLACK).ceil() * step;
            (low, high)
        }
        Scale::Log => (
            one_two_five(span.low, f64::floor),
            one_two_five(span.high, f64::ceil),
        ),
    };
    // A negative zero would be printed as such.
    Span {
        low: low.min(span.low) + 0.0,
        high: high.max(span.high),
        ..span
    }
}

fn linear(span: Span, format: Format, intervals: usize) -> Ticks {
    let step = linear_step(span, format, intervals);
    let first = (span.low / step - SLACK).ceil();
    let last = (span.high / step + SLACK).floor();
    let near = Neighbours {
        step,
        least: step,
        greatest: span.low.abs().max(span.high.abs()),
    };
    let major = (0..TICKS_MAX)
        .map(|index| first + index as f64)
        .take_while(|count| *count <= last)
        .map(|count| Tick {
            measure: count * step,
            text: format.tick(count * step, near),
        })
        .collect();
    Ticks {
        major,
        minor: Vec::new(),
    }
}

/// The least round step that cuts the span into at most so many intervals.
fn linear_step(span: Span, format: Format, intervals: usize) -> f64 {
    let intervals = intervals.max(1) as f64;
    let rough = span.high / intervals - span.low / intervals;
    // The clock's steps end at twenty days; beyond, days are counted as numbers are.
    let unit = match format {
        Format::Seconds if 1.0 < rough => {
            if let Some(step) = CLOCK_STEPS.iter().find(|step| rough <= **step) {
                return *step;
            }
            86_400.0
        }
        Format::Number | Format::Share | Format::Percent | Format::Bytes | Format::Seconds => 1.0,
    };
    let rough = rough / unit;
    let decade = 10_f64.powf(rough.log10().floor());
    // A quarter is a round part of a whole, though 25 is not a round number.
    let mantissas: &[f64] = match format {
        Format::Share | Format::Percent => &[1.0, 2.0, 2.5, 5.0],
        Format::Number | Format::Bytes | Format::Seconds => &[1.0, 2.0, 5.0],
    };
    let fits = |mantissa: &&f64| rough <= **mantissa * decade * (1.0 + SLACK);
    mantissas.iter().find(fits).unwrap_or(&10.0) * decade * unit
}

fn log(span: Span, format: Format, intervals: usize) -> Ticks {
    let is_clock = format == Format::Seconds && -3.1 < span.low && span.high < 9.0;
    let (major, minor) = if is_clock {
        clock_decades(span, intervals)
    } else {
        decades(span, intervals)
    };
    let ends = major.iter().chain([&span.low, &span.high]);
    let (least, greatest) = ends.fold((f64::MAX, 0.0_f64), |(least, greatest), &measure| {
        let value = span.value(measure);
        (least.min(value * 1.01), greatest.max(value / 1.01))
    });
    let tick = |&measure: &f64| {
        let value = span.value(measure);
        let near = Neighbours {
            step: value,
            least,
            greatest,
        };
        Tick {
            measure,
            text: format.tick(value, near),
        }
    };
    let major = major.iter().map(tick).collect();
    let is_sparse = minor.len() <= MINOR_MAX;
    Ticks {
        major,
        minor: if is_sparse { minor } else { Vec::new() },
    }
}

/// Numbers at 1-2-5, at decades or at every n-th decade, whatever is the most that there is room for; and the lines between.
fn decades(span: Span, intervals: usize) -> (Vec<f64>, Vec<f64>) {
    let fine = within(span, 1, &[1, 2, 5]);
    if fine.len() <= intervals + 1 {
        return (fine, within(span, 1, &[3, 4, 6, 7, 8, 9]));
    }
    let fitting = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500]
        .into_iter()
        .map(|stride| (stride, within(span, stride, &[1])))
        .find(|(_, major)| major.len() <= intervals + 1);
    match fitting {
        Some((1, major)) => (major, within(span, 1, &[2, 3, 4, 5, 6, 7, 8, 9])),
        Some((_, major)) => (major, within(span, 1, &[1])),
        None => (Vec::new(), Vec::new()),
    }
}

/// The same as [`decades`] for time, whose units are not decimal from a minute up.
fn clock_decades(span: Span, intervals: usize) -> (Vec<f64>, Vec<f64>) {
    let inside = |values: &[f64]| -> Vec<f64> {
        let measures = values.iter().map(|value| value.log10());
        measures
            .filter(|measure| span.low - SLACK <= *measure && *measure <= span.high + SLACK)
            .collect()
    };
    let below_a_second = Span {
        high: span.high.min(-SLACK * 2.0),
        ..span
    };
    let mut parts = within(below_a_second, 1, &[1, 2, 5]);
    parts.extend(inside(&CLOCK_PARTS));
    if parts.len() <= intervals + 1 {
        return (parts, Vec::new());
    }
    let clock = inside(&CLOCK_DECADES);
    let stride =
        (1..=clock.len()).find(|stride| clock.len().div_ceil(*stride) <= intervals.max(1) + 1);
    let major = clock.iter().step_by(stride.unwrap_or(1)).copied().collect();
    (major, if stride == Some(1) { parts } else { clock })
}

/// The measures of the given multiples of every `stride`-th power of ten in the span.
fn within(span: Span, stride: i32, multiples: &[u8]) -> Vec<f64> {
    let stride = f64::from(stride);
    let first = (span.low / stride).floor();
    let last = (span.high / stride).floor();
    let mut measures = Vec::new();
    let mut power = first;
    while power <= last {
        for &multiple in multiples {
            let measure = power * stride + f64::from(multiple).log10();
            if span.low - SLACK <= measure && measure <= span.high + SLACK {
                measures.push(measure);
            }
        }
        power += 1.0;
    }
    measures
}

/// The measure of the nearest 1, 2 or 5 times a power of ten on the side that `round` goes to.
fn one_two_five(measure: f64, round: fn(f64) -> f64) -> f64 {
    let nearest = measure.round();
    if (measure - nearest).abs() < SLACK {
        return nearest;
    }
    let decade = measure.floor();
    let goes_down = round(0.5) < 0.5;
    let steps = [0.0, 2_f64.log10(), 5_f64.log10(), 1.0].map(|step| decade + step);
    if goes_down {
        steps
            .into_iter()
            .rfind(|step| *step <= measure + SLACK)
            .unwrap_or(decade)
    } else {
        steps
            .into_iter()
            .find(|step| measure - SLACK <= *step)
            .unwrap_or(decade + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(scale: Scale, ends: (f64, f64), format: Format, intervals: usize) -> String {
        let to_measure = |value: f64| match scale {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        };
        let span = Span {
            scale,
            low: to_measure(ends.0),
            high: to_measure(ends.1),
        };
        let marks = ticks(span, format, intervals);
        marks
            .major
            .iter()
            .map(|tick| tick.text.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn linear_ticks_are_round() {
        let check = |low, high, format, intervals, expected: &str| {
            assert_eq!(
                texts(Scale::Linear, (low, high), format, intervals),
                expected
            );
        };
        check(0.0, 1.0, Format::Share, 5, "0 % 20 % 40 % 60 % 80 % 100 %");
        check(0.0, 1.0, Format::Share, 4, "0 % 25 % 50 % 75 % 100 %");
        check(0.0, 1.0, Format::Share, 4, "0 % 25 % 50 % 75 % 100 %");
        check(
            0.0,
            325_557.0,
            Format::Number,
            7,
            "0 50k 100k 150k 200k 250k 300k",
        );
        check(
            0.0,
            1.0,
            Format::Number,
            10,
            "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1",
        );
        check(-1.0, 1.0, Format::Number, 4, "−1 −0.5 0 0.5 1");
        check(17.0, 23.0, Format::Number, 3, "18 20 22");
        check(0.0, 4e9, Format::Bytes, 4, "0 1 GB 2 GB 3 GB 4 GB");
        check(
            0.0,
            3600.0,
            Format::Seconds,
            4,
            "0 15 min 30 min 45 min 1 h",
        );
        check(
            0.0,
            300.0,
            Format::Seconds,
            6,
            "0 1 min 2 min 3 min 4 min 5 min",
        );
        check(
            0.0,
            0.1,
            Format::Seconds,
            5,
            "0 20 ms 40 ms 60 ms 80 ms 100 ms",
        );
        check(0.0, 3e7, Format::Seconds, 4, "0 100 d 200 d 300 d");
        check(-1e300, 1e300, Format::Number, 2, "−10³⁰⁰ 0 10³⁰⁰");
        check(
            1e-300,
            3e-300,
            Format::Number,
            2,
            "10⁻³⁰⁰ 2×10⁻³⁰⁰ 3×10⁻³⁰⁰",
        );
    }

    #[test]
    fn log_ticks_are_decades_or_their_parts() {
        let check = |low, high, format, intervals, expected: &str| {
            assert_eq!(texts(Scale::Log, (low, high), format, intervals), expected);
        };
        check(1.0, 1e6, Format::Number, 8, "1 10 100 1k 10k 100k 1M");
        check(1.0, 100.0, Format::Number, 8, "1 2 5 10 20 50 100");
        check(1.0, 1e6, Format::Number, 4, "1 100 10k 1M");
        check(
            1e-6,
            1.0,
            Format::Number,
            8,
            "10⁻⁶ 10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 1",
        );
        check(1e-4, 1.0, Format::Share, 8, "0.01 % 0.1 % 1 % 10 % 100 %");
        check(
            1e-300,
            1e300,
            Format::Number,
            6,
            "10⁻³⁰⁰ 10⁻²⁰⁰ 10⁻¹⁰⁰ 1 10¹⁰⁰ 10²⁰⁰ 10³⁰⁰",
        );
        check(
            1e3,
            1e9,
            Format::Bytes,
            8,
            "1 kB 10 kB 100 kB 1 MB 10 MB 100 MB 1 GB",
        );
        check(
            1e-3,
            1e5,
            Format::Seconds,
            9,
            "1 ms 10 ms 100 ms 1 s 10 s 1 min 10 min 1 h 10 h 1 d",
        );
    }

    #[test]
    fn decades_have_a_minor_grid() {
        let span = Span {
            scale: Scale::Log,
            low: 0.0,
            high: 5.0,
        };
        assert_eq!(ticks(span, Format::Number, 6).minor.len(), 5 * 8);
        let span = Span {
            scale: Scale::Log,
            low: -300.0,
            high: 300.0,
        };
        assert_eq!(ticks(span, Format::Number, 6).minor, Vec::<f64>::new());
    }

    proptest! {
        #[test]
        fn ticks_are_in_the_span_in_order_and_not_too_many(
            low in -1e300_f64..1e300, width in 0.0..1e300_f64, is_log in any::<bool>(), intervals in 1_usize..20,
        ) {
            let scale = if is_log { Scale::Log } else { Scale::Linear };
            let low: f64 = if is_log { low / 1e298 } else { low };
            let width: f64 = if is_log { width / 1e298 } else { width };
            prop_assume!(low.abs() * 1e-9 < width);
            let span = Span { scale, low, high: low + width };
            for format in [Format::Number, Format::Share, Format::Bytes, Format::Seconds] {
                let span = rounded(span, format, intervals);
                let marks = ticks(span, format, intervals);
                prop_assert!(marks.major.len() <= intervals + 3, "{:?}", marks);
                prop_assert!(marks.minor.len() <= MINOR_MAX);
                let slack = (span.high - span.low) * 1e-5;
                for pair in marks.major.windows(2) {
                    prop_assert!(pair[0].measure < pair[1].measure);
                }
                for tick in &marks.major {
                    prop_assert!(span.low - slack <= tick.measure && tick.measure <= span.high + slack);
                }
            }
        }
    }
}
