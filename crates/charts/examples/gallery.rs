//! Writes every figure type, with made-up but likely data, into one HTML page: `gallery [DIRECTORY]`.
//!
//! Look at it in light and dark, wide and narrow, after every change to a layout or a colour.

use std::fmt::Write as _;
use std::path::PathBuf;

use junkai_charts::{
    Axis, Bars, Bins, Chart, Format, Grid, Line, Rule, Scatter, Spread, Style,
    complementary_cumulative, cumulative, histogram, stylesheet,
};

fn main() -> std::io::Result<()> {
    let directory = std::env::args_os()
        .nth(1)
        .map_or_else(std::env::temp_dir, PathBuf::from);
    std::fs::create_dir_all(&directory)?;
    let mut body = String::new();
    for (name, chart) in charts() {
        std::fs::write(directory.join(format!("{name}.svg")), chart.svg())?;
        body.push_str(&chart.html(name));
    }
    for (name, grid) in grids() {
        std::fs::write(directory.join(format!("{name}.svg")), grid.svg())?;
        body.push_str(&grid.html(name));
    }
    for theme in ["", " data-theme=\"dark\"", " data-theme=\"light\""] {
        let mut page = String::new();
        let sheet = stylesheet();
        // Writing to a string cannot fail.
        let _ = write!(
            page,
            "<!doctype html><html lang=en{theme}><meta charset=utf-8><meta name=viewport content='width=device-width'>\
             <title>Gallery</title><style>{sheet}\
             :root{{color-scheme:light dark}}[data-theme=dark]{{color-scheme:dark}}[data-theme=light]{{color-scheme:light}}\
             body{{margin:12px;display:grid;gap:12px;grid-template-columns:repeat(auto-fill,minmax(min(100%,720px),1fr));\
             background:light-dark(#eef0f2,#0b0d0f)}}.chart-figure:last-child{{grid-column:1/-1}}</style><body>{body}"
        );
        let name = match theme {
            "" => "gallery.html",
            " data-theme=\"dark\"" => "gallery-dark.html",
            _ => "gallery-light.html",
        };
        std::fs::write(directory.join(name), page)?;
    }
    Ok(())
}

fn charts() -> Vec<(&'static str, Chart)> {
    vec![
        (
            "policies",
            policies("Share of PageRank against pages crawled", 325_557.0, 1.0),
        ),
        ("direct", direct()),
        ("degrees", degrees()),
        ("histogram", latency()),
        ("band", band()),
        ("scatter", scatter()),
        ("cumulative", waiting()),
        ("memory", memory()),
        ("two-histograms", two_histograms()),
        ("dashboard", dashboard()),
        (
            "empty",
            Chart::new(
                "Captures by hour",
                Axis::linear("hour"),
                Axis::linear("captures"),
            )
            .line(Line::new("captures", [])),
        ),
        ("hostile", hostile()),
    ]
}

fn grids() -> Vec<(&'static str, Grid)> {
    let graphs = [
        ("cnr-2000", 325_557.0, 1.0),
        ("in-2004", 1_382_908.0, 0.8),
        ("eu-2005", 862_664.0, 1.2),
        ("uk-2002, without its largest site", 18_520_486.0, 0.9),
        ("generated", 10_000_000.0, 1.4),
    ];
    let mut grid = Grid::new("The same order on every graph")
        .subtitle("share of PageRank against pages crawled; ring of 10,000 slots");
    for (name, pages, bend) in graphs {
        grid = grid.chart(policies(name, pages, bend).subtitle(""));
    }
    vec![("grid", grid)]
}

/// A generator that needs no dependency: Knuth's multiplicative congruential one.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A Pareto variate.
    fn heavy(&mut self, exponent: f64) -> f64 {
        (1.0 - self.roll()).powf(-1.0 / exponent).floor()
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.roll()).sum::<f64>() - 6.0
    }
}

