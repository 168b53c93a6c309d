//! Small multiples: the same figure for several data sets side by side, under one title and with one legend.

use crate::chart::{Chart, free_slots};
use crate::figure::{self, Figure, NARROW_WIDTH, PADDING, Place, WIDTH_MAX, WIDTH_MIN};
use crate::geometry::{Caption, Rect, Tone, stack};
use crate::header::Header;
use crate::labels::Naming;
use crate::legend::{Entry, Legend, entries};
use crate::look::{Look, looks};
use crate::panel::{Frame, Panel, height_min};
use crate::svg::one_line;
use crate::text::{Face, wrap};

/// The width of a grid, unless stated.
const GRID_WIDTH: f64 = 960.0;
/// Between two panels.
const COLUMN_GAP: f64 = 28.0;
const ROW_GAP: f64 = 22.0;
/// Narrower panels are put into fewer columns.
const PANEL_WIDTH_MIN: f64 = 220.0;
/// Height to width of a panel, where its texts let it be so.
const ASPECT: f64 = 0.92;

/// Several charts in one figure. Series with the same label look the same in all of them.
#[derive(Clone, Debug)]
pub struct Grid {
    title: String,
    subtitle: String,
    charts: Vec<Chart>,
    columns: usize,
    width: f64,
}

impl Grid {
    /// A grid without charts.
    pub fn new(title: impl Into<String>) -> Grid {
        Grid {
            title: one_line(title),
            subtitle: String::new(),
            charts: Vec::new(),
            columns: 3,
            width: GRID_WIDTH,
        }
    }

    /// A line below the title.
    #[must_use]
    pub fn subtitle(mut self, text: impl Into<String>) -> Grid {
        self.subtitle = one_line(text);
        self
    }

    /// Adds a chart, whose title becomes a heading.
    #[must_use]
    pub fn chart(mut self, chart: Chart) -> Grid {
        self.charts.push(chart);
        self
    }

