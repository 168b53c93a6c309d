//! The figures of the experiment.

use junkai_charts::{Axis, Chart, Format, Grid, Line, Style};
use junkai_simulation::outcome::{Drawing, Figure};

use super::Results;
use super::contestant::Contestant;
use super::exploring::Explored;
use super::harvest::Harvest;
use super::trial::Trial;
use super::whole::Whole;

impl Results<'_> {
    pub(super) fn figures(&self) -> Vec<Figure> {
        let real = self.real.iter().map(|trial| Figure {
            name: "harvest".to_owned(),
            caption: "The share of the real site's data files, by fetches of any kind; the first repetition of each order. No order can be to the \
                      left of the diagonal that begins at 0: a file takes a fetch."
                .to_owned(),
            chart: Drawing::One(Box::new(chart(trial))),
        });
        let explored = self.explored.iter().map(Explored::figure);
        let whole = self.whole.iter().filter_map(Whole::figure);
        real.chain([self.template_figure()])
            .chain(explored)
            .chain(whole)
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
