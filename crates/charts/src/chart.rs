//! One figure: a title, two axes, and what is drawn between them.

use crate::axis::{Axis, Extent, Scale};
use crate::figure::{self, Figure, NARROW_WIDTH, PADDING, Place, WIDTH, WIDTH_MAX, WIDTH_MIN};
use crate::geometry::Rect;
use crate::labels::Naming;
use crate::legend::{Legend, entries};
use crate::look::looks;
use crate::panel::{Frame, Panel, height_min};
use crate::series::{Bars, Direction, Line, Rule, Scatter, Style};
use crate::svg::one_line;
use crate::text::Face;

/// Height to width of a figure, where its texts let it be so.
const ASPECT: f64 = 0.625;
/// The same for a figure too narrow to be read at that height.
const NARROW_ASPECT: f64 = 0.88;
/// The least height to width of all but the legend: a long legend makes the figure higher.
const PANEL_ASPECT_MIN: f64 = 0.5;
/// Series that a description lists by name.
const DESCRIBED_MAX: usize = 24;

/// One figure with axes.
///
/// Series are drawn in the order in which they were added: bars at the back, then rules, clouds and lines.
#[derive(Clone, Debug)]
pub struct Chart {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) lines: Vec<Line>,
    pub(crate) scatters: Vec<Scatter>,
    pub(crate) bars: Vec<Bars>,
    pub(crate) rules: Vec<Rule>,
    width: f64,
}

