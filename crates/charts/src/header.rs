//! The texts above a plot: title, subtitle, and the title of the y axis, which is read more easily there than turned on its side.

use crate::axis::Axis;
use crate::chart::Chart;
use crate::geometry::{Caption, Rect, Tone, stack};
use crate::text::{Face, wrap};

/// The most lines of a title and of a subtitle.
const TITLE_LINES_MAX: usize = 3;
/// The most lines of an axis title.
const AXIS_LINES_MAX: usize = 2;

/// The texts above a plot.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) captions: Vec<Caption>,
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
            wrap(&chart.title, face, frame.width, TITLE_LINES_MAX),
            face,
            Tone::Plain,
            frame,
        );
        let subtitle = wrap(
            &chart.subtitle,
            Face::Subtitle,
            frame.width,
            TITLE_LINES_MAX,
        );
        header.add(subtitle, Face::Subtitle, Tone::Muted, frame);
        if 0.0 < header.height {
            header.height += 8.0;
        }
        header
    }

    /// Adds the y axis title; `at_least` aligns plots that stand side by side.
    pub(crate) fn with_axis(mut self, axis: &Axis, frame: Rect, at_least: f64) -> Header {
        self.height = self.height.max(at_least);
        let lines = wrap(&axis.label, Face::Label, frame.width, AXIS_LINES_MAX);
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
