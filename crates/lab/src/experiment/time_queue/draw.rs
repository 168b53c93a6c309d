//! The figures of the paper, drawn again.

use junkai_charts::{Axis, Bar, Bars, Bins, Chart, Format, Grid, Line, histogram};
use junkai_simulation::outcome::{Drawing, Figure};
use junkai_store::time_queue::Layout;

use super::trial::{DISKS, Point};
use super::{Costs, DAY, HOUR, Results, Setting};

/// Pages whose intervals are drawn.
const DRAWN_PAGES: u64 = 100_000;
const INTERVAL_BINS: usize = 60;
const SECONDS_PER_US: f64 = 1e-6;

impl Results<'_> {
    pub(super) fn figures(&self) -> Vec<Figure> {
        let mut figures = vec![self.modelled_figure(), self.intervals_figure()];
        match self.experiment.costs {
            Costs::Counted => {}
            Costs::Timed => figures.insert(0, self.times_figure()),
        }
        figures
    }

    fn times_figure(&self) -> Figure {
        let panels = Grid::new("What a state costs, by the size of the write buffers")
            .subtitle(format!("{}, on this machine", self.pages()))
            .chart(self.panel("by the clock, until it is durable", Point::wall_us))
            .chart(self.panel("CPU time", Point::cpu_us));
        Figure {
            name: "times".to_owned(),
            caption: "Tamura and Kitsuregawa (2010), figure 2, measured. A colour is a layout, its dashes a resolution."
                .to_owned(),
            chart: Drawing::Many(Box::new(panels)),
        }
    }

    fn modelled_figure(&self) -> Figure {
        let mut panels =
            Grid::new("What the disk does for a state, by the size of the write buffers")
                .subtitle(format!("{}, counted", self.pages()));
        for disk in &DISKS {
            panels = panels.chart(self.panel(disk.name, |point| point.modelled_us(disk)));
        }
        Figure {
            name: "operations".to_owned(),
            caption: "Tamura and Kitsuregawa (2010), figure 2, from the appends, reads and bytes that were counted, and a model of two kinds of disk. A colour is a layout, its \
                      dashes a resolution."
                .to_owned(),
            chart: Drawing::Many(Box::new(panels)),
        }
    }

    fn panel(&self, title: &str, cost_us: impl Fn(&Point) -> f64) -> Chart {
        let x = Axis::log("write buffers").format(Format::Bytes);
        let y = Axis::log("time for a state").format(Format::Seconds);
        let mut chart = Chart::new(title, x, y);
        for setting in self.experiment.settings() {
            let points = self
                .of(setting)
                .map(|point| (point.buffer_bytes as f64, cost_us(point) * SECONDS_PER_US));
            chart = chart.line(Line::new(setting.name(), points).slot(slot(setting)));
        }
        chart
    }

    /// Figure 3 of the paper.
    fn intervals_figure(&self) -> Figure {
        let population = self.experiment.population();
        let drawn = self.experiment.records.min(DRAWN_PAGES);
        let intervals = (0..drawn).map(|page| population.interval(page).as_secs_f64());
        let bars = histogram(intervals, Bins::Log(INTERVAL_BINS));
        let share = |bar: Bar| Bar {
            value: bar.value / drawn as f64,
            ..bar
        };
        let x = Axis::log("interval between visits").format(Format::Seconds);
        let y = Axis::linear("pages").format(Format::Share).min(0.0);
        let chart = Chart::new("How often pages are visited", x, y)
            .bars(Bars::new("pages", bars.into_iter().map(share)));
        Figure {
            name: "intervals".to_owned(),
            caption: "Tamura and Kitsuregawa (2010), figure 3: the intervals of the population, fitted to table 1 in four classes that are even on this axis."
                .to_owned(),
            chart: Drawing::One(Box::new(chart)),
        }
    }
}

/// A colour for the layout, dashes for the resolution.
fn slot(setting: Setting) -> usize {
    const ROUND: usize = 8;
    let colour = match setting.layout {
        Layout::Flat => 0,
        Layout::Hierarchical => 2,
        Layout::Graded => 7,
    };
    let dashes = match setting.resolution {
        DAY => 0,
        HOUR => ROUND,
        _ => 2 * ROUND,
    };
    colour + dashes
}
