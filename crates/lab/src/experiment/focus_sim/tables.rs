//! The numbers and figures of the experiment.

use junkai_charts::{Axis, Chart, Format, Grid, Line, Spread};
use junkai_focus::explore::Policy;
use junkai_simulation::outcome::{Cell, Column, Drawing, Figure, Table};

use super::results::{Cell as Place, Measure, Results};
use super::world::Population;
use crate::experiment::words::text;

/// Fetches for each site at which tables are read off, as in the specification.
pub(super) const SHOWN: [u32; 6] = [1, 2, 3, 5, 10, 20];

/// What the figures show, of which there are more policies than colours.
const DRAWN: [Policy; 7] = [
    Policy::Foresight,
    Policy::Delta,
    Policy::Random,
    Policy::OptimisticGradient,
    Policy::UcbError,
    Policy::Thompson,
    Policy::EpsilonGreedy,
];

impl Results {
    pub(super) fn tables(&self) -> Vec<Table> {
        vec![
            self.measured(),
            self.leads(),
            self.ceiling(),
            self.choices(),
            self.calibration(),
        ]
    }

    /// Figures 1 to 3 of the paper: accuracy, precision and recall over fetches, for each population.
    pub(super) fn figures(&self) -> Vec<Figure> {
        let figure = |population: &Population| Figure {
            name: format!("verdicts-{}", population.key()),
            caption: format!(
                "{}: what the verdicts are worth as fetches grow; the band is a standard deviation between draws of all sites.",
                population.name()
            ),
            chart: Drawing::Many(Box::new(self.grid(*population))),
        };
        Population::ALL.iter().map(figure).collect()
    }

    fn measured(&self) -> Table {
        let mut rows = Vec::new();
        for (population, policy, place) in self.shown() {
            let estimate = |measure| {
                self.estimate(
                    policy,
                    Place {
                        population,
                        place,
                        measure,
                    },
                )
            };
            let (accuracy, recall) = (estimate(Measure::Accuracy), estimate(Measure::Recall));
            rows.push(vec![
                text(population.key()),
                text(policy.name()),
                Cell::Count(self.checkpoints[place].into()),
                Cell::Share(accuracy.mean),
                Cell::Share(accuracy.spread),
                Cell::Share(estimate(Measure::Precision).mean),
                Cell::Share(recall.mean),
                Cell::Share(recall.spread),
                Cell::Share(estimate(Measure::ExpectedAccuracy).mean),
                Cell::Share(estimate(Measure::ExpectedRecall).mean),
                Cell::Share(estimate(Measure::Agreement).mean),
            ]);
        }
        Table {
            name: "verdicts".to_owned(),
            caption: "Mean over draws; spread is the standard deviation of one draw. Expected: the chance of labels left out. Agreement: verdicts \
                      that say on which side of ½ a site’s mean is"
                .to_owned(),
            columns: Column::list([
                ("population", "population"),
                ("policy", "policy"),
                ("fetches", "fetches"),
                ("accuracy", "accuracy"),
                ("accuracy_spread", "spread"),
                ("precision", "precision"),
                ("recall", "recall"),
                ("recall_spread", "spread"),
                ("expected_accuracy", "expected accuracy"),
                ("expected_recall", "expected recall"),
                ("agreement", "agreement"),
            ]),
            rows,
        }
    }

    /// Ours against each of the others, at every checkpoint.
    fn leads(&self) -> Table {
        let mut rows = Vec::new();
        for population in Population::ALL {
            for other in self.others() {
                for place in self.places_from(2) {
                    let lead = |measure| {
                        self.lead(
                            Policy::Foresight,
                            other,
                            Place {
                                population,
                                place,
                                measure,
                            },
                        )
                    };
                    let (accuracy, recall) = (
                        lead(Measure::ExpectedAccuracy),
                        lead(Measure::ExpectedRecall),
                    );
                    rows.push(vec![
                        text(population.key()),
                        text(other.name()),
                        Cell::Count(self.checkpoints[place].into()),
                        Cell::Difference(accuracy.mean),
                        Cell::Share(accuracy.error()),
                        text(accuracy.standing().name()),
                        Cell::Difference(recall.mean),
                        Cell::Share(recall.error()),
                        text(recall.standing().name()),
                    ]);
                }
            }
        }
        Table {
            name: "leads".to_owned(),
            caption: "By how much ours is ahead, draw by draw, with the chance of labels left out, and the standard error; level is within two"
                .to_owned(),
            columns: Column::list([
                ("population", "population"),
                ("against", "against"),
                ("fetches", "fetches"),
                ("accuracy_lead", "accuracy"),
                ("accuracy_error", "±"),
                ("accuracy_standing", "stands"),
                ("recall_lead", "recall"),
                ("recall_error", "±"),
                ("recall_standing", "stands"),
            ]),
            rows,
        }
    }

