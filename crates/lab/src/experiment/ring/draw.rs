//! The figures of the paper, drawn again.

use junkai_charts::{Axis, Chart, Format, Line};
use junkai_simulation::outcome::{Drawing, Figure};
use junkai_simulation::policy::{Policy, ServerSpread};
use junkai_simulation::subject::Subject;

use super::tables::INTERLEAVED;
use super::{Plan, Results};
use crate::experiment::figures::{Columns, Multiples, Series, pages_axis, share_axis};
use crate::experiment::look::look;
use crate::experiment::trials::Trial;

/// Points of the curve of figure 2.
const CONCENTRATION_POINTS: i32 = 120;

impl Results<'_> {
    pub(super) fn figures(&self) -> Vec<Figure> {
        let mut figures = vec![
            self.progress(),
            self.stored(),
            self.ablation_figure(),
            self.concentration_figure(),
        ];
        if !self.plan.varied_slots().is_empty() {
            figures.push(self.by_slots());
        }
        if !self.plan.varied_keys(ServerSpread::Hashed).is_empty() {
            figures.push(self.by_keys());
        }
        figures
    }

    fn progress(&self) -> Figure {
        let figure = Multiples {
            name: "progress",
            title: "PageRank gathered against pages visited",
            caption: "Morimoto et al. (2011), figure 5. Worth has as much memory as the paper’s ring of 256×256. A curve that ends early has run \
                      dry: what it discarded was not found again."
                .to_owned(),
            columns: Columns::Two,
        };
        figure.draw(self.trials.subjects(), |graph| {
            let policies = self.plan.compared(&self.trials, graph);
            let lines = policies.iter().map(|policy| {
                let trial = self.trials.of(graph, policy);
                Series::Line(look(policy).line(trial.share_curve()))
            });
            (pages_axis(), share_axis(), lines.collect())
        })
    }

    fn stored(&self) -> Figure {
        let figure = Multiples {
            name: "stored",
            title: "URLs in memory against pages visited",
            caption: "Morimoto et al. (2011), figure 6. Rings and worth are bounded by their settings, the others by the graph.".to_owned(),
            columns: Columns::Two,
        };
        figure.draw(self.trials.subjects(), |graph| {
            let policies = self.plan.compared(&self.trials, graph);
            let lines = policies
                .iter()
                .filter(|policy| **policy != Policy::Opt)
                .map(|policy| {
                    let trial = self.trials.of(graph, policy);
                    Series::Line(look(policy).line(trial.stored_curve()))
                });
            (
                pages_axis(),
                Axis::log("URLs in memory").min(10.0),
                lines.collect(),
            )
        })
    }

    fn ablation_figure(&self) -> Figure {
        let figure = Multiples {
            name: "ablation",
            title: "What comes from interleaving servers, what from discarding",
            caption: "Not in the paper. Between breadth first and the line of interleaving lies what taking turns brings; from there \
                      to the paper’s rings, what discarding adds or costs."
                .to_owned(),
            columns: Columns::Three,
        };
        figure.draw(self.trials.subjects(), |graph| {
            let subject = &self.trials.subjects()[graph];
            let curve = |policy: &Policy| self.trials.of(graph, policy).share_curve();
            let interleaving = Plan::interleaving(subject, self.plan.experiment.keys_fixed);
            let mut lines = vec![
                Series::Line(look(&Policy::Opt).line(curve(&Policy::Opt))),
                Series::Line(look(&Policy::breadth_first()).line(curve(&Policy::breadth_first()))),
                Series::Line(Line::new(INTERLEAVED, curve(&interleaving)).slot(4)),
            ];
            for policy in self.plan.sizes().iter().take(3) {
                lines.push(Series::Line(look(policy).line(curve(policy))));
            }
            (pages_axis(), share_axis(), lines)
        })
    }

    fn concentration_figure(&self) -> Figure {
        let x = Axis::log("pages, those with most PageRank first").format(Format::Share);
        let mut chart = Chart::new("PageRank in the fewest pages", x, share_axis());
        for subject in self.trials.subjects() {
            chart = chart.line(Line::new(subject.web.name.clone(), concentration(subject)));
        }
        Figure {
            name: "concentration".to_owned(),
            caption: "Morimoto et al. (2011), figure 2. The further left a line rises, the fewer pages hold what matters, and the more an order can \
                      gain over another."
                .to_owned(),
            chart: Drawing::One(Box::new(chart)),
        }
    }

    fn by_slots(&self) -> Figure {
        let figure = Multiples {
            name: "slots",
            title: "Pages and PageRank reached, by slots B",
            caption: format!(
                "Morimoto et al. (2011), figure 3: what the paper’s ring has visited when it runs dry, H = {}.",
                self.plan.experiment.keys_fixed
            ),
            columns: Columns::Three,
        };
        let policies = self.plan.varied_slots();
        figure.draw(self.trials.subjects(), |graph| {
            let slots = self.plan.experiment.slots.iter().map(|slots| *slots as f64);
            let trials: Vec<&Trial> = policies
                .iter()
                .map(|policy| self.trials.of(graph, policy))
                .collect();
            let lines = pages_and_share(slots, &trials);
            (Axis::log("slots B"), part_axis(), lines)
        })
    }

    fn by_keys(&self) -> Figure {
        let figure = Multiples {
            name: "keys",
            title: "Pages and PageRank reached, by residues H",
            caption: format!(
                "Morimoto et al. (2011), figure 4: the same with B = {} as H varies. Servers find their residue by a hash, as in a crawl, or by \
                 their number.",
                self.plan.experiment.slots_fixed
            ),
            columns: Columns::Three,
        };
        let hashed = self.plan.varied_keys(ServerSpread::Hashed);
        let plain = self.plan.varied_keys(ServerSpread::Plain);
        figure.draw(self.trials.subjects(), |graph| {
            let keys = || {
                self.plan
                    .experiment
                    .keys
                    .iter()
                    .map(|keys| f64::from(*keys))
            };
            let of = |policies: &[Policy]| -> Vec<&Trial> {
                policies
                    .iter()
                    .map(|policy| self.trials.of(graph, policy))
                    .collect()
            };
            let mut lines = pages_and_share(keys(), &of(&hashed));
            let shares = keys()
                .zip(of(&plain))
                .map(|(keys, trial)| (keys, trial.share));
            lines.push(Series::Line(
                Line::new("PageRank, not hashed", shares).slot(8),
            ));
            (Axis::log("residues H"), part_axis(), lines)
        })
    }
}

