//! Writes a laid-out panel as SVG: grid, bars, bands, lines, clouds, rules and captions, from back to front.

use std::fmt::{Display, Write};

use crate::axis::Projection;
use crate::geometry::Rect;
use crate::look::{Key, Look, draw_line, draw_marker, push_marker};
use crate::palette::Slot;
use crate::panel::Panel;
use crate::series::{Bars, Direction, Line, Scatter};
use crate::svg::{Svg, number};
use crate::thin;
use crate::ticks::Ticks;
use crate::trace::{Trace, push_run};

/// Clouds up to this size have a title on every point.
const TITLED_POINTS_MAX: usize = 150;
/// Half the width of a point in a cloud: smaller when there are many.
const FEW_RADIUS: f64 = 3.6;
const MANY_RADIUS: f64 = 2.4;
/// The most bars that are drawn one by one; more are drawn as one outline.
const BARS_MAX: usize = 500;
/// Markers and line caps may reach this far out of the plot.
const CLIP_MARGIN: f64 = 5.0;
/// A label that was moved this far from the end of its line is tied to it.
const LEADER_FROM: f64 = 3.0;

/// Draws the panel; ids begin with `id`, which no other panel of the page has.
pub(crate) fn panel(panel: &Panel, svg: &mut Svg, id: &str) {
    grid(panel, svg);
    let clip = format!("{id}-plot");
    clip_path(panel.plot, svg, &clip);
    svg.open("g", &[("clip-path", &format!("url(#{clip})"))]);
    let line_count = panel.chart.lines.len();
    let cloud_count = panel.chart.scatters.len();
    let (line_looks, rest) = panel.looks.split_at(line_count);
    let (cloud_looks, bar_looks) = rest.split_at(cloud_count);
    for (series, look) in panel.chart.bars.iter().zip(bar_looks) {
        bars(panel, series, *look, svg);
    }
    rules(panel, svg);
    for (series, look) in panel.chart.scatters.iter().zip(cloud_looks) {
        cloud(panel, series, *look, svg);
    }
    for ((series, trace), look) in panel.chart.lines.iter().zip(&panel.traces).zip(line_looks) {
        line(panel, (series, trace), *look, svg);
    }
    svg.close();
    foot(panel, svg);
    for label in &panel.end_labels {
        if let Some(&look) = line_looks.get(label.end.index) {
            end_label(label, look, svg);
        }
    }
    for caption in &panel.captions {
        caption.draw(svg);
    }
}

fn clip_path(plot: Rect, svg: &mut Svg, id: &str) {
    svg.open("clipPath", &[("id", &id)]);
    let attributes: [(&str, &dyn Display); 4] = [
        ("x", &number(plot.x - CLIP_MARGIN)),
        ("y", &number(plot.y - CLIP_MARGIN)),
        ("width", &number(plot.width + 2.0 * CLIP_MARGIN)),
        ("height", &number(plot.height + 2.0 * CLIP_MARGIN)),
    ];
    svg.empty("rect", &attributes);
    svg.close();
}

fn grid(panel: &Panel, svg: &mut Svg) {
    let plot = panel.plot;
    // Writing to a string cannot fail.
    let across = |path: &mut String, y: f64| {
        let (from, y, to) = (number(plot.x), number(y), number(plot.right()));
        let _ = write!(path, "M{from} {y}H{to}");
    };
    let up = |path: &mut String, x: f64| {
        let (x, from, to) = (number(x), number(plot.y), number(plot.bottom()));
        let _ = write!(path, "M{x} {from}V{to}");
    };
    let (mut minor, mut major) = (String::new(), String::new());
    each_line(
        &panel.y_ticks,
        &panel.plane.y,
        (&mut minor, &mut major),
        across,
    );
    each_line(&panel.x_ticks, &panel.plane.x, (&mut minor, &mut major), up);
    svg.open("g", &[("class", &"grid")]);
    if !minor.is_empty() {
        svg.empty("path", &[("class", &"minor"), ("d", &minor)]);
    }
    svg.empty("path", &[("d", &major)]);
    svg.close();
}

