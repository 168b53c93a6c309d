//! The figures of the experiment.

use junkai_charts::{Axis, Format, Line, Scatter, Spread};
use junkai_simulation::outcome::Figure;
use junkai_simulation::policy::Policy;

use super::repeat::{Place, Sample};
use super::{Ours, Results};
use crate::experiment::figures::{Columns, Multiples, Series, pages_axis, share_axis};
use crate::experiment::look::look;
use crate::experiment::trials::MARKS;
use crate::experiment::words::percent;

/// The colour and the name of the paper's rings of any size.
const RINGS: &str = "one-step ring, by size";

impl Results<'_> {
    pub(super) fn figures(&self) -> Vec<Figure> {
        vec![
            self.by_memory(1, "memory-20"),
            self.by_memory(3, "memory-50"),
            self.parts_by_memory(1),
            self.progress(),
        ]
    }

    /// The share at a mark against the memory that it took, over all sets of starts.
    fn by_memory(&self, mark: usize, name: &str) -> Figure {
        let figure = Multiples {
            name,
            title: &format!(
                "PageRank after {} of the pages, against memory",
                percent(MARKS[mark])
            ),
            caption: format!(
                "Means over {} sets of starts; bands: mean ± standard deviation. Marks: policies whose memory cannot be chosen, \
                 at what they stored on average. What is missing did not come so far.",
                self.experiment.repetitions
            ),
            columns: Columns::Two,
        };
        figure.draw(self.trials.subjects(), |graph| {
            let mut series = Vec::new();
            for ours in 0..Ours::BEST.len() {
                let points: Vec<(f64, Sample)> = (0..self.repeated_rings[graph].len())
                    .filter_map(|budget| {
                        let share = self.our_share(graph, Place { budget, mark, ours })?;
                        Some((self.mean_memory(graph, budget), share))
                    })
                    .collect();
                let line = look(&Ours::BEST[ours].within(u32::MAX)).line(means(&points));
                series.extend((!points.is_empty()).then(|| banded(line, &points)));
            }
            let mut rings = Vec::new();
            for (place, policy) in self.published.iter().enumerate() {
                let Some(point) = self.published_share(graph, place, mark) else {
                    continue;
                };
                match policy {
                    Policy::OneStepRing(_) => rings.push(point),
                    Policy::Opt | Policy::Crawl(_) => {
                        let look = look(policy);
                        let point = (point.0, point.1.mean);
                        let marks = Scatter::new(look.name.clone(), [point]).slot(look.slot());
                        series.push(Series::Points(marks));
                    }
                }
            }
            rings.sort_by(|left, right| left.0.total_cmp(&right.0));
            let line = Line::new(RINGS, means(&rings)).slot(0);
            series.extend((!rings.is_empty()).then(|| banded(line, &rings)));
            let y = Axis::linear("share of PageRank").format(Format::Share);
            (Axis::log("URLs in memory"), y, series)
        })
    }

    /// The share of all of ours at a mark against memory, from the starts of all experiments.
    fn parts_by_memory(&self, mark: usize) -> Figure {
        let figure = Multiples {
            name: "parts",
            title: &format!(
                "The parts of our policy: PageRank after {} of the pages, against memory",
                percent(MARKS[mark])
            ),
            caption: "One crawl each, from the starts of all experiments: single crawls differ by chance. Lines: policies that can be given any memory. Marks: the others, at what they happened to store. What is missing \
                      did not come so far."
                .to_owned(),
            columns: Columns::Two,
        };
        figure.draw(self.trials.subjects(), |graph| {
            let mut series = Vec::new();
            for ours in Ours::ALL {
                let mut line = Vec::new();
                let mut name = None;
                for budget in &self.budgets[graph] {
                    let trial = self.trials.of(graph, &ours.within(budget.stored));
                    line.extend(
                        trial.share_at[mark].map(|share| (f64::from(budget.stored), share)),
                    );
                    name = Some(look(&trial.policy));
                }
                series.extend(
                    name.filter(|_| !line.is_empty())
                        .map(|look| Series::Line(look.line(line))),
                );
            }
            series.extend(self.rings(graph, mark));
            for policy in self
                .published
                .iter()
                .filter(|policy| matches!(policy, Policy::Crawl(_)))
            {
                let trial = self.trials.of(graph, policy);
                let point = trial.share_at[mark].map(|share| (f64::from(trial.stored_max), share));
                let look = look(policy);
                series.push(Series::Points(
                    Scatter::new(look.name.clone(), point).slot(look.slot()),
                ));
            }
            let y = Axis::linear("share of PageRank").format(Format::Share);
            (Axis::log("URLs in memory"), y, series)
        })
    }

    /// The paper's rings, as one line.
    fn rings(&self, graph: usize, mark: usize) -> Option<Series> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for policy in self
            .published
            .iter()
            .filter(|policy| matches!(policy, Policy::OneStepRing(_)))
        {
            let trial = self.trials.of(graph, policy);
            points.extend(trial.share_at[mark].map(|share| (f64::from(trial.stored_max), share)));
        }
        points.sort_by(|left, right| left.0.total_cmp(&right.0));
        let line = Line::new(RINGS, points.iter().copied()).slot(0);
        (!points.is_empty()).then_some(Series::Line(line))
    }

    /// The whole crawl in the middle budget.
    fn progress(&self) -> Figure {
        let figure = Multiples {
            name: "progress",
            title: "PageRank gathered against pages visited, in the same memory",
            caption: "In the middle budget of each graph; breadth first, IRLbot and in-degree first, which are not bounded, store what \
                      they need."
                .to_owned(),
            columns: Columns::Two,
        };
        figure.draw(self.trials.subjects(), |graph| {
            let budgets = &self.budgets[graph];
            let Some(budget) = budgets.get(budgets.len() / 2) else {
                return (pages_axis(), share_axis(), Vec::new());
            };
            let policies = [
                Policy::Opt,
                Policy::breadth_first(),
                Policy::irlbot(),
                Policy::in_degree(),
            ];
            let ours = [Ours::Worth, Ours::Welcome].map(|ours| ours.within(budget.stored));
            let mut lines: Vec<Series> = policies
                .iter()
                .chain(&ours)
                .map(|policy| {
                    Series::Line(look(policy).line(self.trials.of(graph, policy).share_curve()))
                })
                .collect();
            let ring = self.trials.of(graph, &budget.ring);
            lines.push(Series::Line(
                Line::new("one-step ring of that memory", ring.share_curve()).slot(0),
            ));
            (pages_axis(), share_axis(), lines)
        })
    }
}

fn means(points: &[(f64, Sample)]) -> impl Iterator<Item = (f64, f64)> {
    points.iter().map(|(stored, share)| (*stored, share.mean))
}

/// A line with its band: mean ± standard deviation.
fn banded(line: Line, points: &[(f64, Sample)]) -> Series {
    Series::Line(line.band(points.iter().map(|(stored, share)| Spread {
        x: *stored,
        low: share.mean - share.deviation,
        high: share.mean + share.deviation,
    })))
}