    /// The most charts side by side. Default 3.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Grid {
        self.columns = columns.max(1);
        self
    }

    /// The width to lay the figure out for, in pixels, from 240 to 4000. Default 960.
    #[must_use]
    pub fn width(mut self, pixels: u16) -> Grid {
        self.width = f64::from(pixels).clamp(WIDTH_MIN, WIDTH_MAX);
        self
    }

    /// The figure as a file of its own, as [`Chart::svg`].
    #[must_use]
    pub fn svg(&self) -> String {
        self.figure(self.width).svg(Place::File, "")
    }

    /// The figure for a page, as [`Chart::svg_inline`].
    #[must_use]
    pub fn svg_inline(&self, id_prefix: &str) -> String {
        self.figure(self.width).svg(Place::Page, id_prefix)
    }

    /// The figure for a page at two widths, as [`Chart::html`].
    #[must_use]
    pub fn html(&self, id_prefix: &str) -> String {
        figure::html(
            &self.figure(self.width),
            &self.figure(NARROW_WIDTH),
            id_prefix,
        )
    }

    pub(crate) fn figure(&self, width: f64) -> Figure<'_> {
        let room = Figure::room(width);
        let (captions, mut y) = self.header(room);
        let columns = self.columns_at(room.width);
        let looks = self.looks();
        let mut panels = Vec::new();
        let mut names: Vec<Entry> = Vec::new();
        let rows = self.charts.chunks(columns).zip(looks.chunks(columns));
        for (index, (charts, looks)) in rows.enumerate() {
            if 0 < index {
                y += ROW_GAP;
            }
            let row = Row::new(charts, room, columns);
            for (column, (chart, looks)) in charts.iter().zip(looks).enumerate() {
                let (panel, naming) = row.panel(chart, looks, (column, y));
                panels.push(panel);
                let is_new = |entry: &Entry| !names.contains(entry);
                let added: Vec<Entry> = entries(chart, looks, naming)
                    .into_iter()
                    .filter(is_new)
                    .collect();
                names.extend(added);
            }
            y += row.height;
        }
        let legend = Legend::new(&names, Rect { y, ..room });
        Figure {
            title: self.title.clone(),
            description: self.description(),
            width,
            height: y + legend.height + PADDING,
            captions,
            panels,
            legend,
        }
    }

    /// Title and subtitle, and where the first row begins.
    fn header(&self, room: Rect) -> (Vec<Caption>, f64) {
        let title = wrap(&self.title, Face::Title, room.width, 3);
        let (mut captions, title_height) = stack(title, Face::Title, Tone::Plain, (room.x, room.y));
        let subtitle = wrap(&self.subtitle, Face::Subtitle, room.width, 3);
        let (below, subtitle_height) = stack(
            subtitle,
            Face::Subtitle,
            Tone::Muted,
            (room.x, room.y + title_height),
        );
        captions.extend(below);
        let height = title_height + subtitle_height;
        (
            captions,
            room.y + if 0.0 < height { height + 14.0 } else { 0.0 },
        )
    }

    fn columns_at(&self, width: f64) -> usize {
        let most = self.columns.min(self.charts.len()).max(1);
        let fits = |columns: &usize| PANEL_WIDTH_MIN <= panel_width(width, *columns);
        (1..=most).rev().find(fits).unwrap_or(1)
    }

    /// The looks of each chart's series: one slot for each label.
    fn looks(&self) -> Vec<Vec<Look>> {
        let charts: Vec<&Chart> = self.charts.iter().collect();
        let mut slots = free_slots(&charts).into_iter();
        let mut known: std::collections::BTreeMap<String, usize> =
            std::collections::BTreeMap::new();
        for series in charts.iter().flat_map(|chart| chart.series()) {
            if let Some(slot) = series.slot {
                known.entry(series.label.to_owned()).or_insert(slot);
            }
        }
        let mut slot_of = |label: &str, fixed: Option<usize>| {
            let known = known.entry(label.to_owned());
            fixed.unwrap_or_else(|| *known.or_insert_with(|| slots.next().unwrap_or(0)))
        };
        charts
            .iter()
            .map(|chart| looks(chart, &mut slot_of))
            .collect()
    }

    fn description(&self) -> String {
        let mut words = vec![self.subtitle.clone()];
        let charts = self.charts.iter().take(12);
        words.extend(charts.map(|chart| format!("{}: {}", chart.title, chart.description())));
        words.retain(|word| !word.is_empty());
        words.join(" ")
    }
}

/// The common measures of the panels in one row, by which their plots are aligned.
struct Row {
    room: Rect,
    width: f64,
    height: f64,
    header: f64,
}

impl Row {
    fn new(charts: &[Chart], room: Rect, columns: usize) -> Row {
        let width = panel_width(room.width, columns);
        let frame = Rect { width, ..room };
        let greatest = |heights: &mut dyn Iterator<Item = f64>| heights.fold(0.0, f64::max);
        let header = greatest(
            &mut charts
                .iter()
                .map(|chart| Header::new(chart, frame, Face::Heading).height),
        );
        let height = greatest(
            &mut charts
                .iter()
                .map(|chart| height_min(chart, frame, Face::Heading, header)),
        );
        Row {
            room,
            width,
            height: height.max(width * ASPECT),
            header,
        }
    }

    fn panel<'a>(
        &self,
        chart: &'a Chart,
        looks: &[Look],
        (column, y): (usize, f64),
    ) -> (Panel<'a>, Naming) {
        let x = self.room.x + column as f64 * (self.width + COLUMN_GAP);
        let rect = Rect {
            x,
            y,
            width: self.width,
            height: self.height,
        };
        for naming in [Naming::Lines, Naming::All] {
            let frame = Frame {
                rect,
                face: Face::Heading,
                naming,
                header_min: self.header,
            };
            if let Some(panel) = Panel::lay_out(chart, looks.to_vec(), &frame) {
                return (panel, naming);
            }
        }
        unreachable!("with all names in the legend every panel can be laid out")
    }
}

fn panel_width(width: f64, columns: usize) -> f64 {
    (width - (columns - 1) as f64 * COLUMN_GAP) / columns as f64
}
