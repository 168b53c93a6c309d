//! The figures of the paper, drawn again.

use junkai_charts::{Axis, Format, Line, Spread, complementary_cumulative};
use junkai_simulation::outcome::Figure;
use junkai_simulation::policy::Policy;

use super::{Found, Pair, Results, places};
use crate::experiment::figures::{Columns, Multiples, Series};
use crate::experiment::look::look;

/// The two crawls of a pair, and how they are drawn.
const CRAWLS: [fn(&Pair) -> &Found; 2] = [|pair| &pair.in_degree_first, |pair| &pair.breadth_first];

/// A line through points, in the look of a crawl.
type LineOf = fn(Vec<(f64, f64)>) -> Line;

/// Something that is found, against pages visited.
struct Finding<'a> {
    name: &'a str,
    title: &'a str,
    caption: &'a str,
    /// How much was found at each point of the curve.
    of: fn(&Found) -> Vec<f64>,
    axis: Axis,
}

impl Results<'_> {
    pub(super) fn figures(&self) -> Vec<Figure> {
        let findings = [
            Finding {
                name: "authorities",
                title: "Authorities found against pages visited",
                caption: "Matsukubo and Hayashi (2003), figure 3: pages with at least the in-degree of the top 0.1 % of in-degree first, within each \
                          crawl’s own pages.",
                of: |found| as_numbers(&found.authorities),
                axis: Axis::linear("authorities").min(0.0),
            },
            Finding {
                name: "hubs",
                title: "Hubs found against pages visited",
                caption: "Matsukubo and Hayashi (2003), figure 4: likewise by out-degree.",
                of: |found| as_numbers(&found.hubs),
                axis: Axis::linear("hubs").min(0.0),
            },
            Finding {
                name: "top-pages",
                title: "The most linked pages of the whole graph found against pages visited",
                caption: "Not in the paper: the top 0.1 % by in-degree in the whole graph, which neither crawl can influence.",
                of: |found| as_numbers(&found.top_pages),
                axis: Axis::linear("top pages").min(0.0),
            },
            Finding {
                name: "pagerank",
                title: "PageRank gathered against pages visited, from one start",
                caption: "Not in the paper: the share of PageRank of the pages visited.",
                of: |found| found.shares.clone(),
                axis: Axis::linear("share of PageRank")
                    .format(Format::Share)
                    .min(0.0),
            },
        ];
        let mut figures: Vec<Figure> = findings.iter().map(|finding| self.found(finding)).collect();
        figures.push(self.distribution("in-degree", |found| &found.sub_graph.in_degrees));
        figures.push(self.distribution("out-degree", |found| &found.sub_graph.out_degrees));
        figures
    }

    /// The crawls of a graph, by its place among those that were crawled.
    fn pairs(&self, place: usize) -> &[Pair] {
        self.crawled().nth(place).map_or(&[], |graph| &graph.pairs)
    }

    /// What was found against pages, as means and bands over the starts.
    fn found(&self, finding: &Finding<'_>) -> Figure {
        let caption = finding.caption;
        let figure = Multiples {
            name: finding.name,
            title: finding.title,
            caption: format!(
                "{caption} The line is the mean over the starts, the band goes from the least to the most."
            ),
            columns: Columns::Three,
        };
        figure.draw(self.crawled().map(|graph| graph.subject), |graph| {
            let pairs = self.pairs(graph);
            let lines = CRAWLS.iter().zip(looks()).map(|(crawl, line)| {
                let curves: Vec<(usize, Vec<f64>)> = pairs
                    .iter()
                    .map(|pair| (crawl(pair).pages(), (finding.of)(crawl(pair))))
                    .collect();
                Series::Line(with_band(line, &curves))
            });
            (
                Axis::linear("pages visited").min(0.0),
                finding.axis.clone(),
                lines.collect(),
            )
        })
    }

    fn distribution(&self, degree: &str, of: fn(&Found) -> &Vec<u32>) -> Figure {
        let figure = Multiples {
            name: &format!("{degree}s"),
            title: &format!("How {degree}s of the crawled pages are distributed"),
            caption: format!(
                "Matsukubo and Hayashi (2003), figures 1 and 2: the part of the crawled pages with at least that {degree}, all starts together. The further \
                 right, the denser the part of the web that was crawled."
            ),
            columns: Columns::Three,
        };
        figure.draw(self.crawled().map(|graph| graph.subject), |graph| {
            let lines = CRAWLS.iter().zip(looks()).map(|(crawl, line)| {
                let pairs = self.pairs(graph).iter();
                let degrees =
                    pairs.flat_map(|pair| of(crawl(pair)).iter().map(|degree| f64::from(*degree)));
                Series::Line(line(complementary_cumulative(degrees)))
            });
            let y = Axis::log("pages with at least that").format(Format::Share);
            (Axis::log(degree), y, lines.collect())
        })
    }
}

/// How lines of the two crawls are made.
fn looks() -> [LineOf; 2] {
    [
        |points| look(&Policy::in_degree()).line(points),
        |points| look(&Policy::breadth_first()).line(points),
    ]
}

fn as_numbers(counts: &[u32]) -> Vec<f64> {
    counts.iter().map(|count| f64::from(*count)).collect()
}

/// The mean of curves that have their points at the same places, with a band from the least to the most.
fn with_band(line: LineOf, curves: &[(usize, Vec<f64>)]) -> Line {
    let Some(pages) = curves.iter().map(|(pages, _)| *pages).min() else {
        return line(Vec::new());
    };
    let mut points = vec![(0.0, 0.0)];
    let mut band = vec![Spread {
        x: 0.0,
        low: 0.0,
        high: 0.0,
    }];
    for (index, place) in places(pages).enumerate() {
        let values = || {
            curves
                .iter()
                .filter_map(|(_, curve)| curve.get(index).copied())
        };
        let x = place as f64;
        points.push((x, values().sum::<f64>() / values().count().max(1) as f64));
        band.push(Spread {
            x,
            low: values().fold(f64::INFINITY, f64::min),
            high: values().fold(0.0, f64::max),
        });
    }
    line(points).band(band)
}
