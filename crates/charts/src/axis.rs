//! An axis: what it measures, which part of the number line it shows, and where on it a value lies.
//!
//! [`Axis`] is what a caller states; [`Axis::span`] adds the data and gives the [`Span`] that is drawn; [`Projection`] puts a span onto
//! pixels. Values are compared and placed in the scale's own measure, which is the value itself or its logarithm.
//!
//! Invariant: a span has finite ends, and the lower is less than the higher, whatever the data was.

use crate::format::Format;
use crate::svg::one_line;
use crate::ticks;

/// Magnitudes beyond this are shown as this; sums and differences of such numbers are still finite.
const MAGNITUDE_MAX: f64 = 1e300;
/// The least value with a place on a logarithmic axis.
const LOG_VALUE_MIN: f64 = 1e-300;
/// Ends of a linear axis that are closer than this, relative to their size, are drawn as one value: the ticks between them could
/// not be told apart.
const RELATIVE_SPAN_MIN: f64 = 1e-9;

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios; only positive values have a place.
    Log,
}

/// One axis of a figure: its title, scale and numbers.
#[derive(Clone, Debug)]
pub struct Axis {
    pub(crate) label: String,
    pub(crate) scale: Scale,
    pub(crate) format: Format,
    low: Option<f64>,
    high: Option<f64>,
}

impl Axis {
    /// An axis with equal differences; the label says what is measured, with its unit where the numbers do not.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis::new(label, Scale::Linear)
    }

    /// An axis with equal ratios. Values that are not positive have no place on it and are left out.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis::new(label, Scale::Log)
    }

    /// An axis of the given scale.
    pub fn new(label: impl Into<String>, scale: Scale) -> Axis {
        Axis {
            label: one_line(label),
            scale,
            format: Format::Number,
            low: None,
            high: None,
        }
    }

    /// What the numbers are. Default: [`Format::Number`].
    #[must_use]
    pub fn format(mut self, format: Format) -> Axis {
        self.format = format;
        self
    }

    /// Where the axis begins. Default: as the data asks for.
    #[must_use]
    pub fn min(mut self, low: f64) -> Axis {
        self.low = Some(low);
        self
    }

    /// Where the axis ends. Default: as the data asks for.
    #[must_use]
    pub fn max(mut self, high: f64) -> Axis {
        self.high = Some(high);
        self
    }

    /// Whether a value has a place on the part of the axis that the caller asked for.
    pub(crate) fn shows(&self, value: f64) -> bool {
        let is_from = self.low.is_none_or(|low| !low.is_finite() || low <= value);
        let is_to = self
            .high
            .is_none_or(|high| !high.is_finite() || value <= high);
        self.measure(value).is_some() && is_from && is_to
    }

    /// The value in the scale's own measure, or nothing when it has no place there.
    pub(crate) fn measure(&self, value: f64) -> Option<f64> {
        measure(self.scale, value)
    }

    /// The part of the number line to show, for data that spans `extent`.
    pub(crate) fn span(&self, extent: Extent, fit: Fit) -> Span {
        let low = self.low.and_then(|low| self.measure(low));
        let high = self.high.and_then(|high| self.measure(high));
        let (data_low, data_high) = extent.ends(self.scale);
        let from_zero = match fit {
            Fit::Tight => false,
            Fit::Round { from_zero, .. } => {
                from_zero || (0.0 <= data_low && data_low <= 0.4 * data_high)
            }
        };
        let data_low = if from_zero && self.scale == Scale::Linear {
            data_low.min(0.0)
        } else {
            data_low
        };
        let data_high = if from_zero && self.scale == Scale::Linear {
            data_high.max(0.0)
        } else {
            data_high
        };
        let mut span = Span::around(
            self.scale,
            low.unwrap_or(data_low),
            high.unwrap_or(data_high),
        );
        if let Fit::Round { intervals, .. } = fit
            && extent.is_some()
        {
            let rounded = ticks::rounded(span, self.format, intervals);
            if low.is_none() {
                span.low = rounded.low;
            }
            if high.is_none() {
                span.high = rounded.high;
            }
        }
        span
    }
}

/// How closely an axis follows its data.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fit {
    /// From the least to the greatest value.
    Tight,
    /// Outwards to round numbers, in about so many intervals.
    Round {
        /// The greatest number of intervals between ticks.
        intervals: usize,
        /// Whether zero must be shown: bars are measured from there.
        from_zero: bool,
    },
}

/// The least and the greatest of some values, in a scale's own measure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Extent(Option<(f64, f64)>);

impl Extent {
    /// Widens the extent to hold one more value.
    pub(crate) fn add(&mut self, measure: f64) {
        self.0 = Some(match self.0 {
            None => (measure, measure),
            Some((low, high)) => (low.min(measure), high.max(measure)),
        });
    }

    /// Whether there was any value.
    pub(crate) fn is_some(self) -> bool {
        self.0.is_some()
    }

    /// How far the least and the greatest value are apart.
    pub(crate) fn width(self) -> f64 {
        self.0.map_or(0.0, |(low, high)| high - low)
    }

    fn ends(self, scale: Scale) -> (f64, f64) {
        self.0.unwrap_or(match scale {
            Scale::Linear => (0.0, 1.0),
            Scale::Log => (0.0, 3.0),
        })
    }
}

