//! The part of a graph that a crawl knows: the pages that it visited, and their links.

use junkai_graph::Page;
use junkai_simulation::subject::Subject;

/// Degrees of visited pages, in the order of visits.
pub(super) struct SubGraph {
    /// Links to the page from visited pages.
    pub(super) in_degrees: Vec<u32>,
    /// Links of the page.
    pub(super) out_degrees: Vec<u32>,
}

impl SubGraph {
    pub(super) fn new(subject: &Subject, order: &[Page]) -> SubGraph {
        let links = &subject.web.links;
        let mut in_degrees = vec![0_u32; links.page_count() as usize];
        for target in order.iter().flat_map(|page| links.successors(*page)) {
            in_degrees[*target as usize] += 1;
        }
        SubGraph {
            in_degrees: order
                .iter()
                .map(|page| in_degrees[*page as usize])
                .collect(),
            out_degrees: order.iter().map(|page| links.out_degree(*page)).collect(),
        }
    }

    /// The mean in-degree.
    pub(super) fn density(&self) -> f64 {
        let total: u64 = self
            .in_degrees
            .iter()
            .map(|degree| u64::from(*degree))
            .sum();
        total as f64 / self.in_degrees.len().max(1) as f64
    }
}
