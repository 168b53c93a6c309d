//! The figures of the experiment.

use junkai_charts::{Axis, Chart, Format, Grid, Line, Style};

use super::harvest::Harvest;
use super::labelled::{FETCHES_PER_SITE, POLICIES, Quality};
use super::tables::mean_quality;
use super::{Contestant, Results, Trial};
use crate::outcome::{Drawing, Figure};

impl Results<'_> {
    pub(super) fn figures(&self) -> Vec<Figure> {
        let real = self.real.iter().map(|trial| Figure {
            name: "harvest".to_owned(),
            caption: "The share of the real site's data files, by fetches of any kind; the first repetition of each order. No order can be to the \
                      left of the diagonal that begins at 0: a file takes a fetch."
                .to_owned(),
            chart: Drawing::One(Box::new(chart(trial))),
        });
        let explored = self
            .explored
            .as_ref()
            .map(|explored| exploring_figure(explored));
        real.chain([self.template_figure()])
            .chain(explored)
            .collect()
    }

    fn template_figure(&self) -> Figure {
        let mut grid = Grid::new("Data files had, by fetches").columns(3);
        for trial in &self.templates {
            grid = grid.chart(chart(trial));
        }
        Figure {
            name: "templates".to_owned(),
            caption: "The share of the data files of generated sites, by fetches of any kind; the first site of each template.".to_owned(),
            chart: Drawing::Many(Box::new(grid)),
        }
    }
}

fn chart(trial: &Trial) -> Chart {
    let x = Axis::linear("fetches").min(0.0);
    let y = Axis::linear("data files")
        .min(0.0)
        .max(1.0)
        .format(Format::Share);
    let mut chart = Chart::new(trial.name.clone(), x, y);
    for (slot, contestant) in Contestant::ALL.into_iter().enumerate() {
        if let Some(harvest) = trial.of(contestant).first() {
            chart = chart.line(line(contestant.name, harvest).slot(slot));
        }
    }
    if let Some(harvest) = trial.knowing.first() {
        chart = chart.line(line("who knows all links", harvest).style(Style::Reference));
    }
    chart
}

fn line(name: &str, harvest: &Harvest) -> Line {
    Line::new(name, harvest.curve.iter().copied())
}

fn exploring_figure(explored: &[Vec<Vec<Quality>>]) -> Figure {
    let mut grid = Grid::new("Verdicts on real sites with labels").columns(2);
    for (name, measure) in [
        (
            "accuracy",
            (|quality: &Quality| quality.accuracy) as fn(&Quality) -> f64,
        ),
        ("recall", |quality: &Quality| quality.recall),
    ] {
        let x = Axis::linear("fetches per site").min(0.0);
        let y = Axis::linear(name).format(Format::Share);
        let mut chart = Chart::new(name, x, y);
        for (slot, (policy, repetitions)) in POLICIES.into_iter().zip(explored).enumerate() {
            let points = FETCHES_PER_SITE
                .into_iter()
                .enumerate()
                .map(|(budget, per_site)| (per_site, mean_quality(repetitions, budget, measure)));
            chart = chart.line(Line::new(policy.name(), points).slot(slot));
        }
        grid = grid.chart(chart);
    }
    Figure {
        name: "exploring".to_owned(),
        caption: "Real sites with labels: how good the verdicts are, by fetches per site; means over repetitions.".to_owned(),
        chart: Drawing::Many(Box::new(grid)),
    }
}
