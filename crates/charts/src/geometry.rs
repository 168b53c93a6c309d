//! Rectangles, and text that has a place: what a layout is made of.

use std::fmt::Display;

use crate::svg::{Svg, number};
use crate::text::{Face, width};

/// How far a line of text reaches above its baseline, in parts of the line height; the rest is below.
const ASCENT: f64 = 0.78;

/// A rectangle, in pixels; y grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// Whether two rectangles have more than an edge in common.
    pub(crate) fn overlaps(&self, other: &Rect) -> bool {
        // Edges that should coincide may miss each other by a rounding error.
        let slack = 1e-6;
        self.x + slack < other.right()
            && other.x + slack < self.right()
            && self.y + slack < other.bottom()
            && other.y + slack < self.bottom()
    }

    /// Whether another rectangle lies inside, edges included.
    pub(crate) fn holds(&self, other: &Rect) -> bool {
        let slack = 0.05;
        self.x - slack <= other.x
            && other.right() <= self.right() + slack
            && self.y - slack <= other.y
            && other.bottom() <= self.bottom() + slack
    }

    /// Whether the segment between two points passes through the rectangle.
    pub(crate) fn is_crossed(&self, from: (f64, f64), to: (f64, f64)) -> bool {
        // The part of the segment that is inside, cut by one side after the other (Liang and Barsky, ACM TOG 3(1), 1984).
        let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
        let sides = [
            (to.0 - from.0, self.x - from.0, self.right() - from.0),
            (to.1 - from.1, self.y - from.1, self.bottom() - from.1),
        ];
        for (along, near, far) in sides {
            if along == 0.0 {
                if 0.0 < near || far < 0.0 {
                    return false;
                }
                continue;
            }
            let (one, other) = (near / along, far / along);
            enters = enters.max(one.min(other));
            leaves = leaves.min(one.max(other));
        }
        enters <= leaves
    }
}

/// Which part of a text stands at its x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// What a caption is to the reader, and so how it is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Muted,
    /// Inside the plot, with a rim that keeps it legible over lines.
    Inside,
}

/// One line of text with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Caption {
    pub(crate) text: String,
    pub(crate) face: Face,
    pub(crate) tone: Tone,
    pub(crate) anchor: Anchor,
    pub(crate) x: f64,
    /// The middle of the line.
    pub(crate) y: f64,
}

impl Caption {
    /// The room that the text takes at most.
    pub(crate) fn rect(&self) -> Rect {
        let width = width(&self.text, self.face);
        let height = self.face.line_height();
        let x = match self.anchor {
            Anchor::Start => self.x,
            Anchor::Middle => self.x - width / 2.0,
            Anchor::End => self.x - width,
        };
        Rect {
            x,
            y: self.y - height / 2.0,
            width,
            height,
        }
    }

    /// Moves the text sideways, if it must, to lie between two edges.
    pub(crate) fn keep_between(&mut self, left: f64, right: f64) {
        let rect = self.rect();
        self.x -= (rect.right() - right).max(0.0);
        let rect = self.rect();
        self.x += (left - rect.x).max(0.0);
    }

    pub(crate) fn draw(&self, svg: &mut Svg) {
        let baseline = self.rect().y + self.face.line_height() * ASCENT;
        let anchor = match self.anchor {
            Anchor::Start => "",
            Anchor::Middle => " middle",
            Anchor::End => " end",
        };
        let tone = match self.tone {
            Tone::Plain => "",
            Tone::Muted => " muted",
            Tone::Inside => " halo",
        };
        let class = format!("{}{anchor}{tone}", self.face.class());
        let attributes: [(&str, &dyn Display); 3] = [
            ("class", &class),
            ("x", &number(self.x)),
            ("y", &number(baseline)),
        ];
        svg.text("text", &attributes, &self.text);
    }
}

/// Stacks lines of text below each other; gives the captions and the height that they take.
pub(crate) fn stack(
    lines: Vec<String>,
    face: Face,
    tone: Tone,
    (x, top): (f64, f64),
) -> (Vec<Caption>, f64) {
    let line_height = face.line_height();
    let height = lines.len() as f64 * line_height;
    let captions = lines.into_iter().enumerate().map(|(index, text)| Caption {
        text,
        face,
        tone,
        anchor: Anchor::Start,
        x,
        y: top + (index as f64 + 0.5) * line_height,
    });
    (captions.collect(), height)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Rect = Rect {
        x: 0.0,
        y: 0.0,
        width: 10.0,
        height: 10.0,
    };

    #[test]
    fn rectangles_that_touch_do_not_overlap() {
        assert!(!UNIT.overlaps(&Rect { x: 10.0, ..UNIT }));
        assert!(UNIT.overlaps(&Rect {
            x: 9.0,
            y: -9.0,
            ..UNIT
        }));
        assert!(UNIT.holds(&UNIT));
        assert!(!UNIT.holds(&Rect { x: 1.0, ..UNIT }));
    }

    #[test]
    fn a_segment_crosses_or_passes_by() {
        assert!(UNIT.is_crossed((-5.0, 5.0), (15.0, 5.0)));
        assert!(UNIT.is_crossed((2.0, 2.0), (3.0, 3.0)));
        assert!(!UNIT.is_crossed((-5.0, 11.0), (15.0, 11.0)));
        assert!(!UNIT.is_crossed((-5.0, 4.0), (4.0, -6.0)));
        assert!(!UNIT.is_crossed((20.0, 5.0), (30.0, 5.0)));
    }

    #[test]
    fn a_caption_moves_inwards() {
        let mut caption = Caption {
            text: "100k".into(),
            face: Face::Tick,
            tone: Tone::Muted,
            anchor: Anchor::Middle,
            x: 99.0,
            y: 0.0,
        };
        caption.keep_between(0.0, 100.0);
        assert!((caption.rect().right() - 100.0).abs() < 1e-9);
    }
}
