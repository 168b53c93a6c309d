//! The arcs of a graph in memory: for each node its successors, one after another in one list.

use std::io::{BufRead, BufReader};
use std::path::Path;

use lender::Lender;
use webgraph::graphs::bvgraph::BvGraphSeq;
use webgraph::traits::SequentialLabeling;

use super::{GraphError, NODES_MAX, Node, open};

/// Successors of all nodes, ascending and without repetition.
#[derive(Debug)]
pub(super) struct Arcs {
    /// Node *n* has the targets from `starts[n]` to `starts[n + 1]`.
    starts: Vec<u64>,
    targets: Vec<Node>,
}

impl Arcs {
    /// Reads `WebGraph` files if there are any by that base name, else an edge list.
    pub(super) fn load(path: &Path) -> Result<Self, GraphError> {
        if path.with_extension("properties").is_file() {
            Self::from_webgraph(path)
        } else {
            Self::from_edges(path)
        }
    }

    fn from_webgraph(basename: &Path) -> Result<Self, GraphError> {
        let failed = |reason: String| GraphError::WebGraph {
            path: basename.to_owned(),
            reason,
        };
        let graph = BvGraphSeq::with_basename(basename)
            .load()
            .map_err(|error| failed(format!("{error:#}")))?;
        if graph.num_nodes() > NODES_MAX as usize {
            return Err(failed(format!("more than {NODES_MAX} pages")));
        }
        let mut arcs = Self::empty();
        let mut nodes = graph.iter();
        while let Some((_, successors)) = nodes.next() {
            let successors = successors.into_iter();
            arcs.targets
                .extend(successors.filter_map(|target| Node::try_from(target).ok()));
            arcs.starts.push(arcs.targets.len() as u64);
        }
        Ok(arcs)
    }

    /// Reads `source target` lines; further columns, empty lines and those with `#` or `%` in front are passed over.
    fn from_edges(path: &Path) -> Result<Self, GraphError> {
        let mut edges = Vec::new();
        for (line, text) in (1..).zip(BufReader::new(open(path)?).lines()) {
            let text = text.map_err(|source| GraphError::Read {
                path: path.to_owned(),
                source,
            })?;
            if text.trim().is_empty() || text.starts_with(['#', '%']) {
                continue;
            }
            let mut numbers = text.split_whitespace().map(str::parse::<Node>);
            match (numbers.next(), numbers.next()) {
                (Some(Ok(source)), Some(Ok(target)))
                    if source < NODES_MAX && target < NODES_MAX =>
                {
                    edges.push((source, target));
                }
                _ => {
                    let path = path.to_owned();
                    return Err(GraphError::Edge { path, line });
                }
            }
        }
        Ok(Self::from_pairs(edges))
    }

    fn from_pairs(mut edges: Vec<(Node, Node)>) -> Self {
        edges.sort_unstable();
        edges.dedup();
        let last = edges
            .iter()
            .map(|&(source, target)| source.max(target))
            .max();
        let mut arcs = Self::empty();
        let mut rest = edges.as_slice();
        for node in 0..last.map_or(0, |last| last + 1) {
            let own = rest.partition_point(|&(source, _)| source == node);
            arcs.targets
                .extend(rest[..own].iter().map(|&(_, target)| target));
            arcs.starts.push(arcs.targets.len() as u64);
            rest = &rest[own..];
        }
        arcs
    }

    fn empty() -> Self {
        Self {
            starts: vec![0],
            targets: Vec::new(),
        }
    }

    pub(super) fn node_count(&self) -> u32 {
        u32::try_from(self.starts.len() - 1).unwrap_or(NODES_MAX)
    }

    pub(super) fn successors(&self, node: Node) -> &[Node] {
        let place = |start: u64| usize::try_from(start).unwrap_or(usize::MAX);
        let start = place(self.starts[node as usize]);
        let end = place(self.starts[node as usize + 1]);
        &self.targets[start..end]
    }

    /// The node with the most successors, the first of several.
    pub(super) fn largest_node(&self) -> Option<Node> {
        (0..self.node_count()).max_by_key(|&node| (self.successors(node).len(), !node))
    }

    /// Which nodes can be reached from one.
    pub(super) fn reachable_from(&self, start: Option<Node>) -> Vec<bool> {
        let mut is_reached = vec![false; self.node_count() as usize];
        let mut waiting: Vec<Node> = start.into_iter().collect();
        while let Some(node) = waiting.pop() {
            if !std::mem::replace(&mut is_reached[node as usize], true) {
                waiting.extend(self.successors(node));
            }
        }
        is_reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_list_is_sorted_and_cleaned() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("edges.txt");
        std::fs::write(&path, "# a comment\n3\t1 0.5\n0 2\n0 1\n\n0 2\n").unwrap();
        let arcs = Arcs::load(&path).unwrap();
        assert_eq!(arcs.node_count(), 4);
        assert_eq!(arcs.successors(0), [1, 2]);
        assert_eq!(arcs.successors(1), [0; 0]);
        assert_eq!(arcs.successors(3), [1]);
        assert_eq!(arcs.largest_node(), Some(0));
        assert_eq!(arcs.reachable_from(Some(3)), [false, true, false, true]);
    }

    #[test]
    fn a_line_that_is_no_edge_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("edges.txt");
        for bad in ["0 1\n1 x\n", "0 1\n1\n", "0 1\n1 4294967295\n"] {
            std::fs::write(&path, bad).unwrap();
            let error = Arcs::load(&path).unwrap_err();
            assert!(matches!(error, GraphError::Edge { line: 2, .. }), "{bad}");
        }
    }

    #[test]
    fn an_empty_list_has_no_pages() {
        let arcs = Arcs::from_pairs(Vec::new());
        assert_eq!((arcs.node_count(), arcs.largest_node()), (0, None));
    }
}
