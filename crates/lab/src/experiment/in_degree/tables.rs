//! The numbers of the experiment.

use junkai_simulation::outcome::{Cell, Column, Table};

use super::{Found, GraphResults, Pair, Results};
use crate::experiment::trials::TIE;
use crate::experiment::words::text;

/// What is counted of a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Density,
    Authorities,
    Hubs,
    TopPages,
    PageRank,
}

impl Measure {
    pub(super) const ALL: [Measure; 5] = [
        Measure::Density,
        Measure::Authorities,
        Measure::Hubs,
        Measure::TopPages,
        Measure::PageRank,
    ];

    fn name(self) -> &'static str {
        match self {
            Measure::Density => "mean in-degree",
            Measure::Authorities => "authorities",
            Measure::Hubs => "hubs",
            Measure::TopPages => "top pages of the whole graph",
            Measure::PageRank => "share of PageRank",
        }
    }

    pub(super) fn of(self, found: &Found) -> f64 {
        let last = |counts: &[u32]| counts.last().map_or(0.0, |count| f64::from(*count));
        match self {
            Measure::Density => found.sub_graph.density(),
            Measure::Authorities => last(&found.authorities),
            Measure::Hubs => last(&found.hubs),
            Measure::TopPages => last(&found.top_pages),
            Measure::PageRank => found.shares.last().copied().unwrap_or(0.0),
        }
    }
}

/// Both crawls by one measure, over all starts.
pub(super) struct Summary {
    pub(super) in_degree_first: f64,
    pub(super) breadth_first: f64,
    /// The least and the greatest of the ratios between the two.
    pub(super) ratios: Option<(f64, f64)>,
    /// Starts from which in-degree first found more.
    pub(super) ahead: usize,
    pub(super) starts: usize,
}

impl Summary {
    /// How many times as much in-degree first found.
    pub(super) fn ratio(&self) -> Option<f64> {
        (0.0 < self.breadth_first).then(|| self.in_degree_first / self.breadth_first)
    }
}

impl GraphResults<'_> {
    pub(super) fn name(&self) -> &str {
        &self.subject.web.name
    }

    pub(super) fn summary(&self, measure: Measure) -> Summary {
        let values = |of: fn(&Pair) -> &Found| -> Vec<f64> {
            self.pairs.iter().map(|pair| measure.of(of(pair))).collect()
        };
        let ours = values(|pair| &pair.in_degree_first);
        let theirs = values(|pair| &pair.breadth_first);
        let starts = ours.len();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let ratios = ours
            .iter()
            .zip(&theirs)
            .filter(|(_, theirs)| 0.0 < **theirs)
            .map(|(ours, theirs)| ours / theirs);
        let ratios = ratios.fold(None, |bounds: Option<(f64, f64)>, ratio| {
            let (least, most) = bounds.unwrap_or((ratio, ratio));
            Some((least.min(ratio), most.max(ratio)))
        });
        Summary {
            in_degree_first: mean(&ours),
            breadth_first: mean(&theirs),
            ratios,
            ahead: ours
                .iter()
                .zip(&theirs)
                .filter(|(ours, theirs)| **theirs + TIE < **ours)
                .count(),
            starts,
        }
    }
}

impl Results<'_> {
    pub(super) fn tables(&self) -> Vec<Table> {
        vec![self.means(), self.starts()]
    }

    fn means(&self) -> Table {
        let mut rows = Vec::new();
        for graph in self.crawled() {
            for measure in Measure::ALL {
                let summary = graph.summary(measure);
                let bounds = summary.ratios;
                rows.push(vec![
                    text(graph.name()),
                    text(measure.name()),
                    Cell::Share(summary.in_degree_first),
                    Cell::Share(summary.breadth_first),
                    Cell::share(summary.ratio()),
                    Cell::share(bounds.map(|bounds| bounds.0)),
                    Cell::share(bounds.map(|bounds| bounds.1)),
                    Cell::Count(summary.ahead as u64),
                    Cell::Count(summary.starts as u64),
                ]);
            }
        }
        Table {
            name: "means".to_owned(),
            caption: "What the crawls found, on average over their starts; the ratio of the means, the least and the greatest ratio \
                      of a start, and from how many starts in-degree first found more. Mean in-degree, authorities and hubs are \
                      counted within each crawl’s own pages, the last two measures in the whole graph."
                .to_owned(),
            columns: Column::list([
                ("graph", "graph"),
                ("measure", "measure"),
                ("in_degree_first", "in-degree first"),
                ("breadth_first", "breadth first"),
                ("ratio", "ratio"),
                ("ratio_least", "least"),
                ("ratio_greatest", "greatest"),
                ("ahead_starts", "ahead from"),
                ("starts", "of starts"),
            ]),
            rows,
        }
    }

    fn starts(&self) -> Table {
        let mut rows = Vec::new();
        for graph in self.crawled() {
            for pair in &graph.pairs {
                rows.push(row(graph.name(), pair));
            }
        }
        Table {
            name: "starts".to_owned(),
            caption: "Each start: pages visited by in-degree first (IFS) and breadth first (BFS), the least in-degree of an authority \
                      and out-degree of a hub, and what each found."
                .to_owned(),
            columns: Column::list([
                ("graph", "graph"),
                ("start_page", "start"),
                ("visited_pages_ifs", "pages IFS"),
                ("visited_pages_bfs", "BFS"),
                ("mean_in_degree_ifs", "mean in-degree IFS"),
                ("mean_in_degree_bfs", "BFS"),
                ("authority_from_in_degree", "authority from"),
                ("authorities_ifs", "authorities IFS"),
                ("authorities_bfs", "BFS"),
                ("hub_from_out_degree", "hub from"),
                ("hubs_ifs", "hubs IFS"),
                ("hubs_bfs", "BFS"),
                ("top_pages_ifs", "top pages IFS"),
                ("top_pages_bfs", "BFS"),
                ("share_ifs", "PageRank IFS"),
                ("share_bfs", "BFS"),
            ]),
            rows,
        }
    }
}

fn row(graph: &str, pair: &Pair) -> Vec<Cell> {
    let both = [&pair.in_degree_first, &pair.breadth_first];
    let last = |counts: &[u32]| Cell::Count(counts.last().copied().unwrap_or(0).into());
    let mut row = vec![text(graph), text(pair.start.to_string())];
    row.extend(both.map(|found| Cell::Count(found.pages() as u64)));
    row.extend(both.map(|found| Cell::Share(found.sub_graph.density())));
    row.push(Cell::Count(pair.authority_degree.into()));
    row.extend(both.map(|found| last(&found.authorities)));
    row.push(Cell::Count(pair.hub_degree.into()));
    row.extend(both.map(|found| last(&found.hubs)));
    row.extend(both.map(|found| last(&found.top_pages)));
    row.extend(both.map(|found| Cell::Share(Measure::PageRank.of(found))));
    row
}
