//! The figures of the experiment: Tamura and Kitsuregawa's (2007) figures 5 to 7.

use junkai_charts::{Axis, Chart, Format, Line, Rule, cumulative};
use junkai_revisit::ServerReport;
use junkai_simulation::outcome::{Drawing, Figure};

use super::{Results, population};

impl Results<'_> {
    pub(super) fn figures(&self) -> Vec<Figure> {
        vec![self.load(), self.fetch(), self.ratio()]
    }

    fn load(&self) -> Figure {
        let title = "Time between visits that known pages ask for";
        self.figure(
                "load",
                "Tamura and Kitsuregawa (2007), figure 5: the share of servers whose pages ask for a visit at least this often.",
                Chart::new(title, Axis::log("1/L").format(Format::Seconds), shares()).rule(Rule::vertical(60.0, "a minute")),
                |one| Some(1.0 / one.load),
            )
    }

    fn fetch(&self) -> Figure {
        let title = "Time of a fetch";
        self.figure(
            "fetch",
            "Tamura and Kitsuregawa (2007), figure 6: the share of servers that answer within this time, on average.",
            Chart::new(
                title,
                Axis::log("mean over its visits").format(Format::Seconds),
                shares(),
            ),
            |one| Some(one.fetch_mean.as_secs_f64()),
        )
    }

    fn ratio(&self) -> Figure {
        let title = "How many times as long as a fetch it is to the next";
        self.figure(
                "ratio",
                "Tamura and Kitsuregawa (2007), figure 7: R, the time between visits that pages ask for, over the longest time of a fetch. Servers to the left of S/C are overloaded, those to the left of \
                 one whatever the resources.",
                Chart::new(title, Axis::log("R"), shares())
                    .rule(Rule::vertical(1.0, "one"))
                    .rule(Rule::vertical(population::SERVERS_PER_VISIT, "S/C")),
                ServerReport::ratio,
            )
    }

    fn figure(
        &self,
        name: &str,
        caption: &str,
        mut chart: Chart,
        value: impl Fn(&ServerReport) -> Option<f64>,
    ) -> Figure {
        for known in &self.known {
            let values = known.servers.iter().filter_map(&value);
            chart = chart.line(Line::new(known.name.clone(), cumulative(values)).steps());
        }
        Figure {
            name: name.to_owned(),
            caption: caption.to_owned(),
            chart: Drawing::One(Box::new(chart)),
        }
    }
}

fn shares() -> Axis {
    Axis::linear("share of servers")
        .format(Format::Share)
        .min(0.0)
        .max(1.0)
}
