//! One pair of axes with everything between them, laid out: where the plot is, where each text stands, what is in pixels.
//!
//! A [`Chart`](crate::Chart) is one panel, a [`Grid`](crate::Grid) several. Laying out ([`Panel::lay_out`]) decides every place;
//! drawing (`draw`) only writes it down. The legend belongs to the figure, because panels may share one.
//!
//! Invariant: captions lie inside the frame and do not overlap.

use crate::axis::{Axis, Extent, Fit, Projection, Scale, Span};
use crate::chart::Chart;
use crate::geometry::{Anchor, Caption, Rect, Tone, stack};
use crate::labels::{self, EndLabel, LineEnd, RulePlace, Segment};
use crate::legend::Entry;
use crate::look::{Key, Look};
use crate::palette::Slot;
use crate::series::{Direction, Style};
use crate::text::{Face, shorten, width, wrap};
use crate::ticks::{Ticks, ticks};
use crate::trace::{Plane, Trace};

/// The least height of a plot; a figure grows rather than let its plot shrink below.
pub(crate) const PLOT_HEIGHT_MIN: f64 = 150.0;
/// Pixels between two numbers, at least: along the foot as much as the numbers need, up the side at least this.
const X_TICK_GAP: f64 = 18.0;
const LINEAR_Y_STEP: f64 = 38.0;
const LOG_Y_STEP: f64 = 26.0;
/// Between the plot and the numbers beside it.
const Y_TICK_GAP: f64 = 7.0;
/// Between the plot and the numbers below it: more than half a line, so that they clear the lowest number beside it.
const X_TICK_TOP: f64 = 9.0;
/// Narrower frames have no room for names beside the plot.
const DIRECT_WIDTH_MIN: f64 = 560.0;
/// The greatest part of the width that names beside the plot may take.
const DIRECT_SHARE_MAX: f64 = 0.3;
/// The greatest part of the width that the numbers of the y axis may take.
const Y_TICK_SHARE_MAX: f64 = 0.4;

/// Where the names of lines and rules go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Lines at their ends, rules along them.
    Direct,
    /// Lines in the legend, rules along them.
    Lines,
    /// Lines and rules in the legend.
    All,
}

impl Naming {
    /// From the best to the one that always fits.
    pub(crate) const BY_PREFERENCE: [Naming; 3] = [Naming::Direct, Naming::Lines, Naming::All];
}

/// The texts above a plot.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    captions: Vec<Caption>,
    pub(crate) height: f64,
}

impl Header {
    /// Title, subtitle and y axis title of a chart, from the top left of its frame.
    pub(crate) fn new(chart: &Chart, frame: Rect, face: Face) -> Header {
        let mut header = Header {
            captions: Vec::new(),
            height: 0.0,
        };
        header.add(
            wrap(&chart.title, face, frame.width, 3),
            face,
            Tone::Plain,
            frame,
        );
        let subtitle = wrap(&chart.subtitle, Face::Subtitle, frame.width, 3);
        header.add(subtitle, Face::Subtitle, Tone::Muted, frame);
        if 0.0 < header.height {
            header.height += 8.0;
        }
        header
    }

    /// Adds the y axis title; `at_least` aligns plots that stand side by side.
    fn with_axis(mut self, axis: &Axis, frame: Rect, at_least: f64) -> Header {
        self.height = self.height.max(at_least);
        let lines = wrap(&axis.label, Face::Label, frame.width, 2);
        self.add(lines, Face::Label, Tone::Muted, frame);
        // Half of the uppermost number of the y axis stands above the plot.
        self.height += Face::Tick.line_height() / 2.0 + 4.0;
        self
    }