impl Chart {
    /// A figure without data.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Chart {
        Chart {
            title: one_line(title),
            subtitle: String::new(),
            x,
            y,
            lines: Vec::new(),
            scatters: Vec::new(),
            bars: Vec::new(),
            rules: Vec::new(),
            width: WIDTH,
        }
    }

    /// A line below the title: what data this is.
    #[must_use]
    pub fn subtitle(mut self, text: impl Into<String>) -> Chart {
        self.subtitle = one_line(text);
        self
    }

    /// Adds a line.
    #[must_use]
    pub fn line(mut self, line: Line) -> Chart {
        self.lines.push(line);
        self
    }

    /// Adds a cloud of points.
    #[must_use]
    pub fn scatter(mut self, scatter: Scatter) -> Chart {
        self.scatters.push(scatter);
        self
    }

    /// Adds bars.
    #[must_use]
    pub fn bars(mut self, bars: Bars) -> Chart {
        self.bars.push(bars);
        self
    }

    /// Adds a rule.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Chart {
        self.rules.push(rule);
        self
    }

    /// The width to lay the figure out for, in pixels, from 240 to 4000. Default 720. Texts keep their size.
    #[must_use]
    pub fn width(mut self, pixels: u16) -> Chart {
        self.width = f64::from(pixels).clamp(WIDTH_MIN, WIDTH_MAX);
        self
    }

    /// The figure as a file of its own, light or dark as the reader prefers.
    #[must_use]
    pub fn svg(&self) -> String {
        self.figure(self.width).svg(Place::File, "")
    }

    /// The figure for a page that has the [`stylesheet`](crate::stylesheet()). Each figure of a page has a prefix of its own.
    #[must_use]
    pub fn svg_inline(&self, id_prefix: &str) -> String {
        self.figure(self.width).svg(Place::Page, id_prefix)
    }

    /// The figure for such a page, laid out twice: at its width, and for a phone. The style sheet shows the one that fits.
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
        let slots = free_slots(&[self]);
        let mut slots = slots.into_iter();
        let looks = looks(self, |_, fixed| fixed.or_else(|| slots.next()).unwrap_or(0));
        let aspect = if width < WIDTH_MIN * 2.25 {
            NARROW_ASPECT
        } else {
            ASPECT
        };
        let panel_min = height_min(self, room, Face::Title, 0.0).max(width * PANEL_ASPECT_MIN);
        let has_data = self.has_data();
        for naming in Naming::BY_PREFERENCE {
            let entries = if has_data {
                entries(self, &looks, naming)
            } else {
                Vec::new()
            };
            let legend_height = Legend::new(&entries, room).height;
            let height = (width * aspect - 2.0 * PADDING - legend_height).max(panel_min);
            let rect = Rect { height, ..room };
            let frame = Frame {
                rect,
                face: Face::Title,
                naming,
                header_min: 0.0,
            };
            if let Some(panel) = Panel::lay_out(self, looks.clone(), &frame) {
                let legend = Legend::new(
                    &entries,
                    Rect {
                        y: rect.bottom(),
                        ..room
                    },
                );
                return Figure {
                    title: self.name(),
                    description: self.description(),
                    width,
                    height: rect.bottom() + legend.height + PADDING,
                    captions: Vec::new(),
                    panels: vec![panel],
                    legend,
                };
            }
        }
        unreachable!("with all names in the legend every panel can be laid out")
    }

    /// Lines, clouds and bars, in this order.
    pub(crate) fn series(&self) -> impl Iterator<Item = SeriesName<'_>> {
        let lines = self
            .lines
            .iter()
            .map(|line| (&line.label, line.style, line.slot));
        let clouds = self
            .scatters
            .iter()
            .map(|cloud| (&cloud.label, Style::Main, cloud.slot));
        let bars = self
            .bars
            .iter()
            .map(|bars| (&bars.label, Style::Main, bars.slot));
        let is_alone = self.lines.len() + self.scatters.len() + self.bars.len() == 1;
        lines
            .chain(clouds)
            .chain(bars)
            .map(move |(label, style, slot)| {
                let is_told_already = is_alone && (*label == self.title || *label == self.y.label);
                SeriesName {
                    label,
                    name: if is_told_already { "" } else { label },
                    style,
                    slot,
                }
            })
    }

    /// What the data spans on each axis, of all that has a place on both and is not cut off by the other.
    pub(crate) fn extents(&self) -> (Extent, Extent) {
        let (mut x_extent, mut y_extent) = (Extent::default(), Extent::default());
        let mut add = |x: f64, y: f64| {
            if let (Some(x_measure), Some(y_measure)) = (self.x.measure(x), self.y.measure(y)) {
                if self.y.shows(y) {
                    x_extent.add(x_measure);
                }
                if self.x.shows(x) {
                    y_extent.add(y_measure);
                }
            }
        };
        let lines = self.lines.iter().flat_map(|line| &line.points);
        let clouds = self.scatters.iter().flat_map(|cloud| &cloud.points);
        lines.chain(clouds).for_each(|&(x, y)| add(x, y));
        for spread in self.lines.iter().flat_map(|line| &line.band) {
            add(spread.x, spread.low);
            add(spread.x, spread.high);
        }
        // Where the scale has no zero to stand on, the lowest bar needs a height.
        let foot = match self.y.scale {
            Scale::Linear => 1.0,
            Scale::Log => 0.5,
        };
        for bar in self.bars.iter().flat_map(|bars| &bars.each) {
            add(bar.low, bar.value);
            add(bar.high, bar.value * foot);
        }
        if x_extent.is_some() && y_extent.is_some() {
            for rule in &self.rules {
                match rule.direction {
                    Direction::Horizontal => self
                        .y
                        .measure(rule.value)
                        .into_iter()
                        .for_each(|y| y_extent.add(y)),
                    Direction::Vertical => self
                        .x
                        .measure(rule.value)
                        .into_iter()
                        .for_each(|x| x_extent.add(x)),
                }
            }
        }
        (x_extent, y_extent)
    }

    pub(crate) fn has_data(&self) -> bool {
        let (x, y) = self.extents();
        x.is_some() && y.is_some()
    }

    /// What the figure is called, also where it has no title.
    fn name(&self) -> String {
        if self.title.is_empty() {
            format!("{} by {}", self.y.label, self.x.label)
        } else {
            self.title.clone()
        }
    }

    /// The figure in words, for those who do not see it.
    pub(crate) fn description(&self) -> String {
        let mut words = vec![self.subtitle.clone()];
        words.push(format!("Horizontal axis: {}.", self.x.label));
        words.push(format!("Vertical axis: {}.", self.y.label));
        for line in self.lines.iter().take(DESCRIBED_MAX) {
            let is_placed = |point: &&(f64, f64)| {
                self.x
                    .measure(point.0)
                    .and(self.y.measure(point.1))
                    .is_some()
            };
            if let Some((x, y)) = line.points.iter().rfind(is_placed) {
                let (x, y) = (self.x.format.value(*x), self.y.format.value(*y));
                words.push(format!("{}: ends with {y} at {x}.", line.label));
            }
        }
        for cloud in self.scatters.iter().take(DESCRIBED_MAX) {
            words.push(format!("{}: {} points.", cloud.label, cloud.points.len()));
        }
        for bars in self.bars.iter().take(DESCRIBED_MAX) {
            words.push(format!("{}: {} bars.", bars.label, bars.each.len()));
        }
        for rule in self.rules.iter().take(DESCRIBED_MAX) {
            words.push(format!("Rule: {}.", rule.label));
        }
        if !self.has_data() {
            words.push("No data.".to_owned());
        }
        words.retain(|word| !word.is_empty());
        words.join(" ")
    }
}

/// What a series is called and how it wants to look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesName<'a> {
    pub(crate) label: &'a str,
    /// The label where it has to be shown: nothing when the figure says it already.
    pub(crate) name: &'a str,
    pub(crate) style: Style,
    pub(crate) slot: Option<usize>,
}

/// The slots, in order, that no series asked for: as many as could be needed.
pub(crate) fn free_slots(charts: &[&Chart]) -> Vec<usize> {
    let series = || charts.iter().flat_map(|chart| chart.series());
    let taken: std::collections::BTreeSet<usize> =
        series().filter_map(|series| series.slot).collect();
    (0..)
        .filter(|slot| !taken.contains(slot))
        .take(series().count())
        .collect()
}
