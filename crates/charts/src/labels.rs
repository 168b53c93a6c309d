//! Finds places for names inside a figure: at the ends of lines, and along rules.
//!
//! Nothing may overlap. When the names do not all fit, the answer is "no", and the caller puts them into a legend: half of the names
//! here and half there would only be confusing.

use crate::geometry::{Anchor, Caption, Rect, Tone};
use crate::series::Direction;
use crate::text::{Face, width};

/// From the end of a line to its key, and from the key to the name.
pub(crate) const KEY_GAP: f64 = 11.0;
const NAME_GAP: f64 = 8.0;
/// How far a name may be moved up or down from the end of its line, in line heights.
const SHIFT_MAX: f64 = 1.6;
/// A line that ends this close to the right edge has its name beside the plot.
const EDGE: f64 = 3.0;
/// Between a rule and its name.
const RULE_GAP: f64 = 3.0;

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

/// The name of a line and where that line ends.
#[derive(Clone, Debug)]
pub(crate) struct LineEnd {
    pub(crate) label: String,
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Which line it is.
    pub(crate) index: usize,
}

/// A name with its place, and the end of the line that it names.
#[derive(Clone, Debug)]
pub(crate) struct EndLabel {
    pub(crate) caption: Caption,
    pub(crate) end: LineEnd,
    /// Where the key stands: a marker in the look of the line.
    pub(crate) key: (f64, f64),
}

impl EndLabel {
    /// The room that name and key take together.
    fn rect(&self) -> Rect {
        let name = self.caption.rect();
        let left = self.key.0 - NAME_GAP / 2.0;
        Rect {
            x: left,
            width: name.right() - left,
            ..name
        }
    }
}

/// A straight piece of something drawn.
pub(crate) type Segment = ((f64, f64), (f64, f64));

/// The room to keep free right of the plot for these names.
pub(crate) fn margin(labels: &[&str]) -> f64 {
    let widest = labels
        .iter()
        .map(|label| width(label, Face::Label))
        .fold(0.0, f64::max);
    if labels.is_empty() {
        0.0
    } else {
        KEY_GAP + NAME_GAP + widest
    }
}

/// Places the names of lines at their ends, or says that they do not fit. `room` is the plot with what is free right of it.
pub(crate) fn at_line_ends(
    ends: &[LineEnd],
    (plot, room): (Rect, Rect),
    obstacles: &[Segment],
) -> Option<Vec<EndLabel>> {
    let is_beside = |end: &&LineEnd| plot.right() - EDGE <= end.x;
    let beside: Vec<LineEnd> = ends.iter().filter(is_beside).cloned().collect();
    let mut labels = in_column(beside, plot)?;
    for end in ends.iter().filter(|end| !is_beside(end)) {
        let label = label_at(end.clone(), end.x, end.y);
        let name = label.caption.rect();
        // From the end of the line on, so that nothing comes between it and its name.
        let rect = Rect {
            x: end.x + 2.0,
            width: name.right() - end.x - 2.0,
            ..name
        };
        let is_crossed = obstacles
            .iter()
            .any(|(from, to)| rect.is_crossed(*from, *to));
        let is_taken = labels.iter().any(|other| other.rect().overlaps(&rect));
        if is_crossed || is_taken || !room.holds(&rect) {
            return None;
        }
        labels.push(label);
    }
    Some(labels)
}

/// Places names in a column right of the plot, each as near to the end of its line as the others let it.
fn in_column(mut ends: Vec<LineEnd>, plot: Rect) -> Option<Vec<EndLabel>> {
    let height = Face::Label.line_height();
    ends.sort_by(|one, other| one.y.total_cmp(&other.y).then(one.index.cmp(&other.index)));
    let wanted: Vec<f64> = ends
        .iter()
        .map(|end| end.y.clamp(plot.y, plot.bottom()))
        .collect();
    let places = spread(&wanted, height);
    let first_ok = places
        .first()
        .is_none_or(|first| plot.y - height / 2.0 <= *first);
    let last_ok = places
        .last()
        .is_none_or(|last| *last <= plot.bottom() + height / 2.0);
    let is_near = places
        .iter()
        .zip(&wanted)
        .all(|(place, wanted)| (place - wanted).abs() <= SHIFT_MAX * height);
    if !(first_ok && last_ok && is_near) {
        return None;
    }
    let labels = ends
        .into_iter()
        .zip(places)
        .map(|(end, y)| label_at(end, plot.right(), y));
    Some(labels.collect())
}

