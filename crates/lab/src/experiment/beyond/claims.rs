//! What we set out to reach, held against each graph.

use junkai_simulation::outcome::{Claim, GOAL, Verdict};

use super::findings::told;
use super::repeat::Standing;
use super::{Ours, Results};
use crate::experiment::words::percent;

impl Results<'_> {
    pub(super) fn claims(&self) -> Vec<Claim> {
        let graphs: Vec<(usize, String)> = self
            .graphs()
            .map(|(graph, name)| (graph, name.to_owned()))
            .collect();
        let mut claims = Vec::new();
        for (ours, claim) in [
            (
                0,
                "worth: in any memory and at any mark, at least the share of any policy of the papers",
            ),
            (1, "worth, welcome back (in the lab only): likewise"),
        ] {
            claims.extend(
                graphs
                    .iter()
                    .filter_map(|(graph, name)| self.never_behind(*graph, name, ours, claim)),
            );
        }
        claims.extend(
            graphs
                .iter()
                .filter_map(|(graph, name)| self.full_coverage(*graph, name)),
        );
        claims
    }

    /// None if there was no policy of the papers to compare with.
    fn never_behind(&self, graph: usize, name: &str, ours: usize, claim: &str) -> Option<Claim> {
        let comparisons = self.comparisons(graph, ours);
        let least = comparisons
            .iter()
            .min_by(|left, right| left.margin.mean.total_cmp(&right.margin.mean))?;
        let behind = comparisons
            .iter()
            .filter(|one| one.standing() == Standing::Behind)
            .count();
        Some(Claim {
            source: GOAL.to_owned(),
            claim: claim.to_owned(),
            graph: name.to_owned(),
            measured: format!(
                "level or ahead in {} of {} comparisons; the least margin is {}",
                comparisons.len() - behind,
                comparisons.len(),
                told(least),
            ),
            verdict: Verdict::of_comparisons(comparisons.len() - behind, comparisons.len())?,
        })
    }

    fn full_coverage(&self, graph: usize, name: &str) -> Option<Claim> {
        let coverages = |policies: Vec<junkai_simulation::policy::Policy>| {
            let coverages: Vec<f64> = policies
                .iter()
                .map(|policy| self.trials.of(graph, policy).coverage)
                .collect();
            coverages.into_iter().fold(1.0, f64::min)
        };
        let budgets = &self.budgets[graph];
        budgets.first()?;
        let ours = budgets
            .iter()
            .flat_map(|budget| Ours::BEST.map(|ours| ours.within(budget.stored)));
        let least = coverages(ours.collect());
        let theirs = coverages(budgets.iter().map(|budget| budget.ring.clone()).collect());
        Some(Claim {
            source: GOAL.to_owned(),
            claim: "every page that can be reached is visited in the end".to_owned(),
            graph: name.to_owned(),
            measured: format!(
                "{} in the least memory, where the paper’s ring ends at {}",
                percent(least),
                percent(theirs)
            ),
            verdict: if 1.0 <= least {
                Verdict::Holds
            } else {
                Verdict::Fails
            },
        })
    }
}
