//! The same figure for several graphs, side by side.

use junkai_charts::{Axis, Chart, Format, Grid};
use junkai_simulation::outcome::{Drawing, Figure};
use junkai_simulation::subject::Subject;

use super::words::count;

/// Panels side by side: two leave room for ten lines, three for a few.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    Two = 2,
    Three = 3,
}

/// A figure to be drawn for each graph.
pub(super) struct Multiples<'a> {
    pub(super) name: &'a str,
    pub(super) title: &'a str,
    pub(super) caption: String,
    pub(super) columns: Columns,
}

impl Multiples<'_> {
    /// Draws it: `panel` gives the axes and the data of a graph, by its place.
    pub(super) fn draw<'a>(
        self,
        subjects: impl IntoIterator<Item = &'a Subject>,
        mut panel: impl FnMut(usize) -> (Axis, Axis, Vec<Series>),
    ) -> Figure {
        let subjects: Vec<&Subject> = subjects.into_iter().collect();
        let is_alone = subjects.len() == 1;
        let mut grid = Grid::new(self.title).columns(self.columns as usize);
        let mut alone = None;
        for (graph, subject) in subjects.iter().enumerate() {
            let (x, y, series) = panel(graph);
            let pages = pages(subject);
            let chart = if is_alone {
                Chart::new(self.title, x, y).subtitle(format!("{}, {pages}", subject.web.name))
            } else {
                Chart::new(subject.web.name.clone(), x, y).subtitle(pages)
            };
            let chart = series.into_iter().fold(chart, Series::add);
            if is_alone {
                alone = Some(chart);
            } else {
                grid = grid.chart(chart);
            }
        }
        Figure {
            name: self.name.to_owned(),
            caption: self.caption,
            chart: match alone {
                Some(chart) => Drawing::One(Box::new(chart)),
                None => Drawing::Many(Box::new(grid)),
            },
        }
    }
}

/// What is drawn between the axes.
pub(super) enum Series {
    Line(junkai_charts::Line),
    Points(junkai_charts::Scatter),
}

impl Series {
    fn add(chart: Chart, series: Series) -> Chart {
        match series {
            Series::Line(line) => chart.line(line),
            Series::Points(points) => chart.scatter(points),
        }
    }
}

/// How many pages of a graph there are to crawl.
fn pages(subject: &Subject) -> String {
    let (reachable, all) = (subject.value.reachable(), subject.web.links.page_count());
    if reachable == all {
        format!("{} pages", count(all.into()))
    } else {
        format!(
            "{} of {} pages within reach",
            count(reachable.into()),
            count(all.into())
        )
    }
}

/// The part of the pages that were visited.
pub(super) fn pages_axis() -> Axis {
    Axis::linear("pages visited")
        .format(Format::Share)
        .min(0.0)
        .max(1.0)
}

/// The share of PageRank that was gathered.
pub(super) fn share_axis() -> Axis {
    Axis::linear("share of PageRank")
        .format(Format::Share)
        .min(0.0)
        .max(1.0)
}