/// Moves sorted places as little as needed to be at least `distance` apart: groups that touch are centred on what they wanted.
fn spread(wanted: &[f64], distance: f64) -> Vec<f64> {
    struct Group {
        sum: f64,
        count: usize,
    }
    let start = |group: &Group| group.sum / group.count as f64;
    // Each place less its rank × distance must not decrease; pooling neighbours that do gives the nearest such sequence.
    let mut groups: Vec<Group> = Vec::new();
    for (index, wanted) in wanted.iter().enumerate() {
        let mut group = Group {
            sum: wanted - index as f64 * distance,
            count: 1,
        };
        while let Some(before) = groups.pop_if(|before| start(&group) < start(before)) {
            group.sum += before.sum;
            group.count += before.count;
        }
        groups.push(group);
    }
    let levels = groups
        .iter()
        .flat_map(|group| std::iter::repeat_n(start(group), group.count));
    levels
        .enumerate()
        .map(|(index, level)| level + index as f64 * distance)
        .collect()
}

fn label_at(end: LineEnd, x: f64, y: f64) -> EndLabel {
    EndLabel {
        caption: Caption {
            text: end.label.clone(),
            face: Face::Label,
            tone: Tone::Plain,
            anchor: Anchor::Start,
            x: x + KEY_GAP + NAME_GAP,
            y,
        },
        key: (x + KEY_GAP, y),
        end,
    }
}

/// A rule across the plot, in pixels, with its name.
#[derive(Clone, Debug)]
pub(crate) struct RulePlace {
    pub(crate) label: String,
    pub(crate) direction: Direction,
    pub(crate) at: f64,
}

/// Places the names of rules beside them, where they cover the least of what is drawn; or says that they do not fit.
pub(crate) fn along_rules(
    rules: &[RulePlace],
    plot: Rect,
    obstacles: &[Segment],
) -> Option<Vec<Caption>> {
    let mut placed: Vec<Caption> = Vec::new();
    for rule in rules.iter().filter(|rule| !rule.label.is_empty()) {
        let is_free = |caption: &Caption| {
            let rect = caption.rect();
            plot.holds(&rect)
                && placed.iter().all(|other| !other.rect().overlaps(&rect))
                && rules.iter().all(|other| !is_struck(&rect, other, plot))
        };
        let crossings = |caption: &Caption| {
            let rect = caption.rect();
            obstacles
                .iter()
                .filter(|(from, to)| rect.is_crossed(*from, *to))
                .count()
        };
        let best = candidates(rule, plot)
            .into_iter()
            .filter(is_free)
            .min_by_key(crossings)?;
        placed.push(best);
    }
    Some(placed)
}

/// Whether a rule runs through a rectangle.
fn is_struck(rect: &Rect, rule: &RulePlace, plot: Rect) -> bool {
    match rule.direction {
        Direction::Horizontal => rect.is_crossed((plot.x, rule.at), (plot.right(), rule.at)),
        Direction::Vertical => rect.is_crossed((rule.at, plot.y), (rule.at, plot.bottom())),
    }
}

