//! Leaves out the points that could not be seen, so that a million points make a small file.
//!
//! Lines: of the points that fall into one column of pixels only the first, the last, the lowest and the highest are kept, which draws
//! the same pixels (Jugel, Jerzak, Hackenbroich and Markl, "M4: A Visualization-Oriented Time Series Data Aggregation", PVLDB 7(10),
//! 2014); then those that lie on the straight line between their neighbours go too (Douglas and Peucker, "Algorithms for the
//! reduction of the number of points…", Cartographica 10(2), 1973). Clouds: one point is kept per cell of a grid that gets coarser until
//! few enough are left.
//!
//! Points are in pixels here, and finite.

use std::collections::BTreeSet;

/// The most points of a line.
pub(crate) const LINE_POINTS_MAX: usize = 800;
/// The most points of a cloud, but for its extremes.
pub(crate) const CLOUD_POINTS_MAX: usize = 800;
/// Each column keeps at most four points.
const COLUMNS: usize = LINE_POINTS_MAX / 4;
/// How far from the drawn line a left-out point may lie, in pixels; less than what a line of two pixels shows.
const TOLERANCE: f64 = 0.15;
/// The same for what is not seen but pointed at.
const ROUGH_TOLERANCE: f64 = 4.0;

/// A point on the figure, in pixels, with its place among the data it came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dot {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Which point of the series it is.
    pub(crate) index: usize,
}

/// The points of an unbroken line that have to be drawn, of which there are at most [`LINE_POINTS_MAX`].
pub(crate) fn line(dots: &[Dot]) -> Vec<Dot> {
    straightened(&columns(dots), TOLERANCE)
}

/// The corners of a line of steps, where a value holds until the next point: at most twice as many.
pub(crate) fn steps(dots: &[Dot]) -> Vec<Dot> {
    let kept = columns(dots);
    let mut corners: Vec<Dot> = Vec::with_capacity(2 * kept.len());
    for dot in kept {
        if let Some(&before) = corners.last() {
            corners.push(Dot { x: dot.x, ..before });
        }
        corners.push(dot);
    }
    // Only now: what is straight as a line would be one great step.
    straightened(&corners, TOLERANCE)
}

/// A line that stays within a few pixels of the given one, to be pointed at.
pub(crate) fn rough(dots: &[Dot]) -> Vec<Dot> {
    straightened(dots, ROUGH_TOLERANCE)
}

/// The points of a cloud that have to be drawn, in their order.
pub(crate) fn cloud(dots: &[Dot]) -> Vec<Dot> {
    let mut cell = 1.0;
    loop {
        let kept = one_per_cell(dots, cell);
        if kept.len() <= CLOUD_POINTS_MAX {
            return with_extremes(dots, kept);
        }
        cell *= 1.5;
    }
}

/// Keeps the first, last, lowest and highest point of each column.
fn columns(dots: &[Dot]) -> Vec<Dot> {
    if dots.len() <= LINE_POINTS_MAX {
        return dots.to_vec();
    }
    let (low, high) = ends(dots.iter().map(|dot| dot.x));
    let width = ((high - low) / (COLUMNS - 1) as f64).max(f64::MIN_POSITIVE);
    let column = |dot: &Dot| ((dot.x - low) / width).floor();
    let by_place =
        corners(dots.chunk_by(|one, other| column(one).total_cmp(&column(other)).is_eq()));
    if by_place.len() <= LINE_POINTS_MAX {
        return by_place;
    }
    // A line that goes back and forth fills more columns than there are: cut it by count instead.
    corners(dots.chunks(dots.len().div_ceil(COLUMNS)))
}

fn corners<'a>(runs: impl Iterator<Item = &'a [Dot]>) -> Vec<Dot> {
    let mut kept = Vec::new();
    for run in runs {
        let lowest = run.iter().min_by(|one, other| one.y.total_cmp(&other.y));
        let highest = run.iter().max_by(|one, other| one.y.total_cmp(&other.y));
        let mut of_run: Vec<Dot> = [run.first(), lowest, highest, run.last()]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        of_run.sort_by_key(|dot| dot.index);
        of_run.dedup_by_key(|dot| dot.index);
        kept.extend(of_run);
    }
    kept
}

/// Keeps the points without which the line would move by more than the tolerance; always the first and the last.
fn straightened(dots: &[Dot], tolerance: f64) -> Vec<Dot> {
    if dots.len() <= 2 {
        return dots.to_vec();
    }
    let mut is_kept = vec![false; dots.len()];
    is_kept[0] = true;
    is_kept[dots.len() - 1] = true;
    let mut open = vec![(0, dots.len() - 1)];
    while let Some((start, end)) = open.pop() {
        let between =
            (start + 1..end).map(|index| (distance(dots[index], dots[start], dots[end]), index));
        let farthest = between.max_by(|one, other| one.0.total_cmp(&other.0));
        if let Some((distance, index)) = farthest
            && tolerance < distance
        {
            is_kept[index] = true;
            open.push((start, index));
            open.push((index, end));
        }
    }
    let kept = dots.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
    kept.map(|(dot, _)| *dot).collect()
}

