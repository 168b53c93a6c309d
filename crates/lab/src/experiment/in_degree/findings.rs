//! What was found, a sentence each.

use super::tables::Measure;
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
         finds {} and {}; of the top pages of the whole graph {} against {}, and {} of PageRank against {}. It has more of those top \
         pages from {} of the starts, and more PageRank from {}.",
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
        whole.ahead,
        pagerank.ahead,
    )
}

fn rounded(mean: f64) -> String {
    format!("{mean:.0}")
}
