//! A whole figure, laid out: its panels, the texts around them and one legend; and how it becomes a file or a part of a page.
//!
//! Invariant: no two texts overlap, and none leaves the figure, whatever the labels are.

use std::fmt::Display;

use crate::draw;
use crate::geometry::{Caption, Rect};
use crate::legend::Legend;
use crate::panel::Panel;
use crate::stylesheet::stylesheet;
use crate::svg::{Svg, id, number};

/// The width of a figure on a page and on a phone, in pixels.
pub(crate) const WIDTH: f64 = 720.0;
pub(crate) const NARROW_WIDTH: f64 = 400.0;
/// Between the card's edge and everything on it.
pub(crate) const PADDING: f64 = 16.0;
/// The narrowest figure that is laid out.
pub(crate) const WIDTH_MIN: f64 = 240.0;
/// The widest.
pub(crate) const WIDTH_MAX: f64 = 4000.0;

/// A figure, ready to be written.
#[derive(Debug)]
pub(crate) struct Figure<'a> {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Texts above the panels.
    pub(crate) captions: Vec<Caption>,
    pub(crate) panels: Vec<Panel<'a>>,
    pub(crate) legend: Legend,
}

/// Where an SVG will stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file of its own, with its style sheet.
    File,
    /// In a page that has the style sheet.
    Page,
    /// In a page, shown only where there is room for it.
    PageWide,
    /// In a page, shown where there is no room for the wide one.
    PageNarrow,
}

impl Figure<'_> {
    /// Writes the figure.
    pub(crate) fn svg(&self, place: Place, prefix: &str) -> String {
        let id = id(prefix);
        let mut svg = Svg::default();
        let class = match place {
            Place::File => "chart",
            Place::Page => "chart chart-page",
            Place::PageWide => "chart chart-page chart-wide",
            Place::PageNarrow => "chart chart-page chart-narrow",
        };
        let (title_id, desc_id) = (format!("{id}-title"), format!("{id}-desc"));
        let (width, height) = (number(self.width), number(self.height));
        let view_box = format!("0 0 {width} {height}");
        let described = format!("{title_id} {desc_id}");
        let attributes: [(&str, &dyn Display); 7] = [
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("class", &class),
            ("viewBox", &view_box),
            ("width", &width),
            ("height", &height),
            ("role", &"img"),
            ("aria-labelledby", &described),
        ];
        svg.open("svg", &attributes);
        svg.text("title", &[("id", &title_id)], &self.title);
        svg.text("desc", &[("id", &desc_id)], &self.description);
        if place == Place::File {
            svg.style(stylesheet());
        }
        svg.empty(
            "rect",
            &[
                ("class", &"card"),
                ("width", &width),
                ("height", &height),
                ("rx", &8),
            ],
        );
        for (index, panel) in self.panels.iter().enumerate() {
            draw::panel(panel, &mut svg, &format!("{id}-{index}"));
        }
        for caption in &self.captions {
            caption.draw(&mut svg);
        }
        self.legend.draw(&mut svg);
        svg.finish()
    }

    /// The card without its padding.
    pub(crate) fn room(width: f64) -> Rect {
        Rect {
            x: PADDING,
            y: PADDING,
            width: width - 2.0 * PADDING,
            height: 0.0,
        }
    }

    /// Every text of the figure, for tests of the layout.
    #[cfg(test)]
    pub(crate) fn all_captions(&self) -> Vec<&Caption> {
        let panels = self.panels.iter().flat_map(|panel| {
            panel
                .captions
                .iter()
                .chain(panel.end_labels.iter().map(|label| &label.caption))
        });
        panels
            .chain(&self.captions)
            .chain(&self.legend.captions)
            .collect()
    }
}

/// Two figures of the same data in an HTML `<figure>`; the page's style sheet shows the one that there is room for.
pub(crate) fn html(wide: &Figure, narrow: &Figure, prefix: &str) -> String {
    format!(
        "<figure class=\"chart-figure\">\n{}{}</figure>\n",
        wide.svg(Place::PageWide, prefix),
        narrow.svg(Place::PageNarrow, &format!("{prefix}-narrow")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Bar, Bars, Chart, Format, Grid, Line, Rule, Scatter};
    use proptest::prelude::*;

    fn assert_apart(figure: &Figure) {
        let card = Rect {
            x: 0.0,
            y: 0.0,
            width: figure.width,
            height: figure.height,
        };
        let captions = figure.all_captions();
        for (index, caption) in captions.iter().enumerate() {
            assert!(card.holds(&caption.rect()), "{caption:?} leaves {card:?}");
            for other in &captions[..index] {
                let is_apart = !caption.rect().overlaps(&other.rect());
                assert!(is_apart, "{caption:?} on {other:?}");
            }
        }
    }

    fn label() -> impl Strategy<Value = String> {
        prop_oneof![4 => "[a-zA-Z ]{0,24}", 1 => "\\PC{0,90}"]
    }

    fn axis() -> impl Strategy<Value = Axis> {
        (label(), any::<bool>(), 0..5).prop_map(|(label, is_log, format)| {
            let axis = if is_log {
                Axis::log(label)
            } else {
                Axis::linear(label)
            };
            axis.format(match format {
                0 => Format::Share,
                1 => Format::Bytes,
                2 => Format::Seconds,
                3 => Format::Percent,
                _ => Format::Number,
            })
        })
    }

    fn points() -> impl Strategy<Value = Vec<(f64, f64)>> {
        let scale = prop::sample::select(vec![1e-300, 1e-7, 0.01, 1.0, 1e4, 1e9, 1e299]);
        (prop::collection::vec((-1.0..9.0, -1.0..9.0), 0..30), scale).prop_map(|(points, scale)| {
            points.iter().map(|(x, y)| (x * scale, y * scale)).collect()
        })
    }

    prop_compose! {
        fn chart()(
            texts in (label(), label()),
            axes in (axis(), axis()),
            lines in prop::collection::vec((label(), points()), 0..10),
            cloud in prop::option::weighted(0.2, (label(), points())),
            bar in prop::option::weighted(0.2, (label(), 0.0..9.0)),
            rules in prop::collection::vec((label(), -1.0..9.0, any::<bool>()), 0..4),
        ) -> Chart {
            let mut chart = Chart::new(texts.0, axes.0, axes.1).subtitle(texts.1);
            for (label, points) in lines {
                chart = chart.line(Line::new(label, points));
            }
            if let Some((label, points)) = cloud {
                chart = chart.scatter(Scatter::new(label, points));
            }
            if let Some((label, value)) = bar {
                chart = chart.bars(Bars::new(label, [Bar { low: 1.0, high: 2.0, value }]));
            }
            for (label, value, is_horizontal) in rules {
                chart = chart.rule(if is_horizontal {
                    Rule::horizontal(value, label)
                } else {
                    Rule::vertical(value, label)
                });
            }
            chart
        }
    }

    proptest! {
        #[test]
        fn texts_of_a_chart_never_overlap(chart in chart(), width in WIDTH_MIN..1200.0) {
            assert_apart(&chart.figure(width));
            assert_apart(&chart.figure(WIDTH));
        }

        #[test]
        fn texts_of_a_grid_never_overlap(charts in prop::collection::vec(chart(), 0..6), title in label(), width in WIDTH_MIN..1200.0) {
            let mut grid = Grid::new(title);
            for chart in charts {
                grid = grid.chart(chart);
            }
            assert_apart(&grid.figure(width));
        }
    }
}