/// The places to try, the usual ones first: above a horizontal rule, right of a vertical one.
fn candidates(rule: &RulePlace, plot: Rect) -> Vec<Caption> {
    let off = Face::Label.line_height() / 2.0 + RULE_GAP;
    let caption = |anchor, x, y| Caption {
        text: rule.label.clone(),
        face: Face::Label,
        tone: Tone::Inside,
        anchor,
        x,
        y,
    };
    let mut captions = Vec::new();
    match rule.direction {
        Direction::Horizontal => {
            for y in [rule.at - off, rule.at + off] {
                captions.push(caption(Anchor::End, plot.right() - RULE_GAP, y));
                captions.push(caption(Anchor::Start, plot.x + RULE_GAP, y));
                captions.push(caption(Anchor::Middle, plot.x + plot.width / 2.0, y));
            }
        }
        Direction::Vertical => {
            for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
                let y = plot.y + off + share * (plot.height - 2.0 * off);
                captions.push(caption(Anchor::Start, rule.at + 2.0 * RULE_GAP, y));
                captions.push(caption(Anchor::End, rule.at - 2.0 * RULE_GAP, y));
            }
        }
    }
    captions
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLOT: Rect = Rect {
        x: 50.0,
        y: 50.0,
        width: 400.0,
        height: 300.0,
    };

    #[test]
    fn names_that_touch_are_moved_apart_evenly() {
        assert_eq!(spread(&[10.0, 12.0, 100.0], 20.0), [1.0, 21.0, 100.0]);
        assert_eq!(spread(&[], 20.0), Vec::<f64>::new());
    }

    #[test]
    fn a_bundle_of_lines_gets_a_legend_instead() {
        let ends: Vec<LineEnd> = (0..7)
            .map(|index| LineEnd {
                label: "policy".into(),
                x: PLOT.right(),
                y: PLOT.y,
                index,
            })
            .collect();
        assert!(at_line_ends(&ends, (PLOT, PLOT), &[]).is_none());
        assert!(at_line_ends(&ends[..2], (PLOT, PLOT), &[]).is_some());
    }

    #[test]
    fn a_line_that_ends_early_is_named_there_if_nothing_is_in_the_way() {
        let end = LineEnd {
            label: "ring".into(),
            x: 200.0,
            y: 200.0,
            index: 0,
        };
        let ends = [end];
        assert!(at_line_ends(&ends, (PLOT, PLOT), &[]).is_some());
        assert!(at_line_ends(&ends, (PLOT, PLOT), &[((210.0, 100.0), (230.0, 300.0))]).is_none());
    }

    fn rules() -> impl Strategy<Value = Vec<RulePlace>> {
        let rule =
            ("\\PC{0,30}", any::<bool>(), 0.0..1.0).prop_map(|(label, is_horizontal, share)| {
                RulePlace {
                    label,
                    direction: if is_horizontal {
                        Direction::Horizontal
                    } else {
                        Direction::Vertical
                    },
                    at: if is_horizontal {
                        PLOT.y + share * PLOT.height
                    } else {
                        PLOT.x + share * PLOT.width
                    },
                }
            });
        prop::collection::vec(rule, 0..8)
    }

    proptest! {
        #[test]
        fn names_of_rules_overlap_nothing(rules in rules()) {
            if let Some(captions) = along_rules(&rules, PLOT, &[]) {
                for (index, caption) in captions.iter().enumerate() {
                    prop_assert!(PLOT.holds(&caption.rect()));
                    for other in &captions[..index] {
                        prop_assert!(!caption.rect().overlaps(&other.rect()));
                    }
                    for rule in &rules {
                        prop_assert!(!is_struck(&caption.rect(), rule, PLOT));
                    }
                }
            }
        }

        #[test]
        fn spread_places_keep_their_order_and_distance(mut wanted in prop::collection::vec(0.0..300.0, 0..12)) {
            wanted.sort_by(f64::total_cmp);
            let places = spread(&wanted, 16.0);
            for pair in places.windows(2) {
                prop_assert!(16.0 - 1e-9 <= pair[1] - pair[0]);
            }
        }

        #[test]
        fn names_at_line_ends_overlap_nothing(ends in prop::collection::vec(("\\PC{0,20}", 0.0..1.0, 0.0..1.0), 0..8)) {
            let ends: Vec<LineEnd> = ends
                .into_iter()
                .enumerate()
                .map(|(index, (label, x, y))| LineEnd {
                    label,
                    x: PLOT.x + f64::min(1.0, 1.5 * x) * PLOT.width,
                    y: PLOT.y + y * PLOT.height,
                    index,
                })
                .collect();
            let labels = at_line_ends(&ends, (PLOT, PLOT), &[]).unwrap_or_default();
            for (index, label) in labels.iter().enumerate() {
                for other in &labels[..index] {
                    prop_assert!(!label.caption.rect().overlaps(&other.caption.rect()));
                }
            }
        }
    }
}
