//! One pair of axes with everything between them, laid out: where the plot is, where each text stands, what is in pixels.
//!
//! A [`Chart`] is one panel, a [`Grid`](crate::Grid) several. Laying out ([`Panel::lay_out`]) decides every place;
//! drawing (`draw`) only writes it down. The legend belongs to the figure, because panels may share one.
//!
//! Invariant: captions lie inside the frame and do not overlap.

use crate::axis::Projection;
use crate::chart::Chart;
use crate::geometry::{Anchor, Caption, Rect, Tone};
use crate::header::Header;
use crate::labels::{self, EndLabel, LineEnd, Naming, RulePlace, Segment};
use crate::look::Look;
use crate::numbers::{
    footer_height, x_numbers, x_span, x_title, y_captions, y_numbers, y_span, y_ticks,
};
use crate::series::Direction;
use crate::text::Face;
use crate::ticks::Ticks;
use crate::trace::{Plane, Trace};

/// The least height of a plot; a figure grows rather than let its plot shrink below.
const PLOT_HEIGHT_MIN: f64 = 156.0;
/// Narrower frames have no room for names beside the plot.
const DIRECT_WIDTH_MIN: f64 = 560.0;
/// The greatest part of the width that names beside the plot may take.
const DIRECT_SHARE_MAX: f64 = 0.3;
/// The least room right of the plot, for what the last number below it reaches out.
const RIGHT_MARGIN_MIN: f64 = 6.0;

/// What the caller of a layout decides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) rect: Rect,
    pub(crate) face: Face,
    pub(crate) naming: Naming,
    /// The least height of what stands above the y axis title.
    pub(crate) header_min: f64,
}

/// A chart, laid out.
#[derive(Clone, Debug)]
pub(crate) struct Panel<'a> {
    pub(crate) chart: &'a Chart,
    pub(crate) looks: Vec<Look>,
    pub(crate) plot: Rect,
    pub(crate) plane: Plane,
    pub(crate) x_ticks: Ticks,
    pub(crate) y_ticks: Ticks,
    pub(crate) traces: Vec<Trace>,
    pub(crate) captions: Vec<Caption>,
    pub(crate) end_labels: Vec<EndLabel>,
    pub(crate) has_data: bool,
}

