//! The figures of the experiment.

use junkai_charts::{Axis, Chart, Format, Grid, Line, Style};
use junkai_simulation::outcome::{Drawing, Figure};

use super::Results;
use super::contestant::Contestant;
use super::open_loop::{Quality, Row};
use super::replay::Bin;

/// Who is drawn: the yardstick, the paper's reading of its equation, a better one, and ours.
const DRAWN: [Contestant; 4] = [
    Contestant::Likelihood,
    Contestant::GapGeometricMean,
    Contestant::GapMean,
    Contestant::LogNormal,
];

impl Results {
    pub(super) fn figures(&self) -> Vec<Figure> {
        let mut figures = vec![
            self.by_visits(
                "error",
                "Error of the estimated rate against visits",
                "RMSE of ln(estimate / truth)",
                |quality| quality.rmse,
            ),
            self.by_visits(
                "bias",
                "Bias of the estimated rate against visits",
                "mean of ln(estimate / truth)",
                |quality| quality.bias,
            ),
        ];
        if !self.replays.is_empty() {
            figures.push(self.calibration());
        }
        figures
    }

    /// A panel for each kind of gaps at the time between changes.
    fn by_visits(
        &self,
        name: &str,
        title: &str,
        label: &str,
        measure: fn(&Quality) -> f64,
    ) -> Figure {
        let mut grid = Grid::new(title).columns(3);
        for (sigma, kind) in [
            (0.0, "regular"),
            (0.5, "irregular"),
            (1.5, "very irregular"),
        ] {
            let rows: Vec<&Row> = self
                .open
                .rows
                .iter()
                .filter(|row| is_same(row.situation.sigma, sigma))
                .filter(|row| is_same(row.situation.median, 1.0))
                .collect();
            let y = Axis::linear(label);
            let mut chart = Chart::new(format!("{kind} visits"), Axis::log("visits"), y)
                .subtitle(format!("σ = {sigma}"));
            for contestant in DRAWN {
                let points = rows.iter().map(|row| {
                    let visits = f64::from(row.situation.visits);
                    (visits, measure(&row.quality(contestant)))
                });
                chart = chart.line(line(contestant, points));
            }
            grid = grid.chart(chart);
        }
        Figure {
            name: name.to_owned(),
            caption: "Pages of a site that change once a day in the median, visited once a day in the median. Where visits are irregular, equation 4 \
                      with the paper’s geometric mean gets worse with every visit, for the shortest gap ever only gets shorter."
                .to_owned(),
            chart: Drawing::Many(Box::new(grid)),
        }
    }

    /// What was foretold against what came: on the diagonal, a chance means what it says.
    fn calibration(&self) -> Figure {
        let title = "The chance of a change: foretold, and come true";
        let mut grid = Grid::new(title).columns(2);
        for replay in &self.replays {
            let axis = |label: &str| Axis::linear(label).format(Format::Share).min(0.0).max(1.0);
            let mut chart = Chart::new(replay.name.clone(), axis("foretold"), axis("came true"))
                .line(
                    Line::new("as it should be", [(0.0, 0.0), (1.0, 1.0)]).style(Style::Reference),
                );
            for contestant in DRAWN {
                let bins = &replay.score(contestant).bins;
                chart = chart.line(line(contestant, bins.iter().filter_map(Bin::point)));
            }
            grid = grid.chart(chart);
        }
        Figure {
            name: "calibration".to_owned(),
            caption: "Visits to pages of real sites, put together by the chance that was foretold for them, and the share of them that found a \
                      change; classes of fewer than 100 visits are left out."
                .to_owned(),
            chart: Drawing::Many(Box::new(grid)),
        }
    }
}

fn line(contestant: Contestant, points: impl IntoIterator<Item = (f64, f64)>) -> Line {
    let line = Line::new(contestant.name(), points);
    match contestant {
        Contestant::Likelihood => line.slot(3),
        Contestant::GapGeometricMean => line.slot(0),
        Contestant::GapMean => line.slot(2),
        Contestant::LogNormal => line.slot(1),
        Contestant::GapShortest | Contestant::Naive | Contestant::Gamma => line.slot(4),
    }
}

/// Whether two settings are the same; they are written down, not computed.
fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}