/// The part of the number line that an axis shows, in the scale's own measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) scale: Scale,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Span {
    /// The span from one measure to another, in either order, widened when they are as good as equal.
    fn around(scale: Scale, one: f64, other: f64) -> Span {
        let (low, high) = (one.min(other), one.max(other));
        let size = low.abs().max(high.abs());
        let (low, high) = match scale {
            Scale::Linear if high - low <= size * RELATIVE_SPAN_MIN => {
                let half = if size == 0.0 { 1.0 } else { size * 0.5 };
                (low - half, high + half)
            }
            Scale::Log if high - low < 0.01 => (low - 1.0, high + 1.0),
            Scale::Linear | Scale::Log => (low, high),
        };
        Span { scale, low, high }
    }

    /// The value at a measure.
    pub(crate) fn value(self, measure: f64) -> f64 {
        match self.scale {
            Scale::Linear => measure,
            Scale::Log => 10_f64.powf(measure),
        }
    }
}

/// A span laid onto pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Projection {
    span: Span,
    from: f64,
    to: f64,
}

impl Projection {
    /// Lays the low end of the span onto pixel `from`, its high end onto pixel `to`.
    pub(crate) fn new(span: Span, from: f64, to: f64) -> Projection {
        Projection { span, from, to }
    }

    /// Where a value lies, in pixels; nothing when it has no place on the scale. Values beyond the span lie beyond its pixels.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        measure(self.span.scale, value).map(|measure| self.place_measure(measure))
    }

    /// Where a measure lies, in pixels.
    pub(crate) fn place_measure(&self, measure: f64) -> f64 {
        let Span { low, high, .. } = self.span;
        // Halved, because the difference of two great numbers of opposite sign must stay finite.
        let share = (measure / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        self.from + share.clamp(-100.0, 100.0) * (self.to - self.from)
    }

    /// Where bars stand: at zero, or at the low end where the scale has no zero in sight.
    pub(crate) fn base(&self) -> f64 {
        match self.span.scale {
            Scale::Linear => self.place_measure(0.0_f64.clamp(self.span.low, self.span.high)),
            Scale::Log => self.from,
        }
    }
}

fn measure(scale: Scale, value: f64) -> Option<f64> {
    match scale {
        _ if !value.is_finite() => None,
        Scale::Linear => Some(value.clamp(-MAGNITUDE_MAX, MAGNITUDE_MAX)),
        Scale::Log if value <= 0.0 => None,
        Scale::Log => Some(value.clamp(LOG_VALUE_MIN, MAGNITUDE_MAX).log10()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn extent(values: &[f64]) -> Extent {
        let mut extent = Extent::default();
        for &value in values {
            extent.add(value);
        }
        extent
    }

    const ROUND: Fit = Fit::Round {
        intervals: 5,
        from_zero: false,
    };

    #[test]
    fn spans_follow_the_data() {
        let check = |axis: Axis, values: &[f64], fit, low, high| {
            let span = axis.span(extent(values), fit);
            assert_eq!((span.low, span.high), (low, high), "{values:?} {fit:?}");
        };
        let linear = || Axis::linear("x");
        check(linear(), &[3.0, 325.0], Fit::Tight, 3.0, 325.0);
        check(linear(), &[3.0, 325.0], ROUND, 0.0, 400.0);
        check(linear(), &[0.05, 0.93], ROUND, 0.0, 1.0);
        check(linear(), &[90.0, 110.0], ROUND, 90.0, 110.0);
        check(linear(), &[7.0], Fit::Tight, 3.5, 10.5);
        check(linear(), &[0.0], Fit::Tight, -1.0, 1.0);
        check(linear(), &[], ROUND, 0.0, 1.0);
        check(linear().min(0.0).max(1.0), &[0.2, 0.4], ROUND, 0.0, 1.0);
        check(linear().min(9.0).max(1.0), &[0.2, 0.4], ROUND, 1.0, 9.0);
        check(Axis::log("x"), &[2.0], Fit::Tight, 1.0, 3.0);
        check(Axis::log("x").min(0.0), &[0.0, 2.0], Fit::Tight, 0.0, 2.0);
    }

    #[test]
    fn bars_stand_on_zero() {
        let fit = Fit::Round {
            intervals: 5,
            from_zero: true,
        };
        let span = Axis::linear("y").span(extent(&[90.0, 110.0]), fit);
        assert_eq!((span.low, span.high), (0.0, 150.0));
    }

    proptest! {
        #[test]
        fn a_span_is_finite_and_has_a_width(
            values in prop::collection::vec(any::<f64>(), 0..6),
            low in prop::option::of(any::<f64>()),
            high in prop::option::of(any::<f64>()),
            is_log in any::<bool>(),
            intervals in 1_usize..12,
        ) {
            let mut axis = Axis::new("x", if is_log { Scale::Log } else { Scale::Linear });
            (axis.low, axis.high) = (low, high);
            let mut extent = Extent::default();
            values.iter().filter_map(|&value| axis.measure(value)).for_each(|measure| extent.add(measure));
            for fit in [Fit::Tight, Fit::Round { intervals, from_zero: true }, Fit::Round { intervals, from_zero: false }] {
                let span = axis.span(extent, fit);
                prop_assert!(span.low.is_finite() && span.high.is_finite(), "{span:?}");
                prop_assert!(span.low < span.high, "{span:?}");
                let projection = Projection::new(span, 0.0, 500.0);
                for &value in &values {
                    prop_assert!(projection.place(value).is_none_or(f64::is_finite));
                }
            }
        }
    }
}
