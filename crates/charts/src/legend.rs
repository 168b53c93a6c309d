//! The legend below a figure: a key and a name for each series that is not labelled where it is drawn.

use crate::chart::Chart;
use crate::geometry::{Anchor, Caption, Rect, Tone};
use crate::labels::Naming;
use crate::look::{Key, Look};
use crate::series::Direction;
use crate::svg::Svg;
use crate::text::{Face, shorten, width};

/// The width of a piece of line, and of a marker or bar where there are no lines.
const LINE_KEY_WIDTH: f64 = 26.0;
const DOT_KEY_WIDTH: f64 = 14.0;
/// Between a key and its name, between columns, from row to row, and above the first.
const KEY_GAP: f64 = 7.0;
const COLUMN_GAP: f64 = 22.0;
const ROW_HEIGHT: f64 = 21.0;
const TOP_GAP: f64 = 11.0;

/// A name and how it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) label: String,
    pub(crate) key: Key,
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

/// A legend with its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Legend {
    keys: Vec<(Key, f64, f64)>,
    key_width: f64,
    pub(crate) captions: Vec<Caption>,
    /// The height that it takes, with the gap above; nothing when it is empty.
    pub(crate) height: f64,
}

impl Legend {
    /// Lays out the entries in rows from the top of `room`, in columns where there is more than one row.
    pub(crate) fn new(entries: &[Entry], room: Rect) -> Legend {
        let entries: Vec<&Entry> = entries
            .iter()
            .filter(|entry| !entry.label.is_empty())
            .collect();
        if entries.is_empty() {
            return Legend::default();
        }
        let has_lines = entries.iter().any(|entry| match entry.key {
            Key::Line(_) | Key::Rule => true,
            Key::Dot(_) | Key::Bar(_) => false,
        });
        let key_width = if has_lines {
            LINE_KEY_WIDTH
        } else {
            DOT_KEY_WIDTH
        };
        let label_max = room.width - key_width - KEY_GAP;
        let labels: Vec<String> = entries
            .iter()
            .map(|entry| shorten(&entry.label, Face::Label, label_max))
            .collect();
        let mut legend = Legend {
            key_width,
            ..Legend::default()
        };
        for (index, cell) in cells(&labels, key_width, room).into_iter().enumerate() {
            legend.keys.push((entries[index].key, cell.x, cell.y));
            legend.captions.push(Caption {
                text: labels[index].clone(),
                face: Face::Label,
                tone: Tone::Plain,
                anchor: Anchor::Start,
                x: cell.x + key_width + KEY_GAP,
                y: cell.y,
            });
            legend.height = cell.y + ROW_HEIGHT / 2.0 - room.y;
        }
        legend
    }

    pub(crate) fn draw(&self, svg: &mut Svg) {
        for &(key, x, y) in &self.keys {
            key.draw(svg, (x, x + self.key_width), y);
        }
        for caption in &self.captions {
            caption.draw(svg);
        }
    }
}

/// Where an entry begins, and the middle of its row.
struct Cell {
    x: f64,
    y: f64,
}

/// The places of entries with these labels: row by row, in as many columns as fit, each as wide as its widest entry.
fn cells(labels: &[String], key_width: f64, room: Rect) -> Vec<Cell> {
    let widths: Vec<f64> = labels
        .iter()
        .map(|label| key_width + KEY_GAP + width(label, Face::Label))
        .collect();
    let starts = (1..=labels.len())
        .rev()
        .find_map(|count| column_starts(&widths, count, room.width))
        .unwrap_or_else(|| vec![0.0]);
    let columns = starts.len();
    let first = room.y + TOP_GAP + ROW_HEIGHT / 2.0;
    (0..labels.len())
        .map(|index| Cell {
            x: room.x + starts[index % columns],
            y: first + (index / columns) as f64 * ROW_HEIGHT,
        })
        .collect()
}

/// Where each of `count` columns begins, or nothing when they are too wide together.
fn column_starts(widths: &[f64], count: usize, room: f64) -> Option<Vec<f64>> {
    let mut starts = Vec::with_capacity(count);
    let mut x = 0.0;
    for column in 0..count {
        starts.push(x);
        let of_column = widths.iter().skip(column).step_by(count);
        x += of_column.fold(0.0_f64, |widest, width| widest.max(*width)) + COLUMN_GAP;
    }
    (x - COLUMN_GAP <= room).then_some(starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::Slot;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_never_overlap_nor_leave_the_room(labels in prop::collection::vec("\\PC{0,80}", 0..20), width in 120.0..900.0) {
            let room = Rect { x: 16.0, y: 400.0, width, height: 0.0 };
            let entries: Vec<Entry> = labels
                .into_iter()
                .enumerate()
                .map(|(index, label)| Entry { label, key: Key::Line(Look::Slot(Slot(index))) })
                .collect();
            let legend = Legend::new(&entries, room);
            let whole = Rect { height: legend.height, ..room };
            for (index, caption) in legend.captions.iter().enumerate() {
                prop_assert!(whole.holds(&caption.rect()), "{caption:?} {whole:?}");
                for other in &legend.captions[..index] {
                    prop_assert!(!caption.rect().overlaps(&other.rect()), "{caption:?} {other:?}");
                }
            }
        }
    }
}
