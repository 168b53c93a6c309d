//! The numbers along the two axes, and the title of the x axis: how many there is room for, and where each stands.
//!
//! Invariant: numbers do not overlap, and those below the plot stay inside the frame.

use crate::axis::{Axis, Extent, Fit, Projection, Scale, Span};
use crate::chart::Chart;
use crate::geometry::{Anchor, Caption, Rect, Tone, stack};
use crate::text::{Face, shorten, width, wrap};
use crate::ticks::{Ticks, ticks};
use crate::trace::Plane;

/// Pixels between two numbers below the plot, at least.
const X_TICK_GAP: f64 = 18.0;
/// Pixels from one number below the plot to the next, at least; most are wider.
const X_STEP_MIN: f64 = 40.0;
/// A logarithmic axis over fewer decades than this may hold no two round numbers.
const LOG_X_DECADES_MIN: f64 = 1.2;
/// Pixels from one number beside the plot to the next, at least.
const LINEAR_Y_STEP: f64 = 38.0;
const LOG_Y_STEP: f64 = 26.0;
/// Between the plot and the numbers beside it.
const Y_TICK_GAP: f64 = 7.0;
/// Between the plot and the numbers below it: more than half a line, so that they clear the lowest number beside it.
const X_TICK_TOP: f64 = 9.0;
/// Between the numbers below the plot and the axis title.
const X_TITLE_TOP: f64 = 3.0;
/// The greatest part of the width that the numbers of the y axis may take.
const Y_TICK_SHARE_MAX: f64 = 0.4;
/// The greatest part of the width that the title of the x axis may take, and its most lines.
const X_TITLE_SHARE_MAX: f64 = 0.6;
const X_TITLE_LINES_MAX: usize = 2;

/// The height that is taken below the plot.
pub(crate) fn footer_height(axis: &Axis, rect: Rect) -> f64 {
    let lines = x_title_lines(axis, rect).len() as f64;
    X_TICK_TOP + Face::Tick.line_height() + X_TITLE_TOP + lines * Face::Label.line_height()
}

/// The part of the y axis that is shown in a plot of this height.
pub(crate) fn y_span(chart: &Chart, extent: Extent, height: f64) -> Span {
    let from_zero = !chart.bars.is_empty();
    chart.y.span(
        extent,
        Fit::Round {
            intervals: y_intervals(&chart.y, height),
            from_zero,
        },
    )
}

/// The marks of the y axis.
pub(crate) fn y_ticks(axis: &Axis, span: Span, height: f64) -> Ticks {
    ticks(span, axis.format, y_intervals(axis, height))
}

/// The part of the x axis that is shown: it ends where the data does. Only a short logarithmic axis ends at round numbers, because
/// there might be none to read inside.
pub(crate) fn x_span(axis: &Axis, extent: Extent, width: f64) -> Span {
    let is_short = axis.scale == Scale::Log && extent.width() < LOG_X_DECADES_MIN;
    let fit = if is_short {
        Fit::Round {
            intervals: whole(width / X_STEP_MIN).max(1),
            from_zero: false,
        }
    } else {
        Fit::Tight
    };
    axis.span(extent, fit)
}

/// The room that the numbers of the y axis take left of the plot, and what is written there.
pub(crate) fn y_numbers(ticks: &Ticks, rect: Rect) -> (f64, Vec<String>) {
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

/// The numbers beside the plot.
pub(crate) fn y_captions(
    ticks: &Ticks,
    texts: Vec<String>,
    plane: &Plane,
    plot: Rect,
) -> Vec<Caption> {
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

/// As many numbers along the foot as fit.
pub(crate) fn x_numbers(axis: &Axis, span: Span, plot: Rect, rect: Rect) -> (Ticks, Vec<Caption>) {
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
    let most = whole(plot.width / X_STEP_MIN).max(1);
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

/// The title of the x axis, in the middle below the plot, or as near to it as the frame allows.
pub(crate) fn x_title(axis: &Axis, plot: Rect, rect: Rect) -> Vec<Caption> {
    let top = plot.bottom() + X_TICK_TOP + Face::Tick.line_height() + X_TITLE_TOP;
    let at = (plot.x + plot.width / 2.0, top);
    let (mut captions, _) = stack(x_title_lines(axis, rect), Face::Label, Tone::Muted, at);
    for caption in &mut captions {
        caption.anchor = Anchor::Middle;
        caption.keep_between(rect.x, rect.right());
    }
    captions
}

fn x_title_lines(axis: &Axis, rect: Rect) -> Vec<String> {
    let width_max = rect.width * X_TITLE_SHARE_MAX;
    wrap(&axis.label, Face::Label, width_max, X_TITLE_LINES_MAX)
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

fn y_intervals(axis: &Axis, height: f64) -> usize {
    let step = match axis.scale {
        Scale::Linear => LINEAR_Y_STEP,
        Scale::Log => LOG_Y_STEP,
    };
    whole(height / step).max(2)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of pixels, and a cast saturates"
)]
fn whole(value: f64) -> usize {
    value.floor() as usize
}
