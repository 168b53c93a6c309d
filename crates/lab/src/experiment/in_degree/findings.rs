//! What was found, a sentence each.

use super::tables::{Measure, Summary};
use super::{GraphResults, Results};
use crate::experiment::words::{count, share};

impl Results<'_> {
    pub(super) fn findings(&self) -> Vec<String> {
        self.graphs.iter().map(sentence).collect()
    }
}

fn sentence(graph: &GraphResults<'_>) -> String {
    let name = graph.name();
    if graph.pairs.is_empty() {
        return format!(
            "{name}: {} pages can be reached from its largest strongly connected component, too few to compare crawls.",
            count(graph.plan.reached.into())
        );
    }
    let of = |measure| graph.summary(measure);
    let whole = of(Measure::TopPages);
    let pagerank = of(Measure::PageRank);
    format!(
        "{name}, {} pages from {} starts: in-degree first finds {} authorities and {} hubs of its own sub-graph, as breadth first \
         finds {} and {}; of the top pages of the whole graph {} against {}, and {} of PageRank against {}. {}",
        count(graph.plan.limit.into()),
        graph.pairs.len(),
        rounded(of(Measure::Authorities).in_degree_first),
        rounded(of(Measure::Hubs).in_degree_first),
        rounded(of(Measure::Authorities).breadth_first),
        rounded(of(Measure::Hubs).breadth_first),
        rounded(whole.in_degree_first),
        rounded(whole.breadth_first),
        share(pagerank.in_degree_first),
        share(pagerank.breadth_first),
        judgement(&whole, &pagerank),
    )
}

fn rounded(mean: f64) -> String {
    format!("{mean:.0}")
}

/// What that amounts to, by the measures of the whole graph.
fn judgement(whole: &Summary, pagerank: &Summary) -> &'static str {
    let is_ahead = |summary: &Summary| summary.breadth_first < summary.in_degree_first;
    match (is_ahead(whole), is_ahead(pagerank)) {
        (true, true) => "It is ahead in the whole graph too.",
        (false, false) => "In the whole graph it is not ahead.",
        (true, false) | (false, true) => "In the whole graph the two are close.",
    }
}
