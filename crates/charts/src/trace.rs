//! A line on the figure: its points in pixels, in unbroken runs, thinned, with the few that carry a marker.

use crate::axis::Projection;
use crate::geometry::Rect;
use crate::series::Line;
use crate::svg::push_point;
use crate::thin::{self, Dot};

/// Up to so many points each carries a marker; beyond, a few do.
const MARKED_POINTS_MAX: usize = 25;
/// Markers of a line with many points: at least and at most so many, one for every so many pixels.
const MARKERS_MIN: f64 = 2.0;
const MARKERS_MAX: f64 = 5.0;
const MARKER_STEP: f64 = 120.0;
/// Markers of different slots stand at different places along their lines, so that they do not cover each other.
const PHASES: usize = 8;
/// The most pieces of a broken line. What is broken more often is joined: it could not be seen anyway.
const RUNS_MAX: usize = 200;

/// Where two axes put their values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    pub(crate) x: Projection,
    pub(crate) y: Projection,
}

impl Plane {
    /// The points of a series that have a place, with their indices.
    pub(crate) fn dots(&self, points: &[(f64, f64)]) -> Vec<Dot> {
        let places = points
            .iter()
            .enumerate()
            .filter_map(|(index, point)| self.dot(index, *point));
        places.collect()
    }

    fn dot(&self, index: usize, (x, y): (f64, f64)) -> Option<Dot> {
        Some(Dot {
            x: self.x.place(x)?,
            y: self.y.place(y)?,
            index,
        })
    }
}

/// A line in pixels.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    /// The unbroken pieces.
    pub(crate) runs: Vec<Vec<Dot>>,
    /// Points that carry a marker.
    pub(crate) marks: Vec<Dot>,
    /// The last point that has a place.
    pub(crate) last: Option<Dot>,
    /// The band around the line, as a closed outline; empty when there is none.
    pub(crate) band: Vec<(f64, f64)>,
}

impl Trace {
    /// Lays a line onto the plane. `phase` shifts the markers along it; without, a line with many points has none.
    pub(crate) fn new(line: &Line, plane: &Plane, plot: Rect, phase: Option<usize>) -> Trace {
        let dots = plane.dots(&line.points);
        let whole_runs: Vec<&[Dot]> = dots
            .chunk_by(|one, next| next.index == one.index + 1)
            .collect();
        let thinned = if line.is_steps {
            thin::steps
        } else {
            thin::line
        };
        let runs = if whole_runs.len() <= RUNS_MAX {
            whole_runs.into_iter().map(thinned).collect()
        } else {
            vec![thinned(&dots)]
        };
        Trace {
            runs,
            marks: marks(&dots, plot, phase),
            last: dots.last().copied(),
            band: band(line, plane),
        }
    }

    /// The straight pieces of the line, to be kept clear of labels.
    pub(crate) fn segments(&self) -> impl Iterator<Item = ((f64, f64), (f64, f64))> {
        let pairs = self.runs.iter().flat_map(|run| run.windows(2));
        pairs.map(|pair| ((pair[0].x, pair[0].y), (pair[1].x, pair[1].y)))
    }

    /// The line as path data.
    pub(crate) fn path(&self) -> String {
        let mut path = String::new();
        for run in &self.runs {
            push_run(&mut path, run.iter().map(|dot| (dot.x, dot.y)));
            if run.len() == 1 {
                // A piece without length is drawn as a dot by its round caps.
                path.push_str("h0");
            }
        }
        path
    }
}

/// Appends points as one piece of a path.
pub(crate) fn push_run(path: &mut String, points: impl Iterator<Item = (f64, f64)>) {
    for (index, (x, y)) in points.enumerate() {
        path.push(if index == 0 { 'M' } else { ' ' });
        push_point(path, x, y);
    }
}

