//! Repeated measurements of one thing.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct as _};

/// What the repetitions brought, in their order.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Stored")]
pub(crate) struct Samples(Vec<f64>);

/// How they are read back; the rest is for other readers.
#[derive(Deserialize)]
struct Stored {
    samples: Vec<f64>,
}

impl From<Stored> for Samples {
    fn from(stored: Stored) -> Samples {
        Samples(stored.samples)
    }
}

impl Samples {
    /// Adds one repetition.
    pub(crate) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    /// The one in the middle, or the mean of the two in the middle; not a number without samples.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match sorted.len() {
            0 => f64::NAN,
            length if length % 2 == 1 => sorted[middle],
            _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
        }
    }

    /// The smallest.
    pub(crate) fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::min)
    }

    /// The largest.
    pub(crate) fn max(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::max)
    }

    /// The samples divided by those of another thing, repetition by repetition: noise that hit both cancels out.
    pub(crate) fn ratio_to(&self, other: &Samples) -> Samples {
        Samples(self.0.iter().zip(&other.0).map(|(a, b)| a / b).collect())
    }

    /// The samples added to those of another thing, repetition by repetition.
    pub(crate) fn plus(&self, other: &Samples) -> Samples {
        Samples(self.0.iter().zip(&other.0).map(|(a, b)| a + b).collect())
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        Samples(values.into_iter().collect())
    }
}

impl fmt::Display for Samples {
    /// The median, and from where to where the samples spread.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (median, min, max) = (self.median(), self.min(), self.max());
        write!(
            formatter,
            "{} ({}–{})",
            short(median),
            short(min),
            short(max)
        )
    }
}

impl Serialize for Samples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Samples", 4)?;
        object.serialize_field("median", &self.median())?;
        object.serialize_field("min", &self.min())?;
        object.serialize_field("max", &self.max())?;
        object.serialize_field("samples", &self.0)?;
        object.end()
    }
}

/// A number with three significant digits, or all before the point; thousands are set apart.
pub(crate) fn short(number: f64) -> String {
    let decimals = match number.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 || size == 0.0 => 2,
        _ => 3,
    };
    let text = format!("{number:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        let is_boundary = (whole.len() - at).is_multiple_of(3);
        if is_boundary && grouped.ends_with(|last: char| last.is_ascii_digit()) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if !fraction.is_empty() {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[f64]) -> Samples {
        values.iter().copied().collect()
    }

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        assert!((samples(&[9.0, 1.0, 5.0]).median() - 5.0).abs() < 1e-9);
        assert!((samples(&[4.0, 1.0, 2.0, 9.0]).median() - 3.0).abs() < 1e-9);
        assert!(samples(&[]).median().is_nan());
    }

    #[test]
    fn a_ratio_is_taken_within_each_repetition() {
        let ratio = samples(&[2.0, 30.0, 4.0]).ratio_to(&samples(&[1.0, 10.0, 4.0]));
        assert_eq!(ratio, samples(&[2.0, 3.0, 1.0]));
    }

    #[test]
    fn the_spread_is_printed_with_the_median() {
        assert_eq!(
            samples(&[1.0, 2.5, 1234.0]).to_string(),
            "2.50 (1.00–1,234)"
        );
    }

    #[test]
    fn numbers_are_short() {
        let check = |number: f64, expected: &str| assert_eq!(short(number), expected);
        check(0.0, "0.00");
        check(0.1234, "0.123");
        check(99.96, "100.0");
        check(123.4, "123");
        check(1_234_567.0, "1,234,567");
        check(-1234.0, "-1,234");
    }
}