fn policies(title: &str, pages: f64, bend: f64) -> Chart {
    let mut chart = Chart::new(
        title,
        Axis::linear("pages crawled"),
        Axis::linear("share of PageRank")
            .format(Format::Share)
            .min(0.0)
            .max(1.0),
    )
    .subtitle("cnr-2000, 325,557 pages, every policy from the same start")
    .line(curve("OPT, by true PageRank", pages, 0.28 * bend, 1.0).style(Style::Reference));
    let policies = [
        ("ring + in-degree", 0.42, 1.0),
        ("in-degree first", 0.48, 1.0),
        ("O(1) ring", 0.52, 0.66),
        ("IRLbot", 0.68, 1.0),
        ("STAR only", 0.78, 1.0),
        ("breadth first", 0.9, 1.0),
        ("random", 1.06, 1.0),
    ];
    for (slot, (name, power, end)) in policies.into_iter().enumerate() {
        chart = chart.line(curve(name, pages, power * bend, end).slot(slot));
    }
    chart
}

fn curve(name: &str, pages: f64, power: f64, end: f64) -> Line {
    let mut dice = Dice(name.len() as u64);
    let points = (0..=2000).map(|step| {
        let share = f64::from(step) / 2000.0 * end;
        (
            share * pages,
            (share.powf(power) + 0.002 * dice.normal() * share * (1.0 - share)).min(1.0),
        )
    });
    Line::new(name, points.collect::<Vec<_>>())
}

fn direct() -> Chart {
    let growth = |rate: f64| {
        (0..40).map(move |day| {
            (
                f64::from(day) * 86_400.0,
                1e6 * (rate * f64::from(day) / 10.0).exp(),
            )
        })
    };
    Chart::new(
        "Known pages over time",
        Axis::linear("time since the start").format(Format::Seconds),
        Axis::linear("known pages"),
    )
    .subtitle("three crawls of the same seeds")
    .line(Line::new("unbounded", growth(0.7)))
    .line(Line::new("two hops", growth(0.52)))
    .line(Line::new("one site", growth(0.2)))
    .rule(Rule::horizontal(1.2e7, "what fits in memory"))
}

fn degrees() -> Chart {
    let mut dice = Dice(3);
    let mut of = |exponent| {
        complementary_cumulative(
            (0..100_000)
                .map(|_| dice.heavy(exponent))
                .collect::<Vec<_>>(),
        )
    };
    let (inward, outward) = (of(1.1), of(1.7));
    let model = (0..=60)
        .map(|step| 10_f64.powf(f64::from(step) / 12.0))
        .map(|degree| (degree, degree.powf(-1.1)));
    Chart::new(
        "Degrees of pages follow a power law",
        Axis::log("links of a page"),
        Axis::log("share of pages with at least as many").format(Format::Share),
    )
    .subtitle("generated, 100,000 pages")
    .line(Line::new("in-degree", inward))
    .line(Line::new("out-degree", outward))
    .line(Line::new("power law, exponent 2.1", model).style(Style::Reference))
}

fn latency() -> Chart {
    let mut dice = Dice(5);
    let values: Vec<f64> = (0..20_000)
        .map(|_| 0.12 * (0.9 * dice.normal()).exp())
        .collect();
    Chart::new(
        "Time to answer",
        Axis::log("time from request to last byte").format(Format::Seconds),
        Axis::linear("visits"),
    )
    .subtitle("20,000 visits")
    .bars(Bars::new("visits", histogram(values, Bins::Log(48))))
    .rule(Rule::vertical(0.12, "median 120 ms"))
    .rule(Rule::vertical(2.0, "slow"))
}

fn band() -> Chart {
    let mut chart = Chart::new(
        "Authorities found",
        Axis::linear("pages visited"),
        Axis::linear("share of the 100 greatest authorities").format(Format::Share),
    )
    .subtitle("mean and standard deviation over eight starts");
    for (name, power) in [("in-degree first", 0.35), ("breadth first", 0.9)] {
        let mean = |step: i32| (f64::from(step) / 20.0).powf(power);
        let line = Line::new(
            name,
            (0..=20).map(|step| (f64::from(step) * 2500.0, mean(step))),
        );
        chart = chart.line(line.band((0..=20).map(|step| {
            let spread = 0.12 * (1.0 - mean(step));
            Spread {
                x: f64::from(step) * 2500.0,
                low: (mean(step) - spread).max(0.0),
                high: mean(step) + spread,
            }
        })));
    }
    chart
}

