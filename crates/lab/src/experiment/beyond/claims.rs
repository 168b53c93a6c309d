//! What we set out to reach, held against each graph.

use super::{Ours, Results};
use crate::experiment::trials::NOTHING;
use crate::experiment::words::{count, difference, percent};
use crate::outcome::{Claim, Verdict};

impl Results<'_> {
    pub(super) fn claims(&self) -> Vec<Claim> {
        let graphs: Vec<(usize, String)> = self
            .graphs()
            .map(|(graph, name)| (graph, name.to_owned()))
            .collect();
        let mut claims = Vec::new();
        for (ours, claim) in [
            (
                Ours::Worth,
                "worth: in any memory and at any mark, at least the share of any policy of the seeds",
            ),
            (Ours::Welcome, "worth, welcome back: likewise"),
        ] {
            claims.extend(
                graphs
                    .iter()
                    .map(|(graph, name)| self.never_behind(*graph, name, ours, claim)),
            );
        }
        claims.extend(
            graphs
                .iter()
                .map(|(graph, name)| self.full_coverage(*graph, name)),
        );
        claims
    }

    fn never_behind(&self, graph: usize, name: &str, ours: Ours, claim: &str) -> Claim {
        let margins = self.margins(graph, ours);
        let ahead = margins
            .iter()
            .filter(|margin| -NOTHING < margin.ahead)
            .count();
        let worst = margins
            .iter()
            .min_by(|left, right| left.ahead.total_cmp(&right.ahead));
        let measured = match worst {
            None => "no policy of the seeds to compare with".to_owned(),
            Some(worst) => format!(
                "{ahead} of {} comparisons; the least margin is {}, at {} with {} in memory",
                margins.len(),
                difference(worst.ahead),
                percent(worst.part),
                count(worst.stored.into())
            ),
        };
        Claim {
            source: "our goal".to_owned(),
            claim: claim.to_owned(),
            graph: name.to_owned(),
            measured,
            verdict: if ahead == margins.len() {
                Verdict::Holds
            } else if margins.len() < 2 * ahead {
                Verdict::Partly
            } else {
                Verdict::Fails
            },
        }
    }

    fn full_coverage(&self, graph: usize, name: &str) -> Claim {
        let coverages = |policies: Vec<crate::policy::Policy>| {
            let coverages: Vec<f64> = policies
                .iter()
                .map(|policy| self.trials.of(graph, policy).coverage)
                .collect();
            coverages.into_iter().fold(1.0, f64::min)
        };
        let budgets = &self.budgets[graph];
        let ours = budgets
            .iter()
            .flat_map(|budget| Ours::BEST.map(|ours| ours.within(budget.stored)));
        let least = coverages(ours.collect());
        let theirs = coverages(budgets.iter().map(|budget| budget.ring.clone()).collect());
        Claim {
            source: "our goal".to_owned(),
            claim: "every page that can be reached is visited in the end".to_owned(),
            graph: name.to_owned(),
            measured: format!(
                "{} in the least memory, where the seed’s ring ends at {}",
                percent(least),
                percent(theirs)
            ),
            verdict: if 1.0 <= least {
                Verdict::Holds
            } else {
                Verdict::Fails
            },
        }
    }
}