fn each_line(
    ticks: &Ticks,
    axis: &Projection,
    (minor, major): (&mut String, &mut String),
    push: impl Fn(&mut String, f64),
) {
    for &measure in &ticks.minor {
        push(minor, axis.place_measure(measure));
    }
    for tick in &ticks.major {
        push(major, axis.place_measure(tick.measure));
    }
}

/// The line that everything stands on: zero where it is in sight, else the lower edge.
fn foot(panel: &Panel, svg: &mut Svg) {
    let plot = panel.plot;
    let y = number(panel.plane.y.base());
    let path = format!("M{} {y}H{}", number(plot.x), number(plot.right()));
    svg.empty("path", &[("class", &"foot"), ("d", &path)]);
}

fn line(panel: &Panel, (series, trace): (&Line, &Trace), look: Look, svg: &mut Svg) {
    open_series(look, svg);
    if let Some(last) = trace.last {
        svg.text(
            "title",
            &[],
            &title(panel, &series.label, series.points[last.index]),
        );
    }
    if 2 < trace.band.len() {
        let mut outline = String::new();
        push_run(&mut outline, trace.band.iter().copied());
        outline.push('z');
        svg.empty("path", &[("class", &"band"), ("d", &outline)]);
    }
    let path = trace.path();
    if !path.is_empty() {
        svg.empty("path", &[("class", &"hit"), ("d", &hit_path(trace))]);
    }
    match look {
        _ if path.is_empty() => {}
        Look::Reference => svg.empty("path", &[("class", &"line thin"), ("d", &path)]),
        Look::Slot(slot) => {
            draw_line(svg, &path, slot);
            for mark in &trace.marks {
                let title = title(panel, &series.label, series.points[mark.index]);
                draw_marker(svg, slot, (mark.x, mark.y), Some(&title));
            }
        }
    }
    svg.close();
}

/// A rough, wide and invisible copy of the line, which makes it easy to point at.
fn hit_path(trace: &Trace) -> String {
    let mut path = String::new();
    for run in &trace.runs {
        let rough = thin::rough(run);
        push_run(&mut path, rough.iter().map(|dot| (dot.x, dot.y)));
    }
    path
}

fn cloud(panel: &Panel, series: &Scatter, look: Look, svg: &mut Svg) {
    let Look::Slot(slot) = look else { return };
    let dots = thin::cloud(&panel.plane.dots(&series.points));
    open_series(look, svg);
    if dots.len() <= TITLED_POINTS_MAX {
        for dot in &dots {
            let title = title(panel, &series.label, series.points[dot.index]);
            dots_path(svg, slot, &[(dot.x, dot.y)], FEW_RADIUS, &title);
        }
    } else {
        let places: Vec<(f64, f64)> = dots.iter().map(|dot| (dot.x, dot.y)).collect();
        dots_path(svg, slot, &places, MANY_RADIUS, &series.label);
    }
    svg.close();
}

fn dots_path(svg: &mut Svg, slot: Slot, places: &[(f64, f64)], radius: f64, title: &str) {
    let mut path = String::new();
    for &place in places {
        push_marker(&mut path, slot, place, radius);
    }
    let class = if slot.is_hollow() {
        "dot hollow"
    } else {
        "dot"
    };
    svg.open("path", &[("class", &class), ("d", &path)]);
    svg.text("title", &[], title);
    svg.close();
}

fn bars(panel: &Panel, series: &Bars, look: Look, svg: &mut Svg) {
    let class = if panel.chart.bars.len() < 2 {
        "bar"
    } else {
        "bar over"
    };
    let base = panel.plane.y.base();
    let plot = panel.plot;
    let rects: Vec<(usize, Rect)> = series
        .each
        .iter()
        .enumerate()
        .filter_map(|(index, bar)| {
            // A bar that begins at zero begins at the left edge where the axis has no zero.
            let edge = |value: f64| {
                value
                    .is_finite()
                    .then(|| panel.plane.x.place(value).unwrap_or(plot.x))
            };
            let (from, to) = (edge(bar.low)?, edge(bar.high)?);
            let top = panel.plane.y.place(bar.value)?;
            let gap = if 4.0 < (to - from).abs() { 0.5 } else { 0.0 };
            let rect = Rect {
                x: from.min(to) + gap,
                y: top.min(base),
                width: ((to - from).abs() - 2.0 * gap).max(0.5),
                height: (top - base).abs(),
            };
            Some((index, rect))
        })
        .collect();
    open_series(look, svg);
    if rects.len() <= BARS_MAX {
        for (index, rect) in &rects {
            let bar = series.each[*index];
            let x = panel.chart.x.format;
            let range = format!(
                "{}: {} to {}",
                series.label,
                x.value(bar.low),
                x.value(bar.high)
            );
            let title = format!("{range}: {}", panel.chart.y.format.value(bar.value));
            bar_rect(svg, class, *rect, &title);
        }
    } else {
        bar_outline(svg, class, &rects, (base, &series.label));
    }
    svg.close();
}

