//! What can be drawn between two axes: lines, point clouds, bars, and rules for reference.
//!
//! These are what a caller fills in; [`Chart`](crate::Chart) takes them. Any number may be in them: what has no place on the axes is
//! not drawn, and a line is broken there.

use crate::svg::one_line;

/// The kind of thing that a line stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Data: coloured, with markers.
    #[default]
    Main,
    /// What data is held against, such as a ceiling or a model: thin, grey and dashed.
    Reference,
}

/// A point of a band: at `x`, from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Where along the x axis.
    pub x: f64,
    /// The lower edge.
    pub low: f64,
    /// The upper edge.
    pub high: f64,
}

/// A series of points joined by a line, in the order given.
#[derive(Clone, Debug)]
pub struct Line {
    pub(crate) label: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) band: Vec<Spread>,
    pub(crate) style: Style,
    pub(crate) is_steps: bool,
    pub(crate) slot: Option<usize>,
}

impl Line {
    /// A line through the points `(x, y)`. A point that is not finite breaks it.
    pub fn new(label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Line {
        Line {
            label: one_line(label),
            points: points.into_iter().collect(),
            band: Vec::new(),
            style: Style::Main,
            is_steps: false,
            slot: None,
        }
    }

    /// A shaded band around the line, such as mean ± spread, in order of x.
    #[must_use]
    pub fn band(mut self, band: impl IntoIterator<Item = Spread>) -> Line {
        self.band = band.into_iter().collect();
        self
    }

    /// The kind of thing that the line stands for. Default: [`Style::Main`].
    #[must_use]
    pub fn style(mut self, style: Style) -> Line {
        self.style = style;
        self
    }

    /// Draws steps: a value holds until the next point.
    #[must_use]
    pub fn steps(mut self) -> Line {
        self.is_steps = true;
        self
    }

    /// Fixes the look of the line: the same slot, the same colour and marker in every figure. Default: the first free slot.
    #[must_use]
    pub fn slot(mut self, slot: usize) -> Line {
        self.slot = Some(slot);
        self
    }
}

/// A cloud of points.
#[derive(Clone, Debug)]
pub struct Scatter {
    pub(crate) label: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) slot: Option<usize>,
}

impl Scatter {
    /// The points `(x, y)`, each by itself.
    pub fn new(label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Scatter {
        Scatter {
            label: one_line(label),
            points: points.into_iter().collect(),
            slot: None,
        }
    }

    /// Fixes the look of the points, as for [`Line::slot`].
    #[must_use]
    pub fn slot(mut self, slot: usize) -> Scatter {
        self.slot = Some(slot);
        self
    }
}

/// One bar: from `low` to `high` on the x axis, `value` high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Its left edge.
    pub low: f64,
    /// Its right edge.
    pub high: f64,
    /// Its height, on the y axis.
    pub value: f64,
}

/// A series of bars, such as a [`histogram`](crate::histogram).
#[derive(Clone, Debug)]
pub struct Bars {
    pub(crate) label: String,
    pub(crate) each: Vec<Bar>,
    pub(crate) slot: Option<usize>,
}

impl Bars {
    /// Bars that share a label.
    pub fn new(label: impl Into<String>, bars: impl IntoIterator<Item = Bar>) -> Bars {
        Bars {
            label: one_line(label),
            each: bars.into_iter().collect(),
            slot: None,
        }
    }

    /// Fixes the look of the bars, as for [`Line::slot`].
    #[must_use]
    pub fn slot(mut self, slot: usize) -> Bars {
        self.slot = Some(slot);
        self
    }
}

/// Which way a rule runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Horizontal,
    Vertical,
}

/// A labelled straight line across the plot, to compare with.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(crate) label: String,
    pub(crate) value: f64,
    pub(crate) direction: Direction,
}

impl Rule {
    /// A line across the plot at a value of the y axis.
    pub fn horizontal(value: f64, label: impl Into<String>) -> Rule {
        Rule {
            label: one_line(label),
            value,
            direction: Direction::Horizontal,
        }
    }

    /// A line up the plot at a value of the x axis.
    pub fn vertical(value: f64, label: impl Into<String>) -> Rule {
        Rule {
            label: one_line(label),
            value,
            direction: Direction::Vertical,
        }
    }
}