fn scatter() -> Chart {
    let mut dice = Dice(9);
    let mut cloud = |count: usize, factor: f64| -> Vec<(f64, f64)> {
        (0..count)
            .map(|_| {
                let degree = dice.heavy(0.9);
                (
                    degree,
                    factor * degree.powf(0.8) * (0.7 * dice.normal()).exp() * 1e-7,
                )
            })
            .collect()
    };
    Chart::new(
        "In-degree says much of PageRank",
        Axis::log("in-degree"),
        Axis::log("PageRank"),
    )
    .subtitle("a sample of 5,000 pages of two graphs")
    .scatter(Scatter::new("cnr-2000", cloud(4000, 1.0)))
    .scatter(Scatter::new("generated", cloud(1000, 30.0)))
}

fn waiting() -> Chart {
    let mut dice = Dice(11);
    let mut of = |mean: f64| {
        cumulative(
            (0..3000)
                .map(|_| mean * (0.6 * dice.normal()).exp())
                .collect::<Vec<_>>(),
        )
    };
    Chart::new(
        "How long a server waits for its next visit",
        Axis::log("wait").format(Format::Seconds),
        Axis::linear("share of visits")
            .format(Format::Share)
            .max(1.0),
    )
    .line(Line::new("stride 2", of(8.0)).steps())
    .line(Line::new("by load index", of(40.0)).steps())
    .rule(Rule::vertical(5.0, "least interval"))
    .rule(Rule::horizontal(0.5, "median"))
}

fn memory() -> Chart {
    let sizes = [1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6];
    let at = |factor: f64, power: f64| {
        sizes.map(|slots: f64| (slots * 48.0, (factor * slots.powf(power)).min(0.97)))
    };
    Chart::new(
        "What memory buys",
        Axis::log("memory of the frontier").format(Format::Bytes),
        Axis::linear("share of PageRank at 20 % of pages").format(Format::Share),
    )
    .subtitle("cnr-2000")
    .line(Line::new("ring + in-degree", at(0.2, 0.1)))
    .line(Line::new("O(1) ring", at(0.1, 0.14)))
    .line(Line::new("IRLbot", at(0.04, 0.18)))
    .rule(Rule::horizontal(0.72, "OPT"))
}

fn two_histograms() -> Chart {
    let mut dice = Dice(15);
    let mut of = |mean: f64| {
        histogram(
            (0..4000)
                .map(|_| mean + 8.0 * dice.normal())
                .collect::<Vec<_>>(),
            Bins::Linear(40),
        )
    };
    Chart::new(
        "Pages per visit to a site",
        Axis::linear("pages"),
        Axis::linear("sites"),
    )
    .bars(Bars::new("before", of(60.0)))
    .bars(Bars::new("after", of(85.0)))
}

fn dashboard() -> Chart {
    let mut dice = Dice(13);
    let rate: Vec<(f64, f64)> = (0..3600)
        .map(|second| {
            let wave = 900.0 + 200.0 * (f64::from(second) / 400.0).sin() + 60.0 * dice.normal();
            (
                f64::from(second),
                if (1500..1560).contains(&second) {
                    f64::NAN
                } else {
                    wave
                },
            )
        })
        .collect();
    Chart::new(
        "",
        Axis::linear("last hour").format(Format::Seconds),
        Axis::linear("pages a second"),
    )
    .line(Line::new("pages a second", rate))
}

fn hostile() -> Chart {
    let long = "a label that goes on and on, as labels from outside will, ".repeat(4);
    Chart::new(
        format!("</title><script>alert(1)</script> & \"]]> {long}"),
        Axis::linear(long.clone()).format(Format::Seconds),
        Axis::log("巡回".repeat(40)),
    )
    .line(Line::new(
        long.clone(),
        [(0.0, 1e-300), (1e9, 1.0), (f64::NAN, 2.0), (2e9, 1e300)],
    ))
    .line(Line::new(
        "<b>bold</b>",
        [(1e9, 0.0), (1.5e9, -1.0), (1.2e9, 1e-90)],
    ))
    .rule(Rule::horizontal(1.0, long))
    .rule(Rule::vertical(f64::INFINITY, "nowhere"))
}
