//! The look of a series, and the key that shows it in a legend or beside a label.

use std::fmt::{Display, Write};

use crate::chart::Chart;
use crate::palette::Slot;
use crate::series::Style;
use crate::svg::{Svg, number, push_point};

/// Half the width of a marker, in pixels.
pub(crate) const MARKER_RADIUS: f64 = 3.6;

/// How a series is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Data, in the colour and shape of its slot.
    Slot(Slot),
    /// For reference: grey.
    Reference,
}

impl Look {
    /// The class that sets the colour.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Look::Slot(slot) => slot.class(),
            Look::Reference => "reference",
        }
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

/// What a legend shows beside a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A piece of line, with its marker.
    Line(Look),
    /// A marker alone.
    Dot(Look),
    /// A piece of a bar.
    Bar(Look),
    /// A piece of a rule.
    Rule,
}

impl Key {
    /// Draws the key between two x, around a y.
    pub(crate) fn draw(self, svg: &mut Svg, (from, to): (f64, f64), y: f64) {
        let middle = f64::midpoint(from, to);
        let line = format!("M{} {}H{}", number(from), number(y), number(to));
        let class = match self {
            Key::Line(look) | Key::Dot(look) | Key::Bar(look) => look.class(),
            Key::Rule => "reference",
        };
        svg.open("g", &[("class", &class)]);
        match self {
            Key::Line(Look::Slot(slot)) => {
                draw_line(svg, &line, slot);
                draw_marker(svg, slot, (middle, y), None);
            }
            Key::Line(Look::Reference) => {
                svg.empty("path", &[("class", &"line thin"), ("d", &line)]);
            }
            Key::Dot(Look::Slot(slot)) => draw_marker(svg, slot, (middle, y), None),
            Key::Bar(_) | Key::Dot(Look::Reference) => {
                let attributes: [(&str, &dyn Display); 6] = [
                    ("class", &"bar"),
                    ("x", &number(middle - 7.0)),
                    ("y", &number(y - 5.0)),
                    ("width", &14),
                    ("height", &10),
                    ("rx", &1),
                ];
                svg.empty("rect", &attributes);
            }
            Key::Rule => svg.empty("path", &[("class", &"rule"), ("d", &line)]),
        }
        svg.close();
    }
}

/// Draws a path with the dashes of a slot.
pub(crate) fn draw_line(svg: &mut Svg, path: &str, slot: Slot) {
    match slot.dashes() {
        None => svg.empty("path", &[("class", &"line"), ("d", &path)]),
        Some(dashes) => {
            svg.empty(
                "path",
                &[
                    ("class", &"line"),
                    ("stroke-dasharray", &dashes),
                    ("d", &path),
                ],
            );
        }
    }
}

/// Draws the marker of a slot at a point; the title is what a browser shows when it is pointed at.
pub(crate) fn draw_marker(svg: &mut Svg, slot: Slot, at: (f64, f64), title: Option<&str>) {
    let class = if slot.is_hollow() {
        "mark hollow"
    } else {
        "mark"
    };
    let mut path = String::new();
    push_marker(&mut path, slot, at, MARKER_RADIUS);
    let attributes: [(&str, &dyn Display); 2] = [("class", &class), ("d", &path)];
    match title {
        None => svg.empty("path", &attributes),
        Some(title) => {
            svg.open("path", &attributes);
            svg.text("title", &[], title);
            svg.close();
        }
    }
}

/// Appends the outline of the marker of a slot to a path: where it begins, and the way from there, which is short.
pub(crate) fn push_marker(path: &mut String, slot: Slot, (x, y): (f64, f64), radius: f64) {
    let corners = slot.corners();
    path.push('M');
    let Some(&first) = corners.first() else {
        push_point(path, x - radius, y);
        let (half, across) = (number(radius), number(2.0 * radius));
        for back in [" ", "-"] {
            // Writing to a string cannot fail.
            let _ = write!(path, "a{half} {half} 0 1 0{back}{across} 0");
        }
        path.push('z');
        return;
    };
    push_point(path, x + first.0 * radius, y + first.1 * radius);
    for (index, pair) in corners.windows(2).enumerate() {
        path.push(if index == 0 { 'l' } else { ' ' });
        let (along_x, along_y) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        push_point(path, along_x * radius, along_y * radius);
    }
    path.push('z');
}