/// How far a point lies from the segment between two others.
fn distance(dot: Dot, start: Dot, end: Dot) -> f64 {
    let (along_x, along_y) = (end.x - start.x, end.y - start.y);
    let length_squared = along_x * along_x + along_y * along_y;
    let share = if length_squared == 0.0 {
        0.0
    } else {
        let dot_product = (dot.x - start.x) * along_x + (dot.y - start.y) * along_y;
        (dot_product / length_squared).clamp(0.0, 1.0)
    };
    let (x, y) = (start.x + share * along_x, start.y + share * along_y);
    (dot.x - x).hypot(dot.y - y)
}

fn one_per_cell(dots: &[Dot], cell: f64) -> Vec<Dot> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "pixels are bounded, and a cast saturates"
    )]
    let place = |dot: &Dot| ((dot.x / cell).floor() as i64, (dot.y / cell).floor() as i64);
    let mut seen = BTreeSet::new();
    dots.iter()
        .filter(|dot| seen.insert(place(dot)))
        .copied()
        .collect()
}

/// Adds the leftmost, rightmost, lowest and highest points, which are what a reader looks for.
fn with_extremes(dots: &[Dot], mut kept: Vec<Dot>) -> Vec<Dot> {
    let by_x = |one: &&Dot, other: &&Dot| one.x.total_cmp(&other.x);
    let by_y = |one: &&Dot, other: &&Dot| one.y.total_cmp(&other.y);
    let extremes = [
        dots.iter().min_by(by_x),
        dots.iter().max_by(by_x),
        dots.iter().min_by(by_y),
        dots.iter().max_by(by_y),
    ];
    kept.extend(extremes.into_iter().flatten());
    kept.sort_by_key(|dot| dot.index);
    kept.dedup_by_key(|dot| dot.index);
    kept
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dots(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<Dot> {
        let points = points.into_iter().enumerate();
        points.map(|(index, (x, y))| Dot { x, y, index }).collect()
    }

    #[test]
    fn a_straight_line_is_two_points() {
        let kept =
            line(&dots((0..10_000).map(|step| {
                (f64::from(step) / 20.0, f64::from(step) / 40.0)
            })));
        assert_eq!(
            kept.iter().map(|dot| dot.index).collect::<Vec<_>>(),
            [0, 9999]
        );
    }

    #[test]
    fn many_small_steps_stay_small() {
        let stairs = dots((0..600).map(|step| (f64::from(step), f64::from(step / 10 * 10))));
        let tallest = steps(&stairs)
            .windows(2)
            .map(|pair| (pair[1].y - pair[0].y).abs())
            .fold(0.0, f64::max);
        assert!((tallest - 10.0).abs() < 1e-9, "{tallest}");
    }

    #[test]
    fn a_single_spike_survives() {
        let spike = (0..100_000).map(|step| {
            (
                f64::from(step) / 200.0,
                if step == 54_321 { 0.0 } else { 300.0 },
            )
        });
        assert!(line(&dots(spike)).iter().any(|dot| dot.index == 54_321));
    }

    fn points(count: usize) -> impl Strategy<Value = Vec<(f64, f64)>> {
        prop::collection::vec((0.0..700.0, 0.0..400.0), 0..count)
    }

    proptest! {
        #[test]
        fn columns_keep_extremes_and_ends(mut points in points(4000), is_sorted in any::<bool>()) {
            if is_sorted {
                points.sort_by(|one, other| one.0.total_cmp(&other.0));
            }
            let all = dots(points);
            let kept = columns(&all);
            prop_assert!(kept.len() <= LINE_POINTS_MAX);
            prop_assert_eq!(ends(kept.iter().map(|dot| dot.y)), ends(all.iter().map(|dot| dot.y)));
            prop_assert_eq!(kept.first(), all.first());
            prop_assert_eq!(kept.last(), all.last());
            prop_assert!(kept.is_sorted_by(|one, other| one.index < other.index));
        }

        #[test]
        fn the_drawn_line_passes_every_point_that_was_left_out(points in points(300)) {
            let all = dots(points);
            let kept = straightened(&all, 20.0);
            for dot in &all {
                let nearest = kept.windows(2)
                    .map(|pair| distance(*dot, pair[0], pair[1]))
                    .fold(f64::MAX, f64::min);
                prop_assert!(all.len() < 2 || nearest <= 20.0, "{nearest}");
            }
        }

        #[test]
        fn a_cloud_keeps_its_outline(points in points(4000)) {
            let all = dots(points);
            let kept = cloud(&all);
            prop_assert!(kept.len() <= CLOUD_POINTS_MAX + 4);
            for side in [|dot: &Dot| dot.x, |dot: &Dot| dot.y] {
                prop_assert_eq!(ends(kept.iter().map(side)), ends(all.iter().map(side)));
            }
        }
    }
}