fn bar_rect(svg: &mut Svg, class: &str, rect: Rect, title: &str) {
    let attributes: [(&str, &dyn Display); 5] = [
        ("class", &class),
        ("x", &number(rect.x)),
        ("y", &number(rect.y)),
        ("width", &number(rect.width)),
        ("height", &number(rect.height)),
    ];
    svg.open("rect", &attributes);
    svg.text("title", &[], title);
    svg.close();
}

/// Too many bars to tell apart, as one area.
fn bar_outline(svg: &mut Svg, class: &str, rects: &[(usize, Rect)], (base, label): (f64, &str)) {
    let mut corners: Vec<thin::Dot> = Vec::with_capacity(2 * rects.len());
    for (_, rect) in rects {
        let y = if rect.y < base { rect.y } else { rect.bottom() };
        for x in [rect.x, rect.right()] {
            corners.push(thin::Dot {
                x,
                y,
                index: corners.len(),
            });
        }
    }
    let corners = thin::line(&corners);
    let (Some(first), Some(last)) = (corners.first(), corners.last()) else {
        return;
    };
    let ends = [(last.x, base), (first.x, base)];
    let mut path = String::new();
    push_run(
        &mut path,
        corners.iter().map(|dot| (dot.x, dot.y)).chain(ends),
    );
    path.push('z');
    svg.open("path", &[("class", &class), ("d", &path)]);
    svg.text("title", &[], label);
    svg.close();
}

fn rules(panel: &Panel, svg: &mut Svg) {
    let plot = panel.plot;
    for rule in panel.rules() {
        let at = number(rule.at);
        let path = match rule.direction {
            Direction::Horizontal => format!("M{} {at}H{}", number(plot.x), number(plot.right())),
            Direction::Vertical => format!("M{at} {}V{}", number(plot.y), number(plot.bottom())),
        };
        svg.open("g", &[("class", &"series reference")]);
        svg.text("title", &[], &rule.label);
        svg.empty("path", &[("class", &"rule"), ("d", &path)]);
        svg.close();
    }
}

fn end_label(label: &crate::labels::EndLabel, look: Look, svg: &mut Svg) {
    let end = &label.end;
    let (x, y) = label.key;
    if LEADER_FROM < (end.y - y).abs() {
        let path = format!(
            "M{} {}L{} {}",
            number(end.x + 1.0),
            number(end.y),
            number(x - 3.0),
            number(y)
        );
        svg.open("g", &[("class", &look.class())]);
        svg.empty("path", &[("class", &"leader"), ("d", &path)]);
        svg.close();
    }
    match look {
        Look::Slot(_) => Key::Dot(look).draw(svg, (x, x), y),
        Look::Reference => Key::Line(look).draw(svg, (x - 5.0, x + 5.0), y),
    }
    label.caption.draw(svg);
}

fn open_series(look: Look, svg: &mut Svg) {
    svg.open("g", &[("class", &format!("series {}", look.class()))]);
}

/// What a browser shows for a point: the name of its series, and both values.
fn title(panel: &Panel, label: &str, (x, y): (f64, f64)) -> String {
    let x = panel.chart.x.format.value(x);
    let y = panel.chart.y.format.value(y);
    if label.is_empty() {
        format!("{y} at {x}")
    } else {
        format!("{label}: {y} at {x}")
    }
}