/// The share of PageRank of the best pages, against how many of them there are, as a part of all.
fn concentration(subject: &Subject) -> Vec<(f64, f64)> {
    let cumulated = subject.value.cumulated(&subject.value.best_first());
    let pages = cumulated.len() as f64;
    let point = |point: i32| {
        let place = pages
            .powf(f64::from(point) / f64::from(CONCENTRATION_POINTS))
            .round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and the number of pages"
        )]
        let share = cumulated.get((place as usize).checked_sub(1)?)?;
        Some((place / pages, *share))
    };
    (0..=CONCENTRATION_POINTS).filter_map(point).collect()
}

/// The parts of pages and of PageRank that were reached, by a setting.
fn pages_and_share(settings: impl Iterator<Item = f64> + Clone, trials: &[&Trial]) -> Vec<Series> {
    let shares = settings
        .clone()
        .zip(trials)
        .map(|(setting, trial)| (setting, trial.share));
    let pages = settings
        .zip(trials)
        .map(|(setting, trial)| (setting, trial.coverage));
    vec![
        Series::Line(Line::new("PageRank", shares).slot(0)),
        Series::Line(Line::new("pages", pages).slot(6)),
    ]
}

fn part_axis() -> Axis {
    Axis::linear("part reached")
        .format(Format::Share)
        .min(0.0)
        .max(1.0)
}