    fn add(&mut self, lines: Vec<String>, face: Face, tone: Tone, frame: Rect) {
        let (captions, height) = stack(lines, face, tone, (frame.x, frame.y + self.height));
        self.captions.extend(captions);
        self.height += height;
    }
}

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
        let footer = footer_height(chart, rect);
        let top = rect.y + header.height;
        let plot_height = (rect.height - header.height - footer).max(1.0);
        let (x_extent, y_extent) = chart.extents();
        let has_data = chart.has_data();

        let y_span = y_span(chart, y_extent, plot_height);
        let y_ticks = if has_data {
            ticks(y_span, chart.y.format, y_intervals(&chart.y, plot_height))
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
        let x_span = chart.x.span(x_extent, x_fit(&chart.x, plot.width));
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
        captions.extend(x_title(&chart.x, plot));
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

/// The looks of a chart's series, lines first, then clouds, then bars: `slot_of` says the slot of a label.
pub(crate) fn looks(
    chart: &Chart,
    mut slot_of: impl FnMut(&str, Option<usize>) -> usize,
) -> Vec<Look> {
    chart
        .series()
        .map(|series| match series.style {
            Style::Main => Look::Slot(Slot(slot_of(series.label, series.slot))),
            Style::Reference => Look::Reference,
        })
        .collect()
}

/// What the legend has to explain.
pub(crate) fn entries(chart: &Chart, looks: &[Look], naming: Naming) -> Vec<Entry> {
    let line_count = chart.lines.len();
    let cloud_count = chart.scatters.len();
    let mut entries = Vec::new();
    for (index, (series, &look)) in chart.series().zip(looks).enumerate() {
        let key = if index < line_count {
            Key::Line(look)
        } else if index < line_count + cloud_count {
            Key::Dot(look)
        } else {
            Key::Bar(look)
        };
        let is_named_at_its_end = naming == Naming::Direct && index < line_count;
        if !is_named_at_its_end {
            entries.push(Entry {
                label: series.name.to_owned(),
                key,
            });
        }
    }
    if naming == Naming::All {
        let in_sight = chart.rules.iter().filter(|rule| match rule.direction {
            Direction::Horizontal => chart.y.shows(rule.value),
            Direction::Vertical => chart.x.shows(rule.value),
        });
        entries.extend(in_sight.map(|rule| Entry {
            label: rule.label.clone(),
            key: Key::Rule,
        }));
    }
    entries
}

/// The height that a panel needs at least, in a frame of this width.
pub(crate) fn height_min(chart: &Chart, rect: Rect, face: Face, header_min: f64) -> f64 {
    let header = Header::new(chart, rect, face).with_axis(&chart.y, rect, header_min);
    header.height + PLOT_HEIGHT_MIN + footer_height(chart, rect)
}

fn footer_height(chart: &Chart, rect: Rect) -> f64 {
    // The plot is narrower than the frame, so the title may need more lines than this; two are the most there are.
    let lines = wrap(&chart.x.label, Face::Label, rect.width * 0.5, 2).len();
    X_TICK_TOP + Face::Tick.line_height() + 3.0 + lines as f64 * Face::Label.line_height()
}

fn y_intervals(axis: &Axis, height: f64) -> usize {
    let step = match axis.scale {
        Scale::Linear => LINEAR_Y_STEP,
        Scale::Log => LOG_Y_STEP,
    };
    whole(height / step).max(2)
}

fn y_span(chart: &Chart, extent: Extent, height: f64) -> Span {
    let from_zero = !chart.bars.is_empty();
    chart.y.span(
        extent,
        Fit::Round {
            intervals: y_intervals(&chart.y, height),
            from_zero,
        },
    )
}

/// A linear x axis ends where the data does; a logarithmic one at a round number, so that there are numbers to read.
fn x_fit(axis: &Axis, width: f64) -> Fit {
    match axis.scale {
        Scale::Linear => Fit::Tight,
        Scale::Log => Fit::Round {
            intervals: whole(width / 40.0).max(1),
            from_zero: false,
        },
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of pixels, and a cast saturates"
)]
fn whole(value: f64) -> usize {
    value.floor() as usize
}

/// The room that the numbers of the y axis take left of the plot, and what is written there.
fn y_numbers(ticks: &Ticks, rect: Rect) -> (f64, Vec<String>) {
    let width_max = rect.width * Y_TICK_SHARE_MAX;
    let texts: Vec<String> = ticks
        .major
        .iter()
        .map(|tick| shorten(&tick.text, Face::Tick, width_max))
        .collect();
    let widest = texts
        .iter()
        .map(|text| width(text, Face::Tick))
        .fold(0.0, f64::max);
    (widest + Y_TICK_GAP, texts)
}

fn y_captions(ticks: &Ticks, texts: Vec<String>, plane: &Plane, plot: Rect) -> Vec<Caption> {
    let captions = ticks.major.iter().zip(texts).map(|(tick, text)| Caption {
        text,
        face: Face::Tick,
        tone: Tone::Muted,
        anchor: Anchor::End,
        x: plot.x - Y_TICK_GAP,
        y: plane.y.place_measure(tick.measure),
    });
    without_overlaps(captions.collect(), 0.0)
}

/// The room right of the plot; nothing when the names of lines were to stand there and cannot.
fn right_margin(chart: &Chart, frame: &Frame) -> Option<f64> {
    let least = 6.0;
    if frame.naming != Naming::Direct {
        return Some(least);
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
    (has_room && is_only_lines).then_some(margin.max(least))
}

/// As many numbers along the foot as fit.
fn x_numbers(axis: &Axis, span: Span, plot: Rect, rect: Rect) -> (Ticks, Vec<Caption>) {
    let projection = Projection::new(span, plot.x, plot.right());
    let captions = |ticks: &Ticks| -> Vec<Caption> {
        let tick_captions = ticks.major.iter().map(|tick| {
            let mut caption = Caption {
                text: shorten(&tick.text, Face::Tick, rect.width),
                face: Face::Tick,
                tone: Tone::Muted,
                anchor: Anchor::Middle,
                x: projection.place_measure(tick.measure),
                y: plot.bottom() + X_TICK_TOP + Face::Tick.line_height() / 2.0,
            };
            caption.keep_between(rect.x, rect.right());
            caption
        });
        tick_captions.collect()
    };
    let most = whole(plot.width / 40.0).max(1);
    for intervals in (1..=most).rev() {
        let ticks = ticks(span, axis.format, intervals);
        let wanted = captions(&ticks);
        if !wanted.is_empty() && without_overlaps(wanted.clone(), X_TICK_GAP).len() == wanted.len()
        {
            return (ticks, wanted);
        }
    }
    let ticks = ticks(span, axis.format, 1);
    let fitting = without_overlaps(captions(&ticks), X_TICK_GAP);
    (ticks, fitting)
}

/// Drops every caption that comes too near to the one kept before it.
fn without_overlaps(captions: Vec<Caption>, gap: f64) -> Vec<Caption> {
    let mut kept: Vec<Caption> = Vec::new();
    for caption in captions {
        let rect = caption.rect();
        let wide = Rect {
            x: rect.x - gap,
            width: rect.width + 2.0 * gap,
            ..rect
        };
        if kept.last().is_none_or(|last| !last.rect().overlaps(&wide)) {
            kept.push(caption);
        }
    }
    kept
}

fn x_title(axis: &Axis, plot: Rect) -> Vec<Caption> {
    let top = plot.bottom() + X_TICK_TOP + Face::Tick.line_height() + 3.0;
    let lines = wrap(&axis.label, Face::Label, plot.width, 2);
    let (mut captions, _) = stack(
        lines,
        Face::Label,
        Tone::Muted,
        (plot.x + plot.width / 2.0, top),
    );
    for caption in &mut captions {
        caption.anchor = Anchor::Middle;
    }
    captions
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
