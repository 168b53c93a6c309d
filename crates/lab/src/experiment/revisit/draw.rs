//! The figures of the experiment.

use junkai_charts::{Axis, Bars, Bins, Chart, Format, Grid, Line, Rule, Spread, Style, histogram};
use junkai_simulation::outcome::{Drawing, Figure};

use super::closed_loop::{LOOPERS, Loop};
use super::{Contestant, Player, Results};

/// Bins of the histogram of intervals.
const BINS: usize = 40;

impl Results<'_> {
    pub(super) fn figures(&self) -> Vec<Figure> {
        vec![self.by_budget(), self.intervals(), self.detections()]
    }

    fn by_budget(&self) -> Figure {
        let mut grid = Grid::new("Versions captured, by visits a day").columns(2);
        for (subject, one) in self.subjects.iter().enumerate() {
            let x = Axis::log("visits a day, as a share of pages").format(Format::Share);
            let y = Axis::linear("versions captured").format(Format::Share);
            let mut chart = Chart::new(one.name.clone(), x, y);
            for (slot, player) in Player::all().into_iter().enumerate() {
                chart = chart.line(self.line(subject, slot, player));
            }
            grid = grid.chart(chart);
        }
        Figure {
            name: "captured".to_owned(),
            caption: "The share of versions that each policy captures at equal visits; bands: mean ± standard error over repetitions.".to_owned(),
            chart: Drawing::Many(Box::new(grid)),
        }
    }

    fn line(&self, subject: usize, slot: usize, player: Player) -> Line {
        let trials = self.experiment.shares.iter().filter_map(|&share| {
            let trial = self.trial(subject, share, player)?;
            Some((share, trial.mean(super::Tally::capture)))
        });
        let trials: Vec<_> = trials.collect();
        let line = Line::new(
            player.name(),
            trials.iter().map(|(share, capture)| (*share, capture.mean)),
        )
        .band(trials.iter().map(|(share, capture)| Spread {
            x: *share,
            low: capture.mean - capture.error,
            high: capture.mean + capture.error,
        }));
        match player {
            Player::Daily(Contestant::Hindsight) => line.style(Style::Reference),
            Player::Daily(_) | Player::Live => line.slot(slot),
        }
    }

    fn intervals(&self) -> Figure {
        let mut grid = Grid::new("Intervals between visits, without a budget").columns(2);
        for one in &self.loops {
            let x = Axis::linear("days").min(0.0).max(400.0);
            let y = Axis::linear("pages").min(0.0);
            let title = format!("{}, {}", self.subjects[one.subject].name, one.contestant);
            let bars = histogram(one.intervals.iter().copied(), Bins::Linear(BINS));
            grid = grid.chart(Chart::new(title, x, y).bars(Bars::new("pages", bars)));
        }
        Figure {
            name: "intervals".to_owned(),
            caption: "Tamura and Kitsuregawa (2007), figure 3: the intervals that are planned at the end, of pages that were visited more than once. Pages that are not seen to change \
                      are spread over 300 to 400 days."
                .to_owned(),
            chart: Drawing::Many(Box::new(grid)),
        }
    }

    fn detections(&self) -> Figure {
        let mut grid =
            Grid::new("New versions per visit, by the interval between visits").columns(2);
        for (subject, one) in self.subjects.iter().enumerate() {
            let x = Axis::log("days between visits");
            let y = Axis::linear("new versions per visit").min(0.0).max(1.0);
            let mut chart = Chart::new(one.name.clone(), x, y)
                .rule(Rule::horizontal(1.0 - (-1.0_f64).exp(), "1 − 1/e"));
            for (slot, contestant) in LOOPERS.into_iter().enumerate() {
                let is_this = |one: &&Loop| one.subject == subject && one.contestant == contestant;
                if let Some(one) = self.loops.iter().find(is_this) {
                    chart = chart.line(detection_line(one).slot(slot));
                }
            }
            grid = grid.chart(chart);
        }
        Figure {
            name: "detection".to_owned(),
            caption: "Tamura and Kitsuregawa (2007), figure 4: without a budget, new versions per visit of pages by their interval, mean ± standard deviation over pages. A rule that knew every rate would find one in 1 − 1/e of the \
                      visits at all intervals."
                .to_owned(),
            chart: Drawing::Many(Box::new(grid)),
        }
    }
}

fn detection_line(one: &Loop) -> Line {
    let middle = |from: f64, to: f64| (from.max(0.5) * to).sqrt();
    let points = one
        .known_bins()
        .map(|bin| (middle(bin.from, bin.to), bin.mean));
    Line::new(one.contestant.to_string(), points).band(one.known_bins().map(|bin| Spread {
        x: middle(bin.from, bin.to),
        low: (bin.mean - bin.deviation).max(0.0),
        high: (bin.mean + bin.deviation).min(1.0),
    }))
}
