//! Sums up how values are distributed: cumulative shares, and histograms.
//!
//! Values that are not finite are left out, and so is what a logarithmic histogram has no bin for. The results are what
//! [`Line`](crate::Line) and [`Bars`](crate::Bars) take.

use crate::series::Bar;

/// The most bins of a histogram; thinner bars could not be seen.
const BINS_MAX: usize = 500;

/// How a histogram is cut into bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bins {
    /// So many bins of equal width.
    Linear(usize),
    /// So many bins of equal ratio; only positive values have a bin.
    Log(usize),
}

/// For each value that occurs, the share of all values that are at most as great: P(X ≤ x). Draw it with
/// [`Line::steps`](crate::Line::steps).
#[must_use]
pub fn cumulative(values: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    let sorted = sorted(values);
    let total = sorted.len() as f64;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (index, value) in sorted.into_iter().enumerate() {
        let share = (index + 1) as f64 / total;
        match points.last_mut() {
            Some(last) if last.0.total_cmp(&value).is_eq() => last.1 = share,
            Some(_) | None => points.push((value, share)),
        }
    }
    points
}

/// For each value that occurs, the share of all values that are at least as great: P(X ≥ x). On two logarithmic axes a power law
/// is a straight line.
#[must_use]
pub fn complementary_cumulative(values: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    let sorted = sorted(values);
    let total = sorted.len();
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (index, value) in sorted.into_iter().enumerate() {
        let is_first_of_its_value = points
            .last()
            .is_none_or(|last| last.0.total_cmp(&value).is_ne());
        if is_first_of_its_value {
            points.push((value, (total - index) as f64 / total as f64));
        }
    }
    points
}

/// Counts the values in bins from the least to the greatest of them. A value between two bins belongs to the higher, the greatest
/// of all to the last.
#[must_use]
pub fn histogram(values: impl IntoIterator<Item = f64>, bins: Bins) -> Vec<Bar> {
    let sorted = sorted(values);
    let (count, sorted) = match bins {
        Bins::Linear(count) => (count, &sorted[..]),
        Bins::Log(count) => (
            count,
            &sorted[sorted.partition_point(|value| *value <= 0.0)..],
        ),
    };
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else {
        return Vec::new();
    };
    let edges = edges(low, high, count.clamp(1, BINS_MAX), bins);
    let below = |edge: f64| sorted.partition_point(|value| *value < edge);
    let last = edges.len().saturating_sub(2);
    let pairs = edges.windows(2).enumerate();
    pairs
        .map(|(index, edge)| {
            let end = if index == last {
                sorted.len()
            } else {
                below(edge[1])
            };
            let start = if index == 0 { 0 } else { below(edge[0]) };
            Bar {
                low: edge[0],
                high: edge[1],
                value: (end - start) as f64,
            }
        })
        .collect()
}

/// The edges of the bins, one more than there are bins; strictly increasing.
fn edges(low: f64, high: f64, count: usize, bins: Bins) -> Vec<f64> {
    let between = |low: f64, high: f64, index: usize| {
        let share = index as f64 / count as f64;
        low * (1.0 - share) + high * share
    };
    let mut edges: Vec<f64> = (0..=count)
        .map(|index| match bins {
            _ if index == 0 => low,
            _ if index == count => high,
            Bins::Linear(_) => between(low, high, index),
            Bins::Log(_) => between(low.ln(), high.ln(), index).exp(),
        })
        .collect();
    edges.dedup_by(|next, before| *next <= *before);
    if edges.len() == 1 {
        edges = around(low, bins);
    }
    edges
}

/// The one bin of values that are all equal.
fn around(value: f64, bins: Bins) -> Vec<f64> {
    match bins {
        Bins::Log(_) => vec![value / 2.0, value * 2.0],
        Bins::Linear(_) => {
            let half = (value.abs() / 2.0).max(0.5);
            vec![value - half, value + half]
        }
    }
}

fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let finite = values.into_iter().filter(|value| value.is_finite());
    // Adding zero makes the two zeros one.
    let mut sorted: Vec<f64> = finite.map(|value| value + 0.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "counts and copied edges are exact")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cumulative_shares_rise_to_one() {
        let values = [3.0, 1.0, 1.0, f64::NAN, 2.0];
        assert_eq!(cumulative(values), [(1.0, 0.5), (2.0, 0.75), (3.0, 1.0)]);
        assert_eq!(
            complementary_cumulative(values),
            [(1.0, 1.0), (2.0, 0.5), (3.0, 0.25)]
        );
        assert_eq!(cumulative([]), []);
        assert_eq!(complementary_cumulative([f64::INFINITY]), []);
    }

    #[test]
    fn a_value_between_two_bins_belongs_to_the_higher() {
        let counts = |values: &[f64], bins| {
            let bars = histogram(values.iter().copied(), bins);
            bars.iter()
                .map(|bar| (bar.low, bar.high, bar.value))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            counts(&[0.0, 1.0, 2.0], Bins::Linear(2)),
            [(0.0, 1.0, 1.0), (1.0, 2.0, 2.0)]
        );
        assert_eq!(counts(&[5.0, 5.0], Bins::Linear(3)), [(2.5, 7.5, 2.0)]);
        assert_eq!(counts(&[5.0, -1.0], Bins::Log(3)), [(2.5, 10.0, 1.0)]);
        assert_eq!(counts(&[], Bins::Linear(3)), []);
        assert_eq!(counts(&[0.0], Bins::Log(3)), []);
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_bin(values in prop::collection::vec(any::<f64>(), 0..60), count in 0_usize..40, is_log in any::<bool>()) {
            let bins = if is_log { Bins::Log(count) } else { Bins::Linear(count) };
            let bars = histogram(values.iter().copied(), bins);
            let has_bin = |value: &&f64| value.is_finite() && (!is_log || 0.0 < **value);
            let expected = values.iter().filter(has_bin).count();
            prop_assert_eq!(bars.iter().map(|bar| bar.value).sum::<f64>(), expected as f64);
            for bar in &bars {
                prop_assert!(bar.low < bar.high);
            }
            for pair in bars.windows(2) {
                prop_assert_eq!(pair[0].high, pair[1].low);
            }
        }

        #[test]
        fn the_two_cumulative_shares_agree(values in prop::collection::vec(-5_i8..5, 1..60)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let below = cumulative(values.iter().copied());
            let above = complementary_cumulative(values.iter().copied());
            prop_assert_eq!(below.len(), above.len());
            for (&(x, at_most), &(same_x, at_least)) in below.iter().zip(&above) {
                let equal = values.iter().filter(|value| **value == x).count() as f64;
                prop_assert_eq!(x, same_x);
                prop_assert!((at_most + at_least - 1.0 - equal / values.len() as f64).abs() < 1e-12);
            }
        }
    }
}