impl<'a> Panel<'a> {
    /// Lays out a chart whose series have the given looks; nothing when the names do not fit as the frame wants them.
    pub(crate) fn lay_out(chart: &'a Chart, looks: Vec<Look>, frame: &Frame) -> Option<Panel<'a>> {
        let rect = frame.rect;
        let header =
            Header::new(chart, rect, frame.face).with_axis(&chart.y, rect, frame.header_min);
        let footer = footer_height(&chart.x, rect);
        let top = rect.y + header.height;
        let plot_height = (rect.height - header.height - footer).max(1.0);
        let (x_extent, y_extent) = chart.extents();
        let has_data = chart.has_data();

        let y_span = y_span(chart, y_extent, plot_height);
        let y_ticks = if has_data {
            y_ticks(&chart.y, y_span, plot_height)
        } else {
            Ticks::default()
        };
        let (left, y_texts) = y_numbers(&y_ticks, rect);
        let right = right_margin(chart, frame)?;
        let plot = Rect {
            x: rect.x + left,
            y: top,
            width: (rect.width - left - right).max(1.0),
            height: plot_height,
        };
        let x_span = x_span(&chart.x, x_extent, plot.width);
        let plane = Plane {
            x: Projection::new(x_span, plot.x, plot.right()),
            y: Projection::new(y_span, plot.bottom(), plot.y),
        };
        let (x_ticks, x_captions) = if has_data {
            x_numbers(&chart.x, x_span, plot, rect)
        } else {
            (Ticks::default(), Vec::new())
        };

        let mut captions = header.captions;
        captions.extend(y_captions(&y_ticks, y_texts, &plane, plot));
        captions.extend(x_captions);
        captions.extend(x_title(&chart.x, plot, rect));
        let mut panel = Panel {
            traces: traces(chart, &looks, &plane, plot),
            chart,
            looks,
            plot,
            plane,
            x_ticks,
            y_ticks,
            captions,
            end_labels: Vec::new(),
            has_data,
        };
        panel.name(frame.naming)?;
        Some(panel)
    }

    /// Places the names that stand inside the panel.
    fn name(&mut self, naming: Naming) -> Option<()> {
        if !self.has_data {
            self.captions.push(Caption {
                text: "no data".to_owned(),
                face: Face::Label,
                tone: Tone::Muted,
                anchor: Anchor::Middle,
                x: self.plot.x + self.plot.width / 2.0,
                y: self.plot.y + self.plot.height / 2.0,
            });
            return Some(());
        }
        let obstacles = self.obstacles();
        if naming == Naming::Direct {
            let ends = self.line_ends();
            let names: Vec<&str> = ends.iter().map(|end| end.label.as_str()).collect();
            let room = Rect {
                width: self.plot.width + labels::margin(&names),
                ..self.plot
            };
            self.end_labels = labels::at_line_ends(&ends, (self.plot, room), &obstacles)?;
        }
        if naming != Naming::All {
            let rules: Vec<RulePlace> = self.rules().collect();
            let names = labels::along_rules(&rules, self.plot, &obstacles)?;
            let overlaps_an_end = |name: &Caption| {
                self.end_labels
                    .iter()
                    .any(|label| label.caption.rect().overlaps(&name.rect()))
            };
            if names.iter().any(overlaps_an_end) {
                return None;
            }
            self.captions.extend(names);
        }
        Some(())
    }

    /// The rules that lie in sight.
    pub(crate) fn rules(&self) -> impl Iterator<Item = RulePlace> {
        let plot = self.plot;
        self.chart.rules.iter().filter_map(move |rule| {
            let (at, low, high) = match rule.direction {
                Direction::Horizontal => (self.plane.y.place(rule.value)?, plot.y, plot.bottom()),
                Direction::Vertical => (self.plane.x.place(rule.value)?, plot.x, plot.right()),
            };
            let is_in_sight = low - 0.5 <= at && at <= high + 0.5;
            is_in_sight.then(|| RulePlace {
                label: rule.label.clone(),
                direction: rule.direction,
                at,
            })
        })
    }

    fn line_ends(&self) -> Vec<LineEnd> {
        let lines = self.chart.series().zip(&self.traces).enumerate();
        lines
            .filter(|(_, (line, _))| !line.name.is_empty())
            .filter_map(|(index, (line, trace))| {
                let last = trace.last?;
                Some(LineEnd {
                    label: line.name.to_owned(),
                    x: last.x,
                    y: last.y,
                    index,
                })
            })
            .collect()
    }

    /// What labels should not cover.
    fn obstacles(&self) -> Vec<Segment> {
        let lines = self.traces.iter().flat_map(Trace::segments);
        let bars = self
            .chart
            .bars
            .iter()
            .flat_map(|bars| &bars.each)
            .filter_map(|bar| {
                let from = self.plane.x.place(bar.low)?;
                let to = self.plane.x.place(bar.high)?;
                let y = self.plane.y.place(bar.value)?;
                Some([
                    ((from, y), (to, y)),
                    ((from, y), (from, self.plane.y.base())),
                ])
            });
        lines.chain(bars.flatten()).collect()
    }
}

/// The height that a panel needs at least, in a frame of this width.
pub(crate) fn height_min(chart: &Chart, rect: Rect, face: Face, header_min: f64) -> f64 {
    let header = Header::new(chart, rect, face).with_axis(&chart.y, rect, header_min);
    header.height + PLOT_HEIGHT_MIN + footer_height(&chart.x, rect)
}

/// The room right of the plot; nothing when the names of lines were to stand there and cannot.
fn right_margin(chart: &Chart, frame: &Frame) -> Option<f64> {
    if frame.naming != Naming::Direct {
        return Some(RIGHT_MARGIN_MIN);
    }
    let lines = chart.series().take(chart.lines.len());
    let labels: Vec<&str> = lines
        .map(|line| line.name)
        .filter(|name| !name.is_empty())
        .collect();
    let margin = labels::margin(&labels);
    let has_room =
        DIRECT_WIDTH_MIN <= frame.rect.width && margin <= DIRECT_SHARE_MAX * frame.rect.width;
    let is_only_lines = chart.scatters.is_empty() && chart.bars.is_empty();
    (has_room && is_only_lines).then_some(margin.max(RIGHT_MARGIN_MIN))
}

fn traces(chart: &Chart, looks: &[Look], plane: &Plane, plot: Rect) -> Vec<Trace> {
    let lines = chart.lines.iter().zip(looks);
    lines
        .map(|(line, look)| {
            let phase = match look {
                // A line by itself needs no markers to be told from others.
                Look::Slot(slot) => (1 < chart.lines.len()).then_some(slot.0),
                Look::Reference => None,
            };
            Trace::new(line, plane, plot, phase)
        })
        .collect()
}
