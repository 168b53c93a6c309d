//! What pages are worth to the researcher: their share of PageRank, which no policy sees.

use junkai_graph::{Page, PageRank};

use crate::crawl::Run;

/// The share of each page in the PageRank of all pages that can be reached from the seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    shares: Vec<f64>,
    reachable: u32,
}

impl Value {
    /// PageRank on the whole graph, shared out among the pages that can be reached.
    #[must_use]
    pub fn of_reachable(pagerank: &PageRank, is_reachable: &[bool]) -> Value {
        let reached = |page: usize| {
            if is_reachable[page] {
                pagerank.scores[page]
            } else {
                0.0
            }
        };
        let total: f64 = (0..is_reachable.len()).map(reached).sum();
        let scale = if 0.0 < total { total.recip() } else { 0.0 };
        let count = is_reachable.iter().filter(|reached| **reached).count();
        Value {
            shares: (0..is_reachable.len())
                .map(|page| reached(page) * scale)
                .collect(),
            reachable: u32::try_from(count).unwrap_or(u32::MAX),
        }
    }

    /// The share of one page.
    #[must_use]
    pub fn of(&self, page: Page) -> f64 {
        self.shares[page as usize]
    }

    /// Pages that can be reached from the seeds.
    #[must_use]
    pub fn reachable(&self) -> u32 {
        self.reachable
    }

    /// Pages that have a share, the largest first, equal ones by number.
    #[must_use]
    pub fn best_first(&self) -> Vec<Page> {
        let mut pages: Vec<Page> = (0..)
            .zip(&self.shares)
            .filter(|(_, share)| 0.0 < **share)
            .map(|(page, _)| page)
            .collect();
        pages.sort_by(|&left, &right| {
            self.of(right)
                .total_cmp(&self.of(left))
                .then(left.cmp(&right))
        });
        pages
    }

    /// The sum of shares after each visit.
    #[must_use]
    pub fn cumulated(&self, order: &[Page]) -> Vec<f64> {
        let mut sum = 0.0;
        let add = |page: &Page| {
            sum += self.of(*page);
            sum
        };
        order.iter().map(add).collect()
    }

    /// The sum of shares when this part of the pages was visited; none if the crawl did not come so far.
    #[must_use]
    pub fn share_at(&self, cumulated: &[f64], part: f64) -> Option<f64> {
        let visits = self.visits_at(part);
        // A crawl that ends within a thousandth of the mark has reached it.
        let is_reached = visits as f64 * 0.999 <= cumulated.len() as f64;
        let last = visits.min(cumulated.len()).checked_sub(1)?;
        is_reached.then(|| cumulated[last])
    }

    /// Visits that are this part of the pages: at least one, unless the part is none.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of a u32"
    )]
    pub fn visits_at(&self, part: f64) -> usize {
        let visits = (part.clamp(0.0, 1.0) * f64::from(self.reachable)) as usize;
        let is_something = 0.0 < part && 0 < self.reachable;
        visits.max(usize::from(is_something))
    }

    /// The part of the pages that a run visited.
    #[must_use]
    pub fn coverage(&self, run: &Run) -> f64 {
        run.order.len() as f64 / f64::from(self.reachable.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_small_graph_is_at_least_one_visit() {
        let value = |reachable: u32| Value {
            shares: Vec::new(),
            reachable,
        };
        for (reachable, part, visits) in [
            (3, 0.1, 1),
            (9, 0.5, 4),
            (100, 0.1, 10),
            (3, 0.0, 0),
            (0, 0.5, 0),
            (7, 1.0, 7),
        ] {
            assert_eq!(value(reachable).visits_at(part), visits);
        }
    }
}