fn marks(dots: &[Dot], plot: Rect, phase: Option<usize>) -> Vec<Dot> {
    let inside = |dot: &&Dot| {
        plot.holds(&Rect {
            x: dot.x,
            y: dot.y,
            width: 0.0,
            height: 0.0,
        })
    };
    if dots.len() <= MARKED_POINTS_MAX {
        return dots.iter().filter(inside).copied().collect();
    }
    let Some(phase) = phase else {
        return Vec::new();
    };
    let count = (plot.width / MARKER_STEP)
        .round()
        .clamp(MARKERS_MIN, MARKERS_MAX);
    let offset = ((phase % PHASES) as f64 + 0.5) / PHASES as f64;
    let mut marks: Vec<Dot> = (0..)
        .map(f64::from)
        .take_while(|index| *index < count)
        .filter_map(|index| {
            let wanted = plot.x + (index + offset) / count * plot.width;
            let near = dots.iter().filter(inside);
            near.min_by(|one, other| (one.x - wanted).abs().total_cmp(&(other.x - wanted).abs()))
        })
        .copied()
        .collect();
    marks.dedup_by_key(|dot| dot.index);
    marks
}

/// The outline of the band: along its upper edge, and back along its lower.
fn band(line: &Line, plane: &Plane) -> Vec<(f64, f64)> {
    let mut upper = Vec::new();
    let mut lower = Vec::new();
    for (index, spread) in line.band.iter().enumerate() {
        let (Some(x), Some(high)) = (plane.x.place(spread.x), plane.y.place(spread.high)) else {
            continue;
        };
        if !spread.low.is_finite() {
            continue;
        }
        // On a logarithmic axis a band may reach down to where nothing has a place; there it ends at the foot of the plot.
        let low = plane.y.place(spread.low).unwrap_or_else(|| plane.y.base());
        upper.push(Dot { x, y: high, index });
        lower.push(Dot { x, y: low, index });
    }
    let (upper, lower) = (thin::line(&upper), thin::line(&lower));
    let outline = upper.iter().chain(lower.iter().rev());
    outline.map(|dot| (dot.x, dot.y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::{Axis, Extent, Fit};
    use crate::series::Spread;

    const PLOT: Rect = Rect {
        x: 0.0,
        y: 0.0,
        width: 100.0,
        height: 100.0,
    };

    fn plane() -> Plane {
        let mut extent = Extent::default();
        extent.add(0.0);
        extent.add(100.0);
        let span = Axis::linear("").span(extent, Fit::Tight);
        Plane {
            x: Projection::new(span, 0.0, 100.0),
            y: Projection::new(span, 100.0, 0.0),
        }
    }

    #[test]
    fn a_missing_value_breaks_the_line() {
        let points = [
            (0.0, 0.0),
            (10.0, 50.0),
            (20.0, f64::NAN),
            (30.0, 10.0),
            (40.0, 0.0),
        ];
        let trace = Trace::new(&Line::new("a", points), &plane(), PLOT, Some(0));
        assert_eq!(trace.path(), "M0 100 10 50M30 90 40 100");
        assert_eq!(trace.marks.len(), 4);
    }

    #[test]
    fn steps_hold_until_the_next_point() {
        let line = Line::new("a", [(0.0, 0.0), (10.0, 50.0), (20.0, 60.0)]).steps();
        assert_eq!(
            Trace::new(&line, &plane(), PLOT, Some(0)).path(),
            "M0 100 10 100 10 50 20 50 20 40"
        );
    }

    #[test]
    fn one_point_is_a_dot() {
        let trace = Trace::new(&Line::new("a", [(50.0, 50.0)]), &plane(), PLOT, Some(0));
        assert_eq!(trace.path(), "M50 50h0");
    }

    #[test]
    fn many_points_have_few_markers() {
        let points = (0..1000).map(|step| (f64::from(step) / 10.0, f64::from(step % 7)));
        let line = Line::new("a", points);
        assert_eq!(Trace::new(&line, &plane(), PLOT, Some(3)).marks.len(), 2);
        assert!(Trace::new(&line, &plane(), PLOT, None).marks.is_empty());
    }

    #[test]
    fn a_band_is_closed_around_its_line() {
        let spread = |x, low, high| Spread { x, low, high };
        let band = [
            spread(0.0, 0.0, 10.0),
            spread(5.0, f64::NAN, 9.0),
            spread(10.0, 20.0, 30.0),
        ];
        let line = Line::new("a", []).band(band);
        let trace = Trace::new(&line, &plane(), PLOT, Some(0));
        assert_eq!(
            trace.band,
            [(0.0, 90.0), (10.0, 70.0), (10.0, 80.0), (0.0, 100.0)]
        );
    }
}