    /// What the choices alone are worth: every policy judged by the plain mean of the pages that it chose.
    fn choices(&self) -> Table {
        let row = |(population, policy, place): (Population, Policy, usize)| {
            let mean = |measure| {
                self.estimate(
                    policy,
                    Place {
                        population,
                        place,
                        measure,
                    },
                )
                .mean
            };
            vec![
                text(population.key()),
                text(policy.name()),
                Cell::Count(self.checkpoints[place].into()),
                Cell::Share(mean(Measure::PlainAccuracy)),
                Cell::Share(mean(Measure::PlainRecall)),
            ]
        };
        Table {
            name: "choices".to_owned(),
            caption: "Like with like: every policy’s sites judged by the plain mean of their pages, the chance of labels left out".to_owned(),
            columns: Column::list([
                ("population", "population"),
                ("policy", "policy"),
                ("fetches", "fetches"),
                ("accuracy", "accuracy"),
                ("recall", "recall"),
            ]),
            rows: self.shown().into_iter().map(row).collect(),
        }
    }

    /// Whether stated probabilities of error are the real ones.
    fn calibration(&self) -> Table {
        let mut rows = Vec::new();
        for population in Population::ALL {
            for place in SHOWN.iter().filter_map(|per_site| self.place_of(*per_site)) {
                for policy in [Policy::Foresight, Policy::Delta] {
                    let mean = |measure| {
                        self.estimate(
                            policy,
                            Place {
                                population,
                                place,
                                measure,
                            },
                        )
                        .mean
                    };
                    rows.push(vec![
                        text(population.key()),
                        text(policy.name()),
                        Cell::Count(self.checkpoints[place].into()),
                        Cell::Share(mean(Measure::StatedError)),
                        Cell::Share(1.0 - mean(Measure::ExpectedAccuracy)),
                    ]);
                }
            }
        }
        Table {
            name: "calibration".to_owned(),
            caption: "The mean of the stated probabilities of error, and the share of verdicts that are wrong".to_owned(),
            columns: Column::list([
                ("population", "population"),
                ("policy", "policy"),
                ("fetches", "fetches"),
                ("stated_error", "stated"),
                ("real_error", "real"),
            ]),
            rows,
        }
    }

    fn shown(&self) -> Vec<(Population, Policy, usize)> {
        let mut shown = Vec::new();
        for population in Population::ALL {
            for policy in &self.policies {
                for place in SHOWN.iter().filter_map(|per_site| self.place_of(*per_site)) {
                    shown.push((population, *policy, place));
                }
            }
        }
        shown
    }

    fn grid(&self, population: Population) -> Grid {
        let measures = [
            ("accuracy", Measure::Accuracy),
            ("precision", Measure::Precision),
            ("recall", Measure::Recall),
        ];
        let mut grid = Grid::new(format!("Verdicts on sites, {}", population.name())).columns(3);
        for (title, measure) in measures {
            let mut chart = Chart::new(
                title,
                Axis::linear("fetches").min(0.0),
                Axis::linear(title).format(Format::Share),
            );
            for (slot, policy) in DRAWN.into_iter().enumerate() {
                chart = chart.line(self.line(policy, population, measure).slot(slot));
            }
            grid = grid.chart(chart);
        }
        grid
    }

    fn line(&self, policy: Policy, population: Population, measure: Measure) -> Line {
        let at = |place: usize| {
            let estimate = self.estimate(
                policy,
                Place {
                    population,
                    place,
                    measure,
                },
            );
            (f64::from(self.checkpoints[place]), estimate)
        };
        let points: Vec<_> = (0..self.checkpoints.len()).map(at).collect();
        let line = Line::new(
            policy.name(),
            points.iter().map(|(x, estimate)| (*x, estimate.mean)),
        );
        if matches!(policy, Policy::Foresight | Policy::Random) {
            line.band(points.iter().map(|(x, estimate)| Spread {
                x: *x,
                low: estimate.mean - estimate.spread,
                high: estimate.mean + estimate.spread,
            }))
        } else {
            line
        }
    }
}
